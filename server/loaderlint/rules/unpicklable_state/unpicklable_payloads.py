"""What is sent to the workers of a loader and cannot be pickled: locks, handles, generators, modules, GPU memory."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.knowledge.handles import OPENERS
from loaderlint.knowledge.pickling import SHARED_BY_INHERITANCE, UNPICKLABLE, Unpicklable
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.limits import NOT_NONE, TOO_MANY
from loaderlint.project.evaluation.values import Instance, LibObject, SeqOf, Site, Unknown
from loaderlint.project.modules.dependencies import needs_word
from loaderlint.project.reach.model import Loader, Model
from loaderlint.rules.shared.cuda_uses import kept_on_gpu
from loaderlint.rules.shared.held_handles import handle_kind, handles_read, opener
from loaderlint.rules.shared.pickled_to_workers import Payload, is_module
from loaderlint.rules.shared.unresolved_places import site_key

_MODULE = Unpicklable("module", "'module' object")
_GENERATOR = UNPICKLABLE["builtins.generator"]


#: Why a function that is called may be any one, and why a call was not followed.
_UNSEEN = frozenset({"parameter", "too many", NOT_NONE, TOO_MANY})
_TOO_DEEP = frozenset({"too deep", "library too deep"})

#: What is on the GPU, by the start of its name.
_ON_GPU = (("torch.nn.", "model on the GPU"), ("torch.", "tensor on the GPU"))
_GPU_MEMORY = "CUDA memory on Windows"


class UnpicklablePayload(NamedTuple):
    """Something that cannot be sent, where it is made, and the call's name. `doubts`: unknown conditions.
    `used_unseen`: no worker is seen to use it, but they run code that is not known."""

    payload: Payload
    kind: Unpicklable
    name: str
    place: Place
    doubts: int = 0
    used_unseen: bool = False

    @property
    def is_on_gpu(self) -> bool:
        """Whether it is in GPU memory, and the fault one on Windows."""
        return self.kind.error == _GPU_MEMORY


def unpicklable_payload(payload: Payload, loader: Loader, model: Model) -> UnpicklablePayload | None:
    """What is sent, if it cannot be."""
    match payload.atom:
        case LibObject(name, site) as made:
            kind = _handle(made, loader, model) if name in OPENERS else _kind(name, payload, loader, model)
            if kind is None:
                return _on_gpu(made, payload, loader, model)
            unseen = name in OPENERS and _run_unknown_code(loader, model)
            return UnpicklablePayload(payload, kind, name, _place(site, payload, model), used_unseen=unseen)
        case SeqOf(_, _, site) if site is not None:
            e = model.ev.expr(site.frame, site.expr)
            if isinstance(e, ir.Comp) and e.kind == "generator" and not _is_indexed(payload, model):
                return UnpicklablePayload(payload, _GENERATOR, "generator", model.site_place(site))
        case Instance(cls, site) if site is not None:
            for base in model.ev.classes.library_bases(cls):
                if base.startswith("threading.") and base in UNPICKLABLE:
                    return UnpicklablePayload(payload, UNPICKLABLE[base], base, model.site_place(site))
        case atom if is_module(atom) and payload.store is not None:
            return UnpicklablePayload(
                payload, _MODULE, "module", model.step_place(payload.store.frame, payload.store.step)
            )
    return None


def made_at(payload: Payload) -> Site | None:
    """Where what is sent is made; None if that is not known, and for a module."""
    return payload.atom.site if isinstance(payload.atom, LibObject | SeqOf | Instance) else None


def _is_indexed(payload: Payload, model: Model) -> bool:
    """Whether the class takes items of the attribute by index, or its length: what it keeps there is no generator."""
    store = payload.store
    if store is None or store.frame.owner is None:
        return False
    step = model.def_of(store.frame).steps[store.step]
    name = step.name if isinstance(step, ir.SetAttr) else ""
    return any(True for _ in model.ev.classes.methods_asked(store.frame.owner, _indexes, name))


@needs_word
def _indexes(text: str, name: str) -> bool:
    return f"self.{name}[" in text or f"len(self.{name})" in text


def _kind(name: str, payload: Payload, loader: Loader, model: Model) -> Unpicklable | None:
    name = name.removesuffix(".manual_seed")
    if name == "torch.Generator" and not _fails_to_arrive(loader, model):
        return None
    if name == "torch.Generator" and _is_read_by_workers(payload, loader, model):
        return None  # its numbers are shared-generator's matter
    if name == "builtins.generator" and _is_indexed(payload, model):
        return None
    if name in SHARED_BY_INHERITANCE:
        return SHARED_BY_INHERITANCE[name] if _is_of_another_method(loader, model) else None
    return UNPICKLABLE.get(name)


def _fails_to_arrive(loader: Loader, model: Model) -> bool:
    """Whether workers cannot receive a `torch.Generator`: none before torch 2.4 can be pickled, and on Linux its state
    cannot be read again. macOS and Windows share tensors through the file system, where it can. Measured with torch
    2.13 and both sharing strategies on Linux."""
    environment = model.environment(loader)
    if environment.torch.before("2.4") in ("yes", "maybe"):
        return True
    chosen = model.start_methods.chosen(loader) or model.start_methods.of(loader) - {"spawn"}
    return "linux" in environment.platforms and bool(chosen - {"fork"})


def _handle(made: LibObject, loader: Loader, model: Model) -> Unpicklable | None:
    """What pickle says of a handle that no worker uses; those that they use are handle-across-workers' matter."""
    kind = handle_kind(made, model)
    if kind is None or not kind.unpicklable:
        return None
    opened = site_key(made.site)
    if any(opened in model.remembered(_opened_and_read, one.frame) for one in model.reached_by(loader)):
        return None
    return Unpicklable(kind.word, kind.unpicklable)


def _on_gpu(made: LibObject, payload: Payload, loader: Loader, model: Model) -> UnpicklablePayload | None:
    """What is in GPU memory, where Windows is meant. Where forked workers use it, cuda-in-worker says so."""
    if "windows" not in model.environment(loader).platforms or not model.files.containing("cuda"):
        return None
    use = kept_on_gpu(made, model)
    if use is None or ("fork" in model.start_methods.of(loader) and _is_read_by_workers(payload, loader, model)):
        return None
    word = next((word for start, word in _ON_GPU if made.name.startswith(start)), "object on the GPU")
    return UnpicklablePayload(
        payload, Unpicklable(word, _GPU_MEMORY), made.name, model.site_place(made.site), use.doubts
    )


def _opened_and_read(frame: Frame, model: Model) -> frozenset[tuple[Path, int, int]]:
    """Where the handles are opened that a frame reads."""
    return frozenset(site_key(opener(read.handle, model).site) for read in handles_read(frame, model))


def _run_unknown_code(loader: Loader, model: Model) -> bool:
    """Whether the loader's workers call what is passed to the project from outside, or what limits hide."""
    return any(model.remembered(_calls_unknown, one.frame) for one in model.reached_by(loader))


def _calls_unknown(frame: Frame, model: Model) -> bool:
    for _, call in frame.code.calls:
        if any(one.reason in _UNSEEN for one in model.ev.eval(call.func, frame).only(Unknown)):
            return True
    return any(
        one.reason in _TOO_DEEP for step, _ in frame.code.calls for one in model.ev.eval(step.call, frame).only(Unknown)
    )


def _is_of_another_method(loader: Loader, model: Model) -> bool:
    """Whether the loader names a start method that is not the program's."""
    named = model.start_methods.named(loader.argument("multiprocessing_context"))
    path = loader.path
    return bool(named) and path is not None and not named & model.start_methods.of_processes(path)


def _place(site: Site, payload: Payload, model: Model) -> Place:
    if site.expr >= 0:
        return model.site_place(site)
    if payload.store is not None:  # what a call of a generator function gives has no place of its own
        return model.step_place(payload.store.frame, payload.store.step)
    return model.def_place(site.frame)


def first_use(payload: Payload, loader: Loader, model: Model) -> tuple[Frame, int] | None:
    """Where code that the loader's workers run for a sample reads the object from an attribute."""
    for reached in model.reached_by(loader):
        frame = reached.frame
        if reached.bits(("sample", "collate")) >> loader.index & 1:
            for number in sorted(model.ev.evaluated(frame)):
                if isinstance(model.ev.expr(frame, number), ir.Attr):
                    if payload.atom in model.ev.eval(number, frame).atoms:
                        return frame, number
    return None


def _is_read_by_workers(payload: Payload, loader: Loader, model: Model) -> bool:
    return first_use(payload, loader, model) is not None
