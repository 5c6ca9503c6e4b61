"""Names that are built from strings: `f"{split}_set"` is some name that ends with `_set`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ANY_TEXT, LibObject, Literal_, Templates, Val

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

_PART = r"\w*"
#: A field of `str.format` that inserts the next argument, a text unchanged.
_FIELD = re.compile(r"\{(?::[sd])?\}")
#: A place in a template of the operator `%` that inserts the next argument, a text unchanged.
_PLACE = re.compile("%[sd]")
_MAX_TEXTS = 64
#: The number of strings, each built from the next, that are followed.
_MAX_DEPTH = 6


def named_by(value: Val) -> list[str]:
    """The strings that a value may be; empty if it may be anything else, or if a user may choose."""
    texts = [a.value for a in value.ordered() if isinstance(a, Literal_) and not a.configured]
    names = [text for text in texts if isinstance(text, str)]
    return names if len(names) == len(value.atoms) else []


def built_from(ev: Evaluator, number: int, frame: Frame) -> list[str]:
    """The strings that an expression may give, if it is one of these or is built from them: `"set_{}".format(split)` or
    `f"set_{split}"`, where `split` goes through a list of texts. Empty if it may give anything else."""
    return constant_texts(templates_of(ev, number, frame))


def constant_texts(templates: Templates) -> list[str]:
    """The strings that templates give; empty if one of them is not constant."""
    return [template[0] for template in templates] if all(len(template) == 1 for template in templates) else []


def pattern_of(ev: Evaluator, number: int, frame: Frame) -> str:
    """The regular expression of the names that an expression may give; '' if no part of it is constant."""
    templates = templates_of(ev, number, frame)
    return _regex(templates, _PART) if all(map(any, templates)) else ""


def may_be_named(ev: Evaluator, number: int, frame: Frame, name: str) -> bool:
    """Whether an expression may give a name, for a constant part of it."""
    pattern = pattern_of(ev, number, frame)
    return bool(pattern) and re.fullmatch(pattern, name) is not None


def are_apart(some: Templates, others: Templates) -> bool:
    """Whether no text is built like one of `some` and like one of `others`: their constant beginnings, or their ends,
    differ."""
    return all(_differ(one, other) for one in some for other in others)


def _differ(one: Sequence[str], other: Sequence[str]) -> bool:
    for constant, template in ((one, other), (other, one)):
        if len(constant) == 1:
            return re.fullmatch(_regex((tuple(template),), ".*"), constant[0], re.DOTALL) is None
    begin_alike = one[0].startswith(other[0]) or other[0].startswith(one[0])
    end_alike = one[-1].endswith(other[-1]) or other[-1].endswith(one[-1])
    return not (begin_alike and end_alike)


def _regex(templates: Templates, between: str) -> str:
    return f"(?:{'|'.join(between.join(map(re.escape, template)) for template in templates)})"


def templates_of(ev: Evaluator, number: int, frame: Frame) -> Templates:
    """How the text that an expression gives is built; for anything else than a text, any text."""
    return _templates(ev, number, frame, _MAX_DEPTH)


def templates_of_value(ev: Evaluator, value: Val) -> Templates:
    """How the text that a value is was built; for anything else than a text, any text."""
    return _built_before(ev, value, _MAX_DEPTH)


def _templates(ev: Evaluator, number: int, frame: Frame, depth: int) -> Templates:
    if depth == 0 or number == ir.NONE:
        return ANY_TEXT
    built = _built(ev, number, frame, depth)
    return _built_before(ev, ev.eval(number, frame), depth) if built is None else built


def _built_before(ev: Evaluator, value: Val, depth: int) -> Templates:
    """How the texts are built that a value may be: where they are made, which may be in another def."""
    found: dict[tuple[str, ...], None] = {}
    for atom in value.ordered():
        match atom:
            case Literal_(_, str(text)) if not atom.configured:
                found[text,] = None
            case LibObject("builtins.str" | "builtins.operation" | "builtins.format", site) if (
                depth > 1 and site is not None
            ):
                found.update(dict.fromkeys(_built(ev, site.expr, site.frame, depth - 1) or ANY_TEXT))
            case _:
                return ANY_TEXT
    return tuple(found) if 0 < len(found) <= _MAX_TEXTS else ANY_TEXT


def _built(ev: Evaluator, number: int, frame: Frame, depth: int) -> Templates | None:
    """How the text is built that an expression puts together; None if it does not."""
    match ev.expr(frame, number):
        case ir.Text(parts, texts, formats):
            inserted = (
                [ir.NONE if how else part for part, how in zip(parts, formats, strict=True)] if formats else parts
            )
            return _filled(ev, texts, inserted, frame, depth)
        case ir.Bin("+", left, right):
            return _joined([_templates(ev, one, frame, depth - 1) for one in (left, right)])
        case ir.Bin("%", left, right):
            given = ev.expr(frame, right)
            inserted = given.items if isinstance(given, ir.Seq) and given.kind == "tuple" else (right,)
            return _filled(ev, _split(ev.expr(frame, left), _PLACE, "%"), inserted, frame, depth)
        case ir.Call(func, args) if all(arg.kind == "pos" for arg in args):
            method = ev.expr(frame, func)
            if isinstance(method, ir.Attr) and method.name == "format":
                between = _split(ev.expr(frame, method.base), _FIELD, "{}")
                return _filled(ev, between, [arg.value for arg in args], frame, depth)
    return None


def _split(template: ir.Expr | None, field: re.Pattern[str], marks: str) -> list[str]:
    """The constant texts of a template between its fields; empty if it holds other fields."""
    texts = field.split(template.value) if isinstance(template, ir.Const) and isinstance(template.value, str) else []
    return [] if any(mark in text for text in texts for mark in marks) else texts


def _filled(ev: Evaluator, texts: Sequence[str], parts: Sequence[int], frame: Frame, depth: int) -> Templates:
    """What comes out of a template, given by its constant texts, with its fields filled (`NONE`: by any text); any text
    if they do not fit together."""
    if len(texts) != len(parts) + 1:
        return ANY_TEXT
    joined: list[Templates] = [((texts[0],),)]
    for part, text in zip(parts, texts[1:], strict=True):
        joined += [_templates(ev, part, frame, depth - 1), ((text,),)]
    return _joined(joined)


def _joined(parts: Sequence[Templates]) -> Templates:
    """The texts that are built from one text of each part, in this order."""
    if prod(map(len, parts)) > _MAX_TEXTS:
        return ANY_TEXT
    return tuple(dict.fromkeys(map(_concatenated, product(*parts))))


def _concatenated(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    texts = [""]
    for first, *rest in parts:
        texts[-1] += first
        texts += rest
    return tuple(text for i, text in enumerate(texts) if text or i in (0, len(texts) - 1))
