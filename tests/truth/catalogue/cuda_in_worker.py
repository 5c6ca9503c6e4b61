"""CUDA in workers, as far as it can be run without a GPU: where tensors go that were saved on one."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Run

RULE = "cuda-in-worker"
NO_GPU = frozenset({"RuntimeError"})
FAULTY: tuple[Case, ...] = (
    Case(
        RULE,
        "saved_on_gpu",
        "ends",
        (Run("fork", FORK, shows=NO_GPU), Run("main process", MAIN_PROCESS, shows=NO_GPU)),
        flags=("--hints",),
    ),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_asks", "ends", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
    Case(RULE, "clean_training_loop", "ends", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
)
