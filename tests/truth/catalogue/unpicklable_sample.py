"""Samples and batches that a worker cannot send."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, HANG, MAIN_PROCESS, Case, Run

RULE = "unpicklable-sample"
ALONE = Run("main process", MAIN_PROCESS)
WAITS = (Run("fork", FORK, shows=HANG, timeout=3.0), ALONE)
TYPE_ERROR = frozenset({"TypeError"})
RUNTIME_ERROR = frozenset({"RuntimeError"})
#: `default_collate` raises, with workers and without.
FAILS = (Run("fork", FORK, shows=TYPE_ERROR), Run("main process", MAIN_PROCESS, shows=TYPE_ERROR))
#: `default_collate` writes into shared memory in a worker only.
REFUSES = (Run("fork", FORK, shows=RUNTIME_ERROR), ALONE)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "file", "ends", FAILS, fix="unsafe"),
    Case(RULE, "file_alone", "ends", WAITS, fix="unsafe"),
    Case(RULE, "generator", "ends", WAITS, fix=None),
    Case(RULE, "lambda", "ends", WAITS, fix=None),
    Case(RULE, "local_class", "ends", WAITS, fix=None),
    Case(RULE, "network", "ends", REFUSES),
    Case(
        RULE,
        "parameter",
        "ends",
        (*WAITS, Run("fork server", FORK_SERVER, shows=HANG, timeout=5.0)),
    ),
    Case(RULE, "leaf", "ends", REFUSES),
)
CLEAN: tuple[Case, ...] = tuple(
    Case(RULE, name, "ends", (Run("fork", FORK), ALONE))
    for name in ("clean_plain", "clean_collated", "clean_no_grad", "clean_leaf")
)
