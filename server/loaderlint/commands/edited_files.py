"""Updates the result of the last check after edits that changed nothing but places: only the edited files, and files
whose findings point into them, are processed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loaderlint.cache import audit_results, check_record, linking_answers
from loaderlint.cache.check_record import Record
from loaderlint.cache.database import Database
from loaderlint.cache.serialized_findings import made, plain
from loaderlint.files import file_accesses, reading
from loaderlint.files.reading import UnreadableFile
from loaderlint.sources.open_file import Moves, OpenFile
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.source import UnreadableSource, decode

#: A source file that also says which versions a project runs on.
_CONFIGURES = "setup.py"


def renewed(
    database: Database, key: bytes, known: Record, files: Mapping[int, bytes], overrides: Mapping[str, object]
) -> Record | None:
    """The result of a check after the contents of the files at these indices of the manifest changed; None if the
    project has to be linked again."""
    changed = {known.manifest.paths[index]: told for index, told in files.items()}
    sources = all(known.flags[index] & check_record.SOURCE for index in files)
    if audit_results.recorded(Path(known.root)):
        return None  # the result of an audit is valid only for the files that it saw
    if known.whole or not sources or any(path.endswith((_CONFIGURES, ".ipynb")) for path in changed):
        return None
    data = database.get(linking_answers.key(key))
    if data is None:
        return None
    asked = linking_answers.loaded(data)
    moved = dict(known.moved)
    for path, told in changed.items():
        to = _held(database, asked, path, told)
        if to is None:
            return None
        moved[path] = list(to)
    shown = {path for path, flag in zip(known.manifest.paths, known.flags, strict=True) if flag & check_record.SHOWN}
    touched = {path for path in changed if path in shown}
    touched.update(path for path, items in known.items.items() if _speaks_of(items, changed))
    items = {path: listed for path, listed in known.items.items() if path not in touched}
    again = _shown_again(known, asked, touched, moved, overrides)
    return None if again is None else known._replace(items={**items, **again}, moved=moved)


def _held(database: Database, asked: linking_answers.Answers, path: str, told: bytes) -> Moves | None:
    """The new numbers of the pieces of a file, whose content has the digest `told`; None if the new content changes an
    answer."""
    try:
        data = reading.read(path, reading.SOURCE)
        source = decode(data)
    except (UnreadableFile, UnreadableSource):
        return None
    if file_accesses.content(data) != told:
        return None
    return asked.hold(path, data, OpenFile(Path(path), source, cut(source.text)), database.get)


def _speaks_of(value: Any, paths: Mapping[str, bytes]) -> bool:
    """Whether findings, their evidence or their fixes name one of these files."""
    if isinstance(value, list):
        return any(_speaks_of(one, paths) for one in value)
    return isinstance(value, str) and value in paths


def _paths(value: Any) -> Iterator[str]:
    """The files that findings name."""
    if isinstance(value, list):
        if len(value) == 2 and value[0] == "Path":
            yield value[1]
        else:
            for one in value:
                yield from _paths(one)


def _shown_again(
    known: Record,
    asked: linking_answers.Answers,
    touched: set[str],
    moved: Mapping[str, Moves],
    overrides: Mapping[str, object],
) -> dict[str, Any] | None:
    """The findings of these files that are shown now; None if one names code that is gone."""
    from loaderlint.engine import Project
    from loaderlint.engine.remap import Gone, moved_findings

    if not touched:
        return {}
    project = Project(Path(known.root), overrides, reports_unread=True)
    kept = {path: asked.findings_of(path) for path in sorted(touched)}
    project.store.suppose(map(Path, touched.union(_paths(list(kept.values())))))
    found = {Path(path): list(map(made, findings)) for path, findings in kept.items()}
    try:
        now = moved_findings(found, {Path(path): to for path, to in moved.items() if to})
    except Gone:
        return None
    shown = project.shown_again(now)
    if project.store.unreadable or project.showing.kept:
        return None
    items: dict[str, Any] = {}
    for path, diagnostics in shown.items():
        for one in diagnostics:
            repair = project.repairs.preferred(one.finding) if one.fixable else None
            items.setdefault(str(path), []).append([plain(one), plain(repair)])
    return items
