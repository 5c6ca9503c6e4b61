"""The fixes for a function that pickle cannot name: it becomes a function of the module, or takes the name of the
function that it wraps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.findings.finding import Fix, Hoist, InsertStatement, Place
from loaderlint.knowledge.arrays import ARRAY_MAKERS
from loaderlint.knowledge.pickling import UNNAMED_FUNCTIONS, UNPICKLABLE
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    Namespace,
    SeqOf,
    Unknown,
    Val,
    def_key,
)
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.reach.model import Model
from loaderlint.project.versions.environment import Answer
from loaderlint.rules.shared.pickled_to_workers import Payload, is_local, is_module
from loaderlint.rules.unpicklable_callable.function_names import is_blank, module_names
from loaderlint.rules.unpicklable_callable.loader_words import names_for_argument
from loaderlint.rules.unpicklable_callable.moving_globals import Moving, is_bound_late, moving_globals
from loaderlint.syntax.notebook import SUFFIX

#: The attribute in what a payload is held as.
_ATTRIBUTE = re.compile(r"`(?:self\.)?(\w+)` of")
_PLAIN = frozenset({"builtins.str", "builtins.int", "builtins.float", "builtins.bool", "torch.device"})


def naming_fixes(function: FunctionRef, payload: Payload, model: Model) -> tuple[Fix, ...]:
    """What gives a function a name that pickle can write. None in a notebook: workers that are spawned do not have the
    functions of its cells."""
    facts = model.ev.facts(function.path, function.piece)
    if facts is None or function.path.suffix == SUFFIX:
        return ()
    return _named_as_wrapped(function, facts) if wraps(function, payload) else _hoisted(function, payload, facts, model)


def _hoisted(function: FunctionRef, payload: Payload, facts: PieceFacts, model: Model) -> tuple[Fix, ...]:
    """Make the function one of the module; what it uses of the functions around it is passed by `functools.partial`."""
    one = facts.ir.defs[function.def_]
    captured = _captures(facts, function.def_)
    if captured is None or not _is_movable(facts, function, model):
        return ()
    read = dict.fromkeys(e.name for e in _expressions(facts, function.def_) if isinstance(e, ir.Global))
    if any(is_bound_late(name, function, model) for name in read):
        return ()  # workers that import the module do not have it
    moving = moving_globals(read, function, model)
    answers = [_is_kept(name, up, function, facts, model) for name, up in captured.items()]
    answers += [_global_pickles(name, kind, function, model) for name, kind in moving.items()]
    if "no" in answers:
        return ()
    safe = all(answer == "yes" for answer in answers)
    is_lambda = one.kind == "lambda"
    name = _name(payload, function, facts, model) if is_lambda or is_blank(one.name) else one.name
    place = Place(function.path, function.piece, facts.anchors.defs[function.def_][0])
    title = "Make the lambda a function of the module" if is_lambda else f"Move `{one.name}` to the module"
    returns = not payload.held.endswith(" worker_init_fn")  # nothing uses what that returns
    named = tuple(name for name in read if _is_named(name, function, model)) if is_lambda else ()
    intent = Hoist(place, name, (*captured, *moving), returns, named)
    return (Fix(title, "safe" if safe else "unsafe", (intent,)),)


def wraps(function: FunctionRef | ClassRef, payload: Payload) -> bool:
    """Whether a function is the wrapper that a decorator puts in the place of what is sent."""
    return isinstance(payload.atom, FunctionRef) and def_key(payload.atom) != def_key(function)


def _named_as_wrapped(wrapper: FunctionRef, facts: PieceFacts) -> tuple[Fix, ...]:
    """Give the wrapper the name of the function that the decorator gets, if that is the decorator's only parameter."""
    one = facts.ir.defs[wrapper.def_]
    params = [param.name for param in facts.ir.defs[one.parent].params]
    if one.decorators or len(params) != 1 or params[0] not in (_captures(facts, wrapper.def_) or {}):
        return ()
    place = Place(wrapper.path, wrapper.piece, facts.anchors.defs[wrapper.def_][0])
    decorator = InsertStatement(place, f"@{{functools}}.wraps({params[0]})", "before")
    return (Fix(f"Decorate `{one.name}` with `functools.wraps`", "safe", (decorator,)),)


def _name(payload: Payload, function: FunctionRef, facts: PieceFacts, model: Model) -> str:
    """The name of a function at module level: the first that says something and that the file does not say yet."""
    if payload.held.endswith("`defaultdict`"):
        return "default_value"
    names = names_for_argument(payload.held.rpartition(" ")[2], function, model)
    if not names:
        found = _ATTRIBUTE.match(payload.held)
        names = module_names(facts, function.def_, found[1] if found else "") or ["apply"]
    file = model.files.file(function.path)
    return next((name for name in names if file is not None and not any(file.asking(_says, name))), names[0])


@needs_word
def _says(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b", text) is not None


def _is_movable(facts: PieceFacts, function: FunctionRef, model: Model) -> bool:
    """Whether the function means the same at module level: no decorators, defaults and annotations that are the same
    there, no names of its class or of the functions around it changed."""
    one = facts.ir.defs[function.def_]
    if one.decorators or one.kind not in ("lambda", "function"):
        return False
    for param in one.params:
        if param.default != NONE and not isinstance(facts.ir.exprs[param.default], ir.Const):
            return False
        if param.annotation != NONE and not _is_library(param.annotation, function, facts, model):
            return False
    inner = [facts.ir.defs[number] for number in _with_inner(facts, function.def_)]
    for step in (step for part in inner for step in part.steps):
        if isinstance(step, ir.Bind) and step.scope == "nonlocal":
            return False
    names = {e.name for e in _expressions(facts, function.def_) if isinstance(e, ir.Attr | ir.Global)}
    return not any(_is_private(name) or name in ("super", "__class__", "locals") for name in names)


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def _is_library(annotation: int, function: FunctionRef, facts: PieceFacts, model: Model) -> bool:
    e = facts.ir.exprs[annotation]
    if isinstance(e, ir.Const):
        return True
    frame = function.scope or model.ev.body(function.path, function.piece)
    return isinstance(e, ir.Global | ir.Attr) and all(
        isinstance(atom, Lib) for atom in model.ev.eval(annotation, frame).atoms
    )


# --- captures ---------------------------------------------------------------------------------------------------------


def _with_inner(facts: PieceFacts, def_: int) -> list[int]:
    """The def and those inside it."""
    found = [def_]
    for number, one in enumerate(facts.ir.defs):
        if number > def_ and one.parent in found:
            found.append(number)
    return found


def _expressions(facts: PieceFacts, def_: int) -> Iterator[ir.Expr]:
    """The expressions of a def and of those inside it."""
    for number in _with_inner(facts, def_):
        for _, e in _own(facts, number):
            yield e


def _own(facts: PieceFacts, def_: int) -> Iterator[tuple[int, ir.Expr]]:
    """The expressions that a def's own steps are made of, with the defaults of the defs inside it, but not these."""
    one, exprs = facts.ir.defs[def_], facts.ir.exprs
    roots = [number for step in one.steps for number in ir.step_expressions(step)]
    roots += [context.expr for context in one.contexts]
    roots += [param.default for inner in facts.ir.defs if inner.parent == def_ for param in inner.params]
    return ((number, exprs[number]) for number in ir.made_of(exprs, roots))


def _captures(facts: PieceFacts, def_: int) -> dict[str, int] | None:
    """The names that a def uses of those around it, each with how many defs out it is bound; None for a def that uses
    itself."""
    found: dict[str, int] = {}
    for number in _with_inner(facts, def_):
        depth = _depth(facts, number, def_)
        for _, e in _own(facts, number):
            if isinstance(e, ir.Capture) and e.up > depth:
                found[e.name] = e.up - depth
    return None if facts.ir.defs[def_].name in found else dict(sorted(found.items()))


def _depth(facts: PieceFacts, inner: int, outer: int) -> int:
    depth = 0
    while inner != outer:
        inner, depth = facts.ir.defs[inner].parent, depth + 1
    return depth


def _is_kept(name: str, up: int, function: FunctionRef, facts: PieceFacts, model: Model) -> Answer:
    """Whether a captured name is bound once, before the function is made, to something that is known to pickle."""
    scope = function.scope
    target = function.def_
    for _ in range(up):
        target = facts.ir.defs[target].parent
    while scope is not None and scope.def_ != target:
        scope = scope.scope
    if scope is None:
        return "maybe"
    one = facts.ir.defs[target]
    params = [index for index, param in enumerate(one.params) if param.name == name]
    binds = [n for n, step in enumerate(one.steps) if isinstance(step, ir.Bind) and step.name == name]
    if len(params) + len(binds) != 1:
        return "no"  # which of its values the function sees depends on when it runs
    if params:
        return _pickles(_parameter(params[0], scope), model)
    step = one.steps[binds[0]]
    made = [n for n, other in enumerate(one.steps) if _makes(other, function.def_, facts)]
    if not isinstance(step, ir.Bind) or (made and binds[0] > min(made)):
        return "no"
    if up != 1 or not made or one.is_in_loop(step.context):
        return "maybe"
    return _pickles(model.ev.eval(step.value, scope), model)


def _is_named(name: str, function: FunctionRef, model: Model) -> bool:
    """Whether a name of the module holds functions or classes that pickle can name, or what is not in the project."""
    value = model.ev.names.lookup(function.path, name, function.piece)
    if any(atom.name in UNNAMED_FUNCTIONS for atom in value.only(Lib)):
        return False
    known = [atom for atom in value.atoms if not isinstance(atom, Unknown | Lib)]
    return all(isinstance(atom, FunctionRef | ClassRef) and _atom_pickles(atom, model) == "yes" for atom in known)


def _global_pickles(name: str, kind: Moving, function: FunctionRef, model: Model) -> Answer:
    """Whether a name of the module can be passed instead: what is bound again may be meant to be read late."""
    answer = _pickles(model.ev.names.lookup(function.path, name, function.piece), model)
    return "maybe" if answer == "yes" and kind == "moving" else answer


def _parameter(index: int, scope: Frame) -> Val:
    given = scope.args[index] if index < len(scope.args) else None
    return given or Val(frozenset({Unknown("parameter")}))


def _makes(step: ir.Step, def_: int, facts: PieceFacts) -> bool:
    """Whether the function is made in a step."""
    exprs = facts.ir.exprs
    parts = (exprs[number] for number in ir.made_of(exprs, ir.step_expressions(step)))
    return any(isinstance(e, ir.MakeDef) and e.index == def_ for e in parts)


def _pickles(value: Val, model: Model) -> Answer:
    """Whether whatever a value may be is known to pickle."""
    answers = {_atom_pickles(atom, model) for atom in value.atoms} or {"maybe"}
    if "no" in answers:
        return "no"
    return "maybe" if "maybe" in answers else "yes"


def _atom_pickles(atom: Atom, model: Model) -> Answer:
    match atom:
        case Literal_() | Namespace():
            return "yes"
        case SeqOf(_, items) | MapOf(_, items):
            return _pickles(Val(frozenset(inner for item in items for inner in item.atoms)), model) if items else "yes"
        case LibObject(name, _):
            if name in UNPICKLABLE:
                return "no"
            return "yes" if name in ARRAY_MAKERS or name in _PLAIN else "maybe"
        case FunctionRef() | ClassRef():
            facts = model.ev.facts(atom.path, atom.piece)
            named = facts is not None and facts.ir.defs[atom.def_].kind != "lambda"
            return "yes" if named and not is_local(atom, model) else "no"
    return "no" if is_module(atom) else "maybe"
