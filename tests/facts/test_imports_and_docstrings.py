"""Facts that are read from the text are those of the tree; whatever is unusual is left to the tree."""

from __future__ import annotations

import pytest

from loaderlint.facts.imports_and_docstrings import plain_facts
from loaderlint.facts.piece_facts import lower
from loaderlint.syntax.cutter import Piece
from loaderlint.syntax.libcst_tree import parse_piece

READ = [
    "import os\n",
    "import a.b.c\n",
    "import a.b.c as d, e as f, g.h  # why\n",
    "\timport os, sys",
    "from a import b\n",
    "from a.b.c import d as e, f\r\n",
    "from . import a\n",
    "from ..a.b import c as d\n",
    "from .a import *\n",
    "from a import (b)\n",
    "    from a import (  # first\n        b as c,  # noqa\n\n        # between\n        d,\n    )  # last\n",
    '"""One line."""\n',
    '    r"""More\n    "lines" of \\d.\n    """\n',
    "'it'\n",
    "u'it'  # is\n",
]
LEFT = [
    "import os; import sys\n",
    "import a. b\n",
    "import a as b.c\n",
    "import class\n",
    "import\n",
    "import a,\n",
    "import 1a\n",
    "importlib.reload(x)\n",
    "from a import b, \\\n    c\n",
    "from a import b,\n",
    "from a import (b c)\n",
    "from a import (,)\n",
    "from a import ()\n",
    "from a import (*)\n",
    "from a import (b, , c)\n",
    "from a import None\n",
    "from a import b as if\n",
    "from a.in import *\n",
    "from a import (b # )\n",
    "from a..b import c\n",
    "from import c\n",
    "from_ = 1\n",
    "from .. import é\n",
    '"""a""" % b\n',
    "'a', b\n",
    "'a' 'b'\n",
    "f'{a}'\n",
    "b'a'\n",
    "'a\\''\n",
    '"""open\n',
]


def _lowered(text: str) -> object:
    parsed = parse_piece(Piece("statement", "", text, 0, 0, -1, len(text)))
    return lower(parsed) if parsed is not None else None


@pytest.mark.parametrize("text", READ)
def test_they_are_those_of_the_tree(text: str) -> None:
    found = plain_facts(text)
    assert found is not None
    assert found == _lowered(text)


@pytest.mark.parametrize("text", LEFT)
def test_other_statements_are_left_to_the_tree(text: str) -> None:
    assert plain_facts(text) is None


@pytest.mark.parametrize("text", READ)
def test_no_half_of_a_statement_says_more_than_the_tree(text: str) -> None:
    for end in range(len(text)):
        found = plain_facts(text[:end])
        assert found is None or found == _lowered(text[:end]), text[:end]
