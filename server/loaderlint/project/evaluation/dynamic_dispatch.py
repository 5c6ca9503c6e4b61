"""Classes that are chosen at run time: by `getattr`, `eval`, `globals()`, a registry, a configuration.

If the names to choose from are known (a module, the names of the file itself), they are the candidates. Otherwise the
value is `Unknown` with the reason and the place of the call, and `Model` looks for candidates among the datasets that
no known loader holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation import function_registries
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    BOTTOM,
    OF_MISSING_MODULE,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    Method,
    SeqOf,
    Site,
    Unknown,
    Val,
    choices_of,
    join,
    of,
    order_of_atom,
    unknown,
)
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import Binding, ProjectFile

_Chosen = TypeVar("_Chosen", ClassRef | FunctionRef, Method)
#: The number of methods or classes that a computed name may stand for.
MAX_CHOICES = 64
_MAX_STARS = 3
_MAX_CLASSES = 16
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CALLED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\(")
_NAMES_OF_MODULE = ("builtins.globals", "builtins.locals", "builtins.vars")

#: Members of a class body that are not methods.
_PLAIN = (Literal_, LibObject, SeqOf, MapOf, Unknown)

#: Reasons of unknown values that may be any of the other candidates, or an unknown class.
CHOSEN = frozenset({"dynamic attribute", "eval", "globals"})

#: The reason of an item of a dict with a key that is not known.
_BY_KEY = "looked up by a key"

#: Reasons of unknown classes that are looked up by a name. Calling one makes an object.
LOOKED_UP = frozenset({*CHOSEN, "importlib", _BY_KEY, "empty mapping", "registry"})

#: The reasons with an open set of possible classes.
OPEN = frozenset({"importlib", "empty mapping", "registry"})

#: How a class is chosen, by the reason why it is not known.
_HOW = {
    "dynamic attribute": "its class is looked up with `getattr`, by a name that is read at run time",
    "eval": "its class is what `eval` makes of a string that is read at run time",
    "globals": "its class is looked up in `globals()`, by a name that is read at run time",
    "importlib": "its class is searched in a module that `importlib` finds by a name read at run time",
    _BY_KEY: "it comes from a dict, under a key that is only known at run time",
    "empty mapping": "its class is looked up in a registry, by a name that is read at run time",
    "registry": "its class is looked up in a registry, by a name that is read at run time",
    "instantiated": "a configuration names its class",
    "parameter": "code that is not known passes it in",
    "kwargs": "code that is not known passes it in",
    "configuration file": "a configuration file passes it in",
    "no dataset argument": "code that is not known passes it in",
    "config": "it comes from a configuration",
    **dict.fromkeys(OF_MISSING_MODULE, "it comes from a module that is missing"),
}


def how_chosen(reason: str) -> str:
    """Why a loader's dataset is not known, as messages put it."""
    return _HOW.get(reason, reason)


def made_late(ev: Evaluator, atom: Unknown, site: Site) -> Unknown:
    """The result of calling an unknown class: an object created at `site`. The result of a method, or of a function of
    a missing module, may be anything."""
    if atom.reason in OF_MISSING_MODULE:
        return Unknown(atom.reason, site if missing_class(ev, site) else None)
    if atom.reason not in LOOKED_UP:
        return atom
    call = ev.expr(site.frame, site.expr)
    func = ev.expr(site.frame, call.func) if isinstance(call, ir.Call) else None
    is_method = isinstance(func, ir.Attr) and not func.name[:1].isupper()
    is_class = not is_method and not (atom.reason == _BY_KEY and _gives_functions(ev, site))
    return Unknown(atom.reason, site if is_class else None)


def _gives_functions(ev: Evaluator, site: Site) -> bool:
    """Whether the known choices of a call's callee are functions, none of which a class: `METHODS[name](data)`."""
    call = ev.expr(site.frame, site.expr)
    callees = ev.eval(call.func, site.frame) if isinstance(call, ir.Call) else Val(frozenset())
    return bool(callees.only(FunctionRef)) and not callees.only(ClassRef)


def missing_class(ev: Evaluator, site: Site) -> str:
    """The class of the object that a call creates, if it should be in a missing module; '' for other calls. Only the
    name shows that it is a class."""
    call = ev.expr(site.frame, site.expr)
    func = ev.expr(site.frame, call.func) if isinstance(call, ir.Call) else None
    name = (func.name or "") if isinstance(func, ir.Attr | ir.Imported | ir.Global) else ""
    if not isinstance(call, ir.Call) or not name[:1].isupper():
        return ""
    called = ev.eval(call.func, site.frame).only(Unknown)
    return name if any(one.reason in OF_MISSING_MODULE for one in called) else ""


# --- candidates -------------------------------------------------------------------------------------------------------


def takes(ev: Evaluator, cls: ClassRef, arguments: Arguments) -> bool:
    """Whether an object of the class can be created with these arguments, as far as its constructor is known."""
    member = ev.classes.member(cls, "__init__")
    if member is None or member.function is None:
        return True
    facts = ev.facts(member.function.path, member.function.piece)
    return facts is None or arguments.fit(facts.ir.defs[member.function.def_].params, receiver=True)


def asked_bases(ev: Evaluator, made: Site) -> frozenset[ClassRef]:
    """The classes of the project of which the code that looks up a class asks for a subclass:
    `issubclass(cls, BaseDataset)`. `made` is the call that creates an object of the class."""
    asked = (ev.eval(base, frame) for frame in _looking_up(ev, made) for base in _subclass_tests(ev, frame))
    return frozenset(base for value in asked for base in value.only(ClassRef))


def is_in_package(ev: Evaluator, cls: ClassRef, made: Site) -> bool:
    """Whether a class may be the one that is looked up in a module of a package: with
    `import_module("data." + name)`, a file of the folder `data` defines it or names it. Of other look-ups nothing is
    known. `made` as in `asked_bases`."""
    packages = {text.rpartition(".")[0] for frame in _looking_up(ev, made) for text in _imported(ev, frame)}
    if not packages or "" in packages:
        return True
    named = (cls.path, *ev.files.containing(ev.classes.name(cls)))
    return any(_is_inside(path, package) for path in named for package in packages)


def may_be_elsewhere(ev: Evaluator, made: Site) -> bool:
    """Whether a class may be looked up in another module than those that are known: `getattr(module, name)` after
    `import_module("data." + name)`, where an option is the name. `made` as in `asked_bases`."""
    for frame in _looking_up(ev, made):
        for _, call in frame.code.calls:
            if call.args and Lib("builtins.getattr") in ev.eval(call.func, frame).atoms:
                modules = ev.eval(call.args[0].value, frame)
                if modules.only(ModuleRef) and any(atom.reason in OPEN for atom in modules.only(Unknown)):
                    return True
    return False


def may_be_registered(ev: Evaluator, cls: ClassRef, made: Site) -> bool:
    """Whether a class may be the one that is looked up in a dict of the module: `DATASETS[name]()`. Of other look-ups
    nothing is known. `made` as in `asked_bases`."""
    call = ev.expr(made.frame, made.expr)
    looked_up = ev.expr(made.frame, call.func) if isinstance(call, ir.Call) else None
    registry = ev.expr(made.frame, looked_up.base) if isinstance(looked_up, ir.Index) else None
    name = registry.name if isinstance(registry, ir.Global | ir.Imported) else None
    if name is None or not isinstance(looked_up, ir.Index):
        return True
    homes = {one.site.frame.path for one in ev.eval(looked_up.base, made.frame).only(MapOf) if one.site is not None}
    file = ev.file(homes.pop() if len(homes) == 1 else made.frame.path)
    if file is None or name not in file.names:
        return True
    return function_registries.may_hold(ev, file, name, cls)


def _imported(ev: Evaluator, frame: Frame) -> Iterator[str]:
    """How the names begin that a frame passes to `import_module`."""
    for _, call in frame.code.calls:
        if call.args and Lib("importlib.import_module") in ev.eval(call.func, frame).atoms:
            yield _begins_with(ev, frame, call.args[0].value)


def _is_inside(path: Path, package: str) -> bool:
    folders = tuple(package.split("."))
    return path.parent.parts[-len(folders) :] == folders


def _looking_up(ev: Evaluator, made: Site) -> tuple[Frame, ...]:
    """The frames that look up the class of an object: the functions that give it, or the code that creates it."""
    call = ev.expr(made.frame, made.expr)
    if not isinstance(call, ir.Call):
        return ()
    ev.eval(call.func, made.frame)
    return made.frame.targets.get(call.func) or (made.frame,)


def _subclass_tests(ev: Evaluator, frame: Frame) -> Iterator[int]:
    """The expressions of the classes that `issubclass` is asked about in a frame."""
    for _, call in frame.code.calls:
        if ev.expr(frame, call.func) == ir.Global("issubclass") and len(call.args) == 2:
            yield call.args[1].value


def fitting(ev: Evaluator, callee: Val, arguments: Arguments) -> Val:
    """A callee that is chosen at run time, without the classes that do not accept the arguments."""
    kept = [a for a in callee.ordered() if not isinstance(a, ClassRef) or takes(ev, a, arguments)]
    return Val(frozenset(kept), callee.origins)


def choices(ev: Evaluator, module: ModuleRef, stars: int = _MAX_STARS) -> Iterator[ClassRef | FunctionRef]:
    """The classes and functions of the project that a module binds, each once: its own, those that it imports, those
    of its star imports. Found lazily, because a package may bind thousands."""
    found: set[ClassRef | FunctionRef] = set()
    for atom in _bound(ev, module, stars):
        if atom not in found:
            found.add(atom)
            yield atom


def _bound(ev: Evaluator, module: ModuleRef, stars: int) -> Iterator[ClassRef | FunctionRef]:
    file = ev.file(module.path)
    if file is None:
        return
    yield from ev.names.module_members(module)
    for name, bindings in file.names.items():
        if any(_is_import(ev, file, binding) for binding in bindings):
            yield from ev.names.lookup(file.path, name).only(ClassRef, FunctionRef)
    for star in file.stars if stars else ():
        inner = ev.names.resolve(file.path, star.module, star.level)
        if isinstance(inner, ModuleRef) and inner != module:
            yield from choices(ev, inner, stars - 1)


def _is_import(ev: Evaluator, file: ProjectFile, binding: Binding) -> bool:
    facts = ev.facts(file.path, binding.piece) if binding.step >= 0 else None
    step = facts.ir.defs[binding.def_].steps[binding.step] if facts else None
    return facts is not None and isinstance(step, ir.Bind) and isinstance(facts.ir.exprs[step.value], ir.Imported)


def of_module(ev: Evaluator, module: ModuleRef, reason: str) -> Val:
    """Any class or function of a module, or an unknown one."""
    return of(*islice(choices(ev, module), MAX_CHOICES), Unknown(reason))


def of_file(ev: Evaluator, frame: Frame, reason: str) -> Val:
    """Any class that the module of a frame binds."""
    classes = (a for a in choices(ev, ModuleRef(frame.path)) if isinstance(a, ClassRef))
    return of(*islice(classes, MAX_CHOICES), Unknown(reason))


def class_choices(ev: Evaluator, cls: ClassRef) -> list[ClassRef]:
    """The classes that a class statement inside a function creates: one for each choice of its bases."""
    ways = [value.only(ClassRef, Lib) for value in ev.classes.written_bases(cls)] if cls.scope else []
    if all(len(way) <= 1 for way in ways):
        return [cls]
    known: list[Sequence[Atom]] = [way or [Unknown("base class")] for way in ways]
    return [replace(cls, bases=bases) for bases in islice(product(*known), _MAX_CLASSES)]


def made_by_type(arguments: Arguments) -> Val:
    """`type(name, (Base,), {...})`: the same as its base if it has no methods of its own."""
    _, bases, names = arguments.positional
    tuples, dicts = bases.only(SeqOf), names.only(MapOf)
    if len(tuples) != 1 or len(dicts) != 1 or len(bases.atoms) != 1 or len(names.atoms) != 1:
        return unknown("type")
    own = [atom for value in dicts[0].values for atom in value.atoms]
    named = all(key is not None and not key.startswith("__") for key in dicts[0].keys)
    if len(tuples[0].items) != 1 or any(not isinstance(atom, _PLAIN) for atom in own) or not named:
        return unknown("type")
    base = tuples[0].items[0].only(ClassRef)
    return of(*base) if base else unknown("type")


def by_default(key: Val, named: Callable[[str], Val]) -> Atom | None:
    """The class or function, by `named`, that the default of an option names. The code may choose another name in a
    branch."""
    literals = key.only(Literal_)
    defaults = [one.value for one in literals if one.configured]
    name = defaults[0] if len(defaults) == 1 and len(literals) == len(key.atoms) else None
    if not isinstance(name, str):
        return None
    found = named(name).only(ClassRef, FunctionRef, Method)
    return found[0] if len(found) == 1 else None


def chosen_by(key: Val, named: Callable[[str], Val], otherwise: Callable[[], Val]) -> Val:
    """What is chosen at run time by a key: one of the things that an option may name, or else what is possible
    `otherwise`, with what the option names by default."""
    chosen = _by_choices(key, named)
    return chosen if chosen is not None else with_usual(otherwise(), by_default(key, named))


def _by_choices(key: Val, named: Callable[[str], Val]) -> Val | None:
    """What an option names that accepts only some texts; None if it accepts any, or if they name nothing. What is not
    the default is possible."""
    chosen = choices_of(key)
    usual, others = (join(map(named, names)) for names in chosen) if chosen else (BOTTOM, BOTTOM)
    if usual.unknown is not None or not usual.atoms:
        return None
    rest = others.only(ClassRef, FunctionRef, Method)
    return with_usual(of(*rest, Unknown("dynamic attribute")), by_default(key, named)) if rest else usual


def with_usual(chosen: Val, usual: Atom | None) -> Val:
    """An object that is chosen at run time, if the default of an option names it: a run without options uses it."""
    if usual is None:
        return chosen
    others = (replace(a, usual=usual) if isinstance(a, Unknown) else a for a in chosen.atoms)
    return Val(frozenset({*others, usual}), chosen.origins)


# --- eval, globals() --------------------------------------------------------------------------------------------------


def evaluated(ev: Evaluator, frame: Frame, number: int) -> Val:
    """The result of `eval(text)` if the text is a dotted name, whose last part may be made up at run time."""
    call = ev.expr(frame, number)
    if not isinstance(call, ir.Call) or not call.args or call.args[0].kind != "pos":
        return unknown("eval")
    written = ev.eval(call.args[0].value, frame)
    text = written.literal
    if text is not None and isinstance(text.value, str) and not text.configured and _DOTTED.fullmatch(text.value):
        return _dotted(ev, frame, text.value.split("."))

    def named(name: str) -> Val:
        return _dotted(ev, frame, name.split(".")) if _DOTTED.fullmatch(name) else BOTTOM

    return chosen_by(written, named, lambda: _one_of(ev, frame, call.args[0].value, text))


def _one_of(ev: Evaluator, frame: Frame, number: int, text: Literal_ | None) -> Val:
    """The possible results of `eval(text)`, where expression `number` is the text and a user may set it."""
    made = _made_in(ev, frame, text.value) if text is not None and isinstance(text.value, str) else []
    if made:
        return of(*made, Unknown("eval"))
    before, after = _written(ev, frame, number)
    if after:
        return unknown("eval")
    if not before:
        return of_file(ev, frame, "eval")
    if not before.endswith(".") or not _DOTTED.fullmatch(before[:-1]):
        return unknown("eval")
    modules = _dotted(ev, frame, before[:-1].split(".")).only(ModuleRef, FolderRef)
    if len(modules) != 1 or not isinstance(modules[0], ModuleRef):
        return unknown("eval")
    return of_module(ev, modules[0], "eval")


def _made_in(ev: Evaluator, frame: Frame, text: str) -> list[Instance]:
    """The objects of the project's classes that a text creates, as the default of an option may; their arguments are
    ignored."""
    called = {one for name in _CALLED.findall(text) for one in _dotted(ev, frame, name.split(".")).only(ClassRef)}
    return sorted((Instance(one, None) for one in called), key=order_of_atom)


def _dotted(ev: Evaluator, frame: Frame, names: list[str]) -> Val:
    value = ev.names.lookup(frame.path, names[0])
    for name in names[1:]:
        value = ev.attribute(value, name, frame, None)
    return value


def _written(ev: Evaluator, frame: Frame, number: int) -> tuple[str, str]:
    """The constant text before and after a name in a text; "?" if what follows is not known."""
    match ev.expr(frame, number):
        case ir.Bin("+", left, right):
            before, after = _written(ev, frame, left)
            ahead, behind = _written(ev, frame, right)
            return before, after or ahead or behind
        case ir.Const(_, str(value)):
            return value, ""
        case ir.Global() | ir.Param() | ir.Capture() | ir.Attr() | ir.Index():
            return "", ""
    return "", "?"


def is_namespace(atom: Atom) -> bool:
    """Whether an object is the dict of a module's own names: `globals()`."""
    return isinstance(atom, LibObject) and atom.name in _NAMES_OF_MODULE


def this_module(key: int, frame: Frame, ev: Evaluator) -> Val:
    """`sys.modules[__name__]`."""
    return of(ModuleRef(frame.path)) if ev.expr(frame, key) == ir.Global("__name__") else unknown("importlib")


def named_in(ev: Evaluator, key: Val, frame: Frame, number: int) -> Val:
    """`globals()[key]`, where the key is expression `number`. `globals()["make_" + kind]` is an object whose name
    begins with `make_`."""
    literal = key.literal
    if literal is not None and isinstance(literal.value, str) and not literal.configured:
        return ev.names.lookup(frame.path, literal.value)

    return chosen_by(key, partial(ev.names.lookup, frame.path), lambda: _called_in(ev, frame, number))


def _called_in(ev: Evaluator, frame: Frame, number: int) -> Val:
    before = _begins_with(ev, frame, number)
    if not before:
        return of_file(ev, frame, "globals")
    called = (a for a in choices(ev, ModuleRef(frame.path)) if _name(ev, a).startswith(before))
    return of(*islice(called, MAX_CHOICES), Unknown("globals"))


def _begins_with(ev: Evaluator, frame: Frame, number: int) -> str:
    """The constant beginning of a made-up name."""
    e = ev.expr(frame, number)
    while isinstance(e, ir.Text) or (isinstance(e, ir.Bin) and e.op == "+"):
        first = e.left if isinstance(e, ir.Bin) else e.parts[0] if e.parts else NONE
        e = ev.expr(frame, first)
    return e.value if isinstance(e, ir.Const) and isinstance(e.value, str) else ""


def named_like(ev: Evaluator, chosen: Iterable[_Chosen], pattern: str) -> Iterator[_Chosen]:
    """Those of some classes, functions and methods whose names match a pattern; all of them if it is ''."""
    return (one for one in chosen if not pattern or re.fullmatch(pattern, _name(ev, one)))


def _name(ev: Evaluator, atom: ClassRef | FunctionRef | Method) -> str:
    if isinstance(atom, ClassRef):
        return ev.classes.name(atom)
    function = atom.function if isinstance(atom, Method) else atom
    facts = ev.facts(function.path, function.piece)
    return facts.ir.defs[function.def_].name if facts else ""
