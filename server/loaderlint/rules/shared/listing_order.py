"""Which folder listing a sequence gets its order from, and whether it was sorted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.listings import (
    FLATTENS,
    KEEPS_ORDER,
    KEEPS_ORDER_METHODS,
    LISTING_METHODS,
    LISTINGS,
    ROWS,
    SHUFFLES,
    TABLES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.number_bounds import count_of
from loaderlint.project.evaluation.values import Instance, Lib, LibMember, LibObject, Literal_, SeqOf, Unknown, Val, of
from loaderlint.project.modules.dependencies import is_def, needs_word
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import are_apart
from loaderlint.rules.shared.chosen_positions import chosen_positions
from loaderlint.rules.shared.dict_values import DICTS, items_of, taken_value
from loaderlint.rules.shared.given_arguments import is_given, replaces_given, tested_for_none
from loaderlint.rules.shared.looked_up_names import looked_up
from loaderlint.rules.shared.looped_sets import looped_set
from loaderlint.rules.shared.module_names import ModuleName, module_names
from loaderlint.rules.shared.nested_functions import Nested, nested_readers
from loaderlint.rules.shared.number_items import NumberItems
from loaderlint.rules.shared.option_tests import is_by_option
from loaderlint.rules.shared.passed_arguments import passed_anywhere, passed_to_constructor
from loaderlint.rules.shared.seeded_draws import draws_with_seed, splits_with_seed
from loaderlint.rules.shared.table_rows import is_table, selects_rows

_MAX_DEPTH = 24
#: The listing was not reached through the call of a helper.
_DIRECT = ("", 0)
_NOTHING = Literal_("NoneType", None)
LOOPED_SET = "loop over a set"
#: What makes another container of the same items.
_CONTAINERS = frozenset(f"builtins.{name}" for name in ("set", "frozenset", "list", "tuple", "dict.fromkeys"))


class Listing(Struct, frozen=True):
    """The call `expr` of `frame` that lists a folder, with the name `how`; `via` distinguishes two calls of one helper.
    A set of names is a listing too, called `set`: its order differs in each run. So does that of a set that a loop
    around a listing goes through, called `LOOPED_SET`."""

    frame: Frame
    expr: int
    how: str
    via: tuple[str, int] = _DIRECT

    def is_same(self, other: Listing) -> bool:
        """Whether both are one call. What a helper itself keeps of the listing that it returns is not told apart by
        the call of the helper."""
        if self.how == LOOPED_SET:
            return False  # it orders groups of names, in both alike
        same_call = (self.frame, self.expr) == (other.frame, other.expr)
        return same_call and (self.via == other.via or _DIRECT in (self.via, other.via))


class Order(Struct, frozen=True):
    """The order of a sequence: that of `listing`, unless it is `sorted`. `cut`: a part was taken by position before it
    was sorted. `capped`: the same, where only a sequence beyond some length is cut. `drawn`: a generator with a seed
    has changed the order, the same way each time."""

    listing: Listing
    sorted: bool = False
    cut: bool = False
    capped: bool = False
    drawn: bool = False


class _Entry(Struct, frozen=True):
    """The value of some key in the dict `self.name`."""

    name: str


class _Named(Struct, frozen=True):
    """What the def around a function, or the module, binds to one of these names."""

    names: frozenset[str]


class _Value(Struct, frozen=True):
    """The value under a key of the dict that `made` stands for; under any key if that is None."""

    made: int | _Named
    key: ir.Expr | None


_Target = int | str | _Entry | _Value | _Named


Orders = frozenset[Order]
_NONE: Orders = frozenset()
#: Functions that give the same number as a whole one.
_ROUNDING = frozenset(map(Lib, ("builtins.int", "builtins.round", "math.ceil", "math.floor")))
#: Methods of lists that add items at the end.
_ADDING = frozenset({"append", "extend"})
#: What draws some items of a sequence, or all in another order. A seed decides about positions, not names.
_CHOSEN = frozenset({"sample", "choice", "choices"})
_DRAWN = _CHOSEN | {"permutation", "permuted"}


class ListingOrder:
    """Orders of the sequences of one model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._numbers = NumberItems(model)
        self._known: dict[tuple[Frame, int], Orders] = {}
        self._known_values: dict[tuple[Frame, int, ir.Expr | None], Orders] = {}

    def of(self, number: int, frame: Frame, depth: int = 0) -> Orders:
        """The listings from which the sequence of expression `number` gets its order; empty if it has another order, or
        if that is unknown."""
        if number == NONE or depth > _MAX_DEPTH:
            return _NONE
        key = (frame, number)
        if key not in self._known:
            self._known[key] = _NONE  # recursion ends here
            found = self._of(number, frame, depth + 1)
            self._known[key] = self._changed(number, found, frame) if found else found
        return self._known[key]

    def _of(self, number: int, frame: Frame, depth: int) -> Orders:
        e = self._model.ev.expr(frame, number)
        match e:
            case ir.Call():
                is_spare = replaces_given(number, frame, self._model)
                return _NONE if is_spare else self._of_call(e, number, frame, depth)
            case ir.Comp("set"):
                return self._of_set(number, (number,), frame, depth)
            case ir.Comp(kind, element, _, iterables):
                takes_items = kind in ("list", "generator") and self._takes_items(element, iterables, frame)
                found = self._all(iterables, frame, depth) if takes_items else _NONE
                found = found or self._of_picked(element, iterables, frame, depth)
                return found | self._of_sets(iterables, frame) if found else found
            case ir.Attr(base, name):
                owner = self._model.ev.eval(base, frame)
                has_rows = name in ROWS or (isinstance(self._model.ev.expr(frame, base), ir.Attr) and is_table(owner))
                return self._of_attribute(owner, name, depth) or (self.of(base, frame, depth) if has_rows else _NONE)
            case ir.Index(base, index):
                if isinstance(self._model.ev.expr(frame, index), ir.Slice):
                    return self._part(self.of(base, frame, depth), base, index, frame)
                chosen = self.at(base, index, frame, depth)
                found = chosen or self._of_walk(base, frame) or self._of_taken(number, frame, depth)
                return found or (self.of(base, frame, depth) if selects_rows(index, frame, self._model) else _NONE)
            case ir.Unpack(value, index, _):
                split = self._of_split(value, index, frame, depth) or self._of_walk(value, frame)
                return split or self._of_item(value, index, frame, depth) or self._of_taken(number, frame, depth)
            case ir.Element():
                return self._of_taken(number, frame, depth)
            case ir.Phi(choices):
                return self._all(self._model.ev.liveness.live(choices, frame, number), frame, depth)
            case ir.Bin("*", left, right) | ir.Augmented("*", left, right):  # `names * 3` repeats them
                return self._all((left, right), frame, depth)
            case ir.Bin("+", left, right):
                return self._all((left, right), frame, depth) | self._of_added(left, right, number, frame, depth)
            case ir.Augmented("+", left, right):
                added = self._of_added(left, right, number, frame, depth)
                found = self._all((left, right), frame, depth) | added
                loops = self._loops_since(self._begun(left, frame), frame.code.context_of(number), frame)
                return found | self._of_sets(loops, frame) if found else found
            case ir.IfExp(test, then, other):
                truth = self._model.ev.liveness.truth(test, frame)
                taken = (then, other) if truth is None else (then,) if truth else (other,)
                for negated, side in ((False, other), (True, then)):
                    tested = tested_for_none(test, negated, frame, self._model)
                    if tested is not None and is_given(tested, frame, self._model):
                        taken = (side,)
                return self._all(taken, frame, depth)
            case ir.BoolOp(_, left, right):
                return self._all((left, right), frame, depth)
            case ir.Seq("list" | "tuple", items):
                starred = [item for item in items if isinstance(self._model.ev.expr(frame, item), ir.Star)]
                return self._all(starred, frame, depth) | self._of_appended(frame, depth, number)
            case ir.Star(value) | ir.Entered(value):
                return self.of(value, frame, depth)
            case ir.Global(name):
                return self._of_global(name, frame, depth)
            case ir.Param(index):
                passed = self._of_passed(index, frame, depth)
                if passed is not None:
                    return passed
                given = self._model.ev.eval(number, frame)
                known = self._given(index, self._of_value(given, depth), frame, depth)
                return known or (self._of_arguments(index, frame, depth) if given.unknown is not None else _NONE)
            case ir.Capture():
                return self._of_value(self._model.ev.eval(number, frame), depth)
        return _NONE

    def _all(self, numbers: Iterable[int], frame: Frame, depth: int) -> Orders:
        return frozenset(order for number in numbers for order in self.of(number, frame, depth))

    def _takes_items(self, element: int, iterables: Sequence[int], frame: Frame) -> bool:
        """Whether an element of a comprehension is made of the items that it iterates over, and not only of their
        positions: `number % 4 for number, name in enumerate(names)`."""
        exprs = self._model.facts(frame).ir.exprs
        parts = set(ir.made_of(exprs, (element,)))
        items = {n for n in parts if isinstance(e := exprs[n], ir.Element) and e.iterable in iterables}
        counters = {n for n in parts if self._turn(exprs[n], frame) in iterables}
        return element in items or any(items.intersection(ir.operands(exprs[n])) for n in parts - counters)

    def _of_picked(self, element: int, iterables: Sequence[int], frame: Frame, depth: int) -> Orders:
        """The orders of what a comprehension takes by positions: `[names[index] for index in chosen]`."""
        exprs = self._model.facts(frame).ir.exprs
        taken = [e for n in ir.made_of(exprs, (element,)) if isinstance(e := exprs[n], ir.Index)]
        positions = {one: e.iterable for one in taken if isinstance(e := exprs[one.index], ir.Element)}
        picked = ((one.base, each) for one, each in positions.items() if each in iterables)
        return _union(self.at(base, each, frame, depth) for base, each in picked)

    def at(self, base: int, positions: int, frame: Frame, depth: int = 0) -> Orders:
        """The orders of the items of a sequence at positions that a seed, or their place, decides about; empty for
        other positions."""
        found = self.of(base, frame, depth)
        choice = chosen_positions(positions, frame, self._model) if found else ""
        return _drawn(_cut(found)) if choice == "seed" else _cut(found) if choice else _NONE

    # --- calls --------------------------------------------------------------------------------------------------------

    def _of_call(self, call: ir.Call, number: int, frame: Frame, depth: int) -> Orders:
        ev = self._model.ev
        how = listing_name(call, frame, self._model)
        if how:
            return frozenset(
                {Order(Listing(frame, number, how), how == "os.walk" and self._sorts_folders(number, frame))}
            )
        arguments = [arg.value for arg in call.args]
        if _says_sort(call, frame, self._model):
            return _sorted(self._all(arguments[:1], frame, depth))
        drawing = _called(ev.expr(frame, call.func))
        if drawing in _DRAWN and arguments and draws_with_seed(call, frame, self._model):
            drawn = self.of(arguments[0], frame, depth)
            return _drawn(_cut(drawn) if drawing in _CHOSEN else drawn)
        names = {atom.name for atom in ev.eval(call.func, frame).atoms if isinstance(atom, Lib)}
        if names & {"builtins.set", "builtins.frozenset"}:
            return self._of_set(number, arguments, frame, depth)
        if names & TABLES:
            columns = (ev.expr(frame, one) for one in arguments[:1])
            values = [value for e in columns if isinstance(e, ir.Map) for value in e.values]
            return self._all(values or arguments[:1], frame, depth)
        if names and names <= FLATTENS:
            return self._all(arguments, frame, depth) | self._of_added_lists(arguments[:1], frame, depth)
        if names:
            return self._all(arguments, frame, depth) if names <= KEEPS_ORDER else _NONE
        found: set[Order] = set()
        for target in ev.targets(number, frame):
            one = self._model.def_of(target)
            if one.name == "__init__":
                continue
            for _, step in self._model.steps(target):
                if isinstance(step, ir.YieldStep) and not step.is_from:
                    found |= self._of_loops(step.context, target, depth)
                elif isinstance(step, ir.Return | ir.YieldStep):
                    found |= self.of(step.value, target, depth)
        if found:
            return _by(frame, number, found)
        func = ev.expr(frame, call.func)
        if isinstance(func, ir.Attr) and func.name in KEEPS_ORDER_METHODS:
            return self.of(func.base, frame, depth)
        if isinstance(func, ir.Attr) and func.name in ("sample", "head", "tail"):
            return self._of_some_rows(call, func, frame, depth)
        return self._of_taken(number, frame, depth)

    def _of_some_rows(self, call: ir.Call, method: ir.Attr, frame: Frame, depth: int) -> Orders:
        """The order of the rows that a method takes from a table: `rows.sample(frac=1, random_state=0)`."""
        found = self.of(method.base, frame, depth)
        if method.name != "sample":
            return _cut(found)
        given = {arg.name: self._model.ev.eval(arg.value, frame) for arg in call.args}
        share, state = given.get("frac"), given.get("random_state")
        if state is None or state.is_none:
            return _NONE
        is_whole = share is not None and share.literal is not None and share.literal.value == 1
        return _drawn(found if is_whole else _cut(found))

    def _of_set(self, number: int, made_of: Iterable[int], frame: Frame, depth: int) -> Orders:
        """A set of names, whose hashes differ in each run, whatever their order was before. Numbers have the same
        hashes in all runs."""
        for one in made_of:
            e = self._model.ev.expr(frame, one)
            sources = e.iterables if isinstance(e, ir.Comp) else (one,)
            if self._all(sources, frame, depth) and self._numbers.among(one, frame) is not True:
                return frozenset({Order(Listing(frame, number, "set"))})
        return _NONE

    def _sorts_folders(self, walk: int, frame: Frame) -> bool:
        """Whether the loop over `os.walk` sorts the folders that it visits next."""
        for _, call in self._model.ev.performed(frame):
            func = self._model.ev.expr(frame, call.func)
            base = self._model.ev.expr(frame, func.base) if isinstance(func, ir.Attr) and func.name == "sort" else None
            gone = self._model.ev.expr(frame, base.value) if isinstance(base, ir.Unpack) and base.index == 1 else None
            if isinstance(gone, ir.Element) and gone.iterable == walk:
                return True
        return False

    def _of_walk(self, value: int, frame: Frame) -> Orders:
        """The names that `os.walk` yields for a folder."""
        e = self._model.ev.expr(frame, value)
        source = e.iterable if isinstance(e, ir.Element) else NONE
        if isinstance(e, ir.Call) and e.args and Lib("builtins.next") in self._model.ev.eval(e.func, frame).atoms:
            source = e.args[0].value
        call = self._model.ev.expr(frame, source) if source != NONE else None
        while isinstance(call, ir.Call) and call.args and not listing_name(call, frame, self._model):
            source = call.args[0].value
            call = self._model.ev.expr(frame, source)
        if isinstance(call, ir.Call) and listing_name(call, frame, self._model) == "os.walk":
            return frozenset({Order(Listing(frame, source, "os.walk"))})
        return _NONE

    def _of_split(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of the two parts that `train_test_split` makes of each of its arguments with a seed."""
        call = self._model.ev.expr(frame, value)
        if not isinstance(call, ir.Call) or not splits_with_seed(call, frame, self._model):
            return _NONE
        given = [arg.value for arg in call.args if arg.kind == "pos"]
        return _drawn(_cut(self.of(given[index // 2], frame, depth))) if index // 2 < len(given) else _NONE

    def _of_item(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of several values that a function of the project returns."""
        call = self._model.ev.expr(frame, value)
        if not isinstance(call, ir.Call):
            return _NONE
        found: set[Order] = set()
        for target in self._model.ev.targets(value, frame):
            for _, step in self._model.steps(target):
                given = self._model.ev.expr(target, step.value) if isinstance(step, ir.Return) else None
                if isinstance(given, ir.Seq) and -len(given.items) <= index < len(given.items):
                    found |= self.of(given.items[index], target, depth)
        return _by(frame, value, found)

    # --- what keeps it ------------------------------------------------------------------------------------------------

    def _of_attribute(self, owner: Val, name: str, depth: int) -> Orders:
        found: set[Order] = set()
        for inst in owner.only(Instance):
            frames: dict[Frame, None] = {}
            for store in self._model.ev.classes.stores(inst, name):
                step = self._model.def_of(store.frame).steps[store.step]
                frames[store.frame] = None
                found |= self.of(step.value, store.frame, depth) if isinstance(step, ir.SetAttr) else _NONE
            frames |= dict.fromkeys(self._model.ev.classes.construction(inst))
            for frame in frames:
                found |= self._of_appended(frame, depth, name) | self._of_calls(frame, tuple(frames), name, depth)
            if found and self.is_shuffled(name, frames):
                return _NONE
            changes = {self._is_changed(name, frame) for frame in frames} if found else set()
            if "sorted" in changes:
                found = set(_sorted(self._parts_before_sorting(name, frames, frozenset(found))))
            elif "drawn" in changes:
                found = set(_drawn(frozenset(found)))
        return frozenset(found)

    def _parts_before_sorting(self, name: str, frames: Iterable[Frame], found: Orders) -> Orders:
        """The orders of the list `self.name` after a def has taken a part of it by position, before it sorts what is
        left: `self.names = self.names[:100]`, then `self.names.sort()`."""
        for frame in frames:
            if self._is_stored_sorted(name, frame):
                continue
            sorting = [number for number, how, _ in self._changes(name, frame) if how == "sorted"]
            for number, step in frame.code.stores_of(name) if sorting else ():
                there = frozenset(order for order in found if not self._is_apart(order, step.context, frame))
                if number < sorting[0]:
                    found = (found - there) | self._parts(there, step.value, name, frame)
        return found

    def _parts(self, found: Orders, value: int, name: str, frame: Frame) -> Orders:
        """The orders of the list `self.name` after it has been replaced by a part of it, if `value` is one."""
        e = self._model.ev.expr(frame, value)
        if isinstance(e, ir.IfExp):
            return _union(self._parts(found, way, name, frame) for way in self._ways(e, frame))
        is_part = isinstance(e, ir.Index) and self._is_target(e.base, name, frame)
        return self._part(found, e.base, e.index, frame) if isinstance(e, ir.Index) and is_part else found

    def _is_apart(self, order: Order, context: int, frame: Frame) -> bool:
        """Whether a def does not come by a listing and a context in one run."""
        at = frame.code.context_of(order.listing.expr) if order.listing.frame is frame else None
        return at is not None and are_apart(at, context, frame, self._model)

    def _of_taken(self, number: int, frame: Frame, depth: int) -> Orders:
        """The order of a list that is taken from a dict or a list: `files["train"]`, `for name, group in
        groups.items()`."""
        taken = taken_value(number, frame, self._model)
        if taken is None:
            return _NONE
        asked = self._model.ev.expr(frame, taken.key) if taken.key != NONE else None
        return self._of_values(taken.held, asked, frame, depth)

    def _of_values(self, held: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists that a dict holds under a key, or under any."""
        if depth > _MAX_DEPTH:
            return _NONE
        key = (frame, held, asked)
        if key not in self._known_values:
            self._known_values[key] = _NONE  # recursion ends here
            found = self._of_held(held, asked, frame, depth + 1)
            change = self._is_changed(_Value(held, asked), frame) if found else ""
            self._known_values[key] = _after(change, found)
        return self._known_values[key]

    def _of_held(self, held: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        e = self._model.ev.expr(frame, held)
        match e:
            case ir.Attr():
                return self._of_entry(e, asked, frame, depth)
            case ir.Phi(choices):
                live = self._model.ev.liveness.live(choices, frame, held)
                return _union(self._of_values(one, asked, frame, depth) for one in live)
            case ir.Map(keys, values):
                pairs = [pair for pair in zip(keys, values, strict=True) if pair[0] != NONE]
                written = [v for k, v in pairs if _may_be_same(asked, self._model.ev.expr(frame, k))]
                return self._all(written, frame, depth) | self._of_filled(held, asked, frame, depth)
            case ir.Comp("dict", element):
                return self.of(element, frame, depth) | self._of_filled(held, asked, frame, depth)
            case ir.Call():
                return self._of_made(e, held, asked, frame, depth)
            case ir.Global(name):
                return self._of_module_values(name, asked, frame, depth)
            case ir.Param(index):
                passed = passed_anywhere(frame, index, self._model)
                return _agreed([self._of_values(one.number, asked, one.frame, depth) for one in passed])
        return _NONE

    def _of_made(self, call: ir.Call, number: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists in the dict that a call makes or returns."""
        ev = self._model.ev
        names = {atom.name for atom in ev.eval(call.func, frame).only(Lib)}
        if names & DICTS:
            given = [items_of(arg.value, frame, self._model) for arg in call.args if arg.kind == "pos"]
            before = _union(self._of_values(one, asked, frame, depth) for one in given)
            return before | self._of_filled(number, asked, frame, depth)
        func = ev.expr(frame, call.func)
        if isinstance(func, ir.Attr) and func.name == "copy":
            return self._of_values(func.base, asked, frame, depth)
        found: set[Order] = set()
        for target in ev.targets(number, frame):
            for _, step in self._model.steps_of(target, ir.Return):
                found |= self._of_values(step.value, asked, target, depth)
        return _by(frame, number, found)

    def _of_filled(self, made: int | _Named, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists that a def stores in a dict or fills there: `groups[name].append(file)`."""
        value = _Value(made, asked)
        stored = [
            step.value
            for _, step in self._model.steps_of(frame, ir.SetItem)
            if self._is_target(step.base, made, frame) and _may_be_same(asked, self._model.ev.expr(frame, step.index))
        ]
        return self._all(stored, frame, depth) | self._of_appended(frame, depth, value)

    def _of_module_values(self, name: str, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists in a dict that the statements of a module make and fill."""
        found: set[Order] = set()
        for one in module_names(name, frame, self._model):
            named = _Named(frozenset({one.name}))
            found |= _union(self._of_values(value, asked, body, depth) for body, value in one.bound)
            bodies = one.bodies(_fills_dict, self._model)
            found |= _union(self._of_filled(named, asked, body, depth) for body in bodies)
            change = self._module_change(one, _changes_values, _Value(named, asked)) if found else ""
            if change:
                return _drawn(frozenset(found)) if change == "drawn" else _NONE
        return frozenset(found)

    def _of_entry(self, kept: ir.Attr, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The order of a list that an object stores in a dict or list of its own: `self.files["train"]`."""
        found: set[Order] = set()
        for inst in self._model.ev.eval(kept.base, frame).only(Instance):
            makers = self._model.ev.classes.construction(inst)
            if any(self._is_changed(_Entry(kept.name), maker) in ("sorted", "shuffled") for maker in makers):
                return _NONE
            for maker in makers:
                found |= self._of_appended(maker, depth, _Entry(kept.name))
                for written, value in self._entries(kept.name, maker):
                    if _may_be_same(asked, self._model.ev.expr(maker, written)):
                        found |= self.of(value, maker, depth)
                for value in self._kept_lists(kept.name, maker):
                    found |= self.of(value, maker, depth)
        return frozenset(found)

    def _kept_lists(self, name: str, frame: Frame) -> Iterator[int]:
        """What a def puts into the list `self.name`, and which may be a list itself."""
        yield from self._appended_to(name, frame)
        for _, step in frame.code.stores_of(name):
            value = self._model.ev.expr(frame, step.value)
            if isinstance(value, ir.Comp) and value.kind == "list":
                yield value.element
            elif isinstance(value, ir.Seq) and value.kind != "set":
                yield from value.items

    def _appended_to(self, target: _Target, frame: Frame) -> Iterator[int]:
        """What a def appends to a list."""
        for perform, base in frame.code.attribute_calls({"append"}):
            call = self._model.ev.expr(frame, perform.call)
            if isinstance(call, ir.Call) and call.args and self._is_target(base, target, frame):
                yield call.args[0].value

    def _entries(self, name: str, frame: Frame) -> Iterator[tuple[int, int]]:
        """Keys and values that a def stores in the dict `self.name`."""
        for _, step in self._model.steps(frame):
            if isinstance(step, ir.SetItem) and self._is_target(step.base, name, frame):
                yield step.index, step.value
            value = self._model.ev.expr(frame, step.value) if isinstance(step, ir.SetAttr) else None
            if isinstance(step, ir.SetAttr) and step.name == name and isinstance(value, ir.Map):
                if ir.is_self(self._model.ev.expr(frame, step.base)):
                    yield from zip(value.keys, value.values, strict=True)

    def _of_global(self, name: str, frame: Frame, depth: int) -> Orders:
        found: set[Order] = set()
        for one in module_names(name, frame, self._model):
            found |= _union(self.of(value, body, depth) for body, value in one.bound)
            named = _Named(frozenset({one.name}))
            bodies = one.bodies(_fills_global, self._model)
            found |= _union(self._of_appended(body, depth, named) for body in bodies)
            change = self._module_change(one, _changes_global, named) if found else ""
            if change:
                return _drawn(frozenset(found)) if change == "drawn" else _NONE
        return frozenset(found)

    def _module_change(self, one: ModuleName, asking: Callable[[str, str], bool], target: _Target) -> str:
        """How the code of a module may change the order of a list, as `_is_changed` tells; 'unknown' if it is not known
        what a function, or a statement that names the list itself, does to it."""
        changes: set[str] = set()
        for piece in one.file.all_asking(asking, one.name):
            change = self._is_changed(target, self._model.ev.body(one.file.path, piece))
            is_silent = isinstance(target, _Value) and not is_def(one.file.pieces[piece].text)
            changes.add(change or ("" if is_silent else "unknown"))
        return min(changes - {"", "drawn"}, default="drawn" if "drawn" in changes else "")

    def _of_passed(self, index: int, frame: Frame, depth: int) -> Orders | None:
        """The order of an argument of a constructor, as written in its call; None if it is not written there."""
        passed = passed_to_constructor(frame, index, self._model)
        if passed is None:
            return None
        return self.of(passed.number, passed.frame, depth) if passed.number != NONE else None

    def _of_arguments(self, index: int, frame: Frame, depth: int) -> Orders:
        """The order of an argument that only its expressions tell, in all calls."""
        passed = passed_anywhere(frame, index, self._model)
        return _agreed([self.of(one.number, one.frame, depth) for one in passed])

    def _given(self, index: int, found: Orders, frame: Frame, depth: int) -> Orders:
        """The orders of an argument after what the callers do to it in place: `names.sort()`, then `keep(names)`."""
        passed = passed_anywhere(frame, index, self._model) if found else []
        if not passed or any(one.number == NONE for one in passed):
            return found
        changes = {self._change(one.number, one.frame, depth) for one in passed}
        return _after(changes.pop(), found) if len(changes) == 1 else found

    def _change(self, number: int, frame: Frame, depth: int) -> str:
        """How a def changes the order of what it passes, as `_is_changed` tells. What other code of the module changes
        counts as shuffled."""
        if isinstance(self._model.ev.expr(frame, number), ir.Global) and not self.of(number, frame, depth):
            return "shuffled"
        return self._is_changed(number, frame)

    def _of_value(self, value: Val, depth: int) -> Orders:
        """The order of a sequence that was created elsewhere and passed as an argument."""
        found: set[Order] = set()
        for atom in value.atoms:
            if isinstance(atom, LibObject | SeqOf) and atom.site is not None and atom.site.expr >= 0:
                found |= self.of(atom.site.expr, atom.site.frame, depth)
        return frozenset(found)

    def _of_appended(self, frame: Frame, depth: int, target: _Target) -> Orders:
        """The order in which a def fills a list: that of the loops around its `append`."""
        found: set[Order] = set()
        for step, call in self._model.ev.performed(frame):
            func = self._model.ev.expr(frame, call.func)
            if not isinstance(func, ir.Attr) or func.name not in _ADDING or not call.args:
                continue
            if not self._is_target(func.base, target, frame):
                continue
            if func.name == "extend":
                found |= self.of(call.args[0].value, frame, depth)
            loops = self._ordering_loops(step.context, frame)
            chosen = self._chosen_by_turn(step.context, loops, frame)
            found |= self._of_chosen_turns(loops, chosen, frame, depth)
            orders = self._of_turn(call.args[0].value, frame, depth)
            found |= _cut(orders) if chosen else orders
            made = target.made if isinstance(target, _Value) else target
            begun = [made] if isinstance(made, int) else []
            found |= self._of_sets(self._loops_since(begun, step.context, frame), frame) if found else _NONE
        return frozenset(found | self._of_nested(target, frame, depth))

    def _of_added_lists(self, lists: Sequence[int], frame: Frame, depth: int) -> Orders:
        """The orders of the lists that a def adds to a list of lists: `parts.append(names[:800])`."""
        return self._all((value for one in lists for value in self._appended_to(one, frame)), frame, depth)

    def _of_added(self, left: int, right: int, number: int, frame: Frame, depth: int) -> Orders:
        """The order in which a def adds single items to a list, `names += [name]`: that of the loops around it."""
        e = self._model.ev.expr(frame, right)
        if not isinstance(e, ir.Seq) or not e.items:
            return _NONE
        context = frame.code.context_of(number)
        since = self._loops_since(self._begun(left, frame), context, frame)
        loops = [loop for loop in self._ordering_loops(context, frame) if loop in since]
        return self._of_chosen_turns(loops, self._chosen_by_turn(context, loops, frame), frame, depth)

    def _of_chosen_turns(self, loops: Sequence[int], chosen: Set[int], frame: Frame, depth: int) -> Orders:
        """The orders of loops; of those that are `chosen`, some turns count."""
        orders = ((loop, self.of(loop, frame, depth)) for loop in loops)
        return _union(_cut(found) if loop in chosen else found for loop, found in orders)

    def _of_nested(self, target: _Target, frame: Frame, depth: int) -> Orders:
        """The order in which functions inside of a def fill a list of it: that of the loops around their `append`, and
        around their calls."""
        found: set[Order] = set()
        for one, inside in self._nested(target, frame):
            if any(self._is_target(base, inside, one.frame) for _, base in one.frame.code.attribute_calls(_ADDING)):
                found |= self._of_appended(one.frame, depth, inside)
                found |= _union(self._of_loops_around(number, frame, depth) for number in one.calls)
        return frozenset(found)

    def _nested(self, target: _Target, frame: Frame) -> Iterator[tuple[Nested, _Target]]:
        """The functions inside of a def that may read a list or dict that it makes, each with what stands for the
        target there."""
        made = target.made if isinstance(target, _Value) else target
        if isinstance(made, int):
            for one in nested_readers(lambda number: self._is_target(number, made, frame), frame, self._model):
                named = _Named(one.names)
                yield one, _Value(named, target.key) if isinstance(target, _Value) else named

    def _of_calls(self, frame: Frame, makers: Sequence[Frame], name: str, depth: int) -> Orders:
        """The order in which the construction calls a method that appends to the list `self.name`: that of the loops
        around the calls, `for name in names: self.add(name)`."""
        appended = frame.code.attribute_calls(_ADDING)
        if not any(self._is_target(base, name, frame) for _, base in appended):
            return _NONE
        found: set[Order] = set()
        reached = [frame]
        for target in reached:  # and the methods that call those
            for maker in makers:
                for number in self._calls_of(target, maker) if maker not in reached else ():
                    reached.append(maker)
                    found |= self._of_loops_around(number, maker, depth)
        return frozenset(found)

    def _calls_of(self, target: Frame, caller: Frame) -> list[int]:
        """The calls in a frame that run another one."""
        return [number for number, targets in self._model.ev.leads(caller).items() if target in targets]

    def _of_loops_around(self, number: int, frame: Frame, depth: int) -> Orders:
        """The order of the loops around a call that pass it what they go through."""
        exprs = self._model.facts(frame).ir.exprs
        call = exprs[number]
        passed = [*ir.made_of(exprs, [arg.value for arg in call.args] if isinstance(call, ir.Call) else [])]
        items = {e.iterable for part in passed if isinstance(e := exprs[part], ir.Element)}
        loops = [loop for loop in self._ordering_loops(frame.code.context_of(number), frame) if loop in items]
        if not loops:
            return _NONE
        return self._all(loops, frame, depth).union(*(self._of_turn(part, frame, depth) for part in passed))

    def _of_sets(self, iterables: Iterable[int], frame: Frame) -> Orders:
        """The orders of the sets of texts among what loops go through."""
        found = [looped_set(one, frame, self._model) for one in iterables]
        return frozenset(Order(Listing(frame, number, LOOPED_SET)) for number in found if number is not None)

    def _loops_since(self, begun: Iterable[int], context: int, frame: Frame) -> list[int]:
        """What the loops around a context go through, without those in which the list itself is made, by one of the
        expressions `begun`."""
        around = self._model.def_of(frame).around
        makers = {here.expr for one in begun for here in around(frame.code.context_of(one)) if here.kind == "loop"}
        return [here.expr for here in around(context) if here.kind == "loop" and here.expr not in makers]

    def _begun(self, number: int, frame: Frame) -> list[int]:
        """The expressions that make a list to which `+=` adds."""
        choices = self._choices(number, frame) or (number,)
        return [one for one in choices if isinstance(self._model.ev.expr(frame, one), ir.Seq | ir.Call)]

    def _of_turn(self, value: int, frame: Frame, depth: int) -> Orders:
        """The order of a sequence that is indexed in a loop over a range, or over chosen positions: `names[turn]`."""
        e = self._model.ev.expr(frame, value)
        index = self._model.ev.expr(frame, e.index) if isinstance(e, ir.Index) else None
        if not isinstance(e, ir.Index) or not isinstance(index, ir.Element):
            return _NONE
        if self._counts(index.iterable, "builtins.range", frame):
            return self.of(e.base, frame, depth)
        return self.at(e.base, index.iterable, frame, depth)

    def _chosen_by_turn(self, context: int, loops: Sequence[int], frame: Frame) -> set[int]:
        """The loops whose counter a test reads to select items: `if number % 5 == 0`."""
        exprs = self._model.facts(frame).ir.exprs
        around = (here for here in self._model.def_of(frame).around(context) if here.kind == "if")
        tests = [here.expr for here in around if not (here.negated and self._asks_for_limit(here.expr, frame))]
        asked = {self._turn(exprs[part], frame) for part in ir.made_of(exprs, tests)}
        return asked & set(loops)

    def _asks_for_limit(self, test: int, frame: Frame) -> bool:
        """Whether a test compares with what may be None, and is then never equal: `if number == limit: break`, where
        the limit is None by default."""
        match self._model.ev.expr(frame, test):
            case ir.Compare(_, ("==",), (right,)):
                limit = self._model.ev.expr(frame, right)
                by_default = isinstance(limit, ir.Param) and frame.code.may_lack(limit.index)
                return by_default or _NOTHING in self._model.ev.eval(right, frame).atoms
        return False

    def _turn(self, e: ir.Expr, frame: Frame) -> int:
        """The iterable of a loop if a value is the counter of that loop; else NONE."""
        item = self._model.ev.expr(frame, e.value) if isinstance(e, ir.Unpack) and e.index == 0 else e
        name = "builtins.enumerate" if isinstance(e, ir.Unpack) else "builtins.range"
        is_turn = isinstance(item, ir.Element) and self._counts(item.iterable, name, frame)
        return item.iterable if is_turn and isinstance(item, ir.Element) else NONE

    def _counts(self, iterable: int, name: str, frame: Frame) -> bool:
        call = self._model.ev.expr(frame, iterable)
        return isinstance(call, ir.Call) and Lib(name) in self._model.ev.eval(call.func, frame).atoms

    def _of_loops(self, context: int, frame: Frame, depth: int) -> Orders:
        """The order of what is appended or yielded one by one: that of the loops around it."""
        loops = self._ordering_loops(context, frame)
        return frozenset(order for loop in loops for order in self.of(loop, frame, depth))

    def _ordering_loops(self, context: int, frame: Frame) -> list[int]:
        """What the loops around a context go through, but for those that only look for one name."""
        found_by_name = looked_up(context, frame, self._model)
        around = self._model.def_of(frame).around(context)
        return [here.expr for here in around if here.kind == "loop" and here.expr not in found_by_name]

    def _is_target(self, base: int, target: _Target, frame: Frame) -> bool:
        if isinstance(target, int):
            return base == target or target in self._choices(base, frame)
        if isinstance(target, _Named):
            match self._model.ev.expr(frame, base):
                case ir.Capture(1, name) | ir.Global(name):
                    return name in target.names
            return False
        if isinstance(target, _Value):
            taken = taken_value(base, frame, self._model)
            if taken is None or not self._is_target(taken.held, target.made, frame):
                return False
            return taken.key == NONE or _may_be_same(target.key, self._model.ev.expr(frame, taken.key))
        e = self._model.ev.expr(frame, base)
        if isinstance(target, _Entry):
            taken = taken_value(base, frame, self._model)
            held = taken.held if taken is not None else e.iterable if isinstance(e, ir.Element) else NONE
            return held != NONE and self._is_target(held, target.name, frame)
        return isinstance(e, ir.Attr) and e.name == target and ir.is_self(self._model.ev.expr(frame, e.base))

    def _choices(self, number: int, frame: Frame) -> tuple[int, ...]:
        e = self._model.ev.expr(frame, number)
        return e.choices if isinstance(e, ir.Phi) else ()

    # --- what changes it ----------------------------------------------------------------------------------------------

    def _changed(self, number: int, found: Orders, frame: Frame) -> Orders:
        """The orders after the def changes the object in place: `names.sort()`, `shuffle(names)`."""
        return _after(self._is_changed(number, frame), found)

    def _is_changed(self, target: _Target, frame: Frame) -> str:
        """How a def changes the order of a sequence: 'sorted', 'shuffled', 'drawn' (shuffled with a seed, which gives
        the same order only if the listing does), or not at all, ''."""
        is_drawn = False
        for _, how, call in self._changes(target, frame):
            if how == "sorted" or not draws_with_seed(call, frame, self._model):
                return how
            is_drawn = True
        if self._is_stored_sorted(target, frame):
            return "sorted"
        changes = {self._is_changed(inside, one.frame) for one, inside in self._nested(target, frame)}
        return next((how for how in ("sorted", "shuffled") if how in changes), "drawn" if is_drawn else "")

    def _changes(self, target: _Target, frame: Frame) -> Iterator[tuple[int, str, ir.Call]]:
        """The calls of a def that change the order of a sequence in place, each with the number of its step:
        'sorted' or 'shuffled'."""
        for step, call in self._model.ev.performed(frame):
            func = self._model.ev.expr(frame, call.func)
            name = _called(func)
            how = "shuffled" if name in SHUFFLES else "sorted" if "sort" in name.lower() and name != "sorted" else ""
            touched = [call.args[0].value] if how and call.args else []
            if how and isinstance(func, ir.Attr) and name not in _DRAWN:  # `rows.sample()` gives other rows
                touched.append(func.base)
            if any(self._is_target(one, target, frame) for one in touched):
                yield frame.code.evaluated_by(step.call) or 0, how, call

    def is_shuffled(self, name: str, frames: Iterable[Frame]) -> bool:
        """Whether one of `frames` shuffles the list `self.name` without a seed."""
        return any(self._is_changed(name, frame) == "shuffled" for frame in frames)

    def _is_stored_sorted(self, target: _Target, frame: Frame) -> bool:
        """Whether a def replaces the sequence by a sorted copy: `self.names = sorted(self.names)`."""
        stored: list[int] = []
        if isinstance(target, str):
            stored = [step.value for _, step in frame.code.stores_of(target)]
        elif isinstance(target, _Value):
            items = (step for _, step in self._model.steps_of(frame, ir.SetItem))
            stored = [one.value for one in items if self._is_target(one.base, target.made, frame)]
        elif isinstance(target, _Entry):
            items = (step for _, step in self._model.steps_of(frame, ir.SetItem))
            stored = [one.value for one in items if self._is_target(one.base, target.name, frame)]
            again = (self._model.ev.expr(frame, step.value) for _, step in frame.code.stores_of(target.name))
            stored += [e.element for e in again if isinstance(e, ir.Comp)]
        return any(self._is_sorted_copy(value, target, frame) for value in stored)

    def _is_sorted_copy(self, number: int, target: _Target, frame: Frame) -> bool:
        """Whether a call sorts `target`, whatever part of the result is taken: `sorted(names)[:10]`."""
        e = self._model.ev.expr(frame, number)
        if isinstance(e, ir.Index):
            return self._is_sorted_copy(e.base, target, frame)
        if not isinstance(e, ir.Call) or not e.args or not self._has_items_of(e.args[0].value, target, frame):
            return False
        return bool(_says_sort(e, frame, self._model))

    def _has_items_of(self, number: int, target: _Target, frame: Frame) -> bool:
        """Whether an expression is `target`, or a container of its items: `set(names)`, `[n for n in names if n]`."""
        if self._is_target(number, target, frame):
            return True
        match self._model.ev.expr(frame, number):
            case ir.Call(func, (first, *_)):
                names = {atom.name for atom in self._model.ev.eval(func, frame).atoms if isinstance(atom, Lib)}
                return bool(names) and names <= _CONTAINERS and self._has_items_of(first.value, target, frame)
            case ir.Comp(kind, _, _, (iterable, *_)) if kind != "dict":
                return self._has_items_of(iterable, target, frame)
        return False

    def _part(self, found: Orders, whole: int, index: int, frame: Frame) -> Orders:
        """The orders of a slice of `whole`. A slice is not a split if its bounds come from a loop, if it takes every
        n-th item or all, in a debugging run, or only if a user sets an option: `if limit > 0: names[:limit]`."""
        e = self._model.ev.expr(frame, index)
        bounds = [*self._bounds(e, whole, frame)] if isinstance(e, ir.Slice) else []
        if not bounds or any(self._is_from_loop(b, whole, frame, 0) for b in bounds):
            return found
        if self._is_debugging(index, frame) or is_by_option(frame, frame.code.context_of(index), self._model):
            return found
        is_capped = isinstance(e, ir.Slice) and bounds == [e.upper] and self._is_cap(e.upper, whole, frame)
        return _capped(found) if is_capped else _cut(found)

    def _is_from_loop(self, bound: int, whole: int, frame: Frame, depth: int) -> bool:
        """Whether a bound of a slice of `whole` has another value in each turn of a loop, apart from the length of what
        the loop goes through: `for name, files in groups.items(): files[: len(files) // 2]`."""
        e = self._model.ev.expr(frame, bound)
        if isinstance(e, ir.Element | ir.Unpack) or bound in frame.code.heads or depth > 6:
            return True
        if isinstance(e, ir.Phi):
            return any(self._is_from_loop(way, whole, frame, depth + 1) for way in self._ways(e, frame))
        if isinstance(e, ir.Call) and [arg.value for arg in e.args] == [whole]:
            return not self._counts(bound, "builtins.len", frame)
        return any(self._is_from_loop(part, whole, frame, depth + 1) for part in _parts(e))

    def _bounds(self, e: ir.Slice, whole: int, frame: Frame) -> Iterator[int]:
        """The bounds of a slice of `whole` that leave something out."""
        if e.lower != NONE and (self._is_share(e, frame) or not self._is_start(e.lower, frame)):
            yield e.lower
        is_upper = e.upper != NONE and not self._is_one_of(e.upper, (None,), frame)
        if is_upper and not self._is_its_length(e.upper, whole, frame) and not self._is_common_length(e.upper, frame):
            yield e.upper

    def _is_share(self, e: ir.Slice, frame: Frame) -> bool:
        """Whether a slice takes every n-th item from one on, and options say which: `names[rank::world]`. Each process
        has its own share, although the defaults may be those of a single process."""
        values = [self._model.ev.eval(one, frame) for one in (e.lower, e.step) if one != NONE]
        fixed = [literal for value in values if (literal := value.literal) is not None and not literal.configured]
        return e.upper == NONE and len(values) == 2 and not fixed

    def _is_start(self, number: int, frame: Frame) -> bool:
        """Whether a lower bound leaves nothing out: 0, None or `int(share * len(names))` with a share of 0."""
        if self._is_one_of(number, (None, 0), frame):
            return True
        e = self._model.ev.expr(frame, number)
        if isinstance(e, ir.Phi) and number not in frame.code.heads:
            return all(self._is_start(way, frame) for way in self._ways(e, frame))
        if isinstance(e, ir.Bin):
            return e.op == "*" and any(self._is_one_of(side, (0,), frame) for side in (e.left, e.right))
        called = self._model.ev.eval(e.func, frame).atoms if isinstance(e, ir.Call) else frozenset()
        is_rounded = isinstance(e, ir.Call) and len(e.args) == 1 and bool(called) and called <= _ROUNDING
        return isinstance(e, ir.Call) and is_rounded and self._is_start(e.args[0].value, frame)

    def _is_one_of(self, number: int, constants: tuple[int | None, ...], frame: Frame) -> bool:
        literal = self._model.ev.eval(number, frame).literal
        return literal is not None and literal.value in constants

    def _is_its_length(self, number: int, whole: int, frame: Frame, depth: int = 0) -> bool:
        """Whether an expression is the length of `whole`: `len(whole)`, `int(len(whole) * share)` with a share of 1, or
        `min` of the length and a limit that may be infinite."""
        ev = self._model.ev
        e = ev.expr(frame, number)
        if ways := self._ways(e, frame):
            return depth < _MAX_DEPTH and all(self._is_its_length(one, whole, frame, depth + 1) for one in ways)
        if isinstance(e, ir.Bin):
            sides = ((e.left, e.right), (e.right, e.left)) if e.op == "*" else ()
            return any(
                self._is_its_length(one, whole, frame, depth) and count_of(ev, ev.eval(share, frame)).least >= 1
                for one, share in sides
            )
        called = ev.eval(e.func, frame).atoms if isinstance(e, ir.Call) else frozenset()
        given = [arg.value for arg in e.args] if isinstance(e, ir.Call) else []
        if called == {Lib("builtins.len")}:
            return len(given) == 1 and self._is_same(given[0], whole, frame)
        if len(given) == 1 and called and called <= _ROUNDING:
            return self._is_its_length(given[0], whole, frame, depth)
        is_least = called == {Lib("builtins.min")}
        lengths = [self._is_its_length(one, whole, frame, depth) for one in given] if is_least else []
        return any(lengths) and all(
            is_length or any(count_of(ev, of(atom)).least == math.inf for atom in ev.eval(one, frame).atoms)
            for one, is_length in zip(given, lengths, strict=True)
        )

    def _is_cap(self, number: int, whole: int, frame: Frame) -> bool:
        """Whether an upper bound is less than the length of `whole` only if `whole` is longer than some limit:
        `min(limit, len(whole))`."""
        ev = self._model.ev
        e = ev.expr(frame, number)
        if not isinstance(e, ir.Call) or ev.eval(e.func, frame).atoms != {Lib("builtins.min")}:
            return False
        return any(self._is_its_length(arg.value, whole, frame) for arg in e.args)

    def _ways(self, e: ir.Expr | None, frame: Frame) -> list[int]:
        """What a limit may be: `limit or len(names)`, `len(names) if limit is None else limit`, what a branch has
        chosen, or an attribute that the same def stores, each only as far as it is taken without an option."""
        match e:
            case ir.IfExp(test, then, other):
                truth = self._model.ev.liveness.truth(test, frame)
                return [then, other] if truth is None else [then if truth else other]
            case ir.BoolOp("or", left, right):
                return [right] if self._is_one_of(left, (None, 0), frame) else [left, right]
            case ir.Phi(choices):
                live = list(self._model.ev.liveness.live(choices, frame))
                return [one for one in live if not self._is_set_by_option(one, frame)] or live
            case ir.Attr(base, name) if ir.is_self(self._model.ev.expr(frame, base)):
                return [step.value for _, step in frame.code.stores_of(name)]
        return []

    def _is_set_by_option(self, value: int, frame: Frame) -> bool:
        """Whether a name gets a value only if a user sets an option: `if args.limit: end = args.limit`."""
        contexts = [step.context for _, step in frame.code.bindings.get(value, ())]
        return bool(contexts) and all(is_by_option(frame, context, self._model) for context in contexts)

    def _is_common_length(self, number: int, frame: Frame) -> bool:
        """Whether an expression is the smaller of several lengths, `min(len(a), len(b))`: what it leaves out has no
        partner, and goes into no other set."""
        ev = self._model.ev
        e = ev.expr(frame, number)
        if not isinstance(e, ir.Call) or len(e.args) < 2 or ev.eval(e.func, frame).atoms != {Lib("builtins.min")}:
            return False
        given = [ev.expr(frame, arg.value) for arg in e.args]
        return all(
            isinstance(one, ir.Call) and ev.eval(one.func, frame).atoms == {Lib("builtins.len")} for one in given
        )

    def _is_same(self, one: int, other: int, frame: Frame) -> bool:
        """Whether two expressions are the same local or attribute."""
        e = self._model.ev.expr(frame, one)
        return one == other or (isinstance(e, ir.Attr) and e == self._model.ev.expr(frame, other))

    def _is_debugging(self, number: int, frame: Frame) -> bool:
        """Whether an expression is only evaluated under `if self.debug:` or the like."""
        one = self._model.def_of(frame)
        around = one.around(frame.code.context_of(number))
        tests = [self._model.ev.expr(frame, here.expr) for here in around if here.kind == "if" and not here.negated]
        names = [one.params[e.index].name if isinstance(e, ir.Param) else _called(e) for e in tests]
        return any("debug" in name.lower() for name in names)


def _union(parts: Iterable[Orders]) -> Orders:
    return frozenset(order for orders in parts for order in orders)


def _agreed(parts: Sequence[Orders]) -> Orders:
    """The orders of what several calls pass; empty if one of them passes something else, or only some sort it."""
    are_sorted = {all(order.sorted for order in orders) for orders in parts}
    return _union(parts) if all(parts) and len(are_sorted) == 1 else _NONE


def _after(change: str, found: Orders) -> Orders:
    """The orders after a change, which `_is_changed` names."""
    match change:
        case "sorted":
            return _sorted(found)
        case "shuffled":
            return _NONE
        case "drawn":
            return _drawn(found)
    return found


def listing_name(call: ir.Call, frame: Frame, model: Model) -> str:
    """'os.listdir', 'glob.glob', 'Path.iterdir', ...; '' for other calls."""
    callee = model.ev.eval(call.func, frame)
    for atom in callee.atoms:
        if isinstance(atom, Lib) and atom.name in LISTINGS:
            return atom.name
    func = model.ev.expr(frame, call.func)
    if isinstance(func, ir.Attr) and func.name in LISTING_METHODS:
        if callee.atoms and all(isinstance(a, LibMember | Unknown) for a in callee.atoms):
            return f"Path.{func.name}"
    return ""


def _may_be_same(asked: ir.Expr | None, written: ir.Expr | None) -> bool:
    """Whether two keys may be equal; two literals are compared."""
    return asked == written or not (isinstance(asked, ir.Const) and isinstance(written, ir.Const))


def _says_sort(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether the name of the callee says that it sorts: `sorted`, `natsorted`, `np.sort`, `sort_by_number`."""
    names = [_called(model.ev.expr(frame, call.func))]
    names += [atom.name for atom in model.ev.eval(call.func, frame).atoms if isinstance(atom, Lib)]
    return any("sort" in name.lower() for name in names)


def _called(func: ir.Expr | None) -> str:
    match func:
        case ir.Attr(_, name) | ir.Global(name):
            return name
        case ir.Imported(_, str(name), _):
            return name
    return ""


def _by(frame: Frame, call: int, orders: Iterable[Order]) -> Orders:
    """Orders of the result of a helper's call: another call of the helper lists something else."""
    via = (frame.order, call)
    return frozenset(replace(order, listing=replace(order.listing, via=via)) for order in orders)


def _capped(orders: Orders) -> Orders:
    """The orders of a part of a sequence that is all of it unless it is longer than some limit."""
    return frozenset(replace(order, capped=order.capped or not order.sorted) for order in orders)


def _cut(orders: Orders) -> Orders:
    """The orders of a part by position."""
    return frozenset(replace(order, cut=order.cut or not order.sorted) for order in orders)


def _drawn(orders: Orders) -> Orders:
    """The orders after a generator with a seed has changed them."""
    return frozenset(replace(order, drawn=True) for order in orders)


def _sorted(orders: Orders) -> Orders:
    """The orders after sorting, which does not change which items there are."""
    return frozenset(replace(order, sorted=True) for order in orders)


@needs_word
def _fills_global(text: str, name: str) -> bool:
    return any(f"{name}.{method}(" in text for method in _ADDING) and not is_def(text)


@needs_word
def _fills_dict(text: str, name: str) -> bool:
    return any(f"{name}{taken}" in text for taken in ("[", ".setdefault(")) and not is_def(text)


@needs_word
def _changes_values(text: str, name: str) -> bool:
    return name in text and ("sort" in text or "shuffle" in text)


@needs_word
def _changes_global(text: str, name: str) -> bool:
    return any(word in text for word in (f"{name}.sort(", f"shuffle({name}", f"sort({name}"))


def _parts(e: ir.Expr | None) -> Iterator[int]:
    match e:
        case ir.Bin(_, left, right):
            yield from (left, right)
        case ir.Call(_, args):
            yield from (arg.value for arg in args)
        case ir.Unary(_, operand):
            yield operand


__all__ = [
    "LOOPED_SET",
    "Listing",
    "ListingOrder",
    "Order",
    "Orders",
    "listing_name",
]
