"""The fix: pass the function without calling it."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertFunction, Replace, Safety
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.values import Atom, FunctionRef, Lib
from loaderlint.project.reach.model import Model
from loaderlint.rules.called_worker_init.init_calls import WORKER_ID, wrong_arguments
from loaderlint.rules.shared.loader_call import Written
from loaderlint.rules.shared.worker_seeding import SEED_WORKER


def all_seed(callees: Sequence[Atom]) -> bool:
    """Whether all callees are library functions that seed."""
    return bool(callees) and all(isinstance(one, Lib) and one.name in SEEDERS for one in callees)


def uncalled_fixes(argument: Written, model: Model) -> tuple[Fix, ...]:
    """Pass the function itself, or one that seeds where a seeding call is passed."""
    call = model.ev.expr(argument.frame, argument.number)
    if not isinstance(call, ir.Call) or not argument.is_direct(model):
        return ()
    callees = model.ev.eval(call.func, argument.frame).ordered()
    if all_seed(callees):
        function = InsertFunction(argument.frame.path, "seed_worker", SEED_WORKER)
        return (Fix("Pass `seed_worker`", "unsafe", (function, Replace(argument.place(model), "{seed_worker}"))),)
    written_as = model.ev.expr(argument.frame, call.func)
    if len(callees) != 1 or not isinstance(callees[0], FunctionRef) or not isinstance(written_as, ir.Global):
        return ()
    if callees[0].scope is not None or wrong_arguments(callees[0], WORKER_ID, 0, model):
        return ()
    replaced = Replace(argument.place(model), written_as.name)
    return (Fix(f"Pass `{written_as.name}` without calling it", _safety(callees[0], model), (replaced,)),)


def _safety(function: FunctionRef, model: Model) -> Safety:
    """Unsafe where the function may seed by the worker's number: it seeds, and it reads its parameters."""
    opened = model.ev.functions.open_frame(function, None, None)
    if opened is None:
        return "unsafe"
    frames = model.run_by((opened,))
    seeds = any(all_seed([atom]) for frame in frames for call in model.frame_calls(frame) for atom in call.callee.atoms)
    reads = any(isinstance(model.ev.expr(opened, number), ir.Param) for number in model.ev.evaluated(opened))
    return "unsafe" if seeds and reads else "safe"
