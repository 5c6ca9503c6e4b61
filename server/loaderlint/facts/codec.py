"""Serializes the facts of a piece, and the pieces of a file, for the disk cache and between processes.

Data is checked against the types of `loaderlint.facts.ir` while it is read, and against a checksum before that: damaged
or forged bytes raise `BadFacts`, no code is run, and no class is looked up by name.

Expressions and steps are unions, which MessagePack cannot express. They are therefore written in columns, one for each
kind, with one byte per row for its kind: the library then creates all rows of a column at once, in C.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_type_hints

from loaderlint.facts import ir
from loaderlint.facts.ir import PieceAnchors, PieceIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.syntax.cutter import Kind, Piece

if TYPE_CHECKING:
    import msgspec

_EXPRS: tuple[type, ...] = get_args(ir.Expr)
_STEPS: tuple[type, ...] = get_args(ir.Step)
_EXPR_NUMBER = {kind: number for number, kind in enumerate(_EXPRS)}
_STEP_NUMBER = {kind: number for number, kind in enumerate(_STEPS)}
_CHECKSUM = 8
#: The errors that bytes with the right checksum and the wrong content may raise while they are read.
_WRONG = (ValueError, IndexError, StopIteration, RecursionError, MemoryError)


class BadFacts(Exception):
    """These bytes are not a result of `encode` or `pack` in this version."""


class _Def(NamedTuple):
    """`DefIR` without its steps."""

    kind: Literal["body", "function", "async_function", "lambda", "class"]
    name: str
    parent: int
    params: tuple[ir.ParamIR, ...]
    decorators: tuple[int, ...]
    bases: tuple[int, ...]
    keywords: tuple[tuple[str, int], ...]
    contexts: tuple[ir.Context, ...]
    falls_through: bool
    is_generator: bool


class _Facts(NamedTuple):
    """`PieceFacts`: the kind of each expression and step, the rows by kind, the number of steps of each def, and `odd`,
    the values of constants that MessagePack cannot represent (integers of more than 64 bits, lone surrogates) by the
    number of the expression. The anchors only if they are known."""

    expr_kinds: bytes
    exprs: Any
    odd: tuple[tuple[int, bytes], ...]
    defs: tuple[_Def, ...]
    step_kinds: bytes
    steps: Any
    counts: tuple[int, ...]
    mentions: tuple[str, ...]
    anchors: PieceAnchors | None
    digest: bytes


class _Row(NamedTuple):
    """`Piece` without its text, which is `length` characters of the file's text."""

    kind: Kind
    keyword: str
    start: int
    length: int
    line: int
    parent: int
    seen: int


class _File(NamedTuple):
    length: int
    rows: tuple[_Row, ...]
    facts: tuple[tuple[int, bytes | None], ...]


# --- one piece --------------------------------------------------------------------------------------------------------


def pack(facts: PieceFacts) -> bytes:
    """The facts of one piece as in `FileFacts.packed`, in an eighth of the memory of the objects."""
    try:
        return _encoder().encode(_row(facts, ()))
    except (UnicodeEncodeError, OverflowError):
        return _encoder().encode(_row(facts, _odd(facts.ir.exprs)))


def _row(facts: PieceFacts, odd: tuple[tuple[int, bytes], ...]) -> _Facts:
    piece = facts.ir
    exprs: Sequence[Any] = piece.exprs
    if odd:
        numbers = dict(odd)
        exprs = [one._replace(value=None) if number in numbers else one for number, one in enumerate(exprs)]
    steps = [step for one in piece.defs for step in one.steps]
    expr_kinds, expr_rows = _columns(exprs, _EXPR_NUMBER)
    step_kinds, step_rows = _columns(steps, _STEP_NUMBER)
    defs = tuple([_Def(*one[:8], one.falls_through, one.is_generator) for one in piece.defs])
    counts = tuple([len(one.steps) for one in piece.defs])
    beside = (piece.mentions, facts.known_anchors, bytes.fromhex(facts.digest))
    return _Facts(expr_kinds, expr_rows, odd, defs, step_kinds, step_rows, counts, *beside)


def _columns(rows: Iterable[Any], numbers: Mapping[type, int]) -> tuple[bytes, list[list[Any]]]:
    columns: list[list[Any]] = [[] for _ in numbers]
    kinds = bytearray()
    for row in rows:
        kind = numbers[row.__class__]
        kinds.append(kind)
        columns[kind].append(row)
    return bytes(kinds), columns


def _odd(exprs: Iterable[Any]) -> tuple[tuple[int, bytes], ...]:
    found = []
    for number, one in enumerate(exprs):
        if one.__class__ is not ir.Const:
            continue
        value = one.value
        if isinstance(value, int):
            if value.bit_length() > 63:
                found.append((number, value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)))
        elif isinstance(value, str) and not value.isascii():
            found.append((number, value.encode("utf-8", "surrogatepass")))
    return tuple(found)


def unpack(data: bytes, piece: Piece) -> PieceFacts:
    """The facts of a piece from its bytes in `FileFacts.packed`. Raises BadFacts."""
    import msgspec

    try:
        row: _Facts = _decoders().piece.decode(data)
        exprs = _rows(row.expr_kinds, row.exprs)
        for number, value in row.odd:
            exprs[number] = _odd_constant(exprs[number], value)
        steps = _rows(row.step_kinds, row.steps)
        if len(row.counts) != len(row.defs) or sum(row.counts) != len(steps) or any(one < 0 for one in row.counts):
            raise BadFacts("steps that are not those of these defs")
        if row.anchors is not None:
            _check(row.anchors, len(exprs), row.counts)
    except (msgspec.DecodeError, *_WRONG) as error:
        raise BadFacts(f"no facts of a piece: {error}") from error
    defs, first = [], 0
    for one, count in zip(row.defs, row.counts, strict=True):
        last = first + count
        defs.append(ir.DefIR(*one[:8], tuple(steps[first:last]), one.falls_through, one.is_generator))
        first = last
    beside = piece if row.anchors is None else row.anchors
    return PieceFacts(PieceIR(tuple(exprs), tuple(defs), row.mentions), beside, row.digest.hex())


def _check(anchors: PieceAnchors, exprs: int, counts: Sequence[int]) -> None:
    if len(anchors.exprs) != exprs or len(anchors.defs) != len(counts):
        raise BadFacts("anchors that are not those of these expressions")
    if [*map(len, anchors.steps)] != [*counts]:
        raise BadFacts("anchors that are not those of these steps")


def _rows(kinds: bytes, columns: Sequence[Sequence[Any]]) -> list[Any]:
    if len(kinds) != sum(map(len, columns)):
        raise BadFacts("as many kinds as rows are needed")
    rows = [iter(column) for column in columns]
    return [next(rows[kind]) for kind in kinds]


def _odd_constant(one: Any, value: bytes) -> ir.Const:
    if one.__class__ is not ir.Const:
        raise BadFacts("only constants have values")
    if one.kind == "int":
        return ir.Const("int", int.from_bytes(value, "little", signed=True))
    return ir.Const(one.kind, value.decode("utf-8", "surrogatepass"))


# --- one file ---------------------------------------------------------------------------------------------------------


class FileFacts(NamedTuple):
    """The known facts of a file: its pieces, and the facts of some of them by index, unpacked on demand; None for a
    piece that does not parse."""

    pieces: tuple[Piece, ...]
    packed: Mapping[int, bytes | None]


def encode(text: str, pieces: Sequence[Piece], facts: Mapping[int, PieceFacts | bytes | None]) -> bytes:
    """Serialize a file's pieces, and the facts of some of them by index (packed or not; None: it does not parse),
    without the text."""
    rows = tuple([_Row(p.kind, p.keyword, p.start, len(p.text), p.line, p.parent, p.seen) for p in pieces])
    known = tuple([(index, pack(one) if isinstance(one, PieceFacts) else one) for index, one in sorted(facts.items())])
    return _sealed(_encoder().encode(_File(len(text), rows, known)))


def decode(data: bytes, text: str) -> FileFacts:
    """The inverse of `encode`, with the same text. Raises BadFacts."""
    import msgspec

    try:
        row: _File = _decoders().file.decode(_unsealed(data))
    except (msgspec.DecodeError, *_WRONG) as error:
        raise BadFacts(f"no facts of a file: {error}") from error
    if row.length != len(text):
        raise BadFacts("facts of another text")
    pieces = tuple([_piece(one, text) for one in row.rows])
    facts = dict(row.facts)
    if any(not 0 <= index < len(pieces) for index in facts):
        raise BadFacts("facts of a piece that is not there")
    return FileFacts(pieces, facts)


def _piece(row: _Row, text: str) -> Piece:
    kind, keyword, start, length, line, parent, seen = row
    return Piece(kind, keyword, text[start : start + length], start, line, parent, seen)


# --- bytes ------------------------------------------------------------------------------------------------------------


def _sealed(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_CHECKSUM).digest() + data


def _unsealed(data: bytes) -> bytes:
    body = data[_CHECKSUM:]
    if hashlib.blake2b(body, digest_size=_CHECKSUM).digest() != data[:_CHECKSUM]:
        raise BadFacts("damaged, or never facts at all")
    return body


class _Decoders(NamedTuple):
    piece: msgspec.msgpack.Decoder[_Facts]
    file: msgspec.msgpack.Decoder[_File]


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    import msgspec  # here: a run that neither caches nor sends facts need not import it

    return msgspec.msgpack.Encoder()


@cache
def _decoders() -> _Decoders:
    import msgspec

    # The columns' types come from the unions in `ir`, so a new kind of expression needs no line here.
    fields = {**get_type_hints(_Facts), "exprs": _columns_of(_EXPRS), "steps": _columns_of(_STEPS)}
    checked: Any = NamedTuple("_Facts", list(fields.items()))  # type: ignore[misc]
    return _Decoders(msgspec.msgpack.Decoder(checked), msgspec.msgpack.Decoder(_File))


def _columns_of(kinds: Iterable[type]) -> Any:
    """The type of a tuple of columns, one for each kind of row."""
    made: Any = tuple
    return made[tuple(made[kind, ...] for kind in kinds)]
