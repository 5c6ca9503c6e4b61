"""What torch's `default_collate` cannot batch. It takes tensors, arrays, numbers, texts, mappings and sequences."""

from __future__ import annotations

#: Calls that make a Pillow image.
IMAGE_MAKERS = frozenset(
    """
    PIL.Image.open PIL.Image.new PIL.Image.fromarray PIL.Image.frombytes PIL.Image.frombuffer PIL.Image.merge
    PIL.Image.blend PIL.Image.composite PIL.Image.alpha_composite PIL.ImageOps.autocontrast PIL.ImageOps.contain
    PIL.ImageOps.cover PIL.ImageOps.crop PIL.ImageOps.equalize PIL.ImageOps.exif_transpose PIL.ImageOps.expand
    PIL.ImageOps.fit PIL.ImageOps.flip PIL.ImageOps.grayscale PIL.ImageOps.invert PIL.ImageOps.mirror PIL.ImageOps.pad
    PIL.ImageOps.posterize PIL.ImageOps.scale PIL.ImageOps.solarize PIL.ImageGrab.grab
    torchvision.transforms.functional.to_pil_image torchvision.transforms.v2.functional.to_pil_image
    torchvision.datasets.folder.pil_loader torchvision.datasets.folder.default_loader
    """.split()
)
#: Methods of a Pillow image that give another one.
IMAGE_METHODS = frozenset(
    """
    convert resize crop rotate transpose copy filter quantize point transform reduce getchannel remap_palette
    effect_spread enhance
    """.split()
)
#: Transforms of torchvision that give a Pillow image when they get one; their names in `v1` and `v2`.
_IMAGE_TRANSFORMS = """
    CenterCrop ColorJitter Grayscale Pad RandomAdjustSharpness RandomAffine RandomAutocontrast RandomCrop RandomEqualize
    RandomGrayscale RandomHorizontalFlip RandomInvert RandomPerspective RandomPosterize RandomResizedCrop RandomRotation
    RandomSolarize RandomVerticalFlip Resize AutoAugment RandAugment TrivialAugmentWide AugMix GaussianBlur
""".split()
IMAGE_TRANSFORMS = frozenset(
    f"torchvision.transforms.{version}{name}" for name in _IMAGE_TRANSFORMS for version in ("", "v2.")
)
#: Functions of torchvision of which the same is true.
_IMAGE_FUNCTIONS = """
    adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_saturation adjust_sharpness affine autocontrast
    center_crop crop equalize gaussian_blur hflip invert pad perspective posterize resize resized_crop rotate solarize
    to_grayscale vflip
""".split()
IMAGE_FUNCTIONS = frozenset(
    f"torchvision.transforms.{version}functional.{name}" for name in _IMAGE_FUNCTIONS for version in ("", "v2.")
)

#: Other calls that make what cannot be batched, each with what that is.
OTHERS = {
    "builtins.set": "a set",
    "builtins.frozenset": "a set",
    "datetime.date": "a date",
    "datetime.date.fromisoformat": "a date",
    "datetime.date.today": "a date",
    "datetime.datetime": "a datetime",
    "datetime.datetime.combine": "a datetime",
    "datetime.datetime.fromisoformat": "a datetime",
    "datetime.datetime.fromtimestamp": "a datetime",
    "datetime.datetime.now": "a datetime",
    "datetime.datetime.strptime": "a datetime",
    "datetime.datetime.today": "a datetime",
    "datetime.datetime.utcnow": "a datetime",
    "datetime.timedelta": "a timedelta",
    "decimal.Decimal": "a Decimal",
    "dgl.graph": "a DGL graph",
    "dgl.heterograph": "a DGL graph",
    "fractions.Fraction": "a Fraction",
    "pandas.DataFrame": "a DataFrame",
    "pandas.Series": "a Series",
    "pandas.Timestamp": "a Timestamp",
    "pandas.read_csv": "a DataFrame",
    "pandas.read_parquet": "a DataFrame",
    "torch_geometric.data.Data": "a graph of torch_geometric",
    "torch_geometric.data.HeteroData": "a graph of torch_geometric",
    "types.SimpleNamespace": "a SimpleNamespace",
    "uuid.UUID": "a UUID",
    "uuid.uuid4": "a UUID",
}

#: Base classes of which an object is still no tensor, number, text, mapping or sequence.
PLAIN_BASES = frozenset("builtins.object abc.ABC typing.Generic typing.Protocol enum.Enum".split())

#: Datasets of torchvision whose samples hold a Pillow image, unless a transform makes it something else.
IMAGE_DATASETS = frozenset(
    f"torchvision.datasets.{name}"
    for name in """
    CIFAR10 CIFAR100 Caltech101 Caltech256 CelebA Cityscapes CocoDetection Country211 DTD EMNIST EuroSAT FGVCAircraft
    FakeData FashionMNIST Flowers102 Food101 GTSRB ImageFolder ImageNet Imagenette KMNIST LFWPairs LFWPeople MNIST
    Omniglot OxfordIIITPet PCAM Places365 QMNIST RenderedSST2 SBU SEMEION STL10 SUN397 SVHN StanfordCars USPS
    VOCDetection VOCSegmentation WIDERFace
    """.split()
)
