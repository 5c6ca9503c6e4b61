"""Arguments that nothing in a project passes: `DataLoader(data, **config["loader"])` may pass any, but a
`worker_init_fn`, a sampler and the like are made by code, and no file of the project has the word. A setting, such as a
number of workers, may also come from a configuration that is not among the files."""

from __future__ import annotations

from pathlib import Path

from loaderlint.facts import ir
from loaderlint.knowledge.configuration_readers import PREFIXES
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import (
    OF_MISSING_MODULE,
    Atom,
    Lib,
    LibObject,
    MapOf,
    PartialOf,
    Site,
    Unknown,
    Val,
)
from loaderlint.project.loaders.unused_functions import is_installed

#: torch's parameters whose arguments are functions or objects.
_MADE_BY_CODE = ("worker_init_fn", "collate_fn", "sampler", "batch_sampler", "generator")
#: The loaders whose call takes them under these names, and that have no others.
_LOADERS = frozenset({"torch.utils.data.DataLoader", "torchdata.stateful_dataloader.StatefulDataLoader"})
#: The reasons of values that code which is not known passes to a function.
_FROM_CALLERS = frozenset({"parameter", "kwargs"})
#: Fewer positional arguments than these pass none of them: the dataset, the batch size and `shuffle`.
_POSITIONAL = 3


def without_unnamed(ev: Evaluator, name: str, arguments: dict[str, Val], site: Site) -> dict[str, Val]:
    """The arguments of a loader of the library's class `name`, without those that only `**x` may pass and that nothing
    in the project names."""
    call = ev.expr(site.frame, site.expr)
    if name not in _LOADERS or not isinstance(call, ir.Call) or not _is_open(ev, call, site):
        return arguments
    unnamed = {one for one in _MADE_BY_CODE if _is_unknown(arguments.get(one)) and not is_named(ev, one)}
    return {one: value for one, value in arguments.items() if one not in unnamed}


def _is_open(ev: Evaluator, call: ir.Call, site: Site) -> bool:
    """Whether a call passes what is not known by `**x` alone, and the project's own code makes `x`."""
    if not any(arg.kind == "starstar" for arg in call.args) or any(arg.kind == "star" for arg in call.args):
        return False
    if sum(arg.kind == "pos" for arg in call.args) > _POSITIONAL or ev.installed.holds(site.frame.path):
        return False
    if not all(isinstance(atom, Lib | PartialOf) for atom in ev.eval(call.func, site.frame).atoms):
        return False  # a class of the project may fill them in
    passed = [ev.eval(arg.value, site.frame) for arg in call.args if arg.kind == "starstar"]
    if any(_is_made_elsewhere(ev, atom) for value in passed for atom in value.atoms):
        return False
    return not (any(map(_is_from_callers, passed)) and has_users(ev, site.frame.path))


def _is_made_elsewhere(ev: Evaluator, atom: Atom) -> bool:
    """Whether code of which nothing is known makes a dict: a module that is missing, or a library that is not read and
    is not one of those that read configurations."""
    if isinstance(atom, Unknown):
        return atom.reason in OF_MISSING_MODULE
    if not isinstance(atom, LibObject) or atom.name.startswith(PREFIXES):
        return False
    return ev.installed.is_out_of_sight(atom.name)


def _is_from_callers(passed: Val) -> bool:
    """Whether a dict may hold what code that is not known passes to the function."""
    items = [item for one in passed.only(MapOf) for key, item in zip(one.keys, one.values, strict=True) if key is None]
    return any(one.reason in _FROM_CALLERS for value in (passed, *items) for one in value.only(Unknown))


def has_users(ev: Evaluator, path: Path) -> bool:
    """Whether the project is a package that other projects install, so that their code may call the functions of a
    file."""
    files = ev.files
    return is_installed(files, path) or any(files.has_entry(files.root, one) for one in ("pyproject", "setup"))


def _is_unknown(value: Val | None) -> bool:
    return value is not None and all(isinstance(one, Unknown) and one.reason == "kwargs" for one in value.atoms)


def is_named(ev: Evaluator, word: str) -> bool:
    """Whether some code or configuration of the project has a word."""
    return any(ev.files.containing(word)) or ev.files.is_configured(word)
