"""What a loader runs on: versions, platforms and start methods, as sets of what is possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from packaging.specifiers import InvalidSpecifier, Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

Answer = Literal["yes", "no", "maybe", "unknown"]
StartMethod = Literal["fork", "spawn", "forkserver"]

_NO_PYTHON = Version("4")
#: No version or range that people write has more signs; Python reads no number of more than 4,300 digits.
LONGEST_VERSION = 1_000


class Range(Struct, frozen=True):
    """The versions from `low` to `high` (None: no bound); `closed`: `high` itself is one of them. `text` is how they
    are shown: '2.4.1', '1.8.*', '>=2.0,<2.5'."""

    text: str
    low: Version | None = None
    high: Version | None = None
    closed: bool = True

    @property
    def exact(self) -> bool:
        """Whether one version, or all patches of one ('1.8.*'), are meant, and not a range of versions."""
        return self.text[0] not in "<>~!"

    def before(self, border: Version) -> Answer:
        """Whether all ('yes'), none ('no') or some ('maybe') are before `border`; 'unknown' for a range that is open
        and has the border inside. What is installed today is likely newer than a lower bound alone, and an upper bound
        beyond the border says only what is too new."""
        if self.high is not None and (self.high < border or (self.high == border and not self.closed)):
            return "yes"
        if self.low is not None and self.low >= border:
            return "no"
        is_open = self.high is None or (self.low is None and self.high > border)
        return "unknown" if is_open else "maybe"

    def admits(self, version: Version) -> bool:
        """Whether a version is one of these."""
        if self.low is not None and version < self.low:
            return False
        if self.high is None or version < self.high:
            return True
        return self.closed and _release(version) == self.high

    def meets(self, other: Range) -> bool:
        """Whether any version is in both."""
        return _apart(self, other) is False and _apart(other, self) is False

    def within(self, other: Range) -> Range | None:
        """What of these versions is in the other range too; None for nothing."""
        if not self.meets(other):
            return None
        if self == other or self.exact:
            return self
        if other.exact:
            return other
        low = max((one for one in (self.low, other.low) if one is not None), default=None)
        high = min((one for one in (self.high, other.high) if one is not None), default=None)
        closed = all(one.closed for one in (self, other) if one.high == high)
        return Range(f"{self.text},{other.text}", low, high, closed)


def _apart(below: Range, above: Range) -> bool:
    """Whether the first range ends before the second begins."""
    if below.high is None or above.low is None:
        return False
    return below.high < above.low or (below.high == above.low and not below.closed)


class VersionSet(Struct, frozen=True):
    """The versions of one package that may be meant: several where files disagree or platforms differ, none where
    nothing is known. `sources` says whence ('requirements.txt', 'target-torch', ...)."""

    ranges: tuple[Range, ...] = ()
    sources: tuple[str, ...] = ()

    def before(self, border: str) -> Answer:
        """Whether the version is before `border`: 'yes', 'no', 'maybe' (part of what is possible) or 'unknown' (nothing
        declared, or an open range that straddles the border)."""
        limit = _border(border)
        answers = {one.before(limit) for one in self.ranges}
        if len(answers) == 1:
            return answers.pop()
        return "maybe" if answers & {"yes", "maybe"} else "unknown"

    def admits(self, version: Version) -> bool:
        """Whether nothing is known that rules this version out."""
        return not self.ranges or any(one.admits(version) for one in self.ranges)

    @property
    def known(self) -> bool:
        """Whether anything is known about the version."""
        return bool(self.ranges)

    @property
    def described(self) -> str:
        """'2.4.1, from uv.lock'; '1.13.1 or 2.4.1, from poetry.lock'; 'not known'."""
        if not self.ranges:
            return "not known"
        texts: dict[tuple[object, ...], str] = {}
        for one in self.ranges:  # builds of one version ('1.8.1+cu111', '1.8.1+cpu') are shown as this version
            key = (one.low, one.high, one.closed) if one.exact else (one.text,)
            texts[key] = str(one.low) if key in texts else one.text
        shown = " or ".join(texts.values())
        *others, last = self.sources or ("",)
        return f"{shown}, from {' and '.join([*filter(None, [', '.join(others)]), last])}" if last else shown


@lru_cache(maxsize=256)
def _border(version: str) -> Version:
    return Version(version)


def version_set(text: str, source: str) -> VersionSet:
    """Read '1.8', '==1.8.1', '>=1.7,<2' as a set of versions, with `||` between alternatives; an unreadable text is
    nothing known."""
    read = tuple(found for part in text.split("||") if (found := version_range(part)) is not None)
    return VersionSet(read, (source,))


def python_set(text: str, source: str) -> VersionSet:
    """The same for Python: '3.12' means every 3.12.x, and '<4', which Poetry makes of '^3.10', bounds nothing, because
    no Python 4 is in sight."""
    found = version_set(text, source)
    return VersionSet(tuple(_of_python(one) for one in found.ranges), found.sources)


def _of_python(found: Range) -> Range:
    if found.high is not None and found.high >= _NO_PYTHON:
        return replace(found, high=None)
    if found.exact and found.low is not None and found.low == found.high and len(found.low.release) == 2:
        return replace(found, high=_next(found.low.release), closed=False)
    return replace(found, text=found.text.removesuffix(".*"))


def union(sets: Iterable[VersionSet]) -> VersionSet:
    """All that any of the sets holds, the oldest first."""
    listed = [one for one in sets if one.ranges]
    ranges = dict.fromkeys(member for one in listed for member in one.ranges)
    return VersionSet(
        tuple(sorted(ranges, key=lambda one: one.low or Version("0"))),
        tuple(dict.fromkeys(source for one in listed for source in one.sources)),
    )


def version_range(text: str) -> Range | None:
    """A version, or the specifiers of a requirement, as the range that they bound; None where they bound nothing."""
    text = "".join(text.split())
    if len(text) > LONGEST_VERSION:
        return None
    try:
        return _exactly(Version(text))
    except InvalidVersion:
        pass
    try:
        specifiers = list(SpecifierSet(text))
    except InvalidSpecifier:
        return None
    bounds = [bound for one in specifiers if (bound := _bounds(one)) is not None]
    if not bounds:
        return None
    exact = [one for one in bounds if one.exact]
    if exact:
        return exact[0]
    low = max((one.low for one in bounds if one.low is not None), default=None)
    high = min((one.high for one in bounds if one.high is not None), default=None)
    if low is not None and high is not None and high < low:
        return None
    closed = all(one.closed for one in bounds if one.high == high)
    return Range(text, low, high, closed)


def _bounds(one: Specifier) -> Range | None:
    text, operator = one.version, one.operator
    if operator == "==" and text.endswith(".*"):
        low = Version(text[:-2])
        return Range(text, low, _next(low.release), False)
    try:
        version = _release(Version(text))
    except InvalidVersion:  # `===` takes any text
        return None
    if operator in ("==", "==="):
        return _exactly(Version(text))
    if operator in (">", ">="):
        return Range(str(one), version, None)
    if operator in ("<", "<="):
        return Range(str(one), None, version, operator == "<=")
    if operator == "~=":
        return Range(str(one), version, _next(version.release[:-1]), False)
    return None


def _exactly(version: Version) -> Range:
    return Range(str(version), _release(version), _release(version))


def _release(version: Version) -> Version:
    """Without what marks a pre-release or a build: '1.9.0a0+git12' has what 1.9 has."""
    return Version(version.base_version)


def _next(release: tuple[int, ...]) -> Version:
    return Version(".".join(str(part) for part in (*release[:-1], release[-1] + 1)))


#: How Linux starts workers by default, by whether Python is before 3.14. A range that admits 3.14 by name has both; an
#: open one says nothing of it.
_ON_LINUX: dict[Answer, tuple[StartMethod, ...]] = {
    "yes": ("fork",),
    "unknown": ("fork",),
    "maybe": ("fork", "forkserver"),
    "no": ("forkserver",),
}


class Environment(Struct, frozen=True):
    """What is known of where the project runs. `platforms` is empty for code that runs on none of
    the platforms that the project names, `platforms_source` says where they are named;
    `start_method` is the one that is set."""

    torch: VersionSet = VersionSet()
    python: VersionSet = VersionSet()
    platforms: tuple[str, ...] = ("linux",)
    start_method: StartMethod | None = None
    packages: Mapping[str, VersionSet] | None = None
    platforms_source: str = "this machine"

    def default_start_methods(self) -> frozenset[StartMethod]:
        """The start methods of workers where the loader names none: fork on Linux before Python 3.14, forkserver from
        3.14 on, spawn on Windows and macOS."""
        if self.start_method is not None:
            return frozenset({self.start_method})
        methods: set[StartMethod] = set()
        if "linux" in self.platforms:
            methods.update(_ON_LINUX[self.python.before("3.14")])
        if "windows" in self.platforms or "macos" in self.platforms:
            methods.add("spawn")
        return frozenset(methods)

    def described(self) -> tuple[str, ...]:
        """Each fact in a line of its own, with where it comes from."""
        several = "s" if len(self.platforms) > 1 else ""
        return (
            f"torch {self.torch.described}",
            f"Python {self.python.described}",
            f"platform{several} {', '.join(self.platforms)} ({self.platforms_source})",
            self._described_start(),
        )

    def _described_start(self) -> str:
        if self.start_method is not None:
            return f"start method {self.start_method} (the setting start-method)"
        names = {"windows": "Windows", "macos": "macOS"}
        reasons = {
            "fork": "the default of Linux before Python 3.14",
            "forkserver": "the default of Linux from Python 3.14 on",
            "spawn": f"the default of {' and '.join(names[one] for one in self.platforms if one in names)}",
        }
        methods = sorted(self.default_start_methods())
        listed = ", ".join(f"{method} ({reasons[method]})" for method in methods)
        return f"start method{'s' if len(methods) > 1 else ''} {listed}"
