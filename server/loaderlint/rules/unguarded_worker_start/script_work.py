"""Where the work of a script begins: the statements above a start of workers that a worker need not repeat.

A worker that imports the script again runs everything above the guard: it would create the model, log in and print
again.
"""

from __future__ import annotations

import re
from collections.abc import Set

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.lasting_effects import OUTSIDE
from loaderlint.project.evaluation.file_imports import files_of
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib
from loaderlint.project.modules.project_files import ProjectFile
from loaderlint.project.reach.model import Model
from loaderlint.syntax.cutter import GOES_ON
from loaderlint.syntax.main_guard import is_main_guard

#: `Sample = namedtuple(...)` is a class, which workers look up by its name; `BATCH_SIZE` is none.
_CLASS = re.compile(r"_*[A-Z]\w*[a-z]")


def first_work(file: ProjectFile, start: int, needed: Set[str], model: Model) -> int:
    """The module-level piece with which the work begins that leads to piece `start`: between the two are only
    statements that matter to the main process alone. `needed` are the names that workers use."""
    work = _Work(file, needed, model)
    found = first = start
    is_whole = True  # nothing of its own has been left out on the way
    for index in reversed(range(start)):
        if not work.is_of_main(index):
            break
        if file.pieces[index].parent == -1 and file.pieces[index].keyword not in GOES_ON:
            first = index
        if work.does_something(index):
            found, is_whole = first, True
        elif is_whole and work.is_counter(index):
            found = first
        else:
            is_whole = False
    return found


class _Work:
    """Judges the module-level statements of one script."""

    def __init__(self, file: ProjectFile, needed: Set[str], model: Model) -> None:
        self._file = file
        self._needed = needed
        self._model = model

    def does_something(self, index: int) -> bool:
        """Whether a statement is more than the value of a setting."""
        facts = self._file.facts_of(index)
        return facts is not None and any(isinstance(step, ir.Perform) for step in facts.ir.defs[0].steps)

    def is_counter(self, index: int) -> bool:
        """Whether a statement at module level is the first value of a variable that the script goes on to change,
        judging by its name: `best_score = 0`. `EPOCHS = 3` is a setting."""
        facts = self._file.facts_of(index)
        if facts is None or self._file.pieces[index].parent != -1:
            return False
        steps = facts.ir.defs[0].steps
        first = facts.ir.exprs[steps[0].value] if steps and isinstance(steps[0], ir.Bind) else None
        names = [step.name for step in steps if isinstance(step, ir.Bind) and not isinstance(first, ir.Imported)]
        return bool(steps) and len(names) == len(steps) and all(map(str.islower, names))

    def is_of_main(self, index: int) -> bool:
        """Whether the effects of a statement stay in the main process: it binds no name that workers use, and changes
        nothing but what such names hold."""
        facts, piece = self._file.facts_of(index), self._file.pieces[index]
        if facts is None or piece.kind == "class" or piece.ask(is_main_guard):
            return False
        if any(one.kind not in ("body", "lambda") for one in facts.ir.defs):
            return False
        if self._is_lone_import(index, facts):
            return True
        body = self._model.ev.body(self._file.path, index)
        return all(self._is_step_of_main(step, facts.ir, body) for step in facts.ir.defs[0].steps)

    def _is_lone_import(self, index: int, facts: PieceFacts) -> bool:
        """Whether a statement between two others imports only names of libraries, which no worker uses. An import of
        torch is the head of a part of its own."""
        steps = facts.ir.defs[0].steps
        if not steps or self._is_import(index - 1) or self._is_import(index + 1):
            return False
        bound = [(step.name, facts.ir.exprs[step.value]) for step in steps if isinstance(step, ir.Bind)]
        return len(bound) == len(steps) and all(
            isinstance(e, ir.Imported) and name not in self._needed and self._is_of_library(e) for name, e in bound
        )

    def _is_import(self, index: int) -> bool:
        facts = self._file.facts_of(index) if 0 <= index < len(self._file.pieces) else None
        steps = facts.ir.defs[0].steps if facts is not None else ()
        bound = [facts.ir.exprs[step.value] for step in steps if facts is not None and isinstance(step, ir.Bind)]
        return any(isinstance(e, ir.Imported) for e in bound) or any(isinstance(s, ir.StarImport) for s in steps)

    def _is_of_library(self, e: ir.Imported) -> bool:
        return e.module.partition(".")[0] != "torch" and not any(files_of(self._model.ev, self._file.path, e))

    def _is_step_of_main(self, step: ir.Step, piece: ir.PieceIR, body: Frame) -> bool:
        match step:
            case ir.Bind():
                value = piece.exprs[step.value]
                return self._is_own(step.name, value) and not isinstance(value, ir.Imported)
            case ir.SetAttr(base=held) | ir.SetItem(base=held) | ir.Augment(target=held) | ir.Delete(target=held):
                return self._is_held(held, piece)
            case ir.Evaluate(expr=number):
                value = piece.exprs[number]
                return not isinstance(value, ir.Call) or self._is_call_of_main(value, piece, body)
            case ir.StarImport():
                return False
        return True

    def _is_call_of_main(self, call: ir.Call, piece: ir.PieceIR, body: Frame) -> bool:
        atoms = self._model.ev.eval(call.func, body).atoms
        if atoms and all(isinstance(atom, Lib) and atom.name.startswith(OUTSIDE) for atom in atoms):
            return True
        return isinstance(piece.exprs[call.func], ir.Attr) and self._is_held(call.func, piece)

    def _is_held(self, number: ir.ExprId, piece: ir.PieceIR) -> bool:
        """Whether an object is held by a variable of the script that workers do not use: it is no module or class."""
        root = piece.exprs[number]
        while isinstance(root, (ir.Attr, ir.Index)):
            root = piece.exprs[root.base]
        if not isinstance(root, ir.Global):
            return not isinstance(root, ir.Imported)
        return self._is_own(root.name, root) and self._is_variable(root.name)

    def _is_own(self, name: str, value: ir.Expr) -> bool:
        """Whether a name that has a value is one of the main process: no worker uses it, and it is no class. Another
        name of a class, such as `Tensor = torch.cuda.FloatTensor`, is not the one by which workers find it."""
        is_class = bool(_CLASS.match(name)) and not isinstance(value, ir.Attr | ir.Const)
        is_function = name == "_" and not isinstance(value, ir.Unpack)  # that of gettext
        return name not in self._needed and not is_function and not is_class

    def _is_variable(self, name: str) -> bool:
        bindings = self._file.names[name] if name in self._file.names else ()
        return bool(bindings) and all(self._binds_a_value(one.piece, one.def_, one.step) for one in bindings)

    def _binds_a_value(self, index: int, def_: int, step: int) -> bool:
        facts = self._file.facts_of(index) if step >= 0 else None
        if facts is None:
            return False  # a function or a class
        bound = facts.ir.defs[def_].steps[step]
        return isinstance(bound, ir.Bind) and not isinstance(facts.ir.exprs[bound.value], (ir.Imported, ir.MakeDef))
