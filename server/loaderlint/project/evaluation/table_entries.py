"""Tables of the module, that is, dicts of dicts, and what a loop over one stores in each of its dicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.name_patterns import built_from
from loaderlint.project.evaluation.values import ABSENT, MapOf, Val, join, of, present_or

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def with_filled_entries(
    ev: Evaluator, step: ir.Step, body: Frame, name: str, entries: dict[str, Val]
) -> dict[str, Val]:
    """The items of the dict `name` after a step of a loop over it has stored something in each item that is a dict:
    `for key in table: table[key].setdefault("size", None)`."""
    if not isinstance(step, ir.SetItem | ir.Perform):
        return entries
    call = ev.expr(body, step.call) if isinstance(step, ir.Perform) else None
    func = ev.expr(body, call.func) if isinstance(call, ir.Call) else None
    if isinstance(step, ir.SetItem):
        entry, key, given = step.base, step.index, step.value
    elif isinstance(func, ir.Attr) and isinstance(call, ir.Call) and func.name == "setdefault" and len(call.args) == 2:
        entry, (key, given) = func.base, (arg.value for arg in call.args)
    else:
        return entries
    if not _is_each_of(ev, entry, body, name):
        return entries
    names, value = built_from(ev, key, body), ev.eval(given, body)
    how = "default" if isinstance(step, ir.Perform) else _how_stored(ev, step, body)
    return {one: _with_entry_items(held, names, value, how) for one, held in entries.items()}


def _with_entry_items(held: Val, names: Iterable[str], value: Val, how: str) -> Val:
    """A dict with an item under each of some keys: 'always' the value, by 'default', or 'maybe'."""
    grown = set(held.atoms)
    for atom in held.only(MapOf):
        items = [(key, one) for key, one in zip(atom.keys, atom.values, strict=True)]
        known = {key: one for key, one in items if key is not None}
        for name in names:
            before = known.get(name, of(ABSENT))
            known[name] = {"always": value, "default": present_or(before, value)}.get(how) or join((before, value))
        rest = [one for key, one in items if key is None]
        grown.discard(atom)
        grown.add(replace(atom, keys=(*known, *[None] * len(rest)), values=(*known.values(), *rest)))
    return Val(frozenset(grown), held.origins)


def _is_each_of(ev: Evaluator, entry: int, body: Frame, name: str) -> bool:
    """Whether an expression is each item of the dict `name` in turn, in a loop over it."""
    e, table = ev.expr(body, entry), ir.Global(name)
    if isinstance(e, ir.Index) and ev.expr(body, e.base) == table:
        key = ev.expr(body, e.index)
        key = ev.expr(body, key.value) if isinstance(key, ir.Unpack) and key.index == 0 else key
        return isinstance(key, ir.Element) and _is_over(ev, key.iterable, body, table, ("keys", "items"))
    if isinstance(e, ir.Unpack) and e.index == 1:
        pair = ev.expr(body, e.value)
        return isinstance(pair, ir.Element) and _is_over(ev, pair.iterable, body, table, ("items",))
    return isinstance(e, ir.Element) and _is_over(ev, e.iterable, body, table, ("values",))


def _is_over(ev: Evaluator, iterable: int, body: Frame, table: ir.Global, methods: tuple[str, ...]) -> bool:
    e = ev.expr(body, iterable)
    func = ev.expr(body, e.func) if isinstance(e, ir.Call) and not e.args else None
    if isinstance(func, ir.Attr):
        return func.name in methods and ev.expr(body, func.base) == table
    return e == table and "keys" in methods


def _how_stored(ev: Evaluator, step: ir.SetItem, body: Frame) -> str:
    """When a step in loops stores its item: 'always', by 'default', that is, where the dict lacks it, or 'maybe'."""
    one = ev.def_of(body)
    tests = [here for here in one.around(step.context) if here.kind != "loop"] if one is not None else []
    if not tests:
        return "always"
    e = ev.expr(body, tests[0].expr) if len(tests) == 1 and tests[0].kind == "if" and not tests[0].negated else None
    if not isinstance(e, ir.Compare) or e.ops != ("not in",) or not _is_same_item(ev, e.left, step.index, body):
        return "maybe"
    asked = ev.expr(body, e.rights[0])
    func = ev.expr(body, asked.func) if isinstance(asked, ir.Call) and not asked.args else None
    held = func.base if isinstance(func, ir.Attr) and func.name == "keys" else e.rights[0]
    return "default" if _is_same_item(ev, held, step.base, body) else "maybe"


def _is_same_item(ev: Evaluator, one: int, other: int, body: Frame) -> bool:
    """Whether two expressions are the same variable, constant or item."""
    mine, yours = ev.expr(body, one), ev.expr(body, other)
    if isinstance(mine, ir.Index) and isinstance(yours, ir.Index):
        return _is_same_item(ev, mine.base, yours.base, body) and _is_same_item(ev, mine.index, yours.index, body)
    return mine == yours and isinstance(mine, ir.Const | ir.Element | ir.Global | ir.Unpack)
