"""Reads settings and paths from the arguments of a command. Nothing here needs the engine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from loaderlint.commands import BASELINE
from loaderlint.files.project_roots import project_root
from loaderlint.files.symlinks import known_as
from loaderlint.report import shown_path
from loaderlint.report.terminal import printable
from loaderlint.settings import settings
from loaderlint.syntax.notebook import SUFFIX

_INSTALLED = ("site-packages", "dist-packages")
#: The maximum number of files and folders, and of Python files, in a folder that is read around a file although nothing
#: marks it as a project: listing them takes about 20 ms.
_SMALL = (20_000, 200)


class Usage(Exception):
    """The arguments cannot be used; the message says what to write instead."""


def beside_reports(chosen: argparse.Namespace) -> list[str]:
    """The given flags and paths of `check` that ask for something other than a report on files."""
    given = {
        "--fix": chosen.fix,
        "--diff": chosen.diff,
        "--suppress": chosen.suppress,
        "--write-baseline": chosen.write_baseline is not None,
        "--show-files": chosen.show_files,
        "--show-settings": chosen.show_settings,
        "-": "-" in chosen.paths,
    }
    return [flag for flag, is_given in given.items() if is_given]


def given_settings(chosen: argparse.Namespace) -> dict[str, object]:
    """The settings among the flags by their names in pyproject.toml. Raises Usage if one of them is wrong."""
    given = read_settings(chosen)
    _, problems = settings.load(Path.cwd() / "any.py", given)
    wrong = [f"--{problem.message}" for problem in problems if problem.path is None]
    if wrong:
        raise Usage("\n".join(wrong))
    return given


def read_settings(chosen: argparse.Namespace) -> dict[str, object]:
    """The same, without checking what the values refer to: whether a rule exists, for example.

    Raises Usage for malformed values."""
    given = {key: getattr(chosen, key.replace("-", "_")) for key in settings.KEYS}
    given = {key: value for key, value in given.items() if value is not None} | named_settings(chosen)
    if given.get("select") == []:  # an unset variable of a script, most likely: nothing would ever be found
        raise Usage("--select names no rule; leave it out, or name rules such as LDR1,shared-generator")
    for name in given.get("loaders", ()):
        if any(sign.isspace() for sign in name):
            parts = ",".join(name.split())
            raise Usage(f"--loaders: '{name}' is not a name; put commas between names: --loaders {parts}")
    if given.get("baseline"):
        given["baseline"] = str(baseline_file(given["baseline"], "--baseline"))
    if getattr(chosen, "write_baseline", None) is not None:
        given["baseline"] = ""
    if chosen.no_audits:
        given[settings.AUDITS] = False
    if "severity" in given:
        given["severity"] = dict(_pair(text, "=", "--severity RULE=LEVEL") for text in given["severity"])
    if "per-file-ignores" in given:
        ignores: dict[str, list[str]] = {}
        for text in given["per-file-ignores"]:
            pattern, rule = _pair(text, ":", "--per-file-ignores PATTERN:RULE")
            ignores.setdefault(pattern, []).append(rule)
        given["per-file-ignores"] = ignores
    return given


def named_settings(chosen: argparse.Namespace) -> dict[str, object]:
    """The override for --config (the settings file that it names) or --isolated (no file); empty without these flags.
    Raises Usage if there is no such file."""
    if chosen.isolated:
        return {settings.FILE: ""}
    if chosen.config is None:
        return {}
    path = os.path.realpath(chosen.config)
    if not os.path.isfile(path):
        similar = _similar(Path(os.path.abspath(chosen.config)), Path.is_file)
        raise Usage(f"--config: {printable(chosen.config)}: no such file{similar}")
    return {settings.FILE: path}


def baseline_file(name: str, flag: str) -> Path:
    """The file that a flag names as the baseline. Raises Usage if it is not a baseline."""
    path = Path(os.path.realpath(name))
    if os.path.isdir(path) or path.suffix in (".py", ".pyi", SUFFIX):
        raise Usage(f"'{name}' is taken as the baseline file; write PATH before {flag}, or {flag}={BASELINE}")
    return path


def _pair(text: str, separator: str, usage: str) -> tuple[str, str]:
    left, found, right = text.rpartition(separator)
    if not found:
        raise Usage(f"'{text}' cannot be read; write {usage}")
    return left.strip(), right.strip()


def existing(names: Iterable[str]) -> tuple[list[Path], list[str]]:
    """The absolute paths that exist, and a message for each of the others."""
    paths, messages = [], []
    for name in names:
        path, shown = known_as(name), printable(name)
        if os.path.isfile(path) or os.path.isdir(path):
            paths.append(path)
        elif os.path.exists(path):  # a pipe or a device might never end
            messages.append(f"{shown}: neither a file nor a folder; use - with --stdin-filename to check piped input")
        elif os.path.islink(name):
            messages.append(f"{shown}: a broken link to {printable(os.readlink(name))}; fix or remove it")
        else:
            messages.append(f"{shown}: no such file or folder{_similar(Path(os.path.abspath(name)))}")
    return paths, messages


def _similar(path: Path, is_meant: Callable[[Path], bool] = Path.exists) -> str:
    if not os.path.isdir(path.parent):
        return f"; the folder {_shown(path.parent)} does not exist either"
    try:
        others = {name for name in os.listdir(path.parent) if name != path.name and is_meant(path.parent / name)}
        close = get_close_matches(path.name, others, n=1)
    except OSError:
        close = []
    return f"; did you mean {_shown(path.parent / close[0])}?" if close else f" in {path.parent}"


class Roots(NamedTuple):
    """Folders that count as project roots if no project file or repository marks one: `folders`, which are read
    completely (those that are named, and the current one if it is small), and others `around` single files, which are
    not."""

    folders: tuple[Path, ...]
    around: tuple[Path, ...]


def roots_of(paths: Sequence[Path]) -> Roots:
    """The roots of paths that exist."""
    folders = [path for path in paths if os.path.isdir(path)]
    files = [path for path in paths if path not in folders]
    around = folders_around(files)
    small = [folder for folder in around if folder == Path.cwd() and project_root(folder) is None and _is_small(folder)]
    return Roots(tuple(folders_around([*folders, *small])), tuple(around))


def _is_small(folder: Path) -> bool:
    """Whether a folder has few files and folders."""
    from loaderlint.sources.discovery import Budget, Walk  # the checks of a project do not need it

    return Walk(folder, Budget(*_SMALL)).finish(lambda: False).complete


def folders_around(paths: Iterable[Path]) -> list[Path]:
    """For each path the folder that is read if no project file or repository marks a root: the current folder if it
    holds the path, else the path's outermost package (for a file: what holds that package), else the path's own
    folder."""
    return sorted({_folder_around(path) for path in paths})


def _folder_around(path: Path) -> Path:
    start = path if os.path.isdir(path) else path.parent
    # Nobody wants a whole home folder, a whole disk or all installed packages to be read.
    outer = [folder for folder in (start, *start.parents) if folder not in (Path.home(), Path(folder.anchor))]
    if Path.cwd() in outer:
        return Path.cwd()
    packages = [folder for folder in outer if os.path.exists(folder / "__init__.py")]
    if not packages:
        return start
    if os.path.isdir(path) or packages[-1].parent.name in _INSTALLED:
        return packages[-1]
    return packages[-1].parent


def _shown(path: Path) -> str:
    return printable(shown_path(path, Path.cwd()))
