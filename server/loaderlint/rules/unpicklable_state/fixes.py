"""The fix for an attribute that cannot be pickled: it is left out of the state and made again where it arrives."""

from __future__ import annotations

from loaderlint.facts import ir
from loaderlint.findings.finding import Fix, InsertMethod, InsertStatement, Intent
from loaderlint.knowledge.pickling import UNPICKLABLE
from loaderlint.project.evaluation.classes import Store
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import ClassRef, Instance, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.expression_source import source_of
from loaderlint.rules.shared.pickled_to_workers import Payload

_GETSTATE = """\
def __getstate__(self) -> dict:
    state = self.__dict__.copy()
{deleted}
    return state"""
_SETSTATE = """\
def __setstate__(self, state: dict) -> None:
    self.__dict__.update(state)
{made}"""
_OWN = ("__getstate__", "__setstate__", "__reduce__", "__slots__", "__setattr__")
_BARE_BASES = frozenset({"torch.utils.data.Dataset", "torch.utils.data.IterableDataset", "builtins.object"})


def left_out(payload: Payload, others: list[Payload], model: Model) -> tuple[Fix, ...]:
    """Leave all attributes of the class that cannot be pickled out of its state, where each can be made again."""
    cls = _owner(payload.store)
    if cls is None or any(model.ev.classes.member(cls, name) for name in _OWN):
        return ()
    if not _BARE_BASES.issuperset(model.ev.classes.library_bases(cls)):
        return ()
    stores = {one.store.step: one.store for one in others if one.store is not None and _owner(one.store) == cls}
    intents: list[Intent] = []
    made: list[str] = []
    deleted: list[str] = []
    for number in sorted(stores):
        again = _made_again(stores[number], model)
        if again is None:
            return ()
        name, source, kept = again
        deleted.append(f'    del state["{name}"]  # cannot be pickled')
        made.append(f"    self.{name} = {source}")
        if kept:
            intents.append(InsertStatement(model.step_place(stores[number].frame, number), "\n".join(kept)))
    place = model.class_place(cls)
    intents.append(InsertMethod(place, "__getstate__", _GETSTATE.format(deleted="\n".join(deleted))))
    intents.append(InsertMethod(place, "__setstate__", _SETSTATE.format(made="\n".join(made))))
    return (Fix("Make it again in each worker", "unsafe", tuple(intents)),)


def _owner(store: Store | None) -> ClassRef | None:
    return store.frame.owner if store is not None else None


def _made_again(store: Store, model: Model) -> tuple[str, str, list[str]] | None:
    """The attribute, the expression that makes its value, and what `__init__` must keep for it."""
    step = model.def_of(store.frame).steps[store.step]
    receiver = store.frame.receiver
    if not isinstance(step, ir.SetAttr) or step.context != 0 or not isinstance(receiver, Instance):
        return None
    if model.def_of(store.frame).name != "__init__" or len(model.ev.classes.stores(receiver, step.name)) != 1:
        return None
    source, kept = source_of(step.value, store.frame, model)
    if source is None or (kept and _is_given_unpicklable(store.frame)):
        return None  # what it would keep cannot be pickled either
    return step.name, source, kept


def _is_given_unpicklable(constructor: Frame) -> bool:
    given = (atom for value in constructor.args if value is not None for atom in value.atoms)
    return any(isinstance(atom, LibObject) and atom.name in UNPICKLABLE for atom in given)
