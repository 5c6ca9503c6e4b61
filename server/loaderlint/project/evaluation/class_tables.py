"""Classes that code looks up in a dict or list: `KINDS = {"plain": Plain}` and `KINDS[args.kind](args)`. The call does
not name the class, so it is found by the name of the dict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.call_sites import CallSite, called_name, performed_calls
from loaderlint.project.evaluation.values import ClassRef
from loaderlint.project.modules.dependencies import defined_name, is_bare_function, needs_word

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: What stands before and after an item of a dict or list.
_BEFORE, _AFTER = frozenset("[{(,:="), frozenset([*",]})#\n", ""])
#: How far before and after an item its brackets and commas are looked for, in characters.
_NEAR = 200
_TABLE = re.compile(r"(\w+)[ \t]*(?::[^=\n]*)?=[ \t]*(?:\w+\([ \t]*)?[\[{]\s*\Z|(\w+)[ \t]*=[ \t]*dict\(\s*\Z")
_ITEM_STORE = re.compile(r"(\w+)\[[^\]\n]*\][ \t]*=[ \t]*(?:\w+\.)*\Z")
_STORE = re.compile(r"^[ \t]*(\w+)\[.*\][ \t]*=(?!=)", re.MULTILINE)
#: How code goes on after the name of a dict from which it takes an item.
_LOOKUPS = ("[", ".get(")


def calls_of_items(ev: Evaluator, cls: ClassRef) -> Iterator[CallSite]:
    """The calls of items of the dicts and lists in which code writes a class, or into which a function that decorates
    it puts it."""
    name = ev.classes.name(cls)
    tables = dict.fromkeys(chain(_tables_asking(ev, _tables_with, name), _filled_by_decorators(ev, cls)))
    pieces: dict[tuple[Path, int], None] = {}
    for lookup in (f"{table}{end}" for table in tables for end in _LOOKUPS):
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


def _filled_by_decorators(ev: Evaluator, cls: ClassRef) -> Iterator[str]:
    """The names of the dicts that the decorators of a class fill."""
    facts = ev.facts(cls.path, cls.piece)
    for decorator in facts.ir.defs[cls.def_].decorators if facts else ():
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
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        table = _table_before(text, at) if _is_written_alone(text, at, end) else ""
        if table:
            found[table] = None
        at = text.find(name, end)
    return tuple(found)


def _is_written_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands at `start` to `end` is an item as a whole, perhaps with the module that it is from."""
    before, after = text[max(0, start - _NEAR) : start], text[end : end + _NEAR].lstrip(" \t")
    is_from_module = before.endswith(".")
    return after[:1] in _AFTER and (is_from_module or before.rstrip()[-1:] in _BEFORE)


def _table_before(text: str, at: int) -> str:
    """The name of the dict or list whose display is open at an offset, or whose item is set there; '' if none is."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    stored = _ITEM_STORE.search(line)
    if stored is not None:
        return stored[1]
    opened = _opening(text, at)
    table = _TABLE.search(text, text.rfind("\n", 0, opened) + 1, opened + 1) if opened >= 0 else None
    return (table[1] or table[2] or "") if table is not None else ""


def _opening(text: str, at: int) -> int:
    """The offset of the outermost bracket on the way back from an offset that is open there and that an assignment
    precedes; -1 if there is none."""
    depth = 0
    for number in range(at - 1, -1, -1):
        if text[number] in ")]}":
            depth += 1
        elif text[number] in "([{":
            depth -= 1
            if depth < 0 and _TABLE.search(text, text.rfind("\n", 0, number) + 1, number + 1):
                return number
    return -1
