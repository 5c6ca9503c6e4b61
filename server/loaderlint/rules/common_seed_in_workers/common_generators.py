"""Generators that each worker makes for an epoch or a batch, all from the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATORS
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject, def_key, is_none
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.common_seed_in_workers.common_seedings import GENERATOR_SEEDING
from loaderlint.rules.shared.common_seeds import AGREED, Rhythm, sets_agreed_order, why_not_shared
from loaderlint.rules.shared.first_uses import first_uses
from loaderlint.rules.shared.generator_creation import library_of
from loaderlint.rules.shared.made_by_constructors import constructions

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
    if reason := why_not_shared(call, seed, loader, _RHYTHMS, model):
        return reason
    calls = [*model.calls_in(loader, "sample"), *model.calls_in(loader, "collate")]
    draws = {one: made for one in calls if (made := list(_draws_from(one, call, model)))}
    if not draws:
        return _NO_DRAW
    if any(_is_made_before(one, made, model) for one, made in draws.items()):
        return _BEFORE
    if sets_agreed_order(call, loader, model):
        return AGREED
    if not _asks_for_worker(call, loader, model):
        return _OF_STREAMS if all(_picks_stream(one, model) for one in draws) else ""
    return "" if any(_counts_in_part(one, model) for one in draws) else AGREED


def _counts_in_part(draw: WorkerCall, model: Model) -> bool:
    """Whether it matters that all workers draw the same, each for its own part of the items: not where it chooses one
    of these, and not before the loop, where it draws the items or places that the workers then share out."""
    chooses = any(atom.name in _CHOOSING for atom in draw.callee.only(LibMember))
    return not chooses and model.def_of(draw.frame).is_in_loop(draw.context)


def _picks_stream(draw: WorkerCall, model: Model) -> bool:
    """Whether a draw picks the stream that gives the next item: `next(rng.choice(streams))`."""
    exprs = draw.frame.code.exprs
    nexts = (e for e in exprs if isinstance(e, ir.Call) and exprs[e.func] == ir.Global("next") and e.args)
    return any(draw.number in ir.made_of(exprs, (e.args[0].value,)) for e in nexts)


def _draws_from(call: WorkerCall, maker: WorkerCall, model: Model) -> Iterator[LibObject]:
    """The generators that a call draws from, `rng.normal()` or `torch.rand(3, generator=rng)`, of those that another
    call makes or seeds."""
    drawn = [atom.owner for atom in call.callee.only(LibMember) if atom.name in GENERATOR_DRAWS]
    passed = (arg.value for arg in call.call.args if arg.kind == "kw" and arg.name == "generator")
    drawn += [atom for value in passed for atom in model.ev.eval(value, call.frame).atoms]
    seeded = [atom.owner for atom in maker.callee.only(LibMember)]
    yield from (one for one in drawn if isinstance(one, LibObject) and (one in seeded or _is_made_at(one, maker)))


def _is_made_at(made: LibObject, maker: WorkerCall) -> bool:
    """Whether a call makes an object. A method that stores it may have run in another frame."""
    return made.site.expr == maker.number and def_key(made.site.frame) == def_key(maker.frame)


def _is_made_before(draw: WorkerCall, made: Sequence[LibObject], model: Model) -> bool:
    """Whether the main process makes the generator before the workers start, although sample code makes it at its first
    use."""
    origins = draw.callee.origins
    return any(
        first_uses(one, origins, model) or any(before.sure for before in constructions(one, origins, model))
        for one in made
    )


def _asks_for_worker(call: WorkerCall, loader: Loader, model: Model) -> bool:
    """Whether the code around asks which worker runs it, and so gives each a part."""
    root = model.chain(call.frame, loader)[0]
    return any(_WORKER_INFO in one.callee.atoms for frame in model.run_by((root,)) for one in model.frame_calls(frame))
