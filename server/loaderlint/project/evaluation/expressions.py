"""What each kind of expression may be, given what its parts may be: one function for each kind, listed in `MEANINGS`.

Each function takes the evaluator, the expression, its number and the frame in which it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.plain_records import PLAIN_LOADERS
from loaderlint.knowledge.truth_values import TRUE_BASES, TRUE_CLASSES
from loaderlint.project.evaluation import (
    containers,
    dynamic_dispatch,
    item_places,
    item_values,
    library_calls,
    operators,
    step_loops,
    type_tests,
)
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.chosen_attributes import in_branch
from loaderlint.project.evaluation.context_managers import entered
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.items_at_use import with_items_at
from loaderlint.project.evaluation.later_attributes import as_given
from loaderlint.project.evaluation.name_patterns import templates_of
from loaderlint.project.evaluation.removed_items import without_removed
from loaderlint.project.evaluation.replaced_options import PARSE
from loaderlint.project.evaluation.stored_chains import stored_in_chain
from loaderlint.project.evaluation.values import (
    ABSENT,
    ANY_TEXT,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Namespace,
    PartialOf,
    SeqOf,
    Site,
    Templates,
    Unknown,
    Val,
    by_default,
    def_key,
    extended,
    is_none,
    join,
    of,
    present_or,
    unknown,
)
from loaderlint.project.evaluation.wrapped_datasets import GIVES_ITEMS, datasets_inside, gives_new_items
from loaderlint.project.modules.module_refs import ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The types of arrays, each with its library.
_ARRAY_TYPES = MappingProxyType({"numpy.ndarray": "numpy", "torch.Tensor": "torch"})


def _attr(ev: Evaluator, e: ir.Attr, number: int, frame: Frame) -> Val:
    if e.name == "__name__" and _is_class_of_object(e.base, frame):
        return unknown("class name")  # a key of a registry: which classes it holds is known otherwise
    value = ev.attribute(_left_by_tests(ev, e.base, number, frame), e.name, frame, number)
    if ir.is_self(ev.expr(frame, e.base)):
        return in_branch(ev, value, e.name, number, frame)
    stored = stored_in_chain(ev, value, Site(frame, number))
    return value if stored is None else stored


def _is_class_of_object(number: int, frame: Frame) -> bool:
    """Whether an expression is `type(x)` or `x.__class__`."""
    exprs = frame.code.exprs
    e = exprs[number]
    if isinstance(e, ir.Call):
        return exprs[e.func] == ir.Global("type")
    return isinstance(e, ir.Attr) and e.name == "__class__"


def _left_by_tests(ev: Evaluator, part: int, number: int, frame: Frame) -> Val:
    """A part of expression `number`, without the objects that type tests around it rule out."""
    value = ev.eval(part, frame)
    if len(value.atoms) < 2:
        return value
    return type_tests.in_branch(ev, part, frame.code.context_of(number), frame)


def _phi(ev: Evaluator, e: ir.Phi, number: int, frame: Frame) -> Val:
    choices = ev.liveness.live(e.choices, frame, number)
    if number not in frame.code.heads:
        return join([ev.eval(choice, frame) for choice in choices])
    loop = frame.code.step_loops.get(number)
    if loop is not None and (steps := step_loops.steps_of(ev, loop, frame)) is not None:
        return step_loops.run(ev, loop, steps, frame)[number]
    entering = step_loops.entering(ev, choices, number, frame)
    if entering.atoms:
        frame.memo[number] = entering  # the first iteration sees it
    values = [entering]
    for choice in choices:
        if choice > number:
            value = ev.eval(choice, frame)
            values.append(_without_counts(value, entering) if choice in frame.code.heads else value)
    return join(values)


def _without_counts(value: Val, entering: Val) -> Val:
    """The result of an iteration, without the numbers and texts that differ between iterations: `n = n + 1`."""
    counts = {atom for atom in value.atoms if type(atom) is Literal_ and atom not in entering.atoms}
    return Val(value.atoms - counts | {Unknown("loop")}, value.origins) if counts else value


def _global(ev: Evaluator, e: ir.Global, number: int, frame: Frame) -> Val:
    value = ev.names.seen_from(frame, e.name)
    return _with_own_items(ev, value, number, frame) if frame.def_ else value


def _imported(ev: Evaluator, e: ir.Imported, number: int, frame: Frame) -> Val:
    return ev.names.imported(frame.path, e.module, e.name, e.level)


def _if_expression(ev: Evaluator, e: ir.IfExp, number: int, frame: Frame) -> Val:
    truth = ev.liveness.truth(e.test, frame)
    chosen = [x for x, dead in ((e.then, truth is False), (e.other, truth is True)) if not dead]
    ev.eval(e.test, frame)
    values = [ev.eval(x, frame) for x in chosen]
    if len(chosen) != 2:
        return join(values)
    tested = _tested_for_none(ev, e, frame)
    if tested != NONE:
        value, other = values if tested == e.then else reversed(values)
        return _passing_over([atom for atom in value.atoms if is_none(atom)], value, other)
    if _copies_by_type(ev, e, frame):
        values = [Val(value.atoms) for value in values]
    return join(values)


def _tested_for_none(ev: Evaluator, e: ir.IfExp, frame: Frame) -> int:
    """The side that is taken only if it is not None: `x` in `x if x is not None else y` and `y if x is None else x`."""
    match ev.expr(frame, e.test):
        case ir.Compare(left, ("is" | "is not" as op,), (right,)) if ev.eval(right, frame).is_none:
            return left if left == (e.other if op == "is" else e.then) else NONE
    return NONE


def _copies_by_type(ev: Evaluator, e: ir.IfExp, frame: Frame) -> bool:
    """Whether an array is copied if it has one type and converted if it has another, and it is not known to have the
    type that is only converted: `np.copy(x) if isinstance(x, np.ndarray) else to_array(x)`."""
    test = ev.expr(frame, e.test)
    asked = _type_asked(ev, test, frame) if isinstance(test, ir.Call) else ""
    if not asked or not isinstance(test, ir.Call):
        return False
    tested, sides = test.args[0].value, (e.then, e.other)
    sharing = [side for side in sides if ev.eval(side, frame).origins]
    if len(sharing) != 1 or not all(_takes(ev, side, tested, frame) for side in sides):
        return False
    types = {_array_type(atom) for atom in ev.eval(tested, frame).atoms}
    is_known = len(types) == 1 and types != {""}
    return not is_known or (types == {asked}) is not (sharing[0] == e.then)


def _type_asked(ev: Evaluator, test: ir.Call, frame: Frame) -> str:
    """Of which library a test asks for an array: `torch.is_tensor(x)`, `isinstance(x, np.ndarray)`; '' for others."""
    called = ev.eval(test.func, frame).atoms
    if Lib("torch.is_tensor") in called and test.args:
        return "torch"
    if Lib("builtins.isinstance") not in called or len(test.args) != 2:
        return ""
    types = ev.eval(test.args[1].value, frame).atoms
    return next((library for name, library in _ARRAY_TYPES.items() if Lib(name) in types), "")


def _array_type(atom: Atom) -> str:
    """The library of an array; '' if it is not known."""
    if not isinstance(atom, LibObject):
        return ""
    if atom.name.startswith("numpy.") or ".numpy" in atom.name:
        return "numpy"
    return "torch" if atom.name.startswith("torch.") else ""


def _takes(ev: Evaluator, number: int, value: int, frame: Frame) -> bool:
    """Whether an expression is a call with a value, or of its method."""
    call = ev.expr(frame, number)
    func = ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call):
        return False
    return any(arg.value == value for arg in call.args) or (isinstance(func, ir.Attr) and func.base == value)


def _either(ev: Evaluator, e: ir.BoolOp, number: int, frame: Frame) -> Val:
    """`left or right` is never a false constant of the left, and `left and right` never a true one. After what is
    always true, `or` does not run its right side, nor does `and` after a false constant."""
    left = ev.eval(e.left, frame)
    if left.atoms and all(_decides(ev, atom, e.op) for atom in left.atoms):
        return left
    right = ev.eval(e.right, frame)
    passed_over = [a for a in left.atoms if isinstance(a, Literal_) and bool(a.value) is (e.op == "and")]
    return _passing_over(passed_over, left, right)


def _decides(ev: Evaluator, atom: Atom, op: str) -> bool:
    """Whether `or` or `and` gives its left side, and does not run the right one, where the left is this."""
    if isinstance(atom, Literal_):
        return not atom.configured and bool(atom.value) is (op == "or")
    return op == "or" and _is_true_object(ev, atom)


def _passing_over(constants: Sequence[Atom], value: Val, other: Val) -> Val:
    """A value, with another one instead of some of its constants."""
    if not constants:
        return join((value, other))
    source = next((a.configured for a in constants if isinstance(a, Literal_) and a.configured), "")
    if source:
        other = by_default(other, source)
    kept = value.atoms.difference(constants)
    return join((Val(kept, value.origins), other)) if kept else other


def _is_true_object(ev: Evaluator, atom: Atom) -> bool:
    """Whether an atom is a function, a class, or an object whose class defines neither `__bool__` nor `__len__`."""
    match atom:
        case FunctionRef() | ClassRef() | Method() | PartialOf():
            return True
        case LibObject(name, _):
            return name.startswith(TRUE_CLASSES) and name.rpartition(".")[2][:1].isupper()
        case Instance(cls, _):
            defined = any(ev.classes.member(cls, name) for name in ("__bool__", "__len__"))
            inherited = ev.classes.has_unknown_base(cls) or not TRUE_BASES.issuperset(ev.classes.library_bases(cls))
            return not defined and not inherited
    return False


def _binary(ev: Evaluator, e: ir.Bin, number: int, frame: Frame) -> Val:
    made = operators.binary(e.op, ev.eval(e.left, frame), ev.eval(e.right, frame), Site(frame, number))
    return containers.filled_later(ev, made, frame, number)


def _augmented(ev: Evaluator, e: ir.Augmented, number: int, frame: Frame) -> Val:
    before, by = ev.eval(e.target, frame), ev.eval(e.value, frame)
    after = operators.binary(e.op, before, by, Site(frame, number))
    return containers.filled_later(ev, Val(after.atoms, before.origins), frame, number)


def _unary(ev: Evaluator, e: ir.Unary, number: int, frame: Frame) -> Val:
    return operators.unary(e.op, ev.eval(e.operand, frame), Site(frame, number))


def _compared(ev: Evaluator, e: ir.Compare, number: int, frame: Frame) -> Val:
    left, *rights = [ev.eval(one, frame) for one in (e.left, *e.rights)]
    if len(e.ops) > 1:
        return of(LibObject("builtins.bool", Site(frame, number)))
    return operators.compared(e.ops[0], left, rights[0], Site(frame, number))


def _comprehension(ev: Evaluator, e: ir.Comp, number: int, frame: Frame) -> Val:
    _eval_all(ev, e.iterables, frame)
    if e.key != NONE:
        ev.eval(e.key, frame)
    item = ev.eval(e.element, frame)
    site = Site(frame, number)
    if e.kind == "dict":
        copied = containers.copied_items(ev, e, frame, number)
        made = of(copied or MapOf((None,), (item,), site, built=(templates_of(ev, e.key, frame),)))
    else:
        made = of(SeqOf("set" if e.kind == "set" else "list", (item,), site))
    return containers.filled_later(ev, made, frame, number)


def _element(ev: Evaluator, e: ir.Element, number: int, frame: Frame) -> Val:
    return item_values.element(ev, ev.eval(e.iterable, frame), frame, number)


def _unpack(ev: Evaluator, e: ir.Unpack, number: int, frame: Frame) -> Val:
    value = item_values.unpack(ev, ev.eval(e.value, frame), e.index, e.starred, frame, number)
    return as_given(ev, value, frame, number) if type(ev.expr(frame, e.value)) is ir.Call else value


def _inner(ev: Evaluator, e: ir.Star | ir.Await, number: int, frame: Frame) -> Val:
    return ev.eval(e.value, frame)


def _text(ev: Evaluator, e: ir.Text, number: int, frame: Frame) -> Val:
    _eval_all(ev, e.parts, frame)
    return of(LibObject("builtins.str", Site(frame, number)))


def _slice(ev: Evaluator, e: ir.Slice, number: int, frame: Frame) -> Val:
    _eval_all(ev, (e.lower, e.upper, e.step), frame)
    return of(LibObject("builtins.slice", Site(frame, number)))


def _sent(ev: Evaluator, e: ir.Yield, number: int, frame: Frame) -> Val:
    ev.eval(e.value, frame)
    return unknown("sent into a generator")


def _caught(ev: Evaluator, e: ir.Caught, number: int, frame: Frame) -> Val:
    return of(LibObject("builtins.Exception", Site(frame, number)))


def _opaque(ev: Evaluator, e: ir.Opaque, number: int, frame: Frame) -> Val:
    return unknown(e.reason)


def _eval_all(ev: Evaluator, numbers: tuple[int, ...], frame: Frame) -> None:
    for number in numbers:
        ev.eval(number, frame)


def _entered(ev: Evaluator, e: ir.Entered, number: int, frame: Frame) -> Val:
    return entered(ev, ev.eval(e.manager, frame), frame, e.manager)


def _grown(ev: Evaluator, given: Val, number: int, frame: Frame) -> Val:
    """A dict that a def gets (a parameter such as `**kwargs`, a sample), whichever it is, with the items that it stores
    in it."""
    if not given.has(MapOf):
        return given
    grown = (
        containers.with_later_items(ev, atom, frame, number) if isinstance(atom, MapOf) else atom
        for atom in given.atoms
    )
    return Val(frozenset(grown), given.origins)


def _with_own_items(ev: Evaluator, given: Val, number: int, frame: Frame) -> Val:
    """What a def gets from a function or from the module: a dict also has the items that the def stores in it."""
    if not given.has(MapOf) or number in frame.unfilled or not frame.code.fillings(number):
        return given
    frame.memo[number] = given  # what is stored in it may depend on what it holds
    return _grown(ev, given, number, frame)


def _parameter(ev: Evaluator, e: ir.Param, number: int, frame: Frame) -> Val:
    return _grown(ev, ev.functions.argument(frame, e.index), number, frame)


def _capture(ev: Evaluator, e: ir.Capture, number: int, frame: Frame) -> Val:
    up, name = e.up, e.name
    facts = frame.facts
    if facts is None:
        return unknown("half typed")
    target = frame.def_
    for _ in range(up):
        target = facts.ir.defs[target].parent
    scope = frame.scope
    while scope is not None and scope.def_ != target:
        scope = scope.scope
    if scope is None:
        return unknown("captured from unknown code")
    one = facts.ir.defs[target]
    values = [
        ev.eval(step.value, scope)
        for _, step in scope.code.steps_of(ir.Bind)
        if step.name == name and step.scope == "local" and step.value != NONE
    ]
    for index, param in enumerate(one.params):
        if param.name == name:
            values.append(ev.functions.argument(scope, index))
    return join(values) if values else unknown("captured from unknown code")


def _make_def(ev: Evaluator, e: ir.MakeDef, number: int, frame: Frame) -> Val:
    index = e.index
    facts = frame.facts
    if facts is None:
        return unknown("half typed")
    scope = frame if frame.def_ != 0 else None
    if facts.ir.defs[index].kind == "class":
        return of(*dynamic_dispatch.class_choices(ev, ClassRef(frame.path, frame.piece, index, scope)))
    return of(FunctionRef(frame.path, frame.piece, index, scope))


def _sequence(ev: Evaluator, e: ir.Seq, number: int, frame: Frame) -> Val:
    values: list[Val] = []
    for item in e.items:
        value = ev.eval(item, frame)
        if isinstance(ev.expr(frame, item), ir.Star):
            inner = [atom for atom in value.ordered() if isinstance(atom, SeqOf)]
            if len(inner) == 1:
                values.extend(inner[0].items)
                continue
            value = item_values.element(ev, value, frame, item)
        values.append(value)
    if e.kind == "list":
        grown = (*values, *containers.appended(ev, number, frame))
        values = [*containers.with_replaced_items(ev, grown, number, frame)]
    if len(values) > 64:
        values = [join(values)]
    return of(SeqOf(e.kind, tuple(values), Site(frame, number)))


def _map(ev: Evaluator, e: ir.Map, number: int, frame: Frame) -> Val:
    entries: dict[str, Val] = {}
    rest: list[Val] = []
    built: list[Templates] = []
    for key, value in zip(e.keys, e.values, strict=True):
        item = ev.eval(value, frame)
        if key == NONE:
            held = with_items_at(ev, item, value, frame.code.evaluated_by(number), frame)
            left = without_removed(ev, held, value, number, frame)
            rest.extend(_spread(ev, left, entries, number, frame))
            built += [ANY_TEXT] * (len(rest) - len(built))
            continue
        literal = ev.eval(key, frame).literal
        if literal and isinstance(literal.value, str):
            entries[literal.value] = item
        else:
            rest.append(item)
            built.append(templates_of(ev, key, frame))
    keys, values = (*entries, *[None] * len(rest)), (*entries.values(), *rest)
    made = MapOf(keys, values, Site(frame, number), built=tuple(built))
    return of(containers.with_later_items(ev, made, frame, number))


def _spread(ev: Evaluator, given: Val, entries: dict[str, Val], number: int, frame: Frame) -> Iterator[Val]:
    """Put the items of `**given` into the entries of a dict display. Yields those under keys that are not known. What
    may be another mapping may replace each entry before it."""
    copied = containers.shallow_copy(ev, given, frame, number, PLAIN_LOADERS)
    maps = copied.only(MapOf)
    known = [dict(zip(one.keys, one.values, strict=True)) for one in maps]
    for name in dict.fromkeys(key for one in known for key in one if key is not None):
        before = entries.get(name, of(ABSENT))
        entries[name] = join(present_or(one[name], before) if name in one else before for one in known)
    for one in maps:
        yield from (value for key, value in zip(one.keys, one.values, strict=True) if key is None)
    if len(maps) < len(copied.atoms):
        for name, value in entries.items():
            entries[name] = join((value, unknown("a copied mapping")))
        yield unknown("a copied mapping")


def _indexed(ev: Evaluator, e: ir.Index, number: int, frame: Frame) -> Val:
    base = ev.eval(e.base, frame)
    if e.base in frame.unfilled:  # few dicts are
        base = with_items_at(ev, base, e.base, frame.code.evaluated_by(number), frame)
    return _index(ev, base, e.index, frame, number)


def _holds_constants(base: Val, key: Val) -> bool:
    """Whether a value may be one of several dicts, each with a constant under a constant key."""
    name, dicts = key.literal.value if key.literal is not None else None, base.only(MapOf)
    return (
        bool(dicts)
        and isinstance(name, str)
        and all(name in one.keys and one.values[one.keys.index(name)].literal is not None for one in dicts)
    )


def _index(ev: Evaluator, base: Val, index: int, frame: Frame, number: int) -> Val:
    key = ev.eval(index, frame)
    sliced = frame.code.has_slice(index)
    copied = (
        item_values.picks(ev, key)
        or item_values.makes_positions(ev, index, frame)
        or item_values.is_used_as_array(ev, key, index, frame)
    )
    parts: list[Val] = []
    aliases = False
    for atom in base.ordered():
        match atom:
            case SeqOf(_, items) if items and sliced:
                part = replace(atom, items=item_places.sliced(ev, atom, index, frame))
                parts.append(containers.shallow_copy(ev, Val(frozenset({part}), base.origins), frame, number))
            case SeqOf(_, items) if items:
                parts.append(item_values.item_of(items, key) if item_places.keeps_places(atom) else join(items))
                aliases = True
            case MapOf():
                parts.append(item_values.entry_of(atom, key, templates_of(ev, index, frame)))
                aliases = True
            case Instance():
                parts.append(_object_item(ev, atom, key, frame, number))
            case LibMember(ModuleRef() as module, "__dict__"):
                parts.append(library_calls.attribute_named(ev, of(module), key, index, frame, number))
            case LibMember(LibObject(table), "loc" | "iloc") if table.startswith("pandas."):
                parts.append(of(LibObject(item_values.item_name(table, key, sliced), Site(frame, number))))
            case LibObject() if dynamic_dispatch.is_namespace(atom):
                parts.append(dynamic_dispatch.named_in(ev, key, frame, index))
            case Lib("sys.modules"):
                parts.append(dynamic_dispatch.this_module(index, frame, ev))
            case LibObject() if (kept := ev.user_options.node_item(atom, key)) is not None:
                parts.append(kept)
            case LibObject(name, _) if name in GIVES_ITEMS and (inside := datasets_inside(ev, atom)):
                parts.extend(_object_item(ev, one, unknown("item"), frame, number) for one in inside)
            case LibObject(name, _):
                inner = item_values.item_name(name, key, sliced)
                parts.append(of(LibObject(inner, Site(frame, number))))
                part_copied = copied or (sliced and containers.is_plain(atom))
                is_part = item_values.items_alias(name, key) and not part_copied
                aliases = aliases or (is_part and not gives_new_items(ev, atom))
            case Namespace():
                literal = key.literal
                option = literal.value if literal else None
                known = isinstance(option, str)
                parts.append(ev.user_options.attribute(atom, str(option)) if known else unknown("config"))
            case Unknown("looked up by a key") if _holds_constants(base, key):
                pass  # one of the dicts in a table was picked, and each has a constant there
            case Unknown():
                parts.append(of(atom))
                aliases = aliases or not copied
            case _:
                parts.append(unknown("item"))
    value = join(parts) if parts else unknown("item")
    if not aliases:
        return value
    return Val(value.atoms, value.origins | extended(base.origins, "[]", "view" if sliced else "element"))


def _object_item(ev: Evaluator, inst: Instance, key: Val, frame: Frame, number: int) -> Val:
    """`object[key]`: the result of its `__getitem__`."""
    if ev.classes.member(inst.cls, "__getitem__") is None:
        return unknown("library item")
    method = ev.attribute(of(inst), "__getitem__", frame, None)
    got, targets = ev.calls.call(method, Arguments((key,)), frame, number, {})
    frame.add_targets(number, targets)
    return got


def _call(ev: Evaluator, call: ir.Call, number: int, frame: Frame) -> Val:
    callee = _left_by_tests(ev, call.func, number, frame)
    arguments = ev.calls.arguments(call, frame)
    func = ev.expr(frame, call.func)
    if type(func) is ir.Attr and func.name in PARSE and not callee.only(FunctionRef, Method):
        options = ev.user_options.parsed_in(func.name, callee, frame)
        if options is not None:
            return options
    chosen = callee.only(Unknown)
    if any(atom.reason in dynamic_dispatch.CHOSEN for atom in chosen):
        frame.guesses |= {number}
        frame.usual |= {(number, atom.usual) for atom in chosen if atom.usual is not None}
        callee = dynamic_dispatch.fitting(ev, callee, arguments)
    value, targets = ev.calls.call(callee, arguments, frame, number, {})
    if refused := ev.calls.refused(call, callee, arguments, frame) if targets else None:
        targets = tuple(target for target in targets if def_key(target) not in refused)
    if targets:
        frame.add_targets(number, targets)
        return _with_own_items(ev, value, number, frame)
    return value


#: What each kind of expression is, by its class.
MEANINGS: dict[type, Callable[[Evaluator, Any, int, Frame], Val]] = {
    ir.Param: _parameter,
    ir.Capture: _capture,
    ir.Global: _global,
    ir.Imported: _imported,
    ir.Attr: _attr,
    ir.Index: _indexed,
    ir.Slice: _slice,
    ir.Call: _call,
    ir.Bin: _binary,
    ir.Unary: _unary,
    ir.Compare: _compared,
    ir.BoolOp: _either,
    ir.IfExp: _if_expression,
    ir.Seq: _sequence,
    ir.Map: _map,
    ir.Comp: _comprehension,
    ir.MakeDef: _make_def,
    ir.Text: _text,
    ir.Star: _inner,
    ir.Await: _inner,
    ir.Yield: _sent,
    ir.Element: _element,
    ir.Unpack: _unpack,
    ir.Entered: _entered,
    ir.Caught: _caught,
    ir.Augmented: _augmented,
    ir.Phi: _phi,
    ir.Opaque: _opaque,
}
