"""Which folder listing a sequence gets its order from, and whether it was sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.listings import (
    FLATTENS,
    KEEPS_ORDER,
    KEEPS_ORDER_METHODS,
    ROWS,
    TABLES,
)
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.replaced_values import replaced_by_others
from loaderlint.project.evaluation.values import Instance, Lib, LibObject, SeqOf, Val
from loaderlint.project.modules.dependencies import is_def, needs_word
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import are_apart, is_alike
from loaderlint.rules.shared.chosen_positions import chosen_positions
from loaderlint.rules.shared.dict_values import DICTS, items_of, taken_value
from loaderlint.rules.shared.given_arguments import is_given, replaces_given, tested_for_none
from loaderlint.rules.shared.listing_order.list_changes import (
    CHOOSES,
    DRAWS,
    after,
    called_name,
    change_of,
    changing_calls,
    is_shuffled,
    is_stored_sorted,
    says_sort,
)
from loaderlint.rules.shared.listing_order.list_targets import (
    ADDS,
    DictValue,
    Entry,
    Named,
    Target,
    appended_to,
    choices_of,
    filled_inside,
    is_target,
    item_stores,
    may_be_same,
)
from loaderlint.rules.shared.listing_order.loop_turns import (
    chosen_by_counter,
    counted_loop,
    is_call_of,
    iterated_in,
    loops_since,
    ordering_loops,
)
from loaderlint.rules.shared.listing_order.orders import (
    LOOPED_SET,
    NO_ORDERS,
    Listing,
    Order,
    Orders,
    agreed,
    as_cut,
    as_drawn,
    as_sorted,
    by_call,
    listing_name,
    union,
)
from loaderlint.rules.shared.listing_order.slices import orders_of_slice, taken_ways
from loaderlint.rules.shared.looped_sets import looped_set
from loaderlint.rules.shared.module_names import ModuleName, module_names
from loaderlint.rules.shared.number_items import NumberItems
from loaderlint.rules.shared.option_tests import is_by_option
from loaderlint.rules.shared.passed_arguments import passed_anywhere, passed_to_constructor
from loaderlint.rules.shared.seeded_draws import draws_with_seed, splits_with_seed
from loaderlint.rules.shared.table_rows import is_table, selects_rows

_MAX_DEPTH = 24


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
            return NO_ORDERS
        key = (frame, number)
        if key not in self._known:
            self._known[key] = NO_ORDERS  # recursion ends here
            found = self._of(number, frame, depth + 1) | self._of_added_to(number, frame, depth + 1)
            self._known[key] = self._changed(number, found, frame) if found else found
        return self._known[key]

    def _of(self, number: int, frame: Frame, depth: int) -> Orders:
        e = self._model.ev.expr(frame, number)
        match e:
            case ir.Call():
                is_spare = replaces_given(number, frame, self._model)
                return NO_ORDERS if is_spare else self._of_call(e, number, frame, depth)
            case ir.Comp("set"):
                return self._of_set(number, (number,), frame, depth)
            case ir.Comp(kind, element, _, iterables):
                takes_items = kind in ("list", "generator") and self._takes_items(element, iterables, frame)
                found = self._all(iterables, frame, depth) if takes_items else NO_ORDERS
                found = found or self._of_picked(element, iterables, frame, depth)
                return found | self._of_sets(iterables, frame) if found else found
            case ir.Attr(base, name):
                owner = self._model.ev.eval(base, frame)
                has_rows = name in ROWS or (isinstance(self._model.ev.expr(frame, base), ir.Attr) and is_table(owner))
                return self._of_attribute(owner, name, depth) or (
                    self.of(base, frame, depth) if has_rows else NO_ORDERS
                )
            case ir.Index(base, index):
                if isinstance(self._model.ev.expr(frame, index), ir.Slice):
                    return orders_of_slice(self.of(base, frame, depth), base, index, frame, self._model)
                chosen = self.at(base, index, frame, depth)
                found = chosen or self._of_walk(base, frame) or self._of_taken(number, frame, depth)
                found = found or self._of_unpacked_at(base, index, frame, depth)
                return found or (self.of(base, frame, depth) if selects_rows(index, frame, self._model) else NO_ORDERS)
            case ir.Unpack(value, index, _):
                found = self._of_unpacked(value, index, frame, depth)
                return found or self._of_walk(value, frame) or self._of_taken(number, frame, depth)
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
                loops = loops_since(self._begun(left, frame), frame.code.context_of(number), frame, self._model)
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
                return self._all(starred, frame, depth)
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
                return known or (self._of_arguments(index, frame, depth) if given.unknown is not None else NO_ORDERS)
            case ir.Capture():
                return self._of_value(self._model.ev.eval(number, frame), depth)
        return NO_ORDERS

    def _all(self, numbers: Iterable[int], frame: Frame, depth: int) -> Orders:
        return frozenset(order for number in numbers for order in self.of(number, frame, depth))

    def _takes_items(self, element: int, iterables: Sequence[int], frame: Frame) -> bool:
        """Whether an element of a comprehension is made of the items that it iterates over, and not only of their
        positions: `number % 4 for number, name in enumerate(names)`."""
        exprs = self._model.facts(frame).ir.exprs
        parts = set(ir.made_of(exprs, (element,)))
        items = {n for n in parts if isinstance(e := exprs[n], ir.Element) and e.iterable in iterables}
        counters = {n for n in parts if counted_loop(exprs[n], frame, self._model) in iterables}
        return element in items or any(items.intersection(ir.operands(exprs[n])) for n in parts - counters)

    def _of_picked(self, element: int, iterables: Sequence[int], frame: Frame, depth: int) -> Orders:
        """The orders of what a comprehension takes by positions: `[names[index] for index in chosen]`."""
        exprs = self._model.facts(frame).ir.exprs
        taken = [e for n in ir.made_of(exprs, (element,)) if isinstance(e := exprs[n], ir.Index)]
        positions = {one: e.iterable for one in taken if isinstance(e := exprs[one.index], ir.Element)}
        picked = ((one.base, each) for one, each in positions.items() if each in iterables)
        return union(self.at(base, each, frame, depth) for base, each in picked)

    def at(self, base: int, positions: int, frame: Frame, depth: int = 0) -> Orders:
        """The orders of the items of a sequence at positions that a seed, or their place, decides about; empty for
        other positions."""
        found = self.of(base, frame, depth)
        choice = chosen_positions(positions, frame, self._model) if found else ""
        return as_drawn(as_cut(found)) if choice == "seed" else as_cut(found) if choice else NO_ORDERS

    def _of_call(self, call: ir.Call, number: int, frame: Frame, depth: int) -> Orders:
        ev = self._model.ev
        how = listing_name(call, frame, self._model)
        if how:
            return frozenset(
                {Order(Listing(frame, number, how), how == "os.walk" and self._sorts_folders(number, frame))}
            )
        arguments = [arg.value for arg in call.args]
        if says_sort(call, frame, self._model):
            return as_sorted(self._all(arguments[:1], frame, depth))
        func = ev.expr(frame, call.func)
        drawing = called_name(func)
        if drawing in DRAWS and arguments and draws_with_seed(call, frame, self._model):
            drawn = self.of(arguments[0], frame, depth)
            if is_by_option(frame, frame.code.context_of(number), self._model):
                return drawn
            return as_drawn(as_cut(drawn) if drawing in CHOOSES else drawn)
        if isinstance(func, ir.Attr) and func.name == "keys" and not arguments:
            return self._of_keys(func.base, frame, depth)
        names = {atom.name for atom in ev.eval(call.func, frame).atoms if isinstance(atom, Lib)}
        if names & {"builtins.set", "builtins.frozenset"}:
            return self._of_set(number, arguments, frame, depth)
        if names & TABLES:
            columns = (ev.expr(frame, one) for one in arguments[:1])
            values = [value for e in columns if isinstance(e, ir.Map) for value in e.values]
            return self._all(values or arguments[:1], frame, depth) | self._of_columns(number, frame, depth)
        if names and names <= FLATTENS:
            parts = (self._of_parts(one, frame, depth) for one in arguments[:1])
            return self._all(arguments, frame, depth).union(*parts)
        if "pandas.merge" in names:
            return self._all(arguments[:1], frame, depth) if _keeps_left(call, 2, frame, self._model) else NO_ORDERS
        if names:
            return self._all(arguments, frame, depth) if names <= KEEPS_ORDER else NO_ORDERS
        found: set[Order] = set()
        for target in ev.targets(number, frame):
            one = self._model.def_of(target)
            if one.name == "__init__":
                continue
            for _, step in self._model.steps(target):
                if isinstance(step, ir.YieldStep) and not step.is_from:
                    found |= by_call(frame, number, target, self._of_loops(step.context, target, depth))
                elif isinstance(step, ir.Return | ir.YieldStep):
                    found |= by_call(frame, number, target, self.of(step.value, target, depth))
        if found:
            return frozenset(found)
        if isinstance(func, ir.Attr) and func.name in KEEPS_ORDER_METHODS:
            return self.of(func.base, frame, depth)
        if isinstance(func, ir.Attr) and func.name in ("sample", "head", "tail"):
            return self._of_some_rows(call, func, frame, depth)
        if isinstance(func, ir.Attr) and func.name == "merge" and _keeps_left(call, 1, frame, self._model):
            return self.of(func.base, frame, depth)
        return self._of_taken(number, frame, depth)

    def _makes_table(self, number: int, frame: Frame) -> bool:
        """Whether an expression makes a table of what it is passed: `pd.DataFrame(columns=["path"])`."""
        call = self._model.ev.expr(frame, number)
        callee = self._model.ev.eval(call.func, frame) if isinstance(call, ir.Call) else None
        return callee is not None and any(atom.name in TABLES for atom in callee.only(Lib))

    def _of_columns(self, table: int | Named, frame: Frame, depth: int) -> Orders:
        """The orders of what a def stores in the columns of a table: `rows["path"] = paths`."""
        return self._all((step.value for step in item_stores(table, frame, self._model)), frame, depth)

    def _of_some_rows(self, call: ir.Call, method: ir.Attr, frame: Frame, depth: int) -> Orders:
        """The order of the rows that a method takes from a table: `rows.sample(frac=1, random_state=0)`."""
        found = self.of(method.base, frame, depth)
        if method.name != "sample":
            return as_cut(found)
        given = {arg.name: self._model.ev.eval(arg.value, frame) for arg in call.args}
        share, state = given.get("frac"), given.get("random_state")
        if state is None or state.is_none:
            return NO_ORDERS
        is_whole = share is not None and share.literal is not None and share.literal.value == 1
        return as_drawn(found if is_whole else as_cut(found))

    def _of_set(self, number: int, made_of: Iterable[int], frame: Frame, depth: int) -> Orders:
        """A set of names, whose hashes differ in each run, whatever their order was before. Numbers have the same
        hashes in all runs."""
        for one in made_of:
            e = self._model.ev.expr(frame, one)
            sources = e.iterables if isinstance(e, ir.Comp) else (one,)
            if self._all(sources, frame, depth) and self._numbers.among(one, frame) is not True:
                return frozenset({Order(Listing(frame, number, "set"))})
        return NO_ORDERS

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
        return NO_ORDERS

    def _of_unpacked_at(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of several values that a call gives, where a number says which one: `read(folder)[0]`."""
        e = self._model.ev.expr(frame, index)
        at = e.value if isinstance(e, ir.Const) and e.kind == "int" else None
        return self._of_unpacked(value, at, frame, depth) if isinstance(at, int) else NO_ORDERS

    def _of_unpacked(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of several values that a call gives."""
        return self._of_split(value, index, frame, depth) or self._of_item(value, index, frame, depth)

    def _of_split(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of the two parts that `train_test_split` makes of each of its arguments with a seed."""
        call = self._model.ev.expr(frame, value)
        if not isinstance(call, ir.Call) or not splits_with_seed(call, frame, self._model):
            return NO_ORDERS
        given = [arg.value for arg in call.args if arg.kind == "pos"]
        return as_drawn(as_cut(self.of(given[index // 2], frame, depth))) if index // 2 < len(given) else NO_ORDERS

    def _of_item(self, value: int, index: int, frame: Frame, depth: int) -> Orders:
        """One of several values that a function of the project returns."""
        if not isinstance(self._model.ev.expr(frame, value), ir.Call) or depth > _MAX_DEPTH:
            return NO_ORDERS
        found: set[Order] = set()
        first = _first_alike(value, frame)
        for target in self._model.ev.targets(value, frame):
            for _, step in self._model.steps_of(target, ir.Return):
                given = self._model.ev.expr(target, step.value)
                if isinstance(given, ir.Call):
                    inner = self._of_unpacked(step.value, index, target, depth + 1)
                    found |= by_call(frame, first, target, inner)
                elif isinstance(given, ir.Seq) and -len(given.items) <= index < len(given.items):
                    found |= by_call(frame, first, target, self.of(given.items[index], target, depth))
        return frozenset(found)

    def _of_attribute(self, owner: Val, name: str, depth: int) -> Orders:
        found: set[Order] = set()
        for inst in owner.only(Instance):
            frames: dict[Frame, None] = {}
            stores = self._model.ev.classes.stores(inst, name)
            gone = replaced_by_others(self._model.ev, inst, name, stores)
            for store in stores:
                step = self._model.def_of(store.frame).steps[store.step]
                frames[store.frame] = None
                if store not in gone and isinstance(step, ir.SetAttr):
                    found |= self.of(step.value, store.frame, depth)
            frames |= dict.fromkeys(self._model.ev.classes.construction(inst))
            for frame in frames:
                found |= self._of_appended(frame, depth, name) | self._of_calls(frame, tuple(frames), name, depth)
            if found and is_shuffled(name, frames, self._model):
                return after("shuffled", frozenset(found))
            changes = {change_of(name, frame, self._model) for frame in frames} if found else set()
            if "sorted" in changes:
                found = set(as_sorted(self._parts_before_sorting(name, frames, frozenset(found))))
            elif "drawn" in changes:
                found = set(as_drawn(frozenset(found)))
        return frozenset(found)

    def _parts_before_sorting(self, name: str, frames: Iterable[Frame], found: Orders) -> Orders:
        """The orders of the list `self.name` after a def has taken a part of it by position, before it sorts what is
        left: `self.names = self.names[:100]`, then `self.names.sort()`."""
        for frame in frames:
            if is_stored_sorted(name, frame, self._model):
                continue
            sorting = [number for number, how, _ in changing_calls(name, frame, self._model) if how == "sorted"]
            for number, step in frame.code.stores_of(name) if sorting else ():
                there = frozenset(order for order in found if not self._is_apart(order, step.context, frame))
                if number < sorting[0]:
                    found = (found - there) | self._parts(there, step.value, name, frame)
        return found

    def _parts(self, found: Orders, value: int, name: str, frame: Frame) -> Orders:
        """The orders of the list `self.name` after it has been replaced by a part of it, if `value` is one."""
        e = self._model.ev.expr(frame, value)
        if isinstance(e, ir.IfExp):
            return union(self._parts(found, way, name, frame) for way in taken_ways(e, frame, self._model))
        is_part = isinstance(e, ir.Index) and is_target(e.base, name, frame, self._model)
        return (
            orders_of_slice(found, e.base, e.index, frame, self._model)
            if isinstance(e, ir.Index) and is_part
            else found
        )

    def _is_apart(self, order: Order, context: int, frame: Frame) -> bool:
        """Whether a def does not come by a listing and a context in one run."""
        at = frame.code.context_of(order.listing.expr) if order.listing.frame is frame else None
        return at is not None and are_apart(at, context, frame, self._model)

    def _of_taken(self, number: int, frame: Frame, depth: int) -> Orders:
        """The order of a list that is taken from a dict or a list: `files["train"]`, `for name, group in
        groups.items()`."""
        taken = taken_value(number, frame, self._model)
        if taken is None:
            return NO_ORDERS
        asked = self._model.ev.expr(frame, taken.key) if taken.key != NONE else None
        return self._of_values(taken.held, asked, frame, depth)

    def _of_values(self, held: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists that a dict holds under a key, or under any."""
        if depth > _MAX_DEPTH:
            return NO_ORDERS
        key = (frame, held, asked)
        if key not in self._known_values:
            self._known_values[key] = NO_ORDERS  # recursion ends here
            found = self._of_held(held, asked, frame, depth + 1)
            change = change_of(DictValue(held, asked), frame, self._model) if found else ""
            self._known_values[key] = after(change, found)
        return self._known_values[key]

    def _of_held(self, held: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        e = self._model.ev.expr(frame, held)
        match e:
            case ir.Attr():
                return self._of_entry(e, asked, frame, depth)
            case ir.Phi(choices):
                live = self._model.ev.liveness.live(choices, frame, held)
                return union(self._of_values(one, asked, frame, depth) for one in live)
            case ir.Map(keys, values):
                pairs = [pair for pair in zip(keys, values, strict=True) if pair[0] != NONE]
                written = [v for k, v in pairs if may_be_same(asked, self._model.ev.expr(frame, k))]
                return self._all(written, frame, depth) | self._of_filled(held, asked, frame, depth)
            case ir.Comp("dict", element):
                return self.of(element, frame, depth) | self._of_filled(held, asked, frame, depth)
            case ir.Call():
                return self._of_made(e, held, asked, frame, depth)
            case ir.Global(name):
                return self._of_module_values(name, asked, frame, depth)
            case ir.Param(index):
                passed = passed_anywhere(frame, index, self._model)
                return agreed([self._of_values(one.number, asked, one.frame, depth) for one in passed])
        return NO_ORDERS

    def _of_made(self, call: ir.Call, number: int, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists in the dict that a call makes or returns."""
        ev = self._model.ev
        names = {atom.name for atom in ev.eval(call.func, frame).only(Lib)}
        if names & DICTS:
            given = [items_of(arg.value, frame, self._model) for arg in call.args if arg.kind == "pos"]
            before = union(self._of_values(one, asked, frame, depth) for one in given)
            return before | self._of_filled(number, asked, frame, depth)
        func = ev.expr(frame, call.func)
        if isinstance(func, ir.Attr) and func.name == "copy":
            return self._of_values(func.base, asked, frame, depth)
        found: set[Order] = set()
        for target in ev.targets(number, frame):
            for _, step in self._model.steps_of(target, ir.Return):
                found |= by_call(frame, number, target, self._of_values(step.value, asked, target, depth))
        return frozenset(found)

    def _of_filled(self, made: int | Named, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists that a def stores in a dict or fills there: `groups[name].append(file)`."""
        value = DictValue(made, asked)
        stores = item_stores(made, frame, self._model)
        stored = [step.value for step in stores if may_be_same(asked, self._model.ev.expr(frame, step.index))]
        return self._all(stored, frame, depth) | self._of_appended(frame, depth, value)

    def _of_module_values(self, name: str, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The orders of the lists in a dict that the statements of a module make and fill."""
        found: set[Order] = set()
        for one in module_names(name, frame, self._model):
            named = Named(frozenset({one.name}))
            found |= union(self._of_values(value, asked, body, depth) for body, value in one.bound)
            bodies = one.bodies(_fills_dict, self._model)
            found |= union(self._of_filled(named, asked, body, depth) for body in bodies)
            change = self._module_change(one, _changes_values, DictValue(named, asked)) if found else ""
            if change:
                return as_drawn(frozenset(found)) if change == "drawn" else NO_ORDERS
        return frozenset(found)

    def _of_entry(self, kept: ir.Attr, asked: ir.Expr | None, frame: Frame, depth: int) -> Orders:
        """The order of a list that an object stores in a dict or list of its own: `self.files["train"]`."""
        found: set[Order] = set()
        for inst in self._model.ev.eval(kept.base, frame).only(Instance):
            makers = self._model.ev.classes.construction(inst)
            if any(change_of(Entry(kept.name), maker, self._model) in ("sorted", "shuffled") for maker in makers):
                return NO_ORDERS
            for maker in makers:
                found |= self._of_appended(maker, depth, Entry(kept.name))
                for written, value in self._entries(kept.name, maker):
                    if may_be_same(asked, self._model.ev.expr(maker, written)):
                        found |= self.of(value, maker, depth)
                for value in self._kept_lists(kept.name, maker):
                    found |= self.of(value, maker, depth)
        return frozenset(found)

    def _kept_lists(self, name: str, frame: Frame) -> Iterator[int]:
        """What a def puts into the list `self.name`, and which may be a list itself."""
        yield from appended_to(name, frame, self._model)
        for _, step in frame.code.stores_of(name):
            value = self._model.ev.expr(frame, step.value)
            if isinstance(value, ir.Comp) and value.kind == "list":
                yield value.element
            elif isinstance(value, ir.Seq) and value.kind != "set":
                yield from value.items

    def _entries(self, name: str, frame: Frame) -> Iterator[tuple[int, int]]:
        """Keys and values that a def stores in the dict `self.name`."""
        for _, step in self._model.steps(frame):
            if isinstance(step, ir.SetItem) and is_target(step.base, name, frame, self._model):
                yield step.index, step.value
            value = self._model.ev.expr(frame, step.value) if isinstance(step, ir.SetAttr) else None
            if isinstance(step, ir.SetAttr) and step.name == name and isinstance(value, ir.Map):
                if ir.is_self(self._model.ev.expr(frame, step.base)):
                    yield from zip(value.keys, value.values, strict=True)

    def _of_global(self, name: str, frame: Frame, depth: int) -> Orders:
        found: set[Order] = set()
        for one in module_names(name, frame, self._model):
            found |= union(self.of(value, body, depth) for body, value in one.bound)
            named = Named(frozenset({one.name}))
            bodies = one.bodies(_fills_global, self._model)
            found |= union(self._of_appended(body, depth, named) for body in bodies)
            if any(self._makes_table(value, body) for body, value in one.bound):
                bodies = one.bodies(_fills_dict, self._model)
                found |= union(self._of_columns(named, body, depth) for body in bodies)
            change = self._module_change(one, _changes_global, named) if found else ""
            if change:
                return as_drawn(frozenset(found)) if change == "drawn" else NO_ORDERS
        return frozenset(found)

    def _module_change(self, one: ModuleName, asking: Callable[[str, str], bool], target: Target) -> str:
        """How the code of a module may change the order of a list, as `change_of` tells; 'unknown' if it is not known
        what a function, or a statement that names the list itself, does to it."""
        changes: set[str] = set()
        for piece in one.file.all_asking(asking, one.name):
            change = change_of(target, self._model.ev.body(one.file.path, piece), self._model)
            is_silent = isinstance(target, DictValue) and not is_def(one.file.pieces[piece].text)
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
        return agreed([self.of(one.number, one.frame, depth) for one in passed])

    def _given(self, index: int, found: Orders, frame: Frame, depth: int) -> Orders:
        """The orders of an argument after what the callers do to it in place: `names.sort()`, then `keep(names)`."""
        passed = passed_anywhere(frame, index, self._model) if found else []
        if not passed or any(one.number == NONE for one in passed):
            return found
        changes = {self._change(one.number, one.frame, depth) for one in passed}
        return after(changes.pop(), found) if len(changes) == 1 else found

    def _change(self, number: int, frame: Frame, depth: int) -> str:
        """How a def changes the order of what it passes, as `change_of` tells. What other code of the module changes
        counts as shuffled."""
        if isinstance(self._model.ev.expr(frame, number), ir.Global) and not self.of(number, frame, depth):
            return "shuffled"
        return change_of(number, frame, self._model)

    def _of_value(self, value: Val, depth: int) -> Orders:
        """The order of a sequence that was created elsewhere and passed as an argument."""
        found: set[Order] = set()
        for atom in value.atoms:
            if isinstance(atom, LibObject | SeqOf) and atom.site is not None and atom.site.expr >= 0:
                found |= self.of(atom.site.expr, atom.site.frame, depth)
        return frozenset(found)

    def _of_appended(self, frame: Frame, depth: int, target: Target) -> Orders:
        """The order in which a def fills a list: that of the loops around its `append`."""
        found: set[Order] = set()
        for step, call in self._model.ev.performed(frame):
            func = self._model.ev.expr(frame, call.func)
            if not isinstance(func, ir.Attr) or func.name not in ADDS or not call.args:
                continue
            if not is_target(func.base, target, frame, self._model):
                continue
            if func.name == "extend":
                found |= self.of(call.args[0].value, frame, depth)
            loops = ordering_loops(step.context, frame, self._model)
            chosen = chosen_by_counter(step.context, loops, frame, self._model)
            chosen |= self._chosen_by_part(step.context, loops, frame, depth)
            found |= self._of_chosen_turns(loops, chosen, frame, depth)
            orders = self._of_turn(call.args[0].value, frame, depth)
            found |= as_cut(orders) if chosen else orders
            made = target.made if isinstance(target, DictValue) else target
            begun = [made] if isinstance(made, int) else []
            found |= self._of_sets(loops_since(begun, step.context, frame, self._model), frame) if found else NO_ORDERS
        return frozenset(found | self._of_nested(target, frame, depth))

    def _chosen_by_part(self, context: int, loops: Sequence[int], frame: Frame, depth: int) -> set[int]:
        """The loops of which a test selects the items that are in a part by position: `if key in train_keys`, after
        `train_keys = keys[:800]`."""
        found: set[int] = set()
        for test in (here.expr for here in self._model.def_of(frame).around(context) if here.kind == "if"):
            e = self._model.ev.expr(frame, test)
            if isinstance(e, ir.Compare) and e.ops in (("in",), ("not in",)):
                items = iterated_in((e.left,), frame, self._model) & set(loops)
                if items and any(order.cut for order in self.of(e.rights[0], frame, depth)):
                    found |= items
        return found

    def _of_keys(self, held: int, frame: Frame, depth: int) -> Orders:
        """The order in which a def makes the keys of a dict: that of the loops that give them, `groups[name] = []`."""
        found: set[int] = set()
        for step in item_stores(held, frame, self._model):
            around = ordering_loops(step.context, frame, self._model)
            found |= iterated_in((step.index,), frame, self._model) & set(around)
        return self._all(sorted(found), frame, depth)

    def _of_added_to(self, number: int, frame: Frame, depth: int) -> Orders:
        """The order in which a def fills the list that an expression makes: `names = os.listdir(a)`, then
        `names.extend(os.listdir(b))`."""
        e = self._model.ev.expr(frame, number)
        is_added_to = isinstance(e, ir.Call | ir.Comp | ir.Bin | ir.IfExp) and any(
            is_target(base, number, frame, self._model) for _, base in frame.code.attribute_calls(ADDS)
        )
        return self._of_appended(frame, depth, number) if is_added_to or isinstance(e, ir.Seq) else NO_ORDERS

    def _of_parts(self, lists: int, frame: Frame, depth: int) -> Orders:
        """The orders of the lists, or tables, in a list: `[names, others]`, `parts.append(names[:800])`,
        `[part for part in parts if len(part)]`."""
        if depth > _MAX_DEPTH:
            return NO_ORDERS
        match self._model.ev.expr(frame, lists):
            case ir.Seq(_, items):
                found = self._all_of_parts(items, frame, depth + 1)
            case ir.Comp("list" | "generator", element):
                found = self._all_of_parts((element,), frame, depth + 1)
            case ir.Global(name):
                return self._of_parts_in_module(name, frame, depth + 1)
            case _:
                found = NO_ORDERS
        return found | self._all_of_parts(appended_to(lists, frame, self._model), frame, depth + 1)

    def _of_parts_in_module(self, name: str, frame: Frame, depth: int) -> Orders:
        """As `_of_parts`, of a list that the statements of a module make and fill."""
        found: set[Order] = set()
        for one in module_names(name, frame, self._model):
            named = Named(frozenset({one.name}))
            found |= union(self._of_parts(value, body, depth) for body, value in one.bound)
            for body in one.bodies(_fills_global, self._model):
                found |= self._all_of_parts(appended_to(named, body, self._model), body, depth)
        return frozenset(found)

    def _all_of_parts(self, parts: Iterable[int], frame: Frame, depth: int) -> Orders:
        """The orders of lists, each of which may be what a loop takes from a list of lists."""
        found: set[Order] = set()
        for part in parts:
            e = self._model.ev.expr(frame, part)
            found |= self.of(part, frame, depth)
            if isinstance(e, ir.Element):
                found |= self._of_parts(e.iterable, frame, depth)
        return frozenset(found)

    def _of_added(self, left: int, right: int, number: int, frame: Frame, depth: int) -> Orders:
        """The order in which a def adds items to a list, `names += [name]`: that of the loops around it."""
        e = self._model.ev.expr(frame, right)
        if not isinstance(e, ir.Seq | ir.Comp | ir.Call) or (isinstance(e, ir.Seq) and not e.items):
            return NO_ORDERS
        context = frame.code.context_of(number)
        since = loops_since(self._begun(left, frame), context, frame, self._model)
        loops = [loop for loop in ordering_loops(context, frame, self._model) if loop in since]
        return self._of_chosen_turns(loops, chosen_by_counter(context, loops, frame, self._model), frame, depth)

    def _of_chosen_turns(self, loops: Sequence[int], chosen: Set[int], frame: Frame, depth: int) -> Orders:
        """The orders of loops; of those that are `chosen`, some turns count."""
        orders = ((loop, self.of(loop, frame, depth)) for loop in loops)
        return union(as_cut(found) if loop in chosen else found for loop, found in orders)

    def _of_nested(self, target: Target, frame: Frame, depth: int) -> Orders:
        """The order in which functions inside of a def fill a list of it: that of the loops around their `append`, and
        around their calls."""
        found: set[Order] = set()
        for one, inside in filled_inside(target, frame, self._model):
            if any(is_target(base, inside, one.frame, self._model) for _, base in one.frame.code.attribute_calls(ADDS)):
                found |= self._of_appended(one.frame, depth, inside)
                found |= union(self._of_loops_around(number, frame, depth) for number in one.calls)
        return frozenset(found)

    def _of_calls(self, frame: Frame, makers: Sequence[Frame], name: str, depth: int) -> Orders:
        """The order in which the construction calls a method that appends to the list `self.name`: that of the loops
        around the calls, `for name in names: self.add(name)`."""
        appended = frame.code.attribute_calls(ADDS)
        if not any(is_target(base, name, frame, self._model) for _, base in appended):
            return NO_ORDERS
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
        given = [arg.value for arg in call.args] if isinstance(call, ir.Call) else []
        items = iterated_in(given, frame, self._model)
        loops = [loop for loop in ordering_loops(frame.code.context_of(number), frame, self._model) if loop in items]
        if not loops:
            return NO_ORDERS
        turns = (self._of_turn(part, frame, depth) for part in ir.made_of(exprs, given))
        return self._all(loops, frame, depth).union(*turns)

    def _of_sets(self, iterables: Iterable[int], frame: Frame) -> Orders:
        """The orders of the sets of texts among what loops go through."""
        found = [looped_set(one, frame, self._model) for one in iterables]
        return frozenset(Order(Listing(frame, number, LOOPED_SET)) for number in found if number is not None)

    def _begun(self, number: int, frame: Frame) -> list[int]:
        """The expressions that make a list to which `+=` adds."""
        choices = choices_of(number, frame, self._model) or (number,)
        return [one for one in choices if isinstance(self._model.ev.expr(frame, one), ir.Seq | ir.Call)]

    def _of_turn(self, value: int, frame: Frame, depth: int) -> Orders:
        """The order of a sequence that is indexed in a loop over a range, or over chosen positions: `names[turn]`."""
        e = self._model.ev.expr(frame, value)
        index = self._model.ev.expr(frame, e.index) if isinstance(e, ir.Index) else None
        if not isinstance(e, ir.Index) or not isinstance(index, ir.Element):
            return NO_ORDERS
        if is_call_of(index.iterable, "builtins.range", frame, self._model):
            return self.of(e.base, frame, depth)
        return self.at(e.base, index.iterable, frame, depth)

    def _of_loops(self, context: int, frame: Frame, depth: int) -> Orders:
        """The order of what is appended or yielded one by one: that of the loops around it."""
        loops = ordering_loops(context, frame, self._model)
        return frozenset(order for loop in loops for order in self.of(loop, frame, depth))

    def _changed(self, number: int, found: Orders, frame: Frame) -> Orders:
        """The orders after the def changes the object in place: `names.sort()`, `shuffle(names)`."""
        return after(change_of(number, frame, self._model), found)


def _keeps_left(call: ir.Call, position: int, frame: Frame, model: Model) -> bool:
    """Whether a merge of two tables keeps the order of the first one, as pandas documents it for 'inner', the default,
    and 'left'. `position`: that of the argument `how`."""
    number = ir.written_argument(call, "how", position)
    how = model.ev.eval(number, frame).literal if number != NONE else None
    return number == NONE or (how is not None and how.value in ("inner", "left"))


def _first_alike(call: int, frame: Frame) -> int:
    """The first call of a def that is written like this one: `read(folder)[0]` and `read(folder)[1]` list one folder,
    which has one order."""
    exprs = frame.code.exprs
    return next((one for one, e in enumerate(exprs[:call]) if type(e) is ir.Call and is_alike(one, call, exprs)), call)


@needs_word
def _fills_global(text: str, name: str) -> bool:
    return any(f"{name}.{method}(" in text for method in ADDS) and not is_def(text)


@needs_word
def _fills_dict(text: str, name: str) -> bool:
    return any(f"{name}{taken}" in text for taken in ("[", ".setdefault(")) and not is_def(text)


@needs_word
def _changes_values(text: str, name: str) -> bool:
    return name in text and ("sort" in text or "shuffle" in text)


@needs_word
def _changes_global(text: str, name: str) -> bool:
    return any(word in text for word in (f"{name}.sort(", f"shuffle({name}", f"sort({name}"))


__all__ = ["ListingOrder"]
