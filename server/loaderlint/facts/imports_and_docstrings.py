"""Computes the facts of the simplest statements, imports and docstrings, directly from the text.

They are most of the code at module level, and all of them are needed to know what a module binds. The facts equal those
that `lower` makes from the tree, which takes five times as long; any unusual text is left to `lower`."""

from __future__ import annotations

import keyword
import re

from loaderlint.facts.ir import NONE, Bind, Context, DefIR, Imported, PieceAnchors, PieceIR, StarImport, Step
from loaderlint.facts.piece_facts import PieceFacts

_END = r"[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)?"
_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_ALIAS = rf"{_NAME}(?:[ \t]+as[ \t]+{_NAME})?"
_MODULE = rf"{_DOTTED}(?:[ \t]+as[ \t]+{_NAME})?"
_FROM = re.compile(
    rf"[ \t]*from[ \t]+(\.*)({_DOTTED})?[ \t]+import[ \t]+"
    rf"(?:(\*)|({_ALIAS}(?:[ \t]*,[ \t]*{_ALIAS})*)|\(((?:[A-Za-z_0-9, \t\r\n]|#[^\r\n]*(?=[\r\n]))+)\)){_END}"
)
_IMPORT = re.compile(rf"[ \t]*import[ \t]+({_MODULE}(?:[ \t]*,[ \t]*{_MODULE})*){_END}")
_COMMENT = re.compile(r"#[^\r\n]*")
_LISTED = re.compile(rf"\s*{_NAME}(?:\s+as\s+{_NAME})?(?:\s*,\s*{_NAME}(?:\s+as\s+{_NAME})?)*\s*,?\s*")
_DOCSTRING = re.compile(
    r'[ \t]*[rRuU]?(?:"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"""'
    r"|'''[^'\\]*(?:(?:\\[\s\S]|'(?!''))[^'\\]*)*'''"
    rf"|\"(?!\"\")[^\"\\\r\n]*\"|'(?!'')[^'\\\r\n]*'){_END}"
)
_KEYWORDS = frozenset(keyword.kwlist)
_BODY = (Context(-1, "body", NONE, False),)


def plain_facts(text: str) -> PieceFacts | None:
    """The facts of a statement piece that is an import or a docstring; None for others, and for unusual ones."""
    start = text.lstrip(" \t")[:7]
    if start.startswith("from"):
        return _from(text)
    if start.startswith("import"):
        return _import(text)
    if start[:1] in ("'", '"') or start[1:2] in ("'", '"'):
        return _facts([], (), set()) if _DOCSTRING.fullmatch(text) else None
    return None


def _from(text: str) -> PieceFacts | None:
    found = _FROM.fullmatch(text)
    if found is None:
        return None
    dots, module, star, line, lines = found.groups()
    if not dots and not module:
        return None
    parts = module.split(".") if module else []
    if star:
        steps: list[Step] = [StarImport(0, module or "", len(dots))]
        return None if _KEYWORDS.intersection(parts) else _facts([], steps, set(parts))
    listed = line if line is not None else _COMMENT.sub("", lines)
    if line is None and not _LISTED.fullmatch(listed):
        return None
    aliases = [alias.split() for alias in listed.split(",") if not alias.isspace() and alias]
    return _bound([(words[0], words) for words in aliases], [module or ""] * len(aliases), len(dots), parts)


def _import(text: str) -> PieceFacts | None:
    found = _IMPORT.fullmatch(text)
    if found is None:
        return None
    aliases = [alias.split() for alias in found[1].split(",")]
    modules = [words[0] if len(words) > 1 else words[0].partition(".")[0] for words in aliases]
    return _bound([(None, words) for words in aliases], modules, 0, [])


def _bound(
    aliases: list[tuple[str | None, list[str]]], modules: list[str], level: int, mentions: list[str]
) -> PieceFacts | None:
    """The facts of an import of `aliases` from `modules`. An alias is the imported name, and its words."""
    exprs: list[Imported] = []
    steps: list[Step] = []
    named = set(mentions)
    for (name, words), module in zip(aliases, modules, strict=True):
        parts = words[0].split(".")
        bound = words[-1] if len(words) > 1 else parts[0]
        steps.append(Bind(0, bound, len(exprs), "local", NONE))
        exprs.append(Imported(module, name, level))
        named.update(parts, (bound,))
    return None if _KEYWORDS.intersection(named) else _facts(exprs, steps, named)


def _facts(exprs: list[Imported], steps: list[Step] | tuple[Step, ...], mentions: set[str]) -> PieceFacts:
    body = DefIR("body", "", -1, (), (), (), (), _BODY, tuple(steps), True, False)
    ir = PieceIR(tuple(exprs), (body,), tuple(sorted(mentions)))
    # The statement is node 0, and the imported names follow.
    beside = PieceAnchors(tuple(range(1, len(exprs) + 1)), ((0,) * len(steps),), ((-1, -1),))
    return PieceFacts(ir, beside)
