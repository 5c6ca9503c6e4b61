"""Values that say less of where they were made, so that a def has few contexts.

Each object is told apart by the call that makes it and by the context of that call. An object that is made in too high a
context (see `Frame.height`) keeps the call, and its context becomes that of callers out of sight: what is joined are the
objects that one call makes for different callers. This is k-limiting, as in context-sensitive points-to analyses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loaderlint.project.frames import Frame
from loaderlint.project.values import (
    Atom,
    ClassRef,
    FunctionRef,
    Instance,
    LibMember,
    LibObject,
    MapOf,
    Method,
    Origin,
    PartialOf,
    SeqOf,
    Site,
    SuperRef,
    Unknown,
    Val,
    height_of,
    height_of_atom,
)

if TYPE_CHECKING:
    from loaderlint.project.evaluate import Evaluator


class Lowered:
    """Makes values of one snapshot lower."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._ev = evaluator
        self._frames: dict[Frame, Frame] = {}

    def value(self, value: Val, most: int) -> Val:
        """The same value where it is no higher than `most`; else with its higher parts made for any caller."""
        if height_of(value) <= most:
            return value
        origins = (Origin(self.atom(one.owner, most), one.path, one.relation) for one in value.origins)
        return Val(frozenset(self.atom(atom, most) for atom in value.atoms), frozenset(origins))

    def atom(self, atom: Atom, most: int) -> Atom:
        """As `value`, for one atom."""
        if height_of_atom(atom) <= most:
            return atom
        match atom:
            case Instance(cls, site):
                return Instance(self.class_(cls, most), self._site(site) if site else None)
            case ClassRef():
                return self.class_(atom, most)
            case FunctionRef():
                return self._function(atom)
            case LibObject(name, site):
                return LibObject(name, self._site(site))
            case LibMember(owner, name):
                return LibMember(self.atom(owner, most), name)
            case Method(function, receiver, owner):
                return Method(self._function(function), self.atom(receiver, most), self.class_(owner, most))
            case SuperRef(cls, receiver):
                return SuperRef(self.class_(cls, most), self.atom(receiver, most))
            case PartialOf(func, site):
                return PartialOf(self.atom(func, most), self._site(site))
            case SeqOf(kind, items, site):
                inner = tuple(self.value(item, most) for item in items)
                return SeqOf(kind, inner, self._site(site) if site else None)
            case MapOf(keys, values, site):
                inner = tuple(self.value(item, most) for item in values)
                return MapOf(keys, inner, self._site(site) if site else None)
            case Unknown(reason, made):
                return Unknown(reason, self._site(made) if made else None)
        return atom

    def class_(self, cls: ClassRef, most: int) -> ClassRef:
        """A class, made for any caller of the function that it stands in if that is too high."""
        if height_of_atom(cls) <= most:
            return cls
        bases = tuple(self.atom(base, most) for base in cls.bases)
        return replace(cls, scope=cls.scope and self.frame(cls.scope), bases=bases)

    def frame(self, frame: Frame) -> Frame:
        """The frame of the same def for any caller, on any object of the same class."""
        known = self._frames.get(frame)
        if known is None:
            known = self._frames[frame] = self._opened(frame)
        return known

    def _opened(self, frame: Frame) -> Frame:
        if frame.def_ == 0 or frame.height == 0:
            return frame
        receiver = anywhere(frame.receiver)
        function = FunctionRef(frame.path, frame.piece, frame.def_)
        opened = self._ev.functions.open_frame(function, receiver, frame.owner and unscoped(frame.owner))
        return opened or frame

    def _site(self, site: Site) -> Site:
        return Site(self.frame(site.frame), site.expr)

    def _function(self, function: FunctionRef) -> FunctionRef:
        return replace(function, scope=self.frame(function.scope)) if function.scope else function


def anywhere(receiver: Atom | None) -> Atom | None:
    """An object of the same class, made out of sight."""
    if isinstance(receiver, Instance):
        return Instance(unscoped(receiver.cls), None)
    return unscoped(receiver) if isinstance(receiver, ClassRef) else None


def unscoped(cls: ClassRef) -> ClassRef:
    """The same class statement, wherever it is run."""
    return replace(cls, scope=None) if cls.scope else cls
