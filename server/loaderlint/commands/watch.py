"""The command `check --watch`: checks again whenever something changes that a check looks at.

What that is, the check itself notes (`files.file_accesses`): source files, folders, settings, lock files. Their times
and sizes are compared every now and then, as a check with a cache does (`cache.manifest`)."""

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

#: Seconds between two looks, and the least share of the time that is spent waiting.
_INTERVAL, _IDLE = 0.3, 20

#: Names of so many changed files are told.
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
    """Check once. What was looked at; None if it changed in the meantime."""
    settings.clear()
    file_accesses.watch()
    try:
        check(argparse.Namespace(**vars(chosen)))
    except Exception as error:  # an error of ours must not end the watch: the next edit may avoid it
        complain((internal_problem(failure_of(error)),))
    sys.stdout.flush()
    began, seen = file_accesses.seen()
    # Folders that a training run writes to change all the time: as they are now is as good, since files are compared.
    folders = {path: file_accesses.stamp(path) for path, was in seen.items() if was is not None and was.size < 0}
    now = manifest.made({**seen, **folders}, {}, began)
    if now is not None:
        terminal.say("Waiting for changes. Press Ctrl+C to stop.")
    return now


def _wait(seen: Manifest) -> Sequence[str]:
    """Wait until something changes; the files that did, as far as they were there before."""
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
    """Tell what changed, on an empty screen if there is one."""
    if sys.stdout.isatty():
        print("\x1b[2J\x1b[H", end="", flush=True)
    names = [shown_path(Path(path), Path.cwd()) for path in changed[:_MOST_NAMES]]
    more = f" and {len(changed) - _MOST_NAMES} more" if len(changed) > _MOST_NAMES else ""
    terminal.say(f"Changed: {', '.join(names)}{more}" if names else "Files were added or removed.")
