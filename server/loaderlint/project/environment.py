"""What a loader runs on: versions, platforms and start methods, as sets of what is possible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

Answer = Literal["yes", "no", "maybe", "unknown"]
StartMethod = Literal["fork", "spawn", "forkserver"]


@dataclass(frozen=True, slots=True)
class VersionSet:
    """The versions of one package that may be meant: an exact one, a range, or nothing known. `source` says whence
    ('requirements.txt', 'target-torch', ...)."""

    exact: Version | None = None
    range: SpecifierSet | None = None
    source: str = ""

    def before(self, border: str) -> Answer:
        """Whether the version is before `border`: 'yes', 'no', 'maybe' (part of a bounded range) or 'unknown' (nothing
        declared, or an open range that straddles the border)."""
        limit = Version(border)
        if self.exact is not None:
            return "yes" if self.exact < limit else "no"
        if self.range is None:
            return "unknown"
        lower = max((Version(s.version) for s in self.range if s.operator in (">=", ">", "~=")), default=None)
        upper = [s for s in self.range if s.operator in ("<", "<=")]
        if lower is not None and lower >= limit:
            return "no"
        if upper:
            top = min(Version(s.version) for s in upper)
            if top < limit or (top == limit and all(s.operator == "<" for s in upper)):
                return "yes"
            return "maybe"
        compatible = [s for s in self.range if s.operator == "~="]
        return "maybe" if compatible else "unknown"


def version_set(text: str, source: str) -> VersionSet:
    """Read '1.8', '==1.8.1', '>=1.7,<2' as a set of versions; an unreadable text is nothing known."""
    text = text.strip().split("#")[0].strip()
    try:
        return VersionSet(exact=Version(text), source=source)
    except InvalidVersion:
        pass
    try:
        ranged = SpecifierSet(text.replace(" ", ""))
    except InvalidSpecifier:
        return VersionSet(source=source)
    pins = [s for s in ranged if s.operator in ("==", "===") and not s.version.endswith(".*")]
    if pins:
        return VersionSet(exact=Version(pins[0].version), source=source)
    wild = [s for s in ranged if s.operator == "==" and s.version.endswith(".*")]
    if wild:
        return VersionSet(range=SpecifierSet(f"~={wild[0].version[:-2]}.0"), source=source)
    return VersionSet(range=ranged if len(ranged) else None, source=source)


@dataclass(frozen=True, slots=True)
class Environment:
    """What is known of where the project runs. `platforms` is never empty; `start_method` is the one that is set."""

    torch: VersionSet = VersionSet()
    python: VersionSet = VersionSet()
    platforms: tuple[str, ...] = ("linux",)
    start_method: StartMethod | None = None
    packages: Mapping[str, VersionSet] | None = None

    def default_start_methods(self) -> frozenset[StartMethod]:
        """The start methods of workers where the loader names none: fork on Linux before Python 3.14, forkserver from
        3.14 on, spawn on Windows and macOS."""
        if self.start_method is not None:
            return frozenset({self.start_method})
        methods: set[StartMethod] = set()
        if "linux" in self.platforms:
            methods.add("fork" if self.python.before("3.14") in ("yes", "unknown", "maybe") else "forkserver")
        if "windows" in self.platforms or "macos" in self.platforms:
            methods.add("spawn")
        return frozenset(methods)
