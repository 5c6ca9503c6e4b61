"""Reads tracebacks as Python, IPython, pytest and rich print them: the calls, and what they reveal about the
environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import NamedTuple

#: Python: `File "/a/b.py", line 3, in f`; IPython: `File ~/a/b.py:3, in f(x)`; pytest, rich: `a/b.py:3: KeyError`.
_CALLS = (
    re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?'),
    re.compile(r"File (?P<path>[^\s\"][^\"]*?\.py):(?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?"),
    re.compile(r"(?P<path>[\w./\\~ -]*\w\.py):(?P<line>\d+)(?:: | in (?P<name>[\w.<>]+))"),
)
_INSTALLED = ("site-packages", "dist-packages")
_PYTHON = re.compile(r"[/\\][Pp]ython-?(3)\.?(\d{1,2})[/\\]")

#: The module that starts a worker reveals the start method.
_STARTS: Mapping[str, Mapping[str, object]] = {
    "popen_spawn_win32.py": {"start-method": "spawn", "platforms": ["windows"]},
    "popen_spawn_posix.py": {"start-method": "spawn"},
    "popen_forkserver.py": {"start-method": "forkserver"},
    "multiprocessing/forkserver.py": {"start-method": "forkserver"},
    "from multiprocessing.spawn import spawn_main": {"start-method": "spawn"},
}


class Call(NamedTuple):
    """A line of a traceback; `line` counts from 1, `name` is the function, '' if it is not given."""

    path: PurePath
    line: int
    name: str


def calls_in(lines: Iterable[str]) -> list[Call]:
    """The calls of all tracebacks, in their order, without those in installed packages."""
    calls = []
    for line in lines:
        for pattern in _CALLS:
            found = pattern.search(line)
            if found is not None:
                path = _path(found["path"].strip())
                if not any(part in _INSTALLED for part in path.parts):
                    calls.append(Call(path, int(found["line"]), found["name"] or ""))
                break
    return calls


def _path(text: str) -> PurePath:
    return PureWindowsPath(text) if "\\" in text else PurePosixPath(text)


def conditions(lines: Iterable[str]) -> dict[str, object]:
    """The settings that tracebacks reveal: the start method of workers, the platform, and the Python version."""
    told: dict[str, object] = {}
    for line in lines:
        for sign, settings in _STARTS.items():
            if sign in line.replace("\\", "/"):
                told.update(settings)
        version = _PYTHON.search(line)
        if version is not None and "File" in line:
            told["target-python"] = f"{version[1]}.{version[2]}"
    return told
