"""Stores the facts of pieces between runs: a row for each file content."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from loaderlint.cache import cache_folder
from loaderlint.cache.database import Database

if TYPE_CHECKING:
    from loaderlint.facts.codec import FileFacts
    from loaderlint.sources.open_file import OpenFile


class PieceCache:
    """The facts of pieces in a database."""

    def __init__(self, database: Database, tag: bytes | None = None) -> None:
        self._database = database
        self._tag = tag or cache_folder.tag()

    def get(self, data: bytes, text: str) -> FileFacts | None:
        """The stored facts of a file with these bytes; None if there are none."""
        from loaderlint.facts.codec import BadFacts, decode

        found = self._database.get(self._key(data)) if _can_encode() else None
        if found is None:
            return None
        try:
            return decode(found, text)
        except BadFacts:
            return None

    def put(self, files: Iterable[tuple[bytes, OpenFile]]) -> None:
        """Store the facts of files, given as (bytes, opened file), if they are more than the stored ones."""
        from loaderlint.facts.codec import encode

        if not _can_encode():
            return
        rows = []
        for data, file in files:
            facts = file.new_facts()
            if facts is not None:
                rows.append((self._key(data), encode(file.text, file.pieces, facts)))
        self._database.put(rows)

    def _key(self, data: bytes) -> bytes:
        return blake2b(data, key=self._tag, person=b"pieces", digest_size=16).digest()


@cache
def _can_encode() -> bool:
    """Whether the serialization library is available on this platform."""
    try:
        import msgspec  # noqa: F401
    except ImportError:
        return False
    return True
