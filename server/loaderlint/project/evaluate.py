"""The evaluator: what an expression may be, on demand, across files, without running anything.

Everything is asked for lazily and remembered in the frame it was asked in. Nothing here knows rules or loaders.
A value that cannot be known is `Unknown` with its reason, never a guess. Here are frames, expressions and attributes;
names, functions, calls, classes, options and what never runs are parts with a module each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR, PieceFacts
from loaderlint.knowledge.arrays import VIEW_ATTRIBUTES
from loaderlint.knowledge.names import canonical
from loaderlint.project import library
from loaderlint.project.budget import MAX_CONTEXTS, MAX_HEIGHTS, MAX_NAME_LENGTH, TOO_MANY
from loaderlint.project.calls import Calls
from loaderlint.project.classes import Classes
from loaderlint.project.configured import Configured, flags_module
from loaderlint.project.files import Files, ProjectFile
from loaderlint.project.fixpoint import Fixpoint
from loaderlint.project.frames import Code, Frame
from loaderlint.project.functions import Functions
from loaderlint.project.liveness import Liveness
from loaderlint.project.lowered import Lowered
from loaderlint.project.meanings import MEANINGS
from loaderlint.project.names import Names
from loaderlint.project.values import (
    BOTTOM,
    NONE_VALUE,
    Atom,
    ClassRef,
    FolderRef,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Literal_,
    MapOf,
    Method,
    ModuleRef,
    Namespace,
    PartialOf,
    SeqOf,
    SuperRef,
    Unknown,
    Val,
    constant,
    extended,
    height_of,
    height_of_atom,
    join,
    lib,
    member_of,
    of,
    unknown,
)

#: What tells the frames of one def apart: the receiver, the arguments, the frame around, the class it was found in.
_Context = tuple[Atom | None, tuple[Val | None, ...], Frame | None, ClassRef | None]
_NO_ANSWER = unknown("cycle")


@dataclass(slots=True)
class _Def:
    """A def with its frames."""

    code: Code
    frames: dict[_Context, Frame]


class TooManyContexts(Exception):
    """A def has more contexts than may be told apart."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.order)
        self.path = frame.path


class Evaluator:
    """Evaluates expressions of one immutable snapshot of a project. `max_height`: objects that are made in higher
    contexts are not told apart (see `Frame.height`)."""

    def __init__(self, files: Files, max_height: int = MAX_HEIGHTS[0]) -> None:
        self.files = files
        self.max_height = max_height
        self.fixpoint = Fixpoint()
        self.lowered = Lowered(self)
        self._defs: dict[tuple[Path, int, int], _Def] = {}
        self._leads: dict[Frame, dict[int, tuple[Frame, ...]]] = {}
        self._facts: dict[tuple[Path, int], PieceFacts | None] = {}
        self.names = Names(self)
        self.functions = Functions(self)
        self.calls = Calls(self)
        self.liveness = Liveness(self)
        self.classes = Classes(self)
        self.configured = Configured(self)

    def take_apart(self) -> None:
        """See `Model.take_apart`."""
        for known in self._defs.values():
            for frame in known.frames.values():
                frame.memo.clear()
                frame.targets.clear()
        vars(self).clear()

    # --- frames -------------------------------------------------------------------------------------------------------

    def file(self, path: Path) -> ProjectFile | None:
        """A file of the snapshot."""
        return self.files.file(path)

    def facts(self, path: Path, piece: int) -> PieceFacts | None:
        """The facts of a piece; None where the file or the piece cannot be read."""
        key = (path, piece)
        try:
            return self._facts[key]
        except KeyError:
            file = self.files.file(path)
            found = self._facts[key] = file.facts_of(piece) if file and piece < len(file.pieces) else None
            return found

    def def_of(self, frame: Frame) -> DefIR | None:
        """The def a frame runs."""
        return frame.code.one

    def expr(self, frame: Frame, number: int) -> ir.Expr | None:
        """The expression itself."""
        exprs = frame.code.exprs
        return exprs[number] if exprs and number != NONE else None

    def performed(self, frame: Frame) -> tuple[tuple[ir.Perform, ir.Call], ...]:
        """The calls of a frame's def in source order, those of dead branches too; nothing is evaluated."""
        return frame.code.calls

    def body(self, path: Path, piece: int) -> Frame:
        """The frame of a piece's own body (module level or class body)."""
        return self.frame(path, piece, 0, None, (), None, None)

    def frame(
        self,
        path: Path,
        piece: int,
        def_: int,
        receiver: Atom | None,
        args: tuple[Val | None, ...],
        scope: Frame | None,
        owner: ClassRef | None,
    ) -> Frame:
        """The one frame with these parts. Where an object was made is forgotten if it was made too high: at more than
        `max_height` for the receiver, at no less for arguments. So a def has few frames, and which ones is a matter of
        the parts alone, not of the frames that are known already.

        Raises TooManyContexts."""
        known = self._def(path, piece, def_)
        found = known.frames.get((receiver, args, scope, owner))
        if found is not None:
            return found
        low = self.lowered
        context = (
            None if receiver is None else low.atom(receiver, self.max_height),
            tuple(None if value is None else low.value(value, self.max_height - 1) for value in args),
            None if scope is None or scope.height < self.max_height else low.frame(scope),
            None if owner is None else low.class_(owner, self.max_height),
        )
        found = known.frames.get(context)
        if found is None:
            found = known.frames[context] = Frame(path, piece, def_, *context, known.code, _height_of_context(context))
            if len(known.frames) > MAX_CONTEXTS:
                raise TooManyContexts(found)
        return found

    def code(self, function: FunctionRef) -> Code:
        """What is written in a function; no frame is made."""
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
        known = memo.get(number)
        if known is not None:
            return known
        if number == NONE:
            return NONE_VALUE
        exprs = frame.code.exprs
        if number >= len(exprs):
            return unknown("half typed")
        e = exprs[number]
        if type(e) is ir.Const:
            value = memo[number] = constant(*e)
            return value
        return self.fixpoint.ask(
            memo, number, BOTTOM, _NO_ANSWER, MEANINGS[type(e)], self, e, number, frame, notes=frame
        )

    def targets(self, number: int, frame: Frame) -> tuple[Frame, ...]:
        """The frames that expression `number` leads to in a frame: what it calls, and the properties that it reads."""
        self.eval(number, frame)
        found = frame.targets.get(number, ())
        if not found and frame.before and number not in frame.memo:
            return frame.before.get(number, ())
        return found

    # --- attributes ---------------------------------------------------------------------------------------------------

    def attribute(self, base: Val, name: str, frame: Frame, number: int | None) -> Val:
        """`base.name`. A property that is read is a call: its frame becomes a target of expression `number`."""
        parts: list[Val] = []
        for atom in base.atoms:
            value, targets = self._attribute(atom, name, frame)
            parts.append(value)
            if targets and number is not None:
                frame.add_targets(number, targets)
        value = join(parts)
        if not base.origins:
            return value
        if any(isinstance(atom, Method | FunctionRef | ClassRef | LibMember) for atom in value.atoms):
            # a bound method keeps its receiver's origins: `self.data.sort()` must know whose data it sorts
            return Val(value.atoms, value.origins | base.origins)
        relation = "view" if name in VIEW_ATTRIBUTES else "same"
        return Val(value.atoms, value.origins | extended(base.origins, name, relation))

    def _attribute(self, atom: Atom, name: str, frame: Frame) -> tuple[Val, tuple[Frame, ...]]:
        match atom:
            case Lib(owner):
                module = flags_module(atom) if owner.endswith(".FLAGS") else None
                flag = self.configured.flag(module, name) if module else None
                return (flag if flag is not None else _of_library(owner, name)), ()
            case ModuleRef() | FolderRef():
                found = self.names.module_attribute(atom, name)
                return (found if found is not None else unknown("unresolved import")), ()
            case Instance():
                return self.classes.instance_attribute(atom, name, frame)
            case ClassRef():
                return self.classes.class_attribute(atom, name), ()
            case SuperRef():
                return self.classes.super_attribute(atom, name), ()
            case Namespace():
                return self.configured.attribute(atom, name), ()
            case LibObject():
                found = self.configured.node_attribute(atom, name)
                return (found if found is not None else member_of(atom, name)), ()
            case SeqOf() | MapOf() | LibMember() | Literal_() | PartialOf() | FunctionRef() | Method():
                if isinstance(atom, PartialOf) and name == "func":
                    return of(atom.func), ()
                return member_of(atom, name), ()
            case Unknown():
                return of(atom), ()
        raise AssertionError(atom)

    # --- walking ------------------------------------------------------------------------------------------------------

    def run(self, frame: Frame) -> Iterator[Frame]:
        """The frames that the calls and property reads of a frame lead to, each once, in the order of the source."""
        yield from dict.fromkeys(target for targets in self.leads(frame).values() for target in targets)

    def leads(self, frame: Frame) -> Mapping[int, tuple[Frame, ...]]:
        """Where a frame leads, by the number of the expression that does: every step that can run is evaluated."""
        known = self._leads.get(frame)
        if known is None:
            known = self._leads[frame] = self._find_leads(frame)
        return known

    def _find_leads(self, frame: Frame) -> dict[int, tuple[Frame, ...]]:
        if self.def_of(frame) is None:
            return {}
        for context, numbers, gone_through in frame.code.evaluated:
            if context > 0 and self.liveness.is_dead(context, frame):
                continue
            for number in numbers:
                self.eval(number, frame)
            if gone_through != NONE:
                library.element(self, self.eval(gone_through, frame), frame, gone_through)
        is_dead = self.liveness.expression_is_dead
        return {number: targets for number, targets in sorted(frame.targets.items()) if not is_dead(number, frame)}


def _height_of_context(context: _Context) -> int:
    receiver, args, scope, owner = context
    atoms = [height_of_atom(atom) for atom in (receiver, owner) if atom is not None]
    values = [height_of(value) for value in args if value is not None]
    return max([*atoms, *values, 0 if scope is None else scope.height + 1])


@lru_cache(maxsize=4096)
def _of_library(owner: str, name: str) -> Val:
    """Attribute `name` of what the library calls `owner`."""
    if len(owner) + len(name) >= MAX_NAME_LENGTH:
        return unknown(TOO_MANY)
    return lib(canonical(f"{owner}.{name}"))
