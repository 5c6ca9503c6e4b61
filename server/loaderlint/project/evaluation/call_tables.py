"""Classes and functions that code looks up in a dict or list: `KINDS = {"plain": Plain}` and `KINDS[args.kind](args)`.
The call does not name the class, so it is found by the name of the dict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import CallSite, called_name, performed_calls
from loaderlint.project.evaluation.values import ClassRef, FunctionRef
from loaderlint.project.modules.dependencies import defined_name, is_bare_function, needs_word

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: What stands before and after an item of a dict or list.
_BEFORE, _AFTER = frozenset("[{(,:="), frozenset([*",]})#\n", ""])
#: How far before and after an item its brackets and commas are looked for, in characters.
_NEAR = 200
_BRACKET = re.compile(r"[()\[\]{}]")
_TABLE = re.compile(r"(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\([ \t]*)?[\[{]\s*\Z|(\w+)[ \t]*=[ \t]*dict\(\s*\Z")
_ITEM_STORE = re.compile(r"(\w+)\[[^\]\n]*\][ \t]*=[ \t]*(?:\w+\.)*\Z")
_STORE = re.compile(r"^[ \t]*(\w+)\[.*\][ \t]*=(?!=)", re.MULTILINE)
#: How code goes on after the name of a dict from which it takes an item.
_LOOKUPS = ("[", ".get(")


def calls_of_items(ev: Evaluator, item: ClassRef | FunctionRef) -> Iterator[CallSite]:
    """The calls of items of the dicts and lists in which code writes a class or function, or into which a function that
    decorates it puts it."""
    facts = ev.facts(item.path, item.piece)
    name = facts.ir.defs[item.def_].name if facts is not None else ""
    yield from calls_from(ev, chain(tables_with(ev, name), _filled_by_decorators(ev, item)))


def tables_with(ev: Evaluator, name: str) -> Iterator[str]:
    """The names of the dicts and lists in which code writes something called `name`."""
    return _tables_asking(ev, _tables_with, name) if name else iter(())


def calls_from(ev: Evaluator, tables: Iterable[str]) -> Iterator[CallSite]:
    """The calls of items of the dicts and lists with these names."""
    pieces: dict[tuple[Path, int], None] = {}
    for lookup in (f"{table}{end}" for table in dict.fromkeys(tables) for end in _LOOKUPS):
        for path in ev.files.containing(lookup):
            file = ev.file(path)
            pieces.update(dict.fromkeys((path, piece) for piece in (file.mentioning(lookup) if file else ())))
    for path, piece in pieces:
        yield from _calls_of_items_in(ev, path, piece)


def _tables_asking(ev: Evaluator, question: Callable[[str, str], tuple[str, ...]], name: str) -> Iterator[str]:
    """The names that a question about pieces with the word `name` finds in the project."""
    for path in ev.files.containing(name):
        file = ev.file(path)
        for _, found in file.asking(question, name) if file else ():
            yield from found


def _filled_by_decorators(ev: Evaluator, item: ClassRef | FunctionRef) -> Iterator[str]:
    """The names of the dicts that the decorators of a class or function fill."""
    facts = ev.facts(item.path, item.piece)
    for decorator in facts.ir.defs[item.def_].decorators if facts else ():
        assert facts is not None
        made = facts.ir.exprs[decorator]
        name = called_name(facts.ir.exprs, made.func if isinstance(made, ir.Call) else decorator)
        if name:
            yield from _tables_asking(ev, _filled_by, name)


def _calls_of_items_in(ev: Evaluator, path: Path, piece: int) -> Iterator[CallSite]:
    facts = ev.facts(path, piece)
    for def_, step, call in performed_calls(facts) if facts else ():
        assert facts is not None
        if _is_item(facts.ir.exprs, call.func):
            yield CallSite(path, piece, def_, step.call, step.context)


def _is_item(exprs: tuple[ir.Expr, ...], number: int) -> bool:
    """Whether an expression is an item of something, in some branch at least: `KINDS[kind]`, `KINDS.get(kind)`."""
    match exprs[number]:
        case ir.Index():
            return True
        case ir.Call(func, _):
            taken = exprs[func]
            return isinstance(taken, ir.Attr) and taken.name == "get"
        case ir.Phi(choices):
            return any(not isinstance(exprs[one], ir.Phi) and _is_item(exprs, one) for one in choices)
    return False


@needs_word
def _filled_by(text: str, name: str) -> tuple[str, ...]:
    """The names of the dicts in which the function `name` of a piece stores items."""
    return tuple(_STORE.findall(text)) if is_bare_function(text) and defined_name(text) == name else ()


@needs_word
def _tables_with(text: str, name: str) -> tuple[str, ...]:
    """The names of the dicts and lists of which a piece makes `name` an item."""
    found: dict[str, None] = {}
    for at, opened in _items_called(name, text):
        stored = _ITEM_STORE.search(text, text.rfind("\n", 0, at) + 1, at)
        table = stored[1] if stored is not None else next(filter(None, (_filled(text, one) for one in opened)), "")
        if table:
            found[table] = None
    return tuple(found)


def _items_called(name: str, text: str) -> Iterator[tuple[int, Sequence[int]]]:
    """Where a name stands that is an item as a whole, each time with the brackets that are open there, the innermost
    first."""
    places = [at for at in _places(name, text) if _is_written_alone(text, at, at + len(name))]
    opened: list[int] = []
    start = 0
    for at in places:
        for bracket in _BRACKET.finditer(text, start, at):
            if bracket[0] in "([{":
                opened.append(bracket.start())
            elif opened:
                opened.pop()
        start = at
        yield at, opened[::-1]


def _places(name: str, text: str) -> Iterator[int]:
    at = text.find(name)
    while at >= 0:
        yield at
        at = text.find(name, at + len(name))


def _is_written_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands at `start` to `end` is an item as a whole, perhaps with the module that it is from."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR].lstrip(" \t")
    is_from_module = before.endswith(".")
    return after[:1] in _AFTER and (is_from_module or before.rstrip()[-1:] in _BEFORE)


def _filled(text: str, opened: int) -> str:
    """The name of the dict or list whose display begins with the bracket at an offset; '' if it is another bracket."""
    table = _TABLE.search(text, text.rfind("\n", 0, opened) + 1, opened + 1)
    return (table[1] or table[2] or "") if table is not None else ""
