"""The keys that a def reads in any case of what it loads from a file: a file without one of them is not meant for this
program."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.frames import Code

#: Methods that leave a mapping as it is.
_READING = frozenset("get items keys values copy".split())


def needed_keys(read: ir.ExprId, code: Code) -> frozenset[str]:
    """The keys of the mapping that expression `read` of a def loads which the def reads outside of branches, loops and
    `try`, and does not store itself. None of them if it may fill the mapping from elsewhere."""
    if any(name not in _READING for _, _, _, name in code.method_calls(read)):
        return frozenset()
    return frozenset(_always_read(read, code)) - frozenset(_stored(read, code))


def _always_read(read: ir.ExprId, code: Code) -> Iterator[str]:
    for number, e in enumerate(code.exprs):
        key = _key(e.index, code) if isinstance(e, ir.Index) and e.base == read else None
        at = code.evaluated_by(number) if key is not None else None
        if key is None or at is None or code.one is None:
            continue
        if all(one.kind == "with" for one in code.one.around(code.one.steps[at].context)):
            yield key


def _stored(read: ir.ExprId, code: Code) -> Iterator[str]:
    for _, step in code.steps_of(ir.SetItem):
        if step.base == read and (key := _key(step.index, code)) is not None:
            yield key


def _key(index: ir.ExprId, code: Code) -> str | None:
    """The text that an index is; None for any other."""
    e = code.exprs[index] if index != ir.NONE else None
    return e.value if isinstance(e, ir.Const) and isinstance(e.value, str) else None
