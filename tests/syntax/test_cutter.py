"""Text to pieces."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loaderlint.syntax import cutter
from loaderlint.syntax.cutter import Piece, cut, recut, recut_changes
from loaderlint.syntax.libcst_tree import parse_piece

from . import corpus


def outline(text: str) -> list[str]:
    """The pieces as 'depth kind first line', with the number of lines if there are more."""
    pieces = cut(text)
    lines = []
    for piece in pieces:
        depth, parent = 0, piece.parent
        while parent >= 0:
            depth, parent = depth + 1, pieces[parent].parent
        body = piece.text.splitlines()
        more = f" +{len(body) - 1}" if len(body) > 1 else ""
        kind = piece.keyword or {"statement": "-"}.get(piece.kind, piece.kind)
        lines.append(f"{'  ' * depth}{kind} {body[0].strip()}{more}")
    return lines


def dedent(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


@given(st.lists(st.sampled_from(["'''", '"""', "'", '"', "\\", " ", "\n", "#", "f", "r", "{", "}", "x"]), max_size=40))
@example(["'''", " ", "\\"] * 3)
@example(['"""', "x", "'''", '"""', "\\", "'''", "x", "'''"])
def test_triple_quotes_that_are_never_closed_are_followed_once(parts: list[str]) -> None:
    text = "".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        usual = cutter.without_strings(text, "0")
        patch.setattr(cutter, "_FEW_TRIPLES", -1)
        assert cutter.without_strings(text, "0") == usual


@given(st.lists(st.sampled_from(["'", '"', "\\", " ", "\n", "\r", "#", "f", "r", "{", "}", "x"]), max_size=40))
@example(["x", "'", *["\\", "'"] * 3])
@example(["f", '"', "{", '"', "x", '"', "}", "\\", '"', '"'])
def test_no_string_begins_with_an_escaped_quote(parts: list[str]) -> None:
    """A text is read as if one could, unless one does."""
    text = "".join(parts)
    free = re.compile(re.sub(r"\(\?<!\\\\['\"]\)", "", cutter._SURE_STRING.pattern))
    assert free.pattern != cutter._SURE_STRING.pattern
    if not any(text[: found.start()].endswith("\\") and found[0][0] in "'\"" for found in free.finditer(text)):
        assert cutter.without_strings(text, "0") == free.sub("0", text)


def test_statements_classes_and_members() -> None:
    text = dedent('''
        # header
        """doc

        of the module"""

        import a; import b
        # about f
        @one
        # between

        @two(
            3,
        )
        async def f(
            x,
        ):
            pass
            # in the body

            return x
            # behind the body
        # behind

        class A(
            B,
        ):  # head: comment
            """doc"""

            x = 1

            def m(self):
                class Inner:
                    pass

            @dataclass
            class C:
                y = {
            "z": 1,
                }
            # last
        class D: pass
        class E: x = 1; y = 2
    ''')
    assert outline(text) == [
        '- """doc +2',
        "- import a; import b",
        "- @one +12",
        "class class A( +2",
        '  - """doc"""',
        "  - x = 1",
        "  - def m(self): +2",
        "  class @dataclass +1",
        "    - y = { +2",
        "- class D: pass",
        "- class E: x = 1; y = 2",
    ]


def long_body(indent: str, count: int = cutter.LONG) -> str:
    return "".join(f"{indent}x{number} = {number}\n" for number in range(count))


def test_long_suites_are_cut_into_clauses() -> None:
    text = (
        "if a:\n"
        + long_body("    ")
        + "elif b:  # c\n    y = 1\nelse: z = 2\n"
        + "async  for i in j:\n    pass\nelse:\n"
        + long_body("  ")
        + "w = 1\n"
    )
    rows = [row for row in outline(text) if not re.search(r"- x\d+", row)]
    assert rows == [
        *("if if a:", "elif elif b:  # c", "  - y = 1", "else else: z = 2"),
        *("async for async  for i in j:", "  - pass", "else else:", "- w = 1"),
    ]
    assert len(cut(text)) == len(rows) + 2 * cutter.LONG
    assert all(parse_piece(piece) for piece in cut(text))


def test_short_suites_stay_whole() -> None:
    text = "if a:\n" + long_body("    ", 10) + "else:\n" + long_body("    ", 10) + "x = 1\n"
    assert outline(text) == ["- if a: +21", "- x = 1"]


def test_long_suites_nest_and_stand_in_classes_but_not_in_functions() -> None:
    suite = "try:\n    with a:\n" + long_body("        ") + "except E:\n    pass\nfinally:\n    pass\n"
    rows = outline("class A:\n" + textwrap.indent(suite, "  ") + "def f():\n" + textwrap.indent(suite, "  "))
    assert [row for row in rows if not re.search(r"- x\d+", row)] == [
        *("class class A:", "  try try:", "    with with a:", "  except except E:", "    - pass"),
        *("  finally finally:", "    - pass", f"- def f(): +{cutter.LONG + 6}"),
    ]


def test_match_stays_whole() -> None:
    assert len(cut("match a:\n    case 1:\n" + long_body("        ", 50))) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = foo(\ndef f():\n    pass\n", ["- x = foo(", "- def f(): +1"]),
        ("x = foo(\ny = 1\n\nimport a\n", ["- x = foo(", "- y = 1", "- import a"]),
        ("x = foo(\n", ["- x = foo("]),
        ("x = foo(\ny = (\nz = 3\n", ["- x = foo(", "- y = (", "- z = 3"]),
        ("x = {\n  'a': [\n@dec\nclass A:\n  y = 1\n", ["- x = { +1", "class @dec +1", "  - y = 1"]),
        ("x = 'abc\ny = 1\n", ["- x = 'abc", "- y = 1"]),
        ("x = f('abc\ny = 1\nimport z\n", ["- x = f('abc", "- y = 1", "- import z"]),
        ("x = 'a\\\nb\ny = 1\n", ["- x = 'a\\ +1", "- y = 1"]),
        (
            "class A(B\n    x = 1\n    def f(self): pass\ny = 1\n",
            ["class class A(B +1", "  - def f(self): pass", "- y = 1"],
        ),
        ("class A\n    x = 1\n    y = 2\n", ["class class A", "  - x = 1", "  - y = 2"]),
        (
            "class A:\n    x = foo(\n    y = 1\n    def f(self): pass\n",
            ["class class A:", "  - x = foo("] + ["  - y = 1", "  - def f(self): pass"],
        ),
        (
            "class A:\n    def f(self, x:\n        y = 1\n        return 1\n    z = 2\n",
            ["class class A:", "  - def f(self, x: +2", "  - z = 2"],
        ),
        ("def f():\n    x = (\n    y = 1\n    return x\ng = 1\n", ["- def f(): +3", "- g = 1"]),
        ("x = (yield\n  from y)\nz = 1\n", ["- x = (yield +1", "- z = 1"]),
        ("x = [a\n  for a in b\n  if c]\nz = 1\n", ["- x = [a +2", "- z = 1"]),
        ("x = (a\n@ b)\nz = 1\n", ["- x = (a +1", "- z = 1"]),
        ('x = f(f"{a["("]}")\ny = 1\n', ['- x = f(f"{a["("]}")', "- y = 1"]),
        ("x = f(rf'{a['(']} {{ {f'{'('}'}')\ny = 1\n", ["- x = f(rf'{a['(']} {{ {f'{'('}'}')", "- y = 1"]),
        ("x = f'{'\ny = 1\n", ["- x = f'{'", "- y = 1"]),
        ("x = f(f'{a\ny = 1\nimport b\n", ["- x = f(f'{a", "- y = 1", "- import b"]),
        ("x = 1)\ny = 2\n", ["- x = 1)", "- y = 2"]),
        ("@dec\nx = 1\n", ["- @dec", "- x = 1"]),
        ("@dec\n", ["- @dec"]),
        ("  x = 1\ny = 2\n", ["- x = 1", "- y = 2"]),
        ("x = 1\n    y = 2\nz = 3\n", ["- x = 1 +1", "- z = 3"]),
        ("class A:\n        x = 1\n    y = 2\n", ["class class A:", "  - x = 1", "  - y = 2"]),
        ("else:\n    x\n", ["- else: +1"]),
        ("x = 1 \\\n  + 2\ny\\", ["- x = 1 \\ +1", "- y\\"]),
        ("if_x = 1\nclassy = 2\n", ["- if_x = 1", "- classy = 2"]),
        ("", []),
        ("\n  \n# c\n\t#", []),
        ("x", ["- x"]),
        ("x = 1\r\n\r\n# c\r\ny = 2\r\n", ["- x = 1", "- y = 2"]),
        ("x = 1\ry = (\r2)\r", ["- x = 1", "- y = ( +1"]),
        (
            "class A:\n\tx = 1\n\tdef f(self):\n\t\tpass\n        y = 2\n",
            ["class class A:", "  - x = 1", "  - def f(self): +1", "  - y = 2"],
        ),
    ],
)
def test_half_typed_and_odd_text(text: str, expected: list[str]) -> None:
    assert outline(text) == expected


def test_an_open_triple_quote_spoils_one_piece_and_no_more() -> None:
    text = dedent('''
        import a

        class A:
            """doc"""

            def f(self):
                """open
                return 1

            def g(self):
                """doc"""
                return 2

        def h():
            """doc
            class of its own"""
            return 3

        x = 1
    ''')
    good = [piece.text.split("(")[0].strip() for piece in cut(text) if parse_piece(piece)]
    assert good == ["import a", "class A:", '"""doc"""', "def g", "def h", "x = 1"]


def test_an_open_bracket_spoils_one_piece_and_no_more() -> None:
    text = "class A:\n    def f():\n        foo([\n        x = 1\n        return x\n    def g(self):\n        pass\n"
    assert [parse_piece(piece) is not None for piece in cut(text)] == [True, False, True]


def test_a_text_of_open_brackets_takes_no_quadratic_time() -> None:
    steps = 0

    class Counting(dict[int, int]):
        def update(self, other: dict[int, int]) -> None:  # type: ignore[override]
            nonlocal steps
            steps += len(other)
            super().update(other)

    text = "f(\n" * 2000
    machine = cutter._Cutter(text, suspicious=False)
    machine._lexer._open = Counting()
    machine.run()
    assert len(machine.all_pieces()) == 2000
    assert steps < 10_000


_ITEMS = (
    '"a"', "'a'", 'b"a"', 'f"{a}"', 'rf"a"', "f'{a}{{' 'b'", '"\\""', '"""a"""', 'f"{a["b"]}"',
    '("a", "b")', '["a"]', '{"a": ["b"]}', '[[["a"]]]', "f(a, g('b'), [1])",
)  # fmt: skip


_LONG_LINES = """
import sys
from loaderlint.syntax.cutter import cut
for item in sys.argv[1:]:
    for rest in (f"{item}]", "y = 1"):
        print(len(cut(f"x = [{', '.join([item] * 80)},\\n{rest}\\n")))
"""


def test_a_bracket_that_closes_on_another_line_takes_no_exponential_time() -> None:
    done = subprocess.run([sys.executable, "-c", _LONG_LINES, *_ITEMS], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["1", "2"] * len(_ITEMS), done.stderr


# --- the same after an edit -------------------------------------------------------------------------------------------

_BASE = (
    dedent('''
    # header
    """doc"""
    import a
    @dec
    class A(B):
        """doc
        more"""
        x = 1

        @dec
        def f(self, a=(1, 2)):
            if a:
                return [
                    1,
                ]
            # c
        class In:
            y = "a"
            z = \'\'\'b
    c\'\'\'
        # tail
    if cond:
        d = {
            "e": 1,
        }
        for i in d:
            print(i)
    {body}
        class L:
            def m(self): pass
    elif other:
        pass
    else:
        try:
    {deep}
        finally:
            pass
    def g(): return (
        1)
    w = 1; v = 2
''')
    .replace("{body}\n", long_body("    ", 20))
    .replace("{deep}\n", long_body("        ", 31))
)

_WORDS = [
    *("(", ")", "[", "]", "{", "}", '"""', "'''", '"', "'", "\\", "#", ":", "\n", "\r", "\r\n", "\n\n", "    ", "\t"),
    *(
        " ",
        "\x0c",
        "\0",
        "x",
        "1",
        "=",
        ",",
        ";",
        "@",
        "@dec\n",
        "def f():\n",
        "class C:\n",
        "class C",
        "    def g(self):\n",
    ),
    *("if x:\n", "elif y:\n", "else:\n", "else: x\n", "try:\n", "except E:\n", "finally:\n", "with a:\n", "import b\n"),
    *(
        "return\n",
        "pass\n",
        "async ",
        "for i in j:\n",
        "'''\ndef q(): pass\n",
        "(\n",
        ")\n",
        '"""\n',
        "ä𝒳",
        "\x85",
        "\u2028",
    ),
    *("    x = 1\n" * 5, "    " + "y = 2\n" * 40, "lambda: ", "f'{", 'f"', "{", "}'", "\ufeff"),
]
_TEXT = st.lists(st.sampled_from(_WORDS), max_size=12).map("".join)


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str]:
    """A text and what it is after an edit."""
    text = draw(st.sampled_from([_BASE, _BASE.replace("\n", "\r\n"), _BASE[: len(_BASE) // 2], ""]) | _TEXT)
    for _ in range(draw(st.integers(0, 2))):
        text = _edited(draw, text)
    return text, _edited(draw, text)


def _edited(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text)))
    length = draw(st.sampled_from([0, 0, 1, 2, 5, 40, 400]))
    return text[:start] + draw(_TEXT) + text[start + length :]


#: A def that moves from one class to another: nothing behind it moves, but what is left of its class has a new index.
_MOVED_DEF = (
    "class A:\n    x = 1\nclass B:\n    y = 2\n    z = 3\n",
    "class A:\n    x = 1\n    y = 2\nclass B:\n    z = 3\n",
)


@settings(max_examples=400)
@given(edits())
@example(_MOVED_DEF)
def test_recut_is_cut(texts: tuple[str, str]) -> None:
    old, new = texts
    pieces = cut(old)
    assert recut(pieces, old, new) == cut(new)


@settings(max_examples=200)
@given(edits())
@example(_MOVED_DEF)
def test_what_a_change_cuts_anew_is_what_recut_adds(texts: tuple[str, str]) -> None:
    old, new = texts
    pieces = cut(old)
    found = recut_changes(pieces, old, new)
    kept = [piece.text for piece in pieces if piece.start >= found.rest]
    everything = found.all_pieces()
    first = len(everything) - len(kept) - len(found.pieces)
    assert everything == cut(new)
    assert everything[:first] == pieces[:first]
    assert everything[first : len(everything) - len(kept)] == found.pieces
    assert [piece.text for piece in everything[len(everything) - len(kept) :]] == kept


@settings(max_examples=200)
@given(_TEXT | edits().map(lambda texts: texts[1]))
def test_pieces_lie_in_order_and_hold_all_code(text: str) -> None:
    pieces = cut(text)
    done = 0
    for index, piece in enumerate(pieces):
        assert piece.start >= done
        assert text.startswith(piece.text, piece.start)
        assert -1 <= piece.parent < index
        assert piece.parent < 0 or pieces[piece.parent].kind in ("class", "clause")
        assert piece.line == len(re.findall(r"\r\n|\r|\n", text[: piece.start]))
        assert re.fullmatch(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))*", text[done : piece.start])
        done = piece.start + len(piece.text)
        assert piece.start + piece.seen <= len(text) + 1
    assert re.fullmatch(r"(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|\Z))*", text[done:])


@settings(max_examples=300)
@given(edits())
def test_a_piece_depends_on_what_it_has_seen_and_its_containers(texts: tuple[str, str]) -> None:
    """What lies behind all that the pieces up to one have seen may become anything."""
    text, other = texts
    pieces = cut(text)
    end = 0
    for index, piece in enumerate(pieces):
        end = max(end, piece.start + piece.seen)
        new = text[: end + 1] + "\n" + other
        changed = cut(new)
        suspicious = changed[0].start + changed[0].seen > len(new)
        if end < len(text) and not suspicious:
            assert changed[: index + 1] == pieces[: index + 1]


def test_recut_keeps_the_text_objects_and_does_little() -> None:
    old = "".join(f"def f{number}():\n    return {number}\n\n" for number in range(200))
    pieces = cut(old)
    place = old.index("f100") + 4
    new = old[:place] + "\n" + old[place:]
    changed = recut(pieces, old, new)
    assert changed == cut(new)
    known = {id(piece.text) for piece in pieces}
    assert [piece.text for piece in changed if id(piece.text) not in known] == ["def f100\n", "():\n    return 100\n"]


def test_recut_reads_only_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    old = "".join(f"class C{number}:\n    x = 1\n    def f(self):\n        return (\n1)\n\n" for number in range(200))
    pieces = cut(old)
    place = old.index("class C100")
    new = old[:place] + "\n" + old[place:]
    read = []
    line = cutter._Lexer.line
    monkeypatch.setattr(cutter._Lexer, "line", lambda self, position: read.append(position) or line(self, position))
    assert recut(pieces, old, new) is not None
    assert len(read) < 12


def test_every_prefix_of_a_file_typed_sign_by_sign() -> None:
    old, pieces = "", cut("")
    for end in range(1, len(_BASE) + 1):
        new = _BASE[:end]
        pieces = recut(pieces, old, new)
        assert pieces == cut(new), end
        old = new


def test_edits_of_a_real_file() -> None:
    text = corpus.text(corpus.files(150)[0])
    pieces = cut(text)
    for place in range(0, len(text), max(1, len(text) // 60)):
        for insert in ("x", "\n", '"""', "(", "#", "    "):
            new = text[:place] + insert + text[place:]
            assert recut(pieces, text, new) == cut(new)


# --- bodies in one go -------------------------------------------------------------------------------------------------


def line_by_line(text: str) -> tuple[Piece, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutter, "_TRIES", 0)
        return cut(text)


@pytest.mark.parametrize(
    ("body", "at_once"),
    [
        ("    a = f(1)\n    return {'b': [a]}\n", True),
        ("    '''of\nthis'''\n    a = 1\n    b = (\n        2,\n    )\n\n    # no more\n\n", True),
        ("    a = '(' + \"[\" + 'it\\'s ('  # (\n    b = f'{a}{{' + rf\"\\d{a}\"\n", True),
        ("    if a:\n        def g():\n            '''(.'''\n", True),
        ("    a = (\n1,\n    )\n", False),
        ("    a = 1 + \\\nb\n", False),
        ("\ta = 1\n\treturn a\n", False),
        ("    a = 1\r\n    return a\r\n", False),
        ("    a = f'{b['(']}'\n", False),
        ("    a = f'{b[')']}' + g(\n1)\n", False),
        ("    a = 'b(\n    c = 1)\n", False),
        ("    a = (1\n    return (2\n", False),
        ("    a = (1]\n", False),
        ('    a = """b" c\nd(\n', False),
        ('    a = ""b" c"" "(\n"\n', False),
        ('    """\n#"""\n', False),
        ('    """\n    # b"""\n    # c\n', False),
        ('    """b"""\n    # "c"\n', True),
    ],
)
def test_the_body_of_a_function_in_one_go(monkeypatch: pytest.MonkeyPatch, body: str, at_once: bool) -> None:
    found: list[bool] = []
    body_end = cutter._Lexer.body_end

    def noted(self: cutter._Lexer, position: int, indent: int) -> int:
        end = body_end(self, position, indent)
        found.append(end > position)
        return end

    text = f"def f():\n{body}x = 1\ny = '''z'''\n"
    expected = line_by_line(text)
    monkeypatch.setattr(cutter._Lexer, "body_end", noted)
    assert cut(text) == expected
    assert any(found) is at_once


@settings(max_examples=400)
@given(edits() | st.lists(_TEXT, min_size=1, max_size=5).map(lambda parts: ("", "def f():\n    " + "    ".join(parts))))
def test_bodies_in_one_go_are_those_line_by_line(texts: tuple[str, str]) -> None:
    text = texts[1] + "\nx = 1\n"
    assert cut(text) == line_by_line(text)


def test_bodies_of_real_files_in_one_go() -> None:
    for path in corpus.files(60):
        text = corpus.text(path)
        assert cut(text) == line_by_line(text), path


def test_no_edit_no_work() -> None:
    pieces: tuple[Piece, ...] = cut(_BASE)
    assert recut(pieces, _BASE, str(_BASE)) is pieces
