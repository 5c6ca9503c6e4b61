"""The command `survey`: which repositories are read, where results are kept, and what is shown."""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
from pathlib import Path

from loaderlint.report import terminal
from loaderlint.report.exit_codes import DONE, FAILED
from loaderlint.survey import dask_cluster, run
from loaderlint.survey.repositories import Ambiguous, listed, repositories, shard
from loaderlint.survey.result_store import Kept, Unusable, merged
from loaderlint.survey.results import Repository, Result
from loaderlint.survey.summarise import Summary, as_json, summarise

_MERGE = "merge"
_SHARD = re.compile(r"(\d+)/(\d+)\Z")


class _Usage(Exception):
    """The arguments cannot be used; the message says what to write instead."""


def survey(chosen: argparse.Namespace) -> int:
    """Survey repositories, or merge the results of several surveys, and return the exit code."""
    gc.enable()  # it may go on for days
    try:
        _look_ahead(chosen)
        results = _merge(chosen) if chosen.paths[:1] == [_MERGE] else _survey(chosen)
        _show(chosen, summarise(results))
    except (_Usage, Ambiguous, Unusable, dask_cluster.Unreachable) as error:
        terminal.complain(str(error))
        return FAILED
    except OSError as error:
        terminal.complain(f"{error.filename}: {error.strerror}")
        return FAILED
    return DONE if any(one.measured is not None for one in results) else FAILED


def _look_ahead(chosen: argparse.Namespace) -> None:
    """Raise _Usage before the survey begins if its page could not be written at the end."""
    if chosen.html is None:
        return
    from loaderlint.survey.html_page import missing

    if missing():
        raise _Usage(f"--html needs {' and '.join(missing())}: run pip install 'loaderlint[survey]'")
    if not Path(chosen.html).absolute().parent.is_dir():
        raise _Usage(f"--html {chosen.html}: there is no such folder; create it first")


def _merge(chosen: argparse.Namespace) -> list[Result]:
    names = chosen.paths[1:]
    if not names:
        raise _Usage("survey merge needs the files that survey --results wrote")
    if chosen.shard or chosen.repositories_from:
        raise _Usage("survey merge reads no repositories: leave --shard and --repositories-from out")
    results = merged(Path(name) for name in names)
    if chosen.results is not None:
        kept = Kept(Path(chosen.results))
        for one in results:
            kept.add(one)
    return results


def _survey(chosen: argparse.Namespace) -> list[Result]:
    found = _repositories(chosen)
    if chosen.shard:
        number, count = _shard(chosen.shard)
        found = shard(found, number, count)
    if not found:
        raise _Usage("no repository was found; name a repository, or a folder that contains some")
    kept = Kept(Path(chosen.results) if chosen.results is not None else None)
    executor = _executor(chosen)
    try:
        with terminal.Progress(sys.stderr) as progress:
            return run.survey(found, kept, executor, retry=chosen.retry_failed, progress=progress)
    except KeyboardInterrupt:
        if chosen.results is not None:
            terminal.complain(f"the results so far are in {chosen.results}; run the same command to continue")
        raise


def _executor(chosen: argparse.Namespace) -> run.Executor:
    limits = run.Limits(chosen.timeout, chosen.memory)
    if chosen.dask is None:
        return run.local(chosen.jobs or os.cpu_count() or 1, limits)
    if chosen.jobs is not None:
        raise _Usage("with --dask the workers of the cluster are used: leave --jobs out")
    return dask_cluster.dask(chosen.dask, limits)


def _repositories(chosen: argparse.Namespace) -> list[Repository]:
    if chosen.repositories_from is None:
        return repositories(Path(name) for name in chosen.paths or ["."])
    if chosen.paths:
        raise _Usage("name folders, or a list with --repositories-from, not both")
    path = Path(chosen.repositories_from)
    return listed(path.read_text(encoding="utf-8", errors="surrogateescape").splitlines(), path.parent)


def _shard(text: str) -> tuple[int, int]:
    match = _SHARD.match(text)
    number, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= count:
        raise _Usage(f"--shard {text} cannot be read; write 1/8 to 8/8 for the eight parts of a survey")
    return number, count


def _show(chosen: argparse.Namespace, summary: Summary) -> None:
    if chosen.html is not None:
        from loaderlint.survey import html_page

        Path(chosen.html).write_text(html_page.render(summary), encoding="utf-8")
    if chosen.output_format == "json":
        print(json.dumps(as_json(summary), indent=2))
        return
    from loaderlint.survey import text_summary

    for line in text_summary.render(summary):
        print(line)
