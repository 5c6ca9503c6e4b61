"""The model: which code runs in which process. Every rule queries it.

The frames that workers run are walked once, from the entry points of each loader: the methods that make samples, the
collate function and the worker init function. A frame records which loaders reach it, as which part, and from where.
Call chains are computed only for findings that are shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.findings.finding import Certainty, Evidence, Place
from loaderlint.knowledge.library_datasets import SAMPLE_CALLABLES
from loaderlint.knowledge.wrappers import LOADERS
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.dynamic_dispatch import CHOSEN, LOOKED_UP, OPEN, how_chosen
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.file_imports import import_roots
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.library_calls import library_arguments
from loaderlint.project.evaluation.limits import Limit
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    UNDEFINED,
    Atom,
    ClassRef,
    DefKey,
    Instance,
    Lib,
    LibMember,
    LibObject,
    PartialOf,
    Site,
    Unknown,
    Val,
    def_key,
    unknown,
)
from loaderlint.project.loaders.configured_classes import ConfiguredClasses
from loaderlint.project.loaders.declared_loaders import DeclaredOf
from loaderlint.project.loaders.library_samples import sample_callables
from loaderlint.project.loaders.loaders import (
    Loader,
    Loaders,
    late_candidates,
    self_tested_datasets,
    unused_datasets,
    unused_transforms,
)
from loaderlint.project.loaders.own_iteration import loader_instead_of_torchs
from loaderlint.project.loaders.presumed_datasets import dataset_kind
from loaderlint.project.loaders.registered_names import registered_names
from loaderlint.project.loaders.sampled_indices import index_for
from loaderlint.project.loaders.stored_classes import StoredClasses
from loaderlint.project.modules.project_files import Files, ProjectFile
from loaderlint.project.modules.tests_and_tutorials import in_tests, is_test_or_tutorial
from loaderlint.project.reach.default_branches import DefaultBranches
from loaderlint.project.reach.failing_workers import FailingWorkers
from loaderlint.project.reach.opposed_branches import OpposedBranches, setting_name
from loaderlint.project.reach.platform_guards import PlatformGuards
from loaderlint.project.reach.required_platforms import RequiredPlatforms, having
from loaderlint.project.reach.scripts import Scripts
from loaderlint.project.reach.start_methods import StartMethods
from loaderlint.project.reach.worker_dataset import method_calls
from loaderlint.project.versions.environment import Environment
from loaderlint.syntax.notebook import SUFFIX

_Made = TypeVar("_Made")
_Step = TypeVar("_Step", bound=ir.Step)
Part = Literal["sample", "collate", "init"]
SAMPLE_METHODS = ("__getitem__", "__getitems__", "__iter__", "__next__")
#: The methods that workers call on datasets with these bases. Other bases may call the others themselves.
_SAMPLE_METHODS_OF = {
    "torch.utils.data.Dataset": ("__getitem__", "__getitems__"),
    "torch.utils.data.IterableDataset": ("__iter__", "__next__"),
}
_MAX_NESTED_OBJECTS = 8
#: Reasons why a dataset is not known: no known code sets the attribute, or a configuration names the class.
_NOT_SET, _CONFIGURED = "no such attribute", "instantiated"
#: The reasons if unknown code passes the dataset, or sets the attribute that holds it.
_OUTSIDE = frozenset({"parameter", _NOT_SET, "library attribute"})
#: The number of loaders that a finding shows. Its message says how many more there are.
_MAX_SHOWN_LOADERS = 6


class Reached(Struct, eq=False):
    """A frame that workers run. `loaders`: for each part, the bitset of the loaders that reach it. `parents`: for each
    loader index, the frame from which it was first reached; None for an entry point. `possible`: the loaders that
    reach it only by a guess, because their dataset is bound late. `presumed`: those of them whose dataset is not known
    at all, so that it may be any dataset that no loader holds."""

    frame: Frame
    loaders: dict[Part, int] = field(default_factory=dict)
    possible: int = 0
    presumed: int = 0
    parents: dict[int, Frame | None] = field(default_factory=dict)

    def bits(self, parts: tuple[Part, ...] = ("sample", "collate", "init")) -> int:
        """The loaders that run it as one of `parts`."""
        found = 0
        for part in parts:
            found |= self.loaders.get(part, 0)
        return found


class Entry(Struct, frozen=True, eq=False):
    """Where the samples of a dataset are created: the frames that a loader calls on a dataset that it holds, or may
    hold (`guessed`). Without frames, no code of the project creates them."""

    loader: Loader
    dataset: Atom
    frames: tuple[Frame, ...]
    guessed: bool


class WorkerCall(Struct, frozen=True, eq=False):
    """A call that workers perform: expression `number` of `frame`, with the possible callees."""

    frame: Frame
    number: int
    call: ir.Call
    callee: Val
    context: int


def _without_partials(callee: Val) -> Val:
    """A callee with the functions of libraries that `functools.partial` has wrapped in place of the partials. Those of
    the project are called, and their code is seen."""
    wrapped = {one for one in callee.only(PartialOf) if isinstance(one.func, Lib | LibMember)}
    if not wrapped:
        return callee
    return Val(callee.atoms - wrapped | {one.func for one in wrapped}, callee.origins)


class WorkerFunction(Struct, frozen=True, eq=False):
    """A def that workers run, with all its frames."""

    path: Path
    piece: int
    def_: int
    frames: tuple[Frame, ...]


class MainFunction(Struct, frozen=True, eq=False):
    """A def, or a module-level piece (`def_` 0), that the main process may run.

    `frames` searches for the callers, which is slow. Check `written` and `exprs` first: they only read the def."""

    path: Path
    piece: int
    def_: int
    facts: PieceFacts
    find_frames: Callable[[Path, int, int], tuple[Frame, ...]]
    open_frame: Callable[[Path, int, int], Frame | None]

    @property
    def written(self) -> DefIR:
        """The def as it is written."""
        return self.facts.ir.defs[self.def_]

    @property
    def exprs(self) -> tuple[ir.Expr, ...]:
        """The expressions that its steps name by their numbers."""
        return self.facts.ir.exprs

    def calls_one_of(
        self,
        names: Collection[str],
        may_count: Callable[[ir.Call, tuple[ir.Expr, ...]], bool] = lambda call, exprs: True,
        *,
        in_loop: bool = False,
    ) -> bool:
        """Whether the def contains a call whose last name is one of `names` and which `may_count` accepts, given the
        call and the expressions. `in_loop`: only calls in a loop."""
        for step, call in self.calls_named(names):
            if (not in_loop or self.written.is_in_loop(step.context)) and may_count(call, self.exprs):
                return True
        return False

    def calls_named(self, names: Collection[str]) -> Iterator[tuple[ir.Perform, ir.Call]]:
        """The calls of something whose last name, as written, is one of `names`, with their steps."""
        exprs = self.exprs
        for step in self.written.steps:
            call = exprs[step.call] if type(step) is ir.Perform else None
            if type(step) is ir.Perform and isinstance(call, ir.Call) and called_name(exprs, call.func) in names:
                yield step, call

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Its frames in the main process; none if only workers run it."""
        return self.find_frames(self.path, self.piece, self.def_)

    @property
    def opened(self) -> Frame | None:
        """The frame in which it runs when unknown code calls it. What holds there holds for every caller, except for
        what subclasses override."""
        return self.open_frame(self.path, self.piece, self.def_)


class Exposure(Struct, frozen=True):
    """The loaders whose workers run a line, proven ones first, and how certain that is.

    - `guessed`: it is a guess that one of them runs it, and not only their number of workers is unknown.
    - `presumed`: only a loader whose dataset is not known may run it, or one that no program creates, though other
      loaders show what the project does."""

    loaders: tuple[Loader, ...]
    certainty: Certainty
    guessed: bool = False
    presumed: bool = False

    @property
    def lead(self) -> Loader:
        """The loader that messages name."""
        return self.loaders[0]


class Model:
    """An immutable snapshot of a linked project. `environment_of(path)` returns the environment of a file's project,
    `declared_of(path)` the wrappers that its settings declare. `explains`: rules also have to say why they are
    silent."""

    def __init__(
        self,
        files: Files,
        environment_of: Callable[[Path], Environment],
        declared_of: DeclaredOf = lambda path: (),
        *,
        explains: bool = True,
    ) -> None:
        self.files = files
        self.explains = explains
        self.ev = Evaluator(files)
        self.callers = Callers(self.ev)
        self._environment_of = environment_of = self._of_project(environment_of)
        self.reached: dict[Frame, Reached] = {}
        self.entries: list[Entry] = []
        loaders = Loaders(self.ev, self.callers, environment_of, declared_of)
        self._configured_classes = ConfiguredClasses(self.ev)
        self._stored_classes = StoredClasses(self.ev, self.callers)
        self.loaders: tuple[Loader, ...] = tuple(map(self._configured_classes.narrowed, loaders.find()))
        self._unread = loaders.limits
        self.shows_use = loaders.shows_use
        """Whether a program of the project creates a loader, apart from its tests."""
        self._unused = loaders.unused
        self.failing = loaders.failing
        self._is_idle = loaders.is_idle
        self._defs: frozenset[DefKey] | None = None
        #: The loaders of which everything that is still walked is presumed.
        self._presuming = 0
        #: The project's own class `DataLoader` that reads its datasets without workers, if there are no other loaders.
        self.own_loader: ClassRef | None = None
        self._dataset_calls: dict[Frame, dict[int, tuple[Frame, ...]]] = {}
        self._failing_workers = FailingWorkers(self.ev, self.failing)
        self._fails: dict[int, bool] = {}
        self.scripts = Scripts(self)
        for loader in self.loaders:
            self._enter_datasets(loader, loader.datasets, loader.guessed)
            self._enter_functions(loader)
        self._enter_late()
        self._functions: tuple[WorkerFunction, ...] | None = None
        self._made_at: dict[tuple[Path, int, int], list[Loader]] | None = None
        self._reached_by: dict[int, list[Reached]] | None = None
        self._reached_on: dict[Atom, list[Frame]] | None = None
        self._calls: dict[Frame, tuple[WorkerCall, ...]] = {}
        self._steps: dict[Frame, list[tuple[int, ir.Step]]] = {}
        self._platforms: dict[int, tuple[str, ...]] = {}
        self._guards = PlatformGuards(self.ev)
        self._required = RequiredPlatforms(self.ev, self.callers)
        self.opposed_branches = OpposedBranches(self.ev, self.callers, self._callers_in)
        self.opposed_settings = OpposedBranches(self.ev, self.callers, self._callers_in, setting_name)
        self._defaults = DefaultBranches(self.ev, self.callers, self._callers_in)
        self._constants = DefaultBranches(self.ev, self.callers, self._callers_in, self.ev.liveness)
        self._made_once: dict[object, object] = {}
        self._named_calls: dict[Code, dict[str, list[tuple[int, ir.Perform, ir.Call]]]] = {}
        self._remembered: dict[tuple[Hashable, ...], object] = {}
        self._part_calls: dict[tuple[int, Part], tuple[WorkerCall, ...]] = {}
        self._method_calls: dict[Atom, list[WorkerCall]] | None = None
        self._callers_of: dict[Frame, list[tuple[Frame, int]]] | None = None
        self.start_methods = StartMethods(self)
        self.has_notebooks = any(path.name.endswith(SUFFIX) for path in files.paths())

    def take_apart(self) -> None:
        """Break the reference cycles of a model that is no longer used, so that it is freed at once. Otherwise it would
        wait for the cycle collector, which also examines everything else in memory."""
        self.ev.take_apart()
        vars(self).clear()

    def limits(self) -> tuple[Limit, ...]:
        """What was not examined because a limit was reached, so far. Loaders that were left out come first."""
        return (*self._unread, *self.ev.reached_limits())

    def _of_project(self, environment_of: Callable[[Path], Environment]) -> Callable[[Path], Environment]:
        """The environments of the project's files. Files of libraries have that of the root."""
        holds, root = self.ev.installed.holds, self.files.root / "x.py"
        return lambda path: environment_of(root if holds(path) else path)

    # --- reach --------------------------------------------------------------------------------------------------------

    def _enter_datasets(
        self, loader: Loader, datasets: Iterable[Atom], guessed: Collection[Atom], inside: Frame | None = None
    ) -> None:
        """Walk the datasets of a loader. `inside`: the function of the known dataset that holds them; None if the
        loader itself takes their samples."""
        for dataset in datasets:
            guess = dataset in guessed
            frames = []
            for frame in self._dataset_frames(loader, dataset):
                frames.append(frame)
                self._walk(frame, loader, "sample", guess, inside)
            self.entries.append(Entry(loader, dataset, tuple(frames), guess))

    def _enter_functions(self, loader: Loader) -> None:
        for name in loader.kind.calls:
            for frame in self._called(loader, loader.arguments.get(name, NONE_VALUE), unknown("sample")):
                self._walk(frame, loader, "sample", guessed=False)
        for frame in self._called(loader, loader.argument("collate_fn"), unknown("batch")):
            self._walk(frame, loader, "collate", guessed=False)
        for frame in self._called(loader, loader.argument("worker_init_fn"), unknown("worker id")):
            self._walk(frame, loader, "init", guessed=False)

    def _called(self, loader: Loader, value: Val, argument: Val) -> tuple[Frame, ...]:
        """The frames that run when the loader calls `value` with one argument."""
        if loader.site is None:
            return ()
        _, targets = self.ev.calls.call(value, Arguments((argument,)), loader.site.frame, loader.site.expr, {})
        return targets

    def _dataset_frames(self, loader: Loader, dataset: Atom) -> Iterator[Frame]:
        frame = loader.site.frame if loader.site else None
        if isinstance(dataset, LibObject):
            for value in sample_callables(self.ev, dataset):
                yield from self._called(loader, value, unknown("sample"))
            return
        if not isinstance(dataset, Instance):
            return
        for name in self._sample_methods(dataset.cls):
            member = self.ev.classes.member(dataset.cls, name)
            if member is None or member.function is None or self.ev.functions.fails_after_work(member.function):
                continue
            caller = frame or self.ev.body(dataset.cls.path, dataset.cls.piece)
            arguments = Arguments((index_for(self.ev, loader, name),)) if name.startswith("__get") else Arguments()
            _, targets = self.ev.functions.invoke(member.function, dataset, member.owner, arguments, caller)
            yield from targets
        if self.ev.classes.member(dataset.cls, "__getitem__") is None:
            yield from self._inherited_samples(loader, dataset)

    def _sample_methods(self, cls: ClassRef) -> tuple[str, ...]:
        """The methods that workers call on a dataset of this class. torch's base class alone decides whether they index
        or iterate (`torch.utils.data._utils.fetch`)."""
        bases = set(self.ev.classes.library_bases(cls))
        if len(bases) != 1 or self.ev.classes.has_unknown_base(cls):
            return SAMPLE_METHODS
        return _SAMPLE_METHODS_OF.get(bases.pop(), SAMPLE_METHODS)

    def _inherited_samples(self, loader: Loader, dataset: Instance) -> Iterator[Frame]:
        """A subclass of a library dataset without its own `__getitem__` runs the library's, which calls transforms."""
        for name in SAMPLE_CALLABLES:
            for value in library_arguments(self.ev, dataset, name):
                yield from self._called(loader, value, unknown("sample"))

    def _walk(self, entry: Frame, loader: Loader, part: Part, guessed: bool, caller: Frame | None = None) -> None:
        """Record everything that runs from an entry in the workers of a loader. `caller`: the frame that calls it; None
        for the loader."""
        bit = 1 << loader.index
        guessed = guessed or self.ev.calls.is_guessed(entry)
        queue: deque[tuple[Frame, Frame | None, bool]] = deque([(entry, caller, guessed)])
        while queue:
            frame, parent, guessed = queue.popleft()
            reached = self.reached.get(frame)
            if reached is None:
                reached = self.reached[frame] = Reached(frame)
            seen = reached.loaders.get(part, 0)
            if seen & bit:
                continue
            if guessed and not reached.bits() & bit:
                reached.possible |= bit
                reached.presumed |= bit & self._presuming
            elif not guessed:
                reached.possible &= ~bit
            reached.loaders[part] = seen | bit
            reached.parents.setdefault(loader.index, parent)
            for target in self.ev.run(frame):
                queue.append((target, frame, guessed or self.ev.calls.is_guess(frame, target)))
            for target, unsure in self._called_on_dataset(frame, loader):
                queue.append((target, frame, guessed or unsure))

    def _called_on_dataset(self, frame: Frame, loader: Loader) -> Iterator[tuple[Frame, bool]]:
        """The methods of the loader's dataset that a frame calls on `get_worker_info().dataset`, each with whether it
        is a guess that the loader holds this dataset."""
        outermost = loader.argument("dataset").atoms if loader.wrapped else loader.datasets
        for dataset in (one for one in loader.datasets if one in outermost):
            for number, targets in method_calls(frame, dataset, self.ev) if isinstance(dataset, Instance) else ():
                called = self._dataset_calls.setdefault(frame, {})
                called[number] = tuple(dict.fromkeys((*called.get(number, ()), *targets)))
                yield from ((target, dataset in loader.guessed) for target in targets)

    def _enter_late(self) -> None:
        """Assign the datasets that no loader holds to the loaders whose dataset is unknown, or to a presumed loader.

        A late-bound loader may also hold a dataset that is only tried out: without workers, in tests, or at the end of
        its own module."""
        configured = sum(1 << loader.index for loader in self.loaders if loader.late == _CONFIGURED)
        used = {r.frame.owner for r in self.reached.values() if r.frame.owner and self._may_run(r, configured)}
        idle: set[ClassRef] = set()
        for loader in self.loaders:
            unsure = loader.guessed if loader.late == _CONFIGURED else ()
            held = (one for one in loader.datasets if one not in unsure)
            classes = {dataset.cls for dataset in held if isinstance(dataset, Instance)}
            is_trial = loader.has_workers() == "no" and self._is_trial(loader)
            (idle if is_trial else used).update(classes)
        late = self._late_loaders()
        if not late and any(loader.late == UNDEFINED.reason for loader in self.loaders):
            return  # somebody is still writing the dataset of that loader
        if all(loader.has_workers() == "no" for loader in late):
            used |= idle | {r.frame.owner for r in self.reached.values() if r.frame.owner}
        unused = tuple(unused_datasets(self.ev, self.callers, used, idle))
        not_outside = self._not_outside(late)
        takers = late if idle else not_outside
        shown = self._shows_its_datasets()
        if not not_outside and shown:  # others are not used any more
            unused = tuple(one for one in unused if one.cls in idle or self._is_in_use(one.cls))
        tried = (
            (*self._tried_out(), *self_tested_datasets(self.ev, self.callers, used))
            if any(map(_is_named_late, takers))
            else ()
        )
        transforms = tuple(unused_transforms(self.ev, self.callers)) if late or not self.loaders else ()
        if not unused and not tried and not transforms:
            return
        if not self.loaders:
            self.own_loader = loader_instead_of_torchs(self.ev)
            if self.own_loader is not None:
                return
        rest = tuple(one for one in unused if one.cls not in idle)
        others = any(not in_tests(one.path, self.files.root) for one in self.loaders)
        presumed = [] if takers and (not_outside or not rest) else [self._presume_loader()]
        for loader in (*takers, *presumed):
            # an attribute that no known code sets may be set by a derived class
            left = rest if loader.late == _NOT_SET or (takers and loader in presumed) else unused
            if loader in late and loader not in not_outside:
                left = tuple(one for one in left if one.cls in idle)
            left = tuple(one for one in left if _may_import(loader, one.cls))
            if _is_named_late(loader):
                left = tuple(dict.fromkeys((*left, *(one for one in tried if one.cls.path != loader.path))))
                left = self._found_from(loader, left)
            left = self._stored_classes.among(loader, left)
            may_hold = late_candidates(self.ev, self.failing.unset_options, loader, left)
            named = self._configured_classes.among(loader, may_hold)
            candidates = [one for one in named if one not in loader.datasets]
            if others if loader.out_of_sight else shown and not _is_by_name(loader):
                self._presuming |= 1 << loader.index
            self._enter_datasets(loader, candidates, candidates, self._holder(loader))
            for frame in self._steps_of_pipelines(self._configured_classes.among(loader, transforms)):
                self._walk(frame, loader, "sample", guessed=True)

    def _found_from(self, loader: Loader, objects: Sequence[Instance]) -> tuple[Instance, ...]:
        """Those of the objects whose class the file of a loader finds by a module's name: it is below a folder in which
        the file's other imports are found, or beside it."""
        roots = import_roots(self.ev, loader.path) if loader.path is not None and objects else ()
        if loader.path is None or not roots:
            return tuple(objects)
        folders = (*roots, loader.path.parent)
        return tuple(one for one in objects if any(map(one.cls.path.is_relative_to, folders)))

    def _holder(self, loader: Loader) -> Frame | None:
        """The function of a loader's dataset that takes the samples of the unknown dataset; None if the loader may hold
        that one itself."""
        held = loader.argument("dataset").ordered()
        if not held or not all(isinstance(one, Instance) and not self._is_configured(one) for one in held):
            return None
        frames = (frame for one in held for frame in self._dataset_frames(loader, one) if frame.receiver == one)
        return next(frames, None)

    def _is_configured(self, dataset: Instance) -> bool:
        """Whether a configuration names the class, so that another one may name another class."""
        return dataset.site is not None and self.ev.yaml.instantiates(dataset.site)

    def _late_loaders(self) -> list[Loader]:
        """The loaders whose dataset is unknown: those that may have workers. If none may, those outside tests."""
        late = [loader for loader in self.loaders if loader.late and loader.late != UNDEFINED.reason]
        working = [loader for loader in late if loader.has_workers() != "no"]
        return working or [loader for loader in late if not in_tests(loader.path, self.files.root)]

    def _tried_out(self) -> tuple[Instance, ...]:
        """Objects, as if created by unknown code, of the classes that only loaders in their own file or in tests hold:
        a program that looks up its dataset by name may mean them, too."""
        held: dict[ClassRef, bool] = {}
        for loader in self.loaders:
            for one in loader.datasets:
                if isinstance(one, Instance) and not loader.presumed:
                    tries = loader.path == one.cls.path or in_tests(loader.path, self.files.root)
                    held[one.cls] = tries and held.get(one.cls, True)
        return tuple(Instance(cls, None) for cls, tries in held.items() if tries and cls.scope is None)

    def _not_outside(self, late: list[Loader]) -> list[Loader]:
        """The loaders that may hold a dataset which no known code creates. If other loaders show what the program does
        with its datasets, loaders in uncalled code, and those of attributes that no known code sets, are not among
        them, unless they set up their workers."""
        if not self._shows_its_datasets():
            return late
        return [one for one in late if one.late not in _OUTSIDE or "worker_init_fn" in one.arguments]

    def _shows_its_datasets(self) -> bool:
        """Whether loaders outside of tests hold datasets of the project."""
        return any(not loader.presumed and self._shows_its_dataset(loader) for loader in self.loaders)

    def _shows_its_dataset(self, loader: Loader) -> bool:
        """Whether a loader outside of tests certainly holds a dataset of the project. At module level the file of the
        dataset may only try it out, unlike a script that imports it."""
        held = [one.cls.path for one in loader.datasets if isinstance(one, Instance) and one not in loader.guessed]
        if not self._is_trial(loader):
            return bool(held)
        return not in_tests(loader.path, self.files.root) and any(path != loader.path for path in held)

    def _is_in_use(self, cls: ClassRef) -> bool:
        """Whether others import the file of a class, or a loader is created there, and some code names the class,
        registers it, or may take it with a star import. Where a dataset comes from code that is not known, that code
        may name it."""
        importers = self.scripts.importers(cls.path)
        if not importers and not any(loader.path == cls.path for loader in self.loaders):
            return False
        if any(file.stars for file in map(self.files.file, importers) if file is not None):
            return True
        if any(map(_is_out_of_sight, self.loaders)) or registered_names(self.ev, cls):
            return True
        name = self.ev.classes.name(cls)
        return any(self._is_named(name, path, cls) for path in self.files.containing(name))

    def _is_named(self, name: str, path: Path, cls: ClassRef) -> bool:
        """Whether code of a file names the class, apart from its own."""
        file = self.files.file(path)
        if file is None:
            return False
        apart = (one for one in file.mentioning(name) if path != cls.path or not _is_within(one, cls.piece, file))
        named = (self.ev.facts(path, piece) for piece in apart)
        return any(_uses(facts.ir, name) for facts in named if facts is not None)

    def _is_trial(self, loader: Loader) -> bool:
        """Whether a loader is created in tests, or at module level, for example under a main guard."""
        at_module_level = loader.site is not None and loader.site.frame.def_ == 0
        return at_module_level or in_tests(loader.path, self.files.root)

    def _steps_of_pipelines(self, transforms: Iterable[Instance]) -> Iterator[Frame]:
        """The frames that run when an unknown pipeline calls these transforms."""
        for inst in transforms:
            for name in ("__call__", "transform"):
                frame = self.ev.classes.open_method(inst, name)
                yield from (frame,) if frame else ()

    def _may_run(self, reached: Reached, unsure: int) -> bool:
        """Whether workers may run a frame, not counting guesses about the loaders in `unsure`."""
        bits = reached.bits() & ~(reached.possible & unsure)
        return any(loader.has_workers() != "no" for loader in self.loaders_of(bits))

    def _presume_loader(self) -> Loader:
        """The loader that is presumed for a project with datasets but no loader that may hold them."""
        kind = LOADERS["torch.utils.data.DataLoader"]
        made = Loader(len(self.loaders), kind, None, "a loader", out_of_sight=True, late="no loader in sight")
        self.loaders = (*self.loaders, made)
        return made

    # --- questions of rules -------------------------------------------------------------------------------------------

    def once(self, make: Callable[[Model], _Made]) -> _Made:
        """What `make` returns for this model, computed once. For what a rule needs for all its subjects."""
        if make not in self._made_once:
            self._made_once[make] = make(self)
        return cast("_Made", self._made_once[make])

    def remembered(self, question: Callable[..., _Made], *about: Hashable) -> _Made:
        """What `question(*about, model)` returns, computed once for these arguments. For questions that many findings
        share, such as which defs read an attribute."""
        key = (question, *about)
        if key not in self._remembered:
            self._remembered[key] = question(*about, self)
        return cast("_Made", self._remembered[key])

    def in_test_or_tutorial(self, path: Path | None) -> bool:
        """Whether a file tests code of the project or teaches it."""
        return path is not None and self.remembered(_is_test_or_tutorial, path)

    def worker_functions(self) -> tuple[WorkerFunction, ...]:
        """Every def that some worker runs, in the order of files and places."""
        if self._functions is None:
            grouped: dict[DefKey, list[Frame]] = {}
            for frame in self.reached:
                grouped.setdefault(def_key(frame), []).append(frame)
            self._functions = tuple(WorkerFunction(*key, tuple(frames)) for key, frames in sorted(grouped.items()))
        return self._functions

    def reached_by(self, loader: Loader) -> Sequence[Reached]:
        """What the workers of a loader run, in the order of the walk."""
        if self._reached_by is None:
            self._reached_by = self.by_loader(self.reached.values())
        return self._reached_by.get(loader.index, ())

    def by_loader(self, frames: Iterable[Reached]) -> dict[int, list[Reached]]:
        """Those of the frames that each loader reaches, by the loader's index."""
        found: dict[int, list[Reached]] = {}
        for reached in frames:
            for loader in self.loaders_of(reached.bits()):
                found.setdefault(loader.index, []).append(reached)
        return found

    def reached_on(self, receiver: Atom) -> Sequence[Frame]:
        """The frames of worker code that run on an object, in the order of the walk."""
        if self._reached_on is None:
            self._reached_on = {}
            for frame in self.reached:
                if frame.receiver is not None:
                    self._reached_on.setdefault(frame.receiver, []).append(frame)
        return self._reached_on.get(receiver, ())

    def made_at(self, path: Path, piece: int, expr: int) -> Sequence[Loader]:
        """The loaders that one call creates: one for each path to it."""
        if self._made_at is None:
            self._made_at = {}
            for one in self.loaders:
                if one.site is not None:
                    frame = one.site.frame
                    self._made_at.setdefault((frame.path, frame.piece, one.site.expr), []).append(one)
        return self._made_at.get((path, piece, expr), ())

    def loaders_of(self, bits: int) -> Iterator[Loader]:
        """The loaders of a bitset, in their order."""
        while bits:
            lowest = bits & -bits
            yield self.loaders[lowest.bit_length() - 1]
            bits ^= lowest

    def main_functions(self, words: tuple[str, ...]) -> Iterator[MainFunction]:
        """The defs and module-level statements of the main process in pieces that contain one of `words`, in the order
        of files and places. A def that workers also run has only its other frames."""
        paths = {path for word in words for path in self.files.containing(word)}
        for path in sorted(paths):
            file = self.files.file(path)
            for piece in sorted({piece for word in words for piece in file.mentioning(word)}) if file else ():
                facts = self.ev.facts(path, piece)
                for def_ in range(len(facts.ir.defs) if facts else 0):
                    assert facts is not None
                    yield MainFunction(path, piece, def_, facts, self._main_frames, self.callers.opened)

    def _main_frames(self, path: Path, piece: int, def_: int) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.callers.frames(path, piece, def_) if frame not in self.reached)

    def run_by(self, entries: Iterable[Frame]) -> tuple[Frame, ...]:
        """These frames and all frames that they lead to, each once. For example, what a process pool runs."""
        found = dict.fromkeys(entries)
        queue = deque(found)
        while queue:
            for target in self.ev.run(queue.popleft()):
                if target not in found:
                    found[target] = None
                    queue.append(target)
        return tuple(found)

    def calls(self, function: WorkerFunction | MainFunction) -> Iterator[WorkerCall]:
        """The calls that a function performs, in every frame, in source order; dead branches left out."""
        for frame in function.frames:
            yield from self.frame_calls(frame)

    def frame_calls(self, frame: Frame) -> tuple[WorkerCall, ...]:
        """The calls that one frame performs."""
        known = self._calls.get(frame)
        if known is None:
            known = self._calls[frame] = tuple(self._find_calls(frame))
        return known

    def calls_named(self, frame: Frame, names: Collection[str]) -> Iterator[WorkerCall]:
        """The calls in a frame whose callee, as written, ends with one of `names`.

        Only the callees of these calls are evaluated, so an edit of other code in the main process costs nothing."""
        by_name = self._calls_by_name(frame.code)
        for _, step, call in sorted(one for name in names for one in by_name.get(name, ())):
            if not self.ev.liveness.is_dead(step.context, frame):
                yield WorkerCall(frame, step.call, call, self.ev.eval(call.func, frame), step.context)

    def _calls_by_name(self, code: Code) -> Mapping[str, Sequence[tuple[int, ir.Perform, ir.Call]]]:
        """The calls of a def by the last name of the callee as written, each with its position in the order."""
        known = self._named_calls.get(code)
        if known is None:
            known = self._named_calls[code] = {}
            for number, (step, call) in enumerate(code.calls):
                known.setdefault(called_name(code.exprs, call.func), []).append((number, step, call))
        return known

    def _find_calls(self, frame: Frame) -> Iterator[WorkerCall]:
        is_dead = self.ev.liveness.is_dead
        for step, call in self.ev.performed(frame):
            if not is_dead(step.context, frame):
                self.ev.eval(step.call, frame)
                callee = _without_partials(self.ev.eval(call.func, frame))
                yield WorkerCall(frame, step.call, call, callee, step.context)

    def calls_in(self, loader: Loader, part: Part) -> tuple[WorkerCall, ...]:
        """The calls that the workers of a loader perform in one of its parts."""
        key = (loader.index, part)
        if key not in self._part_calls:
            frames = [r.frame for r in self.reached_by(loader) if r.loaders.get(part, 0) >> loader.index & 1]
            self._part_calls[key] = tuple(call for frame in frames for call in self.frame_calls(frame))
        return self._part_calls[key]

    def calls_on(self, owner: Atom) -> tuple[WorkerCall, ...]:
        """The calls of methods of the library object `owner` that any worker performs."""
        if self._method_calls is None:
            found: dict[Atom, list[WorkerCall]] = {}
            for frame in self.reached:
                for call in self.frame_calls(frame):
                    for atom in call.callee.atoms:
                        if isinstance(atom, LibMember):
                            found.setdefault(atom.owner, []).append(call)
            self._method_calls = found
        return tuple(self._method_calls.get(owner, ()))

    def callers_of(self, frame: Frame) -> tuple[tuple[Frame, int], ...]:
        """The callers of `frame` in worker code: each frame with the number of the calling expression, in stable
        order."""
        if self._callers_of is None:
            self._callers_of = {}
            for caller in self.reached:
                for number, targets in self._leads(caller):
                    for target in targets:
                        self._callers_of.setdefault(target, []).append((caller, number))
        return tuple(self._callers_of.get(frame, ()))

    def _callers_in(self, frame: Frame, index: int) -> list[tuple[Frame, int]]:
        """The callers of `frame` in the workers of one loader; none if the loader itself calls it."""
        if self.reached[frame].parents.get(index) is None:
            return []
        return [(caller, at) for caller, at in self.callers_of(frame) if self.reached[caller].bits() >> index & 1]

    def steps(self, frame: Frame) -> Sequence[tuple[int, ir.Step]]:
        """The steps of a frame that can run, with their numbers."""
        known = self._steps.get(frame)
        if known is None:
            one = self.ev.def_of(frame)
            steps = enumerate(one.steps) if one else ()
            is_dead = self.ev.liveness.is_dead
            known = self._steps[frame] = [pair for pair in steps if not is_dead(pair[1].context, frame)]
        return known

    def steps_of(self, frame: Frame, kind: type[_Step]) -> Iterator[tuple[int, _Step]]:
        """The steps of one kind among those of a frame that can run, with their numbers."""
        is_dead = self.ev.liveness.is_dead
        returns = dict(self.ev.liveness.returns(frame)) if kind is ir.Return else None
        for number, step in frame.code.steps_of(kind):
            if number in returns if returns is not None else not is_dead(step.context, frame):
                yield number, step

    def exposure(
        self,
        frame: Frame,
        workers: int,
        *,
        parts: tuple[Part, ...] = ("sample", "collate", "init"),
        cured: Callable[[Loader], bool] = lambda loader: False,
        context: int = 0,
    ) -> Exposure | None:
        """The loaders through which `frame` runs with at least `workers` workers (0: any loader) and that are not
        `cured`; None if there are none. Loaders that a choice seems to keep from a branch of the frame, `context`,
        count only where no other loader runs it, and are not certain."""
        reached = self.reached.get(frame)
        if reached is None:
            return None
        bits = reached.bits(parts)
        kept_out = sum(
            1 << one.index
            for one in self.loaders_of(bits)
            if self.opposed_branches.rule_out(one.site, one.index, frame, context)
        )
        return self.exposed(bits & ~kept_out, reached, workers, cured) or self.exposed(
            kept_out, replace(reached, possible=reached.possible | kept_out), workers, cured
        )

    def exposed(
        self,
        bits: int,
        reached: Reached | None,
        workers: int,
        cured: Callable[[Loader], bool] = lambda loader: False,
    ) -> Exposure | None:
        """As `exposure`, for a bitset of loaders. `reached` says which of them run the frame only by a guess; None if
        it is not about a frame. Loaders that give no batch are presumed to run frames."""
        failing = self._without_batch(bits) if reached is not None else 0
        possible = failing | reached.possible if reached is not None else 0
        presumed = failing | reached.presumed if reached is not None else 0
        proven: list[Loader] = []
        maybe: list[Loader] = []
        is_guess = True
        for loader in self.loaders_of(bits):
            if cured(loader):
                continue
            answer = "yes" if workers == 0 else loader.has_workers(workers)
            if answer == "no":
                continue
            guessed = bool(possible >> loader.index & 1) or loader.out_of_sight or loader.presumed
            is_guess = is_guess and guessed
            (proven if answer == "yes" and not guessed and not loader.unused else maybe).append(loader)
        if not proven and not maybe:
            return None
        # stable; what is only for training runs in the loaders that are not for evaluation
        maybe.sort(key=lambda one: (one.unused, one.is_for_evaluation))
        proven.sort(key=lambda one: one.has_workers(2) != "yes")  # stable; with one worker most faults show less
        found = (*proven, *maybe)
        found = tuple(one for one in found if not one.fails) or found
        lead = found[0]
        is_presumed = lead.unused or bool(presumed >> lead.index & 1)
        certainty: Certainty = "proven" if any(one is lead for one in proven) else "possible"
        return Exposure(found, certainty, is_guess, is_presumed)

    def _without_batch(self, bits: int) -> int:
        """Those of a bitset of loaders that give no batch, because their workers always fail. None of them if no other
        loader is in use: somebody is still writing the program."""
        failing = sum(1 << one.index for one in self.loaders_of(bits) if self._gives_no_batch(one))
        if failing and all(one.unused or self._gives_no_batch(one) for one in self.loaders):
            return 0
        return failing

    def _gives_no_batch(self, loader: Loader) -> bool:
        if loader.index not in self._fails:
            entries = [one for one in self.entries if one.loader.index == loader.index]
            samples = [] if any(one.guessed for one in entries) else [f for one in entries for f in one.frames]
            batches = self._called(loader, loader.argument("collate_fn"), unknown("batch"))
            self._fails[loader.index] = any(map(self._failing_workers.fail, (samples, batches)))
        return self._fails[loader.index]

    def off_by_default(self, frame: Frame, context: int, loaders: Iterable[Loader]) -> Site | None:
        """The test that keeps all these loaders from a context of a frame as long as users set no option, or that keeps
        all known code from creating them; None if one of them runs it. Those that do not reach the frame do not
        count."""
        found: Site | None = None
        bits = self.reached[frame].bits() if frame in self.reached else 0
        for loader in (one for one in loaders if bits >> one.index & 1):
            found = self._defaults.keep_out(loader.index, frame, context)
            if found is None or self._needs_option(loader, found):
                found = self._never_created(loader)
            if found is None:
                return None
        return found

    def runs_by_default(self, frame: Frame, context: int) -> bool:
        """Whether each run of a def passes a context as long as users set no option."""
        return self._defaults.runs(frame, context)

    def _never_created(self, loader: Loader) -> Site | None:
        """The test that keeps all known callers from the function that creates a loader: `if self.cached:`, where
        `cached` is False by default and no caller passes it."""
        site = loader.site
        return self._constants.off_in_main(site.frame, site.frame.code.context_of(site.expr)) if site else None

    def unset_option(self, frame: Frame, context: int, loader: Loader) -> Site | None:
        """The test that keeps the main process from a context of a frame as long as users set no option, or all known
        code from creating the loader; None if it also keeps it from creating the loader's dataset."""
        found = self._defaults.off_in_main(frame, context) or self._defaults.off_object(frame)
        return self._never_created(loader) if found is None or self._needs_option(loader, found) else found

    def _needs_option(self, loader: Loader, test: Site) -> bool:
        """Whether a loader's dataset is only created where a test of an option holds: whoever uses the loader sets the
        option. If the loader has another dataset without the option, it does not need it."""
        outermost = loader.argument("dataset").only(Instance, LibObject) or loader.datasets
        made = [atom.site for atom in outermost if isinstance(atom, Instance | LibObject) and atom.site]
        tests = [self._defaults.off(site.frame, site.frame.code.context_of(site.expr)) for site in made]
        return bool(tests) and all(
            one is not None and (def_key(one.frame), one.expr) == (def_key(test.frame), test.expr) for one in tests
        )

    def environment(self, loader: Loader | None = None) -> Environment:
        """The environment of the loader's file, without the platforms on which the loader's line does not run. Without
        a loader: the environment of the project's root."""
        path = loader.path if loader else None
        found = self._environment_of(path or self.files.root / "x.py")
        if loader is None or loader.site is None:
            return found
        if loader.index not in self._platforms:
            self._platforms[loader.index] = self._platforms_at(loader.site, found.platforms)
        return _on(self._platforms[loader.index], found)

    def _platforms_at(self, site: Site, platforms: tuple[str, ...]) -> tuple[str, ...]:
        """Those of `platforms` on which the expression at `site` may run."""
        found = self._guards.platforms_at(site, platforms)
        if len(found) < 2:
            return found
        return having(found, (*self._required.of_module(site.frame.path), *self._required.before(site)))

    def environment_in(self, script: Path, environment: Environment) -> Environment:
        """An environment without the platforms on which the program `script` cannot run."""
        if len(environment.platforms) < 2:
            return environment
        return _on(having(environment.platforms, self._required.of_module(script)), environment)

    def environment_at(self, path: Path) -> Environment:
        """The environment of the file at `path`."""
        return self.environment_in(path, self._environment_of(path))

    def is_unused(self, path: Path, piece: int, def_: int) -> bool:
        """Whether no program of the project runs a function, though they create loaders elsewhere."""
        return self.shows_use and self._unused.is_unused(path, piece, def_)

    def is_idle(self, loader: Loader) -> bool:
        """Whether nothing iterates over a loader, be it the only one of the project (`Loader.idle`: in a project that
        iterates over others)."""
        return self._is_idle(loader)

    def runs_in_worker(self, frame: Frame) -> bool:
        """Whether workers run the def of a frame, and the main process does not run it while it constructs an object.

        A constructor runs where the object is made, and so do the other methods of an object that a worker makes, also
        where it is not known what calls them."""
        for _ in range(_MAX_NESTED_OBJECTS):
            if frame in self.reached:
                return True
            if frame.def_ == 0:
                return False
            of = frame.receiver if isinstance(frame.receiver, Instance) else None
            if of is None or frame not in self.ev.classes.construction(of):
                if def_key(frame) in self._worker_defs():
                    return True
            if of is None or of.site is None:
                return False
            frame = of.site.frame
        return False

    def _worker_defs(self) -> frozenset[DefKey]:
        if self._defs is None:
            self._defs = frozenset(def_key(f) for f in self.reached)
        return self._defs

    def dataset_kind(self, cls: ClassRef) -> Literal["map", "iterable"] | None:
        """The kind of torch dataset that a class of the project is; None if it is none."""
        return dataset_kind(self.ev, cls)

    # --- places and words ---------------------------------------------------------------------------------------------

    def facts(self, frame: Frame) -> PieceFacts:
        """The facts of the piece a frame runs."""
        assert frame.facts is not None, "a frame that ran has facts"
        return frame.facts

    def place(self, frame: Frame, number: int) -> Place:
        """The place of expression `number`."""
        return Place(frame.path, frame.piece, self.facts(frame).anchors.exprs[number])

    def step_place(self, frame: Frame, step: int) -> Place:
        """The place of step `step` of the frame's def."""
        return Place(frame.path, frame.piece, self.facts(frame).anchors.steps[frame.def_][step])

    def def_place(self, frame: Frame) -> Place:
        """The place of the name of the frame's def."""
        return Place(frame.path, frame.piece, self.facts(frame).anchors.defs[frame.def_][1])

    def site_place(self, site: Site) -> Place:
        """The place where a value was made."""
        return self.place(site.frame, site.expr)

    def class_place(self, cls: ClassRef) -> Place:
        """The place of the name of a class."""
        facts = self.ev.facts(cls.path, cls.piece)
        return Place(cls.path, cls.piece, facts.anchors.defs[cls.def_][1] if facts else -1)

    def installed_at(self, place: Place) -> str:
        """The name of a place in a library, from its module and first def: 'somelib.transforms.Jitter'."""
        module = self.files.library_name(place.path) or ""
        facts = self.ev.facts(place.path, place.piece)
        owner = self.callers.owner(place.path, place.piece, 1, facts) if facts and len(facts.ir.defs) > 1 else None
        names = [self.ev.classes.name(owner)] if owner else []
        names += [facts.ir.defs[1].name] if facts and len(facts.ir.defs) > 1 else []
        return ".".join((module, *names))

    def def_of(self, frame: Frame) -> DefIR:
        """The def a frame runs."""
        return self.facts(frame).ir.defs[frame.def_]

    def label(self, frame: Frame) -> str:
        """The name of a frame in messages: 'AugDataset.__getitem__', 'crop_box', 'a lambda', or 'train.py' for a module
        body."""
        one = self.def_of(frame)
        if frame.def_ == 0:
            return frame.path.name
        name = "a lambda" if one.kind == "lambda" else one.name
        cls = frame.receiver.cls if isinstance(frame.receiver, Instance) else frame.owner
        return f"{self.ev.classes.name(cls)}.{name}" if cls else name

    def chain(self, frame: Frame, loader: Loader) -> tuple[Frame, ...]:
        """The frames that lead from the loader's entry point to `frame`, both included."""
        out: dict[Frame, None] = {}
        here: Frame | None = frame
        while here is not None and here not in out:
            out[here] = None
            reached = self.reached.get(here)
            here = reached.parents.get(loader.index) if reached else None
        return tuple(reversed(out))

    def why(self, frame: Frame, exposure: Exposure) -> tuple[Evidence, ...]:
        """The evidence that `frame` runs for a loader: the loader with the call chain, then the place of each call."""
        loader = exposure.lead
        chain = self.chain(frame, loader)
        links = _without_recursion(chain)
        path = " > ".join(self.label(link) for link in links)
        evidence: list[Evidence] = []
        if loader.site is not None:
            verb = "runs" if exposure.certainty == "proven" else "may run"
            text = f"{verb} {loader.place_of_work} ({loader.workers_text}): {path}"
            evidence.append(Evidence(self.site_place(loader.site), text, is_loader=True))
            if loader.late and exposure.certainty == "possible":
                text = f"its dataset is not known: {how_chosen(loader.late)}"
                evidence.append(Evidence(self.site_place(loader.site), text))
            elif chain[0].receiver in loader.guessed:
                evidence.append(Evidence(self.site_place(loader.site), self.choice(chain[0].receiver, loader)))
            called_at = self.callers.possible_calls.get(loader.site.frame)
            if called_at is not None and exposure.certainty == "possible":
                text = f"it is not known what this call runs: it may be {self.label(loader.site.frame)}"
                evidence.append(Evidence(self.site_place(called_at), text))
        else:
            text = f"runs in the workers of any loader of this dataset (none is known): {path}"
            evidence.append(Evidence(self.def_place(links[0]), text))
        for before, after in zip(links, links[1:], strict=False):
            called = self.call_to(before, after)
            if called is not None:
                evidence.append(Evidence(self.place(before, called), f"{self.label(before)} calls {self.label(after)}"))
        return (*evidence, *self._also(exposure))

    def loader_places(self, exposure: Exposure) -> tuple[Place, ...]:
        """Where the loaders of an exposure are created; () if one is presumed, or if two are created in one place."""
        sites = [one.site for one in exposure.loaders if one.site is not None and not one.presumed]
        places = dict.fromkeys(map(self.site_place, sites))
        return tuple(places) if len(places) == len(exposure.loaders) else ()

    def choice(self, dataset: Atom | None, loader: Loader) -> str:
        """The reason why it is not certain that the loader holds this one of its `guessed` datasets."""
        site = dataset.site if isinstance(dataset, Instance) else None
        if loader.presumed:
            return "it is the dataset of a class that inherits the loader, and no known code creates an object of it"
        if site is not None and site.expr in site.frame.guesses:
            return "its dataset is chosen by a name at run time"
        kinds = {one.cls if isinstance(one, Instance) else one for one in loader.datasets}
        return f"it holds one of {len(kinds)} datasets, chosen at run time"

    def _also(self, exposure: Exposure) -> Iterator[Evidence]:
        """The places where the other loaders concerned are created."""
        places = {self.site_place(exposure.lead.site)} if exposure.lead.site else set()
        for loader in exposure.loaders[1:]:
            place = self.site_place(loader.site) if loader.site else None
            if place is not None and place not in places and len(places) < _MAX_SHOWN_LOADERS:
                places.add(place)
                text = f"as well as {loader.place_of_work} ({loader.workers_text})"
                yield Evidence(place, text, is_loader=True)

    def call_to(self, before: Frame, after: Frame) -> int | None:
        """The first expression of a frame that calls another frame; None if there is none."""
        return next((n for n, targets in self._leads(before) if after in targets and n != NONE), None)

    def _leads(self, frame: Frame) -> Iterator[tuple[int, tuple[Frame, ...]]]:
        """The frames that each expression of a frame leads to, including the calls on `get_worker_info().dataset`."""
        yield from self.ev.leads(frame).items()
        yield from self._dataset_calls.get(frame, {}).items()


def _may_import(loader: Loader, cls: ClassRef) -> bool:
    """Whether the file of a loader may import a class. No file can import what a notebook defines, or a file whose name
    is no identifier (`data-2018.py`)."""
    if loader.path is None or loader.path == cls.path:
        return True
    return cls.path.suffix != SUFFIX and cls.path.stem.isidentifier()


def _uses(piece: ir.PieceIR, name: str) -> bool:
    """Whether a piece names something other than as the base of a class, or in `isinstance(x, C)`: neither creates an
    object."""
    numbers = [number for number, e in enumerate(piece.exprs) if _names(e, name)]
    return bool(numbers) and not {*_bases(piece), *_tested(piece)}.issuperset(numbers)


def _bases(piece: ir.PieceIR) -> Iterator[ir.ExprId]:
    return (base for one in piece.defs for base in one.bases)


def _tested(piece: ir.PieceIR) -> Iterator[ir.ExprId]:
    """The expressions of the classes that `isinstance` is asked about."""
    for call in piece.exprs:
        if isinstance(call, ir.Call) and piece.exprs[call.func] == ir.Global("isinstance") and len(call.args) == 2:
            classes = piece.exprs[call.args[1].value]
            yield from classes.items if isinstance(classes, ir.Seq) else (call.args[1].value,)


def _names(e: ir.Expr, name: str) -> bool:
    """Whether an expression is a name, an attribute, an import or a text of this name."""
    match e:
        case ir.Global(named) | ir.Attr(_, named) | ir.Imported(_, named, _):
            return named == name
        case ir.Const("str", value):
            return value == name
    return False


def _is_within(piece: int, outer: int, file: ProjectFile) -> bool:
    """Whether a piece is, or lies in, the piece `outer`."""
    while piece not in (outer, -1):
        piece = file.pieces[piece].parent
    return piece == outer


def _is_named_late(loader: Loader) -> bool:
    """Whether the class of a loader's dataset is looked up by a name that is only known at run time."""
    return loader.late in CHOSEN or loader.late in OPEN


def _is_by_name(loader: Loader) -> bool:
    """Whether the class of a loader's dataset is chosen by a name, at run time or in a configuration."""
    return loader.late == _CONFIGURED or (loader.late in LOOKED_UP and bool(loader.late_sites))


def _is_out_of_sight(loader: Loader) -> bool:
    """Whether a loader's dataset may be what code in use gives that is not known."""
    unknown = {atom.reason for atom in loader.argument("dataset").only(Unknown)}
    return bool(unknown - _OUTSIDE) and loader.late not in _OUTSIDE


def _without_recursion(chain: Sequence[Frame]) -> list[Frame]:
    """The frames of a chain; of a method that calls itself on its own object, the last one only."""
    after = (*chain[1:], None)
    return [
        one
        for one, next_ in zip(chain, after, strict=True)
        if next_ is None or def_key(one) != def_key(next_) or one.receiver != next_.receiver
    ]


def _on(platforms: tuple[str, ...], environment: Environment) -> Environment:
    """An environment with these platforms only."""
    return environment if platforms == environment.platforms else replace(environment, platforms=platforms)


def _is_test_or_tutorial(path: Path, model: Model) -> bool:
    return is_test_or_tutorial(path, model.files)


#: The names that rules import from here.
__all__ = ["Exposure", "Loader", "MainFunction", "Model", "Part", "Reached", "WorkerCall", "WorkerFunction"]
