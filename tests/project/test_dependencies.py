"""Whether two versions of a file give the same answers to what was read of the first: piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from loaderlint.facts.piece_facts import PieceFacts, piece_facts
from loaderlint.project.modules import dependencies
from loaderlint.project.modules.dependencies import (
    EVERYWHERE,
    MODULE,
    NEEDS_WORD,
    Bound,
    Question,
    Read,
    alignments,
    bound_by,
    defined_name,
    does,
    fits,
    holds,
    is_bare_function,
    is_def,
    outline,
    same_answers,
    scope_of,
)
from loaderlint.syntax.cutter import Piece, cut

TEXT = """\
import base
class A(base.One):
    x = 1
    def run(self):
        return word
def other():
    return two
y = 2
"""
#: The pieces of `TEXT`.
IMPORT, CLASS, X, RUN, OTHER, Y = range(6)


class Text:
    """A version of a file that is this text. `old`: the last good facts of its half-typed pieces."""

    def __init__(self, text: str, old: Mapping[int, PieceFacts] | None = None) -> None:
        self.pieces: Sequence[Piece] = cut(text)
        self.stale: Mapping[int, PieceFacts] = old or {}

    def facts(self, index: int) -> PieceFacts | None:
        """The facts of a piece."""
        return self.stale.get(index) or piece_facts(self.pieces[index])


def _asked(question: Callable[..., object], *about: str) -> set[Question]:
    return {(question, about)}


#: What was read of `TEXT`, the text that is replaced, what replaces it, and whether the answers stay the same.
EDITS: dict[str, tuple[Read, str, str, bool]] = {
    "nothing was read": (Read(), "y = 2", "z = 3", True),
    "a piece is added, nothing was read": (Read(), "y = 2\n", "y = 2\nz = 3\n", True),
    "a piece is removed, nothing was read": (Read(), "y = 2\n", "", True),
    "all pieces were listed, one is edited": (Read(listed=True), "y = 2", "y = 3", True),
    "all pieces were listed, one is added": (Read(listed=True), "y = 2\n", "y = 2\nz = 3\n", False),
    "all pieces were listed, one is removed": (Read(listed=True), "y = 2\n", "", False),
    "the text was read, it is edited": (Read(texts={Y}), "y = 2", "y = 3", False),
    "the text was read, another is edited": (Read(texts={X}), "y = 2", "y = 3", True),
    "the text was read, a piece before it is added": (Read(texts={Y}), "import base\n", "import base\nz = 1\n", True),
    "the text was read, it is removed": (Read(texts={Y}), "y = 2\n", "", False),
    "the text was read, another is removed": (Read(texts={X}), "y = 2\n", "", True),
    "a word was searched, it comes": (Read(words={"word"}), "y = 2", "y = word", False),
    "a word was searched, another comes": (Read(words={"word"}), "y = 2", "y = more", True),
    "a word was searched, it goes": (Read(words={"word"}), "return word", "return 1", False),
    "a word was searched, its piece is edited": (Read(words={"word"}), "return word", "return word + 1", True),
    "a word was searched, a piece with it is added": (Read(words={"word"}), "y = 2\n", "y = 2\nword\n", False),
    "a word was searched, a piece without it is added": (Read(words={"word"}), "y = 2\n", "y = 2\nmore\n", True),
    "a word was searched, a piece with it is removed": (
        Read(words={"word"}),
        "    def run(self):\n        return word\n",
        "",
        False,
    ),
    "a question to all pieces, its answer stays": (
        Read(sweeps={EVERYWHERE: _asked(holds, "two")}),
        "return two",
        "return two + 1",
        True,
    ),
    "a question to all pieces, its answer changes": (
        Read(sweeps={EVERYWHERE: _asked(holds, "two")}),
        "y = 2",
        "y = two",
        False,
    ),
    "a question to the module, a member's answer changes": (
        Read(sweeps={MODULE: _asked(holds, "two")}),
        "x = 1",
        "x = two",
        True,
    ),
    "a question to the module, a statement's answer changes": (
        Read(sweeps={MODULE: _asked(holds, "two")}),
        "y = 2",
        "y = two",
        False,
    ),
    "a question to the class, a member's answer changes": (
        Read(sweeps={CLASS: _asked(holds, "two")}),
        "x = 1",
        "x = two",
        False,
    ),
    "a question to the class, a statement's answer changes": (
        Read(sweeps={CLASS: _asked(holds, "two")}),
        "y = 2",
        "y = two",
        True,
    ),
    "a question to the class, a member with an answer is added": (
        Read(sweeps={CLASS: _asked(holds, "two")}),
        "    x = 1\n",
        "    x = 1\n    z = two\n",
        False,
    ),
    "a question to the class, another class is added": (
        Read(sweeps={CLASS: _asked(holds, "two")}),
        "y = 2\n",
        "y = 2\nclass B:\n    z = two\n",
        True,
    ),
    "a question to the module, a class before it is added": (
        Read(sweeps={CLASS: _asked(holds, "two")}),
        "import base\n",
        "import base\nclass B:\n    z = 1\n",
        True,
    ),
    "a question to a piece, its answer changes": (
        Read(questions={Y: _asked(holds, "two")}),
        "y = 2",
        "y = two",
        False,
    ),
    "a question to a piece, its answer stays": (Read(questions={Y: _asked(holds, "two")}), "y = 2", "y = 3", True),
    "a question to a piece, another's answer changes": (
        Read(questions={X: _asked(holds, "two")}),
        "y = 2",
        "y = two",
        True,
    ),
    "a question to a piece, a piece with an answer is added": (
        Read(questions={Y: _asked(holds, "two")}),
        "y = 2\n",
        "y = 2\nz = two\n",
        True,
    ),
    "a question to a piece, it is removed": (Read(questions={Y: _asked(holds, "y")}), "y = 2\n", "", False),
    "a name was looked up, it comes": (Read(names={MODULE: {"z"}}), "y = 2", "z = 2", False),
    "a name was looked up, it comes in a new piece": (Read(names={MODULE: {"z"}}), "y = 2\n", "y = 2\nz = 2\n", False),
    "a name was looked up, it comes in a class": (Read(names={MODULE: {"z"}}), "x = 1", "z = 1", True),
    "a name was looked up, it is mentioned": (Read(names={MODULE: {"z"}}), "y = 2", "y = z", True),
    "a name was looked up, it is bound in a function": (Read(names={MODULE: {"z"}}), "return two", "z = 2", True),
    "a name was looked up, a function binds it globally": (
        Read(names={MODULE: {"z"}}),
        "return two",
        "global z\n    z = 2",
        False,
    ),
    "a name was looked up, a method binds it globally": (
        Read(names={MODULE: {"z"}}),
        "return word",
        "global z\n        z = 2",
        True,
    ),
    "a name was looked up, its value changes": (Read(names={MODULE: {"y"}}), "y = 2", "y = 3", True),
    "a name was looked up, it becomes conditional": (
        Read(names={MODULE: {"y"}}),
        "y = 2",
        "if base: y = 2",
        False,
    ),
    "a name was looked up, it is bound a second time": (Read(names={MODULE: {"y"}}), "y = 2", "y = 2; y = 3", False),
    "a name was looked up, it goes": (Read(names={MODULE: {"y"}}), "y = 2\n", "", False),
    "a name was looked up, another goes": (Read(names={MODULE: {"x"}}), "y = 2\n", "", True),
    "a name was looked up, a function of that name comes": (
        Read(names={MODULE: {"z"}}),
        "def other",
        "def z",
        False,
    ),
    "a name was looked up, another function comes": (Read(names={MODULE: {"z"}}), "def other", "def more", True),
    "a name was looked up, it is written in another way": (
        Read(names={MODULE: {"\u00e9"}}),
        "y = 2",
        "e\u0301 = 2",
        False,
    ),
    "a member was looked up, it comes": (Read(names={CLASS: {"z"}}), "x = 1", "z = 1", False),
    "a member was looked up, it comes outside": (Read(names={CLASS: {"z"}}), "y = 2", "z = 2", True),
    "all names were read, one comes": (Read(listed_names={MODULE}), "y = 2", "y = z = 2", False),
    "all names were read, a value changes": (Read(listed_names={MODULE}), "y = 2", "y = 3", True),
    "all names were read, a member comes": (Read(listed_names={MODULE}), "x = 1", "x = z = 1", True),
    "all members were read, one comes": (Read(listed_names={CLASS}), "x = 1", "x = z = 1", False),
    "star imports were read, one comes": (Read(stars=True), "y = 2", "from a import *", False),
    "star imports were read, another import comes": (Read(stars=True), "y = 2", "from a import b", True),
    "star imports were read, a product comes": (Read(stars=True), "y = 2", "y = 2 * 3", True),
    "a name was looked up, a star import comes": (Read(names={MODULE: {"z"}}), "y = 2", "from a import *", True),
    "facts were read, they change": (Read(facts={Y}), "y = 2", "y = 3", False),
    "facts were read, a comment comes": (Read(facts={Y}), "y = 2", "y = 2  # two", True),
    "facts were read, those of another piece change": (Read(facts={X}), "y = 2", "y = 3", True),
    "facts were read, the piece is removed": (Read(facts={Y}), "y = 2\n", "", False),
    "facts were read, a docstring comes": (
        Read(facts={OTHER}),
        "    return two",
        '    """Why."""\n    return two',
        True,
    ),
    "places were read, a docstring comes": (
        Read(facts={OTHER}, placed={OTHER}),
        "    return two",
        '    """Why."""\n    return two',
        False,
    ),
    "places were read, a docstring comes elsewhere": (
        Read(facts={OTHER, RUN}, placed={RUN}),
        "    return two",
        '    """Why."""\n    return two',
        True,
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_whether_an_edit_changes_an_answer(edit: str) -> None:
    read, old, new, same = EDITS[edit]
    assert TEXT.count(old) == 1
    was, now = Text(TEXT), Text(TEXT.replace(old, new))
    assert (same_answers([read], was, now) is not None) is same
    assert (same_answers([Read(), read], was, now) is not None) is same


def test_half_typed_pieces_are_compared_by_their_last_good_facts() -> None:
    was, now = Text(TEXT), Text(TEXT.replace("y = 2", "y = "))
    assert same_answers([Read(facts={Y})], was, now) is None
    good = was.facts(Y)
    assert good is not None
    typed = Text(TEXT.replace("y = 2", "y = "), {Y: good})
    assert same_answers([Read(facts={Y})], was, typed) is not None
    other = Text("y = 3\n").facts(0)
    assert other is not None
    assert same_answers([Read(facts={Y})], was, Text(TEXT, {Y: other})) is None
    assert same_answers([Read(facts={Y})], Text(TEXT, {Y: other}), was) is None


#: A block that is long enough to be cut into its statements.
BLOCK = "".join(f"    a{n} = {n}\n" for n in range(60))
#: Two versions, what was read of the first, and whether the answers stay the same.
VERSIONS: dict[str, tuple[str, str, Read, bool]] = {
    "a statement moves into a class": (
        "class A:\n    x = 1\ny = 2\n",
        "class A:\n    x = 1\n    y = 2\n",
        Read(),
        False,
    ),
    "a member leaves its class": ("class A:\n    x = 1\n    y = 2\n", "class A:\n    x = 1\ny = 2\n", Read(), False),
    "a member moves to the next class": (
        "class A:\n    x = 1\n    y = 2\nclass B:\n    z = 1\n",
        "class A:\n    x = 1\nclass B:\n    y = 2\n    z = 1\n",
        Read(names={0: {"y"}}),
        False,
    ),
    "the test of a block changes": (f"if a:\n{BLOCK}", f"if b:\n{BLOCK}", Read(), True),
    "the test of a block asks for the main module": (
        f"if a:\n{BLOCK}",
        f"if __name__ == '__main__':\n{BLOCK}",
        Read(),
        False,
    ),
    "the test of a block no longer asks for a type checker": (
        f"if TYPE_CHECKING:\n{BLOCK}",
        f"if a:\n{BLOCK}",
        Read(),
        False,
    ),
    "a statement mentions the main module": ("x = 1\ny = 2\n", "x = 1\ny = __name__\n", Read(), True),
    "a block becomes a loop": (f"if a:\n{BLOCK}", f"while a:\n{BLOCK}", Read(), False),
    "a member of the first class": (
        "class A:\n    x = 1\ny = 2\n",
        "class A:\n    z = 1\ny = 2\n",
        Read(names={0: {"z"}}),
        False,
    ),
    "a member is added to the first class": (
        "class A:\n    x = 1\ny = 2\n",
        "class A:\n    x = 1\n    z = 1\ny = 2\n",
        Read(names={0: {"z"}}),
        False,
    ),
    "a member is added to another class": (
        "class A:\n    x = 1\nclass B:\n    x = 2\n",
        "class A:\n    x = 1\nclass B:\n    x = 2\n    z = 1\n",
        Read(names={0: {"z"}}),
        True,
    ),
    "a class is added before the one that was asked": (
        "x = 1\nclass A:\n    y = 1\n",
        "x = 1\nclass B:\n    z = 1\nclass A:\n    y = 1\n",
        Read(names={1: {"z"}}),
        True,
    ),
    "a member is added to a class that moved": (
        "x = 1\nclass A:\n    y = 1\n",
        "x = 1\nw = 1\nclass A:\n    y = 1\n    z = 1\n",
        Read(names={1: {"z"}}),
        False,
    ),
    "a member that was asked for is added to a new class": (
        "x = 1\nclass A:\n    y = 1\n",
        "x = 1\nclass B:\n    two = 1\nclass A:\n    y = 1\n",
        Read(sweeps={1: _asked(holds, "two")}),
        True,
    ),
    "a name comes in a block": (f"if a:\n{BLOCK}", f"if a:\n{BLOCK}    z = 1\n", Read(names={MODULE: {"z"}}), False),
}


@pytest.mark.parametrize("way", VERSIONS)
def test_whether_another_version_has_the_same_answers(way: str) -> None:
    was, now, read, same = VERSIONS[way]
    assert (same_answers([read], Text(was), Text(now)) is not None) is same


#: Two lists of pieces, a letter each, and the ways to pair them.
PAIRED: list[tuple[str, str, list[list[int | None]]]] = [
    ("abc", "abc", [[0, 1, 2]]),
    ("abc", "axc", [[0, 1, 2]]),
    ("abc", "abcd", [[0, 1, 2]]),
    ("abc", "dabc", [[1, 2, 3]]),
    ("abc", "adbc", [[0, 2, 3]]),
    ("abc", "ac", [[0, None, 1]]),
    ("abc", "bc", [[None, 0, 1]]),
    ("abc", "", [[None, None, None]]),
    ("", "abc", [[]]),
    ("abcd", "axyd", [[0, 1, 2, 3]]),
    ("abc", "bca", [[0, 1, 2], [None, 0, 1]]),
    ("abcd", "xbcy", [[0, 1, 2, 3]]),
    ("abc", "xyabc", [[2, 3, 4]]),
    ("abcde", "axcye", [[0, 1, 2, 3, 4]]),
    ("abcde", "axcyze", [[0, 1, 2, None, 5]]),
]


@pytest.mark.parametrize(("was", "now", "ways"), PAIRED)
def test_how_pieces_are_paired(was: str, now: str, ways: list[list[int | None]]) -> None:
    assert list(alignments(list(was), list(now))) == ways


def test_pieces_with_the_same_first_line_are_paired() -> None:
    was = ["def f():\n    a", "def g():\n    b"]
    assert list(alignments(was, ["x", "def f():\n    c", "def g():\n    d"])) == [[1, 2]]
    assert list(alignments(was, ["x", "def g():\n    c", "y"])) == [[None, 1]]
    assert list(alignments(["  def f():\n    a"], ["x", "def f():\n    c"])) == [[1]]
    assert list(alignments(["x", *was, "y"], ["x", "z", "w", *(f"{one}c" for one in was), "y"])) == [[0, 3, 4, 5]]
    assert list(alignments(["v", *was, "u"], ["z", *(f"{one}c" for one in was)])) == [[None, 1, 2, None]]


def test_many_changed_pieces_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dependencies, "_MANY", 2)
    assert list(alignments(list("abcd"), list("axyzd"))) == []
    assert list(alignments(list("abcde"), list("axyde"))) == [[0, 1, 2, 3, 4]]
    assert list(alignments(list("abcdef"), list("axef"))) == []
    assert list(alignments(list("abcd"), list("axyd"))) == [[0, 1, 2, 3]]
    assert list(alignments(list("abcd"), list("abxycd"))) == [[0, 1, 4, 5]]


#: A statement, and what it binds. `itself`: a definition that the text shows.
BINDS: dict[str, list[str]] = {
    "x = 1": ["x"],
    "x = y = 1": ["x", "y"],
    "x: int": [],
    "x: int = 1": ["x"],
    "import a.b": ["a"],
    "import a as b": ["b"],
    "from a import *": ["* of a"],
    "from ..a import *": ["* of ..a"],
    "def f(): x = 1": ["f, itself"],
    "@d\ndef f(): x = 1": ["f, itself"],
    "async def f(): pass": ["f, itself"],
    "class A: x = 1": ["A, itself"],
    "class A:\n    x = 1\n    def f(): pass": ["A, itself", "x", "f, itself"],
    "def f():\n    global x\n    x = 1": ["f, itself", "x, in def 1, conditional"],
    "def f():\n    from a import *": ["f, itself"],
    "def f():\n    x = 1  # global\n": ["f, itself"],
    "def f():\n    'global '\n    x = 1\n": ["f, itself"],
    "def f():\n    def g():\n        global x\n        x = 1": ["f, itself", "x, in def 2, conditional"],
    "class A:\n    def f(self):\n        global x\n        x = 1": ["A, itself", "f, itself"],
    "if a: x = 1": ["x, conditional"],
    "if a:\n    def f():\n        global x\n        x = 1": ["f, conditional", "x, in def 1, conditional"],
    "if TYPE_CHECKING: import a": ["a, conditional, checked"],
    "if typing.TYPE_CHECKING: import a": ["a, conditional, checked"],
    "if not TYPE_CHECKING: import a": ["a, conditional"],
    "if TYPE_CHECKING: pass\nelse: import a": ["a, conditional"],
    "if TYPE_CHECKING:\n    if b: import a": ["a, conditional, checked"],
    "if b:\n    if TYPE_CHECKING: import a": ["a, conditional, checked"],
    "if CHECKING: import a": ["a, conditional"],
    "if TYPE_CHECKING(): import a": ["a, conditional"],
    "while TYPE_CHECKING: import a": ["a, conditional"],
    "try: import a\nexcept E: a = None": ["a, conditional", "a, conditional"],
    "lambda: (x := 1)": [],
    "print(x)": [],
}


def _told(one: Bound) -> str:
    name = one.name or f"* of {'.' * one.level}{one.star}"
    said = {", itself": one.step < 0, f", in def {one.def_}": one.def_ != 0, ", conditional": one.conditional}
    said[", checked"] = one.type_checking
    return name + "".join(word for word, holds_true in said.items() if holds_true)


@pytest.mark.parametrize("text", BINDS)
def test_what_a_statement_binds(text: str) -> None:
    version = Text(text)
    bound = [one for n, piece in enumerate(version.pieces) for one in bound_by(piece, n, version.facts)]
    assert [_told(one) for one in bound] == BINDS[text]


#: A text: whether it is a function or class, whether it is a function without decorators, and its name.
HEADS: dict[str, tuple[bool, bool, str]] = {
    "def f(): pass": (True, True, "f"),
    "async  def f(): pass": (True, True, "f"),
    "    def f(): pass": (True, True, "f"),
    "class A: pass": (True, False, "A"),
    "@d\ndef f(): pass": (True, False, "f"),
    "@d\nclass A: pass": (True, False, "A"),
    "default = 1": (False, False, ""),
    "classes = 1": (False, False, ""),
    "x = 1": (False, False, ""),
    "if x:\n    def f(): pass": (False, False, "f"),
    "x = 'def f'": (False, False, ""),
}


@pytest.mark.parametrize("text", HEADS)
def test_what_the_text_of_a_piece_tells(text: str) -> None:
    assert (is_def(text), is_bare_function(text), defined_name(text)) == HEADS[text]
    assert does(text, text[-1]) is not is_def(text)
    assert not does(text, "nowhere")
    assert {does, holds} <= NEEDS_WORD and is_def not in NEEDS_WORD


def test_an_outline_promises_its_definition() -> None:
    function, statement, head = cut("def f(): pass\nx = 1\nclass A:\n    y = 1\n")[:3]
    one, other = piece_facts(function), piece_facts(statement)
    assert one is not None and other is not None
    assert fits(one, outline(function)) and fits(one, outline(statement)) and fits(other, outline(statement))
    assert not fits(other, outline(function))
    assert [outline(piece).defines for piece in (function, statement, head)] == [True, False, True]
    assert [outline(piece).name for piece in (function, statement, head)] == ["f", "", "A"]


def test_the_scope_of_a_piece_is_the_class_around_it() -> None:
    lines = [f"    a{n} = {n}\n" for n in range(30)]
    pieces = cut("x = 1\nclass A:\n    y = 1\nif x:\n" + "".join(lines))
    scopes = {piece.text.strip(): scope_of(pieces, n) for n, piece in enumerate(pieces)}
    assert scopes["x = 1"] == MODULE and scopes["y = 1"] == 1 and scopes["a3 = 3"] == MODULE


def test_notes_are_renumbered() -> None:
    read = Read(
        True,
        {0, 2},
        {2},
        {1},
        {"w"},
        {MODULE: _asked(holds, "a"), 2: _asked(holds, "b")},
        {1: _asked(holds, "c")},
        {EVERYWHERE: {"n"}, 0: {"m"}},
        {MODULE, 1},
        True,
    )
    assert read.moved([3, None, 0]) == Read(
        True,
        {3, 0},
        {0},
        set(),
        {"w"},
        {MODULE: _asked(holds, "a"), 0: _asked(holds, "b")},
        {},
        {EVERYWHERE: {"n"}, 3: {"m"}},
        {MODULE},
        True,
    )
