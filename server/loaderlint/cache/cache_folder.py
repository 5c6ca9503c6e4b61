"""Where the cache is, and what its contents depend on apart from the files."""

from __future__ import annotations

import importlib.util
import os
import sys
from hashlib import blake2b
from pathlib import Path

from loaderlint import __version__

#: The environment variable that names the folder of the cache; the flag `--cache-dir` wins over it.
VARIABLE = "LOADERLINT_CACHE_DIR"
#: The version of the cache format. Increase it whenever the facts of some text or their serialization change.
SCHEMA = 9


def folder(flag: str | None = None) -> Path | None:
    """The folder of the cache: from the flag `--cache-dir`, else the environment variable, else the user's cache
    folder. None if there is none of these."""
    named = flag or os.environ.get(VARIABLE)
    if named:
        return Path(os.path.abspath(os.path.expanduser(named)))
    try:
        from platformdirs import user_cache_path

        return user_cache_path("loaderlint", appauthor=False)
    except Exception:  # an account without a home, for example
        return None


def make(place: Path) -> None:
    """Create the folder, readable for its owner only, with an ignore file so that it is not committed.

    Raises OSError."""
    if place.is_dir():
        return
    place.mkdir(mode=0o700, parents=True)
    (place / ".gitignore").write_text("# Made by loaderlint.\n*\n", encoding="utf-8")


def tag() -> bytes:
    """A digest of 16 bytes of everything but the files that facts and findings depend on: the versions of the cache
    format, of Python, of libcst, and of loaderlint itself."""
    told = f"{SCHEMA} {__version__} {sys.version_info[:2]} {sys.platform}".encode()
    return blake2b(b"\0".join((told, _libcst(), _own_code())), digest_size=16).digest()


def _libcst() -> bytes:
    """The version of libcst, without importing it."""
    found = importlib.util.find_spec("libcst")
    if found is None or found.origin is None:
        return b""
    parent = os.path.dirname(found.origin)
    try:
        with open(os.path.join(parent, "_version.py"), "rb") as file:
            return file.read()
    except OSError:
        return repr(os.stat(found.origin).st_mtime_ns).encode()


def _own_code() -> bytes:
    """The times and sizes of loaderlint's own modules: developers change it without a new version."""
    stamps: list[str] = []
    waiting = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    stamps.append(f"{entry.path} {stat.st_mtime_ns} {stat.st_size}")
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)
    return "\n".join(sorted(stamps)).encode("utf-8", "surrogateescape")
