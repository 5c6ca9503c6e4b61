"""Text that would end the process, or keep it busy for ever, is not given to the parser.

The texts are parsed in processes of their own: when one of them fails, it fails without an exception."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaderlint.syntax import nesting_depth
from loaderlint.syntax.nesting_depth import measure


def _blocks(*heads: str) -> str:
    """Heads of a block, one in another."""
    return "".join(" " * depth + head + "\n" for depth, head in enumerate(heads)) + " " * len(heads) + "pass\n"


#: A text of each kind, so many deep or long.
KINDS = {
    "parentheses": lambda n: "(" * n + "1" + ")" * n,
    "brackets on lines": lambda n: "[\n" * n + "1" + "]\n" * n,
    "dicts": lambda n: "{1:" * n + "1" + "}" * n,
    "calls in calls": lambda n: "f(a=" * n + "1" + ")" * n,
    "open brackets": lambda n: "(" * n,
    "open brackets on lines": lambda n: "f(\n" * n,
    "brackets that do not fit": lambda n: "(" * n + "]" * n,
    "sum": lambda n: "1" + "+1" * n,
    "sum on lines": lambda n: "x = (1" + "\n + a.b(1, 2)" * n + ")",
    "sum with escaped line ends": lambda n: "x = 1" + " \\\n + 1" * n,
    "powers": lambda n: "a" + "**-a" * n,
    "and": lambda n: "a" + " and a" * n,
    "not": lambda n: "not " * n + "a",
    "minus": lambda n: "-" * n + "a",
    "comparisons": lambda n: "a" + " < a" * n,
    "attributes": lambda n: "a" + ".a" * n,
    "calls": lambda n: "a" + "()" * n,
    "items": lambda n: "a" + "[0]" * n,
    "methods": lambda n: "a" + ".b(c)[d]" * n,
    "lambdas": lambda n: "lambda: " * n + "1",
    "lambdas in brackets": lambda n: "(lambda a=" * n + "1" + ": 1)" * n,
    "conditions": lambda n: "a if b else " * n + "1",
    "conditions in brackets": lambda n: "(" * n + "1" + " if b else 1)" * n,
    "comprehensions": lambda n: "[" * n + "1" + " for a in b]" * n,
    "loops in a comprehension": lambda n: "[1" + " for a in b" * n + "]",
    "strings": lambda n: '"a" ' * n,
    "strings on lines": lambda n: "x = (" + '"a"  # c\n' * n + ")",
    "brackets in an f-string": lambda n: "f'{" + "(" * n + "1" + ")" * n + "}'",
    "brackets beside the f-string's own quote": lambda n: "f'{" + "'a' + " + "(" * n + "1" + ")" * n + "}'",
    "brackets beside it on lines": lambda n: "f'{\n" + "'a' + " + "(" * n + "1" + ")" * n + "}'",
    "f-strings in f-strings": lambda n: "f'''{" * n + "1" + "}'''" * n,
    "formats in formats": lambda n: "f'{a:" + "{b:" * n + "}" * n + "}'",
    "elif": lambda n: "if a:\n pass\n" + "elif a:\n pass\n" * n,
    "imports": lambda n: "import a" + ".a" * n,
    "ifs": lambda n: _blocks(*["if a:"] * n),
    "defs": lambda n: _blocks(*["def f():"] * n),
    "matches": lambda n: _blocks(*["match a:", "case b:"] * n),
    "handlers": lambda n: (
        "".join(f"{' ' * i}try:\n{' ' * i} a\n{' ' * i}except b:\n" for i in range(n)) + " " * n + "a"
    ),
    "patterns": lambda n: "match a:\n case " + "[" * n + "1" + "]" * n + ":\n  pass\n",
    "patterns of keys": lambda n: "match a:\n case " + "{1:" * n + "1 1" + "}" * n + ":\n  pass\n",
    "patterns on lines": lambda n: "match a:\n case " + "A(\n" * n + "1 1" + ")" * n + ":\n  pass\n",
    "deleted": lambda n: "if a: del " + "(" * n + "1" + ")" * n + "\n",
    "annotations": lambda n: "a: " + "B[" * n + "c" + "]" * n,
    "blocks and brackets": lambda n: _blocks(*["if a:"] * min(n, 40)).replace("pass", "f(" * n + "1" + ")" * n),
    "decorators": lambda n: "@a\n" * n + "def f(): pass\n",
    "types": lambda n: "def f[" * n + "A" + "]" * n + "(): pass\n",
}

_SIZES = (15, 45, 90, 200, 600, 3000)


@pytest.mark.parametrize("stack_kib", [pytest.param(0, marks=pytest.mark.slow), 512])
def test_the_process_survives(stack_kib: int) -> None:
    arguments = [sys.executable, "-c", _SCRIPT, str(Path(__file__).parents[2] / "server"), str(Path(__file__).parent)]
    result = subprocess.run([*arguments, str(stack_kib)], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, (result.returncode, result.stderr[-200:])
    assert result.stdout.split() == ["survived"]


_SCRIPT = """
import sys, threading
sys.path[:0] = sys.argv[1:3]
import test_nesting_depth
from loaderlint.syntax.bare_tree import bare
from loaderlint.syntax.cutter import Piece, cut
from loaderlint.syntax.libcst_tree import parse_piece
from loaderlint.syntax.positions import lossless, spans

def parse_all():
    for name, make in test_nesting_depth.KINDS.items():
        for size in test_nesting_depth._SIZES:
            if size > 600 and name in test_nesting_depth.SQUARE:
                continue
            text = make(size)
            print(name, size, file=sys.stderr, flush=True)
            for piece in (Piece("statement", "", text, 0, 0, -1, 0), *cut(text)[:3]):
                bare(piece)
                parsed = parse_piece(piece)
                if parsed is not None:
                    assert lossless(piece, parsed)
                    spans(parsed, {0: parsed.node})
    print("survived")

if int(sys.argv[3]):
    threading.stack_size(int(sys.argv[3]) * 1024)
    thread = threading.Thread(target=parse_all)
    thread.start()
    thread.join()
else:
    parse_all()
"""

#: Kinds whose text grows with the square of the size.
SQUARE = {"ifs", "defs", "matches", "handlers"}


@pytest.mark.parametrize(
    "kind", sorted(KINDS.keys() - {"decorators", "comparisons", "brackets that do not fit", "types"})
)
def test_what_is_large_enough_is_too_deep(kind: str) -> None:
    assert measure(KINDS[kind](400)).is_too_deep


@pytest.mark.parametrize("kind", KINDS)
def test_what_people_write_is_not_too_deep(kind: str) -> None:
    assert not measure(KINDS[kind](6)).is_too_deep


_SIGNS = r"""( ) [ ] { } () [b] {c} , ; a .b + ** - lambda: if not and for else await 'x' "" '' 'a"('
 "b'" f'{a}' f"{b(c)}"
 F'{x' rf'{a["b"]}{{' f'{' '\'' \ #""".split()


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from([*_SIGNS, "\n", "\r\n", "# (c\n"]), max_size=30), st.sampled_from(["", " "]))
def test_a_rough_guess_is_never_less_than_the_measure(signs: list[str], between: str) -> None:
    text = between.join(signs) + "\n"
    tame = nesting_depth._TAME.match(text)
    if tame is None:
        return
    gauge = nesting_depth._Gauge()
    rough = nesting_depth._rough(tame[0])
    assert gauge.line(text, 0) == tame.end()
    assert gauge.levels <= rough.levels and gauge.stack <= rough.stack
    assert gauge.brackets <= nesting_depth._SLOW_BRACKETS
