"""Passes a worker_init_fn that a fix writes: once for all scripts that need it, if a module can contain it.

A script that defines a function which does the same, or would if it were mended, passes it. Others import the function
from a module that they import at their top, or that such a module imports: this import works when the script runs. The
module must not import one of the scripts, and its name must not show that it is about something else, nor must its
datasets: a script whose loaders hold others too does not import from it. The best module contains similar functions
already (`def set_seed`); one that defines the scripts' datasets is as good as one with a fitting name. If no module
suits several scripts, each gets its own function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import AddImport, InsertFunction, Intent, Place, SetArgument, path_of
from loaderlint.project.evaluation.file_imports import own_imports
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import FunctionRef, Instance, Lib
from loaderlint.project.modules.module_refs import ModuleRef, module_name
from loaderlint.project.modules.project_files import MODULE
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.importable_modules import Importable, importable_modules
from loaderlint.syntax.notebook import SUFFIX

#: Words in the names of modules that contain what several scripts use, or what their workers run.
_SEEDING = frozenset("random reproducibility rng seed seeding seeds".split())
#: Words that a module's name may contain beside those of `_SEEDING`: `set_random_seed`, but not `random_crop`.
_ABOUT_SEEDING = frozenset(
    "all and everything fix fixed generator generators number numbers numpy set setup state".split()
)
_SHARED = frozenset("common helper helpers misc tool tools util utilities utils".split())
_DATA = frozenset("data dataloader dataloaders dataset datasets loader loaders".split())
#: Words that mean nothing beside those.
_PLAIN = frozenset("base exp experiment general main my project py python pytorch torch train training".split())
#: Words for what workers do with samples.
_HANDLING = frozenset(
    """
    aug augment augmentation augmentations cv cv2 image images img io preprocess preprocessing transform transforms
    video
    """.split()
)
#: Words in the names of modules that are about something else.
_OTHERWISE = frozenset(
    """
    arch architecture architectures arg args backbone backbones block blocks cfg checkpoint config configs criterion
    engine eval evaluate evaluation layers log logger logging loss losses lr meter meters metric metrics model
    models net nets network networks opt optim optimizer option options opts plot scheduler tester trainer vis
    visualization visualize
    """.split()
)
_DEFINITION = re.compile(r"(?:@[^\n]*\n)*(?:async )?(class|def)\b")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Ranks (see `_rank`): the highest of a module with a general purpose, that of a module whose name says nothing, and
#: that of a module whose name says something else.
_GENERAL, _UNTOLD, _UNFIT = 2, 5, 6


#: The modules that the functions use, with the names that star imports bring them under.
_USUAL_NAMES = MappingProxyType({"cv2": "cv2", "numpy": "np", "random": "random", "torch": "torch"})
#: What is edited in more files is no small fix.
_MAX_FILES = 16
#: Nobody wants the same function in more files.
_MAX_COPIES = 1


class InitFunction(NamedTuple):
    """A worker_init_fn: its `source`, in which its `name` is a mark. A module that may contain it already imports one
    of `libraries`. Loaders may need it whose workers run code with the word `used_by`, and a call there that `is_use`
    (None if the word says enough). `is_same`: whether another function, which contains `word`, does this and nothing
    else. `like`: matches the source of functions that are at home in the same module. `alike`: a word of functions that
    an author writes instead, and what makes one of them do this; nothing if it is none. `passes_over`: whether the fix
    leaves a loader as it is."""

    name: str
    source: str
    libraries: tuple[str, ...]
    used_by: str
    word: str
    is_same: Callable[[Frame, Model], bool]
    like: re.Pattern[str]
    is_use: Callable[[WorkerCall, Model], bool] | None = None
    alike: tuple[str, Callable[[Frame, Model], tuple[Intent, ...]]] | None = None
    passes_over: Callable[[Loader, Model], bool] | None = None


class _Home(NamedTuple):
    """The module from which a script imports the function, by its name in the script, and the function's name there.
    `path` is None if the function exists already; `mended` are the changes that it needs then. `whole`: the script
    imports the module itself. `known`: it imports all names of the module."""

    module: str
    name: str
    path: Path | None
    whole: bool
    known: bool
    mended: tuple[Intent, ...] = ()


def passed_name(argument: SetArgument) -> str:
    """The name of the function that an intent passes, without the module in which it is found: `{data.utils}.seed`."""
    return argument.value.rpartition(".")[2].strip("{}")


def passing(call: Place, value: str) -> SetArgument:
    """The intent that passes a worker_init_fn to a loader's call which cannot have one yet (see `may_be_passed`)."""
    return SetArgument(call, "worker_init_fn", value, beside_unpacked=True)


def init_passed(calls: Sequence[Place], function: InitFunction, model: Model) -> Iterator[Intent]:
    """The intents that pass the function to each of these loader calls."""
    homes = model.remembered(_homes, function)  # for all findings, so that they agree
    for call in calls:
        own = _own(call, function, model)
        if own is not None:
            yield from own.mended
            yield passing(call, own.name)
            continue
        home = homes.get(call.path)
        if home is None:
            yield InsertFunction(call.path, function.name, _source(call.path, function, model))
            yield passing(call, f"{{{function.name}}}")
            continue
        if home.path is not None:
            yield InsertFunction(home.path, function.name, _source(home.path, function, model))
        yield from home.mended
        if home.known:
            yield passing(call, home.name)
            continue
        yield AddImport(call.path, home.module, name=None if home.whole else home.name)
        value = f"{{{home.module}}}.{home.name}" if home.whole else f"{{{home.name}}}"
        yield passing(call, value)


def _source(path: Path, function: InitFunction, model: Model) -> str:
    """The source of the function for a file: with the names of the modules that its star imports bring, which need no
    second import."""
    file = model.files.file(path)
    if file is None or not file.stars:
        return function.source
    source, brought = function.source, set[str]()
    for star in file.stars:
        module = model.ev.names.resolve(path, star.module, star.level)
        starred = model.files.file(module.path) if isinstance(module, ModuleRef) else None
        if starred is not None and not _holds(starred.path, "__all__", model):
            brought.update(starred.names)
    for library, name in _USUAL_NAMES.items():
        is_brought = name in brought and name not in file.names
        if is_brought and model.ev.names.lookup(path, name).atoms == {Lib(library)}:
            source = source.replace(f"{{{library}}}", name)
    return source


def _own(call: Place, function: InitFunction, model: Model) -> _Same | None:
    """A function that does the same and that the file of a call defines above it."""
    same = model.remembered(_same, call.path, function) if call.path.suffix != SUFFIX else None
    return same if same is not None and same.piece < call.piece else None


def _homes(function: InitFunction, model: Model) -> Mapping[Path, _Home]:
    """The module from which each script imports the function, except for scripts that get their own."""
    left = [path for path in _scripts(function, model) if path.suffix != SUFFIX]
    shared = {path: model.remembered(importable_modules, path) for path in left}
    datasets = model.once(_dataset_modules)
    homes: dict[Path, _Home] = {}
    for path in left:
        for module in sorted(shared[path], key=_by_distance(shared[path])):
            same = model.remembered(_same, module, function)
            if same is not None and not model.scripts.leads_to(module, [path]):
                home = _home(shared[path], module, same.name, False, model)
                homes.setdefault(path, home._replace(mended=same.mended))
    left = [path for path in left if path not in homes and not _holds(path, function.name, model)]
    while left:
        every = _all(shared, datasets, function, model)
        serve = {module: [path for path in left if _serves(module, path, shared[path], model)] for module in every}
        fit = {
            module: for_ for module, for_ in serve.items() if len(for_) > 1 and _is_fit(module, for_, function, model)
        }
        if not fit:
            break
        ranks = {module: _rank(module, datasets, function, model) for module in fit}
        for module, rank in ranks.items():
            if rank and module not in fit[module] and module not in datasets:
                ranks[module] += _unlikelihood(module, fit[module], shared, model)
        best = min(
            fit,
            key=lambda module: (
                max(ranks[module], _GENERAL),
                -len(fit[module]),
                ranks[module],
                module not in fit[module],  # it creates loaders itself
                module,
            ),
        )
        others = [path for path in fit[best] if path != best]
        homes.update((path, _home(shared[path], best, function.name, True, model)) for path in others)
        left = [path for path in left if path not in fit[best]]
    return homes


def _by_distance(modules: Mapping[Path, Importable]) -> Callable[[Path], bool]:
    return lambda module: not modules[module].direct


def _home(modules: Mapping[Path, Importable], module: Path, name: str, is_new: bool, model: Model) -> _Home:
    """A module as the home of a function for the script that imports these modules."""
    one = modules[module]
    stars = [other for other, known in modules.items() if known.starred and (is_new or other != module)]
    known = one.starred and not _holds(module, "__all__", model) and not any(_holds(o, name, model) for o in stars)
    path = module if is_new else None
    called = one.through[0] if one.through is not None and _comes_through(one.through[1], module, name, model) else ""
    return _Home(called or one.called, name, path, one.whole and not one.called.startswith(".") and not called, known)


def _comes_through(package: Path, module: Path, name: str, model: Model) -> bool:
    """Whether a name of a module, all of which a package imports, can be imported from the package: no `__all__` nor an
    underscore hides it, and nothing else there has the name."""
    words = ((module, "__all__"), (package, "__all__"), (package, name))
    return not name.startswith("_") and not any(_holds(path, word, model) for path, word in words)


def _scripts(function: InitFunction, model: Model) -> list[Path]:
    """The files that create a loader which may need the function."""
    makers = {loader.site.frame.path for loader in model.loaders if loader.site and _may_need(loader, function, model)}
    return sorted(path for path in makers if model.files.library_name(path) is None)


def _may_need(loader: Loader, function: InitFunction, model: Model) -> bool:
    may_have_workers = loader.has_workers() != "no" or loader.workers.configured
    if not may_have_workers or not loader.argument("worker_init_fn").is_none:
        return False
    if function.passes_over is not None and function.passes_over(loader, model):
        return False
    return any(_may_use(reached.frame, function, model) for reached in model.reached_by(loader))


def _may_use(frame: Frame, function: InitFunction, model: Model) -> bool:
    """Whether code of a worker may need the function."""
    file = model.files.file(frame.path)
    if file is None or not file.pieces[frame.piece].holds(function.used_by):
        return False
    return function.is_use is None or any(function.is_use(call, model) for call in model.frame_calls(frame))


def _dataset_modules(model: Model) -> frozenset[Path]:
    """The modules that define the datasets of loaders."""
    return frozenset(module for modules in model.once(_datasets_of_scripts).values() for module in modules)


def _datasets_of_scripts(model: Model) -> Mapping[Path | None, Set[Path]]:
    """The modules that define the datasets of the loaders that each script creates."""
    found: dict[Path | None, set[Path]] = {}
    for loader in model.loaders:
        held = {dataset.cls.path for dataset in loader.datasets if isinstance(dataset, Instance)}
        found.setdefault(loader.site.frame.path if loader.site else None, set()).update(held)
    return found


def _serves(module: Path, script: Path, shared: Mapping[Path, Importable], model: Model) -> bool:
    """Whether a script would import the function from a module that it can import, or contain it itself. Not from a
    module of datasets while its loaders hold others too that do not build on these."""
    if module == script:
        return True
    held = model.once(_datasets_of_scripts).get(script, frozenset[Path]())
    others = held - {module} if module in model.once(_dataset_modules) else frozenset[Path]()
    return module in shared and all(model.scripts.leads_to(other, [module]) for other in others)


def _all(
    shared: Mapping[Path, Mapping[Path, Importable]], datasets: Set[Path], function: InitFunction, model: Model
) -> list[Path]:
    """The modules that may contain the function: those that some script imports itself, and indirect ones that are
    meant for such functions."""
    known = {(module, one.direct) for modules in shared.values() for module, one in modules.items()}
    direct = {module for module, is_direct in known if is_direct and _rank(module, datasets, function, model) < _UNTOLD}
    return sorted(direct | {module for module, _ in known if _rank(module, frozenset(), function, model) < _UNTOLD})


def _holds(path: Path, word: str, model: Model) -> bool:
    file = model.files.file(path)
    return file is None or any(True for _ in file.mentioning(word))


def _is_fit(module: Path, scripts: Sequence[Path], function: InitFunction, model: Model) -> bool:
    """Whether a module may contain the function: the name is free there, and the module imports none of the scripts,
    but one of the libraries, or it is one of the scripts itself."""
    others = [path for path in scripts if path != module]
    if _holds(module, function.name, model) or model.scripts.leads_to(module, others):
        return False
    gets_it = module in scripts  # whatever it imports
    return gets_it or any(e.module.partition(".")[0] in function.libraries for e in own_imports(model.ev, module))


def _unlikelihood(
    module: Path, scripts: Sequence[Path], shared: Mapping[Path, Mapping[Path, Importable]], model: Model
) -> int:
    """How much less likely a module is than its name says, as ranks: a package passes all its names on to those who use
    it, or it is about its classes, for it holds nothing else."""
    if any(module in shared[path] and shared[path][module].through is not None for path in scripts):
        return 2
    return 1 if model.remembered(_has_classes_only, module) else 0


def _has_classes_only(module: Path, model: Model) -> bool:
    """Whether a module defines classes and no function."""
    file = model.files.file(module)
    begun = {word for _, word in file.asking(_begins_definition, scope=MODULE)} if file is not None else set()
    return begun == {"class"}


def _begins_definition(text: str) -> str:
    found = _DEFINITION.match(text)
    return found[1] if found is not None else ""


def _rank(module: Path, datasets: Set[Path], function: InitFunction, model: Model) -> int:
    """How likely a programmer would write it there; the likeliest module has the lowest rank. `datasets`: the modules
    that define datasets."""
    if model.remembered(_defines_like, module, function.like):
        return 0
    words = {word.lower() for word in _WORD.findall(module_name(module))}
    if words & _SEEDING and words <= _SEEDING | _ABOUT_SEEDING | _SHARED | _PLAIN:
        return 0
    if words & _OTHERWISE:
        return _UNFIT
    if words & _SHARED and words <= _SHARED | _DATA | _PLAIN:
        return 1
    if words & _DATA and words <= _DATA | _PLAIN:
        return 2
    if words & _DATA or module in datasets:
        return 3
    if not words & _SHARED:
        return _UNTOLD
    return 4 if words <= _SHARED | _PLAIN | _HANDLING else _UNFIT  # `image_tools`, but not `draw_utils`


def _defines_like(module: Path, like: re.Pattern[str], model: Model) -> bool:
    """Whether a module contains a similar function, outside of classes: `def set_seed`."""
    file = model.files.file(module)
    return file is not None and any(True for _ in file.asking(_begins_like, like, scope=MODULE))


def _begins_like(text: str, like: re.Pattern[str]) -> bool:
    return like.match(text) is not None


class _Same(NamedTuple):
    """A function that does the same when it is `mended`, and the piece that defines it."""

    name: str
    piece: int
    mended: tuple[Intent, ...]


def _same(module: Path, function: InitFunction, model: Model) -> _Same | None:
    """The first function of a module that does the same, or would if it were mended."""
    for name, frame in _functions(module, function.word, model):
        if function.is_same(frame, model):
            return _Same(name, frame.piece, ())
    for name, frame in _functions(module, function.alike[0], model) if function.alike is not None else ():
        if function.alike is not None and (mended := function.alike[1](frame, model)):
            return _Same(name, frame.piece, mended)
    return None


def _functions(module: Path, word: str, model: Model) -> Iterator[tuple[str, Frame]]:
    """The functions of a module that contain a word and that a loader could call with the number of a worker."""
    file = model.files.file(module)
    for piece in file.mentioning(word) if file is not None else ():
        facts = model.ev.facts(module, piece)
        one = facts.ir.defs[1] if facts is not None and len(facts.ir.defs) == 2 else None
        if file is None or one is None or file.pieces[piece].parent != -1:
            continue
        if one.kind == "function" and len(one.params) == 1 and one.params[0].kind == "any" and not one.decorators:
            frame = model.ev.functions.open_frame(FunctionRef(module, piece, 1), None, None)
            if frame is not None:
                yield one.name, frame


def edits_many_files(intents: Iterable[Intent]) -> bool:
    """Whether a fix edits so many files that nobody reads all of it, or writes the same function into many."""
    edited = list(intents)
    copies = {intent.path for intent in edited if isinstance(intent, InsertFunction)}
    return len(copies) > _MAX_COPIES or len({path_of(intent) for intent in edited}) > _MAX_FILES


def does_only_calls(frame: Frame, model: Model) -> bool:
    """Whether a function only calls functions, without conditions."""
    kinds = (ir.Perform, ir.Bind, ir.Evaluate)
    return all(isinstance(step, kinds) and step.context == 0 for step in model.def_of(frame).steps)
