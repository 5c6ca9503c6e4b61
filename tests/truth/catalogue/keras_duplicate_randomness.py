"""Random numbers in Keras's pool of processes."""

from __future__ import annotations

from tests.truth.catalogue.base import BOTH, Case, Run

RULE = "keras-duplicate-randomness"
POOLED = Run("fork", {}, {"method": "fork"}, BOTH)
KERAS = ("keras",)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "constructor", "measured", (POOLED,), modules=KERAS),
    Case(RULE, "own_generator", "measured", (POOLED,), modules=KERAS),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_threads", "measured", (POOLED,), modules=KERAS),
    Case(RULE, "clean_generator_per_sample", "measured", (POOLED,), modules=KERAS),
)
