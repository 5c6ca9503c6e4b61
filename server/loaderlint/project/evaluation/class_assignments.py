"""Attributes of a class that code assigns after the class statement: `Config.workers = 4`, or `type(self).rng = x` in a
method."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.open_frames import open_frame, owner_of
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Val, def_key
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.tests_and_tutorials import in_tests

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def assigned_to_class(ev: Evaluator, cls: ClassRef, name: str) -> Iterator[Val]:
    """What code that names the class, or a method of it, assigns to its attribute `name`, in whatever order. A test
    that changes a class for itself does not count outside tests."""
    yield from _by_methods(ev, cls, name)
    written, root = f"{ev.classes.name(cls)}.{name}", ev.files.root
    for path in ev.files.containing(written):
        file = ev.file(path)
        if file is None or (in_tests(path, root) and not in_tests(cls.path, root)):
            continue
        for piece, _ in file.asking(_assigns, written):
            yield from _in_piece(ev, path, piece, cls, name)


def _by_methods(ev: Evaluator, cls: ClassRef, name: str) -> Iterator[Val]:
    """What the methods of the class assign to its attribute `name`."""
    file = ev.file(cls.path)
    for piece, _ in file.asking(_assigns_own, name, scope=cls.piece) if file is not None else ():
        facts = ev.facts(cls.path, piece)
        for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
            assert facts is not None
            owner = owner_of(ev, cls.path, piece, def_, facts) if def_ else None
            if owner is None or def_key(owner) != def_key(cls):
                continue
            is_class_method = ev.functions.decoration(FunctionRef(cls.path, piece, def_)) == "class"
            stores = [
                step for step in _stores_of(one, name) if _is_own_class(facts.ir.exprs, step.base, is_class_method)
            ]
            frame = open_frame(ev, cls.path, piece, def_, facts) if stores else None
            for step in stores:
                if frame is not None and not ev.liveness.is_dead(step.context, frame):
                    yield ev.eval(step.value, frame)


def _stores_of(one: ir.DefIR, name: str) -> list[ir.SetAttr]:
    return [step for step in one.steps if isinstance(step, ir.SetAttr) and step.name == name]


def _is_own_class(exprs: Sequence[ir.Expr], number: int, is_class_method: bool) -> bool:
    """Whether an expression of a method is its class: `type(self)`, `self.__class__`, or `cls` of a class method."""
    match exprs[number]:
        case ir.Param(0):
            return is_class_method
        case ir.Attr(base, "__class__"):
            return ir.is_self(exprs[base])
        case ir.Call(func, (only,)):
            return exprs[func] == ir.Global("type") and ir.is_self(exprs[only.value])
    return False


@needs_word
def _assigns_own(text: str, name: str) -> bool:
    return re.search(rf"\b(?:\w+|type\(\w+\))\.{re.escape(name)}[ \t]*=(?!=)", text) is not None


@needs_word
def _assigns(text: str, written: str) -> bool:
    return re.search(rf"\b{re.escape(written)}[ \t]*(?:=(?!=)|[-+*/%|&]=|//=)", text) is not None


def _in_piece(ev: Evaluator, path: Path, piece: int, cls: ClassRef, name: str) -> Iterator[Val]:
    facts = ev.facts(path, piece)
    for def_, one in enumerate(facts.ir.defs if facts is not None else ()):
        stores = _stores_of(one, name)
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
