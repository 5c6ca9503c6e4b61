"""Versions as sets: on which side of a border they are, and how they are told."""

from __future__ import annotations

import pytest
from packaging.version import Version

from loaderlint.project.versions.environment import Environment, StartMethod, VersionSet, python_set, union, version_set


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("1.8", "yes"),
        ("==1.8.1", "yes"),
        ("1.9.0", "no"),
        (">=2.0", "no"),
        (">=1.7,<1.9", "yes"),
        (">=1.7,<2", "maybe"),
        (">=1.8", "unknown"),
        ("<2.3", "unknown"),
        ("!=1.8.1,<=2", "unknown"),
        ("<1.9", "yes"),
        ("<=1.9", "maybe"),
        ("~=1.8", "maybe"),
        ("==1.8.*", "yes"),
        ("~=1.8.1", "yes"),
        ("==1.9.*", "no"),
        ("1.8.1+cu111", "yes"),
        ("1.9.0a0+git12", "no"),
        (">=1.9.0.dev0", "no"),
        ("===1.8", "yes"),
        (">=2,<1", "unknown"),
        (">=1.8,<=1.8", "yes"),
        ("<=1.9,<1.9", "yes"),
        ("1.8 ||", "yes"),
        ("1.9 || >=1.7,<2", "maybe"),
        (">1.4,!=1.7.1", "unknown"),
        ("!=1.8.*", "unknown"),
        ("", "unknown"),
        ("nonsense", "unknown"),
    ],
)
def test_before_torch_1_9(text: str, answer: str) -> None:
    assert version_set(text, "x").before("1.9") == answer


def test_nothing_declared_is_unknown() -> None:
    assert VersionSet().before("1.9") == "unknown"


@pytest.mark.parametrize(
    ("members", "answer", "described"),
    [
        ((), "unknown", "not known"),
        (("2.4.1",), "no", "2.4.1, from a.lock"),
        (("1.8", "1.8.1"), "yes", "1.8 or 1.8.1, from a.lock"),
        (("1.8", "2.4.1"), "maybe", "1.8 or 2.4.1, from a.lock"),
        ((">=1.7", "2.4.1"), "unknown", ">=1.7 or 2.4.1, from a.lock"),
        ((">=1.7", "1.8"), "maybe", ">=1.7 or 1.8, from a.lock"),
        (("nonsense",), "unknown", "not known"),
        (("1.8.1+cu111", "1.8.1+cpu"), "yes", "1.8.1, from a.lock"),
        (("1.8.1+cu111",), "yes", "1.8.1+cu111, from a.lock"),
        (("2.0", "<1.8"), "maybe", "<1.8 or 2.0, from a.lock"),
        (("~=1.8", ">=1.8,<2"), "maybe", "~=1.8 or >=1.8,<2, from a.lock"),
    ],
)
def test_a_set_with_several_members(members: tuple[str, ...], answer: str, described: str) -> None:
    several = union(version_set(text, "a.lock") for text in members)
    assert (several.before("1.9"), several.described) == (answer, described)


def test_a_source_that_says_nothing_is_not_named() -> None:
    assert union([version_set("nonsense", "a.lock"), version_set("1.8", "b.lock")]).described == "1.8, from b.lock"


@pytest.mark.parametrize(
    ("environment", "lines"),
    [
        (
            Environment(version_set("2.4.1", "uv.lock"), version_set("3.12", ".venv")),
            (
                "torch 2.4.1, from uv.lock",
                "Python 3.12, from .venv",
                "platform linux (this machine)",
                "start method fork (the default of Linux before Python 3.14)",
            ),
        ),
        (
            Environment(
                python=version_set(">=3.14", "pyproject.toml"),
                platforms=("linux", "macos", "windows"),
                platforms_source="the setting platforms",
            ),
            (
                "torch not known",
                "Python >=3.14, from pyproject.toml",
                "platforms linux, macos, windows (the setting platforms)",
                "start methods forkserver (the default of Linux from Python 3.14 on), "
                "spawn (the default of macOS and Windows)",
            ),
        ),
        (
            Environment(start_method="spawn"),
            (
                "torch not known",
                "Python not known",
                "platform linux (this machine)",
                "start method spawn (the setting start-method)",
            ),
        ),
    ],
)
def test_what_is_known_is_told_with_its_sources(environment: Environment, lines: tuple[str, ...]) -> None:
    assert environment.described() == lines


@pytest.mark.parametrize(
    ("text", "methods"),
    [
        ("3.13", {"fork"}),
        ("==3.13.*", {"fork"}),
        ("3.14", {"forkserver"}),
        ("3.14.0rc1", {"forkserver"}),
        (">=3.14", {"forkserver"}),
        (">=3.8", {"fork"}),
        (">=3.8,<4", {"fork"}),
        (">=3.8,<4.0", {"fork"}),
        (">=3.8,<3.14", {"fork"}),
        (">=3.8,<3.15", {"fork", "forkserver"}),
        ("==3.12.* || ==3.14.*", {"fork", "forkserver"}),
        ("", {"fork"}),
    ],
)
def test_the_start_methods_of_linux_follow_python(text: str, methods: set[str]) -> None:
    assert Environment(python=python_set(text, "x")).default_start_methods() == methods


@pytest.mark.parametrize(
    ("platforms", "start_method", "methods"),
    [
        (("linux",), None, {"fork"}),
        (("macos",), None, {"spawn"}),
        (("windows",), None, {"spawn"}),
        (("linux", "windows"), None, {"fork", "spawn"}),
        ((), None, set()),
        (("linux",), "spawn", {"spawn"}),
        (("windows",), "fork", {"fork"}),
    ],
)
def test_the_start_methods_of_platforms(
    platforms: tuple[str, ...], start_method: StartMethod | None, methods: set[str]
) -> None:
    assert Environment(platforms=platforms, start_method=start_method).default_start_methods() == methods


@pytest.mark.parametrize(
    ("text", "border", "answer"),
    [
        ("3.12", "3.12.4", "maybe"),
        ("3.12", "3.12", "no"),
        ("3.12", "3.13", "yes"),
        ("3.12.1", "3.12.2", "yes"),
        ("3.12.1", "3.12.1", "no"),
        (">=3.12", "3.13", "unknown"),
        (">=3.12,<3.14", "3.13", "maybe"),
    ],
)
def test_a_python_without_a_patch_is_any_patch_of_it(text: str, border: str, answer: str) -> None:
    assert python_set(text, "x").before(border) == answer


@pytest.mark.parametrize(
    ("text", "version", "answer"),
    [
        (">=1.7,<2", "1.13.1", True),
        (">=1.7,<2", "1.6.0", False),
        (">=1.7,<2", "1.7", True),
        ("<=1.8,<2", "1.8", True),
        ("1.8 || 2.1", "2.1.0", True),
        ("1.8 || 2.1", "2.0", False),
        (">=1.7,<2", "2.0.0", False),
        ("<=1.9", "1.9.0+cu111", True),
        ("==1.8.*", "1.8.1", True),
        ("==1.8.1", "1.8.1+cu111", True),
        ("==1.8.1", "1.8.2", False),
        ("", "1.0", True),
    ],
)
def test_admits(text: str, version: str, answer: bool) -> None:
    assert version_set(text, "x").admits(Version(version)) == answer


#: Two ranges, and what is in both; None for nothing.
RANGES = [
    ("<=2.0", ">=2.0", ("2.0", "2.0")),
    ("<2.0", ">=2.0", None),
    ("<2.0", ">=1.9", ("1.9", "2.0")),
    (">=1.8,<2.2", ">=1.9,<2.1", ("1.9", "2.1")),
    (">=1.8,<2.2", "2.0.1", ("2.0.1", "2.0.1")),
    (">=1.8,<2.0", "2.0.1", None),
    ("1.8.1", "1.8.1", ("1.8.1", "1.8.1")),
    (">=1.8", ">=1.9", ("1.9", None)),
    ("<1.8", "<1.9", (None, "1.8")),
    ("<=1.8", "<1.8", (None, "1.8")),
]


@pytest.mark.parametrize(("first", "second", "expected"), RANGES)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_in_two_ranges(
    first: str, second: str, expected: tuple[str | None, str | None] | None, swapped: bool
) -> None:
    (one,), (other,) = version_set(first, "x").ranges, version_set(second, "x").ranges
    if swapped:
        one, other = other, one
    both = one.within(other)
    assert one.meets(other) is (expected is not None)
    assert (both and tuple(str(end) if end else None for end in (both.low, both.high))) == expected


def test_an_end_that_one_of_two_ranges_leaves_out_is_left_out() -> None:
    (closed,), (open_,) = version_set("<=1.8", "x").ranges, version_set("<1.8", "x").ranges
    for both in (closed.within(open_), open_.within(closed)):
        assert both is not None
        assert not both.admits(Version("1.8"))
    both = closed.within(version_set(">=1.7", "x").ranges[0])
    assert both is not None
    assert both.admits(Version("1.8"))
    both = closed.within(version_set("<2.0", "x").ranges[0])
    assert both is not None
    assert both.admits(Version("1.8"))


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("2.0.1", ">=1.8,<2.2", "2.0.1"),
        (">=1.8,<2.2", "2.0.1", "2.0.1"),
        ("==2.0.*", ">=1.8", "2.0.*"),
        (">=1.8", ">=1.8", ">=1.8"),
        (">=1.8", "<2", ">=1.8,<2"),
    ],
)
def test_how_what_is_in_two_ranges_is_shown(first: str, second: str, text: str) -> None:
    both = version_set(first, "x").ranges[0].within(version_set(second, "x").ranges[0])
    assert both is not None
    assert both.text == text
