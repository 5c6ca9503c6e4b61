"""The command `check`: what is read, fixed and reported, and with which exit code it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from loaderlint import report, settings, terminal
from loaderlint.commands import DONE, FAILED, FINDINGS
from loaderlint.engine import Diagnostic, Workspace
from loaderlint.findings import Severity
from loaderlint.report import Item, Report, shown_path
from loaderlint.report.text import counts
from loaderlint.syntax import notebook
from loaderlint.syntax.source import Source, UnreadableSource, decode

if TYPE_CHECKING:
    from loaderlint.rewrite import Change

_INSTALLED = ("site-packages", "dist-packages")


class _Usage(Exception):
    """The arguments cannot be used; the message says what to write instead."""


def check(chosen: argparse.Namespace) -> int:
    """Run `check` with the parsed arguments and return the exit code."""
    try:
        overrides = _overrides(chosen)
        piped = _stdin(chosen)
    except _Usage as error:
        terminal.complain(str(error))
        return FAILED
    except UnreadableSource as error:
        terminal.complain(f"standard input: {error}")
        return FAILED
    if piped:
        return _Check(chosen, overrides, [piped[0]], piped[1]).run()
    paths, messages = _existing(chosen.paths or ["."])
    for message in messages:
        terminal.complain(message)
    if not paths:
        return FAILED
    code = _Check(chosen, overrides, paths, None).run()
    return FAILED if messages else code


class _Check:
    """One run over absolute paths that exist, or over one that comes from standard input (`piped`)."""

    def __init__(
        self, chosen: argparse.Namespace, overrides: dict[str, object], paths: list[Path], piped: Source | None
    ) -> None:
        self._chosen = chosen
        self._paths = paths
        self._piped = piped
        self._workspace = Workspace(folders_around(paths), overrides)
        if piped:
            self._workspace.set_text(paths[0], piped.text)
        self._failed = False

    def run(self) -> int:
        """Do it all and return the exit code."""
        if self._chosen.diff:
            return self._exit_code(self._diff())
        out = sys.stdout
        if self._chosen.fix:
            self._fix()
            out = sys.stderr if self._piped else out  # the fixed text has stdout for itself
        with terminal.Progress(sys.stderr) as progress:
            found = self._workspace.check(self._paths, progress=progress)
        return self._exit_code(self._report(found, out))

    def _exit_code(self, found: bool) -> int:
        for problem in dict.fromkeys(self._workspace.problems):
            self._failed = self._failed or problem.fatal or _is_settings(problem.path)
            where = f"{_shown(problem.path)}: " if problem.path else ""
            terminal.complain(f"{where}{problem.message}")
        return FAILED if self._failed else FINDINGS if found else DONE

    # --- findings ---

    def _report(self, found: dict[Path, tuple[Diagnostic, ...]], out: TextIO) -> bool:
        """Print what was found; whether any of it counts."""
        diagnostics = [diagnostic for path in sorted(found) for diagnostic in found[path]]
        told = Report(
            items=tuple(self._item(diagnostic) for diagnostic in diagnostics),
            files=len(found),
            directory=Path.cwd(),
            text_of=self._workspace.text,
            cells_of=self._workspace.cells,
            hints=self._chosen.hints,
            color=terminal.colors(out),
            statistics=self._chosen.statistics,
            width=terminal.width(out),
        )
        for line in report.render(told, self._chosen.output_format):
            print(line, file=out)
        if self._chosen.statistics and self._chosen.output_format != "text":
            for line in counts(told.items):
                terminal.say(line)
        return any(diagnostic.severity is not Severity.HINT for diagnostic in diagnostics)

    def _item(self, diagnostic: Diagnostic) -> Item:
        # Making the edits costs a parse: not where only counts are shown.
        if not diagnostic.fixable or (self._chosen.statistics and self._chosen.output_format == "text"):
            return Item(diagnostic, None)
        repairs = self._workspace.repairs(diagnostic)
        return Item(diagnostic, repairs[0] if repairs else None)

    # --- fixes ---

    def _fix(self) -> None:
        changes = self._changes()
        if self._piped:
            text = changes[0].after if changes else self._piped.text
            terminal.write_bytes([self._piped.encode(text)])
            return
        written = [change for change in changes if self._written(change)]
        for change in changes:
            self._workspace.set_text(change.path, None)
        self._workspace.forget([change.path for change in changes])
        if written:
            terminal.say(f"Fixed {terminal.files(len(written))}.")

    def _written(self, change: Change) -> bool:
        from loaderlint.rewrite import CannotWrite, write

        try:
            write(change)
        except CannotWrite as error:
            self._failed = True
            terminal.complain(f"{_shown(change.path)}: {error}")
            return False
        return True

    def _diff(self) -> bool:
        """Print the diffs; whether there are any."""
        from loaderlint.rewrite import diff

        changes = self._changes()
        for change in changes:
            terminal.write_bytes(diff(change, self._piped, Path.cwd()))
        terminal.say(f"{terminal.files(len(changes))} would change." if changes else "Nothing would change.")
        return bool(changes)

    def _changes(self) -> tuple[Change, ...]:
        """What the fixes change; in the workspace's memory it is changed after this."""
        from loaderlint.rewrite import fixed  # loads the parser, which a check without fixes may not need

        changes, settled = fixed(self._workspace, self._paths, unsafe=self._chosen.unsafe_fixes)
        if not settled:
            terminal.complain("some fixes undo each other; fix one rule at a time with --select, and please report it")
        others = [change for change in changes if change.path not in self._paths] if self._piped else []
        if not others:
            return changes
        names = ", ".join(_shown(change.path) for change in others)
        terminal.complain(f"the fixes also change {names}, which a pipe cannot do; run the command on the file itself")
        for change in changes:
            self._workspace.set_text(change.path, change.before if change.path in self._paths else None)
        return ()


# --- arguments --------------------------------------------------------------------------------------------------------


def _overrides(chosen: argparse.Namespace) -> dict[str, object]:
    """The settings among the flags by their names in pyproject.toml. Raises _Usage if one of them is wrong."""
    given = {key: getattr(chosen, key.replace("-", "_")) for key in settings.KEYS}
    given = {key: value for key, value in given.items() if value is not None}
    if "severity" in given:
        given["severity"] = dict(_pair(text, "=", "--severity RULE=LEVEL") for text in given["severity"])
    if "per-file-ignores" in given:
        ignores: dict[str, list[str]] = {}
        for text in given["per-file-ignores"]:
            pattern, rule = _pair(text, ":", "--per-file-ignores PATTERN:RULE")
            ignores.setdefault(pattern, []).append(rule)
        given["per-file-ignores"] = ignores
    _, problems = settings.load(Path.cwd() / "any.py", given)
    wrong = [f"--{problem.message}" for problem in problems if problem.path is None]
    if wrong:
        raise _Usage("\n".join(wrong))
    return given


def _pair(text: str, separator: str, usage: str) -> tuple[str, str]:
    left, found, right = text.rpartition(separator)
    if not found:
        raise _Usage(f"'{text}' cannot be read; write {usage}")
    return left.strip(), right.strip()


def _stdin(chosen: argparse.Namespace) -> tuple[Path, Source] | None:
    """What comes from standard input under which path; None if nothing does. Raises _Usage and UnreadableSource."""
    if "-" not in chosen.paths:
        return None
    if len(chosen.paths) > 1:
        raise _Usage("- stands alone: check standard input and files in two commands")
    if not chosen.stdin_filename:
        raise _Usage(
            "what comes from standard input needs a name, so that its imports and settings are found:"
            " add --stdin-filename path/to/file.py"
        )
    if chosen.stdin_filename.endswith(notebook.SUFFIX):
        raise _Usage("a notebook cannot come from standard input; check the file itself")
    return Path(os.path.realpath(chosen.stdin_filename)), decode(sys.stdin.buffer.read())


def _existing(names: Iterable[str]) -> tuple[list[Path], list[str]]:
    """The absolute paths that exist, and a message for each of the others."""
    paths, messages = [], []
    for name in names:
        path = Path(os.path.realpath(name))
        if os.path.isfile(path) or os.path.isdir(path):
            paths.append(path)
        elif os.path.exists(path):  # a pipe or a device might never end
            messages.append(
                f"{name}: neither a file nor a folder; use - with --stdin-filename to check what is piped in"
            )
        else:
            messages.append(f"{name}: no such file or folder{_similar(Path(os.path.abspath(name)))}")
    return paths, messages


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; the folder {_shown(path.parent)} does not exist either"
    try:
        close = get_close_matches(path.name, set(os.listdir(path.parent)) - {path.name}, n=1)
    except OSError:
        close = []
    return f"; did you mean {_shown(path.parent / close[0])}?" if close else f" in {path.parent}"


def folders_around(paths: Iterable[Path]) -> list[Path]:
    """For each path the folder that is read where no project file or repository marks one: the current folder if it
    holds the path, else the path's outermost package (for a file: what holds that package), else the path's own
    folder."""
    return sorted({_folder_around(path) for path in paths})


def _folder_around(path: Path) -> Path:
    start = path if path.is_dir() else path.parent
    # Nobody wants a whole home folder, a whole disk or all installed packages to be read.
    outer = [folder for folder in (start, *start.parents) if folder not in (Path.home(), Path(folder.anchor))]
    if Path.cwd() in outer:
        return Path.cwd()
    packages = [folder for folder in outer if (folder / "__init__.py").exists()]
    if not packages:
        return start
    if path.is_dir() or packages[-1].parent.name in _INSTALLED:
        return packages[-1]
    return packages[-1].parent


def _is_settings(path: Path | None) -> bool:
    return path is not None and path.name in (settings.OWN_FILE, settings.SHARED_FILE)


def _shown(path: Path) -> str:
    return shown_path(path, Path.cwd())
