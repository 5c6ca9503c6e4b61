"""Lists and dicts that grow after they are made: `steps.append(Crop())`, `options["num_workers"] = 4`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import MapOf, SeqOf, Val, join, unknown
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.project_files import MODULE, ProjectFile

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


def added_items(ev: Evaluator, method: str, call: ir.Call, frame: Frame) -> Iterator[Val]:
    """The items that a call of a list's `method` adds to it."""
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    if method in ("append", "add") and positional:
        yield ev.eval(positional[0], frame)
    elif method == "insert" and len(positional) > 1:
        yield ev.eval(positional[1], frame)
    elif method == "extend" and positional:
        for atom in ev.eval(positional[0], frame).only(SeqOf):
            if isinstance(atom, SeqOf):
                yield from atom.items


def appended(ev: Evaluator, number: int, frame: Frame) -> Iterator[Val]:
    """What the same def appends to the list that expression `number` made."""
    for _, step, call, name in frame.code.method_calls(number):
        if not ev.liveness.is_dead(step.context, frame):
            yield from added_items(ev, name, call, frame)


def with_later_items(ev: Evaluator, made: MapOf, frame: Frame, number: int) -> MapOf:
    """A dict with the items that the same def stores in it afterwards, by `[...] =`, `.update(...)` or
    `.setdefault(...)`."""
    pairs = list(zip(made.keys, made.values, strict=True))
    entries = {key: value for key, value in pairs if key is not None}
    rest = [value for key, value in pairs if key is None]
    for step in frame.code.fillings(number):
        for name, value in _stored_by(ev, step, frame, number):
            before = entries.get(name, unknown("not always stored"))
            entries[name] = value if step.context == 0 else join((before, value))
        for name, value in _defaulted_by(ev, step, frame, number):
            unsure = [unknown("not always stored")] if step.context or rest else []
            entries.setdefault(name, join((value, *unsure)))
    return MapOf((*entries, *[None] * len(rest)), (*entries.values(), *rest), made.site)


def _stored_by(ev: Evaluator, step: ir.Step, frame: Frame, number: int) -> list[tuple[str, Val]]:
    """The items that a step stores in the dict which expression `number` makes."""
    if isinstance(step, ir.SetItem) and step.base == number and not ev.liveness.is_dead(step.context, frame):
        key = ev.eval(step.index, frame).literal
        return [(key.value, ev.eval(step.value, frame))] if key and isinstance(key.value, str) else []
    call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(call, ir.Call) or ev.expr(frame, call.func) != ir.Attr(number, "update"):
        return []
    if ev.liveness.is_dead(step.context, frame):
        return []
    given = ev.calls.arguments(call, frame)
    maps = [atom for value in given.positional for atom in value.only(MapOf) if isinstance(atom, MapOf)]
    return [*either(maps), *given.keywords]


def _defaulted_by(ev: Evaluator, step: ir.Step, frame: Frame, number: int) -> list[tuple[str, Val]]:
    """What a step stores in the dict which expression `number` makes, if the dict does not have it."""
    call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(call, ir.Call) or ev.expr(frame, call.func) != ir.Attr(number, "setdefault"):
        return []
    if ev.liveness.is_dead(step.context, frame) or len(call.args) != 2:
        return []
    key = ev.eval(call.args[0].value, frame).literal
    return [(key.value, ev.eval(call.args[1].value, frame))] if key and isinstance(key.value, str) else []


def either(maps: list[MapOf]) -> list[tuple[str, Val]]:
    """The keywords that `**x` passes where `x` is one of several dicts; those that not all of them hold may be
    passed."""
    entries = [dict(zip(one.keys, one.values, strict=True)) for one in maps]
    names = dict.fromkeys(name for one in entries for name in one if name is not None)
    return [(name, join(one.get(name, unknown("not always passed")) for one in entries)) for name in names]


def filled_by_module(ev: Evaluator, file: ProjectFile, name: str, value: Val, before: int | None) -> Val:
    """A list or dict of the module with what later module-level code (before piece `before`) puts into it."""
    containers = [a for a in value.atoms if isinstance(a, MapOf) or (isinstance(a, SeqOf) and a.kind == "list")]
    if len(containers) != 1:
        return value
    grown = containers[0]
    for piece in file.all_asking(_puts_into, name, scope=MODULE):
        if before is not None and piece >= before:
            break
        body = ev.body(file.path, piece)
        grown = _with_items(ev, body, name, grown) if isinstance(grown, MapOf) else _longer(ev, body, name, grown)
    return Val((value.atoms - {containers[0]}) | {grown}, value.origins)


def _with_items(ev: Evaluator, body: Frame, name: str, grown: MapOf) -> MapOf:
    one = ev.def_of(body)
    if None in grown.keys or one is None:
        return grown
    entries = dict(zip(grown.keys, grown.values, strict=True))
    for step in one.steps:
        if isinstance(step, ir.SetItem) and ev.expr(body, step.base) == ir.Global(name):
            key = ev.eval(step.index, body).literal
            if key is not None and isinstance(key.value, str):
                entries[key.value] = ev.eval(step.value, body)
    return MapOf(tuple(entries), tuple(entries.values()), grown.site)


def _longer(ev: Evaluator, body: Frame, name: str, grown: SeqOf) -> SeqOf:
    for _, call in ev.performed(body):
        func = ev.expr(body, call.func)
        if isinstance(func, ir.Attr) and ev.expr(body, func.base) == ir.Global(name):
            grown = replace(grown, items=(*grown.items, *added_items(ev, func.name, call, body)))
    return grown


@needs_word
def _puts_into(text: str, name: str) -> bool:
    """Whether a module-level statement stores an item in `name` or calls a method of it."""
    return text.startswith((f"{name}[", f"{name}."), len(text) - len(text.lstrip()))
