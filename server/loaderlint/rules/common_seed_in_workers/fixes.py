"""The fix: let the worker enter the seed, or delete the seeding."""

from __future__ import annotations

from collections.abc import Sequence

from loaderlint.findings.finding import DeleteStatement, Fix, Intent, Replace, Wrap
from loaderlint.project.reach.model import Model
from loaderlint.rules.common_seed_in_workers.common_seedings import Seeding, sets_order
from loaderlint.rules.shared.seeding_calls import is_for_workers, is_read_only_in, statements


def own_seed_fix(seedings: Sequence[Seeding], model: Model) -> Fix | None:
    """Let the worker enter all seeds at once where they are set once or for each epoch; else delete the calls. None
    where an order is drawn with them: with seeds of their own, workers would give items twice or never. The fix of a
    generator is unsafe: so far its seed alone fixes its numbers, whatever torch's is."""
    if any(sets_order(one, model) for one in seedings):
        return None
    own = any(one.is_of_generator for one in seedings)
    if any(one.rhythm in ("batch", "sample") for one in seedings):
        if own:
            return None
        places = dict.fromkeys(statements((one.place for one in seedings), model))
        deleted = tuple(DeleteStatement(place) for place in places if place is not None)
        return Fix("Delete the seeding", "unsafe", deleted) if None not in places else None
    changes = [_change(one, seedings, model) for one in seedings]
    if None in changes:
        return None
    intents = tuple(dict.fromkeys(change for change in changes if change is not None))
    lasting = any(
        not one.moves and loader.persistent is not False for one in seedings for loader in one.exposure.loaders
    )
    only = all(is_for_workers(one.place.frame, model) for one in seedings)
    return Fix("Make the seed depend on the worker", "safe" if only and not lasting and not own else "unsafe", intents)


def _change(seeding: Seeding, seedings: Sequence[Seeding], model: Model) -> Intent | None:
    """Give one seed the worker's: instead of a constant, else added to it."""
    frame, at, number = seeding.place
    place, call = model.place(frame, number), model.place(frame, at)
    calls = {one.place.at for one in seedings if (one.place.frame, one.place.number) == (frame, number)}
    if number == at or (place.anchor <= call.anchor and not is_read_only_in(calls, frame, number, model)):
        return None
    if not seeding.moves and not seeding.is_of_generator:
        return Replace(place, "{torch}.initial_seed() % 2**32")
    return Wrap(place, "({torch}.initial_seed() + ", ") % 2**32")
