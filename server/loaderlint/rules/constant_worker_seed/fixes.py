"""The fix: seed every generator from torch's seed of the worker."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from loaderlint.facts import ir
from loaderlint.findings.finding import DeleteStatement, Fix, Intent, Place, Replace, Safety
from loaderlint.knowledge.numpy_random import SEEDERS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject, def_key
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.constant_worker_seed.worker_seedings import WorkerSeeding
from loaderlint.rules.shared.evaluation_loaders import evaluation_loaders
from loaderlint.rules.shared.global_draws import is_drawn_from, library_drawn_from
from loaderlint.rules.shared.run_seeds import set_by_torchs_seed
from loaderlint.rules.shared.seeding_calls import SEED_CALLS, Written, is_read_only_in, occurrences, statements

#: Names of the number of a process that are no ranks.
_OF_PROCESS = re.compile(r"device|gpu|node|process", re.IGNORECASE)
#: Torch's seed of the worker, cut to what NumPy takes.
_NARROW = "% 2**32"


def seeding_fixes(seedings: list[WorkerSeeding], bad: list[WorkerSeeding], model: Model) -> tuple[Fix, ...]:
    """Change every seed at once, if all are bad and are written in the worker_init_fn itself that only workers call, or
    in the sample code that seeds once."""
    if len(seedings) != len(bad) or any(one.each_epoch for one in seedings):
        return ()  # all workers may have to shuffle alike before each takes its share
    texts: dict[Place, str] = {}
    needless = _needless(bad, model)
    for one in bad:
        if (one in needless and _only_init(one.place.frame, model)) or _is_drawn(one, bad, model):
            continue
        change = _change(one, bad, model) if _only_init(one.place.frame, model) else None
        if change is None:
            return ()
        if _NARROW not in texts.get(change[0], ""):  # NumPy's narrower seed does for all of them
            texts[change[0]] = change[1]
    intents: list[Intent] = [Replace(place, text) for place, text in texts.items()]
    intents += [DeleteStatement(place) for place in dict.fromkeys([*needless.values(), *_of_gpus(texts, bad, model)])]
    is_unsafe = any(
        _is_felt_in_evaluation(one, model) or _names_process(one, model) or _is_passed_in(one, model) for one in bad
    )
    safety: Safety = "unsafe" if is_unsafe else "safe"
    return (Fix(f"Seed from `{fresh_seed(bad[0])}`{set_by_torchs_seed(model)}", safety, tuple(intents)),)


def _is_drawn(seeding: WorkerSeeding, bad: list[WorkerSeeding], model: Model) -> bool:
    """Whether a seed is drawn from a generator that the same function seeds before: it is good as soon as that one's
    is."""
    frame, at, number = seeding.place
    atoms = model.ev.eval(number, frame).atoms
    drawn = {library_drawn_from(atom.name) if isinstance(atom, LibObject) else "" for atom in atoms}
    before = {SEEDERS[one.function] for one in bad if one.place.frame is frame and one.place.at < at}
    return bool(drawn) and drawn <= before


def _is_felt_in_evaluation(seeding: WorkerSeeding, model: Model) -> bool:
    """Whether an evaluation loader draws by the seed too: it may be meant to draw the same numbers each time."""
    tested = evaluation_loaders(def_key(seeding.place.frame), model)
    return any(is_drawn_from(seeding.function, one, model) for one in tested)


def _is_passed_in(seeding: WorkerSeeding, model: Model) -> bool:
    """Whether a seed names a parameter other than the worker's number, an attribute of `self`, or a variable of the
    enclosing function that nothing else there reads. What passes or stores it would have no effect after the fix."""
    frame, _, number = seeding.place
    worker_number = 0 if frame.receiver is None else 1
    file = model.files.file(frame.path)
    for e in _within(number, frame):
        if isinstance(e, ir.Param) and e.index > worker_number:
            return True
        if isinstance(e, ir.Attr) and ir.is_self(model.ev.expr(frame, e.base)):
            return True
        if isinstance(e, ir.Capture) and file is not None and file.pieces[frame.piece].ask(occurrences, e.name) <= 2:
            return True
    return False


def _within(number: int, frame: Frame) -> Iterator[ir.Expr]:
    """An expression and all that it is made of."""
    return (frame.code.exprs[one] for one in ir.made_of(frame.code.exprs, [number]))


def _names_process(seeding: WorkerSeeding, model: Model) -> bool:
    """Whether a seed may be made of the number of the process under another name than a rank, such as `args.gpu`. The
    new seed would be the same in all processes that seed torch alike."""
    frame, _, number = seeding.place
    for e in _within(number, frame) if not seeding.rank else ():
        name = model.def_of(frame).params[e.index].name if isinstance(e, ir.Param) else getattr(e, "name", "")
        if _OF_PROCESS.search(name or ""):
            return True
    return False


def _needless(bad: list[WorkerSeeding], model: Model) -> dict[WorkerSeeding, Place]:
    """The seedings of torch's own state, with their statements, that are beside others: torch gives each worker this
    very seed. One whose seed is written anew where a name is bound to it stays, for others may read that."""
    found: dict[WorkerSeeding, Place] = {}
    for one, place in zip(bad, statements((one.place for one in bad), model), strict=True):
        own = one.place.frame is one.call.frame and not one.rank
        bound = _is_written_itself(one, bad, model) and not _is_inside(one, model)
        if place is not None and own and not bound and SEEDERS[one.function] == "torch":
            found[one] = place
    return found if len(found) < len(bad) else {}


def _of_gpus(changed: Collection[Place], bad: list[WorkerSeeding], model: Model) -> list[Place]:
    """The statements beside changed ones that seed only GPUs: torch gives these the seed of the worker too, and here
    they would be all that is left of the old seed."""
    beside = {(one.call.frame, one.call.context) for one in bad if _only_init(one.call.frame, model)}
    kept = {place.piece for place in changed}
    calls = (call for frame in {frame for frame, _ in beside} for call in model.frame_calls(frame))
    of_gpus = [call for call in calls if (call.frame, call.context) in beside and _seeds_gpus(call)]
    written = (Written(call.frame, call.number, call.number) for call in of_gpus)
    return [place for place in statements(written, model) if place is not None and place.piece in kept]


def _seeds_gpus(call: WorkerCall) -> bool:
    names = [atom.name for atom in call.callee.atoms if isinstance(atom, Lib)]
    return len(names) == 1 == len(call.callee.atoms) and SEEDERS.get(names[0]) == "cuda"


def _is_inside(seeding: WorkerSeeding, model: Model) -> bool:
    """Whether the seed is written in the call that sets it."""
    frame, at, number = seeding.place
    return number != at and model.place(frame, number).anchor > model.place(frame, at).anchor


def _is_written_itself(seeding: WorkerSeeding, bad: list[WorkerSeeding], model: Model) -> bool:
    """Whether the new seed replaces the old one where that is written, not the whole call."""
    frame, at, number = seeding.place
    others = {s.place.at for s in bad if (s.place.frame, s.place.number) == (frame, number)}
    return number != at and (_is_inside(seeding, model) or is_read_only_in(others, frame, number, model))


def _only_init(frame: Frame, model: Model) -> bool:
    """Whether a frame is a worker_init_fn, or an entry point of sample code, that no other code calls."""
    reached = model.reached.get(frame)
    if reached is None or any(parent is not None for parent in reached.parents.values()):
        return False
    name = model.def_of(frame).name
    return not name or name == "__call__" or not model.callers.sites(name)


def _change(seeding: WorkerSeeding, bad: list[WorkerSeeding], model: Model) -> tuple[Place, str] | None:
    """What to write where for one seed."""
    frame, at, number = seeding.place
    seed = _fresh(seeding, narrow=SEEDERS[seeding.function] != "torch")
    if _is_written_itself(seeding, bad, model):
        return model.place(frame, number), seed
    if frame is not seeding.call.frame or seeding.function not in SEED_CALLS:
        return None
    return model.place(frame, at), f"{SEED_CALLS[seeding.function]}({seed})"


def _fresh(seeding: WorkerSeeding, *, narrow: bool) -> str:
    """The seed to write. A program that seeds all its processes alike gives the workers of each the same torch seeds;
    where the bad seed holds the process's rank, the new one does so too."""
    seed = "{torch}.initial_seed()"
    if seeding.rank:
        seed = f"{seed} + 2**16 * {seeding.rank}"
    return f"{f'({seed})' if seeding.rank else seed} {_NARROW}" if narrow else seed


def fresh_seed(seeding: WorkerSeeding) -> str:
    """The seed to write, as text for messages."""
    return _fresh(seeding, narrow=True).replace("{torch}", "torch")
