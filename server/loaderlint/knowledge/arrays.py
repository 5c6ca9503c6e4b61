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
        hanning hamming blackman bartlett kaiser logspace geomspace
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

#: Methods of an array or tensor that give one of as many dimensions.
KEEPS_SHAPE = frozenset(
    "astype copy clone float double half long int bool byte to cpu contiguous detach share_memory_ numpy abs".split()
)

#: Methods of an array or tensor that give one of other dimensions.
CHANGES_SHAPE = frozenset("reshape view transpose permute swapaxes squeeze unsqueeze flatten ravel t repeat".split())

#: Arrays of positions or masks: an index that is one copies what it picks.
POSITIONS = frozenset(
    [f"numpy.{name}" for name in "arange argsort where nonzero flatnonzero unique array asarray isin in1d".split()]
    + [
        f"numpy.{name}"
        for name in "logical_and logical_or logical_xor logical_not isnan isinf isfinite isclose".split()
    ]
    + [f"numpy.{name}" for name in "all any linspace searchsorted".split()]
    + [f"numpy.{name}" for name in "digitize argpartition lexsort argwhere setdiff1d intersect1d union1d".split()]
    + [f"numpy.{name}" for name in "zeros ones full tile repeat concatenate hstack append delete insert".split()]
    + [f"numpy.random.{name}" for name in "permutation choice randint".split()]
    + [f"torch.{name}" for name in "arange argsort where nonzero unique tensor randperm randint LongTensor".split()]
    + [f"torch.{name}" for name in "from_numpy as_tensor IntTensor BoolTensor".split()]
    + [
        f"torch.{name}"
        for name in "logical_and logical_or logical_xor logical_not isnan isinf isfinite isin all any".split()
    ]
    + ["random.sample", "random.choices"]
)

#: Methods that give such arrays.
POSITION_METHODS = (
    *(".argsort", ".nonzero", ".permutation"),
    *(".all", ".any", ".isnan", ".isfinite", ".eq", ".ne", ".gt", ".ge", ".lt", ".le"),
    *(".long", ".bool", ".numpy", ".to_numpy", ".tolist", ".astype"),
)

#: Functions and methods of torch that give values with their positions, if they are told a dimension.
VALUES_WITH_POSITIONS = frozenset("max min sort topk kthvalue mode median cummax cummin".split())

#: Functions and methods that give places in an array, or its length: they decide what to take.
CHOOSES = frozenset("argmin argmax argsort argpartition argwhere nonzero flatnonzero multinomial len".split())

#: Functions and methods that give one number for many.
SUMMARISES = frozenset("min max amin amax sum mean any all count_nonzero".split())

#: Functions and methods that are only used on arrays: an index that is passed to one, or has one, is no number.
SHOWS_ARRAY = SUMMARISES | {"nonzero", "flatnonzero", "argwhere", "cumsum", "logical_not", "logical_and", "logical_or"}

#: Of `POSITIONS`, calls that give one number unless they are told a size, and the place of that argument.
SINGLE_WITHOUT_SIZE = MappingProxyType({"numpy.random.choice": 1, "numpy.random.randint": 2})

#: Calls of `VIEWS` that copy what is no array, or what has another type than they are told.
MAY_COPY = frozenset(
    {"numpy.asarray", "numpy.ascontiguousarray", "numpy.asanyarray", "torch.as_tensor"}
    | {f"numpy.atleast_{number}d" for number in (1, 2, 3)}
)

#: Calls of `VIEWS` that only take arrays: what is passed to one is an array.
ONLY_ARRAYS = frozenset({"torch.from_numpy"})

#: Calls that give a view of (or the very) argument 0.
VIEWS = frozenset(
    [
        f"numpy.{name}"
        for name in """
        asarray ascontiguousarray asanyarray atleast_1d atleast_2d atleast_3d reshape transpose swapaxes moveaxis
        squeeze ravel expand_dims flip fliplr flipud rot90 broadcast_to split array_split hsplit vsplit diagonal
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

#: Methods that change their receiver in place (containers and NumPy arrays) where their result is not used; of other
#: objects they give a new one.
MUTATING_METHODS = frozenset({"sort", "fill", "resize", "put", "itemset", "partition", "reverse"})

#: Those that lists have too.
LIST_METHODS = frozenset({"sort", "reverse"})

#: Methods of tensors that change their receiver in place: those with an underscore at the end, without those that
#: change no values (`requires_grad_`). A test compares them with torch's.
TENSOR_METHODS_IN_PLACE = frozenset(
    """
    abs_ absolute_ acos_ acosh_ add_ addbmm_ addcdiv_ addcmul_ addmm_ addmv_ addr_ apply_ arccos_ arccosh_ arcsin_
    arcsinh_ arctan2_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan2_ atan_ atanh_ baddbmm_ bernoulli_ bitwise_and_
    bitwise_left_shift_ bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ cauchy_ ceil_ clamp_ clamp_max_
    clamp_min_ clip_ conj_physical_ copy_ copysign_ cos_ cosh_ cumprod_ cumsum_ deg2rad_ digamma_ div_ divide_ eq_
    erf_ erfc_ erfinv_ exp2_ exp_ expm1_ exponential_ fill_ fill_diagonal_ fix_ float_power_ floor_ floor_divide_
    fmod_ frac_ gcd_ ge_ geometric_ greater_ greater_equal_ gt_ heaviside_ hypot_ i0_ igamma_ igammac_ index_add_
    index_copy_ index_fill_ index_put_ index_reduce_ lcm_ ldexp_ le_ lerp_ less_ less_equal_ lgamma_ log10_ log1p_
    log2_ log_ log_normal_ logical_and_ logical_not_ logical_or_ logical_xor_ logit_ lt_ map2_ map_ masked_fill_
    masked_scatter_ mul_ multiply_ mvlgamma_ nan_to_num_ ne_ neg_ negative_ nextafter_ normal_ not_equal_ polygamma_
    pow_ put_ rad2deg_ random_ reciprocal_ relu_ remainder_ renorm_ resize_ resize_as_ round_ rsqrt_ scatter_
    scatter_add_ scatter_reduce_ set_ sgn_ sigmoid_ sign_ sin_ sinc_ sinh_ sqrt_ square_ squeeze_ sub_ subtract_
    swapaxes_ swapdims_ t_ tan_ tanh_ transpose_ tril_ triu_ true_divide_ trunc_ uniform_ unsqueeze_ xlogy_ zero_
    """.split()
)

#: Those that change the shape of the tensor object that they are called on, and no values: on a new view, nothing that
#: is stored changes.
SHAPE_METHODS_IN_PLACE = frozenset("as_strided_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_".split())

#: Attributes of a tensor that are a new view of it.
VIEW_ATTRIBUTES = frozenset({"H", "T", "data", "imag", "mH", "mT", "real"})

#: Methods that give every element a new value, whatever it was: what they are called on holds nothing to keep.
OVERWRITES = frozenset(
    """
    fill fill_ zero_ copy_ normal_ uniform_ random_ exponential_ bernoulli_ cauchy_ geometric_ log_normal_
    """.split()
)

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

#: Option of functions and modules that write their result to their first argument.
INPLACE_ARGUMENT = "inplace"

#: Functions and modules with this option whose result is another one when they get it again: not `relu`, which changes
#: nothing the second time.
TAKES_INPLACE = frozenset(
    f"torch.nn.{name}"
    for name in """
    functional.dropout functional.alpha_dropout functional.feature_alpha_dropout functional.dropout2d
    functional.dropout3d functional.elu functional.selu functional.celu functional.leaky_relu functional.rrelu
    functional.silu functional.mish functional.hardswish Dropout Dropout2d Dropout3d AlphaDropout
    FeatureAlphaDropout ELU SELU CELU LeakyReLU RReLU SiLU Mish Hardswish
    """.split()
) | frozenset(
    f"torchvision.transforms.{module}{name}"
    for module in ("", "v2.")
    for name in ("functional.normalize", "functional.erase", "Normalize", "RandomErasing")
)

#: Functions that give a view whose strides are negative; `numpy.rot90` for most numbers of turns.
REVERSING = frozenset({"numpy.flip", "numpy.fliplr", "numpy.flipud", "numpy.rot90"})

#: Functions that give a view of argument 0 in which a reversed axis stays reversed. What is not here copies, or may:
#: arithmetic, `numpy.array`, `numpy.copy`, `astype`, `clip`, `ravel`, `numpy.ascontiguousarray` (but for axes of
#: length 1).
KEEPS_STRIDES = frozenset(
    f"numpy.{name}"
    for name in """
    asarray asanyarray transpose swapaxes moveaxis rollaxis squeeze expand_dims atleast_1d atleast_2d atleast_3d
    """.split()
)

#: Methods and attributes that do the same.
STRIDES_METHODS = frozenset({"transpose", "swapaxes", "squeeze", "view"})
STRIDES_ATTRIBUTES = frozenset({"T", "mT"})

#: Functions that make a tensor of the array at argument 0, and raise where one of its strides is negative.
TENSOR_MAKERS = frozenset(
    f"torch.{name}"
    for name in """
    from_numpy as_tensor tensor asarray Tensor FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ShortTensor
    ByteTensor BoolTensor
    """.split()
) | {"torchvision.transforms.functional.to_tensor", "torchvision.transforms.functional.to_image"}

#: Transforms that do the same with what they are called with.
TENSOR_TRANSFORMS = frozenset({"torchvision.transforms.ToTensor", "torchvision.transforms.ToImage"})

#: Those of them that may keep the memory of the array at argument 0, and copy no other arrays. `torch.from_numpy`
#: always keeps it. torchvision's keep that of an image with one channel only; `to_tensor` copies bytes (uint8) too.
MEMORY_SHARERS = frozenset(
    {
        "torch.from_numpy",
        "torchvision.transforms.functional.to_tensor",
        "torchvision.transforms.functional.to_image",
    }
)

#: Calls whose array cannot be written, whatever they are passed.
READ_ONLY_MAKERS = frozenset({"numpy.broadcast_to", "numpy.lib.stride_tricks.sliding_window_view"})

#: Calls that map a file: the parameter (name and position) that says how.
MAPPERS = MappingProxyType(
    {
        "numpy.load": ("mmap_mode", 1),
        "numpy.memmap": ("mode", 2),
        "numpy.lib.format.open_memmap": ("mode", 1),
    }
)

#: Calls and methods that give a bytes object, which cannot be written.
BYTES_MAKERS = frozenset(
    {"builtins.bytes", "base64.b64decode", "zlib.decompress", "gzip.decompress", "lzma.decompress", "bz2.decompress"}
)
BYTES_METHODS = frozenset({"read", "read_bytes", "tobytes", "getvalue", "encode", "b64decode", "decompress"})

#: Methods that give an array in the memory of their object; it can be written only if that can.
MEMORY_METHODS = STRIDES_METHODS | {"reshape"}

#: Methods of a tensor that give one with memory of its own (nearly always: an array of that type may stay itself).
COPYING_TENSOR_METHODS = frozenset(
    "float double half long int bool clone cuda to type div mul add sub sum mean bfloat16 flip repeat".split()
)

#: Methods and attributes of a tensor whose result lies in its memory: on a tensor of the processor, moves and
#: detachments do.
TENSOR_MEMORY_METHODS = frozenset(
    "cpu detach numpy view reshape squeeze unsqueeze transpose permute flatten contiguous t narrow".split()
)
TENSOR_MEMORY_ATTRIBUTES = frozenset({"data", "T", "mT"})
