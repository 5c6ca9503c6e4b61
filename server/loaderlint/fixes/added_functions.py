"""The functions that a fix adds: their names, and whether the file has an equal one."""

from __future__ import annotations

import builtins
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from loaderlint.findings.finding import AddImport, InsertFunction, InsertMethod
from loaderlint.fixes.draft import Draft, NewFunction, Plan
from loaderlint.fixes.file_edits import Refused
from loaderlint.fixes.name_scopes import Here, bindings, fill, has_word

_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER)
_HEAD = re.compile(r"^[ \t]*(?:async )?def .*:[ \t]*(?:#.*)?$", re.MULTILINE)
#: The annotations of parameters and results in the first line of a function.
_OF_PARAMETER = re.compile(r"(?<=\w) *: *[\w.\[\]| ]+?(?= *[,)=])")
_OF_RESULT = re.compile(r"\) *-> *.+:")
_QUOTED = re.compile(r"'([^'\"\\\n]+)'")


def plan_function(
    intent: InsertFunction, draft: Draft, imports: Mapping[str, AddImport], before: int, run_at: int
) -> str:
    """Add the function to the plan, if there is no equal one; its name.

    `before`: the first piece that uses it. `run_at`: the first piece that uses it while the module is run."""
    old = draft.plan
    near = draft.original.is_notebook  # its first cells are far away
    source = fill(named(intent, draft), Here(draft, len(draft.pieces), None, None), {}, imports)
    return plan_source(intent.name, source, draft, before, run_at, old, near=near)


def plan_source(
    wanted: str,
    source: str,
    draft: Draft,
    before: int,
    run_at: int,
    without_imports: Plan | None = None,
    *,
    near: bool = True,
) -> str:
    """As `plan_function`, for the `source` of a function called `wanted`, without marks. `without_imports`: the plan to
    go back to where there is an equal function. `near`: the function is to stand near the piece that uses it.

    Raises Refused."""
    old = without_imports or draft.plan
    near = near and before < len(draft.pieces)
    tokens = tokens_of(source, wanted)
    if tokens is None:
        raise Refused(f"{wanted} is not a valid function")
    known = _equal_function(draft, tokens, run_at)
    if known is not None:
        draft.plan = old  # nor are imports needed
        return known
    for function in draft.plan.functions:
        if function.tokens == tokens:
            sooner = function._replace(before=min(before, function.before))
            functions = tuple(sooner if one is function else one for one in old.functions)
            draft.plan = replace(draft.plan, functions=functions)
            return function.name
    name = free_name(wanted, draft)
    source = renamed(source, wanted, name)
    draft.plan = replace(
        draft.plan,
        functions=(*draft.plan.functions, NewFunction(name, tokens, source, before, near)),
    )
    return name


def named(intent: InsertFunction | InsertMethod, draft: Draft) -> str:
    """The source of a function that is to be added, with its wanted name. It is annotated if the file's functions
    are."""
    source = intent.source.replace("{" + intent.name + "}", intent.name).replace("{name}", intent.name)
    return source if draft.original.annotates else unannotated(source)


def unannotated(source: str) -> str:
    """The source of a function without the annotations in its first line."""
    head = _HEAD.search(source)
    if head is None:
        return source
    plain = _OF_PARAMETER.sub("", _OF_RESULT.sub("):", head[0]))
    return source[: head.start()] + plain + source[head.end() :]


def numbered(name: str) -> Iterator[str]:
    """`name`, then `name_2`, `name_3` and so on."""
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


def renamed(source: str, old: str, new: str) -> str:
    """`source` with the identifier `old` written `new`."""
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", new, source)


def tokens_of(source: str, name: str) -> tuple[str, ...] | None:
    """What is said in a function's source, without its own name, the annotations in its first line, comments, layout
    and the kind of quotes; None if it cannot be told."""
    text = unannotated(textwrap.dedent(re.sub(r"\r\n?", "\n", source)).strip()) + "\n"
    said = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.INDENT:
                said.append("indent")
            elif token.type == tokenize.NAME and token.string == name:
                said.append("<name>")
            elif token.type not in _LAYOUT:
                said.append(_QUOTED.sub(r'"\1"', token.string.strip()))
    except (tokenize.TokenError, SyntaxError):
        return None
    return tuple(said)


def says(draft: Draft, span: tuple[int, int], name: str, tokens: tuple[str, ...]) -> bool:
    """Whether a function, which stands there, is made of these tokens (see `tokens_of`)."""
    text = draft.text[slice(*span)]
    known = draft.original.digests
    if span not in known:
        draft.spend(len(text) / 4)
        known[span] = hash(tokens_of(text, name))
    return known[span] == hash(tokens) and tokens_of(text, name) == tokens


def _equal_function(draft: Draft, tokens: tuple[str, ...], run_at: int) -> str | None:
    for piece, name in draft.original.functions:
        if piece >= run_at:
            return None
        one = draft.pieces[piece]
        span = (one.start, one.start + len(one.text))
        if says(draft, span, name, tokens) and len(bindings(draft, name)) == 1:
            return name
    return None


def free_name(wanted: str, draft: Draft) -> str:
    """`wanted`, with a number if the file has the word already."""
    return next(one for one in numbered(wanted) if _is_free(draft, one))


def _is_free(draft: Draft, name: str) -> bool:
    """Whether `name` occurs nowhere: not as a local either, which would hide the function."""
    taken = {function.name for function in draft.plan.functions} | {new.bound for new in draft.plan.imports}
    return name not in taken and not hasattr(builtins, name) and not has_word(draft.text, name)
