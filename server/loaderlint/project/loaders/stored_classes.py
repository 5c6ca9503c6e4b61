"""The classes that a dict of an object or of a module holds, if all code that fills it is in sight:
`self.known[name] = cls` in a method that known calls pass the classes to.

A dataset that a loader gets from such a dict, `factory.create(config)`, is of none of the project's other classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.limits import MAX_CALLERS
from loaderlint.project.evaluation.values import ClassRef, DefKey, Instance, Lib, MapOf, Site, Unknown, Val
from loaderlint.project.loaders.loaders import MAX_LATE_SITES, Loader
from loaderlint.project.loaders.returned_values import calls_in
from loaderlint.project.loaders.unused_functions import is_installed, names_function

#: The defs of a piece that is a method without functions in it.
_ONE_METHOD = 2
#: Methods of a dict that change nothing and give away nothing but its keys and items.
_READING = frozenset({"get", "keys", "items", "values"})
#: Functions that do nothing but read a dict.
_LOOKING = frozenset(map(ir.Global, "len list tuple set sorted print str repr iter isinstance".split()))
#: Functions that set or give what a text names.
_BY_NAME = frozenset("setattr delattr getattr vars globals locals exec eval".split())
#: Words of code that changes attributes without naming them.
_UNNAMED = ("setattr(", "__dict__", "vars(")


class _Table(NamedTuple):
    """A dict: attribute `name` of the objects of class `owner`, or, if that is None, name `name` of the module at
    `home`."""

    home: Path
    owner: ClassRef | None
    name: str

    @property
    def reads(self) -> tuple[type[ir.Attr | ir.Global | ir.Imported | ir.Capture], ...]:
        """The expressions that may read it."""
        return (ir.Attr,) if self.owner is not None else (ir.Attr, ir.Global, ir.Imported, ir.Capture)

    @property
    def binds(self) -> tuple[type[ir.SetAttr | ir.Bind], ...]:
        """The steps that may set it."""
        return (ir.SetAttr,) if self.owner is not None else (ir.SetAttr, ir.Bind)


class StoredClasses:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._ev = evaluator
        self._callers = callers
        self._known: dict[_Table, frozenset[ClassRef] | None] = {}

    def among(self, loader: Loader, objects: tuple[Instance, ...]) -> tuple[Instance, ...]:
        """Those of the objects whose class a loader may get from the dicts in which its dataset is looked up. All of
        them, unless all that these dicts hold is known. A class that any other code names may be meant in a way that is
        not in sight."""
        sites = loader.late_sites if len(loader.late_sites) < MAX_LATE_SITES else ()
        found = [self._at(site) for site in sites] if objects else []
        stored = frozenset(cls for one in found if one is not None for cls in one)
        if not found or None in found or self._comes_from_elsewhere(loader):
            return objects
        return tuple(one for one in objects if one.cls in stored or is_named(self._ev, self._callers, one.cls))

    def _comes_from_elsewhere(self, loader: Loader) -> bool:
        """Whether a loader's dataset may also be an unknown object that no look-up gives."""
        looked_up = {
            atom.reason
            for site in loader.late_sites
            if isinstance(call := self._ev.expr(site.frame, site.expr), ir.Call)
            for atom in self._ev.eval(call.func, site.frame).only(Unknown)
        }
        unknown = loader.argument("dataset").only(Unknown)
        return any(one.made is None and one.reason not in looked_up for one in unknown)

    def _at(self, made: Site) -> frozenset[ClassRef] | None:
        """The classes in the dict from which a call takes the class of the object that it creates; None if that dict is
        neither an attribute nor a name of a module, or if it may hold others."""
        table = _table(self._ev, made)
        if table is None:
            return None
        if table not in self._known:
            self._known[table] = _classes_in(_stored(self._ev, self._callers, table))
        return self._known[table]


def _classes_in(stored: Iterable[Val | None]) -> frozenset[ClassRef] | None:
    """The classes that values are; None if there are none, or if one may be anything else."""
    classes: set[ClassRef] = set()
    for value in stored:
        if value is None or not all(isinstance(atom, ClassRef) for atom in value.atoms):
            return None
        classes.update(value.only(ClassRef))
    return frozenset(classes) or None


def is_named(ev: Evaluator, callers: Callers, cls: ClassRef) -> bool:
    """Whether any code but that of the class itself names a class, derives from it or decorates it."""
    name = ev.classes.name(cls)
    facts = ev.facts(cls.path, cls.piece)
    if facts is None or facts.ir.defs[cls.def_].decorators or callers.subclasses(cls):
        return True
    for path in ev.files.containing(name):
        file = ev.file(path)
        for piece in file.mentioning(name) if file is not None else ():
            own = path == cls.path and file is not None and cls.piece in (piece, *file.around(piece))
            there = None if own else ev.facts(path, piece)
            if not own and (there is None or any(_names(e, name) for e in there.ir.exprs)):
                return True
    return False


def _names(e: ir.Expr, name: str) -> bool:
    return names_function(e, name) or (isinstance(e, ir.Imported) and e.name == name)


def _table(ev: Evaluator, made: Site) -> _Table | None:
    """The dict from which a call takes what it calls: `self.known[key](...)`, `KNOWN.get(key)(...)`."""
    call = ev.expr(made.frame, made.expr)
    looked_up = ev.expr(made.frame, call.func) if isinstance(call, ir.Call) else None
    base = looked_up.base if isinstance(looked_up, ir.Index) else ir.NONE
    if isinstance(looked_up, ir.Call):
        func = ev.expr(made.frame, looked_up.func)
        base = func.base if isinstance(func, ir.Attr) and func.name == "get" else ir.NONE
    match ev.expr(made.frame, base) if base != ir.NONE else None:
        case ir.Attr(inner, name):
            atoms = ev.eval(inner, made.frame).atoms
            owners = {one.cls if isinstance(one, Instance) else one for one in atoms}
            owner = owners.pop() if len(owners) == 1 else None
            return _Table(owner.path, owner, name) if isinstance(owner, ClassRef) else None
        case ir.Global(name) | ir.Imported(_, str(name), _):
            sites = {atom.site if isinstance(atom, MapOf) else None for atom in ev.eval(base, made.frame).atoms}
            homes = {site.frame.path if site is not None else None for site in sites}
            home = ev.file(path) if len(homes) == 1 and (path := homes.pop()) is not None else None
            return _Table(home.path, None, name) if home is not None and name in home.names else None
    return None


def _stored(ev: Evaluator, callers: Callers, table: _Table) -> Iterator[Val | None]:
    """What the project stores in a dict, one value for each place and caller; None where code may store more."""
    if is_installed(ev.files, table.home) or any(table.home in ev.files.containing(word) for word in _UNNAMED):
        yield None
    for path in ev.files.containing(table.name):
        file = ev.file(path)
        for piece in file.mentioning(table.name) if file is not None else ():
            facts = ev.facts(path, piece)
            if facts is None or _may_set_by_name(table.name, facts.ir.exprs):
                yield None
                return
            if table.owner is None or not _is_of_another(ev, callers, path, piece, facts, table.owner, table.name):
                yield from _stored_in(ev, callers, path, piece, facts, table)


def _is_of_another(
    ev: Evaluator, callers: Callers, path: Path, piece: int, facts: PieceFacts, owner: ClassRef, name: str
) -> bool:
    """Whether a piece is a method of an unrelated class that reads and sets attributes of its own object only."""
    if len(facts.ir.defs) != _ONE_METHOD:
        return False
    other = callers.owner(path, piece, 1, facts)
    if other is None or other in ev.classes.mro(owner) or owner in ev.classes.mro(other):
        return False
    exprs = facts.ir.exprs
    bases = {e.base for e in exprs if type(e) is ir.Attr and e.name == name}
    bases |= {step.base for step in facts.ir.defs[1].steps if isinstance(step, ir.SetAttr) and step.name == name}
    return all(ir.is_self(exprs[base]) for base in bases)


def _stored_in(
    ev: Evaluator, callers: Callers, path: Path, piece: int, facts: PieceFacts, table: _Table
) -> Iterator[Val | None]:
    """As `_stored`, in one piece."""
    exprs = facts.ir.exprs
    here = Unframed(ev, path, piece, len(facts.ir.defs) - 1, facts)
    tables = {
        number
        for number, e in enumerate(exprs)
        if isinstance(e, table.reads) and e.name == table.name and not _is_of_library(e, here)
    }
    if any(number not in tables and _gives_away(number, tables, exprs) for number in range(len(exprs))):
        yield None
        return
    for def_, one in enumerate(facts.ir.defs):
        for step in one.steps:
            if isinstance(step, table.binds) and step.name == table.name and step.value not in tables:
                yield from (_items(value) for value in _values(ev, callers, (path, piece, def_), step.value))
            elif isinstance(step, ir.SetItem) and step.base in tables:
                yield from _values(ev, callers, (path, piece, def_), step.value)
            elif not tables.isdisjoint(ir.step_expressions(step)) and not _only_reads(step, exprs):
                yield None


def _may_set_by_name(name: str, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a piece may set an attribute, or a name of a module, by a text."""
    is_written = any(names_function(e, name) for e in exprs if type(e) is ir.Const)
    return is_written and any(type(e) is ir.Global and e.name in _BY_NAME for e in exprs)


def _is_of_library(e: ir.Expr, here: Unframed) -> bool:
    """Whether an expression is an attribute of something from a library: `torchvision.datasets`."""
    value = here.value(e.base) if isinstance(e, ir.Attr) else None
    return value is not None and bool(value.atoms) and all(isinstance(atom, Lib) for atom in value.atoms)


def _only_reads(step: ir.Step, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a step neither changes a dict that it evaluates nor gives it another name."""
    if isinstance(step, ir.Bind):
        e = exprs[step.value]
        return isinstance(e, ir.Imported) and e.name == step.name
    return isinstance(step, ir.Iterate | ir.Test | ir.Evaluate)


def _gives_away(number: int, tables: set[int], exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether an expression does anything with a dict but read it."""
    e = exprs[number]
    if tables.isdisjoint(ir.operands(e)):
        return False
    match e:
        case ir.Index(base, index):
            return base not in tables or index in tables
        case ir.Compare(_, ops, _):
            return not set(ops) <= {"in", "not in", "is", "is not"}
        case ir.Bin(op):
            return op == "|"  # a dict has no other: `paths.known / "images"` is about something else
        case ir.Attr(_, name):
            return name not in _READING
        case ir.Call(func, _):
            return type(exprs[func]) is not ir.Global or exprs[func] not in _LOOKING
    return not isinstance(e, ir.Text | ir.Element)


def _items(value: Val | None) -> Val | None:
    """What the dicts hold that a value may be; None if it may be anything else."""
    if value is None or not all(isinstance(atom, MapOf) for atom in value.atoms):
        return None
    items = [item for atom in value.only(MapOf) for item in atom.values]
    return Val(frozenset(atom for item in items for atom in item.atoms))


def _values(ev: Evaluator, callers: Callers, def_: DefKey, number: int) -> Iterator[Val | None]:
    """What an expression of a def may be, one value for each caller; None if there may be other callers."""
    path, piece, place = def_
    facts = ev.facts(path, piece)
    frames = callers.frames(path, piece, place)
    if facts is None or number == ir.NONE or len(frames) >= MAX_CALLERS:
        yield None
        return
    name = facts.ir.defs[place].name
    depends = any(type(facts.ir.exprs[one]) is ir.Param for one in ir.made_of(facts.ir.exprs, (number,)))
    if depends and not (name.startswith("__") or _are_all_seen(ev, callers, def_, name)):
        yield None
    yield from (ev.eval(number, frame) for frame in frames)


def _are_all_seen(ev: Evaluator, callers: Callers, def_: DefKey, name: str) -> bool:
    """Whether all calls of a method are in sight: no code names it without a call, or calls it on unknown objects."""
    if def_ in callers.uncalled or callers.receivers(def_, name)[1]:
        return False
    for path in ev.files.containing(name):
        file = ev.file(path)
        for piece in file.mentioning(name) if file is not None else ():
            facts = ev.facts(path, piece)
            if facts is None or calls_in(facts, name) is None:
                return False
    return True
