"""The fix for a generator that no object keeps: workers read it under a name of a module or of an enclosing function,
or take it as an argument, bound by `partial` or by default.

Where they read it, they get what `_worker_rng(rng, torch.initial_seed())` gives them: the generator itself in the main
process, and in a worker one of its own for each that it is given. So a caller that passes another one keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.findings.finding import Fix, InsertFunction, InsertStatement, Intent, Replace
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, LibObject, Val, def_key
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.first_statement import first_statement
from loaderlint.rules.shared.generator_accessor import FORMS, Draw, fix_of
from loaderlint.rules.shared.generator_creation import birth_place, library_of
from loaderlint.rules.shared.generator_seeds import is_of_cpu
from loaderlint.rules.shared.passed_arguments import passed_for
from loaderlint.rules.shared.unresolved_places import SiteKey, site_key

#: How many calls lie between a draw and where its generator is read.
_MAX_CALLS = 4

_FUNCTION = '''\
@{{functools}}.lru_cache(maxsize=32)
def {{{name}}}(rng, key):
    """`rng` or, in a worker, a generator of its own; `key` is torch's seed."""
    if {{torch}}.utils.data.get_worker_info() is None:
        return rng
    # The workers start with copies of one, in the same state.
{seed}
    return {make}'''


_NAMES = MappingProxyType(
    {
        "numpy": "_worker_rng",
        "numpy_legacy": "_worker_random_state",
        "python": "_worker_random",
        "torch": "_worker_generator",
    }
)


class _Source(NamedTuple):
    """Where worker code gets a generator: it reads a name, expression `number`; or, where that is None, it is given one
    for a `parameter`."""

    frame: Frame
    number: int | None
    parameter: int = 0


def named_generator_fix(draws: Sequence[Draw], model: Model) -> Fix | None:
    """The fix for a generator, given all draws from it in worker code; None where some of these may draw from another
    one, and where it is read in several files."""
    library = library_of(draws[0].made) or ""
    form = FORMS.get(library)
    sources = _sources(draws, model)
    if form is None or not sources or (library == "torch" and not _can_be_made_again(draws, sources, model)):
        return None
    paths = {source.frame.path for source in sources}
    if len(paths) != 1:
        return None
    name = _NAMES[library]
    old = "rng.initial_seed()" if library == "torch" else "rng"
    seed = form.lines(form.seed.replace("OLD", old), " " * 4)
    intents: list[Intent] = [InsertFunction(paths.pop(), name, _FUNCTION.format(name=name, seed=seed, make=form.make))]
    for source in sources:
        own = f"{{{name}}}({_name(source, model)}, {{torch}}.initial_seed())"
        if source.number is not None:
            intents.append(Replace(model.place(source.frame, source.number), own))
            continue
        first, one = first_statement(source.frame, model), model.def_of(source.frame)
        # the body of a generator may have begun in the main process; who knows what a decorator makes of a body
        if first is None or one.is_generator or one.decorators:
            return None
        intents.append(InsertStatement(first, f"{_name(source, model)} = {own}", "before"))
    return fix_of(1, intents)


def _name(source: _Source, model: Model) -> str:
    if source.number is None:
        return model.def_of(source.frame).params[source.parameter].name
    e = model.ev.expr(source.frame, source.number)
    assert isinstance(e, ir.Global | ir.Capture)
    return e.name


def _can_be_made_again(draws: Sequence[Draw], sources: Sequence[_Source], model: Model) -> bool:
    """Whether a `torch.Generator` is one of the CPU, and stays in its process: it cannot be sent to a spawned one."""
    made = draws[0].made
    sent = birth_place(made.site, model) == "an object" and any(source.number is None for source in sources)
    return not sent and is_of_cpu(made, model)


# --- where workers get it ---------------------------------------------------------------------------------------------


def _sources(draws: Sequence[Draw], model: Model) -> list[_Source]:
    """Where worker code gets the generator; empty if that is unknown for one of the draws."""
    found: dict[tuple[object, ...], _Source] = {}
    named = model.once(_named_reads).get(site_key(draws[0].made.site), [])
    for draw in draws:
        behind = _sources_of(draw.call.frame, _drawn_from(draw, model), model, 0)
        if not behind:
            return []
        for source in behind:
            if not _gets_only_shared(source, model):
                return []
            if source.number is None:
                found[(source.frame.path, source.frame.piece, source.frame.def_, source.parameter)] = source
            elif source not in named:
                return []
    for source in named:  # also where it is passed on to what draws in a library
        if not _gets_only_shared(source, model):
            return []
        found[(source.frame.path, source.frame.piece, source.number)] = source
    return list(found.values())


def _drawn_from(draw: Draw, model: Model) -> int:
    """The expression of the generator that a call draws from."""
    passed = next((arg.value for arg in draw.call.call.args if arg.name == "generator"), NONE)
    func = model.ev.expr(draw.call.frame, draw.call.call.func)
    return passed if passed != NONE or not isinstance(func, ir.Attr) else func.base


def _sources_of(frame: Frame, number: int, model: Model, depth: int) -> list[_Source] | None:
    """Where what an expression reads comes from; None if that cannot be told."""
    match model.ev.expr(frame, number):
        case ir.Global() | ir.Capture():
            return [_Source(frame, number)]
        case ir.Param(index) if depth < _MAX_CALLS:
            passed = [one for one in passed_for(frame, index, model) if one.number != NONE]
            if len(passed) != len(model.callers_of(frame)) or not passed:
                return [_Source(frame, None, index)] if not passed else None
            above = [_sources_of(one.frame, one.number, model, depth + 1) for one in passed]
            return [source for some in above for source in some or ()] if all(above) else None
    return None


def _named_reads(model: Model) -> Mapping[SiteKey, list[_Source]]:
    """Where workers read generators under a name, by where these are made."""
    found: dict[SiteKey, list[_Source]] = {}
    for frame in model.reached:
        for number in sorted(model.ev.evaluated(frame)):
            if isinstance(model.ev.expr(frame, number), ir.Global | ir.Capture):
                for made in _generators(model.ev.eval(number, frame)):
                    found.setdefault(site_key(made.site), []).append(_Source(frame, number))
    return found


def _generators(value: Val) -> Iterator[LibObject]:
    return (atom for atom in value.only(LibObject) if library_of(atom))


def _gets_only_shared(source: _Source, model: Model) -> bool:
    """Whether all that workers get there are generators of one kind that are made before they start, and nothing around
    takes part in it: a parameter of a function that they run, say."""
    frame = source.frame
    if source.number is not None:
        e, scope = model.ev.expr(frame, source.number), frame.scope
        if isinstance(e, ir.Capture) and scope is not None and model.runs_in_worker(scope):
            return False
        values = [model.ev.eval(source.number, frame)]
    else:
        here = def_key(frame)
        frames = [one for one in model.reached if def_key(one) == here]
        values = [model.ev.functions.argument(one, source.parameter) for one in frames]
    atoms = [atom for value in values for atom in value.atoms]
    return all(_is_shared(atom, model) for atom in atoms) and len({library_of(one) for one in _all(atoms)}) == 1


def _is_shared(atom: Atom, model: Model) -> bool:
    return isinstance(atom, LibObject) and bool(library_of(atom)) and not model.runs_in_worker(atom.site.frame)


def _all(atoms: Sequence[Atom]) -> Iterator[LibObject]:
    return (atom for atom in atoms if isinstance(atom, LibObject))
