"""Places that are looked up only when they are shown.

To look up a place, its piece is read once more, which takes as long as everything else that is done with most pieces.
So a rule keeps a `Spot` of what it looks at, compares spots by their keys, and looks up the place only for a finding,
or for a `Silence` where `model.explains`."""

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
        """The same for one place in every frame."""
        return (self.frame.path, self.frame.piece, self.frame.def_, self.kind, self.number)

    @property
    def context(self) -> int:
        """The branch of the def that it stands in."""
        code = self.frame.code
        if self.kind == "expression":
            return code.context_of(self.number)
        return code.one.steps[self.number].context if code.one and self.kind == "step" else 0

    def place(self, model: Model) -> Place:
        """Where it stands."""
        match self.kind:
            case "expression":
                return model.place(self.frame, self.number)
            case "step":
                return model.step_place(self.frame, self.number)
        return model.def_place(self.frame)


def spot_of(site: Site) -> Spot:
    """Where a value was made."""
    return Spot(site.frame, site.expr)


#: What `site_key` gives.
SiteKey = tuple[Path, int, int]


def site_key(site: Site) -> SiteKey:
    """The same for the values that one call or display makes, in every frame."""
    return (site.frame.path, site.frame.piece, site.expr)
