"""Where worker code takes out what it passes on: the way from an edit in a helper to the call in the sample."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.stored_objects import Kind, is_stored
from loaderlint.rules.stored_data_mutation.copied_places import copied_argument

#: How many calls lie between the edit and where the data is taken out.
_MAX_CALLERS = 3


def taken_out_by_callers(frame: Frame, index: int, kind: Kind, model: Model, depth: int = 0) -> list[Place]:
    """Where worker code takes out what it passes for a parameter of a def, if stored; none if some of it is out of
    sight. Copied there, it is what the caller goes on with as well."""
    places: dict[Place, None] = {}
    here = def_key(frame)
    for one in [f for f in model.reached if def_key(f) == here]:
        for passed in passed_for(one, index, model):
            e = model.ev.expr(passed.frame, passed.number) if passed.number != NONE else None
            if e is None:
                return []
            value = model.ev.eval(passed.number, passed.frame)
            if not any(is_stored(origin, value, model) for origin in value.origins):
                continue
            if isinstance(e, ir.Param) and depth < _MAX_CALLERS:
                above = taken_out_by_callers(passed.frame, e.index, kind, model, depth + 1)
                if not above:
                    return []
                places.update(dict.fromkeys(above))
            elif isinstance(e, ir.Index):
                taken = copied_argument(passed.number, kind, passed.frame, model)
                place = model.place(passed.frame, taken) if taken != NONE else None
                if place is None or place.anchor < 0:
                    return []
                places[place] = None
            else:
                return []
    return list(places)
