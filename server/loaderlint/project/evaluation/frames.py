"""A frame: one def in one context (receiver and arguments). The evaluator interns frames, so they are compared by
identity. All frames of a def share its code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec import Struct, field

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE, DefIR
from loaderlint.facts.loops import StepLoop, step_loops
from loaderlint.facts.none_uses import none_uses
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.arrays import SHOWS_ARRAY
from loaderlint.project.evaluation.values import Atom, ClassRef, MapOf, Val, digest_of, order_of, order_of_atom

if TYPE_CHECKING:
    from loaderlint.project.evaluation.contained_objects import Contents, Holder, Step

_Step = TypeVar("_Step", bound=ir.Step)
_POP = frozenset({"pop"})
#: Longer descriptions of a context are cut off at this length, with a digest of the rest.
_LONGEST_ORDER = 200


class Equality(NamedTuple):
    """After step `step`, in branch `context`, expression `left` is one of the constants `values`."""

    step: int
    context: int
    left: int
    values: tuple[ir.Const, ...]


class Code:
    """The code of def `def_` of a piece: `one`, with the expressions of its piece, `exprs`. If the piece cannot be
    read, `one` is None and `exprs` is empty."""

    __slots__ = (
        "_array_bases",
        "_array_indices",
        "_attribute_calls",
        "_attributes",
        "_bindings",
        "_branches",
        "_calls",
        "_calls_with",
        "_contexts",
        "_evaluated",
        "_evaluated_by",
        "_filled",
        "_holding",
        "_kinds",
        "_method_calls",
        "_needed_parameters",
        "_none_uses",
        "_overwritten",
        "_performed_by",
        "_read_in",
        "_step_loops",
        "_stored",
        "bound",
        "contents",
        "equalities",
        "exprs",
        "facts",
        "heads",
        "one",
    )

    def __init__(self, facts: PieceFacts | None, def_: int) -> None:
        self.facts = facts
        self.one: DefIR | None = facts.ir.defs[def_] if facts and def_ < len(facts.ir.defs) else None
        self.exprs: tuple[ir.Expr, ...] = facts.ir.exprs if facts else ()
        self._array_bases: frozenset[int] | None = None
        self._array_indices: frozenset[int] | None = None
        self._attribute_calls: dict[str, list[tuple[int, ir.Perform, int]]] | None = None
        self._attributes: dict[str, list[tuple[int, int]]] | None = None
        self._calls: tuple[tuple[ir.Perform, ir.Call], ...] | None = None
        self._calls_with: dict[int, list[tuple[ir.Perform, ir.Call]]] | None = None
        self._bindings: dict[int, list[tuple[int, ir.Bind]]] | None = None
        self._contexts: dict[int, list[int]] | None = None
        self._kinds: dict[type, list[tuple[int, Any]]] | None = None
        self._stored: dict[str, list[tuple[int, ir.SetAttr]]] | None = None
        self._holding: dict[str, frozenset[int]] = {}
        self._overwritten: dict[str, frozenset[int]] = {}
        self._method_calls: dict[int, list[tuple[int, ir.Perform, ir.Call, str]]] | None = None
        self._needed_parameters: tuple[int, ...] | None = None
        self._none_uses: dict[int, list[int]] | None = None
        self._evaluated: tuple[tuple[int, tuple[int, ...], int], ...] | None = None
        self._evaluated_by: dict[int, int] | None = None
        self._branches: dict[int, bool] = {0: True}
        self._filled: dict[int, list[tuple[int, ir.SetItem]]] | None = None
        self._performed_by: dict[int, int] | None = None
        self._read_in: dict[int, int] | None = None
        self._step_loops: dict[int, StepLoop] | None = None
        #: What is evaluated before an expression that depends on itself through a loop.
        self.heads: Mapping[int, tuple[int, ...]] = facts.heads if facts else {}
        #: Where the choices of a `Phi` are bound (see `Liveness.live`), computed on demand.
        self.bound: dict[tuple[int, ...], dict[int, list[tuple[int, int]]]] = {}
        #: What it puts into dicts, lists and objects (see `contained_objects`), computed on demand.
        self.contents: Contents | None = None
        #: What its tests say that is equal (see `asserted_values`), computed on demand.
        self.equalities: dict[int, list[Equality]] | None = None

    @property
    def calls(self) -> tuple[tuple[ir.Perform, ir.Call], ...]:
        """The calls in source order."""
        if self._calls is None:
            calls = ((step, self.exprs[step.call]) for _, step in self.steps_of(ir.Perform))
            self._calls = tuple((step, call) for step, call in calls if isinstance(call, ir.Call))
        return self._calls

    def contexts_of(self, call: int) -> Sequence[int]:
        """The contexts of the steps that perform a call; none for an expression that is not a call."""
        if self._contexts is None:
            self._contexts = {}
            for step, _ in self.calls:
                self._contexts.setdefault(step.call, []).append(step.context)
        return self._contexts.get(call, ())

    @property
    def array_bases(self) -> frozenset[int]:
        """The expressions of the piece that some code indexes as only arrays are: `x[:, 1]`, `x[..., 0]`."""
        if self._array_bases is None:
            indexed = (e for e in self.exprs if type(e) is ir.Index and e.index != ir.NONE)
            self._array_bases = frozenset(e.base for e in indexed if _is_array_index(self.exprs, e.index))
        return self._array_bases

    @property
    def array_indices(self) -> frozenset[int]:
        """The expressions of the piece that would be arrays as an index, because some code uses them as masks, sums
        them up or makes masks of them: `~mask`, `valid & mask`, `mask.sum()`, `x[ids == -1]`."""
        if self._array_indices is None:
            used = {one for e in self.exprs for one in _used_as_mask(self.exprs, e)}
            stored = (_compared(self.exprs, step.index) for _, step in self.steps_of(ir.SetItem))
            self._array_indices = frozenset(used.union(*stored))
        return self._array_indices

    @property
    def step_loops(self) -> Mapping[int, StepLoop]:
        """The loops that run the steps of a pipeline, by their loop-carried locals."""
        if self._step_loops is None:
            self._step_loops = step_loops(self.exprs, self.one) if self.one and self.heads else {}
        return self._step_loops

    @property
    def bindings(self) -> dict[int, list[tuple[int, ir.Bind]]]:
        """The steps that bind a name, each with its number, by the expression that the name gets."""
        if self._bindings is None:
            self._bindings = {}
            for number, step in self.steps_of(ir.Bind):
                self._bindings.setdefault(step.value, []).append((number, step))
        return self._bindings

    def fillings(self, made: int) -> list[ir.SetItem | ir.Perform]:
        """The steps that store items in the object that expression `made` creates, or call a method of it, in source
        order."""
        return [step for _, step in self.numbered_fillings(made)]

    def numbered_fillings(self, made: int) -> list[tuple[int, ir.SetItem | ir.Perform]]:
        """The same, each with its number."""
        found: list[tuple[int, ir.SetItem | ir.Perform]] = []
        found += self._item_stores().get(made, [])
        found += [(number, step) for number, step, _, _ in self.method_calls(made)]
        return sorted(found)

    def _item_stores(self) -> dict[int, list[tuple[int, ir.SetItem]]]:
        """The steps that store an item in the value of an expression. After a branch that rebinds the name, a step
        counts for each of its values."""
        if self._filled is None:
            self._filled = {}
            for number, step in self.steps_of(ir.SetItem):
                for one in self._values(step.base):
                    self._filled.setdefault(one, []).append((number, step))
        return self._filled

    def may_be(self, number: int, made: int) -> bool:
        """Whether an expression may be the object that expression `made` creates, also after a branch."""
        return made in self._values(number)

    def removals(self, made: int) -> list[tuple[int, int, int]]:
        """The steps that remove an item from the dict that expression `made` creates, by `.pop(key)` or `del`, in
        source order: the step's number, its context, and the key's expression."""
        found = [
            (number, step.context, call.args[0].value)
            for number, step, call, name in self.method_calls(made)
            if name == "pop" and call.args
        ]
        for number, step in self.steps_of(ir.Delete):
            target = self.exprs[step.target] if step.target != ir.NONE else None
            if type(target) is ir.Index and made in self._values(target.base):
                found.append((number, step.context, target.index))
        return sorted(found)

    @property
    def removes(self) -> bool:
        """Whether the def may remove an item from a dict."""
        return bool(self.steps_of(ir.Delete)) or bool(self.attribute_calls(_POP))

    def performed_by(self, call: ir.Call) -> int | None:
        """The step that performs a call."""
        if self._performed_by is None:
            steps = reversed(self.steps_of(ir.Perform))
            self._performed_by = {id(self.exprs[step.call]): number for number, step in steps}
        return self._performed_by.get(id(call))

    def method_calls(self, base: int) -> Sequence[tuple[int, ir.Perform, ir.Call, str]]:
        """The calls of methods of the value of expression `base`, each with the number of its step and the name. After
        a branch that rebinds the name, a call counts for each of its values."""
        if self._method_calls is None:
            self._method_calls = {}
            for number, step in self.steps_of(ir.Perform):
                call = self.exprs[step.call]
                func = self.exprs[call.func] if type(call) is ir.Call and call.func != ir.NONE else None
                if type(call) is ir.Call and type(func) is ir.Attr:
                    for one in self._values(func.base):
                        self._method_calls.setdefault(one, []).append((number, step, call, func.name))
        return self._method_calls.get(base, ())

    def _values(self, number: int) -> list[int]:
        """An expression and, for a local with several reaching definitions, the value of each of them; the sides of a
        conditional expression, and of `and` and `or`."""
        found = [number]
        for one in found:
            found += [choice for choice in self.chosen_from(one) if choice not in found]
        return found

    def chosen_from(self, number: int) -> tuple[int, ...]:
        """The expressions that an expression is one of: its reaching definitions, or its sides."""
        match self.exprs[number] if number != NONE else None:
            case ir.Phi(choices):
                return choices
            case ir.IfExp(_, then, other):
                return (then, other)
            case ir.BoolOp() as e:
                return (e.left, e.right)
        return ()

    def calls_with(self, argument: int) -> Sequence[tuple[ir.Perform, ir.Call]]:
        """The calls that pass an expression as an argument, in source order."""
        if self._calls_with is None:
            self._calls_with = {}
            for step, call in self.calls:
                for value in {arg.value for arg in call.args}:
                    self._calls_with.setdefault(value, []).append((step, call))
        return self._calls_with.get(argument, ())

    def attribute_calls(self, names: Set[str] | None) -> list[tuple[ir.Perform, int]]:
        """The calls of attributes with one of these names (None: any) in source order, each with the expression that
        has the attribute. A constructor may have thousands, each of which matters for another attribute."""
        if self._attribute_calls is None:
            self._attribute_calls = {}
            for number, (step, call) in enumerate(self.calls):
                func = self.exprs[call.func] if call.func != ir.NONE else None
                if isinstance(func, ir.Attr):
                    self._attribute_calls.setdefault(func.name, []).append((number, step, func.base))
        wanted = self._attribute_calls.keys() if names is None else self._attribute_calls.keys() & names
        found = sorted(one for name in wanted for one in self._attribute_calls[name])
        return [(step, base) for _, step, base in found]

    @property
    def evaluated(self) -> tuple[tuple[int, tuple[int, ...], int], ...]:
        """What running the def evaluates, in source order: the context of each step, its expressions, and the one that
        it iterates over (`NONE` if none)."""
        if self._evaluated is None:
            steps = self.one.steps if self.one else ()
            self._evaluated = tuple((step.context, self._evaluated_in(step), iterated(step)) for step in steps)
        return self._evaluated

    def _evaluated_in(self, step: ir.Step) -> tuple[int, ...]:
        """The expressions that a step evaluates: `del x.name` does not read the attribute."""
        target = self.exprs[step.target] if isinstance(step, ir.Delete) and step.target != NONE else None
        return (target.base,) if isinstance(target, ir.Attr) else ir.step_expressions(step)

    def evaluated_by(self, number: int) -> int | None:
        """The step that evaluates an expression: the first step that contains it."""
        if self._evaluated_by is None:
            self._evaluated_by = {}
            for step, (_, expressions, _) in enumerate(self.evaluated):
                waiting = list(expressions)
                while waiting:
                    one = waiting.pop()
                    if one != ir.NONE and one not in self._evaluated_by:
                        self._evaluated_by[one] = step
                        waiting += ir.operands(self.exprs[one])
        return self._evaluated_by.get(number)

    def none_uses(self, number: int) -> Sequence[int]:
        """The steps that raise if an expression is None, in source order."""
        if self._none_uses is None:
            self._none_uses = {}
            for one, step in none_uses(self.exprs, self.one.steps if self.one else ()):
                self._none_uses.setdefault(one, []).append(step)
        return self._none_uses.get(number, ())

    @property
    def needed_parameters(self) -> tuple[int, ...]:
        """The parameters, by their index, that every call of the def uses as None cannot be used."""
        if self._needed_parameters is None:
            params = [(number, e.index) for number, e in enumerate(self.exprs) if type(e) is ir.Param]
            steps = self.one.steps if self.one else ()
            needed = {
                index for number, index in params if any(not steps[use].context for use in self.none_uses(number))
            }
            self._needed_parameters = tuple(sorted(needed))
        return self._needed_parameters

    def may_lack(self, index: int) -> bool:
        """Whether the parameter at `index` is None by default."""
        return self.has_default(index, None)

    def has_default(self, index: int, value: object) -> bool:
        """Whether the parameter at `index` has this constant by default."""
        param = self.one.params[index] if self.one is not None and index < len(self.one.params) else None
        default = self.exprs[param.default] if param is not None and param.default != NONE else None
        return isinstance(default, ir.Const) and type(default.value) is type(value) and default.value == value

    def context_of(self, number: int) -> int:
        """The branch of the def in which an expression is evaluated; 0 for its body."""
        step = self.evaluated_by(number)
        return self.one.steps[step].context if self.one is not None and step is not None else 0

    def read_in(self, number: int) -> int:
        """The innermost context in which all steps stand that evaluate an expression; 0 for the body."""
        if self._read_in is None:
            self._read_in = self._contexts_of_readers()
        return self._read_in.get(number, 0)

    def _contexts_of_readers(self) -> dict[int, int]:
        found: dict[int, int] = {}

        def read(number: int, context: int) -> None:
            known = found.get(number, context)
            found[number] = context if known == context or self.one is None else self.one.common(known, context)

        for context, numbers, _ in self.evaluated:
            for number in numbers:
                read(number, context)
        for number in range(max(found, default=-1), -1, -1):  # an expression has a higher number than its parts
            for part in ir.operands(self.exprs[number]) if number in found else ():
                if part < number:
                    read(part, found[number])
        return found

    def attributes(self, name: str) -> Sequence[tuple[int, int]]:
        """The expressions of the def that read an attribute of this name, each with its base, in order."""
        if self._attributes is None:
            self._attributes = {}
            for number in sorted(self.expressions()):
                e = self.exprs[number]
                if type(e) is ir.Attr:
                    self._attributes.setdefault(e.name, []).append((number, e.base))
        return self._attributes.get(name, ())

    def expressions(self) -> set[int]:
        """The numbers of all expressions that are written in the def, not in those inside it."""
        steps, contexts = (self.one.steps, self.one.contexts) if self.one else ((), ())
        evaluated = [number for step in steps for number in ir.step_expressions(step)]
        return set(ir.made_of(self.exprs, (*evaluated, *(context.expr for context in contexts))))

    def is_branch(self, context: int) -> bool:
        """Whether only branches and `with` blocks are around a context: it runs at most once."""
        known = self._branches.get(context)
        if known is None:
            around = self.one.around(context) if self.one else ()
            known = self._branches[context] = all(one.kind in ("if", "with") for one in around)
        return known

    def always_passes(self, contexts: Iterable[int]) -> bool:
        """Whether a run of the def that does not raise passes one of the contexts in any case: it may raise in the
        others. Early returns out of loops do not count."""
        raising = (step.context for _, step in self.steps_of(ir.Raise))
        return self.one is not None and self.one.always_passes({*contexts, *raising})

    def has_slice(self, index: int) -> bool:
        """Whether an index selects a part of a sequence: a slice, an ellipsis or a tuple with a slice."""
        e = self.exprs[index] if index != ir.NONE else None
        if isinstance(e, ir.Seq):
            return any(isinstance(self.exprs[item], ir.Slice) for item in e.items)
        return isinstance(e, ir.Slice) or (isinstance(e, ir.Const) and e.kind == "ellipsis")

    @property
    def stored(self) -> Set[str]:
        """The attributes of its first parameter that the def assigns."""
        return self._stores().keys()

    def stores_of(self, name: str) -> Sequence[tuple[int, ir.SetAttr]]:
        """The steps that assign attribute `name` of the first parameter, with their numbers."""
        return self._stores().get(name, ())

    def overwritten(self, name: str) -> frozenset[int]:
        """The numbers of those of `stores_of(name)` after which the def, unless it raises, always stores another value
        that holds nothing of the earlier one but its attributes. None is no other value: rules tell what it lets go
        of."""
        found = self._overwritten.get(name)
        if found is None:
            found = self._overwritten[name] = frozenset(self._overwritten_later(name))
        return found

    def holding(self, name: str) -> Set[int]:
        """The numbers of those of `stores_of(name)` whose value may be, or hold, what the attribute held before. None
        counts, too: rules tell what it lets go of."""
        found = self._holding.get(name)
        if found is None:
            held = (number for number, step in self.stores_of(name) if self._may_hold(step.value, name))
            found = self._holding[name] = frozenset(held)
        return found

    def wrapping(self, name: str) -> Iterator[int]:
        """The numbers of those of `stores_of(name)` that make something of the attribute itself:
        `self.data = Subset(self.data, indices)`."""
        for number, step in self.stores_of(name):
            parts = (self.exprs[part] for part in ir.made_of(self.exprs, (step.value,)))
            read = (e.base for e in parts if type(e) is ir.Attr and e.name == name)
            if number in self.holding(name) and any(ir.is_self(self.exprs[base]) for base in read):
                yield number

    def _overwritten_later(self, name: str) -> Iterator[int]:
        stores = self.stores_of(name)
        contexts: set[int] = set()  # those in which such a value is stored later
        for number, step in reversed(stores) if len(stores) > 1 else ():
            if self.one is not None and not contexts.isdisjoint((0, *self.one.enclosing(step.context))):
                yield number
            if self.is_branch(step.context) and number not in self.holding(name):
                contexts.add(step.context)

    def _may_hold(self, value: int, name: str) -> bool:
        """Whether a value may hold what attribute `name` of the first parameter held before: `Subset(self.data)`,
        `self.wrapped()`, but not `Own(self.data.samples)`."""
        if self.exprs[value] == ir.Const("NoneType", None):
            return True
        parts = list(ir.made_of(self.exprs, (value,)))
        called = {e.func for e in map(self.exprs.__getitem__, parts) if type(e) is ir.Call}
        held = {one for one in parts if self._is_self_or_attribute(one, name)}
        used = [one for one in parts if type(self.exprs[one]) is not ir.Attr or one in called]
        return value in held or any(not held.isdisjoint(ir.operands(self.exprs[one])) for one in used)

    def _is_self_or_attribute(self, number: int, name: str) -> bool:
        e = self.exprs[number]
        if type(e) is ir.Attr:
            return e.name == name and ir.is_self(self.exprs[e.base])
        return ir.is_self(e) or (type(e) is ir.Global and e.name == "super")

    def _stores(self) -> dict[str, list[tuple[int, ir.SetAttr]]]:
        if self._stored is None:
            self._stored = {}
            for number, step in self.steps_of(ir.SetAttr):
                if step.value != ir.NONE and ir.is_self(self.exprs[step.base]):
                    self._stored.setdefault(step.name, []).append((number, step))
        return self._stored

    def steps_of(self, kind: type[_Step]) -> Sequence[tuple[int, _Step]]:
        """The steps of one kind in source order, with their numbers."""
        if self._kinds is None:
            self._kinds = {}
            for number, step in enumerate(self.one.steps if self.one else ()):
                self._kinds.setdefault(type(step), []).append((number, step))
        return self._kinds.get(kind, ())


class Frame(Struct, eq=False):
    """Def `def_` of piece `piece` in `path`, run with `receiver` bound to its first parameter (None for functions and
    bodies) and `args` for the others (None: not passed). `scope` is the frame of the lexically enclosing def, `owner`
    the class a method was found in, `depth` how many calls deep, `code` its code, `nesting` how many objects and
    functions that create each other are around it.

    `memo` holds what each expression evaluated to, `unfilled` what a dict that an expression makes was before the def
    stored more in it, `targets` the frames a call or property read leads to, `guesses` the
    calls whose callee is one of several, by a name that is made up at run time, `usual` the callees of such calls that
    the default of an option names, `runs` what `Liveness` knows of its branches, `holders` what holds the objects that
    it makes, `names` the names that a module gives them, and `passing` the other code of the module that passes them on
    (see `object_places`)."""

    path: Path
    piece: int
    def_: int
    receiver: Atom | None
    args: tuple[Val | None, ...]
    scope: Frame | None
    owner: ClassRef | None
    depth: int
    code: Code
    nesting: int = 0
    memo: dict[int, Val | None] = field(default_factory=dict)
    unfilled: dict[int, dict[MapOf, MapOf]] = field(default_factory=dict)
    targets: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    runs: dict[int, bool | None] = field(default_factory=dict)
    holders: dict[int, tuple[Holder, ...]] = field(default_factory=dict)
    names: dict[int, Mapping[str, Set[tuple[Step, ...]]]] = field(default_factory=dict)
    passing: dict[int, tuple[tuple[Frame, tuple[Holder, ...]], ...]] = field(default_factory=dict)
    guesses: frozenset[int] = frozenset()
    usual: frozenset[tuple[int, Atom]] = frozenset()
    _order: str = ""

    @property
    def order(self) -> str:
        """A sort key that distinguishes frames and is the same in every run."""
        if not self._order:
            parts = [order_of_atom(atom) for atom in (self.receiver, self.owner) if atom is not None]
            parts += ["-" if value is None else order_of(value) for value in self.args]
            parts += [self.scope.order] if self.scope is not None else []
            context = " ".join(parts)
            if len(context) > _LONGEST_ORDER:
                context = context[:_LONGEST_ORDER] + digest_of(context)
            self._order = f"{self.path}:{self.piece:06}:{self.def_:06}:{context}"
        return self._order

    def __repr__(self) -> str:
        """Short, because frames hold values that hold frames."""
        return f"Frame({self.order})"

    @property
    def facts(self) -> PieceFacts | None:
        """The facts of its piece, None where that cannot be read."""
        return self.code.facts

    def add_targets(self, number: int, targets: tuple[Frame, ...]) -> None:
        """Note the frames that expression `number` leads to, in addition to the known ones."""
        if targets:
            self.targets[number] = tuple(dict.fromkeys((*self.targets.get(number, ()), *targets)))


def iterated(step: ir.Step) -> int:
    """The expression that a step iterates over, `NONE` if there is none."""
    if isinstance(step, ir.Iterate):
        return step.iterable
    return step.value if isinstance(step, ir.YieldStep) and step.is_from else ir.NONE


def _is_array_index(exprs: Sequence[ir.Expr], index: int) -> bool:
    """Whether an index is several of which one is a slice or an ellipsis."""
    e = exprs[index]
    parts = [exprs[item] for item in e.items] if type(e) is ir.Seq and e.kind == "tuple" else []
    return any(type(one) is ir.Slice or (isinstance(one, ir.Const) and one.kind == "ellipsis") for one in parts)


def _used_as_mask(exprs: Sequence[ir.Expr], e: ir.Expr) -> tuple[int, ...]:
    """What an expression uses as only masks and arrays are used."""
    match e:
        case ir.Unary("~", operand):
            return (operand,)
        case ir.Bin("&" | "|", left, right):
            return () if any(type(exprs[side]) is ir.Const for side in (left, right)) else (left, right)
        case ir.Attr(base, name) if name in SHOWS_ARRAY:
            return (base,)
        case ir.Index(base, index) if not isinstance(exprs[base], ir.Seq | ir.Map):  # `("no", "yes")[kind == 1]`
            return _compared(exprs, index)
    return ()


def _compared(exprs: Sequence[ir.Expr], index: int) -> tuple[int, ...]:
    """What an index compares with something: only an array gives a mask."""
    e = exprs[index] if index != ir.NONE else None
    return (e.left,) if type(e) is ir.Compare and type(exprs[e.left]) is not ir.Const else ()


def is_mask_expression(e: ir.Expr | None) -> bool:
    """Whether an expression, used as an index, is written as a mask: `x > 0`, `a & b`, `~a`."""
    match e:
        case ir.Compare() | ir.Bin("&" | "|" | "^", _, _) | ir.Unary("~", _):
            return True
    return False
