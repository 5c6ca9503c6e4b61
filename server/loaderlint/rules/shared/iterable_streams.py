"""The stream of an iterable dataset: which code runs for it, and whether that code shards it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.numpy_random import SEEDERS, SEEDING_WORKER_INITS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import NOT_NONE
from loaderlint.project.evaluation.values import (
    Atom,
    Instance,
    Lib,
    LibMember,
    LibObject,
    MapOf,
    SeqOf,
    Unknown,
    Val,
    def_key,
)
from loaderlint.project.reach.model import Loader, Model, WorkerCall
from loaderlint.project.reach.worker_dataset import WORKER_INFO
from loaderlint.rules.shared.stream_sources import PASSING, draws, gives_all, goes_on_in_own_order, is_replacing, orders
from loaderlint.rules.shared.worker_info_uses import may_share_out

#: Words in the name of unknown code that show that it is aware of workers. A missed bug costs less than a false alarm.
_AWARE = re.compile(r"worker|shard|current_process", re.IGNORECASE)
_COMMENT = re.compile(r'#[^\n]*|"""(?s:.*?)"""')
_RANDOM = ("numpy.random.", "random.", "torch.rand", "torch.normal", "torch.multinomial", "secrets.")
#: What else a worker_init_fn calls that only seeds.
_HARMLESS = ("torch.initial_seed", "torch.set_num_threads", "cv2.", "builtins.int", "builtins.print", "time.", "os.")
#: Names of values that may shard themselves, if they are unknown.
_STREAM_NAME = re.compile(
    r"data_?set|^_*data$|\bds$|source|stream|pipe|loader|iterator|iterable|inner|wrapped|reader|generator|sampler",
    re.IGNORECASE,
)
#: Reasons of unknown values that may hide a library which shards.
_HIDING = frozenset(
    {
        "unresolved import",
        "star import",
        "importlib",
        "registry",
        "looked up by a key",
        "decorator",
        "dynamic attribute",
        "no such attribute",
        "base class",
        "library attribute",
        "library call",
        "library item",
        "library sample",
        "not callable",
        "eval",
        "too many",
        NOT_NONE,
    }
)
_LIBRARIES = frozenset(sys.stdlib_module_names) | frozenset(
    """
    builtins dict list str tuple set numpy pandas h5py torch PIL cv2 lmdb yaml pyarrow tqdm zarr scipy soundfile
    """.split()
)
#: Samplers of torch, which do not know about workers.
_SAMPLERS = re.compile(r"^torch\.utils\.data\.(?:\w+\.)?(?:Sequential|Batch|(?:Weighted|Subset)?Random)Sampler$")
_PLAIN = frozenset("builtins.generator builtins.open builtins.range builtins.file".split())


class Stream:
    """The code that the workers of `loader` run from `entry`, the frame of a dataset's `__iter__`."""

    def __init__(self, entry: Frame, loader: Loader, model: Model) -> None:
        self._entry, self._loader, self._model = entry, loader, model
        self._frames = model.run_by((entry,))

    def why_not_whole(self) -> str:
        """Why a worker may not get all of it; '' if each worker does: no code that runs for it asks for the worker, its
        items are not drawn, and what it iterates over is known."""
        if self.asks_for_worker() or self._may_be_split():
            return "something asks for the worker, or code that is not known may split the stream"
        return self.why_not_alike()

    def why_not_alike(self) -> str:
        """As `why_not_whole`, but ignores that the code asks for the worker."""
        if self._init_may_shard():
            return "its worker_init_fn does more than seeding: it may split the stream"
        if self.is_random():
            if not gives_all(self._entry, self._model):
                return "its items are random: each worker has its own"
            if goes_on_in_own_order(self._entry, self._frames, self._model):
                return "it is endless, and each worker draws its own orders"
        if any(self._is_hidden(number, frame, 0) for frame in self._frames for number in self._gone_over(frame)):
            return "what it iterates over is not known, and may be split there"
        if self._model.def_of(self._entry).is_generator or self._returns_plain_iterator():
            return ""
        return "what it returns is not known, and may be split there"

    def has_own_order(self) -> bool:
        """Whether code that runs for it orders something randomly."""
        return any(orders(call) for frame in self._frames for call in self._model.frame_calls(frame))

    def is_random(self) -> bool:
        """Whether code that runs for it draws random numbers."""
        if any(draws(call) for frame in self._frames for call in self._model.frame_calls(frame)):
            return True
        gone_over = [self._model.ev.eval(n, frame) for frame in self._frames for n in self._gone_over(frame)]
        return any(is_replacing(atom, self._model) for value in gone_over for atom in value.atoms)

    def asks_for_worker(self) -> bool:
        """Whether code that runs for it asks which worker it runs in, or calls something that may do so. To print the
        worker, or to seed with it, is no question."""
        return any(map(self._asks, self._frames))

    def _asks(self, frame: Frame) -> bool:
        ev = self._model.ev
        for call in self._model.frame_calls(frame):
            name = self._name(ev.expr(frame, call.call.func), frame)
            if any(_may_ask(atom, name) for atom in call.callee.atoms) and self._may_share_out(call):
                return True
            if "os.environ" in (owner := _names(call.callee)) or "os.getenv" in owner:
                if any(self._is_aware(arg.value, frame) for arg in call.call.args):
                    return True
        indexed = [e for number in ev.evaluated(frame) if isinstance(e := ev.expr(frame, number), ir.Index)]
        return any(
            self._is_aware(e.index, frame) and Lib("os.environ") in ev.eval(e.base, frame).atoms for e in indexed
        )

    def _may_share_out(self, call: WorkerCall) -> bool:
        """Whether code may take a share by what it is told of the worker."""
        return call.callee.atoms != {Lib(WORKER_INFO)} or may_share_out(call, self._model)

    def _is_aware(self, number: int, frame: Frame) -> bool:
        """Whether an expression is a text that names a worker: `os.environ["WORKER"]`."""
        e = self._model.ev.expr(frame, number)
        return isinstance(e, ir.Const) and _AWARE.search(str(e.value)) is not None

    def _may_be_split(self) -> bool:
        """Whether unknown code may give the dataset its part: it creates the loader, and a method that does not run for
        the stream is aware of workers."""
        receiver = self._entry.receiver
        if not isinstance(receiver, Instance) or not self._loader.out_of_sight:
            return False
        run = {def_key(frame) for frame in self._frames}
        asked = self._model.ev.classes.methods_asked(receiver.cls, _mentions_workers)
        functions = [member.function for member in asked if member.function is not None]
        return any(def_key(one) not in run for one in functions)

    def _is_split(self, inner: Instance) -> bool:
        """Whether a stream of the project that another one iterates over may shard itself."""
        classes = self._model.ev.classes
        opened = classes.open_method(inner, "__iter__")
        if classes.has_unknown_base(inner.cls) or opened is None:
            return classes.has_unknown_base(inner.cls)
        return any(map(self._asks, self._model.run_by((opened,))))

    def _init_may_shard(self) -> bool:
        """Whether the worker_init_fn does more than seeding: it may set up the dataset."""
        passed = self._loader.argument("worker_init_fn")
        if passed.unknown is not None and not self._loader.out_of_sight:
            return True
        if any(_is_of_library(atom) and not _is_harmless(atom) for atom in passed.atoms):
            return True
        for reached in self._model.reached_by(self._loader):
            if reached.loaders.get("init", 0) >> self._loader.index & 1 and not self._only_seeds(reached.frame):
                return True
        return False

    def _only_seeds(self, frame: Frame) -> bool:
        if frame.receiver is not None:
            return False
        callees = (atom for call in self._model.frame_calls(frame) for atom in call.callee.atoms)
        if not all(map(_is_harmless, callees)):
            return False
        return not any(isinstance(step, ir.SetAttr | ir.SetItem) for _, step in self._model.steps(frame))

    def _gone_over(self, frame: Frame) -> Iterator[int]:
        """What a frame iterates over: in its loops, `yield from` and `next`, and what `__iter__` returns."""
        for _, step in self._model.steps(frame):
            if isinstance(step, ir.Iterate):
                yield step.iterable
            elif isinstance(step, ir.YieldStep) and step.is_from:
                yield step.value
            elif isinstance(step, ir.Return) and step.value != NONE and frame is self._entry:
                yield step.value
        for call in self._model.frame_calls(frame):
            if call.callee.atoms & {Lib("builtins.next"), Lib("builtins.iter")}:
                yield from (arg.value for arg in call.call.args[:1])

    def _is_hidden(self, number: int, frame: Frame, depth: int) -> bool:
        """Whether an iterable is unknown and may shard itself."""
        if depth > 6:
            return True
        e = self._model.ev.expr(frame, number)
        value = self._model.ev.eval(number, frame)
        if isinstance(e, ir.Call) and self._passes_on(e, frame):
            hidden = (self._is_any_hidden if arg.kind == "star" else self._is_hidden for arg in e.args)
            return any(one(arg.value, frame, depth + 1) for one, arg in zip(hidden, e.args, strict=True))
        if any(isinstance(a, Unknown) for a in value.atoms) and _STREAM_NAME.search(self._name(e, frame)):
            return True
        return any(self._hides(atom, depth) for atom in value.atoms)

    def _is_any_hidden(self, number: int, frame: Frame, depth: int) -> bool:
        """Whether an item of a sequence is unknown and may shard itself: `zip(*self.datasets)`."""
        value = self._model.ev.eval(number, frame)
        items = [atom for one in value.only(SeqOf) for item in one.items for atom in item.atoms]
        named = _STREAM_NAME.search(self._name(self._model.ev.expr(frame, number), frame)) is not None
        return any((named and isinstance(atom, Unknown)) or self._hides(atom, depth) for atom in items or value.atoms)

    def _passes_on(self, call: ir.Call, frame: Frame) -> bool:
        callee = self._model.ev.eval(call.func, frame)
        return bool(callee.atoms) and all(isinstance(a, Lib) and PASSING.match(a.name) for a in callee.atoms)

    def _name(self, e: ir.Expr | None, frame: Frame) -> str:
        match e:
            case ir.Attr(_, name) | ir.Global(name) | ir.Capture(_, name):
                return name
            case ir.Param(index):
                return self._model.def_of(frame).params[index].name
            case ir.Index(base, _) | ir.Element(base):
                return self._name(self._model.ev.expr(frame, base), frame)
        return ""

    def _hides(self, atom: Atom, depth: int) -> bool:
        match atom:
            case Unknown(reason):
                return reason in _HIDING
            case Instance():
                return self._is_split(atom)
            case LibMember(owner, _):
                return self._hides(owner, depth)
            case LibObject(name, site) if PASSING.match(name):
                passed = self._model.ev.expr(site.frame, site.expr)
                arguments = passed.args if isinstance(passed, ir.Call) else ()
                return any(self._is_hidden(arg.value, site.frame, depth + 1) for arg in arguments)
            case LibObject(name, _) | Lib(name):
                if _SAMPLERS.search(name):
                    return False
                return name.partition(".")[0] not in _LIBRARIES or name.startswith("torch.utils.data")
        return False

    def _returns_plain_iterator(self) -> bool:
        """Whether `__iter__` returns an iterator over data: a list, a file, a map or generator of the project."""
        value = self._model.ev.functions.returned(self._entry)
        return bool(value.atoms) and all(_is_plain(atom) for atom in value.atoms)


def _is_of_library(atom: Atom) -> bool:
    return isinstance(atom, Lib | LibObject | LibMember)


def _is_harmless(callee: Atom) -> bool:
    """Whether a callee is a library's function that only seeds, or changes nothing about a stream."""
    if not isinstance(callee, Lib):
        return False
    return (
        callee.name in SEEDERS or callee.name in SEEDING_WORKER_INITS or callee.name.startswith((*_HARMLESS, *_RANDOM))
    )


def _mentions_workers(text: str) -> bool:
    return _AWARE.search(_COMMENT.sub("", text)) is not None


def _names(value: Val) -> frozenset[str]:
    """The library names of a value, and of the owners of its members."""
    owners = [atom.owner if isinstance(atom, LibMember) else atom for atom in value.atoms]
    return frozenset(owner.name.removesuffix(".get") for owner in owners if isinstance(owner, Lib))


def _may_ask(atom: Atom, name: str) -> bool:
    """Whether a callee (called `name` in the code) may return the worker, or shard by it in unknown code."""
    match atom:
        case Lib(full):
            return full == WORKER_INFO or _AWARE.search(full) is not None
        case Unknown() | LibMember():
            return _AWARE.search(name) is not None
    return False


def _is_plain(atom: Atom) -> bool:
    match atom:
        case SeqOf() | MapOf() | Unknown("parameter" | "config" | "required option"):
            return True
        case LibObject(name, _):
            return name in _PLAIN or PASSING.match(name) is not None
    return False
