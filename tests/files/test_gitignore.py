"""Ignore patterns: what git ignores is ignored, and no pattern takes long."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from loaderlint.files.gitignore import BadPattern, IgnoreRules, lines_of, parse
from loaderlint.sources.discovery import Budget, python_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git answers")
GIT = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

SIGNS = ["a", "b", "*", "**", "**/", "/", "?", "[", "]", "!", "^", "-", "\\", ".", "#", " ", "[:alpha:]", ".py", "é"]
NAMES = ["a", "b", "ab", "aa", "a.py", "b.py", "é", "-", "!a", "#b", "a b", "a ", "[a]"]
LINE = st.lists(st.sampled_from([*SIGNS, "[ab]", "[!a]", "[^b-a]"]), min_size=1, max_size=7).map("".join)
PATH = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", folder], check=True, env=GIT)
    return folder


@needs_git
@examples(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.lists(LINE, min_size=1, max_size=4), st.lists(PATH, min_size=8, max_size=16), st.sampled_from(["\n", "\r\n"]))
def test_a_file_is_ignored_if_git_ignores_it(repository: Path, lines: list[str], paths: list[str], end: str) -> None:
    data = "".join(line + end for line in lines).encode()
    (repository / ".gitignore").write_bytes(data)
    asked = "".join(f"{path}\0" for path in paths).encode()
    command = ["git", "check-ignore", "-z", "--stdin", "--no-index"]
    by_git = subprocess.run(command, cwd=repository, input=asked, capture_output=True, env=GIT)
    assert by_git.returncode in (0, 1)
    rules = IgnoreRules(lines_of(data))
    assert {p for p in paths if rules.ignores_file(p.encode())} == set(by_git.stdout.decode().split("\0")) - {""}


FILES = ["a.py", "b.py", "ab/a.py", "ab/b.py", "ab/é/a.py", "a/b.py", "a/a/b.py", "a b/a.py", "b/-.py"]


@needs_git
@examples(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    st.lists(LINE, min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(["ab", "a", "a/a", ".git/info"]), LINE, max_size=2),
)
def test_a_walk_finds_what_git_would_add(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], inner: dict[str, str]
) -> None:
    root = tmp_path_factory.mktemp("walk")
    subprocess.run(["git", "init", "-q", root], check=True, env=GIT)
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
    for folder, line in inner.items():
        name = "exclude" if folder == ".git/info" else ".gitignore"
        (root / folder / name).write_text(line + "\n", encoding="utf-8")
    command = ["git", "ls-files", "-coz", "--exclude-standard", "--", "*.py"]
    by_git = subprocess.run(command, cwd=root, capture_output=True, check=True, env=GIT)
    ours = {path.relative_to(root).as_posix() for path in python_files(root).files}
    assert ours == set(by_git.stdout.decode().split("\0")) - {""}


@pytest.mark.parametrize(
    "pattern",
    ["*a" * 2_000 + "b", "**/a" * 2_000 + "/b", "**/*a*" * 500 + "b", "[a-b]*" * 2_000 + "c", "?" * 4_000 + "*b"],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    rules = IgnoreRules([pattern.encode()])
    for path in ("a" * 4_000, "a/" * 2_000 + "a", "a" * 4_000 + ".py"):
        assert not rules.ignores_file(path.encode())


@pytest.mark.parametrize("pattern", ["[a", "a\\", "[[:none:]]", "?" * 10_000, "[a\\"])
def test_a_pattern_that_can_match_nothing_says_why(pattern: str) -> None:
    with pytest.raises(BadPattern, match="."):
        parse(pattern.encode())


def test_a_bad_line_is_named_and_the_others_hold(tmp_path: Path) -> None:
    for name in ("a.py", "gen.py"):
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("# x\n[z-a]x\n[a\ngen.py\n")
    found = python_files(tmp_path)
    assert [path.name for path in found.files] == ["a.py"]
    (notice,) = found.notices
    assert notice.path == tmp_path / ".gitignore"
    assert "line 3 matches nothing: a '[' in it has no ']'" in notice.message


def _named(root: Path, budget: Budget) -> Iterator[str]:
    found = python_files(root, budget=budget)
    yield from (path.name for path in found.files)
    yield from (notice.message for notice in found.notices)


def test_a_walk_ends_at_its_budget_and_says_so(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"d{number:02}").mkdir()
        (tmp_path / f"d{number:02}" / f"m{number}.py").touch()
    assert len(list(_named(tmp_path, Budget(1_000, 1_000)))) == 20
    *names, message = _named(tmp_path, Budget(1_000, 5))
    assert len(names) == 5 and "stopped after 5 Python files" in message and "pyproject.toml" in message
    *names, message = _named(tmp_path, Budget(23, 1_000))
    assert len(names) == 3 and "among 23 files and folders" in message


def test_folders_nested_deeper_than_calls_may_be(tmp_path: Path) -> None:
    deepest = tmp_path.joinpath(*["d"] * 1_200)
    here = tmp_path
    for _ in range(1_200):
        here /= "d"
        here.mkdir()
    (deepest / "deep.py").touch()
    try:
        assert python_files(tmp_path).files == (deepest / "deep.py",)
    finally:  # what clears up after tests calls itself for each folder
        (deepest / "deep.py").unlink()
        while here != tmp_path:
            here.rmdir()
            here = here.parent


@needs_git
@pytest.mark.parametrize(
    ("pattern", "ignored"), [("[z-a]", "z"), ("[!z-a]", "ambc-"), ("[z-ab]", "zb"), ("[a-]", "a-")]
)
def test_a_range_that_ends_before_it_begins(pattern: str, ignored: str, repository: Path) -> None:
    """git adds the first sign of a range before it sees the range. It says nothing of that, and nor do we."""
    rules = IgnoreRules([pattern.encode()])
    assert not rules.problems
    assert {name for name in "amzbc-" if rules.ignores_file(name.encode())} == set(ignored)
    (repository / ".gitignore").write_text(f"{pattern}\n")
    command = ["git", "check-ignore", "-z", "--stdin", "--no-index"]
    by_git = subprocess.run(command, cwd=repository, input="\0".join("amzbc-").encode(), capture_output=True, env=GIT)
    assert set(by_git.stdout.decode().split("\0")) - {""} == set(ignored)
