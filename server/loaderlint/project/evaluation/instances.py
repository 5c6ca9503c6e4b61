"""The objects of a class of the project: where known code creates them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.project.evaluation.call_sites import CallSite, CallSites, is_under_guard
from loaderlint.project.evaluation.call_tables import calls_of_items
from loaderlint.project.evaluation.callees import Callees
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import MAX_CALLERS, OBJECTS
from loaderlint.project.evaluation.open_frames import owner_of
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.subclasses import subclasses
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Instance, Site
from loaderlint.project.modules.tests_and_tutorials import in_tests

if TYPE_CHECKING:
    from loaderlint.project.evaluation.callers import Callers
    from loaderlint.project.evaluation.evaluator import Evaluator

#: What a dataset has. A loader that may hold any dataset may hold one whose class is looked up, too.
_SAMPLE_METHODS = ("__getitem__", "__iter__")
#: A file with class methods contains this word.
_CLASS_METHOD = "classmethod"


class Instances:
    """The objects of the classes of one snapshot."""

    def __init__(self, evaluator: Evaluator, sites: CallSites, callees: Callees, callers: Callers) -> None:
        self._ev = evaluator
        self._sites = sites
        self._callees = callees
        self._callers = callers
        self._known: dict[ClassRef, tuple[Instance, ...]] = {}
        self._class_method_calls: tuple[tuple[ClassRef, CallSite], ...] | None = None
        self._from_configurations: tuple[Instance, ...] | None = None

    def of(self, cls: ClassRef, depth: int = 0) -> tuple[Instance, ...]:
        """The objects of a class (or of a subclass) whose construction is known; otherwise one that unknown code
        creates."""
        known = self._known.get(cls)
        if known is not None:
            return known
        with provisional(self._known, cls, (Instance(cls, None),)):
            self._known[cls] = self._find(cls, depth) or (Instance(cls, None),)
        return self._known[cls]

    def _find(self, cls: ClassRef, depth: int) -> tuple[Instance, ...]:
        """The objects of a class or of a subclass whose construction is known."""
        found: dict[Instance, None] = {}
        for heir, site in chain(self._made_by(cls), self._made_by_class_methods(cls)):
            for caller in self._callers.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.liveness.is_dead(site.context, caller):
                    continue
                call = self._ev.expr(caller, site.expr)
                if isinstance(call, ir.Call) and heir in self._ev.eval(call.func, caller).atoms:
                    found[Instance(heir, Site(caller, site.expr))] = None
            if len(found) > MAX_CALLERS:
                self._ev.limits.note(OBJECTS, cls.path, cls.piece, cls.def_)
                break
        if not found:
            found.update((inst, None) for inst in self._made_by_name(cls, depth))
        if not any(self._ev.classes.member(cls, name) for name in _SAMPLE_METHODS):
            found.update((inst, None) for inst in islice(self._made_of_items(cls, depth), MAX_CALLERS))
            if not found:
                found.update((inst, None) for inst in islice(self._made_of_returned(cls, depth), MAX_CALLERS))
        heirs = (cls, *subclasses(self._ev, cls))
        found.update((inst, None) for inst in self._instantiated(depth) if inst.cls in heirs)
        return tuple(found)[:MAX_CALLERS]

    def are_made(self, cls: ClassRef) -> bool:
        """Whether the construction of some object of a class, or of a subclass, is known. For most classes, the call
        alone shows this, without the callers of the code around it."""
        if cls not in self._known and any(self._calls_for_all(site) for _, site in self._made_by(cls)):
            return True
        return any(inst.site is not None for inst in self.of(cls))

    def are_written(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, be it in a branch that no known caller
        takes."""
        return any(self._callees.written(site) is not None for _, site in self._made_by(cls))

    def are_made_only_in_tests(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, and all such calls are in tests."""
        sites = [site for _, site in self._made_by(cls)]
        return bool(sites) and all(in_tests(site.path, self._ev.files.root) for site in sites)

    def are_made_under_own_guard(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, and all such calls are under the main guard
        of the class's own file."""
        sites = [site for _, site in self._made_by(cls)]
        return bool(sites) and all(site.path == cls.path and is_under_guard(self._ev, site) for site in sites)

    def _made_by(self, cls: ClassRef) -> Iterator[tuple[ClassRef, CallSite]]:
        """The calls that may create an object of a class or of a subclass, each with that class."""
        for heir in (cls, *subclasses(self._ev, cls)):
            name = self._ev.classes.name(heir)
            names = (name, *sorted(self._sites.class_aliases(name)))
            for site in chain.from_iterable(map(self._sites.named, names)):
                callees = self._callees.of(site)
                if callees is None or heir in callees:
                    yield heir, site

    def _made_by_class_methods(self, cls: ClassRef) -> Iterator[tuple[ClassRef, CallSite]]:
        """The calls `cls(...)` in class methods that may create an object of a class or of a subclass, each with that
        class."""
        if self._class_method_calls is None:
            self._class_method_calls = tuple(self._find_class_method_calls())
        for heir in (cls, *subclasses(self._ev, cls)) if self._class_method_calls else ():
            bases = self._ev.classes.mro(heir)
            yield from ((heir, site) for owner, site in self._class_method_calls if owner in bases)

    def _find_class_method_calls(self) -> Iterator[tuple[ClassRef, CallSite]]:
        for path in self._ev.files.containing(_CLASS_METHOD):
            file = self._ev.file(path)
            for piece in file.mentioning(_CLASS_METHOD) if file else ():
                facts = self._ev.facts(path, piece)
                owner = owner_of(self._ev, path, piece, 1, facts) if facts and len(facts.ir.defs) > 1 else None
                function = FunctionRef(path, piece, 1)
                if owner is None or self._ev.functions.decoration(function) != "class":
                    continue
                code = self._ev.code(function)
                for step, call in code.calls:
                    if call.func != NONE and code.exprs[call.func] == ir.Param(0):
                        yield owner, CallSite(path, piece, 1, step.call, step.context)

    def _calls_for_all(self, site: CallSite) -> bool:
        """Whether a call is reached and has the same callee for all callers of its def."""
        facts = self._ev.facts(site.path, site.piece)
        if facts is None or self._callees.written(site) is None:
            return False
        here = Unframed(self._ev, site.path, site.piece, site.def_, facts)
        around = facts.ir.defs[site.def_].around(site.context)
        return all(one.kind != "if" or one.expr == NONE or here.is_open(one.expr) for one in around)

    def _made_by_name(self, cls: ClassRef, depth: int) -> Iterator[Instance]:
        """The objects of a class at module level whose calls look it up by its name."""
        for caller, number in self._callers.lookups(self._ev.classes.name(cls), depth) if cls.scope is None else ():
            call = self._ev.expr(caller, number)
            if isinstance(call, ir.Call) and cls in self._ev.eval(call.func, caller).atoms:
                yield Instance(cls, Site(caller, number))

    def _made_of_items(self, cls: ClassRef, depth: int) -> Iterator[Instance]:
        """The objects of a class, or of a subclass, that code creates which looks the class up in a dict or list:
        `KINDS[args.kind](args)`."""
        for heir in (cls, *subclasses(self._ev, cls)):
            for site in calls_of_items(self._ev, heir):
                for caller in self._callers.frames(site.path, site.piece, site.def_, depth + 1):
                    call = self._ev.expr(caller, site.expr)
                    if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(site.context, caller):
                        if heir in self._ev.eval(call.func, caller).atoms:
                            yield Instance(heir, Site(caller, site.expr))

    def _made_of_returned(self, cls: ClassRef, depth: int) -> Iterator[Instance]:
        """The objects of a class, or of a subclass, that code creates which gets the class from a function:
        `kind, options = self.choose()` and `kind(**options)`."""
        for heir in (cls, *subclasses(self._ev, cls)):
            for site in self._sites.giving(self._ev.classes.name(heir)):
                for caller in self._callers.frames(site.path, site.piece, site.def_, depth + 1):
                    for step, call in caller.code.calls:
                        if _is_of_result(caller, call.func, site.expr):
                            if not self._ev.liveness.is_dead(step.context, caller):
                                if heir in self._ev.eval(call.func, caller).atoms:
                                    yield Instance(heir, Site(caller, step.call))

    def _instantiated(self, depth: int) -> tuple[Instance, ...]:
        """The objects that known configurations create."""
        if self._from_configurations is None:
            self._from_configurations = ()  # for questions about it during the computation
            self._from_configurations = tuple(dict.fromkeys(self._find_instantiated(depth)))
        return self._from_configurations

    def _find_instantiated(self, depth: int) -> Iterator[Instance]:
        for site in self._sites.named("instantiate"):
            for caller in self._callers.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.yaml.instantiates(Site(caller, site.expr)):
                    made = self._ev.eval(site.expr, caller).only(Instance)
                    yield from (inst for inst in made if inst.site is not None)


def _is_of_result(frame: Frame, func: int, call: int) -> bool:
    """Whether a callee is what a call returned, or an item of it."""
    exprs = frame.code.exprs
    for one in (func, *frame.code.chosen_from(func)):
        match exprs[one] if one != NONE else None:
            case ir.Unpack(value=value) | ir.Index(base=value) if value == call:
                return True
        if one == call:
            return True
    return False
