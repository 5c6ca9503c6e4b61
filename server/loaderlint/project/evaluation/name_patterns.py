"""Names that are built from strings: `f"{split}_set"` is some name that ends with `_set`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Literal_, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_ANY = r"\w*"
_FORMATTED = re.compile(r"""\b[fF](["'])((?:[\w.]|\{[^{}"'\n]*\})*)\1""")
_PART = re.compile(r"\w*")
#: A field of `str.format` that inserts the next argument unchanged.
_FIELD = re.compile(r"\{(?::s)?\}")
_BRACE = re.compile(r"[{}]")
_MAX_TEXTS = 64


def named_by(value: Val) -> list[str]:
    """The strings that a value may be; empty if it may be anything else, or if a user may choose."""
    texts = [a.value for a in value.ordered() if isinstance(a, Literal_) and not a.configured]
    names = [text for text in texts if isinstance(text, str)]
    return names if len(names) == len(value.atoms) else []


def built_from(ev: Evaluator, number: int, frame: Frame) -> list[str]:
    """The strings that an expression may give, if it is one of these or is built from them: `"set_{}".format(split)` or
    `f"set_{split}"`, where `split` goes through a list of texts. Empty if it may give anything else."""
    known = named_by(ev.eval(number, frame))
    if known:
        return known
    match ev.expr(frame, number):
        case ir.Call(func, args) if all(arg.kind == "pos" for arg in args):
            method = ev.expr(frame, func)
            template = ev.expr(frame, method.base) if isinstance(method, ir.Attr) and method.name == "format" else None
            texts = [template.value] if isinstance(template, ir.Const) and isinstance(template.value, str) else []
            return _filled([_FIELD.split(text) for text in texts], [arg.value for arg in args], ev, frame)
        case ir.Text(parts):
            file = ev.file(frame.path)
            written = file.pieces[frame.piece].ask(formatted_names, len(parts)) if file else ()
            return _filled([text.split(_ANY) for text in written], parts, ev, frame)
    return []


def _filled(templates: Sequence[Sequence[str]], parts: Sequence[int], ev: Evaluator, frame: Frame) -> list[str]:
    """The texts that come out of a template, given by its constant parts, with what the others give; empty if there are
    several templates, or too many texts."""
    between = templates[0] if len(templates) == 1 else ()
    if not parts or len(between) != len(parts) + 1 or any(_BRACE.search(text) for text in between):
        return []
    given = [named_by(ev.eval(part, frame)) for part in parts]
    if not all(given) or prod(map(len, given)) > _MAX_TEXTS:
        return []
    return ["".join(chain(*zip(between, (*chosen, ""), strict=True))) for chosen in product(*given)]


def pattern_of(ev: Evaluator, number: int, frame: Frame) -> str:
    """The regular expression of the names that an expression may give; '' if no part of it is constant."""
    pattern = _pattern(ev, number, frame)
    return "" if pattern.replace(_ANY, "") == "" else pattern


def fits(pattern: str, name: str) -> bool:
    """Whether a string may be built like a pattern; for a string that is not a name, this is not known."""
    return re.fullmatch(pattern, name) is not None or _PART.fullmatch(name) is None


def may_be_named(ev: Evaluator, number: int, frame: Frame, name: str) -> bool:
    """Whether an expression may give a name, for a constant part of it."""
    known = named_by(ev.eval(number, frame))
    if known:
        return name in known
    pattern = pattern_of(ev, number, frame)
    return bool(pattern) and re.fullmatch(pattern, name) is not None


def _pattern(ev: Evaluator, number: int, frame: Frame) -> str:
    match ev.expr(frame, number):
        case ir.Const(_, str(text)):
            return re.escape(text)
        case ir.Text(parts):
            file = ev.file(frame.path)
            written = file.pieces[frame.piece].ask(formatted_names, len(parts)) if file else ()
            return f"(?:{'|'.join(written)})" if written else _ANY
        case ir.Bin("+", left, right):
            return _pattern(ev, left, frame) + _pattern(ev, right, frame)
    known = named_by(ev.eval(number, frame))
    return f"(?:{'|'.join(map(re.escape, known))})" if known else _ANY


def formatted_names(text: str, count: int) -> tuple[str, ...]:
    """The patterns of the formatted strings in a text that give names and have so many pairs of braces; their constant
    parts stand in the text only."""
    found = (re.split(r"\{[^{}]*\}", match[2]) for match in _FORMATTED.finditer(text)) if "{" in text else ()
    names = (parts for parts in found if len(parts) == count + 1 and any(parts))
    return tuple(sorted({_ANY.join(parts) for parts in names if all(_PART.fullmatch(part) for part in parts)}))
