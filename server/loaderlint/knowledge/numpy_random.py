"""Random numbers: what draws, what seeds, what makes a generator. Source: the reference of numpy.random, torch,
random."""

from __future__ import annotations

import re
import sys
from types import MappingProxyType

_LEGACY = """
beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic
lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto
permutation poisson power rand randint randn random random_integers random_sample ranf rayleigh sample shuffle
standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform vonmises wald weibull
zipf
"""

#: Functions that draw from NumPy's global state.
NUMPY_GLOBAL_DRAWS = frozenset(f"numpy.random.{name}" for name in _LEGACY.split())

#: Functions of other libraries that draw from NumPy's global state, unless they get a generator or a seed. Source:
#: their code, and that state before and after a call (scikit-learn 1.9, SciPy 1.17, pandas 3.1), which
#: `check_random_state(None)` and pandas' `random_state(None)` give.
_LIBRARY_DRAWS = frozenset({"sklearn.utils.shuffle", "sklearn.utils.resample", "scipy.sparse.random"})
#: Their methods that do: the distributions of SciPy, and what pandas makes.
_LIBRARY_METHODS = re.compile(r"scipy\.stats\..*\.rvs|pandas\..*\.sample")
#: The parameters of all of these for a generator or a seed.
OWN_STATE = frozenset({"random_state", "seed", "rng"})


def draws_through_library(name: str) -> bool:
    """Whether a function or method of another library, by its full name, draws from NumPy's global state, unless it
    gets one of `OWN_STATE`."""
    return name in _LIBRARY_DRAWS or _LIBRARY_METHODS.fullmatch(name) is not None


#: Functions and methods that draw numbers of at least 0 and less than 1, whatever is passed to them.
UNIT_DRAWS = frozenset(
    {
        "random.random",
        "random.Random.random",
        "torch.rand",
        "torch.rand.item",
        "numpy.random.default_rng.random",
        *(f"numpy.random.{name}" for name in "rand random random_sample ranf sample".split()),
        *(f"numpy.random.RandomState.{name}" for name in "rand random random_sample".split()),
    }
)

#: Functions and methods that draw such numbers without arguments, or between the limits 0 and 1.
UNIFORM_DRAWS = frozenset(
    f"{drawing}.uniform"
    for drawing in "random random.Random numpy.random numpy.random.RandomState numpy.random.default_rng".split()
)

#: Functions and methods that draw integers between two limits, or from 0 to one: 1 if the last limit is never drawn.
INTEGER_DRAWS = MappingProxyType(
    {"random.randint": 0, "random.Random.randint": 0}
    | {
        name: 1
        for name in """
        random.randrange random.Random.randrange numpy.random.randint numpy.random.RandomState.randint
        numpy.random.default_rng.integers
        """.split()
    }
)

#: Functions that pick of a list: 'one' of its items, or 'several'.
PICKING_FUNCTIONS = MappingProxyType(
    {
        "random.choice": "one",
        "random.choices": "several",
        "random.sample": "several",
        "numpy.random.choice": "several",
        "numpy.random.permutation": "several",
    }
)

#: Calls that make a random generator object. The value is the library ('numpy', 'numpy_legacy', 'python', 'torch').
GENERATORS = MappingProxyType(
    {
        "numpy.random.default_rng": "numpy",
        "numpy.random.Generator": "numpy",
        "numpy.random.RandomState": "numpy_legacy",
        "random.Random": "python",
        "torch.Generator": "torch",
    }
)

#: Methods of generator objects that draw (for torch, drawing happens in functions given `generator=`).
GENERATOR_DRAWS = frozenset(
    _LEGACY.split()
    + """
    integers permuted multivariate_hypergeometric getrandbits randrange choices gauss normalvariate lognormvariate
    betavariate expovariate gammavariate paretovariate triangular vonmisesvariate weibullvariate randbytes spawn
    """.split()
)

#: Methods of generator objects that give them a new seed.
GENERATOR_SEEDS = frozenset({"seed", "manual_seed", "set_state", "setstate"})

#: Functions that seed global states: which library's.
SEEDERS = MappingProxyType(
    {
        "numpy.random.seed": "numpy",
        "random.seed": "python",
        "torch.manual_seed": "torch",
        "torch.random.manual_seed": "torch",
        "torch.cuda.manual_seed": "cuda",
        "torch.cuda.manual_seed_all": "cuda",
        "numpy.random.set_state": "numpy",
        "lightning.pytorch.seed_everything": "all",
        "lightning.seed_everything": "all",
        "lightning.fabric.seed_everything": "all",
        "lightning.fabric.utilities.seed.seed_everything": "all",
        "transformers.set_seed": "all",
        "accelerate.utils.set_seed": "all",
        "monai.utils.set_determinism": "all",
        "fastai.set_seed": "all",
        "imgaug.seed": "imgaug",
        "ia.seed": "imgaug",
    }
)

#: Packages and modules that draw from no global state, except torchaudio, which draws from torch's. Source: their code
#: (SciPy 1.17 and, for `scipy.misc`, 1.1; librosa 0.11, scikit-image 0.26, pandas 3.1, torchaudio 2.11). Not all of
#: SciPy, librosa and scikit-image: `scipy.stats`, `librosa.griffinlim` and `skimage.measure.ransac` draw, or drew, from
#: NumPy's.
DRAW_FREE = frozenset(
    """
    audioread av h5py imageio librosa.amplitude_to_db librosa.core.load librosa.core.resample librosa.effects
    librosa.feature.melspectrogram librosa.feature.mfcc librosa.filters librosa.get_duration librosa.load
    librosa.power_to_db librosa.resample librosa.stft librosa.to_mono librosa.util lmdb msgpack nibabel orjson pandas
    pyarrow pydicom rasterio resampy scipy.fft scipy.fftpack scipy.io scipy.misc scipy.ndimage scipy.signal
    scipy.spatial.distance scipy.special shapely SimpleITK skimage.color skimage.exposure skimage.io skimage.transform
    sortedcontainers soundfile tifffile torchaudio tqdm zarr
    """.split()
)

#: Packages that never seed NumPy's global state with a seed that is passed to them: they make a generator of their own,
#: or have none. Source: their code. NumPy's own functions that do are in `SEEDERS`.
LEAVES_NUMPY_SEED = frozenset(sys.stdlib_module_names) | frozenset(
    "albumentations builtins cv2 datasets numpy pandas PIL scipy skimage sklearn torch torchaudio torchvision".split()
)

#: Worker init functions of libraries that reseed NumPy in each worker.
SEEDING_WORKER_INITS = frozenset(
    {
        "lightning.pytorch.utilities.seed.pl_worker_init_function",
        "lightning.fabric.utilities.seed.pl_worker_init_function",
        "timm.data.loader._worker_init",
        "detectron2.data.worker_init_reset_seed",
        "ultralytics.data.seed_worker",
        "transformers.trainer_utils.seed_worker",
    }
)

#: Beginnings of the names of what draws from the global state of each library, by itself or in its transforms.
STATE_DRAWS = MappingProxyType(
    {
        "numpy": ("numpy.random.", "imgaug.", "monai.transforms."),
        "python": ("random.", "albumentations.", "audiomentations.", "torchvision.transforms."),
        "torch": (
            *("torch.rand", "torch.normal", "torch.bernoulli", "torch.multinomial", "torch.poisson", "torch.dropout"),
            *("torch.nn.functional.dropout", "torch.nn.init.", "torch.distributions.", "torchvision.transforms."),
        ),
    }
)

#: Methods of tensors that fill them with random numbers of torch's state.
TENSOR_DRAWS = frozenset("random_ uniform_ normal_ bernoulli_ exponential_ cauchy_ geometric_ log_normal_".split())
