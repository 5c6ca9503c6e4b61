"""Loaders that nothing iterates over: the code creates one and only looks at it, `print(len(loader))`.

Such a loader starts no workers. Its name is followed as far as it is in full sight: a local, or a name of the module
that no other file reads. So is what a function returns, alone, in a tuple or in a dict, if all calls of the function
are in sight: of these, those count that run the function with the arguments that this very loader has. What is passed
on, stored, yielded or read in any other way counts as used, but for what is passed to a call that does not accept its
arguments. What comes after a statement that always fails never happens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Lib, Site, def_key
from loaderlint.project.loaders.failing_code import FailingCode
from loaderlint.project.loaders.returned_values import Calling, calls_in_sight, calls_of
from loaderlint.project.modules.dependencies import holds, needs_word
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.syntax.notebook import SUFFIX

#: Functions that iterate over nothing.
_LOOKING = frozenset("len print isinstance type id repr str bool callable".split())
#: Methods of test cases of which the same is true.
_ASSERTING = frozenset("assertIsInstance assertIsNotNone assertIsNone assertTrue".split())
#: Attributes of a loader that start no workers.
_PLAIN = frozenset(
    """
    dataset batch_size num_workers sampler batch_sampler collate_fn pin_memory drop_last timeout worker_init_fn
    multiprocessing_context generator prefetch_factor persistent_workers pin_memory_device
    """.split()
)
#: A loader is followed to at most this many places, in at most this many tuples.
_MAX_PLACES = 64
_MAX_TUPLES = 4
#: Functions that see every name.
_SEE_ALL = frozenset({"locals", "globals", "vars", "exec", "eval"})
#: Words of code that looks up a name of a module by its text.
_LOOK_UP = ("getattr", "attrgetter", "__dict__", "modules")


#: For each tuple or dict around a loader, outermost first: its position and the length of the tuple, or its key and 0.
_Inside = tuple[tuple[int | str, int], ...]


class _Held(NamedTuple):
    """An expression whose value is the loader, or a tuple or dict that holds it at `inside`."""

    at: Calling
    inside: _Inside


class IdleLoaders:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator, callers: Callers, failing: FailingCode) -> None:
        self._ev = evaluator
        self._callers = callers
        self._failing = failing
        self._known: dict[tuple[Path, int, int, int], bool] = {}
        self._in_frame: dict[Site, bool] = {}
        self._calls: dict[DefKey, tuple[Calling, ...]] = {}

    def is_idle(self, made: Site) -> bool:
        """Whether nothing iterates over the loader that a call creates. False for a class of the project, whose
        constructor may do anything."""
        frame = made.frame
        key = (frame.path, frame.piece, frame.def_, made.expr)
        if key not in self._known:
            self._known[key] = self._is_only_looked_at(made)
        return (self._known[key] or self._is_idle_in_frame(made)) and self._is_of_library(made)

    def _is_idle_in_frame(self, made: Site) -> bool:
        """Whether nothing iterates over the loader of one frame, though something does over those that other calls of
        its function get: `_, test = loaders(collate)`."""
        if made not in self._in_frame:
            calls = self._calls_in_sight(def_key(made.frame)) if _returns_a_value(made.frame) else ()
            here = [call for call in calls if self._may_lead_to(made.frame, call)]
            calls_itself = any(call[:3] == def_key(made.frame) for call in calls)
            unsure = calls_itself or any(call.path.suffix == SUFFIX for call in here)
            apart = 0 < len(here) < len(calls) and not unsure
            self._in_frame[made] = apart and self._is_only_looked_at(made, here)
        return self._in_frame[made]

    def _calls_in_sight(self, function: DefKey) -> tuple[Calling, ...]:
        if function not in self._calls:
            self._calls[function] = calls_in_sight(self._ev, function)
        return self._calls[function]

    def _may_lead_to(self, frame: Frame, call: Calling) -> bool:
        """Whether a call may run a function in this frame, as far as its targets are known."""
        around = self._callers.frames(call.path, call.piece, call.def_)
        targets = {target for one in around for target in self._ev.targets(call.expr, one)}
        return not targets or frame in targets

    def _is_of_library(self, made: Site) -> bool:
        call = self._ev.expr(made.frame, made.expr)
        callee = self._ev.eval(call.func, made.frame).atoms if isinstance(call, ir.Call) else ()
        return bool(callee) and all(isinstance(atom, Lib) for atom in callee)

    def _is_only_looked_at(self, made: Site, calls: Sequence[Calling] | None = None) -> bool:
        """Whether all that becomes of a loader is known, also after functions have returned it, and nothing iterates
        over it. `calls`: those of its own function that count; all of them by default."""
        waiting = [_Held(Calling(*def_key(made.frame), made.expr), ())]
        seen: set[_Held] = set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            if len(seen) >= _MAX_PLACES or len(one.inside) > _MAX_TUPLES:
                return False
            seen.add(one)
            further = self._further(one, calls if one.at[:3] == def_key(made.frame) else None)
            if further is None:
                return False
            waiting += further
        return True

    def _further(self, held: _Held, only: Sequence[Calling] | None) -> list[_Held] | None:
        """Where the loader is next: the tuples and dicts that it is put in, the items that are taken, the calls that
        return it (`only` these, if they are given). None if the def may do anything else with it than look at it."""
        path, piece, def_, expr = held.at
        facts, file = self._ev.facts(path, piece), self._ev.file(path)
        one = facts.ir.defs[def_] if facts is not None else None
        if facts is None or one is None or file is None or one.kind not in ("body", "function", "async_function"):
            return None
        same = with_phis({expr}, facts.ir.exprs)
        binds = [step for step in one.steps if isinstance(step, ir.Bind) and step.value in same]
        names = {step.name for step in binds}
        if any(step.scope != "local" for step in binds):
            return None
        if any((isinstance(e, ir.Capture) and e.name in names) or sees_all(e) for e in facts.ir.exprs):
            return None
        if one.kind == "body" and any(self._may_be_read(name, file, piece) for name in names):
            return None
        moved = {
            number: inside
            for number, e in enumerate(facts.ir.exprs)
            if number not in same and (inside := _moved(e, same, held.inside, facts.ir.exprs)) is not None
        }
        if self._is_used(path, piece, same, frozenset(moved), returned_by=def_):
            return None
        further = [_Held(held.at._replace(expr=number), inside) for number, ways in moved.items() for inside in ways]
        before = self._failing.steps_before((path, piece, def_))
        if not any(isinstance(step, ir.Return) and step.value in same for step in before):
            return further
        calls = calls_of(self._ev, (path, piece, def_)) if only is None else only
        return [*further, *(_Held(call, held.inside) for call in calls)] if calls else None

    # --- names at module level ----------------------------------------------------------------------------------------

    def _may_be_read(self, name: str, file: ProjectFile, piece: int) -> bool:
        """Whether code may iterate over what a name at module level is bound to. Which binding a read sees is not
        asked."""
        if self._ev.names.class_around(file, piece) is not None:
            return True  # a member of a class
        reading = (number for number in file.mentioning(name) if not self._failing.cuts_off(file.path, number))
        by_text = any(file.all_asking(holds, word) for word in _LOOK_UP)
        if any(self._reads(name, file.path, number, by_text=by_text) for number in reading):
            return True
        return may_be_imported(self._ev, name, file.path)

    def _reads(self, name: str, path: Path, piece: int, *, by_text: bool) -> bool:
        """Whether a piece does anything with what a name is bound to. `by_text`: the module may look up a name by its
        text."""
        facts = self._ev.facts(path, piece)
        if facts is None:
            return True
        exprs = facts.ir.exprs
        if any(sees_all(e) for e in exprs) or (by_text and _names(facts, name)):
            return True
        reads = {place for place, e in enumerate(exprs) if type(e) is ir.Global and e.name == name}
        same = with_phis(reads, exprs)
        is_bound = any(isinstance(step, ir.Bind) and step.value in same for one in facts.ir.defs for step in one.steps)
        return bool(reads) and (is_bound or self._is_used(path, piece, same))

    # --- what is done with a value ------------------------------------------------------------------------------------

    def _is_used(
        self, path: Path, piece: int, same: Set[int], moved: Set[int] = frozenset(), returned_by: int = NONE
    ) -> bool:
        """Whether a piece does anything with the value that some expressions are, except for binding it to a name,
        looking at it and passing it to a call that fails. The expressions `moved`, and what def `returned_by` returns,
        are followed elsewhere."""
        facts = self._ev.facts(path, piece)
        if facts is None:
            return True
        for number, one in enumerate(facts.ir.defs):
            followed = ir.Return if number == returned_by else ir.Bind
            steps = tuple(self._failing.steps_before((path, piece, number)))
            if not same.isdisjoint(_handed_on(one, steps, followed)):
                return True
        file = self._ev.file(path)
        evaluated = self._failing.evaluated(path, piece)
        rest = (facts.ir.exprs[place] for place in evaluated if place not in same and place not in moved)
        reading = (e for e in rest if not same.isdisjoint(ir.operands(e)))
        doing = [e for e in reading if not only_looks(e, same, facts.ir.exprs, file)]
        return not all(isinstance(e, ir.Call) and self._failing.is_refused(e, path, piece) for e in doing)


def may_be_imported(ev: Evaluator, name: str, module: Path) -> bool:
    """Whether another file may read a name of a module."""
    return any(path != module and _may_import(ev, name, module, path) for path in ev.files.containing(name))


def _may_import(ev: Evaluator, name: str, module: Path, other: Path) -> bool:
    file = ev.file(other)
    if file is None or any(file.asking(_may_name, name)):
        return True
    return any(star.module.rpartition(".")[2] in (module.stem, module.parent.name, "") for star in file.stars)


def only_looks(e: ir.Expr, same: Set[int], exprs: tuple[ir.Expr, ...], file: ProjectFile | None) -> bool:
    """Whether an expression of a file with an operand that is the loader only looks at it."""
    match e:
        case ir.Text() | ir.Unary("not", _):
            return True
        case ir.Compare(_, ops, _):
            return ops in (("is",), ("is not",), ("==",), ("!=",))
        case ir.IfExp(_, then, other):
            return same.isdisjoint((then, other))
        case ir.Attr(_, name):
            return name in _PLAIN
        case ir.Call(func, args) if func not in same and all(arg.kind in ("pos", "kw") for arg in args):
            callee = exprs[func]
            is_builtin = type(callee) is ir.Global and callee.name in _LOOKING and _is_builtin(callee.name, file)
            return is_builtin or (isinstance(callee, ir.Attr) and callee.name in _ASSERTING)
    return False


def _is_builtin(name: str, file: ProjectFile | None) -> bool:
    """Whether a module has no function of its own of a builtin's name."""
    return file is not None and not file.names.get(name)


def with_phis(numbers: Set[int], exprs: tuple[ir.Expr, ...]) -> set[int]:
    """Some expressions, and the reads of locals that may be one of them."""
    found = set(numbers)
    phis = [(place, e) for place, e in enumerate(exprs) if type(e) is ir.Phi]
    before = -1
    while len(found) > before:
        before = len(found)
        found.update(place for place, phi in phis if not found.isdisjoint(phi.choices))
    return found


def _moved(e: ir.Expr, same: Set[int], inside: _Inside, exprs: tuple[ir.Expr, ...]) -> tuple[_Inside, ...] | None:
    """Where the loader is in the value of an expression, once for each place, if it puts the loader, or what holds it,
    in a tuple or dict, chooses it, or takes an item; None for any other expression."""
    match e:
        case ir.Seq("tuple", items) if not same.isdisjoint(items):
            if any(isinstance(exprs[item], ir.Star) for item in items):
                return None
            return tuple(((place, len(items)), *inside) for place, item in enumerate(items) if item in same)
        case ir.Map(_, values) if not same.isdisjoint(values):
            keys = [key for key in map(partial(_text, exprs), e.keys) if key is not None]
            if len(keys) < len(values):
                return None
            return tuple(((key, 0), *inside) for key, value in zip(keys, values, strict=True) if value in same)
        case ir.IfExp(test, then, other) if test not in same and not same.isdisjoint((then, other)):
            return (inside,)
        case ir.Unpack(value, index, False) if value in same and inside:
            return _item(index, inside)
        case ir.Index(base, index) if base in same and inside and index not in same:
            key = exprs[index]
            return _item(key.value, inside) if isinstance(key, ir.Const) and isinstance(key.value, int | str) else None
    return None


def _text(exprs: tuple[ir.Expr, ...], number: int) -> str | None:
    """The text that an expression is, if it is a constant."""
    e = exprs[number] if number != NONE else None
    return e.value if isinstance(e, ir.Const) and isinstance(e.value, str) else None


def _item(key: int | str, inside: _Inside) -> tuple[_Inside, ...]:
    """Where the loader is in an item of a tuple or dict: nowhere, if it is another item."""
    (place, length), *rest = inside
    places = (place, place - length) if isinstance(place, int) else (place,)
    return (tuple(rest),) if key in places else ()


def _handed_on(one: ir.DefIR, steps: Iterable[ir.Step], followed: type[ir.Step]) -> Iterator[int]:
    """The expressions that a def iterates over, stores, gives away or enters in some of its steps, except for those
    that are followed."""
    for step in steps:
        if not isinstance(step, ir.Bind | ir.Perform | ir.Evaluate | ir.Test | ir.Delete | followed):
            yield from ir.step_expressions(step)
    yield from (here.expr for here in one.contexts if here.kind not in ("if", "while", "loop", "with"))
    yield from (*one.decorators, *one.bases, *(value for _, value in one.keywords))
    yield from (param.default for param in one.params)


def sees_all(e: ir.Expr) -> bool:
    """Whether an expression names a function that may read any name."""
    return type(e) is ir.Global and e.name in _SEE_ALL


def _names(facts: PieceFacts, name: str) -> bool:
    """Whether a piece has a text that is a name, for something else than a key or a comparison: `getattr(module, name)`
    may read what the name is bound to."""
    exprs = facts.ir.exprs
    texts = {number for number, e in enumerate(exprs) if e == ir.Const("str", name)}
    if not texts:
        return False
    used = {number for e in exprs if not isinstance(e, ir.Index | ir.Map | ir.Compare) for number in ir.operands(e)}
    used.update(number for one in facts.ir.defs for step in one.steps for number in ir.step_expressions(step))
    return not texts.isdisjoint(used)


@needs_word
def _may_name(text: str, name: str) -> bool:
    """Whether a piece may import a name from another module, or read it as an attribute of one."""
    named = re.escape(name)
    imported = rf"\bimport\b(?:(?:[^\n\\]|\\.)*|\s*\([^)]*)\b{named}\b"
    return re.search(rf"{imported}|(?<!\bself)\.{named}\b|[\"'.]{named}[\"']", text, re.DOTALL) is not None


def _returns_a_value(frame: Frame) -> bool:
    """Whether a function returns something, which may hold a loader."""
    return frame.def_ != 0 and any(step.value != NONE for _, step in frame.code.steps_of(ir.Return))
