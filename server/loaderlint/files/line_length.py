"""The maximum line length of a project's formatter."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any

from loaderlint.files import toml
from loaderlint.files.reading import SETTINGS, UnreadableFile, read_unseen

#: The files with formatter settings. ruff's own files take precedence.
_FILES = (".ruff.toml", "ruff.toml", "pyproject.toml")
#: The files that say that black formats the project: isort's profile for it, and hooks.
_ISORT_FILES, _HOOKS = (".isort.cfg", "setup.cfg", "tox.ini"), ".pre-commit-config.yaml"
#: The sections of pyproject.toml, and what each calls the length.
_KEYS = MappingProxyType({"ruff": "line-length", "black": "line-length", "isort": "line_length"})
_USUAL = 88
#: The hook of a formatter, and what follows it up to the next hook.
_FORMATTER_HOOK = re.compile(
    r"^[ \t]*-[ \t]+id:[ \t]*(?:black|ruff-format)\b(.*?)(?=^[ \t]*-[ \t]+(?:id|repo):|\Z)", re.M | re.S
)
_LENGTH = re.compile(r"[1-9]\d{0,3}")
_LENGTH_ARGUMENT = re.compile(r"(?:--line-length|-l)\b[\"',=\s-]*([1-9]\d{0,3})\b")


def line_length(folder: Path, root: Path) -> int | None:
    """The maximum line length in `folder`, which is in `root`, in characters: as configured for ruff or black in the
    nearest folder upwards, in a hook of theirs, or for isort with black's profile; 88 if none of these sets it. None if
    nothing says that they are used."""
    for here in (folder, *folder.parents):
        if not here.is_relative_to(root):
            return None
        for name in _FILES:
            found = _told(here / name)
            if found is not None:
                return found
        found = _told_to_hook(here / _HOOKS) or next(
            filter(None, (_told_to_isort(here / one) for one in _ISORT_FILES)), None
        )
        if found is not None:
            return found
    return None


def _told_to_hook(path: Path) -> int | None:
    hook = _FORMATTER_HOOK.search(_text(path))
    if hook is None:
        return None
    length = _LENGTH_ARGUMENT.search(hook[1])
    return int(length[1]) if length is not None else _USUAL


def _told_to_isort(path: Path) -> int | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(path))
    except configparser.Error:
        return None
    for section in ("settings", "isort"):
        if parser.has_section(section) and parser.get(section, "profile", fallback="") == "black":
            length = parser.get(section, "line_length", fallback="")
            return int(length) if _LENGTH.fullmatch(length) else _USUAL
    return None


def _text(path: Path) -> str:
    """The text of a file; '' if it cannot be read."""
    try:
        return read_unseen(path, SETTINGS).decode("utf-8", "replace")
    except UnreadableFile:
        return ""


def _told(path: Path) -> int | None:
    try:
        document = toml.parsed(read_unseen(path, SETTINGS))
    except (UnreadableFile, toml.BadToml):
        return None
    tools = document.get("tool") if path.name == "pyproject.toml" else {"ruff": document}
    if not isinstance(tools, dict):
        return None
    sections: list[tuple[dict[str, Any], str]] = [
        (section, key) for tool, key in _KEYS.items() if isinstance(section := tools.get(tool), dict)
    ]
    used = [(one, key) for one, key in sections if one is not tools.get("isort") or one.get("profile") == "black"]
    told = [length for one, key in used if type(length := one.get(key)) is int and length > 0]
    return told[0] if told else _USUAL if used else None
