"""A project of a few files in a folder, linked, and what tests ask of its model."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from loaderlint.project.evaluation.values import Instance, LibObject
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.model import Model
from loaderlint.project.versions.environment import Environment
from loaderlint.sources.configuration_files import ConfigurationFiles
from loaderlint.sources.snapshot import Snapshot
from loaderlint.sources.store import Store

#: A file of several in one text: `--- name.py` starts each.
_FILE = re.compile(r"^--- (\S+)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Linked:
    """A linked project."""

    root: Path
    model: Model

    def loader(self, name: str = "loader") -> Loader:
        """The only loader of that name."""
        (found,) = [one for one in self.model.loaders if one.name == name]
        return found

    def datasets(self, name: str = "loader") -> list[str]:
        """The names of the dataset classes that a loader may hold, sorted."""
        classes = self.model.ev.classes
        return sorted(
            classes.name(one.cls) if isinstance(one, Instance) else one.name
            for one in self.loader(name).datasets
            if isinstance(one, Instance | LibObject)
        )

    def reached(self, name: str | None = None) -> list[str]:
        """The labels of the defs that workers run (those of one loader, or of any), sorted."""
        bit = ~0 if name is None else 1 << self.loader(name).index
        return sorted({self.model.label(f) for f, r in self.model.reached.items() if r.bits() & bit})

    def guessed(self) -> list[str]:
        """The labels of the defs that workers run only by a guess, sorted."""
        return sorted({self.model.label(f) for f, r in self.model.reached.items() if r.possible == r.bits()})


def files_of(text: str) -> dict[str, str]:
    """The files written in one text; without a `---` line one file, case.py."""
    parts = _FILE.split(textwrap.dedent(text).lstrip("\n"))
    if len(parts) == 1:
        return {"case.py": parts[0]}
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def link(root: Path, text: str, environment: Environment | None = None) -> Linked:
    """Write the files of `text` below `root` and link them."""
    return link_files(root, files_of(text), environment)


def link_files(root: Path, files: Mapping[str, str], environment: Environment | None = None) -> Linked:
    """Write `files` below `root` and link them."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    store = Store(root)
    store.find()
    configurations = ConfigurationFiles(store.root)
    snapshot = Snapshot(store, lambda: False, lambda: None, configurations=configurations)
    return Linked(root, Model(snapshot, lambda path: environment or Environment()))
