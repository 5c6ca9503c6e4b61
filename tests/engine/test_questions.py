"""A snapshot's answers to "who derives from this?" and "who calls this?" hold until an edit changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.store import Snapshot, Store

CODE = "import base\n\n\nclass A(base.One):\n    x = 1\n\n\ndef other():\n    return Two\n"


def opened(folder: Path) -> tuple[Path, Store, Snapshot]:
    """A file with `CODE`, the store it is in, and a snapshot of that."""
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
    assert store.deriving("Two") == (() if same else (path,))


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
    assert store.calling("Two") == (() if same else (path,))


#: Says the same as `CODE`, in other places.
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
    if reopened:  # read from the disk again, where it is the same
        store.set_text(path, None)
        assert snapshot.same_answers()
        store.settled()
    store.set_text(path, DOCUMENTED)
    assert snapshot.same_answers() is not placed
