"""Random programs that calculate something and end: branches, loops, exceptions, functions, objects, lists and dicts.

They leave out what the evaluator does not follow: second names of lists and dicts, items that are removed from a list,
what a function does to a list or dict that it is given, and whether a dict has a key at some time.
`flag(n)` and `fail(n)` come from a module that no reader of the program can see: it is open which branch runs, and
what raises ValueError."""

from __future__ import annotations

import random
from collections.abc import Callable

#: The names of the program that are watched.
NAMES = ("x", "y", "z", "o.n", "o.name", "o.get()", "p.n", "p.extra", "getattr(o, 'late', 'no')")

HEAD = """\
from torch.utils.data import DataLoader
from unseen import flag, fail


def same(x):
    return x


def three(x):
    return 3


def second(x, y=2, *rest, key=None, **more):
    return y


class A:
    size = 4

    def __init__(self, n=1, name=None):
        self.n = n
        self.name = name
        self.options = {"a": n}

    def get(self):
        return self.n

    def set(self, n):
        self.n = n
        return self

    @property
    def value(self):
        return self.n

    @value.setter
    def value(self, n):
        self.n = n

    @classmethod
    def made(cls, n):
        return cls(n, "made")

    @staticmethod
    def plain(x):
        return x


class B(A):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.extra = kwargs.get("name", "none")

    def get(self):
        return 7

    def add(self, x):
        self.options["b"] = x


"""
_START = ("x, y, z = 1, None, same", "d = {'a': 1}", "l = [1]", "o = A(2)", "p = B(3)")
_CONSTANTS = ("0", "1", "2", "4", "None", "True", "False", '"a"', '"b"', "same", "three")
#: Expressions; each `?` is another one.
_EXPRESSIONS = (
    '[?, ?]|(?, ?)|{"a": ?, "b": ?}|dict(a=?)|? if C else ?|same(?)|three(?)|second(?, ?)|second(?, y=?)|d.get("a")'
    '|d["a"]|o.n|o.get()|o.value|o.name|o.size|p.n|p.get()|p.extra|A.size|A(?).n|A.made(?).name'
    "|A.plain(?)|B(?).n|B(name=?).extra|[i for i in (?, ?)]|? or ?|? and ?|not ?|getattr(o, 'n', ?)"
    "|getattr(o, 'missing', ?)|hasattr(o, 'missing')|(lambda q: q)(?)|isinstance(?, int)|isinstance(o, A)"
    "|next(iter([?]))|bool(l)|l[0]|l[-1]|[?, ?][::-1]|sorted((?, ?), key=str)[0]|[?, ?][1:]|(?, ?, ?)[:2]"
    "|list(reversed([?, ?]))|tuple(sorted([?, ?], key=str))"
).split("|")
_CONDITIONS = (
    "F|F|x|y is None|z|not x|x == 1|l|len(l) > 0|len(l) != 0|o.n|x is not None|isinstance(x, int)"
    '|callable(x)|x in (1, 2)|o.name is None|hasattr(o, "late")'
).split("|")
_STATEMENTS = (
    'x = ?|y = ?|z = ?|x = ?|y = ?|x, y = ?, ?|d["a"] = ?|d["b"] = ?|d["c"] = ?|d.update(a=?)|d.update({"b": ?})'
    '|d.setdefault("c", ?)|l.append(?)|l += [?]|l = [?]|l = l + [?]|l[0] = ?|l.extend([?, ?])|d = {"a": ?}|o = A(?)'
    '|o = B(?)|p = B(n=?, name=?)|o.n = ?|o.value = ?|o.set(?)|o.late = ?|o.options["a"] = ?|o.options.update(b=?)'
    "|p.add(?)|A.size = ?|(x := y)|o, p = B(1), B(2)|l.sort(key=str)|l.reverse()|l.insert(0, ?)|x, *y = [?, ?, ?]"
    "|x, y = sorted([?, ?], key=str)|d.pop('c', None)|l.insert(1, ?)"
).split("|") + ["d |= {'b': ?}"]


class _Program:
    """Writes one program."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._asked = 0

    def lines(self) -> list[str]:
        """The lines of the program, without its head."""
        body = [*_START, *self._block(2)]
        watched = [f"loader{number} = DataLoader([], collate_fn={name})" for number, name in enumerate(NAMES)]
        match self._chance.choice(["module", "function", "helper"]):
            case "module":
                return [*body, *watched]
            case "function":
                return ["def main():", *_deeper([*body, *watched]), "", "", "main()"]
        helper = ["def helper(x, y, z=2, *rest, **more):", *_deeper([*_START[1:], *self._block(2)])]
        helper.append(f"    return {self._expression()}")
        calls = [f"x = helper({self._expression(1)}, y)", *self._block(1), f"y = helper(x, {self._expression(1)}, z=z)"]
        return [*helper, "", "", "def main():", *_deeper([*_START, *calls, *watched]), "", "", "main()"]

    def _block(self, depth: int) -> list[str]:
        return [line for _ in range(self._chance.randint(1, 3)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        if depth <= 0 or self._chance.random() < 0.55:
            return [self._filled(self._chance.choice(_STATEMENTS), 2)]
        kinds: list[Callable[[int], list[str]]] = [self._branch, self._attempt, self._loop, self._match, self._manager]
        return self._chance.choices(kinds, (5, 4, 4, 1, 1))[0](depth - 1)

    def _branch(self, depth: int) -> list[str]:
        lines = [f"if {self._condition()}:", *_deeper(self._block(depth))]
        if self._chance.random() < 0.3:
            lines += [f"elif {self._condition()}:", *_deeper(self._block(depth))]
        return [*lines, "else:", *_deeper(self._block(depth))] if self._chance.random() < 0.5 else lines

    def _attempt(self, depth: int) -> list[str]:
        self._asked += 1
        lines = ["try:", *_deeper([*self._block(depth), f"fail({self._asked})", *self._block(depth)])]
        lines += ["except ValueError:", *_deeper(self._block(depth))]
        for keyword in ("else:", "finally:"):
            if self._chance.random() < 0.3:
                lines += [keyword, *_deeper(self._block(depth))]
        return lines

    def _loop(self, depth: int) -> list[str]:
        over = self._chance.choice(["range(2)", "[1, 2]", "(same, three)", "list(d)", "[0]"])
        lines = [f"for {self._chance.choice('iix')} in {over}:", *_deeper(self._block(depth))]
        if self._chance.random() < 0.3:
            leaves = [f"if {self._condition()}:", f"    {self._chance.choice(['break', 'continue'])}"]
            lines += _deeper([*leaves, *self._block(0)])
        return lines

    def _match(self, depth: int) -> list[str]:
        cases = ["case 1:", *_deeper(self._block(depth)), "case _:", *_deeper(self._block(depth))]
        return [f"match {self._chance.choice('xy')}:", *_deeper(cases)]

    def _manager(self, depth: int) -> list[str]:
        return ["with open('/dev/null') as file:", *_deeper(self._block(depth))]

    def _condition(self) -> str:
        return self._filled(self._chance.choice(_CONDITIONS), 1)

    def _expression(self, depth: int = 2) -> str:
        if depth <= 0 or self._chance.random() < 0.3:
            return self._chance.choice([*_CONSTANTS, *("xyz" * 2)])
        return self._filled(self._chance.choice(_EXPRESSIONS), depth - 1)

    def _filled(self, text: str, depth: int) -> str:
        """The text with an expression for each `?`, a condition for `C` and a question for `F`."""
        if text == "F":
            self._asked += 1
            return f"flag({self._asked})"
        text = text.replace(" C ", f" {self._condition()} ") if " C " in text else text
        while "?" in text:
            text = text.replace("?", self._expression(depth), 1)
        return text


def _deeper(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def program(seed: int) -> str:
    """A random program: the same one for the same seed."""
    return HEAD + "\n".join(_Program(random.Random(seed)).lines()) + "\n"
