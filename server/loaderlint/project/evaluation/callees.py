"""What a call runs, as far as its text and the code around it show this for all callers, and which calls may run a
given def. Most calls of a common name lead elsewhere, so their callers need not be searched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.knowledge.process_launchers import LAUNCHER_WORDS
from loaderlint.project.evaluation.call_sites import CallSite, CallSites, is_to_fail, names_passed
from loaderlint.project.evaluation.context_insensitive import Unframed
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.launched_functions import starts_processes
from loaderlint.project.evaluation.library_calls import is_opaque
from loaderlint.project.evaluation.open_frames import opened, owner_of
from loaderlint.project.evaluation.subclasses import subclasses
from loaderlint.project.evaluation.values import (
    Atom,
    ClassRef,
    DefKey,
    FunctionRef,
    Instance,
    Lib,
    Method,
    PartialOf,
    Unknown,
    def_key,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator


class Callees:
    """The callees of the calls of one snapshot."""

    def __init__(self, evaluator: Evaluator, sites: CallSites) -> None:
        self._ev = evaluator
        self._sites = sites
        self._known: dict[tuple[Path, int, int, int], frozenset[Atom] | None] = {}
        self._launches: dict[str, list[CallSite]] | None = None
        self._by_name: dict[str, tuple[dict[DefKey, list[CallSite]], list[CallSite]]] = {}

    def of(self, site: CallSite) -> frozenset[Atom] | None:
        """All possible callees of a call, for any caller of its def; None if they depend on the callers."""
        key = (site.path, site.piece, site.def_, site.expr)
        if key not in self._known:
            written = self.written(site)
            self._known[key] = self._find(site) if written is None and site.def_ else written
        return self._known[key]

    def written(self, site: CallSite) -> frozenset[Atom] | None:
        """All possible callees of a call, if they can be known without a frame of its def; otherwise None."""
        facts = self._ev.facts(site.path, site.piece)
        call = facts.ir.exprs[site.expr] if facts else None
        if facts is None or not isinstance(call, ir.Call):
            return frozenset()
        callee = Unframed(self._ev, site.path, site.piece, site.def_, facts).value(call.func)
        return callee.atoms if callee is not None else None

    def _find(self, site: CallSite) -> frozenset[Atom] | None:
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
        frame = opened(self._ev, site.path, site.piece, site.def_)
        if frame is None:
            return
        yield frame
        if isinstance(frame.receiver, Instance) and asks_self(site.expr, facts):
            function = FunctionRef(site.path, site.piece, site.def_)
            for heir in subclasses(self._ev, frame.receiver.cls):
                of_heir = self._ev.functions.open_frame(function, Instance(heir, None), frame.owner)
                yield from (of_heir,) if of_heir else ()

    def sites_running(self, name: str, wanted: DefKey, receiver: Instance | None = None) -> Iterator[CallSite]:
        """The calls of something called `name` that may run the def `wanted`, and those that may run it in new
        processes; with a `receiver`, on this object."""
        certain, possible = self.by_callee(name)
        for site in sorted((*certain.get(wanted, ()), *possible, *self._launching(name))):
            if receiver is None or self._may_run_on(receiver, site):
                yield site

    def _launching(self, name: str) -> Sequence[CallSite]:
        """The calls that may run something called `name` in new processes."""
        if self._launches is None:
            self._launches = {}
            for site in (one for word in sorted(LAUNCHER_WORDS) for one in self._sites.named(word)):
                facts = self._ev.facts(site.path, site.piece)
                call = facts.ir.exprs[site.expr] if facts is not None else None
                if facts is not None and isinstance(call, ir.Call) and self._may_launch(site):
                    for passed in dict.fromkeys(names_passed(facts.ir.exprs, call)):
                        self._launches.setdefault(passed, []).append(site)
        return self._launches.get(name, ())

    def _may_launch(self, site: CallSite) -> bool:
        """Whether a call may start processes, for some caller of its def."""
        callees = self.of(site)
        return callees is None or starts_processes(callees)

    def only_keep(self, site: CallSite) -> bool:
        """Whether a call is sure to be one of a library that runs nothing which it is passed."""
        callees = self.written(site)
        return bool(callees) and all(isinstance(one, Lib) and is_opaque(one.name) for one in callees or ())

    def by_callee(self, name: str) -> tuple[dict[DefKey, list[CallSite]], list[CallSite]]:
        """The calls of something called `name`, grouped by the defs that they may run, and those that may run any
        def."""
        known = self._by_name.get(name)
        if known is None:
            known = self._by_name[name] = self._find_by_callee(name)
        return known

    def _find_by_callee(self, name: str) -> tuple[dict[DefKey, list[CallSite]], list[CallSite]]:
        certain: dict[DefKey, list[CallSite]] = {}
        possible: list[CallSite] = []
        for site in self._sites.named(name):
            if is_to_fail(self._ev, site):
                continue
            callees = self.of(site)
            if callees is None:
                possible.append(site)
            functions = (function_of(atom) for atom in callees or ())
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
        owner = owner_of(self._ev, site.path, site.piece, method, facts) if method is not None else None
        if owner is None or method is None:
            return True
        if self._ev.functions.decoration(FunctionRef(site.path, site.piece, method)) in ("static", "class"):
            return True
        ancestors = self._ev.classes.mro(receiver.cls)
        return any(isinstance(base, ClassRef) and _same_class(base, owner) for base in ancestors)


def asks_self(number: int, facts: PieceFacts) -> bool:
    """Whether the callee of a call depends on the def's first parameter."""
    exprs = facts.ir.exprs
    call = exprs[number]
    made_of = ir.made_of(exprs, [call.func]) if isinstance(call, ir.Call) else ()
    return any(ir.is_self(exprs[one]) for one in made_of)


def function_of(atom: Atom) -> Atom:
    """The function behind a bound method or `functools.partial`."""
    for _ in range(3):
        if isinstance(atom, PartialOf):
            atom = atom.func
    return atom.function if isinstance(atom, Method) else atom


def _same_class(one: ClassRef, other: ClassRef) -> bool:
    """Whether two are the same class statement, in whatever function it is."""
    return def_key(one) == def_key(other)
