"""What the settings declare about a project's own wrapper of a loader (`loaders` in pyproject.toml)."""

from __future__ import annotations

from typing import NamedTuple


class LoaderWrapper(NamedTuple):
    """A function or class of the project that makes a loader.

    `name` is its last name or dotted path. `dataset` and `workers` say which argument is meant: a keyword, or a 0-based
    position. `seeds`: whether it gives every worker its own NumPy and `random` seed."""

    name: str
    dataset: str | int
    workers: str | int
    seeds: bool
