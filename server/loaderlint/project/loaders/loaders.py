"""The loaders of a project: where they are created, with which arguments (such as `num_workers`), over which
datasets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.lazy_pipelines import keeps_functions
from loaderlint.knowledge.library_datasets import WRAPPING_DATASETS, is_library_dataset
from loaderlint.knowledge.loader_defaults import TORCH_DEFAULTS
from loaderlint.knowledge.registries import makes_configured, registers_transforms
from loaderlint.knowledge.wrappers import LOADERS, PACKAGES, LoaderKind
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.call_sites import CallSite, called_name
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.calls import runs
from loaderlint.project.evaluation.dynamic_dispatch import (
    CHOSEN,
    OPEN,
    asked_bases,
    is_in_package,
    may_be_elsewhere,
    may_be_registered,
    missing_class,
    takes,
)
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.later_attributes import as_copied, replaced_on, set_on
from loaderlint.project.evaluation.library_calls import passed_to_library
from loaderlint.project.evaluation.limits import Limit
from loaderlint.project.evaluation.number_bounds import ANY, NO_WORKERS, Count, count_of
from loaderlint.project.evaluation.object_places import copies_deeply
from loaderlint.project.evaluation.replaced_values import may_be_gone
from loaderlint.project.evaluation.values import (
    ABSENT,
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    PartialOf,
    SeqOf,
    Site,
    Unknown,
    Val,
    def_key,
    is_none,
    join,
    of,
    present_or,
    unknown,
)
from loaderlint.project.loaders import installed_loaders
from loaderlint.project.loaders.candidate_calls import Candidates, matches
from loaderlint.project.loaders.copied_loader import copied_kind
from loaderlint.project.loaders.declared_loaders import DeclaredCalls, DeclaredOf, leads_to, run_from, with_seeds
from loaderlint.project.loaders.failing_code import FailingCode
from loaderlint.project.loaders.file_arguments import with_file_values
from loaderlint.project.loaders.idle_loaders import IdleLoaders
from loaderlint.project.loaders.library_samples import sample_callables
from loaderlint.project.loaders.missing_lengths import lacks_length
from loaderlint.project.loaders.own_iteration import TORCH_LOADER, reads_itself
from loaderlint.project.loaders.presumed_datasets import (
    dataset_kind,
    given_by_configured,
    is_empty,
    is_given_by_configured,
    kept_elsewhere,
    may_be_dataset,
)
from loaderlint.project.loaders.registered_names import is_registered, literal_key, registered_names
from loaderlint.project.loaders.unnamed_arguments import without_unnamed
from loaderlint.project.loaders.unset_options import UnsetOptions
from loaderlint.project.loaders.unused_functions import UnusedFunctions
from loaderlint.project.loaders.wrapper_arguments import keeps_workers, loaders_made
from loaderlint.project.modules.project_files import MODULE
from loaderlint.project.modules.tests_and_tutorials import in_tests
from loaderlint.project.versions.environment import Environment

_CLASS_WITH_BASES = re.compile(r"class\s+\w+\s*\(")
#: At most this many loaders of one component are read, and the caller reports it if there are more. Real repositories
#: have a few hundred.
MAX_LOADERS = 4_000
#: At most this many calls that create a loader's unknown dataset are noted.
MAX_LATE_SITES = 4
#: How many calls lead from a function that nothing uses to one that creates a loader.
_MAX_CALLS = 3
#: The reason why the earlier items of a dict are not known.
_COPIED = "a copied mapping"
_DISTRIBUTED = "torch.utils.data.DistributedSampler"
EVALUATION_NAME = re.compile(r"val|test|eval|infer|predict", re.IGNORECASE)
_DATASET_NAME = re.compile(r"dataset|^data$|^(?:base|inner|source)$", re.IGNORECASE)
Answer = Literal["yes", "no", "maybe"]


class Held(NamedTuple):
    """How a loader holds a dataset. `wrapped`: inside a Subset, ConcatDataset or the like. `sure`: the loader holds it
    in some run of the program; otherwise it is a guess."""

    wrapped: bool
    sure: bool


class Loader(Struct, frozen=True, eq=False):
    """One loader in one context.

    - `index`: its bit.
    - `name`: its name in the code.
    - `arguments`: torch's parameters that are passed, or that a wrapper sets.
    - `datasets`: the dataset objects and library datasets that it may hold.
    - `wrapped`: some of them are inside a Subset, ConcatDataset or the like.
    - `late`: the reason why its dataset is unknown, if it is.
    - `out_of_sight`: no loader is known; this one is presumed for the project's unused datasets.
    - `guessed`: those of `datasets` that are guesses.
    - `late_sites`: the known calls that create its unknown dataset.
    - `workers`: how many it starts, as configured.
    - `reads_itself`: the `__iter__` of its class reads the dataset without torch's workers, whatever their number.
    - `presumed`: a class creates it of which no known code creates an object.
    - `unused`: no program of the project gets as far as the call that creates it, or nothing iterates over it, and
      programs use others; or that call always raises TypeError, because the length of its dataset is None.
    - `fails`: what always fails comes before the call that creates it.
    - `idle`: it is unused because nothing iterates over it; the call that creates it runs.
    - `installed`: a function of an installed library makes it, and the call at `site` runs that function.
    - `unheld`: its name in messages if no variable, attribute or key holds it: 'the DataLoader in main()'."""

    index: int
    kind: LoaderKind
    site: Site | None
    name: str
    arguments: dict[str, Val] = field(default_factory=dict)
    datasets: tuple[Atom, ...] = ()
    wrapped: bool = False
    late: str = ""
    out_of_sight: bool = False
    guessed: frozenset[Atom] = frozenset()
    late_sites: tuple[Site, ...] = ()
    workers: Count = ANY
    reads_itself: bool = False
    presumed: bool = False
    unused: bool = False
    fails: bool = False
    idle: bool = False
    installed: bool = False
    unheld: str = ""

    def argument(self, name: str) -> Val:
        """The value of torch's parameter `name`, passed or by default."""
        passed = self.arguments.get(name)
        if passed is not None and ABSENT not in passed.atoms:
            return passed
        if self.out_of_sight:
            return unknown("loader out of sight")
        default = _constant(dict(self.kind.defaults).get(name, TORCH_DEFAULTS.get(name)))
        return default if passed is None else present_or(passed, default)

    def has_workers(self, count: int = 1) -> Answer:
        """Whether it starts at least `count` workers, with the options' defaults."""
        if self.workers.least >= count:
            return "yes"
        return "no" if self.workers.most < count else "maybe"

    @property
    def workers_text(self) -> str:
        """The number of workers in words: 'num_workers=4', 'num_workers=4, argparse default', 'num_workers at least 1',
        'num_workers unknown', 'its own __iter__ starts no workers'."""
        if self.reads_itself:
            return "its own __iter__ starts no workers"
        value = self.argument("num_workers")
        known = [a for a in value.atoms if isinstance(a, Literal_) and a.value is not None]
        if not known or len(known) != len(value.atoms):
            return f"num_workers{self._bounds_text}"
        numbers = " or ".join(sorted({str(atom.value) for atom in known}))
        sources = sorted({atom.configured for atom in known if atom.configured})
        return f"num_workers={numbers}" + (f", {sources[0]}" if sources else "")

    @property
    def _bounds_text(self) -> str:
        least, most = self.workers.least, self.workers.most
        source = f", {self.workers.configured}" if self.workers.configured else ""
        if least == most:
            return f"={least:g}{source}"
        return f" at least {least:g}{source}" if least >= 1 else " unknown"

    @property
    def persistent(self) -> bool | None:
        """Whether its workers live longer than an epoch; None if that is not known."""
        if self.kind.persistent:
            return True
        literal = self.argument("persistent_workers").literal
        return bool(literal.value) if literal is not None else None

    @property
    def is_for_evaluation(self) -> bool:
        """Whether it reads its samples in order and has the name of an evaluation loader: `val_loader`."""
        return self.keeps_order and bool(EVALUATION_NAME.search(self.name))

    @property
    def keeps_order(self) -> bool:
        """Whether it reads its samples in order. A sampler may order them in a distributed program."""
        shuffle = self.argument("shuffle").literal
        return shuffle is not None and not shuffle.value and any(map(_keeps_order, self.argument("sampler").atoms))

    @property
    def path(self) -> Path | None:
        """The file that creates it."""
        return self.site.frame.path if self.site else None

    @property
    def described(self) -> str:
        """Its name in messages, with its file."""
        return named_in_file(self.called, self.path)

    @property
    def called(self) -> str:
        """Its name in messages: '`train_loader`', 'the DataLoader in main()'."""
        return self.unheld or f"`{self.name}`"

    @property
    def place_of_work(self) -> str:
        """Where its samples are made: 'in the workers of `train_loader` in train.py'; 'for `train_loader` in train.py'
        if it has no workers."""
        return f"{'for' if self.has_workers() == 'no' else 'in the workers of'} {self.described}"


def named_in_file(called: str, path: Path | None) -> str:
    """A loader's name in messages with the file that creates it, if one does: '`train_loader` in train.py',
    'the DataLoader in main() (train.py)'. A file such as `__main__.py` comes with its folder."""
    if path is None:
        return "an unknown loader"
    file = f"{path.parent.name}/{path.name}" if path.name.startswith("__") else path.name
    return f"{called} ({file})" if called.endswith(")") else f"{called} in {file}"


@lru_cache(maxsize=64, typed=True)
def _constant(value: str | int | float | bool | None) -> Val:
    return of(Literal_(type(value).__name__, value))


class Loaders:
    """Finds the loaders of one snapshot."""

    def __init__(
        self,
        evaluator: Evaluator,
        callers: Callers,
        environment_of: Callable[[Path], Environment],
        declared_of: DeclaredOf,
    ) -> None:
        self._ev = evaluator
        self._callers = callers
        self.failing = FailingCode(evaluator)
        self.unused = UnusedFunctions(evaluator, callers, self.failing)
        self._idle = IdleLoaders(evaluator, callers, self.failing)
        self._declared = DeclaredCalls(evaluator, callers, declared_of)
        self._environment_of = environment_of
        self._names: dict[Code, dict[int, str]] = {}
        self._receivers: dict[DefKey, tuple[frozenset[tuple[ClassRef, Site | None]], bool]] = {}
        self.limits: tuple[Limit, ...] = ()
        """The limits that were reached."""
        self.shows_use = False
        """Whether a program of the project creates a loader, apart from its tests."""

    def find(self) -> tuple[Loader, ...]:
        """Every known loader, in the order of files and places. Those of code that nothing calls, and of tests, come
        last: a finding names the first loader, and nobody may ever use these."""
        sites = tuple(Candidates(self._ev, self._callers).find())
        found = list(islice(self._in_sight(sites), MAX_LOADERS + 1))
        found = self._with_heirs(sites, found)
        for where, declared, arguments in self._declared.find():
            self._add_declared(self._with(declared, where, arguments), where, found)
        self.limits = tuple(map(_too_many, found[MAX_LOADERS : MAX_LOADERS + 1]))
        kept = sorted(found[:MAX_LOADERS], key=self._is_aside)
        fails = {id(one) for one in kept if one.site is not None and self.failing.keeps_from(one.site)}
        unused = fails | {id(one) for one in kept if one.site is not None and self._is_unused(one.site)}
        unused |= set(map(id, self._called_in_vain([one for one in kept if id(one) not in unused])))
        in_use = [one for one in kept if id(one) not in fails and self._is_in_use(one)]
        self.shows_use = bool(in_use)
        idle = {id(one) for one in kept if in_use and self.is_idle(one)}
        unused |= idle if any(id(one) not in idle for one in in_use) else set()
        return tuple(
            replace(
                one,
                index=index,
                unused=(self.shows_use and id(one) in unused) or lacks_length(self._ev, one),
                fails=id(one) in fails,
                idle=id(one) in unused & idle,
            )
            for index, one in enumerate(kept)
        )

    def _called_in_vain(self, loaders: Iterable[Loader]) -> Iterator[Loader]:
        """The loaders of functions that programs use, in frames that only other calls lead to, which no program
        makes."""
        by_call: dict[tuple[DefKey, ir.ExprId], list[Loader]] = {}
        for one in loaders:
            if one.site is not None:
                by_call.setdefault((def_key(one.site.frame), one.site.expr), []).append(one)
        for made in by_call.values():
            if len(made) == 1:
                continue
            vain = [one for one in made if one.site is not None and self._is_called_in_vain(one.site.frame)]
            yield from vain if len(vain) < len(made) else ()

    def _is_called_in_vain(self, frame: Frame, depth: int = 0) -> bool:
        """Whether no program makes any of the calls that lead to a frame."""
        calls = self._callers.leading_to(frame) if depth < _MAX_CALLS else ()
        return bool(calls) and all(
            self.failing.keeps_from(site) or self._is_unused(site) or self._is_called_in_vain(site.frame, depth + 1)
            for site in calls
        )

    def _is_unused(self, site: Site) -> bool:
        """Whether no program of the project makes a call."""
        return self.unused.is_unused(*def_key(site.frame)) or self.unused.is_uncalled(site.frame)

    def is_idle(self, loader: Loader) -> bool:
        """Whether nothing iterates over a loader of torch's own class, be it the only one of the project."""
        is_plain = loader.kind.name == TORCH_LOADER and not loader.installed
        return is_plain and loader.site is not None and self._idle.is_idle(loader.site)

    def _is_in_use(self, loader: Loader) -> bool:
        """Whether a program of the project creates a loader that nothing fails before: not a test, and not the module
        of the dataset, which may only try it out."""
        frame = loader.site.frame if loader.site is not None else None
        if loader.site is None or frame is None or in_tests(loader.path, self._ev.files.root):
            return False
        if frame.def_ == 0:
            return not any(isinstance(one, Instance) and one.cls.path == loader.path for one in loader.datasets)
        if isinstance(frame.receiver, Instance):
            return frame.receiver.site is not None
        return self.unused.use(*def_key(frame)) == "known"

    def _is_aside(self, loader: Loader) -> bool:
        """Whether a loader is created by a test, by a function or method that no known code calls, or by a class of
        which no known code creates an object."""
        if in_tests(loader.path, self._ev.files.root):
            return True
        frame = loader.site.frame if loader.site is not None else None
        if frame is None or frame.def_ == 0:
            return False
        if isinstance(frame.receiver, Instance):
            return frame.receiver.site is None or self.unused.is_uncalled(frame)
        return def_key(frame) in self._callers.uncalled

    def _in_sight(self, sites: Sequence[CallSite]) -> Iterator[Loader]:
        """The loaders of all calls that create one. Lazy, because finding the callers of the surrounding code is
        slow."""
        seen: set[Site] = set()
        for site in sites:
            for frame in self._callers.frames(site.path, site.piece, site.def_):
                where = Site(frame, site.expr)
                if where not in seen and not self._ev.liveness.is_dead(site.context, frame):
                    seen.add(where)
                    yield from self._on_receivers(frame, self._made(where))
                    yield from self._made_by_library(where)

    def _on_receivers(self, frame: Frame, loaders: Iterator[Loader]) -> Iterator[Loader]:
        """Of the loaders that a method makes of its own object, those whose object it is called on. If no call in sight
        shows the object, it is a guess."""
        for loader in loaders:
            receiver = frame.receiver
            if isinstance(receiver, Instance) and receiver.site is not None and receiver in loader.datasets:
                called, is_open = self._called_on(frame)
                is_seen = (receiver.cls, receiver.site) in called
                if not is_seen and called and not is_open:
                    continue
                if not is_seen and not self._runs_by_itself(frame):
                    loader = replace(loader, guessed=loader.guessed | {receiver})
            yield loader

    def _runs_by_itself(self, frame: Frame) -> bool:
        """Whether no call by its name runs a method: a special method, a function of a property."""
        one = self._ev.def_of(frame)
        function = FunctionRef(frame.path, frame.piece, frame.def_)
        is_special = one is not None and one.name.startswith("__") and one.name.endswith("__")
        return is_special or self._ev.functions.decoration(function) in ("property", "setter", "deleter")

    def _called_on(self, frame: Frame) -> tuple[frozenset[tuple[ClassRef, Site | None]], bool]:
        """The objects on which known code calls the method of a frame, each by its class and place, and whether other
        calls may be on any object."""
        key, one = def_key(frame), self._ev.def_of(frame)
        if key not in self._receivers:
            found, is_open = self._callers.receivers(key, one.name if one is not None else "")
            self._receivers[key] = frozenset((each.cls, each.site) for each in found), is_open
        return self._receivers[key]

    def _made_by_library(self, site: Site) -> Iterator[Loader]:
        """The loaders that a library function creates, if the call runs one. They count as created by the call."""
        if not self._ev.installed.found:
            return
        call = self._ev.expr(site.frame, site.expr)
        callee = self._ev.eval(call.func, site.frame) if isinstance(call, ir.Call) else None
        if callee is None or not any(installed_loaders.may_make(self._ev, atom) for atom in callee.atoms):
            return
        found: list[Loader] = []
        for inner in installed_loaders.made_inside(self._ev, site):
            for loader in self._made(inner):
                is_left_out = loader.argument("dataset").is_none  # that of an optional parameter
                if not is_left_out and not any(_are_alike(loader, one) for one in found):
                    found.append(loader)
        name, unheld = self._name(site.frame, site.expr)
        for loader in found:
            yield replace(loader, site=site, name=name, unheld=unheld, installed=True)

    def _with_heirs(self, sites: Sequence[CallSite], found: Sequence[Loader]) -> list[Loader]:
        """The loaders, and those that a base class creates from datasets of its subclasses, if no known code creates an
        object of the subclass. If a known loader already holds such a dataset, the base class makes no other loader of
        it, but one whose dataset is not known may hold it."""
        held = {_species(atom) for loader in found for atom in loader.datasets}
        places = ((number, one.site) for number, one in enumerate(found) if not one.datasets)
        unknown = {
            (*def_key(site.frame), site.expr): number for number, site in places if site and _is_of_unknown(site)
        }
        loaders = list(found)
        for site, frame in self._frames_of_heirs(sites):
            for loader in self._made(Site(frame, site.expr)):
                fresh = tuple(atom for atom in loader.datasets if _species(atom) not in held)
                number = unknown.get((site.path, site.piece, site.def_, site.expr))
                if fresh:
                    loaders.append(replace(loader, datasets=fresh, guessed=frozenset(fresh), presumed=True, late=""))
                elif number is not None and loader.datasets:
                    datasets = tuple(dict.fromkeys((*loaders[number].datasets, *loader.datasets)))
                    loaders[number] = replace(loaders[number], datasets=datasets, guessed=frozenset(datasets), late="")
        return loaders

    def _frames_of_heirs(self, sites: Sequence[CallSite]) -> Iterator[tuple[CallSite, Frame]]:
        for site in sites:
            for frame in self._callers.frames_of_heirs(site.path, site.piece, site.def_):
                if not self._ev.liveness.is_dead(site.context, frame):
                    yield site, frame

    def _add_declared(self, declared: Loader, site: Site, found: list[Loader]) -> None:
        """Add the loader of a declared call. If the call leads to known loaders, complete these instead."""
        inside = leads_to(self._ev, site)
        followed = [n for n, one in enumerate(found) if one.site and (one.site == site or one.site.frame in inside)]
        for number in followed:
            found[number] = _completed(found[number], declared)
        if not followed:
            found.append(declared)

    # --- one loader ---------------------------------------------------------------------------------------------------

    def _made(self, site: Site) -> Iterator[Loader]:
        """The loaders that a call creates: one, or those of a trainer."""
        call = self._ev.expr(site.frame, site.expr)
        if not isinstance(call, ir.Call):
            return
        callee = self._ev.eval(call.func, site.frame)
        found = ((atom, self._resolve(atom, call, site)) for atom in callee.only(Lib, ClassRef, PartialOf))
        ways = [(*one, atom if isinstance(atom, ClassRef) else None) for atom, one in found if one is not None]
        same = len({kind.persistent for kind, _, _ in ways}) == 1
        for kind, arguments, cls in ways[:1]:
            for mapped in loaders_made(self._ev, kind, arguments, cls):
                mapped = without_unnamed(self._ev, kind.name, mapped, site)
                held = {**mapped, "dataset": self._held_by_any(mapped, ways[1:], callee)}
                if same:
                    loader = self._with(kind, site, held)
                    idle = self._read_themselves(ways)
                    yield replace(loader, workers=NO_WORKERS, reads_itself=True) if idle else loader
                else:  # `DataLoader if weighted else InfiniteDataLoader`
                    open_end = {**held, "persistent_workers": unknown("one of several loaders")}
                    yield self._with(replace(kind, persistent=False), site, open_end)

    def _read_themselves(self, ways: list[tuple[LoaderKind, Arguments, ClassRef | None]]) -> bool:
        """Whether a call creates loaders that never start workers, whatever their number is."""
        return all(
            cls is not None and kind.name == TORCH_LOADER and reads_itself(self._ev, cls) for kind, _, cls in ways
        )

    def _held_by_any(
        self, first: dict[str, Val], others: list[tuple[LoaderKind, Arguments, ClassRef | None]], callee: Val
    ) -> Val:
        """The datasets of several loader classes of which one is chosen. Their other arguments are usually the same."""
        missing = unknown("no dataset argument")
        more = [one.get("dataset", missing) for way in others for one in loaders_made(self._ev, *way)]
        chosen = [of(atom) for atom in callee.atoms if isinstance(atom, Unknown) and atom.reason in CHOSEN]
        return join([first.get("dataset", missing), *more, *chosen])

    def _with(self, kind: LoaderKind, site: Site, arguments: dict[str, Val]) -> Loader:
        """The loader that a call creates with these arguments, under torch's names."""
        arguments = with_file_values(self._ev, arguments)
        dataset = arguments.get("dataset", unknown("no dataset argument"))
        held = self._expand(dataset, False, 0)
        chosen = tuple(self._chosen(dataset, 0))
        copied = Unknown(_COPIED) in dataset.atoms
        known = kind.own_data or (held and not copied)
        late = chosen[0].reason if chosen else "" if known else self._late(dataset)
        name, unheld = self._name(site.frame, site.expr)
        loader = Loader(
            0,
            kind,
            site,
            name,
            self._without_refused(arguments),
            tuple(held),
            any(one.wrapped for one in held.values()),
            late,
            guessed=frozenset(atom for atom, one in held.items() if copied or not one.sure),
            late_sites=tuple(dict.fromkeys(one.made for one in chosen if one.made))[:MAX_LATE_SITES],
            unheld=unheld,
        )
        return replace(loader, workers=count_of(self._ev, loader.argument("num_workers")))

    def _without_refused(self, arguments: dict[str, Val]) -> dict[str, Val]:
        """The arguments of a loader, without datasets whose call raises TypeError: such a loader never exists."""
        dataset = arguments.get("dataset")
        if dataset is None or not any(map(self._is_refused, dataset.atoms)):
            return arguments
        return {**arguments, "dataset": Val(frozenset(one for one in dataset.atoms if not self._is_refused(one)))}

    def _is_refused(self, atom: Atom) -> bool:
        return isinstance(atom, Instance) and self._ev.calls.is_refused(atom)

    def _resolve(self, atom: Atom, call: ir.Call, site: Site) -> tuple[LoaderKind, Arguments] | None:
        """The kind of loader that a callee is, and the arguments for the library's own constructor."""
        frame = site.frame
        if isinstance(atom, Lib):
            kind = self._kind(atom.name, frame.path)
            return (kind, self._ev.calls.arguments(call, frame)) if kind else None
        if isinstance(atom, PartialOf):
            kind = self._kind(atom.func.name, frame.path) if isinstance(atom.func, Lib) else None
            bound = self._ev.expr(atom.site.frame, atom.site.expr)
            if kind is None or not isinstance(bound, ir.Call):
                return None
            first = self._ev.calls.arguments(bound, atom.site.frame, skip=1)
            return kind, first.before(self._ev.calls.arguments(call, frame))
        if not isinstance(atom, ClassRef):
            return None
        if (copied := copied_kind(self._ev, atom)) is not None:
            return copied, self._ev.calls.arguments(call, frame)
        base = next((name for name in self._ev.classes.library_bases(atom) if name in LOADERS), "")
        kind = self._kind(base, frame.path)
        if kind is None:
            return None
        inst = Instance(atom, site)
        if keeps_workers(self._ev, inst):
            kind = replace(kind, persistent=True)
        return kind, passed_to_library(self._ev, inst)

    def _kind(self, name: str, path: Path) -> LoaderKind | None:
        """The loader of this name, as it is in the versions that the project declares; None if there is none."""
        kind = LOADERS.get(name)
        if kind is None or not kind.changes:
            return kind
        packages = self._environment_of(path).packages or {}
        versions = [packages[one] for one in PACKAGES[name] if one in packages]
        return kind.at(lambda border: any(one.before(border) == "yes" for one in versions))

    def _expand(self, value: Val, wrapped: bool, depth: int) -> dict[Atom, Held]:
        """The datasets that a dataset argument stands for, through Subset, ConcatDataset, random_split and lists."""
        if depth > 6:
            return {}
        found: dict[Atom, Held] = {}
        others = [one for one in value.only(Unknown) if one.reason in (CHOSEN | OPEN)]
        evaluated = any(one.reason == "eval" for one in others)
        gone = may_be_gone(self._ev, value)
        for one in value.ordered():
            sure = one not in gone and not any(self._is_among(one, other) for other in others)
            for atom, held in self._way(self._evaluated(one) if evaluated else one, wrapped, depth).items():
                before = found.get(atom, Held(False, False))
                found[atom] = Held(before.wrapped or held.wrapped, before.sure or held.sure and sure)
        return found

    def _is_among(self, atom: Atom, other: Unknown) -> bool:
        """Whether `atom` is only one of the candidates of the call that creates `other`. It is not if another branch
        creates it, or if the default of an option names it."""
        site = getattr(atom, "site", None)
        if other.made is None or not isinstance(site, Site):
            return True
        if site == other.made:
            return other.reason in OPEN or not isinstance(atom, Instance) or self._ev.calls.is_chosen(atom)
        usual = [callee for number, callee in other.made.frame.usual if number == other.made.expr]
        called = self._ev.targets(other.made.expr, other.made.frame)
        return site.frame in run_from(self._ev, (f for f in called if not any(runs(one, f) for one in usual)))

    def _evaluated(self, atom: Atom) -> Atom:
        """The value of `eval(text)` if the text may name a class: an object of the class, if it has items."""
        if not isinstance(atom, ClassRef):
            return atom
        has_items = dataset_kind(self._ev, atom) is not None or self._ev.classes.member(atom, "__getitem__") is not None
        return Instance(atom, None) if has_items else atom

    def _way(self, atom: Atom, wrapped: bool, depth: int) -> dict[Atom, Held]:
        """The datasets in one possible value of a dataset argument."""
        match atom:
            case Instance():
                return self._object(atom, wrapped, depth)
            case SeqOf("tuple", _, Site()) if depth == 0:
                return {}  # `return train, val` in another branch: no loader holds a pair
            case SeqOf(_, items):
                return self._all(items, wrapped, depth)
            case LibObject(name) if name in WRAPPING_DATASETS:
                return self._all(self._wrapped(atom), True, depth)
            case LibObject(name, _) if is_library_dataset(name) or keeps_functions(name):
                return {atom: Held(wrapped, True)}
            case LibObject() if is_given_by_configured(atom):
                given = given_by_configured(self._ev, self._callers, atom)
                held = self._expand(given, wrapped, depth + 1) if given is not None else {}
                return {one: Held(way.wrapped, False) for one, way in held.items()}
            case LibObject("builtins.operation", site):
                e = self._ev.expr(site.frame, site.expr)  # dataset_a + dataset_b concatenates
                if isinstance(e, ir.Bin) and e.op == "+":
                    return self._all([self._ev.eval(side, site.frame) for side in (e.left, e.right)], True, depth)
            case LibObject(name):
                kept = kept_elsewhere(self._ev, atom)
                if not (kept or makes_configured(name)) and sample_callables(self._ev, atom):
                    return {atom: Held(wrapped, False)}  # a dataset of a library that is not known
                return {one: Held(True, False) for one in kept}
        return {}

    def _wrapped(self, wrapper: LibObject) -> list[Val]:
        """The dataset in a `Subset` or the like: its argument, unless the code around it assigns another one. A deep
        copy holds a copy."""
        name, position = WRAPPING_DATASETS[wrapper.name]
        copied = wrapper.copied
        replaced = replaced_on(self._ev, copied or wrapper.given or wrapper.site, name)
        if replaced is not None:
            return [replaced]
        passed = self._ev.calls.site_arguments(wrapper.site).get(name, position)
        values = [passed, *set_on(self._ev, wrapper, name)] if passed is not None else []
        if copied is None or not copies_deeply(self._ev, copied):
            return values
        return [as_copied(self._ev, value, copied.frame, copied.expr) for value in values]

    def _all(self, values: Iterable[Val], wrapped: bool, depth: int) -> dict[Atom, Held]:
        """The datasets of several values, all of which the loader holds."""
        found: dict[Atom, Held] = {}
        for value in values:
            for atom, held in self._expand(value, wrapped, depth + 1).items():
                before = found.get(atom, Held(False, False))
                found[atom] = Held(before.wrapped or held.wrapped, before.sure or held.sure)
        return found

    def _object(self, inst: Instance, wrapped: bool, depth: int) -> dict[Atom, Held]:
        """An object of the project, and what it holds if its class derives from Subset or ConcatDataset. If its class
        was chosen by a computed name, it counts only if it may be a dataset."""
        chosen = self._ev.calls.is_chosen(inst)
        if chosen and (not may_be_dataset(self._ev, inst.cls) or self.failing.unset_options.lacks_option(inst)):
            return {}
        if self._is_refused(inst):
            return {}
        found: dict[Atom, Held] = {inst: Held(wrapped, not chosen)}
        for base in self._ev.classes.library_bases(inst.cls):
            if base in WRAPPING_DATASETS and inst.site is not None:
                inner = passed_to_library(self._ev, inst).get(*WRAPPING_DATASETS[base])
                if inner is not None:
                    found.update(self._all([inner], True, depth))
        return found

    def _chosen(self, value: Val, depth: int) -> Iterator[Unknown]:
        """The objects in a dataset argument whose class is chosen at run time, perhaps an unknown one. Includes those
        that known datasets are created from."""
        if depth > 3:
            return
        made = {atom.site for atom in value.atoms if isinstance(atom, Instance)}
        for atom in value.ordered():
            match atom:
                case Unknown(reason, site) if site is not None:
                    is_open = reason in OPEN or (site not in made and not self._is_part_of_known(atom))
                    if is_open or may_be_elsewhere(self._ev, site):
                        yield atom
                case LibObject(name, site) if makes_configured(name):
                    yield Unknown("instantiated", site if self._ev.yaml.passes_on(site) else None)
                case LibObject() if is_given_by_configured(atom):
                    yield Unknown("instantiated")
                case LibObject(name, site) if name in WRAPPING_DATASETS:
                    yield from self._chosen_in(self._ev.calls.site_arguments(site).get(*WRAPPING_DATASETS[name]), depth)
                case SeqOf(_, items):
                    for item in items:
                        yield from self._chosen(item, depth + 1)
                case Instance(_, site) if site is not None:
                    if self._ev.yaml.instantiates(site):
                        yield Unknown("instantiated")  # another configuration may name another class
                    for inner in self._datasets_passed(atom):
                        yield from self._chosen(inner, depth + 1)

    def _is_part_of_known(self, part: Unknown) -> bool:
        """Whether a value is an attribute of an object whose class is chosen at run time, among classes that the code
        names: then it is what these store there."""
        if part.made is None or part.reason in OPEN:
            return False
        chosen = self._ev.eval(part.made.expr, part.made.frame).only(Instance)
        return any(one.site == part.made for one in chosen)

    def _chosen_in(self, value: Val | None, depth: int) -> Iterator[Unknown]:
        return self._chosen(value, depth + 1) if value is not None else iter(())

    def _datasets_passed(self, inst: Instance) -> Iterator[Val]:
        """The arguments of a constructor whose parameters are named like datasets."""
        init = self._ev.classes.init_frame(inst)
        one = self._ev.def_of(init) if init else None
        for param, value in zip(one.params, init.args, strict=False) if one and init else ():
            if value is not None and _DATASET_NAME.search(param.name):
                yield value

    def _late(self, value: Val | None) -> str:
        """Why the dataset of a loader is unknown; '' if it is a library's own, a list of samples, or never made."""
        if value is None:
            return "no dataset argument"
        reasons = [one.reason for one in value.only(Unknown) if not self._is_part_of_known(one)]
        if reasons:
            return min(reasons)
        made = value.only(LibObject)
        if len(made) == 1 and made[0].name in WRAPPING_DATASETS:
            return self._late(self._ev.calls.site_arguments(made[0].site).get(*WRAPPING_DATASETS[made[0].name]))
        listed = any(isinstance(atom, SeqOf) and atom.kind == "list" for atom in value.atoms)
        refused = any(map(self._is_refused, value.atoms))
        return "" if made or listed or refused else "a computed value"

    def _name(self, frame: Frame, number: int) -> tuple[str, str]:
        """The loader's name in the code: that of the variable, attribute or key it is stored in, otherwise that of the
        function. And its name in messages if it is not stored, otherwise ''."""
        one = self._ev.def_of(frame)
        if stored := self._stored_names(frame.code).get(number):
            return stored, ""
        call = self._ev.expr(frame, number)
        facts = self._ev.facts(frame.path, frame.piece)
        made = called_name(facts.ir.exprs, call.func) if facts and isinstance(call, ir.Call) else "loader"
        if one and one.name and one.kind != "lambda":
            return one.name, f"the {made or 'loader'} in {self._class_of_method(frame, facts)}{one.name}()"
        return made, f"the {made or 'loader'}"

    def _class_of_method(self, frame: Frame, facts: PieceFacts | None) -> str:
        """'Trainer.' for a method of that class, '' for another function."""
        owner = self._callers.owner(frame.path, frame.piece, frame.def_, facts) if facts else None
        head = self._ev.classes.head(owner) if owner else None
        return f"{head.name}." if head else ""

    def _stored_names(self, code: Code) -> Mapping[int, str]:
        """The name of the variable, attribute or key in which the def first stores each expression."""
        known = self._names.get(code)
        if known is None:
            known = self._names[code] = {}
            for step in code.one.steps if code.one else ():
                if isinstance(step, ir.Bind | ir.SetAttr | ir.SetItem) and (name := _name_of_store(step, code)):
                    for number in _held(step.value, code, 0):
                        known.setdefault(number, name)
        return known


def _keeps_order(sampler: Atom) -> bool:
    """Whether a sampler leaves the samples in order, but for those of other processes: there is none, or it is a
    DistributedSampler, which evaluation uses for its shares."""
    return is_none(sampler) or (isinstance(sampler, LibObject) and sampler.name == _DISTRIBUTED)


def _name_of_store(step: ir.Bind | ir.SetAttr | ir.SetItem, code: Code) -> str:
    """The name under which a step stores a value; '' for a key that is computed."""
    if isinstance(step, ir.Bind | ir.SetAttr):
        return step.name
    key = code.exprs[step.index] if step.index != NONE else None
    return str(key.value) if isinstance(key, ir.Const) else ""


def _held(value: int, code: Code, depth: int) -> Iterator[int]:
    """A stored expression, and the loaders that it may be or wraps: `iter(DataLoader(...))`."""
    if value == NONE:
        return
    yield value
    if depth > 2:
        return
    match code.exprs[value]:
        case ir.IfExp(_, then, other):
            yield from _held(then, code, depth + 1)
            yield from _held(other, code, depth + 1)
        case ir.Call(_, args) if args:
            yield from _held(args[0].value, code, depth + 1)


def _are_alike(one: Loader, other: Loader) -> bool:
    """Whether two loaders of a library are indistinguishable: the library creates one or the other."""
    return one.kind == other.kind and one.arguments == other.arguments


def _too_many(first_unread: Loader) -> Limit:
    message = f"more than {MAX_LOADERS} loaders in the files that belong together; not checked from"
    return Limit(first_unread.path, f"{message} {first_unread.called} on")


def _is_of_unknown(site: Site) -> bool:
    """Whether a method makes a call on an object that no known code creates."""
    receiver = site.frame.receiver
    return isinstance(receiver, Instance) and receiver.site is None


def _species(atom: Atom) -> Atom | str:
    """The class of a dataset, or a library object's name: the same for two datasets of one class."""
    if isinstance(atom, Instance):
        return atom.cls
    return atom.name if isinstance(atom, LibObject) else atom


def _completed(seen: Loader, declared: Loader) -> Loader:
    """A known loader, completed by the declaration of the call that creates it."""
    arguments = dict(seen.arguments)
    if declared.datasets and seen.guessed.issuperset(seen.datasets):
        arguments["dataset"] = declared.argument("dataset")
        seen = replace(
            seen,
            datasets=declared.datasets,
            guessed=declared.guessed,
            wrapped=declared.wrapped,
            late="",
            late_sites=(),
        )
    if seen.has_workers() == "maybe" and declared.has_workers() != "maybe":
        arguments["num_workers"] = declared.argument("num_workers")
        seen = replace(seen, workers=declared.workers)
    return replace(seen, kind=with_seeds(seen.kind, declared.kind), arguments=arguments)


def unused_datasets(ev: Evaluator, callers: Callers, used: set[ClassRef], idle: set[ClassRef]) -> Iterator[Instance]:
    """Objects of the project's dataset classes, as if created by unknown code. The classes are those that are neither
    `used` nor instantiated by known code other than tests (an object that no loader gets is used for something else,
    and what only a branch creates that no caller takes is not in use), and those that are `idle`: only loaders without
    workers hold them. Nothing imports a file whose name is no identifier: it is a copy."""
    for cls in _dataset_classes(ev, used):
        made = Instance(cls, None)
        is_made = callers.are_made(cls) or callers.are_written(cls)
        if (cls in idle or not is_made or callers.are_made_only_in_tests(cls)) and not is_empty(ev, made):
            yield made


def self_tested_datasets(ev: Evaluator, callers: Callers, used: set[ClassRef]) -> Iterator[Instance]:
    """As `unused_datasets`, of the classes that known code instantiates only under the main guard of their own file,
    which tries them out."""
    for cls in _dataset_classes(ev, used):
        made = Instance(cls, None)
        if callers.are_made_under_own_guard(cls) and not is_empty(ev, made):
            yield made


def _dataset_classes(ev: Evaluator, used: set[ClassRef]) -> Iterator[ClassRef]:
    """The dataset classes at module level that are not `used`."""
    for path in ev.files.containing("Data"):
        file = ev.file(path) if path.stem.isidentifier() else None
        for index, _ in file.asking(matches, _CLASS_WITH_BASES, "class", scope=MODULE) if file else ():
            assert file is not None
            if file.pieces[index].kind != "class" or file.pieces[index].parent >= 0:
                continue
            cls = ClassRef(path, index, 1)
            if cls in used or dataset_kind(ev, cls) is None:
                continue
            if any(ev.classes.member(cls, name) for name in ("__getitem__", "__iter__", "__next__")):
                yield cls


def late_candidates(
    ev: Evaluator, options: UnsetOptions, loader: Loader, unused: Sequence[Instance]
) -> tuple[Instance, ...]:
    """The datasets that a loader with a late-bound dataset may hold, of those that no known loader holds. `options`
    knows which constructors read an option that is not there.

    If the calls that create its dataset are known: the datasets whose class accepts their arguments and, if they look
    up a class by a constant name, has that name or is registered under it; if they ask for a subclass, is one; if they
    look in a package, or in a registry, may be there. None if the calls look up other classes of the project by
    constant names, or only name classes of modules that are not there. Otherwise all of them, as if created by unknown
    code."""
    missing = {site: missing_class(ev, site) for site in loader.late_sites}
    unused = [one for one in unused if not _cannot_exist(options, one.cls, loader.late_sites)]
    keys = {site: missing[site] or literal_key(ev, site) for site in loader.late_sites}
    made = [
        Instance(inst.cls, site)
        for site, key in keys.items()
        for inst in unused
        if _is_called(ev, inst.cls, key) and takes(ev, inst.cls, ev.calls.site_arguments(site))
        if _is_asked_for(ev, inst.cls, site)
    ]
    named = (
        missing[site] or (key and (ev.files.containing(f"class {key}") or is_registered(ev, key)))
        for site, key in keys.items()
    )
    is_open = any(one.made is None for one in loader.argument("dataset").only(Unknown))
    if not made and keys and not is_open and all(named):
        return ()
    if not made and keys and all(asked_bases(ev, site) for site in keys):
        return ()
    return tuple(made or (one for one in unused if _may_be_looked_up(ev, one.cls, keys)))


def _cannot_exist(options: UnsetOptions, cls: ClassRef, sites: Sequence[Site]) -> bool:
    """Whether none of these calls can create an object of a class: its constructor reads an option that is not
    there."""
    return bool(sites) and all(options.lacks_option(Instance(cls, site)) for site in sites)


def _is_called(ev: Evaluator, cls: ClassRef, key: str) -> bool:
    """Whether a class has a name, or is registered under it; every class for ''."""
    return key in ("", ev.classes.name(cls)) or key in registered_names(ev, cls)


def _may_be_looked_up(ev: Evaluator, cls: ClassRef, keys: Mapping[Site, str]) -> bool:
    """Whether a class may be the one that all these calls look up, each by its key. What is registered under other
    names is not."""
    if not all(_is_in_reach(ev, cls, site) for site in keys):
        return False
    names = registered_names(ev, cls)
    return not names or "" in keys.values() or not names.isdisjoint(keys.values())


def _is_asked_for(ev: Evaluator, cls: ClassRef, made: Site) -> bool:
    if not _is_in_reach(ev, cls, made):
        return False
    bases = asked_bases(ev, made)
    return not bases or not bases.isdisjoint(ev.classes.mro(cls)) or ev.classes.has_unknown_base(cls)


def _is_in_reach(ev: Evaluator, cls: ClassRef, made: Site) -> bool:
    """Whether a class may be where the code looks it up: in a package, or in a dict that functions fill."""
    return is_in_package(ev, cls, made) and may_be_registered(ev, cls, made)


def unused_transforms(ev: Evaluator, callers: Callers) -> Iterator[Instance]:
    """Objects, as if created by unknown code, of the classes that the project registers as transforms and that no known
    code creates: a configuration names them for the pipeline of a dataset."""
    for path in ev.files.containing(".register"):
        file = ev.file(path)
        for index in file.mentioning(".register") if file else ():
            if file and file.pieces[index].kind == "class" and file.pieces[index].parent < 0:
                cls = ClassRef(path, index, 1)
                if _is_registered_transform(ev, cls) and not callers.are_made(cls):
                    yield Instance(cls, None)


def _is_registered_transform(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a class is decorated with `@TRANSFORMS.register_module()` or the like."""
    facts = ev.facts(cls.path, cls.piece)
    for number in facts.ir.defs[cls.def_].decorators if facts else ():
        assert facts is not None
        e = facts.ir.exprs[number]
        func = facts.ir.exprs[e.func] if isinstance(e, ir.Call) else e
        if isinstance(func, ir.Attr) and func.name in ("register", "register_module"):
            if registers_transforms(called_name(facts.ir.exprs, func.base)):
                return True
    return False
