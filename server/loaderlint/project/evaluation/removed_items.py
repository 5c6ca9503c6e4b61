"""Items that are removed from a dict before it is used: `options.pop("shuffle")`, `del self.options["shuffle"]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Literal_, MapOf, SeqOf, Val, is_absent, maybe

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


class Removed(NamedTuple):
    """The keys that a dict does not have any more: on every path, and on some paths."""

    gone: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()

    def left(self, name: str, value: Val) -> Val | None:
        """What is left of an item; None if nothing."""
        if name in self.gone or is_absent(value):
            return None
        return maybe(value) if name in self.unsure else value


_NOTHING = Removed()


def without_removed(ev: Evaluator, value: Val, number: int, use: int | ir.Call, frame: Frame) -> Val:
    """What expression `number` is where a call or another expression uses it: dicts have lost the items that the same
    def, or the constructor of its object, removes before."""
    return left_of(removed_before(ev, number, use, frame), value) if value.has(MapOf) else value


def stored_without_removed(ev: Evaluator, step: ir.SetAttr, number: int, frame: Frame) -> Val:
    """What step `number` stores in an attribute, without the items that the def removes before from a dict."""
    value = ev.eval(step.value, frame)
    return left_of(_removed(ev, {step.value}, frame, number), value) if value.has(MapOf) else value


def left_of(removed: Removed, value: Val) -> Val:
    """A value whose dicts have lost some keys."""
    if removed == _NOTHING:
        return value
    left = (_left(removed, atom) if isinstance(atom, MapOf) else atom for atom in value.atoms)
    return Val(frozenset(left), value.origins)


def _left(removed: Removed, atom: MapOf) -> MapOf:
    pairs = zip(atom.keys, atom.values, strict=True)
    kept = [(key, value if key is None else removed.left(key, value)) for key, value in pairs]
    known = [(key, value) for key, value in kept if value is not None]
    return replace(atom, keys=tuple(key for key, _ in known), values=tuple(value for _, value in known))


def removed_before(ev: Evaluator, made: int, use: int | ir.Call, frame: Frame) -> Removed:
    """The keys that are removed from the dict that expression `made` is before a call or another expression uses it: by
    the same def, or, from an attribute of an object, by its constructor."""
    if not frame.code.removes and not isinstance(frame.receiver, Instance):
        return _NOTHING
    at = frame.code.performed_by(use) if isinstance(use, ir.Call) else frame.code.evaluated_by(use)
    return removed_from(ev, made, frame, at) if at is not None else _NOTHING


def removed_from(ev: Evaluator, made: int, frame: Frame, at: int) -> Removed:
    """The keys that are removed from the dict that expression `made` is before step `at` of the def."""
    e = frame.code.exprs[made] if made != ir.NONE else None
    if not isinstance(e, ir.Attr) or not ir.is_self(frame.code.exprs[e.base]):
        return _removed(ev, {made}, frame, at)
    found = [_removed(ev, _reads(e.name, frame), frame, at)]
    if isinstance(frame.receiver, Instance):
        found += _by_constructor(ev, frame.receiver, e.name, frame)
    gone = frozenset(name for one in found for name in one.gone)
    return Removed(gone, frozenset(name for one in found for name in one.unsure) - gone)


def _by_constructor(ev: Evaluator, inst: Instance, name: str, frame: Frame) -> Iterator[Removed]:
    """What the constructor removes from the dict in an attribute. If another method may store another dict there, it
    may have the items."""
    constructing = ev.classes.construction(inst)
    if frame in constructing:
        return
    for one in constructing:
        stored = {step.value for _, step in one.code.stores_of(name)}
        found = _removed(ev, _reads(name, one) | stored, one)
        if found == _NOTHING:
            continue
        replaced = any(not store.construction for store in ev.classes.stores(inst, name))
        yield Removed(frozenset(), found.gone | found.unsure) if replaced else found


def _reads(name: str, frame: Frame) -> set[int]:
    """The expressions of a method that read an attribute of its object."""
    return {number for number, base in frame.code.attributes(name) if ir.is_self(frame.code.exprs[base])}


def _removed(ev: Evaluator, dicts: Set[int], frame: Frame, at: int | None = None) -> Removed:
    """The keys that the def removes, before step `at` or its end, from the dict that each of some expressions is. A key
    that is stored again is not removed."""
    one = frame.code.one
    removals = sorted(removal for number in dicts for removal in frame.code.removals(number))
    if not removals or one is None:
        return _NOTHING
    here = one.steps[at].context if at is not None else 0
    at = len(one.steps) if at is None else at
    contexts: dict[str, set[int]] = {}
    for number, context, key in removals:
        if number > at or ev.liveness.is_dead(context, frame) or is_apart(one, context, here, number):
            continue
        for name, around in _keys(ev, dicts, key, context, frame):
            contexts.setdefault(name, set()).add(around)
    restored: set[str] = set()
    for number, step in frame.code.steps_of(ir.SetItem):
        names = _texts(ev.eval(step.index, frame)) if removals[0][0] < number < at and step.base in dicts else []
        if _is_passed(one, {step.context}, here):
            contexts = {name: around for name, around in contexts.items() if name not in names}
        else:
            restored.update(names)
    gone = {name for name, around in contexts.items() if name not in restored and _is_passed(one, around, here)}
    return Removed(frozenset(gone), frozenset(contexts.keys() - gone))


def _is_passed(one: ir.DefIR, contexts: Set[int], here: int) -> bool:
    """Whether a run that reaches a context has passed one of several."""
    return any(one.is_within(here, context) for context in contexts) or one.always_passes(contexts)


def is_apart(one: ir.DefIR, context: int, here: int, number: int) -> bool:
    """Whether a run that has passed step `number` in a context does not reach another context: it is the other branch,
    or the first one returns or raises."""
    passed = set(one.enclosing(context))
    others = {one.contexts[outer] for outer in one.enclosing(here)}
    if any(one.contexts[outer]._replace(negated=not one.contexts[outer].negated) in others for outer in passed):
        return True
    later = one.steps[number:]
    ends = {step.context for step in later if isinstance(step, ir.Return | ir.Raise) and step.context in passed}
    return any(not one.is_within(here, end) and not _is_left_by_exception(one, end, here) for end in ends)


def _is_left_by_exception(one: ir.DefIR, end: int, here: int) -> bool:
    """Whether a run that would end in a context, by `return` or `raise`, may raise before, so that an `except` clause
    leads to another context."""
    blocks = (n for n in one.enclosing(end) if one.contexts[n].kind == "try" and not one.is_within(here, n))
    clauses = (clause for block in blocks for clause in one.handlers(block))
    return any(one.is_within(here, clause) or not _always_ends(one, clause) for clause in clauses)


def _always_ends(one: ir.DefIR, context: int) -> bool:
    return any(isinstance(step, ir.Return | ir.Raise) and step.context == context for step in one.steps)


def _keys(ev: Evaluator, dicts: Set[int], key: int, context: int, frame: Frame) -> Iterator[tuple[str, int]]:
    """The keys that a removal removes, each with the context around what certainly removes it: a test whether the dict
    has the key, or one that always holds, decides nothing, and a loop over constants removes them all."""
    one = frame.code.one
    assert one is not None
    names = _texts(ev.eval(key, frame))
    looped = _loop_over(key, frame)
    if looped is not None:
        names = _all_texts(ev.eval(one.contexts[looped].expr, frame).only(SeqOf))
    while context and (context == looped or _decides_nothing(ev, dicts, key, context, frame)):
        context = one.contexts[context].parent
    for name in names:
        yield name, context


def _loop_over(key: int, frame: Frame) -> int | None:
    """The loop whose variable a key is."""
    e, one = frame.code.exprs[key], frame.code.one
    if not isinstance(e, ir.Element) or one is None:
        return None
    return next((n for n, c in enumerate(one.contexts) if c.kind == "loop" and c.expr == e.iterable), None)


def _decides_nothing(ev: Evaluator, dicts: Set[int], key: int, context: int, frame: Frame) -> bool:
    one, exprs = frame.code.one, frame.code.exprs
    here = one.contexts[context] if one is not None else None
    if one is None or here is None or ev.liveness.always_runs(context, here.parent, frame):
        return True
    test = exprs[here.expr] if here.kind == "if" and not here.negated and here.expr != ir.NONE else None
    if not isinstance(test, ir.Compare) or test.ops != ("in",):
        return False
    return test.rights[0] in dicts and (test.left == key or exprs[test.left] == exprs[key])


def _texts(value: Val) -> list[str]:
    """The constant text that a value is, in a list; empty if it is not known."""
    literal = value.literal
    return [literal.value] if literal is not None and isinstance(literal.value, str) else []


def _all_texts(sequences: Iterable[SeqOf]) -> list[str]:
    atoms = [atom for one in sequences for item in one.items for atom in item.atoms if isinstance(atom, Literal_)]
    return [atom.value for atom in atoms if isinstance(atom.value, str)]
