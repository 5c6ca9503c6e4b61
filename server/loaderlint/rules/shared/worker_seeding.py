"""Seeding in workers: which functions do it, and the correct one for fixes. The rules on randomness share it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Literal

from loaderlint.facts import ir
from loaderlint.findings.finding import DeleteStatement, Fix, Intent, Place, Replace, Safety, SetArgument
from loaderlint.knowledge.augmentations import RESEEDING_INITS
from loaderlint.knowledge.numpy_random import SEEDERS, SEEDING_WORKER_INITS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, FunctionRef, Instance, Lib, Literal_, Method, PartialOf, Unknown
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.rules.shared.branches import always_comes_by
from loaderlint.rules.shared.constant_numbers import constant
from loaderlint.rules.shared.evaluation_loaders import is_for_evaluation
from loaderlint.rules.shared.first_statement import begun_with
from loaderlint.rules.shared.global_draws import draws_from_numpy
from loaderlint.rules.shared.init_functions import (
    InitFunction,
    does_only_calls,
    edits_many_files,
    init_passed,
    passed_name,
)
from loaderlint.rules.shared.seeding_calls import SEED_CALLS, Written, is_behind_a_flag, statements
from loaderlint.rules.shared.unpacked_arguments import lack
from loaderlint.rules.shared.wording import except_those_of
from loaderlint.syntax.notebook import SUFFIX

#: As in PyTorch's own notes on randomness. `torch.initial_seed()` is a new number in every worker and epoch.
SEED_WORKER = """\
def {seed_worker}(worker_id: int) -> None:
    worker_seed = {torch}.initial_seed() % 2**32
    {numpy}.random.seed(worker_seed)
    {random}.seed(worker_seed)"""
_FRESH = "{torch}.initial_seed() % 2**32"
#: The statement that a fix inserts at the start of an existing worker_init_fn.
_SEEDS_NUMPY = f"{{numpy}}.random.seed({_FRESH})"

#: Loaders whose call takes torch's `worker_init_fn` under that name.
TAKES_INIT = frozenset(
    {
        "torch.utils.data.DataLoader",
        "torchdata.stateful_dataloader.StatefulDataLoader",
        "torch_geometric.loader.DataLoader",
    }
)

#: The end of the title of a fix that passes a worker_init_fn where Lightning would (see `replaces_lightnings_init`).
LIGHTNING_IS_REPLACED = "; Lightning then no longer passes its own, which seeds each device differently"

#: Without one of these words no loader is run by Lightning.
_LIGHTNING = ("rainer", "abric", "LightningModule", "LightningDataModule")

Seeds = Literal["yes", "no", "sometimes", "maybe"]


def seeds_numpy(loader: Loader, model: Model) -> Seeds:
    """Whether each worker of the loader gets its own NumPy state, in any version of torch. 'sometimes': only under a
    condition that its configuration may switch off; 'maybe': its worker_init_fn is unknown, or it is a loader that is
    presumed, of a project that mentions one."""
    passed = loader.argument("worker_init_fn")
    if loader.kind.seeds_numpy or (_takes_lightnings(loader) and _lightning_seeds(model)):
        return "yes"
    if loader.out_of_sight:
        return "maybe" if any(model.files.containing("worker_init_fn")) else "no"
    if any(_seeding_init(atom) for atom in passed.atoms):
        return "yes"
    seeding = list(_init_seedings(loader, model))
    if seeding:
        return "sometimes" if all(_may_be_off(call, model) for call in seeding) else "yes"
    return "no" if all(_is_in_sight(atom) for atom in passed.atoms) else "maybe"


def _seeding_init(atom: Atom) -> bool:
    """Whether a worker_init_fn is a library function that seeds."""
    if isinstance(atom, PartialOf):
        return _seeding_init(atom.func)
    if not isinstance(atom, Lib):
        return False
    seeds = SEEDERS.get(atom.name) in ("numpy", "all")  # it is called with the worker's id
    return seeds or atom.name in SEEDING_WORKER_INITS


def init_in_sight(loader: Loader) -> bool:
    """Whether everything that the loader's worker_init_fn does is known."""
    if loader.out_of_sight:
        return True
    return all(_is_in_sight(atom) or _seeding_init(atom) for atom in loader.argument("worker_init_fn").atoms)


def _is_in_sight(atom: Atom) -> bool:
    """Whether everything that a worker_init_fn does is known: it belongs to the project, to MONAI or to the standard
    library (which knows no dataset), it seeds, or there is none."""
    if isinstance(atom, PartialOf):
        return _is_in_sight(atom.func)
    if isinstance(atom, Lib):
        is_standard = atom.name.partition(".")[0] in sys.stdlib_module_names
        return is_standard or atom.name in RESEEDING_INITS or atom.name in SEEDERS
    return isinstance(atom, FunctionRef | Method | Instance) or (isinstance(atom, Literal_) and atom.value is None)


def _init_seedings(loader: Loader, model: Model) -> Iterator[WorkerCall]:
    """The calls in the loader's worker_init_fn, and in what it calls, that seed NumPy."""
    yield from (call for call in model.calls_in(loader, "init") if _seeds(call))


def _seeds(call: WorkerCall) -> bool:
    return any(isinstance(atom, Lib) and SEEDERS.get(atom.name) in ("numpy", "all") for atom in call.callee.atoms)


def _may_be_off(call: WorkerCall, model: Model) -> bool:
    """Whether a call depends on a test of something that may be None or False: `if seed is not None`."""
    around = model.def_of(call.frame).around(call.context)
    return any(here.kind == "if" and tests_an_option(here.expr, call.frame, model) for here in around)


def tests_an_option(test: int, frame: Frame, model: Model) -> bool:
    """Whether a test checks something that may be None or False: `seed is not None`."""
    e = model.ev.expr(frame, test)
    match e:
        case ir.Unary("not", operand) | ir.Compare(operand, _, _):
            return tests_an_option(operand, frame, model)
        case ir.BoolOp(_, left, right):
            return tests_an_option(left, frame, model) or tests_an_option(right, frame, model)
    options = model.ev.eval(test, frame).only(Literal_)
    return any(one.value is None or one.value is False for one in options)


def seeds_on_the_way(draw: WorkerCall, loader: Loader, model: Model) -> Literal["yes", "no", "sometimes"]:
    """Whether NumPy is seeded before a draw, by a frame that leads to it, in the draw's own def, or by the samples of a
    batch that is put together: then the draw does not use the inherited state. 'sometimes': only in a branch that may
    not be taken."""
    found = [_seeds_before(*at, model) for at in _steps_to(draw, loader, model)]
    if "yes" in found or _is_in_seeded_batch(draw, loader, model):
        return "yes"
    return "sometimes" if "sometimes" in found else "no"


def _is_in_seeded_batch(draw: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether a collate function draws, and whatever makes the loader's samples always seeds NumPy before."""
    reached = model.reached[draw.frame]
    if reached.bits(("sample", "init")) >> loader.index & 1:
        return False
    makers = [frame for entry in model.entries if entry.loader is loader for frame in entry.frames]
    samples = [frame for frame in makers if model.def_of(frame).name in _SAMPLES]
    return bool(samples) and all(model.remembered(_always_seeds, frame) for frame in samples)


def _always_seeds(frame: Frame, model: Model) -> bool:
    """Whether a def seeds NumPy whenever it runs."""
    seedings = model.remembered(_seeding_calls, frame)
    return always_comes_by([call.context for call, always in seedings if always], 0, frame, model)


def _steps_to(draw: WorkerCall, loader: Loader, model: Model) -> Iterator[tuple[Frame, int, int]]:
    """The calls that lead to a draw, and the draw itself, each as (frame, expression, context)."""
    links = model.chain(draw.frame, loader)
    for before, after in zip(links, links[1:], strict=False):
        number = model.call_to(before, after)
        if number is not None:
            yield before, number, next(iter(before.code.contexts_of(number)), 0)
    yield draw.frame, draw.number, draw.context


def _seeds_before(frame: Frame, number: int, context: int, model: Model) -> Literal["yes", "no", "sometimes"]:
    """Whether a def seeds before expression `number`. Seeding once behind a flag, `if not self.seeded`, counts. Seeding
    further down counts if it is always reached: then only the first sample of a worker uses the inherited state."""
    seedings = model.remembered(_seeding_calls, frame)
    sure = [call for call, always in seedings if always]
    if any(call.number > number and call.context == 0 for call in sure):
        return "yes"
    before = [call for call in sure if call.number < number]
    if any(is_behind_a_flag(frame, call.context, (), model) for call in before):
        return "yes"
    if always_comes_by([call.context for call in before], context, frame, model):
        return "yes"
    away = {(c.expr, not c.negated) for c in _tests_around(frame, context, model)}
    may = [_tests_around(frame, call.context, model) for call, _ in seedings if call.number < number]
    return "sometimes" if any(not away & {(c.expr, c.negated) for c in tests} for tests in may) else "no"


def _seeding_calls(frame: Frame, model: Model) -> tuple[tuple[WorkerCall, bool], ...]:
    """The calls in a frame that seed NumPy, directly or in a function that they call, and whether they always do."""
    found = [(call, _seeds(call), model.ev.targets(call.number, frame)) for call in model.frame_calls(frame)]
    inner = [(call, direct, [_seedings_in(target, model) for target in targets]) for call, direct, targets in found]
    return tuple(
        (call, direct or any(map(all, filter(None, in_)))) for call, direct, in_ in inner if direct or any(in_)
    )


def _seedings_in(frame: Frame, model: Model) -> list[bool]:
    """For each call in a frame that seeds NumPy whether it is always reached."""
    return [
        always_comes_by([one.context], 0, frame, model) or is_behind_a_flag(frame, one.context, (), model)
        for one in model.frame_calls(frame)
        if _seeds(one)
    ]


def _tests_around(frame: Frame, context: int, model: Model) -> Iterator[ir.Context]:
    """The branches around a context, innermost first."""
    return (here for here in model.def_of(frame).around(context) if here.kind == "if")


def _takes_lightnings(loader: Loader) -> bool:
    """Whether Lightning would give the loader its worker_init_fn: neither the call nor the loader's library sets
    one."""
    if loader.kind.reseeds_objects:
        return False
    return any(isinstance(a, Unknown) or (isinstance(a, Literal_) and a.value is None) for a in _inits(loader))


def replaces_lightnings_init(loader: Loader, model: Model) -> bool:
    """Whether a worker_init_fn that is passed to a loader takes the place of the one of Lightning, which seeds the
    workers of each device differently (`lightning/fabric/utilities/seed.py`)."""
    return _takes_lightnings(loader) and _lightning_seeds(model)


def _inits(loader: Loader) -> frozenset[Atom]:
    return loader.argument("worker_init_fn").atoms


def _lightning_seeds(model: Model) -> bool:
    """Whether Lightning's trainer seeds the workers: after `seed_everything(..., workers=True)`, which its command line
    interface calls by itself. A value other than a constant counts as True. A project that names neither a trainer nor
    Fabric does not do so."""
    if model.callers.sites("LightningCLI"):
        return True
    if not any(model.files.containing(word) for word in _LIGHTNING):
        return False
    for site in model.callers.sites("seed_everything"):
        facts = model.ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        for arg in call.args if isinstance(call, ir.Call) and facts else ():
            value = facts.ir.exprs[arg.value] if facts else None
            if arg.name == "workers" and not (isinstance(value, ir.Const) and not value.value):
                return True
    return False


# --- the fix ----------------------------------------------------------------------------------------------------------


def seed_worker_fix(loaders: Sequence[Loader], model: Model, others: Sequence[Loader] = ()) -> Fix | None:
    """The fix that lets the workers of these loaders seed NumPy: in a new `worker_init_fn`, or in the existing one. A
    loader for which neither is possible is left out, and the fix is unsafe: a fault that is half mended looks mended.
    None if all are. `others` get a new one where that is possible."""
    found = [_seeding_in(loader, model) for loader in loaders]
    left = [loader for loader, one in zip(loaders, found, strict=True) if one is None]
    calls = [one for one in found if isinstance(one, Place)]
    intents: list[Intent] = [one for one in found if one is not None and not isinstance(one, Place)]
    calls += [place for loader in others if calls and (place := _takes_new(loader, model))]
    intents += init_passed(calls, _SEEDING, model)
    if not intents:
        return None
    count = len(set(calls))  # a call creates a loader each time its function is called
    several = f" to {count} loaders" if count > 1 else ""
    names = {passed_name(one) for one in intents if isinstance(one, SetArgument)}
    name = names.pop() if len(names) == 1 else "seed_worker"
    title = f"pass `worker_init_fn={name}`{several}" if calls else "seed NumPy in its worker_init_fn"
    is_mended = any(isinstance(intent, Replace) for intent in intents)
    is_unsafe = bool(left) or edits_many_files(intents)
    is_unsafe = is_unsafe or (is_mended and any(_evaluates_with_init(loader, model) for loader in model.loaders))
    safety: Safety = "unsafe" if is_unsafe else "safe"
    return Fix(f"Seed each worker{except_those_of(left)}: {title}", safety, tuple(dict.fromkeys(intents)))


def _seeding_in(loader: Loader, model: Model) -> Place | Intent | None:
    """The call of a loader, which a worker_init_fn can be passed to, or what seeds NumPy in the function that it
    passes; None if there is no such way."""
    if loader.site is None or loader.kind.name not in TAKES_INIT:
        return None
    given = loader.argument("worker_init_fn")
    function = next(iter(given.only(FunctionRef)), None) if len(given.atoms) == 1 else None
    first = begun_with(_SEEDS_NUMPY, function, model) if function is not None else None
    return first or _takes_new(loader, model)


def _evaluates_with_init(loader: Loader, model: Model) -> bool:
    """Whether a loader for evaluation has a worker_init_fn of the project, which may be meant to repeat its numbers."""
    return bool(loader.argument("worker_init_fn").only(FunctionRef)) and is_for_evaluation(loader, model)


def _takes_new(loader: Loader, model: Model) -> Place | None:
    """The loader's call, if it can be given a worker_init_fn and has none."""
    if loader.site is None or loader.kind.name not in TAKES_INIT or not loader.argument("worker_init_fn").is_none:
        return None
    return model.site_place(loader.site) if may_be_passed(loader, model) else None


def may_be_passed(loader: Loader, model: Model) -> bool:
    """Whether the call creates the library's own loader, without a worker_init_fn or with None, and workers can load
    the function that is passed: spawned workers find none that a notebook defines."""
    assert loader.site is not None
    frame = loader.site.frame
    if frame.path.suffix == SUFFIX and "fork" not in model.start_methods.of(loader):
        return False
    call = model.ev.expr(frame, loader.site.expr)
    if not isinstance(call, ir.Call):
        return False
    if not all(isinstance(a, Lib | PartialOf) for a in model.ev.eval(call.func, frame).atoms):
        return False  # a class of the project: its constructor may not take it
    if sum(arg.kind in ("pos", "star") for arg in call.args) > 10:
        return False
    said = [model.ev.expr(frame, arg.value) for arg in call.args if arg.name == "worker_init_fn"]
    is_free = all(isinstance(e, ir.Const) and e.value is None for e in said)
    return is_free and model.remembered(lack, loader.site, "worker_init_fn")


def seeds_from_torch(frame: Frame, model: Model) -> bool:
    """Whether a function seeds NumPy, and perhaps `random`, from torch's seed in the worker, and does nothing else."""
    seeded = set()
    for call in model.frame_calls(frame):
        names = {atom.name if isinstance(atom, Lib) else "" for atom in call.callee.atoms}
        if names == {_TORCH_SEED}:
            continue
        if len(names) != 1 or not names <= {"numpy.random.seed", "random.seed"} or len(call.call.args) != 1:
            return False
        if not _is_torch_seed(call.call.args[0].value, frame, model):
            return False
        seeded |= names
    return "numpy.random.seed" in seeded and does_only_calls(frame, model)


def _is_torch_seed(number: int, frame: Frame, model: Model) -> bool:
    """Whether an expression is `torch.initial_seed() % 2**32`, or with `2**32 - 1`."""
    e = model.ev.expr(frame, number)
    seed = model.ev.expr(frame, e.left) if isinstance(e, ir.Bin) and e.op == "%" else None
    if not isinstance(e, ir.Bin) or not isinstance(seed, ir.Call):
        return False
    if model.ev.eval(seed.func, frame).atoms != {Lib(_TORCH_SEED)}:
        return False
    return constant(e.right, frame, model) in (2**32, 2**32 - 1)


_TORCH_SEED = "torch.initial_seed"
#: The methods that make samples.
_SAMPLES = frozenset({"__iter__", "__getitem__", "__getitems__"})
#: A function whose name says that it seeds, and that does.
_SEEDS = re.compile(r"(?s)def \w*seed.*(?:\.seed\(|manual_seed)")


def _mended(frame: Frame, model: Model) -> tuple[Intent, ...]:
    """What makes a function seed from torch's seed that gives each worker another seed of NumPy, which is the same in
    each epoch, and does nothing but seed: a second function would stand beside it. Nothing for other functions."""
    one = model.def_of(frame)
    if "worker" not in one.name + one.params[0].name or not does_only_calls(frame, model):
        return ()  # `set_seed(seed)`
    intents: list[Intent | None] = []
    differs = False
    for call in model.frame_calls(frame):
        names = [atom.name if isinstance(atom, Lib) else "" for atom in call.callee.atoms]
        if len(names) != 1 or names[0] not in _IN_SEEDING:
            return ()
        if names[0] in SEED_CALLS:
            differs = differs or (names[0] == "numpy.random.seed" and _reads_worker(call.call.args, frame))
            intents.append(_mended_call(names[0], call, model))
    known = tuple(intent for intent in intents if intent is not None)
    return tuple(dict.fromkeys(known)) if differs and len(known) == len(intents) else ()


def _mended_call(name: str, call: WorkerCall, model: Model) -> Intent | None:
    """What makes a call of a function seed from torch's seed, or takes away one that seeds torch itself."""
    if name == "torch.manual_seed":
        statement = statements([Written(call.frame, call.number, call.number)], model)[0]
        return DeleteStatement(statement) if statement is not None else None
    if len(call.call.args) != 1:
        return None
    seed = call.call.args[0].value
    if isinstance(model.ev.expr(call.frame, seed), ir.Param):
        return Replace(model.place(call.frame, call.number), f"{SEED_CALLS[name]}({_FRESH})")
    return Replace(model.place(call.frame, seed), _FRESH)


def _reads_worker(args: Sequence[ir.Arg], frame: Frame) -> bool:
    """Whether an argument is made of the worker's number, the only parameter of the function."""
    exprs = frame.code.exprs
    return any(isinstance(exprs[one], ir.Param) for one in ir.made_of(exprs, [arg.value for arg in args]))


#: What functions that only seed call.
_IN_SEEDING = frozenset({*SEED_CALLS, "numpy.random.get_state", "builtins.int", _TORCH_SEED})
_SEEDING = InitFunction(
    "seed_worker",
    SEED_WORKER,
    ("torch", "numpy"),
    "random",
    "initial_seed",
    seeds_from_torch,
    _SEEDS,
    is_use=draws_from_numpy,
    alike=("random.seed", _mended),
)
