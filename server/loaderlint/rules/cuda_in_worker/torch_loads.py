"""Calls of `torch.load` that bring tensors back to the device that they were saved from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, SetArgument
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Lib, LibMember, LibObject
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.shared.judgement import WorkerVerdict
from loaderlint.rules.shared.unresolved_places import SiteKey, site_key

_LOAD = Lib("torch.load")
_SAVE = "torch.save"
#: What brings a tensor to the CPU, or makes it there.
_TO_CPU = frozenset({"cpu", "from_numpy"})
#: What shows that a model is saved, and no data.
_OF_MODELS = "state_dict"


def loads_anywhere(call: WorkerCall, model: Model) -> bool:
    """Whether a call is `torch.load` without a map_location."""
    if _LOAD not in call.callee.atoms:
        return False
    if _saves(call.frame, model):
        return False  # a cache: the worker saves what it has computed itself, on the CPU
    return model.ev.calls.arguments(call.call, call.frame).get("map_location", 1) is None


def _saves(frame: Frame, model: Model) -> bool:
    """Whether a function saves tensors, or the function around it or another one in that does."""
    if any(Lib(_SAVE) in call.callee.atoms for call in model.frame_calls(frame)):
        return True
    file = model.files.file(frame.path) if frame.scope is not None else None
    return file is not None and file.pieces[frame.piece].holds(_SAVE)


def loads_array(call: WorkerCall, model: Model) -> bool:
    """Whether what a call of `torch.load` gives is used as a NumPy array: no tensor has `astype`, and `numpy()` and
    NumPy raise TypeError for one of a GPU."""
    loaded = model.ev.eval(call.number, call.frame).only(LibObject)
    return any(site_key(one.site) in model.once(_array_sites) for one in loaded)


def _array_sites(model: Model) -> frozenset[SiteKey]:
    """Where `torch.load` is called for what worker code uses as NumPy arrays."""
    calls = (call for frame in model.reached for call in model.frame_calls(frame))
    return frozenset(
        site_key(one.site) for call in calls for one in _used_as_arrays(call, model) if one.name == _LOAD.name
    )


def _used_as_arrays(call: WorkerCall, model: Model) -> Iterator[LibObject]:
    """The library objects that a call treats as NumPy arrays."""
    for callee in call.callee.atoms:
        if isinstance(callee, LibMember) and callee.name in ("astype", "numpy") and isinstance(callee.owner, LibObject):
            yield callee.owner
        if not isinstance(callee, Lib) or not f"{callee.name}.".startswith(("numpy.", "torch.from_numpy.")):
            continue
        for argument in call.call.args:
            for atom in model.ev.eval(argument.value, call.frame).atoms:
                whole = atom.owner if isinstance(atom, LibMember) and atom.name == "T" else atom
                if isinstance(whole, LibObject):
                    yield whole


def saves_on_cpu(model: Model) -> bool:
    """Whether a call of the project saves data that it has brought to the CPU: `torch.save(features.cpu(), path)`."""
    for path in model.files.containing(_SAVE):
        file = model.files.file(path)
        for piece in file.mentioning(_SAVE) if file else ():
            facts = model.ev.facts(path, piece)
            exprs = facts.ir.exprs if facts else ()
            if any(_saves_on_cpu(e, exprs) for e in exprs):
                return True
    return False


def _saves_on_cpu(e: ir.Expr, exprs: Sequence[ir.Expr]) -> bool:
    func = exprs[e.func] if isinstance(e, ir.Call) and e.args else None
    if not isinstance(e, ir.Call) or not isinstance(func, ir.Attr) or func.name != "save":
        return False
    parts = [exprs[number] for number in ir.made_of(exprs, [e.args[0].value])]
    names = {part.name for part in parts if isinstance(part, ir.Attr)}
    return _OF_MODELS not in names and not names.isdisjoint(_TO_CPU)


def fix_of_load(verdict: WorkerVerdict[WorkerCall], model: Model) -> Fix:
    """Load to the CPU, also in the other calls of the function; unsafe where a loader without workers loads too, whose
    tensors would come to another device."""
    bits = [model.reached[call.frame].bits() for call in verdict.together]
    loading = [one for one in model.loaders if any(b >> one.index & 1 for b in bits)]
    alone = all(one in verdict.exposure.loaders for one in loading)
    beside = (call for frame in {call.frame for call in verdict.together} for call in model.frame_calls(frame))
    others = {
        model.place(call.frame, call.number)
        for call in beside
        if loads_anywhere(call, model) and not loads_array(call, model)
    }
    places = dict.fromkeys((verdict.spot.place(model), *sorted(others, key=lambda one: one.anchor)))
    intents = tuple(SetArgument(place, "map_location", '"cpu"', 1) for place in places)
    return Fix('Load to the CPU: `map_location="cpu"`', "safe" if alone else "unsafe", intents)
