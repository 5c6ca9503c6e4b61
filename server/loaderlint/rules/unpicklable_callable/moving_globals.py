"""Names of the module that a function at module level could not read instead: workers that import the module again do
not bind them, or bind them to something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from loaderlint.project.evaluation.values import UNDEFINED, ClassRef, FunctionRef, Lib
from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import Binding, ProjectFile
from loaderlint.project.reach.model import Model
from loaderlint.project.reach.scripts import in_main_guard, main_guard_contexts

#: 'guarded': bound under the main guard only. 'moving': bound again, in a loop or below.
Moving = Literal["guarded", "moving"]


def moving_globals(names: Iterable[str], function: FunctionRef, model: Model) -> dict[str, Moving]:
    """Those of the names that the function had better get when it is made."""
    file = model.files.file(function.path)
    if file is None:
        return {}
    found = ((name, _moving(name, file.names.get(name, []), function, file, model)) for name in sorted(set(names)))
    return {name: moving for name, moving in found if moving is not None}


def is_bound_late(name: str, function: FunctionRef, model: Model) -> bool:
    """Whether importing the module does not bind a name: only functions do, with `global`, or code that is not in sight
    (`exec(text, globals())`)."""
    file = model.files.file(function.path)
    if name.startswith("__"):
        return False  # `__file__`
    bindings = file.names.get(name, []) if file is not None else []
    if bindings:
        return all(one.def_ != 0 for one in bindings)
    return model.ev.names.lookup(function.path, name, function.piece).atoms == {UNDEFINED}


def _moving(
    name: str, bindings: list[Binding], function: FunctionRef, file: ProjectFile, model: Model
) -> Moving | None:
    if not bindings or _is_defined(name, function, model):
        return None
    if all(_is_guarded(one, file, model) for one in bindings):
        return "guarded"
    at_module_level = function.scope is None or function.scope.def_ == 0
    again = at_module_level and bindings[0].piece <= function.piece < bindings[-1].piece
    return "moving" if again or any(_is_in_loop(one, file, model) for one in bindings) else None


def _is_defined(name: str, function: FunctionRef, model: Model) -> bool:
    """Whether a name means a module, a function or a class, however often it is bound."""
    atoms = model.ev.names.lookup(function.path, name).atoms
    kinds = (Lib, ModuleRef, FolderRef, FunctionRef, ClassRef)
    return bool(atoms) and all(isinstance(atom, kinds) for atom in atoms)


def _context(binding: Binding, file: ProjectFile, model: Model) -> int:
    facts = model.ev.facts(file.path, binding.piece)
    return facts.ir.defs[0].steps[binding.step].context if facts and binding.def_ == 0 and binding.step >= 0 else 0


def _is_guarded(binding: Binding, file: ProjectFile, model: Model) -> bool:
    if in_main_guard(file, binding.piece):
        return True
    return _context(binding, file, model) in main_guard_contexts(model.ev.facts(file.path, binding.piece))


def _is_in_loop(binding: Binding, file: ProjectFile, model: Model) -> bool:
    facts = model.ev.facts(file.path, binding.piece)
    return facts is not None and facts.ir.defs[0].is_in_loop(_context(binding, file, model))
