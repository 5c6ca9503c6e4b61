""".python-version: the Python that pyenv and uv choose."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.project.versions.declaration import Declaration, Include

_VERSION = re.compile(r"(?:(?:c?python)[-@]?)?(\d+\.\d+(?:\.\d+)?)\b")


def read(text: str) -> Iterator[Declaration | Include]:
    """The first version that is named; other lines are further ones, for tox and the like."""
    for line in text.splitlines():
        match = _VERSION.match(line.strip())
        if match is not None:
            yield Declaration("python", match[1])
            return
