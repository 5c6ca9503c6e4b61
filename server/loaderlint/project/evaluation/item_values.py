"""The items of lists, tuples and dicts, what a loop takes from an iterable, and what unpacking gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import (
    POSITION_METHODS,
    POSITIONS,
    SHOWS_ARRAY,
    SINGLE_WITHOUT_SIZE,
    VALUES_WITH_POSITIONS,
)
from loaderlint.knowledge.handles import NPZ_ARCHIVE
from loaderlint.knowledge.value_types import is_path
from loaderlint.project.evaluation import item_places
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame, is_mask_expression
from loaderlint.project.evaluation.name_patterns import are_apart, constant_texts, named_by
from loaderlint.project.evaluation.operators import is_none_or_not
from loaderlint.project.evaluation.values import (
    ANY_TEXT,
    BOTTOM,
    Atom,
    ClassRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Site,
    Templates,
    Unknown,
    Val,
    choices_of,
    extended,
    join,
    of,
    present_or,
    unknown,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The number of nested operations and containers that are searched for the arrays in an index.
_MAX_STEPS = 4


def item_of(items: tuple[Val, ...], key: Val) -> Val:
    """`seq[key]`."""
    literal = key.literal
    if literal is not None and literal.kind == "int" and isinstance(literal.value, int):
        if -len(items) <= literal.value < len(items):
            return items[literal.value]
    return join(items)


#: An item that a dict is not known to have.
_NO_SUCH_KEY = unknown("no such key")


_REGISTERED, _BY_KEY = Unknown("registry"), Unknown("looked up by a key")


def entry_of(made: MapOf, key: Val, built: Templates = ANY_TEXT) -> Val:
    """`made[key]`: the value of a constant key, otherwise any value whose key is possible. An empty mapping may be a
    registry. `built`: how the key is built (see `templates_of`)."""
    keys, values = made.keys, made.values
    literal, chosen = key.literal, choices_of(key)
    others = _under_built_keys(made, built)
    texts = (named_by(key) or constant_texts(built)) if literal is None else []
    wanted = (*chosen[0], *chosen[1]) if chosen else texts
    named = [v for k, v in zip(keys, values, strict=True) if k in wanted]
    if named:
        return _read(join((*named, *others)))
    if literal is not None and isinstance(literal.value, str):
        exact = [v for k, v in zip(keys, values, strict=True) if k == literal.value]
        if exact and not literal.configured:
            return present_or(exact[-1], join(others) if others else _NO_SUCH_KEY)
        if keys and not literal.configured:
            return join((*others, unknown("looked up by a key"))) if None in keys else _NO_SUCH_KEY
    if not values:
        return unknown("empty mapping")
    if _is_number(key):
        return _read(join((*others, unknown("looked up by a key"))))
    meant = (v for k, v in zip(keys, values, strict=True) if k is not None and not are_apart(built, ((k,),)))
    return _read(_unless_registered(join((*meant, *others, unknown("looked up by a key")))))


#: What a loop over numbers gives, and what counts or rounds.
_NUMBERS = frozenset({"builtins.range[]", "builtins.len", "builtins.int", "builtins.round"})


def _is_number(key: Val) -> bool:
    """Whether a key is a number for sure: the constant keys of a dict that are known are texts."""
    return bool(key.atoms) and all(
        atom.name in _NUMBERS if isinstance(atom, LibObject) else isinstance(atom, Literal_) and atom.kind == "int"
        for atom in key.atoms
    )


def _unless_registered(value: Val) -> Val:
    """What may be under a key that is not known, without the classes of a dict that decorators fill: others may
    register more, so which class it is would be a guess."""
    classes = value.only(ClassRef) if _REGISTERED in value.atoms else ()
    return Val(value.atoms.difference(classes, {_BY_KEY}), value.origins) if classes else value


def _under_built_keys(made: MapOf, built: Templates) -> list[Val]:
    """The values under keys that are not constant, and may be built like `built`."""
    values = [value for key, value in zip(made.keys, made.values, strict=True) if key is None]
    if not made.built:
        return values
    return [value for value, one in zip(values, made.built, strict=True) if not are_apart(built, one)]


def _read(value: Val) -> Val:
    """What is read from a dict: a dict that does not have the item raises KeyError."""
    return present_or(value, _NO_SUCH_KEY)


#: Objects whose items are read anew each time, so they are not stored data.
_FRESH_ITEMS = (
    "h5py.",
    "zarr.",
    "pandas.",
    "lmdb.",
    "netCDF4.",
    "tables.",
    "datasets.",
    "builtins.str",
    "PIL.",
    "numpy.lib.npyio.",
)


def items_alias(name: str, key: Val) -> bool:
    """Whether item `key` of the library object `name` is part of it in memory; an archive of arrays reads it again."""
    literal = key.literal
    named = name == "numpy.load" and literal is not None and literal.kind == "str"
    return not named and not name.startswith(_FRESH_ITEMS)


def item_name(name: str, key: Val, sliced: bool) -> str:
    """The name of an item of the library object `name`. An item of an HDF5 file is a dataset or group, which is still
    the file; the content of a dataset is data. An item of an archive is an array that `np.load` reads."""
    if name == NPZ_ARCHIVE:
        return "numpy.load[]"
    if name.startswith("h5py.File") and name.endswith(("[]", ".get")):
        literal = key.literal
        is_member = literal is not None and literal.kind == "str" and not sliced
        return name if is_member else "h5py.data"
    return name if name.endswith("[]") else f"{name}[]"


def picks(ev: Evaluator, key: Val) -> bool:
    """Whether an index is a list, a mask or an array of positions: indexing with it copies. An index that is computed
    in more than `_MAX_STEPS` steps counts as a number."""
    atoms, seen = set(key.atoms), set[Atom]()
    for _ in range(_MAX_STEPS):
        if any(_picks(ev, atom) for atom in atoms):
            return True
        seen |= atoms
        atoms = {one for atom in atoms for value in _computed_from(ev, atom) for one in value.atoms} - seen
    return False


def _computed_from(ev: Evaluator, atom: Atom) -> Sequence[Val]:
    """The items of a tuple or set, or the operands of an operation: if one of these is an array, so is the index."""
    match atom:
        case SeqOf(_, items):
            return items
        case LibObject("builtins.operation", site):
            e = ev.expr(site.frame, site.expr)
            return [ev.eval(side, site.frame) for side in (e.left, e.right)] if isinstance(e, ir.Bin) else ()
    return ()


def makes_positions(ev: Evaluator, index: int, frame: Frame) -> bool:
    """Whether an index is a call of a method that returns an array, on any object, `x.to_numpy()`, or one of the
    positions that torch gives with some values: `values, places = x.max(1)`."""
    e = ev.expr(frame, index)
    if isinstance(e, ir.Unpack):
        return e.index == 1 and _called(ev, e.value, frame) in VALUES_WITH_POSITIONS
    if isinstance(e, ir.Index):
        is_second = ev.expr(frame, e.index) == ir.Const("int", 1)
        return is_second and _called(ev, e.base, frame) in VALUES_WITH_POSITIONS
    if isinstance(e, ir.Attr):
        return e.name == "indices" and _called(ev, e.base, frame) in VALUES_WITH_POSITIONS
    return f".{_called(ev, index, frame)}" in POSITION_METHODS


def _called(ev: Evaluator, number: int, frame: Frame) -> str:
    """The name of the method, or of a module's function, that an expression calls; '' if it is another one."""
    call = ev.expr(frame, number)
    func = ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    return func.name if isinstance(func, ir.Attr) else ""


def is_used_as_array(ev: Evaluator, key: Val, index: int, frame: Frame) -> bool:
    """Whether the def shows that an index of unknown type, or one of several, is a mask or an array of positions: it
    has `~mask`, `mask.sum()` or `np.flatnonzero(mask)`, or in another branch the index is a comparison."""
    e = ev.expr(frame, index)
    if isinstance(e, ir.Seq):
        return any(is_used_as_array(ev, ev.eval(item, frame), item, frame) for item in e.items)
    if not all(type(atom) is Unknown or (type(atom) is LibObject and atom.name.endswith("[]")) for atom in key.atoms):
        return False
    if index in frame.code.array_indices:
        return True
    if any(is_mask_expression(ev.expr(frame, choice)) for choice in frame.code.chosen_from(index)):
        return True
    calls = (call for _, call in frame.code.calls_with(index) if call.args[0].value == index)
    return any(_is_array_function(ev, call.func, frame) for call in calls)


def _is_array_function(ev: Evaluator, func: int, frame: Frame) -> bool:
    """Whether a call is of `np.sum` or its like. Nothing else is evaluated: it may need the item in question."""
    e = ev.expr(frame, func)
    if not isinstance(e, ir.Attr) or e.name not in SHOWS_ARRAY:
        return False
    if not isinstance(ev.expr(frame, e.base), ir.Global | ir.Imported):
        return False
    return any(atom.name.startswith(("numpy.", "torch.")) for atom in ev.eval(func, frame).only(Lib))


def _picks(ev: Evaluator, atom: Atom) -> bool:
    match atom:
        case SeqOf(kind, _):
            return kind == "list"
        case LibObject("builtins.bool", _):
            return True
        case LibObject("builtins.operation", site):
            e = ev.expr(site.frame, site.expr)
            return (isinstance(e, ir.Bin) and e.op in "&|^") or (isinstance(e, ir.Unary) and e.op == "~")
        case LibObject(name, site) if name.endswith("[]"):
            e = ev.expr(site.frame, site.expr)
            return isinstance(e, ir.Index) and name[:-2] in POSITIONS and _is_part(ev, e, name[:-2], site.frame)
        case LibObject(name, site) if name in POSITIONS:
            size = SINGLE_WITHOUT_SIZE.get(name)
            return size is None or ev.calls.site_arguments(site).get("size", size) is not None
        case LibObject(name, _):
            return name.endswith(POSITION_METHODS)
    return False


def _is_part(ev: Evaluator, e: ir.Index, name: str, frame: Frame) -> bool:
    """Whether `positions[index]` is an array: a slice, or the first item of `np.where(...)`, which is a tuple."""
    bases = ev.eval(e.base, frame).atoms
    return (
        frame.code.has_slice(e.index)
        or any(isinstance(a, LibObject) and a.name == name for a in bases)
        and (name.endswith(("where", "nonzero")))
    )


def element(ev: Evaluator, iterable: Val, frame: Frame, number: int) -> Val:
    """One item of an iterable."""
    parts: list[Val] = []
    aliases = not iterable.has(LibObject)
    for atom in iterable.ordered():
        match atom:
            case SeqOf(_, items):
                parts.append(join(items) if items else unknown("empty"))
            case MapOf(keys, _):
                parts.append(
                    join(of(Literal_("str", k)) if k else unknown("key") for k in keys) if keys else unknown("")
                )
            case LibObject("builtins.enumerate" | "builtins.zip" | "dict.items" | "dict.values", _):
                parts.append(_element_of_builtin(ev, atom))
            case LibObject("builtins.operation", site) if (left := _selected_from(ev, site)) is not None:
                parts.append(element(ev, left, frame, number))
            case LibObject(name, site):
                if name == "builtins.generator":
                    frame.add_targets(number, (site.frame,))  # its body runs here, once for each item
                parts.append(of(LibObject(item_name(name, unknown("item"), False), Site(frame, number))))
                aliases = aliases or items_alias(name, unknown("item"))
            case Instance():
                aliases = False
                parts.append(_element_of_object(ev, atom, frame, number))
            case Unknown():
                parts.append(of(atom))
            case _:
                parts.append(unknown("item"))
    value = join(parts) if parts else unknown("item")
    if not aliases:
        return value
    return Val(value.atoms, value.origins | extended(iterable.origins, "[]", "element"))


def _selected_from(ev: Evaluator, site: Site) -> Val | None:
    """The set from which an operation selects items, `{"x", "y"} & set(data)`, if these are known; None if they are
    not, or if it is another operation."""
    e = ev.expr(site.frame, site.expr)
    if not isinstance(e, ir.Bin) or e.op not in ("&", "-"):
        return None
    left = ev.eval(e.left, site.frame)
    are_known = all(isinstance(atom, SeqOf) and atom.kind == "set" and atom.items for atom in left.atoms)
    return left if left.atoms and are_known else None


def _element_of_builtin(ev: Evaluator, atom: LibObject) -> Val:
    arguments = ev.calls.site_arguments(atom.site)
    frame, number = atom.site.frame, atom.site.expr
    if atom.name in ("dict.items", "dict.values"):
        call = ev.expr(frame, number)
        func = ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
        base = ev.eval(func.base, frame) if isinstance(func, ir.Attr) else unknown("item")
        maps = base.only(MapOf)
        there = present_or(join(v for m in maps for v in m.values), BOTTOM) if maps else BOTTOM
        values = there if there.atoms else unknown("item")  # a loop goes over what is there
        values = Val(values.atoms, values.origins | extended(base.origins, "[]", "element"))
        if atom.name == "dict.values":
            return values
        return of(SeqOf("tuple", (unknown("key"), values)))
    items = [element(ev, value, frame, number) for value in arguments.positional]
    if atom.name == "builtins.enumerate":
        items = [unknown("index"), *items[:1]]
    return of(SeqOf("tuple", tuple(items)))


def _element_of_object(ev: Evaluator, atom: Instance, frame: Frame, number: int) -> Val:
    for name in ("__iter__", "__getitem__"):
        if ev.classes.member(atom.cls, name) is not None:
            method = ev.attribute(of(atom), name, frame, None)
            arguments = Arguments() if name == "__iter__" else Arguments((unknown("index"),))
            got, targets = ev.calls.call(method, arguments, frame, number, {})
            frame.add_targets(number, targets)
            if name == "__getitem__":
                return got
            sequences = got.only(SeqOf)
            return join(item for one in sequences for item in one.items) if sequences else unknown("item")
    return unknown("item")


def unpack(ev: Evaluator, value: Val, index: int, starred: bool, frame: Frame, number: int) -> Val:
    """Item `index` of an unpacked value. To unpack a path raises TypeError."""
    unpacked = frozenset(a for a in value.atoms if not (isinstance(a, LibObject) and is_path(a.name)))
    if not unpacked:
        return unknown("a path has no items")
    value = Val(unpacked, value.origins)
    if starred:
        return of(SeqOf("list", (element(ev, value, frame, number),)))
    tuples = [a for a in value.atoms if isinstance(a, SeqOf)]
    others = frozenset(a for a in value.atoms if not isinstance(a, SeqOf) and not is_none_or_not(a))
    if tuples and all(isinstance(a, Unknown) for a in others):
        picked = [t.items[index] for t in tuples if -len(t.items) <= index < len(t.items) and len(t.items) > 1]
        if len(picked) == len(tuples) and all(map(item_places.keeps_places, tuples)):
            one = join((*picked, Val(others)))
            return Val(one.atoms, one.origins | extended(value.origins, "[]", "element"))
    return element(ev, value, frame, number)
