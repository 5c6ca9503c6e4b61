"""Places that are looked up only if they are shown.

Looking up a place parses its piece again, which takes as long as all other work on most pieces. So a rule stores a
`Spot`, compares spots by their keys, and looks up the place only for a finding, or for a `Silence` if
`model.explains`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from loaderlint.findings.finding import Place
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.evaluation.values import Site
from loaderlint.project.reach.model import Model


class Spot(NamedTuple):
    """Expression `number` of a frame, step `number` of its def, or the name of the def."""

    frame: Frame
    number: int
    kind: Literal["expression", "step", "def"] = "expression"

    @property
    def key(self) -> tuple[Path, int, int, str, int]:
        """A key that is the same for one place in every frame."""
        return (self.frame.path, self.frame.piece, self.frame.def_, self.kind, self.number)

    @property
    def context(self) -> int:
        """The branch of the def that contains it."""
        code = self.frame.code
        if self.kind == "expression":
            return code.context_of(self.number)
        return code.one.steps[self.number].context if code.one and self.kind == "step" else 0

    def place(self, model: Model) -> Place:
        """The place, looked up now."""
        match self.kind:
            case "expression":
                return model.place(self.frame, self.number)
            case "step":
                return model.step_place(self.frame, self.number)
        return model.def_place(self.frame)


def spot_of(site: Site) -> Spot:
    """Where a value was created."""
    return Spot(site.frame, site.expr)


#: The result of `site_key`.
SiteKey = tuple[Path, int, int]


def site_key(site: Site) -> SiteKey:
    """A key that is the same for the values that one call or display creates, in every frame."""
    return (site.frame.path, site.frame.piece, site.expr)
