"""The results of calls of libraries, of builtins and of their objects. The data is in `loaderlint.knowledge`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import (
    ARRAY_MAKERS,
    MAY_COPY,
    VIEW_METHODS,
    VIEWS,
)
from loaderlint.knowledge.canonical_names import OPTIONAL_IMPORTERS, canonical
from loaderlint.knowledge.collation import IMAGE_TRANSFORMS
from loaderlint.knowledge.handles import NPZ_ARCHIVE
from loaderlint.knowledge.higher_order import FUNCTION_STEPS, HIGHER_ORDER, MAKES_NEW, ORDERED_PIPELINES, PIPELINES
from loaderlint.knowledge.library_datasets import (
    COMBINED_TRANSFORMS,
    DATASET_PARAMETERS,
    SAMPLE_CALLABLES,
    SPLITTING_FUNCTIONS,
    WRAPPING_DATASETS,
    combines_transforms,
)
from loaderlint.knowledge.numpy_random import PICKING_FUNCTIONS
from loaderlint.knowledge.paths import PATH, PATH_METHODS
from loaderlint.knowledge.plain_records import PLAIN_LOADERS
from loaderlint.knowledge.process_launchers import launcher
from loaderlint.knowledge.registries import looks_up_class, makes_configured
from loaderlint.project.evaluation import containers, dynamic_dispatch, item_places, launched_functions
from loaderlint.project.evaluation.argument_binding import Arguments, overlaid
from loaderlint.project.evaluation.context_managers import ENTERING_METHODS, entered
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.item_values import element, entry_of
from loaderlint.project.evaluation.items_at_use import with_items_at
from loaderlint.project.evaluation.later_attributes import as_copied, is_set_by_loader, replaced_on, set_on
from loaderlint.project.evaluation.missing_attributes import lack
from loaderlint.project.evaluation.name_patterns import built_from, named_by, pattern_of, templates_of_value
from loaderlint.project.evaluation.named_tuples import NAMED_TUPLE, named_tuple
from loaderlint.project.evaluation.operators import COMBINED, compare, is_path_atom, split_text
from loaderlint.project.evaluation.path_endings import ends_with
from loaderlint.project.evaluation.pipeline_steps import added_steps
from loaderlint.project.evaluation.removed_items import without_removed
from loaderlint.project.evaluation.values import (
    AUTO,
    NO_ORIGINS,
    NONE_VALUE,
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
    Origin,
    PartialOf,
    SeqOf,
    Site,
    SuperRef,
    Templates,
    Unknown,
    Val,
    class_of,
    constant,
    join,
    member_of,
    named,
    of,
    present_or,
    unknown,
)
from loaderlint.project.modules.module_refs import ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

Called = tuple[Val, tuple[Frame, ...]]
_CALLABLE = (FunctionRef, Method, Instance, PartialOf)
#: Methods of texts that need no arguments.
_TEXT_METHODS: dict[str, Callable[[str], str]] = {
    "capitalize": str.capitalize,
    "casefold": str.casefold,
    "lower": str.lower,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "strip": str.strip,
    "title": str.title,
    "upper": str.upper,
}
_COPYING_BUILTINS = {"list": "list", "tuple": "tuple", "set": "set", "sorted": "list", "reversed": "list"}


#: Functions that return what they are given, compiled.
_COMPILING = frozenset(
    f"torch.jit.{name}"
    for name in "script script_if_tracing script_method trace trace_module freeze optimize_for_inference export".split()
) | {"torch.jit.ignore", "torch.jit.unused"}

#: Functions that return more than a new object of their own.
_TELLING = frozenset(
    (
        "enum.auto",
        "functools.partial",
        "numpy.load",
        "importlib.import_module",
        "copy.copy",
        "copy.deepcopy",
        "dataclasses.asdict",
        *(f"builtins.{name}" for name in "super type getattr hasattr eval exec __import__ dict iter next vars".split()),
        *(f"builtins.{name}" for name in ("int", "float", "bool", "str", *_COPYING_BUILTINS)),
        *SPLITTING_FUNCTIONS,
        *HIGHER_ORDER,
        *PICKING_FUNCTIONS,
        *_COMPILING,
    )
)


@lru_cache(maxsize=4096)
def is_opaque(name: str) -> bool:
    """Whether calling this library function or class returns a new object of its own that decides no test, whatever the
    arguments are."""
    if name in _TELLING or name.startswith("hydra.") or launcher(name) is not None:
        return False
    return name.rpartition(".")[2] not in OPTIONAL_IMPORTERS


def call(
    ev: Evaluator, name: str, callee: Val, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
) -> Called:
    """Call the library function or class `name`."""
    site = Site(frame, number)
    first = arguments.positional[0] if arguments.positional else None
    if is_opaque(name):
        views = name in VIEWS and first is not None and not _may_copy(name, first, arguments)
        return Val(frozenset({LibObject(name, site)}), _views(first) if first is not None and views else NO_ORIGINS), ()
    if (named := ev.yaml.made_by(name, first, frame)) is not None:
        return _called_by_name(ev, named, name, frame, number, seen)
    short = name.removeprefix("builtins.")
    if name == "functools.partial" and first is not None:
        made = [PartialOf(atom, site) for atom in first.atoms if not isinstance(atom, PartialOf | Unknown)]
        nested = [PartialOf(atom, site) for atom in first.atoms if isinstance(atom, PartialOf)]
        parts = [*made, *nested]
        return (of(*parts) if parts else unknown("partial")), ()
    if name == "numpy.load" and first is not None and ends_with(ev, first, ".npz"):
        return of(LibObject(NPZ_ARCHIVE, site)), ()
    if name == "enum.auto":
        return constant(AUTO, f"{frame.path}:{frame.piece}:{number}"), ()
    if name == "builtins.super":
        return _super(ev, arguments, frame), ()
    if name == "builtins.type" and len(arguments.positional) == 3:
        return dynamic_dispatch.made_by_type(arguments), ()
    if name == "builtins.type" and first is not None and first.only(Instance):
        return join(class_of(one) for one in first.only(Instance)), ()
    if name == "builtins.getattr" and first is not None:
        return _getattr(ev, arguments, frame, number), ()
    if name == "builtins.hasattr" and len(arguments.positional) == 2:
        if lack(ev, arguments.positional[0], named_by(arguments.positional[1]), frame.path):
            return constant("bool", False), ()
    if name == "builtins.eval":
        return dynamic_dispatch.evaluated(ev, frame, number), ()
    if name == "builtins.exec":
        return unknown("eval"), ()
    if name.rpartition(".")[2] in OPTIONAL_IMPORTERS:
        return optional_import(arguments), ()
    if name in ("importlib.import_module", "builtins.__import__"):
        return _import_module(ev, first, frame), ()
    if name == "copy.deepcopy" and first is not None:
        return as_copied(ev, containers.filled_later(ev, first.copied_deeply(), frame, number), frame, number), ()
    if name == "copy.copy" and first is not None:
        return as_copied(ev, containers.shallow_copy(ev, first, frame, number), frame, number), ()
    if name in ("dataclasses.asdict", "builtins.vars") and first is not None:
        return join(_as_dict(ev, atom, name, site) for atom in first.ordered()), ()
    if short != name and short in _COPYING_BUILTINS and first is not None:
        _, targets = _higher_order(ev, name, arguments, frame, number, seen) if short == "sorted" else (None, ())
        return _copied(ev, _COPYING_BUILTINS[short], first, frame, number), targets
    if name == "builtins.list" and first is None:
        return of(SeqOf("list", tuple(containers.appended(ev, number, frame)), site)), ()
    if name == "builtins.dict":
        return _dict(ev, arguments, frame, number), ()
    if name in ("builtins.int", "builtins.float", "builtins.bool", "builtins.str") and first is not None:
        return _converted(short, first, site), ()
    if name in ("builtins.max", "builtins.min") and len(arguments.positional) > 1:
        return _extreme(name, arguments, site), ()
    if name in ("builtins.iter", "builtins.next") and first is not None:
        item = element(ev, first, frame, number)  # runs `__iter__` of an object of the project
        return (first if name == "builtins.iter" else item), frame.targets.get(number, ())
    if name in SPLITTING_FUNCTIONS:
        return of(SeqOf("list", (of(LibObject("torch.utils.data.Subset", site)),))), ()
    if name in HIGHER_ORDER:
        return _higher_order(ev, name, arguments, frame, number, seen)
    if name in PICKING_FUNCTIONS and first is not None:
        return _picked(ev, name, first, arguments, frame, number), ()
    if name in _COMPILING and first is not None:
        return first, ()
    return of(LibObject(name, site)), launched_functions.run(ev, name, arguments, frame, number, seen)


def _is_indexed_as_array(call: int, frame: Frame) -> bool:
    """Whether a method is called on what the def indexes as an array, so that it is no list or dict here."""
    e = frame.code.exprs[call]
    func = frame.code.exprs[e.func] if isinstance(e, ir.Call) else None
    return isinstance(func, ir.Attr) and func.base in frame.code.array_bases


def _called_by_name(ev: Evaluator, named: Val, name: str, frame: Frame, number: int, seen: dict[Atom, bool]) -> Called:
    """The result of the library call `name`, if its argument names a class or function of the project or a library."""
    if not makes_configured(name):
        return named, ()
    return ev.calls.call(named, ev.calls.site_arguments(Site(frame, number)), frame, number, seen)


def _picked(ev: Evaluator, name: str, first: Val, arguments: Arguments, frame: Frame, number: int) -> Val:
    """The result of a function that picks at random from a known list: one of its objects or functions, or several.
    Which number or string it picks is not known."""
    site = Site(frame, number)
    drawn = element(ev, first, frame, number) if first.only(SeqOf) else first
    inside = () if name.startswith("numpy.") else drawn.only(SeqOf)  # an array of tuples has their items
    objects = join((drawn, *(item for one in inside for item in one.items)))
    if not first.only(SeqOf) or not objects.only(Instance, FunctionRef, Method, ClassRef, PartialOf, LibObject):
        return of(LibObject(name, site))
    if name.startswith("numpy."):
        drawn = drawn.without_origins()  # it turns the list into an array
    is_one = PICKING_FUNCTIONS[name] == "one" or (name == "numpy.random.choice" and arguments.get("size", 1) is None)
    return drawn if is_one else of(SeqOf("list", (drawn,), site))


def _may_copy(name: str, first: Val, arguments: Arguments) -> bool:
    """Whether `np.asarray(x)` and similar calls may create a new array: x is not known to be one, or a type is
    given."""
    if name not in MAY_COPY:
        return False
    known = any(isinstance(a, LibObject) and a.name.removesuffix("[]") in ARRAY_MAKERS for a in first.atoms)
    return not known or arguments.get("dtype", 1) is not None


def optional_import(arguments: Arguments) -> Val:
    """The result of `optional_import("lmdb")`: the module and whether it is installed."""
    module = arguments.get("module", 0)
    attribute = arguments.get("name", 3)
    literal = module.literal if module else None
    if literal is None or not isinstance(literal.value, str):
        return unknown("importlib")
    name = attribute.literal.value if attribute and attribute.literal else ""
    full = f"{literal.value}.{name}" if name else literal.value
    return of(SeqOf("tuple", (of(Lib(canonical(full))), unknown("whether a module is installed"))))


def _views(value: Val) -> frozenset[Origin]:
    return frozenset(Origin(o.owner, o.path, "view") for o in value.origins)


def _super(ev: Evaluator, arguments: Arguments, frame: Frame) -> Val:
    holder: Frame | None = frame
    while holder is not None and holder.owner is None:
        holder = holder.scope
    if holder is None or holder.receiver is None or holder.owner is None:
        return unknown("super")
    owner = holder.owner
    if arguments.positional:
        named = [a for a in arguments.positional[0].atoms if isinstance(a, ClassRef)]
        owner = named[0] if named else owner
    return of(SuperRef(owner, holder.receiver))


def _getattr(ev: Evaluator, arguments: Arguments, frame: Frame, number: int) -> Val:
    first, *rest = arguments.positional
    if len(rest) == 2 and lack(ev, first, named_by(rest[0]), frame.path):
        return rest[1]
    call = ev.expr(frame, number)
    written = call.args[1].value if isinstance(call, ir.Call) and len(call.args) > 1 else ir.NONE
    found = attribute_named(ev, first, rest[0] if rest else unknown("kwargs"), written, frame, number)
    return join((found, *rest[1:2])) if rest and named_by(rest[0]) else found


def attribute_named(ev: Evaluator, base: Val, key: Val, written: int, frame: Frame, number: int) -> Val:
    """`getattr(base, key)`, or `base.__dict__[key]` of a module, where the key is expression `written`."""
    names = named_by(key) or (built_from(ev, written, frame) if written != ir.NONE else [])
    if names:
        return join(ev.attribute(base, name, frame, number) for name in names)

    def named(name: str) -> Val:
        return ev.attribute(base, name, frame, None)

    return dynamic_dispatch.chosen_by(key, named, lambda: _attribute_chosen(ev, base, written, frame))


#: Stands for the name of an attribute of a library's module, where the name is not known.
SOME_NAME = "?"


def _attribute_chosen(ev: Evaluator, base: Val, key: int, frame: Frame) -> Val:
    """The attribute of `base` with a name that is read at run time, expression `key`: a method, a class or function of
    a module, or what the object's methods assign; if a part of the name is constant, only matching names. What a
    library's module has is something of that library."""
    modules = base.only(Lib)
    if modules and len(modules) == len(base.atoms):
        return of(*(Lib(f"{module.name}.{SOME_NAME}") for module in modules))
    pattern = pattern_of(ev, key, frame) if key != ir.NONE else ""
    candidates: list[Atom] = []
    fields: list[Val] = []
    for atom in base.only(Instance, ModuleRef):
        if isinstance(atom, Instance):
            candidates.extend(dynamic_dispatch.named_like(ev, ev.classes.public_methods(atom), pattern))
            names = ev.classes.attributes_like(atom, pattern) if pattern else []
            fields.extend(ev.classes.field(atom, name) for name in names[: dynamic_dispatch.MAX_CHOICES])
        elif isinstance(atom, ModuleRef):
            chosen = dynamic_dispatch.named_like(ev, dynamic_dispatch.choices(ev, atom), pattern)
            candidates.extend(islice(chosen, dynamic_dispatch.MAX_CHOICES))
    return join((of(*candidates[: dynamic_dispatch.MAX_CHOICES], Unknown("dynamic attribute")), *fields))


def _import_module(ev: Evaluator, first: Val | None, frame: Frame) -> Val:
    """The modules that constant texts name. One that an option names by default may be another."""
    texts = first.only(Literal_) if first else []
    if first is None or not texts or len(texts) < len(first.atoms):
        return unknown("importlib")
    found = [ev.names.imported(frame.path, str(one.value), None, 0) for one in texts if one.kind == "str"]
    is_open = len(found) < len(texts) or any(one.configured for one in texts)
    return join((*found, unknown("importlib")) if is_open else found)


def _copied(ev: Evaluator, kind: str, first: Val, frame: Frame, number: int) -> Val:
    """`list(x)` and similar calls: a new container with the same items."""
    sequences = [a for a in first.atoms if isinstance(a, SeqOf)]
    if len(sequences) == len(first.atoms):
        items = tuple(item for s in sequences for item in s.items)
        if len(sequences) > 1 or not all(map(item_places.keeps_places, sequences)):
            items = item_places.mixed(items)
    else:
        items = (element(ev, first, frame, number),)
    site = Site(frame, number)
    if kind == "tuple":
        return of(SeqOf("tuple", items, site))
    return of(SeqOf("set" if kind == "set" else "list", items, site))


def _dict(ev: Evaluator, arguments: Arguments, frame: Frame, number: int) -> Val:
    """`dict(a=1)` with the items that the same def stores in it afterwards."""
    keys: list[str | None] = [key for key, _ in arguments.keywords]
    values = [value for _, value in arguments.keywords]
    given = [containers.shallow_copy(ev, value, frame, number, PLAIN_LOADERS) for value in arguments.positional]
    copied = [_as_mapping(atom) for value in given for atom in value.ordered()]
    built: tuple[Templates, ...] = ()
    if copied and all(one is not None for one in copied) and len(given) == 1:
        before = _one_of_mappings([one for one in copied if one is not None])
        built = before.built
        keys, values = [*before.keys, *keys], [*before.values, *values]
        passed = overlaid((key, value) for key, value in zip(keys, values, strict=True) if key is not None)
        rest = [value for key, value in zip(keys, values, strict=True) if key is None]
        keys, values = [*passed, *[None] * len(rest)], [*passed.values(), *rest]
    elif arguments.positional or arguments.more_keywords:
        keys, values = [None, *keys], [unknown("a copied mapping"), *values]
    made = MapOf(tuple(keys), tuple(values), Site(frame, number), built=built)
    return of(containers.with_later_items(ev, made, frame, number))


def _one_of_mappings(maps: list[MapOf]) -> MapOf:
    """One of several dicts, as one."""
    if len(maps) == 1:
        return maps[0]
    entries = containers.either(maps)
    rest = [value for one in maps for key, value in zip(one.keys, one.values, strict=True) if key is None]
    return MapOf((*(key for key, _ in entries), *[None] * len(rest)), (*(value for _, value in entries), *rest))


def _as_mapping(atom: Atom) -> MapOf | None:
    """The items that `dict(...)` copies from a dict, or from known pairs."""
    if isinstance(atom, MapOf):
        return atom
    pairs = [pair for item in atom.items for pair in item.atoms] if isinstance(atom, SeqOf) else []
    known = [pair.items for pair in pairs if isinstance(pair, SeqOf) and len(pair.items) == 2]
    if not pairs or len(known) < len(pairs):
        return None
    keys = (key.literal for key, _ in known)
    names = tuple(key.value if key is not None and isinstance(key.value, str) else None for key in keys)
    return MapOf(names, tuple(value for _, value in known))


def _as_dict(ev: Evaluator, atom: Atom, name: str, site: Site) -> Val:
    """A record, a parsed command line or a module as a dict."""
    if isinstance(atom, Namespace) and name == "builtins.vars":
        return of(atom)
    if isinstance(atom, ModuleRef) and name == "builtins.vars":
        return member_of(atom, "__dict__")
    if isinstance(atom, Instance) and ev.classes.is_record(atom.cls):
        fields = ev.classes.fields(atom.cls)
        return of(MapOf(tuple(fields), tuple(ev.classes.field(atom, one) for one in fields), site))
    return of(LibObject(name, site))


def _converted(kind: str, first: Val, site: Site) -> Val:
    literal = first.literal
    if literal is None or literal.value is None:
        return of(LibObject(f"builtins.{kind}", site))
    try:
        value = {"int": int, "float": float, "bool": bool, "str": str}[kind](literal.value)
    except (ValueError, OverflowError):
        return of(LibObject(f"builtins.{kind}", site))
    return of(Literal_(kind, value, literal.configured))


def _extreme(name: str, arguments: Arguments, site: Site) -> Val:
    values = [value.literal for value in arguments.positional]
    numbers = [v.value for v in values if v is not None and isinstance(v.value, int | float)]
    if len(numbers) == len(values):
        configured = next((v.configured for v in values if v is not None and v.configured), "")
        result = max(numbers) if name.endswith("max") else min(numbers)
        return of(Literal_(type(result).__name__, result, configured))
    return of(LibObject(name, site))


def _higher_order(
    ev: Evaluator, name: str, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
) -> Called:
    """`map(f, xs)` and similar calls: `f` is called with items of the others."""
    targets: list[Frame] = []
    results: list[Val] = []
    passed = [element(ev, v, frame, number) for v in arguments.positional if not _callables(v)]
    for value in arguments.values:
        for atom in _callables(value):
            got, more = ev.calls.call(of(atom), Arguments(tuple(passed)), frame, number, seen)
            results.append(got)
            targets.extend(more)
    if name == "builtins.map" and results:
        return of(SeqOf("list", (join(results),), Site(frame, number))), tuple(targets)
    return of(LibObject(name, Site(frame, number))), tuple(targets)


def _callables(value: Val) -> list[Atom]:
    return value.only(*_CALLABLE)


def call_object(
    ev: Evaluator,
    atom: LibObject | LibMember,
    callee: Val,
    arguments: Arguments,
    frame: Frame,
    number: int,
    seen: dict[Atom, bool],
) -> Called:
    """Call a library object (a pipeline of callables) or a method of one."""
    if isinstance(atom, LibObject):
        return _call_library_object(ev, atom, arguments, frame, number, seen)
    site = Site(frame, number)
    method = atom.name
    if isinstance(atom.owner, Instance | ClassRef):
        return _inherited(ev, atom, arguments, frame, number, seen)
    if method == "copy" and containers.is_plain(atom.owner):
        if _is_indexed_as_array(number, frame):
            return of(LibObject("numpy.copy", site)), ()
        copied = _as_left(ev, Val(frozenset({atom.owner}), callee.origins), frame, number)
        return containers.shallow_copy(ev, copied, frame, number), ()
    if isinstance(atom.owner, MapOf):
        owner = Val(frozenset({atom.owner}), callee.origins)
        held = _as_left(ev, owner, frame, number) if method == "get" else owner
        return join(_map_method(ev, one, method, arguments, site) for one in held.only(MapOf)), ()
    if isinstance(atom.owner, SeqOf):
        return of(LibObject(f"list.{method}", site)), ()
    change = None if arguments.positional else _TEXT_METHODS.get(method)
    if change is not None and isinstance(atom.owner, Literal_) and atom.owner.kind == "str":
        return _changed_text(atom.owner, change), ()
    if method == "split" and isinstance(atom.owner, Literal_) and (parts := _split_text(atom.owner, arguments)):
        return of(SeqOf("list", parts, site)), ()
    if is_path_atom(atom.owner):
        return named(PATH if method in PATH_METHODS else f"{PATH}.{method}", site), ()
    if isinstance(atom.owner, LibObject):
        found = ev.user_options.parsed(atom.owner, method, frame)
        if found is not None:
            return found, ()
        if method == "get" and arguments.positional:
            kept = ev.user_options.node_item(atom.owner, arguments.positional[0])
            if kept is not None:
                return kept, ()
        if looks_up_class(f"{atom.owner.name}.{method}"):
            return unknown("registry"), ()
        if method == "get" and dynamic_dispatch.is_namespace(atom.owner) and arguments.positional:
            call = ev.expr(frame, number)
            key = call.args[0].value if isinstance(call, ir.Call) and call.args else ir.NONE
            return dynamic_dispatch.named_in(ev, arguments.positional[0], frame, key), ()
        origins = _views(callee) if method in VIEW_METHODS and not _splits_text(method, arguments) else frozenset()
        full = f"{atom.owner.name}.{method}"
        if full in ENTERING_METHODS and arguments.positional:
            return entered(ev, arguments.positional[0], frame, number), ()
        return Val(named(full, site).atoms, origins), launched_functions.run(ev, full, arguments, frame, number, seen)
    return of(LibObject(f"builtins.{method}", site)), ()


def _splits_text(method: str, arguments: Arguments) -> bool:
    """Whether only text has such a method: `caption.split()` and `caption.split(". ")` give a new list of new texts,
    `tensor.split(2)` gives views."""
    if method != "split" or arguments.keywords or arguments.more_positional:
        return False
    return all(isinstance(atom, Literal_) and atom.kind == "str" for one in arguments.positional for atom in one.atoms)


def _changed_text(text: Literal_, change: Callable[[str], str]) -> Val:
    """`"Crops".lower()`: the method of a constant text, and of those that it may be instead."""
    return of(replace(text, value=change(str(text.value)), choices=tuple(map(change, text.choices))))


def _split_text(text: Literal_, arguments: Arguments) -> tuple[Val, ...]:
    """The parts of a constant text, `"DIV2K+Flickr".split("+")`; empty if it is no text, or cannot be split so."""
    separator = arguments.positional[0].literal if arguments.positional else None
    if text.kind != "str" or len(arguments.positional) > 1 or arguments.keywords:
        return ()
    if arguments.positional and (separator is None or separator.configured or not separator.value):
        return ()
    return split_text(text, str(separator.value) if separator is not None else None)


def _inherited(
    ev: Evaluator, atom: LibMember, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
) -> Called:
    """A method of a library base class: a sample of a library dataset calls the transforms it was built with."""
    name = atom.name.removeprefix("super.")
    if name == "__getitem__" and isinstance(atom.owner, Instance):
        targets: list[Frame] = []
        for attribute in SAMPLE_CALLABLES:
            for value in library_arguments(ev, atom.owner, attribute):
                _, more = ev.calls.call(value, Arguments((unknown("sample"),)), frame, number, seen)
                targets.extend(more)
        return unknown("library sample"), tuple(targets)
    return unknown("library call"), ()


def library_arguments(ev: Evaluator, inst: Instance, name: str) -> list[Val]:
    """The values that reach parameter `name` of the library class that `inst`'s class derives from."""
    if is_set_by_loader(ev, inst, name):
        return []
    if inst.copied is not None and (replaced := replaced_on(ev, inst.copied, name)) is not None:
        return [replaced]
    values = [store.value for store in ev.classes.stores(inst, name)]
    values += set_on(ev, inst, name)
    positions = (parameter_position(base, name) for base in ev.classes.library_bases(inst.cls))
    passed = passed_to_library(ev, inst).get(name, next((one for one in positions if one is not None), None))
    return values if passed is None else [*values, passed]


def kept_by_library(ev: Evaluator, inst: Instance, base: str, name: str) -> Val | None:
    """What the constructor of the library's dataset `base`, from which the class of `inst` derives, stores as `name`:
    the argument of this name, or what it combines of others. None if nothing is passed for it."""
    arguments = passed_to_library(ev, inst)
    kept = arguments.get(name, parameter_position(base, name))
    if name != "transforms" or not combines_transforms(base):
        return kept
    passed = (arguments.get(one, parameter_position(base, one)) for one in COMBINED_TRANSFORMS)
    are_none = {compare("is", one, NONE_VALUE) for one in passed if one is not None}
    if are_none <= {True}:
        return kept
    return unknown(COMBINED) if False in are_none else join((NONE_VALUE if kept is None else kept, unknown(COMBINED)))


def parameter_position(dataset: str, name: str) -> int | None:
    """The position of parameter `name` in the constructor of a library's dataset; None if that is not known."""
    wrapped, position = WRAPPING_DATASETS.get(dataset, ("", None))
    if name == wrapped:
        return position
    parameters = DATASET_PARAMETERS.get(dataset, ())
    return parameters.index(name) if name in parameters else None


def passed_to_library(ev: Evaluator, inst: Instance) -> Arguments:
    """The arguments that a class of the project, derived from a library's class, passes to the library's
    constructor."""
    frames = ev.classes.construction(inst)
    if not frames and inst.site is not None:
        return ev.calls.site_arguments(inst.site)
    for frame in frames:
        for step, call_ in ev.performed(frame):
            func = ev.expr(frame, call_.func)
            if not isinstance(func, ir.Attr) or func.name != "__init__":
                continue
            if ev.targets(step.call, frame):
                continue  # a base class of the project: its frame is in `frames` as well
            explicit_self = isinstance(ev.expr(frame, func.base), ir.Global | ir.Attr)
            return ev.calls.arguments(call_, frame, skip=1 if explicit_self else 0)
    return Arguments(more_keywords=True)


def _as_left(ev: Evaluator, value: Val, frame: Frame, number: int) -> Val:
    """The dict whose method expression `number` calls, with the items that it has there."""
    call = ev.expr(frame, number)
    func = ev.expr(frame, call.func) if isinstance(call, ir.Call) else None
    if not isinstance(func, ir.Attr):
        return value
    held = with_items_at(ev, value, func.base, frame.code.evaluated_by(number), frame)
    return without_removed(ev, held, func.base, number, frame)


def _map_method(ev: Evaluator, owner: MapOf, method: str, arguments: Arguments, site: Site) -> Val:
    if method in ("get", "pop", "setdefault") and arguments.positional:
        key = arguments.positional[0]
        found = entry_of(owner, key, templates_of_value(ev, key))
        literal = arguments.positional[0].literal
        if literal is not None and literal.value in owner.keys:
            if method == "setdefault" or None in owner.keys or literal.configured:
                return found
            default = arguments.positional[1] if len(arguments.positional) > 1 else NONE_VALUE
            return present_or(owner.values[owner.keys.index(literal.value)], default)
        if literal is not None and None not in owner.keys and owner.site is None:  # `**kwargs`: filled by calls only
            return arguments.positional[1] if len(arguments.positional) > 1 else NONE_VALUE
        return join((found, *arguments.positional[1:2]))
    return of(LibObject(f"dict.{method}", site))


def _call_library_object(
    ev: Evaluator, atom: LibObject, arguments: Arguments, frame: Frame, number: int, seen: dict[Atom, bool]
) -> Called:
    if atom.name == NAMED_TUPLE:
        return named_tuple(ev.calls.site_arguments(atom.site), arguments, Site(frame, number)), ()
    if atom.name not in PIPELINES and atom.name != "numpy.vectorize":
        return unknown("library call"), ()
    made = ev.calls.site_arguments(atom.site)
    added = added_steps(ev, atom)
    targets: list[Frame] = []
    for value in (*added.before, *made.positional, *(v for _, v in made.keywords), *added.after):
        for choice in _in_turn(value):
            results: list[tuple[Atom, Val]] = []
            for step in flattened(choice):
                if isinstance(step, (*_CALLABLE, LibObject)) and step not in seen:
                    result, more = ev.calls.call(of(step), arguments, frame, number, seen)
                    results.append((step, result))
                    targets.extend(more)
            if atom.name in ORDERED_PIPELINES and len(arguments.positional) == 1:
                arguments = Arguments((handed_on(arguments.positional[0], choice, results),))
    if targets and atom.name in FUNCTION_STEPS and arguments.positional:
        return arguments.positional[0], tuple(targets)
    return unknown("library call"), tuple(targets)


def _in_turn(value: Val) -> tuple[Val, ...]:
    """The steps of a pipeline, one after another; a value that is not a single list counts as one step."""
    (only,) = value.atoms if len(value.atoms) == 1 else (None,)
    return only.items if isinstance(only, SeqOf) else (value,)


def handed_on(given: Val, choice: Val, results: Sequence[tuple[Atom, Val]]) -> Val:
    """The value that a step of a pipeline passes to the next one. A step of a library may return its argument, or a
    view of it, unless it is known to create a new object. It may also return something of another type, unless it is
    known to give an image for an image."""
    found = []
    for step, result in results:
        if not isinstance(step, LibObject) or step.name in FUNCTION_STEPS:
            found.append(result if result.atoms else given)
            continue
        found.append(given.without_origins() if step.name in MAKES_NEW else given)
        if step.name not in IMAGE_TRANSFORMS:
            found.append(named(f"{step.name}.__call__", step.site))
    return join([*found, given] if choice.has(Unknown) or not found else found)


def flattened(value: Val) -> list[Atom]:
    """The atoms of a value and of the sequences in it, each once, in order."""
    found: dict[Atom, None] = {}
    _flatten(value, found, set())
    return list(found)


def _flatten(value: Val, found: dict[Atom, None], seen: set[Val]) -> None:
    for atom in value.only(SeqOf, *_CALLABLE, LibObject, Lib):
        if not isinstance(atom, SeqOf):
            found[atom] = None
            continue
        for item in atom.items:
            if item not in seen:
                seen.add(item)
                _flatten(item, found, seen)
