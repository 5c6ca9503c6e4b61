"""The fix for a handle that its first use opens: `if self.file is None` also checks the process.

The test may stand around the call of the method that opens: `if self.file is None: self.open()`. What is opened beside
the handle that is asked for is opened again with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertMethod, InsertStatement, Intent, Replace
from loaderlint.knowledge.handles import OPENERS, HandleKind
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Instance, LibObject, Origin, def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.handle_accessor import can_be_reopened, getstate, reads_on, why_close_first
from loaderlint.rules.shared.held_handles import HandleRead, handle_kind, handles_read, is_own_attribute, opener
from loaderlint.rules.shared.plain_classes import has_plain_class

#: How many calls lie between the test and a use.
_MAX_CALLS = 4

_CLOSE_FIRST = """\
if {is_open}:{why}
    self.{name}.close()"""


class _Test(NamedTuple):
    """A test for the attribute of a handle: where it stands, its text, and whether it holds where the attribute is
    there."""

    frame: Frame
    number: int
    text: str
    asks_for_it: bool


def first_use_by_process(
    made: LibObject, kind: HandleKind, origins: frozenset[Origin], model: Model
) -> tuple[Fix, ...]:
    """Open the handle again in each process, where tests for its attribute are all that stands around the only
    assignment of it or around the calls of its method; none where a worker may use a handle past these tests."""
    kept = {(one.owner, one.path) for one in origins}
    owner, path = next(iter(kept)) if len(kept) == 1 else (None, ())
    if not isinstance(owner, Instance) or len(path) != 1 or not has_plain_class(owner.cls, model):
        return ()
    stores = model.ev.classes.stores(owner, path[0])
    opened = [store for store in stores if not store.value.is_none]
    first = [store for store in stores if store.value.is_none and store.construction]
    if len(opened) != 1 or opened[0].value.atoms != {made} or len(first) > 1:
        return ()
    tests = _tests(opened[0], path[0], model)
    cls = opened[0].frame.owner
    if cls is None or any(store.frame.owner != cls for store in first):
        return ()
    if not tests or not _opened_together(owner, opened[0], tests, model):
        return ()
    intents = _intents(path[0], first, opened[0], tests, model)
    closed = _closed_first(owner, model)
    state = getstate([path[0]], sorted(_attributes(owner, model) - {path[0]}))
    leaves_out = InsertMethod(model.class_place(cls), "__getstate__", state)
    return (Fix(f"Open the {kind.word} in each process", "safe", (*intents, *closed, leaves_out)),)


def _intents(
    name: str, first: Sequence[Store], opened: Store, tests: Sequence[_Test], model: Model
) -> Iterator[Intent]:
    pid = f"self._{name.lstrip('_')}_pid"
    for store in first:
        yield InsertStatement(model.step_place(store.frame, store.step), f"{pid} = None")
    for test in tests:
        more = f"and {pid} ==" if test.asks_for_it else f"or {pid} !="
        yield Replace(model.place(test.frame, test.number), f"{test.text} {more} {{os}}.getpid()")
    yield InsertStatement(model.step_place(opened.frame, opened.step), f"{pid} = {{os}}.getpid()")


def _closed_first(owner: Instance, model: Model) -> Iterator[Intent]:
    """Close each of the object's inherited handles that must be closed before it is opened again, with the reason
    once."""
    told: set[str] = set()
    for name in sorted(_attributes(owner, model)):
        stores = model.ev.classes.stores(owner, name)
        is_there = any(store.construction for store in stores)
        for store in stores:
            kinds = [OPENERS[atom.name] for atom in store.value.only(LibObject) if atom.name in OPENERS]
            kind = next((kind for kind in kinds if kind.fix == "close_first"), None)
            if kind is None:
                continue
            is_open = f"self.{name} is not None" if is_there else f'getattr(self, "{name}", None) is not None'
            lines = [] if kind.word in told else why_close_first(kind, " " * 4)
            told.add(kind.word)
            source = _CLOSE_FIRST.format(is_open=is_open, why="".join(f"\n{line}" for line in lines), name=name)
            yield InsertStatement(model.step_place(store.frame, store.step), source, "before")


# --- the tests --------------------------------------------------------------------------------------------------------


def _tests(opened: Store, name: str, model: Model) -> list[_Test]:
    """The tests for the attribute, directly around its assignment and around the calls of the method that does it; none
    where there is another way to it."""
    context = model.def_of(opened.frame).steps[opened.step].context
    here = _test_around(opened.frame, context, name, model)
    if context and here is None:
        return []
    found: dict[tuple[DefKey, int], _Test] = {}
    for caller, number in model.callers_of(opened.frame):
        test = _test_around(caller, caller.code.context_of(number), name, model)
        if test is None and here is None:
            return []
        if test is not None:
            found[def_key(caller), test.number] = test
    return [*([here] if here is not None else []), *found.values()]


def _test_around(frame: Frame, context: int, name: str, model: Model) -> _Test | None:
    """The test for the attribute that stands directly around a context in which it is not there."""
    here = model.def_of(frame).contexts[context]
    asked = _asked(here.expr, name, frame, model) if context and here.kind == "if" else None
    if asked is None or asked[1] != here.negated:
        return None
    return _Test(frame, here.expr, *asked)


def _asked(test: int, name: str, frame: Frame, model: Model) -> tuple[str, bool] | None:
    """The text of a test for attribute `name`, and whether it holds where that is there; None for any other test."""
    match model.ev.expr(frame, test):
        case ir.Compare(left, ("is" | "is not" as sign,), (right,)) if is_own_attribute(left, name, frame, model):
            is_none = model.ev.eval(right, frame).is_none
            return (f"self.{name} {sign} None", sign == "is not") if is_none else None
        case ir.Unary("not", operand):
            inner = _asked(operand, name, frame, model)
            return (f"not {inner[0]}", False) if inner and inner[1] and "None" not in inner[0] else None
        case ir.Attr() if is_own_attribute(test, name, frame, model):
            return f"self.{name}", True
        case ir.Call(func, (_, arg)) if model.ev.expr(frame, func) == ir.Global("hasattr"):
            if model.ev.expr(frame, arg.value) == ir.Const("str", name):
                file = model.files.file(frame.path)
                quote = "'" if file is not None and file.pieces[frame.piece].holds(f"'{name}'") else '"'
                return f"hasattr(self, {quote}{name}{quote})", True
    return None


# --- what is opened together ------------------------------------------------------------------------------------------


def _opened_together(owner: Instance, opened: Store, tests: Sequence[_Test], model: Model) -> bool:
    """Whether all handles of the object are opened for reading where this one is, and no worker uses one of them past
    the tests."""
    here = def_key(opened.frame)
    context = model.def_of(opened.frame).steps[opened.step].context
    for name in _attributes(owner, model):
        stores = [store for store in model.ev.classes.stores(owner, name) if not store.value.is_none]
        if not all(def_key(one.frame) == here and _context(one, model) == context for one in stores):
            return False
    reads = [(frame, read) for frame in model.reached for read in _reads_of(owner, frame, model)]
    handles = {opener(read.handle, model) for _, read in reads}
    if not all(def_key(one.site.frame) == here and _is_read_again(one, model) for one in handles):
        return False
    asking = {here, *(def_key(test.frame) for test in tests)}
    return all(_is_asked_before(frame, asking, model, 0) for frame, _ in reads)


def _is_read_again(made: LibObject, model: Model) -> bool:
    kind = handle_kind(made, model)
    return kind is not None and can_be_reopened(made, kind, model) and not reads_on(made, model)


def _context(store: Store, model: Model) -> int:
    return model.def_of(store.frame).steps[store.step].context


def _attributes(owner: Instance, model: Model) -> frozenset[str]:
    """The attributes of the object from which workers read a handle or a part of one."""
    reads = (read for frame in model.reached for read in _reads_of(owner, frame, model))
    origins = (origin for read in reads for origin in read.value.origins)
    return frozenset(origin.path[0] for origin in origins if origin.owner == owner and origin.path)


def _reads_of(owner: Instance, frame: Frame, model: Model) -> Iterator[HandleRead]:
    return (read for read in handles_read(frame, model) if any(origin.owner == owner for origin in read.value.origins))


def _is_asked_before(frame: Frame, asking: set[DefKey], model: Model, depth: int) -> bool:
    """Whether a frame gets the handle itself, calls a frame that does, or is only called by such frames."""
    called = (target for targets in model.ev.leads(frame).values() for target in targets)
    if not asking.isdisjoint({def_key(frame), *map(def_key, called)}):
        return True
    callers = model.callers_of(frame) if depth < _MAX_CALLS else ()
    return bool(callers) and all(_is_asked_before(caller, asking, model, depth + 1) for caller, _ in callers)
