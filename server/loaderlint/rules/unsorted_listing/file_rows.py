"""Sequences whose items have the order in which a file holds them: the rows of a table, an array of labels, lines."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.facts import ir
from loaderlint.knowledge.listings import READS_ROWS
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, Instance, LibMember, LibObject
from loaderlint.project.reach.model import Model
from loaderlint.rules.shared.kept_state import own_attribute
from loaderlint.rules.shared.looped_sets import items_from

_MAX_DEPTH = 6


def read_by(number: int, frame: Frame, model: Model, depth: int = 0) -> str:
    """The call that reads the file whose rows a sequence has in their order, such as `pandas.read_csv`; '' if the order
    may be another one."""
    inner = items_from(number, frame, model)
    readers = {_reader(atom) for atom in model.ev.eval(inner, frame).atoms}
    if len(readers) == 1 and (reader := readers.pop()):
        return reader
    name = own_attribute(inner, frame, model) if depth < _MAX_DEPTH else ""
    if not name or not isinstance(frame.receiver, Instance):
        return ""
    kept = set(_kept_by(frame.receiver, name, model, depth + 1))
    return kept.pop() if len(kept) == 1 else ""


def _kept_by(inst: Instance, name: str, model: Model, depth: int) -> Iterator[str]:
    """What reads each sequence that an object stores as `self.name`, or each file whose lines fill it."""
    for store in model.ev.classes.stores(inst, name):
        step = model.def_of(store.frame).steps[store.step]
        if isinstance(step, ir.SetAttr) and model.ev.expr(store.frame, step.value) != ir.Seq("list", ()):
            yield read_by(step.value, store.frame, model, depth)
    for frame in model.ev.classes.construction(inst):
        for perform, base in frame.code.attribute_calls({"append"}):
            if own_attribute(base, frame, model) == name:
                loops = [one.expr for one in model.def_of(frame).around(perform.context) if one.kind == "loop"]
                yield read_by(loops[0], frame, model, depth) if len(loops) == 1 else ""


def _reader(atom: Atom) -> str:
    """The call that has read what an atom is, or what it is a part of; '' if none has."""
    made = atom.owner if isinstance(atom, LibMember) else atom
    name = made.name if isinstance(made, LibObject) else ""
    return next(
        (reader for reader in READS_ROWS if name == reader or name.startswith((f"{reader}.", f"{reader}["))), ""
    )
