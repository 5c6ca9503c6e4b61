"""Where the items of a stream come from: drawn with replacement or generated, so that each worker has its own, or taken
from something that the stream iterates over. A shuffle only reorders those, and noise only changes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATORS, SEEDERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall

#: What a value consists of. 'made': random numbers; 'picked': chosen from several, with replacement; 'order': all of
#: something in random order; 'item': an item of the iterable; 'number': the counter of a loop.
Origin = Literal["made", "picked", "order", "item", "number"]
Origins = frozenset[Origin]

_NOTHING: Origins = frozenset()
_MADE: Origins = frozenset({"made"})
_PICKED: Origins = frozenset({"picked"})
_ORDER: Origins = frozenset({"order"})
_ITEM: Origins = frozenset({"item"})
_NUMBER: Origins = frozenset({"number"})

_RANDOM = ("numpy.random.", "random.", "torch.rand", "torch.normal", "torch.multinomial", "torch.bernoulli", "secrets.")
#: Functions of these modules that do not draw.
_NO_DRAWS = re.compile(
    r"seed$|state$|\.(?:fork_rng|SeedSequence|Random|SystemRandom|RandomState|Generator|PCG64|MT19937|Philox|default_rng)$"
)
_ORDERING = frozenset("shuffle permutation permuted randperm".split())
_PICKING = frozenset("choice choices sample".split())
#: Draws of several items in an order.
_CHOOSING_SEVERAL = frozenset("choices sample".split())
#: Methods after which a generator gives other numbers.
_SEEDING = frozenset("seed manual_seed setstate set_state".split())
#: Functions that yield the items of their arguments.
PASSING = re.compile(
    r"^(?:builtins\.(?:iter|enumerate|zip|map|filter|list|tuple|sorted|reversed)|itertools\.\w+|tqdm\.)"
)
_COUNTING = re.compile(
    r"^(?:builtins\.range|itertools\.(?:count|repeat)|(?:numpy|torch)\.arange)$|(?:^|\.)t(?:rr?ange|nrange)$"
)
_ENDLESS = frozenset({"itertools.count", "itertools.repeat", "itertools.cycle"})
_SAMPLERS = re.compile(r"(?:^|\.)(Weighted|Subset)?RandomSampler$")
_FILLING = frozenset("add append appendleft extend insert put push update".split())
_EMPTYING = frozenset("pop popleft popitem remove".split())
#: At most this many frames of a stream are analysed, each with the origins of its parameters. Beyond it, nothing is
#: known.
_MAX_WALKS = 100


def draws(call: WorkerCall) -> bool:
    """Whether a call draws random numbers."""
    return any(map(_draws, call.callee.atoms))


def orders(call: WorkerCall) -> bool:
    """Whether a call orders something randomly."""
    return any(_draws(atom) and _last_name(atom) in _ORDERING for atom in call.callee.atoms)


def is_replacing(atom: Atom, model: Model) -> bool:
    """Whether an atom is a sampler of torch that draws with replacement."""
    match = _SAMPLERS.search(atom.name) if isinstance(atom, LibObject) else None
    if match is None or not isinstance(atom, LibObject) or match[1] == "Subset":
        return False
    passed = model.ev.calls.site_arguments(atom.site).get("replacement", 2 if match[1] else 1)
    if passed is None:
        return match[1] == "Weighted"
    return passed.literal is None or bool(passed.literal.value)


def gives_all(entry: Frame, model: Model) -> bool:
    """Whether a stream yields only items of what it iterates over, whatever else it draws. `entry`: the frame of its
    `__iter__`."""
    walk = _Walk(entry, (), model, {})
    given = [walk.yielded_by(step) for step in walk.yields()]
    if not given and not model.def_of(entry).is_generator:
        given = [walk.element(step.value) for _, step in model.steps_of(entry, ir.Return) if step.value != NONE]
    return bool(given) and all(_is_passed_on(one) for one in given)


def goes_on_in_own_order(entry: Frame, frames: Iterable[Frame], model: Model) -> bool:
    """Whether a stream iterates over its items endlessly, in orders that each worker draws for itself: no pass is an
    epoch. `frames`: all that it runs; another one may be the endless one that orders, as a sampler's."""
    by_frame = {frame: model.frame_calls(frame) for frame in frames}
    calls = [call for some in by_frame.values() for call in some]
    ordering = [call for call in calls if orders(call)]
    seeded = any(isinstance(atom, Lib) and atom.name in SEEDERS for call in calls for atom in call.callee.atoms)
    if not ordering or seeded or not all(_draws_its_own(call, model) for call in ordering):
        return False
    may_order = [frame for frame, some in by_frame.items() if frame is entry or any(map(orders, some))]
    return any(_is_endless_stream(frame, model) for frame in may_order)


def _draws_its_own(call: WorkerCall, model: Model) -> bool:
    """Whether each worker draws from a state of its own: the one of the process, or a generator that it makes and seeds
    with no constant."""
    passed = model.ev.calls.arguments(call.call, call.frame).get("generator")
    owners = [atom.owner for atom in call.callee.only(LibMember)]
    generators = [*owners, *(passed.only(LibObject) if passed is not None else ())]
    return all(isinstance(atom, Lib | LibMember) for atom in call.callee.atoms) and all(
        isinstance(one, LibObject) and model.runs_in_worker(one.site.frame) and not _has_constant_seed(one, model)
        for one in generators
    )


def _has_constant_seed(generator: LibObject, model: Model) -> bool:
    seeds = [*model.ev.calls.site_arguments(generator.site).positional]
    for call in model.calls_on(generator):
        if any(_last_name(atom) in _SEEDING for atom in call.callee.atoms):
            seeds += [model.ev.eval(arg.value, call.frame) for arg in call.call.args]
    return any(seed.literal is not None for seed in seeds)


def _is_endless_stream(frame: Frame, model: Model) -> bool:
    """Whether a generator yields all that it yields in endless passes."""
    steps = [step for _, step in model.steps_of(frame, ir.YieldStep)]
    return bool(steps) and all(_is_in_endless_pass(step, frame, model) for step in steps)


def _is_in_endless_pass(step: ir.YieldStep, frame: Frame, model: Model) -> bool:
    inside = step.is_from
    for here in model.def_of(frame).around(step.context):
        if inside and _is_endless(here, frame, model):
            return True
        inside = inside or here.kind == "loop"
    return False


def _is_endless(context: ir.Context, frame: Frame, model: Model) -> bool:
    if context.kind == "while":
        return model.ev.liveness.truth(context.expr, frame) is True
    made = model.ev.eval(context.expr, frame).atoms if context.kind == "loop" else frozenset()
    return any(isinstance(atom, LibObject) and atom.name in _ENDLESS for atom in made)


def _is_passed_on(origins: Origins) -> bool:
    return bool(origins & {"item", "number"}) and "picked" not in origins


def _draws(atom: Atom) -> bool:
    if isinstance(atom, Lib):
        return atom.name.startswith(_RANDOM) and _NO_DRAWS.search(atom.name) is None
    if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
        return atom.name in GENERATOR_DRAWS and atom.owner.name in GENERATORS
    return False


def _is_common(atom: Atom, model: Model) -> bool:
    """Whether all workers draw the same: from copies of a generator that a function of the main process has made."""
    owner = atom.owner if isinstance(atom, LibMember) else None
    if not isinstance(owner, LibObject) or not owner.site.frame.def_ or model.runs_in_worker(owner.site.frame):
        return False
    return all(_last_name(one) not in _SEEDING for call in model.calls_on(owner) for one in call.callee.atoms)


def _last_name(atom: Atom) -> str:
    name = atom.name if isinstance(atom, Lib | LibMember) else ""
    return "" if name == "numpy.random.sample" else name.rpartition(".")[2]


def _joined(several: Iterable[Origins]) -> Origins:
    """The origins of one of several values."""
    return _NOTHING.union(*several)


def _mixed(parts: Iterable[Origins]) -> Origins:
    """The origins of a value that combines all these: an item remains that item, whatever is picked for it."""
    found = list(parts)
    whole = _NOTHING.union(*found)
    return whole - _PICKED if any("item" in one and "picked" not in one for one in found) else whole


class _Walk:
    """Computes the origins of expressions in one frame. `given`: the origins of its parameters, by number. `walks`: all
    walks of a stream. For a sample: `collecting` are the loops that only collect its parts, by what they iterate over,
    and `whole` is the walk that knows none."""

    def __init__(
        self,
        frame: Frame,
        given: tuple[Origins, ...],
        model: Model,
        walks: _Walks,
        collecting: frozenset[int] = frozenset(),
        whole: _Walk | None = None,
    ) -> None:
        self._frame, self._given, self._model, self._walks = frame, given, model, walks
        self._collecting, self._whole = collecting, whole
        self._known: dict[tuple[bool, int], Origins] = {}
        self._given_back: dict[bool, Origins] = {}
        self._samples: dict[frozenset[int], _Walk] = {}

    def yields(self) -> Iterator[ir.YieldStep]:
        """The steps that yield."""
        return (step for _, step in self._model.steps_of(self._frame, ir.YieldStep))

    def yielded_by(self, step: ir.YieldStep) -> Origins:
        """The origins of what a step yields: of each item, for `yield from`."""
        return self.element(step.value) if step.is_from else self._in_sample(step.context).given(step.value)

    def _in_sample(self, context: int) -> _Walk:
        """The walk for a sample that is yielded or returned in a context. A loop around it gives the items of the
        stream. Any other loop collects parts of one sample, as a comprehension does, unless it goes over an item."""
        around = {here.expr for here in self._model.def_of(self._frame).around(context)}
        iterables = {step.iterable for _, step in self._model.steps_of(self._frame, ir.Iterate)}
        collecting = frozenset(one for one in iterables - around if not self.value(one))
        if collecting not in self._samples:
            self._samples[collecting] = _Walk(self._frame, self._given, self._model, self._walks, collecting, self)
        return self._samples[collecting]

    def given(self, number: int) -> Origins:
        """The origins of a returned or yielded value. A tuple or dict is an item if one part is one, or if all parts
        depend on the loop counter. `sample["x"] = x` adds a part."""
        e = self._model.ev.expr(self._frame, number)
        parts = e.items if isinstance(e, ir.Seq) else e.values if isinstance(e, ir.Map) else (number,)
        found = [self.value(part) for part in parts if not self._is_constant(part)]
        found += self._added(number) if isinstance(e, ir.Seq | ir.Map) else ()
        if any("item" in one and "picked" not in one for one in found):
            return _ITEM
        return _joined(found) if all(map(_is_passed_on, found)) else _PICKED

    def value(self, number: int) -> Origins:
        """The origins of an expression."""
        if number == NONE:
            return _NOTHING
        if (False, number) not in self._known:
            self._known[False, number] = _NOTHING  # recursion adds nothing
            self._known[False, number] = self._value(number)
        return self._known[False, number]

    def element(self, number: int) -> Origins:
        """The origins of the items of an expression."""
        if self._whole is not None:
            return self._whole.element(number)
        if (True, number) not in self._known:
            self._known[True, number] = _NOTHING
            self._known[True, number] = self._element(number)
        return self._known[True, number]

    def _is_constant(self, number: int) -> bool:
        return isinstance(self._model.ev.expr(self._frame, number), ir.Const)

    def _value(self, number: int) -> Origins:
        e = self._model.ev.expr(self._frame, number)
        match e:
            case ir.Param(index):
                return self._given[index] if index < len(self._given) else _NOTHING
            case ir.Element(iterable):
                return _NOTHING if iterable in self._collecting else self.element(iterable)
            case ir.Call():
                return self._call(number, e)
            case ir.Index(base, index):
                return self._index(base, index)
            case ir.Attr(base, name) if ir.is_self(self._model.ev.expr(self._frame, base)):
                same = self._frame.code.attributes(name)
                return _joined(self._filled(one) for one, owner in same if owner == base)
            case ir.Seq() | ir.Map():
                return _mixed((*map(self.value, ir.operands(e)), self._filled(number)))
            case ir.Comp(_, element, _, _):
                return _joined((self.value(element), self._filled(number)))
            case ir.Phi(choices):
                return _joined(map(self.value, choices))
            case ir.IfExp(_, then, other) | ir.BoolOp(_, then, other):
                return _joined((self.value(then), self.value(other)))
        return _mixed(map(self.value, ir.operands(e))) if e is not None else _NOTHING

    def _filled(self, container: int) -> Origins:
        """The origins of what is added to a container later."""
        return _joined(self._added(container))

    def _added(self, container: int) -> Iterator[Origins]:
        """The origins of each value that is added to a container later."""
        for step in self._frame.code.fillings(container):
            if isinstance(step, ir.SetItem):
                yield self.value(step.value)
                continue
            call = self._model.ev.expr(self._frame, step.call)
            func = self._model.ev.expr(self._frame, call.func) if isinstance(call, ir.Call) else None
            if isinstance(call, ir.Call) and isinstance(func, ir.Attr) and func.name in _FILLING:
                yield _mixed(self.value(arg.value) for arg in call.args)

    def _is_emptied(self, container: int) -> bool:
        """Whether items are removed from a container, so that none repeats. `labels.pop(0)` removes one, whichever was
        drawn, unless the place of the drawn one is filled from there: `left[k] = left[0]`."""
        code = self._frame.code
        calls = code.method_calls(container)
        removed = [call.args[0].value if call.args else NONE for _, _, call, name in calls if name in _EMPTYING]
        deleted = [self._model.ev.expr(self._frame, step.target) for _, step in code.steps_of(ir.Delete)]
        removed += [e.index for e in deleted if isinstance(e, ir.Index) and e.base == container]
        is_filled = any(isinstance(step, ir.SetItem) for step in code.fillings(container))
        return any(is_filled or not self._is_certain_item(one) for one in removed)

    def _is_certain_item(self, removed: int) -> bool:
        """Whether what is removed is always the same item: the one at a constant place, or under a constant key. The
        last one may be there because it has been exchanged with the drawn one."""
        literal = self._model.ev.eval(removed, self._frame).literal if removed != NONE else None
        return literal is not None and literal.value != -1

    def _index(self, base: int, index: int) -> Origins:
        inside, at = self.value(base), self.value(index)
        if at & {"made", "picked"}:
            return _ITEM if "item" in inside or self._is_emptied(base) else _PICKED
        if "order" in inside or "order" in at:
            whole = at & {"number", "item", "order"}
            return _PICKED if not whole else _ORDER if "order" in at else _ITEM
        return inside | _ITEM if at & {"number", "item"} else inside

    def _call(self, number: int, call: ir.Call) -> Origins:
        callee = self._model.ev.eval(call.func, self._frame)
        drawn = [atom for atom in callee.ordered() if _draws(atom)]
        if drawn:
            name = _last_name(drawn[0])
            is_common = name in _CHOOSING_SEVERAL and all(_is_common(atom, self._model) for atom in drawn)
            return _ORDER if is_common else self._drawn(name, call)
        if Lib("builtins.next") in callee.atoms and call.args:
            return self.element(call.args[0].value)
        called = self._called(number, call)
        if called is not None:
            return _joined(walk.returned() for walk in called)
        func = self._model.ev.expr(self._frame, call.func)
        if not isinstance(func, ir.Attr):
            chosen = _MADE if "picked" in self.value(call.func) else _NOTHING
            return _mixed((chosen, *(self.value(arg.value) for arg in call.args), self._filled(number)))
        owner = self.value(func.base)
        if func.name in _EMPTYING and "picked" not in owner:
            return _ITEM
        return _mixed((owner, *(self.value(arg.value) for arg in call.args)))

    def _drawn(self, name: str, call: ir.Call) -> Origins:
        if name in _ORDERING or (name in _PICKING and self._takes_all(name, call)):
            return _ORDER
        return _PICKED if name in _PICKING else _MADE

    def _takes_all(self, name: str, call: ir.Call) -> bool:
        """Whether a draw without replacement takes as many items as there are: `random.sample(items, len(items))`."""
        named = {arg.name: arg.value for arg in call.args if arg.kind == "kw"}
        at = [arg.value for arg in call.args if arg.kind == "pos"]
        if name != "sample":
            replace = self._model.ev.eval(named["replace"], self._frame).literal if "replace" in named else None
            if replace is None or replace.value is not False:
                return False
        size = named.get("k", named.get("size", at[1] if len(at) > 1 else NONE))
        e = self._model.ev.expr(self._frame, size)
        return isinstance(e, ir.Call) and Lib("builtins.len") in self._model.ev.eval(e.func, self._frame).atoms

    def _called(self, number: int, call: ir.Call) -> list[_Walk] | None:
        """The walks of the frames that a call of a project function runs; None for other calls."""
        targets = self._model.ev.targets(number, self._frame)
        if not targets or self._model.ev.eval(number, self._frame).has(Instance):
            return None
        return [self._walk(one, self._passed(one, call)) for one in targets]

    def _walk(self, frame: Frame, given: tuple[Origins, ...]) -> _Walk:
        walk = self._walks.get((frame, given))
        if walk is None:
            walk = self._walks[frame, given] = _Walk(frame, given, self._model, self._walks)
        return walk

    def _passed(self, target: Frame, call: ir.Call) -> tuple[Origins, ...]:
        params = self._model.def_of(target).params
        given = [_NOTHING] * len(params)
        position = 1 if target.receiver is not None else 0
        names = {param.name: index for index, param in enumerate(params)}
        for arg in call.args:
            if arg.kind == "pos" and position < len(params):
                given[position] = self.value(arg.value)
                position += 1
            elif arg.kind == "kw" and arg.name in names:
                given[names[arg.name]] = self.value(arg.value)
        return tuple(given)

    def returned(self) -> Origins:
        """The origins of what the def returns or yields."""
        return self._remembered(gone_through=False)

    def yielded(self) -> Origins:
        """The origins of the items of what the def returns or yields."""
        return self._remembered(gone_through=True)

    def _remembered(self, *, gone_through: bool) -> Origins:
        if len(self._walks) > _MAX_WALKS:
            return _PICKED
        if gone_through not in self._given_back:
            self._given_back[gone_through] = _NOTHING  # recursion adds nothing
            self._given_back[gone_through] = self._gives(gone_through)
        return self._given_back[gone_through]

    def _gives(self, gone_through: bool) -> Origins:
        if self._model.def_of(self._frame).is_generator:
            return _joined(map(self.yielded_by, self.yields()))
        returns = [step for _, step in self._model.steps_of(self._frame, ir.Return)]
        return _joined(
            self.element(step.value) if gone_through else self._in_sample(step.context).value(step.value)
            for step in returns
            if step.value != NONE and not self._is_constant(step.value)
        )

    def _element(self, number: int) -> Origins:
        e = self._model.ev.expr(self._frame, number)
        match e:
            case ir.Phi(choices):
                return _joined(map(self.element, choices))
            case ir.Call():
                found = self._element_of_call(number, e)
                if found is not None:
                    return found
            case ir.Comp(_, element, _, _):
                return self.value(element) or _ITEM
        iterated = [f for f in self._model.ev.targets(number, self._frame) if self._is_iter(f)]
        if iterated:
            return _joined(self._walk(one, ()).yielded() for one in iterated)
        if any(is_replacing(atom, self._model) for atom in self._model.ev.eval(number, self._frame).atoms):
            return _PICKED
        value = self.value(number)
        return value if value & {"made", "picked", "number"} and not value & {"item", "order"} else _ITEM

    def _is_iter(self, frame: Frame) -> bool:
        return self._model.def_of(frame).name == "__iter__"

    def _element_of_call(self, number: int, call: ir.Call) -> Origins | None:
        callee = [atom for atom in self._model.ev.eval(call.func, self._frame).ordered() if isinstance(atom, Lib)]
        name = callee[0].name if callee else ""
        if _COUNTING.search(name):
            return _NUMBER
        if PASSING.match(name):
            first = 1 if name in ("builtins.map", "builtins.filter", "itertools.starmap") else 0
            last = 1 if name in ("builtins.enumerate", "itertools.islice", "builtins.iter") else None
            passed = [self.element(arg.value) for arg in call.args[first:last]]
            return _mixed((*passed, self._filled(number)))
        called = self._called(number, call)
        return _joined(walk.yielded() for walk in called) if called is not None and not callee else None


_Walks = dict[tuple[Frame, tuple[Origins, ...]], _Walk]
