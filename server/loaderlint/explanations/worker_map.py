"""The worker map: for each loader what it holds, what its workers run, and what is copied into each of them.

It is a pure function of a linked model, and contains nothing of the model: only texts, numbers and places. So it can be
kept when the model is released, and its places can be updated after edits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Place
from loaderlint.project.evaluation.dynamic_dispatch import how_chosen
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    PartialOf,
    SeqOf,
    Unknown,
    Val,
)
from loaderlint.project.loaders.loaders import Loader, named_in_file
from loaderlint.project.modules.module_refs import ModuleRef
from loaderlint.project.reach.model import Model, Part, Reached

PARTS: tuple[Part, ...] = ("sample", "collate", "init")
#: The arguments that are shown for each loader, by torch's names.
TOLD_ARGUMENTS = (
    "num_workers",
    "persistent_workers",
    "batch_size",
    "shuffle",
    "collate_fn",
    "worker_init_fn",
    "multiprocessing_context",
    "generator",
    "pin_memory",
)
#: The maximum number of possible values that are named.
_MAX_MEANINGS = 3


class MappedArgument(Struct, frozen=True):
    """An argument of a loader: torch's name, its value as far as it is known, and whether the call passes it (else it
    is the default)."""

    name: str
    value: str
    passed: bool


class MappedDataset(Struct, frozen=True):
    """A dataset that a loader may hold: 'Crops', 'torchvision.datasets.CIFAR10' or 'a list'. `place`: where the object
    is made, None if unknown; `certainty` is 'possible' for a guess (see `MappedLoader.late`)."""

    name: str
    place: Place | None
    certainty: Certainty


class MappedFunction(Struct, frozen=True):
    """A function that workers run: 'Crops.__getitem__'. `parts`: for samples, for batches, or when a worker starts."""

    name: str
    place: Place
    parts: tuple[Part, ...]
    certainty: Certainty


class MappedObject(Struct, frozen=True):
    """An attribute that is stored in the main process and read in workers, so each worker has a copy. `owner` is
    'Crops', `name` 'rng', `value` 'numpy.random.default_rng(...)', for example; `place` is where it is stored."""

    owner: str
    name: str
    value: str
    place: Place
    certainty: Certainty

    @property
    def plain(self) -> bool:
        """Whether it is a plain value such as a number or a text, so that copying does not matter."""
        return self.value[:1] in "'\"-0123456789" or self.value.split(",")[0] in ("True", "False", "None")


class MappedLoader(Struct, frozen=True):
    """A loader. `name`: its name in the code; `called`: that in messages, '`train_loader`', 'the DataLoader in main()'.
    `library`: its class or factory. `workers`: 'num_workers=4, argparse default'; `starts_workers`: 'yes',
    'no', 'maybe'. `start_source`: what chooses the `start_methods`. `late`: why its dataset is unknown, '' if it is
    known. `place` is None for an unknown loader, which is assumed for datasets that no known loader holds."""

    index: int
    name: str
    called: str
    library: str
    place: Place | None
    workers: str
    starts_workers: str
    persistent: bool | None
    start_methods: tuple[str, ...]
    start_source: str
    late: str
    arguments: tuple[MappedArgument, ...]
    datasets: tuple[MappedDataset, ...]
    functions: tuple[MappedFunction, ...]
    objects: tuple[MappedObject, ...]

    @property
    def described(self) -> str:
        """Its name in messages, with its file."""
        return named_in_file(self.called, self.place.path if self.place else None)

    def places(self) -> Iterator[Place]:
        """All places in the record."""
        for place in (self.place, *(dataset.place for dataset in self.datasets)):
            if place is not None:
                yield place
        yield from (function.place for function in self.functions)
        yield from (copied.place for copied in self.objects)


class WorkerMap(Struct, frozen=True):
    """The loaders of a project, in the order of files and places."""

    loaders: tuple[MappedLoader, ...] = ()


def distinct(loaders: Iterable[MappedLoader]) -> list[MappedLoader]:
    """The loaders without duplicates: the same call, reached in another way."""
    found = {replace(loader, index=0): loader for loader in reversed([*loaders])}
    return list(reversed(found.values()))


def worker_map(model: Model) -> WorkerMap:
    """The map of a linked project."""
    return _Mapper(model).map()


class _Mapper:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._objects: dict[Frame, tuple[tuple[str, str, str, Place], ...]] = {}
        self._at_work: dict[Instance, bool] = {}

    def map(self) -> WorkerMap:
        """All loaders."""
        return WorkerMap(tuple(self._loader(loader) for loader in self._model.loaders))

    def _loader(self, loader: Loader) -> MappedLoader:
        model = self._model
        methods, source = start_methods(loader, model)
        here = [one for one in model.reached_by(loader) if not model.ev.installed.holds(one.frame.path)]
        return MappedLoader(
            loader.index,
            loader.name,
            loader.called,
            loader.kind.name,
            model.site_place(loader.site) if loader.site else None,
            loader.workers_text,
            loader.has_workers(),
            loader.persistent,
            methods,
            source,
            how_chosen(loader.late) if loader.late else "",
            () if loader.out_of_sight else tuple(self._arguments(loader)),
            tuple(self._datasets(loader, here)),
            tuple(self._functions(loader, here)),
            tuple(self._copied(loader, here)),
        )

    def _arguments(self, loader: Loader) -> Iterator[MappedArgument]:
        for name in TOLD_ARGUMENTS:
            yield MappedArgument(name, meaning(loader.argument(name), self._model), name in loader.arguments)

    def _datasets(self, loader: Loader, here: Sequence[Reached]) -> Iterator[MappedDataset]:
        model = self._model
        for atom in loader.datasets:
            site = atom.site if isinstance(atom, Instance | LibObject) else None
            place = model.site_place(site) if site and not model.ev.installed.holds(site.frame.path) else None
            runs = [one for one in here if one.frame.receiver == atom and loader.index in one.parents]
            guessed = bool(runs) and all(one.possible >> loader.index & 1 for one in runs)
            yield MappedDataset(_named(atom, model), place, "possible" if guessed else "proven")
        others: dict[ClassRef, None] = {}
        for one in here:
            if one.possible >> loader.index & 1 and isinstance(one.frame.receiver, Instance):
                if one.parents.get(loader.index) is None and one.frame.receiver not in loader.datasets:
                    others.setdefault(one.frame.receiver.cls)
        for cls in others:
            yield MappedDataset(model.ev.classes.name(cls), None, "possible")
        if not loader.datasets and not others and not loader.late:
            yield from self._plain_data(loader)

    def _plain_data(self, loader: Loader) -> Iterator[MappedDataset]:
        """The data of a loader that is not a dataset of a known class: a list, a tensor, a library's object."""
        for atom in loader.argument("dataset").ordered():
            if isinstance(atom, LibObject):
                inside = self._model.ev.installed.holds(atom.site.frame.path)
                place = None if inside else self._model.site_place(atom.site)
                yield MappedDataset(_named(atom, self._model), place, "proven")
            elif isinstance(atom, SeqOf):
                yield MappedDataset(_atom(atom, self._model), None, "proven")

    def _functions(self, loader: Loader, here: Sequence[Reached]) -> Iterator[MappedFunction]:
        found: dict[tuple[str, Place], tuple[set[Part], Certainty]] = {}
        for one in here:
            key = (self._model.label(one.frame), self._model.def_place(one.frame))
            parts, certainty = found.get(key, (set(), "possible"))
            parts.update(part for part in PARTS if one.loaders.get(part, 0) >> loader.index & 1)
            found[key] = (parts, _surer(certainty, one, loader))
        for (name, place), (parts, certainty) in sorted(
            found.items(), key=lambda item: (_order(item[0][1]), item[0][0])
        ):
            yield MappedFunction(name, place, tuple(part for part in PARTS if part in parts), certainty)

    # --- what is copied -----------------------------------------------------------------------------------------------

    def _copied(self, loader: Loader, here: Sequence[Reached]) -> Iterator[MappedObject]:
        found: dict[tuple[str, str, str, Place], Certainty] = {}
        for one in here:
            if one.frame not in self._objects:
                self._objects[one.frame] = tuple(dict.fromkeys(self._read_in(one.frame)))
            for key in self._objects[one.frame]:
                found[key] = _surer(found.get(key, "possible"), one, loader)
        for (owner, name, value, place), certainty in sorted(
            found.items(), key=lambda item: (_order(item[0][3]), item[0][:3])
        ):
            yield MappedObject(owner, name, value, place, certainty)

    def _read_in(self, frame: Frame) -> Iterator[tuple[str, str, str, Place]]:
        """The attributes of objects made in the main process that a frame reads."""
        model = self._model
        for number in sorted(model.ev.evaluated(frame)):
            e = model.ev.expr(frame, number)
            if not isinstance(e, ir.Attr):
                continue
            for owner in self._owners(e.base, frame):
                if not self._made_at_work(owner) and (key := model.remembered(_kept, owner, e.name)) is not None:
                    yield key

    def _owners(self, base: int, frame: Frame) -> list[Instance]:
        """The objects that an expression may be. `self` is the receiver, even if there were too many arguments to
        keep."""
        if isinstance(frame.receiver, Instance) and ir.is_self(self._model.ev.expr(frame, base)):
            return [frame.receiver]
        return [one for one in self._model.ev.eval(base, frame).atoms if isinstance(one, Instance)]

    def _made_at_work(self, owner: Instance) -> bool:
        """Whether the workers themselves create an object."""
        if owner not in self._at_work:
            self._at_work[owner] = owner.site is not None and self._model.runs_in_worker(owner.site.frame)
        return self._at_work[owner]


def _kept(owner: Instance, name: str, model: Model) -> tuple[str, str, str, Place] | None:
    """What the constructor of an object stores in an attribute: the class, the attribute, its possible values, and the
    place of the assignment; None if that is unknown or in a library."""
    store = next((one for one in model.ev.classes.stores(owner, name) if one.construction), None)
    if store is None or model.ev.installed.holds(store.frame.path):
        return None
    value = meaning(model.ev.classes.field(owner, name), model)
    return model.ev.classes.name(owner.cls), name, value, model.step_place(store.frame, store.step)


def _order(place: Place) -> tuple[Path, int, int]:
    return (place.path, place.piece, place.anchor)


def _surer(known: Certainty, one: Reached, loader: Loader) -> Certainty:
    guessed = one.possible >> loader.index & 1 or loader.out_of_sight
    return known if guessed else "proven"


def start_methods(loader: Loader, model: Model) -> tuple[tuple[str, ...], str]:
    """The start methods that a loader's workers may have, sorted, and what chooses them."""
    methods = tuple(sorted(model.start_methods.of(loader)))
    environment = model.environment(loader)
    if model.start_methods.named(loader.argument("multiprocessing_context")):
        return methods, "its multiprocessing_context"
    if environment.start_method is not None:
        return methods, "the setting start-method"
    if model.start_methods.chosen(loader):
        return methods, "multiprocessing.set_start_method"
    default = tuple(sorted(environment.default_start_methods()))
    names = {"linux": "Linux", "windows": "Windows", "macos": "macOS"}
    by_platform = f"the default of {', '.join(names.get(one, one) for one in environment.platforms)}"
    if methods == default:
        return methods, by_platform
    return methods, f"{by_platform}, or a multiprocessing.set_start_method that may not be called"


# --- what a value is, in words ----------------------------------------------------------------------------------------


def meaning(value: Val, model: Model) -> str:
    """A value as text, as far as it is known: '4, argparse default', 'seed_worker', 'unknown (parameter)', 'a or b'."""
    texts = list(dict.fromkeys(_atom(atom, model) for atom in value.ordered()))
    shown, rest = texts[:_MAX_MEANINGS], len(texts) - _MAX_MEANINGS
    return " or ".join(shown) + (f" or {rest} more" if rest > 0 else "") if texts else "unknown"


def _atom(atom: Atom, model: Model) -> str:
    match atom:
        case Unknown(reason):
            return f"unknown ({reason})"
        case Literal_(_, constant, configured):
            text = repr(constant)
            text = text if len(text) <= 40 else f"{text[:36]}...'"
            return f"{text}, {configured}" if configured else text
        case SeqOf("tuple", items):
            return f"a tuple of {len(items)}"
        case SeqOf(kind):  # it may grow
            return f"a {kind}"
        case MapOf():
            return "a dict"
        case PartialOf(func):
            return f"functools.partial({_atom(func, model)}, ...)"
    return _named(atom, model)


def _named(atom: Atom, model: Model) -> str:
    match atom:
        case Lib(name):
            return name.removeprefix("builtins.")
        case LibObject(name):
            return _made_by(name)
        case LibMember(owner, name):
            return f"{_named(owner, model)}.{name}"
        case Instance(cls, _):
            return model.ev.classes.name(cls)
        case ClassRef():
            return model.ev.classes.name(atom)
        case Method(function, _, owner):
            return f"{model.ev.classes.name(owner)}.{_function(function, model)}"
        case FunctionRef():
            return _function(atom, model)
        case ModuleRef(path):
            return f"the module {path.stem}"
    return "a computed value"


def _made_by(name: str) -> str:
    """The result of a call, as text: 'numpy.random.default_rng(...)', 'an item of f(...)', or 'a computed value'."""
    if name.startswith("builtins.operation"):
        return "a computed value"
    plain = name.removeprefix("builtins.")
    return f"an item of {plain[:-2]}(...)" if plain.endswith("[]") else f"{plain}(...)"


def _function(function: FunctionRef, model: Model) -> str:
    facts = model.ev.facts(function.path, function.piece)
    one = facts.ir.defs[function.def_] if facts else None
    return one.name if one is not None and one.kind != "lambda" else "a lambda"


def functions_by_file(loader: MappedLoader) -> dict[Path, list[MappedFunction]]:
    """The functions that the workers of a loader run, by file."""
    found: dict[Path, list[MappedFunction]] = {}
    for one in loader.functions:
        found.setdefault(one.place.path, []).append(one)
    return found
