"""What the statements of a module bind a name to, as the code of a def sees it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Model


class ModuleName(NamedTuple):
    """The name `name` of a module, and the expressions that its statements bind to it, each with the frame of its
    statement. `reader`: the statement that reads it, if it is one of the same module."""

    file: ProjectFile
    name: str
    bound: list[tuple[Frame, int]]
    reader: int | None

    def bodies(self, asking: Callable[[str, str], bool], model: Model) -> Iterator[Frame]:
        """The frames of the statements that may change what the name is bound to last, before it is read: `asking`
        tells from their text and the name."""
        bound_in = max((body.piece for body, _ in self.bound), default=sys.maxsize)
        for piece in self.file.all_asking(asking, self.name):
            if bound_in < piece and (self.reader is None or piece <= self.reader):
                yield model.ev.body(self.file.path, piece)


def module_names(name: str, frame: Frame, model: Model) -> Iterator[ModuleName]:
    """What the name of a module stands for in a frame, through imports."""
    for origin in model.ev.names.lookup(frame.path, name).origins:
        file = model.files.file(origin.owner.path) if isinstance(origin.owner, ModuleRef) else None
        if file is None or len(origin.path) != 1:
            continue
        bound: list[tuple[Frame, int]] = []
        for binding in model.ev.names.bindings_seen_from(frame, file.path, origin.path[0]):
            if binding.step < 0 or binding.def_ != 0:
                continue
            body = model.ev.body(file.path, binding.piece)
            step = model.def_of(body).steps[binding.step]
            if isinstance(step, ir.Bind):
                bound.append((body, step.value))
        is_here = file.path == frame.path and frame.def_ == 0 and model.ev.names.class_around(file, frame.piece) is None
        yield ModuleName(file, origin.path[0], bound, frame.piece if is_here else None)
