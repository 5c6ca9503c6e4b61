"""The command `check`: reads, fixes and reports, and chooses the exit code."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.commands import BASELINE
from loaderlint.commands.cached_check import CheckCache, is_plain
from loaderlint.commands.command_inputs import Usage, baseline_file, existing, given_settings, named_settings, roots_of
from loaderlint.commands.outcome import Outcome, complain, show
from loaderlint.engine import Workspace
from loaderlint.files import file_accesses
from loaderlint.files.symlinks import known_as
from loaderlint.findings.diagnostics import Diagnostic, Problem
from loaderlint.findings.finding import Severity
from loaderlint.report import Item, shown_path, terminal
from loaderlint.report.exit_codes import FAILED, counts, of_check
from loaderlint.report.terminal import printable
from loaderlint.runtime import phase_times
from loaderlint.settings import settings
from loaderlint.syntax import notebook
from loaderlint.syntax.source import Source, UnreadableSource, decode

if TYPE_CHECKING:
    from loaderlint.commands.write_fixes import Change, Fixed
    from loaderlint.findings.baseline import Baseline, Entry
    from loaderlint.settings import changes as settings_changes

#: At most this many folders are searched for an example of an excluded file.
_MOST_FOLDERS = 100

Found = dict[Path, tuple[Diagnostic, ...]]


def check(chosen: argparse.Namespace) -> int:
    """Run `check` with the parsed arguments and return the exit code."""
    try:
        kept_in = _baseline_to_write(chosen)
        overrides = given_settings(chosen)
        changes = _changes(chosen)
        piped = _stdin(chosen)
    except Usage as error:
        terminal.complain(str(error))
        return FAILED
    except UnreadableSource as error:
        terminal.complain(f"standard input: {error}")
        return FAILED
    if chosen.diff and chosen.output_file is not None:
        terminal.complain("--diff prints no report for --output-file: use only one of them")
        return FAILED
    if chosen.suppress and (piped or chosen.diff or kept_in is not None):
        terminal.complain("--suppress writes comments into files: leave out --diff, --write-baseline and -")
        return FAILED
    if piped:
        return _Check(chosen, overrides, [piped[0]], piped[1]).run()
    for message in _without_effect(chosen):
        terminal.complain(message)
    paths, messages = existing(chosen.paths or ["."])
    for message in messages:
        terminal.complain(message)
    if not paths:
        return FAILED
    run = _Check(chosen, overrides, paths, None, [Problem(None, message, True) for message in messages])
    if chosen.show_files or chosen.show_settings:
        return run.show_inputs()
    if changes:
        return run.compare(changes)
    return run.run() if kept_in is None else run.keep(kept_in)


def _changes(chosen: argparse.Namespace) -> Sequence[settings_changes.Change]:
    """The changes that --compare names. Raises Usage if they cannot be compared."""
    if not chosen.compare:
        return ()
    from loaderlint.commands import compare

    return compare.changes(chosen)


class _Check:
    """One run of `check`, over existing absolute paths or over one file from standard input (`piped`). `missing`: the
    problems with the other paths."""

    def __init__(
        self,
        chosen: argparse.Namespace,
        overrides: dict[str, object],
        paths: list[Path],
        piped: Source | None,
        missing: Sequence[Problem] = (),
    ) -> None:
        self._chosen = chosen
        self._paths = _not_excluded(paths, overrides) if chosen.force_exclude else paths
        self._piped = piped
        self._missing = missing
        self._overrides = overrides
        self._cache = CheckCache.of(chosen)
        pieces = self._cache.pieces if self._cache else None
        roots = roots_of(paths)
        self._workspace = Workspace(
            roots.folders, overrides, cache=pieces, jobs=chosen.jobs, reports_unread=True, around=roots.around
        )
        if piped:
            self._workspace.set_text(paths[0], piped.text)
        if chosen.only_named:
            self._workspace.confine(self._is_named)
        self._failed = bool(missing)

    def run(self) -> int:
        """Run the check and return the exit code."""
        if not self._chosen.verbose:
            return self._run()
        phase_times.measure()
        code = self._run()
        for line in self._told_of_work():
            terminal.say(line)
        return code

    def _run(self) -> int:
        if self._chosen.diff:
            return self._ended(self._diff())
        out = sys.stderr if self._chosen.fix and self._piped else sys.stdout  # stdout is for the fixed text only
        found = self._fix() if self._chosen.fix else self._found()
        if self._chosen.suppress:
            found = self._suppress(found)
        with phase_times.phase("reporting"):
            outcome = self._outcome(found)
            if not show(outcome, self._chosen, out, self._workspace.text, self._workspace.cells, self._failed):
                self._failed = True
        complain(outcome.problems)
        self._tell_of_platforms()
        self._keep(found, outcome)
        return outcome.code(self._failed, self._chosen)

    def _tell_of_platforms(self) -> None:
        """Tell a user at a terminal, once per project, how to see findings for other platforms."""
        if self._cache is None or self._chosen.quiet or self._piped or not sys.stderr.isatty():
            return
        from loaderlint.commands import platform_tip

        if said := platform_tip.tip(self._workspace, self._cache):
            terminal.say(said)

    def _told_of_work(self) -> Iterator[str]:
        from loaderlint.commands import verbose

        return verbose.lines(self._workspace, self._workspace.files(self._paths), phase_times.spent())

    def show_inputs(self) -> int:
        """Print what a check would read, and return the exit code."""
        from loaderlint.commands import show_inputs

        lines = show_inputs.files if self._chosen.show_files else show_inputs.settings
        for line in lines(self._workspace, self._paths):
            print(printable(line))
        return self._ended(False)

    def compare(self, changes: Sequence[settings_changes.Change]) -> int:
        """Print which findings these changes would add and remove, and return the exit code: 1 if one is added."""
        from loaderlint.commands import compare
        from loaderlint.engine.comparison import compared

        with terminal.Progress(sys.stderr, self._chosen.color) as progress:
            told = compared(self._workspace, self._paths, self._overrides, changes, progress=progress)
        if not compare.show(told, self._workspace, self._chosen):
            self._failed = True
        if self._cache is not None:
            self._cache.keep(self._workspace, {}, None, self._overrides)
        return self._ended(compare.something_comes(told, self._chosen))

    def keep(self, path: Path) -> int:
        """Write the findings to the baseline at `path`, and return the exit code."""
        self._write_baseline(path, self._fix() if self._chosen.fix else self._found())
        return self._ended(False)

    def _found(self) -> Found:
        with terminal.Progress(sys.stderr, self._chosen.color) as progress:
            return self._workspace.check(self._paths, progress=progress)

    def _ended(self, found: bool) -> int:
        """Report all problems, and return the exit code."""
        complain(tuple(dict.fromkeys(self._workspace.problems)))
        return self._exit_code(found)

    def _exit_code(self, found: bool) -> int:
        return of_check(found, self._failed, self._workspace.problems, self._chosen)

    # --- the cache ---

    def _keep(self, found: Found, outcome: Outcome) -> None:
        """Store the result of this run for the next one."""
        if self._cache is not None:
            self._cache.keep(self._workspace, found, outcome if is_plain(self._chosen) else None, self._overrides)

    # --- findings ---

    def _outcome(self, found: Found) -> Outcome:
        return Outcome(
            items=tuple(self._item(diagnostic) for path in sorted(found) for diagnostic in found[path]),
            files=len(found),
            kept=sum(kept.hidden for kept in self._workspace.kept().values()),
            refuted=self._workspace.refuted(),
            said=(*self._what_is_left_out(found), *self._what_is_gone(found)),
            problems=tuple(dict.fromkeys(self._workspace.problems)),
            told_before=tuple(self._missing),
        )

    def _what_is_left_out(self, found: Found) -> Iterator[str]:
        told = [*found, *(one.path for one in self._workspace.problems if one.path is not None)]
        for folder in self._paths:
            if any(path.is_relative_to(folder) for path in told):
                continue
            source = _some_source(folder)
            if source is not None:
                yield (
                    f"{_shown(folder)}: nothing in it is checked, because .gitignore, the setting exclude or its own"
                    f" name excludes it. To check a file in it anyway, name the file: loaderlint check"
                    f" {_shown(source)}"
                )

    def _item(self, diagnostic: Diagnostic) -> Item:
        if not diagnostic.fixable or not self._needs_edits(diagnostic):
            return Item(diagnostic, None)
        return Item(diagnostic, self._workspace.preferred_repair(diagnostic))

    def _needs_edits(self, diagnostic: Diagnostic) -> bool:
        """Whether the fix of a finding is shown, or stored for a run that may show it. Computing its edits costs a
        parse."""
        chosen = self._chosen
        if chosen.output_format != "text":
            return True
        if chosen.statistics:
            return False
        is_kept = self._cache is not None and is_plain(chosen)
        return is_kept or chosen.hints or diagnostic.severity is not Severity.HINT

    # --- baselines ---

    def _write_baseline(self, path: Path, found: Found) -> None:
        from loaderlint.files.atomic_write import remove_leftovers, replace
        from loaderlint.findings.baseline import BadBaseline, Baseline, entries_of, read, text_of

        try:
            old = read(path) if path.exists() else Baseline(path, ())
        except BadBaseline as error:
            self._fail(f"{_shown(path)}: {error}")
            return
        # Entries that this run cannot judge stay: those of other files, of files that do not parse, and of rules that
        # did not run.
        others = [entry for entry in old.entries if not self._looked_at(old, entry, found)]
        now = {*entries_of((d for diagnostics in found.values() for d in diagnostics), path.parent), *others}
        try:
            remove_leftovers([path.parent])
            replace(path, text_of(now).encode("utf-8"))
        except OSError as error:
            self._fail(f"{_shown(path)}: cannot be written ({error.strerror}); name another file")
            return
        was = set(old.entries)
        terminal.say(
            f"Wrote {_findings(len(now))} to {_shown(path)} ({len(now - was)} new, {len(was - now)} gone)."
            + (
                ""
                if path == _baseline_in_settings(self._chosen)
                else f" Use it with: loaderlint check --baseline{_named(path)}"
            )
        )

    def _what_is_gone(self, found: Found) -> Iterator[str]:
        for baseline, known, _ in self._workspace.kept().values():
            gone = [e for e in baseline.entries if e not in known and self._looked_at(baseline, e, found)]
            if gone:
                yield (
                    f"{_findings(len(gone))} of {_shown(baseline.path)} {'is' if len(gone) == 1 else 'are'} gone:"
                    f" write it again with: loaderlint check --write-baseline{_named(baseline.path)}"
                )

    def _looked_at(self, baseline: Baseline, entry: Entry, found: Found) -> bool:
        """Whether this run would have found the finding of an entry if it were still there."""
        from loaderlint.rules import rule

        path = baseline.file_of(entry)
        if path not in found:
            file_accesses.saw(path)
            return not path.exists()
        about = rule(entry.code)
        runs = about is None or self._workspace.settings(path).enabled(about.name, about.code, about.enabled_by_default)
        return runs and self._workspace.parses(path)

    def _fail(self, message: str) -> None:
        self._failed = True
        terminal.complain(message)

    # --- fixes ---

    def _fix(self) -> Found:
        """Apply the fixes, and return the findings that remain."""
        before = self._found()
        fixed = self._fixed()
        if self._piped:
            from loaderlint.commands.write_fixes import diff

            changes = self._whole(fixed)
            text = changes[0].after if changes else self._piped.text
            terminal.write_bytes([self._piped.encode(text)])
            for change in changes if self._chosen.show_fixes else ():
                terminal.write_bytes(diff(change, self._piped, Path.cwd()), sys.stderr)
            return self._found()
        from loaderlint.commands import fix_summary
        from loaderlint.files.atomic_write import remove_leftovers

        remove_leftovers({change.path.parent for change in fixed.changes})
        written = [change.path for change in fixed.changes if self._written(change)]
        for path in fixed.touched:
            self._workspace.set_text(path, None)
        self._workspace.forget(fixed.touched)
        found = self._found()
        if written:
            was, left = self._to_fix(before), self._to_fix(found)
            for line in fix_summary.lines(was, left, written, self._paths, unsafe=self._chosen.unsafe_fixes):
                terminal.say(line)
        self._tell_kept_back(found)
        return found

    def _tell_kept_back(self, found: Found) -> None:
        """Report the findings whose fix --only-named prevents."""
        from loaderlint.commands import fix_summary

        if self._chosen.only_named:
            for line in fix_summary.kept_back(self._to_fix(found), self._paths, self._chosen.unsafe_fixes):
                terminal.say(line)

    def _to_fix(self, found: Found) -> dict[Path, list[Diagnostic]]:
        """Those of the findings whose severity is fixed."""
        return {
            path: [one for one in here if self._chosen.hints or one.severity is not Severity.HINT]
            for path, here in found.items()
        }

    def _suppress(self, found: Found) -> Found:
        """Write suppression comments for the findings that are shown, and return the findings that remain."""
        from loaderlint.commands import suppress

        made = list(suppress.suppressed(self._workspace, suppress.shown(found, self._chosen.hints)))
        written = [one for one in made if one.silenced and self._written(one.change)]
        self._workspace.forget([one.change.path for one in written])
        for line in suppress.lines(written, [left for one in made for left in one.left]):
            terminal.say(line)
        return self._found() if written else found

    def _written(self, change: Change) -> bool:
        from loaderlint.commands.write_fixes import CannotWrite, diff, write

        try:
            shown = list(diff(change, None, Path.cwd())) if self._chosen.show_fixes else []
            write(change)
        except CannotWrite as error:
            self._fail(f"{_shown(change.path)}: {error}")
            return False
        if shown:
            terminal.write_bytes(shown, sys.stderr)  # stdout is for the report
        return True

    def _diff(self) -> bool:
        """Print the diffs. Returns whether there are any, or findings that count for the exit code."""
        from loaderlint.commands.write_fixes import diff

        before = self._found()
        found = [one for each in before.values() for one in each]
        unfixed = sum(one.severity is not Severity.HINT for one in found)
        changes = self._fixed().changes
        for change in changes:
            piped = self._piped if self._is_piped(change) else None
            terminal.write_bytes(diff(change, piped, Path.cwd()))
        if changes:
            terminal.say(f"{terminal.files(len(changes))} would change.")
        elif unfixed:
            terminal.say(f"Nothing would change. {_findings(unfixed)} without such a fix: run it without --diff.")
        else:
            terminal.say("Nothing would change.")
        self._tell_kept_back(before)
        return bool(changes) or any(counts(one, self._chosen) for one in found)

    def _fixed(self) -> Fixed:
        """Apply the fixes to the workspace's texts, not to the files, and return the changes. Reports what cannot be
        fixed."""
        from loaderlint.commands.write_fixes import fixed  # loads the parser, which a check without fixes may not need

        with phase_times.phase("fixing"):
            done = fixed(self._workspace, self._paths, unsafe=self._chosen.unsafe_fixes, hints=self._chosen.hints)
        for path, reason in done.left.items():
            self._fail(f"{_shown(path)}: not fixed: {reason}")
        return done

    def _is_named(self, file: Path) -> bool:
        """Whether the command names a file, or a folder that contains it."""
        from loaderlint.commands import fix_summary

        return fix_summary.is_named(file, self._paths)

    def _is_piped(self, change: Change) -> bool:
        """Whether a change is in the piped file."""
        return change.path in map(self._workspace.file, self._paths)

    def _whole(self, fixed: Fixed) -> tuple[Change, ...]:
        """The changes to the piped file; none if other files would have to change too."""
        others = [change for change in fixed.changes if not self._is_piped(change)]
        if not others:
            return fixed.changes
        names = ", ".join(_shown(change.path) for change in others)
        terminal.complain(f"the fixes also change {names}, which a pipe cannot do; run the command on the file itself")
        for path in fixed.touched:
            self._workspace.set_text(path, self._piped.text if self._piped and path in self._paths else None)
        return ()


def _some_source(folder: Path) -> Path | None:
    """A source file below a folder, if one is found soon."""
    for inside, _, names in islice(os.walk(folder), _MOST_FOLDERS):
        for name in sorted(names):
            source = Path(inside, name)
            if source.suffix in (".py", notebook.SUFFIX) and not source.is_symlink():
                return source
    return None


def _findings(count: int) -> str:
    return f"{count} finding" if count == 1 else f"{count} findings"


def _named(path: Path) -> str:
    """The end of the flag that names a baseline; '' for the default one."""
    return "" if path == Path.cwd() / BASELINE else f" {_shown(path)}"


# --- arguments --------------------------------------------------------------------------------------------------------


def _without_effect(chosen: argparse.Namespace) -> Iterator[str]:
    """Warnings about flags that have no effect without others."""
    if chosen.unsafe_fixes and not (chosen.fix or chosen.diff):
        yield "--unsafe-fixes has no effect alone; add --fix to apply the fixes, or --diff to see them"
    if chosen.only_named and not (chosen.fix or chosen.diff):
        yield "--only-named has no effect alone; add --fix to apply the fixes, or --diff to see them"
    if chosen.show_fixes and not chosen.fix:
        yield "--show-fixes has no effect alone; add --fix to apply the fixes, or see them first with --diff"


def _baseline_to_write(chosen: argparse.Namespace) -> Path | None:
    """The file of `--write-baseline`: the one that it names, that --baseline or the settings name, or the default.

    A user may name any file on the command line. Settings come with the project, so the file that they name (or that a
    link in place of the default leads to) must be in the project. Raises Usage if it is not, or if the flags cannot be
    combined."""
    if chosen.write_baseline is None:
        return None
    if chosen.diff or "-" in chosen.paths:
        raise Usage("--write-baseline saves the findings of files: leave out --diff and -")
    named = chosen.write_baseline or chosen.baseline
    if named:
        return baseline_file(named, "--write-baseline")
    found = _own_settings(chosen)
    folder = known_as((found.directory if found.baseline else None) or Path.cwd())
    path = _baseline_in_settings(chosen) or Path(os.path.realpath(BASELINE))
    if not path.is_relative_to(folder):
        raise Usage(
            f"the baseline {printable(found.baseline or BASELINE)} is {printable(str(path))}, outside of the project;"
            f" to write there, name it: --write-baseline={_shown(path)}"
        )
    return path


def _own_settings(chosen: argparse.Namespace) -> settings.Settings:
    """The settings of the current folder, without flags."""
    return settings.load(Path.cwd() / "any.py", named_settings(chosen))[0]


def _baseline_in_settings(chosen: argparse.Namespace) -> Path | None:
    """The baseline that the settings of the current folder name."""
    found = _own_settings(chosen)
    return Path(os.path.realpath((found.directory or Path.cwd()) / found.baseline)) if found.baseline else None


def _not_excluded(paths: Iterable[Path], overrides: Mapping[str, object]) -> list[Path]:
    return [path for path in paths if os.path.isdir(path) or not settings.load(path, overrides)[0].excluded(path)]


def _stdin(chosen: argparse.Namespace) -> tuple[Path, Source] | None:
    """The path and the source of the file on standard input; None if there is none. Raises Usage, and UnreadableSource
    if it cannot be decoded."""
    if "-" not in chosen.paths:
        return None
    if len(chosen.paths) > 1:
        raise Usage("- cannot be combined with files: check them in two commands")
    if not chosen.stdin_filename:
        raise Usage(
            "standard input needs a file name, so that its imports and settings can be found:"
            " add --stdin-filename path/to/file.py"
        )
    if chosen.stdin_filename.endswith(notebook.SUFFIX):
        raise Usage("a notebook cannot come from standard input; check the file itself")
    return known_as(chosen.stdin_filename), decode(sys.stdin.buffer.read())


def _shown(path: Path) -> str:
    return printable(shown_path(path, Path.cwd()))
