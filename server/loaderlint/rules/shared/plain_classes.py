"""Classes to whose objects a fix may add attributes."""

from __future__ import annotations

from loaderlint.project.evaluation.values import ClassRef
from loaderlint.project.reach.model import Model


def has_plain_class(cls: ClassRef, model: Model) -> bool:
    """Whether new attributes may be set on objects of the class: no `__slots__`, no own `__getstate__`, no dataclass
    with `frozen` or `slots`."""
    file = model.files.file(cls.path)
    if file is None or any(file.pieces[cls.piece].holds(word) for word in ("frozen", "slots", "define")):
        return False
    names = ("__slots__", "__getstate__", "__reduce__", "__setattr__")
    return not any(model.ev.classes.member(cls, name) for name in names)
