"""Attributes that an object certainly does not have: `getattr(settings, "workers", 0)` is 0 if neither the class of the
settings nor any other code of the project has or sets `workers`."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from loaderlint.facts import ir
from loaderlint.project.evaluation.attribute_assignments import may_assign
from loaderlint.project.evaluation.values import (
    AUTO,
    Atom,
    ClassRef,
    Instance,
    Lib,
    Literal_,
    MapOf,
    SeqOf,
    Val,
    is_none,
)
from loaderlint.project.modules.dependencies import needs_word

if TYPE_CHECKING:
    from loaderlint.project.evaluation.evaluator import Evaluator

#: Library base classes whose objects have only the attributes that the project gives them.
_EMPTY_BASES = frozenset(
    {
        *("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"),
        *("torch.utils.data.Dataset", "torch.utils.data.IterableDataset"),
    }
)
#: Attributes of the members of an `Enum`, which are known by their values.
_OF_ENUMS = frozenset({"name", "value"})
_SEQUENCES = MappingProxyType({"list": list, "tuple": tuple, "set": set})
#: Decorators that add nothing but special methods.
_DATACLASS = frozenset({Lib("dataclasses.dataclass")})
#: Methods that make up attributes.
_COMPUTING = ("__getattr__", "__getattribute__", "__setattr__", "__new__", "__dict__")
#: For each word the text in which it sets no attributes by names that are not written: `setattr(x, "name", 4)`,
#: `x.__dict__.items()`.
_HARMLESS = {
    "setattr": r"setattr(?:__)?\(\s*[^,()]*,\s*[\"']\w+[\"']",
    "__dict__": r"\*\*[\w.]+\.__dict__|__dict__\s*\.\s*(?:items|keys|values|copy|get)\(",
    "vars(": r"\*\*vars\(|[(,]\s*vars\([^()]*\)\s*[,)]|vars\([^()]*\)\s*\.\s*(?:items|keys|values|copy|get)\(",
    "namespace": r"namespace(?!\s*=)",
}


def lack(ev: Evaluator, value: Val, names: list[str], reader: Path) -> bool:
    """Whether what a value may be has none of some attributes, where code of the file `reader` asks for them."""
    objects = [atom for atom in value.atoms if not is_none(atom)]
    return bool(objects and names) and all(_lacks(ev, atom, name, reader) for atom in objects for name in names)


def _lacks(ev: Evaluator, atom: Atom, name: str, reader: Path) -> bool:
    if (builtin := _type_of(atom)) is not None:
        return not hasattr(builtin, name) and name not in _OF_ENUMS
    if not isinstance(atom, Instance) or atom.site is None or name.startswith("__"):
        return False
    if ev.classes.member(atom.cls, name) is not None or name in ev.classes.fields(atom.cls):
        return False
    return shows_all_attributes(ev, atom.cls) and not _is_set_somewhere(ev, name, reader)


def _type_of(atom: Atom) -> type | None:
    """The type of a constant, list, tuple, set or dict; None for anything else. An option may get another type than
    its default has."""
    match atom:
        case Literal_(kind, value, configured) if value is not None and kind != AUTO and not configured:
            return type(value)
        case SeqOf(kind) if not atom.names:
            return _SEQUENCES[kind]
        case MapOf():
            return dict
    return None


def shows_all_attributes(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether the project's code shows all attributes that the objects of a class have."""
    if any(ev.classes.member(cls, name) is not None for name in _COMPUTING):
        return False
    return all(
        _adds_nothing(ev, base) if isinstance(base, ClassRef) else isinstance(base, Lib) and base.name in _EMPTY_BASES
        for base in ev.classes.mro(cls)
    )


def _adds_nothing(ev: Evaluator, cls: ClassRef) -> bool:
    """Whether neither a decorator nor a metaclass may give the objects of a class of the project attributes."""
    head = ev.classes.head(cls)
    if head is None or head.keywords or ev.installed.holds(cls.path):
        return False
    frame = cls.scope or ev.body(cls.path, cls.piece)
    exprs = (ev.expr(frame, number) for number in head.decorators)
    named = (e.func if isinstance(e, ir.Call) else number for e, number in zip(exprs, head.decorators, strict=True))
    return all(ev.eval(number, frame).atoms == _DATACLASS for number in named)


def _is_set_somewhere(ev: Evaluator, name: str, reader: Path) -> bool:
    """Whether some code of the project may set an attribute of this name, of whatever object. Where the name is not
    written, only code that may run in one program with the file `reader` counts."""
    for word in (f".{name}", f'"{name}"', f"'{name}'"):
        for path in ev.files.containing(word):
            file = ev.file(path)
            if file is not None and any(True for _ in file.asking(_may_set, name)):
                return True
    for word in _HARMLESS:
        for path in ev.files.containing(word):
            file = ev.file(path)
            sets = file is not None and file.all_asking(_sets_by_name, word)
            if sets and ev.import_graph.may_run_with(path, reader):
                return True
    return False


@needs_word
def _may_set(text: str, name: str) -> bool:
    """Whether a text may set attribute `name`: `x.name = 4`, `setattr(x, "name", 4)`."""
    if may_assign(text, name):
        return True
    return "setattr" in text and (f'"{name}"' in text or f"'{name}'" in text)


@needs_word
def _sets_by_name(text: str, word: str) -> bool:
    """Whether a text may set attributes by names that are not written, with the function or attribute `word`."""
    return text.count(word) > len(re.findall(_HARMLESS[word], text))
