"""What pytest passes to tests and fixtures: what the fixture returns or yields that a parameter names.

pytest looks for a fixture in the class of the test, then in its module, then in the `conftest.py` of its folder and of
those around it. A fixture that asks for its own name gets the next one. Source: `getfixturedefs` and `matchfactories`
in pytest's `fixtures.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.knowledge.pytest_fixtures import CONFTEST, FIXTURE_DECORATORS, is_test, is_test_module
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.values import Atom, ClassRef, FunctionRef, Instance, Val, unknown
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.project_files import MODULE

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: The function of a fixture, and the class of which it is a method.
_Fixture = tuple[FunctionRef, ClassRef | None]
_PARAMETRIZE = "parametrize"


class Fixtures:
    """Fixtures of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._values: dict[tuple[FunctionRef, Atom | None, str], Val | None] = {}

    def passed(self, function: FunctionRef, name: str, receiver: Atom | None, owner: ClassRef | None) -> Val | None:
        """The value of parameter `name` when pytest calls a test or a fixture; None if pytest does not call the
        function, or nothing is known of such a fixture."""
        if not is_test_module(function.path.name) and not self._is_fixture(function):
            return None
        key = (function, receiver, name)
        if key not in self._values:
            with provisional(self._values, key, unknown("cycle")):
                self._values[key] = self._value(function, name, receiver, owner)
        return self._values[key]

    def _value(self, function: FunctionRef, name: str, receiver: Atom | None, owner: ClassRef | None) -> Val | None:
        facts = self._ev.facts(function.path, function.piece)
        one = facts.ir.defs[function.def_] if facts else None
        if one is None or one.parent > 0 or not (is_test(one.name) or self._is_fixture(function)):
            return None
        if self._is_parametrized(function, name, owner):
            return None
        found = next((each for each in self._named(function, name, receiver) if each[0] != function), None)
        if found is None:
            return None
        fixture, cls = found
        runs_on = receiver if cls is not None else None
        frame = self._ev.functions.open_frame(fixture, runs_on, cls)
        return self._ev.functions.returned(frame) if frame is not None else None

    def _named(self, function: FunctionRef, name: str, receiver: Atom | None) -> Iterator[_Fixture]:
        """The fixtures of a name that a function of a test module sees, the nearest first."""
        if isinstance(receiver, Instance):
            for cls in self._ev.classes.mro(receiver.cls):
                member = self._ev.classes.own_member(cls, name) if isinstance(cls, ClassRef) else None
                if member is not None and member.function is not None and self._is_fixture(member.function):
                    yield member.function, member.owner
        yield from self._in_module(function.path, name)
        for folder in function.path.parents:
            if not folder.is_relative_to(self._ev.files.root):
                break
            if folder / CONFTEST != function.path and self._ev.files.exists(folder / CONFTEST):
                yield from self._in_module(folder / CONFTEST, name)

    def _in_module(self, path: Path, name: str) -> Iterator[_Fixture]:
        """The fixtures of a name among the functions of a module, and those that it imports."""
        file = self._ev.file(path)
        if file is None:
            return
        for piece, _ in file.asking(_is_called, name, scope=MODULE):
            yield FunctionRef(path, piece, 1), None
        found = self._ev.names.lookup(path, name).atoms if name in file.names else ()
        if len(found) == 1:
            yield from ((one, None) for one in found if isinstance(one, FunctionRef) and self._is_fixture(one))

    def _is_fixture(self, function: FunctionRef) -> bool:
        return self._ev.functions.is_decorated(function, FIXTURE_DECORATORS)

    def _is_parametrized(self, function: FunctionRef, name: str, owner: ClassRef | None) -> bool:
        """Whether a decorator of a test or of its class may pass a parameter, as `@pytest.mark.parametrize` does."""
        places = [(function.path, function.piece, function.def_)]
        places += [(owner.path, owner.piece, owner.def_)] if owner is not None else []
        for path, piece, def_ in places:
            facts = self._ev.facts(path, piece)
            for decorator in facts.ir.defs[def_].decorators if facts else ():
                assert facts is not None
                if _parametrizes(facts.ir.exprs, decorator, name):
                    return True
        return False


def _parametrizes(exprs: tuple[ir.Expr, ...], decorator: int, name: str) -> bool:
    """Whether a decorator is a call of `parametrize` that may name a parameter."""
    call = exprs[decorator]
    func = exprs[call.func] if isinstance(call, ir.Call) else None
    if not isinstance(call, ir.Call) or not isinstance(func, ir.Attr) or func.name != _PARAMETRIZE:
        return False
    first = exprs[call.args[0].value] if call.args else None
    if isinstance(first, ir.Const) and isinstance(first.value, str):
        return name in re.split(r"[\s,]+", first.value)
    return True


@needs_word
def _is_called(text: str, name: str) -> bool:
    """Whether a piece is a fixture with another name than its function's: `@pytest.fixture(name="items")`."""
    return re.search(rf"@[\w.]*fixture\([^)]*\bname[ \t]*=[ \t]*['\"]{re.escape(name)}['\"]", text) is not None
