"""Resolves an import to a file of the project.

An absolute import resolves in the nearest ancestor folder of the importing file (or its `src`) that holds the module,
up to the project's root. A folder there may have the module's name without holding it, because the package is in a
folder of its own name, `crops/crops/__init__.py` beside `crops/setup.py`, and installed from there. A name of the
standard library is never a file of the project; nor is a folder without `__init__.py` that merely shares the name of a
well-known library: only a module in it is, by its full name or as what is imported from the folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from loaderlint.project.modules.module_refs import FolderRef, ModuleRef
from loaderlint.project.modules.project_files import Files

_PATH_LINE = re.compile(r"sys\.path\.(?:append|insert)\(([^\n]*)")
_JOIN_LINE = re.compile(r"\bjoin\(([^\n]*)")
_QUOTED = re.compile(r"""["']([^"'\n]+)["']""")
#: What is never a file of the project, and what is none where only a folder is called so.
STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))
WELL_KNOWN = frozenset(
    """
    torch torchvision torchaudio numpy cv2 h5py lmdb pandas scipy sklearn skimage PIL albumentations monai timm
    lightning pytorch_lightning keras tensorflow datasets transformers accelerate webdataset imgaug kornia
    """.split()
)


#: Those of them that a module inside a package always means, whatever is beside it: `from torch.utils.data import
#: Dataset` in `pipelines/train.py`, beside `pipelines/torch/__init__.py`. Python does not search the package for them;
#: the folder of a script comes first, but a script beside such a package could not use the library at all. A package
#: `datasets` or `transformers` of the project is often meant.
_ALWAYS_LIBRARIES = frozenset(
    "torch torchvision torchaudio numpy pandas scipy sklearn tensorflow keras cv2 PIL".split()
)


def resolve(files: Files, importer: Path, module: str, level: int) -> ModuleRef | FolderRef | None:
    """The module of the project that `module` names in `importer`; None if it is none of the project's.

    `level` counts the leading dots of a relative import; then `module` may be ''."""
    if level:
        folder = importer.parent
        for _ in range(level - 1):
            folder = folder.parent
        return _within(files, folder, module.split(".") if module else [])
    parts = module.split(".")
    if parts[0] in STANDARD:
        return None
    for folder in _search_path(files, importer):
        first = _child(files, folder, parts[0])
        if first is None:
            continue
        if isinstance(first, FolderRef) and parts[0] in WELL_KNOWN:
            inside = _within(files, folder, parts) if len(parts) > 1 else None
            if inside is None:
                continue
        if parts[0] in _ALWAYS_LIBRARIES and files.exists(folder / "__init__.py"):
            continue
        if first == ModuleRef(importer) and len(parts) == 1 and parts[0] in WELL_KNOWN:
            continue
        found = _within(files, folder, parts)
        if found is None or (found == FolderRef(folder / parts[0]) and files.exists(found.path / "setup.py")):
            found = _within(files, folder / parts[0], parts) or found
        if found is not None:  # `extract.py` holds no `extract.video`: a folder further out does
            return found
    return None


def is_hidden(files: Files, importer: Path, module: str) -> bool:
    """Whether a module of the project may hide a top-level module of a library or of Python from `importer`."""
    return any(isinstance(_child(files, folder, module), ModuleRef) for folder in _search_path(files, importer))


def resolves_as_neighbours(files: Files, importer: Path) -> bool:
    """Whether the modules that `importer` names are those that any other file of its folder names so: it adds no folder
    to the search path, and could not be taken for a library itself."""
    return importer.stem not in WELL_KNOWN and not any(True for _ in _added_folders(files, importer))


def submodule(files: Files, package: ModuleRef | FolderRef, name: str) -> ModuleRef | FolderRef | None:
    """Module `name` of a package; None for a plain module or a missing one."""
    if isinstance(package, FolderRef):
        return _child(files, package.path, name)
    if package.path.name != "__init__.py":
        return None
    return _child(files, package.path.parent, name)


def _search_path(files: Files, importer: Path) -> Iterator[Path]:
    yield from _added_folders(files, importer)
    folder = importer.parent
    while True:
        yield folder
        if files.has_folder(folder / "src"):
            yield folder / "src"
        if folder == files.root or folder == folder.parent:
            break
        folder = folder.parent
    if files.exists(files.root / "__init__.py"):
        yield files.root.parent  # the root is a package: its modules know it by its name


def _added_folders(files: Files, importer: Path) -> Iterator[Path]:
    """Folders that the file adds to `sys.path`, as far as constants name them, `os.path.join(ROOT, "data")`; and those
    that the `_init_paths` next to it adds."""
    yield from _named_folders(files, importer, importer, "sys.path", _path_names)
    paths = importer.parent / "_init_paths.py"
    if files.exists(paths) and importer != paths:
        file = files.file(importer)
        if file and any(True for _ in file.mentioning("_init_paths")):
            yield from _named_folders(files, importer, paths, "join", _joined_names)


def _named_folders(
    files: Files, importer: Path, adder: Path, word: str, names_in: Callable[[str], tuple[tuple[str, ...], ...]]
) -> Iterator[Path]:
    file = files.file(adder)
    for index in file.mentioning(word) if file else ():
        for names in file.pieces[index].ask(names_in) if file else ():
            for folder in (importer.parent, importer.parent.parent):
                if folder.is_relative_to(files.root) and files.has_folder(folder.joinpath(*names)):
                    yield folder.joinpath(*names)


def _path_names(text: str) -> tuple[tuple[str, ...], ...]:
    """The constant parts of each path that `text` adds to `sys.path`."""
    return _constant_parts(_PATH_LINE.findall(text))


def _joined_names(text: str) -> tuple[tuple[str, ...], ...]:
    """The constant parts of each path that `text` joins."""
    return _constant_parts(_JOIN_LINE.findall(text))


def _constant_parts(found: list[str]) -> tuple[tuple[str, ...], ...]:
    lines = [tuple(name.strip("./") for name in _QUOTED.findall(line)) for line in found]
    return tuple(names for names in lines if names)


def _within(files: Files, folder: Path, parts: list[str]) -> ModuleRef | FolderRef | None:
    """Follow `parts` down from `folder`; with no parts the folder's own package."""
    found: ModuleRef | FolderRef | None
    package = folder / "__init__.py"
    found = ModuleRef(package) if files.exists(package) else FolderRef(folder) if files.has_folder(folder) else None
    if not parts:
        return found
    found = _child(files, folder, parts[0])
    for part in parts[1:]:
        if found is None:
            return None
        found = submodule(files, found, part)
    return found


def _child(files: Files, folder: Path, name: str) -> ModuleRef | FolderRef | None:
    package = folder / name / "__init__.py"
    if files.exists(package):
        return ModuleRef(package)
    module = folder / f"{name}.py"
    if files.exists(module):
        return ModuleRef(module)
    return FolderRef(folder / name) if files.has_folder(folder / name) else None
