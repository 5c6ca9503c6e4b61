"""Packages that a program runs without: it imports them in a `try`, or where they are installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.file_imports import own_imports, surely_imported
from loaderlint.project.modules.project_files import MODULE, holds

if TYPE_CHECKING:
    from loaderlint.project.modules.project_files import ProjectFile
    from loaderlint.project.reach.model import Model

_LEAVING = frozenset({"exit", "quit"})


def is_optional(package: str, path: Path, model: Model) -> bool:
    """Whether a file, with the modules that it imports in any case, imports a package only where it is installed."""
    return model.remembered(_is_optional, package, path)


def _is_optional(package: str, path: Path, model: Model) -> bool:
    together = tuple(surely_imported(model.ev, path))
    if any(_top(e) == package for one in together for e in own_imports(model.ev, one)):
        return False
    return any(_may_lack(package, one, model) for one in together)


def _may_lack(package: str, path: Path, model: Model) -> bool:
    """Whether module-level code of a file imports a package, and goes on without it."""
    file = model.files.file(path)
    pieces = [index for index, _ in file.asking(holds, package, scope=MODULE)] if file is not None else []
    return file is not None and any(_imports_if_there(package, index, file) for index in pieces)


def _imports_if_there(package: str, index: int, file: ProjectFile) -> bool:
    facts = file.facts_of(index)
    if facts is None or "TYPE_CHECKING" in facts.ir.mentions:
        return False
    contexts = [step.context for step in facts.ir.defs[0].steps if _binds(step, package, facts)]
    return bool(contexts) and (file.is_conditional(index) or not _is_required(contexts, package, facts))


def _is_required(contexts: list[int], package: str, facts: PieceFacts) -> bool:
    """Whether a statement that imports a package in these contexts fails without it: in none of them, or the handler of
    the error fails too, or imports the package in another way."""
    body = facts.ir.defs[0]
    kinds = {body.contexts[context].kind for context in contexts}
    if kinds <= {"body", "with"} or {"try", "except"} <= kinds:
        return True
    handled = [step for step in body.steps if body.contexts[step.context].kind == "except"]
    return kinds == {"try"} and any(_leaves(step, facts) for step in handled)


def _leaves(step: ir.Step, facts: PieceFacts) -> bool:
    """Whether a step ends the program."""
    if isinstance(step, ir.Raise):
        return True
    call = facts.ir.exprs[step.call] if isinstance(step, ir.Perform) else None
    callee = facts.ir.exprs[call.func] if isinstance(call, ir.Call) else None
    return isinstance(callee, ir.Attr | ir.Global) and callee.name in _LEAVING


def _binds(step: ir.Step, package: str, facts: PieceFacts) -> bool:
    bound = facts.ir.exprs[step.value] if isinstance(step, ir.Bind) and step.value != ir.NONE else None
    return isinstance(bound, ir.Imported) and _top(bound) == package


def _top(e: ir.Imported) -> str:
    """The package that an import names; '' for one of the file's own package."""
    return "" if e.level else e.module.partition(".")[0]
