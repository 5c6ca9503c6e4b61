"""The command `check --watch`: checks again whenever something changes that a check reads.

The check itself records what it reads (`files.file_accesses`): source files, folders, settings, lock files. Their times
and sizes are compared at intervals, as in a check with a cache (`cache.manifest`)."""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from loaderlint.cache import manifest
from loaderlint.cache.manifest import Manifest
from loaderlint.commands.check import check
from loaderlint.commands.command_inputs import Usage, beside_reports, existing, given_settings
from loaderlint.commands.outcome import complain
from loaderlint.files import file_accesses
from loaderlint.findings.diagnostics import internal_problem
from loaderlint.report import shown_path, terminal
from loaderlint.report.exit_codes import DONE, FAILED
from loaderlint.runtime.internal_errors import failure_of
from loaderlint.settings import settings

#: The minimum number of seconds between two comparisons, and how many times longer a pause is than a comparison takes.
_INTERVAL, _IDLE = 0.3, 20

#: At most this many changed files are named.
_MOST_NAMES = 3


def watch(chosen: argparse.Namespace) -> int:
    """Check until Ctrl+C. Returns the exit code: 0, or 2 if the arguments cannot be used."""
    for flag in beside_reports(chosen):
        terminal.complain(f"--watch reports findings repeatedly: leave out {flag}")
        return FAILED
    try:
        given_settings(chosen)
    except Usage as error:
        terminal.complain(str(error))
        return FAILED
    paths, messages = existing(chosen.paths or ["."])
    if not paths:
        terminal.complain("\n".join(messages))
        return FAILED
    gc.enable()  # commands run without it, but this one may run for days
    with suppress(KeyboardInterrupt):
        while True:
            seen = _checked(chosen)
            if seen is not None:
                changed = _wait(seen)
                _begin_anew(changed)
    return DONE


def _checked(chosen: argparse.Namespace) -> Manifest | None:
    """Check once. Returns the manifest of what was read; None if that changed in the meantime."""
    settings.clear()
    file_accesses.watch()
    try:
        check(argparse.Namespace(**vars(chosen)))
    except Exception as error:  # an internal error must not end the watch: the next edit may avoid it
        complain((internal_problem(failure_of(error)),))
    sys.stdout.flush()
    began, seen = file_accesses.seen()
    # A training run changes its folders all the time. Their state after the check will do, because the files are
    # compared too.
    folders = {path: file_accesses.stamp(path) for path, was in seen.items() if was is not None and was.size < 0}
    now = manifest.made({**seen, **folders}, {}, began)
    if now is not None:
        terminal.say("Waiting for changes. Press Ctrl+C to stop.")
    return now


def _wait(seen: Manifest) -> Sequence[str]:
    """Wait until something changes. Returns the changed files, without those that are new."""
    pause = _INTERVAL
    while True:
        time.sleep(pause)
        began = time.monotonic()
        changes = manifest.changes(seen, time.time_ns())
        if changes.files or changes.else_:
            return [seen.paths[index] for index in changes.files]
        if changes.numbers is not None:
            seen = seen.renewed(changes)
        pause = max(_INTERVAL, _IDLE * (time.monotonic() - began))


def _begin_anew(changed: Sequence[str]) -> None:
    """Report what changed, on a cleared screen if stdout is a terminal."""
    if sys.stdout.isatty():
        print("\x1b[2J\x1b[H", end="", flush=True)
    names = [shown_path(Path(path), Path.cwd()) for path in changed[:_MOST_NAMES]]
    more = f" and {len(changed) - _MOST_NAMES} more" if len(changed) > _MOST_NAMES else ""
    terminal.say(f"Changed: {', '.join(names)}{more}" if names else "Files were added or removed.")
