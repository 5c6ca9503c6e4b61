"""requirements.txt: pip's requirement files, and those that `pip freeze`, pip-compile, uv and `conda list --export`
write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.project.versions.declaration import Declaration, Include
from loaderlint.project.versions.requirement import linked_file, requirement

#: With all the hashes of a package.
_LONGEST = 50_000
_CONTINUED = re.compile(r"\\\s*\n")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[\s=]*(.+)")
_OPTIONS = re.compile(r"\s--?[A-Za-z].*")
_EXPORTED = re.compile(r"[\w.-]+=[\w.+!]+=[\w.]+\Z")


def read(text: str) -> Iterator[Declaration | Include]:
    """What a requirement file declares, and which others it takes in."""
    for line in _CONTINUED.sub(" ", text).splitlines():
        line = _COMMENT.sub("", line).strip() if len(line) <= _LONGEST else ""
        if line:
            yield from _line(line)


def _line(line: str) -> Iterator[Declaration | Include]:
    if line.startswith("-"):
        include = _INCLUDE.match(line)
        if include is not None:
            yield Include(include[1].strip(), line.startswith(("-c", "--c")))
        return
    line = _OPTIONS.sub("", line)  # --hash, --global-option
    if _EXPORTED.match(line):
        from loaderlint.project.versions import conda

        found = conda.package(line)
    elif "://" in line.split("@")[0] or line.endswith((".whl", ".tar.gz")):
        found = linked_file(line.split(";")[0].strip()) if " @ " not in line else requirement(line)
    else:
        found = requirement(line)
    if found is not None:
        yield found
