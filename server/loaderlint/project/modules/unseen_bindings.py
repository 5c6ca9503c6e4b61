"""Which files may bind names that no statement shows: `globals()[name] = f`, `exec(text)`."""

from __future__ import annotations

import re

from loaderlint.project.modules.project_files import ProjectFile

#: `vars(args)`, `setattr(self, ...)`, `self.__dict__` and `**module.__dict__` do not bind names of a module.
_BINDS = re.compile(
    r"\b(?:globals|locals|vars)\s*\(\s*\)|\bvars\s*\([^()]*\)\s*(?:\[|\.update\b)|\bexec(?:file)?\s*\(|\bsys\.modules\b"
    r"|\bsetattr\s*\(\s*(?!self\b|cls\b)|=\s*\w+\.__dict__\b"
    r"|(?<!\bself)(?<!\bcls)(?<!args)\.__dict__\s*(?:\[|\.(?:update|setdefault)\b)"
)
#: One of these is in all such code. Few texts hold one, and a word is found much faster than the pattern.
_WORDS = ("globals", "locals", "vars", "exec", "sys.modules", "setattr", "__dict__")


def may_bind_unseen(file: ProjectFile) -> bool:
    """Whether a file contains code that may bind names of its module at run time."""
    return any(True for _ in file.asking(_binds_unseen))


def _binds_unseen(text: str) -> bool:
    return any(word in text for word in _WORDS) and _BINDS.search(text) is not None
