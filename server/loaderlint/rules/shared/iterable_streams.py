"""The stream of an iterable dataset: what runs for it, and whether that shards it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.facts.ir import NONE
from loaderlint.knowledge.numpy_random import GENERATOR_DRAWS, GENERATORS, SEEDERS
from loaderlint.project.evaluation.classes import Member
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, Lib, LibMember, LibObject, MapOf, SeqOf, Unknown
from loaderlint.project.reach.model import Loader, Model

#: Words in worker code that show that somebody thought of it. A miss costs less than a false alarm.
_AWARE = re.compile(r"worker|shard|current_process", re.IGNORECASE)
_COMMENT = re.compile(r'#[^\n]*|"""(?s:.*?)"""')
WORKER_INFO = "torch.utils.data.get_worker_info"
_RANDOM = ("numpy.random.", "random.", "torch.rand", "torch.normal", "torch.multinomial", "secrets.")
_RANDOM_SAMPLERS = re.compile(r"\.(?:Weighted|Subset)?RandomSampler$")
#: Names of what may well shard itself, when its value is out of sight.
_STREAM_NAME = re.compile(
    r"data_?set|\bds$|source|stream|pipe|loader|iterator|iterable|inner|wrapped|reader|generator|sampler",
    re.IGNORECASE,
)
#: Reasons for not knowing a value that may hide a library which shards.
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
    }
)
_LIBRARIES = frozenset(sys.stdlib_module_names) | frozenset(
    """
    builtins dict list str tuple set numpy pandas h5py torch PIL cv2 lmdb yaml pyarrow tqdm zarr scipy soundfile
    """.split()
)
#: What goes over its arguments and gives their items.
_PASSING = re.compile(
    r"^(?:builtins\.(?:iter|enumerate|zip|map|filter|list|tuple|sorted|reversed)|itertools\.\w+|tqdm\.)"
)
_PLAIN = frozenset("builtins.generator builtins.open builtins.range builtins.file".split())


class Stream:
    """What the workers of `loader` run from `entry`, the frame of a dataset's `__iter__`."""

    def __init__(self, entry: Frame, loader: Loader, model: Model) -> None:
        self._entry, self._loader, self._model = entry, loader, model
        self._frames = model.run_by((entry,))

    def comes_whole(self) -> bool:
        """Whether each worker gets all of it: nothing that runs for it shards it or makes it random, and what it goes
        over is in sight."""
        if any(self._is_aware(frame) for frame in self._frames) or self._class_is_aware():
            return False
        return self.comes_alike()

    def comes_alike(self) -> bool:
        """As `comes_whole`, where what the code knows of workers does not count."""
        if any(self._draws(frame) for frame in self._frames) or self._init_may_shard():
            return False
        if any(self._is_hidden(number, frame, 0) for frame in self._frames for number in self._gone_over(frame)):
            return False
        return self._model.def_of(self._entry).is_generator or self._returns_plain_iterator()

    def asks_for_worker(self) -> bool:
        """Whether something that runs for it asks which worker it runs in, or calls something that may do so."""
        return any(
            _may_ask(atom, self._name(self._model.ev.expr(frame, call.call.func), frame))
            for frame in self._frames
            for call in self._model.frame_calls(frame)
            for atom in call.callee.atoms
        )

    def _is_aware(self, frame: Frame) -> bool:
        file = self._model.files.file(frame.path)
        return file is None or file.pieces[frame.piece].ask(_mentions_workers)

    def _draws(self, frame: Frame) -> bool:
        return any(_is_random(atom) for call in self._model.frame_calls(frame) for atom in call.callee.atoms)

    def _class_is_aware(self) -> bool:
        """Whether any method of the dataset knows of workers: sharding may be set up by a call out of sight."""
        receiver = self._entry.receiver
        if not isinstance(receiver, Instance):
            return False
        return any(True for _ in self._model.ev.classes.methods_asked(receiver.cls, _mentions_workers))

    def _knows_workers(self, member: Member | None) -> bool:
        function = member.function if member else None
        file = self._model.files.file(function.path) if function else None
        return bool(file and function and file.pieces[function.piece].ask(_mentions_workers))

    def _init_may_shard(self) -> bool:
        """Whether the worker_init_fn does more than seeding: it may set up the dataset."""
        passed = self._loader.argument("worker_init_fn")
        if passed.unknown is not None and not self._loader.out_of_sight:
            return True
        for reached in self._model.reached_by(self._loader):
            if reached.loaders.get("init", 0) >> self._loader.index & 1 and not self._only_seeds(reached.frame):
                return True
        return False

    def _only_seeds(self, frame: Frame) -> bool:
        if frame.receiver is not None:
            return False
        known = (
            "torch.initial_seed",
            "torch.set_num_threads",
            "cv2.",
            "builtins.int",
            "builtins.print",
            "time.",
            "os.",
        )
        for call in self._model.frame_calls(frame):
            for atom in call.callee.atoms:
                if not isinstance(atom, Lib) or not (atom.name in SEEDERS or atom.name.startswith((*known, *_RANDOM))):
                    return False
        return not any(isinstance(step, ir.SetAttr | ir.SetItem) for _, step in self._model.steps(frame))

    def _gone_over(self, frame: Frame) -> Iterator[int]:
        """What a frame goes over: its loops, `yield from`, `next`, and what `__iter__` returns."""
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
        """Whether an iterable is out of sight and may be one that shards itself."""
        if depth > 6:
            return True
        e = self._model.ev.expr(frame, number)
        value = self._model.ev.eval(number, frame)
        if isinstance(e, ir.Call) and self._passes_on(e, frame):
            return any(self._is_hidden(arg.value, frame, depth + 1) for arg in e.args)
        if any(isinstance(a, Unknown) for a in value.atoms) and _STREAM_NAME.search(self._name(e, frame)):
            return True
        return any(self._hides(atom, depth) for atom in value.atoms)

    def _passes_on(self, call: ir.Call, frame: Frame) -> bool:
        callee = self._model.ev.eval(call.func, frame)
        return bool(callee.atoms) and all(isinstance(a, Lib) and _PASSING.match(a.name) for a in callee.atoms)

    def _name(self, e: ir.Expr | None, frame: Frame) -> str:
        match e:
            case ir.Attr(_, name) | ir.Global(name) | ir.Capture(_, name):
                return name
            case ir.Param(index):
                return self._model.def_of(frame).params[index].name
            case ir.Index(base, _):
                return self._name(self._model.ev.expr(frame, base), frame)
        return ""

    def _hides(self, atom: Atom, depth: int) -> bool:
        match atom:
            case Unknown(reason):
                return reason in _HIDING
            case Instance(cls, _):
                return self._knows_workers(self._model.ev.classes.member(cls, "__iter__"))
            case LibMember(owner, _):
                return self._hides(owner, depth)
            case LibObject(name, site) if _PASSING.match(name):
                passed = self._model.ev.expr(site.frame, site.expr)
                arguments = passed.args if isinstance(passed, ir.Call) else ()
                return any(self._is_hidden(arg.value, site.frame, depth + 1) for arg in arguments)
            case LibObject(name, _) | Lib(name):
                return name.partition(".")[0] not in _LIBRARIES or name.startswith("torch.utils.data")
        return False

    def _returns_plain_iterator(self) -> bool:
        """Whether `__iter__` returns an iterator over data: a list, a file, a map or generator of the project."""
        value = self._model.ev.functions.returned(self._entry)
        return bool(value.atoms) and all(_is_plain(atom) for atom in value.atoms)


def _mentions_workers(text: str) -> bool:
    return _AWARE.search(_COMMENT.sub("", text)) is not None


def _may_ask(atom: Atom, name: str) -> bool:
    """Whether a callee (called `name` in the code) tells the worker, or splits by it out of sight."""
    match atom:
        case Lib(full):
            return full == WORKER_INFO or _AWARE.search(full) is not None
        case Unknown() | LibMember():
            return _AWARE.search(name) is not None
    return False


def _is_random(atom: Atom) -> bool:
    if isinstance(atom, Lib):
        return atom.name.startswith(_RANDOM) or _RANDOM_SAMPLERS.search(atom.name) is not None
    if isinstance(atom, LibMember) and isinstance(atom.owner, LibObject):
        return atom.name in GENERATOR_DRAWS and atom.owner.name in GENERATORS
    return False


def _is_plain(atom: Atom) -> bool:
    match atom:
        case SeqOf() | MapOf() | Unknown("parameter" | "config" | "required option"):
            return True
        case LibObject(name, _):
            return name in _PLAIN or _PASSING.match(name) is not None
    return False
