"""Names that nothing binds: a program that reads one ends there with a NameError.

A name that somebody has only begun to type is none: as long as a name that is bound begins with it, it counts as that
one, unless a dot follows it or another name is not bound either. Code that no text shows may bind names too: `exec`,
`globals()`, and other modules that store attributes."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import UNDEFINED
from loaderlint.project.modules.import_resolution import STANDARD, WELL_KNOWN
from loaderlint.project.modules.project_files import ProjectFile
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
#: Names by which modules are known. (A text such as "random" says more often what is chosen than what `setattr` sets.)
MODULES = STANDARD | WELL_KNOWN | {"np", "pd", "plt"}
_BUILTINS = frozenset(dir(builtins)) | _OTHER_BUILTINS


class UnboundNames:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator

    def read_in(self, path: Path, facts: PieceFacts, def_: int, here: Unframed) -> Iterator[tuple[int, str]]:
        """The steps of a def that always read a name which nothing binds, each with the name."""
        file = self._ev.file(path)
        if file is None or path.suffix == SUFFIX:
            return
        exprs, one = facts.ir.exprs, facts.ir.defs[def_]
        unbound: list[tuple[int, int, str]] = []
        for step, number, name in _names_read(exprs, one):
            value = here.value(number) if not _is_known(name, file) else None
            if value is not None and value.atoms == {UNDEFINED} and not self._is_bound_unseen(name, file):
                unbound.append((step, number, name))
        are_several = len({name for _, _, name in unbound}) > 1  # nobody types two names at once
        for step, number, name in unbound:
            if are_several or _is_complete(number, exprs) or not self._is_begun(name, file, one):
                yield step, name

    def _is_begun(self, name: str, file: ProjectFile, one: ir.DefIR) -> bool:
        """Whether somebody may have begun to type a longer name that is bound."""
        bound = chain(
            file.names,
            (step.name for step in one.steps if isinstance(step, ir.Bind)),
            (param.name for param in one.params),
            _BUILTINS,
            keyword.kwlist,
        )
        return any(known.startswith(name) for known in bound)

    def _is_bound_unseen(self, name: str, file: ProjectFile) -> bool:
        """Whether code may bind a name in a file without saying so there."""
        if may_bind_unseen(file):
            return True
        if any(file.pieces[piece].holds("global") for piece in file.mentioning(name)):
            return True
        if file.stars and any(
            name in other.names for other in map(self._ev.file, self._ev.files.containing(name)) if other
        ):
            return True  # a star import may mean another module of the same name
        stored = (f".{name} =", f".{name}:")
        named = (f'"{name}"', f"'{name}'") if name not in MODULES else ()
        return any(self._ev.files.containing(text) for text in (*stored, *named))


def _is_known(name: str, file: ProjectFile) -> bool:
    """Whether a name is a builtin, or a file binds it itself."""
    return name in _BUILTINS or name.startswith("__") or name in file.names


def _is_complete(number: int, exprs: tuple[ir.Expr, ...]) -> bool:
    """Whether a dot follows a name: nobody is still typing it."""
    return any(type(e) is ir.Attr and e.base == number for e in exprs)


def _names_read(exprs: tuple[ir.Expr, ...], one: ir.DefIR) -> Iterator[tuple[int, int, str]]:
    """The names of the module that a def always reads: the step that reads it first, the expression, and the name."""
    for step, read in ir.first_reads(exprs, one):
        e = exprs[read]
        if isinstance(e, ir.Global):
            yield step, read, e.name
