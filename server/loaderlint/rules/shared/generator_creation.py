"""Where and how random generator objects are created."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.evaluation.values import Lib, LibObject, Site
from loaderlint.project.reach.model import Model


def library_of(made: LibObject) -> str | None:
    """The library whose generator an object is; None for other objects. `torch.Generator().manual_seed(0)` returns the
    generator."""
    return GENERATORS.get(made.name.removesuffix(".manual_seed"))


def birth_place(site: Site, model: Model) -> str:
    """'a module' or 'a class or default argument' (created again by a spawned worker), else 'an object' (copied)."""
    if site.frame.def_ != 0 or is_field(site, model):
        return "an object"
    file = model.files.file(site.frame.path)
    parent = file.pieces[site.frame.piece].parent if file else -1
    in_class = file is not None and parent >= 0 and file.pieces[parent].kind == "class"
    alone = len(model.facts(site.frame).ir.defs) == 1
    return "a module" if alone and not in_class else "a class or default argument"


def is_field(site: Site, model: Model) -> bool:
    """Whether a dataclass creates it for each object: `rng: Generator = field(default_factory=default_rng)`."""
    call = model.ev.expr(site.frame, site.expr)
    callee = model.ev.eval(call.func, site.frame) if isinstance(call, ir.Call) else None
    return callee is not None and Lib("dataclasses.field") in callee.atoms


def born(site: Site, model: Model) -> str:
    """Where a generator is created, for messages: 'at module level in data.py', 'in `Crops.__init__`'."""
    where = birth_place(site, model)
    if where == "a module":
        return f"at module level in {site.frame.path.name}"
    if where != "an object":
        return "once, when the def or class is defined"
    if site.frame.def_ == 0:
        return "with the object"
    name = model.def_of(site.frame).name or "a lambda"
    owner = site.frame.owner  # the class that defines the method, which may be a base of the object's
    return f"in `{model.ev.classes.name(owner)}.{name}`" if owner else f"in `{name}`"


def is_seeded(made: LibObject, model: Model) -> bool:
    """Whether a generator gets a seed where it is created. `default_rng(None)` gets none."""
    arguments = model.ev.calls.site_arguments(made.site)
    return arguments.more_keywords or any(not value.is_none for value in arguments.values)
