"""The explanation of a line, as text and as JSON. Our own text is ASCII only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.explanations.explanation import Explanation, FunctionTold, Run, Subject
from loaderlint.explanations.worker_map import MappedLoader, distinct
from loaderlint.findings.causes import by_cause
from loaderlint.report import Item, Report, shown_path, worker_map_report
from loaderlint.report import json_format as findings_json
from loaderlint.report.locations import Spots
from loaderlint.report.terminal import printable
from loaderlint.syntax.source import lines_of

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

#: The maximum number of calls with unknown targets, of loaders made on the line, and of findings at other lines that
#: are shown.
_MAX_SHOWN = 5
_WORDS = {"lambda": "the function", "class body": "the body of the class", "module-level code": "module-level code of"}


def text(known: Explanation, spots: Spots) -> Iterator[str]:
    """The lines of the explanation, without line ends."""
    return (printable(line.expandtabs()) for line in _lines(known, spots))


def _lines(known: Explanation, spots: Spots) -> Iterator[str]:
    yield f"{spots.line(known.path, known.line)}: {_source(known, spots)}".rstrip()
    for subject in known.subjects:
        yield ""
        yield from _subject(subject, known, spots)
    loaders = distinct(known.loaders)
    for loader in loaders[:_MAX_SHOWN]:
        yield ""
        yield f"makes {loader.called}: {loader.library}, {loader.workers}"
        yield from _arguments(loader)
        yield from (f"  {line}" for line in worker_map_report.details(loader, spots, 12))
    if len(loaders) > _MAX_SHOWN:
        yield f"and {len(loaders) - _MAX_SHOWN} more, called from elsewhere"
    yield ""
    yield "what it runs on"
    yield from (f"  {fact}" for fact in known.environment)
    yield ""
    yield from _rules(known, spots)


def _source(known: Explanation, spots: Spots) -> str:
    lines = lines_of(spots.workspace.text(known.path))
    return lines[known.line].strip() if known.line < len(lines) else ""


def _subject(subject: Subject, known: Explanation, spots: Spots) -> Iterator[str]:
    standing = subject.standing
    if standing.kind in ("no code", "unreadable code"):
        yield "there is no code on this line" if standing.kind == "no code" else "the code here cannot be parsed"
        return
    yield f"in {_WORDS.get(standing.kind, f'the {standing.kind}')} {standing.name}"
    yield from (f"  {note}" for note in subject.notes)
    if subject.told is not None:
        yield from _runs(subject.told, known, spots)


def _runs(told: FunctionTold, known: Explanation, spots: Spots) -> Iterator[str]:
    for run in told.runs:
        yield from _run(run, known.map.loaders[run.loader], spots)
    if told.others:
        yield f"  and {told.others} other loader{'s' if told.others > 1 else ''}"
    here = [trail for trail in told.trails if _on_line(trail.place, known, spots)]
    for trail in here[:_MAX_SHOWN]:
        yield f"  what `{trail.what}` calls is not known: {trail.reason}"


def _run(run: Run, loader: MappedLoader, spots: Spots) -> Iterator[str]:
    where = "in the main process for" if loader.starts_workers == "no" else "in the workers of"
    verb = "runs" if run.certainty == "proven" or loader.starts_workers == "no" else "may run"
    parts = "" if run.parts == ("sample",) else f" {' and '.join(worker_map_report.WHEN[part] for part in run.parts)}"
    at = f"{loader.called} at {spots.text(loader.place)} ({loader.workers})" if loader.place else "any loader of it"
    yield f"  {verb}{parts} {where} {at}"
    yield f"    by {' > '.join(link.name for link in run.chain)}"
    if run.doubt:
        yield f"    only possible: {run.doubt}"


def _on_line(place: object, known: Explanation, spots: Spots) -> bool:
    span = spots.workspace.locate(place)  # type: ignore[arg-type]
    return span is not None and span.line <= known.line <= span.end_line


def _arguments(loader: MappedLoader) -> Iterator[str]:
    for one in loader.arguments:
        if one.passed:
            yield f"  {one.name}: {one.value}"
    left_out = [f"{one.name}={one.value}" for one in loader.arguments if not one.passed and one.value != "None"]
    if left_out:
        yield f"  by default: {', '.join(left_out)}"


def _rules(known: Explanation, spots: Spots) -> Iterator[str]:
    if known.findings:
        yield "findings"
    for found in known.findings:
        yield from _finding(found, spots)
    yield from _elsewhere(known, spots)
    if known.hidden:
        yield "findings that are not shown"
    for one in known.hidden:
        yield f"  [{one.diagnostic.code} {one.diagnostic.name}] {one.reason}"
        yield f"    {one.diagnostic.message}"
    if known.silent:
        yield "rules that looked here and report nothing"
    for rule in known.silent:
        yield f"  [{rule.code} {rule.name}]"
        yield from (f"    {reason}" for reason in rule.reasons)
    looked = bool(known.findings or known.hidden or known.silent or known.elsewhere)
    yield f"No {'other ' if looked else ''}rule applies to this line."


def _elsewhere(known: Explanation, spots: Spots) -> Iterator[str]:
    if known.elsewhere:
        yield "findings at other lines that involve this line"
    causes = by_cause(known.elsewhere)
    for first, *others in causes[:_MAX_SHOWN]:
        more = f" and {len(others)} more {'place' if len(others) == 1 else 'places'}" if others else ""
        yield f"  {spots.line(first.path, first.span.line)}{more}: {_headline(first)}"
    if len(causes) > _MAX_SHOWN:
        yield f"  and {len(causes) - _MAX_SHOWN} more"


def _headline(found: Diagnostic) -> str:
    level = found.severity.value if found.certainty == "proven" else f"{found.severity.value} ({found.certainty})"
    return f"{level}: {found.message} [{found.code} {found.name}]"


def _finding(found: Diagnostic, spots: Spots) -> Iterator[str]:
    yield f"  {_headline(found)}"
    for note in found.evidence:
        yield f"    = {note.message} ({spots.line(note.path, note.span.line)})"
    if found.audit:
        yield f"    = confirmed: {found.audit}"
    for repair in spots.workspace.repairs(found) if found.fixable else ():
        yield f"    = fix ({repair.safety}): {repair.title}"


# --- JSON -------------------------------------------------------------------------------------------------------------


def as_json(known: Explanation, spots: Spots) -> str:
    """The explanation as `docs/explain.md` describes it."""
    return json.dumps(_data(known, spots), indent=2)


def _data(known: Explanation, spots: Spots) -> dict[str, object]:
    directory: Path = spots.directory
    return {
        "path": shown_path(known.path, directory),
        "line": known.line + 1,
        "column": None if known.column is None else known.column + 1,
        "subjects": [_subject_data(one, known, spots) for one in known.subjects],
        "loaders": [worker_map_report.loader_data(one, spots) for one in distinct(known.loaders)],
        "environment": list(known.environment),
        "findings": [_finding_data(one, spots) for one in known.findings],
        "hidden": [{**_finding_data(one.diagnostic, spots), "reason": one.reason} for one in known.hidden],
        "silent": [{"code": one.code, "name": one.name, "reasons": list(one.reasons)} for one in known.silent],
        "elsewhere": [_finding_data(one, spots) for one in known.elsewhere],
        "other_rules": known.others,
    }


def _subject_data(subject: Subject, known: Explanation, spots: Spots) -> dict[str, object]:
    told = subject.told
    return {
        "kind": subject.standing.kind,
        "name": subject.standing.name,
        "notes": list(subject.notes),
        "runs": [_run_data(run, known.map.loaders[run.loader], spots) for run in told.runs] if told else [],
        "other_loaders": told.others if told else 0,
        "unknown_calls": [
            {"what": trail.what, "reason": trail.reason}
            for trail in (told.trails if told else ())
            if _on_line(trail.place, known, spots)
        ],
    }


def _run_data(run: Run, loader: MappedLoader, spots: Spots) -> dict[str, object]:
    return {
        "loader": {"name": loader.name, **spots.data(loader.place)},
        "workers": loader.workers,
        "starts_workers": loader.starts_workers,
        "parts": list(run.parts),
        "certainty": run.certainty,
        "doubt": run.doubt or None,
        "chain": [{"function": link.name, **spots.data(link.place)} for link in run.chain],
    }


def _finding_data(found: Diagnostic, spots: Spots) -> dict[str, object]:
    repairs = spots.workspace.repairs(found) if found.fixable else ()
    report = Report(
        items=(),
        files=1,
        directory=spots.directory,
        text_of=spots.workspace.text,
        cells_of=spots.workspace.cells,
    )
    return findings_json.finding(Item(found, repairs[0] if repairs else None), report)
