"""The classes of what library calls give, and of which other classes these are."""

from __future__ import annotations

from types import MappingProxyType

from loaderlint.knowledge.collation import IMAGE_MAKERS, IMAGE_METHODS
from loaderlint.knowledge.paths import PATH, PATH_LISTINGS, PATH_MAKERS, PATH_METHODS

ARRAY = "numpy.ndarray"
TENSOR = "torch.Tensor"
IMAGE = "PIL.Image.Image"
FUNCTION = "types.FunctionType"
#: What torch's samplers give: an int, a number of NumPy, or a tensor with one item.
INDEX = "an index"
#: An object of which no base class is known to be more.
OBJECT = "builtins.object"

#: Calls that always give an array: none that gives None or an archive instead, and none that gives a number.
_ARRAY_MAKERS = frozenset(
    [
        f"numpy.{name}"
        for name in """
        array zeros ones empty full arange linspace fromfile frombuffer stack concatenate vstack hstack dstack
        zeros_like ones_like empty_like full_like eye identity asarray ascontiguousarray tile repeat
        """.split()
    ]
    + [f"cv2.{name}" for name in "resize cvtColor GaussianBlur blur medianBlur flip warpAffine warpPerspective".split()]
)
_TENSOR_MAKERS = frozenset(
    f"torch.{name}"
    for name in """
    tensor zeros ones empty full arange linspace rand randn randint randperm stack cat from_numpy as_tensor zeros_like
    ones_like empty_like full_like eye
    """.split()
) | {"torchvision.transforms.functional.to_tensor", "torchvision.transforms.functional.pil_to_tensor"}
_SAME_ARRAY = frozenset("astype copy reshape transpose swapaxes squeeze ravel flatten repeat clip".split())
_SAME_TENSOR = frozenset(
    """
    to cpu cuda float double half long int bool clone detach contiguous view reshape permute transpose squeeze unsqueeze
    flatten flip repeat expand mul add sub div
    """.split()
)

#: Each class with the calls that make its objects, and the methods that give another object of the same class.
_MAKERS = MappingProxyType(
    {
        ARRAY: (_ARRAY_MAKERS, _SAME_ARRAY),
        TENSOR: (_TENSOR_MAKERS, _SAME_TENSOR),
        IMAGE: (IMAGE_MAKERS, IMAGE_METHODS),
        PATH: (PATH_MAKERS, PATH_METHODS),
        "builtins.str": (frozenset({"builtins.str", "os.path.join"}), frozenset()),
        "builtins.int": (frozenset({"builtins.int", "builtins.len"}), frozenset()),
        "builtins.float": (frozenset({"builtins.float"}), frozenset()),
    }
)
#: Classes of Python, each with all of `CLASSES_OF_PYTHON` that its objects are instances of.
_INSTANCES = {
    "builtins.str": "str Sequence Iterable Collection",
    "builtins.bytes": "bytes Sequence Iterable Collection",
    "builtins.int": "int Number Real Integral",
    "builtins.bool": "bool int Number Real Integral",
    "builtins.float": "float Number Real",
    "builtins.NoneType": "",
    "builtins.list": "list Sequence MutableSequence Iterable Collection",
    "builtins.tuple": "tuple Sequence Iterable Collection",
    "builtins.set": "set Iterable Collection",
    "builtins.dict": "dict Mapping MutableMapping Iterable Collection",
    PATH: "Path PurePath PathLike",
    ARRAY: "Iterable Collection",
    TENSOR: "Iterable Collection",
    IMAGE: "",
    FUNCTION: "",
    OBJECT: "",
}
_ABSTRACT = "Sequence MutableSequence Iterable Collection Mapping MutableMapping".split()
_FULL_NAMES = (
    {name: f"builtins.{name}" for name in "str bytes int bool float list tuple set dict".split()}
    | {name: f"numbers.{name}" for name in "Number Real Integral".split()}
    | {name: f"collections.abc.{name}" for name in _ABSTRACT}
    | {"Path": PATH, "PurePath": "pathlib.PurePath", "PathLike": "os.PathLike"}
)
#: The classes of Python of which it is known whether an object of a known class is an instance.
CLASSES_OF_PYTHON = frozenset(_FULL_NAMES.values())
INSTANCES = MappingProxyType(
    {name: frozenset(_FULL_NAMES[one] for one in line.split()) for name, line in _INSTANCES.items()}
)

_NO_INDICES = "str bytes float list tuple set frozenset dict slice range".split()
#: Classes of Python that no index is an instance of.
NO_INDICES = frozenset(
    [*(f"builtins.{name}" for name in _NO_INDICES)]
    + [f"collections.abc.{name}" for name in "Sequence MutableSequence Mapping MutableMapping Set".split()]
)

#: Libraries, each with those from whose classes its own may be derived.
DERIVES_FROM = MappingProxyType(
    {
        "PIL": frozenset({"PIL"}),
        "albumentations": frozenset({"albumentations"}),
        "kornia": frozenset({"kornia", "torch"}),
        "numpy": frozenset({"numpy"}),
        "torch": frozenset({"torch"}),
        "torchvision": frozenset({"torchvision", "torch"}),
    }
)

#: Of their classes, some are derived from `torch.nn.Module`, and none from other classes of torch.
_MODULES_AT_MOST = ("torchvision.transforms.",)
_LIBRARIES = frozenset(
    {*DERIVES_FROM}
    | {"accimage", "h5py", "imgaug", "jax", "monai", "pandas", "scipy", "skimage", "tensorflow", "torchaudio"}
)


def type_made_by(name: str) -> str:
    """The class of what the chain of library calls `name` gives; '' if it is not known."""
    return next((kind for kind, (makers, same) in _MAKERS.items() if is_made(name, makers, same)), "")


def is_made(name: str, makers: frozenset[str], methods: frozenset[str]) -> bool:
    """Whether a chain of calls begins with one of `makers` and goes on with these methods."""
    while name not in makers:
        name, _, method = name.rpartition(".")
        if method not in methods:
            return False
    return True


def is_path(name: str) -> bool:
    """Whether a chain of calls, or an item of what it lists, gives a path of pathlib."""
    if name.endswith("[]"):
        name, _, listing = name[:-2].rpartition(".")
        return listing in PATH_LISTINGS and is_path(name)
    return is_made(name, PATH_MAKERS, PATH_METHODS)


def is_derived(name: str, wanted: str) -> bool | None:
    """Whether objects of exactly the library class `name` are instances of the class `wanted`; None if it is not
    known."""
    if name == wanted:
        return True
    if name in (INDEX, "builtins.int") and wanted in NO_INDICES:
        return False
    if name == INDEX:
        return None
    if name == OBJECT and wanted.startswith("collections.abc."):
        return None  # a class with `__iter__` is one
    if wanted in CLASSES_OF_PYTHON:
        return wanted in INSTANCES[name] if name in INSTANCES else None
    top, other = name.partition(".")[0], wanted.partition(".")[0]
    if name not in INSTANCES and top not in DERIVES_FROM:
        return None
    if name.startswith(_MODULES_AT_MOST) and other == "torch":
        return None if wanted == "torch.nn.Module" else False
    return False if other in _LIBRARIES and other not in DERIVES_FROM.get(top, ()) else None
