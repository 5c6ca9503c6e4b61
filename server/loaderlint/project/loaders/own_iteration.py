"""Subclasses of torch's DataLoader that read their dataset themselves.

`DataLoader.__init__` starts no process: only `DataLoader.__iter__` does. A subclass whose own `__iter__` never gets
there has no workers, whatever number it is given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import ClassRef, FunctionRef
from loaderlint.project.modules.dependencies import holds

TORCH_LOADER = "torch.utils.data.DataLoader"
#: Bases that have no code that could start workers.
_INERT = ("typing.", "abc.", "collections.abc.", "builtins.")
#: What starts or holds torch's workers, or processes of the class itself.
_STARTS = re.compile(
    r"(?<!def )__iter__|\b_(?:get_)?iterator\b|DataLoaderIter|[Pp]rocess|\bmp\b|(?<!Thread)Pool|\bfork"
)
#: Calls that take `self` and hand it to no code that could iterate over it in torch's way.
_LOOKS = frozenset("len super id isinstance hasattr getattr setattr type repr str".split())


def reads_itself(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether a subclass of torch's DataLoader reads the dataset in the process that iterates over it."""
    own = ev.classes.member(cls, "__iter__")
    if own is None or own.function is None or ev.classes.has_unknown_base(cls):
        return False
    libraries = ev.classes.library_bases(cls)
    if any(name != TORCH_LOADER and not name.startswith(_INERT) for name in libraries):
        return False
    if any(True for _ in ev.classes.methods_asked(cls, _starts_workers)):
        return False
    methods = ev.classes.methods_asked(cls, holds, "self")
    return not any(_hands_itself_on(ev, member.function) for member in methods if member.function is not None)


def _starts_workers(text: str) -> bool:
    """Whether a piece names what starts workers."""
    return _STARTS.search(text) is not None


def _hands_itself_on(ev: Evaluator, function: FunctionRef) -> bool:
    """Whether a method passes the loader to code that may iterate over it: `return Prefetcher(self)`."""
    exprs = ev.code(function).exprs
    return any(
        isinstance(e, ir.Call) and any(ir.is_self(exprs[arg.value]) for arg in e.args) and not _is_harmless(e, exprs)
        for e in exprs
    )


def _is_harmless(call: ir.Call, exprs: Sequence[ir.Expr]) -> bool:
    """Whether a call of `len(self)` or `DataLoader.__init__(self, ...)`."""
    match exprs[call.func]:
        case ir.Global(name):
            return name in _LOOKS
        case ir.Attr(_, name):
            return name in ("__init__", "__setattr__", "__len__")
    return False
