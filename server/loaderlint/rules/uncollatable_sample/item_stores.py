"""The items of lists and dicts that workers store where the value of the container does not show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import MapOf, SeqOf, Site
from loaderlint.project.reach.model import Model


class ItemStore(NamedTuple):
    """`container[key] = value`: expression `value` of a frame. `key` is None if it is not known."""

    frame: Frame
    value: int
    key: str | int | None


class ItemStores:
    """Asked once for each model: `model.once(ItemStores)`."""

    def __init__(self, model: Model) -> None:
        self._ev = model.ev
        self._stores: dict[Site, list[ItemStore]] = {}
        for frame in model.reached:
            for _, step in model.steps_of(frame, ir.SetItem):
                if not self._ev.liveness.is_dead(step.context, frame):
                    self._add(step, frame)

    def into(self, container: SeqOf | MapOf, key: str | int | None) -> Iterator[ItemStore]:
        """The stores that may replace the item under a key, or any item for None. The items of a list that grows are
        not those at its indices."""
        if container.site is None:
            return
        for store in self._stores.get(container.site, ()):
            exact = isinstance(container, MapOf) or self._is_display(container)
            if not exact or None in (key, store.key) or key == store.key:
                yield store

    def _is_display(self, container: SeqOf) -> bool:
        """Whether all items of a list are written at its place."""
        assert container.site is not None
        e = self._ev.expr(container.site.frame, container.site.expr)
        return isinstance(e, ir.Seq) and len(e.items) == len(container.items)

    def _add(self, step: ir.SetItem, frame: Frame) -> None:
        base = self._ev.expr(frame, step.base)
        literal = self._ev.eval(step.index, frame).literal
        key = literal.value if literal is not None and isinstance(literal.value, str | int) else None
        for container in self._ev.eval(step.base, frame).only(SeqOf, MapOf):
            is_shown = isinstance(container, MapOf) and isinstance(base, ir.Map | ir.Param)
            if container.site is not None and not is_shown:
                self._stores.setdefault(container.site, []).append(ItemStore(frame, step.value, key))
