"""Lines and files of the user's own code, as text: 'train.py:12'."""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from loaderlint.audit.reachable import module_is_of_user

_OURS = str(Path(__file__).parent)
_STANDARD = os.path.dirname(os.__file__)
#: An entry of a stack, such as 'Crops.__getitem__ (train.py:13)', and a line of a traceback.
_ENTRY = re.compile(r"\((?P<file>.+):(?P<line>\d+)\)$")
_TRACEBACK = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)')


def is_library(file: str) -> bool:
    """Whether a file belongs to an installed library, to Python or to loaderlint, or is not a real file
    ('<string>')."""
    return "site-packages" in file or "dist-packages" in file or file.startswith((_OURS, _STANDARD, "<"))


def is_ours(traceback: str) -> bool:
    """Whether the audit itself raised the exception of a traceback."""
    files = [one["file"] for one in _TRACEBACK.finditer(traceback)]
    return bool(files) and files[-1].startswith(_OURS)


def of_stack(stack: Iterable[str]) -> str:
    """The innermost line of user code in a stack (innermost first); '' if there is none."""
    found = filter(None, map(_ENTRY.search, stack))
    return next((f"{one['file']}:{one['line']}" for one in found if not is_library(one["file"])), "")


def of_traceback(text: str) -> Sequence[str]:
    """The lines of user code in a traceback, in its order."""
    return [f"{one['file']}:{one['line']}" for one in _TRACEBACK.finditer(text) if not is_library(one["file"])]


def of_code(function: Any) -> tuple[str, ...]:
    """All lines of a user's function, including that of its `def`; () for other objects."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if not isinstance(code, types.CodeType) or is_library(code.co_filename):
        return ()
    lines = {code.co_firstlineno, *(line for _, _, line in code.co_lines() if line)}
    return tuple(f"{code.co_filename}:{line}" for line in sorted(lines))


def loaded_files() -> tuple[str, ...]:
    """The files of the user's modules that this process imported."""
    found = set()
    for name, module in list(sys.modules.items()):
        file = module.__dict__.get("__file__") if isinstance(module, types.ModuleType) else None
        if isinstance(file, str) and module_is_of_user(name) and not is_library(file):
            found.add(os.path.abspath(file))
    return tuple(sorted(found))
