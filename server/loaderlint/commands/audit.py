"""`loaderlint audit`: run the user's program and audit each loader that it iterates."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from loaderlint.audit.report import Report, Verdict, report_of, result_of
from loaderlint.commands import audited_findings
from loaderlint.commands.audited_findings import Audited, Compared, Run
from loaderlint.report.exit_codes import DONE, FAILED, FINDINGS
from loaderlint.report.terminal import complain

#: Seconds that a program gets to end after it was told to.
_LAST_WORDS = 5.0


class Seen(Struct):
    """The result of running a program: the audit of each loader, the program's own failure, and the loaders that it
    never iterated."""

    audited: list[Audited] = field(default_factory=list)
    failure: str = ""
    unseen: list[str] = field(default_factory=list)
    ended: str = ""

    @property
    def reports(self) -> list[Report]:
        """The report of each loader."""
        return [one.report for one in self.audited]


def audit(chosen: argparse.Namespace) -> int:
    """Run the chosen program, audit its loaders, and return the exit code."""
    if not chosen.program:
        complain("which program? Write loaderlint audit train.py [ARGUMENT ...], or loaderlint audit -m package.train")
        return FAILED
    program, *arguments = chosen.program
    if not chosen.module and not Path(program).is_file():
        complain(f"{program}: no such file")
        return FAILED
    is_json = chosen.output_format == "json"
    command = shlex.join(["python", *(["-m"] if chosen.module else []), program, *arguments])
    out = sys.stderr if is_json else sys.stdout
    print(f"audit runs your program: {command} ({sys.executable})", file=out, flush=True)
    began = time.time()
    seen = _run(chosen, program, arguments, is_json)
    told = _compared(chosen, seen, began)
    if is_json:
        data = _as_data(seen)
        print(json.dumps(data if told is None else {**data, **audited_findings.as_data(told)}, indent=2))
    else:
        _print(seen)
        for line in audited_findings.text(told) if told is not None else ():
            print(line)
    if any(report.faults for report in seen.reports):
        return FINDINGS
    return FAILED if seen.failure or not seen.reports else DONE


def _compared(chosen: argparse.Namespace, seen: Seen, began: float) -> Compared | None:
    """Record the audits and compare them with the findings of `check`. None with --no-record, or if nothing was
    audited."""
    if chosen.no_record or not seen.audited:
        return None
    program, *arguments = chosen.program
    here = Path(os.path.realpath(os.curdir))
    file = Path(os.path.realpath(program))
    folder = here if chosen.module or file.is_relative_to(here) else file.parent
    named = f"python -m {program}" if chosen.module else file.name
    return audited_findings.compared(seen.audited, Run(named, tuple(arguments), folder, began))


def _run(chosen: argparse.Namespace, program: str, arguments: list[str], is_json: bool) -> Seen:
    """Start the program and collect its events."""
    reader, writer = os.pipe()
    options = {
        "report": writer,
        "epochs": chosen.epochs,
        "batches": chosen.batches,
        "ranks": chosen.ranks,
        "timeout": chosen.timeout,
        "module": chosen.module,
        "program": program,
        "arguments": arguments,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "loaderlint.audit.program", json.dumps(options)],
        pass_fds=[writer],
        stdout=sys.stderr if is_json else None,
    )
    os.close(writer)
    seen = Seen()
    try:
        _listen(reader, 2 * chosen.timeout, seen, quiet=is_json)
    finally:
        _end(process)
        os.close(reader)
    return seen


def _listen(reader: int, patience: float, seen: Seen, quiet: bool) -> None:
    """Collect events until the program ends, or sends none for `patience` seconds."""
    rest = b""
    last = time.monotonic()
    while True:
        readable, _, _ = select.select([reader], [], [], max(patience - (time.monotonic() - last), 0.0))
        if not readable:
            seen.ended = f"the program reached no other loader in {patience:.0f} s and was stopped"
            return
        data = os.read(reader, 1 << 16)
        if not data:
            seen.ended = "the program ended without a report"
            return
        last = time.monotonic()
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            if _take(json.loads(line), seen, quiet):
                return


def _take(event: dict[str, Any], seen: Seen, quiet: bool) -> bool:
    """Record an event. Returns whether it was the last one."""
    if event["event"] == "report":
        report = report_of(event["report"])
        seen.audited.append(Audited(report, event["folder"], tuple(event["made"]), tuple(event["settings"])))
    elif event["event"] == "result":
        one = seen.audited[event["loader"]]
        seen.audited[event["loader"]] = replace(one, report=one.report.with_result(result_of(event["result"])))
    elif event["event"] == "failed":
        seen.failure = event["text"]
    elif event["event"] == "auditing" and not quiet:
        print(f"auditing the loader at {event['name']} ...", flush=True)
    elif event["event"] == "ended":
        seen.unseen = event["unseen"]
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program: ask it first, then kill it."""
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        process.wait(timeout=0.5)
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(timeout=_LAST_WORDS)
    if process.poll() is None:
        process.kill()
        process.wait()


def _print(seen: Seen) -> None:
    for report in seen.reports:
        print()
        print(report)
    print()
    for place in seen.unseen:
        print(f"The loader at {place} was never iterated, and is not audited.")
    if seen.ended:
        print(f"Note: {seen.ended}.")
    if seen.failure:
        print("Your program failed; this is its own error, not one of loaderlint:")
        print(seen.failure.rstrip())
    if not seen.reports:
        print("No DataLoader was iterated.")
        return
    faults = sum(len(report.faults) for report in seen.reports)
    notes = sum(each.verdict is Verdict.NOTE for report in seen.reports for each in report.results)
    loaders = len(seen.reports)
    print(f"{_count(loaders, 'loader')}: {_count(faults, 'fault')}, {_count(notes, 'note')}.")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _as_data(seen: Seen) -> dict[str, Any]:
    return {
        "loaders": [report.as_data() for report in seen.reports],
        "unseen": seen.unseen,
        "failure": seen.failure or None,
        "ended": seen.ended or None,
    }
