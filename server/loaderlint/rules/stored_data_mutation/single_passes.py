"""Loaders that the program reads once: one loop goes over the loader, no other loop is around it, and the code that
creates it runs once.

The loader is followed as far as it is in full sight: a local, or the parameter of a function that gets it. What is
stored, returned or read in any other way may be read again."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import DefKey, Lib, Site, def_key
from loaderlint.project.loaders.idle_loaders import may_be_imported, only_looks, sees_all, with_phis
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.epoch_passes import gives_items
from loaderlint.syntax.notebook import SUFFIX

_MAX_DEPTH = 3


def is_read_once(loader: Loader, model: Model) -> bool:
    """Whether one pass over a loader is all that the program makes."""
    site = loader.site
    if site is None or loader.out_of_sight or loader.presumed or loader.installed:
        return False
    return model.remembered(_is_read_once, site)


def _is_read_once(site: Site, model: Model) -> bool:
    frame = site.frame
    if frame.path.suffix == SUFFIX or not _runs_once(def_key(frame), model, 0):
        return False  # a cell may run again
    here = _passes(frozenset({site.expr}), site, frame, model, 0)
    later = [_passes_over_name(name, site, model) for name in _names_of_module(site)]
    return _total([here, *later]) == 1


# --- code that runs once ----------------------------------------------------------------------------------------------


def _runs_once(place: DefKey, model: Model, depth: int) -> bool:
    """Whether a def runs once in the program: a statement of a module, or a function that one call in sight runs."""
    path, piece, def_ = place
    file, facts = model.files.file(path), model.ev.facts(path, piece)
    if file is None or facts is None:
        return False
    if def_ == 0:
        return model.ev.names.class_around(file, piece) is None
    name = facts.ir.defs[def_].name
    if depth > _MAX_DEPTH or not name:
        return False
    sites = list(islice(model.callers.sites_running(name, place), 2))
    if len(sites) != 1 or _is_named_elsewhere(name, model):
        return False
    (call,) = sites
    there = model.ev.facts(call.path, call.piece)
    if there is None or there.ir.defs[call.def_].is_in_loop(call.context):
        return False
    return _runs_once((call.path, call.piece, call.def_), model, depth + 1)


def _is_named_elsewhere(name: str, model: Model) -> bool:
    """Whether some code names a function without calling it: it may call it later, or several times."""
    return model.remembered(_names_without_call, name)


def _names_without_call(name: str, model: Model) -> bool:
    for path in model.files.containing(name):
        file = model.files.file(path)
        for piece in file.mentioning(name) if file is not None else ():
            facts = model.ev.facts(path, piece)
            if facts is not None and any(True for _ in _uncalled(name, facts.ir.exprs)):
                return True
    return False


def _uncalled(name: str, exprs: tuple[ir.Expr, ...]) -> Iterator[int]:
    called = {e.func for e in exprs if isinstance(e, ir.Call)}
    for number, e in enumerate(exprs):
        if isinstance(e, ir.Global | ir.Attr | ir.Capture) and e.name == name and number not in called:
            yield number


def _total(counts: list[int | None]) -> int | None:
    """All passes together; None if those of one part are not known."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


# --- passes over the loader -------------------------------------------------------------------------------------------


def _passes(same: Set[int], site: Site, frame: Frame, model: Model, depth: int) -> int | None:
    """How many passes a run of a def makes over the loader that some of its expressions are; None if that is not known,
    or if a loop repeats one."""
    one, exprs = frame.code.one, frame.code.exprs
    if one is None or depth > _MAX_DEPTH:
        return None
    same = _with_iterators(same, frame, model)
    names = {step.name for step in one.steps if isinstance(step, ir.Bind) and step.value in same}
    if any(isinstance(e, ir.Capture) and e.name in names for e in exprs):
        return None
    found = [_passes_of_step(step, same, one) for step in one.steps]
    found += [
        _passes_of_use(number, same, site, frame, model, depth)
        for number in sorted(frame.code.expressions())
        if number not in same and not same.isdisjoint(ir.operands(exprs[number]))
    ]
    return _total(found)


def _names_of_module(site: Site) -> set[str]:
    """The names of its module to which the code that creates a loader binds it."""
    one = site.frame.code.one
    if one is None or site.frame.def_ > 0:
        return set()
    same = with_phis({site.expr}, site.frame.code.exprs)
    return {step.name for step in one.steps if isinstance(step, ir.Bind) and step.value in same}


def _passes_over_name(name: str, site: Site, model: Model) -> int | None:
    """How many passes the statements of a module make over the loader that a name of it is bound to; None if the name
    is bound again, or read elsewhere."""
    path = site.frame.path
    file = model.files.file(path)
    if file is None or len(file.names.get(name, ())) != 1 or may_be_imported(model.ev, name, path):
        return None
    found = [_passes_in_piece(name, path, piece, site, model) for piece in file.mentioning(name)]
    return _total(found)


def _passes_in_piece(name: str, path: Path, piece: int, site: Site, model: Model) -> int | None:
    body = model.ev.body(path, piece)
    exprs = body.code.exprs
    reads = frozenset(number for number, e in enumerate(exprs) if type(e) is ir.Global and e.name == name)
    if any(e == ir.Const("str", name) or sees_all(e) for e in exprs) or not reads <= body.code.expressions():
        return None
    return _passes(reads, site, body, model, 0) if reads else 0


def _with_iterators(same: Set[int], frame: Frame, model: Model) -> Set[int]:
    """The loader, the locals that are it, and what gives its items: `enumerate(tqdm(loader))`."""
    exprs, before = frame.code.exprs, -1
    found = with_phis(same, exprs)
    while len(found) > before:
        before = len(found)
        for number, e in enumerate(exprs):
            if isinstance(e, ir.Call) and any(arg.kind == "pos" and arg.value in found for arg in e.args):
                called = model.ev.eval(e.func, frame).atoms
                if called and all(isinstance(atom, Lib) and gives_items(atom.name) for atom in called):
                    found.add(number)
        found = with_phis(found, exprs)
    return found


def _passes_of_step(step: ir.Step, same: Set[int], one: ir.DefIR) -> int | None:
    if isinstance(step, ir.Perform | ir.Evaluate | ir.Test) or same.isdisjoint(ir.step_expressions(step)):
        return 0
    if isinstance(step, ir.Bind):
        return 0 if step.scope == "local" else None
    return 1 if isinstance(step, ir.Iterate) and not one.is_in_loop(step.context) else None


def _passes_of_use(number: int, same: Set[int], site: Site, frame: Frame, model: Model, depth: int) -> int | None:
    """How many passes an expression makes that has the loader as an operand."""
    e = frame.code.exprs[number]
    if isinstance(e, ir.Element | ir.Comp) or only_looks(e, same, frame.code.exprs, model.files.file(frame.path)):
        return 0  # what iterates is a step of its own
    targets = model.ev.targets(number, frame) if isinstance(e, ir.Call) and e.func not in same else ()
    if len(targets) != 1 or any(map(model.def_of(frame).is_in_loop, frame.code.contexts_of(number))):
        return None
    return _passes_in(targets[0], site, model, depth)


def _passes_in(target: Frame, site: Site, model: Model, depth: int) -> int | None:
    """How many passes a function makes that gets the loader as an argument."""
    given = [index for index, value in enumerate(target.args) if value is not None and _is_only(site, value.atoms)]
    facts = model.facts(target)
    if len(given) != 1 or len(facts.ir.defs) > 2:
        return None  # in a piece with several defs, a parameter may be that of another one
    same = frozenset(number for number, e in enumerate(facts.ir.exprs) if type(e) is ir.Param and e.index == given[0])
    return _passes(same, site, target, model, depth + 1)


def _is_only(site: Site, atoms: Set[object]) -> bool:
    return bool(atoms) and all(getattr(atom, "site", None) == site for atom in atoms)
