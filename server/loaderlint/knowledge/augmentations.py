"""Augmentation libraries whose objects hold random generators of their own, which torch cannot seed.

Sources: albumentations 1.4.20, 1.4.21 and 2.0.8 (`core/composition.py`, `core/transforms_interface.py`), MONAI 1.6.1
(`transforms/transform.py`, `data/utils.py`), imgaug 0.4.0 (`random.py`).
"""

from __future__ import annotations

import re
from types import MappingProxyType

from msgspec import Struct


class Library(Struct, frozen=True):
    """A library of augmentations. `prefix` of its names; `package` as it is declared, `since` which version its objects
    hold generators; `random`: which of its classes draw; `calm`: which never do, at their default probability;
    `placing`: which draw only a place, if `position` names none; `holders`: which hold others (what calls them:
    `PIPELINES` in higher_order.py); `reseed`: the method that gives an object a new seed; `needs`: the oldest versions
    of Python and of other packages with which `since` can be installed."""

    name: str
    prefix: str
    package: str
    since: str
    random: re.Pattern[str]
    calm: frozenset[str]
    placing: frozenset[str]
    holders: frozenset[str]
    reseed: str
    needs: tuple[tuple[str, str], ...] = ()


_ALBUMENTATIONS = Library(
    "albumentations",
    "albumentations.",
    "albumentations",
    "1.4.21",
    re.compile(r"[A-Z]\w*"),
    frozenset(
        """
        BboxParams CenterCrop Crop FromFloat KeypointParams Lambda LongestMaxSize NoOp Normalize Pad PadIfNeeded
        Resize SmallestMaxSize ToFloat ToRGB ToTensor ToTensorV2 ToTensor3D
        """.split()
    ),
    frozenset(),
    frozenset({"Compose", "ReplayCompose", "Sequential"}),
    "set_random_seed",
    # the metadata of 1.4.21
    (
        ("python", "3.9"),
        ("numpy", "1.24.4"),
        ("scipy", "1.10.0"),
        ("pydantic", "2.7.0"),
        ("opencv-python-headless", "4.9.0.80"),
    ),
)
_MONAI = Library(
    "MONAI",
    "monai.transforms.",
    "monai",
    "0.1",
    re.compile(r"Rand\w*"),
    frozenset(),
    frozenset(),
    frozenset({"Compose", "OneOf", "RandomOrder", "SomeOf"}),
    "set_random_state",
)
_IMGAUG = Library(
    "imgaug",
    "imgaug.augmenters.",
    "imgaug",
    "0.1",
    re.compile(r"[A-Z]\w*"),
    frozenset(
        """
        AssertLambda AssertShape CenterCropToAspectRatio CenterCropToFixedSize CenterCropToMultiplesOf
        CenterCropToPowersOf CenterCropToSquare CenterPadToAspectRatio CenterPadToFixedSize CenterPadToMultiplesOf
        CenterPadToPowersOf CenterPadToSquare Identity Lambda Noop Resize Scale
        """.split()
    ),
    frozenset(
        """
        CropToAspectRatio CropToFixedSize CropToMultiplesOf CropToPowersOf CropToSquare PadToAspectRatio PadToFixedSize
        PadToMultiplesOf PadToPowersOf PadToSquare
        """.split()
    ),
    frozenset({"Sequential"}),
    "seed_",
)

LIBRARIES = (_ALBUMENTATIONS, _MONAI, _IMGAUG)

#: The positions of imgaug that are drawn; the others name a place. Source: `_handle_position_parameter`.
DRAWN_POSITIONS = frozenset({"uniform", "normal"})

#: What albumentations had before 1.4, and has no more. Source: the names of 0.5.2, 1.0.3, 1.3.1, 1.4.0 and 1.4.21.
REMOVED_FROM_ALBUMENTATIONS = frozenset(
    """
    Cutout IAAAdditiveGaussianNoise IAAAffine IAACropAndPad IAAEmboss IAAFliplr IAAFlipud IAAPerspective
    IAAPiecewiseAffine IAASharpen IAASuperpixels JpegCompression RandomBrightness RandomContrast ToTensor
    """.split()
)

#: Its modules that were removed likewise.
REMOVED_ALBUMENTATIONS_MODULES = ("albumentations.torch", "albumentations.imgaug")
#: What `albumentations.augmentations.transforms` held before 1.4, and holds no more.
MOVED_IN_ALBUMENTATIONS = frozenset(
    f"albumentations.augmentations.transforms.{name}"
    for name in """
    Blur CenterCrop ChannelDropout CoarseDropout Crop CropNonEmptyMaskIfExists ElasticTransform Flip GaussianBlur
    GlassBlur GridDistortion GridDropout HorizontalFlip LongestMaxSize MaskDropout MedianBlur MotionBlur
    OpticalDistortion PadIfNeeded RandomCrop RandomCropNearBBox RandomResizedCrop RandomRotate90 RandomScale
    RandomSizedBBoxSafeCrop RandomSizedCrop Resize Rotate ShiftScaleRotate SmallestMaxSize Transpose VerticalFlip
    """.split()
)

#: torchvision's transforms that draw nothing.
STEADY_TRANSFORMS = frozenset(
    f"torchvision.transforms.{name}"
    for name in """
    CenterCrop ConvertImageDtype FiveCrop Grayscale LinearTransformation Normalize PILToTensor Pad Resize TenCrop
    ToDtype ToImage ToPILImage ToPureTensor ToTensor
    """.split()
)

#: Those that draw from torch's state, since torchvision 0.8. Before, most drew from `random`. `RandomChoice` and
#: `RandomOrder` still do.
TORCH_DRAWN_TRANSFORMS = frozenset(
    f"torchvision.transforms.{name}"
    for name in """
    AugMix AutoAugment ColorJitter ElasticTransform GaussianBlur RandAugment RandomAdjustSharpness RandomAffine
    RandomAutocontrast RandomCrop RandomEqualize RandomErasing RandomGrayscale RandomHorizontalFlip RandomInvert
    RandomPerspective RandomPosterize RandomResizedCrop RandomRotation RandomSolarize RandomVerticalFlip
    TrivialAugmentWide
    """.split()
)

#: The packages whose versions matter.
PACKAGES = (*(one.package for one in LIBRARIES), "albumentationsx")

#: Worker init functions that reseed the objects of a library.
RESEEDING_INITS = MappingProxyType({"monai.data.worker_init_fn": "MONAI"})


def library_of(name: str) -> Library | None:
    """The library that a dotted name is of."""
    return next((one for one in LIBRARIES if name.startswith(one.prefix)), None)
