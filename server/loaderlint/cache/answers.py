"""What linking a project asked of its files, and what was found: whether an edit changes anything but places can then
be told without linking.

The questions to single pieces are functions. Their names are kept, and only those in `_QUESTIONS` are ever looked up;
where a new one is missing, every edit in its piece counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loaderlint.cache.plain import made, plain
from loaderlint.project.parts import Layout, reached, within
from loaderlint.syntax.search import bases, called, entry

if TYPE_CHECKING:
    from loaderlint.findings import Finding
    from loaderlint.project.files import Read
    from loaderlint.store import OpenFile, Search

#: Pure functions of the text of a piece that are asked while a project is linked.
_QUESTIONS = frozenset(
    f"loaderlint.{module}:{name}"
    for module, names in {
        "project.files": "is_def defined_name",
        "project.candidates": "matches _renamed _names_given",
        "project.growth": "_puts_into",
        "project.classes": "_is_passed_on",
        "project.callers": "_other_names",
        "syntax.search": "calls",
        "project.imports": "_imports _path_names _joined_names",
        "project.scripts": "_defines_or_imports",
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
_NOTES = {"text", "facts", "placed", "texts", "bound", "words", "questions"}

Question = tuple[Callable[..., object], tuple[Any, ...]]


class Answers(NamedTuple):
    """`searches`: for each kind of search through the project the words, each with the paths of the files that were
    found; its key is the kind, and behind it the folders and files that were searched, where that was not all.
    `files`: what was asked of each file that was looked into, as `_noted` gives it, with what tells the answers, by
    every part of the project that did.
    `findings`: all of the project, by their files."""

    searches: Mapping[str, Mapping[str, frozenset[str]]]
    files: Mapping[str, list[tuple[Any, str] | None]]
    findings: Mapping[str, Any]
    questions: tuple[Any, ...]

    def findings_of(self, path: str) -> list[Finding]:
        """The findings of a file, shown or not."""
        return [made(finding) for finding in self.findings.get(path, ())]

    def hold(self, path: str, data: bytes, opened: OpenFile) -> bool:
        """Whether all that was asked of a file would be answered alike of this content."""
        for key, words in self.searches.items():
            kind, *where = key.split("\0")
            if kind == _IMPORTING:
                finds = _importing(data, tuple(where), path)
            elif within(path, tuple(where)):
                finds = _SEARCHES[kind](data)
            else:
                continue
            if any(finds(word) != (path in found) for word, found in words.items()):
                return False
        return all(self._reads_alike(known, opened) for known in self.files.get(path, ()))

    def _reads_alike(self, known: tuple[Any, str] | None, opened: OpenFile) -> bool:
        if known is None:
            return False
        noted, told = known
        return _told(_read_again(noted, self.questions), opened) == told


def key(record: bytes) -> bytes:
    """Under what the answers that belong to a record are kept."""
    return blake2b(record, person=b"answers", digest_size=16).digest()


def dumped(
    searches: Mapping[Search, Mapping[str, Iterable[Path]]],
    reads: Iterable[tuple[Path, Read | None, OpenFile | None]],
    findings: Mapping[Path, Iterable[Finding]],
) -> bytes:
    """What a linking asked, and of which versions of the files, as bytes."""
    numbers: dict[Question, int] = {}
    files: dict[str, list[tuple[list[Any], str] | None]] = {}
    for path, read, opened in reads:
        if read is None or opened is None:
            files.setdefault(str(path), []).append(None)
            continue
        noted = _noted(read, numbers)
        files.setdefault(str(path), []).append((noted, _told(_read_again(noted, tuple(numbers)), opened)))
    document = {
        "searches": {
            "\0".join((kind, *where)): {word: sorted(map(str, paths)) for word, paths in words.items()}
            for (kind, where), words in searches.items()
        },
        "files": files,
        "findings": {str(path): [plain(one) for one in found] for path, found in findings.items()},
        "questions": [_named(question) for question in numbers],
    }
    return json.dumps(document).encode()


def loaded(data: bytes) -> Answers:
    """What `dumped` gave. Raises ValueError, TypeError, KeyError or AttributeError for other bytes."""
    read = json.loads(data)
    searches = {
        kind: {word: frozenset(paths) for word, paths in words.items()} for kind, words in read["searches"].items()
    }
    return Answers(searches, read["files"], read["findings"], tuple(_question(one) for one in read["questions"]))


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


# --- what was asked of a file -----------------------------------------------------------------------------------------


def _noted(read: Read, numbers: dict[Question, int]) -> list[Any]:
    """What was asked, with numbers for the questions; those that have no name of ours ask for the whole text."""
    if {field.name for field in fields(read)} != _NOTES:
        raise ValueError("more is noted than is kept")
    texts = set(read.texts)
    by_questions: dict[tuple[int, ...], list[int]] = {}
    for piece, questions in read.questions.items():
        if all(_is_known(question) for question in questions):
            asked = sorted(numbers.setdefault(question, len(numbers)) for question in questions)
            by_questions.setdefault(tuple(asked), []).append(piece)
        else:
            texts.add(piece)
    asked_of = [[list(asked), sorted(pieces)] for asked, pieces in sorted(by_questions.items())]
    facts = [sorted(read.facts), sorted(read.placed)]
    return [read.text, *facts, sorted(texts), sorted(read.bound), sorted(read.words), asked_of]


class _Noted(NamedTuple):
    text: bool
    facts: list[int]
    placed: list[int]
    texts: list[int]
    bound: list[int]
    words: list[str]
    questions: list[tuple[list[Question], list[int]]]


def _read_again(noted: list[Any], questions: tuple[Question, ...]) -> _Noted:
    text, facts, placed, texts, bound, words, asked_of = noted
    named = [([questions[number] for number in asked], pieces) for asked, pieces in asked_of]
    return _Noted(text, facts, placed, texts, bound, words, named)


def _told(noted: _Noted, opened: OpenFile) -> str:
    """What tells all answers of a file: equal for equal answers."""
    from loaderlint.project.files import bound_names

    pieces = opened.pieces
    highest = max((*noted.facts, *noted.texts, *noted.bound, *(p for _, of in noted.questions for p in of)), default=-1)
    if highest >= len(pieces):
        return ""
    answers: list[object] = [opened.text if noted.text else None]
    answers.append([(piece.kind, piece.keyword, piece.parent) for piece in pieces])
    answers.append([pieces[index].text for index in noted.texts])
    answers.append([[word in piece.text for piece in pieces] for word in noted.words])
    for questions, asked_of in noted.questions:
        for index in asked_of:
            answers.append([_plain(question(pieces[index].text, *about)) for question, about in questions])
    facts = [opened.facts(index) for index in noted.facts]
    answers.append([one and one.digest for one in facts])
    placed = [opened.facts(index) for index in noted.placed]
    answers.append([one and tuple(map(tuple, one.anchors)) for one in placed])
    answers.append([[tuple(name) for name in bound_names(opened.facts(index))] for index in noted.bound])
    return blake2b(repr(answers).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _plain(answer: object) -> object:
    """An answer whose `repr` is the same in every process."""
    if isinstance(answer, (set, frozenset)):
        return sorted(map(repr, answer))
    return answer


# --- questions as names -----------------------------------------------------------------------------------------------


def _name(question: Callable[..., object]) -> str:
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
