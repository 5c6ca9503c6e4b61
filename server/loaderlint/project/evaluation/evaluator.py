"""The evaluator: what an expression may be, on demand, across files, without running anything.

Everything is evaluated lazily and memoized in its frame. This module does not know rules or loaders. A value that
cannot be known is `Unknown` with its reason, never a guess. This module has frames, expressions and attributes; names,
functions, calls, classes, options and dead code have a module each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.arrays import VIEW_ATTRIBUTES
from loaderlint.knowledge.canonical_names import canonical
from loaderlint.project.evaluation import item_values, operators, wrapped_datasets
from loaderlint.project.evaluation.calls import Calls
from loaderlint.project.evaluation.classes import Classes
from loaderlint.project.evaluation.dead_code import Liveness
from loaderlint.project.evaluation.expressions import MEANINGS
from loaderlint.project.evaluation.file_values import FileValues
from loaderlint.project.evaluation.fixtures import Fixtures
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.functions import Functions
from loaderlint.project.evaluation.import_graph import ImportGraph
from loaderlint.project.evaluation.installed import Installed
from loaderlint.project.evaluation.limits import (
    CONTEXTS,
    MAX_CONTEXTS,
    MAX_NAME_LENGTH,
    MAX_NESTED_FRAMES,
    MAX_SETTINGS,
    NESTED_OBJECTS,
    NOT_NONE,
    TOO_MANY,
    Limit,
    ReachedLimits,
)
from loaderlint.project.evaluation.name_lookup import Names
from loaderlint.project.evaluation.properties import run_by_steps
from loaderlint.project.evaluation.user_options import UserOptions, flags_module
from loaderlint.project.evaluation.values import (
    BOTTOM,
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
    PartialOf,
    SeqOf,
    Site,
    SuperRef,
    Unknown,
    Val,
    class_of,
    constant,
    extended,
    is_none,
    join,
    lib,
    member_of,
    of,
    sites_of,
    unknown,
)
from loaderlint.project.evaluation.yaml_configurations import YamlConfigurations
from loaderlint.project.modules.dependencies import defined_name
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import Files, ProjectFile

_PENDING = None
#: The number of expressions that may wait for each other. Each takes up to 25 frames of Python (see
#: `loaderlint.runtime.call_stack.FRAMES`).
MAX_NESTED = 400
#: The key of a frame of one def: the receiver, the arguments, the frame around it, the class it was found in.
_Context = tuple[Atom | None, tuple[Val | None, ...], Frame | None, ClassRef | None]

#: Arguments that decide what runs. All others are data: a function may be called with any number of numbers and
#: strings.
_DECIDING = (FunctionRef, ClassRef, Lib)
#: Objects that cannot be edited, drawn from or closed, so their origins do not matter.
_UNCHANGING = frozenset((Literal_, Lib, FunctionRef, ClassRef, ModuleRef, FolderRef, Namespace))


class _Def(Struct):
    """A def with its frames, how many of them are nested, and the settings that frames beyond the limit have."""

    code: Code
    frames: dict[_Context, Frame]
    nested: int = 0
    settings: set[tuple[tuple[int, Val], ...]] = field(default_factory=set)

    def settings_in(self, args: tuple[Val | None, ...]) -> frozenset[int]:
        """The arguments that stay distinguished beyond the limit because they are settings: True, False, or the
        constant that the parameter has by default. Only the first `MAX_SETTINGS` combinations of them are."""
        found = tuple((index, value) for index, value in enumerate(args) if value and self._is_setting(index, value))
        if found not in self.settings:
            if len(self.settings) >= MAX_SETTINGS:
                return frozenset()
            self.settings.add(found)
        return frozenset(index for index, _ in found)

    def _is_setting(self, index: int, value: Val) -> bool:
        literal = value.literal
        return literal is not None and (literal.kind == "bool" or self.code.has_default(index, literal.value))


class _AskFirst(BaseException):
    """Raised when too many expressions wait for this one: the outermost question stops, evaluates this one, and starts
    again.

    Not an `Exception`, so that no handler in between catches it."""

    def __init__(self, number: int, frame: Frame) -> None:
        super().__init__()
        self.number = number
        self.frame = frame


class Evaluator:
    """Evaluates expressions of one immutable snapshot of a project."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._defs: dict[tuple[Path, int, int], _Def] = {}
        self._leads: dict[Frame, dict[int, tuple[Frame, ...]]] = {}
        self._facts: dict[tuple[Path, int], PieceFacts | None] = {}
        self._nested = 0
        self.limits = ReachedLimits()
        self.names = Names(self)
        self.installed = Installed(self)
        self.functions = Functions(self)
        self.fixtures = Fixtures(self)
        self.calls = Calls(self)
        self.liveness = Liveness(self)
        self.classes = Classes(self)
        self.import_graph = ImportGraph(self)
        self.user_options = UserOptions(self)
        self.yaml = YamlConfigurations(self)
        self.file_values = FileValues(self)

    def take_apart(self) -> None:
        """See `Model.take_apart`."""
        for known in self._defs.values():
            for frame in known.frames.values():
                frame.memo.clear()
                frame.unfilled.clear()
                frame.targets.clear()
        vars(self).clear()

    # --- frames -------------------------------------------------------------------------------------------------------

    def file(self, path: Path) -> ProjectFile | None:
        """A file of the snapshot."""
        return self.files.file(path)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of a piece; None if the file or the piece cannot be read."""
        key = (path, piece)
        try:
            return self._facts[key]
        except KeyError:
            file = self.files.file(path)
            found = self._facts[key] = file.facts_of(piece) if file and piece < len(file.pieces) else None
            return found

    def reached_limits(self) -> Iterator[Limit]:
        """The limits that were reached so far, as text for users."""
        yield from self.limits.told(self._called, self.installed.holds)

    def _called(self, path: Path, piece: int, def_: int) -> str:
        facts = self.facts(path, piece)
        name = facts.ir.defs[def_].name if facts and def_ else ""
        return f"`{name}`" if name else "a lambda" if def_ else "what stands at module level"

    def def_of(self, frame: Frame) -> DefIR | None:
        """The def a frame runs."""
        return frame.code.one

    def expr(self, frame: Frame, number: int) -> ir.Expr | None:
        """The expression itself."""
        exprs = frame.code.exprs
        return exprs[number] if exprs and number != NONE else None

    def performed(self, frame: Frame) -> tuple[tuple[ir.Perform, ir.Call], ...]:
        """The calls of a frame's def in source order, including dead branches; nothing is evaluated."""
        return frame.code.calls

    def body(self, path: Path, piece: int) -> Frame:
        """The frame of a piece's own body (module level or class body)."""
        return self.frame(path, piece, 0, None, (), None, None, 0)

    def frame(
        self,
        path: Path,
        piece: int,
        def_: int,
        receiver: Atom | None,
        args: tuple[Val | None, ...],
        scope: Frame | None,
        owner: ClassRef | None,
        depth: int,
        most: int = MAX_CONTEXTS,
    ) -> Frame:
        """The one frame with these parts. Beyond `most` frames of one def, only arguments that decide what runs are
        distinguished, and the object that a method runs on; beyond as many of those, only that and settings. Beyond
        `MAX_NESTED_FRAMES`, the frame does not record where its object was created and what is around it; nor does it
        where less than `MAX_CONTEXTS` are distinguished."""
        known = self._def(path, piece, def_)
        args = tuple([None if value is None else _unaliased(value) for value in args])
        context = (receiver, args, scope, owner)
        found = known.frames.get(context)
        if found is not None:
            found.depth = min(found.depth, depth)
            return found
        count = len(known.frames)
        if count >= most and any(args) and not _is_constructor(known.code, receiver):
            runs_on = receiver if most >= MAX_CONTEXTS or not isinstance(receiver, Instance) else _anywhere(receiver)
            settings = known.settings_in(args) if most >= MAX_CONTEXTS else frozenset[int]()
            forgotten = _forgotten(args, runs_on, known.code, settings, keeps=count < 2 * most)
            if forgotten != args or runs_on != receiver:
                self.limits.note(CONTEXTS, path, piece, def_)
                return self.frame(path, piece, def_, runs_on, forgotten, scope, owner, depth, most)
        nesting = max(_nesting(receiver), 0 if scope is None else scope.nesting + 1)
        if nesting > 1:
            if known.nested >= MAX_NESTED_FRAMES:
                self.limits.note(NESTED_OBJECTS, path, piece, def_)
                return self.frame(path, piece, def_, _anywhere(receiver), args, None, _unscoped(owner), depth)
            known.nested += 1
        made = Frame(path, piece, def_, receiver, args, scope, owner, depth, known.code, nesting)
        known.frames[context] = made
        return made

    def code(self, function: FunctionRef) -> Code:
        """The code of a function; no frame is created."""
        return self._def(function.path, function.piece, function.def_).code

    def _def(self, path: Path, piece: int, def_: int) -> _Def:
        place = (path, piece, def_)
        known = self._defs.get(place)
        if known is None:
            known = self._defs[place] = _Def(Code(self.facts(path, piece), def_), {})
        return known

    # --- expressions --------------------------------------------------------------------------------------------------

    def eval(self, number: int, frame: Frame) -> Val:
        """What expression `number` of the frame's piece may be, in that frame."""
        memo = frame.memo
        known = memo.get(number, _PENDING)
        if known is not _PENDING:
            return known
        if number == NONE:
            return NONE_VALUE
        if number in memo:
            return BOTTOM
        exprs = frame.code.exprs
        if number >= len(exprs):
            return unknown("half typed")
        e = exprs[number]
        if type(e) is ir.Const:
            value = memo[number] = constant(*e)
            return value
        if number in frame.code.heads and self._is_known_with_heads(number, frame):
            return memo[number] or BOTTOM
        nested = self._nested
        if nested == 0:
            return self._outermost(number, frame)
        if nested >= MAX_NESTED:
            raise _AskFirst(number, frame)
        self._nested = nested + 1
        memo[number] = _PENDING
        try:
            value = memo[number] = MEANINGS[type(e)](self, e, number, frame)
        except BaseException:
            memo.pop(number, None)  # it is not known, and the next question must not treat it as a cycle
            raise
        finally:
            self._nested = nested
        return value

    def is_waiting(self, number: int, frame: Frame) -> bool:
        """Whether an expression is being evaluated: it waits for what it is made of."""
        return number in frame.memo and frame.memo[number] is _PENDING

    def _is_known_with_heads(self, number: int, frame: Frame) -> bool:
        """Evaluate the locals that go round in the loop around an expression; of these, those before it if it is one of
        them. Says whether that evaluated it, too."""
        for head in frame.code.heads[number]:
            if head == number:
                break
            if head not in frame.memo:
                self.eval(head, frame)
        return number in frame.memo

    def targets(self, number: int, frame: Frame) -> tuple[Frame, ...]:
        """The frames that expression `number` leads to in a frame: what it calls, and the properties that it reads."""
        self.eval(number, frame)
        return frame.targets.get(number, ())

    def _outermost(self, number: int, frame: Frame) -> Val:
        """`eval` of an expression that no other one waits for. However long the chains from it are, the stack stays
        small: expressions that are too deep are evaluated first, and remembered."""
        waiting = [(number, frame)]
        try:
            while True:
                number, frame = waiting[-1]
                e = frame.code.exprs[number]
                frame.memo[number] = _PENDING  # the waiting ones are a cycle for the others
                self._nested = 1
                try:
                    value = MEANINGS[type(e)](self, e, number, frame)
                except _AskFirst as first:
                    waiting.append((first.number, first.frame))
                    continue
                frame.memo[number] = value
                waiting.pop()
                if not waiting:
                    return value
        finally:
            self._nested = 0
            for number, frame in waiting:
                frame.memo.pop(number, None)

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self, base: Val, name: str, frame: Frame, number: int | None) -> Val:
        """`base.name`. Reading a property is a call: its frame becomes a target of expression `number`. If the base may
        be None, the attribute is that of its other values."""
        parts: list[Val] = []
        atoms = base.ordered()
        for atom in [one for one in atoms if not is_none(one)] or atoms:
            value, targets = self._attribute(atom, name, frame, number)
            parts.append(value)
            if targets and number is not None:
                frame.add_targets(number, targets)
        value = join(parts) if parts else unknown("attribute")
        if not base.origins or all(isinstance(one, Instance) and self.classes.computes(one, name) for one in atoms):
            return value
        if any(isinstance(atom, Method | FunctionRef | ClassRef | LibMember) for atom in value.atoms):
            # a bound method keeps its receiver's origins: `self.data.sort()` must know whose data it sorts
            return Val(value.atoms, value.origins | base.origins)
        relation = "view" if name in VIEW_ATTRIBUTES else "same"
        return Val(value.atoms, value.origins | extended(base.origins, name, relation))

    def _attribute(self, atom: Atom, name: str, frame: Frame, number: int | None) -> tuple[Val, tuple[Frame, ...]]:
        match atom:
            case Lib(owner):
                module = flags_module(atom) if owner.endswith(".FLAGS") else None
                flag = self.user_options.flag(module, name) if module else None
                read = self.installed.value(f"{owner}.{name}") if flag is None else None
                return flag or read or _of_library(owner, name), ()
            case ModuleRef() | FolderRef():
                if name == "__dict__":
                    return member_of(atom, name), ()
                found = self.names.module_attribute(atom, name)
                return (found if found is not None else unknown("unresolved import")), ()
            case Instance():
                if name == "__class__":
                    return class_of(atom), ()
                return self.classes.instance_attribute(atom, name, frame)
            case ClassRef():
                if name == "__name__":
                    return of(Literal_("str", self.classes.name(atom))), ()
                return self.classes.class_attribute(atom, name), ()
            case SuperRef():
                return self.classes.super_attribute(atom, name), ()
            case Namespace():
                return self.user_options.attribute(atom, name), ()
            case LibObject():
                place = Site(frame, number) if number is not None else None
                found = self.user_options.node_attribute(atom, name, place) or wrapped_datasets.held_by(
                    self, atom, name
                )
                return (found if found is not None else member_of(atom, name)), ()
            case SeqOf(_, items, names=names) if name in names and len(items) == len(names):
                return items[names.index(name)], ()
            case Literal_(_, constant) if name == "value" and constant is not None:
                return of(atom), ()  # no constant has one: it is the value of a member of an `Enum`
            case SeqOf() | MapOf() | LibMember() | Literal_() | PartialOf() | FunctionRef() | Method():
                if isinstance(atom, PartialOf) and name == "func":
                    return of(atom.func), ()
                if isinstance(atom, FunctionRef) and name == "__name__":
                    return self._name_of(atom), ()
                return member_of(atom, name), ()
            case Unknown():
                return of(atom), ()
        raise AssertionError(atom)

    def _name_of(self, function: FunctionRef) -> Val:
        """`function.__name__`. The body of a function at module level is not read for that."""
        file = self.file(function.path) if function.def_ == 1 else None
        if file is not None:
            return of(Literal_("str", file.pieces[function.piece].ask(defined_name)))
        facts = self.facts(function.path, function.piece)
        return of(Literal_("str", facts.ir.defs[function.def_].name)) if facts else unknown("half typed")

    # --- walking ------------------------------------------------------------------------------------------------------

    def run(self, frame: Frame) -> Iterator[Frame]:
        """The frames that the calls and property reads of a frame lead to, each once, in the order of the source."""
        yield from dict.fromkeys(target for targets in self.leads(frame).values() for target in targets)

    def leads(self, frame: Frame) -> Mapping[int, tuple[Frame, ...]]:
        """Where a frame leads, by the number of the expression: every step that can run is evaluated."""
        known = self._leads.get(frame)
        if known is None:
            known = self._leads[frame] = self._find_leads(frame)
        return known

    def evaluated(self, frame: Frame) -> frozenset[int]:
        """The expressions of a frame that are evaluated when it runs, by their numbers."""
        self.leads(frame)
        return frozenset(number for number, value in frame.memo.items() if value is not None)

    def _find_leads(self, frame: Frame) -> dict[int, tuple[Frame, ...]]:
        if self.def_of(frame) is None:
            return {}
        for context, numbers, gone_through in frame.code.evaluated:
            if context > 0 and self.liveness.is_dead(context, frame):
                continue
            for number in numbers:
                self.eval(number, frame)
            if gone_through != NONE:
                item_values.element(self, self.eval(gone_through, frame), frame, gone_through)
        is_dead = self.liveness.expression_is_dead
        leads = {number: targets for number, targets in frame.targets.items() if not is_dead(number, frame)}
        for number, targets in run_by_steps(self, frame):
            leads[number] = tuple(dict.fromkeys((*leads.get(number, ()), *targets)))
        return {number: targets for number, targets in sorted(leads.items()) if targets}


def _forgotten(
    args: tuple[Val | None, ...], runs_on: Atom | None, code: Code, settings: frozenset[int], *, keeps: bool
) -> tuple[Val | None, ...]:
    """The arguments of a def with too many contexts, as far as they are distinguished. The object that a method runs on
    is one of the frame's parts, so to forget it as an argument would save no frame."""
    return tuple(
        value
        if value is None or index in settings or (index == 0 and runs_on is not None and value.atoms == {runs_on})
        else _coarse(value, keeps=keeps, tells_none=keeps and code.may_lack(index))
        for index, value in enumerate(args)
    )


def _coarse(value: Val, *, keeps: bool, tells_none: bool) -> Val:
    """An argument of a def with too many contexts: the part that decides what runs, if that is kept, or anything.
    `tells_none`: that part includes whether the argument is None."""
    kept = [atom for atom in value.atoms if isinstance(atom, _DECIDING)] if keeps else []
    if kept and len(kept) == len(value.atoms):
        return of(*kept)
    is_none = operators.compare("is", value, NONE_VALUE) if tells_none else None
    if is_none:
        return NONE_VALUE
    return of(*kept, Unknown("too many" if is_none is None else NOT_NONE))


def _unaliased(value: Val) -> Val:
    """An argument without its origins, if it cannot be edited. The field from which a number or a function was read
    makes no difference to the function that gets it, but each such field would create a context."""
    return Val(value.atoms) if value.origins and all(type(atom) in _UNCHANGING for atom in value.atoms) else value


def _is_constructor(code: Code, receiver: Atom | None) -> bool:
    """Whether a def constructs a known object: its arguments are those of the call that creates the object, so without
    them there are as many frames."""
    made = isinstance(receiver, Instance) and receiver.site is not None
    return made and code.one is not None and code.one.name == "__init__"


def _nesting(receiver: Atom | None) -> int:
    """How many objects and functions are around a frame that runs on this one."""
    cls = receiver.cls if isinstance(receiver, Instance) else receiver
    scope = cls.scope if isinstance(cls, ClassRef) else None
    sites = sites_of(receiver) if isinstance(receiver, Instance) else ()
    around = (scope, *(site.frame for site in sites))
    return max(0 if one is None else one.nesting + 1 for one in around)


def _anywhere(receiver: Atom | None) -> Atom | None:
    """A receiver of the same class, created by unknown code."""
    if isinstance(receiver, Instance):
        return Instance(replace(receiver.cls, scope=None), None)
    return replace(receiver, scope=None) if isinstance(receiver, ClassRef) else None


def _unscoped(cls: ClassRef | None) -> ClassRef | None:
    return None if cls is None else replace(cls, scope=None)


@lru_cache(maxsize=4096)
def _of_library(owner: str, name: str) -> Val:
    """Attribute `name` of the library's object `owner`."""
    if len(owner) + len(name) >= MAX_NAME_LENGTH:
        return unknown(TOO_MANY)
    return lib(canonical(f"{owner}.{name}"))
