"""Fixes on disk: what `check --fix` writes and `check --diff` shows."""

from __future__ import annotations

import difflib
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.report import shown_path
from loaderlint.syntax import notebook
from loaderlint.syntax.positions import apply_edits
from loaderlint.syntax.source import Source, UnreadableSource, decode

if TYPE_CHECKING:
    from loaderlint.engine import Workspace

#: One fix can make way for another; more rounds than this mean that two fixes undo each other.
MAX_ROUNDS = 10

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class CannotWrite(Exception):
    """A file cannot be written; the message says why, and what to do."""


class Change(NamedTuple):
    """What the fixes make of one file: its text before and after."""

    path: Path
    before: str
    after: str


def fixed(workspace: Workspace, paths: Sequence[Path], *, unsafe: bool) -> tuple[tuple[Change, ...], bool]:
    """Apply all fixes of the findings in `paths` to the workspace's texts, again and again until none is left.

    Nothing is written; the workspace holds the new texts as if an editor had typed them. The flag is False if there
    were still fixes after `MAX_ROUNDS` rounds."""
    before: dict[Path, str] = {}
    for _ in range(MAX_ROUNDS):
        round_of_edits = workspace.fix_all(paths, unsafe=unsafe)
        if not round_of_edits:
            return _changes(workspace, before), True
        for file in round_of_edits:
            text = workspace.text(file.path)
            before.setdefault(file.path, text)
            workspace.set_text(file.path, apply_edits(text, file.edits))
    return _changes(workspace, before), not workspace.fix_all(paths, unsafe=unsafe)


def _changes(workspace: Workspace, before: dict[Path, str]) -> tuple[Change, ...]:
    changes = (Change(path, text, workspace.text(path)) for path, text in sorted(before.items()))
    return tuple(change for change in changes if change.before != change.after)


def write(change: Change) -> None:
    """Write the new text in the file's own encoding, with its byte order mark, line ends and permissions.

    The file is replaced in one step, never half written. Raises CannotWrite, also if the file is no longer what the fix
    was made for."""
    path = Path(os.path.realpath(change.path))  # a symbolic link stays one
    try:
        if path.suffix == notebook.SUFFIX:
            _replace(path, _edited_notebook(path, change)[1].encode("utf-8"))
            return
        source = decode(path.read_bytes())
        if source.text == change.after:
            return  # the same file under another name
        _replace(path, source.encode(_unchanged(source.text, change)))
    except (UnreadableSource, notebook.UnreadableNotebook) as error:
        raise CannotWrite(f"changed while it was being checked ({error}); run the command again") from error
    except UnicodeEncodeError as error:
        raise CannotWrite("its encoding cannot hold the fix; save the file as UTF-8 first") from error
    except OSError as error:
        raise CannotWrite(f"cannot be written ({error.strerror}); check its permissions") from error


def _unchanged(text: str, change: Change) -> str:
    """The new text of a file that still is what the fix was made for. Raises CannotWrite if it is not."""
    if text != change.before:
        raise CannotWrite("changed while it was being checked; run the command again")
    return change.after


def _edited_notebook(path: Path, change: Change) -> tuple[str, str]:
    """The notebook's file before and after. Raises CannotWrite, UnreadableNotebook, OSError."""
    found = notebook.decode(path.read_bytes())
    return found.file, found.edited(_unchanged(found.text, change))


def _replace(path: Path, data: bytes) -> None:
    status = path.stat()
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied")  # replacing would get around the file's own protection
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, stat.S_IMODE(status.st_mode))
        if hasattr(os, "chown") and os.geteuid() == 0:
            os.chown(name, status.st_uid, status.st_gid)  # root would take the file over
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def diff(change: Change, piped: Source | None, directory: Path) -> Iterator[bytes]:
    """A unified diff in the file's encoding, as `git apply` takes it; names are relative to `directory`. `piped`: what
    came from standard input in the file's place."""
    name = shown_path(change.path, directory)
    if change.path.suffix == notebook.SUFFIX:
        source, texts = Source("", "utf-8", False, "", ()), _edited_notebook(change.path, change)
    else:
        source, texts = piped or decode(change.path.read_bytes()), (change.before, change.after)
    mark = "\ufeff" if source.bom else ""
    before, after = (_LINES.findall(mark + text) for text in texts)
    for line in difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"):
        # A name may hold bytes that are no text: those came in by surrogateescape and leave the same way.
        yield line.encode("utf-8" if mark else source.encoding, "surrogateescape")
        if not line.endswith(("\n", "\r")):
            yield b"\n\\ No newline at end of file\n"
