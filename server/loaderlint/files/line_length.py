"""The maximum line length of a project's formatter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from loaderlint.files import toml
from loaderlint.files.reading import SETTINGS, UnreadableFile, read_unseen

#: The files with formatter settings. ruff's own files take precedence.
_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
_USUAL = 88


def line_length(folder: Path, root: Path) -> int | None:
    """The maximum line length in `folder`, which is in `root`, in characters: as configured for ruff or black in the
    nearest folder upwards, 88 if their section does not set it; None if neither is configured."""
    for here in (folder, *folder.parents):
        if not here.is_relative_to(root):
            return None
        for name in _FILES:
            found = _told(here / name)
            if found is not None:
                return found
    return None


def _told(path: Path) -> int | None:
    try:
        document = toml.parsed(read_unseen(path, SETTINGS))
    except (UnreadableFile, toml.BadToml):
        return None
    tools = document.get("tool") if path.name == "pyproject.toml" else {"ruff": document}
    sections = [tools.get(tool) for tool in ("ruff", "black")] if isinstance(tools, dict) else []
    used: list[dict[str, Any]] = [section for section in sections if isinstance(section, dict)]
    told = [length for section in used if type(length := section.get("line-length")) is int and length > 0]
    return told[0] if told else _USUAL if used else None
