"""The fix: bind a constant above the main guard."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import DeleteStatement, Fix, InsertStatement, Place
from loaderlint.project.modules.project_files import Binding, ProjectFile
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.expression_source import constant_source


def above_guard_fixes(name: str, bindings: tuple[Binding, ...], file: ProjectFile, model: Model) -> tuple[Fix, ...]:
    """Bind a constant above the guard."""
    facts = model.ev.facts(file.path, bindings[0].piece)
    if len(bindings) > 1 or facts is None or bindings[0].step < 0:
        return ()
    piece, number = bindings[0].piece, bindings[0].step
    body, step, anchors = facts.ir.defs[0], facts.ir.defs[0].steps[number], facts.anchors.steps[0]
    if not isinstance(step, ir.Bind) or step.annotation != ir.NONE or anchors.count(anchors[number]) > 1:
        return ()
    text = constant_source(step.value, model.ev.body(file.path, piece), model)
    guard = _guard_around(piece, body.contexts[step.context], file)
    if text is None or guard is None:
        return ()
    moved = InsertStatement(Place(file.path, guard, -1), f"{name} = {text}\n", "before")
    return (
        Fix(
            f"Bind `{name}` above the guard", "safe", (moved, DeleteStatement(Place(file.path, piece, anchors[number])))
        ),
    )


def _guard_around(piece: int, context: ir.Context, file: ProjectFile) -> int | None:
    """The piece of the guard that a statement stands directly in, at module level."""
    parent = file.pieces[piece].parent
    if parent >= 0:
        direct = file.is_main_guard(parent) and file.pieces[parent].parent < 0 and context.kind == "body"
        return parent if direct else None
    return piece if context.kind == "if" and not context.negated and context.parent == 0 else None
