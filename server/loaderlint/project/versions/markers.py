"""Whether a requirement's marker may hold on the platforms and Pythons of the project."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from packaging.version import Version

from loaderlint.project.versions.environment import Range, VersionSet

#: Pythons that a project may run on where it does not say which (an open range never means 3.14).
_PYTHONS = tuple(Version(f"3.{minor}") for minor in range(6, 14))
_NEWER = (Version("3.14"),)
_SYSTEMS = {
    "linux": ("linux", "Linux", "posix", ("x86_64", "aarch64")),
    "macos": ("darwin", "Darwin", "posix", ("arm64", "x86_64")),
    "windows": ("win32", "Windows", "nt", ("AMD64", "ARM64")),
}
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']*)["']""")


def may_hold(marker: str, platforms: tuple[str, ...], python: VersionSet) -> bool:
    """Whether `marker` (PEP 508) holds for any of the platforms and any Python that is possible; a marker that cannot
    be read holds."""
    return _may_hold(marker, platforms, tuple(pythons(python)))


def pythons(python: VersionSet) -> Iterator[Version]:
    """The Pythons to try: those of the set, by their first two numbers or as they are."""
    if not python.known:
        yield from _PYTHONS
        return
    for one in python.ranges:
        if one.exact and one.low is not None:
            yield one.low
            continue
        newest = _NEWER if one.high is not None or one.before(_NEWER[0]) == "no" else ()
        for minor in (*_PYTHONS, *newest):
            every_patch = Range(str(minor), minor, Version(f"{minor.major}.{minor.minor + 1}"), False)
            if one.meets(every_patch):
                yield minor if one.low is None else max(minor, one.low)


@cache
def _may_hold(text: str, platforms: tuple[str, ...], versions: tuple[Version, ...]) -> bool:
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

    try:
        marker = Marker(text)
        extras = ("", *_EXTRA.findall(text))
        return any(
            marker.evaluate({**environment, "extra": extra})
            for environment in _environments(platforms, versions)
            for extra in extras
        )
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, ValueError, RecursionError):
        return True


def _environments(platforms: tuple[str, ...], versions: tuple[Version, ...]) -> Iterator[dict[str, str]]:
    for platform, version in product(platforms, versions):
        system, name, os_name, machines = _SYSTEMS.get(platform, _SYSTEMS["linux"])
        for machine in machines:
            yield {
                "sys_platform": system,
                "platform_system": name,
                "os_name": os_name,
                "platform_machine": machine,
                "platform_release": "",
                "platform_version": "",
                "python_version": f"{version.major}.{version.minor}",
                "python_full_version": f"{version.major}.{version.minor}.{version.micro}",
                "implementation_name": "cpython",
                "platform_python_implementation": "CPython",
                "implementation_version": f"{version.major}.{version.minor}.{version.micro}",
            }
