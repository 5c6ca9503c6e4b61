"""Functions of the project: their decorators and defaults, the frames that run them, what they return."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.higher_order import PROPERTY_DECORATORS, STUB_DECORATORS, TRANSPARENT_DECORATORS
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import (
    NONE_VALUE,
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    Lib,
    LibObject,
    Literal_,
    MapOf,
    SeqOf,
    Site,
    Unknown,
    Val,
    join,
    of,
    unknown,
)
from loaderlint.project.modules.project_files import is_bare_function

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

MAX_DEPTH = 24


class Functions:
    """Function questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._returns: dict[Frame, Val] = {}
        self._running: set[Frame] = set()
        self._bare: dict[tuple[Path, int], bool] = {}

    def open_frame(self, function: FunctionRef, receiver: Atom | None, owner: ClassRef | None) -> Frame | None:
        """The frame of a function that somebody out of sight calls: a parameter is its default or anything."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is None:
            return None
        params = facts.ir.defs[function.def_].params
        args: list[Val | None] = []
        for index, param in enumerate(params):
            if index == 0 and receiver is not None:
                args.append(of(receiver))
            elif param.kind == "starstar":
                args.append(of(MapOf((None,), (unknown("parameter"),))))
            elif param.default == NONE:
                args.append(self._annotated(function, param) or unknown("parameter"))
            else:
                args.append(_open_default(self.default(function, param)))
        return self._ev.frame(
            function.path, function.piece, function.def_, receiver, tuple(args), function.scope, owner, 0
        )

    def _annotated(self, function: FunctionRef, param: ir.ParamIR) -> Val | None:
        """An instance of the project's class that annotates a parameter, made out of sight; None for other
        annotations."""
        if param.annotation == NONE:
            return None
        value = self._ev.eval(param.annotation, self._defining(function))
        for atom in value.only(ClassRef):
            if isinstance(atom, ClassRef):
                return of(Instance(atom, None), Unknown("parameter"))
        return None

    def _defining(self, function: FunctionRef) -> Frame:
        """The frame in which a function's defaults and decorators are evaluated."""
        return function.scope or self._ev.body(function.path, function.piece)

    def default(self, function: FunctionRef, param: ir.ParamIR) -> Val:
        """The value of a parameter's default."""
        return self._ev.eval(param.default, self._defining(function)) if param.default != NONE else unknown("parameter")

    def invoke(
        self,
        function: FunctionRef,
        receiver: Atom | None,
        owner: ClassRef | None,
        arguments: Arguments,
        caller: Frame,
    ) -> tuple[Val, tuple[Frame, ...]]:
        """Call a function of the project: its result and its frame. Too deep or recursive: Unknown."""
        facts = self._ev.facts(function.path, function.piece)
        if facts is None:
            return unknown("half typed"), ()
        one = facts.ir.defs[function.def_]
        decoration = self.decoration(function)
        if decoration == "stub":
            return unknown("overload"), ()
        if caller.depth >= MAX_DEPTH:
            return unknown("too deep"), ()
        args = arguments.bind(one.params, of(receiver) if receiver is not None else None)
        frame = self._ev.frame(
            function.path, function.piece, function.def_, receiver, args, function.scope, owner, caller.depth + 1
        )
        if decoration == "unknown":
            return unknown("decorator"), (frame,)
        return self.returned(frame), (frame,)

    def decoration(self, function: FunctionRef) -> str:
        """What decorators make of a function: 'plain', 'property', 'static', 'class', 'manager', 'stub' or
        'unknown'."""
        if self._is_bare(function):
            return "plain"
        facts = self._ev.facts(function.path, function.piece)
        if facts is None:
            return "unknown"
        answer = "plain"
        for decorator in facts.ir.defs[function.def_].decorators:
            name = self._decorator_name(facts, decorator, function)
            if name in PROPERTY_DECORATORS or name.endswith((".setter", ".getter")):
                answer = "property"
            elif name == "builtins.staticmethod":
                answer = "static"
            elif name == "builtins.classmethod":
                answer = "class"
            elif name == "contextlib.contextmanager":
                answer = "manager"
            elif name in STUB_DECORATORS:
                return "stub"
            elif name not in TRANSPARENT_DECORATORS:
                return "unknown"
        return answer

    def _is_bare(self, function: FunctionRef) -> bool:
        """Whether a function is seen in its text to have no decorators: few of the methods that are named are called,
        and need their facts."""
        if function.def_ != 1:
            return False
        place = (function.path, function.piece)
        known = self._bare.get(place)
        if known is None:
            file = self._ev.file(function.path)
            known = self._bare[place] = file is not None and file.pieces[function.piece].ask(is_bare_function)
        return known

    def _decorator_name(self, facts: PieceFacts, decorator: int, function: FunctionRef) -> str:
        e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Call):
            decorator = e.func
            e = facts.ir.exprs[decorator]
        if isinstance(e, ir.Attr) and e.name in ("setter", "getter", "deleter"):
            return f".{e.name}"
        value = self._ev.eval(decorator, self._defining(function))
        libs = [atom.name for atom in value.atoms if isinstance(atom, Lib)]
        return libs[0] if len(libs) == 1 and len(value.atoms) == 1 else ""

    def returned(self, frame: Frame) -> Val:
        """What a call that runs `frame` gives."""
        known = self._returns.get(frame)
        if known is not None:
            return known
        one = self._ev.def_of(frame)
        if one is None:
            return unknown("half typed")
        if frame in self._running:
            return unknown("cycle")
        self._running.add(frame)
        try:
            value = self._returned(one, frame)
        finally:
            self._running.discard(frame)
        self._returns[frame] = value
        return value

    def _returned(self, one: DefIR, frame: Frame) -> Val:
        yields = [
            self._ev.eval(step.value, frame)
            for _, step in frame.code.steps_of(ir.YieldStep)
            if not step.is_from and not (step.context and self._ev.liveness.is_dead(step.context, frame))
        ]
        if one.is_generator:
            function = FunctionRef(frame.path, frame.piece, frame.def_, frame.scope)
            if self.decoration(function) == "manager":
                return join(yields) if yields else unknown("generator")
            return of(
                SeqOf("list", (join(yields),) if yields else ()), LibObject("builtins.generator", Site(frame, -2))
            )
        values = [
            self._ev.eval(step.value, frame)
            for _, step in frame.code.steps_of(ir.Return)
            if not (step.context and self._ev.liveness.is_dead(step.context, frame))
        ]
        if one.falls_through or not values:
            values.append(NONE_VALUE)
        return join(values)


def _open_default(value: Val) -> Val:
    """A parameter's default where callers are out of sight: a number, text or flag is what it normally is."""
    literal = value.literal
    if literal is None or literal.value is None:
        return join((value, unknown("parameter")))
    return of(Literal_(literal.kind, literal.value, literal.configured or "default"))
