"""Imports that always fail: of a name that a module of the project lacks, of a module that its package lacks, or of a
module that cannot be imported itself.

Only what is certain counts. A module that may get names at run time has every name, and a package may have modules that
are built when it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.knowledge.measured_libraries import is_in_tables
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.modules.dependencies import whole
from loaderlint.project.modules.import_resolution import WELL_KNOWN
from loaderlint.project.modules.module_refs import PACKAGE, FolderRef, ModuleRef, module_name
from loaderlint.project.modules.project_files import MODULE, ProjectFile
from loaderlint.project.modules.unseen_bindings import may_bind_unseen
from loaderlint.syntax.notebook import SUFFIX

#: Modules that are often made when a package is built: `_C`, `rows_pb2`, `version`.
_BUILT = re.compile(r"^_|_pb2|version")
#: The standard library's package of tests, which an import finds in place of a `test.py` that is not there, and what
#: it has.
_TESTS_OF_PYTHON = "test"
_IN_TESTS_OF_PYTHON = re.compile(r"__|_?test_|support$|data$|\w*(?:tests?|tester)$")
#: A file with one of these words may import other modules than their names say.
_CHANGES_IMPORTS = ("_init_paths", "sys.modules", "addsitedir", "meta_path", "path_hooks")
_PATH = "sys.path"
#: A folder for `sys.path` that may be outside the project: absolute, of the user, or from the environment.
_FOREIGN_FOLDER = re.compile(r"sys\.path[^\n]*(?:[\"'](?:/|~|\w:)|environ|getenv|argv|args|expanduser)")
#: The last folder of a path in a line: `src` in `os.environ["HOME"] + "/rows/src/"`.
_LAST_FOLDER = re.compile(r"/([\w.-]+)/?[\"'][^\"']*$")
#: One that is found from the place of the file or of the program.
_OWN_FOLDER = re.compile(r"__file__|getcwd|Path\.cwd|[\"']\.{1,2}[\"'/]")


class FailingImports:
    """Answers for one snapshot. `is_unimportable` says whether a module itself always fails while it is imported."""

    def __init__(self, evaluator: Evaluator, is_unimportable: Callable[[Path], bool]) -> None:
        self._ev = evaluator
        self._is_unimportable = is_unimportable
        self._adding: tuple[Path, ...] | None = None
        self._by_name: dict[str, list[Path]] | None = None

    def fails(self, importer: Path, e: ir.Imported) -> bool:
        """Whether an import always fails: the module is missing in its package, has no such name, or cannot be imported
        itself."""
        module = self._ev.names.resolve(importer, e.module, e.level)
        if module is None:
            return self._is_missing(importer, e)
        if isinstance(module, FolderRef):
            return e.name is not None and self._is_missing(
                importer, e._replace(module=f"{e.module}.{e.name}".strip("."))
            )
        if module.path == importer:
            return False

        def fails(path: Path) -> bool:
            return self._is_unimportable(path) or (e.name is not None and self._lacks(path, e.name))

        return fails(module.path) and (e.level > 0 or self._fails_anywhere(importer, e, fails))

    def called(self, module: str, name: str | None) -> Iterator[Path]:
        """The files of the project that may be a module, or its submodule `name`, seen from some folder."""
        wanted = tuple(module.split("."))
        for last in dict.fromkeys((wanted[-1], name or wanted[-1])):
            for path in self._files_by_name().get(last, ()):
                parts = path.parent.parts if path.name == PACKAGE else (*path.parent.parts, path.stem)
                if parts[-len(wanted) :] == wanted or (name and parts[-len(wanted) - 1 :] == (*wanted, name)):
                    yield path

    def _files_by_name(self) -> dict[str, list[Path]]:
        """The files of the project by the last name of their module."""
        if self._by_name is None:
            self._by_name = {}
            for path in self._ev.files.paths():
                self._by_name.setdefault(module_name(path), []).append(path)
        return self._by_name

    def _is_missing(self, importer: Path, e: ir.Imported) -> bool:
        """Whether a package of the project lacks a module, and has nothing that it may be made of."""
        package, _, name = e.module.rpartition(".")
        if not e.level and not package:
            return e.module == _TESTS_OF_PYTHON and self._is_missing_there(importer, e)
        inside = self._ev.names.resolve(importer, package, e.level)
        if inside is None:
            return bool(package) and self._is_missing(importer, e._replace(module=package))
        if isinstance(inside, ModuleRef) and inside.path.name != PACKAGE:
            return False
        folder = inside.path.parent if isinstance(inside, ModuleRef) else inside.path
        if self._ev.files.has_entry(folder, name) or self._may_be_built(name):
            return False
        return e.level > 0 or self._fails_anywhere(importer, e, lambda path: False)

    def _is_missing_there(self, importer: Path, e: ir.Imported) -> bool:
        """Whether an import asks the tests of Python itself for something that they do not have. Any other module that
        is not in the project may be a library's."""
        if e.name is None or _IN_TESTS_OF_PYTHON.match(e.name):
            return False
        return self._fails_anywhere(importer, e, lambda path: False)

    def _may_be_built(self, name: str) -> bool:
        """Whether a module of this name may be made when its package is installed."""
        if _BUILT.search(name):
            return True
        return any(path.name == "setup.py" for path in self._ev.files.containing(name))

    def _fails_anywhere(self, importer: Path, e: ir.Imported, fails: Callable[[Path], bool]) -> bool:
        """Whether an absolute import fails from whatever folder the program is started."""
        top = e.module.partition(".")[0]
        if top in WELL_KNOWN or is_in_tables(top) or self._ev.installed.is_read(top):
            return False
        file = self._ev.file(importer)
        if file is None or any(file.mentioning(word) for word in _CHANGES_IMPORTS):
            return False
        if importer.suffix == SUFFIX and "." not in e.module:
            return False  # a notebook may run where another module has so short a name
        return all(map(fails, self.called(e.module, e.name))) and not self._some_add_folders(importer)

    def _some_add_folders(self, importer: Path) -> bool:
        """Whether a file that may run in one program with `importer` adds folders to `sys.path` that may be outside the
        project."""
        if self._adding is None:
            files = map(self._ev.file, self._ev.files.containing(_PATH))
            self._adding = tuple(file.path for file in files if file is not None and self._may_add_others(file))
        return any(self._ev.import_graph.may_run_with(importer, path) for path in self._adding)

    def _may_add_others(self, file: ProjectFile) -> bool:
        """Whether a file adds folders to `sys.path` that may be outside the project. One with the name of a folder of
        the project is that folder, wherever somebody keeps the project: `os.environ["HOME"] + "/rows/src"`."""
        adding = [file.pieces[index] for index in file.mentioning(_PATH)]
        foreign = {name for piece in adding for name in piece.ask(_foreign_folders)}
        if foreign:
            return not foreign <= self._own_folders()
        return bool(adding) and not any(True for _ in file.asking(_finds_own_folder))

    def _own_folders(self) -> frozenset[str]:
        """The names of the project's folders."""
        root = self._ev.files.root
        inside = (path.relative_to(root).parts[:-1] for path in self._ev.files.paths())
        return frozenset({root.name}.union(*inside))

    def _lacks(self, path: Path, name: str) -> bool:
        """Whether a module, with those of the project that its star imports lead to, binds no such name and shows all
        names that it binds; a package has no such module either."""
        if name.startswith("__"):
            return False
        modules = [path]
        for one in modules:  # grows
            file = self._ev.file(one)
            if file is None or self._may_bind(file, name):
                return False
            for star in file.stars:
                module = self._ev.names.resolve(one, star.module, star.level)
                if not isinstance(module, ModuleRef):
                    return False
                if module.path not in modules:
                    modules.append(module.path)
        return True

    def _may_bind(self, file: ProjectFile, name: str) -> bool:
        """Whether a module itself may bind a name, or have a module of this name."""
        if name in file.names or "__getattr__" in file.names or may_bind_unseen(file):
            return True
        if file.path.name == PACKAGE and (self._ev.files.has_entry(file.path.parent, name) or self._may_be_built(name)):
            return True
        return any(file.facts_of(index) is None for index, _ in file.asking(whole, scope=MODULE))


def _foreign_folders(text: str) -> tuple[str, ...]:
    """The last names of the folders that a text adds to `sys.path`, and that may be outside the project; '' for one
    whose name is not written."""
    lines = [line for line in text.splitlines() if _FOREIGN_FOLDER.search(line)]
    return tuple(found[-1] if (found := _LAST_FOLDER.findall(line)) else "" for line in lines)


def _finds_own_folder(text: str) -> bool:
    return _OWN_FOLDER.search(text) is not None
