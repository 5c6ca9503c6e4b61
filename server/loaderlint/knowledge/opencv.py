"""OpenCV: which of its functions never start its threads.

Measured with the wheel of OpenCV 5.0: the threads of a fresh process before and after a call on an image of 1280 x 720
(for arithmetic 3000 x 3000, with bytes and floats), or on 5,000 points.
All others use its pool at least for some sizes and types, or are not known.
"""

from __future__ import annotations

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
    correctMatches undistortPoints triangulatePoints convexHull
    VideoCapture VideoWriter setNumThreads getNumThreads
    """.split()
)
