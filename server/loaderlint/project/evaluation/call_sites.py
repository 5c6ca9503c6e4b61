"""The calls of the project by what their text names: `name(...)`, a name that an import or `partial` gives the same
function, and a text that `getattr` may look up. Nothing is evaluated here but the facts of the pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.unknown_receivers import getattr_calls
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.syntax.byte_search import calls

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_BOUND = re.compile(r"(\w+)[ \t]*=[ \t]*[\w.]*\bpartial\(\s*(?:\w+\.)*(\w+)\b")
_RETURNED = re.compile(r"[ \t]*(?:[^#\n]*:[ \t]*)?return[ \t]")
#: Context managers that expect an exception.
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


class CallSite(NamedTuple):
    """A call somewhere in the project: expression `expr` of def `def_`."""

    path: Path
    piece: int
    def_: int
    expr: int
    context: int


class CallSites:
    """The calls of one snapshot, searched once for each name."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._named: dict[str, tuple[CallSite, ...]] = {}
        self._texts: dict[str, tuple[CallSite, ...]] = {}
        self._other_names: dict[str, frozenset[str]] = {}
        self._other_class_names: dict[str, frozenset[str]] = {}
        self._partials: frozenset[tuple[str, str]] | None = None
        self._of_getattr: tuple[CallSite, ...] | None = None

    def named(self, name: str) -> tuple[CallSite, ...]:
        """The calls of something called `name`."""
        known = self._named.get(name)
        if known is None:
            known = self._named[name] = tuple(self._find_named(name))
        return known

    def _find_named(self, name: str) -> Iterator[CallSite]:
        for path in self._ev.files.calling(name):
            file = self._ev.file(path)
            if file is None:
                continue
            for piece, _ in file.asking(calls, name):
                yield from sites_in(self._ev, path, piece, {name})

    def with_text(self, name: str) -> tuple[CallSite, ...]:
        """The calls with the constant text `name` as an argument, and the calls of what those return."""
        known = self._texts.get(name)
        if known is None:
            known = self._texts[name] = tuple(dict.fromkeys(self._find_with_text(name)))
        return known

    def _find_with_text(self, name: str) -> Iterator[CallSite]:
        for quoted in _quoted(name):
            for path in self._ev.files.containing(quoted):
                file = self._ev.file(path)
                for piece in file.mentioning(quoted) if file else ():
                    yield from _sites_passing(self._ev, path, piece, name)

    def is_text(self, name: str) -> bool:
        """Whether the code contains a name as a text."""
        return any(any(self._ev.files.containing(quoted)) for quoted in _quoted(name))

    def of_getattr(self) -> tuple[CallSite, ...]:
        """The calls of what `getattr` gives."""
        if self._of_getattr is None:
            self._of_getattr = tuple(self._find_of_getattr())
        return self._of_getattr

    def _find_of_getattr(self) -> Iterator[CallSite]:
        for path in self._ev.files.containing("getattr("):
            file = self._ev.file(path)
            for piece in file.mentioning("getattr(") if file else ():
                facts = self._ev.facts(path, piece)
                for def_, one in enumerate(facts.ir.defs if facts else ()):
                    assert facts is not None
                    for step, _ in getattr_calls(facts.ir.exprs, one):
                        yield CallSite(path, piece, def_, step.call, step.context)

    def giving(self, name: str) -> Iterator[CallSite]:
        """The calls of functions in whose text a `return` has the name of a class."""
        functions: dict[str, None] = {}
        for path in self._ev.files.containing(name):
            file = self._ev.file(path)
            for piece, _ in file.asking(_may_return, name) if file else ():
                facts = self._ev.facts(path, piece)
                functions.update(dict.fromkeys(one.name for one in facts.ir.defs[1:2]) if facts else ())
        for function in functions:
            yield from self.named(function)

    def passing(self, name: str) -> Iterator[CallSite]:
        """The calls that something called `name` is passed to."""
        for path in self._ev.files.containing(name) if name else ():
            file = self._ev.file(path)
            for piece in file.mentioning(name) if file else ():
                facts = self._ev.facts(path, piece)
                for def_, step, call in performed_calls(facts) if facts else ():
                    assert facts is not None
                    if name in names_passed(facts.ir.exprs, call):
                        yield CallSite(path, piece, def_, step.call, step.context)

    def aliases(self, name: str) -> frozenset[str]:
        """Other names that files give a function `name`: `import name as other`, `other = partial(name, ...)`."""
        known = self._other_names.get(name)
        if known is None:
            found = {alias for alias, bound in self._bound_aliases() if bound == name}
            for path in self._ev.files.containing(f"{name} as "):
                file = self._ev.file(path)
                for _, names in file.asking(_imported_as, name) if file else ():
                    found.update(names)
            known = self._other_names[name] = frozenset(found - {name})
        return known

    def class_aliases(self, name: str) -> frozenset[str]:
        """Other names that files give a class `name`: `import name as other`, `Other = name`."""
        known = self._other_class_names.get(name)
        if known is None:
            found = set(self.aliases(name))
            for path in self._ev.files.containing(name):
                file = self._ev.file(path)
                for _, names in file.asking(_assigned_as, name) if file else ():
                    found.update(names)
            known = self._other_class_names[name] = frozenset(found - {name})
        return known

    def _bound_aliases(self) -> frozenset[tuple[str, str]]:
        """What `other = partial(name, ...)` calls each function: pairs of other and name."""
        if self._partials is None:
            found: set[tuple[str, str]] = set()
            for path in self._ev.files.containing("partial("):
                file = self._ev.file(path)
                for _, pairs in file.asking(_bound_by_partial) if file else ():
                    found.update(pairs)
            self._partials = frozenset(found)
        return self._partials


def sites_in(ev: Evaluator, path: Path, piece: int, names: set[str] | frozenset[str]) -> Iterator[CallSite]:
    """The calls in a piece whose callee has one of `names` as its last part."""
    facts = ev.facts(path, piece)
    if facts is None:
        return
    exprs = facts.ir.exprs
    for def_, step, call in performed_calls(facts):
        if called_name(exprs, call.func) in names or _is_local_partial(exprs, call.func):
            yield CallSite(path, piece, def_, step.call, step.context)


def performed_calls(facts: PieceFacts) -> Iterator[tuple[int, ir.Perform, ir.Call]]:
    """The calls that the defs of a piece perform, in source order, each with the index of its def."""
    for def_, one in enumerate(facts.ir.defs):
        for step in one.steps:
            call = facts.ir.exprs[step.call] if type(step) is ir.Perform else None
            if type(step) is ir.Perform and isinstance(call, ir.Call):
                yield def_, step, call


def called_name(exprs: tuple[ir.Expr, ...], func: int) -> str:
    """The last part of a callee as written: `data.DataLoader` gives 'DataLoader'; '' for anything computed."""
    match exprs[func]:
        case ir.Global(name) | ir.Attr(_, name) | ir.Capture(_, name):
            return name
        case ir.Imported(module, name, _):
            return name or module.rpartition(".")[2]
    return ""


def is_to_fail(ev: Evaluator, site: CallSite) -> bool:
    """Whether a test expects of a call that it raises: `with pytest.raises(ValueError)`. What it passes does not get
    far."""
    facts = ev.facts(site.path, site.piece)
    if facts is None:
        return False
    exprs, around = facts.ir.exprs, facts.ir.defs[site.def_].around(site.context)
    managers = (exprs[here.expr] for here in around if here.kind == "with")
    return any(isinstance(one, ir.Call) and called_name(exprs, one.func) in _EXPECTING for one in managers)


def is_under_guard(ev: Evaluator, site: CallSite) -> bool:
    """Whether a call is a part of a statement under the main guard of its file."""
    file, facts = ev.file(site.path), ev.facts(site.path, site.piece)
    if file is None or facts is None or site.def_ != 0:
        return False
    if any(file.is_main_guard(one) for one in (site.piece, *file.around(site.piece))):
        return True
    around = facts.ir.defs[0].around(site.context)
    return any(one.kind == "if" and not one.negated and compares_name(one.expr, facts) for one in around)


def compares_name(test: int, facts: PieceFacts) -> bool:
    """Whether a test compares `__name__` with something: `__name__ == "__main__"`."""
    e = facts.ir.exprs[test] if test != NONE else None
    if not isinstance(e, ir.Compare) or e.ops != ("==",):
        return False
    return ir.Global("__name__") in (facts.ir.exprs[one] for one in (e.left, *e.rights))


def _is_local_partial(exprs: tuple[ir.Expr, ...], func: int) -> bool:
    """Whether a callee is a local of the def that holds `partial(...)`, in some branch at least."""
    match exprs[func]:
        case ir.Call(maker, _):
            return called_name(exprs, maker) == "partial"
        case ir.Phi(choices):
            return any(isinstance(exprs[one], ir.Call) and _is_local_partial(exprs, one) for one in choices)
    return False


def _sites_passing(ev: Evaluator, path: Path, piece: int, text: str) -> Iterator[CallSite]:
    """The calls in a piece with a constant text as an argument, and the calls of what those return."""
    facts = ev.facts(path, piece)
    for def_, one in enumerate(facts.ir.defs if facts else ()):
        assert facts is not None
        giving: set[int] = set()
        for step in one.steps:
            call = facts.ir.exprs[step.call] if type(step) is ir.Perform else None
            if type(step) is ir.Perform and isinstance(call, ir.Call):
                if call.func in giving or any(facts.ir.exprs[arg.value] == ("str", text) for arg in call.args):
                    giving.add(step.call)
                    yield CallSite(path, piece, def_, step.call, step.context)


def _quoted(name: str) -> tuple[str, str]:
    """A text as code writes it."""
    return f'"{name}"', f"'{name}'"


@needs_word
def _may_return(text: str, name: str) -> bool:
    """Whether a line of a piece returns something that is made of `name`."""
    return any("return " in line and _RETURNED.match(line) is not None for line in _lines_with(name, text))


@needs_word
def _imported_as(text: str, name: str) -> tuple[str, ...]:
    """The names under which a piece imports something called `name`."""
    return tuple(re.findall(rf"\b{name} as (\w+)", text)) if f"{name} as " in text else ()


@needs_word
def _assigned_as(text: str, name: str) -> tuple[str, ...]:
    """The names that a piece gives something called `name`: `other = name`, `other = name if test else another`."""
    one_of_two = r"(?:[^=\n]*\belse[ \t]+)?"
    assigned = re.compile(rf"\b(\w+)[ \t]*=[ \t]*{one_of_two}(?:\w+\.)*{name}[ \t]*(?:$|[#;]|if\b)")
    return tuple(one[1] for line in _lines_with(name, text) for one in assigned.finditer(line))


def _bound_by_partial(text: str) -> tuple[tuple[str, str], ...]:
    """The names that a piece gives functions with bound arguments, each with the function's own."""
    return tuple(_BOUND.findall(text)) if "partial(" in text else ()


def _lines_with(name: str, text: str) -> Iterator[str]:
    """The lines of a text that contain a name, without their endings. There are few, and searching the others for a
    pattern that begins with any word is slow."""
    at = text.find(name)
    while at >= 0:
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield text[text.rfind("\n", 0, at) + 1 : end]
        at = text.find(name, end)


def names_passed(exprs: tuple[ir.Expr, ...], call: ir.Call) -> Iterator[str]:
    """The names of what a call is passed, as far as it may be a function: `train` in `spawn(train, args=(1,))` and in
    `spawn(partial(train, steps=1))`."""
    for arg in call.args:
        passed, e = arg.value, exprs[arg.value]
        if isinstance(e, ir.Call) and e.args and called_name(exprs, e.func) == "partial":
            passed = e.args[0].value
        if name := called_name(exprs, passed):
            yield name
