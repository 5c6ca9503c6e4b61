"""Lists of positions that are shuffled: `random.shuffle(self.places[kind])`, where the places only say which items of
other data come next."""

from __future__ import annotations

from collections.abc import Iterator, Set

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Lib, Origin, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit
from loaderlint.rules.stored_data_mutation.shuffled_lists import SEEDS, is_shuffle

#: Why an edit changes no sample.
POSITIONS = "it holds positions in other data: an order that is shuffled"

_LEN = frozenset({Lib("builtins.len")})
_ABOUT_KEYS = frozenset({"keys"})


def are_positions(edit: Edit, value: Val, origin: Origin, model: Model) -> bool:
    """Whether an edit shuffles a list in a container on self, and worker code only uses the items of such lists as
    indexes of other data, of which nothing else is read at the place in the list."""
    owner = origin.owner
    if edit.how != "`shuffle`" or not isinstance(owner, Instance) or len(origin.path) != 2:
        return False
    field = origin.path[0]
    if any((one.owner, one.path[0], len(one.path)) != (owner, field, 2) for one in value.origins):
        return False
    return model.remembered(_holds_positions, owner, field)


def _holds_positions(owner: Instance, field: str, model: Model) -> bool:
    frames = model.reached_on(owner)
    return not any(frame.code.attribute_calls(SEEDS) for frame in frames) and all(
        _Uses(field, frame, model).are_of_positions() for frame in frames
    )


class _Uses:
    """What a frame does with the lists that a container on self holds, and with their items."""

    def __init__(self, field: str, frame: Frame, model: Model) -> None:
        self._frame = frame
        self._model = model
        self._exprs = frame.code.exprs
        self._evaluated = model.ev.evaluated(frame)
        own = {number for number, base in frame.code.attributes(field) if ir.is_self(self._exprs[base])}
        self._containers = own & self._evaluated
        self._lists = {number for number, _ in self._indexed(self._containers)}
        self._items = {number for number, _ in self._indexed(self._lists)}

    def _indexed(self, bases: Set[int]) -> Iterator[tuple[int, int]]:
        """The expressions that take one item of these, each with its index."""
        for number in self._evaluated:
            e = self._exprs[number]
            if isinstance(e, ir.Index) and e.base in bases and not isinstance(self._exprs[e.index], ir.Slice):
                yield number, e.index

    def are_of_positions(self) -> bool:
        """Whether all of it is done with lists of positions."""
        if not self._containers:
            return True
        used = ((number, self._exprs[number]) for number in self._evaluated)
        return (
            all(self._is_harmless(number, e) for number, e in used) and not self._leaves() and not self._reads_beside()
        )

    def _is_harmless(self, number: int, e: ir.Expr) -> bool:
        operands = frozenset(ir.operands(e))
        if not operands.isdisjoint(self._containers) and not (number in self._lists or self._asks(e)):
            return False
        is_list_use = number in self._items or self._asks(e) or is_shuffle(number, self._frame, self._model)
        if not operands.isdisjoint(self._lists) and not is_list_use:
            return False
        return operands.isdisjoint(self._items) or self._is_taken_elsewhere(e)

    def _asks(self, e: ir.Expr) -> bool:
        """Whether an expression only asks for a length or a key."""
        match e:
            case ir.Call(func, _):
                return self._model.ev.eval(func, self._frame).atoms == _LEN
            case ir.Compare(_, ("in" | "not in",), (container,)):
                return container in self._containers
            case ir.Attr(_, name):
                return name in _ABOUT_KEYS
        return isinstance(e, ir.Unary)

    def _is_taken_elsewhere(self, e: ir.Expr) -> bool:
        """Whether an expression takes an item of other data at a position."""
        return isinstance(e, ir.Index) and e.base not in self._containers | self._lists | self._items

    def _leaves(self) -> bool:
        """Whether a list or an item gets out of the frame, or is stored, as it is."""
        known = self._containers | self._lists | self._items
        return any(
            not known.isdisjoint(ir.step_expressions(step))
            for _, step in self._model.steps(self._frame)
            if not isinstance(step, ir.Bind | ir.Test | ir.Evaluate | ir.Perform)
        )

    def _reads_beside(self) -> bool:
        """Whether the frame reads other data at the place in a list: it belongs to the position that was there."""
        places = [index for _, index in self._indexed(self._lists)]
        own = self._containers | self._lists
        return any(
            isinstance(e, ir.Index) and e.base not in own and any(reads_same(e.index, at, self._exprs) for at in places)
            for e in map(self._exprs.__getitem__, self._evaluated)
        )
