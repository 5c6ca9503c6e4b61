"""How a loader's arguments are written in its call. The rules on arguments share it."""

from __future__ import annotations

from typing import NamedTuple

from loaderlint.facts import ir
from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Atom, ClassRef, Lib, Site
from loaderlint.project.reach.model import Loader, Model


class Written(NamedTuple):
    """An argument as the call writes it: expression `number` of `frame`, as keyword `keyword` ('' if it is passed by
    its position) of call `call`."""

    frame: Frame
    number: int
    keyword: str
    call: int

    def is_direct(self, model: Model) -> bool:
        """Whether it is written in the call itself, not bound to a name before."""
        return model.place(self.frame, self.number).anchor > model.place(self.frame, self.call).anchor

    def place(self, model: Model) -> Place:
        """The place of the argument; the whole call if the argument is a name that is bound before."""
        return model.place(self.frame, self.number if self.is_direct(model) else self.call)


def written(loader: Loader, name: str, model: Model) -> Written | None:
    """Torch's argument `name` as written in the loader's own call; None if it is passed in another way (`**kwargs`, a
    partial, a class of the project)."""
    call = _call(loader, model)
    if loader.site is None or call is None:
        return None
    if not _is_of_table(call, loader.site.frame, model):
        return _passed_on(loader, loader.site, name, call, model)
    own = {torchs: its for its, torchs in loader.kind.rename}.get(name, name)
    parameters = loader.kind.parameters
    position = parameters.index(own) if own in parameters else None
    for index, arg in enumerate(call.args):
        if arg.kind == "star":
            position = None
        by_position = arg.kind == "pos" and index == position
        if by_position or (arg.kind == "kw" and arg.name == own):
            return Written(loader.site.frame, arg.value, arg.name, loader.site.expr)
    return None


def _passed_on(loader: Loader, site: Site, name: str, call: ir.Call, model: Model) -> Written | None:
    """Torch's argument `name` in the call of a library's own class, if that class passes it on to torch as it is."""
    given = next((arg.value for arg in call.args if arg.kind == "kw" and arg.name == name), None)
    if given is None or model.ev.eval(given, site.frame) != loader.arguments.get(name):
        return None
    return Written(site.frame, given, name, site.expr)


def _call(loader: Loader, model: Model) -> ir.Call | None:
    """The call of the library's own loader class that creates the loader."""
    if loader.site is None:
        return None
    e = model.ev.expr(loader.site.frame, loader.site.expr)
    if not isinstance(e, ir.Call):
        return None
    atoms = model.ev.eval(e.func, loader.site.frame).atoms
    return e if atoms and all(_is_of_library(atom, model) for atom in atoms) else None


def _is_of_library(atom: Atom, model: Model) -> bool:
    return isinstance(atom, Lib) or (isinstance(atom, ClassRef) and model.ev.installed.holds(atom.path))


def _is_of_table(call: ir.Call, frame: Frame, model: Model) -> bool:
    """Whether the tables have the parameters of what a call calls."""
    return all(isinstance(atom, Lib) for atom in model.ev.eval(call.func, frame).atoms)
