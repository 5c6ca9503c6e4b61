"""Names that nothing binds: a program that reads one ends there with a NameError.

A name that somebody has only begun to type is none: as long as a name that is bound begins with it, it counts as that
one. Code that no text shows may bind names too: `exec`, `globals()`, and other modules that store attributes."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import UNDEFINED
from loaderlint.project.modules.unseen_bindings import may_bind_unseen
from loaderlint.syntax.notebook import SUFFIX

#: Builtins of Python 2 and of newer Pythons than this one, and what IPython, profilers and workflow tools put into
#: a script.
_OTHER_BUILTINS = frozenset(
    """
    apply basestring buffer cmp coerce execfile file intern long raw_input reduce reload unichr unicode xrange
    WindowsError EncodingWarning BaseExceptionGroup ExceptionGroup PythonFinalizationError
    _ dbutils display get_ipython profile reveal_type sc snakemake spark
    """.split()
)
_BUILTINS = frozenset(dir(builtins)) | _OTHER_BUILTINS


class UnboundNames:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator

    def read_in(self, path: Path, facts: PieceFacts, def_: int, here: Unframed) -> Iterator[tuple[int, str]]:
        """The steps of a def that always read a name which nothing binds, each with the name."""
        exprs = facts.ir.exprs
        suspects = {
            number: e.name for number, e in enumerate(exprs) if isinstance(e, ir.Global) and self._is_unseen(path, e)
        }
        evaluated: set[int] = set()
        for step, one in enumerate(facts.ir.defs[def_].steps if suspects and path.suffix != SUFFIX else ()):
            for number in _evaluated(exprs, ir.step_expressions(one), evaluated):
                if number in suspects and self._is_unbound(path, suspects[number], number, facts, def_, here):
                    yield step, suspects[number]

    def _is_unseen(self, path: Path, name: ir.Global) -> bool:
        """Whether a file does not bind a name itself."""
        file = self._ev.file(path)
        if name.name in _BUILTINS or name.name.startswith("__"):
            return False
        return file is not None and name.name not in file.names

    def _is_unbound(self, path: Path, name: str, number: int, facts: PieceFacts, def_: int, here: Unframed) -> bool:
        value = here.value(number)
        if value is None or value.atoms != {UNDEFINED} or self._is_bound_unseen(path, name):
            return False
        file = self._ev.file(path)
        steps = facts.ir.defs[def_].steps
        bound = chain(
            file.names if file is not None else (),
            (step.name for step in steps if isinstance(step, ir.Bind)),
            (param.name for param in facts.ir.defs[def_].params),
            _BUILTINS,
            keyword.kwlist,
        )
        return not any(one.startswith(name) for one in bound)

    def _is_bound_unseen(self, path: Path, name: str) -> bool:
        """Whether code may bind a name in a file without saying so there."""
        file = self._ev.file(path)
        if file is None or may_bind_unseen(file):
            return True
        if any(file.pieces[piece].holds("global") for piece in file.mentioning(name)):
            return True
        if file.stars and any(
            name in other.names for other in map(self._ev.file, self._ev.files.containing(name)) if other
        ):
            return True  # a star import may mean another module of the same name
        return any(self._ev.files.containing(text) for text in (f".{name} =", f".{name}:", f'"{name}"', f"'{name}'"))


def _evaluated(exprs: tuple[ir.Expr, ...], numbers: Iterable[int], seen: set[int]) -> Iterator[int]:
    """What is always evaluated for these expressions and was not before; it is added to `seen`."""
    waiting = [number for number in numbers if number != ir.NONE]
    while waiting:
        one = waiting.pop()
        if one == ir.NONE or one in seen:
            continue
        seen.add(one)
        yield one
        waiting += ir.always_evaluated(exprs[one])
