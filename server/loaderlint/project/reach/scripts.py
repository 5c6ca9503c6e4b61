"""Module-level code: which statements are guarded, and where a script starts the workers of a loader.

A spawned worker imports the main script again, so everything at module level outside `if __name__ == "__main__"` runs
again in each worker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.facts.piece_facts import PieceFacts
from loaderlint.findings.finding import Place
from loaderlint.knowledge.higher_order import RUNNERS
from loaderlint.knowledge.loader_consumers import (
    GOES_OVER_LATER,
    GOES_OVER_NOW,
    HOOKS_OF_STAGE,
    LAZY,
    LOADER_CONSUMERS,
    LOADER_HOOK,
    LOADER_PREPARERS,
    TAKES_NOW,
)
from loaderlint.knowledge.process_exits import EXITS
from loaderlint.project.evaluation.frames import Frame, iterated
from loaderlint.project.evaluation.limits import WALK
from loaderlint.project.evaluation.values import (
    DefKey,
    FunctionRef,
    Instance,
    Lib,
    LibMember,
    LibObject,
    Site,
    Val,
    def_key,
)
from loaderlint.project.modules.project_files import MODULE, ProjectFile, defined_name
from loaderlint.syntax.byte_search import calls
from loaderlint.syntax.notebook import SUFFIX

if TYPE_CHECKING:
    from loaderlint.project.loaders.loaders import Loader
    from loaderlint.project.reach.model import Model

_MAX_FRAMES = 2000
_MAX_WRAPPED = 6
#: Methods of torch's loader that make its iterator, which starts the workers.
_MAKE_ITERATOR = frozenset({"__iter__", "_get_iterator"})
#: Names in a test for the main process.
_MAIN_PROCESS = frozenset({"__name__", "current_process", "parent_process"})


class Start(Struct, frozen=True, eq=False):
    """Where module-level code of a file first iterates over `loader`. `place`: the iterable or the call, and `step` the
    number of its step. `frames` lead from there to the frame that does it; empty if the module's body does it itself.
    `is_nested`: the place is inside another statement, such as a loop over epochs."""

    place: Place
    step: int
    loader: Loader
    frames: tuple[Frame, ...]
    is_nested: bool


class Scripts:
    """The module-level code of one snapshot."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._starts: tuple[Start, ...] | None = None
        self._idle: set[Frame] = set()
        self._made: dict[Site, Loader] = {}
        self._started_once: dict[Instance, bool] = {}
        self._graph = model.ev.import_graph

    def starts(self) -> tuple[Start, ...]:
        """The first start of workers at module level of each file that has one, in the order of files. One in code that
        no program runs counts only where there is no other."""
        if self._starts is None:
            loaders = [one for one in self._model.loaders if one.site is not None and one.has_workers() != "no"]
            self._made = {one.site: one for one in loaders if one.site is not None}
            found = (self._first_start(path) for path in self._candidates(loaders))
            self._starts = tuple(start for start in found if start is not None)
        return self._starts

    def _first_start(self, path: Path) -> Start | None:
        first: Start | None = None
        for start in self._starts_of(path):
            if not self._model.is_unused(path, start.place.piece, 0):
                return start
            first = first or start
        return first

    def steps_starting_workers(self, frame: Frame) -> Iterator[int]:
        """The numbers of a frame's steps that start the workers of a loader, themselves or through calls."""
        self.starts()  # finds out which calls make loaders
        return (number for number, *_ in self.leading(frame, frozenset()))

    def importers(self, path: Path) -> tuple[Path, ...]:
        """See `ImportGraph.importers`."""
        return self._graph.importers(path)

    def run_with(self, path: Path) -> frozenset[Path]:
        """See `ImportGraph.run_with`."""
        return self._graph.run_with(path)

    def leads_to(self, path: Path, others: Collection[Path]) -> bool:
        """See `ImportGraph.leads_to`."""
        return self._graph.leads_to(path, others)

    def _candidates(self, loaders: list[Loader]) -> list[Path]:
        """The files that create a loader, and those that import them, directly or indirectly."""
        found = self._graph.closure((loader.path for loader in loaders if loader.path is not None), self.importers)
        return sorted(path for path in found if not is_never_run_again(path) and not self._is_notebook(path))

    def _is_notebook(self, path: Path) -> bool:
        """Whether only IPython runs a file, which workers do not run again: a notebook, also one that is exported with
        its magics."""
        file = self._model.files.file(path) if path.suffix != SUFFIX else None
        return file is None or any(file.pieces[index].ask(calls, "get_ipython") for index in module_level(file))

    def _starts_of(self, path: Path) -> Iterator[Start]:
        file = self._model.files.file(path)
        if file is None:
            return
        for piece in module_level(file):
            body = self._model.ev.body(path, piece)
            if self._ends_in_workers(body):
                return
            guarded = main_guard_contexts(body.facts)
            for number, step, loader, frames in self.leading(body, guarded):
                is_nested = step.context != 0 or file.pieces[piece].parent >= 0
                yield Start(self._place(body, number, step), number, loader, frames, is_nested)

    def _ends_in_workers(self, body: Frame) -> bool:
        """Whether a module-level statement ends the script where it is not the main module. Spawned workers run
        it as `__mp_main__`: `if __name__ != "__main__": sys.exit()`."""
        for number, context in enumerate(body.code.one.contexts if body.code.one is not None else ()):
            if context.parent == 0 and context.kind == "if" and _is_other_module(context, body):
                steps = [step for _, step in self._model.steps(body) if step.context == number]
                return any(isinstance(step, ir.Raise) or self.exits(step, body) for step in steps)
        return False

    def exits(self, step: ir.Step, frame: Frame) -> bool:
        """Whether a step ends the process: `sys.exit()`."""
        call = self._model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        atoms = self._model.ev.eval(call.func, frame).atoms if isinstance(call, ir.Call) else ()
        return any(isinstance(atom, Lib) and atom.name in EXITS for atom in atoms)

    # --- one frame ----------------------------------------------------------------------------------------------------

    def leading(
        self, frame: Frame, guarded: frozenset[int]
    ) -> Iterator[tuple[int, ir.Step, Loader, tuple[Frame, ...]]]:
        """Each step of a frame that starts workers, itself or through calls, with its number. Steps in `guarded`
        contexts are left out: a main guard may lead to a whole program."""
        for number, step in self._model.steps(frame):
            if step.context in guarded:
                continue
            for loader in self._started(step, frame):
                yield number, step, loader, ()
            called = self._called(step.call, frame) if isinstance(step, ir.Perform) else ()
            for target in (*called, *self._resumed(step, frame)):
                found = self._below(target)
                if found is not None:
                    yield number, step, *found

    def _place(self, frame: Frame, number: int, step: ir.Step) -> Place:
        """The call of a step, or its iterable; the loop variable if the iterable is a name that is bound before."""
        place = self._model.step_place(frame, number)
        over = iterated(step)
        if over == NONE:
            return place
        iterable = self._model.place(frame, over)
        return iterable if iterable.anchor > place.anchor else replace(place, anchor=place.anchor + 1)

    def _called(self, call: int, frame: Frame) -> Iterator[Frame]:
        """The frames that a call runs, including those of a main function that is passed to it."""
        ev = self._model.ev
        yield from self._entered(call, ev.targets(call, frame), frame)
        e = ev.expr(frame, call)
        if isinstance(e, ir.Call) and any(
            isinstance(a, Lib) and a.name in RUNNERS for a in ev.eval(e.func, frame).atoms
        ):
            for arg in e.args[:1]:
                for atom in ev.eval(arg.value, frame).only(FunctionRef):
                    yield from self._model.callers.frames(atom.path, atom.piece, atom.def_)

    def _entered(self, number: int, targets: Sequence[Frame], frame: Frame) -> Iterator[Frame]:
        """Those of the frames that an expression leads to which it runs. The call of a generator function runs
        nothing."""
        waiting = set(self._suspended(number, frame, 0)) if targets else ()
        for target in targets:
            if target not in waiting and not self._model.ev.calls.is_guess(frame, target):
                yield target

    def _suspended(self, number: int, frame: Frame, depth: int) -> Iterator[Frame]:
        """The frames of the generators that an expression may be, or that `enumerate(...)` and the like take theirs
        from."""
        if depth > _MAX_WRAPPED:
            return
        for atom in self._model.ev.eval(number, frame).only(LibObject):
            if atom.name == "builtins.generator":
                yield atom.site.frame
            elif atom.name in GOES_OVER_LATER or atom.name in LAZY or atom.name.startswith("itertools."):
                call = self._model.ev.expr(atom.site.frame, atom.site.expr)
                for arg in call.args if isinstance(call, ir.Call) else ():
                    yield from self._suspended(arg.value, atom.site.frame, depth + 1)

    def _resumed(self, step: ir.Step, frame: Frame) -> Iterator[Frame]:
        """The generators that a step takes items from."""
        for number in self._taken_from(step, frame):
            yield from self._suspended(number, frame, 0)

    def _taken_from(self, step: ir.Step, frame: Frame) -> Iterator[int]:
        """The expressions whose items a step takes, if they are generators: those of a loop, of `next(...)`, of a
        trainer, and what is unpacked."""
        ev = self._model.ev
        over = iterated(step)
        if over != NONE:
            yield over
        if isinstance(step, ir.Bind) and isinstance(bound := ev.expr(frame, step.value), ir.Unpack | ir.Seq):
            yield from (bound.value,) if isinstance(bound, ir.Unpack) else _starred(bound.items, frame)
        call = ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        if not isinstance(call, ir.Call) or not call.args:
            return
        atoms = ev.eval(call.func, frame).atoms
        takes = any(isinstance(a, Lib) and a.name in TAKES_NOW for a in atoms)
        is_trainer = any(isinstance(a, LibMember) and a.name in LOADER_CONSUMERS for a in atoms)
        yield from (arg.value for arg in call.args if takes or is_trainer or arg.kind == "star")

    def _below(self, entry: Frame) -> tuple[Loader, tuple[Frame, ...]] | None:
        """The first loader whose workers `entry` or what it calls starts, with the frames that lead there."""
        seen: dict[Frame, Frame | None] = {entry: None}
        queue = [entry]
        for frame in queue:
            if frame in self._idle:
                continue
            if len(seen) > _MAX_FRAMES:
                self._model.ev.limits.note(WALK, entry.path, entry.piece, entry.def_)
                break
            for _, step in self._model.steps(frame):
                for loader in self._started(step, frame):
                    return loader, _way(frame, seen)
            for target in self._run(frame):
                if target not in seen:
                    seen[target] = frame
                    queue.append(target)
        self._idle.update(seen)
        return None

    def _run(self, frame: Frame) -> Iterator[Frame]:
        """The frames that a frame runs: what it calls, and the generators that it takes items from."""
        for number, targets in self._model.ev.leads(frame).items():
            yield from self._entered(number, targets, frame)
        for _, step in self._model.steps(frame):
            yield from self._resumed(step, frame)

    def _started(self, step: ir.Step, frame: Frame) -> Iterator[Loader]:
        """The loaders whose workers a step starts."""
        over = iterated(step)
        if over != NONE:
            yield from self._gone_over(over, frame, 0)
        call = self._model.ev.expr(frame, step.call) if isinstance(step, ir.Perform) else None
        if not isinstance(call, ir.Call):
            return
        yield from self._begun(call, frame)
        atoms = self._model.ev.eval(call.func, frame).atoms
        goes = any(isinstance(a, Lib) and (a.name in GOES_OVER_NOW or a.name.startswith("itertools.")) for a in atoms)
        consumers = [a for a in atoms if isinstance(a, LibMember) and a.name in LOADER_CONSUMERS]
        for atom in consumers:  # a trainer that creates its loaders itself
            made = self._loader_at(atom.owner.site) if isinstance(atom.owner, LibObject) else None
            if made is not None:
                yield made
        for arg in call.args if goes or consumers else ():
            yield from self._gone_over(arg.value, frame, 0)
            for stage in dict.fromkeys(one.name for one in consumers):
                yield from self._provided(self._model.ev.eval(arg.value, frame), stage)

    def _begun(self, call: ir.Call, frame: Frame) -> Iterator[Loader]:
        """The loaders whose iterator a call makes itself, as a subclass does: `super().__iter__()`."""
        ev = self._model.ev
        callee = ev.expr(frame, call.func)
        if not isinstance(callee, ir.Attr) or callee.name not in _MAKE_ITERATOR:
            return
        members = ev.eval(call.func, frame).only(LibMember)
        owners = [one.owner for one in members] or ev.eval(callee.base, frame).only(Instance)
        if members or callee.name != "__iter__":  # `self.__iter__()` is a method of the subclass
            made = (self._loader_at(one.site) for one in owners if isinstance(one, Instance | LibObject) and one.site)
            yield from (one for one in made if one is not None)

    def _starts_once(self, inst: Instance) -> bool:
        """Whether a loader of a class of the project starts its workers when it is made, and its own `__iter__` takes
        the batches from there: `self.iterator = super().__iter__()`."""
        if inst not in self._started_once:
            own = self._model.ev.classes.member(inst.cls, "__iter__")
            frames = self._model.ev.classes.construction(inst) if own is not None and own.function else []
            calls = ((frame, call) for frame in frames for _, call in frame.code.calls)
            self._started_once[inst] = any(True for frame, call in calls for _ in self._begun(call, frame))
        return self._started_once[inst]

    def _gone_over(self, number: int, frame: Frame, depth: int) -> Iterator[Loader]:
        """The loaders in an iterable, perhaps inside `tqdm(...)`, `enumerate(...)` and the like."""
        if depth > _MAX_WRAPPED:
            return
        for atom in self._model.ev.eval(number, frame).only(LibObject, Instance):
            made = self._loader_at(atom.site) if atom.site else None
            if made is not None:
                if not (isinstance(atom, Instance) and self._starts_once(atom)):
                    yield made
            elif isinstance(atom, LibObject) and _passes_on(atom.name):
                call = self._model.ev.expr(atom.site.frame, atom.site.expr)
                call = call if isinstance(call, ir.Call) else self._unpacked(atom)
                for arg in call.args if isinstance(call, ir.Call) else ():
                    yield from self._gone_over(arg.value, atom.site.frame, depth + 1)

    def _loader_at(self, site: Site) -> Loader | None:
        """The loader with workers that is created at a place. A method that stores it may be known here in another
        context, as if unknown code called it: then it is one of the loaders of that place, if all have workers."""
        exact = self._made.get(site)
        if exact is not None:
            return exact
        there = self._model.made_at(site.frame.path, site.frame.piece, site.expr)
        if not there or any(one.site == site or one.has_workers() == "no" for one in there):
            return None
        return min(there, key=lambda one: one.has_workers() == "yes")

    def _unpacked(self, atom: LibObject) -> ir.Expr | None:
        """The call whose result is unpacked: `model, loader = accelerator.prepare(model, loader)`."""
        e = self._model.ev.expr(atom.site.frame, atom.site.expr)
        return self._model.ev.expr(atom.site.frame, e.value) if isinstance(e, ir.Unpack) else None

    def _provided(self, value: Val, stage: str) -> Iterator[Loader]:
        """The loaders that a data module, or a model with `train_dataloader`, creates for this method of a trainer."""
        for atom in value.only(Instance):
            made = [loader for loader in self._made.values() if self._is_from_hook(loader, atom)]
            asked = self._run_by(atom, HOOKS_OF_STAGE[stage]) if made and stage in HOOKS_OF_STAGE else None
            yield from (one for one in made if asked is None or one.site and def_key(one.site.frame) in asked)

    def _is_from_hook(self, loader: Loader, inst: Instance) -> bool:
        """Whether a hook of the object's class creates a loader."""
        frame = loader.site.frame if loader.site else None
        receiver = frame.receiver if frame else None
        if frame is None or not isinstance(receiver, Instance) or receiver.cls != inst.cls:
            return False
        return self._model.def_of(frame).name.endswith(LOADER_HOOK)

    def _run_by(self, inst: Instance, names: Collection[str]) -> frozenset[DefKey]:
        """The defs that methods of an object run."""
        hooks = (self._model.ev.classes.open_method(inst, name) for name in names)
        found = dict.fromkeys(hook for hook in hooks if hook is not None)
        queue = list(found)
        for frame in queue:
            new = [target for target in self._model.ev.run(frame) if target not in found]
            found.update(dict.fromkeys(new))
            queue += new if len(found) <= _MAX_FRAMES else []
        return frozenset(map(def_key, found))


def _starred(items: Iterable[int], frame: Frame) -> Iterator[int]:
    """What is unpacked in a display."""
    stars = (frame.code.exprs[item] for item in items)
    yield from (one.value for one in stars if isinstance(one, ir.Star))


def _passes_on(name: str) -> bool:
    """Whether the library object `name` iterates over the arguments of its constructor."""
    if name in GOES_OVER_NOW or name in GOES_OVER_LATER or name.startswith("itertools."):
        return True
    return name.removesuffix("[]").rpartition(".")[2] in LOADER_PREPARERS


def _way(frame: Frame, parents: dict[Frame, Frame | None]) -> tuple[Frame, ...]:
    way: list[Frame] = []
    here: Frame | None = frame
    while here is not None:
        way.append(here)
        here = parents[here]
    return tuple(reversed(way))


# --- module level and main guards -------------------------------------------------------------------------------------


def is_never_run_again(path: Path) -> bool:
    """Whether a spawned worker does not run a main script again: the `__main__.py` of a package, folder or zip file.
    Source: CPython `multiprocessing/spawn.py` (`_fixup_main_from_name`)."""
    return path.name == "__main__.py"


def module_level(file: ProjectFile) -> Iterator[int]:
    """The module-level pieces, outside a main guard, that may do something: no functions, no classes."""
    return (index for index in module_statements(file) if not in_main_guard(file, index))


def module_statements(file: ProjectFile) -> Iterator[int]:
    """The module-level pieces that may do something, also those in a main guard."""
    for index, _ in file.asking(_does_something, scope=MODULE):
        if file.pieces[index].kind != "class":
            yield index


def in_class(file: ProjectFile, piece: int) -> bool:
    """Whether a piece is in the body of a class."""
    return any(file.pieces[above].kind == "class" for above in file.around(piece))


def in_main_guard(file: ProjectFile, piece: int) -> bool:
    """Whether a piece is, or is in, a main guard that was cut into its statements."""
    return file.is_main_guard(piece) or any(file.is_main_guard(above) for above in file.around(piece))


def main_guard_contexts(facts: PieceFacts | None) -> frozenset[int]:
    """The contexts of a piece's body that only the main process reaches: under a test of `__name__` or of the current
    process, or after one that leaves."""
    found: set[int] = set()
    for index, context in enumerate(facts.ir.defs[0].contexts if facts else ()):
        if context.parent in found or (facts and context.kind == "if" and _asks_for_main(context.expr, facts)):
            found.add(index)
    return frozenset(found)


def _asks_for_main(test: int, facts: PieceFacts) -> bool:
    if test == NONE:
        return False
    match facts.ir.exprs[test]:
        case ir.Global(name) | ir.Imported(_, name, _):
            return name in _MAIN_PROCESS
        case ir.Attr(base, name):
            return name in _MAIN_PROCESS or _asks_for_main(base, facts)
        case ir.Call(func, _):
            return _asks_for_main(func, facts)
        case ir.Compare(left, _, rights):
            return any(_asks_for_main(one, facts) for one in (left, *rights))
        case ir.BoolOp(_, left, right):
            return _asks_for_main(left, facts) or _asks_for_main(right, facts)
        case ir.Unary(_, operand):
            return _asks_for_main(operand, facts)
    return False


def _is_other_module(context: ir.Context, body: Frame) -> bool:
    """Whether a branch is that of `if __name__ != "__main__":`."""
    e = body.code.exprs[context.expr] if context.expr != NONE else None
    if not isinstance(e, ir.Compare) or e.ops != (("==",) if context.negated else ("!=",)):
        return False
    sides = [body.code.exprs[one] for one in (e.left, *e.rights)]
    return ir.Global("__name__") in sides and ir.Const("str", "__main__") in sides


def _does_something(text: str) -> bool:
    """Whether a piece does more than import or define something."""
    first = text.lstrip()
    return not (first.startswith(("import ", "from ", '"', "'")) or (first[:1] in "@dca" and _is_def(first)))


def _is_def(text: str) -> bool:
    return text.startswith(("@", "def ", "class ", "async def ")) and bool(defined_name(text))
