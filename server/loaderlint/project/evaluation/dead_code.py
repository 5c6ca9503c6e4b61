"""Dead code: tests that constants decide, the branches that they exclude, and the bindings in those branches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation import library_calls, none_tests, operators, type_tests
from loaderlint.project.evaluation.asserted_values import asserted_value
from loaderlint.project.evaluation.drawn_numbers import is_drawn
from loaderlint.project.evaluation.empty_ranges import is_empty_range
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.key_tests import has_key
from loaderlint.project.evaluation.length_tests import length_test
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import Atom, ClassRef, Instance, Lib, Literal_, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


#: Expressions that evaluate their first operand in any case, and before the others.
_READ_FIRST = (ir.Attr, ir.Index, ir.Call, ir.Compare, ir.BoolOp, ir.Unary)
_TYPE = frozenset({Lib("builtins.type")})
#: The comparisons of two classes, each with its answer where they differ.
_SAME_OR_NOT = {"==": False, "is": False, "!=": True, "is not": True}
_NOTHING = frozenset({Literal_("NoneType", None)})
#: How members of an `Enum` are compared, which are one object for each value.
_BY_VALUE = {"is": "==", "is not": "!="}
#: Classes of libraries that have neither a length nor a truth of their own.
_WITHOUT_LENGTH = frozenset(
    {"builtins.object", "abc.ABC", "torch.nn.Module", "torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
)
#: The context of the suite of a clause, in the piece of its head.
_OF_CLAUSE = 1


class Liveness:
    """Which steps of a frame may run, according to the constants of that frame."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        #: Whether a test was asked about a value that is being computed. Its answer may be another one afterwards.
        self._asked_too_early = False

    def is_dead(self, context: int, frame: Frame) -> bool:
        """Whether the steps of a context never run in this frame, according to its constants."""
        return self._runs(context, frame) is False

    def always_runs(self, context: int, outer: int, frame: Frame) -> bool:
        """Whether a context runs each time that the context `outer` around it does."""
        one = frame.code.one
        while one is not None and context != outer:
            if not self._runs(context, frame):
                return False
            context = one.contexts[context].parent
        return True

    def run_with(self, context: int, frame: Frame) -> int:
        """The outermost context around this one that never runs without it."""
        one = frame.code.one
        while one is not None and self._runs(context, frame):
            context = one.contexts[context].parent
        return context

    def _runs(self, context: int, frame: Frame) -> bool | None:
        """Whether a context never runs in this frame (False), is a branch that runs whenever the code around it does
        (True), or neither, judging by the constants (None)."""
        one = frame.code.one
        if one is None or not 0 < context < len(one.contexts):
            return None
        known = self._known(frame)
        if context in known:
            return known[context]
        before, self._asked_too_early = self._asked_too_early, False
        with provisional(known, context, None):
            known[context] = answer = self._decided(one.contexts[context], frame)
        if self._asked_too_early:
            del known[context]
        self._asked_too_early = before or self._asked_too_early
        return answer

    def is_switched_off(self, path: Path, piece: int) -> bool:
        """Whether a piece outside functions never runs because of the clauses around it: a long statement is cut into
        its clauses and the statements in them. A constant is often a switch that somebody turns: `TRAIN = False`."""
        file = self._ev.file(path)
        if file is None:
            return False
        parent = file.pieces[piece].parent
        if any(self._answer(path, clause) is True for clause in file.clauses_before(piece)):
            return True
        if parent < 0 or file.pieces[parent].kind != "clause":
            return False
        return self._answer(path, parent) is False or self.is_switched_off(path, parent)

    def _answer(self, path: Path, clause: int) -> bool | None:
        """Whether the suite of a clause always runs where its test is asked, or never; None if it may do either."""
        return self._runs(_OF_CLAUSE, self._ev.body(path, clause))

    def _known(self, frame: Frame) -> dict[int, bool | None]:
        """What is known so far about which contexts of a frame run."""
        return frame.runs

    def _value(self, number: int, frame: Frame) -> Val:
        """What a part of a test may be."""
        value = self._ev.eval(number, frame)
        self._asked_too_early = self._asked_too_early or not value.atoms
        return value

    def _decided(self, here: ir.Context, frame: Frame) -> bool | None:
        if self.is_dead(here.parent, frame):
            return False
        if here.expr != NONE and here.kind == "loop":
            return False if is_empty_range(here.expr, frame, partial(self._value, frame=frame)) else None
        if here.kind not in ("if", "while") or here.expr == NONE:
            return None
        if self._fails(here.expr, frame):
            return False
        truth = self.truth(here.expr, frame)
        if here.kind == "while":
            return False if truth is False else None
        return None if truth is None else truth is not here.negated

    def returns(self, frame: Frame) -> Iterator[tuple[int, ir.Return]]:
        """The return statements of a frame that may run, with their numbers: neither in branches that never run, nor
        after one that always runs."""
        one = frame.code.one
        if one is None:
            return
        left: set[int] = set()
        for number, step in frame.code.steps_of(ir.Return):
            if self.is_dead(step.context, frame):
                continue
            if not left or left.isdisjoint((0, *one.enclosing(step.context))):
                yield number, step
            left.update(self._left_by(step.context, frame))

    def always_returns(self, frame: Frame) -> bool:
        """Whether a return statement in a branch runs in every call, so that the frame never reaches its end."""
        return any(0 in self._left_by(step.context, frame) for _, step in frame.code.steps_of(ir.Return))

    def _left_by(self, context: int, frame: Frame) -> Iterator[int]:
        """The contexts around a return statement that never go on after it: only tests that always hold lie between."""
        while context and frame.code.one is not None and self._runs(context, frame):
            context = frame.code.one.contexts[context].parent
            yield context

    def _fails(self, test: int, frame: Frame) -> bool:
        """Whether a test begins with an attribute or an item of a parameter that is None, so that the branches below it
        never run: `if opt["dist"]` where the caller leaves out `opt=None`."""
        e, base = self._ev.expr(frame, test), NONE
        while isinstance(e, _READ_FIRST):
            base = ir.operands(e)[0]
            is_read = isinstance(e, ir.Attr | ir.Index)
            e = self._ev.expr(frame, base)
            if is_read and isinstance(e, ir.Param):
                return self._ev.eval(base, frame).atoms == _NOTHING
        return False

    def truth(self, number: int, frame: Frame) -> bool | None:
        """Whether a test is always true or always false here; None if it may be either."""
        e = self._ev.expr(frame, number)
        if isinstance(e, ir.Compare) and (asked := length_test(self._ev, number, frame)) is not None:
            is_filled = operators.holds_items(self._value(asked.container, frame))
            return None if is_filled is None else is_filled is asked.is_filled
        match e:
            case ir.Unary("not", operand):
                inner = self.truth(operand, frame)
                return None if inner is None else not inner
            case ir.BoolOp(op, left, right):
                decisive = op == "or"
                first = self.truth(left, frame)
                if first is decisive:
                    return decisive
                second = self.truth(right, frame)
                return second if second is decisive or first is not None else None
            case ir.Compare(left, ("in" | "not in" as op,), (right,)):
                is_there = self._is_among(left, right, frame)
                is_there = has_key(self._ev, left, right, frame) if is_there is None else is_there
                return None if is_there is None else is_there is (op == "in")
            case ir.Compare(left, (op,), (right,)):
                op = _BY_VALUE[op] if op in _BY_VALUE and self._is_member(right, frame) else op
                by = self._value(right, frame) if op in operators.COMPARED else None  # most often a constant
                if by is None or not operators.is_telling(op, by):
                    return self._by_exact_type(left, op, by, frame)
                asserted = asserted_value(left, number, frame, partial(self.is_dead, frame=frame))
                answer = operators.compare(op, asserted or self._value(left, frame), by)
                return answer if answer is not None else self._compared_with_none(op, left, by, number, frame)
            case ir.Global("TYPE_CHECKING") | ir.Attr(_, "TYPE_CHECKING"):
                return False
            case ir.Call(func, _) if self._is_opaque(func, frame):
                tested = type_tests.tested_type(self._ev, e, frame)
                if tested is None:
                    return None
                number, types = tested
                return type_tests.has_type(self._ev, number, self._value(number, frame), types, frame)
            case ir.Global() | ir.Param() | ir.Attr() | ir.Capture() | ir.Const() | ir.Phi() | ir.Call():
                return self._truth_of(self._value(number, frame))
        return None

    def _truth_of(self, value: Val) -> bool | None:
        """Whether a value is always true or always false. Objects of classes without a length are true."""
        if value.atoms and all(isinstance(one, Instance) and self._is_always_true(one.cls) for one in value.atoms):
            return True
        return operators.truth(value)

    def _is_always_true(self, cls: ClassRef) -> bool:
        classes = self._ev.classes
        if classes.has_unknown_base(cls) or not _WITHOUT_LENGTH.issuperset(classes.library_bases(cls)):
            return False
        return all(classes.member(cls, name) is None for name in ("__len__", "__bool__"))

    def _is_member(self, number: int, frame: Frame) -> bool:
        """Whether an expression names a member of an `Enum` of the project. Those with equal values are one object."""
        e = self._ev.expr(frame, number)
        classes = self._ev.eval(e.base, frame).atoms if isinstance(e, ir.Attr) else ()
        return bool(classes) and all(isinstance(one, ClassRef) and self._is_enum(one) for one in classes)

    def _is_enum(self, cls: ClassRef) -> bool:
        return any(base.startswith("enum.") for base in self._ev.classes.library_bases(cls))

    def _is_among(self, left: int, right: int, frame: Frame) -> bool | None:
        """Whether a value is always, or never, one of the constants in a list, tuple or set that stands in the test."""
        written = self._ev.expr(frame, right)
        if not isinstance(written, ir.Seq) or not written.items or right in frame.code.bindings:
            return None  # what has a name may hold other items by then
        answers: set[bool | None] = set()
        for item in written.items:
            by = self._value(item, frame)
            answers.add(operators.compare("==", self._value(left, frame), by) if by.literal is not None else None)
        return True if True in answers else None if None in answers else False

    def _by_exact_type(self, left: int, op: str, types: Val | None, frame: Frame) -> bool | None:
        """The answer to `type(x) is A` and `type(x) != A` where `x` is never an instance of `A`; None for others."""
        call = self._ev.expr(frame, left)
        if types is None or not types.has(Lib, ClassRef) or not isinstance(call, ir.Call) or len(call.args) != 1:
            return None
        number = call.args[0].value
        if self._ev.eval(call.func, frame).atoms != _TYPE or op not in _SAME_OR_NOT:
            return None
        if type_tests.has_type(self._ev, number, self._value(number, frame), types, frame) is not False:
            return None
        return _SAME_OR_NOT[op]

    def _compared_with_none(self, op: str, left: int, by: Val, number: int, frame: Frame) -> bool | None:
        """The answer of a comparison with None that the values leave open, if other code shows that it is not None."""
        step = frame.code.evaluated_by(number)
        if op not in ("is", "is not") or by.atoms != _NOTHING or step is None:
            return None
        return op == "is not" if none_tests.is_never_none(self._ev, left, step, frame) else None

    def _is_opaque(self, func: int, frame: Frame) -> bool:
        """Whether the result of a call cannot be known from its arguments, so that they need not be evaluated."""
        atoms = self._ev.eval(func, frame).atoms
        return all(type(atom) is Lib and library_calls.is_opaque(atom.name) for atom in atoms)

    def live(self, choices: tuple[int, ...], frame: Frame, local: int = NONE) -> tuple[int, ...]:
        """The choices of a `Phi` that may reach the readers of expression `local` (`NONE`: any reader in the def):
        neither those bound only in branches that never run, nor those that a branch which always runs replaces. Loops
        are skipped: their bindings reach the next iteration."""
        one = frame.code.one
        if one is None or not self._is_any_decided(choices, frame):
            return choices
        bound = self._bound(choices, frame)
        certain = self._certain(bound, frame)
        read_in = frame.code.read_in(local)
        alive = [
            choice
            for choice in choices
            if not bound.get(choice)
            or not all(self._is_lost(bind, choice, certain, one, frame, read_in) for bind in bound[choice])
        ]
        return tuple(alive) or choices

    def _is_any_decided(self, choices: tuple[int, ...], frame: Frame) -> bool:
        """Whether constants decide a branch in which one of the choices is bound. This is rare, so most names need no
        closer look."""
        bindings = frame.code.bindings
        contexts = {step.context for choice in choices for _, step in bindings.get(choice, ())}
        return any(self._runs(context, frame) is not None for context in contexts)

    def _certain(self, bound: dict[int, list[tuple[int, int]]], frame: Frame) -> list[tuple[int, tuple[int, int]]]:
        """The choices, each with its place, that are bound in a branch which runs whenever the code around it does."""
        return [(choice, at) for choice, places in bound.items() for at in places if self._runs(at[1], frame)]

    def _bound(self, choices: tuple[int, ...], frame: Frame) -> dict[int, list[tuple[int, int]]]:
        """Where each of the choices is bound: the step's number and its context; a parameter before all steps."""
        known = frame.code.bound.get(choices)
        if known is not None:
            return known
        bindings = frame.code.bindings
        binds = sorted(bind for choice in set(choices) for bind in bindings.get(choice, ()))
        named: dict[str, set[int]] = {}
        for _, step in binds:
            named.setdefault(step.name, set()).add(step.value)
        most = max(map(len, named.values()), default=0)
        names = {name for name, values in named.items() if len(values) == most}
        found: dict[int, list[tuple[int, int]]] = {}
        for number, step in binds:
            if step.name in names:
                found.setdefault(step.value, []).append((number, step.context))
        for choice in choices:
            if choice not in found and isinstance(self._ev.expr(frame, choice), ir.Param):
                found[choice] = [(-1, 0)]
        frame.code.bound[choices] = found
        return found

    def _is_lost(
        self,
        bind: tuple[int, int],
        choice: int,
        certain: list[tuple[int, tuple[int, int]]],
        one: ir.DefIR,
        frame: Frame,
        read_in: int,
    ) -> bool:
        """Whether a choice that is bound at a place is replaced before it is read: another one of the `certain`
        choices, each with its place, always follows."""
        number, context = bind
        if context and self.is_dead(context, frame):
            return True
        if not frame.code.is_branch(context):
            return False
        later = [at for other, at in certain if other != choice and at[0] > number]
        before = read_in if one.is_within(read_in, context) else context  # in which it still is what was bound
        return any(self._always_follows(at[1], before, one, frame) for at in later)

    def _always_follows(self, context: int, before: int, one: ir.DefIR, frame: Frame) -> bool:
        """Whether a branch runs whenever the context `before` does, which is not in it: only tests that always hold lie
        between."""
        start = context
        while not one.is_within(before, context):
            if not self._runs(context, frame):
                return False
            context = one.contexts[context].parent
        return context != start

    def expression_is_dead(self, number: int, frame: Frame) -> bool:
        """Whether an expression is a call all of whose steps never run in this frame."""
        contexts = frame.code.contexts_of(number)
        return bool(contexts) and all(self.is_dead(context, frame) for context in contexts)


class DefaultLiveness(Liveness):
    """Which steps of a frame may run if a user of the program sets no option, and changes no configuration file: each
    option has its default, and what a program reads from files has the value on which all files agree."""

    def __init__(self, evaluator: Evaluator) -> None:
        super().__init__(evaluator)
        self._runs_of: dict[Frame, dict[int, bool | None]] = {}

    def _known(self, frame: Frame) -> dict[int, bool | None]:
        return self._runs_of.setdefault(frame, {})

    def truth(self, number: int, frame: Frame) -> bool | None:
        """Like without defaults; `noise is not "."` counts too, because equal constants are nearly always one
        object."""
        e = self._ev.expr(frame, number)
        if isinstance(e, ir.Compare) and e.ops in (("is",), ("is not",)):
            right = self._value(e.rights[0], frame)
            if right.literal is not None and right.literal.kind != "NoneType":
                op = "==" if e.ops == ("is",) else "!="
                return operators.compare(op, self._value(e.left, frame), right)
        if isinstance(e, ir.Compare) and (answer := self._by_chance(e, frame)) is not None:
            return answer
        if isinstance(e, ir.Index):
            return operators.truth(self._value(number, frame))
        return super().truth(number, frame)

    def _by_chance(self, e: ir.Compare, frame: Frame) -> bool | None:
        """The answer to `random.random() < config.chance`, where all configuration files agree on the chance; None for
        other comparisons."""
        sides = (e.left, *e.rights)
        if len(sides) > 2 or not any(isinstance(self._ev.expr(frame, side), ir.Call) for side in sides):
            return None
        values = [self._value(side, frame) for side in sides]
        return operators.compare(e.ops[0], *values) if any(map(is_drawn, values)) else None

    def _value(self, number: int, frame: Frame) -> Val:
        files = self._ev.file_values
        return _by_default_all(files.resolved(super()._value(number, frame), files.in_all_files))


def _by_default_all(value: Val) -> Val:
    return Val(frozenset(map(_by_default, value.atoms)))


def _by_default(atom: Atom) -> Atom:
    """An option as its default constant. A parameter's own default does not count, because unknown code passes the
    argument."""
    if isinstance(atom, Literal_) and atom.configured not in ("", "default"):
        return replace(atom, configured="")
    return atom
