"""A snapshot's answers to "what derives from this?" and "what calls this?" are valid until an edit changes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.project.modules.project_files import MODULE, ProjectFile, defined_name
from loaderlint.sources.snapshot import Snapshot
from loaderlint.sources.store import Store

CODE = "import base\n\n\nclass A(base.One):\n    x = 1\n\n\ndef other():\n    return Two\n"


def opened(folder: Path) -> tuple[Path, Store, Snapshot]:
    """A file with `CODE`, its store, and a snapshot of that."""
    path = folder / "code.py"
    path.write_text(CODE)
    store = Store(folder)
    store.set_text(path, CODE)
    store.settled()
    return path, store, Snapshot(store, lambda: False, lambda: None)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("x = 1", "x = 2", True),
        ("return Two", "return 1", True),
        ("base.One", "base.Two", False),
        ("def other():", "class B(Two):", False),
        ("class A(base.One):", "class A(\n    base.One,\n    Two,\n):", False),
    ],
)
def test_an_edit_of_the_bases_counts(tmp_path: Path, old: str, new: str, same: bool) -> None:
    path, store, snapshot = opened(tmp_path)
    assert snapshot.deriving("Two") == ()
    assert snapshot.deriving("One") == (path,)
    snapshot.release()
    store.set_text(path, CODE.replace(old, new))
    assert snapshot.same_answers() is same
    assert store.searching().find("deriving", "Two") == (() if same else (path,))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("x = 1", "x = 2", True),
        ("def other():", "def Two():", True),
        ("return Two", "return Twos(1)", True),
        ("return Two", "return Two()", False),
        ("return Two", "return Two (1)", False),
        ("def other():", "class Two():", False),
    ],
)
def test_an_edit_of_the_calls_counts(tmp_path: Path, old: str, new: str, same: bool) -> None:
    path, store, snapshot = opened(tmp_path)
    assert snapshot.calling("Two") == ()
    snapshot.release()
    store.set_text(path, CODE.replace(old, new))
    assert snapshot.same_answers() is same
    assert store.searching().find("calling", "Two") == (() if same else (path,))


#: The same code as `CODE` in other places.
DOCUMENTED = CODE.replace("def other():\n", 'def other():\n    """Why."""\n')


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("reopened", [False, True])
def test_places_count_where_they_were_asked_for(tmp_path: Path, placed: bool, reopened: bool) -> None:
    path, store, snapshot = opened(tmp_path)
    file = snapshot.file(path)
    assert file is not None
    facts = file.facts_of(3)
    assert facts is not None and facts.ir.defs[1].name == "other"
    if placed:
        assert facts.anchors.defs[1] == (0, 1)
    snapshot.release()
    if reopened:  # read again from disk, where it is unchanged
        store.set_text(path, None)
        assert snapshot.same_answers()
        store.settled()
    store.set_text(path, DOCUMENTED)
    assert snapshot.same_answers() is not placed


#: A question about `CODE`, an edit that changes the answer, and one that does not.
ASKED: dict[str, tuple[Callable[[ProjectFile], object], str, str]] = {
    "a name": (lambda file: file.names.get("other"), "def other(): pass\n", "def more(): pass\n"),
    "a name that is not bound": (lambda file: "free" in file.names, "free = 1\n", "more = 1\n"),
    "all names": (lambda file: list(file.names), "def more(): pass\n", "print()\n"),
    "star imports": (lambda file: len(file.stars), "from a import *\n", "from a import b\n"),
    "a word": (lambda file: list(file.mentioning("word")), "a = word\n", "a = other\n"),
    "a question": (lambda file: list(file.asking(defined_name, scope=MODULE)), "def b(): pass\n", "print()\n"),
    "a member": (lambda file: file.members(1).get("y"), "class C:\n    y = 1\n", "def y(): pass\n"),
    "all pieces": (lambda file: list(file.pieces), "a = 1\n", "# a\n"),
    "the facts of a piece": (lambda file: file.facts_of(0), "", "a = 1\n"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_only_the_answer_counts(tmp_path: Path, asked: str) -> None:
    ask, changing, other = ASKED[asked]
    for added, same in ((other, True), (changing, asked == "a member")):
        path, store, snapshot = opened(tmp_path)
        file = snapshot.file(path)
        assert file is not None
        ask(file)
        snapshot.release()
        if asked == "the facts of a piece" and not added:
            text = CODE.replace("import base", "import case")
        else:
            text = CODE + added if len(added) % 2 else added + CODE
        store.set_text(path, text)
        assert snapshot.same_answers() is same, added


def test_a_member_counts_in_its_class(tmp_path: Path) -> None:
    for member, same in (("    y = 1\n", False), ("    z = 1\n", True)):
        path, store, snapshot = opened(tmp_path)
        file = snapshot.file(path)
        assert file is not None and "y" not in file.members(1)
        snapshot.release()
        store.set_text(path, CODE.replace("    x = 1\n", f"{member}    x = 1\n"))
        assert snapshot.same_answers() is same


def test_notes_follow_the_pieces(tmp_path: Path) -> None:
    path, store, snapshot = opened(tmp_path)
    file = snapshot.file(path)
    assert file is not None and file.facts_of(3) is not None
    snapshot.release()
    for number in range(3):
        store.set_text(path, "".join(f"a{one} = 1\n" for one in range(number + 1)) + CODE)
        assert snapshot.same_answers()
        assert snapshot.moves() == {path: [*range(number), *range(number + 1, 5 + number)]}
        snapshot.follow()
        store.settled()
    store.set_text(path, "a0 = a1 = a2 = 1\n" + CODE.replace("return Two", "return 2"))
    assert not snapshot.same_answers()
