"""Explains a line: what it contains, whether and why workers run it, and what the rules say about it.

`told(model)` is collected while a project is linked and contains nothing of the model, so that it can be kept; the
engine computes an `Explanation` from it for one line. `loaderlint.report` and the language server show it, each in its
own way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from loaderlint.explanations.worker_map import PARTS, MappedLoader, WorkerMap, worker_map
from loaderlint.facts import ir
from loaderlint.findings.finding import Certainty, Fix, Place, Silence
from loaderlint.knowledge.canonical_names import canonical
from loaderlint.knowledge.measured_libraries import is_measured_library, names_in_tables
from loaderlint.knowledge.wrappers import WRAPPERS
from loaderlint.project.evaluation.dynamic_dispatch import how_chosen
from loaderlint.project.evaluation.values import DefKey, def_key

if TYPE_CHECKING:
    from loaderlint.facts.ir import DefIR
    from loaderlint.facts.piece_facts import PieceFacts
    from loaderlint.findings.diagnostics import Diagnostic
    from loaderlint.project.evaluation.frames import Frame
    from loaderlint.project.loaders.loaders import Loader
    from loaderlint.project.reach.model import Model, Part, Reached
    from loaderlint.sources.open_file import OpenFile

#: The maximum number of loaders that are named for a line.
MAX_LOADERS = 3
#: Reasons for an unknown callee that do not end a trail, such as the value of a sample.
_NO_TRAIL = frozenset({"index", "sample", "batch", "worker id", "library sample", "library item", "library call"})


class Link(NamedTuple):
    """A step of the call chain from a loader's entry point to a function."""

    name: str
    place: Place


class Run(Struct, frozen=True):
    """A function runs for a loader (its index in the map), for these `parts`, through this call chain. `doubt` says why
    that is only possible, '' if it is proven. A loader without workers runs it in the main process."""

    loader: int
    parts: tuple[Part, ...]
    certainty: Certainty
    doubt: str
    chain: tuple[Link, ...]


class Trail(NamedTuple):
    """The end of a trail: a call with an unknown target, and why it is unknown."""

    place: Place
    what: str
    reason: str


class FunctionTold(Struct, frozen=True):
    """What is known about a function that loaders run. `others`: the number of further loaders, not in `runs`, that run
    it."""

    runs: tuple[Run, ...]
    others: int
    trails: tuple[Trail, ...]


class Told(Struct, frozen=True):
    """The explanations from one linking of a project. `holders`: the loaders that hold, or may hold, an object of a
    class. `installed`: for each file the names from installed libraries, and where these were read. `own_loader`: the
    project's own class `DataLoader` reads its datasets, and nothing else does."""

    map: WorkerMap = WorkerMap()
    functions: Mapping[DefKey, FunctionTold] = field(default_factory=dict)
    holders: Mapping[DefKey, tuple[int, ...]] = field(default_factory=dict)
    silences: Mapping[Path, tuple[Silence, ...]] = field(default_factory=dict)
    refactorings: Mapping[Place, Fix] = field(default_factory=dict)
    installed: Mapping[Path, Mapping[str, str]] = field(default_factory=dict)
    own_loader: bool = False

    def with_silences(self, silences: Iterable[Silence]) -> Told:
        """The same with the silences of the rules."""
        by_file: dict[Path, dict[Silence, None]] = {}
        for silence in silences:
            by_file.setdefault(silence.place.path, {})[silence] = None
        return replace(self, silences={path: tuple(found) for path, found in by_file.items()})


def told(model: Model) -> Told:
    """The explanations from a linked model, independent of the rules."""
    frames: dict[DefKey, list[Reached]] = {}
    for one in model.reached.values():
        if model.ev.installed.holds(one.frame.path):
            continue
        frames.setdefault(def_key(one.frame), []).append(one)
    links = _Links(model)
    return Told(
        worker_map(model),
        {key: _function(found, model, links) for key, found in frames.items()},
        _holders(model),
        refactorings=dict(_refactorings(model)),
        installed=_installed(model),
        own_loader=model.own_loader is not None,
    )


def _installed(model: Model) -> dict[Path, dict[str, str]]:
    """For each file the names, as written there, that were followed into installed libraries, and the names of such
    libraries that the tables describe."""
    from loaderlint.project.evaluation.file_imports import imported_as

    found: dict[Path, dict[str, str]] = {}
    if not model.ev.installed.are_met():
        return found
    known = _by_tables()
    known.update({name: model.files.library_place(*where) for name, where in model.ev.installed.found.items()})
    for path in model.files.paths():
        for written, full in imported_as(model.ev, path):
            module = canonical(full)
            for name, place in known.items():
                if name == module or name.startswith(f"{module}."):
                    found.setdefault(path, {})[f"{written}{name.removeprefix(module)}"] = place
    return found


def _by_tables() -> dict[str, str]:
    """The names of readable libraries that the tables describe, each with the versions that were read for them."""
    tables = sorted(name for name in names_in_tables() if not is_measured_library(name.partition(".")[0]))
    read = {kind.name: f"{wrapper.packages[0]} {wrapper.read}" for wrapper in WRAPPERS for kind in wrapper.kinds}
    return {name: f"as measured: {read[name]}" if name in read else "as measured" for name in tables}


def as_installed(line: str, known: Mapping[str, str]) -> Iterator[str]:
    """For the names on a line that were followed into a library, where they were read."""
    for name, place in known.items():
        if re.search(rf"(?<![\w.]){re.escape(name)}\b", line):
            yield f"{name} {place}"


def together(parts: Sequence[Told]) -> Told:
    """The explanations of all parts of a project together. Loaders are in the order of their files, unknown ones
    last."""
    if len(parts) == 1:
        return parts[0]
    loaders = [(number, loader) for number, part in enumerate(parts) for loader in part.map.loaders]
    loaders.sort(key=lambda one: (one[1].place is None, str(one[1].place.path) if one[1].place else ""))  # stable
    renumbered = {(number, loader.index): index for index, (number, loader) in enumerate(loaders)}
    functions: dict[DefKey, FunctionTold] = {}
    holders: dict[DefKey, tuple[int, ...]] = {}
    silences: dict[Path, tuple[Silence, ...]] = {}
    refactorings: dict[Place, Fix] = {}
    installed: dict[Path, Mapping[str, str]] = {}
    for number, part in enumerate(parts):
        for key, told_of in part.functions.items():
            runs = tuple(replace(run, loader=renumbered[number, run.loader]) for run in told_of.runs)
            functions[key] = replace(told_of, runs=runs)
        for key, held_by in part.holders.items():
            holders[key] = tuple(renumbered[number, index] for index in held_by)
        silences.update(part.silences)
        refactorings.update(part.refactorings)
        installed.update(part.installed)
    mapped = tuple(replace(loader, index=index) for index, (_, loader) in enumerate(loaders))
    own_loader = any(part.own_loader for part in parts)
    return Told(WorkerMap(mapped), functions, holders, silences, refactorings, installed, own_loader)


def _refactorings(model: Model) -> Iterator[tuple[Place, Fix]]:
    from loaderlint.explanations.refactorings import seeded

    for loader in model.loaders:
        fix = seeded(loader, model)
        if fix is not None and loader.site is not None:
            yield model.site_place(loader.site), fix


def _holders(model: Model) -> dict[DefKey, tuple[int, ...]]:
    from loaderlint.project.evaluation.values import ClassRef, Instance

    found: dict[DefKey, list[int]] = {}
    for entry in model.entries:
        dataset = entry.dataset
        for cls in model.ev.classes.mro(dataset.cls) if isinstance(dataset, Instance) else ():
            if isinstance(cls, ClassRef):
                found.setdefault(def_key(cls), []).append(entry.loader.index)
    return {key: tuple(dict.fromkeys(indexes)) for key, indexes in found.items()}


class _Links(dict["Frame", Link]):
    """The frames as links of call chains, each created once: the functions of a project share most of their chains."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, frame: Frame) -> Link:
        link = self[frame] = Link(self._model.label(frame), self._model.def_place(frame))
        return link


def _function(frames: list[Reached], model: Model, links: _Links) -> FunctionTold:
    bits = 0
    for reached in frames:
        bits |= reached.bits()
    loaders = list(model.loaders_of(bits))
    shown = {one.index: one for one in loaders}
    ways: dict[tuple[Place | None, str, str], Run] = {}
    reached_by = model.by_loader(frames)
    for loader in loaders:  # a call that is reached in several ways makes several loaders
        run = _run(loader, reached_by[loader.index], model, links)
        place = model.site_place(loader.site) if loader.site else None
        ways.setdefault((place, loader.workers_text, run.doubt), run)
    runs = [*ways.values()]
    order = {"yes": 0, "maybe": 1, "no": 2}
    runs.sort(key=lambda run: (order[shown[run.loader].has_workers()], run.certainty == "possible"))  # stable
    trails = dict.fromkeys(trail for reached in frames for trail in _trails(reached.frame, model))
    return FunctionTold(tuple(runs[:MAX_LOADERS]), max(0, len(runs) - MAX_LOADERS), tuple(trails))


def _run(loader: Loader, mine: list[Reached], model: Model, links: _Links) -> Run:
    """How a loader runs a function: `mine` are the function's frames that the loader reaches."""
    sure = [one for one in mine if not one.possible >> loader.index & 1]
    lead = (sure or mine)[0].frame
    parts = tuple(part for part in PARTS if any(one.loaders.get(part, 0) >> loader.index & 1 for one in mine))
    frames_of_chain = model.chain(lead, loader)
    doubt = _doubt(loader, frames_of_chain[0], model, guessed=not sure)
    chain = tuple(links[frame] for frame in frames_of_chain if not model.ev.installed.holds(frame.path))
    return Run(loader.index, parts, "possible" if doubt else "proven", doubt, chain)


def _doubt(loader: Loader, entry: Frame, model: Model, *, guessed: bool) -> str:
    """Why it is not certain that the workers of a loader run something; '' if it is."""
    if loader.out_of_sight:
        return "no loader of this dataset is known"
    if guessed and loader.late:
        return f"its dataset is not known: {how_chosen(loader.late)}"
    if guessed and entry.receiver in loader.guessed:
        return model.choice(entry.receiver, loader)
    if guessed:
        return "one of several functions is called, by a name that is made at run time"
    return "its number of workers is not known" if loader.has_workers() == "maybe" else ""


def _trails(frame: Frame, model: Model) -> Iterator[Trail]:
    """The calls in a frame whose targets are unknown."""
    for call in model.frame_calls(frame):
        unknown = call.callee.unknown
        if unknown is not None and unknown.reason not in _NO_TRAIL:
            what = _written(call.call.func, frame, model)
            if what:
                yield Trail(model.place(frame, call.number), what, unknown.reason)


def _written(number: int, frame: Frame, model: Model) -> str:
    """A callee as written: 'crop', 'self.transform'; '' if it has no name."""
    match model.ev.expr(frame, number):
        case ir.Global(name) | ir.Capture(_, name):
            return name
        case ir.Imported(module, name, _):
            return name or module
        case ir.Param(index):
            return model.def_of(frame).params[index].name
        case ir.Attr(base, name):
            owner = _written(base, frame, model)
            return f"{owner}.{name}" if owner else ""
    return ""


# --- one line ---------------------------------------------------------------------------------------------------------

Kind = Literal["function", "method", "lambda", "class", "class body", "module-level code", "no code", "unreadable code"]


class Standing(NamedTuple):
    """The code that a line is part of. `key` is that of the def or class, None if it is neither; `cls` is the class
    that a method or a statement of a class body belongs to."""

    kind: Kind
    name: str
    key: DefKey | None = None
    cls: DefKey | None = None
    guarded: bool = False
    """Module-level code under `if __name__ == "__main__":`."""


class Subject(Struct, frozen=True):
    """The code on the line and what is known about it. `told`: how loaders run it, if they do; `notes`: sentences
    without full stop."""

    standing: Standing
    told: FunctionTold | None
    notes: tuple[str, ...]


class Hidden(NamedTuple):
    """A finding that is not shown, and why."""

    diagnostic: Diagnostic
    reason: str


class Silent(NamedTuple):
    """A rule that examined the line and reports nothing, and why."""

    code: str
    name: str
    reasons: tuple[str, ...]


class Explanation(Struct, frozen=True):
    """Everything that is known about a line (0-based; `column` None for the whole line). `loaders` are made on it;
    `others` is the number of rules that do not apply to it; `map` resolves the loaders of runs. `elsewhere`: the
    findings at other lines with evidence on this one."""

    path: Path
    line: int
    column: int | None
    subjects: tuple[Subject, ...]
    loaders: tuple[MappedLoader, ...]
    environment: tuple[str, ...]
    findings: tuple[Diagnostic, ...]
    hidden: tuple[Hidden, ...]
    silent: tuple[Silent, ...]
    others: int
    map: WorkerMap
    elsewhere: tuple[Diagnostic, ...] = ()


def subjects(opened: OpenFile, line: int, column: int | None, known: Told) -> tuple[Subject, ...]:
    """The code on a line: the enclosing def first, then the lambdas on it."""
    return tuple(_subject(one, known) for one in standing(opened, line, column))


def _subject(one: Standing, known: Told) -> Subject:
    found = known.functions.get(one.key) if one.key else None
    return Subject(one, found, tuple(_notes(one, found, known)))


def _notes(one: Standing, found: FunctionTold | None, known: Told) -> Iterator[str]:
    if one.kind in ("no code", "unreadable code"):
        return
    if found is not None:
        if all(known.map.loaders[run.loader].starts_workers == "no" for run in found.runs) and not found.others:
            yield "runs in the main process: the loaders that reach it have no workers"
        return
    if one.kind in ("module-level code", "class", "class body"):
        yield from _module_level(one)
    elif one.cls in known.holders and one.name.endswith(".__init__"):
        yield "runs where the object is made, before the workers start"
    else:
        yield "runs only in the main process: no known loader's workers reach it"
        yield from _out_of_sight(known.map)
        if known.own_loader and not known.map.loaders:
            yield "the project's own `DataLoader` reads its datasets, without workers"
    about = one.cls or one.key
    held = [known.map.loaders[index] for index in (known.holders.get(about, ()) if about else ())]
    working = [loader for loader in held if loader.starts_workers != "no"]
    if working:
        guesses = all(loader.late or any(one.certainty == "possible" for one in loader.datasets) for loader in working)
        verb = "may be" if guesses or not any(loader.place for loader in working) else "is"
        yield f"each worker gets a copy of the object where it {verb} the dataset: {named(working)}"


def _module_level(one: Standing) -> Iterator[str]:
    if one.guarded:
        yield "runs only in the main process: it is under the main guard"
        return
    yield "runs when the file is imported: in the main process, and again in workers that start by spawn or forkserver"


def _out_of_sight(known: WorkerMap) -> Iterator[str]:
    late = list(dict.fromkeys((one.described, one.late) for one in known.loaders if one.late and one.place))
    for name, reason in late[:MAX_LOADERS]:
        yield f"the trail ends at {name}: its dataset is not known ({reason})"
    if len(late) > MAX_LOADERS:
        yield f"and at {len(late) - MAX_LOADERS} other loaders whose datasets are not known"


def named(loaders: list[MappedLoader]) -> str:
    """The names of some loaders, and the number of the others."""
    names = list(dict.fromkeys(loader.described for loader in loaders))
    others = len(names) - MAX_LOADERS
    return ", ".join(names[:MAX_LOADERS]) + (f" and {others} others" if others > 0 else "")


def silent(silences: Iterable[Silence], spoken: Callable[[str], bool], code_of: Callable[[str], str]) -> list[Silent]:
    """The silences of a line by rule, in the order of codes, without rules that have a finding there (`spoken`)."""
    reasons: dict[str, dict[str, None]] = {}
    for one in silences:
        if not spoken(one.rule):
            reasons.setdefault(one.rule, {})[one.reason] = None
    found = [Silent(code_of(rule), rule, tuple(given)) for rule, given in reasons.items()]
    return sorted(found)


# --- where a line is --------------------------------------------------------------------------------------------------


def standing(opened: OpenFile, line: int, column: int | None) -> tuple[Standing, ...]:
    """The code that a line of a file is part of: the innermost enclosing def, then the lambdas that begin on the line.
    With a column, only the innermost of them."""
    piece = _piece_at(opened, line)
    if piece is None:
        return (Standing("no code", ""),)
    facts = opened.own_facts(piece)
    if facts is None:
        return (Standing("unreadable code", ""),)
    around, lambdas = 0, []
    # All at once, because each separate request parses the piece.
    opened.find_spans(opened.pieces[piece], [anchors[0] for anchors in facts.anchors.defs[1:]])
    for number, one in enumerate(facts.ir.defs):
        if number == 0 or not _covers(opened, piece, facts, number, line, column):
            continue
        if one.kind == "lambda" and column is None:
            lambdas.append(number)
        else:
            around = number  # defs are in the order of their places, inner ones after the enclosing ones
    return tuple(_standing(opened, piece, facts, number) for number in (around, *lambdas))


def pieces_at(opened: OpenFile, line: int) -> frozenset[int]:
    """The pieces that a line is part of."""
    return frozenset(
        index for index, piece in enumerate(opened.pieces) if piece.line <= line <= piece.line + _height(piece.text)
    )


def _piece_at(opened: OpenFile, line: int) -> int | None:
    return max(pieces_at(opened, line), default=None)


def _height(text: str) -> int:
    """The number of lines of a piece, minus one."""
    return text.rstrip().count("\n")


def _covers(opened: OpenFile, piece: int, facts: PieceFacts, number: int, line: int, column: int | None) -> bool:
    span = opened.relative_span(opened.pieces[piece], facts.anchors.defs[number][0])
    if span is None:
        return False
    first, last = span.line + opened.pieces[piece].line, span.end_line + opened.pieces[piece].line
    if not first <= line <= last:
        return False
    if column is None:
        return True
    return (first, span.column) <= (line, column) <= (last, span.end_column)


def _standing(opened: OpenFile, piece: int, facts: PieceFacts, number: int) -> Standing:
    one = facts.ir.defs[number]
    cls = _class_of(opened, piece, facts, number)
    above = _classes_above(opened, piece)
    inner = [facts.ir.defs[index] for index in _line_of(facts, number)]
    name = ".".join([*above, *(_name(each) for each in inner)])
    key = (opened.path, piece, number)
    if number == 0:
        if above:
            return Standing("class body", ".".join(above), None, cls)
        return Standing("module-level code", opened.path.name, None, None, _under_guard(opened, piece))
    if one.kind == "class":
        return Standing("class", name, key)
    if one.kind == "lambda":
        return Standing("lambda", name, key, cls)
    return Standing("method" if cls else "function", name, key, cls)


def _name(one: DefIR) -> str:
    return "a lambda" if one.kind == "lambda" else one.name


def _line_of(facts: PieceFacts, number: int) -> list[int]:
    """A def and the enclosing ones in its piece, outermost first."""
    found: list[int] = []
    while number > 0:
        found.append(number)
        number = facts.ir.defs[number].parent
    return found[::-1]


def _class_of(opened: OpenFile, piece: int, facts: PieceFacts, number: int) -> DefKey | None:
    """The class whose method a def is, or is inside of."""
    for index in reversed(_line_of(facts, number)[:-1]):
        if facts.ir.defs[index].kind == "class":
            return (opened.path, piece, index)
    above = opened.pieces[piece].parent
    while above >= 0 and opened.pieces[above].kind != "class":
        above = opened.pieces[above].parent
    return (opened.path, above, 1) if above >= 0 else None


def _classes_above(opened: OpenFile, piece: int) -> list[str]:
    found: list[str] = []
    above = opened.pieces[piece].parent
    while above >= 0:
        facts = opened.own_facts(above) if opened.pieces[above].kind == "class" else None
        if facts is not None and len(facts.ir.defs) > 1:
            found.append(facts.ir.defs[1].name)
        above = opened.pieces[above].parent
    return found[::-1]


def _under_guard(opened: OpenFile, piece: int) -> bool:
    while piece >= 0:
        head = opened.pieces[piece].text.split("\n", 1)[0]
        if head.startswith("if ") and "__name__" in head and "__main__" in head:
            return True
        piece = opened.pieces[piece].parent
    return False
