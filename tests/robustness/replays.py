"""What random edits found once, as small as it could be made. Each is played in each run of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.robustness.edits import Step
from tests.robustness.player import Way


@dataclass(frozen=True, slots=True)
class Replay:
    """Steps in a project with these files, after which a server shows what a fresh one shows. `xfail`: why it does not
    do so yet, '' if it does."""

    name: str
    way: Way
    files: Mapping[str, str]
    steps: tuple[Step, ...]
    xfail: str = ""


REPLAYS: tuple[Replay, ...] = ()
