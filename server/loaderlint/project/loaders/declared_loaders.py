"""Loaders that the settings declare: calls of the project's own wrappers (`loaders` in pyproject.toml).

A call that can be followed to a loader of a library keeps what is known from there; the declaration adds the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.knowledge.wrappers import TORCH_PARAMETERS, LoaderKind
from loaderlint.project.evaluation.argument_binding import Arguments
from loaderlint.project.evaluation.call_sites import CallSite, sites_in
from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.evaluator import Evaluator
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import WALK
from loaderlint.project.evaluation.values import ClassRef, FunctionRef, Lib, Method, Site, Val, unknown

if TYPE_CHECKING:
    from loaderlint.project.loaders.loader_wrapper import LoaderWrapper

_MAX_FRAMES = 200
#: The arguments that a declaration can name. The wrapper is assumed to change nothing else about the draws of its
#: workers.
_DECLARED = frozenset({"dataset", "num_workers", "worker_init_fn"})

DeclaredOf = Callable[[Path], "tuple[LoaderWrapper, ...]"]


class DeclaredCalls:
    """The calls of declared wrappers in one snapshot. `declared_of(path)`: the wrappers declared for a file."""

    def __init__(self, evaluator: Evaluator, callers: Callers, declared_of: DeclaredOf) -> None:
        self._ev = evaluator
        self._callers = callers
        self._declared_of = declared_of

    def find(self) -> Iterator[tuple[Site, LoaderKind, dict[str, Val]]]:
        """Each call with its declared kind, and its arguments under torch's names."""
        for wrapper, site in self._sites():
            for frame in self._callers.frames(site.path, site.piece, site.def_):
                call = self._ev.expr(frame, site.expr)
                if self._ev.liveness.is_dead(site.context, frame) or not isinstance(call, ir.Call):
                    continue
                if self._is_meant(wrapper.name, self._ev.eval(call.func, frame), call, frame):
                    kind = LoaderKind(wrapper.name, seeds_numpy=wrapper.seeds)
                    self._ev.eval(site.expr, frame)
                    yield Site(frame, site.expr), kind, self._arguments(wrapper, call, site.expr, frame)

    def _sites(self) -> Iterator[tuple[LoaderWrapper, CallSite]]:
        folders = {path.parent: path for path in self._ev.files.paths()}
        known = {wrapper.name.rpartition(".")[2] for path in folders.values() for wrapper in self._declared_of(path)}
        for name in sorted(known):
            for path in self._ev.files.containing(name):
                file = self._ev.file(path)
                for piece in file.mentioning(name) if file else ():
                    for wrapper in self._declared_of(path):
                        if wrapper.name.rpartition(".")[2] == name:
                            yield from ((wrapper, site) for site in sites_in(self._ev, path, piece, {name}))

    # --- which call is meant ------------------------------------------------------------------------------------------

    def _is_meant(self, name: str, callee: Val, call: ir.Call, frame: Frame) -> bool:
        """Whether a dotted name is that of the callee; a single name was already compared with the written one."""
        if "." not in name:
            return True
        full = [self._full_name(atom) for atom in callee.only(Lib, FunctionRef, ClassRef, Method)]
        return any(f".{one}".endswith(f".{name}") for one in (*full, self._written(call.func, frame)))

    def _full_name(self, atom: object) -> str:
        """The module, the class and the name of something, with dots."""
        if isinstance(atom, Lib):
            return atom.name
        if isinstance(atom, Method):
            return self._full_name(atom.function)
        if not isinstance(atom, FunctionRef | ClassRef):
            return ""
        facts = self._ev.facts(atom.path, atom.piece)
        inside = atom.path.relative_to(self._ev.files.root) if atom.path.is_relative_to(self._ev.files.root) else None
        if facts is None or inside is None:
            return ""
        owner = self._callers.owner(atom.path, atom.piece, atom.def_, facts) if isinstance(atom, FunctionRef) else None
        module = inside.parent.parts if inside.stem == "__init__" else inside.with_suffix("").parts
        classes = (self._ev.classes.name(owner),) if owner else ()
        return ".".join((*module, *classes, facts.ir.defs[atom.def_].name))

    def _written(self, func: int, frame: Frame) -> str:
        """The callee as it is written: 'data.make_loader'."""
        match self._ev.expr(frame, func):
            case ir.Global(name) | ir.Capture(_, name):
                return name
            case ir.Imported(module, name, _):
                return f"{module}.{name}" if name else module
            case ir.Attr(base, name):
                return f"{self._written(base, frame)}.{name}"
        return ""

    # --- its arguments ------------------------------------------------------------------------------------------------

    def _arguments(self, wrapper: LoaderWrapper, call: ir.Call, number: int, frame: Frame) -> dict[str, Val]:
        passed = self._ev.calls.arguments(call, frame)
        found = {name: value for name, value in passed.keywords if name in TORCH_PARAMETERS}
        for name, meant in (("dataset", wrapper.dataset), ("num_workers", wrapper.workers)):
            found.pop(name, None)
            value = self._passed(meant, passed, number, frame)
            if value is not None:
                found[name] = value
        for name in TORCH_PARAMETERS:
            if name not in _DECLARED or name == "num_workers":
                found.setdefault(name, unknown("declared in settings"))
        return found

    def _passed(self, meant: str | int, passed: Arguments, number: int, frame: Frame) -> Val | None:
        """The argument that a declaration names, by keyword or position. If the function is known, its signature gives
        the position and the default."""
        if isinstance(meant, int):
            return passed.get("", meant)
        for target in self._ev.targets(number, frame):
            one = self._ev.def_of(target)
            for index, param in enumerate(one.params if one else ()):
                if param.name == meant and index < len(target.args):
                    given = target.args[index]
                    function = FunctionRef(target.path, target.piece, target.def_, target.scope)
                    return given if given is not None else self._ev.functions.default(function, param)
        return passed.get(meant, 0 if meant == TORCH_PARAMETERS[0] else None)


def leads_to(ev: Evaluator, site: Site) -> frozenset[Frame]:
    """The frames that a call leads to, itself or through others."""
    return run_from(ev, ev.targets(site.expr, site.frame))


def run_from(ev: Evaluator, frames: Iterable[Frame]) -> frozenset[Frame]:
    """These frames and those that they lead to."""
    found = dict.fromkeys(frames)
    queue = deque(found)
    while queue:
        if len(found) >= _MAX_FRAMES:
            first = next(iter(found))
            ev.limits.note(WALK, first.path, first.piece, first.def_)
            break
        for target in ev.run(queue.popleft()):
            if target not in found:
                found[target] = None
                queue.append(target)
    return frozenset(found)


def with_seeds(kind: LoaderKind, declared: LoaderKind) -> LoaderKind:
    """The kind of a loader that a declared wrapper makes."""
    return replace(kind, seeds_numpy=kind.seeds_numpy or declared.seeds_numpy)
