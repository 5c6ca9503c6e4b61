"""Loaders that nothing iterates over: the code creates one and only looks at it, `print(len(loader))`.

Such a loader starts no workers. Its name is followed as far as it is in full sight: a local, or a name of the module
that no other file reads. What is passed on, returned, stored or read in any other way counts as used."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.values import Lib, Site
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.modules.project_files import ProjectFile

#: Functions that iterate over nothing.
_LOOKING = frozenset("len print isinstance type id repr str bool callable".split())
#: Methods of test cases of which the same is true.
_ASSERTING = frozenset("assertIsInstance assertIsNotNone assertIsNone assertTrue".split())
#: Attributes of a loader that start no workers.
_PLAIN = frozenset(
    """
    dataset batch_size num_workers sampler batch_sampler collate_fn pin_memory drop_last timeout worker_init_fn
    multiprocessing_context generator prefetch_factor persistent_workers pin_memory_device
    """.split()
)
#: Functions that see every name.
_SEE_ALL = frozenset({"locals", "globals", "vars", "exec", "eval"})


class IdleLoaders:
    """Answers for one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._known: dict[tuple[Path, int, int, int], bool] = {}

    def is_idle(self, made: Site) -> bool:
        """Whether nothing iterates over the loader that a call creates. False for a class of the project, whose
        constructor may do anything."""
        frame = made.frame
        key = (frame.path, frame.piece, frame.def_, made.expr)
        if key not in self._known:
            self._known[key] = self._is_only_looked_at(made)
        return self._known[key] and self._is_of_library(made)

    def _is_of_library(self, made: Site) -> bool:
        call = self._ev.expr(made.frame, made.expr)
        callee = self._ev.eval(call.func, made.frame).atoms if isinstance(call, ir.Call) else ()
        return bool(callee) and all(isinstance(atom, Lib) for atom in callee)

    def _is_only_looked_at(self, made: Site) -> bool:
        frame, one = made.frame, made.frame.code.one
        file = self._ev.file(frame.path)
        if one is None or file is None or one.kind not in ("body", "function", "async_function"):
            return False
        same = with_phis({made.expr}, frame.code.exprs)
        binds = [step for step in one.steps if isinstance(step, ir.Bind) and step.value in same]
        if any(step.scope != "local" for step in binds) or self._is_used(frame.path, frame.piece, same):
            return False
        names = {step.name for step in binds}
        if any((isinstance(e, ir.Capture) and e.name in names) or sees_all(e) for e in frame.code.exprs):
            return False
        return one.kind != "body" or not any(self._may_be_read(name, file, frame.piece) for name in names)

    # --- names at module level ----------------------------------------------------------------------------------------

    def _may_be_read(self, name: str, file: ProjectFile, piece: int) -> bool:
        """Whether code may iterate over what a name at module level is bound to. Which binding a read sees is not
        asked."""
        if self._ev.names.class_around(file, piece) is not None:
            return True  # a member of a class
        if any(self._reads(name, file.path, number) for number in file.mentioning(name)):
            return True
        return may_be_imported(self._ev, name, file.path)

    def _reads(self, name: str, path: Path, piece: int) -> bool:
        facts = self._ev.facts(path, piece)
        if facts is None:
            return True
        exprs = facts.ir.exprs
        if any(e == ir.Const("str", name) or sees_all(e) for e in exprs):
            return True
        reads = {place for place, e in enumerate(exprs) if type(e) is ir.Global and e.name == name}
        same = with_phis(reads, exprs)
        is_bound = any(isinstance(step, ir.Bind) and step.value in same for one in facts.ir.defs for step in one.steps)
        return bool(reads) and (is_bound or self._is_used(path, piece, same))

    # --- what is done with a value ------------------------------------------------------------------------------------

    def _is_used(self, path: Path, piece: int, same: Set[int]) -> bool:
        """Whether a piece does anything with the value that some expressions are, except for binding it to a name and
        looking at it."""
        facts = self._ev.facts(path, piece)
        if facts is None or any(not same.isdisjoint(_handed_on(one)) for one in facts.ir.defs):
            return True
        file = self._ev.file(path)
        return any(
            place not in same and not same.isdisjoint(ir.operands(e)) and not only_looks(e, same, facts.ir.exprs, file)
            for place, e in enumerate(facts.ir.exprs)
        )


def may_be_imported(ev: Evaluator, name: str, module: Path) -> bool:
    """Whether another file may read a name of a module."""
    return any(path != module and _may_import(ev, name, module, path) for path in ev.files.containing(name))


def _may_import(ev: Evaluator, name: str, module: Path, other: Path) -> bool:
    file = ev.file(other)
    if file is None or any(file.asking(_may_name, name)):
        return True
    return any(star.module.rpartition(".")[2] in (module.stem, module.parent.name, "") for star in file.stars)


def only_looks(e: ir.Expr, same: Set[int], exprs: tuple[ir.Expr, ...], file: ProjectFile | None) -> bool:
    """Whether an expression of a file with an operand that is the loader only looks at it."""
    match e:
        case ir.Text() | ir.Unary("not", _):
            return True
        case ir.Compare(_, ops, _):
            return ops in (("is",), ("is not",), ("==",), ("!=",))
        case ir.IfExp(_, then, other):
            return same.isdisjoint((then, other))
        case ir.Attr(_, name):
            return name in _PLAIN
        case ir.Call(func, args) if func not in same and all(arg.kind in ("pos", "kw") for arg in args):
            callee = exprs[func]
            is_builtin = type(callee) is ir.Global and callee.name in _LOOKING and _is_builtin(callee.name, file)
            return is_builtin or (isinstance(callee, ir.Attr) and callee.name in _ASSERTING)
    return False


def _is_builtin(name: str, file: ProjectFile | None) -> bool:
    """Whether a module has no function of its own of a builtin's name."""
    return file is not None and not file.names.get(name)


def with_phis(numbers: Set[int], exprs: tuple[ir.Expr, ...]) -> set[int]:
    """Some expressions, and the reads of locals that may be one of them."""
    found = set(numbers)
    phis = [(place, e) for place, e in enumerate(exprs) if type(e) is ir.Phi]
    before = -1
    while len(found) > before:
        before = len(found)
        found.update(place for place, phi in phis if not found.isdisjoint(phi.choices))
    return found


def _handed_on(one: ir.DefIR) -> Iterator[int]:
    """The expressions that a def iterates over, stores, gives away or enters."""
    for step in one.steps:
        if not isinstance(step, ir.Bind | ir.Perform | ir.Evaluate | ir.Test | ir.Delete):
            yield from ir.step_expressions(step)
    yield from (here.expr for here in one.contexts if here.kind not in ("if", "while"))
    yield from (*one.decorators, *one.bases, *(value for _, value in one.keywords))
    yield from (param.default for param in one.params)


def sees_all(e: ir.Expr) -> bool:
    """Whether an expression names a function that may read any name."""
    return type(e) is ir.Global and e.name in _SEE_ALL


@needs_word
def _may_name(text: str, name: str) -> bool:
    """Whether a piece may import a name from another module, or read it as an attribute of one."""
    named = re.escape(name)
    return re.search(rf"\bimport\b.*\b{named}\b|(?<!\bself)\.{named}\b|[\"'.]{named}[\"']", text, re.DOTALL) is not None
