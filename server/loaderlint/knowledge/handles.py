"""Handles: what opens one, and what a forked worker does with it. Measured: forked file, zip (an .npz file of NumPy is
one) and tar handles return other samples' bytes or raise, and so do those of rasterio 1.4, tifffile, soundfile, pysam
0.24, pyfaidx, pyBigWig and imageio; h5py, lmdb and sqlite forbid the use after fork; a video capture that was read from
hangs, that of an MP4 file and decord 0.6 at once; none of them can be pickled while it is open, and most cannot when it
is closed. (OpenSlide, PyAV and pyarrow's ParquetFile were tried and read right.)"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, NamedTuple

#: How messages call a file of h5py or PyTables.
HDF5 = "HDF5 file"
#: The class of what `np.load` gives for an `.npz` file: an open zip archive, which reads an array each time.
NPZ_ARCHIVE = "numpy.lib.npyio.NpzFile"


class HandleKind(NamedTuple):
    """`word`: how messages call it. `fork`: 'corrupts' (silently wrong bytes or random errors, measured), 'hangs'
    (measured), 'forbidden' (the library says not to) or 'reconnects' (the library opens another connection in a forked
    process). `fix`: the accessor form that is right for it, '' where none is safe. `unpicklable`: what pickle says of
    it ('cannot pickle ...'), open or closed; '' where it was not tried, or a closed one can be pickled (bz2, lzma,
    PyTables)."""

    word: str
    fork: Literal["corrupts", "hangs", "forbidden", "reconnects"]
    fix: Literal["reopen", "close_first", ""]
    unpicklable: str = ""


_FILE = "an '_io' object"
_BUFFER = "'_io.BufferedReader' object"

#: Calls that open a handle.
OPENERS = MappingProxyType(
    {
        "builtins.open": HandleKind("file", "corrupts", "reopen", _FILE),
        "pathlib.Path.open": HandleKind("file", "corrupts", "reopen", _FILE),
        "gzip.open": HandleKind("gzip file", "corrupts", "reopen", _BUFFER),
        "bz2.open": HandleKind("bz2 file", "corrupts", "reopen"),
        "lzma.open": HandleKind("lzma file", "corrupts", "reopen"),
        "gzip.GzipFile": HandleKind("gzip file", "corrupts", "reopen", _BUFFER),
        "zipfile.ZipFile": HandleKind("zip archive", "corrupts", "reopen", _BUFFER),
        NPZ_ARCHIVE: HandleKind("NPZ archive", "corrupts", "reopen", _BUFFER),
        "tarfile.open": HandleKind("tar archive", "corrupts", "reopen", _BUFFER),
        "tarfile.TarFile": HandleKind("tar archive", "corrupts", "reopen", _BUFFER),
        "tarfile.TarFile.open": HandleKind("tar archive", "corrupts", "reopen", _BUFFER),
        "h5py.File": HandleKind(HDF5, "forbidden", "close_first", "h5py objects"),
        "tables.open_file": HandleKind(HDF5, "forbidden", "close_first"),
        "netCDF4.Dataset": HandleKind("netCDF file", "forbidden", "close_first", "a netCDF4 Dataset"),
        "lmdb.open": HandleKind("LMDB environment", "forbidden", "close_first", "'Environment' object"),
        "lmdb.Environment": HandleKind("LMDB environment", "forbidden", "close_first", "'Environment' object"),
        "sqlite3.connect": HandleKind("SQLite connection", "forbidden", "reopen", "'sqlite3.Connection' object"),
        "cv2.VideoCapture": HandleKind("video capture", "hangs", "", "'cv2.VideoCapture' object"),
        "decord.VideoReader": HandleKind("video reader", "hangs", "", "ctypes objects containing pointers"),
        "rasterio.open": HandleKind("raster file", "corrupts", "reopen", "a rasterio dataset"),
        "tifffile.TiffFile": HandleKind("TIFF file", "corrupts", "reopen", _BUFFER),
        "soundfile.SoundFile": HandleKind("sound file", "corrupts", "reopen", "'_cffi_backend.__CDataOwn' object"),
        "imageio.get_reader": HandleKind("reader", "corrupts", "reopen", _BUFFER),
        "imageio.v2.get_reader": HandleKind("reader", "corrupts", "reopen", _BUFFER),
        "pysam.FastaFile": HandleKind("FASTA file", "corrupts", "reopen", "a pysam file"),
        "pysam.AlignmentFile": HandleKind("alignment file", "corrupts", "reopen", "a pysam file"),
        "pyfaidx.Fasta": HandleKind("FASTA file", "corrupts", "reopen", _BUFFER),
        "pyBigWig.open": HandleKind("bigWig file", "corrupts", "reopen", "'pyBigWig.bigWigFile' object"),
        "psycopg2.connect": HandleKind("database connection", "corrupts", ""),
        "pymysql.connect": HandleKind("database connection", "corrupts", ""),
        "mysql.connector.connect": HandleKind("database connection", "corrupts", ""),
        "pymongo.MongoClient": HandleKind("MongoDB client", "forbidden", "", "'_thread.lock' object"),
        "redis.Redis": HandleKind("Redis client", "reconnects", "", "'_thread.RLock' object"),
        "socket.create_connection": HandleKind("socket", "corrupts", ""),
    }
)

#: Handles (by their word) that read on from where they stopped; the others are asked for a part by its name.
READ_ON = frozenset({"file", "gzip file", "bz2 file", "lzma file", "sound file"})

_HDF5_FIRST = "HDF5 opens a file once in a process: a new handle would share the inherited descriptor."

#: Why a forked worker closes the inherited handle before it opens its own, by the handle's word. Measured with HDF5
#: 1.14 and 2.0 (h5py, PyTables, netCDF4): what is opened beside the inherited handle reads through its file descriptor,
#: which all workers share; once that is closed, the worker has a descriptor of its own, and the main process reads on.
WHY_CLOSE_FIRST = MappingProxyType(
    {
        "HDF5 file": _HDF5_FIRST,
        "netCDF file": _HDF5_FIRST,
        "LMDB environment": "LMDB opens an environment once in a process, and an inherited one counts.",
    }
)

#: Methods and functions that give a handle from a handle (the result shares it).
DERIVED = frozenset({"begin", "cursor", "open", "extractfile", "get_node", "getmember"})

#: Libraries whose handles give parts of the file by `file["name"]` and `file.get("name")`.
DERIVED_BY_INDEX = ("h5py.", "netCDF4.", "tables.")

#: Files in memory: what is opened over one is no handle of the system.
IN_MEMORY = frozenset({"io.BytesIO", "io.StringIO"})
