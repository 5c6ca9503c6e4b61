"""What linking read of a project's files, and its findings. They show, without linking, whether an edit changes
anything but places.

For each file that was read, its content and the questions about it are stored. As in the editor,
`dependencies.same_answers` decides whether the answers are still the same, and only for files that have changed.
Questions about pieces are functions. They are stored by name, and only those in `_QUESTIONS` are ever looked up. If a
new one is missing there, every edit of its piece causes a linking."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from loaderlint.cache.manifest import packed, unpacked
from loaderlint.cache.serialized_findings import plain
from loaderlint.project.modules import dependencies
from loaderlint.project.modules.components import Layout, reached, within
from loaderlint.project.modules.dependencies import Question, Read
from loaderlint.sources.open_file import OpenFile
from loaderlint.syntax.byte_search import bases, called, entry
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.source import UnreadableSource, decode

if TYPE_CHECKING:
    from loaderlint.findings.finding import Finding
    from loaderlint.sources.open_file import Moves
    from loaderlint.sources.snapshot import Search

#: Pure functions of the text of a piece that linking calls.
_QUESTIONS = frozenset(
    f"loaderlint.{module}:{name}"
    for module, names in {
        "project.modules.dependencies": "is_def is_bare_function is_class defined_name holds does whole",
        "project.evaluation.attribute_assignments": "may_assign",
        "project.evaluation.classes": "_may_annotate _is_passed_on _mentions_like",
        "project.evaluation.fixtures": "_is_called",
        "project.loaders.candidate_calls": "matches _renamed _names_given",
        "project.loaders.failing_code": "_may_fail _may_end _asserts_false _loops_for_ever",
        "project.loaders.failing_imports": "_foreign_folders _finds_own_folder",
        "project.loaders.unset_options": "_sets_unseen_with",
        "project.modules.unseen_bindings": "_binds_unseen",
        "project.evaluation.item_places": "moves_items",
        "project.evaluation.stored_chains": "_is_no_def",
        "project.loaders.idle_loaders": "_may_name",
        "project.loaders.own_iteration": "_starts_workers",
        "project.loaders.installed_loaders": "assigned_from called_loaders class_head names_one star_imports",
        "project.evaluation.missing_attributes": "_may_set _sets_by_name",
        "project.evaluation.properties": "_may_add",
        "project.evaluation.taken_over_options": "takes_over",
        "project.evaluation.unpacked_dicts": "mentions other_uses",
        "project.evaluation.containers": "puts_into _may_append",
        "project.evaluation.function_registries": "is_decorated_with stores_in",
        "project.evaluation.call_tables": "_filled_by _tables_with",
        "project.evaluation.class_assignments": "_assigns _assigns_own",
        "project.evaluation.later_attributes": "_reads_of_another _sets_attribute _sets_attribute_of_another",
        "project.evaluation.object_places": "_is_passed _names_again _replaces_dataset reaches_into",
        "project.evaluation.call_sites": "_imported_as _assigned_as _bound_by_partial _may_return",
        "project.evaluation.subclasses": "_may_derive",
        "syntax.byte_search": "calls",
        "syntax.main_guard": "is_main_guard",
        "project.modules.import_resolution": "_path_names _joined_names",
        "project.evaluation.file_imports": "_imports _is_import _imports_beside _submodules aliases_in",
        "project.modules.tests_and_tutorials": "_is_run_by_tests",
        "project.reach.scripts": "_does_something",
        "rules.shared.iterable_streams": "_mentions_workers",
        "rules.opencv_threads_in_workers.opencv_limits": "_is_import_of",
        "rules.shared.seeding_calls": "occurrences",
        "rules.shared.seeded_runs": "_calls",
        "rules.uncollatable_sample.sample_parts": "_gives",
        "rules.uncollatable_sample.failing_samples": "_sets",
        "rules.uncollatable_sample.uncollatable_values": "_replaces_transform _may_replace_transform",
        "rules.shared.listing_order.sequence_order": "_changes_global",
        "rules.unpicklable_state.unpicklable_payloads": "_indexes",
        "rules.shared.importable_modules": "_is_definition",
        "rules.shared.init_functions": "_begins_definition _begins_like",
        "rules.unpicklable_callable.fixes": "_says",
        "rules.shared.intended_reseeding": "_restores",
        "rules.main_guard_global.guarded_names": "_declares_global",
    }.items()
    for name in names.split()
)

#: The fields of a file's recorded reads that are stored. If there are others, the stored answers would be incomplete.
_NOTES = {*("listed", "facts", "placed", "texts", "words", "sweeps", "questions", "names", "listed_names", "stars")}

#: At most this many files are in memory at once while their contents are stored.
_AT_ONCE = 64


class Answers(NamedTuple):
    """`searches`: for each kind of search through the project its words; the key is the kind, followed by the searched
    folders and files unless all were searched. `files`: the position of a file's compressed entry (see `_File`) in
    `kept`. `questions`: the names of the questions."""

    searches: Mapping[str, Sequence[str]]
    files: Mapping[str, Sequence[int]]
    questions: Sequence[Any]
    kept: bytes

    def findings_of(self, path: str) -> list[Any]:
        """The findings of a file, shown or hidden, serialized by `cache.serialized_findings`."""
        return list(self._file(path).findings)

    def hold(self, path: str, data: bytes, opened: OpenFile, get: Callable[[bytes], bytes | None]) -> Moves | None:
        """Where the pieces of a file are in this content, if all questions about the file have the same answers; None
        if one differs, or if the old content is no longer stored. `get` reads the stored bytes of a key."""
        kept = self._file(path)
        for key, words in self.searches.items():
            kind, *where = key.split("\0")
            if kind == _IMPORTING:
                finds = _importing(data, tuple(where), path)
            elif within(path, tuple(where)):
                finds = _SEARCHES[kind](data)
            else:
                continue
            found = set(kept.found.get(key, ()))
            if any(finds(word) != (number in found) for number, word in enumerate(words)):
                return None
        if not kept.reads:
            return ()
        content = get(bytes.fromhex(kept.content)) if None not in kept.reads else None
        if content is None:
            return None
        try:
            was = decode(content)
        except UnreadableSource:
            return None
        noted = [self._read(one) for one in kept.reads if one is not None]
        return dependencies.same_answers(noted, OpenFile(opened.path, was, cut(was.text)), opened)

    def _file(self, path: str) -> _File:
        if path not in self.files:
            return _File({}, (), (), "")
        start, end = self.files[path]
        return _file(zlib.decompress(self.kept[start:end]))

    def _read(self, noted: Sequence[Any]) -> Read:
        """The recorded reads of a file."""
        listed, facts, placed, texts, words, sweeps, questions, names, listed_names, stars = noted

        def asked(numbers: Iterable[int]) -> set[Question]:
            return {_question(self.questions[number]) for number in numbers}

        return Read(
            listed,
            set(facts),
            set(placed),
            set(texts),
            set(words),
            {scope: asked(numbers) for scope, numbers in sweeps},
            {piece: asked(numbers) for numbers, pieces in questions for piece in pieces},
            {scope: set(found) for scope, found in names},
            set(listed_names),
            stars,
        )


def key(record: bytes) -> bytes:
    """The key of the answers that belong to a record."""
    return blake2b(record, person=b"answers", digest_size=16).digest()


def dumped(
    searches: Mapping[Search, Mapping[str, Iterable[Path]]],
    reads_of: Iterable[tuple[Path, Read | None, bytes | None]],
    findings: Mapping[Path, Iterable[Finding]],
    keep: Callable[[Sequence[tuple[bytes, bytes]]], object],
) -> bytes:
    """The questions of a linking, and the versions of the files that they were about, as bytes. `keep` gets the
    contents of the files as (key, bytes), a few at a time. Raises ValueError if the reads have a field that is not
    stored."""
    numbers: dict[Question, int] = {}
    files: dict[str, dict[str, Any]] = {}
    words: dict[str, list[str]] = {}
    for (kind, where), asked in searches.items():
        name = "\0".join((kind, *where))
        words[name] = list(asked)
        for number, paths in enumerate(asked.values()):
            for path in paths:
                files.setdefault(str(path), {}).setdefault("found", {}).setdefault(name, []).append(number)
    for path, found in findings.items():
        files.setdefault(str(path), {})["findings"] = [plain(one) for one in found]
    notes: dict[str, list[str]] = {}
    contents: dict[str, bytes] = {}
    waiting: list[tuple[bytes, bytes]] = []
    for path, read, data in reads_of:
        noted = None
        if read is not None and data is not None:
            noted = _noted(_known_only(read), numbers)
            if str(path) not in contents:
                contents[str(path)] = _content_key(data)
                waiting.append((contents[str(path)], data))
        # serialized at once, because text takes less memory than lists of numbers
        notes.setdefault(str(path), []).append(json.dumps(noted))
        if len(waiting) >= _AT_ONCE:
            keep(waiting)
            waiting = []
    keep(waiting)
    places, kept = {}, bytearray()
    for name in dict.fromkeys((*files, *notes)):
        start = len(kept)
        told = {**files.get(name, {}), "content": contents.get(name, b"").hex()}
        kept += zlib.compress("\n".join((json.dumps(told), *notes.get(name, ()))).encode(), 1)
        places[name] = (start, len(kept))
    index = {"searches": words, "files": places, "questions": [_named(question) for question in numbers]}
    return packed([json.dumps(index).encode(), kept])


def _content_key(data: bytes) -> bytes:
    """The key of the content of a file."""
    return blake2b(data, person=b"content", digest_size=16).digest()


def loaded(data: bytes) -> Answers:
    """The inverse of `dumped`. Raises ValueError, TypeError, KeyError or AttributeError for other bytes."""
    index, kept = unpacked(data)
    read = json.loads(index)
    return Answers(read["searches"], read["files"], read["questions"], kept)


# --- a file -----------------------------------------------------------------------------------------------------------


class _File(NamedTuple):
    """The entry of a file. `found`: the numbers of the words, by the kind of search, that it contains. `findings`:
    serialized by `cache.serialized_findings`. `reads`: what each part of the project read of it, None if it could not
    be read. `content`: the key of its content, '' if no part read it."""

    found: Mapping[str, Sequence[int]]
    findings: Sequence[Any]
    reads: Sequence[Sequence[Any] | None]
    content: str


def _file(data: bytes) -> _File:
    told, *noted = [json.loads(line) for line in data.splitlines()]
    return _File(told.get("found", {}), told.get("findings", ()), noted, told["content"])


# --- what was asked of a file -----------------------------------------------------------------------------------------


def _known_only(read: Read) -> Read:
    """The recorded reads, with the text itself instead of questions that have no stored name."""
    if set(read.__struct_fields__) != _NOTES:
        raise ValueError("the reads have a field that is not stored")
    unknown = {piece for piece, asked in read.questions.items() if not all(map(_is_known, asked))}
    questions = {piece: asked for piece, asked in read.questions.items() if piece not in unknown}
    sweeps = {scope: {one for one in asked if _is_known(one)} for scope, asked in read.sweeps.items()}
    if sweeps != read.sweeps:
        sweeps.setdefault(dependencies.EVERYWHERE, set()).add((dependencies.whole, ()))
    return replace(read, texts=read.texts | unknown, questions=questions, sweeps=sweeps)


def _noted(read: Read, numbers: dict[Question, int]) -> list[Any]:
    """The recorded reads, with numbers instead of questions."""

    def asked(questions: Iterable[Question]) -> list[int]:
        return sorted(numbers.setdefault(question, len(numbers)) for question in questions)

    by_questions: dict[tuple[int, ...], list[int]] = {}
    for piece, questions in read.questions.items():
        by_questions.setdefault(tuple(asked(questions)), []).append(piece)
    return [
        read.listed,
        sorted(read.facts),
        sorted(read.placed),
        sorted(read.texts),
        sorted(read.words),
        [[scope, asked(questions)] for scope, questions in read.sweeps.items()],
        [[list(these), pieces] for these, pieces in by_questions.items()],
        [[scope, sorted(names)] for scope, names in read.names.items()],
        sorted(read.listed_names),
        read.stars,
    ]


# --- what the project was searched for --------------------------------------------------------------------------------


def _containing(data: bytes) -> Callable[[str], bool]:
    return lambda word: word.encode() in data


def _calling(data: bytes) -> Callable[[str], bool]:
    names = called(data)
    return lambda name: entry(name) in names


def _deriving(data: bytes) -> Callable[[str], bool]:
    written = bases(data)
    return lambda word: word.encode() in (written if word.isascii() else data)


def _importing(data: bytes, layout: Layout, path: str) -> Callable[[str], bool]:
    return reached(data, layout, path).__contains__


#: The kind of search that determines the parts of a project; the root and its package folders follow it in the key.
_IMPORTING = "importing"

#: The searches of a project (`loaderlint.project.modules.project_files.Files`), as questions to one file.
_SEARCHES = {"containing": _containing, "calling": _calling, "deriving": _deriving}


# --- questions as names -----------------------------------------------------------------------------------------------


def _name(question: Callable[..., Any]) -> str:
    return f"{question.__module__}:{question.__qualname__}"


def _is_known(question: Question) -> bool:
    asked, about = question
    return _name(asked) in _QUESTIONS and all(isinstance(one, (str, int, re.Pattern)) for one in about)


def _named(question: Question) -> list[Any]:
    asked, about = question
    return [_name(asked), [[one.pattern, one.flags] if isinstance(one, re.Pattern) else one for one in about]]


def _question(named: Any) -> Question:
    name, about = named
    if name not in _QUESTIONS:
        raise ValueError(f"no question: {name}")
    module, _, attribute = name.partition(":")
    asked: Callable[..., object] = getattr(import_module(module), attribute)
    return asked, tuple(re.compile(one[0], one[1]) if isinstance(one, list) else one for one in about)
