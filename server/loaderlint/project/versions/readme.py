"""What a README tells people to install: the pinned versions in the commands of its code blocks, and those that its
lists name, `- PyTorch 1.7.1`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from loaderlint.project.versions import conda_specifiers
from loaderlint.project.versions.declaration import Declaration, normal
from loaderlint.project.versions.requirement_specifiers import requirement

#: A block of code between fences.
_BLOCK = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1", re.MULTILINE | re.DOTALL)
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")
#: The start of a command: `$ `, `(env) $ `, `!` in a notebook's text.
_PROMPT = re.compile(r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[$>!%][ \t]*)?")
_PIP = re.compile(
    r"(?:sudo[ \t]+)?(?:python[\d.]*[ \t]+-m[ \t]+|uv[ \t]+)?pip[\d.]*(?:[ \t]+-[\w-]+)*[ \t]+install[ \t]+(.*)"
)
_CONDA = re.compile(r"(?:conda|mamba|micromamba)[ \t]+(?:env[ \t]+)?(?:install|create)[ \t]+(.*)")
#: Options that a word follows.
_WITH_WORD = frozenset("-c --channel -n --name -p --prefix -f --find-links -i --index-url --extra-index-url".split())
_LONGEST = 2_000
#: An item of a list that names a package and one version of it: `2. [PyTorch](https://pytorch.org) (1.7)`.
_ITEM = re.compile(
    r"""^[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+[`*_\[]*
    (?P<name>python|pytorch|torch|torchvision|lightning|pytorch[- ]lightning|albumentations|monai|numpy|datasets)
    \]?(?:\([^()\n]*\))?[`*_]*
    (?:[ \t]*(?:==?|:)[ \t]*|[ \t]+)(?:version[ \t]+)?[`(]?v?
    (?P<version>\d+\.\d+(?:\.\d+)?)
    [`)*_]*[ \t]*(?:\r?$|[,;.(][ \t\r\n(]|-[ \t]+(?!\d))""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)


def read(text: str) -> Iterator[Declaration]:
    """The versions that a README pins. Ranges, and packages without a version, say nothing."""
    for block in _BLOCK.finditer(text):
        for line in commands(block[2]):
            yield from pinned(line)
    yield from _listed(_BLOCK.sub("", text))


def _listed(text: str) -> Iterator[Declaration]:
    """The versions in lists, as conda means them: `PyTorch 1.7` is every 1.7.x."""
    for item in _ITEM.finditer(text):
        name = item["name"].lower().replace(" ", "-")
        yield Declaration(normal(name), conda_specifiers.versions(f"={item['version']}"))


def commands(text: str) -> Sequence[str]:
    """The lines of a text, with those that a backslash continues in one."""
    return _CONTINUED.sub(" ", text).splitlines()


def pinned(line: str) -> Iterator[Declaration]:
    """The versions that a line pins, if it is a command that installs packages: `!pip install torch==1.8.1`."""
    command = _PROMPT.sub("", line[:_LONGEST]).partition(" #")[0]
    found: list[Declaration | None] = []
    if (match := _PIP.match(command)) is not None:
        found = [requirement(word) for word in _packages(match[1])]
    elif (match := _CONDA.match(command)) is not None:
        found = [conda_specifiers.package(word) for word in _packages(match[1])]
    yield from (one for one in found if one is not None and one.versions.startswith("=="))


def _packages(arguments: str) -> Iterator[str]:
    """The words of a command that are no options, up to the next command."""
    words = iter(re.split(r"&&|;|\|", arguments, maxsplit=1)[0].split())
    for word in words:
        if word in _WITH_WORD:
            next(words, None)
        elif not word.startswith("-"):
            yield word.strip("'\"")
