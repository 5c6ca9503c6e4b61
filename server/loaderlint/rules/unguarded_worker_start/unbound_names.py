"""Names that a statement reads before it starts workers, and that nothing binds: it raises NameError instead."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.project.evaluation.values import UNDEFINED
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.modules.unseen_bindings import may_bind_unseen
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import Start

#: Expressions that evaluate operands at once, and in this module.
_EVALUATES = (ir.BoolOp, ir.Compare, ir.IfExp, ir.Call, ir.Attr, ir.Index, ir.Bin, ir.Unary, ir.Seq, ir.Map, ir.Star)
#: Builtins of Python 2, and names that IPython, profilers and workflow tools put into a script.
_FROM_OUTSIDE = frozenset(
    """
    apply basestring buffer cmp execfile file intern long raw_input reduce reload unichr unicode xrange WindowsError
    get_ipython display profile snakemake spark sc dbutils _
    """.split()
)


def unbound_before(start: Start, model: Model) -> str:
    """A name that the statement at the top of a script always reads before it starts workers, although nothing binds
    it; '' if there is none. What comes before that statement is not considered: somebody may be writing it."""
    file = model.files.file(start.place.path)
    body = model.ev.body(start.place.path, start.place.piece)
    one = body.code.one
    if file is None or one is None or may_bind_unseen(file):
        return ""
    around = {0, *one.enclosing(one.steps[start.step].context)}
    before = [step for step in one.steps[: start.step + 1] if step.context in around]
    reads = (name for step in before for name in _always_read(ir.step_expressions(step), body.code.exprs))
    return next((name for name in reads if _is_unbound(name, file, model)), "")


def _always_read(numbers: tuple[ir.ExprId, ...], exprs: tuple[ir.Expr, ...]) -> Iterator[str]:
    """The names of the module that some expressions read in any case."""
    for number in numbers:
        e = exprs[number] if number != ir.NONE else None
        if type(e) is ir.Global:
            yield e.name
        elif isinstance(e, _EVALUATES):
            yield from _always_read(ir.always_evaluated(e), exprs)


def _is_unbound(name: str, file: ProjectFile, model: Model) -> bool:
    """Whether no code in sight binds a name of a module, not even from another module."""
    if name in _FROM_OUTSIDE or name.startswith("__") or model.files.containing(f".{name} ="):
        return False
    return model.ev.names.lookup(file.path, name).atoms == {UNDEFINED}
