"""Bytes by key, in one SQLite file that processes share.

No write-ahead log: it needs shared memory, which network file systems lack. Each row has a checksum of its key and its
bytes, so a damaged row counts as missing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from loaderlint.cache import cache_folder

#: The maximum size of all rows in bytes. Beyond it, the least recently used rows are deleted, down to three quarters of
#: it.
LIMIT = 256 * 1024 * 1024
#: The file name, with the version of the file's layout.
NAME = "loaderlint-1.sqlite"
#: The seconds that one run waits in total for other processes that write; then it continues without a cache.
PATIENCE = 0.2
#: A statement that takes no longer than this (in seconds) did not wait.
_NO_WAIT = 0.01
_DAY = 86_400
_CHECKSUM = 16
_LARGEST = 64 * 1024 * 1024

_Result = TypeVar("_Result")


class Database:
    """The database in `folder`, created at the first write. Never raises: what cannot be read counts as missing, and
    failed writes are dropped. `patience`: the seconds that it waits in total for other processes that write. When they
    are used up, the database is no longer used."""

    def __init__(self, folder: Path, limit: int = LIMIT, patience: float = PATIENCE) -> None:
        self._folder = folder
        self._limit = limit
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._broken = False
        self._used: set[bytes] = set()

    def __reduce__(self) -> tuple[type[Database], tuple[Path, int, float]]:
        """Pickling: another process opens its own connection."""
        return Database, (self._folder, self._limit, 0.0 if self._broken else self._patience)

    @property
    def path(self) -> Path:
        """The SQLite file."""
        return self._folder / NAME

    def get(self, key: bytes) -> bytes | None:
        """The bytes of a key; None if there are none."""
        if self._connection is None and not os.path.exists(self.path):
            return None
        row = self._try(lambda db: self._wait(db, "SELECT used, data FROM kept WHERE key = ?", key).fetchone())
        if row is None:
            return None
        used, data = row
        found = _opened(key, data)
        if found is not None and used != _today():
            self._used.add(key)
        return found

    def put(self, rows: Iterable[tuple[bytes, bytes]]) -> bool:
        """Store bytes under their keys in one transaction. Returns whether that worked."""
        packed = [(key, _today(), _closed(key, data)) for key, data in rows]
        if not packed and not self._used:
            return True
        used, self._used = self._used, set()

        def write(db: sqlite3.Connection) -> bool:
            with db:
                self._wait(db, "BEGIN IMMEDIATE")
                db.executemany("INSERT OR REPLACE INTO kept (key, used, data) VALUES (?, ?, ?)", packed)
                db.executemany("UPDATE kept SET used = ? WHERE key = ?", [(_today(), key) for key in used])
                self._evict(db)
            return True

        return self._try(write) or False

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _evict(self, db: sqlite3.Connection) -> None:
        """Delete the least recently used rows if the file is too large."""
        pages, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in _SIZES)
        surplus = (pages - free) * size - self._limit
        if surplus <= 0:
            return
        surplus += self._limit // 4
        gone: list[tuple[int]] = []
        for row, length in db.execute("SELECT rowid, length(data) FROM kept ORDER BY used, rowid"):
            if surplus <= 0:
                break
            gone.append((row,))
            surplus -= length
        db.executemany("DELETE FROM kept WHERE rowid = ?", gone)

    def _try(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result | None:
        if self._broken:
            return None
        try:
            if self._connection is None:
                self._connection = self._connected()
            return work(self._connection)
        except sqlite3.OperationalError as error:  # locked, read-only, full: the file itself may be intact
            self._give_up(error)
        except sqlite3.DatabaseError as error:
            self._give_up(error)
            with contextlib.suppress(OSError):
                self.path.unlink()
        except Exception as error:  # an error of the cache must not end a check
            self._give_up(error)
        return None

    def _connected(self) -> sqlite3.Connection:
        if not os.path.exists(self.path):
            cache_folder.make(self._folder)
            _make_private(self.path)
        db = sqlite3.connect(self.path, timeout=self._patience, isolation_level=None, check_same_thread=False)
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA synchronous = OFF")  # a row damaged by a power cut counts as missing, see the checksums
        self._wait(
            db, "CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL)"
        )
        if [row[1] for row in db.execute("PRAGMA table_info(kept)")] != ["key", "used", "data"]:
            db.close()
            raise sqlite3.DatabaseError("another layout")
        return db

    def _wait(self, db: sqlite3.Connection, statement: str, *values: object) -> sqlite3.Cursor:
        """Execute a statement that may wait for a lock, and subtract the time from the remaining patience."""
        began = time.monotonic()
        cursor = db.execute(statement, values)
        waited = time.monotonic() - began
        if waited > _NO_WAIT:
            self._patience = max(0.0, self._patience - waited)
            db.execute(f"PRAGMA busy_timeout = {int(1000 * self._patience)}")
        return cursor

    def _give_up(self, error: Exception) -> None:
        import logging  # takes 5 ms, and is only needed after an error

        logging.getLogger(__name__).debug("no cache at %s: %s", self.path, error)
        self._broken = True
        self.close()


def _make_private(path: Path) -> None:
    """Create the empty file, readable for its owner only: SQLite would let other users of a shared folder read copies
    of the user's code. SQLite's journals get the permissions of the file.

    Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


_SIZES = ("page_count", "freelist_count", "page_size")


def _today() -> int:
    return int(time.time()) // _DAY


def _closed(key: bytes, data: bytes) -> bytes:
    packed = zlib.compress(data, 1)
    return blake2b(packed, key=key, digest_size=_CHECKSUM).digest() + packed


def _opened(key: bytes, data: object) -> bytes | None:
    if not isinstance(data, bytes):
        return None
    packed = data[_CHECKSUM:]
    if blake2b(packed, key=key, digest_size=_CHECKSUM).digest() != data[:_CHECKSUM]:
        return None
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(packed, _LARGEST)
    except zlib.error:
        return None
    return found if unpacker.eof else None


def files(folder: Path) -> Iterator[Path]:
    """The existing files of a cache, of this layout and of others."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    yield from (folder / name for name in names if name.startswith("loaderlint-") and ".sqlite" in name)
