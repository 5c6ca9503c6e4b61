"""OpenCV: which of its functions start no threads, or none for images of a usual size.

Measured with the wheels of OpenCV 4.10 and 5.0: the threads of a fresh process before and after a call on an image of
256 x 256 up to 1920 x 1080 (for arithmetic 3000 x 3000, with bytes and floats), or on 5,000 points.
All others use its pool at least for some sizes and types, or are not known.
"""

from __future__ import annotations

from types import MappingProxyType

#: Functions that read and write files, copy, draw, or do arithmetic or small geometry in the calling thread.
SERIAL = frozenset(
    f"cv2.{name}"
    for name in """
    imread imdecode imencode imwrite flip rotate transpose copyMakeBorder split merge hconcat vconcat extractChannel
    insertChannel add addWeighted subtract multiply divide absdiff scaleAdd convertScaleAbs normalize
    bitwise_and bitwise_or bitwise_xor bitwise_not inRange compare min max
    sqrt pow exp log magnitude phase cartToPolar polarToCart mean meanStdDev minMaxLoc countNonZero sumElems norm
    rectangle line circle ellipse polylines fillPoly putText getTextSize drawContours
    getRotationMatrix2D getAffineTransform getPerspectiveTransform decomposeProjectionMatrix Rodrigues
    boundingRect minAreaRect boxPoints contourArea arcLength moments
    correctMatches undistortPoints triangulatePoints convexHull projectPoints perspectiveTransform solvePnP
    fisheye.projectPoints fisheye.undistortPoints fisheye.distortPoints
    findHomography estimateAffinePartial2D fitEllipse minEnclosingCircle approxPolyDP pointPolygonTest
    decomposeHomographyMat decomposeEssentialMat recoverPose findEssentialMat findFundamentalMat composeRT RQDecomp3x3
    solvePnPRansac solvePnPRefineLM estimateAffine2D estimateAffine3D convertPointsToHomogeneous
    convertPointsFromHomogeneous computeCorrespondEpilines getOptimalNewCameraMatrix invertAffineTransform
    isContourConvex matchShapes HuMoments fitLine minEnclosingTriangle intersectConvexConvex
    rotatedRectangleIntersection fillConvexPoly arrowedLine drawMarker ellipse2Poly
    solve eigen SVDecomp determinant trace Mahalanobis completeSymm setIdentity sort sortIdx checkRange patchNaNs
    idct idft randu randn getRectSubPix cornerSubPix createHanningWindow borderInterpolate haveImageReader imreadmulti
    medianBlur blur boxFilter adaptiveThreshold pyrUp integral transform floodFill
    calcHist calcBackProject compareHist HoughLines HoughLinesP dct dft phaseCorrelate matchTemplate
    findNonZero mixChannels repeat gemm invert getGaussianKernel getStructuringElement
    watershed convertMaps copyTo randShuffle clipLine drawKeypoints drawMatches dnn.NMSBoxes getDefaultNewCameraMatrix
    accumulate accumulateSquare accumulateProduct accumulateWeighted KeyPoint DMatch FileStorage
    VideoCapture VideoWriter VideoWriter_fourcc VideoWriter.fourcc setNumThreads getNumThreads setUseOptimized
    useOptimized setRNGSeed getTickCount getTickFrequency getNumberOfCPUs checkHardwareSupport getVersionString
    getBuildInformation
    """.split()
)

#: Functions that start none up to 1280 x 720 pixels, and some at 1920 x 1080 with OpenCV 5.0. Few samples are larger.
FOR_LARGE_IMAGES = frozenset(
    f"cv2.{name}"
    for name in "dilate erode morphologyEx filter2D sepFilter2D Sobel Scharr Laplacian cornerHarris".split()
)

#: Functions that start none for floats up to 1280 x 720 pixels, but for bytes of any size. Measured with 4.5.1 and 5.0:
#: kernels of 3, 5 and 51 pixels on images of 32 x 32 to 1920 x 1080 with one and three channels.
FOR_BYTES = frozenset({"cv2.GaussianBlur"})

#: Functions whose result has a given size, with the position of `dsize`.
SIZED = MappingProxyType({"cv2.resize": 1, "cv2.warpAffine": 2, "cv2.warpPerspective": 2})

#: Functions that start no threads for an image of fewer pixels than `LEAST_PIXELS`. `LUT` starts them from 262,144 on,
#: `equalizeHist` from 307,200, and `bilateralFilter` between 768 x 768 and 1280 x 720.
SERIAL_IF_SMALL = frozenset({"cv2.cvtColor", "cv2.threshold", "cv2.LUT", "cv2.equalizeHist", "cv2.bilateralFilter"})

#: Functions whose threads depend on the size of the image: these, and `remap`, whose result has the size of its maps.
#: OpenCV 4 warps and maps fewer pixels than `LEAST_PIXELS` in the calling thread. OpenCV 5 does so with two channels
#: only, and starts threads for 16 x 16 pixels of one, three or four.
BY_SIZE = SERIAL_IF_SMALL | SIZED.keys() | {"cv2.remap"}

#: `cv2.resize` to fewer pixels and `cv2.cvtColor` of fewer start no threads: they cut an image into parts of about
#: 65,536 pixels (1 << 16, rounded) and leave a single one to the calling thread. Measured with 4.10, 4.12 and 5.0, to
#: and of 312 x 312 and 320 x 320, from 448 x 448 to 3000 x 2000; the others of `BY_SIZE` with 4.12 and 5.0, from
#: 16 x 16 to 1024 x 1024, with bytes and floats.
LEAST_PIXELS = 98_304

#: Interpolations of `cv2.resize` of which this is true for every type (None: not passed); and those for which Intel's
#: code resizes floats, in parts of the size of what is read.
ANY_TYPE: frozenset[str | int | None] = frozenset({"cv2.INTER_NEAREST", "cv2.INTER_AREA", 0, 3})
BYTES_ONLY: frozenset[str | int | None] = frozenset({None, "cv2.INTER_LINEAR", 1})

#: Functions that read an image, and the flags with which they give bytes (None: not passed).
READS = frozenset({"cv2.imread", "cv2.imdecode"})
READS_BYTES: frozenset[str | int | None] = frozenset(
    {None, "cv2.IMREAD_COLOR", "cv2.IMREAD_COLOR_RGB", "cv2.IMREAD_GRAYSCALE", 0, 1}
)

#: Those of other libraries.
READS_ELSEWHERE = frozenset(
    """
    PIL.Image.open skimage.io.imread imageio.imread imageio.v2.imread imageio.v3.imread tifffile.imread
    matplotlib.pyplot.imread matplotlib.image.imread
    """.split()
)

#: Functions that read arrays of any type.
READS_DATA = frozenset(
    """
    numpy.load numpy.fromfile numpy.memmap numpy.loadtxt scipy.io.loadmat h5py.File pickle.load joblib.load torch.load
    nibabel.load pydicom.dcmread SimpleITK.ReadImage SimpleITK.GetArrayFromImage rasterio.open tifffile.imread
    """.split()
)

#: Functions of NumPy whose result has the size of their first argument.
COPIES_ARRAY = frozenset(
    "array asarray ascontiguousarray asanyarray copy clip uint8 float32 float64 fliplr flipud round around".split()
)

#: Functions of NumPy that make an image, with the position of `dtype`, and the types that are bytes.
FILLED = MappingProxyType({"numpy.zeros": 1, "numpy.ones": 1, "numpy.empty": 1, "numpy.full": 2})
BYTES: frozenset[str | int | None] = frozenset({"numpy.uint8", "uint8"})
#: Those that are floats (None: not passed), and functions that return floats.
FLOATS: frozenset[str | int | None] = frozenset(
    {None, "numpy.float32", "numpy.float64", "float32", "float64", "builtins.float", "float"}
)
MAKES_FLOATS = frozenset(
    f"numpy.{name}" for name in "float32 float64 random.rand random.randn random.uniform random.normal linspace".split()
)

#: Functions whose result has the type of the image. None of them makes it larger but those of `SIZED`.
KEEPS_TYPE = frozenset(
    f"cv2.{name}"
    for name in """
    cvtColor flip rotate transpose equalizeHist bilateralFilter GaussianBlur medianBlur blur dilate erode
    resize warpAffine warpPerspective
    """.split()
)

#: Functions that bring an image to a size, each with the name and position of its argument; and the transforms that do
#: so, with the name of their first argument.
RESIZES = MappingProxyType({"cv2.resize": ("dsize", 1), "torchvision.transforms.functional.resize": ("size", 1)})
RESIZING_STEPS = MappingProxyType(
    {
        **{
            f"torchvision.transforms.{name}": "size"
            for name in ("Resize", "RandomResizedCrop", "CenterCrop", "RandomCrop")
        },
        **{f"albumentations.{name}": "height" for name in ("Resize", "RandomResizedCrop", "CenterCrop", "RandomCrop")},
        **{f"albumentations.{name}": "max_size" for name in ("LongestMaxSize", "SmallestMaxSize")},
    }
)
