"""Fixes on disk: what `check --fix` writes and `check --diff` shows."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loaderlint.files import reading
from loaderlint.files.atomic_write import replace
from loaderlint.files.reading import UnreadableFile
from loaderlint.report import shown_path
from loaderlint.syntax import notebook
from loaderlint.syntax.bare_tree import is_worse
from loaderlint.syntax.positions import apply_edits
from loaderlint.syntax.source import Source, UnreadableSource, decode, whole_lines

if TYPE_CHECKING:
    from loaderlint.engine import Workspace

#: One fix can make room for another; more rounds than this mean that two fixes undo each other.
MAX_ROUNDS = 10

_CIRCLE = "its fixes undo each other; fix one rule at a time with --select, and please report it"
_NO_PYTHON = "its fixes would leave code that is not Python; fix it by hand, and please report it"

#: The characters that git quotes in names.
_UNPRINTABLE = re.compile(r'[\x00-\x1f\x7f"\\]')


class CannotWrite(Exception):
    """A file cannot be written; the message says why, and what to do."""


class Change(NamedTuple):
    """The change that fixes make to one file: its text before and after. `path` is the file itself, not a link to
    it."""

    path: Path
    before: str
    after: str


class Fixed(NamedTuple):
    """The changes that fixes make. `left`: the files that could not be fixed, each with the reason. `touched`: the
    paths for which the workspace now has a text of its own."""

    changes: tuple[Change, ...]
    left: dict[Path, str]
    touched: tuple[Path, ...]


def fixed(workspace: Workspace, paths: Sequence[Path], *, unsafe: bool, hints: bool = False) -> Fixed:
    """Apply all fixes of the findings in `paths`, those of hints only with `hints`, to the workspace's texts, round
    after round until none is left.

    Nothing is written; the workspace holds the new texts as if an editor had typed them. If the fixes of a file undo
    each other, or would leave code that is not Python, everything starts again without the fixes that change this file.
    So a fix that spans several files is made in all of them or in none."""
    locked: dict[Path, str] = {}
    touched: dict[Path, None] = {}
    while True:
        before, unsettled, refused = _rounds(workspace, paths, unsafe, hints)
        touched.update(dict.fromkeys(before))
        faults = dict.fromkeys(unsettled, _CIRCLE) or dict.fromkeys(_broken(workspace, before), _NO_PYTHON)
        if not faults.keys() - locked.keys():
            left = {**refused, **locked}
            never = {workspace.file(path) for path in locked}
            changes = tuple(change for change in _changes(workspace, before) if change.path not in never)
            return Fixed(changes, left, tuple(touched))
        for path, text in before.items():
            workspace.set_text(path, text)
        workspace.lock(faults)
        locked.update(faults)


def _rounds(
    workspace: Workspace, paths: Sequence[Path], unsafe: bool, hints: bool
) -> tuple[dict[Path, str], list[Path], dict[Path, str]]:
    """Fix round after round. Returns the original texts, by all names of each file that changed; the files that still
    had edits after `MAX_ROUNDS` rounds; and the files that must not be changed, each with the reason."""
    before: dict[Path, str] = {}
    rounds = 0
    while True:
        to_fix = workspace.to_fix(paths, hints=hints)
        edits = workspace.merged(to_fix, unsafe=unsafe)
        if not edits or rounds == MAX_ROUNDS:
            return before, [file.path for file in edits], workspace.refused(to_fix, unsafe=unsafe)
        rounds += 1
        for file in edits:
            text = workspace.text(file.path)
            after = apply_edits(text, file.edits)
            for name in [name for name in workspace.names(file.path) if workspace.text(name) == text]:
                before.setdefault(name, text)
                workspace.set_text(name, after)


def _broken(workspace: Workspace, before: Mapping[Path, str]) -> list[Path]:
    """The files that were valid Python before the fixes and no longer are."""
    return [path for path, text in before.items() if is_worse(text, workspace.text(path))]


def _changes(workspace: Workspace, before: Mapping[Path, str]) -> tuple[Change, ...]:
    """The changes to write, file by file: several names of one file have the same text."""
    changes: dict[Path, Change] = {}
    for path, text in before.items():
        file = workspace.file(path)
        assert file is not None, "fixes do not change files outside the project"
        changes.setdefault(file, Change(file, text, workspace.text(path)))
    return tuple(change for _, change in sorted(changes.items()) if change.before != change.after)


def write(change: Change) -> None:
    """Write the new text in the file's own encoding, with its byte order mark, line ends and permissions.

    The file is replaced in one step, never half written. Its other hard links keep the old text, because they may be
    outside the project. Raises CannotWrite, also if the file has changed since the fix was made."""
    path = change.path
    try:
        if Path(os.path.realpath(path)) != path:
            raise CannotWrite("became a link while it was being checked; run the command again")
        if path.suffix == notebook.SUFFIX:
            replace(path, _edited_notebook(path, change)[1].encode("utf-8"))
            return
        source = decode(reading.read_unseen(path, reading.SOURCE))
        if source.text == change.after:
            return  # the same file in another spelling
        replace(path, source.encode(_unchanged(source.text, change)))
    except (UnreadableFile, UnreadableSource, notebook.UnreadableNotebook) as error:
        raise CannotWrite(f"changed while it was being checked ({error}); run the command again") from error
    except UnicodeEncodeError as error:
        raise CannotWrite("its encoding cannot hold the fix; save the file as UTF-8 first") from error
    except OSError as error:
        raise CannotWrite(f"cannot be written ({error.strerror}); check its permissions") from error


def _unchanged(text: str, change: Change) -> str:
    """The new text of a file. Raises CannotWrite if the file has changed since the fix was made."""
    if text != change.before:
        raise CannotWrite("changed while it was being checked; run the command again")
    return change.after


def _edited_notebook(path: Path, change: Change) -> tuple[str, str]:
    """The notebook's file before and after. Raises CannotWrite, UnreadableNotebook, UnreadableFile."""
    found = notebook.decode(reading.read_unseen(path, reading.NOTEBOOK))
    return found.file, found.edited(_unchanged(found.text, change))


def diff(change: Change, piped: Source | None, directory: Path) -> Iterator[bytes]:
    """A unified diff in the file's encoding, as `git apply` accepts it; names are relative to `directory`. `piped`: the
    source from standard input that replaces the file. Raises CannotWrite if the file has changed since the fix was
    made."""
    try:
        yield from _diff(change, piped, directory)
    except (UnreadableFile, UnreadableSource, notebook.UnreadableNotebook) as error:
        raise CannotWrite(f"changed while it was being checked ({error}); run the command again") from error


def _diff(change: Change, piped: Source | None, directory: Path) -> Iterator[bytes]:
    name = shown_path(change.path, directory)
    old, new = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    if change.path.suffix == notebook.SUFFIX:
        source, texts = Source("", "utf-8", False, "", ()), _edited_notebook(change.path, change)
    else:
        source = piped or decode(reading.read_unseen(change.path, reading.SOURCE))
        texts = change.before, change.after
    mark = "\ufeff" if source.bom else ""
    before, after = (whole_lines(mark + text) for text in texts)
    for line in difflib.unified_diff(before, after, old, new):
        # A name may contain bytes that are not text. They were decoded with surrogateescape, and are encoded with it
        # again.
        yield line.encode("utf-8" if mark else source.encoding, "surrogateescape")
        if not line.endswith(("\n", "\r")):
            yield b"\n\\ No newline at end of file\n"


def _quoted(name: str) -> str:
    """A name as git writes it into a diff: quoted if it contains a character that would end the line or control a
    terminal."""
    if not _UNPRINTABLE.search(name):
        return name
    return f'"{_UNPRINTABLE.sub(_escape, name)}"'


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    return f"\\{sign}" if sign in '"\\' else f"\\{ord(sign):03o}"
