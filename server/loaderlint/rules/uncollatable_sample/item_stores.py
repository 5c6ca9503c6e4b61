"""What workers do to the items of lists and dicts where the value of the container does not show it: they store other
items, or remove some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.removed_items import is_apart
from loaderlint.project.evaluation.values import Literal_, MapOf, SeqOf, Site, Val
from loaderlint.project.reach.model import Model

#: A constant key or index; None if it is not known.
Key: TypeAlias = str | int | None

_REMOVING = frozenset({"pop", "popitem", "remove", "clear"})
_UPDATE = frozenset({"update"})
_COPYING = frozenset({"dict", "list", "tuple", "copy", "deepcopy"})


class ItemStore(NamedTuple):
    """`container[key] = value`: expression `value` of a frame, `NONE` if none shows the value."""

    frame: Frame
    value: int
    key: Key


class ItemRemoval(NamedTuple):
    """`del container[key]` or `container.pop(key)`: step `step` of a frame, in `context`."""

    frame: Frame
    step: int
    context: int
    key: Key


class Given(NamedTuple):
    """Step `step` of a frame gives a sample: it returns or yields it."""

    frame: Frame
    step: int


class ItemStores:
    """Asked once for each model: `model.once(ItemStores)`."""

    def __init__(self, model: Model) -> None:
        self._ev = model.ev
        self._stores: dict[Site, list[ItemStore]] = {}
        self._removals: dict[Site, list[ItemRemoval]] = {}
        for frame in model.reached:
            self._add_assigned(frame)
            self._add_deleted(frame)
            self._add_calls(frame)

    def into(self, container: SeqOf | MapOf, key: Key) -> Iterator[ItemStore]:
        """The stores that may replace the item under a key, or any item for None. The items of a list that grows are
        not those at its indices."""
        if container.site is not None:
            stores = self._stores.get(container.site, ())
            yield from (store for store in stores if self._may_be(store.key, key, container))

    def may_lack(self, container: SeqOf | MapOf, key: Key, given: Given) -> bool:
        """Whether something may have removed the item under a key, or any item for None, before a sample is given."""
        removals = self._removals.get(container.site, ()) if container.site is not None else ()
        return any(self._may_be(one.key, key, container) and self._comes_before(one, given) for one in removals)

    def copied_by(self, container: SeqOf | MapOf) -> list[SeqOf | MapOf]:
        """The containers that a container begins as a copy of: `dict(sample)`, `sample.copy()`, `{**sample}`."""
        if container.site is None:
            return []
        frame, number = container.site.frame, container.site.expr
        copied = _copied(self._ev.expr(frame, number), frame)
        return [one for base in copied for one in self._ev.eval(base, frame).only(SeqOf, MapOf)]

    def _may_be(self, key: Key, other: Key, container: SeqOf | MapOf) -> bool:
        exact = isinstance(container, MapOf) or self._is_display(container)
        if not exact or None in (key, other) or key == other:
            return True
        return isinstance(container, SeqOf) and isinstance(key, int) and key + len(container.items) == other

    def _is_display(self, container: SeqOf) -> bool:
        """Whether all items of a list are written at its place."""
        assert container.site is not None
        e = self._ev.expr(container.site.frame, container.site.expr)
        return isinstance(e, ir.Seq) and len(e.items) == len(container.items)

    def _comes_before(self, removal: ItemRemoval, given: Given) -> bool:
        one = given.frame.code.one
        if removal.frame != given.frame or one is None:
            return True
        is_late = isinstance(one.steps[given.step], ir.Return) and removal.step > given.step
        return not is_late and not is_apart(one, removal.context, one.steps[given.step].context, removal.step)

    # --- what the frames do -------------------------------------------------------------------------------------------

    def _add_assigned(self, frame: Frame) -> None:
        for _, step in frame.code.steps_of(ir.SetItem):
            if not self._ev.liveness.is_dead(step.context, frame):
                self._add(step.base, self._keys(step.index, frame), step.value, frame)

    def _add_deleted(self, frame: Frame) -> None:
        for number, step in frame.code.steps_of(ir.Delete):
            target = self._ev.expr(frame, step.target)
            if isinstance(target, ir.Index):
                self._remove(target.base, self._keys(target.index, frame), number, frame)

    def _add_calls(self, frame: Frame) -> None:
        code = frame.code
        for step, base in code.attribute_calls(_UPDATE):
            call = code.exprs[step.call]
            if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(step.context, frame):
                for keys, value in self._updated(call, frame):
                    self._add(base, keys, value, frame)
        for step, base in code.attribute_calls(_REMOVING):
            call = code.exprs[step.call]
            if isinstance(call, ir.Call):
                is_pop = isinstance(func := code.exprs[call.func], ir.Attr) and func.name == "pop"
                keys = self._keys(call.args[0].value, frame) if is_pop and call.args else (None,)
                self._remove(base, keys, code.performed_by(call), frame)

    def _updated(self, call: ir.Call, frame: Frame) -> Iterator[tuple[tuple[Key, ...], int]]:
        """The keys that `.update(...)` stores something under, and the expression of the value."""
        for arg in call.args:
            e = self._ev.expr(frame, arg.value)
            if arg.kind == "kw":
                yield (arg.name,), arg.value
            elif isinstance(e, ir.Map):
                for key, value in zip(e.keys, e.values, strict=True):
                    yield self._keys(key, frame), value if key != NONE else NONE
            else:
                maps = self._ev.eval(arg.value, frame)
                known = [key for one in maps.only(MapOf) for key in one.keys]
                yield (*known, *(() if all(isinstance(one, MapOf) for one in maps.atoms) else (None,))), NONE

    def _add(self, base: int, keys: tuple[Key, ...], value: int, frame: Frame) -> None:
        e = self._ev.expr(frame, base)
        for container in self._ev.eval(base, frame).only(SeqOf, MapOf):
            is_shown = isinstance(container, MapOf) and isinstance(e, ir.Map | ir.Param) and value != NONE
            if container.site is not None and not is_shown:
                found = self._stores.setdefault(container.site, [])
                found += [ItemStore(frame, value, key) for key in keys]

    def _remove(self, base: int, keys: tuple[Key, ...], number: int | None, frame: Frame) -> None:
        one = frame.code.one
        if number is None or one is None or self._ev.liveness.is_dead(one.steps[number].context, frame):
            return
        for container in self._ev.eval(base, frame).only(SeqOf, MapOf):
            if container.site is not None:
                found = self._removals.setdefault(container.site, [])
                left = [key for key in keys if not self._is_stored_again(base, key, number, frame)]
                found += [ItemRemoval(frame, number, one.steps[number].context, key) for key in left]

    def _is_stored_again(self, base: int, key: Key, number: int, frame: Frame) -> bool:
        """Whether a frame that removes an item at a step always stores another one under its key later."""
        one = frame.code.one
        return one is not None and any(
            later > number
            and step.base == base
            and key is not None
            and self._keys(step.index, frame) == (key,)
            and one.is_within(one.steps[number].context, step.context)
            for later, step in frame.code.steps_of(ir.SetItem)
        )

    def _keys(self, number: int, frame: Frame) -> tuple[Key, ...]:
        return constants(self._ev.eval(number, frame)) if number != NONE else (None,)


def constants(value: Val) -> tuple[Key, ...]:
    """The constants that a key or index may be; None for one that is not known."""
    known = [one.value for one in value.ordered() if isinstance(one, Literal_) and isinstance(one.value, str | int)]
    return tuple(known) if known and len(known) == len(value.atoms) else (None,)


def _copied(e: ir.Expr | None, frame: Frame) -> list[int]:
    """The expressions of which an expression makes a copy."""
    if isinstance(e, ir.Map):
        return [value for key, value in zip(e.keys, e.values, strict=True) if key == NONE]
    func = frame.code.exprs[e.func] if isinstance(e, ir.Call) and e.func != NONE else None
    name = func.name if isinstance(func, ir.Attr | ir.Global | ir.Imported) else None
    if not isinstance(e, ir.Call) or name not in _COPYING:
        return []
    if e.args:
        return [e.args[0].value]
    return [func.base] if isinstance(func, ir.Attr) else []
