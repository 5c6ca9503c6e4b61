"""The platforms that a program needs, because it imports or calls what others lack: `from os import sched_getaffinity`,
`import fcntl`. Elsewhere it raises before it gets to a loader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.platforms import ONLY_ON
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.file_imports import own_imports, surely_imported
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, Site
from loaderlint.project.modules.dependencies import holds
from loaderlint.project.modules.import_resolution import is_hidden
from loaderlint.project.modules.project_files import MODULE

#: The words of the table, by which files are found.
_WORDS = frozenset(name.rpartition(".")[2] for name in ONLY_ON)


class RequiredPlatforms:
    """What the modules and functions of a project need. Each module is followed once."""

    def __init__(self, ev: Evaluator) -> None:
        self._ev = ev
        self._needing: dict[Path, frozenset[str]] | None = None
        self._of_module: dict[Path, tuple[str, ...]] = {}

    def of_module(self, path: Path) -> tuple[str, ...]:
        """The names in `ONLY_ON` that a module, or one that it surely imports, uses whenever it is imported."""
        if self._needing is None:
            self._needing = dict(self._find_needing())
        if not self._needing:
            return ()
        if path not in self._of_module:
            together = (self._needing.get(one, frozenset()) for one in surely_imported(self._ev, path))
            self._of_module[path] = tuple(sorted(frozenset[str]().union(*together)))
        return self._of_module[path]

    def before(self, site: Site) -> Iterator[str]:
        """The names in `ONLY_ON` that the def of an expression has called whenever the expression is evaluated."""
        code = site.frame.code
        last = code.evaluated_by(site.expr)
        if code.one is None or last is None or site.frame.facts is None:
            return
        if _WORDS.isdisjoint(site.frame.facts.ir.mentions):
            return
        sure = {0, *code.one.enclosing(code.one.steps[last].context)}
        for number, step in enumerate(code.one.steps):
            if number <= last and isinstance(step, ir.Perform) and step.context in sure and step.call != NONE:
                yield from self._called(step.call, site.frame)

    def _find_needing(self) -> Iterator[tuple[Path, frozenset[str]]]:
        """The modules that use a name of the table themselves, each with these names."""
        for path in sorted({path for word in _WORDS for path in self._ev.files.containing(word)}):
            found = frozenset((*self._imported(path), *self._called_in(path)))
            if found:
                yield path, found

    def _imported(self, path: Path) -> Iterator[str]:
        for e in own_imports(self._ev, path):
            top = e.module.partition(".")[0]
            name = _listed(f"{e.module}.{e.name}" if e.name else e.module)
            if name is not None and not e.level and not is_hidden(self._ev.files, path, top):
                yield name

    def _called_in(self, path: Path) -> Iterator[str]:
        """What the code of a module calls in no branch, and in no function."""
        file = self._ev.file(path)
        if file is None:
            return
        mentioning = {piece for word in _WORDS for piece, _ in file.asking(holds, word, scope=MODULE)}
        for piece in sorted(one for one in mentioning if file.pieces[one].parent == -1):
            body = self._ev.body(path, piece)
            for step, _ in body.code.calls:
                if step.context == 0:
                    yield from self._called(step.call, body)

    def _called(self, number: int, frame: Frame) -> Iterator[str]:
        call = self._ev.expr(frame, number)
        atoms = self._ev.eval(call.func, frame).atoms if isinstance(call, ir.Call) else ()
        if len(atoms) == 1:
            yield from (atom.name for atom in atoms if isinstance(atom, Lib) and atom.name in ONLY_ON)


def _listed(name: str) -> str | None:
    """The name in `ONLY_ON` for an imported module or name: `nvidia.dali` for `nvidia.dali.plugin.pytorch`."""
    while name and name not in ONLY_ON:
        name = name.rpartition(".")[0]
    return name or None


def having(platforms: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `platforms` that have everything in `names`; all of them if none has: a project that is for such a
    platform only has found a way."""
    return tuple(one for one in platforms if all(one in ONLY_ON[name] for name in names)) or platforms
