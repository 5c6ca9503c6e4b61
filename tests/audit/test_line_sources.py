"""Of which lines it is known that they draw from nothing but watched generators."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from loaderlint.audit.line_sources import draws_from_watched_only

np = pytest.importorskip("numpy", reason="NumPy is not installed; to get it: make truth")

shared = ModuleType("shared")
vars(shared)["rng"] = np.random.default_rng(1)


class Crops:
    """`rng` and `other` are watched."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(2)
        self.other = random.Random(3)
        self.hidden = np.random.default_rng(4)
        self.images = np.zeros((4, 4))
        self.rows: list[Any] = [np.random.default_rng(5)]

    @property
    def secret(self) -> np.random.Generator:
        return self.hidden

    def scale(self, value: float) -> float:
        return 2 * value


WATCHED = (
    "self.rng.integers(32)",
    "x = self.images[index] + self.rng.normal(size=4).astype(float) * index",
    "self.last = self.scale(float(self.rng.random()))",
    "np.random.rand(3) if random.random() < 0.5 else random.randint(0, 3)",
    "self.rows.append(self.rng.random())",
    "x = self.rng.permutation(4)[index:]",
)
NOT_WATCHED = (
    "self.rng.random() + self.hidden.random()",
    "self.rng.random() + np.random.default_rng(42).random()",
    "self.rng.random() + shared.rng.random()",
    "self.rng.random() + self.secret.random()",
    "self.rng.random() + self.rows[0].random()",
    "self.rng.random() + getattr(self, 'hid' + 'den').random()",
    "self.rng.random() + self.rng.spawn(1)[0].random()",
    "self.rng.random() + sum(map(self.hidden.random, [1]))",
    "self.rng.random() + (self.rng or self.hidden).random()",
    "self.rng.random() + sum(self.hidden.random() for _ in range(2))",
    "self.other.shuffle(self.rows, self.hidden.random)",
    "self.rng.random() + unknown(index)",
)


def is_known(line: str, folder: Path) -> bool:
    """What is told of a line of a function that is about to run."""
    dataset = Crops()
    file = folder / "draw.py"
    file.write_text(f"def draw(self, index):\n    {line}\n    yield\n")
    names: dict[str, Any] = {"np": np, "random": random, "shared": shared}
    exec(compile(file.read_text(), str(file), "exec"), names)
    sources = (dataset.rng, dataset.other, random._inst, np.random.mtrand._rand)  # type: ignore[attr-defined]
    running = names["draw"](dataset, 1)
    return draws_from_watched_only(running.gi_frame, 2, set(map(id, sources)))


@pytest.mark.parametrize("line", WATCHED)
def test_a_line_that_draws_from_what_is_watched(line: str, tmp_path: Path) -> None:
    assert is_known(line, tmp_path)


@pytest.mark.parametrize("line", NOT_WATCHED)
def test_a_line_that_may_draw_from_something_else(line: str, tmp_path: Path) -> None:
    assert not is_known(line, tmp_path)
