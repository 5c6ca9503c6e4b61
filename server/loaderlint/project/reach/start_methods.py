"""Which start methods the workers of a loader, and other processes, may have: fork, spawn or forkserver."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from loaderlint.facts import ir
from loaderlint.facts.ir import DefIR
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.call_sites import CallSite, is_under_guard
from loaderlint.project.evaluation.frames import Code, Frame
from loaderlint.project.evaluation.values import ClassRef, DefKey, FunctionRef, LibObject, Literal_, Site, Val, def_key
from loaderlint.project.loaders.loaders import Loader
from loaderlint.project.reach.methods_set_by_datasets import is_made_by_datasets
from loaderlint.project.reach.opposed_branches import last_name
from loaderlint.project.reach.worker_tests import asks_for_workers
from loaderlint.project.versions.environment import Environment

if TYPE_CHECKING:
    from loaderlint.project.reach.model import Model


_SETTER = "set_start_method"
#: Functions and methods that only tell the user something.
_TELLING = frozenset("print info warning error debug echo secho print_help print_usage".split())
#: How many calls lead from a program to one that sets the method.
_MAX_CALLS = 3
#: With more calls of a function, none is looked at.
_MAX_CALLERS = 8


class _Declared(Struct, frozen=True):
    """A call of `set_start_method(method)`, or of a function that always makes one, at `site`. `certain`: it runs
    whenever its file runs as a program.
    `conditions`: the contexts around it that may keep it from being run. `tests`: the conditions around it, as `_tests`
    gives them. `if_first`: it changes nothing after another call, because it stands in a `try` and does not force the
    method."""

    method: str
    path: Path
    site: CallSite
    certain: bool
    conditions: tuple[int, ...]
    tests: frozenset[str]
    if_first: bool


class _Choice(NamedTuple):
    """The method that a call of `set_start_method` sets, whether it is told to replace another one, and whether it
    changes nothing after another call."""

    method: str
    forces: bool
    if_first: bool = False


class StartMethods:
    """The start methods in one model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._of: dict[Loader, frozenset[str]] = {}
        self._at: dict[Path | None, tuple[frozenset[str], frozenset[str]]] = {}
        self._declared: tuple[_Declared, ...] | None = None

    def of(self, loader: Loader) -> frozenset[str]:
        """The start methods that the loader's workers may have: from its own argument, a call of `set_start_method` in
        the project, a setting, or the platforms' defaults."""
        if loader not in self._of:
            self._of[loader] = self.of_start(loader, loader.path)
        return self._of[loader]

    def of_start(self, loader: Loader, script: Path | None) -> frozenset[str]:
        """The start methods that the loader's workers may have where the program `script` starts them. Another program
        that uses the same loader may choose another one."""
        named = self.named(loader.argument("multiprocessing_context"))
        if named:
            return named
        environment = self._model.environment(loader)
        environment = self._model.environment_in(script, environment) if script is not None else environment
        return self._by_default(environment, script, loader.site, loader)

    def chosen(self, loader: Loader) -> frozenset[str]:
        """The start methods that the loader's argument, a setting or a call that always happens names; empty if the
        platform decides."""
        named = self.named(loader.argument("multiprocessing_context"))
        environment = self._model.environment(loader)
        if named or environment.start_method is not None:
            return named or frozenset(environment.default_start_methods())
        return self._set_before(loader.site) or self._declared_for(loader.path)[0]

    def of_processes(self, path: Path, site: Site | None = None) -> frozenset[str]:
        """The start methods of processes that the file at `path` starts without naming one, with the call at `site`."""
        return self._by_default(self._model.environment_at(path), path, site)

    def named(self, context: Val) -> frozenset[str]:
        """The start methods that a `context` argument names: "fork", or `get_context("fork")`; empty if it names
        none."""
        calls = [atom for atom in context.atoms if isinstance(atom, LibObject) and atom.name.endswith("get_context")]
        passed = (self._model.ev.calls.site_arguments(call.site).get("method", 0) for call in calls)
        literals = [atom for atom in context.atoms if isinstance(atom, Literal_)]
        literals += [one.literal for one in passed if one is not None and one.literal is not None]
        return frozenset(one.value for one in literals if isinstance(one.value, str))

    def _by_default(
        self, environment: Environment, path: Path | None, site: Site | None, loader: Loader | None = None
    ) -> frozenset[str]:
        default = frozenset(environment.default_start_methods())
        if environment.start_method is not None:
            return default
        sure, maybe = self._declared_for(path)
        chosen = self._set_before(site) or sure or (maybe and self._declared_with(path, site))
        chosen = chosen or (maybe and self._set_by_datasets(loader, path))
        return chosen or default | maybe

    def _set_by_datasets(self, loader: Loader | None, path: Path | None) -> frozenset[str]:
        """The start method that the constructors of a loader's datasets set; empty if a call may set another one."""
        calls = self._calls_for(path)
        methods = frozenset(one.method for one in calls)
        if loader is None or len(methods) > 1:
            return frozenset()
        return methods if any(is_made_by_datasets(one.site, loader, self._model) for one in calls) else frozenset()

    def _set_before(self, site: Site | None, depth: int = 0) -> frozenset[str]:
        """The start method that a function, or each of its callers, sets before it makes a loader at `site`: in any
        case, or whenever the loader has workers. Empty if there is none, or if an error on the way to it leaves another
        one."""
        code = site.frame.code if site is not None else None
        if site is None or code is None or code.one is None or site.frame.def_ == 0:
            return frozenset()
        made, around = code.evaluated_by(site.expr), {0, *code.one.enclosing(code.context_of(site.expr))}
        found: dict[int, str] = {}
        for one in self._calls_for(site.frame.path):
            step = code.evaluated_by(one.site.expr) if _is_in(one.site, site.frame) else None
            if step is None or made is None or step > made or one.if_first:
                continue
            if all(number in around or asks_for_workers(number, site.expr, code) for number in one.conditions):
                found[step] = one.method
        return frozenset({found[max(found)]}) if found else self._set_by_callers(site.frame, depth)

    def _set_by_callers(self, frame: Frame, depth: int) -> frozenset[str]:
        """The start method that all functions that call the def of a frame set before that."""
        callers = self._model.callers
        name = self._model.def_of(frame).name
        if not name or depth == _MAX_CALLS or not self._calls_for(frame.path):
            return frozenset()
        sites = list(islice(callers.sites_running(name, def_key(frame)), _MAX_CALLERS + 1))
        if not sites or len(sites) > _MAX_CALLERS:
            return frozenset()
        opened = ((callers.opened(site.path, site.piece, site.def_), site.expr) for site in sites)
        before = [Site(caller, number) if caller is not None else None for caller, number in opened]
        methods = [self._set_before(one, depth + 1) for one in before]
        return methods[0] if all(one == methods[0] for one in methods) else frozenset()

    def _declared_with(self, path: Path | None, site: Site | None) -> frozenset[str]:
        """The start methods that the program of the file at `path` names under tests that are around a call, too: `if
        args.parallel:`, once in the function that reads the options, and once around the pool."""
        code = site.frame.code if site is not None else None
        around = frozenset(_tests(code, code.context_of(site.expr))) - {""} if site and code else frozenset[str]()
        return frozenset(one.method for one in self._calls_for(path) if one.tests and one.tests <= around)

    def _declared_for(self, path: Path | None) -> tuple[frozenset[str], frozenset[str]]:
        """The start methods that `multiprocessing.set_start_method("...")` names for the file at `path`: those of calls
        that always happen (at module level, or at the start of `main`, of a program in its folder or one above), and
        those of calls that may happen. Calls in other programs do not count."""
        if path not in self._at:
            self._at[path] = self._find_declared_for(path)
        return self._at[path]

    def _find_declared_for(self, path: Path | None) -> tuple[frozenset[str], frozenset[str]]:
        above = set(path.parents) if path is not None else set()
        calls = self._calls_for(path)
        methods = frozenset(one.method for one in calls)
        certain = (one for one in calls if one.certain and not (one.if_first and len(methods) > 1))
        sure = frozenset(one.method for one in certain if one.path.parent in above)
        return sure, methods - sure

    def _calls_for(self, path: Path | None) -> list[_Declared]:
        """The calls in programs that run the file at `path`."""
        if self._declared is None:
            self._declared = tuple(self._find_declared())
        return [one for one in self._declared if path is None or self._runs(one, path)]

    def _runs(self, declared: _Declared, path: Path) -> bool:
        """Whether a program that makes a call runs a file. What is under a main guard is a program of its own: modules
        that import it do not make the call."""
        if is_under_guard(self._model.ev, declared.site):
            return self._model.scripts.leads_to(declared.path, (path,))
        return path in self._model.scripts.run_with(declared.path)

    def _find_declared(self) -> Iterator[_Declared]:
        for site in self._model.callers.sites(_SETTER):
            facts = self._model.ev.facts(site.path, site.piece)
            call = facts.ir.exprs[site.expr] if facts else None
            if isinstance(call, ir.Call) and call.args and facts:
                first = facts.ir.exprs[call.args[0].value]
                if isinstance(first, ir.Const) and isinstance(first.value, str):
                    yield from self._declared_by(site, _Choice(first.value, _forces(call, facts)), 0)

    def _declared_by(self, site: CallSite, choice: _Choice, depth: int) -> Iterator[_Declared]:
        """What a call declares that sets a method, itself or `depth` calls deeper. The calls of a function that always
        makes it declare the same."""
        facts = self._model.ev.facts(site.path, site.piece)
        if facts is None:
            return
        one = facts.ir.defs[site.def_]
        conditions = tuple(_conditions(site, choice.method, one, facts))
        is_program = site.def_ == 0 or one.name == "main"
        frame = self._model.callers.opened(site.path, site.piece, site.def_)
        tests = frozenset(_tests(frame.code, site.context) if frame is not None else ())
        if not choice.forces and any(here.kind == "try" for here in one.around(site.context)):
            choice = choice._replace(if_first=True)
        certain = is_program and not conditions
        yield _Declared(choice.method, site.path, site, certain, conditions, tests, choice.if_first)
        if not (is_program or conditions or depth == _MAX_CALLS):
            for call in self._calls_of(site, facts):
                yield from self._declared_by(call, choice, depth + 1)

    def _calls_of(self, site: CallSite, facts: PieceFacts) -> Iterator[CallSite]:
        """The calls that run the function of a module, or the constructor, in which a call stands, unless it has made a
        loader before."""
        one, key = facts.ir.defs[site.def_], (site.path, site.piece, site.def_)
        if one.kind != "function" or one.decorators or one.is_generator:
            return
        if any(_is_made_before(loader.site, site) for loader in self._model.loaders):
            return
        callers = self._model.callers
        owner = callers.owner(*key, facts)
        if owner is not None and one.name == "__init__":
            yield from self._certain_calls(self._model.ev.classes.name(owner), def_key(owner))
        elif owner is None and one.parent == 0:
            yield from self._certain_calls(one.name, key)

    def _certain_calls(self, name: str, key: DefKey) -> Iterator[CallSite]:
        """The calls of something called `name` that call the function or class `key` in any case."""
        for call in self._model.callers.sites(name):
            callees = self._model.callers.callees(call)
            if callees and all(isinstance(one, FunctionRef | ClassRef) and def_key(one) == key for one in callees):
                yield call


def _forces(call: ir.Call, facts: PieceFacts) -> bool:
    """Whether `set_start_method` is told to replace a method that was set before."""
    given = [arg.value for arg in call.args if arg.name == "force"] or [arg.value for arg in call.args[1:2]]
    return any(facts.ir.exprs[number] == ir.Const("bool", True) for number in given)


def _conditions(site: CallSite, method: str, one: DefIR, facts: PieceFacts) -> Iterator[int]:
    """The contexts around a call that sets a method in which it may not do so, although its def runs as a program. `if
    __name__ == "__main__":` is not among them, and neither is a `try` that only the call itself can leave."""
    for number in one.enclosing(site.context):
        here = one.contexts[number]
        test = facts.ir.exprs[here.expr] if here.kind == "if" and not here.negated else None
        is_main = isinstance(test, ir.Compare) and facts.ir.exprs[test.left] == ir.Global("__name__")
        is_tried = here.kind == "try" and _only_tries(site, number, method, one, facts)
        follows_exit = here.kind == "if" and here.negated and _only_leaves(number, one, facts)
        if not (is_main or is_tried or follows_exit or here.kind in ("with", "finally")):
            yield number


def _only_leaves(after: int, one: DefIR, facts: PieceFacts) -> bool:
    """Whether a context follows a branch that does nothing but tell something and leave: `if dry_run: return`."""
    here = one.contexts[after]
    left = {
        number
        for number, branch in enumerate(one.contexts)
        if branch.kind == "if" and not branch.negated and (branch.parent, branch.expr) == (here.parent, here.expr)
    }
    steps = [step for step in one.steps if step.context in left]
    calls = (step.call for step in steps if isinstance(step, ir.Perform))
    leaves = any(isinstance(step, ir.Return | ir.Raise) for step in steps)
    return leaves and not any(branch.parent in left for branch in one.contexts) and all(_tells(n, facts) for n in calls)


def _tells(number: int, facts: PieceFacts) -> bool:
    """Whether a call only tells the user something."""
    call = facts.ir.exprs[number]
    func = facts.ir.exprs[call.func] if isinstance(call, ir.Call) else None
    return isinstance(func, ir.Attr | ir.Global | ir.Imported) and func.name in _TELLING


def _is_made_before(made: Site | None, site: CallSite) -> bool:
    """Whether a loader is made in the def of a call, and before it."""
    if made is None or not _is_in(site, made.frame):
        return False
    first, second = made.frame.code.evaluated_by(made.expr), made.frame.code.evaluated_by(site.expr)
    return first is not None and second is not None and first < second


def _is_in(site: CallSite, frame: Frame) -> bool:
    return (site.path, site.piece, site.def_) == (frame.path, frame.piece, frame.def_)


def _only_tries(site: CallSite, block: int, method: str, one: DefIR, facts: PieceFacts) -> bool:
    """Whether nothing before a call in a `try` may raise, and no handler sets another method. Where the platform does
    not have the method, the call raises a ValueError: a handler that catches it leaves the platform's default."""
    handlers = list(one.handlers(block))
    calls = [step for step in one.steps if isinstance(step, ir.Perform)]
    before = takewhile(lambda step: step.call != site.expr, calls)
    if any(block in one.enclosing(step.context) for step in before):
        return False
    caught_in = (step for step in calls if not set(handlers).isdisjoint(one.enclosing(step.context)))
    if any(_sets_method(step.call, facts) for step in caught_in):
        return False
    caught = [facts.ir.exprs[one.contexts[number].expr] for number in handlers if one.contexts[number].expr != ir.NONE]
    return method == "spawn" or (len(caught) == len(handlers) and all(e == ir.Global("RuntimeError") for e in caught))


def _sets_method(number: int, facts: PieceFacts) -> bool:
    call = facts.ir.exprs[number]
    func = facts.ir.exprs[call.func] if isinstance(call, ir.Call) else None
    return isinstance(func, ir.Attr | ir.Global | ir.Imported) and func.name == _SETTER


def _tests(code: Code, context: int) -> Iterator[str]:
    """The conditions around a step: the names that are tested, with 'not ' before those that are not true; '' for
    anything else."""
    for here in code.one.around(context) if code.one is not None else ():
        number, is_true = here.expr, not here.negated
        e = code.exprs[number] if here.kind == "if" and number != ir.NONE else None
        if isinstance(e, ir.Compare) and code.exprs[e.left] == ir.Global("__name__"):
            continue
        if isinstance(e, ir.Unary) and e.op == "not":
            number, is_true = e.operand, not is_true
        name = last_name(code, number) if e is not None else ""
        yield name if is_true or not name else f"not {name}"
