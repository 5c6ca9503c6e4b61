"""Lists and dicts that grow after they are made: `steps.append(Crop())`, `options["num_workers"] = 4`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.arrays import ARRAY_MAKERS
from loaderlint.knowledge.plain_records import TEXT_LOADERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.function_registries import registering_frames
from loaderlint.project.evaluation.item_places import mixed, moves_items
from loaderlint.project.evaluation.name_patterns import built_from, templates_of
from loaderlint.project.evaluation.removed_items import without_removed
from loaderlint.project.evaluation.table_entries import with_filled_entries
from loaderlint.project.evaluation.values import (
    ABSENT,
    ANY_TEXT,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    LibObject,
    Literal_,
    MapOf,
    Origin,
    SeqOf,
    Site,
    Templates,
    Val,
    extended,
    join,
    maybe,
    of,
    present_or,
    unknown,
)
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.project_files import MODULE, ProjectFile

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The number of items under unknown keys that are distinguished.
_MAX_ITEMS = 16


def added_items(ev: Evaluator, method: str, call: ir.Call, frame: Frame) -> Iterator[Val]:
    """The items that a call of a list's `method` adds to it."""
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    if method in ("append", "add") and positional:
        yield ev.eval(positional[0], frame)
    elif method == "insert" and len(positional) > 1:
        yield ev.eval(positional[1], frame)
    elif method == "extend" and positional:
        for atom in ev.eval(positional[0], frame).only(SeqOf):
            yield from atom.items


def appended(ev: Evaluator, number: int, frame: Frame) -> Iterator[Val]:
    """What the same def, or a function that it passes the list to, appends to the list that expression `number`
    creates."""
    yield from _appended_in(ev, number, frame)
    for passing in given_to(ev, frame, number):
        given = ev.file(passing.function.path)
        if given is not None and given.pieces[passing.function.piece].ask(_may_append):
            for opened, place in as_parameter(ev, passing, number):
                yield from _appended_in(ev, place, opened)


def _appended_in(ev: Evaluator, number: int, frame: Frame) -> Iterator[Val]:
    for _, step, call, name in frame.code.method_calls(number):
        if not ev.liveness.is_dead(step.context, frame):
            yield from added_items(ev, name, call, frame)


def with_replaced_items(ev: Evaluator, items: tuple[Val, ...], number: int, frame: Frame) -> tuple[Val, ...]:
    """The items of the list that expression `number` creates, or what the same def stores at their places. What it
    makes of the item there, such as `images[0] = turn(images[0])`, is left out: it depends on itself."""
    for step in frame.code.fillings(number):
        if isinstance(step, ir.SetItem) and not ev.liveness.is_dead(step.context, frame):
            if not _reads_item(step.value, frame, lambda base: frame.code.may_be(base, number)):
                items = _with_replaced(ev, items, step, frame)
    return items


def _reads_item(value: int, frame: Frame, is_list: Callable[[int], bool]) -> bool:
    """Whether an expression is made of an item of a list. `is_list`: whether another expression is that list."""
    exprs = frame.code.exprs
    parts = (exprs[part] for part in ir.made_of(exprs, [value]))
    return any(isinstance(part, ir.Index) and is_list(part.base) for part in parts)


def _with_replaced(ev: Evaluator, items: tuple[Val, ...], step: ir.SetItem, frame: Frame) -> tuple[Val, ...]:
    """The items of a list, or what a step stores there. At a place that is not known, it may replace each of them."""
    if frame.code.has_slice(step.index):
        return items
    value, literal = ev.eval(step.value, frame), ev.eval(step.index, frame).literal
    place = literal.value if literal is not None else None
    if not isinstance(place, int) or not -len(items) <= place < len(items):
        return tuple(join((item, value)) for item in items)
    at = place % len(items)
    return (*items[:at], join((items[at], value)), *items[at + 1 :])


def _may_append(text: str) -> bool:
    """Whether a text may add an item to a list."""
    return ".append(" in text or ".extend(" in text or ".insert(" in text


def shallow_copy(ev: Evaluator, value: Val, frame: Frame, number: int, plain: Set[str] = TEXT_LOADERS) -> Val:
    """A copy of a value by `x.copy()` or `copy.copy(x)`: a new list or dict with the same items, and whatever else the
    value may be. `plain`: the library calls whose results are known to be lists or dicts here, and not arrays."""
    inside = extended(value.origins, "[]", "element")
    return Val(frozenset(_copy_of(ev, atom, inside, Site(frame, number), plain) for atom in value.atoms))


def copied_items(ev: Evaluator, e: ir.Comp, frame: Frame, number: int) -> MapOf | None:
    """The dict that `{name: value for name, value in options.items()}` makes of one that is known; None for any other
    comprehension. A condition may leave items out; `if value is not None` only those that are None."""
    call = ev.expr(frame, e.iterables[0]) if len(e.iterables) == 1 else None
    func = ev.expr(frame, call.func) if isinstance(call, ir.Call) and not call.args else None
    if not isinstance(func, ir.Attr) or func.name != "items":
        return None
    key, item = (ev.expr(frame, one) for one in (e.key, e.element))
    if not isinstance(key, ir.Unpack) or not isinstance(item, ir.Unpack) or (key.index, item.index) != (0, 1):
        return None
    pair = ev.expr(frame, item.value)
    if key.value != item.value or not isinstance(pair, ir.Element) or pair.iterable != e.iterables[0]:
        return None
    base = without_removed(ev, ev.eval(func.base, frame), func.base, number, frame)
    (copied,) = base.atoms if len(base.atoms) == 1 else (None,)
    if not isinstance(copied, MapOf):
        return None
    found = _holding(copied, extended(base.origins, "[]", "element"), Site(frame, number))
    assert isinstance(found, MapOf)
    return _without_left_out(ev, found, e, frame)


def _without_left_out(ev: Evaluator, copied: MapOf, e: ir.Comp, frame: Frame) -> MapOf:
    """A copy without the items that the conditions of a comprehension leave out."""
    pairs = list(zip(copied.keys, copied.values, strict=True))
    tests = (part for test in _conditions(e.iterables[0], frame) for part in _all_of(ev, test, frame))
    for test in tests:
        match ev.expr(frame, test):
            case ir.Compare(left, ("is not",), (right,)) if _is_same(ev, left, e.element, frame):
                if ev.eval(right, frame).is_none:
                    pairs = [(key, value) for key, value in pairs if not value.is_none]
                    continue
            case ir.Compare(left, ("!=" | "==" | "in" | "not in" as op,), (right,)) if _is_same(ev, left, e.key, frame):
                names = _texts_in(ev.eval(right, frame), op in ("in", "not in"))
                if names is not None:
                    keeps = op in ("==", "in")
                    pairs = [(key, value) for key, value in pairs if key is None or (key in names) is keeps]
                    continue
        pairs = [(key, maybe(value)) for key, value in pairs]
    return replace(copied, keys=tuple(key for key, _ in pairs), values=tuple(value for _, value in pairs))


def _all_of(ev: Evaluator, test: int, frame: Frame) -> list[int]:
    """The conditions that hold where a test is true: both sides of `and`."""
    match ev.expr(frame, test):
        case ir.BoolOp("and", left, right):
            return [*_all_of(ev, left, frame), *_all_of(ev, right, frame)]
    return [test]


def _texts_in(value: Val, is_container: bool) -> set[str] | None:
    """The constant texts that a list, tuple, set or dict holds, or the one that a value is; None if they are not
    known."""
    (atom,) = value.atoms if len(value.atoms) == 1 else (None,)
    if not is_container:
        return {atom.value} if isinstance(atom, Literal_) and isinstance(atom.value, str) else None
    if not isinstance(atom, SeqOf):
        return None
    texts = [item.literal.value if item.literal is not None else None for item in atom.items]
    return {text for text in texts if isinstance(text, str)} if all(isinstance(text, str) for text in texts) else None


def _is_same(ev: Evaluator, one: int, other: int, frame: Frame) -> bool:
    """Whether two expressions are the same loop variable."""
    return one == other or ev.expr(frame, one) == ev.expr(frame, other)


def _conditions(iterable: int, frame: Frame) -> Iterator[int]:
    """The conditions of a comprehension over an expression."""
    one = frame.code.one
    for _, step in frame.code.steps_of(ir.Test):
        if one and any(one.contexts[loop].expr == iterable for loop in one.loops_around(step.context)):
            yield step.expr


def is_plain(atom: Atom, plain: Set[str] = TEXT_LOADERS) -> bool:
    """Whether something is a list or dict, judging by how it was made."""
    return isinstance(atom, MapOf | SeqOf) or (isinstance(atom, LibObject) and atom.name.rstrip("[]") in plain)


def _copy_of(ev: Evaluator, atom: Atom, inside: frozenset[Origin], made: Site, plain: Set[str]) -> Atom:
    if not is_plain(atom, plain):
        return atom
    return _filled_later(ev, _holding(atom, inside, made) if inside else atom, made.frame, made.expr)


def _holding(atom: Atom, inside: frozenset[Origin], made: Site) -> Atom:
    """A new list or dict, created at a place, with the items of another, which are stored there."""
    match atom:
        case SeqOf(kind, items, site):
            return SeqOf(kind, tuple(Val(one.atoms, one.origins | inside) for one in items), site)
        case MapOf(keys, values, _, options, built):
            held = tuple(Val(one.atoms, one.origins | inside) for one in values)
            return MapOf(keys, held, made, options, built)
        case LibObject(name, _):
            item = LibObject(name if name.endswith("[]") else f"{name}[]", made)
            return MapOf((None,), (Val(frozenset({item}), inside),), made)
    return atom


def filled_later(ev: Evaluator, copied: Val, frame: Frame, number: int) -> Val:
    """The lists and dicts that expression `number` copies, with what the same def puts into the copy afterwards."""
    return Val(frozenset(_filled_later(ev, atom, frame, number) for atom in copied.atoms), copied.origins)


def _filled_later(ev: Evaluator, atom: Atom, frame: Frame, number: int) -> Atom:
    match atom:
        case MapOf():
            return with_later_items(ev, atom, frame, number)
        case SeqOf("list", items):
            return replace(atom, items=(*items, *appended(ev, number, frame)))
    return atom


def with_later_items(ev: Evaluator, made: MapOf, frame: Frame, number: int) -> MapOf:
    """A dict with the items that the same def stores in it afterwards, by `[...] =`, `.update(...)` or
    `.setdefault(...)`, or a function that it passes the dict to."""
    steps = frame.code.fillings(number)
    grown = filled_by(ev, made, frame, number, steps, lambda context: ev.liveness.always_runs(context, 0, frame))
    if steps:
        frame.unfilled.setdefault(number, {})[grown] = made
    return grown


def filled_by(
    ev: Evaluator,
    made: MapOf,
    frame: Frame,
    number: int,
    steps: Sequence[ir.SetItem | ir.Perform],
    is_sure: Callable[[int], bool],
) -> MapOf:
    """The dict that expression `number` makes, with the items that some steps and the functions that get it store in
    it. `is_sure`: whether the steps of a context always run."""
    pairs = list(zip(made.keys, made.values, strict=True))
    entries = {key: value for key, value in pairs if key is not None}
    rest = [value for key, value in pairs if key is None]
    built = [*made.built] or [ANY_TEXT] * len(rest)
    stored: dict[str, dict[int, Val]] = {}
    for step in steps:
        if _replaces_each(step, number, frame):
            value = ev.eval(step.value, frame)
            entries, rest, stored = dict.fromkeys(entries, value), [value] * len(rest), {}
            continue
        if _changes_array(ev, step, entries, frame):
            continue
        for name, value in _stored_by(ev, step, frame):
            if name is None:
                rest.append(value)
                built.append(_built_key(ev, step, frame))
            else:
                before, branches = entries.get(name, of(ABSENT)), stored.setdefault(name, {})
                value = present_or(value, before)
                if is_sure(step.context):
                    branches.clear()
                    entries[name] = value
                else:
                    branches[step.context] = value
                    entries[name] = _after_branch(before, branches, value, frame)
        for name, value in _defaulted_by(ev, step, frame):
            if name is None:
                rest.append(value)
                built.append(_built_key(ev, step, frame))
                continue
            always = is_sure(step.context) and not rest
            added = value if always else maybe(value)
            entries[name] = present_or(entries[name], added) if name in entries else added
    keys, values = (*entries, *[None] * len(rest)), (*entries.values(), *rest)
    grown = MapOf(keys, values, made.site, made.options, tuple(built))
    return with_stored(grown, list(_filled_elsewhere(ev, frame, number)))


def _changes_array(
    ev: Evaluator, step: ir.SetItem | ir.Perform, entries: Mapping[str, Val], frame: Frame
) -> TypeGuard[ir.SetItem]:
    """Whether a step changes an array or list that the dict holds in its place, so that it still holds the same one:
    `sample["boxes"] *= 2`."""
    if not isinstance(step, ir.SetItem) or not isinstance(frame.code.exprs[step.value], ir.Augmented):
        return False
    key = ev.eval(step.index, frame).literal
    held = entries.get(key.value) if key is not None and isinstance(key.value, str) else None
    return held is not None and bool(held.atoms) and all(map(_is_array, held.atoms))


def _is_array(atom: Atom) -> bool:
    if isinstance(atom, LibObject):
        return atom.name.removesuffix("[]") in ARRAY_MAKERS
    return isinstance(atom, SeqOf) and atom.kind == "list"


def _built_key(ev: Evaluator, step: ir.Step, frame: Frame) -> Templates:
    """How the key is built under which a step stores an item in a dict."""
    if isinstance(step, ir.SetItem):
        return templates_of(ev, step.index, frame)
    call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    is_named = isinstance(call, ir.Call) and _method(ev, call, frame) == "setdefault"
    return templates_of(ev, call.args[0].value, frame) if isinstance(call, ir.Call) and is_named else ANY_TEXT


def _after_branch(before: Val, branches: Mapping[int, Val], value: Val, frame: Frame) -> Val:
    """An item of a dict after a branch that stores `value`. `branches`: what each of them stores since a step that
    always runs."""
    one = frame.code.one
    if one is not None and one.always_passes(branches):
        return join(branches.values())
    return join((before, value))


def _replaces_each(step: ir.SetItem | ir.Perform, number: int, frame: Frame) -> TypeGuard[ir.SetItem]:
    """Whether a step replaces every item of the dict that expression `number` is: `for key in d: d[key] = ...`."""
    one, exprs = frame.code.one, frame.code.exprs
    if not isinstance(step, ir.SetItem) or one is None or one.contexts[step.context].kind != "loop":
        return False
    loop = one.contexts[step.context]
    key = exprs[step.index]
    named = key.value if isinstance(key, ir.Unpack) and key.index == 0 else step.index
    element = exprs[named]
    if loop.parent != 0 or not isinstance(element, ir.Element) or element.iterable != loop.expr:
        return False
    over = loop.expr
    if isinstance(call := exprs[over], ir.Call) and isinstance(func := exprs[call.func], ir.Attr):
        wanted = "items" if isinstance(key, ir.Unpack) else "keys"
        over = func.base if func.name == wanted and not call.args else over
    return over == number


def with_stored(made: MapOf, stored: list[tuple[str | None, Val]]) -> MapOf:
    """A dict with the items that are stored in it at some time. Items without a name get an unknown key."""
    if not stored:
        return made
    pairs = list(zip(made.keys, made.values, strict=True))
    entries = {key: value for key, value in pairs if key is not None}
    for key, value in stored:
        if key is not None:
            before = entries.get(key, value)
            entries[key] = join((present_or(before, value), present_or(value, before)))
    rest = [value for key, value in (*pairs, *stored) if key is None]
    built = made.built or (ANY_TEXT,) * made.keys.count(None)
    built = (*built, *[ANY_TEXT] * (len(rest) - len(built)))
    rest = rest if len(rest) <= _MAX_ITEMS else [join(rest)]
    keys, values = (*entries, *[None] * len(rest)), (*entries.values(), *rest)
    return MapOf(keys, values, made.site, made.options, built)


def stored_in(ev: Evaluator, number: int, frame: Frame) -> Iterator[tuple[str | None, Val]]:
    """The items that the def stores in the dict that expression `number` is; None for an unknown key."""
    found = [
        (step.context, name, value)
        for step in frame.code.fillings(number)
        for name, value in (*_stored_by(ev, step, frame), *_defaulted_by(ev, step, frame))
    ]
    contexts: dict[str | None, set[int]] = {}
    for context, name, _ in found:
        contexts.setdefault(name, set()).add(0 if ev.liveness.always_runs(context, 0, frame) else context)
    one = frame.code.one
    sure = {name for name, around in contexts.items() if name is None or one is None or one.always_passes(around)}
    for _, name, value in found:
        yield name, value if name in sure else maybe(value)


def _filled_elsewhere(ev: Evaluator, frame: Frame, number: int) -> Iterator[tuple[str | None, Val]]:
    """The items that functions of the project store in the dict that expression `number` makes, if it is passed to
    them."""
    for passing in given_to(ev, frame, number):
        for opened, place in as_parameter(ev, passing, number):
            yield from stored_in(ev, place, opened)


class Passing(NamedTuple):
    """A call that passes an object to a function of the project, or to a method, with the object of which it is a
    method and the class in which it was found."""

    function: FunctionRef
    call: ir.Call
    receiver: Instance | None = None
    owner: ClassRef | None = None


def given_to(ev: Evaluator, frame: Frame, number: int) -> Iterator[Passing]:
    """The functions of the project to which a def passes the object that expression `number` creates."""
    for step, call in frame.code.calls_with(number):
        if not ev.liveness.is_dead(step.context, frame):
            for function in ev.eval(call.func, frame).only(FunctionRef):
                yield Passing(function, call)


def as_parameter(ev: Evaluator, passing: Passing, number: int) -> Iterator[tuple[Frame, int]]:
    """Where a function reads the parameter that a call passes expression `number` as. It runs as if unknown code called
    it, so that the result does not depend on itself."""
    opened = ev.functions.open_frame(passing.function, passing.receiver, passing.owner)
    parameters = parameters_of(ev, passing, number) if opened is not None else ()
    for place, e in enumerate(opened.code.exprs if opened is not None and parameters else ()):
        if opened is not None and type(e) is ir.Param and e.index in parameters:
            yield opened, place


def parameters_of(ev: Evaluator, passing: Passing, number: int) -> Sequence[int]:
    """The positions of the parameters that a call passes expression `number` as."""
    one = ev.code(passing.function).one
    bound = 0 if passing.receiver is None else 1
    return [
        index
        for index, param in enumerate(one.params if one else ())
        if index >= bound and _passes(passing.call, number, index - bound, param.name)
    ]


def _passes(call: ir.Call, number: int, index: int, name: str) -> bool:
    """Whether a call passes an expression as the parameter at `index`, called `name`."""
    return any(
        arg.value == number and (arg.name == name if arg.kind == "kw" else arg.kind == "pos" and place == index)
        for place, arg in enumerate(call.args)
    )


def _stored_by(ev: Evaluator, step: ir.Step, frame: Frame) -> list[tuple[str | None, Val]]:
    """The items that a step stores in the dict that it fills; None for an unknown key."""
    if isinstance(step, ir.SetItem) and not ev.liveness.is_dead(step.context, frame):
        keys = built_from(ev, step.index, frame)
        value = ev.eval(step.value, frame)
        return [(key, value) for key in keys] if keys else [(None, value)]
    call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(call, ir.Call) or _method(ev, call, frame) != "update":
        return []
    if ev.liveness.is_dead(step.context, frame):
        return []
    return [*_updates(ev, call, frame)]


def _method(ev: Evaluator, call: ir.Call, frame: Frame) -> str:
    """The name of the method that a call calls; '' if it calls something else."""
    func = ev.expr(frame, call.func)
    return func.name if isinstance(func, ir.Attr) else ""


def _updates(ev: Evaluator, call: ir.Call, frame: Frame) -> list[tuple[str, Val]]:
    """The items that `.update(...)` puts into a dict."""
    given = ev.calls.arguments(call, frame)
    maps = [atom for value in given.positional for atom in value.only(MapOf)]
    return [*either(maps), *given.keywords]


def _defaulted_by(ev: Evaluator, step: ir.Step, frame: Frame) -> list[tuple[str | None, Val]]:
    """What a step stores in the dict that it fills, if the dict does not have it; None for a key that is not known.
    `.setdefault(key, []).append(x)` stores a list with `x`."""
    call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
    if not isinstance(step, ir.Perform) or not isinstance(call, ir.Call):
        return []
    if _method(ev, call, frame) != "setdefault" or len(call.args) != 2:
        return []
    if ev.liveness.is_dead(step.context, frame):
        return []
    value = ev.eval(call.args[1].value, frame)
    added = tuple(appended(ev, step.call, frame))
    lists = [atom for atom in value.atoms if isinstance(atom, SeqOf) and atom.kind == "list"]
    if added and lists:
        longer = (replace(one, items=(*one.items, *added)) for one in lists)
        value = Val((value.atoms - set(lists)) | set(longer), value.origins)
    keys = built_from(ev, call.args[0].value, frame)
    return [(key, value) for key in keys] if keys else [(None, value)]


def either(maps: list[MapOf]) -> list[tuple[str, Val]]:
    """The keywords that `**x` passes if `x` is one of several dicts; those that are not in all of them are not always
    passed."""
    entries = [dict(zip(one.keys, one.values, strict=True)) for one in maps]
    names = dict.fromkeys(name for one in entries for name in one if name is not None)
    return [(name, join(one.get(name, of(ABSENT)) for one in entries)) for name in names]


def filled_by_module(ev: Evaluator, file: ProjectFile, name: str, value: Val, before: int | None) -> Val:
    """A list or dict of the module with the items that later module-level code (before piece `before`) adds to it."""
    containers = [a for a in value.atoms if isinstance(a, MapOf) or (isinstance(a, SeqOf) and a.kind == "list")]
    if not containers or (len(containers) > 1 and value.has(SeqOf)):
        return value
    grown = {_filled_by_module(ev, file, name, one, before) for one in containers}
    return Val(value.atoms.difference(containers) | grown, value.origins)


def _filled_by_module(
    ev: Evaluator, file: ProjectFile, name: str, grown: MapOf | SeqOf, before: int | None
) -> MapOf | SeqOf:
    for piece in file.all_asking(puts_into, name, scope=MODULE):
        if before is not None and piece > before:
            break
        body = ev.body(file.path, piece)
        if isinstance(grown, MapOf):
            # in its own piece, a store may come after the use
            grown = _with_items(ev, body, name, grown, sure=piece != before and not file.is_conditional(piece))
        else:
            grown = _longer(ev, body, name, grown)
    for frame in registering_frames(ev, file, name):
        grown = _with_registered(ev, frame, name, grown) if frame.path == file.path else grown
    if isinstance(grown, SeqOf) and any(True for _ in file.asking(moves_items, name)):
        return replace(grown, items=mixed(grown.items))
    return grown


def _with_registered(ev: Evaluator, frame: Frame, name: str, grown: MapOf | SeqOf) -> MapOf | SeqOf:
    """A dict or list of the module with what a frame of a function of the module adds to it. Other modules may register
    more in a dict."""
    if isinstance(grown, SeqOf):
        return _longer(ev, frame, name, grown)
    one = ev.def_of(frame)
    steps = [step for step in one.steps if not ev.liveness.is_dead(step.context, frame)] if one is not None else []
    stored = [item for step in steps for item in _stored_in_global(ev, step, frame, name)]
    return with_stored(grown, [*stored, (None, unknown("registry"))]) if stored else grown


def _with_items(ev: Evaluator, body: Frame, name: str, grown: MapOf, *, sure: bool) -> MapOf:
    """A dict with what a module-level piece stores in it. `sure`: the piece itself always runs."""
    one = ev.def_of(body)
    if one is None:
        return grown
    pairs = list(zip(grown.keys, grown.values, strict=True))
    entries = {key: value for key, value in pairs if key is not None}
    stored: list[tuple[str | None, Val]] = [(key, value) for key, value in pairs if key is None]
    for step in one.steps:
        if ev.liveness.is_dead(step.context, body):
            continue
        is_sure = sure and not _may_be_skipped(ev, one, step.context, body)
        entries = with_filled_entries(ev, step, body, name, entries)
        for removed in _removed_from_global(ev, step, body, name):
            before = entries.pop(removed, None)
            if before is not None and not is_sure:
                entries[removed] = maybe(before)
        items = _stored_in_global(ev, step, body, name)
        if not is_sure:
            items = [(key, _either_way(entries, key, value)) for key, value in items]
        is_one_of_several = isinstance(step, ir.SetItem) and len(items) > 1
        for key, value in items:
            if key is None or is_one_of_several:
                stored.append((key, value))
            else:
                entries[key] = present_or(value, entries.get(key, of(ABSENT)))
        for key, value in _defaulted_in_global(ev, step, body, name):
            if key is None:
                stored.append((key, value))
            else:
                entries[key] = present_or(entries.get(key, of(ABSENT)), value if is_sure else maybe(value))
    return with_stored(MapOf(tuple(entries), tuple(entries.values()), grown.site), stored)


def _either_way(entries: dict[str, Val], key: str | None, value: Val) -> Val:
    """What is under a key if a value may be stored there, or not."""
    return value if key is None else join((entries.get(key, of(ABSENT)), value))


def _may_be_skipped(ev: Evaluator, one: ir.DefIR, context: int, body: Frame) -> bool:
    """Whether a test or an exception decides if a module-level step runs. A main guard does not count."""
    return any(
        here.kind in ("except", "match")
        or (here.kind == "if" and not _asks_for_name(ev.expr(body, here.expr), ev, body))
        for here in one.around(context)
    )


def _asks_for_name(test: ir.Expr | None, ev: Evaluator, body: Frame) -> bool:
    return isinstance(test, ir.Compare) and ev.expr(body, test.left) == ir.Global("__name__")


def _stored_in_global(ev: Evaluator, step: ir.Step, body: Frame, name: str) -> list[tuple[str | None, Val]]:
    """The items that a module-level step stores in the dict `name`; None for an unknown key."""
    if isinstance(step, ir.SetItem) and ev.expr(body, step.base) == ir.Global(name):
        keys = built_from(ev, step.index, body)
        value = ev.eval(step.value, body)
        return [(key, value) for key in keys] if keys else [(None, value)]
    call = _called_on_global(ev, step, body, name)
    return [*_updates(ev, call, body)] if call is not None and _method(ev, call, body) == "update" else []


def _defaulted_in_global(ev: Evaluator, step: ir.Step, body: Frame, name: str) -> list[tuple[str | None, Val]]:
    """What a module-level step stores in the dict `name` with `.setdefault(...)`; None for a key that is not known."""
    return _defaulted_by(ev, step, body) if _called_on_global(ev, step, body, name) is not None else []


def _called_on_global(ev: Evaluator, step: ir.Step, body: Frame, name: str) -> ir.Call | None:
    """The call by which a step runs a method of the list or dict `name` of the module."""
    call = ev.expr(body, step.call) if isinstance(step, ir.Perform) else None
    func = ev.expr(body, call.func) if isinstance(call, ir.Call) else None
    is_its = isinstance(func, ir.Attr) and ev.expr(body, func.base) == ir.Global(name)
    return call if isinstance(call, ir.Call) and is_its else None


def _removed_from_global(ev: Evaluator, step: ir.Step, body: Frame, name: str) -> list[str]:
    """The keys that a module-level step removes from the dict `name`."""
    key = NONE
    if isinstance(step, ir.Delete):
        target = ev.expr(body, step.target)
        is_item = isinstance(target, ir.Index) and ev.expr(body, target.base) == ir.Global(name)
        key = target.index if isinstance(target, ir.Index) and is_item else NONE
    elif (call := _called_on_global(ev, step, body, name)) is not None and call.args:
        key = call.args[0].value if _method(ev, call, body) == "pop" else NONE
    literal = ev.eval(key, body).literal if key != NONE else None
    return [literal.value] if literal is not None and isinstance(literal.value, str) else []


def _longer(ev: Evaluator, body: Frame, name: str, grown: SeqOf) -> SeqOf:
    """A list with what a frame adds to the list `name` of the module, or stores at the places of its items."""
    one = ev.def_of(body)

    def is_it(number: int) -> bool:
        return ev.expr(body, number) == ir.Global(name)

    for step in one.steps if one is not None else ():
        if not isinstance(step, ir.SetItem | ir.Perform) or ev.liveness.is_dead(step.context, body):
            continue
        if isinstance(step, ir.SetItem):
            if is_it(step.base) and not _reads_item(step.value, body, is_it):
                grown = replace(grown, items=_with_replaced(ev, grown.items, step, body))
            continue
        call = _called_on_global(ev, step, body, name)
        if call is not None:
            grown = replace(grown, items=(*grown.items, *added_items(ev, _method(ev, call, body), call, body)))
    return grown


@needs_word
def puts_into(text: str, name: str) -> bool:
    """Whether a module-level statement, or one in its branches and loops, stores an item in `name`, removes one, or
    calls a method of it."""
    named = re.escape(name)
    pattern = rf"(?:^|[:;])[ \t]*(?:del[ \t]+)?{named}[.\[]|\b{named}\.pop\(|\bin[ \t]+{named}\.(?:values|items)\("
    return re.search(pattern, text, re.MULTILINE) is not None
