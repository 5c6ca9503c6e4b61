"""Generators that each worker makes for an epoch or a batch, all from the same seed."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import GENERATORS
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, def_key, is_none
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.common_seed_in_workers.common_seedings import GENERATOR_SEEDING
from loaderlint.rules.shared.common_seeds import AGREED, Rhythm, calls_below, sets_agreed_order, why_not_shared
from loaderlint.rules.shared.drawn_generators import drawn_generators
from loaderlint.rules.shared.first_uses import is_made_before
from loaderlint.rules.shared.generator_creation import library_of

_WORKER_INFO = Lib(WORKER_INFO)
#: How often workers make a generator whose numbers count. With one for each sample, all samples have the same numbers,
#: which may be meant.
_RHYTHMS: frozenset[Rhythm] = frozenset({"once", "epoch", "batch"})
_UNSEEDED = "the seed may be None: each generator then has another one"
_BEFORE = "the main process makes it before the workers start: shared-generator"
#: Methods that choose among items, or their places, or order them.
_CHOOSING = frozenset("choice choices sample shuffle randrange randint integers permutation permuted".split())
_OF_STREAMS = "it only picks the stream that gives the next item, and each worker has streams of its own"
_NO_DRAW = "nothing is known to draw from this generator"


def generators_of(call: WorkerCall) -> Iterator[tuple[str, int]]:
    """The generators that a call makes from a seed, or seeds, each as the function's name and the seed's expression."""
    seed = next((arg.value for arg in call.call.args[:1] if arg.kind in ("pos", "kw")), None)
    for atom in call.callee.only(Lib, LibMember) if seed is not None and len(call.call.args) == 1 else ():
        assert seed is not None
        if isinstance(atom, Lib):
            if atom.name in GENERATORS and atom.name != "torch.Generator":
                yield atom.name, seed
        elif atom.name == "manual_seed" and isinstance(atom.owner, LibObject) and library_of(atom.owner) == "torch":
            yield GENERATOR_SEEDING, seed


def why_generator_not_common(call: WorkerCall, seed: int, loader: Loader, model: Model) -> str:
    """Why it is no fault that a call makes a generator in the workers of a loader; '' if it is one: all draw the same
    numbers from it."""
    if any(map(is_none, model.ev.eval(seed, call.frame).atoms)):
        return _UNSEEDED
    if reason := why_not_shared(call, seed, loader, lambda _: _RHYTHMS, model):
        return reason
    calls = [*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")]
    draws = [draw for one in calls for draw in drawn_generators(one, model) if _is_of(draw.made, call)]
    if not draws:
        return _NO_DRAW
    if any(is_made_before(draw.made, draw.origins, model) for draw in draws):
        return _BEFORE
    if sets_agreed_order(call, loader, model):
        return AGREED
    if not _asks_for_worker(call, loader, model):
        return _OF_STREAMS if all(_picks_stream(draw.call) for draw in draws) else ""
    return "" if any(_counts_in_part(draw.call, model) for draw in draws) else AGREED


def _counts_in_part(draw: WorkerCall, model: Model) -> bool:
    """Whether it matters that all workers draw the same, each for its own part of the items: not where it chooses one
    of these, and not before the loop, where it draws the items or places that the workers then share out."""
    chooses = any(atom.name in _CHOOSING for atom in draw.callee.only(LibMember))
    return not chooses and model.def_of(draw.frame).is_in_loop(draw.context)


def _picks_stream(draw: WorkerCall) -> bool:
    """Whether a draw picks the stream that gives the next item: `next(rng.choice(streams))`."""
    exprs = draw.frame.code.exprs
    nexts = (e for e in exprs if isinstance(e, ir.Call) and exprs[e.func] == ir.Global("next") and e.args)
    return any(draw.number in ir.made_of(exprs, (e.args[0].value,)) for e in nexts)


def _is_of(generator: LibObject, maker: WorkerCall) -> bool:
    """Whether a call makes a generator, or seeds it. A method that stores it may have run in another frame."""
    if any(atom.owner == generator for atom in maker.callee.only(LibMember)):
        return True
    return generator.site.expr == maker.number and def_key(generator.site.frame) == def_key(maker.frame)


def _asks_for_worker(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the code around asks which worker runs it, and so gives each a part."""
    root = model.chain(call.frame, loader)[0]
    return any(_WORKER_INFO in one.callee.atoms for one in model.remembered(calls_below, root))
