"""What functions put into dicts and lists of their module, and tuples with names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_values import evaluated

REGISTER = "X = {}; def add(h):;   X[h.__name__] = h;   return h; "
FACTORY = "X = {}; def add(*n):;  def put(h):;   X[h.__name__] = h, n;   return h;  return put; "
LISTED = "X = []; def add(h):;   X.append(h);   return h; "

#: Code and, last, an expression: what it may be. As in `test_attributes`; `f` and `g` are functions.
REGISTRIES: dict[str, str] = {
    # a function of the module stores what it decorates, or is called with
    REGISTER + "@add; def k(): pass; X['k']": "k",
    REGISTER + "@add; def k(): pass; @add; def l(): pass; X['l']": "l",
    REGISTER + "@add; def k(): pass; @add; def l(): pass; X[load()]": "?looked up by a key | ?registry | k | l",
    REGISTER + "add(f); X['f']": "f",
    REGISTER + "y = add(f); X['f']": "f",
    REGISTER + "for h in (f, g): add(h); X['g']": "f | g",
    FACTORY + "@add(1, 2); def k(): pass; X['k']": "(k, (1, 2))",
    FACTORY + "@add(); def k(): pass; X['k'][0]": "k",
    "X = {}; def add(n, h): X[n] = h; add('k', f); X['k']": "f",
    "X = {}; def add(n, h): X.update(k=h); add('k', f); X['k']": "f",
    LISTED + "@add; def k(): pass; X": "[k]",
    LISTED + "@add; def k(): pass; @add; def l(): pass; X[1]": "l",
    # other modules may register more
    REGISTER + "@add; def k(): pass; X['other']": "?looked up by a key | ?registry",
    # near misses
    REGISTER + "def k(): pass; X['k']": "?empty mapping",
    REGISTER + "if 0: add(f); X['f']": "?empty mapping",
    REGISTER + "def use(): add(f); X['f']": "?empty mapping",
    "X = {}; Y = {}; def add(h):;   Y[h.__name__] = h;   return h; @add; def k(): pass; X['k']": "?empty mapping",
    "X = {}; def add(h, X):;   X[h] = h;   return h; add(f, {}); X['f']": "?empty mapping",
    "X = {}; def add(h):;   X[h.__name__] == h;   return h; @add; def k(): pass; X['k']": "?empty mapping",
}
NAMED = "from collections import namedtuple; P = namedtuple('P', 'a b'); "
NAMED_TUPLES: dict[str, str] = {
    NAMED + "P(f, g).a": "f",
    NAMED + "P(f, b=g).b": "g",
    NAMED + "P(f, g)[1]": "g",
    NAMED + "P(f, g)": "(f, g)",
    NAMED + "a, b = P(f, g); b": "g",
    NAMED + "[x.b for x in [P(f, g)]]": "[g]",
    "from collections import namedtuple; P = namedtuple('P', 'a, b'); P(f, g).b": "g",
    "from collections import namedtuple; P = namedtuple('P', ['a', 'b']); P(f, g).b": "g",
    "import collections; P = collections.namedtuple('P', field_names=('a', 'b')); P(f, g).b": "g",
    # near misses
    NAMED + "P(f).b": "?default",
    NAMED + "P(f, g).c": "(f, g).c",
    NAMED + "P(*load()).a": "?kwargs",
    "from collections import namedtuple; P = namedtuple('P', load()); P(f, g).a": "?named tuple",
    "from collections import namedtuple; P = namedtuple('P', ['a', load()]); P(f, g).a": "?named tuple",
}


@pytest.mark.parametrize("code", [*REGISTRIES, *NAMED_TUPLES])
def test_what_is_registered_and_named(code: str, tmp_path: Path) -> None:
    assert evaluated(tmp_path, code, "module") == (REGISTRIES | NAMED_TUPLES)[code]
