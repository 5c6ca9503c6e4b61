"""DistributedSamplers that shuffle: the passes over their loaders, and whether something calls `set_epoch`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.project.evaluation.call_sites import called_name
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, LibMember, LibObject, Site, Unknown, Val
from loaderlint.project.reach.model import Loader, MainFunction, Model
from loaderlint.rules.shared.epoch_passes import Pass, has_loops, loop_around, passes

SAMPLER = "torch.utils.data.DistributedSampler"
_SHUFFLE_POSITION = 3
_SEED_POSITION = 4
#: A piece that trains in a loop contains one of these. A loop that does neither may read the samples twice on purpose.
_TRAINING = ("poch", "backward")
#: More calls of `set_epoch` than the model looks at.
_MANY = 60


def sampled_passes(model: Model) -> Mapping[Place, list[tuple[LibObject, Pass]]]:
    """The passes over loaders in loops that may train, each with the sampler of its loader, by the place where the
    sampler is made."""
    found: dict[Place, list[tuple[LibObject, Pass]]] = {}
    for function in (*model.main_functions(_TRAINING), *_generators(model)):
        for frame in function.frames if has_loops(function) else ():
            for one in passes(frame, model) if not model.failing.never_runs(frame) else ():
                for sampler in samplers_of(one.loader, model):
                    found.setdefault(model.site_place(sampler.site), []).append((sampler, one))
    return found


def _generators(model: Model) -> Iterator[MainFunction]:
    """The generators of the main process: what yields the batches of a loader again and again is there for training."""
    for function in model.main_functions(("yield",)):
        file = model.files.file(function.path) if function.written.is_generator else None
        if file is not None and not any(map(file.pieces[function.piece].holds, _TRAINING)):
            yield function


def samplers_of(loader: Loader, model: Model) -> list[LibObject]:
    """The shuffling DistributedSamplers that the loader may have, itself or inside a BatchSampler."""
    atoms = [*loader.argument("sampler").atoms]
    for atom in loader.argument("batch_sampler").atoms:
        if isinstance(atom, LibObject) and atom.name.endswith(".BatchSampler"):
            inner = model.ev.calls.site_arguments(atom.site).get("sampler", 0)
            atoms.extend(inner.atoms if inner is not None else ())
    found = [atom for atom in atoms if isinstance(atom, LibObject) and atom.name == SAMPLER]
    return [atom for atom in found if shuffles(atom, model) != "no"]


def has_other_sampler(loader: Loader, model: Model) -> bool:
    """Whether the call that creates a loader also gives it another sampler, or none: where the program does not run
    distributed."""
    site = loader.site
    made = model.made_at(site.frame.path, site.frame.piece, site.expr) if site is not None else ()
    kept = [atom for one in made for atom in one.argument("sampler").atoms]
    return any(not isinstance(atom, LibObject) or atom.name != SAMPLER for atom in kept)


def shuffles(sampler: LibObject, model: Model) -> Literal["yes", "no", "maybe"]:
    """Whether a DistributedSampler yields another order in each epoch, if `set_epoch` is called."""
    arguments = model.ev.calls.site_arguments(sampler.site)
    passed, seed = arguments.get("shuffle", _SHUFFLE_POSITION), arguments.get("seed", _SEED_POSITION)
    if seed is not None and seed.literal is None and _is_counted(sampler, model):
        return "no"  # made again in each epoch, from a seed that may be another
    if passed is None:
        return "yes"
    literal = passed.literal
    if literal is None:
        return "maybe"
    return "yes" if literal.value else "no"


def _is_counted(sampler: LibObject, model: Model) -> bool:
    """Whether the sampler is made in a loop."""
    frame = sampler.site.frame
    contexts = [s.context for _, s in model.steps(frame) if isinstance(s, ir.Perform) and s.call == sampler.site.expr]
    return any(loop_around(context, frame, model) is not None for context in contexts)


def calls_that_set(sampler: LibObject, loader: Loader, model: Model) -> list[Site] | None:
    """The calls of `set_epoch` in the project that may be one on the sampler; None if there are too many to look at."""
    sites = model.callers.sites("set_epoch")
    if len(sites) >= _MANY:
        return None
    return [
        Site(frame, site.expr)
        for site in sites
        for frame in model.callers.frames(site.path, site.piece, site.def_)
        if _may_set(site.expr, frame, sampler, loader, model)
    ]


def is_stored(sampler: LibObject, loader: Loader, model: Model) -> bool:
    """Whether some code stores the epoch of the sampler itself, as `set_epoch` does: `loader.sampler.epoch += 1`."""
    return any(
        _may_be_epoch_of(step, frame, sampler, loader, model)
        for path in model.files.containing(".epoch")
        if (file := model.files.file(path)) is not None
        for piece in file.all_asking(may_assign, "epoch")
        if (facts := file.facts_of(piece)) is not None
        for def_, one in enumerate(facts.ir.defs)
        for step in one.steps
        if isinstance(step, ir.SetAttr) and step.name == "epoch"
        for frame in model.callers.frames(path, piece, def_)
    )


def _may_be_epoch_of(step: ir.SetAttr, frame: Frame, sampler: LibObject, loader: Loader, model: Model) -> bool:
    """Whether a store may be one of the sampler. What is not known only is if it is called one."""
    owner = model.ev.eval(step.base, frame)
    name = called_name(frame.code.exprs, step.base)
    return _may_be(owner, sampler, loader, model) and (owner.unknown is None or "sampler" in name)


def _may_set(number: int, frame: Frame, sampler: LibObject, loader: Loader, model: Model) -> bool:
    call = model.ev.expr(frame, number)
    func = model.ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    return not isinstance(func, ir.Attr) or _may_be(model.ev.eval(func.base, frame), sampler, loader, model)


def _may_be(value: Val, sampler: LibObject, loader: Loader, model: Model) -> bool:
    return any(_is(atom, sampler, loader, model) for atom in value.atoms)


def _is(atom: Atom, sampler: LibObject, loader: Loader, model: Model) -> bool:
    """Whether the receiver of a `set_epoch` call may be the sampler: the sampler itself, an attribute of the loader, or
    unknown."""
    if isinstance(atom, Unknown):
        return True
    while isinstance(atom, LibMember):
        if atom.name == "dataset":
            return False
        atom = atom.owner
    if isinstance(atom, LibObject):
        places = {model.site_place(sampler.site), *([model.site_place(loader.site)] if loader.site else [])}
        known = atom.name == SAMPLER or any(model.site_place(atom.site) == _of(one, model) for one in model.loaders)
        return not known or model.site_place(atom.site) in places
    return False


def _of(loader: Loader, model: Model) -> object:
    return model.site_place(loader.site) if loader.site else None
