"""Arrays and tensors: what gives one, what copies, what gives a view, what changes its argument in place.

Source: the references of NumPy, PyTorch and OpenCV."""

from __future__ import annotations

from types import MappingProxyType

#: Library calls whose result is an array or tensor held in this process's memory.
ARRAY_MAKERS = frozenset(
    [
        f"numpy.{name}"
        for name in """
        array zeros ones empty full arange linspace load loadtxt genfromtxt fromfile frombuffer memmap stack concatenate
        vstack hstack dstack zeros_like ones_like empty_like full_like eye identity asarray ascontiguousarray copy
        random.rand random.randn random.randint random.random random.normal random.uniform tile repeat meshgrid
        """.split()
    ]
    + [
        f"torch.{name}"
        for name in """
        tensor zeros ones empty full arange linspace load rand randn randint stack cat from_numpy as_tensor FloatTensor
        LongTensor zeros_like ones_like empty_like Tensor IntTensor ByteTensor eye
        """.split()
    ]
    + ["cv2.imread", "cv2.imdecode", "tifffile.imread", "skimage.io.imread", "imageio.imread", "scipy.io.loadmat"]
)

#: Calls that give a view of (or the very) argument 0.
VIEWS = frozenset(
    [
        f"numpy.{name}"
        for name in """
        asarray ascontiguousarray asanyarray atleast_1d atleast_2d atleast_3d reshape transpose swapaxes moveaxis squeeze
        ravel expand_dims flip fliplr flipud rot90 broadcast_to split array_split hsplit vsplit diagonal
        """.split()
    ]
    + [
        "torch.from_numpy",
        "torch.as_tensor",
        "torch.squeeze",
        "torch.unsqueeze",
        "torch.transpose",
        "torch.permute",
        "torch.narrow",
        "torch.chunk",
        "torch.split",
    ]
)

#: Methods that give a view of their receiver.
VIEW_METHODS = frozenset(
    """
    view reshape transpose swapaxes squeeze ravel numpy detach cpu permute unsqueeze t narrow expand expand_as view_as
    contiguous chunk split select diagonal
    """.split()
)

#: Attributes that are views of their object.
VIEW_ATTRIBUTES = frozenset({"T", "real", "imag", "flat", "data", "mT", "H", "values", "pixel_array"})

#: Methods that change their receiver in place (containers and NumPy arrays).
MUTATING_METHODS = frozenset({"sort", "fill", "resize", "put", "itemset", "partition", "reverse"})

#: Methods that grow or empty a container: keeping state, not editing a sample.
STATE_METHODS = frozenset(
    {"append", "extend", "insert", "pop", "popitem", "remove", "clear", "add", "discard", "update", "setdefault"}
)

#: Functions that change the argument at these positions in place.
MUTATING_FUNCTIONS = MappingProxyType(
    {
        "numpy.random.shuffle": (0,),
        "random.shuffle": (0,),
        "numpy.put": (0,),
        "numpy.copyto": (0,),
        "numpy.fill_diagonal": (0,),
        "numpy.place": (0,),
        "numpy.putmask": (0,),
        "numpy.add.at": (0,),
        "cv2.rectangle": (0,),
        "cv2.circle": (0,),
        "cv2.line": (0,),
        "cv2.polylines": (0,),
        "cv2.fillPoly": (0,),
        "cv2.fillConvexPoly": (0,),
        "cv2.putText": (0,),
        "cv2.drawContours": (0,),
        "cv2.ellipse": (0,),
        "cv2.arrowedLine": (0,),
        "cv2.floodFill": (0,),
        "torch.nn.init.normal_": (0,),
    }
)

#: Keyword that names an array that is written to.
OUT_ARGUMENT = "out"
