"""Whether the numbers of a run are fixed by a seed that the project sets."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import CallSite
from loaderlint.project.evaluation.dead_code import DefaultLiveness
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, FunctionRef, LibMember, LibObject, Method, Site
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.same_expressions import reads_same

#: Functions that set torch's seed in the main process.
_SEEDERS = ("manual_seed", "seed_everything", "set_seed", "set_determinism", "manual_seed_all")


def set_by_torchs_seed(model: Model, whose: str = "its") -> str:
    """What to add to the title of a fix that takes seeds from torch: what makes the runs alike, where nothing seems to
    set torch's seed."""
    if model.once(_sets_torchs_seed):
        return ""
    return f"; `torch.manual_seed` then fixes {whose} numbers"


def may_be_seeded(model: Model) -> bool:
    """Whether any code of the project may set torch's seed, perhaps only where a user asks for it."""
    return model.once(_calls_seeders)


def _calls_seeders(model: Model) -> bool:
    return any(model.callers.sites(name) for name in _SEEDERS)


def _sets_torchs_seed(model: Model) -> bool:
    return any(_may_set(site, model) for name in _SEEDERS for site in model.callers.sites(name))


def _may_set(site: CallSite, model: Model) -> bool:
    """Whether a call may set the seed from which workers get theirs: torch's own, or that of a loader's generator,
    unless it runs only if a user sets an option, or gives this seed. A function of the project does so if it contains
    another such call."""
    for frame in model.callers.frames(site.path, site.piece, site.def_):
        if model.once(_by_default).is_dead(site.context, frame):
            continue
        call = model.ev.expr(frame, site.expr)
        if isinstance(call, ir.Call) and _asks_for_seed(call, site.context, frame):
            continue
        callees = model.ev.eval(call.func, frame).atoms if isinstance(call, ir.Call) else frozenset()
        if not callees or not all(_is_own(atom) for atom in callees):
            return True
        if {_of(atom) for atom in callees} & model.once(_of_loaders) or Site(frame, site.expr) in model.once(_sites):
            return True
    return False


def _asks_for_seed(call: ir.Call, context: int, frame: Frame) -> bool:
    """Whether a call runs only if its seed is given: `if config.seed is not None: torch.manual_seed(config.seed)`."""
    one, exprs = frame.code.one, frame.code.exprs
    tests = [here.expr for here in one.around(context) if here.kind == "if"] if one is not None else []
    asked = [e.left if isinstance(e := exprs[test], ir.Compare) else test for test in tests]
    return any(reads_same(arg.value, part, exprs) for arg in call.args for part in asked)


def _by_default(model: Model) -> DefaultLiveness:
    return DefaultLiveness(model.ev)


def _is_own(atom: Atom) -> bool:
    """Whether a callee is a function of the project, or a method of a torch.Generator."""
    if isinstance(atom, LibMember):
        return isinstance(atom.owner, LibObject) and library_of(atom.owner) == "torch"
    return isinstance(atom, FunctionRef | Method)


def _of(atom: Atom) -> Atom | None:
    """The object that a method belongs to."""
    return atom.owner if isinstance(atom, LibMember) else None


def _of_loaders(model: Model) -> frozenset[Atom]:
    """The generators that are passed to loaders, from which these draw the seeds of their workers."""
    return frozenset(atom for loader in model.loaders for atom in loader.argument("generator").only(LibObject))


def _sites(model: Model) -> frozenset[Site]:
    """Where they are made: `torch.Generator().manual_seed(0)` returns one."""
    return frozenset(atom.site for atom in model.once(_of_loaders) if isinstance(atom, LibObject))
