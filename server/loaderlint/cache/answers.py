"""What linking a project asked of its files, and what was found: whether an edit changes anything but places can then
be told without linking.

Of each piece of a file is kept what tells its text and its answers; of answers only that they are equal is ever asked.
What is kept of a file is read only if that file has changed. Questions to pieces are functions. Their names are kept,
and only those in `_QUESTIONS` are ever looked up; where a new one is missing, every edit in its piece counts.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loaderlint.cache.manifest import packed, unpacked
from loaderlint.cache.plain import plain
from loaderlint.project import reads
from loaderlint.project.parts import Layout, reached, within
from loaderlint.project.reads import Question, Read
from loaderlint.syntax.search import bases, called, entry

if TYPE_CHECKING:
    from loaderlint.findings import Finding
    from loaderlint.store import Moves, OpenFile, Search

#: Pure functions of the text of a piece that are asked while a project is linked.
_QUESTIONS = frozenset(
    f"loaderlint.{module}:{name}"
    for module, names in {
        "project.reads": "is_def is_bare_function defined_name holds does whole",
        "project.assigned": "may_assign",
        "project.classes": "_may_annotate _is_passed_on",
        "project.candidates": "matches _renamed _names_given",
        "project.growth": "_puts_into",
        "project.callers": "_imported_as _bound_by_partial _may_derive",
        "syntax.search": "calls",
        "project.imports": "_imports _path_names _joined_names",
        "project.scripts": "_does_something",
        "rules.shared.streams": "_mentions_workers",
        "rules.shared.epoch_passes": "may_loop",
        "rules.retained_batches": "_may_keep",
        "rules.shared.opencv_limits": "_is_import_of _is_main_guard",
        "rules.shared.seed_places": "_occurrences",
        "rules.shared.listing_order": "_changes_global",
        "rules.unpicklable_state": "_indexes",
        "rules.reseed_per_sample": "_restores",
        "rules.main_guard_global": "_declares_global",
    }.items()
    for name in names.split()
)

#: All that is noted of what was read of a file. Where there is more, what is kept would not be all.
_NOTES = {*("listed", "facts", "placed", "texts", "words", "sweeps", "questions", "names", "listed_names", "stars")}

#: What tells that a piece has nothing to say; not true.
_SILENT = 0


class Answers(NamedTuple):
    """`searches`: for each kind of search through the project the words; its key is the kind, and behind it the folders
    and files that were searched, where that was not all. `files`: where what is kept of a file (see `_File`) stands in
    `kept`, compressed. `questions`: what questions are called."""

    searches: Mapping[str, Sequence[str]]
    files: Mapping[str, Sequence[int]]
    questions: Sequence[Any]
    kept: bytes

    def findings_of(self, path: str) -> list[Any]:
        """The findings of a file, shown or not, as `cache.plain` gives them."""
        return list(self._file(path).findings)

    def hold(self, path: str, data: bytes, opened: OpenFile) -> Moves | None:
        """Where the pieces of a file are in this content, if all that was asked of the file would be answered alike;
        None if it would not."""
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
        if kept.pieces is None or None in kept.reads:
            return None
        noted = [self._read(one) for one in kept.reads if one is not None]
        return _still(list(zip(noted, kept.answers, strict=True)), kept.pieces, opened)

    def _file(self, path: str) -> _File:
        if path not in self.files:
            return _File({}, (), (), None, ())
        start, end = self.files[path]
        return _file(zlib.decompress(self.kept[start:end]))

    def _read(self, noted: Sequence[Any]) -> Read:
        """The notes of a file as they were."""
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
    """Under what the answers that belong to a record are kept."""
    return blake2b(record, person=b"answers", digest_size=16).digest()


def dumped(
    searches: Mapping[Search, Mapping[str, Iterable[Path]]],
    reads_of: Iterable[tuple[Path, Read | None, OpenFile | None]],
    findings: Mapping[Path, Iterable[Finding]],
) -> bytes:
    """What a linking asked, and of which versions of the files, as bytes."""
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
    lists: dict[str, list[bytes]] = {}
    for path, read, opened in reads_of:
        noted = None
        if read is not None and opened is not None:
            known = _known_only(read)
            noted = _noted(known, numbers)
            if str(path) not in lists:
                lists[str(path)] = [_bytes(one) for one in _Pieces.of(opened)]
            lists[str(path)].append(_bytes(_answers(known, opened)))
        # as text at once, which takes less memory than lists of numbers
        notes.setdefault(str(path), []).append(json.dumps(noted))
    places, kept = {}, bytearray()
    for name in dict.fromkeys((*files, *notes)):
        start = len(kept)
        lines = "\n".join(notes.get(name, ())).encode()
        kept += zlib.compress(packed([json.dumps(files.get(name, {})).encode(), lines, *lists.get(name, ())]), 1)
        places[name] = (start, len(kept))
    index = {"searches": words, "files": places, "questions": [_named(question) for question in numbers]}
    return packed([json.dumps(index).encode(), kept])


def _bytes(numbers: Sequence[int]) -> bytes:
    """Numbers of 64 bits."""
    return array("q", numbers).tobytes()


def loaded(data: bytes) -> Answers:
    """What `dumped` gave. Raises ValueError, TypeError, KeyError or AttributeError for other bytes."""
    index, kept = unpacked(data)
    read = json.loads(index)
    return Answers(read["searches"], read["files"], read["questions"], kept)


# --- a file -----------------------------------------------------------------------------------------------------------


class _File(NamedTuple):
    """What is kept of a file. `found`: the numbers of the words, by the kind of search, for which it was found.
    `findings` as `cache.plain` gives them. `reads`: what each part of the project that looked into it read of it, None
    where it could not be read. `pieces`: what they were, None if nobody read them; `answers`: for each of `reads` what
    tells what each piece answers, `_SILENT` where it has nothing to say."""

    found: Mapping[str, Sequence[int]]
    findings: Sequence[Any]
    reads: Sequence[Sequence[Any] | None]
    pieces: _Pieces | None
    answers: Sequence[Sequence[int]]


def _file(data: bytes) -> _File:
    document, notes, *parts = unpacked(data)
    told = json.loads(document)
    lists: list[array[int]] = []
    for part in parts:
        numbers = array("q")
        numbers.frombytes(part)
        lists.append(numbers)
    count = len(_Pieces._fields)
    pieces = _Pieces(*lists[:count]) if lists else None
    noted = [json.loads(line) for line in notes.splitlines()]
    return _File(told.get("found", {}), told.get("findings", ()), noted, pieces, lists[count:])


class _Pieces(NamedTuple):
    """The pieces of a version of a file: for each what tells its text, its first line, its shape, and the piece that it
    stands in. All are numbers of 64 bits."""

    texts: Sequence[int]
    heads: Sequence[int]
    shapes: Sequence[int]
    parents: Sequence[int]

    @classmethod
    def of(cls, opened: OpenFile) -> _Pieces:
        """Of a file as it is."""
        pieces = opened.pieces
        return cls(
            [_number(piece.text) for piece in pieces],
            [_number(reads.head_of(piece.text)) for piece in pieces],
            [_number(repr(reads.shape(piece))) for piece in pieces],
            [piece.parent for piece in pieces],
        )


def _answers(read: Read, opened: OpenFile) -> list[int]:
    """What tells the answers of all pieces of a file of which this was read."""
    pieces = opened.pieces
    return [_told(read, index, opened, index, reads.scope_of(pieces, index)) for index in range(len(pieces))]


def _number(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _told(read: Read, noted: int | None, opened: OpenFile, index: int, scope: int | None) -> int:
    """What tells the answers of a piece (see `loaderlint.project.reads.told`)."""
    answers = list(reads.told(read, noted, opened, index, scope))
    return _number(repr([_plain(one) for one in answers])) if any(answers) else _SILENT


def _plain(answer: object) -> object:
    """An answer whose `repr` is the same in every process."""
    if isinstance(answer, (set, frozenset)):
        return sorted(repr(_plain(one)) for one in answer)
    if isinstance(answer, dict):
        return sorted((repr(_plain(one)), repr(_plain(what))) for one, what in answer.items())
    if isinstance(answer, tuple):
        return tuple(map(_plain, answer))
    if isinstance(answer, re.Pattern):
        return answer.pattern, answer.flags
    return _name(answer) if callable(answer) else answer


def _still(noted: Sequence[tuple[Read, Sequence[int]]], was: _Pieces, opened: OpenFile) -> Moves | None:
    """How the pieces that were are paired with those of a file, if all that was read reads alike. `noted`: what was
    read, with what tells the answers."""
    now = _Pieces.of(opened)
    rows = list(zip(was.texts, was.heads, strict=True)), list(zip(now.texts, now.heads, strict=True))
    for to in reads.alignments(*rows, _head):
        if _is_ordered(to, was, now) and all(_same(read, answers, opened, to, was, now) for read, answers in noted):
            return to
    return None


def _head(row: tuple[int, int]) -> int:
    return row[1]


def _is_ordered(to: Moves, was: _Pieces, now: _Pieces) -> bool:
    """Whether paired pieces have the same shape and stand in paired ones."""
    return all(
        new is None
        or (was.shapes[old] == now.shapes[new] and (parent if parent < 0 else to[parent]) == now.parents[new])
        for old, (new, parent) in enumerate(zip(to, was.parents, strict=True))
    )


def _same(read: Read, answers: Sequence[int], opened: OpenFile, to: Moves, was: _Pieces, now: _Pieces) -> bool:
    origins = reads.back(to, len(now.texts))

    def after(new: int) -> int:
        return _told(read, origins[new], opened, new, reads.old_scope(origins, opened, new))

    changed = [new for new, old in enumerate(origins) if old is not None and was.texts[old] != now.texts[new]]
    return reads.alike(read, to, origins, changed, answers.__getitem__, after)


# --- what was asked of a file -----------------------------------------------------------------------------------------


def _known_only(read: Read) -> Read:
    """The notes without the questions that have no name of ours: these ask for the texts."""
    if {field.name for field in fields(read)} != _NOTES:
        raise ValueError("more is noted than is kept")
    unknown = {piece for piece, asked in read.questions.items() if not all(map(_is_known, asked))}
    questions = {piece: asked for piece, asked in read.questions.items() if piece not in unknown}
    sweeps = {scope: {one for one in asked if _is_known(one)} for scope, asked in read.sweeps.items()}
    if sweeps != read.sweeps:
        sweeps.setdefault(reads.EVERYWHERE, set()).add((reads.whole, ()))
    return replace(read, texts=read.texts | unknown, questions=questions, sweeps=sweeps)


def _noted(read: Read, numbers: dict[Question, int]) -> list[Any]:
    """What was asked, with numbers for the questions."""

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


#: What tells the parts of a project; behind it stand the root and its shelves.
_IMPORTING = "importing"

#: The searches of a project (`loaderlint.project.files.Files`), as questions to one file.
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
