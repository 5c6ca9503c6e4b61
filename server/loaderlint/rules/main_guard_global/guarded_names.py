"""Names that are bound only under `if __name__ == "__main__":`, and where they are read."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.project_files import Binding, ProjectFile
from loaderlint.project.reach.model import Loader, Model
from loaderlint.project.reach.scripts import in_main_guard, main_guard_contexts


def guarded_reads(frame: Frame, file: ProjectFile, model: Model) -> list[tuple[str, int, tuple[Binding, ...]]]:
    """The names that a frame reads and that are bound under the main guard only, each with its first read and its
    bindings, in the order of the text. Few frames read one, so anchors are computed only then."""
    reads: dict[str, list[int]] = {}
    facts = model.facts(frame)
    for number in sorted(model.ev.evaluated(frame)):
        if type(e := facts.ir.exprs[number]) is ir.Global:
            reads.setdefault(e.name, []).append(number)
    bound = {name: bindings for name in reads if (bindings := guarded_bindings(name, file, model))}
    if not bound:
        return []
    anchors = facts.anchors.exprs
    found = [(name, min(reads[name], key=anchors.__getitem__), bindings) for name, bindings in bound.items()]
    return sorted(found, key=lambda one: anchors[one[1]])


def guarded_bindings(name: str, file: ProjectFile, model: Model) -> tuple[Binding, ...]:
    """The bindings of a name that is bound under the main guard and nowhere else; none otherwise."""
    bindings = file.names.get(name, [])
    if not bindings or not all(_is_guarded(one, file, model) for one in bindings):
        return ()
    if any(star.module.partition(".")[0] not in sys.stdlib_module_names for star in file.stars):
        return ()
    if any(file.pieces[piece].ask(_declares_global, name) for piece in file.mentioning("global ")):
        return ()
    return tuple(bindings)


def _declares_global(text: str, name: str) -> bool:
    return re.search(rf"^[ \t]*global\b[^\n#]*\b{name}\b", text, re.MULTILINE) is not None


def _is_guarded(binding: Binding, file: ProjectFile, model: Model) -> bool:
    if binding.def_ != 0 or binding.type_checking:
        return False
    if in_main_guard(file, binding.piece):
        return True
    facts = model.ev.facts(file.path, binding.piece)
    if facts is None or binding.step < 0:
        return False
    return facts.ir.defs[0].steps[binding.step].context in main_guard_contexts(facts)


def binding_place(binding: Binding, file: ProjectFile, model: Model) -> Place:
    """Where a binding stands."""
    facts = model.ev.facts(file.path, binding.piece)
    return Place(file.path, binding.piece, facts.anchors.steps[0][binding.step] if facts and binding.step >= 0 else -1)


def is_only_imported(path: Path, loader: Loader, model: Model) -> bool:
    """Whether a file is imported in each program that makes a loader: as a script it would not come to the loader."""
    made, file = loader.path, model.files.file(path)
    if file is None or not file.mentioning("__name__"):
        return False
    return made is not None and made != path and not model.scripts.leads_to(path, [made])


def is_set_from_outside(name: str, path: Path, model: Model) -> bool:
    """Whether another file may give a module a name that it does not bind: `data.SIZE = 224`."""
    others = (model.files.file(other) for other in model.files.containing(name) if other != path)
    return any(True for file in others if file is not None for _ in file.asking(_sets_attribute, name))


def _sets_attribute(text: str, name: str) -> bool:
    return re.search(rf"\.{name}\b[^=\n]*=(?!=)|setattr\(", text) is not None
