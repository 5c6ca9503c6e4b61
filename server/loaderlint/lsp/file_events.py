"""Handles changes on disk, and of the folders of the workspace."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from loaderlint.lsp import client_settings
from loaderlint.lsp.uris import known_path_of, path_of, uri_of

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

#: Python files, settings, and files that say which versions are installed.
WATCHED = (
    "**/*.{py,ipynb}",
    "**/pyproject.toml",
    "**/loaderlint.toml",
    "**/setup.cfg",
    "**/*requirement*.{txt,in,lock}",
    "**/requirements/*.{txt,in}",
    "**/{uv,poetry,pdm,pixi}.lock",
    "**/pylock*.toml",
    "**/pixi.toml",
    "**/{Pipfile,Pipfile.lock}",
    "**/*{env,conda}*.{yml,yaml}",
    "**/cog.{yml,yaml}",
    "**/.python-version",
    "**/{README,Readme,readme}.{md,markdown}",
    "**/.gitignore",
    # Environments that are created or deleted, and the packages whose versions matter most to rules. All other
    # installations are noticed at the next check (`Versions.changed`).
    "**/pyvenv.cfg",
    "**/site-packages/{torch,tensorflow,keras,albumentations}-*.dist-info/METADATA",
    # If a folder is removed, or appears with all its files, some editors report only the folder.
    "**/site-packages/{torch,tensorflow,keras,albumentations}-*.dist-info",
)

#: Files by their names, and folders, because they contain files.
_OPERATIONS = types.FileOperationRegistrationOptions(
    filters=[
        types.FileOperationFilter(
            scheme="file",
            pattern=types.FileOperationPattern(glob="**/*.{py,ipynb}", matches=types.FileOperationPatternKind.File),
        ),
        types.FileOperationFilter(
            scheme="file", pattern=types.FileOperationPattern(glob="**", matches=types.FileOperationPatternKind.Folder)
        ),
    ]
)


def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
    """Files on disk were created, changed or deleted: Python, settings, lock and requirement files, environments."""
    _touched(ls, (event.uri for event in params.changes))


def did_create_files(ls: Server, params: types.CreateFilesParams) -> None:
    """The user created files or folders in the editor."""
    _touched(ls, (file.uri for file in params.files))


def did_rename_files(ls: Server, params: types.RenameFilesParams) -> None:
    """The user renamed files or folders in the editor."""
    _touched(ls, (uri for file in params.files for uri in (file.old_uri, file.new_uri)))


def did_delete_files(ls: Server, params: types.DeleteFilesParams) -> None:
    """The user deleted files or folders in the editor."""
    _touched(ls, (file.uri for file in params.files))


def _touched(ls: Server, uris: Iterable[str]) -> None:
    ls.analysis.touched([path for uri in uris if (path := known_path_of(uri)) is not None])


async def watch(ls: Server) -> None:
    """Ask the client to watch `WATCHED`, and the results of audits, if it can."""
    if not ls.client.registers_watchers:
        return
    patterns: list[types.GlobPattern] = [*WATCHED, *(_audits() if ls.client.watches_folders else ())]
    options = types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in patterns]
    )
    await ls.register_with_client(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


def _audits() -> Iterator[types.RelativePattern]:
    """The result files of audits, in a folder outside the workspace. It must exist to be watched."""
    from loaderlint.cache import audit_results, cache_folder  # here, because they are not needed earlier

    folder = cache_folder.folder()
    if folder is not None:
        with contextlib.suppress(OSError):
            cache_folder.make(folder)
            yield types.RelativePattern(base_uri=uri_of(folder), pattern=audit_results.PATTERN)


# --- folders ----------------------------------------------------------------------------------------------------------


def first_folders(params: types.InitializeParams) -> tuple[Path, ...]:
    """The folders that the client starts with: those of its workspace, or the single root of older clients."""
    if params.workspace_folders:
        uris = [folder.uri for folder in params.workspace_folders]
    elif params.root_uri:
        uris = [params.root_uri]
    elif params.root_path:
        return (Path(params.root_path),) if Path(params.root_path).is_absolute() else ()
    else:
        uris = []
    return tuple(dict.fromkeys(path for uri in uris if (path := path_of(uri)) is not None))


async def did_change_workspace_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
    """Folders were added to the workspace or removed from it."""
    removed = {path_of(folder.uri) for folder in params.event.removed}
    added = (path_of(folder.uri) for folder in params.event.added)
    kept = [folder for folder in ls.folders if folder not in removed]
    ls.folders = tuple(dict.fromkeys([*kept, *(path for path in added if path is not None)]))
    await client_settings.load(ls)


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(did_change_watched_files)
    server.feature(types.WORKSPACE_DID_CREATE_FILES, _OPERATIONS)(did_create_files)
    server.feature(types.WORKSPACE_DID_RENAME_FILES, _OPERATIONS)(did_rename_files)
    server.feature(types.WORKSPACE_DID_DELETE_FILES, _OPERATIONS)(did_delete_files)
    server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(did_change_workspace_folders)
