"""What kind of stored object an edit changes, if that is data of the samples and no state."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.knowledge.arrays import OVERWRITES, STATE_METHODS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Instance, Origin, Val
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.stored_objects import Kind, container_kind, has_rows, known_kind, used_as_array
from loaderlint.rules.shared.stream_sources import draws
from loaderlint.rules.stored_data_mutation.edited_roots import root_of
from loaderlint.rules.stored_data_mutation.in_place_edits import Edit

_OVERWRITING = frozenset(f"`.{name}()`" for name in OVERWRITES)


def kind_of_edited(frame: Frame, edit: Edit, value: Val, origin: Origin, model: Model) -> Kind | None:
    """The kind of what is edited; None if it may be a number, or keeps state: a cache, a buffer, a shuffled order."""
    if edit.form == "record":
        return "record"
    is_whole = origin.relation == "same" and len(origin.path) == 1
    if is_whole and (edit.form == "item" or edit.how == "`shuffle`" or edit.how in _OVERWRITING):
        return None
    if edit.how == "`out=`" and _is_only_output(edit, frame, model):
        return None
    if is_whole and edit.form == "method" and _is_filled_by_workers(origin, model):
        return None
    if edit.how == "`shuffle`" and isinstance(model.ev.expr(frame, edit.target), ir.Element):
        return None  # `for group in self.groups: random.shuffle(group)`: all groups at once, so it is no sample's data
    if is_whole and edit.how == "`.reverse()`" and _is_by_chance(edit.spot.number, frame, model):
        return None
    known = known_kind(value)
    if edit.shows == "tensor" or known in ("array", "tensor"):
        return "tensor" if edit.shows == "tensor" else known
    if edit.shows == "list" and model.ev.expr(frame, edit.target) is not None:
        return "list"  # `x.sort()` as a statement: a list or an array, and both have `.copy()`
    if edit.shows is not None or used_as_array(edit.target, frame, model) or has_rows(origin, model):
        return "list" if known == "list" else container_kind(origin, value, model)
    if edit.form == "item augment" and origin.relation == "element":
        return "unknown"  # whatever the item is, its container is changed
    return None


def _is_only_output(edit: Edit, frame: Frame, model: Model) -> bool:
    """Whether a call writes its result into an array, and reads nothing from where that is: `np.fft.rfft(signal,
    out=self.spectrum)`, not `np.clip(image, 0, 1, out=image)`."""
    exprs = frame.code.exprs
    call, root = exprs[edit.spot.number], exprs[root_of(edit.target, frame, model)]
    read = [arg.value for arg in call.args if arg.value != edit.target] if isinstance(call, ir.Call) else []
    given = [arg.value for arg in call.args].count(edit.target) if isinstance(call, ir.Call) else 0
    return given == 1 and not any(exprs[part] == root for part in ir.made_of(exprs, read))


def _is_filled_by_workers(origin: Origin, model: Model) -> bool:
    """Whether worker code adds to what an object holds, or takes out of it: `self.files.append(file)`, then
    `self.files.sort()`."""
    if not isinstance(origin.owner, Instance):
        return False
    for frame in model.reached_on(origin.owner):
        for _, base in frame.code.attribute_calls(STATE_METHODS):
            held = frame.code.exprs[base]
            if isinstance(held, ir.Attr) and held.name == origin.path[0] and ir.is_self(frame.code.exprs[held.base]):
                return True
    return False


def _is_by_chance(call: int, frame: Frame, model: Model) -> bool:
    """Whether a call is in a branch that a drawn number decides about: whatever the order was before, it is either
    one then."""
    one = model.def_of(frame)
    around = (context for inner in frame.code.contexts_of(call) for context in one.around(inner))
    tests = [context.expr for context in around if context.kind == "if"]
    parts = set(ir.made_of(frame.code.exprs, tests))
    return any(made.number in parts and draws(made) for made in model.frame_calls(frame))
