"""The intermediate representation that every rule reads: the facts of one piece of a file, independent of other files
and of rules.

`lower` (in `loaderlint.facts.lower`) turns the tree of a piece into a `PieceIR`. All values are plain
tuples, strings and numbers: picklable, comparable by `PieceFacts.digest`, free of tree nodes and of line numbers.

Three ideas:

* **Expressions are a table.** An expression is a number, an index into `PieceIR.exprs`. A local variable never occurs
  in the table: reading one *is* the expression (or the `Phi` of the expressions) that reaches it, so
  `x = self.data[i]; x += 1` augments the expression `self.data[i]`. What is not local is `Param`, `Capture` or
  `Global`.
* **Steps are a line, contexts a tree.** What a function does is a flat tuple of steps in source order. Each names its
  `Context`: the chain of branches, loops, handlers and `with` blocks around it. After `if test: return` the rest of the
  block is in the context 'not test'.
* **Anchors are beside, not inside.** An anchor is the pre-order index of a node in its piece (see
  `loaderlint.syntax.anchors`). Comments and layout do not change it. Facts with equal `digest` mean the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

#: Index into `PieceIR.exprs`; `NONE` if there is no expression.
ExprId = int
NONE: ExprId = -1


# --- expressions ------------------------------------------------------------------------------------------------------


class Const(NamedTuple):
    """A literal. `kind` is the Python type's name ('str', 'bytes', 'int', 'float', 'complex', 'bool', 'NoneType',
    'ellipsis'); `value` its value, with bytes kept as `repr`. A concatenation of plain strings is one Const."""

    kind: str
    value: str | int | float | bool | None


class Param(NamedTuple):
    """The parameter at `index` of the def of the expression (0-based, in the order of `DefIR.params`)."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used


class Capture(NamedTuple):
    """A name bound in an enclosing function of the same piece; `up` defs further out (1 = the directly enclosing)."""

    up: int
    name: str


class Global(NamedTuple):
    """A name that no function of the piece binds: module level, class body (for class members) or builtin."""

    name: str


class Imported(NamedTuple):
    """An imported module or name. `import a.b as c` is ('a.b', None, 0); `import a.b` binds `a`: ('a', None, 0); `from
    ..x import y as z` is ('x', 'y', 2)."""

    module: str
    name: str | None
    level: int


class Attr(NamedTuple):
    """`base.name`."""

    base: ExprId
    name: str


class Index(NamedTuple):
    """`base[index]`; a tuple index is a `Seq` of kind 'tuple', a slice a `Slice`."""

    base: ExprId
    index: ExprId  # type: ignore[assignment]  # hides tuple.index, which is not used


class Slice(NamedTuple):
    """`lower:upper:step` inside an index; `NONE` if omitted."""

    lower: ExprId
    upper: ExprId
    step: ExprId


class Arg(NamedTuple):
    """One argument of a call. `kind`: 'pos', 'kw' (then `name` is set), 'star' (`*x`), 'starstar' (`**x`)."""

    kind: Literal["pos", "kw", "star", "starstar"]
    name: str
    value: ExprId


class Call(NamedTuple):
    """`func(args)`. Every call also occurs as a `Perform` step of its def."""

    func: ExprId
    args: tuple[Arg, ...]


class Bin(NamedTuple):
    """`left op right`, `op` as written ('+', '%', '@', '//', ...)."""

    op: str
    left: ExprId
    right: ExprId


class Unary(NamedTuple):
    """`-x`, `not x`, `~x`, `+x`."""

    op: str
    operand: ExprId


class Compare(NamedTuple):
    """`left ops[0] rights[0] ops[1] rights[1] ...`, ops as written ('is not', 'not in' with one space)."""

    left: ExprId
    ops: tuple[str, ...]
    rights: tuple[ExprId, ...]


class BoolOp(NamedTuple):
    """`a and b`, `a or b`; chains are nested to the left as libcst has them."""

    op: Literal["and", "or"]
    left: ExprId
    right: ExprId


class IfExp(NamedTuple):
    """`then if test else other`."""

    test: ExprId
    then: ExprId
    other: ExprId


class Seq(NamedTuple):
    """A list, tuple or set display; starred items are `Star`."""

    kind: Literal["list", "tuple", "set"]
    items: tuple[ExprId, ...]


class Map(NamedTuple):
    """A dict display; the key of a `**x` item is `NONE`."""

    keys: tuple[ExprId, ...]
    values: tuple[ExprId, ...]


class Comp(NamedTuple):
    """A comprehension: `element` (for 'dict' the value, and `key`), over `iterables` (outermost first). Loop variables
    in `element` are `Element` of their iterable."""

    kind: Literal["list", "set", "dict", "generator"]
    element: ExprId
    key: ExprId
    iterables: tuple[ExprId, ...]


class MakeDef(NamedTuple):
    """The function, lambda or class `PieceIR.defs[index]` as a value (before its decorators)."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used


class Text(NamedTuple):
    """An f-string or template string; `parts` are its expressions. `texts`: what is before, between and after them, if
    that is part of a name or path, as in `f"{split}_set"` and `f"{root}/*.png"`; empty for any other text, which rules
    do not look at. `formats`: how each of the expressions is formatted, `03d` in `f"{index:03d}"`; empty if none is."""

    parts: tuple[ExprId, ...]
    texts: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


class Star(NamedTuple):
    """`*value` in a display or a call argument's place."""

    value: ExprId


class Await(NamedTuple):
    """`await value`."""

    value: ExprId


class Yield(NamedTuple):
    """The value of the expression `yield value` (sent from outside); the yielding itself is a `YieldStep`."""

    value: ExprId
    is_from: bool


class Element(NamedTuple):
    """One item of an iterable: the variable of a `for` loop or comprehension."""

    iterable: ExprId


class Unpack(NamedTuple):
    """Item `index` (0-based; negative after a starred target, then counted from the end) of the unpacked `value`.
    `starred` for the starred target itself."""

    value: ExprId
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used
    starred: bool


class Entered(NamedTuple):
    """The value that `with manager as x` binds."""

    manager: ExprId


class Caught(NamedTuple):
    """The exception that `except type as x` binds; `type` may be `NONE`."""

    type: ExprId


class Augmented(NamedTuple):
    """The value of a target after `target op= value`; `op` without the equals sign ('+', '*', ...). For arrays, tensors
    and lists it is the same object as `target`."""

    op: str
    target: ExprId
    value: ExprId


class Phi(NamedTuple):
    """A local that several definitions reach; at least two choices, may be cyclic through a loop."""

    choices: tuple[ExprId, ...]


class Opaque(NamedTuple):
    """Anything that this representation cannot express; `reason` is shown to users ('unbound', 'deleted', 'match
    pattern', ...)."""

    reason: str


Expr = (
    Const
    | Param
    | Capture
    | Global
    | Imported
    | Attr
    | Index
    | Slice
    | Call
    | Bin
    | Unary
    | Compare
    | BoolOp
    | IfExp
    | Seq
    | Map
    | Comp
    | MakeDef
    | Text
    | Star
    | Await
    | Yield
    | Element
    | Unpack
    | Entered
    | Caught
    | Augmented
    | Phi
    | Opaque
)


#: The operands of the expressions of each class. A `match` over these classes takes ten times as long.
_OPERANDS: dict[type, Callable[[Any], tuple[ExprId, ...]]] = {
    **dict.fromkeys((Attr, Star, Await, Yield, Element, Unpack, Entered, Caught), itemgetter(slice(1))),
    Unary: itemgetter(slice(1, 2)),
    Call: lambda call: (call.func, *[arg.value for arg in call.args]),
    **dict.fromkeys((Index, Slice, IfExp), tuple),
    **dict.fromkeys((Bin, BoolOp, Augmented), itemgetter(slice(1, 3))),
    Compare: lambda e: (e.left, *e.rights),
    Map: lambda e: (*e.keys, *e.values),
    Comp: lambda e: (e.element, e.key, *e.iterables),
    Seq: itemgetter(1),
    **dict.fromkeys((Text, Phi), itemgetter(0)),
}


def operands(e: Expr) -> tuple[ExprId, ...]:
    """The operands of `e`, `NONE` for an omitted one; not the body of a `MakeDef`."""
    of_class = _OPERANDS.get(type(e))
    return of_class(e) if of_class else ()


def always_evaluated(e: Expr) -> tuple[ExprId, ...]:
    """The operands that are evaluated whenever `e` is: not the second one of `and`."""
    match e:
        case BoolOp(_, left, _) | Compare(left):
            return (left,)
        case IfExp(test):
            return (test,)
        case Phi() | Comp():
            return ()
    return operands(e)


def evaluated_anew(exprs: Sequence[Expr], numbers: Iterable[ExprId], seen: set[ExprId]) -> Iterator[ExprId]:
    """What is evaluated whenever these expressions are and is not in `seen`, where it is added."""
    waiting = list(numbers)
    while waiting:
        one = waiting.pop()
        if one != NONE and one not in seen:
            seen.add(one)
            yield one
            waiting += always_evaluated(exprs[one])


def first_reads(exprs: Sequence[Expr], one: DefIR) -> Iterator[tuple[int, ExprId]]:
    """What a def evaluates whenever it runs, each with the number of the step that does so first."""
    evaluated: set[ExprId] = set()
    for number, step in enumerate(one.steps):
        for read in evaluated_anew(exprs, step_expressions(step), evaluated):
            yield number, read


def implied(exprs: Sequence[Expr], test: ExprId, holds: bool) -> Iterator[tuple[ExprId, bool]]:
    """The tests that certainly hold, or certainly do not (False), where `test` holds, or does not: itself, and of
    `a and not b` the parts."""
    yield test, holds
    match exprs[test]:
        case Unary("not", operand):
            yield from implied(exprs, operand, not holds)
        case BoolOp(op, left, right) if (op == "and") is holds:
            yield from implied(exprs, left, holds)
            yield from implied(exprs, right, holds)


def made_of(exprs: Sequence[Expr], numbers: Iterable[ExprId]) -> Iterator[ExprId]:
    """These expressions and all their transitive operands, each once (see `operands`)."""
    waiting, seen = list(numbers), {NONE}
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            yield one
            waiting += operands(exprs[one])


def written_argument(call: Call, name: str, position: int | None = None) -> ExprId:
    """The argument that a call passes as `name=`, or else as the positional argument at `position` (0-based); `NONE` if
    it writes neither. What `*x` and `**x` pass is not considered."""
    named = next((arg.value for arg in call.args if arg.kind == "kw" and arg.name == name), NONE)
    if named != NONE or position is None:
        return named
    positional = [arg.value for arg in call.args if arg.kind == "pos"]
    return positional[position] if 0 <= position < len(positional) else NONE


def is_self(e: Expr | None) -> bool:
    """Whether an expression is the def's first parameter: `self`, in a method. (Tuples of different classes may be
    equal: `Element(0) == Param(0)`.)"""
    return type(e) is Param and e.index == 0


# --- contexts and steps -----------------------------------------------------------------------------------------------


class Context(NamedTuple):
    """The control-flow context of a step. Context 0 of a def is its body (parent -1, kind 'body').

    kind 'if': `expr` is the test, `negated` in the else branch and after a body that always leaves; 'loop': a for loop
    or comprehension over `expr`; 'while': `expr` the test; 'try': the guarded body; 'except': `expr` the exception type
    or `NONE`; 'try_else', 'finally', 'loop_else'; 'with': `expr` the manager; 'match': `expr` the subject (one context
    for each case)."""

    parent: int
    kind: Literal["body", "if", "loop", "while", "loop_else", "try", "except", "try_else", "finally", "with", "match"]
    expr: ExprId
    negated: bool


class Bind(NamedTuple):
    """`name` gets `value`: assignment, import, def, class, loop variable, with, walrus, match. `scope` is 'global' or
    'nonlocal' if the function declares the name so. `annotation` of `name: annotation = value`; a bare annotation has
    `value` NONE."""

    context: int
    name: str
    value: ExprId
    scope: Literal["local", "global", "nonlocal"]
    annotation: ExprId


class SetAttr(NamedTuple):
    """`base.name = value` (also as a loop or with target). `annotation` as in `Bind`."""

    context: int
    base: ExprId
    name: str
    value: ExprId
    annotation: ExprId


class SetItem(NamedTuple):
    """`base[index] = value`."""

    context: int
    base: ExprId
    index: ExprId  # type: ignore[assignment]  # hides tuple.index, which is not used
    value: ExprId


class Augment(NamedTuple):
    """`target op= value`. `target` is the old value's expression; `stored` is the kind of target; for a name a `Bind`
    of the `Augmented` expression follows, for an attribute a `SetAttr`, for an item a `SetItem`."""

    context: int
    target: ExprId
    op: str
    value: ExprId
    stored: Literal["name", "attr", "item"]


class Delete(NamedTuple):
    """`del target`; for a plain name `target` is its value."""

    context: int
    target: ExprId


class Perform(NamedTuple):
    """The call `call` runs here. Inner calls come before the outer one; a decorator is performed by its def."""

    context: int
    call: ExprId


class Iterate(NamedTuple):
    """A `for` loop or comprehension iterates over `iterable`; `target` is the `Element` expression."""

    context: int
    iterable: ExprId


class Enter(NamedTuple):
    """`with manager`."""

    context: int
    manager: ExprId


class Test(NamedTuple):
    """The condition of an if, while, assert, conditional expression or match guard is evaluated."""

    context: int
    expr: ExprId


class Evaluate(NamedTuple):
    """An expression statement."""

    context: int
    expr: ExprId


class Return(NamedTuple):
    """`return value`; `NONE` for a bare return. A lambda has one."""

    context: int
    value: ExprId


class YieldStep(NamedTuple):
    """`yield value` or `yield from value`."""

    context: int
    value: ExprId
    is_from: bool


class Raise(NamedTuple):
    """`raise value`; `NONE` for a bare raise."""

    context: int
    value: ExprId


class StarImport(NamedTuple):
    """`from module import *`."""

    context: int
    module: str
    level: int


Step = (
    Bind
    | SetAttr
    | SetItem
    | Augment
    | Delete
    | Perform
    | Iterate
    | Enter
    | Test
    | Evaluate
    | Return
    | YieldStep
    | Raise
    | StarImport
)


# --- defs and pieces --------------------------------------------------------------------------------------------------


class ParamIR(NamedTuple):
    """One parameter. `kind`: 'pos' (positional only), 'any', 'star' (*args), 'kw' (keyword only), 'starstar'.
    `default` and `annotation` are expressions of the *enclosing* def."""

    name: str
    kind: Literal["pos", "any", "star", "kw", "starstar"]
    default: ExprId
    annotation: ExprId


class DefIR(NamedTuple):
    """A function, a lambda, a class, or (index 0 of every piece) the piece's own body.

    `decorators`, parameter defaults, `bases` and `keywords` are expressions of the enclosing def `parent`. A class's
    `steps` are those of its body, if it is in the same piece (a class cut into members has none)."""

    kind: Literal["body", "function", "async_function", "lambda", "class"]
    name: str
    parent: int
    params: tuple[ParamIR, ...]
    decorators: tuple[ExprId, ...]
    bases: tuple[ExprId, ...]
    keywords: tuple[tuple[str, ExprId], ...]
    contexts: tuple[Context, ...]
    steps: tuple[Step, ...]
    falls_through: bool
    is_generator: bool

    def around(self, context: int) -> Iterator[Context]:
        """The context and those around it, innermost first, without the body."""
        return (self.contexts[number] for number in self.enclosing(context))

    def enclosing(self, context: int) -> Iterator[int]:
        """The numbers of the contexts that `around` yields."""
        while context > 0:
            yield context
            context = self.contexts[context].parent

    def is_in_loop(self, context: int) -> bool:
        """Whether a context is or is nested in a `for` or `while` loop."""
        return any(one.kind in ("loop", "while") for one in self.around(context))

    def loops_around(self, context: int) -> Iterator[int]:
        """The `for` loops that a context is or is nested in, innermost first."""
        return (number for number in self.enclosing(context) if self.contexts[number].kind == "loop")

    def handlers(self, block: int) -> Iterator[int]:
        """The contexts that are `except` clauses of the `try` block which is context `block`."""
        for number in range(block + 1, len(self.contexts)):
            later = self.contexts[number]
            if later.parent != self.contexts[block].parent:
                continue
            if later.kind == "try":
                return
            if later.kind == "except":
                yield number

    def common(self, context: int, other: int) -> int:
        """The innermost context around both."""
        while not self.is_within(other, context):
            context = self.contexts[context].parent
        return context

    def always_passes(self, contexts: Collection[int]) -> bool:
        """Whether a run of the def passes one of the contexts in any case: the body, or both branches of an `if`. Early
        returns and exceptions do not count."""
        passed, waiting = set(contexts), list(contexts)
        while waiting:
            here = self.contexts[waiting.pop()]
            if here.kind == "body":
                return True
            other = (n for n in passed if self.contexts[n] == here._replace(negated=not here.negated))
            if here.parent not in passed and (here.kind == "with" or (here.kind == "if" and any(True for _ in other))):
                passed.add(here.parent)
                waiting.append(here.parent)
        return False

    def is_within(self, context: int, outer: int) -> bool:
        """Whether a context is `outer` or is nested in it."""
        while context > 0 and context != outer:
            context = self.contexts[context].parent
        return context == outer


class PieceIR(NamedTuple):
    """The facts of one piece. `defs[0]` is the piece's body: for a function piece one `Bind` of the `MakeDef`.

    `mentions`: every identifier that occurs as a global name, attribute, keyword, imported or defined name, sorted; the
    project's index of possible callers is built from it."""

    exprs: tuple[Expr, ...]
    defs: tuple[DefIR, ...]
    mentions: tuple[str, ...]


class PieceAnchors(NamedTuple):
    """The places of facts: node anchors (pre-order index in the piece), parallel to the tables of `PieceIR`.

    `exprs[i]` of expression i (for a read of a local, the anchor of the expression that was bound), -1 if none;
    `steps[d][s]` of step s of def d: the statement, or the call for a `Perform`; `defs[d]`: the def's node and its name
    node (the lambda itself twice; -1 for the body)."""

    exprs: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]
    defs: tuple[tuple[int, int], ...]


#: The expressions that a step evaluates, by its class.
_EXPRESSIONS: dict[type, Callable[[Any], tuple[ExprId, ...]]] = {
    Bind: lambda step: (step.value,),
    SetAttr: lambda step: (step.base, step.value),
    SetItem: lambda step: (step.base, step.index, step.value),
    Augment: lambda step: (step.target, step.value),
    Delete: lambda step: (step.target,),
    Perform: lambda step: (step.call,),
    Iterate: lambda step: (step.iterable,),
    Enter: lambda step: (step.manager,),
    Test: lambda step: (step.expr,),
    Evaluate: lambda step: (step.expr,),
    Return: lambda step: (step.value,),
    YieldStep: lambda step: (step.value,),
    Raise: lambda step: (step.value,),
    StarImport: lambda step: (),
}


def step_expressions(step: Step) -> tuple[ExprId, ...]:
    """The expressions that a step evaluates."""
    return _EXPRESSIONS[type(step)](step)
