"""CUDA: which calls initialise it.

Read in torch 2.13, `torch/cuda/__init__.py`, `torch/cuda/random.py`: these call `_lazy_init`. Seeding
(`torch.cuda.manual_seed`), `is_available`, `device_count` and `empty_cache` do not, or wait until something else has.
"""

from __future__ import annotations

#: Functions and classes of `torch.cuda` that initialise it.
INITIALISES = frozenset(
    f"torch.cuda.{name}"
    for name in """
    init synchronize current_device current_stream default_stream get_device_properties get_device_name
    get_device_capability mem_get_info get_rng_state set_device Stream
    FloatTensor DoubleTensor HalfTensor BFloat16Tensor ByteTensor CharTensor ShortTensor IntTensor LongTensor BoolTensor
    """.split()
)

#: Functions that say whether there is a GPU that torch can use.
AVAILABLE = frozenset({"torch.cuda.is_available", "torch.cuda.device_count"})

#: Packages whose functions take `device=` and make tensors there.
TAKES_DEVICE = ("torch.", "torchvision.", "torchaudio.")

#: Methods whose result is on the device of the tensor or module that they are called on.
KEEPS_DEVICE = frozenset(
    """
    float half double bfloat16 int long bool type clone detach contiguous requires_grad_ eval train view reshape flatten
    unsqueeze squeeze permute transpose t repeat expand abs sqrt mean sum
    """.split()
)

#: Methods of tensors and modules that look at them and compute nothing.
LOOKS = frozenset(
    """
    size dim ndimension numel nelement stride get_device is_contiguous element_size type eval train parameters buffers
    """.split()
)
#: Builtin functions of which the same is true.
LOOKING_FUNCTIONS = frozenset("len isinstance hasattr getattr type id".split())
