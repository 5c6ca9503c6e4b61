"""Change the program in small ways, one at a time, and see whether a test fails.

    python -m scripts.mutants --sample 100 --seed 1 server/loaderlint/rules server/loaderlint/project -- tests/rules
    python -m scripts.mutants server/loaderlint/rules/shared/worker_seeding.py:70 -- tests/rules -k seed

The arguments after `--` are for pytest, and choose the tests. Each test runs once to record which statements with
mutants it executes. Then a forked process replaces the code of one function by the mutant, and runs the tests that
execute the statement until one of them fails. A mutant that no test executes has survived. Only code inside functions
is mutated, but no texts, annotations, default values or decorators.

With `--seconds`, a mutant has survived if it was not killed within this much CPU time of tests, even if some tests did
not run: the score is then a lower limit.

Do not edit the program while this runs: the processes import some of its modules late. Run it on a copy instead.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import gc
import importlib
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

Group = str
"""The key of tests that share computed data, such as all tests of one case."""

_Variant = tuple[ast.AST, str, ast.AST]
_Place = tuple[str, str, int]
_Function = ast.FunctionDef | ast.AsyncFunctionDef

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: The name of the function that recorded statements call.
_RECORD = "_mutants_record"
_SPARE_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one function. `statement`: the first line of the changed statement."""

    path: Path
    module: ast.Module
    function: _Function
    first_line: int
    statement: int
    description: str
    apply: Callable[[], None]

    def __str__(self) -> str:
        return f"{os.path.relpath(self.path)}:{self.first_line} {self.function.name}: {self.description}"


@dataclass(frozen=True, slots=True)
class Recording:
    """The statements with mutants that a group of tests executes, and the CPU time that it takes."""

    lines: frozenset[tuple[str, int]]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Child:
    """A forked process, and its folder for temporary files."""

    pid: int
    folder: str

    def wait(self) -> int:
        """The exit code: 0 if the action of the process returned True, 1 if not, negative if a signal ended it."""
        _, status = os.waitpid(self.pid, 0)
        shutil.rmtree(self.folder, ignore_errors=True)
        return os.waitstatus_to_exitcode(status)


def mutants(path: Path) -> list[Mutant]:
    """All mutants of a module. They share one tree, which applying a mutant changes."""
    module = ast.parse(path.read_text("utf-8"))
    return [mutant for function in _functions(module) for mutant in _of(path, module, function)]


def _functions(scope: ast.Module | ast.ClassDef) -> Iterator[_Function]:
    for node in scope.body:
        if isinstance(node, _Function):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node)


def _of(path: Path, module: ast.Module, function: _Function) -> Iterator[Mutant]:
    statements = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    for node, replace in _slots(function.body):
        for spot, description, replacement in _variants(node):
            first = getattr(spot, "lineno", 0)
            statement = max(one.lineno for one in statements if one.lineno <= first <= (one.end_lineno or 0))
            yield Mutant(path, module, function, first, statement, description, partial(replace, replacement))


def _slots(nodes: list[Any]) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """The nodes and all below them, each with a function that replaces it."""
    for index, node in enumerate(nodes):
        if isinstance(node, ast.AST):
            yield node, partial(nodes.__setitem__, index)
            yield from _slots_below(node)


def _slots_below(node: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(value, list):
            yield from _slots(value)
        elif isinstance(value, ast.AST):
            yield value, partial(setattr, node, name)
            yield from _slots_below(value)


def _variants(node: ast.AST) -> Iterator[_Variant]:
    """The variants of a node: the part that differs, a description of the change, and the other node."""
    match node:
        case ast.Compare(ops=[op]):
            other = _SWAPPED[type(op)]
            yield node, f"{_text(node)} -> {other.__name__}", _with(node, ops=[other()])
        case ast.BoolOp(values=values):
            for value in values:
                rest = [each for each in values if each is not value]
                fewer = rest[0] if len(rest) == 1 else _with(node, values=rest)
                yield value, f"without operand {_text(value)}", fewer
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"{_text(node)} -> without not", operand
        case ast.If(test=test) | ast.While(test=test):
            yield test, f"if {_text(test)} -> if False", _with(node, test=ast.Constant(False))
        case ast.IfExp(body=body, orelse=orelse):
            yield node, f"{_text(node)} -> {_text(body)}", body
            yield node, f"{_text(node)} -> {_text(orelse)}", orelse
        case ast.comprehension(ifs=conditions):
            for one in conditions:
                yield one, f"without if {_text(one)}", _with(node, ifs=[each for each in conditions if each is not one])
        case ast.Constant(value=bool(value)):
            yield node, f"{value} -> {not value}", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield node, f"{value} -> {value + 1}", ast.Constant(value + 1)
        case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Add() | ast.Sub(), right=right):
            yield node, f"{_text(node)} -> {_text(left)}", left
            yield node, f"{_text(node)} -> {_text(right)}", right
        case ast.Call(func=ast.Name(id="any" | "all" as name)):
            other_name = "all" if name == "any" else "any"
            yield node, f"{_text(node)} -> {other_name}", _with(node, func=ast.Name(other_name, ast.Load()))
        case ast.Set(elts=items) if len(items) > 1:
            for item in items:
                yield item, f"without {_text(item)}", _with(node, elts=[each for each in items if each is not item])
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield node, f"without {_text(node)}", ast.Pass()
        case ast.AugAssign() | ast.Continue() | ast.Break():
            yield node, f"without {_text(node)}", ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _text(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:67]}..."


def _recording(path: Path, functions: Iterable[_Function], record: str) -> CodeType:
    """The code of a module in which the statements of some functions call the built-in `record` before they run."""
    module = ast.parse(path.read_text("utf-8"))
    places = {(one.name, one.lineno) for one in functions}
    for function in _functions(module):
        if (function.name, function.lineno) in places:
            for node in list(ast.walk(function)):
                for name, value in ast.iter_fields(node):
                    if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                        setattr(node, name, [each for one in value for each in (_call(record, path, one), one)])
    return compile(ast.fix_missing_locations(module), str(path), "exec")


def _call(record: str, path: Path, statement: ast.stmt) -> ast.stmt:
    call = ast.Call(ast.Name(record, ast.Load()), [ast.Constant(str(path)), ast.Constant(statement.lineno)], [])
    return ast.copy_location(ast.Expr(call), statement)


class MutantRun:
    """A pytest plugin that runs the collected tests once unchanged, then for each mutant.

    `score` is the result: the number of mutants killed, and of all mutants."""

    def __init__(self, chosen: Sequence[Mutant], jobs: int = 1, seconds: float | None = None) -> None:
        self._chosen = chosen
        self._jobs = jobs
        self._seconds = seconds
        self._groups: dict[Group, list[pytest.Item]] = {}
        self._failed = False
        self.score = (0, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a failure."""
        self._failed |= report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in separate processes."""
        for item in session.items:
            self._groups.setdefault(_group(item), []).append(item)
        for path in {mutant.path for mutant in self._chosen}:
            _import(path)
        recordings = self._record()
        killed = 0
        for number, (mutant, verdict) in enumerate(self._verdicts(recordings), 1):
            killed += verdict in ("killed", "timeout")
            print(f"{killed}/{number} {verdict}: {mutant}", flush=True)
        self.score = (killed, len(self._chosen))
        return True

    def _verdicts(self, recordings: dict[Group, Recording]) -> Iterator[tuple[Mutant, str]]:
        """Each mutant with its verdict. As many run at once as there are jobs."""
        running: deque[tuple[Mutant, _Child | None]] = deque()
        for mutant in self._chosen:
            if len(running) == self._jobs:
                yield _ended(*running.popleft())
            running.append((mutant, self._started(mutant, recordings)))
        while running:
            yield _ended(*running.popleft())

    def _record(self) -> dict[Group, Recording]:
        """The recording of each group. Tests that fail without a mutant are left out."""
        recordings: dict[Group, Recording] = {}
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
            kept = Path(folder, "recordings")
            status = _forked(lambda: kept.write_bytes(pickle.dumps(dict(self._recorded()))) > 0).wait()
            assert status == 0, "the tests cannot be recorded"
            recordings = pickle.loads(kept.read_bytes())
        print(f"{len(recordings)} of {len(self._groups)} groups of tests pass", flush=True)
        return recordings

    def _recorded(self) -> Iterator[tuple[Group, Recording]]:
        lines: set[tuple[str, int]] = set()
        setattr(builtins, _RECORD, lambda path, line: lines.add((path, line)))
        functions: defaultdict[Path, list[_Function]] = defaultdict(list)
        for mutant in self._chosen:
            functions[mutant.path].append(mutant.function)
        for path, changed in functions.items():
            _replace(_recording(path, changed, _RECORD), [_place_of(path, one) for one in changed])
        for group in self._groups:
            lines.clear()
            began = time.process_time()
            if self._passes(group):
                yield group, Recording(frozenset(lines), time.process_time() - began)

    def _started(self, mutant: Mutant, recordings: dict[Group, Recording]) -> _Child | None:
        """The process that runs the tests of the mutant. None if no test executes it."""
        place = str(mutant.path), mutant.statement
        covering = [group for group, recording in recordings.items() if place in recording.lines]
        if not covering:
            return None
        names = {part.replace("_", "-").removesuffix(".py") for part in mutant.path.parts}
        own_first = sorted(covering, key=lambda one: (one.partition("/")[0] not in names, recordings[one].seconds))
        return _forked(lambda: self._survives(mutant, own_first, recordings))

    def _survives(self, mutant: Mutant, groups: Iterable[Group], recordings: dict[Group, Recording]) -> bool:
        _install(mutant)
        began = time.process_time()
        for group in groups:
            spent = time.process_time()
            if self._seconds is not None and spent - began > self._seconds:
                break
            limit = int(spent + 5 * recordings[group].seconds + _SPARE_SECONDS)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            if not self._passes(group):
                return False
        return True

    def _passes(self, group: Group) -> bool:
        self._failed = False
        for item in self._groups[group]:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
            if self._failed:
                return False
        return True


def _group(item: pytest.Item) -> Group:
    parameters = getattr(item, "callspec", None)
    return parameters.id if parameters is not None and "/" in parameters.id else item.nodeid


def _ended(mutant: Mutant, child: _Child | None) -> tuple[Mutant, str]:
    """The mutant and its verdict, when its process has ended."""
    if child is None:
        return mutant, "uncovered"
    return mutant, {0: "survived", 1: "killed"}.get(child.wait(), "timeout")


def _forked(action: Callable[[], bool]) -> _Child:
    """Start a process that runs the action."""
    folder = tempfile.mkdtemp(prefix="mutant-")
    child = os.fork()
    if child == 0:
        _run_silently(action, folder)
    return _Child(child, folder)


def _run_silently(action: Callable[[], bool], folder: str) -> None:
    """Run the action without output, with `folder` for temporary files, and end the process."""
    status = 1
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        tempfile.tempdir = folder
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        status = 0 if action() else 1
    finally:
        os._exit(status)


def _import(path: Path) -> None:
    """Import a module that may have mutants: code that the program imports late could not be replaced."""
    folder = max(
        (one for one in map(Path, sys.path) if path.is_relative_to(one.resolve())), key=lambda one: len(one.parts)
    )
    parts = path.relative_to(folder.resolve()).with_suffix("").parts
    importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))


def _install(mutant: Mutant) -> None:
    """Give the functions of the running program the mutant's code."""
    place = _place_of(mutant.path, mutant.function)
    mutant.apply()
    _replace(compile(ast.fix_missing_locations(mutant.module), str(mutant.path), "exec"), [place])


def _replace(module: CodeType, places: Iterable[_Place]) -> None:
    """Give the functions at these places the code that they have in the module."""
    codes = {_place(code): code for code in _codes(module)}
    new = {place: codes[place] for place in places}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and (code := new.get(_place(function.__code__))) is not None:
            function.__code__ = code


def _place_of(path: Path, function: _Function) -> _Place:
    return str(path), function.name, min(node.lineno for node in (function, *function.decorator_list))


def _place(code: CodeType) -> _Place:
    return code.co_filename, code.co_name, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _chosen(targets: Iterable[str]) -> Iterator[Mutant]:
    for target in targets:
        name, _, line = target.partition(":")
        path = Path(name).resolve()
        for module in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            yield from (one for one in mutants(module) if not line or one.first_line == int(line))


def main(arguments: Sequence[str]) -> int:
    """Run the mutants and print which survive. The exit code is that of pytest."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", metavar="PATH[:LINE]", help="modules, or folders of modules")
    parser.add_argument("--sample", type=int, help="run only this many mutants, chosen at random")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice")
    parser.add_argument("--jobs", type=int, default=1, help="how many mutants run at once")
    parser.add_argument("--seconds", type=float, help="maximum CPU time of tests per mutant")
    options = parser.parse_args(arguments[:split])
    chosen = list(_chosen(options.targets))
    print(f"{len(chosen)} mutants")
    if options.sample is not None:
        chosen = random.Random(options.seed).sample(chosen, min(options.sample, len(chosen)))
    run = MutantRun(chosen, options.jobs, options.seconds)
    status = pytest.main(["-q", "-s", "-p", "no:cacheprovider", *arguments[split + 1 :]], plugins=[run])
    killed, total = run.score
    print(f"{killed} of {total} mutants killed: {killed / max(total, 1):.0%}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
