"""The findings of a check of one project, with everything that decides whether it would find the same again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from loaderlint.cache import manifest as manifests
from loaderlint.cache.manifest import Manifest

#: Flags of a path in the manifest: a source file of the project; its findings are in the record.
SOURCE, SHOWN = 1, 2


class Record(NamedTuple):
    """The record of the project at `root`. `flags`: a byte for each path of the manifest. `asked`: the paths that were
    checked; `items`: the findings of each file with the first fix of each, serialized by `cache.serialized_findings`.
    `whole`: what is `told` beside them (problems, baselines, lines on stderr) is valid for all of `asked` and for this
    current folder only. `moved`: for files that were edited since the linking without a changed answer, the new number
    of each piece, None for one that is gone."""

    root: str
    manifest: Manifest
    flags: bytes
    asked: tuple[str, ...]
    items: Mapping[str, Any]
    told: Mapping[str, Any]
    whole: bool
    moved: Mapping[str, Any]

    def files(self, asked: Iterable[str]) -> list[str] | None:
        """The files that these paths name; None if the record does not contain all of them."""
        asked = list(asked)
        if self.whole and (sorted(asked) != sorted(self.asked) or self.told["folder"] != os.getcwd()):
            return None
        if any(not self._holds(path) for path in asked):
            return None
        shown = [path for path, flag in zip(self.manifest.paths, self.flags, strict=True) if flag & SHOWN]
        if set(asked) >= set(self.asked):
            return shown
        single = set(asked)
        inside = tuple(os.path.join(path, "") for path in asked)
        return [path for path in shown if path in single or path.startswith(inside)]

    def _holds(self, path: str) -> bool:
        if path in self.asked:
            return True
        if not any(path.startswith(os.path.join(folder, "")) for folder in self.asked):
            return False
        return os.path.isdir(path) or path in self.items or self._is_shown(path)

    def _is_shown(self, path: str) -> bool:
        try:
            return bool(self.flags[self.manifest.paths.index(path)] & SHOWN)
        except ValueError:
            return False


def key(tag: bytes, root: Path, is_loose: bool, overrides: Mapping[str, object]) -> bytes:
    """The key of a project's record: everything that a check depends on except for files."""
    surroundings = [os.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH")]
    folder = os.getcwd() if overrides else ""  # patterns among the flags are relative to it
    told = repr((str(root), is_loose, sorted(overrides.items()), surroundings, folder)).encode(
        "utf-8", "surrogateescape"
    )
    return blake2b(told, key=tag, person=b"record", digest_size=16).digest()


def dumped(record: Record) -> bytes:
    """The record as bytes."""
    document = {
        "root": record.root,
        "asked": record.asked,
        "items": record.items,
        "told": record.told,
        "whole": record.whole,
        "moved": record.moved,
    }
    return manifests.packed([*manifests.dumped(record.manifest), record.flags, json.dumps(document).encode()])


def loaded(data: bytes) -> Record:
    """The record in bytes. Raises ValueError, TypeError or KeyError for other bytes."""
    paths, numbers, hashes, flags, document = manifests.unpacked(data)
    manifest = manifests.loaded(paths, numbers, hashes)
    if len(flags) != len(manifest.paths):
        raise ValueError("not a flag for each path")
    read = json.loads(document)
    told = (read[name] for name in ("items", "told", "whole", "moved"))
    return Record(read["root"], manifest, flags, tuple(read["asked"]), *told)
