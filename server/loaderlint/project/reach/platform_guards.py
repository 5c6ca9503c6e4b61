"""On which platforms a line runs: `if sys.platform != "win32":`, and tests that are skipped on Windows."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibObject, Literal_, SeqOf, Site, Val

#: Expressions that return the platform, each with its possible values.
_ANSWERS = MappingProxyType(
    {
        "sys.platform": MappingProxyType({"linux": "linux", "windows": "win32", "macos": "darwin"}),
        "os.name": MappingProxyType({"linux": "posix", "windows": "nt", "macos": "posix"}),
        "platform.system": MappingProxyType({"linux": "Linux", "windows": "Windows", "macos": "Darwin"}),
    }
)
_PLATFORMS = ("linux", "windows", "macos")
#: Marks that skip a test, each with whether it skips if its condition holds.
_SKIPS = MappingProxyType({"pytest.mark.skipif": True, "unittest.skipIf": True, "unittest.skipUnless": False})
_COMPARES = frozenset({"==", "!=", "in", "not in"})


class Asked(NamedTuple):
    """The tests of the platform that decide whether a frame runs. `tests`: the numbers of the expressions that its `if`
    statements test. `skips`: the conditions of the marks on it, each with its frame and whether the test is skipped if
    it holds."""

    tests: frozenset[int]
    skips: tuple[tuple[int, Frame, bool], ...]


class PlatformGuards:
    """The tests of the platform in a project. Each frame is searched once, because one def may create thousands of
    loaders in as many branches."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._asked: dict[Frame, Asked] = {}

    def platforms_at(self, site: Site, platforms: tuple[str, ...]) -> tuple[str, ...]:
        """Those of `platforms` on which the expression at `site` may run."""
        frame = site.frame
        asked = self._asked.get(frame)
        if asked is None:
            asked = self._asked[frame] = Asked(frozenset(_asking(self._ev, frame)), tuple(_skips(self._ev, frame)))
        branches = list(_branches(site, asked.tests))
        return tuple(
            one
            for one in platforms
            if not any(_holds(self._ev, test, frame, one) is negated for test, negated in branches)
            and not any(_holds(self._ev, test, at, one) is skipped for test, at, skipped in asked.skips)
        )


def _asking(ev: Evaluator, frame: Frame) -> Iterator[int]:
    """The tests of a frame whose value depends on the platform alone."""
    contexts = frame.code.one.contexts if frame.code.one is not None else ()
    for number in {one.expr for one in contexts if one.kind == "if" and one.expr != ir.NONE}:
        if any(_holds(ev, number, frame, platform) is not None for platform in _PLATFORMS):
            yield number


def _branches(site: Site, asking: frozenset[int]) -> Iterator[tuple[int, bool]]:
    """The tests among `asking` of the branches around an expression, each with whether the expression is in its `else`
    branch."""
    code = site.frame.code
    step = code.evaluated_by(site.expr) if asking else None
    if code.one is not None and step is not None:
        for around in code.one.around(code.one.steps[step].context):
            if around.kind == "if" and around.expr in asking:
                yield around.expr, around.negated


# --- skipped tests ----------------------------------------------------------------------------------------------------


def _skips(ev: Evaluator, frame: Frame) -> Iterator[tuple[int, Frame, bool]]:
    """The conditions of the marks that skip a test, each with its frame and whether the test is skipped if it holds."""
    for mark in _marks(ev, frame):
        for atom in mark.atoms:
            if isinstance(atom, LibObject) and atom.name in _SKIPS:
                call = ev.expr(atom.site.frame, atom.site.expr)
                if isinstance(call, ir.Call) and call.args:
                    yield call.args[0].value, atom.site.frame, _SKIPS[atom.name]


def _marks(ev: Evaluator, frame: Frame) -> Iterator[Val]:
    """The decorators of the defs and the class around a frame, and the `pytestmark` of its module."""
    facts = frame.facts
    def_ = frame.def_
    while facts is not None and def_ > 0:
        one = facts.ir.defs[def_]
        yield from (ev.eval(decorator, ev.body(frame.path, frame.piece)) for decorator in one.decorators)
        def_ = one.parent
    head = ev.classes.head(frame.owner) if frame.owner is not None else None
    if frame.owner is not None and head is not None:
        around = ev.body(frame.owner.path, frame.owner.piece)
        yield from (ev.eval(decorator, around) for decorator in head.decorators)
    marks = ev.names.lookup(frame.path, "pytestmark")
    yield marks
    for atom in marks.atoms:
        yield from atom.items if isinstance(atom, SeqOf) else ()


# --- conditions -------------------------------------------------------------------------------------------------------


def _holds(ev: Evaluator, number: int, frame: Frame, platform: str) -> bool | None:
    """Whether a test holds on a platform; None if it tests something else."""
    match ev.expr(frame, number):
        case ir.Unary("not", operand):
            inner = _holds(ev, operand, frame, platform)
            return None if inner is None else not inner
        case ir.BoolOp(op, left, right):
            answers = {_holds(ev, left, frame, platform), _holds(ev, right, frame, platform)}
            decisive = op == "or"
            return decisive if decisive in answers else None if None in answers else not decisive
        case ir.Compare(left, (op,), (right,)) if op in _COMPARES:
            answer = _answer(ev, left, frame, platform)
            named = _names(ev.eval(right, frame))
            return None if answer is None or not named else (answer in named) is (op in ("==", "in"))
        case ir.Call(func, (first,)):
            callee = ev.expr(frame, func)
            if not isinstance(callee, ir.Attr) or callee.name != "startswith":
                return None
            answer = _answer(ev, callee.base, frame, platform)
            named = _names(ev.eval(first.value, frame))
            return None if answer is None or not named else answer.startswith(tuple(named))
        case ir.Global() | ir.Attr() | ir.Capture():  # a constant: `IS_WINDOWS = sys.platform == "win32"`
            kept = [atom for atom in ev.eval(number, frame).atoms if isinstance(atom, LibObject)]
            if len(kept) == 1 and not isinstance(ev.expr(kept[0].site.frame, kept[0].site.expr), ir.Global | ir.Attr):
                return _holds(ev, kept[0].site.expr, kept[0].site.frame, platform)
    return None


def _answer(ev: Evaluator, number: int, frame: Frame, platform: str) -> str | None:
    """The value on a platform of an expression that returns the platform."""
    for atom in ev.eval(number, frame).atoms:
        if isinstance(atom, Lib | LibObject) and atom.name in _ANSWERS:
            return _ANSWERS[atom.name][platform]
    return None


def _names(value: Val) -> list[str]:
    """The constants that a value is or contains."""
    items = [item for atom in value.atoms if isinstance(atom, SeqOf) for item in atom.items]
    atoms = [atom for one in (value, *items) for atom in one.atoms]
    return [atom.value for atom in atoms if isinstance(atom, Literal_) and isinstance(atom.value, str)]
