"""The goals, and what was measured for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.measures import Measure

#: The measurements, by part and name.
Measured = Mapping[str, Mapping[str, Measure]]


@dataclass(frozen=True, slots=True)
class Goal:
    """A number with a limit. `work`: what is measured; `part` and `measure`: where the number comes from; `most` or
    `least`: its limit."""

    work: str
    what: str
    part: str
    measure: str
    most: float | None = None
    least: float | None = None

    def limit(self) -> str:
        """The limit as text."""
        return f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"

    def value(self, measured: Measured) -> Measure | None:
        """The measurement; None if the part was not run."""
        return measured.get(self.part, {}).get(self.measure)

    def met(self, measure: Measure) -> bool:
        """Whether the median is within the limit."""
        if self.most is not None:
            return measure.median <= self.most
        return self.least is not None and measure.median >= self.least

    def distance(self, measure: Measure) -> float | None:
        """The factor by which the median exceeds the limit, or falls short of it; None if one of them is 0."""
        above, below = (measure.median, self.most) if self.most is not None else (self.least, measure.median)
        return above / below if above and below else None


_KEYSTROKE = "a keystroke, to the findings of the file"
_OTHER = "a keystroke that changes the findings of another file, in a project of 200 files"
_OPENING = "the first findings of a file that is opened, per bare parse of it"
_START = "`initialize` answered, from the start of the process"
_LOADING = "cold check of code that loads data (about 160 files, 45,000 lines)"
_PACKAGES = "cold check of 26 packages at once (11,175 files, 3.4 million lines)"
_WARM = "check of the same packages with the cache of the check before"
_SERVER = "memory of the server with these packages as its workspace"
_GROWTH = "growth of a project, per straight line through no files and its first thousand"
_FIRST = "a new user's first finding, in wall time"

GOALS = (
    Goal(_KEYSTROKE, "1,000 lines, p50, ms", "keystrokes", "p50, 1,000 lines", most=1.5),
    Goal(_KEYSTROKE, "3,000 lines, p50, ms", "keystrokes", "p50, 3,000 lines", most=4),
    Goal(_KEYSTROKE, "1,000 lines, p95 per bare parse", "keystrokes", "p95 / bare parse, 1,000 lines", most=0.06),
    Goal(_KEYSTROKE, "3,000 lines, p95 per bare parse", "keystrokes", "p95 / bare parse, 3,000 lines", most=0.06),
    Goal(_OTHER, "p95, ms", "relinking", "p95, findings of the other file change", most=15),
    Goal(_OPENING, "1,000 lines", "opening", "first findings / bare parse, 1,000 lines", most=1.3),
    Goal(_OPENING, "3,000 lines", "opening", "first findings / bare parse, 3,000 lines", most=1.3),
    Goal(_START, "s", "starting", "initialize answered", most=0.45),
    Goal(_START, "libcst loaded before", "starting", "libcst loaded before the answer", most=0),
    Goal(_LOADING, "CPU of TorchFix per ours", "loading", "TorchFix / loaderlint", least=50),
    Goal(_LOADING, "CPU of Fixit per ours", "loading", "Fixit / loaderlint", least=50),
    Goal(_LOADING, "CPU of pylint per ours", "loading", "pylint, three checks / loaderlint", least=20),
    Goal(_LOADING, "CPU of semgrep per ours", "loading", "semgrep, two rules / loaderlint", least=1),
    Goal(_PACKAGES, "CPU, s", "packages", "loaderlint: CPU", most=8),
    Goal(_PACKAGES, "memory, MiB", "packages", "loaderlint: memory", most=350),
    Goal(_PACKAGES, "CPU per that of ruff with one rule", "packages", "loaderlint / ruff, one rule", most=4),
    Goal(_WARM, "nothing changed, s", "warm", "unchanged", most=0.2),
    Goal(_WARM, "nothing changed, libcst imported", "warm", "libcst imported", most=0),
    Goal(_WARM, "one file edited, s", "warm", "after an edit", most=0.5),
    Goal(_SERVER, "MiB", "memory", "with the workspace open", most=250),
    Goal(_SERVER, "more after 10,000 keystrokes, MiB", "memory", "more after 10,000 keystrokes", most=5),
    Goal(_GROWTH, "CPU", "growth", "CPU: furthest above the line", most=1.2),
    Goal(_GROWTH, "memory", "growth", "memory: furthest above the line", most=1.2),
    Goal(_FIRST, "from README's first command to the first check, s", "first", "README to first finding", most=60),
    Goal(_FIRST, "from the VSIX to the first squiggle in VS Code, s", "first", "VSIX to first squiggle", most=30),
)
