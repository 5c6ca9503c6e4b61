"""Attributes of a class that code outside the class assigns: `Config.num_workers = 4`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Val, def_key
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.tests_and_tutorials import in_tests

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def assigned_to_class(ev: Evaluator, cls: ClassRef, name: str) -> Iterator[Val]:
    """What code that names the class assigns to its attribute `name`, in whatever order. A test that changes a class
    for itself does not count outside tests."""
    written, root = f"{ev.classes.name(cls)}.{name}", ev.files.root
    for path in ev.files.containing(written):
        file = ev.file(path)
        if file is None or (in_tests(path, root) and not in_tests(cls.path, root)):
            continue
        for piece, _ in file.asking(_assigns, written):
            yield from _in_piece(ev, path, piece, cls, name)


@needs_word
def _assigns(text: str, written: str) -> bool:
    return re.search(rf"\b{re.escape(written)}[ \t]*(?:=(?!=)|[-+*/%|&]=|//=)", text) is not None


def _in_piece(ev: Evaluator, path: Path, piece: int, cls: ClassRef, name: str) -> Iterator[Val]:
    facts = ev.facts(path, piece)
    for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
        stores = [step for step in one.steps if isinstance(step, ir.SetAttr) and step.name == name]
        if facts is None or not stores:
            continue
        here = Unframed(ev, path, piece, def_, facts)
        function = FunctionRef(path, piece, def_)
        frame = ev.functions.open_frame(function, None, None, trusts_defaults=False) if def_ else ev.body(path, piece)
        for step in stores:
            base = here.value(step.base)
            classes = base.only(ClassRef) if base is not None else ()
            if frame is not None and any(def_key(one) == def_key(cls) for one in classes):
                if not ev.liveness.is_dead(step.context, frame):
                    yield ev.eval(step.value, frame)
