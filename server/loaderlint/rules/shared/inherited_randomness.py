"""Random numbers in pools of processes that are not seeded: NumPy's global state is copied by fork, a generator object
by fork or by pickling, and every process continues from the same state. The rules on such pools share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import (
    Evidence,
    InsertFunction,
    InsertMethod,
    Intent,
    Place,
    Replace,
    ReplaceAttributeUses,
)
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATOR_SEEDS, SEEDERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Instance, Lib, LibMember, LibObject, Site, def_key
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.expression_source import read_elsewhere
from loaderlint.rules.shared.generator_accessor import FORMS, Draw, is_kept_at, own_store
from loaderlint.rules.shared.generator_creation import birth_place, born, is_seeded, library_of
from loaderlint.rules.shared.global_draws import numpy_draws
from loaderlint.rules.shared.held_handles import compares_pid
from loaderlint.rules.shared.unknown_seeding import may_seed_numpy

_MAX_SHOWN_DRAWS = 6
#: Functions of numpy.random that its RandomState does not have under the same name.
_NOT_METHODS = frozenset({"ranf", "sample"})
_WORDS = {"numpy": "Generator", "numpy_legacy": "RandomState", "python": "random.Random", "torch": "torch.Generator"}
_MAKE = {
    "numpy": "{numpy}.random.default_rng()",
    "numpy_legacy": "{numpy}.random.RandomState()",
    "python": "{random}.Random()",
}
_FUNCTION = '''\
@{functools}.lru_cache(maxsize=1)
def {process_rng}(pid, main={os}.getpid()):
    """NumPy's own state in the main process, another in each other one."""
    return {numpy}.random if pid == main else {numpy}.random.RandomState()'''

_METHOD = '''\
def {{_get_{stem}}}(self) -> {kind}:
    """The generator of this process: forked ones begin with copies."""
    if getattr(self, "_process_{stem}_pid", None) != {{os}}.getpid():
        self._process_{stem}_pid = {{os}}.getpid()
        self._process_{stem} = {make}
    return self._process_{stem}'''


class Inherited(NamedTuple):
    """A random state that all processes of a pool start from, with their draws: NumPy's global one (`made` is None, one
    draw), or that of a generator object."""

    made: LibObject | None
    draws: tuple[Draw, ...]
    name: str

    def place(self, model: Model) -> Place:
        """The place of the finding: the draw, or where the generator is created."""
        first = self.draws[0].call
        return model.place(first.frame, first.number) if self.made is None else model.site_place(self.made.site)

    def cause(self, model: Model) -> str:
        """'`np.random.rand` uses NumPy's global state' or 'this Generator is made in `Crops.__init__`'."""
        if self.made is None:
            return f"`{self.name.replace('numpy.', 'np.')}` uses NumPy's global state"
        return f"this {_WORDS[library_of(self.made) or 'numpy']} is made {born(self.made.site, model)}"

    def evidence(self, model: Model) -> tuple[Evidence, ...]:
        """The draws from a generator."""
        if self.made is None:
            return ()
        places = {model.place(d.call.frame, d.call.number): model.label(d.call.frame) for d in self.draws}
        return tuple(Evidence(p, f"{label} draws from it") for p, label in [*places.items()][:_MAX_SHOWN_DRAWS])


def inherited(frames: Sequence[Frame], methods: Callable[[], frozenset[str]], model: Model) -> Iterator[Inherited]:
    """The states that the draws in `frames`, which the processes of a pool run, start from. `methods` returns the
    possible start methods. It is called only if needed, because it may search all programs."""
    calls = [call for frame in frames for call in model.frame_calls(frame)]
    draws = _global_draws(calls, model)
    if draws and not any(map(seeds_numpy, calls)) and "fork" in methods():
        seedings = _unknown_seedings(calls, model)
        for call, name in draws:
            if _is_chosen_by_process(call, model) or any(not _comes_after(one, call) for one in seedings):
                continue
            yield Inherited(None, (Draw(call, LibObject(name, _site(call)), frozenset()),), name)
    yield from _objects(calls, frames, methods, model)


def seeds_numpy(call: WorkerCall) -> bool:
    """Whether a call seeds NumPy's global state."""
    return any(isinstance(a, Lib) and SEEDERS.get(a.name) in ("numpy", "all") for a in call.callee.atoms)


def may_be_seeded(frames: Sequence[Frame], model: Model) -> bool:
    """Whether there are draws from NumPy's global state, which code that is not known and gets a seed may seed."""
    calls = [call for frame in frames for call in model.frame_calls(frame)]
    return bool(_global_draws(calls, model) and _unknown_seedings(calls, model))


def _global_draws(calls: Sequence[WorkerCall], model: Model) -> list[tuple[WorkerCall, str]]:
    return [(call, name) for call in calls for name in numpy_draws(call, model)]


def _unknown_seedings(calls: Sequence[WorkerCall], model: Model) -> list[WorkerCall]:
    return [call for call in calls if may_seed_numpy(call, model)]


def _comes_after(seeding: WorkerCall, draw: WorkerCall) -> bool:
    """Whether a call is certainly made only after a draw: further down in the same function, outside of any loop."""
    return seeding.frame is draw.frame and seeding.number > draw.number and seeding.context == 0


def _is_chosen_by_process(call: WorkerCall, model: Model) -> bool:
    """Whether the draw is from NumPy's state or from a new generator, by the process: `np.random if pid == main else
    np.random.RandomState()`."""
    owners = (atom.owner for atom in call.callee.only(LibMember))
    return any(isinstance(one, LibObject) and compares_pid(one.site.frame, model) for one in owners)


def _site(call: WorkerCall) -> Site:
    return Site(call.frame, call.number)


def _objects(
    calls: Sequence[WorkerCall], frames: Sequence[Frame], methods: Callable[[], frozenset[str]], model: Model
) -> Iterator[Inherited]:
    here = {def_key(frame) for frame in frames}
    drawn: dict[LibObject, list[Draw]] = {}
    for call in calls:
        for atom in call.callee.only(LibMember):
            if not isinstance(atom.owner, LibObject) or not library_of(atom.owner):
                continue
            if atom.name in GENERATOR_SEEDS:
                drawn.setdefault(atom.owner, []).clear()
                here.add(_born_in(atom.owner))  # it gets a new state in the process
            elif atom.name in GENERATOR_DRAWS:
                drawn.setdefault(atom.owner, []).append(Draw(call, atom.owner, call.callee.origins))
    for made, draws in drawn.items():
        copied = birth_place(made.site, model) == "an object" or is_seeded(made, model)
        if _born_in(made) in here or not draws or not (copied or "fork" in methods()) or _is_one_of_many(made, model):
            continue
        if not any(_is_replaced(draw, here, model) for draw in draws):
            yield Inherited(made, tuple(draws), made.name)


def _is_one_of_many(made: LibObject, model: Model) -> bool:
    """Whether a generator is created in a loop or comprehension: each task may have its own."""
    frame = made.site.frame
    one = model.def_of(frame)
    here = next((s.context for s in one.steps if isinstance(s, ir.Perform) and s.call == made.site.expr), 0)
    return one.is_in_loop(here)


def _born_in(made: LibObject) -> DefKey:
    return def_key(made.site.frame)


def _is_replaced(draw: Draw, here: set[DefKey], model: Model) -> bool:
    """Whether code that the processes run replaces the stored generator."""
    return any(
        def_key(store.frame) in here
        for origin in draw.origins
        if isinstance(origin.owner, Instance) and len(origin.path) == 1
        for store in model.ev.classes.stores(origin.owner, origin.path[0])
    )


# --- the fix ----------------------------------------------------------------------------------------------------------


def process_fix(found: Inherited, frames: Sequence[Frame], model: Model) -> tuple[Intent, ...]:
    """Draw from a generator that each process creates for itself, keyed by its process id. Empty if that cannot be
    written."""
    return _global_intents(found, model) if found.made is None else _object_intents(found, found.made, frames, model)


def _global_intents(found: Inherited, model: Model) -> tuple[Intent, ...]:
    call = found.draws[0].call
    name = found.name.rpartition(".")[2]
    func = model.ev.expr(call.frame, call.call.func)
    place = model.place(call.frame, call.call.func)
    # a callee that is bound to a name first comes before the call
    if name in _NOT_METHODS or place.anchor < model.place(call.frame, call.number).anchor or len(call.callee.atoms) > 1:
        return ()
    if not isinstance(func, ir.Attr | ir.Global):
        return ()
    return (
        InsertFunction(place.path, "process_rng", _FUNCTION),
        Replace(place, f"{{process_rng}}({{os}}.getpid()).{name}"),
    )


def _object_intents(found: Inherited, made: LibObject, frames: Sequence[Frame], model: Model) -> tuple[Intent, ...]:
    store = own_store(found.draws[0], model)
    cls = store.frame.owner if store else None
    library = library_of(made) or ""
    make = _MAKE.get(library)
    if store is None or cls is None or make is None:
        return ()
    step = model.def_of(store.frame).steps[store.step]
    assert isinstance(step, ir.SetAttr)
    if not all(is_kept_at(draw, cls, step.name, model) for draw in found.draws):
        return ()
    if any(read_elsewhere(cls, step.name, model, frames)):
        return ()
    stem = step.name.lstrip("_")
    place = model.class_place(cls)
    run = {def_key(frame) for frame in frames}
    others = [
        member.name
        for member in model.ev.classes.own_members(cls).values()
        if member.function is not None and def_key(member.function) not in run
    ]
    keep = ("__init__", f"_get_{stem}", *others)
    return (
        InsertMethod(place, f"_get_{stem}", _METHOD.format(stem=stem, make=make, kind=FORMS[library].kind)),
        ReplaceAttributeUses(place, step.name, f"self.{{_get_{stem}}}()", keep),
    )
