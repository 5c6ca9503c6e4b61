"""Requirement specifiers (PEP 508), as they stand in most kinds of files."""

from __future__ import annotations

import re
from urllib.parse import unquote

from loaderlint.project.versions.declaration import Declaration, normal

#: No line that means something is longer, and patterns may take long over one that means nothing.
LONGEST = 2_000
_PARTS = re.compile(
    r"""\s*(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*
        (?:\[[^\]]*\])?\s*
        (?:@\s*(?P<url>[^\s;]+)|\(?\s*(?P<versions>(?:(?:[<>!~]=|===?|<|>)\s*[\w.*+!-]+\s*,?\s*)*)\)?)\s*
        (?:;\s*(?P<marker>.*))?\Z""",
    re.VERBOSE,
)
_WHEEL = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>\d[^-/]*)-(?:[^/]*-)?[^-/]+-[^-/]+-(?P<platform>[^-/]+)\.whl"
)
_SDIST = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)-(?P<version>\d[\w.+!]*)\.(?:tar\.gz|zip)\Z")
_PLATFORMS = (("win", "win32"), ("macosx", "darwin"), ("linux", "linux"), ("manylinux", "linux"))


def requirement(text: str, aside: bool = False) -> Declaration | None:
    """'torch[opt]>=1.8,<2; python_version<"3.9"', or 'torch @ https://.../torch-1.8.1-cp38-cp38-linux_x86_64.whl'; None
    for what is no requirement."""
    match = _PARTS.match(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    name, marker = normal(match["name"]), (match["marker"] or "").strip()
    if match["url"]:
        linked = linked_file(match["url"])
        if linked is None or linked.name != name:
            return Declaration(name, "", marker, aside)
        return linked._replace(marker=_both(marker, linked.marker), aside=aside)
    return Declaration(name, (match["versions"] or "").strip().rstrip(","), marker, aside)


def linked_file(url: str) -> Declaration | None:
    """What the name of a wheel or source archive at the end of a URL or path says; None for any other URL."""
    path = unquote(re.split(r"[#?]", url[:LONGEST], maxsplit=1)[0]).rsplit("/", 1)[-1]
    wheel = _WHEEL.match(path)
    if wheel is not None:
        return Declaration(normal(wheel["name"]), wheel["version"], _platform_marker(wheel["platform"]))
    source = _SDIST.match(path)
    return Declaration(normal(source["name"]), source["version"]) if source else None


def _platform_marker(tag: str) -> str:
    return next((f'sys_platform == "{name}"' for start, name in _PLATFORMS if tag.startswith(start)), "")


def _both(first: str, second: str) -> str:
    return f"({first}) and ({second})" if first and second else first or second
