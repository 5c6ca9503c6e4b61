"""requirements.txt: pip's requirement files, and those that `pip freeze`, pip-compile, uv and `conda list --export`
write."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.project.versions import conda_specifiers
from loaderlint.project.versions.declaration import Declaration, Include, Malformed
from loaderlint.project.versions.requirement_specifiers import linked_file, requirement

#: With all the hashes of a package.
_LONGEST = 50_000
_CONTINUED = re.compile(r"\\\s*\n")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[\s=]*(.+)")
_OPTIONS = re.compile(r"\s--?[A-Za-z].*")
_EXPORTED = re.compile(r"[\w.-]+=[\w.+!]+=[\w.]+\Z")


def read(text: str) -> Iterator[Declaration | Include]:
    """What a requirement file declares, and which others it takes in. Raises Malformed in the end if a line was too
    long to be read."""
    is_whole = True
    for line in _CONTINUED.sub(" ", text).splitlines():
        if len(line) > _LONGEST:
            is_whole = False
        elif requirement_line := _COMMENT.sub("", line).strip():
            yield from _line(requirement_line)
    if not is_whole:
        raise Malformed(f"has a line of more than {_LONGEST:,} characters")


def _line(line: str) -> Iterator[Declaration | Include]:
    if line.startswith("-"):
        include = _INCLUDE.match(line)
        if include is not None:
            yield Include(include[1].strip(), line.startswith(("-c", "--c")))
        return
    line = _OPTIONS.sub("", line)  # --hash, --global-option
    if _EXPORTED.match(line):
        found = conda_specifiers.package(line)
    elif "://" in line.split("@")[0] or line.endswith((".whl", ".tar.gz")):
        found = linked_file(line.split(";")[0].strip()) if " @ " not in line else requirement(line)
    else:
        found = requirement(line)
    if found is not None:
        yield found
