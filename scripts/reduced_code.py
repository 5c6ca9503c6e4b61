"""Reduces the code of a library to what loaderlint asks about, as Python code.

A reduced module contains its imports, the names that it binds, its classes with their bases and attributes, signatures
with their defaults, and the effects in the bodies of functions: known calls (random numbers, seeds, loaders, files,
processes), calls of arguments, edits of arguments or attributes, and what a function returns of these. Everything else
is removed: comments, docstrings, annotations, texts, arithmetic, comparisons, the names of local variables. `_`, a name
that nothing binds, stands for an unknown value. A function without effects is reduced to its signature.

The library's code is never imported or run.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.measured_libraries import names_in_tables
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATOR_SEEDS

#: Calls of names that begin with these are effects.
_EFFECTS = (
    "numpy.random.",
    "random.",
    "torch.Generator",
    "torch.cuda.",
    "torch.manual_seed",
    "torch.multiprocessing.",
    "torch.random.",
    "torch.seed",
    "torch.set_num_threads",
    "torch.utils.data.",
    "concurrent.futures.",
    "cv2.set",
    "h5py.",
    "lmdb.",
    "multiprocessing.",
    "os.fork",
    "os.getpid",
    "sqlite3.",
    "tarfile.",
    "threading.",
    "zipfile.",
)
_BUILTIN_EFFECTS = frozenset({"delattr", "iter", "next", "open", "setattr", "super"})
_BUILTIN_VALUES = frozenset(
    "dict enumerate getattr hasattr list map reversed set sorted tuple vars zip".split()  # they pass their arguments on
)
_CHANGES = frozenset(
    """
    add append clear close discard extend fill insert pop popitem put remove resize reverse set_epoch setdefault
    setflags sort update
    """.split()
)
_RANDOM = GENERATOR_DRAWS | GENERATOR_SEEDS
_VALUES = frozenset({"clone", "copy", "deepcopy", "detach", "numpy", "reshape", "squeeze", "T", "transpose", "view"})
#: Names of methods that are too common to identify what is called.
_COMMON = frozenset({"__init__", "forward", "get", "items", "join", "keys", "load", "save", "split", "values"})
#: Classes whose objects matter, although most of them are in no table.
_DATASETS = "torchvision.datasets."
_LONGEST_TEXT = 32
_MOST_ITEMS = 8
UNKNOWN = "_"


@dataclass(frozen=True, slots=True)
class Module:
    """A module of a library: its dotted name, its path in the archive, and its tree."""

    name: str
    path: str
    tree: ast.Module

    def full(self, module: str | None, level: int) -> str:
        """The dotted name of a module that an import names."""
        if not level:
            return module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - level + (1 if self.path.endswith("__init__.py") else 0)]
        return ".".join((*kept, *filter(None, [module])))


def reduced(modules: Sequence[Module]) -> dict[str, str]:
    """The reduced text of each module by its path."""
    tops = frozenset(one.name.partition(".")[0] for one in modules)
    held = frozenset(_held_callables(modules) | _hooks(modules))
    library = _Library(tops, frozenset(_with_effects(modules, held)), held)
    return {one.path: _ReducedModule(one, library).text() for one in modules}


@dataclass(frozen=True, slots=True)
class _Library:
    """The top-level packages of a library, the names of its functions with effects, and the names of attributes whose
    calls may run other code: those that a class stores without having such a method, and hooks."""

    tops: frozenset[str]
    effects: frozenset[str]
    held: frozenset[str]


def _held_callables(modules: Sequence[Module]) -> set[str]:
    """The names of attributes that a class stores without having a method of this name."""
    found: set[str] = set()
    for module in modules:
        for one in ast.walk(module.tree):
            if isinstance(one, ast.ClassDef):
                inside = list(ast.walk(one))
                stored = {each.attr for each in inside if isinstance(each, ast.Attribute) and _is_stored(each)}
                found |= stored - {each.name for each in inside if isinstance(each, ast.FunctionDef)}
    return found


def _hooks(modules: Sequence[Module]) -> set[str]:
    """The names of methods that are meant to be overridden: they do nothing, or return their argument."""
    classes = (one for module in modules for one in ast.walk(module.tree) if isinstance(one, ast.ClassDef))
    methods = (one for each in classes for one in each.body if isinstance(one, ast.FunctionDef))
    return {one.name for one in methods if _does_nothing(one)}


def _does_nothing(method: ast.FunctionDef) -> bool:
    params = set(_names(method.args)) - {"self", "cls"}
    match [one for one in method.body if not _is_text(one)]:
        case [] | [ast.Pass()] | [ast.Raise()]:
            return True
        case [ast.Return(ast.Name(name))]:
            return name in params
        case [ast.Return(ast.Tuple(elts))]:
            return bool(elts) and all(isinstance(one, ast.Name) and one.id in params for one in elts)
    return False


def _is_text(stmt: ast.stmt) -> bool:
    """Whether a statement is a docstring or an ellipsis."""
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant)


def _is_stored(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def _with_effects(modules: Sequence[Module], held: frozenset[str]) -> set[str]:
    """The names of functions that have effects, or call functions that have some."""
    calls: dict[str, set[str]] = {}
    found: set[str] = set()
    for module in modules:
        imports = _imports(module, ast.walk(module.tree))
        for one in ast.walk(module.tree):
            if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            params = set(_names(one.args))
            given = params | _given(one)
            if any(_is_effect(step, imports, given) or _calls_held(step, held) for step in ast.walk(one)):
                found.add(one.name)
            called = (_last(step.func) for step in ast.walk(one) if isinstance(step, ast.Call))
            calls.setdefault(one.name, set()).update(called)
    size = -1
    while size != len(found):
        size = len(found)
        reach = found - _COMMON
        found |= {name for name, called in calls.items() if called & reach}
    return found - _COMMON


def _given(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The local variables of a function that refer to an argument, an attribute, or an item of one: `for step in
    self.steps`, `step = steps[0]`."""
    params = set(_names(function.args))
    found: set[str] = set()
    for one in ast.walk(function):
        match one:
            case ast.For(target, value) | ast.AsyncFor(target, value) | ast.comprehension(target, value):
                bound = [target]
            case ast.Assign(bound, value):
                pass
            case _:
                continue
        if any(_root(part) in params for part in _passed_on(value)):
            found.update(name.id for part in bound for name in ast.walk(part) if isinstance(name, ast.Name))
    return found - params


def _chosen(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The local variables of a function that refer to an item of a module-level table: `kind = KINDS[name]`."""
    bound = _bound_in(function).keys() | set(_names(function.args))
    for one in ast.walk(function):
        match one:
            case ast.Assign([ast.Name(name)], ast.Subscript(ast.Name(table))) if table not in bound:
                yield name


def _passed_on(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of an expression whose items it passes on: `self.steps` in `enumerate(self.steps)`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _BUILTIN_VALUES:
        yield from value.args
    elif isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        yield value


def _calls_held(node: ast.AST, held: frozenset[str]) -> bool:
    """Whether a node calls an attribute that is not a method, or a hook: `self.transform(x)`, `self.get(index)`. A
    common name may be a method of what the object holds: `self.known.get(name)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    is_own = isinstance(node.func.value, ast.Name) or node.func.attr not in _COMMON
    return is_own and node.func.attr in held and _root(node.func) in ("self", "cls")


def _is_effect(node: ast.AST, imports: Mapping[str, str], params: set[str]) -> bool:
    """Whether a node of a function's tree is an effect, regardless of the rest of the library."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in params:
            return True
        name = _dotted(node.func, imports)
        return is_known_effect(name) or (isinstance(node.func, ast.Attribute) and node.func.attr in _RANDOM)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id in params
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in params:
        return any(isinstance(one, ast.Attribute) for one in node.targets)
    if isinstance(node, ast.ImportFrom):
        return any(is_known_effect(f"{node.module}.{one.name}") for one in node.names)
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
        root = _root(node)
        return root in params and root not in ("self", "cls")
    return False


@cache
def is_known_effect(name: str) -> bool:
    """Whether calling something with this full name is an effect: the tables contain it, or a prefix of it."""
    full = canonical(name)
    if full.startswith(_EFFECTS) or name in ("open", "builtins.open"):
        return True
    return full in _loaders()


@cache
def _loaders() -> frozenset[str]:
    from loaderlint.knowledge.wrappers import LOADERS

    return frozenset(LOADERS)


class _ReducedModule:
    def __init__(self, module: Module, library: _Library) -> None:
        self.module = module
        self.library = library
        self.imports = _imports(module, ast.walk(module.tree))
        self.own = {one.name for one in module.tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}

    def text(self) -> str:
        body = self._block(self.module.tree.body)
        tree = ast.Module(self._without_unused(body), [])
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def _without_unused(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body without unused imports at module level. In a package's `__init__.py`, all imports may be for
        others."""
        used = {one.id for stmt in body for one in ast.walk(stmt) if isinstance(one, ast.Name)}
        found = []
        for stmt in body:
            if not isinstance(stmt, ast.Import | ast.ImportFrom) or not self._is_unused(stmt, used):
                found.append(stmt)
        return found

    def _is_unused(self, stmt: ast.Import | ast.ImportFrom, used: set[str]) -> bool:
        if isinstance(stmt, ast.ImportFrom):
            full = self.module.full(stmt.module, stmt.level)
            is_own = full.partition(".")[0] in self.library.tops
            if full == "__future__":
                return True
            if is_own and self.module.path.endswith("__init__.py"):
                return False
            if full.startswith("torch.utils.data") or any(one.name == "*" for one in stmt.names):
                return not is_own and not full.startswith("torch")
        return not any((one.asname or one.name.partition(".")[0]) in used for one in stmt.names)

    def _block(self, stmts: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [kept for stmt in stmts for kept in self._statement(stmt)]

    def _statement(self, stmt: ast.stmt) -> Iterator[ast.stmt]:
        """The reduced form of a statement of a module or of a class body."""
        match stmt:
            case ast.Import() | ast.ImportFrom():
                yield stmt
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield _Function(self, stmt, None).reduced()
            case ast.ClassDef():
                yield self._class(stmt)
            case ast.Assign() | ast.AnnAssign():
                yield from self._assigned(stmt)
            case ast.If():
                body, other = self._block(stmt.body), self._block(stmt.orelse)
                if body or other:
                    yield ast.If(_Function(self, None, None).test(stmt.test), body or [ast.Pass()], other)
            case ast.Try():
                yield from self._tried(stmt)
            case ast.With():
                yield from self._block(stmt.body)
            case ast.Expr(ast.Call() as call) if self.is_effect(call, frozenset(), frozenset()):
                yield ast.Expr(_Function(self, None, None).value(call))

    def _assigned(self, stmt: ast.Assign | ast.AnnAssign) -> Iterator[ast.stmt]:
        value = _Function(self, None, None).value(stmt.value) if stmt.value is not None else None
        if isinstance(stmt, ast.AnnAssign):
            if isinstance(stmt.target, ast.Name):
                yield ast.AnnAssign(stmt.target, _annotation(stmt.annotation), value, 1)
            return
        assert value is not None
        targets = [one for one in stmt.targets if _is_name(one) and not _is_dunder(one)]
        if targets:
            yield ast.Assign(targets, value)

    def _tried(self, stmt: ast.Try) -> Iterator[ast.stmt]:
        body = [*self._block(stmt.body), *self._block(stmt.orelse)]
        handlers = [(one, self._block(one.body)) for one in stmt.handlers]
        if body or any(kept for _, kept in handlers):
            kinds = [ast.ExceptHandler(None, None, kept or [ast.Pass()]) for _, kept in handlers[:1]]
            if kinds:
                yield ast.Try(body or [ast.Pass()], kinds, [], [])
            else:
                yield from body
        yield from self._block(stmt.finalbody)

    def _class(self, stmt: ast.ClassDef) -> ast.stmt:
        plain = _Function(self, None, None)
        bases = [plain.value(one) for one in stmt.bases]
        keywords = [ast.keyword(one.arg, plain.value(one.value)) for one in stmt.keywords]
        decorators = [plain.value(one, decorator=True) for one in stmt.decorator_list]
        return ast.ClassDef(stmt.name, bases, keywords, self._block(stmt.body) or [ast.Pass()], decorators)

    def is_effect(self, call: ast.Call, given: frozenset[str], inner: frozenset[str]) -> bool:
        """Whether a call is an effect, in a function with these arguments (`given`) and nested functions (`inner`)."""
        func = call.func
        if isinstance(func, ast.Name):
            if func.id in given or func.id in inner or func.id in _BUILTIN_EFFECTS:
                return True
            full = _dotted(func, self.imports)
            if is_known_effect(full):
                return True
            is_own = func.id in self.own or full.partition(".")[0] in self.library.tops
            return is_own and full.rpartition(".")[2] in self.library.effects
        if not isinstance(func, ast.Attribute):
            return isinstance(func, ast.Subscript | ast.Call)
        name = _dotted(func, self.imports)
        if name and is_known_effect(name):
            return True
        if func.attr in _RANDOM or func.attr in self.library.effects:
            return True
        if isinstance(func.value, ast.Call) and _last(func.value.func) == "super":
            return True
        return _calls_held(call, self.library.held)


@dataclass(slots=True)
class _Function:
    """One function while it is reduced; without a node for code outside functions."""

    module: _ReducedModule
    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    outer: _Function | None
    params: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()
    chosen: frozenset[str] = frozenset()
    locals: dict[str, str] = field(default_factory=dict)
    effects: int = 0

    def __post_init__(self) -> None:
        if self.node is None:
            return
        self.params = frozenset(_names(self.node.args))
        bound = _bound_in(self.node)
        self.inner = frozenset(name for name, is_def in bound.items() if is_def)
        self.given = self.params.difference(("self", "cls")) | _given(self.node)
        self.chosen = frozenset(_chosen(self.node)) & bound.keys()
        if self.outer is not None:
            self.chosen |= self.outer.chosen
            self.params |= self.outer.params
            self.inner |= self.outer.inner
            self.given |= self.outer.given
            self.locals = dict(self.outer.locals)
        for name in bound:
            if name not in self.params and name not in self.inner:
                self.locals.setdefault(name, f"v{len(self.locals) + 1}")

    def reduced(self) -> ast.stmt:
        """The function with its effects."""
        assert self.node is not None
        body = _pruned(self.block(self.node.body), frozenset(self.locals.values()))
        if not self.effects and not _gives_what_it_makes(body):
            body = list(_result(body))
        plain = self.outer or _Function(self.module, None, None)
        decorators = [plain.value(one, decorator=True) for one in self.node.decorator_list]
        kind = ast.AsyncFunctionDef if isinstance(self.node, ast.AsyncFunctionDef) else ast.FunctionDef
        return kind(self.node.name, plain.signature(self.node.args), body or [ast.Pass()], decorators, None)

    def signature(self, args: ast.arguments) -> ast.arguments:
        """Parameters with their defaults and without annotations."""
        bare = [[ast.arg(one.arg) for one in some] for some in (args.posonlyargs, args.args, args.kwonlyargs)]
        defaults = [self.value(one) for one in args.defaults]
        kw_defaults = [self.value(one) if one is not None else None for one in args.kw_defaults]
        star, starstar = (ast.arg(one.arg) if one else None for one in (args.vararg, args.kwarg))
        return ast.arguments(bare[0], bare[1], star, bare[2], kw_defaults, starstar, defaults)

    # --- statements ---------------------------------------------------------------------------------------------------

    def block(self, stmts: Iterable[ast.stmt]) -> list[ast.stmt]:
        return [kept for stmt in stmts for kept in self.statement(stmt)]

    def statement(self, stmt: ast.stmt) -> Iterator[ast.stmt]:
        match stmt:
            case ast.Return(value):
                yield from self.inside(value)
                yield ast.Return(self.value(value) if value is not None else None)
            case ast.Raise():
                yield ast.Raise(_unknown(), None)
            case ast.Assign(targets, value):
                yield from self.inside(value)
                for target in targets:
                    yield from self.stored(target, self.value(value))
            case ast.AnnAssign(target, _, value) if value is not None:
                yield from self.inside(value)
                yield from self.stored(target, self.value(value))
            case ast.AugAssign(target, op, value):
                yield from self.inside(value)
                kept = self.target(target)
                if isinstance(kept, ast.Name | ast.Attribute | ast.Subscript):
                    self.note_edit(target)
                    self.effects += isinstance(target, ast.Name) and target.id in self.params
                    yield ast.AugAssign(kept, op, self.value(value))
            case ast.Delete(targets):
                places = [one for one in map(self.target, targets) if one is not None and not _is_name(one)]
                if places:
                    yield ast.Delete(places)
            case ast.Expr(ast.Yield() | ast.YieldFrom() | ast.Await() as value):
                yield ast.Expr(self.value(value))
            case ast.Expr(value):
                yield from self.performed(value)
            case ast.If() | ast.While() | ast.For() | ast.AsyncFor():
                yield from self.branched(stmt)
            case ast.With() | ast.AsyncWith():
                yield from self.entered(stmt)
            case ast.Try():
                yield from self.tried(stmt)
            case ast.Match():
                for case_ in stmt.cases:
                    if body := self.block(case_.body):
                        yield ast.If(_unknown(), body, [])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                function = _Function(self.module, stmt, self)
                yield function.reduced()
                self.effects += function.effects
            case ast.ClassDef():
                yield self.module._class(stmt)
            case ast.ImportFrom():
                self.effects += _is_effect(stmt, {}, set())
                yield stmt
            case ast.Import() | ast.Global() | ast.Nonlocal() | ast.Break() | ast.Continue():
                yield stmt
            case ast.Assert(test):
                yield from self.inside(test)

    def stored(self, target: ast.expr, value: ast.expr) -> Iterator[ast.stmt]:
        if isinstance(target, ast.Tuple | ast.List):
            kept = [self.target(one) for one in target.elts]
            if all(one is not None for one in kept):
                yield ast.Assign([ast.Tuple([one for one in kept if one is not None], ast.Store())], value)
            return
        place = self.target(target)
        if place is not None:
            self.note_edit(target)
            self.effects += isinstance(place, ast.Attribute) and isinstance(value, ast.Name) and value.id in self.params
            yield ast.Assign([place], value)

    def note_edit(self, target: ast.expr) -> None:
        """Count an edit of an argument, or of an attribute's value (except plain stores)."""
        root = _root(target)
        if isinstance(target, ast.Subscript | ast.Attribute) and root in self.params:
            own = isinstance(target, ast.Attribute) and _is_name(target.value) and root in ("self", "cls")
            self.effects += not own or (self.node is not None and self.node.name == "__init__")

    def target(self, target: ast.expr) -> ast.expr | None:
        """The reduced target of a store; None if nothing needs it."""
        match target:
            case ast.Name(name):
                return ast.Name(self.locals.get(name, name), ast.Store())
            case ast.Starred(value):
                kept = self.target(value)
                return ast.Starred(kept, ast.Store()) if kept is not None else None
            case ast.Tuple(elts) | ast.List(elts):
                places = [self.target(one) for one in elts]
                found = [one for one in places if one is not None]
                return ast.Tuple(found, ast.Store()) if len(found) == len(elts) else None
            case ast.Attribute(value, attr):
                base = self.value(value)
                return None if _is_unknown(base) else ast.Attribute(base, attr, ast.Store())
            case ast.Subscript(value, index):
                base = self.value(value)
                return None if _is_unknown(base) else ast.Subscript(base, self.index(index), ast.Store())
        return None

    def performed(self, value: ast.expr) -> Iterator[ast.stmt]:
        """The reduced form of an expression whose value is not used."""
        if isinstance(value, ast.Call) and (self.is_effect(value) or self.changes(value)):
            yield from self.inside(value, itself=False)
            yield ast.Expr(self.called(value))
        else:
            yield from self.inside(value)

    def changes(self, call: ast.Call) -> bool:
        """Whether a call changes the object whose method it calls."""
        func = call.func
        if not isinstance(func, ast.Attribute):
            return False
        name = func.attr
        in_place = name.endswith("_") and not name.startswith("_")
        return (name in _CHANGES or in_place) and not _is_unknown(self.value(func.value))

    def inside(self, value: ast.expr | None, *, itself: bool = True) -> Iterator[ast.stmt]:
        """The effects inside an expression that is removed or reduced, as statements before it."""
        if value is None:
            return
        kept = {
            ast.dump(one)
            for one in ast.walk(self.called(value) if isinstance(value, ast.Call) and not itself else self.value(value))
            if isinstance(one, ast.Call)
        }
        for one in _evaluated(value):
            if isinstance(one, ast.Call) and self.is_effect(one) and (itself or one is not value):
                call = self.called(one)
                if ast.dump(call) not in kept:
                    kept.add(ast.dump(call))
                    yield ast.Expr(call)

    def branched(self, stmt: ast.If | ast.While | ast.For | ast.AsyncFor) -> Iterator[ast.stmt]:
        body, other = self.block(stmt.body), self.block(stmt.orelse)
        if isinstance(stmt, ast.If | ast.While):
            yield from self.inside(stmt.test)
            if body or other:
                test = self.test(stmt.test)
                yield type(stmt)(test, body or [ast.Pass()], other)
            return
        target = self.target(stmt.target)
        yield from self.inside(stmt.iter)
        if body or other:
            yield ast.For(target or ast.Name("v0", ast.Store()), self.value(stmt.iter), body or [ast.Pass()], other)

    def entered(self, stmt: ast.With | ast.AsyncWith) -> Iterator[ast.stmt]:
        body = self.block(stmt.body)
        items = []
        for item in stmt.items:
            manager = self.value(item.context_expr)
            target = self.target(item.optional_vars) if item.optional_vars is not None else None
            if not _is_unknown(manager) or target is not None:
                items.append(ast.withitem(manager, target))
        if items and (body or any(isinstance(one.context_expr, ast.Call) for one in items)):
            yield ast.With(items, body or [ast.Pass()])
        else:
            yield from body

    def tried(self, stmt: ast.Try) -> Iterator[ast.stmt]:
        body, handlers = self.block(stmt.body), [self.block(one.body) for one in stmt.handlers]
        other, final = self.block(stmt.orelse), self.block(stmt.finalbody)
        if not any((body, other, final, *handlers)):
            return
        kept = [ast.ExceptHandler(None, None, [s for h in handlers for s in h] or [ast.Pass()])] if handlers else []
        if not kept and not final:
            yield from (*body, *other)
            return
        yield ast.Try(body or [ast.Pass()], kept, other if kept else [], final)

    # --- expressions --------------------------------------------------------------------------------------------------

    def is_effect(self, call: ast.Call) -> bool:
        found = self.module.is_effect(call, self.given, self.inner)
        self.effects += found
        return found

    def test(self, test: ast.expr) -> ast.expr:
        """A condition, if it tests whether something exists, is enabled, or is only for type checking; else the unknown
        value."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                inner = self.test(operand)
                return inner if _is_unknown(inner) else ast.UnaryOp(ast.Not(), inner)
            case ast.Compare(left, [ast.Is() | ast.IsNot()], [ast.Constant(None)]):
                base = self.value(left)
                return base if _is_unknown(base) else ast.Compare(base, test.ops, test.comparators)
            case ast.Name() | ast.Attribute() | ast.Constant():
                return self.value(test)
            case ast.Call(ast.Name("hasattr" | "isinstance" | "callable")):
                return self.called(test)
        return _unknown()

    def value(self, expr: ast.expr | None, *, decorator: bool = False) -> ast.expr:
        """The reduced form of a value; for most values, the unknown `_`."""
        match expr:
            case ast.Constant(value):
                return expr if _is_plain(value) else _unknown()
            case ast.Name(name):
                return ast.Name(self.locals.get(name, name), ast.Load())
            case ast.Attribute(value, attr):
                base = self.value(value)
                return base if _is_unknown(base) else ast.Attribute(base, attr, ast.Load())
            case ast.Call():
                return self.called(expr) if decorator or self.tells(expr) else _unknown()
            case ast.Subscript(value, index):
                base = self.value(value)
                return base if _is_unknown(base) else ast.Subscript(base, self.index(index), ast.Load())
            case ast.UnaryOp(ast.USub() as op, ast.Constant()):
                return ast.UnaryOp(op, self.value(expr.operand))
            case ast.BoolOp(op, values):
                kept = [self.value(one) for one in values]
                return _unknown() if any(map(_is_unknown, kept)) else ast.BoolOp(op, kept)
            case ast.IfExp(test, body, orelse):
                then, other = self.value(body), self.value(orelse)
                both = _is_unknown(then) and _is_unknown(other)
                return _unknown() if both else ast.IfExp(self.test(test), then, other)
            case ast.Tuple(elts) | ast.List(elts) | ast.Set(elts):
                if len(elts) > _MOST_ITEMS:
                    return _unknown()
                items = [self.value(one) for one in elts]
                return ast.Set(items) if isinstance(expr, ast.Set) else type(expr)(items, ast.Load())
            case ast.Dict(keys, values):
                if len(keys) > _MOST_ITEMS:
                    return _unknown()
                return ast.Dict([self.value(one) if one else None for one in keys], [self.value(v) for v in values])
            case ast.Starred(value):
                return ast.Starred(self.value(value), ast.Load())
            case ast.Lambda(args, body):
                return ast.Lambda(self.signature(args), self.value(body))
            case ast.Yield(value):
                self.effects += 1
                return ast.Yield(self.value(value) if value is not None else None)
            case ast.YieldFrom(value):
                self.effects += 1
                return ast.YieldFrom(self.value(value))
            case ast.Await(value) | ast.NamedExpr(_, value):
                return self.value(value)
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp():
                return self.comprehension(expr)
            case ast.DictComp(
                ast.Name(key), ast.Name(item), [ast.comprehension(ast.Tuple([ast.Name(k), ast.Name(v)]))]
            ):
                return self.copied_items(expr) if (key, item) == (k, v) else _unknown()
        return _unknown()

    def comprehension(self, expr: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> ast.expr:
        if len(expr.generators) > 1:
            return _unknown()
        (one,) = expr.generators
        over, element = self.value(one.iter), self.value(expr.elt)
        if _is_unknown(over) and _is_unknown(element):
            return type(expr)(element, [ast.comprehension(ast.Name("v0", ast.Store()), over, [], 0)])
        target = self.target(one.target)
        if target is None:
            return _unknown()
        return type(expr)(element, [ast.comprehension(target, over, [], 0)])

    def copied_items(self, expr: ast.DictComp) -> ast.expr:
        """`{name: value for name, value in options.items()}`, with the condition if it tests whether there is a
        value."""
        (one,) = expr.generators
        target = self.target(one.target)
        over = one.iter
        if target is None or not isinstance(over, ast.Call) or not isinstance(over.func, ast.Attribute):
            return _unknown()
        items = self.called(over)
        if over.func.attr != "items" or over.args or _is_unknown(self.value(over.func.value)):
            return _unknown()
        tests = [self.test(test) for test in one.ifs]
        return ast.DictComp(self.value(expr.key), self.value(expr.value), [ast.comprehension(target, items, tests, 0)])

    def tells(self, call: ast.Call) -> bool:
        """Whether the value of a call is kept."""
        if self.is_effect(call) or self.changes(call):
            return True
        name = _dotted(call.func, self.module.imports)
        if isinstance(call.func, ast.Name) and call.func.id in _BUILTIN_VALUES | self.chosen:
            return True
        if name and (canonical(name) in names_in_tables() or name.startswith(_DATASETS)):
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr in _VALUES:
            return not _is_unknown(self.value(call.func.value))
        last = name.rpartition(".")[2]
        is_own = name in self.module.own or name.partition(".")[0] in self.module.library.tops
        return is_own and (last[:1].isupper() or self.node is None)

    def called(self, call: ast.expr) -> ast.expr:
        """A call that is kept, with its reduced arguments."""
        assert isinstance(call, ast.Call)
        args = [self.value(one) for one in call.args]
        keywords = [ast.keyword(one.arg, self.value(one.value)) for one in call.keywords]
        func = self.called(call.func) if isinstance(call.func, ast.Call) else self.value(call.func)
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            func = ast.Attribute(self.called(call.func.value), call.func.attr, ast.Load())
        return ast.Call(func, args, keywords)

    def index(self, index: ast.expr) -> ast.expr:
        """An index: whether it is a slice, a name, or a plain value."""
        match index:
            case ast.Slice(lower, upper, step):
                return ast.Slice(*(self.value(one) if one is not None else None for one in (lower, upper, step)))
            case ast.Tuple(elts):
                return ast.Tuple([self.index(one) for one in elts], ast.Load())
        return self.value(index)


def _pruned(body: list[ast.stmt], names: frozenset[str]) -> list[ast.stmt]:
    """A body without local variables that nothing reads, or whose values are unknown."""
    while True:
        nodes = [one for stmt in body for one in ast.walk(stmt)]
        stored = Counter(one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        read = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
        unsaid = Counter(_bound_to_unknown(one) for one in nodes)
        silent = frozenset(name for name in names if unsaid[name] and unsaid[name] == stored[name])
        after = _Prune(silent, frozenset(name for name in names if stored[name]) - read).block(body)
        if [*map(ast.dump, after)] == [*map(ast.dump, body)]:
            return after
        body = after


def _bound_to_unknown(node: ast.AST) -> str:
    """The name in `name = _`; '' for anything else."""
    match node:
        case ast.Assign([ast.Name(name)], value) if _is_unknown(value):
            return name
    return ""


class _Prune(ast.NodeTransformer):
    def __init__(self, silent: frozenset[str], unread: frozenset[str]) -> None:
        self._silent = silent
        self._unread = unread

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for stmt in body:
            kept = self.visit(stmt)
            if kept is not None:
                found.extend(kept if isinstance(kept, list) else [kept])
        return found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _unknown() if node.id in self._silent and isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        base = self.visit(node.value)
        return base if _is_unknown(base) else ast.Attribute(base, node.attr, node.ctx)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        base = self.visit(node.value)
        return base if _is_unknown(base) else ast.Subscript(base, self.visit(node.slice), node.ctx)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        value = self.visit(node.value)
        target = node.targets[0]
        if isinstance(target, ast.Name):
            if target.id in self._silent:
                return None
            if target.id in self._unread:
                return ast.Expr(value) if isinstance(value, ast.Call) else None
        elif isinstance(target, ast.Attribute | ast.Subscript):
            target = self.visit(target)
            if _is_unknown(target):
                return ast.Expr(value) if isinstance(value, ast.Call) else None
        return ast.Assign([target, *node.targets[1:]], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | None:
        target = node.target
        if isinstance(target, ast.Name) and target.id in self._silent | self._unread:
            return None
        return node if isinstance(target, ast.Name) or not _is_unknown(self.visit(target)) else None

    def visit_Delete(self, node: ast.Delete) -> ast.stmt | None:
        return None if any(_is_unknown(self.visit(one)) for one in node.targets) else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            if _is_unknown(self.visit(node.value.func)) and node.value.func.attr not in _RANDOM:
                return None
        value = self.visit(node.value)
        return ast.Expr(value) if isinstance(value, ast.Call | ast.Yield | ast.YieldFrom | ast.Await) else None

    def visit_If(self, node: ast.If) -> ast.stmt | None:
        body, other = self.block(node.body), self.block(node.orelse)
        return ast.If(self.visit(node.test), body or [ast.Pass()], other) if body or other else None

    def visit_For(self, node: ast.For) -> ast.stmt | None:
        body, other = self.block(node.body), self.block(node.orelse)
        return ast.For(node.target, self.visit(node.iter), body or [ast.Pass()], other) if body or other else None

    def visit_While(self, node: ast.While) -> ast.stmt | None:
        body, other = self.block(node.body), self.block(node.orelse)
        return ast.While(self.visit(node.test), body or [ast.Pass()], other) if body or other else None

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def _keep(self, node: ast.AST) -> ast.AST:
        for name in ("body", "handlers", "orelse", "finalbody"):
            if isinstance(kept := getattr(node, name, None), list):
                setattr(node, name, self.block(kept) or ([ast.Pass()] if name == "body" else []))
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        self._keep(node)
        return node if node.handlers or node.finalbody else node.body

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        return self._keep(node)

    def visit_With(self, node: ast.With) -> ast.AST:
        node.items = [ast.withitem(self.visit(one.context_expr), one.optional_vars) for one in node.items]
        return self._keep(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._keep(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._keep(node)


def _result(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The result of a function without effects: what it may return, or that it returns nothing."""
    returns = [one for stmt in body for one in ast.walk(stmt) if isinstance(one, ast.Return)]
    values = [one.value for one in returns if one.value is not None]
    if not values:
        if body and all(isinstance(stmt, ast.Raise) for stmt in body):
            yield ast.Raise(_unknown(), None)
        return
    distinct = list({ast.dump(one): one for one in values if not any(map(_is_local, ast.walk(one)))}.values())
    unknown = len(distinct) < len({ast.dump(one) for one in values})
    may_end = not _leaves(body) or any(one.value is None for one in returns)
    results = [*distinct, *([_unknown()] if unknown else [])][:_MOST_ITEMS]
    for one in results[:-1]:
        yield ast.If(_unknown(), [ast.Return(one)], [])
    last = ast.Return(results[-1])
    yield ast.If(_unknown(), [last], []) if may_end else last


def _gives_what_it_makes(body: Sequence[ast.stmt]) -> bool:
    """Whether a body returns an object that it has created: `data = Images(root)`, `return data`."""
    nodes = [one for stmt in body for one in ast.walk(stmt)]
    made = {name for one in nodes for name in _bound_to_object(one)}
    values = [one.value for one in nodes if isinstance(one, ast.Return) and one.value is not None]
    return any(isinstance(part, ast.Name) and part.id in made for value in values for part in _parts(value))


def _bound_to_object(node: ast.AST) -> Iterator[str]:
    """The local variable that a node binds to an object of a class."""
    match node:
        case ast.Assign([ast.Name(name)], ast.Call(func)) if _last(func)[:1].isupper() or _is_local(func):
            yield name


def _parts(value: ast.expr) -> Sequence[ast.expr]:
    return value.elts if isinstance(value, ast.Tuple | ast.List) else [value]


def _leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether the end of a body is never reached."""
    if not body:
        return False
    match body[-1]:
        case ast.Return() | ast.Raise():
            return True
        case ast.If(_, then, other):
            return _leaves(then) and _leaves(other)
        case ast.With(_, inner):
            return _leaves(inner)
        case ast.While(ast.Constant(True)):
            return True
        case ast.Try(inner, handlers, other, final):
            ends = _leaves(inner) or _leaves(other)
            return _leaves(final) or (ends and all(_leaves(one.body) for one in handlers))
    return False


def _is_local(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id[:1] == "v" and node.id[1:].isdigit()


def _evaluated(expr: ast.expr) -> Iterator[ast.AST]:
    """The nodes that are evaluated with an expression, innermost first, without the bodies of its lambdas."""
    for child in ast.iter_child_nodes(expr):
        if not isinstance(child, ast.Lambda) and isinstance(child, ast.expr | ast.keyword | ast.comprehension):
            yield from _evaluated(child)  # type: ignore[arg-type]
    yield expr


def _bound_in(function: ast.AST) -> dict[str, bool]:
    """The names that a function itself binds, and whether each is a function or class."""
    found: dict[str, bool] = {}
    declared: set[str] = set()
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop(0)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = True
                continue
            case ast.Name(name, ast.Store()):
                found.setdefault(name, False)
            case ast.Global(names) | ast.Nonlocal(names):
                declared |= set(names)
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                declared |= {one.asname or one.name.partition(".")[0] for one in aliases}
        waiting.extend(ast.iter_child_nodes(node))
    return {name: is_def for name, is_def in found.items() if name not in declared}


def _imports(module: Module, nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The full names of what a module's imports bind, at any depth."""
    found: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                bound = one.asname or one.name.partition(".")[0]
                found[bound] = one.name if one.asname else bound
        elif isinstance(node, ast.ImportFrom):
            full = module.full(node.module, node.level)
            found.update({one.asname or one.name: f"{full}.{one.name}" for one in node.names})
    return found


def _dotted(expr: ast.expr, imports: Mapping[str, str]) -> str:
    """The full dotted name of an expression; '' if it is not a name, or neither imported nor at module level."""
    parts: list[str] = []
    while isinstance(expr, ast.Attribute):
        parts.append(expr.attr)
        expr = expr.value
    if not isinstance(expr, ast.Name) or (parts and expr.id not in imports):
        return ""
    return ".".join((imports.get(expr.id, expr.id), *reversed(parts)))


def _root(expr: ast.expr) -> str:
    while isinstance(expr, ast.Attribute | ast.Subscript):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else ""


def _last(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _names(args: ast.arguments) -> Iterator[str]:
    for one in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg):
        if one is not None:
            yield one.arg


def _annotation(annotation: ast.expr) -> ast.expr:
    """A field's annotation, if it is a name."""
    return annotation if isinstance(annotation, ast.Name | ast.Attribute) else _unknown()


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_TEXT and value.isprintable() and " " not in value
    return value is None or value is ... or isinstance(value, bool | int | float)


def _is_name(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Name) or (isinstance(expr, ast.Tuple) and all(map(_is_name, expr.elts)))


def _is_dunder(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Name) and expr.id.startswith("__") and expr.id != "__version__"


def _is_unknown(expr: object) -> bool:
    return isinstance(expr, ast.Name) and expr.id == UNKNOWN


def _unknown() -> ast.expr:
    return ast.Name(UNKNOWN, ast.Load())
