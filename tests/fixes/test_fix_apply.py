"""Whole fixes: which files may be edited, what the result must be, and the fixes of many findings together."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest

from loaderlint.findings.finding import (
    AddImport,
    DeleteStatement,
    InsertFunction,
    Intent,
    Place,
    Replace,
    SetArgument,
    Wrap,
)
from loaderlint.fixes.apply import edits_for, merge
from loaderlint.fixes.file_edits import FileEdit, NoFix
from loaderlint.fixes.piece_tree import grow
from loaderlint.syntax.bare_tree import bare
from loaderlint.syntax.cutter import cut
from loaderlint.syntax.positions import Span, TextEdit, apply_edits
from tests.fixes.fixing import PATH, Files, apply, fixed, place, refused

SEED = InsertFunction(PATH, "seed_worker", "def {name}(worker_id):\n    {random}.seed(worker_id)")


def loader(text: str, number: int) -> Place:
    return place(text, f"L(ds{number})", cst.Call)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfx = y\n",
        b"x = y\n\x0cz = 1\n",
        b"x = y\r\nz = 1\n",
        b"x = y\rz = 1\r",
    ],
)
def test_odd_files_are_not_edited(data: bytes) -> None:
    assert "cannot be edited safely" in refused(data, [Wrap(Place(PATH, 0, 3), "f(", ")")])


def test_where_the_two_parsers_do_not_count_alike_nothing_is_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places are counted in Python's own tree, and mean nodes of libcst's."""
    intents = [Wrap(place("x = y\n", "y"), "f(", ")")]
    assert fixed("x = y\n", intents)
    other = bare(cut("x = y + 1\n")[0])
    monkeypatch.setattr("loaderlint.fixes.piece_tree.bare", lambda piece: other)
    assert "cannot be read back exactly" in refused("x = y\n", intents)


def test_places_that_are_gone() -> None:
    assert "has changed" in refused("x = y\n", [Wrap(Place(PATH, 0, 99), "f(", ")")])
    assert "has changed" in refused("x = y\n", [Wrap(Place(PATH, 9, 0), "f(", ")")])


def test_what_is_only_in_the_tree_is_not_edited() -> None:
    text = "class A:\n    x = 1\n"
    (passes,) = (anchor for anchor, node in enumerate(parsed_nodes(text)) if isinstance(node, cst.Pass))
    assert "has changed" in refused(text, [DeleteStatement(Place(PATH, 0, passes))])


def parsed_nodes(text: str) -> list[cst.CSTNode | None]:
    """The nodes of the first piece, with those that stand in for a class's body."""
    tree = grow(cut(text)[0])
    assert tree is not None
    return tree.by_anchor


def test_broken_pieces_are_not_edited_others_are() -> None:
    text = "x = y\nz = = 1\n"
    assert fixed(text, [Replace(place(text, "y"), "a")]) == "x = a\nz = = 1\n"
    assert refused(text, [DeleteStatement(Place(PATH, 1, -1))])


def test_edits_are_minimal() -> None:
    text = "import os\nx = f( y )  # é\n"
    edits = edits_for([Wrap(place(text, "y", cst.Name), "{numpy}.copy(", ")")], Files({PATH: text}))
    assert edits == (
        FileEdit(
            PATH,
            (
                TextEdit(Span(1, 0, 1, 0), "\nimport numpy as np\n"),
                TextEdit(Span(1, 7, 1, 7), "np.copy("),
                TextEdit(Span(1, 8, 1, 8), ")"),
            ),
        ),
    )


def test_several_files() -> None:
    other = Path("/project/data.py")
    texts = {PATH: "x = y\n", other: "a = b\n"}
    there = place(texts[other], "b")
    intents: list[Intent] = [
        Replace(Place(other, there.piece, there.anchor), "{os}.c"),
        Replace(place(texts[PATH], "y"), "z"),
    ]
    edits = edits_for(intents, Files(texts))
    assert not isinstance(edits, NoFix)
    assert [edit.path for edit in edits] == [other, PATH]
    assert apply_edits(texts[other], edits[0].edits) == "import os\n\na = os.c\n"


def test_no_intents() -> None:
    assert refused("x = y\n", []) == "nothing is left to change"


# --- merge ------------------------------------------------------------------------------------------------------------


def test_one_function_serves_all_loaders() -> None:
    text = "a = L(ds1)\nb = L(ds2)\n"
    groups: list[tuple[Intent, ...]] = [
        (SEED, SetArgument(loader(text, number), "worker_init_fn", "{seed_worker}")) for number in (2, 1)
    ]
    after = (
        "import random\n\n\ndef seed_worker(worker_id):\n    random.seed(worker_id)\n\n\n"
        "a = L(ds1, worker_init_fn=seed_worker)\nb = L(ds2, worker_init_fn=seed_worker)\n"
    )
    assert apply(text, merge(groups, Files({PATH: text}))) == after
    for group in groups:
        assert apply(text, merge([group, group], Files({PATH: text}))) == fixed(text, group)


def test_the_function_stands_above_its_first_use() -> None:
    text = "import random\na = L(ds1)\nimport os\nb = L(ds2)\n"
    groups: list[tuple[Intent, ...]] = [
        (SEED, SetArgument(loader(text, number), "worker_init_fn", "{seed_worker}")) for number in (2, 1)
    ]
    after = apply(text, merge(groups, Files({PATH: text})))
    assert after.index("def seed_worker") < after.index("a = L")
    assert after.count("def seed_worker") == 1


def test_different_functions_of_one_name() -> None:
    text = "a = L(ds1)\nb = L(ds2)\n"
    other = InsertFunction(PATH, "seed_worker", "def {name}(worker_id):\n    pass")
    groups: list[tuple[Intent, ...]] = [
        (SEED, SetArgument(loader(text, 1), "w", "{seed_worker}")),
        (other, SetArgument(loader(text, 2), "w", "{seed_worker}")),
    ]
    after = apply(text, merge(groups, Files({PATH: text})))
    assert "a = L(ds1, w=seed_worker)\nb = L(ds2, w=seed_worker_2)\n" in after
    assert "def seed_worker(worker_id):\n    random" in after
    assert "def seed_worker_2(worker_id):\n    pass" in after


def test_a_later_fix_that_conflicts_is_left_out_whole() -> None:
    text = "x = L(ds1)\ny = z\n"
    groups: list[tuple[Intent, ...]] = [
        (SetArgument(loader(text, 1), "a", "1"),),
        (AddImport(PATH, "numpy"), SetArgument(loader(text, 1), "a", "2")),
        (SetArgument(loader(text, 1), "b", "3"),),
        (Replace(place(text, "z"), "1 +"),),
        (Wrap(place(text, "z"), "f(", ")"),),
    ]
    assert apply(text, merge(groups, Files({PATH: text}))) == "x = L(ds1, a=1, b=3)\ny = f(z)\n"


def test_a_fix_that_breaks_the_code_only_with_others_is_left_out() -> None:
    text = "def f():\n    a()\n    b()\n"
    groups: list[tuple[Intent, ...]] = [
        (DeleteStatement(place(text, "a()", cst.Expr)),),
        (DeleteStatement(place(text, "b()", cst.Expr)),),
    ]
    assert apply(text, merge(groups, Files({PATH: text}))) == "def f():\n    b()\n"


def test_files_that_cannot_be_edited_do_not_stop_the_others() -> None:
    odd = Path("/project/odd.py")
    texts = {PATH: "x = y\n", odd: "\ufeffx = y\n"}
    here = place("x = y\n", "y")
    groups: list[tuple[Intent, ...]] = [(Replace(Place(odd, here.piece, here.anchor), "z"),), (Replace(here, "z"),)]
    assert apply("x = y\n", merge(groups, Files(texts))) == "x = z\n"


def test_nothing_to_merge() -> None:
    assert merge([], Files({PATH: "x = y\n"})) == ()
