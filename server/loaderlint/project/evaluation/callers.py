"""The callers of a function: the frames in which code of the main process runs.

The evaluator works forward, from a call to its result. The arguments of the function that builds a loader are only
known from its callers, which are found here: candidates by name in the text, then confirmed by evaluating the callee.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.call_sites import CallSite, CallSites, called_name
from loaderlint.project.evaluation.call_tables import calls_from, calls_of_items, tables_with
from loaderlint.project.evaluation.callees import Callees, function_of
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.instances import Instances
from loaderlint.project.evaluation.launched_functions import function_of as launched_by
from loaderlint.project.evaluation.limits import (
    CALLER_LEVELS,
    CALLERS,
    MAX_CALLER_LEVELS,
    MAX_CALLERS,
)
from loaderlint.project.evaluation.lost_calls import is_stored
from loaderlint.project.evaluation.open_frames import opened, owner_of
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.subclasses import last_subclasses, subclasses
from loaderlint.project.evaluation.unknown_receivers import (
    is_trusted,
    looks_up,
    may_pass,
    passed_to,
    with_passed,
)
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    Method,
    PartialOf,
    Site,
    Val,
    def_key,
)

_MAX_WRAPPERS = 4
#: How many functions may hand a function on until one calls it.
_MAX_HANDED = 3


class Callers:
    """Backward questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._sites = CallSites(evaluator)
        self._callees = Callees(evaluator, self._sites)
        self._instances = Instances(evaluator, self._sites, self._callees, self)
        self._frames: dict[DefKey, tuple[Frame, ...]] = {}
        #: By the names of functions, the calls that may take them from dicts and lists.
        self._from_tables: dict[str, tuple[CallSite, ...]] = {}
        #: The defs asked about that no known code calls.
        self.uncalled: set[DefKey] = set()
        #: The known calls that lead to the frames of functions at module level.
        self._leading: dict[Frame, dict[Site, None]] = {}
        #: The frames that a call on something unknown may run, each with the first such call.
        self.possible_calls: dict[Frame, Site] = {}

    def frames(self, path: Path, piece: int, def_: int, depth: int = 0) -> tuple[Frame, ...]:
        """The frames in which a def runs, from the known calls. If there are none, one with open parameters."""
        key = (path, piece, def_)
        known = self._frames.get(key)
        if known is not None:
            return known
        facts = self._ev.facts(path, piece)
        if facts is None:
            return ()
        if def_ == 0:
            self._frames[key] = (self._ev.body(path, piece),)
            return self._frames[key]
        if depth > MAX_CALLER_LEVELS:
            self._ev.limits.note(CALLER_LEVELS, *key)
            return self._open(path, piece, def_)
        with provisional(self._frames, key, ()):
            found = tuple(islice(_once(self._find(path, piece, def_, facts, depth)), MAX_CALLERS + 1))
            if not found and facts.ir.defs[def_].parent == 0:
                found = tuple(islice(_once(self._taken_from_tables(key, depth)), MAX_CALLERS + 1))
            if not found and facts.ir.defs[def_].parent == 0:
                found = tuple(islice(_once(self._looked_up(key, facts, depth)), MAX_CALLERS + 1))
            if not found and facts.ir.defs[def_].parent == 0:
                found = tuple(islice(_once(self._handed_over(key, facts, depth)), MAX_CALLERS + 1))
            if len(found) > MAX_CALLERS:
                self._ev.limits.note(CALLERS, *key)
            if not found:
                self.uncalled.add(key)
            self._frames[key] = found[:MAX_CALLERS] or self._uncalled(key, facts, depth)
        return self._frames[key]

    def _uncalled(self, key: DefKey, facts: PieceFacts, depth: int) -> tuple[Frame, ...]:
        """The frame of a def that no known code calls. If its calls may be lost, they may pass anything."""
        path, piece, def_ = key
        one, function = facts.ir.defs[def_], FunctionRef(path, piece, def_)
        is_free = one.parent == 0 and owner_of(self._ev, path, piece, def_, facts) is None
        if not (is_free and any(param.default != NONE for param in one.params)):
            return self._open(path, piece, def_)
        if is_stored(self._ev, function):
            frame = self._ev.functions.open_frame(function, None, None, trusts_defaults=False)
        else:
            frame = self._possibly_called(self._ev.functions.open_frame(function, None, None), depth)
        return (frame,) if frame else ()

    def _possibly_called(self, opened: Frame | None, depth: int) -> Frame | None:
        """The frame that unknown code calls, with what calls on something unknown may pass to it."""
        one = opened.code.one if opened is not None else None
        if opened is None or one is None or not any(map(is_trusted, opened.args)):
            return opened
        found = list(islice(self._passed_by_unknown(opened, one, depth), MAX_CALLERS))
        args = with_passed(opened.args, [passed for _, passed in found], self._ev)
        if tuple(args) == opened.args:
            return opened
        frame = self._ev.frame(
            opened.path, opened.piece, opened.def_, opened.receiver, tuple(args), opened.scope, opened.owner, 0
        )
        self.possible_calls.setdefault(frame, found[0][0])
        return frame

    def _passed_by_unknown(self, opened: Frame, one: ir.DefIR, depth: int) -> Iterator[tuple[Site, Mapping[int, Val]]]:
        """The calls on something unknown that may run a def, each with what it passes, by the index of the
        parameter."""
        function, is_method = FunctionRef(*def_key(opened)), opened.receiver is not None
        for site in (*self._callees.by_callee(one.name)[1], *self._sites.of_getattr()):
            facts = self._ev.facts(site.path, site.piece)
            call = facts.ir.exprs[site.expr] if facts is not None else None
            if not isinstance(call, ir.Call) or not may_pass(one.name, one.params, call):
                continue
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.liveness.is_dead(site.context, caller) or not self._is_named(call, caller, one.name):
                    continue
                at = Site(caller, site.expr)
                passed = passed_to(self._ev, function, one.params, at, is_method=is_method)
                if passed:
                    yield at, passed

    def _is_named(self, call: ir.Call, caller: Frame, name: str) -> bool:
        """Whether a call is one of something called `name`, by an option or a text if `getattr` looks it up."""
        return called_name(caller.code.exprs, call.func) == name or looks_up(self._ev, call, caller, name)

    def _find(self, path: Path, piece: int, def_: int, facts: PieceFacts, depth: int) -> Iterator[Frame]:
        one = facts.ir.defs[def_]
        owner = owner_of(self._ev, path, piece, def_, facts)
        if owner is not None and self._ev.functions.decoration(FunctionRef(path, piece, def_)) in ("static", "class"):
            for site in self._callees.sites_running(one.name, (path, piece, def_)):
                for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                    yield from self._confirmed(site, caller, (path, piece, def_))
            return
        if owner is not None:
            yield from self._method_frames(path, piece, def_, facts, owner, depth)
            return
        if one.parent > 0:
            for scope in self.frames(path, piece, one.parent, depth + 1):
                yield from self._nested_frames(path, piece, def_, scope, depth)
            return
        name = _bound_to(def_, facts) if one.kind == "lambda" else one.name
        if not name:
            return
        wanted = (path, piece, def_)
        for site in chain.from_iterable(
            self._callees.sites_running(one, wanted) for one in (name, *sorted(self._sites.aliases(name)))
        ):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                for frame in self._confirmed(site, caller, wanted):
                    self._leading.setdefault(frame, {})[Site(caller, site.expr)] = None
                    yield frame

    def leading_to(self, frame: Frame) -> Collection[Site]:
        """The known calls, by its name, that lead to a frame of a function at module level that was asked about; none
        where not all callers are looked at."""
        is_whole = len(self._frames.get(def_key(frame), ())) < MAX_CALLERS
        return self._leading.get(frame, ()) if is_whole else ()

    def _taken_from_tables(self, wanted: DefKey, depth: int) -> Iterator[Frame]:
        """The frames of a function at module level that calls take from a dict or list: `TRAINERS[args.kind](args)`."""
        for site in self._sites_of_items(wanted):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                yield from self._confirmed(site, caller, wanted)

    def _sites_of_items(self, wanted: DefKey) -> Iterator[CallSite]:
        """The calls of items of the dicts and lists in which code writes a function at module level."""
        facts = self._ev.facts(wanted[0], wanted[1])
        if facts is None or owner_of(self._ev, *wanted, facts) is not None:
            return
        one = facts.ir.defs[wanted[2]]
        if one.decorators:
            yield from calls_of_items(self._ev, FunctionRef(*wanted))
            return
        if one.name not in self._from_tables:
            self._from_tables[one.name] = tuple(calls_from(self._ev, tables_with(self._ev, one.name)))
        yield from self._from_tables[one.name]

    def _looked_up(self, wanted: DefKey, facts: PieceFacts, depth: int) -> Iterator[Frame]:
        """The frames of a function at module level that calls look up by its name: `getattr(module, name)(...)`, in a
        function that gets the name as a text."""
        path, piece, def_ = wanted
        if owner_of(self._ev, path, piece, def_, facts) is not None:
            return
        name = facts.ir.defs[def_].name
        for caller, number in chain(self.lookups(name, depth), self._chosen_calls(name, depth)):
            yield from (target for target in self._ev.targets(number, caller) if def_key(target) == wanted)

    def _handed_over(self, wanted: DefKey, facts: PieceFacts, depth: int) -> Iterator[Frame]:
        """The frames of a function at module level that code passes to a function of the project, which calls it:
        `launch(train, args=(options,))`."""
        if owner_of(self._ev, *wanted, facts) is not None:
            return
        for site in self._sites.passing(facts.ir.defs[wanted[2]].name):
            if self._callees.only_keep(site):
                continue
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                if not self._ev.liveness.is_dead(site.context, caller):
                    for target in self._ev.targets(site.expr, caller):
                        yield from self._called_back(target, wanted, 0)

    def _called_back(self, frame: Frame, wanted: DefKey, depth: int) -> Iterator[Frame]:
        """The frames of `wanted` that a frame leads to which gets it as an argument."""
        if def_key(frame) == wanted:
            yield frame
        elif depth < _MAX_HANDED and any(_is_given(wanted, value) for value in frame.args if value is not None):
            for inner in self._ev.run(frame):
                yield from self._called_back(inner, wanted, depth + 1)

    def _chosen_calls(self, name: str, depth: int) -> Iterator[tuple[Frame, int]]:
        """The calls of what `getattr` gives for a text that an option names: each as its number in a frame."""
        for site in self._sites.of_getattr() if self._sites.is_text(name) else ():
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                call = self._ev.expr(caller, site.expr)
                if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(site.context, caller):
                    if looks_up(self._ev, call, caller, name):
                        yield caller, site.expr

    def lookups(self, name: str, depth: int) -> Iterator[tuple[Frame, int]]:
        """The calls that may look up what they call by the text `name`: each as its number in a frame."""
        for site in self._sites.with_text(name) if name else ():
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.liveness.is_dead(site.context, caller):
                    continue
                yield caller, site.expr
                for inner in self._ev.targets(site.expr, caller):
                    yield from ((inner, number) for number in self._ev.leads(inner))

    def _nested_frames(self, path: Path, piece: int, def_: int, scope: Frame, depth: int) -> Iterator[Frame]:
        """The frames of a nested function: from its calls in the enclosing function, otherwise one with open
        parameters."""
        found = list(self._calls_of_nested(path, piece, def_, scope, depth))
        opened = None if found else self._ev.functions.open_frame(FunctionRef(path, piece, def_, scope), None, None)
        yield from found if opened is None else [opened]

    def _calls_of_nested(self, path: Path, piece: int, def_: int, scope: Frame, depth: int) -> Iterator[Frame]:
        facts = self._ev.facts(path, piece)
        name = facts.ir.defs[def_].name if facts else ""
        beside = [n for n, one in enumerate(facts.ir.defs if facts else ()) if one.parent == scope.def_ and n != def_]
        for caller in (scope, *(f for n in beside if name for f in self.frames(path, piece, n, depth + 1))):
            for step, call in self._ev.performed(caller):
                func = self._ev.expr(caller, call.func)
                if func not in (ir.MakeDef(def_), ir.Capture(1, name)):
                    continue
                if self._ev.liveness.is_dead(step.context, caller):
                    continue
                for target in self._ev.targets(step.call, caller):
                    if (target.path, target.piece, target.def_, target.scope) == (path, piece, def_, scope):
                        yield target

    def _confirmed(self, site: CallSite, caller: Frame, wanted: DefKey) -> Iterator[Frame]:
        """The frames of `wanted` that a call leads to, if it does."""
        if self._ev.liveness.is_dead(site.context, caller):
            return
        call = self._ev.expr(caller, site.expr)
        if not isinstance(call, ir.Call):
            return
        for atom in self._run_by(call, caller).only(FunctionRef, Method, PartialOf):
            function = function_of(atom)
            if isinstance(function, FunctionRef) and def_key(function) == wanted:
                for target in self._ev.targets(site.expr, caller):
                    yield from self._leading_to(target, wanted)

    def _run_by(self, call: ir.Call, caller: Frame) -> Val:
        """What a call runs: its callee, or the function that its callee runs in new processes."""
        callee = self._ev.eval(call.func, caller)
        launched = launched_by(self._ev, call, callee, caller)
        return callee if launched is None else launched

    def _leading_to(self, frame: Frame, wanted: DefKey, depth: int = 0) -> Iterator[Frame]:
        """A frame of `wanted`, or those that the wrappers in its place lead to."""
        if def_key(frame) == wanted:
            yield frame
        elif frame.scope is not None and depth < _MAX_WRAPPERS:
            for inner in self._ev.run(frame):
                yield from self._leading_to(inner, wanted, depth + 1)

    def _method_frames(
        self, path: Path, piece: int, def_: int, facts: PieceFacts, owner: ClassRef, depth: int
    ) -> Iterator[Frame]:
        one = facts.ir.defs[def_]
        function = FunctionRef(path, piece, def_)
        instances = self._instances.of(owner, depth)
        others = self._calls_on_others(instances, one.name, (path, piece, def_), depth) if len(one.params) > 1 else []
        uncalled: list[Instance] = []
        calls = 0
        for inst in instances:
            if one.name == "__init__":
                init = self._ev.classes.init_frame(inst)
                constructed = self._ev.classes.construction(inst) if init else []
                yield from (f for f in constructed if def_key(f) == (path, piece, def_))
                continue
            member = self._ev.classes.member(inst.cls, one.name)
            if member is None:
                continue
            if member.function != function:  # an override calls it: `super().fit(rows)`
                yield from self._calls_on(inst, one.name, (path, piece, def_), depth)
                continue
            if len(one.params) <= 1:
                opened = self._ev.functions.open_frame(function, inst, owner)
                if opened is not None:
                    yield opened
                continue
            before = calls
            for frame in self._calls_on(inst, one.name, (path, piece, def_), depth):
                calls += 1
                yield frame
            if calls == before and not (inst.site is None and others):
                uncalled.append(inst)
        for inst in uncalled:
            if not (calls and self._are_all_seen((path, piece, def_), one.name, inst)):
                opened = self._ev.functions.open_frame(function, inst, owner)
                if opened is not None:
                    yield self._possibly_called(opened, depth) or opened
        yield from others

    def _are_all_seen(self, method: DefKey, name: str, inst: Instance) -> bool:
        """Whether known code alone calls a method of an object: no class of a library does, and each call of something
        with this name shows the object that it is called on."""
        if name.startswith("__") or not self._ev.classes.is_plain(inst.cls):
            return False
        return not self.receivers(method, name)[1]

    def is_called_on(self, receiver: Instance, method: DefKey) -> bool:
        """Whether known code calls a method on an object, or may call it: on something unknown, as a property, or as a
        method of a class of a library."""
        facts = self._ev.facts(*method[:2])
        one = facts.ir.defs[method[2]] if facts is not None else None
        if one is None or one.decorators or not self._are_all_seen(method, one.name, receiver):
            return True
        return receiver in self.receivers(method, one.name)[0]

    def _calls_on(self, inst: Instance, name: str, wanted: DefKey, depth: int) -> Iterator[Frame]:
        yield from self._ev.classes.constructed_through(inst, FunctionRef(*wanted))
        for site in self._callees.sites_running(name, wanted, inst):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                yield from (f for f in self._confirmed(site, caller, wanted) if f.receiver == inst)

    def _calls_on_others(self, known: tuple[Instance, ...], name: str, wanted: DefKey, depth: int) -> list[Frame]:
        """The frames of a method on objects that are not among the known ones of its class: only the call of the method
        shows how they are made, because their class is looked up at run time."""
        if name == "__init__" or len(known) >= MAX_CALLERS:
            return []
        called = (
            frame
            for site in self._callees.sites_running(name, wanted)
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1)
            for frame in self._confirmed(site, caller, wanted)
        )
        return [one for one in called if _is_made(one.receiver) and one.receiver not in known]

    def receivers(self, wanted: DefKey, name: str) -> tuple[frozenset[Instance], bool]:
        """The objects on which known code calls a method, and whether other calls may be on any object."""
        found: set[Instance] = set()
        is_open = False
        for site in self._callees.sites_running(name, wanted):
            for caller in self.frames(site.path, site.piece, site.def_):
                call = self._ev.expr(caller, site.expr)
                if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(site.context, caller):
                    callee = self._run_by(call, caller)
                    is_open = is_open or callee.unknown is not None
                    called = (one for one in callee.only(Method) if def_key(one.function) == wanted)
                    found.update(one.receiver for one in called if isinstance(one.receiver, Instance))
        return frozenset(found), is_open

    def frames_of_heirs(self, path: Path, piece: int, def_: int) -> Iterator[Frame]:
        """The frames of a method on presumed objects of the classes that inherit it, if no other class derives from
        them and no known code creates them: a framework or a configuration may."""
        facts = self._ev.facts(path, piece)
        owner = owner_of(self._ev, path, piece, def_, facts) if facts and def_ else None
        function = FunctionRef(path, piece, def_)
        if facts is None or owner is None or self._ev.functions.decoration(function) in ("static", "class"):
            return
        for heir in last_subclasses(self._ev, owner):
            member = self._ev.classes.member(heir, facts.ir.defs[def_].name)
            if member is None or member.function != function or self._instances.are_made(heir):
                continue
            opened = self._ev.functions.open_frame(function, Instance(heir, None, presumed=True), owner)
            yield from (opened,) if opened is not None else ()

    def _open(self, path: Path, piece: int, def_: int) -> tuple[Frame, ...]:
        frame = opened(self._ev, path, piece, def_)
        return (frame,) if frame is not None else ()

    def opened(self, path: Path, piece: int, def_: int) -> Frame | None:
        """The frame of a def when unknown code calls it."""
        return opened(self._ev, path, piece, def_)

    def owner(self, path: Path, piece: int, def_: int, facts: PieceFacts) -> ClassRef | None:
        """The class that a def is a method of, None for functions."""
        return owner_of(self._ev, path, piece, def_, facts)

    def sites(self, name: str) -> tuple[CallSite, ...]:
        """The calls of something called `name`."""
        return self._sites.named(name)

    def sites_running(self, name: str, wanted: DefKey, receiver: Instance | None = None) -> Iterator[CallSite]:
        """The calls of something called `name` that may run the def `wanted`, and those that may run it in new
        processes; with a `receiver`, on this object."""
        return self._callees.sites_running(name, wanted, receiver)

    def callees(self, site: CallSite) -> frozenset[Atom] | None:
        """All possible callees of a call, for any caller of its def; None if they depend on the callers."""
        return self._callees.of(site)

    def instances(self, cls: ClassRef) -> tuple[Instance, ...]:
        """The objects of a class (or of a subclass) whose construction is known; otherwise one that unknown code
        creates."""
        return self._instances.of(cls)

    def are_made(self, cls: ClassRef) -> bool:
        """Whether the construction of some object of a class, or of a subclass, is known."""
        return self._instances.are_made(cls)

    def are_written(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, be it in a branch that no known caller
        takes."""
        return self._instances.are_written(cls)

    def are_made_only_in_tests(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, and all such calls are in tests."""
        return self._instances.are_made_only_in_tests(cls)

    def are_made_under_own_guard(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, and all such calls are under the main guard
        of the class's own file."""
        return self._instances.are_made_under_own_guard(cls)

    def subclasses(self, cls: ClassRef) -> tuple[ClassRef, ...]:
        """The classes of the project that derive from a module-level class, in the order of their files."""
        return subclasses(self._ev, cls)


def _once(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Each frame once, lazily."""
    seen: set[Frame] = set()
    for frame in frames:
        if frame not in seen:
            seen.add(frame)
            yield frame


def _is_made(atom: Atom | None) -> bool:
    """Whether a value is an object that known code creates."""
    return isinstance(atom, Instance) and atom.site is not None


def _is_given(wanted: DefKey, value: Val) -> bool:
    """Whether a value may be a function."""
    functions = (function_of(one) for one in value.only(FunctionRef, PartialOf))
    return any(isinstance(one, FunctionRef) and def_key(one) == wanted for one in functions)


def _bound_to(def_: int, facts: PieceFacts) -> str:
    """The name that a module-level statement gives a lambda, '' if it gives none."""
    for step in facts.ir.defs[0].steps:
        if isinstance(step, ir.Bind) and step.value != ir.NONE and facts.ir.exprs[step.value] == ir.MakeDef(def_):
            return step.name
    return ""
