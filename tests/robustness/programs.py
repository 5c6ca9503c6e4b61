"""Random Python programs with loaders in them, and random damage to programs."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Callable

from tests.robustness.projects import TEXTS

_NAMES = ("data", "loader", "Dataset", "DataLoader", "np", "torch", "self", "index", "worker_id", "x", "rows", "seed")
_ATTRIBUTES = ("random", "rand", "seed", "append", "utils", "data", "file", "items", "rng", "copy", "shape", "__init__")
_KEYWORDS = ("num_workers", "worker_init_fn", "dataset", "collate_fn", "persistent_workers", "key", "batch_size")
_CONSTANTS: tuple[object, ...] = (
    0,
    1,
    2,
    -1,
    3.5,
    1e308,
    2j,
    True,
    None,
    ...,
    "",
    "rb",
    "num_workers",
    b"\x00",
    10**20,
)


class Grammar:
    """Random syntax trees down to a depth."""

    def __init__(self, chance: random.Random, depth: int) -> None:
        self._chance = chance
        self._depth = depth

    def module(self, statements: int) -> str:
        """A program: random statements, and the code of rules' pages in between."""
        parts = []
        for _ in range(statements):
            if self._chance.random() < 0.2:
                parts.append(self._chance.choice(TEXTS))
                continue
            node = ast.Module([self.statement(self._depth)], [])
            parts.append(ast.unparse(ast.fix_missing_locations(node)))
        return "\n".join([*parts, ""])

    def statement(self, depth: int) -> ast.stmt:
        """A statement with nested ones down to `depth`."""
        expr, chance = self.expression, self._chance
        simple: list[Callable[[], ast.stmt]] = [
            lambda: ast.Expr(expr(depth - 1)),
            lambda: ast.Assign([self._target(depth - 1)], expr(depth - 1)),
            lambda: ast.AugAssign(self._name(ast.Store()), chance.choice(_OPERATORS)(), expr(depth - 1)),
            lambda: ast.AnnAssign(self._name(ast.Store()), expr(depth - 2), expr(depth - 1), 1),
            lambda: ast.Delete([self._name(ast.Del())]),
            lambda: ast.Assert(expr(depth - 1), None),
            lambda: ast.Import([ast.alias(chance.choice(("numpy", "torch.utils.data", "random")), self._word())]),
            lambda: ast.ImportFrom("torch.utils.data", [ast.alias(chance.choice(_NAMES), None)], 0),
            lambda: ast.ImportFrom(None, [ast.alias(self._word(), None)], chance.randint(1, 3)),
            lambda: ast.Pass(),
            lambda: ast.Raise(expr(depth - 1), None),
        ]
        nested: list[Callable[[], ast.stmt]] = [
            lambda: self._function(depth),
            lambda: self._class(depth),
            lambda: ast.If(expr(depth - 1), self._body(depth), self._body(depth)),
            lambda: ast.For(self._target(depth - 1), expr(depth - 1), self._body(depth), [], None),
            lambda: ast.While(expr(depth - 1), self._body(depth), []),
            lambda: ast.With([ast.withitem(expr(depth - 1), self._name(ast.Store()))], self._body(depth)),
            lambda: ast.Try(self._body(depth), [ast.ExceptHandler(expr(0), None, self._body(depth))], [], []),
            lambda: ast.Match(expr(depth - 1), [ast.match_case(ast.MatchAs(), None, self._body(depth))]),
        ]
        return chance.choice(simple if depth <= 0 or chance.random() < 0.4 else nested)()

    def _body(self, depth: int) -> list[ast.stmt]:
        return [self.statement(depth - 1) for _ in range(self._chance.randint(1, 3))]

    def _function(self, depth: int) -> ast.stmt:
        names = self._chance.sample(_NAMES, self._chance.randint(0, 3))
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        body: list[ast.stmt] = [*self._body(depth), ast.Return(self.expression(depth - 1))]
        decorators = [self.expression(0)] if self._chance.random() < 0.3 else []
        node = ast.parse("def f(): pass").body[0]  # With the fields that this version of Python has.
        assert isinstance(node, ast.FunctionDef)
        node.name, node.args, node.body, node.decorator_list = self._word(), arguments, body, decorators
        return node

    def _class(self, depth: int) -> ast.stmt:
        node = ast.parse("class C: pass").body[0]
        assert isinstance(node, ast.ClassDef)
        node.name, node.body = self._word(), self._body(depth)
        node.bases = [self.expression(1) for _ in range(self._chance.randint(0, 2))]
        return node

    def expression(self, depth: int) -> ast.expr:
        """An expression down to `depth`."""
        chance, expr = self._chance, self.expression
        if depth <= 0 or chance.random() < 0.2:
            return self._name(ast.Load()) if chance.random() < 0.6 else ast.Constant(chance.choice(_CONSTANTS))  # type: ignore[arg-type]
        kinds: list[Callable[[], ast.expr]] = [
            lambda: ast.Call(
                expr(depth - 1),
                [expr(depth - 1) for _ in range(chance.randint(0, 3))],
                [ast.keyword(name, expr(depth - 1)) for name in chance.sample(_KEYWORDS, chance.randint(0, 2))],
            ),
            lambda: ast.Attribute(expr(depth - 1), chance.choice(_ATTRIBUTES), ast.Load()),
            lambda: ast.Subscript(expr(depth - 1), expr(depth - 1), ast.Load()),
            lambda: ast.BinOp(expr(depth - 1), chance.choice(_OPERATORS)(), expr(depth - 1)),
            lambda: ast.BoolOp(ast.Or(), [expr(depth - 1), expr(depth - 1)]),
            lambda: ast.Compare(expr(depth - 1), [ast.Lt()], [expr(depth - 1)]),
            lambda: ast.IfExp(expr(depth - 1), expr(depth - 1), expr(depth - 1)),
            lambda: ast.Lambda(ast.arguments([], [], None, [], [], None, []), expr(depth - 1)),
            lambda: ast.List([expr(depth - 1), expr(depth - 1)], ast.Load()),
            lambda: ast.Tuple([expr(depth - 1)], ast.Load()),
            lambda: ast.Dict([expr(depth - 1), None], [expr(depth - 1), expr(depth - 1)]),
            lambda: ast.ListComp(expr(depth - 1), [ast.comprehension(self._name(ast.Store()), expr(depth - 1), [], 0)]),
            lambda: ast.UnaryOp(ast.Not(), expr(depth - 1)),
            lambda: ast.JoinedStr([ast.Constant("a"), ast.FormattedValue(self._name(ast.Load()), -1, None)]),
        ]
        return chance.choice(kinds)()

    def _target(self, depth: int) -> ast.expr:
        if self._chance.random() < 0.6:
            return self._name(ast.Store())
        return ast.Attribute(self.expression(depth - 1), self._chance.choice(_ATTRIBUTES), ast.Store())

    def _name(self, context: ast.expr_context) -> ast.Name:
        return ast.Name(self._word(), context)

    def _word(self) -> str:
        return self._chance.choice(_NAMES)


_OPERATORS: tuple[type[ast.operator], ...] = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow, ast.LShift)


def program(chance: random.Random) -> str:
    """A random program that Python can read."""
    while True:
        try:
            text = Grammar(chance, chance.randint(2, 5)).module(chance.randint(1, 12))
            compile(text, "program", "exec", ast.PyCF_ONLY_AST)
            return text
        except (SyntaxError, ValueError, RecursionError):
            continue  # An unfit combination, such as a starred target.


def damaged(text: str, chance: random.Random) -> bytes:
    """The text after some random damage: bytes turned, tokens swapped, lines shuffled, parts cut out or repeated."""
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(chance.randint(1, 6)):
        data = chance.choice((_bytes_turned, _tokens_swapped, _lines_shuffled, _cut, _repeated))(data, chance)
    return data


def _bytes_turned(data: bytes, chance: random.Random) -> bytes:
    turned = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        if turned:
            turned[chance.randrange(len(turned))] = chance.choice((chance.randrange(256), chance.randrange(32, 127)))
    return bytes(turned)


def _tokens_swapped(data: bytes, chance: random.Random) -> bytes:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(data.decode()).readline))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return data
    words = [(token.type, token.string) for token in tokens]
    for _ in range(chance.randint(1, 5)):
        one, other = chance.randrange(len(words)), chance.randrange(len(words))
        words[one], words[other] = words[other], words[one]
    try:
        return tokenize.untokenize(words).encode()
    except (ValueError, IndexError):
        return data


def _lines_shuffled(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    start = chance.randint(0, len(lines))
    part = lines[start : start + chance.randint(2, 10)]
    chance.shuffle(part)
    lines[start : start + len(part)] = part
    return b"".join(lines)


def _cut(data: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(data))
    return data[:start] + data[start + chance.randint(1, 200) :]


def _repeated(data: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(data))
    return data[:start] + data[start : start + chance.randint(1, 200)] * chance.randint(1, 20) + data[start:]
