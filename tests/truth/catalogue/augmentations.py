"""Transforms of libraries that hold random generators of their own."""

from __future__ import annotations

from tests.truth.catalogue.base import (
    BOTH,
    DUPLICATES,
    FORK,
    FORK_SERVER,
    MAIN_PROCESS,
    ONE_WORKER,
    PERSISTENT,
    REPEATS,
    TOUCH,
    Case,
    Loader,
    Run,
)

RULE = "frozen-augmentation-state"
ALBUMENTATIONS = ("albumentations",)
MONAI = ("monai",)
#: Each worker imports the library anew, which takes seconds.
TWO_SERVED: Loader = {**FORK_SERVER, "num_workers": 2}
COPIED = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, sample read before", FORK, TOUCH, BOTH),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}, DUPLICATES),
    Run("main process", MAIN_PROCESS),
    Run("fork server", TWO_SERVED, shows=BOTH),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "albumentations", "draws", COPIED, {"columns": [0, 1]}, {"alike": [0, 1]}, modules=ALBUMENTATIONS),
    Case(RULE, "albumentations_subset", "draws", COPIED[:4], {"columns": [1]}, modules=ALBUMENTATIONS),
    Case(RULE, "monai", "draws", (COPIED[0], *COPIED[2:]), {"columns": [0]}, modules=MONAI),
    Case(RULE, "monai_own_function", "draws", COPIED[:4], {"columns": [1]}, modules=MONAI, fix=None),
)

CALM = (Run("fork", FORK), Run("fork, one worker", ONE_WORKER), Run("fork, persistent", PERSISTENT, {"epochs": 3}))

CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_monai_loader", "draws", CALM[:1], {"columns": [0]}, modules=MONAI),
    Case(RULE, "clean_seeded", "draws", CALM, {"columns": [1]}, modules=ALBUMENTATIONS),
    Case(RULE, "clean_calm", "draws", CALM[:1], {"columns": [1]}, modules=ALBUMENTATIONS),
)
