"""The callers of a function: the frames in which code of the main process runs.

The evaluator works forward, from a call to its result. The arguments of the function that builds a loader are only
known from its callers, which are found here: candidates by name in the text, then confirmed by evaluating the callee.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import (
    CALLER_LEVELS,
    CALLERS,
    MAX_CALLER_LEVELS,
    MAX_CALLERS,
    OBJECTS,
    SUBCLASSES,
)
from loaderlint.project.evaluation.lost_calls import is_stored
from loaderlint.project.evaluation.recursion_guard import provisional
from loaderlint.project.evaluation.unknown_receivers import (
    getattr_calls,
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
    Unknown,
    Val,
    def_key,
)
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.syntax.byte_search import calls

_BOUND = re.compile(r"(\w+)[ \t]*=[ \t]*[\w.]*\bpartial\(\s*(?:\w+\.)*(\w+)\b")
_RETURNED = re.compile(r"[ \t]*(?:[^#\n]*:[ \t]*)?return[ \t]")
_MAX_WRAPPERS = 4
#: A file with class methods contains this word.
_CLASS_METHOD = "classmethod"
#: Context managers that expect an exception.
_EXPECTING = frozenset({"raises", "assertRaises", "assertRaisesRegex"})


class CallSite(NamedTuple):
    """A call somewhere in the project: expression `expr` of def `def_`."""

    path: Path
    piece: int
    def_: int
    expr: int
    context: int


class Callers:
    """Backward questions of one snapshot."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._sites: dict[str, tuple[CallSite, ...]] = {}
        self._sites_by_callee: dict[str, tuple[dict[DefKey, list[CallSite]], list[CallSite]]] = {}
        self._frames: dict[DefKey, tuple[Frame, ...]] = {}
        self._instances: dict[ClassRef, tuple[Instance, ...]] = {}
        self._class_method_calls: tuple[tuple[ClassRef, CallSite], ...] | None = None
        self._known_callees: dict[tuple[Path, int, int, int], frozenset[Atom] | None] = {}
        self._other_names: dict[str, frozenset[str]] = {}
        self._other_class_names: dict[str, frozenset[str]] = {}
        self._texts: dict[str, tuple[CallSite, ...]] = {}
        self._partials: frozenset[tuple[str, str]] | None = None
        self._from_configurations: tuple[Instance, ...] | None = None
        self._calls_of_getattr: tuple[CallSite, ...] | None = None
        #: The defs asked about that no known code calls.
        self.uncalled: set[DefKey] = set()
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
            return self._open(path, piece, def_, facts)
        with provisional(self._frames, key, ()):
            found = tuple(islice(_once(self._find(path, piece, def_, facts, depth)), MAX_CALLERS + 1))
            if not found and facts.ir.defs[def_].parent == 0:
                found = tuple(islice(_once(self._looked_up(key, facts, depth)), MAX_CALLERS + 1))
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
        is_free = one.parent == 0 and self.owner(path, piece, def_, facts) is None
        if not (is_free and any(param.default != NONE for param in one.params)):
            return self._open(path, piece, def_, facts)
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
        for site in (*self._by_callee(one.name)[1], *self._getattr_sites()):
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

    def _getattr_sites(self) -> tuple[CallSite, ...]:
        """The calls of what `getattr` gives."""
        if self._calls_of_getattr is None:
            self._calls_of_getattr = tuple(self._find_getattr_sites())
        return self._calls_of_getattr

    def _find_getattr_sites(self) -> Iterator[CallSite]:
        for path in self._ev.files.containing("getattr("):
            file = self._ev.file(path)
            for piece in file.mentioning("getattr(") if file else ():
                facts = self._ev.facts(path, piece)
                for def_, one in enumerate(facts.ir.defs if facts else ()):
                    assert facts is not None
                    for step, _ in getattr_calls(facts.ir.exprs, one):
                        yield CallSite(path, piece, def_, step.call, step.context)

    def opened(self, path: Path, piece: int, def_: int) -> Frame | None:
        """The frame of a def when unknown code calls it."""
        facts = self._ev.facts(path, piece)
        if facts is None or def_ == 0:
            return self._ev.body(path, piece) if facts else None
        return next(iter(self._open(path, piece, def_, facts)), None)

    def _open(self, path: Path, piece: int, def_: int, facts: PieceFacts) -> tuple[Frame, ...]:
        function = FunctionRef(path, piece, def_)
        owner = self.owner(path, piece, def_, facts)
        is_static = owner is not None and self._ev.functions.decoration(function) == "static"
        receiver = Instance(owner, None) if owner and not is_static else None
        frame = self._ev.functions.open_frame(function, receiver, owner)
        return (frame,) if frame else ()

    def owner(self, path: Path, piece: int, def_: int, facts: PieceFacts) -> ClassRef | None:
        """The class that a def is a method of, None for functions."""
        parent = facts.ir.defs[def_].parent
        if parent > 0:
            return ClassRef(path, piece, parent) if facts.ir.defs[parent].kind == "class" else None
        file = self._ev.file(path)
        up = file.pieces[piece].parent if file else -1
        while file and up >= 0 and file.pieces[up].kind == "clause":
            up = file.pieces[up].parent
        return ClassRef(path, up, 1) if up >= 0 else None

    def _find(self, path: Path, piece: int, def_: int, facts: PieceFacts, depth: int) -> Iterator[Frame]:
        one = facts.ir.defs[def_]
        owner = self.owner(path, piece, def_, facts)
        if owner is not None and self._ev.functions.decoration(FunctionRef(path, piece, def_)) in ("static", "class"):
            for site in self.sites_running(one.name, (path, piece, def_)):
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
            self.sites_running(one, wanted) for one in (name, *sorted(self._aliases(name)))
        ):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                yield from self._confirmed(site, caller, wanted)

    def _looked_up(self, wanted: DefKey, facts: PieceFacts, depth: int) -> Iterator[Frame]:
        """The frames of a function at module level that calls look up by its name: `getattr(module, name)(...)`, in a
        function that gets the name as a text."""
        path, piece, def_ = wanted
        if self.owner(path, piece, def_, facts) is not None:
            return
        name = facts.ir.defs[def_].name
        for caller, number in chain(self._lookups(name, depth), self._chosen_calls(name, depth)):
            yield from (target for target in self._ev.targets(number, caller) if def_key(target) == wanted)

    def _chosen_calls(self, name: str, depth: int) -> Iterator[tuple[Frame, int]]:
        """The calls of what `getattr` gives for a text that an option names: each as its number in a frame."""
        for site in self._getattr_sites() if self._is_text(name) else ():
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                call = self._ev.expr(caller, site.expr)
                if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(site.context, caller):
                    if looks_up(self._ev, call, caller, name):
                        yield caller, site.expr

    def _is_text(self, name: str) -> bool:
        """Whether the code contains a name as a text."""
        return any(any(self._ev.files.containing(quoted)) for quoted in _quoted(name))

    def _lookups(self, name: str, depth: int) -> Iterator[tuple[Frame, int]]:
        """The calls that may look up what they call by the text `name`: each as its number in a frame."""
        for site in self._sites_with_text(name) if name else ():
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.liveness.is_dead(site.context, caller):
                    continue
                yield caller, site.expr
                for inner in self._ev.targets(site.expr, caller):
                    yield from ((inner, number) for number in self._ev.leads(inner))

    def _sites_with_text(self, name: str) -> tuple[CallSite, ...]:
        """The calls with the constant text `name` as an argument, and the calls of what those return."""
        known = self._texts.get(name)
        if known is None:
            known = self._texts[name] = tuple(dict.fromkeys(self._find_sites_with_text(name)))
        return known

    def _find_sites_with_text(self, name: str) -> Iterator[CallSite]:
        for quoted in _quoted(name):
            for path in self._ev.files.containing(quoted):
                file = self._ev.file(path)
                for piece in file.mentioning(quoted) if file else ():
                    yield from _sites_passing(self._ev, path, piece, name)

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

    def _aliases(self, name: str) -> frozenset[str]:
        """Other names that files give a function `name`: `import name as other`, `other = partial(name, ...)`."""
        known = self._other_names.get(name)
        if known is None:
            found = {alias for alias, bound in self._bound_aliases() if bound == name}
            for path in self._ev.files.containing(f"{name} as "):
                file = self._ev.file(path)
                for _, names in file.asking(_imported_as, name) if file else ():
                    found.update(names)
            known = self._other_names[name] = frozenset(found - {name})
        return known

    def _class_aliases(self, name: str) -> frozenset[str]:
        """Other names that files give a class `name`: `import name as other`, `Other = name`."""
        known = self._other_class_names.get(name)
        if known is None:
            found = set(self._aliases(name))
            for path in self._ev.files.containing(name):
                file = self._ev.file(path)
                for _, names in file.asking(_assigned_as, name) if file else ():
                    found.update(names)
            known = self._other_class_names[name] = frozenset(found - {name})
        return known

    def _bound_aliases(self) -> frozenset[tuple[str, str]]:
        """What `other = partial(name, ...)` calls each function: pairs of other and name."""
        if self._partials is None:
            found: set[tuple[str, str]] = set()
            for path in self._ev.files.containing("partial("):
                file = self._ev.file(path)
                for _, pairs in file.asking(_bound_by_partial) if file else ():
                    found.update(pairs)
            self._partials = frozenset(found)
        return self._partials

    def _confirmed(self, site: CallSite, caller: Frame, wanted: DefKey) -> Iterator[Frame]:
        """The frames of `wanted` that a call leads to, if it does."""
        if self._ev.liveness.is_dead(site.context, caller):
            return
        call = self._ev.expr(caller, site.expr)
        if not isinstance(call, ir.Call):
            return
        callee = self._ev.eval(call.func, caller)
        for atom in callee.only(FunctionRef, Method, PartialOf):
            function = _function_of(atom)
            if isinstance(function, FunctionRef) and def_key(function) == wanted:
                for target in self._ev.targets(site.expr, caller):
                    yield from self._leading_to(target, wanted)

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
        instances = self.instances(owner, depth)
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

    def _calls_on(self, inst: Instance, name: str, wanted: DefKey, depth: int) -> Iterator[Frame]:
        yield from self._ev.classes.constructed_through(inst, FunctionRef(*wanted))
        for site in self.sites_running(name, wanted, inst):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                yield from (f for f in self._confirmed(site, caller, wanted) if f.receiver == inst)

    def _calls_on_others(self, known: tuple[Instance, ...], name: str, wanted: DefKey, depth: int) -> list[Frame]:
        """The frames of a method on objects that are not among the known ones of its class: only the call of the method
        shows how they are made, because their class is looked up at run time."""
        if name == "__init__" or len(known) >= MAX_CALLERS:
            return []
        called = (
            frame
            for site in self.sites_running(name, wanted)
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1)
            for frame in self._confirmed(site, caller, wanted)
        )
        return [one for one in called if _is_made(one.receiver) and one.receiver not in known]

    def receivers(self, wanted: DefKey, name: str) -> tuple[frozenset[Instance], bool]:
        """The objects on which known code calls a method, and whether other calls may be on any object."""
        found: set[Instance] = set()
        is_open = False
        for site in self.sites_running(name, wanted):
            for caller in self.frames(site.path, site.piece, site.def_):
                call = self._ev.expr(caller, site.expr)
                if isinstance(call, ir.Call) and not self._ev.liveness.is_dead(site.context, caller):
                    callee = self._ev.eval(call.func, caller)
                    is_open = is_open or callee.unknown is not None
                    called = (one for one in callee.only(Method) if def_key(one.function) == wanted)
                    found.update(one.receiver for one in called if isinstance(one.receiver, Instance))
        return frozenset(found), is_open

    def instances(self, cls: ClassRef, depth: int = 0) -> tuple[Instance, ...]:
        """The objects of a class (or of a subclass) whose construction is known; otherwise one that unknown code
        creates."""
        known = self._instances.get(cls)
        if known is not None:
            return known
        with provisional(self._instances, cls, (Instance(cls, None),)):
            self._instances[cls] = self._find_instances(cls, depth) or (Instance(cls, None),)
        return self._instances[cls]

    def _find_instances(self, cls: ClassRef, depth: int) -> tuple[Instance, ...]:
        """The objects of a class or of a subclass whose construction is known."""
        found: dict[Instance, None] = {}
        for heir, site in chain(self._made_by(cls), self._made_by_class_methods(cls)):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
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
        if not found and not any(self._ev.classes.member(cls, name) for name in ("__getitem__", "__iter__")):
            found.update((inst, None) for inst in islice(self._made_of_returned(cls, depth), MAX_CALLERS))
        heirs = (cls, *self.subclasses(cls))
        found.update((inst, None) for inst in self._instantiated(depth) if inst.cls in heirs)
        return tuple(found)[:MAX_CALLERS]

    def _made_by_name(self, cls: ClassRef, depth: int) -> Iterator[Instance]:
        """The objects of a class at module level whose calls look it up by its name."""
        for caller, number in self._lookups(self._ev.classes.name(cls), depth) if cls.scope is None else ():
            call = self._ev.expr(caller, number)
            if isinstance(call, ir.Call) and cls in self._ev.eval(call.func, caller).atoms:
                yield Instance(cls, Site(caller, number))

    def _made_of_returned(self, cls: ClassRef, depth: int) -> Iterator[Instance]:
        """The objects of a class, or of a subclass, that code creates which gets the class from a function:
        `kind, options = self.choose()` and `kind(**options)`. Datasets are left out: a loader that may hold any dataset
        may hold theirs, too."""
        for heir in (cls, *self.subclasses(cls)):
            for site in self._calls_giving(self._ev.classes.name(heir)):
                for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                    for step, call in caller.code.calls:
                        if _is_of_result(caller, call.func, site.expr):
                            if not self._ev.liveness.is_dead(step.context, caller):
                                if heir in self._ev.eval(call.func, caller).atoms:
                                    yield Instance(heir, Site(caller, step.call))

    def _calls_giving(self, name: str) -> Iterator[CallSite]:
        """The calls of functions in whose text a `return` has the name of a class."""
        functions: dict[str, None] = {}
        for path in self._ev.files.containing(name):
            file = self._ev.file(path)
            for piece, _ in file.asking(_may_return, name) if file else ():
                facts = self._ev.facts(path, piece)
                functions.update(dict.fromkeys(one.name for one in facts.ir.defs[1:2]) if facts else ())
        for function in functions:
            yield from self.sites(function)

    def _instantiated(self, depth: int) -> tuple[Instance, ...]:
        """The objects that known configurations create."""
        if self._from_configurations is None:
            self._from_configurations = ()  # for questions about it during the computation
            self._from_configurations = tuple(dict.fromkeys(self._find_instantiated(depth)))
        return self._from_configurations

    def _find_instantiated(self, depth: int) -> Iterator[Instance]:
        for site in self.sites("instantiate"):
            for caller in self.frames(site.path, site.piece, site.def_, depth + 1):
                if self._ev.yaml.instantiates(Site(caller, site.expr)):
                    made = self._ev.eval(site.expr, caller).only(Instance)
                    yield from (inst for inst in made if inst.site is not None)

    def are_made(self, cls: ClassRef) -> bool:
        """Whether the construction of some object of a class, or of a subclass, is known. For most classes, the call
        alone shows this, without the callers of the code around it."""
        if cls not in self._instances and any(self._calls_for_all(site) for _, site in self._made_by(cls)):
            return True
        return any(inst.site is not None for inst in self.instances(cls))

    def are_written(self, cls: ClassRef) -> bool:
        """Whether some call creates an object of a class, or of a subclass, be it in a branch that no known caller
        takes."""
        return any(self._written(site) is not None for _, site in self._made_by(cls))

    def _made_by(self, cls: ClassRef) -> Iterator[tuple[ClassRef, CallSite]]:
        """The calls that may create an object of a class or of a subclass, each with that class."""
        for heir in (cls, *self.subclasses(cls)):
            name = self._ev.classes.name(heir)
            for site in chain.from_iterable(self.sites(one) for one in (name, *sorted(self._class_aliases(name)))):
                callees = self.callees(site)
                if callees is None or heir in callees:
                    yield heir, site

    def _made_by_class_methods(self, cls: ClassRef) -> Iterator[tuple[ClassRef, CallSite]]:
        """The calls `cls(...)` in class methods that may create an object of a class or of a subclass, each with that
        class."""
        if self._class_method_calls is None:
            self._class_method_calls = tuple(self._find_class_method_calls())
        for heir in (cls, *self.subclasses(cls)) if self._class_method_calls else ():
            bases = self._ev.classes.mro(heir)
            yield from ((heir, site) for owner, site in self._class_method_calls if owner in bases)

    def _find_class_method_calls(self) -> Iterator[tuple[ClassRef, CallSite]]:
        for path in self._ev.files.containing(_CLASS_METHOD):
            file = self._ev.file(path)
            for piece in file.mentioning(_CLASS_METHOD) if file else ():
                facts = self._ev.facts(path, piece)
                owner = self.owner(path, piece, 1, facts) if facts and len(facts.ir.defs) > 1 else None
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
        if facts is None or self._written(site) is None:
            return False
        here = Unframed(self._ev, site.path, site.piece, site.def_, facts)
        around = facts.ir.defs[site.def_].around(site.context)
        return all(one.kind != "if" or one.expr == NONE or here.is_open(one.expr) for one in around)

    def subclasses(self, cls: ClassRef) -> tuple[ClassRef, ...]:
        """The classes of the project that derive from a module-level class, in the order of their files."""
        found = tuple(islice(self._heirs(cls), MAX_CALLERS + 1))
        if len(found) > MAX_CALLERS:
            self._ev.limits.note(SUBCLASSES, cls.path, cls.piece, cls.def_)
        return found[:MAX_CALLERS]

    def frames_of_heirs(self, path: Path, piece: int, def_: int) -> Iterator[Frame]:
        """The frames of a method on presumed objects of the classes that inherit it, if no other class derives from
        them and no known code creates them: a framework or a configuration may."""
        facts = self._ev.facts(path, piece)
        owner = self.owner(path, piece, def_, facts) if facts and def_ else None
        function = FunctionRef(path, piece, def_)
        if facts is None or owner is None or self._ev.functions.decoration(function) in ("static", "class"):
            return
        for heir in self._last_heirs(owner):
            member = self._ev.classes.member(heir, facts.ir.defs[def_].name)
            if member is None or member.function != function or self.are_made(heir):
                continue
            opened = self._ev.functions.open_frame(function, Instance(heir, None, presumed=True), owner)
            yield from (opened,) if opened is not None else ()

    def _last_heirs(self, cls: ClassRef) -> list[ClassRef]:
        """The classes that derive from a class, directly or indirectly, and that no class derives from."""
        seen: dict[ClassRef, bool] = {}
        waiting = [cls]
        while waiting:
            if len(seen) > MAX_CALLERS:
                self._ev.limits.note(SUBCLASSES, cls.path, cls.piece, cls.def_)
                break
            one = waiting.pop()
            heirs = self.subclasses(one)
            waiting += [heir for heir in reversed(heirs) if heir not in seen]
            seen[one] = not heirs
        return [one for one, is_last in seen.items() if is_last and one != cls]

    def _heirs(self, cls: ClassRef) -> Iterator[ClassRef]:
        name = self._ev.classes.name(cls)
        for path in self._ev.files.deriving(name):
            file = self._ev.file(path)
            for piece, _ in file.asking(_may_derive, name) if file else ():
                if file and file.pieces[piece].kind == "class":
                    heir = ClassRef(path, piece, 1)
                    if heir != cls and cls in self._ev.classes.mro(heir):
                        yield heir

    def sites(self, name: str) -> tuple[CallSite, ...]:
        """The calls of something called `name`."""
        known = self._sites.get(name)
        if known is None:
            known = self._sites[name] = tuple(self._find_sites(name))
        return known

    def sites_running(self, name: str, wanted: DefKey, receiver: Instance | None = None) -> Iterator[CallSite]:
        """The calls of something called `name` that may run the def `wanted`; with a `receiver`, on this object."""
        certain, possible = self._by_callee(name)
        for site in sorted((*certain.get(wanted, ()), *possible)):
            if receiver is None or self._may_run_on(receiver, site):
                yield site

    def _by_callee(self, name: str) -> tuple[dict[DefKey, list[CallSite]], list[CallSite]]:
        """The calls of something called `name`, grouped by the defs that they may run, and those that may run any
        def."""
        known = self._sites_by_callee.get(name)
        if known is None:
            known = self._sites_by_callee[name] = self._find_by_callee(name)
        return known

    def _find_by_callee(self, name: str) -> tuple[dict[DefKey, list[CallSite]], list[CallSite]]:
        certain: dict[DefKey, list[CallSite]] = {}
        possible: list[CallSite] = []
        for site in self.sites(name):
            if _is_to_fail(self._ev, site):
                continue
            callees = self.callees(site)
            if callees is None:
                possible.append(site)
            functions = (_function_of(atom) for atom in callees or ())
            for place in {def_key(f) for f in functions if isinstance(f, FunctionRef)}:
                certain.setdefault(place, []).append(site)
        return certain, possible

    def _may_run_on(self, receiver: Instance, site: CallSite) -> bool:
        """Whether a call may run a method on an object. A call on `self` runs on objects of its own class only."""
        facts = self._ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        if facts is None or not isinstance(call, ir.Call):
            return False
        method = Unframed(self._ev, site.path, site.piece, site.def_, facts).method_of_self(call.func)
        owner = self.owner(site.path, site.piece, method, facts) if method is not None else None
        if owner is None or method is None:
            return True
        if self._ev.functions.decoration(FunctionRef(site.path, site.piece, method)) in ("static", "class"):
            return True
        ancestors = self._ev.classes.mro(receiver.cls)
        return any(isinstance(base, ClassRef) and _same_class(base, owner) for base in ancestors)

    def callees(self, site: CallSite) -> frozenset[Atom] | None:
        """All possible callees of a call, for any caller of its def; None if they depend on the callers."""
        key = (site.path, site.piece, site.def_, site.expr)
        if key not in self._known_callees:
            written = self._written(site)
            self._known_callees[key] = self._find_callees(site) if written is None and site.def_ else written
        return self._known_callees[key]

    def _written(self, site: CallSite) -> frozenset[Atom] | None:
        """All possible callees of a call, if they can be known without a frame of its def; otherwise None."""
        facts = self._ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        if facts is None or not isinstance(call, ir.Call):
            return frozenset()
        callee = Unframed(self._ev, site.path, site.piece, site.def_, facts).value(call.func)
        return callee.atoms if callee is not None else None

    def _find_callees(self, site: CallSite) -> frozenset[Atom] | None:
        found: set[Atom] = set()
        for frame in self._opened_for_heirs(site):
            call = self._ev.expr(frame, site.expr)
            if not isinstance(call, ir.Call):
                return None
            atoms = self._ev.eval(call.func, frame).atoms
            if any(type(atom) is Unknown for atom in atoms):
                return None
            found |= atoms
        return frozenset(found) if found else None

    def _opened_for_heirs(self, site: CallSite) -> Iterator[Frame]:
        """The frames of a call's def for unknown callers: on objects of its class and of the classes that derive from
        it."""
        facts = self._ev.facts(site.path, site.piece)
        if facts is None:
            return
        opened = self.opened(site.path, site.piece, site.def_)
        if opened is None:
            return
        yield opened
        if isinstance(opened.receiver, Instance) and asks_self(site.expr, facts):
            function = FunctionRef(site.path, site.piece, site.def_)
            for heir in self.subclasses(opened.receiver.cls):
                frame = self._ev.functions.open_frame(function, Instance(heir, None), opened.owner)
                yield from (frame,) if frame else ()

    def _find_sites(self, name: str) -> Iterator[CallSite]:
        for path in self._ev.files.calling(name):
            file = self._ev.file(path)
            if file is None:
                continue
            for piece, _ in file.asking(calls, name):
                yield from sites_in(self._ev, path, piece, {name})


def _quoted(name: str) -> tuple[str, str]:
    """A text as code writes it."""
    return f'"{name}"', f"'{name}'"


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


def _same_class(one: ClassRef, other: ClassRef) -> bool:
    """Whether two are the same class statement, in whatever function it is."""
    return def_key(one) == def_key(other)


def asks_self(number: int, facts: PieceFacts) -> bool:
    """Whether the callee of a call depends on the def's first parameter."""
    exprs = facts.ir.exprs
    call = exprs[number]
    made_of = ir.made_of(exprs, [call.func]) if isinstance(call, ir.Call) else ()
    return any(ir.is_self(exprs[one]) for one in made_of)


def _function_of(atom: Atom) -> Atom:
    """The function behind a bound method or `functools.partial`."""
    for _ in range(3):
        if isinstance(atom, PartialOf):
            atom = atom.func
    return atom.function if isinstance(atom, Method) else atom


def _bound_to(def_: int, facts: PieceFacts) -> str:
    """The name that a module-level statement gives a lambda, '' if it gives none."""
    for step in facts.ir.defs[0].steps:
        if isinstance(step, ir.Bind) and step.value != ir.NONE and facts.ir.exprs[step.value] == ir.MakeDef(def_):
            return step.name
    return ""


@needs_word
def _may_derive(text: str, name: str) -> bool:
    """Whether a piece may be the head of a class among whose bases `name` is written."""
    return name in text and "class" in text


@needs_word
def _may_return(text: str, name: str) -> bool:
    """Whether a line of a piece returns something that is made of `name`."""
    return any("return " in line and _RETURNED.match(line) is not None for line in _lines_with(name, text))


@needs_word
def _imported_as(text: str, name: str) -> tuple[str, ...]:
    """The names under which a piece imports something called `name`."""
    return tuple(re.findall(rf"\b{name} as (\w+)", text)) if f"{name} as " in text else ()


@needs_word
def _assigned_as(text: str, name: str) -> tuple[str, ...]:
    """The names that a piece gives something called `name`: `other = name`, `other = name if test else another`."""
    one_of_two = r"(?:[^=\n]*\belse[ \t]+)?"
    assigned = re.compile(rf"\b(\w+)[ \t]*=[ \t]*{one_of_two}(?:\w+\.)*{name}[ \t]*(?:$|[#;]|if\b)")
    return tuple(one[1] for line in _lines_with(name, text) for one in assigned.finditer(line))


def _lines_with(name: str, text: str) -> Iterator[str]:
    """The lines of a text that contain a name, without their endings. There are few, and searching the others for a
    pattern that begins with any word is slow."""
    at = text.find(name)
    while at >= 0:
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield text[text.rfind("\n", 0, at) + 1 : end]
        at = text.find(name, end)


def _bound_by_partial(text: str) -> tuple[tuple[str, str], ...]:
    """The names that a piece gives functions with bound arguments, each with the function's own."""
    return tuple(_BOUND.findall(text)) if "partial(" in text else ()


def sites_in(ev: Evaluator, path: Path, piece: int, names: set[str] | frozenset[str]) -> Iterator[CallSite]:
    """The calls in a piece whose callee has one of `names` as its last part."""
    facts = ev.facts(path, piece)
    if facts is None:
        return
    exprs = facts.ir.exprs
    for def_, one in enumerate(facts.ir.defs):
        for step in one.steps:
            if type(step) is not ir.Perform:
                continue
            call = exprs[step.call]
            if not isinstance(call, ir.Call):
                continue
            if called_name(exprs, call.func) in names or _is_local_partial(exprs, call.func):
                yield CallSite(path, piece, def_, step.call, step.context)


def _is_to_fail(ev: Evaluator, site: CallSite) -> bool:
    """Whether a test expects of a call that it raises: `with pytest.raises(ValueError)`. What it passes does not get
    far."""
    facts = ev.facts(site.path, site.piece)
    if facts is None:
        return False
    exprs, around = facts.ir.exprs, facts.ir.defs[site.def_].around(site.context)
    managers = (exprs[here.expr] for here in around if here.kind == "with")
    return any(isinstance(one, ir.Call) and called_name(exprs, one.func) in _EXPECTING for one in managers)


def _is_local_partial(exprs: tuple[ir.Expr, ...], func: int) -> bool:
    """Whether a callee is a local of the def that holds `partial(...)`, in some branch at least."""
    match exprs[func]:
        case ir.Call(maker, _):
            return called_name(exprs, maker) == "partial"
        case ir.Phi(choices):
            return any(isinstance(exprs[one], ir.Call) and _is_local_partial(exprs, one) for one in choices)
    return False


def _sites_passing(ev: Evaluator, path: Path, piece: int, text: str) -> Iterator[CallSite]:
    """The calls in a piece with a constant text as an argument, and the calls of what those return."""
    facts = ev.facts(path, piece)
    for def_, one in enumerate(facts.ir.defs if facts else ()):
        assert facts is not None
        giving: set[int] = set()
        for step in one.steps:
            call = facts.ir.exprs[step.call] if type(step) is ir.Perform else None
            if type(step) is ir.Perform and isinstance(call, ir.Call):
                if call.func in giving or any(facts.ir.exprs[arg.value] == ("str", text) for arg in call.args):
                    giving.add(step.call)
                    yield CallSite(path, piece, def_, step.call, step.context)


def called_name(exprs: tuple[ir.Expr, ...], func: int) -> str:
    """The last part of a callee as written: `data.DataLoader` gives 'DataLoader'; '' for anything computed."""
    match exprs[func]:
        case ir.Global(name) | ir.Attr(_, name) | ir.Capture(_, name):
            return name
        case ir.Imported(module, name, _):
            return name or module.rpartition(".")[2]
    return ""
