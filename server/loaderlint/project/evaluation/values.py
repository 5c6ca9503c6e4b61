"""What an expression may be: the abstract values of the evaluator.

A `Val` is a small set of atoms (what it may be) and a small set of origins (whose stored data it may alias). Both are
limited: beyond the limit, a value is `Unknown('too many')`. Atoms are immutable. Frames are interned and compared by
identity, so equal atoms compare equal within one model, and never across two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, overload

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.project.evaluation.limits import MAX_MEMBERS, MAX_NAME_LENGTH, MAX_VALUE_DEPTH, MAX_VALUE_SIZE, TOO_MANY
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef

if TYPE_CHECKING:
    from loaderlint.project.evaluation.frames import Frame

_A = TypeVar("_A")
_B = TypeVar("_B")
MAX_ATOMS = 64
MAX_ORIGINS = 8
MAX_PATH = 3


class Site(Struct, frozen=True):
    """Where a value was made: expression `expr` evaluated in `frame`."""

    frame: Frame
    expr: int


class Unknown(Struct, frozen=True):
    """Not known, and why: 'unresolved import', 'registry', 'config', 'parameter', 'dynamic attribute', 'too many',
    'cycle', 'library', 'eval', ... The reason is shown to users who ask why a rule reports nothing on a line.

    `made`: where it was created, for an object of a class that is chosen at run time. `usual`: its value unless a user
    sets an option, if it is looked up by the default of an option."""

    reason: str
    made: Site | None = None
    usual: Atom | None = None


#: Where the None of an option comes from that has a type, but no default: it is only there if nobody gives the option,
#: and no code asks for it.
NOT_GIVEN = "argparse option without a default"


#: The kind of the constant that stands for `auto()` in the body of an `Enum`.
AUTO = "enum.auto"


class Literal_(Struct, frozen=True):
    """A constant, or a member of an `Enum` by its value; of one that is `auto()` (`AUTO`), the value says which it is.
    `configured` names where a value comes from that a user of the program may change ('argparse
    default', 'dataclass default', ...): it is the usual value, so it counts for `num_workers`, but it proves no branch
    dead. `choices`: the texts that a user may set instead of it, if no other one is accepted."""

    kind: str
    value: str | int | float | bool | None
    configured: str = ""
    choices: tuple[str, ...] = ()


class Lib(Struct, frozen=True):
    """Something of a library, by its dotted name: `numpy.random.rand`, `builtins.open`,
    `torch.utils.data.DataLoader`."""

    name: str


class LibObject(Struct, frozen=True):
    """The result of calling the library name `name` at `site`: `numpy.random.default_rng` stands for the generator.
    `given` and `copied` as in `Instance`, for datasets."""

    name: str
    site: Site
    given: Site | None = None
    copied: Site | None = None


class LibMember(Struct, frozen=True):
    """Attribute `name` of a library object or of a builtin container."""

    owner: Atom
    name: str


#: Which def it is: path, piece and number there, as `def_key` gives them.
DefKey = tuple[Path, int, int]


class Defined(Protocol):
    """Something that stands for a def or class: a frame of it, a call in it, a value that is it."""

    @property
    def path(self) -> Path: ...
    @property
    def piece(self) -> int: ...
    @property
    def def_(self) -> int: ...


def def_key(one: Defined) -> DefKey:
    """The same key for everything that stands for one def, in whatever context."""
    return one.path, one.piece, one.def_


class FunctionRef(Struct, frozen=True):
    """A function or lambda of the project: def `def_` of piece `piece` in file `path`; `scope` is the frame of the
    enclosing function for nested ones. `bare`: as it is before its decorators."""

    path: Path
    piece: int
    def_: int
    scope: Frame | None = None
    bare: bool = False


class ClassRef(Struct, frozen=True, cache_hash=True):
    """A class of the project; fields as in `FunctionRef`. `bases`: one choice of its bases, if they are chosen at run
    time; empty if the class statement is enough."""

    path: Path
    piece: int
    def_: int
    scope: Frame | None = None
    bases: tuple[Atom, ...] = ()


class Method(Struct, frozen=True):
    """`function`, found in class `owner`, bound to `receiver` (an Instance, or a ClassRef for class methods)."""

    function: FunctionRef
    receiver: Atom
    owner: ClassRef


class Instance(Struct, frozen=True, cache_hash=True):
    """An object of class `cls` created at `site` (None: by unknown code). `presumed`: no code creates it, but a
    framework or a configuration may. `given`: the call of a function that returns it to code which then assigns its
    attributes. `copied`: the call of `copy.copy` or `copy.deepcopy` that makes it of the object from `site`."""

    cls: ClassRef
    site: Site | None
    presumed: bool = False
    given: Site | None = None
    copied: Site | None = None


class SuperRef(Struct, frozen=True):
    """`super()` inside a method of `cls` with `receiver`."""

    cls: ClassRef
    receiver: Atom


class PartialOf(Struct, frozen=True):
    """`functools.partial(func, ...)` made at `site`; the bound arguments are those of the call there, but the first."""

    func: Atom
    site: Site


@dataclass(frozen=True, slots=True)
class SeqOf:
    """A list, tuple or set whose items are known. `site` distinguishes two equal displays. Beyond its budget, it holds
    one unknown item. `names` are those of the items of a named tuple. `size` and `depth` are those of all that it holds
    (see `budget`), `order` is its sort key, computed on demand."""

    kind: Literal["list", "tuple", "set"]
    items: tuple[Val, ...]
    site: Site | None = None
    names: tuple[str, ...] = ()
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    order: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _keep_extent(self, self.items):
            object.__setattr__(self, "items", (unknown(TOO_MANY),))


#: The texts that an expression may give, each by its constant parts, between which there may be any text: `x_*` is
#: `("x_", "")`, and a constant has one part.
Templates = tuple[tuple[str, ...], ...]
ANY_TEXT: Templates = (("", ""),)


@dataclass(frozen=True, slots=True)
class MapOf:
    """A dict whose items are known; `keys[i]` is None for a key that is not a string constant. Beyond its budget, it
    holds one unknown value under such a key. `options`: the parsed command lines and parts of files whose items are
    among those under such keys. `built`: how each of the keys that are None is built; empty if nothing is known about
    any. `size`, `depth` and `order` as in `SeqOf`."""

    keys: tuple[str | None, ...]
    values: tuple[Val, ...]
    site: Site | None = None
    options: tuple[Namespace | LibObject | LibMember, ...] = ()
    built: tuple[Templates, ...] = ()
    size: int = field(init=False, repr=False, compare=False)
    depth: int = field(init=False, repr=False, compare=False)
    order: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _keep_extent(self, self.values):
            object.__setattr__(self, "keys", (None,))
            object.__setattr__(self, "values", (unknown(TOO_MANY),))
            object.__setattr__(self, "built", ())
        if len(self.built) != self.keys.count(None) or all(one == ANY_TEXT for one in self.built):
            object.__setattr__(self, "built", ())


class Namespace(Struct, frozen=True):
    """The result of `parser.parse_args()` (argparse, absl FLAGS, click, ...) in one file. `how`: "argparse" if the
    parser is known, "a parser" if it went through unknown code, or a part of a configuration file."""

    path: Path
    how: str


Atom = (
    Unknown
    | Literal_
    | Lib
    | LibObject
    | LibMember
    | ModuleRef
    | FolderRef
    | FunctionRef
    | ClassRef
    | Method
    | Instance
    | SuperRef
    | PartialOf
    | SeqOf
    | MapOf
    | Namespace
)

Relation = Literal["same", "element", "view"]


class Origin(Struct, frozen=True):
    """Stored data that a value may be (part of): the field at `path` of `owner` (an Instance, a ClassRef or a
    ModuleRef).
    `path` holds attribute names and '[]' for items, at most `MAX_PATH`. `relation`: the very object, one of its items,
    or another array over the same memory."""

    owner: Atom
    path: tuple[str, ...]
    relation: Relation


NO_ORIGINS: frozenset[Origin] = frozenset()


class Val(Struct, frozen=True):
    """What an expression may be (`atoms`, never empty once evaluated) and whose data it may alias (`origins`)."""

    atoms: frozenset[Atom]
    origins: frozenset[Origin] = NO_ORIGINS

    @property
    def unknown(self) -> Unknown | None:
        """The (first, by name) reason for not knowing, None if every atom is known."""
        reasons = sorted(a.reason for a in self.atoms if type(a) is Unknown)
        return Unknown(reasons[0]) if reasons else None

    @property
    def literal(self) -> Literal_ | None:
        """The constant that this is, if it can only be one."""
        if len(self.atoms) != 1:
            return None
        (atom,) = self.atoms
        return atom if type(atom) is Literal_ else None

    @property
    def is_none(self) -> bool:
        """Whether it can only be None, perhaps as the default of an option."""
        return self.literal is not None and self.literal.value is None

    def has(self, *kinds: type) -> bool:
        """Whether it may be something of these kinds."""
        return any(type(a) in kinds for a in self.atoms)

    @overload
    def only(self, kind: type[_A], /) -> list[_A]: ...

    @overload
    def only(self, kind: type[_A], other: type[_B], /) -> list[_A | _B]: ...

    @overload
    def only(self, *kinds: type) -> list[Atom]: ...

    def only(self, *kinds: type) -> list[Any]:
        """The atoms of these kinds, in a stable order."""
        found = [a for a in self.atoms if type(a) in kinds]
        if len(found) > 1:  # most values have one atom, and a sort key is long
            found.sort(key=order_of_atom)
        return found

    def ordered(self) -> list[Atom]:
        """All atoms, in a stable order."""
        return sorted(self.atoms, key=order_of_atom) if len(self.atoms) > 1 else list(self.atoms)

    def without_origins(self) -> Val:
        """The same value as a copy: it aliases nothing."""
        return Val(self.atoms) if self.origins else self

    def copied_deeply(self) -> Val:
        """The same value as a deep copy: what lists and dicts in it hold aliases nothing either."""
        return Val(frozenset(map(_copied_deeply, self.atoms)))


def _copied_deeply(atom: Atom) -> Atom:
    if isinstance(atom, SeqOf):
        return SeqOf(atom.kind, tuple(item.copied_deeply() for item in atom.items), atom.site, atom.names)
    if isinstance(atom, MapOf):
        return MapOf(atom.keys, tuple(value.copied_deeply() for value in atom.values), atom.site, built=atom.built)
    return atom


def _keep_extent(container: SeqOf | MapOf, items: tuple[Val, ...]) -> bool:
    """Note the size and depth of a container that gets these items, and say whether they are within the budget. If not,
    one unknown item replaces them, and determines size and depth."""
    size, depth = _extent(items)
    fits = size <= MAX_VALUE_SIZE and depth <= MAX_VALUE_DEPTH
    object.__setattr__(container, "size", size if fits else 2)
    object.__setattr__(container, "depth", depth if fits else 1)
    return fits


def _extent(items: tuple[Val, ...]) -> tuple[int, int]:
    """The size and depth of a container with these items: how many atoms a walk through it meets, itself too, and how
    many containers lie in each other."""
    size, depth = 1, 0
    for item in items:
        for atom in item.atoms:
            kind = type(atom)
            if kind is SeqOf or kind is MapOf:
                size += atom.size  # type: ignore[union-attr]
                depth = max(depth, atom.depth)  # type: ignore[union-attr]
            else:
                size += 1
    return size, depth + 1


BOTTOM = Val(frozenset())
NONE_VALUE = Val(frozenset({Literal_("NoneType", None)}))


@lru_cache(maxsize=256)
def unknown(reason: str) -> Val:
    """A value about which nothing is known."""
    return Val(frozenset({Unknown(reason)}))


#: Stands, among what an item of a dict may be, for the ways on which the dict does not have the item. A parameter that
#: gets it has its default.
ABSENT = Unknown("not always there")
#: The reasons of unknown values that are names of a module which is not there.
OF_MISSING_MODULE = frozenset({"unresolved import", "star import"})


#: What workers call `__getitem__` with: an index that torch's samplers give, or what another sampler gives.
INDEX = Unknown("index")
SAMPLED = Unknown("sampler")
INDICES = frozenset({INDEX, SAMPLED})

#: What a name is that nothing in sight binds.
UNDEFINED = Unknown("undefined name")


def is_index(value: Val) -> bool:
    """Whether a value can only be what workers call `__getitem__` with."""
    return bool(value.atoms) and value.atoms <= INDICES


def is_absent(value: Val) -> bool:
    """Whether the item of a dict is never there."""
    return value.atoms == {ABSENT}


def maybe(value: Val) -> Val:
    """An item that a dict may have."""
    return join((value, of(ABSENT)))


def by_default(value: Val, source: str) -> Val:
    """A value whose constants apply unless a user sets their source. What stands in for an option that is not given is
    its default."""
    source = "argparse default" if source == NOT_GIVEN else source
    atoms = (replace(a, configured=a.configured or source) if isinstance(a, Literal_) else a for a in value.atoms)
    return Val(frozenset(atoms), value.origins)


def present_or(value: Val, other: Val) -> Val:
    """An item of a dict, with another value for the ways on which the dict does not have it."""
    if ABSENT not in value.atoms:
        return value
    rest = value.atoms - {ABSENT}
    return join((Val(rest, value.origins), other)) if rest else other


@lru_cache(maxsize=1024)
def lib(name: str) -> Val:
    """Something of a library, by its dotted name."""
    return Val(frozenset({Lib(name)}))


@lru_cache(maxsize=4096)
def constant(kind: str, value: str | int | float | bool | None) -> Val:
    """A constant in the code: a fifth of all expressions are constants, and few of them differ."""
    return Val(frozenset({Literal_(kind, value)}))


def of(*atoms: Atom) -> Val:
    """A value that is one of these."""
    return Val(frozenset(atoms))


def choices_of(value: Val) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The texts that a user of the program may choose from: those that are chosen if no other one is set, or all if one
    must be set; and the others. None if a user may set any text, or none; also while the value is being computed."""
    if not value.atoms:
        return None
    usual, others = set[str](), set[str]()
    for atom in value.atoms:
        if type(atom) is not Literal_ or not atom.choices or not isinstance(atom.value, str):
            return None
        usual.add(atom.value)
        others.update(atom.choices)
    return tuple(sorted(usual)), tuple(sorted(others - usual))


def is_none(atom: Atom) -> bool:
    """Whether a value is the constant None, even if only as the default of an option."""
    return type(atom) is Literal_ and atom.kind == "NoneType"


def named(name: str, site: Site) -> Val:
    """The result of calling the library name `name` at `site`."""
    return of(LibObject(name, site)) if len(name) <= MAX_NAME_LENGTH else unknown(TOO_MANY)


def member_of(owner: Atom, name: str) -> Val:
    """Attribute `name` of a library object or of a builtin container."""
    outer, members = owner, 0
    while type(outer) is LibMember and members < MAX_MEMBERS:
        outer, members = outer.owner, members + 1
    return of(LibMember(owner, name)) if members < MAX_MEMBERS else unknown(TOO_MANY)


def join(values: Iterable[Val]) -> Val:
    """One of several values; limited."""
    several = values if isinstance(values, (list, tuple)) else list(values)
    if not several:
        return BOTTOM
    first = several[0]
    atoms, origins = first.atoms, first.origins
    if len(several) > 1:
        atoms = atoms.union(*[value.atoms for value in several])
        origins = origins.union(*[value.origins for value in several])
        if len(atoms) == len(first.atoms) and len(origins) == len(first.origins):
            several = (first,)
    if len(atoms) <= MAX_ATOMS and len(origins) <= MAX_ORIGINS:
        return Val(atoms, origins) if len(several) > 1 else first
    if len(atoms) > MAX_ATOMS:
        reasons = {a for a in atoms if type(a) is Unknown}
        kept = sorted(atoms - reasons, key=order_of_atom)[: MAX_ATOMS - 1]
        atoms = frozenset({*kept, *reasons, Unknown("too many")})
    if len(origins) > MAX_ORIGINS:
        origins = frozenset(sorted(origins, key=repr_origin)[:MAX_ORIGINS])
    return Val(atoms, origins)


def extended(origins: Iterable[Origin], step: str, relation: str) -> frozenset[Origin]:
    """Origins one step further in: an attribute, or an item ('[]'). The last item of a path of length `MAX_PATH` stands
    for everything in it; further steps are dropped."""
    out = set()
    for origin in origins:
        is_long = len(origin.path) >= MAX_PATH
        if not is_long or (step == origin.path[-1] == "[]"):
            wider = "view" if "view" in (relation, origin.relation) else "element" if step == "[]" else origin.relation
            out.add(Origin(origin.owner, origin.path if is_long else (*origin.path, step), wider))
    return frozenset(out)


def class_of(inst: Instance) -> Val:
    """`type(object)`. An object that unknown code creates may be one of a class that derives from its own."""
    return of(inst.cls) if inst.site is not None else of(inst.cls, Unknown("subclass"))


def repr_origin(origin: Origin) -> str:
    """A stable sort key."""
    return f"{order_of_atom(origin.owner)} {origin.path} {origin.relation}"


def sites_of(made: Instance | LibObject) -> list[Site]:
    """Where an object is made, the call that gives it, and the one that copies it."""
    return [site for site in (made.site, made.given, made.copied) if site is not None]


def order_of(value: Val) -> str:
    """A sort key that distinguishes values and is the same in every run."""
    atoms = " | ".join(sorted(map(order_of_atom, value.atoms)))
    return f"[{atoms} < {' '.join(sorted(map(repr_origin, value.origins)))}]" if value.origins else f"[{atoms}]"


def order_of_atom(atom: Atom) -> str:
    """A sort key that distinguishes atoms and is the same in every run. Frames have their own; this function does not
    walk through them."""
    match atom:
        case Unknown(reason, made, usual):
            where = f" {made.frame.order} {made.expr:06}" if made else ""
            return f"~{reason}{where}{f' {order_of_atom(usual)}' if usual else ''}"
        case Literal_(kind, value, configured, choices):
            return f"literal {kind} {value!r} {configured}{f' of {choices}' if choices else ''}"
        case Lib(name):
            return f"lib {name}"
        case LibObject(name, site, given, copied):
            changed = f"{_order_of_site('given', given)}{_order_of_site('copied', copied)}"
            return f"object {name} {site.frame.order} {site.expr:06}{changed}"
        case LibMember(owner, name):
            return f"member {order_of_atom(owner)} {name}"
        case ModuleRef(path) | FolderRef(path):
            return f"module {path}"
        case FunctionRef(path, piece, def_, scope, bare):
            return f"function {path} {piece:06} {def_:06} {scope.order if scope else ''}{' bare' if bare else ''}"
        case ClassRef(path, piece, def_, scope, bases):
            around = scope.order if scope else ""
            return f"class {path} {piece:06} {def_:06} {around} {' '.join(map(order_of_atom, bases))}"
        case Method(function, receiver, owner):
            return f"method {order_of_atom(function)} {order_of_atom(receiver)} {order_of_atom(owner)}"
        case Instance(cls, site, presumed, given, copied):
            where = f"{site.frame.order} {site.expr:06}" if site else " 000000"
            changed = f"{_order_of_site('given', given)}{_order_of_site('copied', copied)}"
            return f"instance {order_of_atom(cls)} {where}{changed}{' presumed' if presumed else ''}"
        case SuperRef(cls, receiver):
            return f"super {order_of_atom(cls)} {order_of_atom(receiver)}"
        case PartialOf(func, site):
            return f"partial {order_of_atom(func)} {site.frame.order} {site.expr:06}"
        case SeqOf() | MapOf():
            if not atom.order:
                object.__setattr__(atom, "order", _order_of_container(atom))
            return atom.order
        case Namespace(path, how):
            return f"namespace {path} {how}"


def _order_of_site(word: str, site: Site | None) -> str:
    return f" {word} {site.frame.order} {site.expr:06}" if site else ""


def _order_of_container(atom: SeqOf | MapOf) -> str:
    """The content of a container is added as a digest: containers may be deeply nested."""
    site = atom.site
    where = f"{site.frame.order if site else ''} {site.expr if site else 0:06}"
    values = atom.items if isinstance(atom, SeqOf) else atom.values
    if isinstance(atom, SeqOf):
        name = f"seq {atom.kind} {len(atom.items)}"
    else:
        name = f"map {atom.keys} ({' '.join(map(order_of_atom, atom.options))}){atom.built or ''}"
    return f"{name} {where} {digest_of(' '.join(map(order_of, values)))}"


def digest_of(text: str) -> str:
    """Stands for a long text in a sort key."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
