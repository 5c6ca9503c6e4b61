"""Answers `check` from the cached result of the last check of the same project, without the engine and the parser."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderlint.cache import cache_folder
from loaderlint.cache.database import Database
from loaderlint.commands.command_inputs import existing, read_settings, roots_of
from loaderlint.files import file_accesses, reading
from loaderlint.files.project_roots import project_root, root_of
from loaderlint.files.reading import UnreadableFile

if TYPE_CHECKING:
    from loaderlint.cache.check_record import Record
    from loaderlint.cache.facts_cache import PieceCache
    from loaderlint.commands.outcome import Outcome
    from loaderlint.engine import Workspace
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.report import Item


def answer(chosen: argparse.Namespace) -> int | None:
    """Report what a check would find, and return its exit code; None if the check has to run. File accesses are
    recorded from then on."""
    file_accesses.watch()
    cache = CheckCache.of(chosen) if is_plain(chosen) else None
    if cache is None:
        return None
    try:
        return cache.answer(chosen)
    except Exception as error:  # an unreadable record or bad arguments: the full check reports them
        _debug("no answer", error)
        return None


def is_plain(chosen: argparse.Namespace) -> bool:
    """Whether the command only reports the findings of files."""
    other = (
        chosen.unsafe_fixes,
        chosen.only_named,
        chosen.show_fixes,
        chosen.fix,
        chosen.diff,
        chosen.suppress,
        chosen.verbose,
        chosen.compare,
        chosen.show_files,
        chosen.show_settings,
        chosen.force_exclude,
        "-" in chosen.paths,
        chosen.write_baseline is not None,
    )
    return not any(other) and not (chosen.statistics and chosen.output_format == "text")


class CheckCache:
    """The cache in a folder, as one command uses it."""

    def __init__(self, folder: Path) -> None:
        self._database = Database(folder)
        self._tag = cache_folder.tag()
        self._pieces: PieceCache | None = None

    @classmethod
    def of(cls, chosen: argparse.Namespace) -> CheckCache | None:
        """The cache that a command uses; None if it uses none. All parts of a command share one, so they wait for a
        locked file only once."""
        if "cache" not in chosen:
            folder = None if chosen.no_cache else cache_folder.folder(chosen.cache_dir)
            chosen.cache = cls(folder) if folder else None
        known: CheckCache | None = chosen.cache
        return known

    @property
    def pieces(self) -> PieceCache:
        """The facts of pieces."""
        from loaderlint.cache.facts_cache import PieceCache

        if self._pieces is None:
            self._pieces = PieceCache(self._database, self._tag)
        return self._pieces

    def is_first(self, what: str) -> bool:
        """Whether something happens for the first time, as far as the cache knows; False if it cannot remember it."""
        key = blake2b(what.encode("utf-8", "surrogateescape"), person=b"once", digest_size=16).digest()
        return self._database.get(key) is None and self._database.put([(key, b"")])

    # --- what is known ---

    def answer(self, chosen: argparse.Namespace) -> int | None:
        """See `answer`."""
        if not os.path.exists(self._database.path):
            return None
        overrides = read_settings(chosen)
        paths, messages = existing(chosen.paths or ["."])
        if messages:
            return None
        known: list[tuple[Record, list[str]]] = []
        for root, (asked, is_loose) in _by_root(paths).items():
            record = self._present(root, is_loose, overrides)
            files = record.files(asked) if record else None
            if record is None or files is None:
                return None
            known.append((record, files))
        return _shown(chosen, known)

    def _present(self, root: Path, is_loose: bool, overrides: Mapping[str, object]) -> Record | None:
        """What a check would find in a project; None unless at most places have changed since the last check."""
        from loaderlint.cache import check_record, manifest

        key = check_record.key(self._tag, root, is_loose, overrides)
        data = self._database.get(key)
        if data is None:
            return None
        found = check_record.loaded(data)
        changed = manifest.changes(found.manifest, time.time_ns())
        if changed.else_:
            return None
        if changed.numbers is None:
            return found
        same = found._replace(manifest=found.manifest.renewed(changed))
        now: Record | None = same
        if changed.files:
            from loaderlint.commands.edited_files import renewed

            now = renewed(self._database, key, same, changed.files, overrides)
        if now is not None:
            self._database.put([(key, check_record.dumped(now))])
        return now

    # --- what is new ---

    def keep(
        self,
        workspace: Workspace,
        found: Mapping[Path, Sequence[Diagnostic]],
        outcome: Outcome | None,
        overrides: Mapping[str, object],
    ) -> None:
        """Store the result of a check; without `outcome`, only the facts."""
        began, seen = file_accesses.seen()
        try:
            workspace.keep()
            if outcome is not None and not outcome.told_before and not outcome.has_internal_errors:
                self._keep_records(workspace, found, outcome, overrides, began, seen)
        except Exception as error:  # nothing is stored, and the check is still valid
            _debug("nothing kept", error)
        self._database.close()

    def _keep_records(
        self,
        workspace: Workspace,
        found: Mapping[Path, Sequence[Diagnostic]],
        outcome: Outcome,
        overrides: Mapping[str, object],
        began: int,
        seen: Mapping[str, file_accesses.Stamp | None],
    ) -> None:
        from loaderlint.cache import check_record, linking_answers, manifest
        from loaderlint.cache.serialized_findings import plain

        items: dict[Path, list[Any]] = {}
        for item in outcome.items:
            items.setdefault(item.diagnostic.path, []).append([plain(item.diagnostic), plain(item.repair)])
        told = {
            "folder": os.getcwd(),
            "problems": [plain(problem) for problem in outcome.problems],
            "kept": outcome.kept,
            "refuted": outcome.refuted,
            "said": outcome.said,
        }
        whole = bool(outcome.problems or outcome.said or workspace.kept() or outcome.refuted)
        rows = []
        for project, asked in workspace.answered():
            contents = {str(path): told for path, told in project.store.contents()}
            made = manifest.made(seen, contents, began)
            if made is None:
                return
            own = {*contents, *(str(path) for path in found if path.is_relative_to(project.root))}
            shown = {str(path) for path in found}
            flags = bytes(
                (check_record.SOURCE * (p in own)) | (check_record.SHOWN * (p in own and p in shown))
                for p in made.paths
            )
            told_of = {str(path): listed for path, listed in items.items() if str(path) in own}
            one = check_record.Record(str(project.root), made, flags, tuple(map(str, asked)), told_of, told, whole, {})
            key = check_record.key(self._tag, project.root, project.store.is_loose, overrides)
            rows.append((key, check_record.dumped(one)))
            asked_of = project.answers(self._database.put)
            if asked_of is not None:
                rows.append((linking_answers.key(key), asked_of))
        if len(workspace.answered()) == 1 or not whole:
            self._database.put(rows)


def _by_root(paths: Sequence[Path]) -> dict[Path, tuple[list[str], bool]]:
    """The paths by the root of their project, as `Workspace` groups them. The flag says whether only the files that
    these paths lead to are read there."""
    roots = roots_of(paths)
    grouped: dict[Path, list[Path]] = {}
    for path in paths:
        root = root_of(path if os.path.isdir(path) else path.parent, (*roots.folders, *roots.around))
        grouped.setdefault(root, []).append(path)
    return {
        root: (
            list(map(str, own)),
            root not in roots.folders and project_root(root) is None and not any(map(os.path.isdir, own)),
        )
        for root, own in grouped.items()
    }


def _shown(chosen: argparse.Namespace, known: Sequence[tuple[Record, list[str]]]) -> int:
    """Report the recorded findings of these files."""
    from loaderlint.commands.outcome import Outcome, complain, show

    items: list[Item] = []
    for record, files in known:
        for path in files:
            if path in record.items:
                items.extend(_items(record.items[path]))
    items.sort(key=lambda item: item.diagnostic.path)  # stable: within a file they are in order
    told = known[0][0].told if len(known) == 1 and known[0][0].whole else {}
    from loaderlint.cache.serialized_findings import made

    outcome = Outcome(
        tuple(items),
        sum(len(files) for _, files in known),
        told.get("kept", 0),
        told.get("refuted", 0),
        tuple(told.get("said", ())),
        tuple(map(made, told.get("problems", ()))),
    )
    printed = show(outcome, chosen, sys.stdout, _text, _cells)
    complain(outcome.problems)
    return outcome.code(not printed, chosen)


def _items(listed: Sequence[Sequence[Any]]) -> list[Item]:
    from loaderlint.cache.serialized_findings import made
    from loaderlint.report import Item

    return [Item(made(diagnostic), made(repair)) for diagnostic, repair in listed]


def _text(path: Path) -> str:
    """The text of a file as the engine gives it."""
    from loaderlint.syntax import notebook, source

    try:
        is_notebook = path.suffix == notebook.SUFFIX
        data = reading.read(path, reading.NOTEBOOK if is_notebook else reading.SOURCE)
        return notebook.decode(data).text if is_notebook else source.decode(data).text
    except (UnreadableFile, source.UnreadableSource, notebook.UnreadableNotebook):
        return ""


def _cells(path: Path) -> tuple[int, ...]:
    from loaderlint.syntax import notebook

    try:
        if path.suffix != notebook.SUFFIX:
            return ()
        return notebook.decode(reading.read(path, reading.NOTEBOOK)).starts
    except (UnreadableFile, notebook.UnreadableNotebook):
        return ()


def _debug(what: str, error: Exception) -> None:
    import logging

    logging.getLogger(__name__).debug("%s: %r", what, error)
