"""Pickling: what of a library's objects goes to workers that are not forked, and what cannot. Each name was pickled by
the versions that `tests/truth` runs; the words are those of the error."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

#: Libraries whose objects keep what their constructors are given, and pickle it.
KEEPS_ARGUMENTS = (
    "torchvision.transforms.",
    "torchvision.datasets.",
    "torch_geometric.transforms.",
    "albumentations.",
    "monai.transforms.",
    "monai.data.",
    "audiomentations.",
    "torch.utils.data.Subset",
    "torch.utils.data.ConcatDataset",
    "torch.utils.data.ChainDataset",
    "torch.nn.Sequential",
    "collections.OrderedDict",
    "collections.defaultdict",
    "collections.deque",
    "numpy.vectorize",
)

#: Those that keep the items of their first argument in a list of their own, and not the argument.
KEEPS_ITEMS = frozenset({"torch.utils.data.ConcatDataset", "collections.OrderedDict", "collections.deque"})

#: Arguments that such constructors use and do not keep: torchvision's DatasetFolder asks the first while it lists the
#: files, `random_split` draws its indices from the second.
USED_AT_ONCE = frozenset({"is_valid_file", "generator"})

#: How many positional arguments such a constructor keeps at most: `random_split` makes a Subset and takes one more.
MOST_KEPT = MappingProxyType({"torch.utils.data.Subset": 2})

#: Ends of the names of base classes that say by themselves how their objects are pickled (torch's pipes: with dill).
OWN_PICKLING = ("DataPipe",)


class Unpicklable(NamedTuple):
    """`word`: how messages call it; `error`: what pickle says of it ('cannot pickle ...')."""

    word: str
    error: str


_LOCK = "'_thread.lock' object"

#: What gives a TorchScript module, and methods that return the module itself.
_TORCHSCRIPT = tuple(f"torch.jit.load{methods}" for methods in ("", ".cpu", ".eval", ".to", ".eval.to", ".to.eval"))
#: What makes a client of boto3 1.44, a session, or a part of a client.
_AWS = (
    *("boto3.client", "boto3.resource", "boto3.resource.Bucket"),
    *(f"boto3.{session}" for session in ("Session", "session.Session")),
    *(f"boto3.{session}.{made}" for session in ("Session", "session.Session") for made in ("client", "resource")),
)
_CLIENTS = tuple(
    f"google.cloud.storage.Client{made}" for made in ("", ".create_anonymous_client", ".from_service_account_json")
)
#: What makes a client of google-cloud-storage 3.17, or a bucket, which keeps its client.
_CLOUD_STORAGE = (*_CLIENTS, *(f"{client}.{made}" for client in _CLIENTS for made in ("bucket", "get_bucket")))

#: Calls whose result cannot be pickled. Handles (files, databases, ...) are in `handles`.
UNPICKLABLE = MappingProxyType(
    {
        "threading.Lock": Unpicklable("lock", _LOCK),
        "threading.RLock": Unpicklable("lock", "'_thread.RLock' object"),
        "threading.Condition": Unpicklable("condition", "'_thread.RLock' object"),
        "threading.Semaphore": Unpicklable("semaphore", _LOCK),
        "threading.BoundedSemaphore": Unpicklable("semaphore", _LOCK),
        "threading.Event": Unpicklable("event", _LOCK),
        "threading.Barrier": Unpicklable("barrier", _LOCK),
        "threading.Thread": Unpicklable("thread", _LOCK),
        "threading.Timer": Unpicklable("thread", _LOCK),
        "threading.local": Unpicklable("thread-local object", "'_thread._local' object"),
        "queue.Queue": Unpicklable("queue", _LOCK),
        "queue.LifoQueue": Unpicklable("queue", _LOCK),
        "queue.PriorityQueue": Unpicklable("queue", _LOCK),
        "queue.SimpleQueue": Unpicklable("queue", "'_queue.SimpleQueue' object"),
        "concurrent.futures.ThreadPoolExecutor": Unpicklable("thread pool", "'_queue.SimpleQueue' object"),
        "concurrent.futures.ProcessPoolExecutor": Unpicklable("process pool", _LOCK),
        "multiprocessing.Pool": Unpicklable("process pool", "a pool"),
        "multiprocessing.pool.Pool": Unpicklable("process pool", "a pool"),
        "multiprocessing.pool.ThreadPool": Unpicklable("thread pool", "a pool"),
        "multiprocessing.Manager": Unpicklable("manager", "'weakref.ReferenceType' object"),
        "torch.multiprocessing.Manager": Unpicklable("manager", "'weakref.ReferenceType' object"),
        "subprocess.Popen": Unpicklable("process", _LOCK),
        "weakref.ref": Unpicklable("weak reference", "'weakref.ReferenceType' object"),
        "weakref.proxy": Unpicklable("weak reference", "a weak proxy"),
        "weakref.WeakKeyDictionary": Unpicklable("weak dictionary", "a weak dictionary"),
        "weakref.WeakValueDictionary": Unpicklable("weak dictionary", "a weak dictionary"),
        "weakref.WeakSet": Unpicklable("weak set", "a weak set"),
        "contextvars.ContextVar": Unpicklable("context variable", "'_contextvars.ContextVar' object"),
        "types.MappingProxyType": Unpicklable("mapping proxy", "'mappingproxy' object"),
        "builtins.memoryview": Unpicklable("memory view", "memoryview objects"),
        "builtins.generator": Unpicklable("generator", "'generator' object"),
        "dict.keys": Unpicklable("view of a dictionary", "'dict_keys' object"),
        "dict.values": Unpicklable("view of a dictionary", "'dict_values' object"),
        "dict.items": Unpicklable("view of a dictionary", "'dict_items' object"),
        "json.load.keys": Unpicklable("view of a dictionary", "'dict_keys' object"),
        "json.loads.keys": Unpicklable("view of a dictionary", "'dict_keys' object"),
        "collections.Counter.keys": Unpicklable("view of a dictionary", "'dict_keys' object"),
        "collections.OrderedDict.keys": Unpicklable("view of a dictionary", "'odict_keys' object"),
        "collections.defaultdict.keys": Unpicklable("view of a dictionary", "'dict_keys' object"),
        "os.scandir": Unpicklable("directory iterator", "'posix.ScandirIterator' object"),
        "os.walk": Unpicklable("generator", "'generator' object"),
        "glob.iglob": Unpicklable("generator", "'generator' object"),
        "pathlib.Path.glob": Unpicklable("generator", "'generator' object"),
        "pathlib.Path.rglob": Unpicklable("generator", "'generator' object"),
        "pathlib.Path.iterdir": Unpicklable("generator", "'generator' object"),
        "csv.reader": Unpicklable("CSV reader", "'_csv.reader' object"),
        "csv.DictReader": Unpicklable("CSV reader", "'_csv.reader' object"),
        "csv.writer": Unpicklable("CSV writer", "'_csv.writer' object"),
        "re.finditer": Unpicklable("iterator of matches", "'_sre.SRE_Scanner' object"),
        "mmap.mmap": Unpicklable("memory map", "'mmap.mmap' object"),
        "ctypes.CDLL": Unpicklable("shared library", "a local class of ctypes"),
        "ctypes.cdll.LoadLibrary": Unpicklable("shared library", "a local class of ctypes"),
        "ssl.create_default_context": Unpicklable("SSL context", "'SSLContext' object"),
        "random.SystemRandom": Unpicklable("system random source", "System entropy source"),
        "tqdm.tqdm": Unpicklable("progress bar", "'_io.TextIOWrapper' object"),
        "torch.Generator": Unpicklable("torch.Generator", "its state: the worker ends"),
        "cv2.createCLAHE": Unpicklable("CLAHE object", "'cv2.CLAHE' object"),
        "cv2.SIFT_create": Unpicklable("feature detector", "'cv2.SIFT' object"),
        "cv2.ORB_create": Unpicklable("feature detector", "'cv2.ORB' object"),
        "cv2.BFMatcher": Unpicklable("matcher", "'cv2.BFMatcher' object"),
        "cv2.VideoWriter": Unpicklable("video writer", "'cv2.VideoWriter' object"),
        "cv2.FlannBasedMatcher": Unpicklable("matcher", "'cv2.FlannBasedMatcher' object"),
        **{
            f"cv2.{name}_create": Unpicklable("feature detector", f"'cv2.{name}' object")
            for name in ("AKAZE", "BRISK", "FastFeatureDetector", "KAZE", "MSER", "SimpleBlobDetector")
        },
        "cv2.CascadeClassifier": Unpicklable("cascade classifier", "'cv2.CascadeClassifier' object"),
        "cv2.HOGDescriptor": Unpicklable("HOG descriptor", "'cv2.HOGDescriptor' object"),
        "cv2.QRCodeDetector": Unpicklable("QR code detector", "'cv2.QRCodeDetector' object"),
        "cv2.DISOpticalFlow_create": Unpicklable("OpenCV object", "'cv2.DISOpticalFlow' object"),
        "cv2.createBackgroundSubtractorKNN": Unpicklable("OpenCV object", "'cv2.BackgroundSubtractorKNN' object"),
        "cv2.createBackgroundSubtractorMOG2": Unpicklable("OpenCV object", "'cv2.BackgroundSubtractorMOG2' object"),
        "openslide.OpenSlide": Unpicklable("slide", "ctypes objects containing pointers"),
        "openslide.open_slide": Unpicklable("slide", "ctypes objects containing pointers"),
        **dict.fromkeys(_TORCHSCRIPT, Unpicklable("TorchScript object", "a TorchScript object")),
        **dict.fromkeys(_AWS, Unpicklable("AWS client", "a class that botocore makes")),
        **dict.fromkeys(_CLOUD_STORAGE, Unpicklable("Cloud Storage client", "client objects")),
    }
)

#: What can be pickled from a version of Python on: since 3.13, `iterdir` gives a `map` over a list.
PICKLED_SINCE = MappingProxyType({"pathlib.Path.iterdir": "3.13"})

#: Locks that order threads of one process, not workers.
THREAD_LOCKS = frozenset(
    f"threading.{name}" for name in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")
)

_OTHER = "what belongs to the default start method"

#: Objects that only processes of the start method they were made for can share.
SHARED_BY_INHERITANCE = MappingProxyType(
    {
        f"{package}.{name}": Unpicklable(word, _OTHER)
        for package in ("multiprocessing", "torch.multiprocessing")
        for name, word in (
            ("Lock", "lock"),
            ("RLock", "lock"),
            ("Semaphore", "semaphore"),
            ("Condition", "condition"),
            ("Event", "event"),
            ("Queue", "queue"),
            ("Value", "shared value"),
            ("Array", "shared array"),
        )
    }
)

#: Functions of torch that pickle cannot name: they choose between two others by an argument. All other public
#: functions of `torch` 2.13, `torch.nn.functional`, `torch.fft`, `torch.linalg`, NumPy and OpenCV have a name.
UNNAMED_FUNCTIONS = frozenset(
    {
        *(f"torch.{name}" for name in ("lu", "unique", "unique_consecutive", "quantized_gru", "quantized_lstm")),
        *(f"torch.nn.functional.{kind}max_pool{n}d" for kind in ("", "adaptive_") for n in (1, 2, 3)),
        *(f"torch.nn.functional.fractional_max_pool{n}d" for n in (2, 3)),
    }
)
