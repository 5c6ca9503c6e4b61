"""A cache that kills processes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from loaderlint.cache.database import Database
from loaderlint.cache.facts_cache import PieceCache
from loaderlint.facts.codec import FileFacts
from loaderlint.sources.open_file import OpenFile


class Deadly(PieceCache):
    """Kills every process except this one that asks it for the file `one/run.py`."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Database(folder))
        self._here = os.getpid()

    def get(self, data: bytes, text: str) -> FileFacts | None:
        if os.getpid() != self._here and "for batch in load()" in text:
            os._exit(9)
        return None

    def put(self, files: Iterable[tuple[bytes, OpenFile]]) -> None:
        pass
