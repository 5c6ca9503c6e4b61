"""Classes of the project: ancestry, members, and what the attributes of one object hold.

Objects are distinguished by the place where they are created. An attribute holds the union of its stores: those of the
constructor and the methods it calls, with the arguments of that object; those of other methods, as called from unknown
code; and those of the class body. What the constructor always overwrites counts only while it runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.knowledge.higher_order import RESTORING_METHODS
from loaderlint.knowledge.library_datasets import keeps_argument
from loaderlint.knowledge.settings import FACTORIES, FIELDS, RECORD_BASES
from loaderlint.knowledge.wrappers import SET_BY_LOADERS
from loaderlint.project.evaluation import containers, hyperparameters, library_calls
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.project.evaluation.bulk_attributes import bulk_sources, may_hold_more, taken_as_keywords, taken_in_bulk
from loaderlint.project.evaluation.class_assignments import assigned_to_class
from loaderlint.project.evaluation.computed_attributes import may_be_overwritten, setters
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.later_attributes import (
    appended_on,
    calls_on,
    calls_replacing,
    is_set_by_loader,
    items_set_on,
    may_keep,
    replaced_on,
    set_on,
)
from loaderlint.project.evaluation.name_patterns import may_be_named
from loaderlint.project.evaluation.object_places import kept_parameters
from loaderlint.project.evaluation.properties import Addition, addition, extended, functions_of, set_by
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.removed_items import stored_without_removed
from loaderlint.project.evaluation.replaced_values import after_construction, before_loaders, makes_loader
from loaderlint.project.evaluation.values import (
    ABSENT,
    BOTTOM,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    Origin,
    SeqOf,
    SuperRef,
    Unknown,
    Val,
    by_default,
    def_key,
    is_none,
    join,
    of,
    present_or,
    unknown,
)
from loaderlint.project.modules.project_files import defined_name, holds, is_def

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator
    from loaderlint.project.modules.project_files import Binding, ProjectFile, SeenPiece

Base = ClassRef | Lib | Unknown
#: What a reader of an attribute sees: every value, those of an object that is made, or, in a hook of Lightning that
#: makes a loader, those of one that is set up.
Sight = Literal["all", "made", "set up"]
_MAX_ANCESTORS = 32
#: Beyond this number of names, calls of any name count as leading to a method. Thousands of methods that call each
#: other would have thousands of names each.
_MAX_NAMES = 500
_EVERY = frozenset({"*"})
#: The decorations of a function that runs when an attribute is read or stored.
_READ = frozenset({"property", "setter", "deleter"})
_SETATTR = frozenset({Lib("builtins.setattr")})
#: Methods whose stores do not show the content of an attribute in use.
_NO_STORES = ("__init__", "__getstate__", "__setstate__", "__del__", "close")
#: Library classes without relevant methods of their own: `super()` skips them. Those of MONAI (1.6.1,
#: `transforms/transform.py`) have no constructor.
_WITHOUT_METHODS = frozenset(
    {
        "torch.utils.data.Dataset",
        "torch.utils.data.IterableDataset",
        "builtins.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "monai.transforms.Randomizable",
        "monai.transforms.Transform",
    }
)
#: Library base classes that have methods, but neither a metaclass nor a `__new__`.
_WITHOUT_NEW = frozenset(
    {
        "torch.nn.Module",
        "lightning.LightningDataModule",
        "lightning.LightningModule",
        "lightning.pytorch.LightningDataModule",
        "lightning.pytorch.LightningModule",
    }
)


class Member(Struct, frozen=True):
    """The binding of a name in a class: a function, or a value (then `function` is None). A property may also have a
    setter and a deleter. If it is not known what they were added to, they are its `function`, too."""

    owner: ClassRef
    name: str
    function: FunctionRef | None
    bindings: tuple[Binding, ...] = ()
    setter: Member | None = None
    deleter: Member | None = None


class Store(Struct, frozen=True):
    """One assignment to an attribute of an object: step `step` of the frame's def. `construction`: by the constructor
    or a method that it calls. `sure`: each run of the def that does not raise makes it. `lasts`: the def does not
    always overwrite it."""

    frame: Frame
    step: int
    value: Val
    construction: bool
    sure: bool
    lasts: bool


class _Open(Struct, eq=False):
    """A field that is being computed. `objects`: the objects among its known values so far, and a mark that there may
    be more. They do not show a value that is computed from itself, such as a count."""

    objects: Val = BOTTOM

    def add(self, value: Val) -> None:
        """Note one more value that is stored."""
        found = frozenset(atom for atom in value.atoms if isinstance(atom, Instance | LibObject))
        if found:
            self.objects = join((self.objects, Val(found), unknown("cycle")))


#: A method, where it is written, and its piece.
_Written = tuple[Member, FunctionRef, "SeenPiece"]


class _Methods(Struct, eq=False):
    """Some methods of a class and its ancestors: their content, and the names whose calls on an object may lead to one
    of them, computed on demand."""

    written: tuple[_Written, ...]
    places: frozenset[DefKey]
    names: frozenset[str] | None = None


class Classes:
    """Class questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._mro: dict[ClassRef, tuple[Base, ...]] = {}
        self._ordering: set[ClassRef] = set()
        self._found: dict[ClassRef, dict[str, Member | None]] = {}
        self._own: dict[ClassRef, dict[str, Member]] = {}
        self._members: dict[tuple[ClassRef, str], Member | None] = {}
        self._mentioned: dict[tuple[ClassRef, str], tuple[_Written, ...]] = {}
        self._storing_of: dict[tuple[ClassRef, str], tuple[_Written, ...]] = {}
        self._storing_methods: dict[tuple[ClassRef, str], _Methods] = {}
        self._leading_to: dict[tuple[tuple[Base, ...], tuple[FunctionRef, ...]], frozenset[str]] = {}
        self._leading_in: dict[ClassRef, dict[str, frozenset[str]]] = {}
        self._setters: dict[ClassRef, tuple[FunctionRef, ...]] = {}
        self._assigned: dict[tuple[DefKey, str], tuple[Val, ...]] = {}
        self._construction: dict[Instance, list[Frame]] = {}
        self._walks: dict[tuple[Instance, frozenset[str]], list[Frame]] = {}
        self._fields: dict[tuple[Instance, str, Sight], Val] = {}
        self._stores: dict[tuple[Instance, str], tuple[Store, ...]] = {}
        self._open: dict[tuple[Instance, str], _Open] = {}
        #: How often a call was met that waits for the answer. What is found then is not remembered.
        self._cut_short = 0

    # --- ancestry -----------------------------------------------------------------------------------------------------

    def head(self, cls: ClassRef) -> DefIR | None:
        """The class statement."""
        facts = self._ev.facts(cls.path, cls.piece)
        return facts.ir.defs[cls.def_] if facts and cls.def_ < len(facts.ir.defs) else None

    def name(self, cls: ClassRef) -> str:
        """The class's own name."""
        head = self.head(cls)
        return head.name if head else "?"

    def mro(self, cls: ClassRef) -> tuple[Base, ...]:
        """The class and its ancestors, nearest first; ancestors of libraries as `Lib`, unknown ones as `Unknown`."""
        known = self._mro.get(cls)
        return known if known is not None else self._ordered(cls)

    def _ordered(self, cls: ClassRef) -> tuple[Base, ...]:
        """The ancestry of a class and of all its ancestors, starting with the farthest, because the chain may be long.
        A class that is its own ancestor is its own ancestry until that is known."""
        line: list[tuple[ClassRef, Iterator[Base], list[Base]]] = []
        try:
            self._begin_ordering(cls, line)
            while True:
                one, bases, direct = line[-1]
                base = next(bases, None)
                if base is not None:
                    direct.append(base)
                    if isinstance(base, ClassRef) and base not in self._mro:
                        self._begin_ordering(base, line)
                    continue
                lines: list[list[Base]] = [
                    list(self._mro[base]) if isinstance(base, ClassRef) else [base] for base in direct
                ]
                order = self._mro[one] = (one, *_merge([*lines, direct]))[:_MAX_ANCESTORS]
                self._ordering.discard(one)
                line.pop()
                if not line:
                    return order
        finally:
            for one, _, _ in line:  # an error ended this, or the question will be asked again
                self._mro.pop(one, None)
                self._ordering.discard(one)

    def _begin_ordering(self, cls: ClassRef, line: list[tuple[ClassRef, Iterator[Base], list[Base]]]) -> None:
        self._mro[cls] = (cls,)
        self._ordering.add(cls)
        line.append((cls, self._bases(cls), []))

    def written_bases(self, cls: ClassRef) -> list[Val]:
        """What each base of the class statement may be."""
        head = self.head(cls)
        frame = cls.scope or self._ev.body(cls.path, cls.piece)
        values = []
        for number in head.bases if head else ():
            e = self._ev.expr(frame, number)
            if isinstance(e, ir.Index) and self._ev.eval(e.base, frame).only(ClassRef, Lib):
                number = e.base  # Dataset[int]: the class without its type arguments
            values.append(self._ev.eval(number, frame))
        return values

    def _bases(self, cls: ClassRef) -> Iterator[Base]:
        head = self.head(cls)
        if head is None:
            return
        if cls.bases:
            yield from (base for base in cls.bases if isinstance(base, ClassRef | Lib | Unknown))
            return
        for value in self.written_bases(cls):
            known = [a for a in value.only(ClassRef, Lib) if a != cls]
            if known:
                yield from (self._ev.installed.as_measured(one) for one in known)
            else:
                yield value.unknown or Unknown("base class")

    def library_bases(self, cls: ClassRef) -> tuple[str, ...]:
        """The full names of the library classes among the ancestors."""
        return tuple(base.name for base in self.mro(cls) if isinstance(base, Lib))

    def has_unknown_base(self, cls: ClassRef) -> bool:
        """Whether some ancestor is unknown."""
        return any(isinstance(base, Unknown) for base in self.mro(cls))

    def is_plain(self, cls: ClassRef) -> bool:
        """Whether no class of a library among the ancestors has methods that may call those of the class."""
        return all(
            not self._ev.installed.holds(base.path)
            if isinstance(base, ClassRef)
            else isinstance(base, Lib) and base.name in _WITHOUT_METHODS
            for base in self.mro(cls)
        )

    # --- members ------------------------------------------------------------------------------------------------------

    def own_members(self, cls: ClassRef) -> dict[str, Member]:
        """The names that the class body itself binds, in source order."""
        known = self._own.get(cls)
        if known is not None:
            return known
        found: dict[str, Member] = {}
        file = self._in_pieces(cls)
        if file is not None:
            for name in file.members(cls.piece):
                member = self.own_member(cls, name)
                if member is not None:
                    found[name] = member
        else:
            head = self.head(cls)
            for step in head.steps if head else ():
                if type(step) is ir.Bind and step.value != NONE:
                    made = Member(cls, step.name, self._nested_function(cls, step.value))
                    found[step.name] = self._as_property(made, tuple(found.values()))
        self._own[cls] = found
        return found

    def own_member(self, cls: ClassRef, name: str) -> Member | None:
        """What the class body itself binds `name` to. In a class whose members are pieces, nothing else is read."""
        key = (cls, name)
        if key not in self._members:
            file = self._in_pieces(cls)
            bindings = file.members(cls.piece).get(name) if file is not None else None
            known = self.own_members(cls).get(name) if file is None else None
            with provisional(self._members, key, None):
                self._members[key] = self._made_member(cls, name, bindings) if bindings else known
        return self._members[key]

    def _in_pieces(self, cls: ClassRef) -> ProjectFile | None:
        """The file of a class whose members are pieces of their own; None for one inside a function."""
        file = self._ev.file(cls.path)
        return file if file is not None and file.pieces[cls.piece].kind == "class" and cls.def_ == 1 else None

    def _made_member(self, cls: ClassRef, name: str, bindings: Sequence[Binding]) -> Member:
        last = bindings[-1]
        function = self._member_function(cls, last) if last.step < 0 else None
        return self._as_property(Member(cls, name, function, tuple(bindings)), ())

    def _as_property(self, made: Member, before: Sequence[Member]) -> Member:
        """What a member is if its function adds to a property. `before`: the members bound before it, in a class whose
        members are no pieces."""
        added = addition(self._ev, made.function) if made.function is not None else None
        if added is None:
            return made
        return extended(self._extended(added, made, before), added.kind, made)

    def _extended(self, added: Addition, made: Member, before: Sequence[Member]) -> Member | None:
        """The property that a function adds to; None if it is not known."""
        assert made.function is not None
        frame = made.function.scope or self._ev.body(made.function.path, made.function.piece)
        match self._ev.expr(frame, added.extended):
            case ir.Global(name) if (file := self._in_pieces(made.owner)) is not None:
                bound = file.members(made.owner.piece).get(name) or ()
                earlier = [one for one in bound if one.piece < made.function.piece]
                return self._made_member(made.owner, name, earlier) if earlier else None
            case ir.MakeDef(index):
                return next((m for m in before for one in functions_of(m) if _is_def(one, index)), None)
            case ir.Attr(owner, name):
                classes = [one for one in self._ev.eval(owner, frame).only(ClassRef) if one != made.owner]
                return self.member(classes[0], name) if len(classes) == 1 else None
        return None

    def _member_function(self, cls: ClassRef, binding: Binding) -> FunctionRef | None:
        # the def index of a method in its own piece is 1; a nested class is not a piece of its own
        file = self._ev.file(cls.path)
        if file is None or file.pieces[binding.piece].kind == "class":
            return None
        return FunctionRef(cls.path, binding.piece, 1, cls.scope)

    def _nested_function(self, cls: ClassRef, value: int) -> FunctionRef | None:
        facts = self._ev.facts(cls.path, cls.piece)
        e = facts.ir.exprs[value] if facts else None
        if isinstance(e, ir.MakeDef) and facts and facts.ir.defs[e.index].kind != "class":
            return FunctionRef(cls.path, cls.piece, e.index, cls.scope)
        return None

    def member(self, cls: ClassRef, name: str) -> Member | None:
        """What the class or its nearest ancestor in the project binds `name` to."""
        known = self._found.get(cls)
        if known is not None and name in known:
            return known[name]
        order = self.mro(cls)
        found = self._nearest(order, name)
        if cls not in self._ordering:
            self._found.setdefault(cls, {})[name] = found
        return found

    def _nearest(self, order: tuple[Base, ...], name: str) -> Member | None:
        for base in order:
            if isinstance(base, ClassRef):
                found = self.own_member(base, name)
                if found is not None:
                    return found
        return None

    def _readable_member(self, cls: ClassRef, name: str) -> Member | None:
        """A member, but not Lightning's own `hparams`: the source does not show its content."""
        found = self.member(cls, name)
        if found is not None and name == hyperparameters.NAME and self._ev.installed.holds(found.owner.path):
            return None
        return found

    def methods(self, cls: ClassRef) -> Iterator[Member]:
        """The functions of the class and its ancestors in the project; overridden ones too."""
        for base in self.mro(cls):
            if isinstance(base, ClassRef):
                yield from self._own_functions(base, self.own_members(base).values())

    @staticmethod
    def _own_functions(cls: ClassRef, members: Iterable[Member]) -> Iterator[Member]:
        """The functions that a class itself defines under some of its names."""
        return (one for member in members for one in functions_of(member) if one.owner == cls)

    def methods_asked(self, cls: ClassRef, question: Callable[..., object], *about: Hashable) -> Iterator[Member]:
        """The methods among `methods(cls)` of whose piece's text `question(text, *about)` is true."""
        for base in self.mro(cls):
            if isinstance(base, ClassRef):
                yield from self._own_asked(base, question, about)

    def _own_asked(
        self, cls: ClassRef, question: Callable[..., object], about: tuple[Hashable, ...]
    ) -> Iterable[Member]:
        file = self._in_pieces(cls)
        if file is None:
            found = list(self._own_functions(cls, self.own_members(cls).values()))
            of_file = self._ev.file(cls.path)
            return found if found and of_file and of_file.pieces[cls.piece].ask(question, *about) else ()
        members: list[Member] = []
        for index, _ in file.asking(question, *about, scope=cls.piece):
            name = file.pieces[index].ask(defined_name) if file.pieces[index].kind == "statement" else ""
            member = self.own_member(cls, name) if name else None
            functions = self._own_functions(cls, [member]) if member is not None else ()
            members += (one for one in functions if one.function is not None and one.function.piece == index)
        return sorted(members, key=_first_bound)

    def methods_holding(self, cls: ClassRef, word: str) -> Iterator[Member]:
        """The methods among `methods(cls)` whose text holds `word`."""
        return self.methods_asked(cls, holds, word)

    def public_methods(self, inst: Instance) -> list[Method]:
        """The methods without a leading underscore that the object's own classes define, nearest first."""
        return [
            Method(member.function, inst, member.owner)
            for member in self._public_members(inst.cls)
            if member.function is not None
        ]

    def public_setters(self, inst: Instance) -> list[Method]:
        """The setters of the properties among `public_methods`."""
        setters = (member.setter for member in self._public_members(inst.cls))
        return [
            Method(one.function, inst, one.owner) for one in setters if one is not None and one.function is not None
        ]

    def _public_members(self, cls: ClassRef) -> Iterable[Member]:
        found: dict[str, Member] = {}
        for base in self.mro(cls):
            for name, member in self.own_members(base).items() if isinstance(base, ClassRef) else ():
                if member.function is not None and not name.startswith("_"):
                    found.setdefault(name, member)
        return found.values()

    # --- attributes ---------------------------------------------------------------------------------------------------

    def instance_attribute(self, inst: Instance, name: str, frame: Frame) -> tuple[Val, tuple[Frame, ...]]:
        """`object.name`, and the frames that run to read it if it is a property."""
        member = self._readable_member(inst.cls, name)
        if member is not None and member.function is not None:
            match self._decoration(member):
                case "setter" | "deleter":
                    return unknown("property"), ()
                case "property":
                    return self._ev.functions.invoke(member.function, inst, member.owner, Arguments(), frame)
                case "static":
                    return of(member.function), ()
                case "class":
                    return of(Method(member.function, inst.cls, member.owner)), ()
            stores = self.stores(inst, name)
            hidden = _is_always_made(store for store in stores if self._hides(store, name))
            bound = [] if hidden else [of(Method(member.function, inst, member.owner))]
            return join([*bound, *(store.value for store in stores)]), ()
        value = self.field(inst, name, self._sight_of(inst, name, frame))
        return Val(value.atoms, value.origins | {Origin(inst, (name,), "same")}), ()

    def _decoration(self, member: Member) -> str:
        """What the decorators of a method make of it (see `Functions.decoration`). What has a setter or a deleter is a
        property, even if its decorator is not known."""
        assert member.function is not None
        added = [one.function for one in (member.setter, member.deleter) if one is not None]
        if added and member.function not in added:
            return "property"
        return self._ev.functions.decoration(member.function)

    def computes(self, inst: Instance, name: str) -> bool:
        """Whether `object.name` is a property that runs at each read: what it gives is not stored under that name."""
        member = self._readable_member(inst.cls, name)
        return member is not None and member.function is not None and self._ev.functions.runs_at_read(member.function)

    def _hides(self, store: Store, name: str) -> bool:
        """Whether a store assigns something else to the name of a method: not `self.load = cached(self.load)`."""
        one = self._ev.def_of(store.frame)
        step = one.steps[store.step] if one is not None else None
        if not isinstance(step, ir.SetAttr):
            return False
        exprs = store.frame.code.exprs
        read = (exprs[number] for number in ir.made_of(exprs, (step.value,)))
        return not any(isinstance(e, ir.Attr) and e.name == name for e in read)

    def class_attribute(self, cls: ClassRef, name: str) -> Val:
        """`Class.name`."""
        member = self.member(cls, name)
        if member is not None and name in RESTORING_METHODS and self._ev.installed.holds(member.owner.path):
            return of(LibMember(cls, name))
        if member is None:
            if any(not isinstance(base, ClassRef) for base in self.mro(cls)):
                return of(LibMember(cls, name))
            return unknown("no such attribute")
        if member.function is not None:
            if self._ev.functions.decoration(member.function) == "class":
                return of(Method(member.function, cls, member.owner))
            return of(member.function)
        return Val(self.class_value(member, cls).atoms, frozenset({Origin(member.owner, (name,), "same")}))

    def super_attribute(self, atom: SuperRef, name: str) -> Val:
        """`super().name` inside a method of `atom.cls`."""
        cls = atom.receiver.cls if isinstance(atom.receiver, Instance) else atom.receiver
        if not isinstance(cls, ClassRef):
            return unknown("super")
        order = self.mro(cls)
        after = order[order.index(atom.cls) + 1 :] if atom.cls in order else self.mro(atom.cls)[1:]
        for base in after:
            if isinstance(base, Lib) and base.name in _WITHOUT_METHODS:
                continue
            if not isinstance(base, ClassRef):
                return of(LibMember(atom.receiver, f"super.{name}"))
            found = self.own_member(base, name)
            if found is not None and found.function is not None:
                if self._decoration(found) in _READ and isinstance(atom.receiver, Instance):
                    return unknown("super property")
                return of(Method(found.function, atom.receiver, base))
            if found is not None:
                return self.class_value(found)
        return unknown("super")

    def class_value(self, member: Member, cls: ClassRef | None = None) -> Val:
        """The value of a member that is not a function, or what code outside the class, or outside the class `cls` that
        derives from it, assigns instead."""
        own = dict.fromkeys((member.owner, cls or member.owner))
        return join((self._written_value(member), *(value for one in own for value in self._given(one, member.name))))

    def _given(self, cls: ClassRef, name: str) -> tuple[Val, ...]:
        key = (def_key(cls), name)
        if key not in self._assigned:
            with provisional(self._assigned, key, ()):
                self._assigned[key] = tuple(assigned_to_class(self._ev, cls, name))
        return self._assigned[key]

    def _written_value(self, member: Member) -> Val:
        cls = member.owner
        if member.bindings:
            return join(self._ev.names.binding(cls.path, binding, member.name) for binding in member.bindings[-2:])
        head = self.head(cls)
        frame = self._ev.frame(cls.path, cls.piece, cls.def_, None, (), cls.scope, None, 0)
        values = [
            self._ev.eval(step.value, frame)
            for step in (head.steps if head else ())
            if type(step) is ir.Bind and step.name == member.name and step.value != NONE
        ]
        return join(values) if values else unknown("half typed")

    # --- construction and fields --------------------------------------------------------------------------------------

    def init_frame(self, inst: Instance) -> Frame | None:
        """The frame of the constructor of `inst`, None if the project defines none."""
        member = self.member(inst.cls, "__init__")
        if member is None or member.function is None:
            return None
        if inst.site is None:
            return self._ev.functions.open_frame(member.function, inst, member.owner)
        if self._ev.facts(member.function.path, member.function.piece) is None:
            return None
        function = member.function
        args = self._ev.functions.bound(function, inst, self._ev.calls.site_arguments(inst.site))
        depth = self._ev.functions.depth_of_call(function, args, inst.site.frame)
        return self._ev.frame(
            function.path, function.piece, function.def_, inst, args, function.scope, member.owner, depth
        )

    def leaves_arguments_to_init(self, cls: ClassRef) -> bool:
        """Whether `__init__` alone decides which arguments create an object, and no class of a library, decorator,
        metaclass or `__new__`."""
        if any(self.member(cls, name) is not None for name in ("__new__", "__init_subclass__")):
            return False
        return all(map(self._leaves_init, self.mro(cls)))

    def _leaves_init(self, base: Base) -> bool:
        """Whether a class, as an ancestor, certainly leaves it to `__init__` which arguments are accepted."""
        if isinstance(base, ClassRef):
            head = self.head(base)
            return head is not None and not head.decorators and not head.keywords
        return isinstance(base, Lib) and (base.name in _WITHOUT_METHODS or base.name in _WITHOUT_NEW)

    def open_method(self, inst: Instance, name: str) -> Frame | None:
        """The frame of a method of `inst` when unknown code calls it; None if the project defines none."""
        member = self.member(inst.cls, name)
        if member is None or member.function is None:
            return None
        return self._ev.functions.open_frame(member.function, inst, member.owner)

    def construction(self, inst: Instance) -> list[Frame]:
        """The frames that run on `inst` while it is constructed: `__init__`, those of its bases that it calls, and the
        methods they call on the object."""
        known = self._construction.get(inst)
        if known is not None:
            return known
        frames: list[Frame] = []
        with provisional(self._construction, inst, frames):
            waiting = self._walk(inst, None, frames)
        if waiting:
            del self._construction[inst]
        return frames

    def _walk(self, inst: Instance, names: frozenset[str] | None, frames: list[Frame]) -> frozenset[str]:
        """Add to `frames` those that run on `inst` while it is constructed, through calls of these names (None: of
        any). Returns the names of the methods whose calls wait for the answer, as in `self.set_mode(self.mode)`: their
        frames are not known yet."""
        waiting: set[str] = set()
        init = self.init_frame(inst)
        queue = [init] if init else []
        post = self.open_method(inst, "__post_init__")
        queue += [post] if post else []
        while queue and len(frames) < 64:
            frame = queue.pop(0)
            if frame in frames:
                continue
            frames.append(frame)
            queue.extend(t for t in self._calls_on_self(frame, names, waiting) if t.receiver == inst)
        return frozenset(waiting)

    def _calls_on_self(self, frame: Frame, names: frozenset[str] | None, waiting: set[str]) -> Iterator[Frame]:
        for step, base in frame.code.attribute_calls(names):
            if self._is_self_or_class(base, frame) and not self._ev.liveness.is_dead(step.context, frame):
                if self._ev.is_waiting(step.call, frame):
                    waiting.add(_called_name(step.call, frame))
                yield from self._ev.targets(step.call, frame)
        if isinstance(frame.receiver, Instance):
            for name in frame.code.stored if names is None else frame.code.stored & names:
                yield from self._setters_run(frame.receiver, name, frame, waiting)

    def _setters_run(self, inst: Instance, name: str, frame: Frame, waiting: set[str]) -> Iterator[Frame]:
        """The frames of the setter of property `name` that a method of the object runs."""
        member = self.member(inst.cls, name)
        for _, step in frame.code.stores_of(name) if member is not None and member.setter is not None else ():
            if self._ev.is_waiting(step.value, frame):
                waiting.add(name)
            elif not self._ev.liveness.is_dead(step.context, frame):
                yield from set_by(self._ev, inst, step, frame)

    def _is_self_or_class(self, base: int, frame: Frame) -> bool:
        """Whether `base` is self, `super()` or a class name (`Base.__init__(self)`)."""
        e = self._ev.expr(frame, base)
        match e:
            case ir.Param(0):
                return True
            case ir.Call(func, _):
                return self._ev.expr(frame, func) == ir.Global("super")
            case ir.Attr(owner, _) if ir.is_self(self._ev.expr(frame, owner)):
                return False  # a field: its value depends on the construction that is being computed
            case ir.Global() | ir.Attr():
                return bool(self._ev.eval(base, frame).only(ClassRef))
        return False

    def stores(self, inst: Instance, name: str) -> tuple[Store, ...]:
        """Every assignment to attribute `name` of the object in the code of its class and ancestors."""
        key = (inst, name)
        known = self._stores.get(key)
        if known is not None:
            return known
        if key in self._open:
            return ()
        found: list[Store] = []
        cut_short = self._cut_short
        self._open[key] = so_far = _Open()
        try:
            for store in self._find_stores(inst, name):
                found.append(store)
                so_far.add(store.value)
        finally:
            del self._open[key]
        if self._cut_short == cut_short:
            self._stores[key] = tuple(found)
        return tuple(found)

    def _find_stores(self, inst: Instance, name: str) -> Iterator[Store]:
        storing = self._storing(inst.cls, name)
        constructed, waiting = self._constructing(inst, storing)
        for frame in constructed:
            yield from self._stores_in(frame, name, True)
        for member, frame in self._other_frames(inst, constructed, storing.written):
            if member.name not in _NO_STORES and member.name not in waiting:
                yield from self._stores_in(frame, name, False)

    def _storing(self, cls: ClassRef, name: str) -> _Methods:
        """The methods of the class and its ancestors that assign attribute `name` of the object."""
        key = (cls, name)
        known = self._storing_methods.get(key)
        if known is None:
            known = self._methods_of(self._of_family(self._storing_in, cls, name))
            if cls not in self._ordering:
                self._storing_methods[key] = known
        return known

    @staticmethod
    def _methods_of(written: tuple[_Written, ...]) -> _Methods:
        return _Methods(written, frozenset(def_key(one) for _, one, _ in written))

    def _storing_in(self, cls: ClassRef, name: str) -> tuple[_Written, ...]:
        known = self._storing_of.get((cls, name))
        if known is None:
            methods = self._mentioning_in(cls, f".{name}")
            may = (one for one in methods if one[2].ask(may_assign, name))
            known = tuple(one for one in may if name in self._ev.code(one[1]).stored)
            self._storing_of[cls, name] = known
        return known

    def _mentioning(self, cls: ClassRef, word: str) -> tuple[_Written, ...]:
        """The methods of the class and its ancestors whose text holds `word`."""
        return self._of_family(self._mentioning_in, cls, word)

    def _mentioning_in(self, cls: ClassRef, word: str) -> tuple[_Written, ...]:
        known = self._mentioned.get((cls, word))
        if known is None:
            file = self._ev.file(cls.path)
            functions = ((member, member.function) for member in self._own_asked(cls, holds, (word,)))
            known = self._mentioned[cls, word] = tuple(
                (member, function, file.pieces[function.piece])
                for member, function in functions
                if function is not None and file is not None
            )
        return known

    def _of_family(
        self, found_in: Callable[[ClassRef, str], tuple[_Written, ...]], cls: ClassRef, word: str
    ) -> tuple[_Written, ...]:
        """The results for the class itself and for each of its ancestors, which many classes may share."""
        return tuple(one for base in self.mro(cls) if isinstance(base, ClassRef) for one in found_in(base, word))

    def _constructing(self, inst: Instance, methods: _Methods) -> tuple[list[Frame], frozenset[str]]:
        """The frames of these methods that run while the object is constructed, and the names of methods that wait for
        the answer (see `_walk`). Calls that lead to none of them are skipped: most methods that a constructor calls do
        not concern a single attribute."""
        if not methods.written:
            return [], frozenset()
        if methods.names is None:
            methods.names = self._leading(inst.cls, methods.written)
        key = (inst, methods.names)
        walked, waiting = self._walks.get(key), frozenset[str]()
        if walked is None:
            walked = []
            waiting = self._walk(inst, None if methods.names is _EVERY else methods.names, walked)
            if waiting:
                self._cut_short += 1
            else:
                self._walks[key] = walked
        return [frame for frame in walked if def_key(frame) in methods.places], waiting

    def constructed_through(self, inst: Instance, function: FunctionRef) -> list[Frame]:
        """The frames of a method that run while the object is constructed."""
        file = self._ev.file(function.path)
        if file is None or function.piece >= len(file.pieces):
            return []
        here = file.pieces[function.piece]
        named = self._in_pieces(inst.cls) is not None
        member = self.own_member(inst.cls, here.ask(defined_name)) if named else None
        own = ([member] if member else []) if named else self.own_members(inst.cls).values()
        parts = (part for one in own for part in functions_of(one))
        written = tuple((one, function, here) for one in parts if one.function == function)
        return self._constructing(inst, self._methods_of(written))[0]

    def _leading(self, cls: ClassRef, methods: tuple[_Written, ...]) -> frozenset[str]:
        """The names whose calls on the object may lead to these methods: their own, those of methods that mention one
        of them, and the attributes that may hold one of them."""
        key = (self.mro(cls), tuple(function for _, function, _ in methods))
        if key in self._leading_to:
            return self._leading_to[key]
        family = [(base, self._leading_in.setdefault(base, {})) for base in key[0] if isinstance(base, ClassRef)]
        names: set[str] = set()
        fresh = {member.name for member, _, _ in methods}
        while fresh and len(names) < _MAX_NAMES:
            names |= fresh
            found: set[str] = set()
            for word in fresh:
                for base, known in family:
                    if word not in known:
                        known[word] = self._one_step_before(base, word)
                    found |= known[word]
            fresh = found - names
        self._leading_to[key] = frozenset(names) if len(names) < _MAX_NAMES else _EVERY
        return self._leading_to[key]

    def _one_step_before(self, cls: ClassRef, word: str) -> frozenset[str]:
        """The names of a class's own members whose calls may lead to a method by the name `word`. They are per class,
        because many classes share an ancestor, and many attributes a path to it."""
        found: set[str] = set()
        for member, function, piece in self._mentioning_in(cls, f".{word}"):
            found.add(member.name)
            if piece.ask(_is_passed_on, word):
                found |= self._ev.code(function).stored
        return frozenset(found)

    def _other_frames(
        self, inst: Instance, constructed: list[Frame], methods: tuple[_Written, ...]
    ) -> Iterator[tuple[Member, Frame]]:
        """Those of the methods that the object's construction does not run, as called from unknown code."""
        done = {def_key(f) for f in constructed}
        for member, function, _ in methods:
            if def_key(function) not in done and not self._is_replaced(inst.cls, member):
                opened = self._ev.functions.open_frame(function, inst, member.owner)
                if opened is not None:
                    yield member, opened

    def _is_replaced(self, cls: ClassRef, member: Member) -> bool:
        """Whether a method is one that a nearer class overrides without a call of it."""
        nearest = self.member(cls, member.name)
        if nearest is None or nearest.function is None or _is_part(member, nearest):
            return False
        file = self._ev.file(nearest.function.path)
        return file is not None and not file.pieces[nearest.function.piece].holds(f".{member.name}(")

    def _stores_in(self, frame: Frame, name: str, construction: bool) -> Iterator[Store]:
        for number, step in frame.code.stores_of(name):
            if step.context and self._ev.liveness.is_dead(step.context, frame):
                continue
            value = stored_without_removed(self._ev, step, number, frame)
            lasts = number not in frame.code.overwritten(name)
            sure = frame.code.always_passes({self._ev.liveness.run_with(step.context, frame)})
            yield Store(frame, number, value, construction, sure, lasts)

    def _sight_of(self, inst: Instance, name: str, frame: Frame) -> Sight:
        """What a frame that reads an attribute may see."""
        methods = self._storing(inst.cls, name).written
        if sum(len(self._ev.code(function).stores_of(name)) for _, function, _ in methods) < 2:
            return "made"
        constructing, waiting = self._constructing(inst, self._methods_of(self._mentioning(inst.cls, f".{name}")))
        around: Frame | None = frame
        while around is not None and around not in constructing:
            around = around.scope
        if waiting or around is not None:
            return "all"
        return "set up" if makes_loader(self._ev, inst, frame) else "made"

    def field(self, inst: Instance, name: str, sight: Sight = "made") -> Val:
        """What attribute `name` of the object may hold."""
        key = (inst, name, sight)
        known = self._fields.get(key)
        if known is not None:
            return known
        if (inst, name) in self._open:  # `self.train, self.val = random_split(self.train, sizes)`
            return self._open[inst, name].objects
        if name in SET_BY_LOADERS and is_set_by_loader(self._ev, inst, name):
            self._fields[key] = unknown("set by its loader")
            return self._fields[key]
        cut_short = self._cut_short
        if inst.copied is not None and (replaced := self._replaced(inst, name)) is not None:
            self._fields[key] = replaced
            return replaced
        stores = self.stores(inst, name)
        if sight != "all":
            stores = after_construction(self._ev, inst, name, stores)
        sources = list(self._bulk_sources(inst, stores))
        if sight == "set up":
            stores = before_loaders(self._ev, stores, name)
        values = self._values_of(inst, name, stores)
        for frame, source in sources:
            values.extend(taken_in_bulk(self._ev, frame, source, name))
        if not _is_always_made(stores):
            values.extend(self._beyond_stores(inst, name))
            values.extend(self._kept_by_library(inst, name))
        others = list(self._set_by_others(inst, name))
        values = [*(map(_until_set, values) if others else values), *others]
        found = join(values) if values else self._missing(inst)
        if any(may_hold_more(self._ev, *source) for source in sources) or self._is_placeholder(inst, found):
            found = by_default(found, "default")
        found = self._with_appended(inst, name, self._with_items(inst, name, found))
        if not found.atoms:
            found = unknown("cycle")
        if self._cut_short == cut_short:
            self._fields[key] = found
        return found

    def _is_placeholder(self, inst: Instance, value: Val) -> bool:
        """Whether an attribute is None until other code sets it by a computed name."""
        return any(map(is_none, value.atoms)) and may_be_overwritten(self._ev, inst)

    def setters(self, cls: ClassRef) -> tuple[FunctionRef, ...]:
        """See `computed_attributes.setters`."""
        known = self._setters.get(cls)
        if known is None:
            known = self._setters[cls] = tuple(setters(self._ev, cls))
        return known

    def _bulk_sources(self, inst: Instance, stores: Iterable[Store]) -> Iterator[tuple[Frame, int]]:
        """The dicts and options that the constructor stores in bulk, except those that one of these stores always
        follows: each with its frame."""
        for frame, source in bulk_sources(self._ev, inst):
            here = frame.code.evaluated_by(source)
            later = (one for one in stores if one.frame is frame and one.sure)
            if here is None or not any(one.step > here for one in later):
                yield frame, source

    def _replaced(self, inst: Instance, name: str) -> Val | None:
        """What the code that copies the object always assigns to the copy, itself or by a method that keeps its
        argument; None if it may hold what the original does."""
        replaced = replaced_on(self._ev, inst.copied, name)
        if replaced is not None:
            return replaced
        calls_of = partial(calls_replacing, self._ev, inst.copied)
        kept = [value for _, value in self._kept_by_calls(inst, name, calls_of, partial(self._assigned_to_copy, inst))]
        return join(kept) if kept else None

    def _assigned_to_copy(self, inst: Instance, name: str) -> list[Val]:
        replaced = replaced_on(self._ev, inst.copied, name)
        return [replaced] if replaced is not None else []

    def _values_of(self, inst: Instance, name: str, stores: tuple[Store, ...]) -> list[Val]:
        """The values of these stores. A method that stores its argument stores that of the calls in sight, if there are
        any, and not its parameter's default."""
        called: set[DefKey] = set()
        values: list[Val] = []
        calls_of, assigned_to = partial(calls_on, self._ev, inst), partial(set_on, self._ev, inst)
        for function, value in self._kept_by_calls(inst, name, calls_of, assigned_to):
            called.add(def_key(function))
            values.append(value)
        others = (one for one in stores if one.construction or def_key(one.frame) not in called)
        return [*(store.value for store in others), *values]

    def _kept_by_calls(
        self,
        inst: Instance,
        name: str,
        calls_of: Callable[[str], Iterator[tuple[Frame, ir.Call]]],
        assigned_to: Callable[[str], Iterable[Val]],
    ) -> Iterator[tuple[FunctionRef, Val]]:
        """What calls in sight pass to the methods that store their argument as attribute `name` of the object.
        `calls_of`: the calls of a method. `assigned_to`: what code assigns to a property."""
        for member, function, _ in self._storing(inst.cls, name).written:
            kept = kept_parameters(self._ev, function, name) if may_keep(member.name) else ()
            nearest = self.member(inst.cls, member.name)
            if not kept or nearest is None or not _is_part(member, nearest):
                continue
            if nearest.setter is not None and nearest.setter.function == function:
                yield from ((function, value) for value in assigned_to(member.name))
                continue
            params = self._ev.code(function).one.params  # type: ignore[union-attr]
            for caller, call in calls_of(member.name):
                passed = self._ev.functions.bound(function, inst, self._ev.calls.arguments(call, caller))
                for index in kept:
                    value = passed[index]
                    if value is None:
                        value = self._ev.functions.default(function, params[index])
                    yield function, value

    def _with_appended(self, inst: Instance, name: str, value: Val) -> Val:
        """A list field with what the object's methods, and the code that makes the object, append to it."""
        lists = [atom for atom in value.atoms if isinstance(atom, SeqOf) and atom.kind == "list"]
        if not lists:
            return value
        added: list[Val] = []
        for frame in self._frames_mentioning(inst, name):
            for _, call in self._ev.performed(frame):
                func = self._ev.expr(frame, call.func)
                target = self._ev.expr(frame, func.base) if isinstance(func, ir.Attr) else None
                if isinstance(func, ir.Attr) and isinstance(target, ir.Attr) and target.name == name:
                    if ir.is_self(self._ev.expr(frame, target.base)):
                        added.extend(containers.added_items(self._ev, func.name, call, frame))
        added += appended_on(self._ev, inst, name)
        if not added:
            return value
        grown = {replace(one, items=(*one.items, *added)) if one in lists else one for one in value.atoms}
        return Val(frozenset(grown), value.origins)

    def _with_items(self, inst: Instance, name: str, value: Val) -> Val:
        """A dict field with what the object's methods store in it."""
        dicts = [atom for atom in value.atoms if isinstance(atom, MapOf)]
        if not dicts:
            return value
        stored: list[tuple[str | None, Val]] = []
        for frame in dict.fromkeys((*self._frames_holding(inst, f".{name}["), *self._frames_mentioning(inst, name))):
            for number, base in frame.code.attributes(name):
                if ir.is_self(self._ev.expr(frame, base)):
                    stored += containers.stored_in(self._ev, number, frame)
        stored += items_set_on(self._ev, inst, name)
        return Val(
            value.atoms.difference(dicts) | {containers.with_stored(one, stored) for one in dicts}, value.origins
        )

    def _set_by_others(self, inst: Instance, name: str) -> Iterator[Val]:
        """Values of an attribute that are not stored by `self.name = ...`, but by the code that creates the object
        (`job.name = ...`), or by `setattr(self, f"{kind}_name", ...)` in its methods."""
        yield from set_on(self._ev, inst, name)
        for frame in self._frames_holding(inst, "setattr("):
            for step, call in self._ev.performed(frame):
                if self._ev.eval(call.func, frame).atoms == _SETATTR and len(call.args) == 3:
                    owner, key, value = (arg.value for arg in call.args)
                    named = ir.is_self(self._ev.expr(frame, owner)) and may_be_named(self._ev, key, frame, name)
                    if named and not self._ev.liveness.is_dead(step.context, frame):
                        yield self._ev.eval(value, frame)

    def attributes_like(self, inst: Instance, pattern: str) -> list[str]:
        """The names of the object's attributes that match a pattern and that its methods assign."""
        methods = self.methods_asked(inst.cls, _mentions_like, pattern)
        stored = {name for one in methods if one.function for name in self._ev.code(one.function).stored}
        return sorted(name for name in stored if re.fullmatch(pattern, name))

    def constructing(self, inst: Instance, word: str) -> list[Frame]:
        """The frames that run while the object is constructed and whose text holds `word`."""
        return self._constructing(inst, self._methods_of(self._mentioning(inst.cls, word)))[0]

    def _frames_mentioning(self, inst: Instance, name: str) -> Iterator[Frame]:
        """The frames of the object's methods whose text mentions the attribute: its construction, then others, open."""
        return self._frames_holding(inst, f".{name}.")

    def _frames_holding(self, inst: Instance, word: str) -> Iterator[Frame]:
        """The frames of the object's methods whose text holds `word`: its construction, then others, open."""
        methods = self._mentioning(inst.cls, word)
        constructed, _ = self._constructing(inst, self._methods_of(methods))
        yield from constructed
        yield from (frame for _, frame in self._other_frames(inst, constructed, methods))

    def _beyond_stores(self, inst: Instance, name: str) -> Iterator[Val]:
        passed = self._record_argument(inst, name)
        if passed is not None:
            yield present_or(passed, BOTTOM)
            if ABSENT not in passed.atoms:
                return
        yield from taken_as_keywords(self._ev, inst, name)
        member = self._readable_member(inst.cls, name)
        if member is not None:
            yield self._as_default(inst, declared_default(self._ev, self.class_value(member, inst.cls)))
        elif name == hyperparameters.NAME:
            kept = hyperparameters.kept(self._ev, inst)
            yield from (kept,) if kept is not None else ()

    def _as_default(self, inst: Instance, value: Val) -> Val:
        """A class-level constant is the usual value of the field, if unknown code creates the object or if it is a
        record of settings."""
        if value.literal is None or (inst.site is not None and not self.is_record(inst.cls)):
            return value
        return of(Literal_(value.literal.kind, value.literal.value, "class default"))

    def is_record(self, cls: ClassRef) -> bool:
        """Whether the objects of a class hold the fields that its body declares: a dataclass, a pydantic model."""
        head = self.head(cls)
        return head is not None and (bool(head.decorators) or not RECORD_BASES.isdisjoint(self.library_bases(cls)))

    def fields(self, cls: ClassRef) -> list[str]:
        """The fields that a record and its ancestors declare, in the order of its constructor's parameters."""
        ancestry = [base for base in reversed(self.mro(cls)) if isinstance(base, ClassRef)]
        return list(dict.fromkeys(name for base in ancestry for name, _, _ in self._annotated(base)))

    def declared(self, cls: ClassRef, name: str) -> tuple[Frame, int] | None:
        """The annotation of an attribute in the body of the class, or else of the nearest ancestor that has one: an
        expression, and the frame to evaluate it in."""
        for base in (base for base in self.mro(cls) if isinstance(base, ClassRef)):
            for one, piece, annotation in self._annotated(base):
                if one == name:
                    return self._ev.body(base.path, piece), annotation
        return None

    def _record_argument(self, inst: Instance, name: str) -> Val | None:
        if inst.site is None or not self.is_record(inst.cls):
            return None
        fields = self.fields(inst.cls)
        if name not in fields:
            return None
        passed = self._ev.calls.with_options(self._ev.calls.site_arguments(inst.site), (name,))
        return passed.get(name, fields.index(name))

    def _annotated(self, cls: ClassRef) -> list[tuple[str, int, int]]:
        """The names that the body of a class annotates, each with the piece and the expression of its annotation."""
        file = self._ev.file(cls.path)
        found: list[tuple[str, int, int]] = []
        for index, _ in file.asking(_may_annotate, scope=cls.piece) if file else ():
            assert file is not None
            facts = self._ev.facts(cls.path, index) if file.pieces[index].parent == cls.piece else None
            for step in facts.ir.defs[0].steps if facts else ():
                if type(step) is ir.Bind and step.annotation != NONE:
                    found.append((step.name, index, step.annotation))
        return found

    def _kept_by_library(self, inst: Instance, name: str) -> Iterator[Val]:
        """The argument that the constructor of a library's dataset, from which the class derives, stores under this
        name: `self.transform` of an `ImageFolder`."""
        for base in self.library_bases(inst.cls):
            if keeps_argument(base, name):
                kept = library_calls.kept_by_library(self._ev, inst, base, name)
                if kept is not None:
                    yield kept

    def _missing(self, inst: Instance) -> Val:
        for base in self.mro(inst.cls):
            if isinstance(base, Unknown):
                return of(base)
            if isinstance(base, Lib) and base.name not in ("builtins.object", "abc.ABC"):
                return unknown("library attribute")
        return unknown("no such attribute")


def _is_always_made(stores: Iterable[Store]) -> bool:
    """Whether each construction of the object that does not raise makes one of these assignments."""
    contexts: dict[Frame, list[int]] = {}
    for store in stores:
        one = store.frame.code.one
        if store.construction and one is not None:
            contexts.setdefault(store.frame, []).append(one.steps[store.step].context)
    return any(frame.code.always_passes(around) for frame, around in contexts.items())


def _called_name(number: int, frame: Frame) -> str:
    """The name of the method that expression `number` calls."""
    call = frame.code.exprs[number]
    func = frame.code.exprs[call.func] if isinstance(call, ir.Call) else None
    return func.name if isinstance(func, ir.Attr) else ""


def declared_default(ev: Evaluator, value: Val) -> Val:
    """The default of a field or an option: `field(default=...)`, `Field(8)`, `field(default_factory=...)`."""
    for atom in value.only(LibObject):
        if atom.name in FIELDS:
            passed = ev.calls.site_arguments(atom.site)
            factory = next((made for name in FACTORIES if (made := passed.get(name)) is not None), None)
            if factory is not None:
                return ev.calls.call(factory, Arguments(), atom.site.frame, atom.site.expr, {})[0]
            return passed.get("default", FIELDS[atom.name]) or value
    return value


def _mentions_like(text: str, pattern: str) -> bool:
    """Whether a text mentions an attribute whose name matches a pattern."""
    return re.search(rf"\.{pattern}\b", text) is not None


def _is_passed_on(text: str, name: str) -> bool:
    """Whether a text mentions attribute `name` of something without calling it there."""
    return re.search(rf"\.{re.escape(name)}\b(?!\s*\()", text) is not None


def _may_annotate(text: str) -> bool:
    """Whether a piece of the body of a class may declare a field."""
    return ":" in text and not is_def(text)


def _is_part(member: Member, nearest: Member) -> bool:
    """Whether a function of a class is one of those that the nearest binding of its name stands for."""
    return any(one.function == member.function for one in functions_of(nearest))


def _is_def(member: Member, index: int) -> bool:
    """Whether a function is def `index` of its piece."""
    return member.function is not None and member.function.def_ == index


def _first_bound(member: Member) -> Binding:
    """The sort key of a method in its class; `Classes.methods` returns them in this order."""
    return member.bindings[0]


def _merge(lines: list[list[Base]]) -> list[Base]:
    """C3 linearisation; if it has no answer, the first candidate wins.

    Equal ancestors become one object, which is cheap to compare. A counter stores how often each follows another one:
    searching all lists for each of their heads takes seconds for a few hundred classes with many bases."""
    known: dict[Base, Base] = {}
    left = [[known.setdefault(base, base) for base in line] for line in lines if line]
    behind = Counter(base for line in left for base in line[1:])
    order: list[Base] = []
    while left and len(order) <= _MAX_ANCESTORS:
        head = next((line[0] for line in left if not behind[line[0]]), left[0][0])
        order.append(head)
        if behind[head]:  # no consistent order
            left = [rest for line in left if (rest := [base for base in line if base is not head])]
            behind = Counter(base for line in left for base in line[1:])
            continue
        for line in left:
            if line[0] is head:
                del line[0]
                behind.subtract(line[:1])
        left = [line for line in left if line]
    return order


def _until_set(value: Val) -> Val:
    """The value of an attribute that other code sets, too: None is a placeholder until then."""
    nothing = by_default(Val(frozenset(atom for atom in value.atoms if is_none(atom)), value.origins), "default")
    return Val(frozenset(atom for atom in value.atoms if not is_none(atom)) | nothing.atoms, value.origins)
