"""Objects that are always true: their classes define neither `__bool__` nor `__len__`.

Source: torch 2.13, torchvision 0.29.1."""

from __future__ import annotations

#: Base classes whose objects are true unless a derived class says otherwise.
TRUE_BASES = frozenset("abc.ABC builtins.object torch.nn.Module torch.utils.data.Dataset typing.Generic".split())

#: Packages whose classes all make such objects, by the beginnings of their names.
TRUE_CLASSES = ("torchvision.transforms.",)
