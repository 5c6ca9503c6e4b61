"""The datasets that a loader may hold if its dataset comes from unknown code.

None of this is known for certain, so findings that depend on it are at most *possible*."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from loaderlint.facts import ir
from loaderlint.knowledge.library_datasets import DATASET_BASES
from loaderlint.knowledge.registries import makes_configured
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, LibObject, SeqOf, Val, join

if TYPE_CHECKING:
    from loaderlint.project.evaluation.callers import Callers
    from loaderlint.project.evaluation.evaluator import Evaluator

_MAX_CLASSES = 16
#: Libraries whose calls are known not to return their arguments.
_KNOWN = frozenset("builtins torch torchvision torchaudio numpy os copy random logging json pickle math time".split())


def dataset_kind(ev: Evaluator, cls: ClassRef) -> Literal["map", "iterable"] | None:
    """Whether a class of the project is a torch dataset, and of which kind; None if it is not one, or if that is not
    known."""
    kinds = [DATASET_BASES[name] for name in ev.classes.library_bases(cls) if name in DATASET_BASES]
    if not kinds:
        return None
    return "iterable" if any(kinds) else "map"


def may_be_dataset(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class of the project is a torch dataset or has items as one."""
    if dataset_kind(ev, cls) is not None:
        return True
    return any(ev.classes.member(cls, name) for name in ("__getitem__", "__iter__"))


def is_empty(ev: Evaluator, made: Instance) -> bool:
    """Whether a dataset certainly has no samples, as a template for others: `__len__` returns the length of a list that
    nothing fills."""
    frame = ev.classes.open_method(made, "__len__")
    returned = [step.value for _, step in frame.code.steps_of(ir.Return)] if frame else []
    return bool(returned) and frame is not None and all(_is_zero(ev, number, frame) for number in returned)


def _is_zero(ev: Evaluator, number: int, frame: Frame) -> bool:
    call = ev.expr(frame, number)
    if not isinstance(call, ir.Call) or ev.expr(frame, call.func) != ir.Global("len") or len(call.args) != 1:
        return False
    counted = ev.eval(call.args[0].value, frame).atoms
    return bool(counted) and all(isinstance(atom, SeqOf) and not atom.items for atom in counted)


def is_given_by_configured(atom: LibObject) -> bool:
    """Whether an object is the result of a method of an object that a configuration creates:
    `instantiate(cfg.dataset).held_out()`."""
    return bool(makes_configured(atom.name.rpartition(".")[0]))


def given_by_configured(ev: Evaluator, callers: Callers, atom: LibObject) -> Val | None:
    """The result of the method of this name in those datasets of the project that no known code creates; None if none
    of them has one."""
    method = atom.name.rpartition(".")[2]
    site = atom.site
    given: list[Val] = []
    for inst in _with_method(ev, callers, method):
        bound = ev.attribute(Val(frozenset({inst})), method, site.frame, None)
        given.append(ev.calls.call(bound, ev.calls.site_arguments(site), site.frame, site.expr, {})[0])
        if len(given) >= _MAX_CLASSES:
            break
    return join(given) if given else None


def _with_method(ev: Evaluator, callers: Callers, method: str) -> Iterator[Instance]:
    head = f"def {method}("
    for path in ev.files.containing(head):
        file = ev.file(path)
        for piece in file.mentioning(head) if file else ():
            parent = ev.names.class_around(file, piece) if file else None
            owner = ClassRef(path, parent, 1) if parent is not None else None
            for cls in (owner, *callers.subclasses(owner)) if owner is not None else ():
                if dataset_kind(ev, cls) is not None and not callers.are_made(cls):
                    yield Instance(cls, None)


def kept_elsewhere(ev: Evaluator, atom: LibObject) -> list[Instance]:
    """The datasets that the def passes to an unknown library, if a loader holds the result of a call of that library:
    `store.put("train", Train())`, then `store.get("train")`."""
    frame = atom.site.frame
    call = ev.expr(frame, atom.site.expr)
    if atom.name.partition(".")[0] in _KNOWN or not isinstance(call, ir.Call):
        return []
    passed = [call]
    func = ev.expr(frame, call.func)
    if isinstance(func, ir.Attr):
        base = ev.expr(frame, func.base)
        for _, other in frame.code.calls:
            callee = ev.expr(frame, other.func)
            if isinstance(callee, ir.Attr) and (callee.base == func.base or ev.expr(frame, callee.base) == base):
                passed.append(other)
    found = {
        inst: None
        for one in passed
        for arg in one.args
        for inst in ev.eval(arg.value, frame).only(Instance)
        if may_be_dataset(ev, inst.cls)
    }
    return list(found)
