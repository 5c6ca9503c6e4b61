"""What the main process pickles for workers that it does not fork: the dataset with its contents, the collate function
and the worker init function. Objects created in the worker, and definitions of classes and modules, are not pickled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.findings.finding import Evidence, Place, Severity
from loaderlint.knowledge.higher_order import PIPELINES
from loaderlint.knowledge.lazy_pipelines import pickles_functions
from loaderlint.knowledge.library_datasets import is_library_dataset
from loaderlint.knowledge.pickling import KEEPS_ARGUMENTS, KEEPS_ITEMS, MOST_KEPT, OWN_PICKLING, USED_AT_ONCE
from loaderlint.knowledge.submodules import SUBMODULES
from loaderlint.project.evaluation import type_tests
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.later_attributes import stores_on
from loaderlint.project.evaluation.library_calls import passed_to_library
from loaderlint.project.evaluation.pipeline_steps import added_steps
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    MapOf,
    Method,
    PartialOf,
    SeqOf,
    Site,
    Val,
    def_key,
)
from loaderlint.project.loaders.library_samples import sample_callables
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import SAMPLE_METHODS, Loader, Model
from loaderlint.rules.shared.constructor_stores import last_stores
from loaderlint.rules.shared.exclusive_places import never_with, starts_none_with
from loaderlint.rules.shared.filled_containers import items_put_into, put_by
from loaderlint.rules.shared.loader_call import written
from loaderlint.rules.shared.surrounding_code import assigned_in_main, main_frames
from loaderlint.rules.shared.unresolved_places import Spot

_MAX_PAYLOADS = 400
#: The argument of a loader that is its dataset.
DATASET = "dataset"


class Link(NamedTuple):
    """Where and how an object holds another one."""

    spot: Spot
    text: str


class Payload(Struct, frozen=True):
    """A pickled object: `atom`, held as `held` ('`self.lock` of `Crops`', 'the collate_fn'); `way` has the links of the
    chain that holds it. `guessed`: its holder is created in unknown code. `store`: the assignment to the attribute that
    holds it. `holders`: where what holds it is created."""

    atom: Atom
    held: str
    way: tuple[Link, ...] = ()
    guessed: bool = False
    store: Store | None = None
    holders: tuple[Site, ...] = ()
    argument: str = ""

    def shown(self, model: Model, but: Place | None = None) -> Iterator[Evidence]:
        """Where each link of the chain is created, except for `but`, which is shown already."""
        for link in self.way:
            place = link.spot.place(model)
            if place != but:
                yield Evidence(place, link.text)


def payloads(loader: Loader, model: Model) -> Iterator[Payload]:
    """All that the main process pickles for each worker of the loader, the nearest first. Branches that exclude each
    other may create an object and what seems to hold it, or the loader."""
    queue = deque(_roots(loader, model))
    seen: set[Atom] = set()
    while queue and len(seen) < _MAX_PAYLOADS:
        payload = queue.popleft()
        site = made_at(payload.atom)
        holders = (*payload.holders, *([loader.site] if loader.site and not payload.holders else []))
        if payload.atom in seen or (site is not None and _is_elsewhere(site, holders, loader, model)):
            continue
        seen.add(payload.atom)
        yield payload
        around = (*holders, *([site] if site is not None else []))
        queue.extend(replace(one, holders=around) for one in _inside(payload, loader, model))


def _is_elsewhere(site: Site, holders: Iterable[Site], loader: Loader, model: Model) -> bool:
    """Whether what is created at a place is never sent to workers: what would hold it is not there then, the loader
    starts none, or what always fails comes before it, though not before the loader."""
    if model.failing.keeps_from(site) and not _fails_with(site, loader, model):
        return True
    return any(never_with(site, one, model) for one in holders) or starts_none_with(site, loader, model)


def _fails_with(site: Site, loader: Loader, model: Model) -> bool:
    """Whether what always fails before a place comes before the loader, too, in its function or at module level."""
    if loader.site is None or not model.failing.keeps_from(loader.site):
        return False
    in_module = model.failing.cuts_off(site.frame.path, site.frame.piece)
    return in_module or def_key(site.frame) == def_key(loader.site.frame)


def made_at(atom: Atom) -> Site | None:
    """Where an object is created, for a nested function or a local class where it is defined; None if that is not
    known, or the module defines it."""
    match atom:
        case FunctionRef() | ClassRef():
            exprs = atom.scope.code.exprs if atom.scope is not None else ()
            number = next(
                (number for number, e in enumerate(exprs) if type(e) is ir.MakeDef and e.index == atom.def_), None
            )
            return Site(atom.scope, number) if atom.scope is not None and number is not None else None
        case Instance() | LibObject() | PartialOf() | SeqOf() | MapOf():
            return atom.site
    return None


def _roots(loader: Loader, model: Model) -> Iterator[Payload]:
    for dataset in loader.datasets:
        yield Payload(dataset, "the dataset", guessed=dataset in loader.guessed, argument=DATASET)
    for dataset in _guessed_datasets(loader, model):
        yield Payload(dataset, "the dataset", guessed=True)
    for name in ("collate_fn", "worker_init_fn"):
        for atom in loader.argument(name).ordered():
            yield Payload(atom, f"the {name}", argument=name)


def _guessed_datasets(loader: Loader, model: Model) -> list[Atom]:
    """The datasets that a loader may hold if its own is unknown."""
    if not (loader.late or loader.out_of_sight):
        return []
    found: dict[Atom, None] = {}
    for reached in model.reached_by(loader):
        frame = reached.frame
        if reached.possible >> loader.index & 1 and reached.parents.get(loader.index, frame) is None:
            if isinstance(frame.receiver, Instance) and model.def_of(frame).name in SAMPLE_METHODS:
                found[frame.receiver] = None
    return list(found)


def _inside(payload: Payload, loader: Loader, model: Model) -> Iterator[Payload]:
    """What is pickled with a payload."""
    match payload.atom:
        case Instance() as inst:
            yield from _of_object(inst, payload, loader, model)
        case SeqOf(_, items) | MapOf(_, items):
            yield from _held(items, payload.held, payload, payload.store)
        case Method(_, receiver, _):
            yield from _held([Val(frozenset({receiver}))], payload.held, payload)
        case PartialOf(func, site):
            bound = model.ev.expr(site.frame, site.expr)
            passed = model.ev.calls.arguments(bound, site.frame, skip=1) if isinstance(bound, ir.Call) else None
            values = passed.values if passed else ()
            yield from _held([Val(frozenset({func})), *values], payload.held, _made(payload, site, "partial"))
        case LibObject(name, site) if name.startswith(KEEPS_ARGUMENTS) and not name.endswith("[]"):
            values = (*_kept(name, model.ev.calls.site_arguments(site)), *items_put_into(payload.atom, model))
            if name in PIPELINES:
                added = added_steps(model.ev, payload.atom)
                values = (*added.before, *values, *added.after)
            short = name.rpartition(".")[2]
            held = f"{payload.held.partition(', in ')[0]}, in `{short}`"
            yield from _held(values, held, _made(payload, site, short))
            if is_library_dataset(name):
                yield from _assigned(payload.atom, short, stores_on(model.ev, payload.atom), payload, model)
        case LibObject(name, site) if pickles_functions(name) or payload.argument == DATASET:
            link = Link(Spot(site.frame, site.expr), "this dataset keeps it")
            holder = Payload(payload.atom, "", (*payload.way, link), payload.guessed)
            yield from _held(sample_callables(model.ev, payload.atom), f"a function that {payload.held} calls", holder)


def _made(payload: Payload, site: Site, name: str) -> Payload:
    link = Link(Spot(site.frame, site.expr), f"`{name}` keeps it")
    return Payload(payload.atom, payload.held, (*payload.way, link), payload.guessed, payload.store)


def _held(values: Iterable[Val], held: str, holder: Payload, store: Store | None = None) -> Iterator[Payload]:
    for value in values:
        for atom in value.ordered():
            yield Payload(atom, held, holder.way, holder.guessed, store)


# --- objects ----------------------------------------------------------------------------------------------------------


def _of_object(inst: Instance, payload: Payload, loader: Loader, model: Model) -> Iterator[Payload]:
    chosen = model.ev.calls.is_chosen(inst)
    if pickles_itself(inst.cls, model) or (chosen and not _is_run(inst, loader, model)):
        return
    name = model.ev.classes.name(inst.cls)
    made_here = inst.site is not None or (loader.site is not None and loader.site.frame.receiver == inst)
    guessed = payload.guessed or chosen or not made_here
    later = list(dict.fromkeys(_called_by_main(inst, loader, model)))
    kept: dict[str, list[Store]] = {}
    for attribute, stores in _attributes(inst, later, model):
        if _is_left_out(attribute, inst.cls, model):
            continue
        for store in stores:
            kept.setdefault(attribute, []).append(store)
            link = Link(Spot(store.frame, store.step, "step"), f"`{name}` keeps it as `self.{attribute}`")
            holder = Payload(inst, "", (*payload.way, link), guessed)
            values = [store.value, *_appended(store.value, inst, attribute, model)]
            yield from _held(values, f"`self.{attribute}` of `{name}`", holder, store)
    for put in put_by(dict.fromkeys((*model.ev.classes.construction(inst), *later)), kept, model):
        link = Link(Spot(put.frame, put.step, "step"), f"`{name}` puts it into `self.{put.attribute}`")
        holder = Payload(inst, "", (*payload.way, link), guessed)
        yield from _held([put.value], f"an item of `self.{put.attribute}` of `{name}`", holder)
    holder = Payload(inst, "", payload.way, guessed)
    yield from _held(_given_to_base(inst, model), f"an attribute of `{name}`", holder)
    outside = (*assigned_in_main(inst, loader, model), *stores_on(model.ev, inst))
    yield from _assigned(inst, name, outside, payload, model)


def _is_run(inst: Instance, loader: Loader, model: Model) -> bool:
    """Whether workers run a method of an object. If its class was found by a computed name, and they run none of it,
    the name means another class: a module of transforms may have a dataset, too."""
    return any(reached.frame.receiver == inst for reached in model.reached_by(loader))


def _appended(value: Val, inst: Instance, attribute: str, model: Model) -> list[Val]:
    """What the object's methods append to the list in an attribute."""
    lists = {atom.site for atom in value.atoms if isinstance(atom, SeqOf) and atom.kind == "list" and atom.site}
    if not lists:
        return []
    held = model.ev.classes.field(inst, attribute).atoms
    return [item for atom in held if isinstance(atom, SeqOf) and atom.site in lists for item in atom.items]


def pickles_itself(cls: ClassRef, model: Model) -> bool:
    """Whether a class defines how its objects are pickled, or a library or an unknown class may."""
    own = any(model.ev.classes.member(cls, n) for n in ("__reduce__", "__reduce_ex__", "__getnewargs_ex__"))
    bases = model.ev.classes.library_bases(cls)
    return own or model.ev.classes.has_unknown_base(cls) or any(base.endswith(OWN_PICKLING) for base in bases)


def _is_left_out(attribute: str, cls: ClassRef, model: Model) -> bool:
    """Whether the class's `__getstate__` may leave the attribute out: it names it, or does more than copy
    `__dict__`."""
    member = model.ev.classes.member(cls, "__getstate__")
    if member is None:
        return False
    file = model.files.file(member.function.path) if member.function is not None else None
    if file is None or member.function is None:
        return True
    piece = file.pieces[member.function.piece]
    copies = piece.holds("__dict__") and not any(piece.holds(word) for word in ("for ", "if ", "while "))
    return not copies or piece.holds(attribute)


def _attributes(inst: Instance, later: Iterable[Frame], model: Model) -> Iterator[tuple[str, list[Store]]]:
    """The attributes that the object has when the workers start, each with the assignments that may be the last.
    `later`: the methods that the surrounding code calls."""
    yield from model.once(Constructed).attributes(inst)
    for frame in later:
        if frame not in model.ev.classes.construction(inst):
            for number, step in model.steps_of(frame, ir.SetAttr):
                if ir.is_self(model.ev.expr(frame, step.base)):
                    yield step.name, [Store(frame, number, model.ev.eval(step.value, frame), False, False, lasts=True)]


class Constructed:
    """The attributes of the objects of one model after construction, whichever loader pickles them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[Instance, list[tuple[str, list[Store]]]] = {}

    def attributes(self, inst: Instance) -> list[tuple[str, list[Store]]]:
        """The attributes after the constructor, each with the assignments that may be the last."""
        known = self._known.get(inst)
        if known is None:
            known = self._known[inst] = list(self._find(inst))
        return known

    def _find(self, inst: Instance) -> Iterator[tuple[str, list[Store]]]:
        classes, deleted = self._model.ev.classes, set()
        names: dict[str, None] = {}
        for frame in classes.construction(inst):
            for _, step in self._model.steps_of(frame, ir.SetAttr):
                if ir.is_self(frame.code.exprs[step.base]):
                    names[step.name] = None
            for _, deletion in self._model.steps_of(frame, ir.Delete):
                target = self._model.ev.expr(frame, deletion.target)
                if isinstance(target, ir.Attr) and ir.is_self(self._model.ev.expr(frame, target.base)):
                    deleted.add(target.name)
        for name in names:
            if name not in deleted:
                yield name, last_stores(classes.stores(inst, name), inst, self._model)


def _called_by_main(inst: Instance, loader: Loader, model: Model) -> Iterator[Frame]:
    """The methods of the object that the surrounding code calls: `dataset.set_transform(...)`."""
    for frame in main_frames(inst, loader):
        for step, call in model.ev.performed(frame):
            callee = model.ev.expr(frame, call.func)
            # The name first: the rest of the surrounding code, above all training, is not evaluated.
            if not isinstance(callee, ir.Attr) or not model.ev.classes.member(inst.cls, callee.name):
                continue
            if model.ev.liveness.is_dead(step.context, frame):
                continue
            if inst in type_tests.in_branch(model.ev, callee.base, step.context, frame).atoms:
                targets = model.ev.targets(step.call, frame)
                yield from (target for target in targets if target.receiver == inst and target not in model.reached)


def _assigned(
    made: Instance | LibObject,
    name: str,
    outside: Iterable[tuple[Frame, int, ir.SetAttr]],
    payload: Payload,
    model: Model,
) -> Iterator[Payload]:
    """What the surrounding code assigns to attributes of an object of class `name`: `dataset.transform = ...`.
    `outside`: the steps that do so."""
    for frame, number, step in dict.fromkeys(outside):
        link = Link(Spot(frame, number, "step"), f"it becomes `{step.name}` of `{name}`")
        holder = Payload(made, "", (*payload.way, link), payload.guessed)
        yield from _held([model.ev.eval(step.value, frame)], f"`{step.name}` of `{name}`", holder)


def _given_to_base(inst: Instance, model: Model) -> list[Val]:
    """What a class passes to the constructor of its library base, which stores it."""
    base = next((one for one in model.ev.classes.library_bases(inst.cls) if one.startswith(KEEPS_ARGUMENTS)), None)
    if base is not None:
        return [*_kept(base, passed_to_library(model.ev, inst))]
    head = model.ev.classes.head(inst.cls)
    if inst.site is None or head is None or not head.decorators or model.ev.classes.construction(inst):
        return []
    return [*model.ev.calls.site_arguments(inst.site).values]  # a dataclass


def _kept(maker: str, given: Arguments) -> tuple[Val, ...]:
    """What an object stores that stores the arguments of its constructor, or of the function that created it."""
    values = (
        *given.positional[: MOST_KEPT.get(maker)],
        *(value for name, value in given.keywords if name not in USED_AT_ONCE),
    )
    if maker not in KEEPS_ITEMS:
        return values
    return tuple(item for value in values for listed in value.only(SeqOf) for item in listed.items)


# --- whether it matters -----------------------------------------------------------------------------------------------


def start_severity(loader: Loader, model: Model) -> Severity | None:
    """How severe it is that something cannot be pickled: an error if a start method that pickles is set, a warning if
    it is the default of a platform or a version, information if another program of the project sets it, None if workers
    are forked."""
    chosen = model.start_methods.chosen(loader)
    if chosen:
        return Severity.ERROR if "fork" not in chosen else None
    if model.environment(loader).default_start_methods() - {"fork"}:
        return Severity.WARNING
    return Severity.INFORMATION if _pickling(loader, model) else None


def _pickling(loader: Loader, model: Model) -> list[str]:
    return sorted(model.start_methods.of(loader) - {"fork"})


def cannot_start(loader: Loader, model: Model) -> str:
    """'the workers of `train_loader` in train.py cannot be started by spawn'."""
    who = "a loader of this dataset" if loader.out_of_sight else loader.described
    return f"the workers of {who} cannot be started by {' or '.join(_pickling(loader, model))}"


def passed_as(payload: Payload, loader: Loader, model: Model) -> Iterator[Evidence]:
    """Where a loader's call has the payload as an argument under a name that was bound before."""
    argument = written(loader, payload.argument, model) if payload.argument not in ("", DATASET) else None
    if argument is not None and argument.keyword and not argument.is_direct(model):
        place = replace(model.place(argument.frame, argument.call), argument=argument.keyword)
        yield Evidence(place, f"it is the {payload.argument} here")


def sent_by(loader: Loader, model: Model) -> Iterator[Evidence]:
    """The loader that pickles it, where it is created."""
    if loader.site is not None:
        text = f"{loader.described} sends it to its workers ({loader.workers_text})"
        yield Evidence(model.site_place(loader.site), text)


def is_module(atom: Atom) -> bool:
    """Whether a value is a module."""
    return isinstance(atom, ModuleRef) or (isinstance(atom, Lib) and ("." not in atom.name or atom.name in SUBMODULES))


def is_local(atom: FunctionRef | ClassRef, model: Model) -> bool:
    """Whether a def is in a function: pickle cannot find it by a name."""
    facts = model.ev.facts(atom.path, atom.piece)
    parent = facts.ir.defs[atom.def_].parent if facts else 0
    return facts is not None and parent > 0 and facts.ir.defs[parent].kind != "class"
