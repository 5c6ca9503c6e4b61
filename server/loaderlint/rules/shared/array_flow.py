"""Backward data flow of arrays: from a use, through locals, containers, fields, helpers and pipelines of transforms, to
the expressions that create the array. A copy ends the path, and so does unknown code.

The analysis is context-sensitive: a helper's parameters are followed into the call that it was entered by, not into
others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from typing import NamedTuple, Protocol

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.higher_order import ALTERNATIVES, ORDERED_PIPELINES, STEPS
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.library_calls import flattened
from loaderlint.project.evaluation.pipeline_steps import added_steps
from loaderlint.project.evaluation.values import (
    Atom,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    Method,
    PartialOf,
    SeqOf,
    def_key,
    is_none,
)
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.same_expressions import reads_same
from loaderlint.rules.shared.unresolved_places import Spot

#: An item of a container at an unknown index.
ANY_ITEM = "[]"
_MAX_STATES = 600
_MAX_CALLS = 12
#: The channels of an image with colours.
_COLOURS = 3
#: Attributes that show that the code handles the layout of its arrays itself.
_LAYOUT_WORDS = frozenset({"strides", "flags"})
#: Calls that make an array of nothing but a shape and a number.
_FILLED = frozenset(f"numpy.{name}{like}" for name in ("zeros", "ones", "empty", "full") for like in ("", "_like"))
#: Calls that return a container of the same items.
_SHALLOW_COPIES = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "copy.copy"})


class Deep(NamedTuple):
    """Any part of a container, at any depth, except for its entries that were replaced. `inside`: not the value itself,
    which was copied."""

    without: tuple[str | int, ...] = ()
    inside: bool = False


Selector = str | int | Deep
Path = tuple[Selector, ...]
#: Any part of a value: the default collate function reads all of them.
ANYTHING: Path = (Deep(),)


class Step(NamedTuple):
    """A call that was entered backwards: expression `number` of `caller`. For a pipeline also its steps, and the index
    of the entered one."""

    caller: Frame
    number: int
    steps: tuple[tuple[Atom, ...], ...] = ()
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which is not used


class State(NamedTuple):
    """The part `path` of expression `number`, as seen at `until` (None: at the end) in a step of context `context`."""

    number: int
    frame: Frame
    path: Path
    stack: tuple[Step, ...]
    until: Spot | None
    context: int


class Question(Protocol):
    """The kind of expression that is searched for."""

    def makes(self, number: int, frame: Frame, path: Path) -> bool:
        """Whether the path ends here because the expression creates what is searched for."""

    def shares(self, number: int, frame: Frame, path: Path) -> Iterator[tuple[int, Path]]:
        """The expressions whose memory this one shares, with the shared part of each."""


class Found(NamedTuple):
    """An expression that creates what was searched for."""

    frame: Frame
    number: int


class ArrayFlow:
    """The backward data flow of arrays in one model, for one question."""

    def __init__(self, model: Model, question: Question) -> None:
        self._model = model
        self._ev = model.ev
        self._question = question

    def found(self, number: int, frame: Frame, path: Path, at: ir.Step | None = None) -> list[Found]:
        """The expressions that create part `path` of expression `number`, as used by step `at` of the frame."""
        until, context = self._position(frame, at)
        return self._search([State(number, frame, path, (), until, context)])

    def found_in_pipeline(self, number: int, frame: Frame, wanted: Collection[str]) -> list[Found]:
        """The expressions that create the argument of a step of the pipeline called at `number`, for the steps that are
        objects of the `wanted` library classes."""
        call = self._ev.expr(frame, number)
        steps = pipeline_steps(call, frame, self._ev) if isinstance(call, ir.Call) else ()
        states: list[State] = []
        for index, atoms in enumerate(steps):
            if any(isinstance(atom, LibObject) and atom.name in wanted for atom in atoms):
                states.extend(self._step_argument(steps, index, 0, number, frame, (), ()))
        return self._search(states)

    def _search(self, states: list[State]) -> list[Found]:
        queue, seen = deque(states), set(states)
        found: dict[Found, None] = {}
        while queue and len(seen) < _MAX_STATES:
            state = queue.popleft()
            if self._question.makes(state.number, state.frame, state.path):
                found[Found(state.frame, state.number)] = None
                continue
            for before in self._before(state):
                if before in seen or len(before.stack) > _MAX_CALLS:
                    continue
                if not self._ev.calls.is_guessed(before.frame):
                    seen.add(before)
                    queue.append(before)
        return list(found)

    # --- one step back ------------------------------------------------------------------------------------------------

    def _before(self, state: State) -> Iterator[State]:
        number, frame, path = state.number, state.frame, state.path
        if path and not isinstance(path[0], Deep):
            stored, open_ = self._stored_items(state)
            yield from stored
            if not open_:
                return
        elif path:
            stored, state = self._deeply_stored(state)
            yield from stored
            path = state.path
        for shared, part in self._question.shares(number, frame, path):
            yield state._replace(number=shared, path=part)
        match self._ev.expr(frame, number):
            case ir.Phi(choices):
                if not self._minds_layout(frame):
                    live = self._ev.liveness.live(self._after_tests(self._after_loops(choices, state), state), frame)
                    yield from (state._replace(number=c) for c in live if not self._is_dead(c, frame))
            case ir.IfExp(test, then, other):
                truth = self._ev.liveness.truth(test, frame)
                truth = True if truth is None and self._is_given(test, [then], frame) else truth
                yield from (state._replace(number=n) for n, dead in ((then, False), (other, True)) if truth is not dead)
            case ir.BoolOp(_, left, right):
                yield from (state._replace(number=side) for side in (left, right))
            case ir.Augmented(_, target, _) | ir.Star(target):
                yield state._replace(number=target)
            case ir.Seq(_, items):
                yield from self._items(state, items)
            case ir.Map(keys, values):
                yield from self._entries(state, keys, values)
            case ir.Comp(kind, element, _, _):
                if rest := selected(path, ANY_ITEM, anything=kind != "dict" or bool(path)):
                    yield state._replace(number=element, path=rest[0])
            case ir.Index(base, index):
                key = self._key(index, frame)
                if key is not None:
                    yield state._replace(number=base, path=(key, *path), until=Spot(frame, number))
                elif path and (isinstance(path[0], int) or path[0] == ANY_ITEM):
                    yield state._replace(number=base, path=(ANY_ITEM, *path[1:]))  # a part of a list
            case ir.Unpack(value, index, False):
                yield state._replace(number=value, path=(index if index >= 0 else ANY_ITEM, *path))
            case ir.Element(iterable):
                yield from self._element(state, iterable)
            case ir.Attr(base, name):
                yield from self._attribute(state, base, name)
            case ir.Param(index):
                if not self._is_left_with_arrays(state):
                    yield from self._parameter(state, index)
            case ir.Capture(up, name):
                yield from self._captured(state, up, name)
            case ir.Call():
                yield from self._called(state)

    def _after_loops(self, choices: tuple[int, ...], state: State) -> tuple[int, ...]:
        """What a local may be without what it was before a loop that binds it in each turn, where the loop is over: it
        is written to run at least once (`for t in self.transforms: x = t(x)`)."""
        frame, one = state.frame, self._model.def_of(state.frame)
        inside: dict[int, dict[int, int]] = {}
        for choice in choices:
            for _, step in frame.code.bindings.get(choice, ()):
                for loop in one.loops_around(step.context):
                    if not one.is_within(state.context, loop):
                        inside.setdefault(loop, {})[choice] = step.context
        for loop, bound in inside.items():
            if always_comes_by(bound.values(), loop, frame, self._model):
                return tuple(choice for choice in choices if choice in bound)
        return choices

    def _after_tests(self, choices: tuple[int, ...], state: State) -> tuple[int, ...]:
        """What a local may be, if it is an array, without what a branch replaces that runs for every array, or that
        calls what is given: `if x is not None: x = x.copy()`, `if self.transform: x = self.transform(x)`."""
        frame, one = state.frame, self._model.def_of(state.frame)
        left = []
        for choice in choices:
            places = [(o, s.context) for o in choices if o != choice for _, s in frame.code.bindings.get(o, ())]
            bound = [context for _, context in places]
            tests = {n for context in bound for n in one.enclosing(context) if not one.is_within(state.context, n)}
            runs = (
                n
                for n in tests
                if self._runs_for_arrays(one.contexts[n], choice, frame)
                or self._calls_what_is_given(one.contexts[n], [o for o, c in places if one.is_within(c, n)], frame)
            )
            if not any(always_comes_by(bound, n, frame, self._model) for n in runs):
                left.append(choice)
        return tuple(left) or choices

    def _runs_for_arrays(self, context: ir.Context, choice: int, frame: Frame) -> bool:
        """Whether a branch is taken whenever `choice` is an array: `if image is not None and isinstance(...)`, or an
        image with colours: `if image.shape[2] == 3`."""
        if context.kind != "if":
            return False
        tests = [context.expr] if context.negated else list(self._conjuncts(context.expr, frame))
        if not context.negated and any(self._asks_for_colours(test, choice, frame) for test in tests):
            return True
        said = [self._said_by(test, frame, context.negated) for test in tests]
        return NONE not in said and any(self._is_choice(number, choice, frame) for number in said)

    def _is_left_with_arrays(self, state: State) -> bool:
        """Whether a run in which a parameter is an array does not get to the step that uses it:
        `if isinstance(x, np.ndarray): return f(x)` comes before."""
        frame, one = state.frame, self._model.def_of(state.frame)
        ends = ((number, step) for number, step in enumerate(one.steps) if isinstance(step, ir.Return | ir.Raise))
        return any(
            step.context != 0
            and not one.is_within(state.context, step.context)
            and self._is_before(number, frame, state.until)
            and self._runs_for_arrays(one.contexts[step.context], state.number, frame)
            for number, step in ends
        )

    def _asks_for_colours(self, test: int, choice: int, frame: Frame) -> bool:
        """Whether a test is `choice.shape[2] == 3`: most arrays with a third axis of channels are such images."""
        match self._ev.expr(frame, test):
            case ir.Compare(left, ("==",), (right,)):
                item, colours = self._ev.expr(frame, left), self._ev.expr(frame, right)
                shape = self._ev.expr(frame, item.base) if isinstance(item, ir.Index) else None
                if not isinstance(item, ir.Index) or not isinstance(shape, ir.Attr) or shape.name != "shape":
                    return False
                axis = self._ev.eval(item.index, frame).literal
                counted = isinstance(colours, ir.Const) and colours.value == _COLOURS
                is_last = axis is not None and axis.value in (2, -1)
                return counted and is_last and self._is_choice(shape.base, choice, frame)
        return False

    def _calls_what_is_given(self, context: ir.Context, bound: list[int], frame: Frame) -> bool:
        """Whether a branch is for a function that is given, and calls it for what it binds. Who passes a transform by
        name passes one."""
        return context.kind == "if" and not context.negated and self._is_given(context.expr, bound, frame)

    def _is_given(self, test: int, bound: list[int], frame: Frame) -> bool:
        e = self._ev.expr(frame, test)
        given = self._said_by(test, frame, negated=False) if isinstance(e, ir.Compare) else test
        if given == NONE or not isinstance(self._ev.expr(frame, given), ir.Attr):
            return False
        atoms = self._ev.eval(given, frame).atoms
        if not atoms or any(isinstance(atom, Literal_) for atom in atoms):
            return False
        exprs = frame.code.exprs
        calls = [exprs[n] for n in ir.made_of(exprs, bound) if isinstance(exprs[n], ir.Call)]
        return any(reads_same(call.func, given, exprs) for call in calls if isinstance(call, ir.Call))

    def _conjuncts(self, test: int, frame: Frame) -> Iterator[int]:
        """The tests that `and` joins."""
        e = self._ev.expr(frame, test)
        if not isinstance(e, ir.BoolOp) or e.op != "and":
            yield test
            return
        yield from self._conjuncts(e.left, frame)
        yield from self._conjuncts(e.right, frame)

    def _said_by(self, test: int, frame: Frame, negated: bool) -> int:
        """What a test says to be an array, or to be given at all; else NONE."""
        match self._ev.expr(frame, test):
            case ir.Compare(left, (op,), (right,)) if op == ("is" if negated else "is not"):
                said = self._ev.expr(frame, right)
                return left if isinstance(said, ir.Const) and said.kind == "NoneType" else NONE
            case ir.Call(func, (value, kind)) if not negated:
                if Lib("builtins.isinstance") in self._ev.eval(func, frame).atoms:
                    atoms = self._ev.eval(kind.value, frame).atoms
                    return value.value if Lib("numpy.ndarray") in atoms else NONE
        return NONE

    def _is_choice(self, number: int, choice: int, frame: Frame) -> bool:
        e = self._ev.expr(frame, number)
        return number == choice or (isinstance(e, ir.Phi) and choice in e.choices)

    def _key(self, index: int, frame: Frame) -> str | int | None:
        """The key that an index selects; None for slices."""
        if frame.code.has_slice(index):
            return None
        literal = self._ev.eval(index, frame).literal
        if literal is not None and literal.kind in ("str", "int") and isinstance(literal.value, str | int):
            return literal.value
        return ANY_ITEM

    def _items(self, state: State, items: tuple[int, ...]) -> Iterator[State]:
        if any(isinstance(self._ev.expr(state.frame, item), ir.Star) for item in items):
            return
        for position, item in enumerate(items):
            if rest := selected(state.path, position):
                yield state._replace(number=item, path=rest[0])
            elif state.path and isinstance(state.path[0], int) and state.path[0] + len(items) == position:
                yield state._replace(number=item, path=state.path[1:])  # counted from the end

    def _entries(self, state: State, keys: tuple[int, ...], values: tuple[int, ...]) -> Iterator[State]:
        for key, value in zip(keys, values, strict=True):
            if key == NONE:
                yield state._replace(number=value)
                continue
            name = self._key(key, state.frame)
            if name is not None and (rest := selected(state.path, name)):
                yield state._replace(number=value, path=rest[0])

    def _element(self, state: State, iterable: int) -> Iterator[State]:
        """The variable of a loop over a container, or over `enumerate(...)` or `zip(...)` of containers."""
        call = self._ev.expr(state.frame, iterable)
        names = self._libraries(call.func, state.frame) if isinstance(call, ir.Call) else frozenset()
        if isinstance(call, ir.Call) and names & {"builtins.enumerate", "builtins.zip"}:
            first = 1 if "builtins.enumerate" in names else 0
            for position, arg in enumerate(call.args):
                if arg.kind == "pos" and (rest := selected(state.path, first + position)):
                    yield state._replace(number=arg.value, path=(ANY_ITEM, *rest[0]))
        else:
            yield state._replace(number=iterable, path=(ANY_ITEM, *state.path))

    def _attribute(self, state: State, base: int, name: str) -> Iterator[State]:
        """The values stored in a field, or returned by a property."""
        frame = state.frame
        if targets := self._ev.targets(state.number, frame):
            yield from self._returned(targets, Step(frame, state.number), state)
            return
        for owner in self._ev.eval(base, frame).only(Instance):
            for store in self._ev.classes.stores(owner, name):
                step = self._ev.def_of(store.frame).steps[store.step]  # type: ignore[union-attr]
                if isinstance(step, ir.SetAttr):
                    until, context = self._position(store.frame, step)
                    yield State(step.value, store.frame, state.path, (), until, context)

    def _captured(self, state: State, up: int, name: str) -> Iterator[State]:
        scope, def_ = state.frame.scope, state.frame.def_
        for _ in range(up):
            def_ = self._model.facts(state.frame).ir.defs[def_].parent
        while scope is not None and scope.def_ != def_:
            scope = scope.scope
        one = self._ev.def_of(scope) if scope else None
        for step in one.steps if one and scope else ():
            if isinstance(step, ir.Bind) and step.name == name and step.value != NONE and scope:
                until, context = self._position(scope, step)
                yield State(step.value, scope, state.path, (), until, context)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _called(self, state: State) -> Iterator[State]:
        frame, number = state.frame, state.number
        call = self._ev.expr(frame, number)
        if not isinstance(call, ir.Call) or _is_unordered(call, frame, self._ev):
            return
        if steps := pipeline_steps(call, frame, self._ev):
            yield from self._after_step(steps, len(steps) - 1, state)
        elif targets := self._ev.targets(number, frame):
            yield from self._returned(targets, Step(frame, number), state)
        elif state.path and self._libraries(call.func, frame) & _SHALLOW_COPIES and call.args:
            yield state._replace(number=call.args[0].value, path=_items_of(state.path), until=Spot(frame, number))
        elif isinstance(func := self._ev.expr(frame, call.func), ir.Attr):
            if func.name == "copy" and state.path and isinstance(state.path[0], str | Deep):
                yield state._replace(number=func.base, path=_items_of(state.path), until=Spot(frame, number))
            elif func.name in ("get", "pop") and call.args:
                key = self._key(call.args[0].value, frame)
                if isinstance(key, str) and key != ANY_ITEM:
                    yield state._replace(number=func.base, path=(key, *state.path), until=Spot(frame, number))

    def _returned(self, targets: tuple[Frame, ...], entered: Step, state: State) -> Iterator[State]:
        """The results of the frames that a call runs."""
        for target in targets:
            one = self._ev.def_of(target)
            if one is None or one.name == "__init__":
                continue
            for step in one.steps:
                if isinstance(step, ir.Return | ir.YieldStep) and not self._ev.liveness.is_dead(step.context, target):
                    path = state.path
                    if one.is_generator:
                        if not isinstance(step, ir.YieldStep) or step.is_from or path[:1] != (ANY_ITEM,):
                            continue
                        path = path[1:]
                    if step.value != NONE:
                        until, context = self._position(target, step)
                        yield State(step.value, target, path, (*state.stack, entered), until, context)

    def _parameter(self, state: State, index: int) -> Iterator[State]:
        """The argument for a parameter: of the call that was entered, or of any call that leads here."""
        frame = state.frame
        if state.stack:
            yield from self._passed(state.stack[-1], frame, index, state, state.stack[:-1])
            return
        for caller, number in self._callers(frame):
            call = self._ev.expr(caller, number)
            if not isinstance(call, ir.Call) or _is_unordered(call, caller, self._ev):
                continue
            steps = pipeline_steps(call, caller, self._ev)
            if not steps:
                yield from self._passed(Step(caller, number), frame, index, state, ())
            for position, atoms in enumerate(steps):
                if any(_belongs(frame, atom) for atom in atoms):
                    yield from self._passed(Step(caller, number, steps, position), frame, index, state, ())

    def _callers(self, frame: Frame) -> tuple[tuple[Frame, int], ...]:
        receiver = frame.receiver
        one = self._ev.def_of(frame)
        if isinstance(receiver, Instance) and receiver.site is not None and one and one.name == "__init__":
            return ((receiver.site.frame, receiver.site.expr),)
        return self._model.callers_of(frame)

    def _passed(
        self, entered: Step, frame: Frame, index: int, state: State, stack: tuple[Step, ...]
    ) -> Iterator[State]:
        caller, number = entered.caller, entered.number
        call = self._ev.expr(caller, number)
        if not isinstance(call, ir.Call) or any(arg.kind in ("star", "starstar") for arg in call.args):
            return
        params = self._model.def_of(frame).params
        position = index - (1 if frame.receiver is not None else 0)
        if entered.steps:
            yield from self._step_argument(entered.steps, entered.index, position, number, caller, state.path, stack)
            return
        if any(isinstance(atom, PartialOf) for atom in self._ev.eval(call.func, caller).atoms):
            return
        positional = [arg.value for arg in call.args if arg.kind == "pos"]
        explicit = frame.receiver is not None and self._passes_self(call, frame, caller)
        position += 1 if explicit else 0
        value = next((a.value for a in call.args if a.kind == "kw" and a.name == params[index].name), NONE)
        if value == NONE and 0 <= position < len(positional) and params[index].kind in ("pos", "any"):
            value = positional[position]
        if value != NONE:
            until, context = self._call_position(caller, number)
            yield State(value, caller, state.path, stack, until, context)

    def _passes_self(self, call: ir.Call, frame: Frame, caller: Frame) -> bool:
        """Whether a method is called through its class: `Base.method(self, ...)`."""
        callee = self._ev.eval(call.func, caller)
        return bool(callee.only(FunctionRef)) and not callee.only(Method, Instance)

    # --- pipelines ----------------------------------------------------------------------------------------------------

    def _after_step(self, steps: tuple[tuple[Atom, ...], ...], index: int, state: State) -> Iterator[State]:
        """The result of step `index` of the pipeline that `state` calls; before the first step, the argument of the
        pipeline."""
        frame, number = state.frame, state.number
        targets = self._ev.targets(number, frame)
        for atom in steps[index]:
            chosen = tuple(target for target in targets if _belongs(target, atom))
            yield from self._returned(chosen, Step(frame, number, steps, index), state)

    def _step_argument(
        self,
        steps: tuple[tuple[Atom, ...], ...],
        index: int,
        position: int,
        number: int,
        frame: Frame,
        path: Path,
        stack: tuple[Step, ...],
    ) -> Iterator[State]:
        """The argument of step `index` of the pipeline called at `number`."""
        call = self._ev.expr(frame, number)
        positional = [arg.value for arg in call.args if arg.kind == "pos"] if isinstance(call, ir.Call) else []
        if not 0 <= position < len(positional):
            return
        until, context = self._call_position(frame, number)
        if index > 0:
            part: Path = (position, *path) if len(positional) > 1 else path
            yield from self._after_step(steps, index - 1, State(number, frame, part, stack, until, context))
            return
        for value in self._without(positional[position], number, frame):
            yield State(value, frame, path, stack, until, context)

    def _without(self, value: int, number: int, frame: Frame) -> Iterator[int]:
        """An argument without the result of the call in the previous iteration."""
        e = self._ev.expr(frame, value)
        for choice in e.choices if isinstance(e, ir.Phi) else (value,):
            inner = self._ev.expr(frame, choice)
            if choice != number and not (isinstance(inner, ir.Unpack) and inner.value == number):
                yield choice

    # --- containers that are filled later -----------------------------------------------------------------------------

    def _stored_items(self, state: State) -> tuple[list[State], bool]:
        """The values stored under the first key of the path before the value is used, and whether there may be none."""
        key, *rest = state.path
        out: list[State] = []
        for step, name in self._stores_into(state):
            if name == ANY_ITEM and self._leaves(step, key, state):
                continue
            if name == key or ANY_ITEM in (name, key):
                out.append(
                    state._replace(number=step.value, path=tuple(rest), until=self._position(state.frame, step)[0])
                )
                if name == key and self._replaces(step, name, state):
                    return out, False
                if name == ANY_ITEM and key != ANY_ITEM and self._goes_over(step, state):
                    return out, False
        return out, True

    def _goes_over(self, store: ir.SetItem, state: State) -> bool:
        """Whether a loop that is over when the value is used goes over all items of the container, and stores into each
        of them: `for i in range(len(images)): images[i] = ...`. A branch of the loop may leave some as they are."""
        index = self._ev.expr(state.frame, store.index)
        one = self._model.def_of(state.frame)
        loops = [loop for loop in one.loops_around(store.context) if not one.is_within(state.context, loop)]
        counted = index.value if isinstance(index, ir.Unpack) and index.index == 0 else store.index
        element = self._ev.expr(state.frame, counted)
        if not isinstance(element, ir.Element) or element.iterable not in {one.contexts[loop].expr for loop in loops}:
            return False
        parts = ir.made_of(state.frame.code.exprs, (element.iterable,))
        return state.number in parts

    def _leaves(self, store: ir.SetItem, key: Selector, state: State) -> bool:
        """Whether a store under a computed key leaves entry `key` as it is: all keys are known to be others, or a loop
        takes them from another container, and entry `key` is always stored before by its name. That would be in vain if
        the loop replaced it."""
        if isinstance(key, Deep) or key == ANY_ITEM:
            return False
        atoms = self._ev.eval(store.index, state.frame).atoms
        keys = [one.value for one in atoms if isinstance(one, Literal_) and not one.configured]
        if keys and len(keys) == len(atoms):
            is_text = isinstance(key, str) or all(isinstance(one, str) for one in keys)
            return is_text and key not in keys  # numbers may count from the end of a list
        index = self._ev.expr(state.frame, store.index)
        taken = self._ev.expr(state.frame, index.value) if isinstance(index, ir.Unpack) else index
        if not isinstance(taken, ir.Element):
            return False
        named = self._named_before(store, key, state)
        return bool(named) and named.isdisjoint(ir.made_of(state.frame.code.exprs, (store.index, store.value)))

    def _named_before(self, store: ir.SetItem, key: str | int, state: State) -> frozenset[int]:
        """The container, and what is always stored under `key` in it before a store in a loop; empty if nothing is."""
        for _, step in state.frame.code.steps_of(ir.SetItem):
            if step is store:
                break
            if step.base == state.number and self._key(step.index, state.frame) == key:
                is_outside = step.context != store.context and self._is_within(store.context, step.context, state.frame)
                if is_outside and not self._is_placeholder(step.value, state.frame):
                    return frozenset({state.number, step.value})
        return frozenset()

    def _is_placeholder(self, number: int, frame: Frame) -> bool:
        """Whether a value may stand for one that a loop does not give: None, an array of zeros."""
        atoms = self._ev.eval(number, frame).atoms
        return any(is_none(one) or (isinstance(one, LibObject) and one.name in _FILLED) for one in atoms)

    def _deeply_stored(self, state: State) -> tuple[list[State], State]:
        """The values stored in a container of which any part counts, and the container without the values that they
        replaced."""
        (deep,) = state.path[:1]
        deep = deep if isinstance(deep, Deep) else Deep()
        without = list(deep.without)
        out: list[State] = []
        for step, name in self._stores_into(state):
            if name in without:
                continue
            out.append(state._replace(number=step.value, path=ANYTHING, until=self._position(state.frame, step)[0]))
            if name != ANY_ITEM and self._replaces(step, name, state):
                without.append(name)
        return out, state._replace(path=(deep._replace(without=tuple(without)), *state.path[1:]))

    def _stores_into(self, state: State) -> Iterator[tuple[ir.SetItem, str | int]]:
        """The stores `container[key] = value` before the value is used, the last one first, without those that a later
        one in the same block replaces."""
        later: list[tuple[str | int, int]] = []
        for number, step in reversed(state.frame.code.steps_of(ir.SetItem)):
            if step.base != state.number or not self._is_before(number, state.frame, state.until):
                continue
            key = self._key(step.index, state.frame)
            if key is None or self._ev.liveness.is_dead(step.context, state.frame):
                continue
            if not any(key == name and self._is_within(step.context, context, state.frame) for name, context in later):
                yield step, key
            later.append((key, step.context))

    def _replaces(self, store: ir.SetItem, key: str | int, state: State) -> bool:
        """Whether a store replaces an item, if it is an array, whenever the value is used after it: in any case, or if
        the item is not None (`if mask is not None: sample["mask"] = mask.copy()`)."""
        if self._always(store.context, state):
            return True
        frame, one = state.frame, self._model.def_of(state.frame)
        around = one.contexts[store.context]
        if around.kind != "if" or around.negated or not self._is_within(state.context, around.parent, frame):
            return False
        said = [self._said_by(test, frame, negated=False) for test in self._conjuncts(around.expr, frame)]
        return bool(said) and all(number != NONE and self._is_item(number, key, state) for number in said)

    def _is_item(self, number: int, key: str | int, state: State) -> bool:
        """Whether an expression is that item of the container."""
        e = self._ev.expr(state.frame, number)
        if isinstance(e, ir.Unpack):
            unpacked = self._ev.expr(state.frame, e.value)
            if isinstance(unpacked, ir.Seq) and 0 <= e.index < len(unpacked.items):
                e = self._ev.expr(state.frame, unpacked.items[e.index])
        return isinstance(e, ir.Index) and e.base == state.number and self._key(e.index, state.frame) == key

    def _always(self, context: int, state: State) -> bool:
        """Whether a step of a context always runs before the value is used: the use is in the same context."""
        return self._is_within(state.context, context, state.frame)

    def _is_within(self, here: int, context: int, frame: Frame) -> bool:
        """Whether a context is `context` or is nested in it."""
        one = self._ev.def_of(frame)
        return here == context if one is None else one.is_within(here, context)

    # --- places -------------------------------------------------------------------------------------------------------

    def _position(self, frame: Frame, at: ir.Step | None) -> tuple[Spot | None, int]:
        one = self._ev.def_of(frame)
        for number, step in enumerate(one.steps if one else ()):
            if step is at:
                return Spot(frame, number, "step"), step.context
        return None, 0

    def _call_position(self, frame: Frame, number: int) -> tuple[Spot, int]:
        return Spot(frame, number), next(iter(frame.code.contexts_of(number)), 0)

    def _is_before(self, step: int, frame: Frame, until: Spot | None) -> bool:
        """Whether a step of a def runs before another spot of the def."""
        if until is None:
            return True
        then = until.number if until.kind == "step" else until.frame.code.evaluated_by(until.number)
        if then is not None:
            return step < then
        return Spot(frame, step, "step").place(self._model).anchor < until.place(self._model).anchor

    def _is_dead(self, number: int, frame: Frame) -> bool:
        """Whether a local is bound to an expression only in branches that never run."""
        contexts = [step.context for _, step in frame.code.bindings.get(number, ())]
        return bool(contexts) and all(self._ev.liveness.is_dead(context, frame) for context in contexts)

    def _minds_layout(self, frame: Frame) -> bool:
        """Whether the surrounding code checks strides or flags itself. It is then assumed to be correct."""
        return any(isinstance(e, ir.Attr) and e.name in _LAYOUT_WORDS for e in self._model.facts(frame).ir.exprs)

    def _libraries(self, func: int, frame: Frame) -> frozenset[str]:
        return frozenset(a.name for a in self._ev.eval(func, frame).atoms if isinstance(a, Lib))


def pipeline_steps(call: ir.Call, frame: Frame, ev: Evaluator) -> tuple[tuple[Atom, ...], ...]:
    """The steps that a call runs in sequence, each with its possible values: of a library's `Compose`, or of a loop
    `for t in self.transforms: x = t(x)`."""
    func = ev.expr(frame, call.func)
    if isinstance(func, ir.Element):
        lists = ev.eval(func.iterable, frame).only(SeqOf)
        if len(lists) == 1:
            return tuple(tuple(item.ordered()) for item in lists[0].items)
    for atom in ev.eval(call.func, frame).only(LibObject):
        if atom.name in ORDERED_PIPELINES:
            return tuple(_pipeline(atom, ev))
    return ()


def _is_unordered(call: ir.Call, frame: Frame, ev: Evaluator) -> bool:
    """Whether a loop calls the steps of a list, and which comes after which is not known: a list that is filled with
    what a registry or a configuration names."""
    func = ev.expr(frame, call.func)
    lists = ev.eval(func.iterable, frame).only(SeqOf) if isinstance(func, ir.Element) else []
    return any(_is_filled(one, ev) and any(len(item.only(Instance)) > 1 for item in one.items) for one in lists)


def _is_filled(steps: SeqOf, ev: Evaluator) -> bool:
    """Whether a list has items that do not stand in its display."""
    display = ev.expr(steps.site.frame, steps.site.expr) if steps.site is not None and steps.site.expr >= 0 else None
    return not isinstance(display, ir.Seq) or len(display.items) != len(steps.items)


def _pipeline(atom: LibObject, ev: Evaluator) -> Iterator[tuple[Atom, ...]]:
    made = ev.calls.site_arguments(atom.site)
    added = added_steps(ev, atom)
    own = (*made.positional[:1], *(v for name, v in made.keywords if name == STEPS))
    for value in (*added.before, *own, *added.after):
        lists = value.only(SeqOf)
        for item in lists[0].items if len(lists) == 1 else (value,):
            yield tuple(_chosen(item.ordered(), ev))


def _chosen(atoms: list[Atom], ev: Evaluator) -> Iterator[Atom]:
    """A step, or the steps that it chooses from."""
    for atom in atoms:
        if isinstance(atom, LibObject) and atom.name in ALTERNATIVES:
            for value in ev.calls.site_arguments(atom.site).positional:
                yield from flattened(value)
        else:
            yield atom


def selected(path: Path, key: str | int, *, anything: bool = True) -> list[Path]:
    """What remains of a path inside entry `key` of a container, as a list of one; empty if the path leads elsewhere."""
    if not path or not anything:
        return []
    first = path[0]
    if isinstance(first, Deep):
        return [] if key in first.without else [ANYTHING]
    return [path[1:]] if first == key or ANY_ITEM in (first, key) else []


def _items_of(path: Path) -> Path:
    """The same path in the container that was copied shallowly."""
    first = path[0]
    return (first._replace(inside=True), *path[1:]) if isinstance(first, Deep) else path


def is_whole(path: Path) -> bool:
    """Whether a path means the value itself (or any part of it), not an item."""
    return not path or (isinstance(path[0], Deep) and not path[0].inside)


def _belongs(frame: Frame, atom: Atom) -> bool:
    """Whether calling `atom` runs the frame."""
    match atom:
        case FunctionRef(path, piece, def_, _):
            return def_key(frame) == (path, piece, def_)
        case Method(function, receiver, _):
            return frame.receiver == receiver and _belongs(frame, function)
        case PartialOf(func, _):
            return _belongs(frame, func)
        case Instance():
            return frame.receiver == atom
    return False
