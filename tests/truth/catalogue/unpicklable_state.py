"""What cannot be pickled, on what is sent to workers; and locks that lock nothing between them."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, SPAWN, Case, Run

RULE = "unpicklable-state"
FLAGS = ("--start-method", "spawn")
TYPE_ERROR = frozenset({"TypeError"})
FORKED = Run("fork", FORK)
STARTED = (FORKED, Run("fork server", FORK_SERVER))
SERVED = (FORKED, Run("fork server", FORK_SERVER, shows=TYPE_ERROR))
SPAWNED = Run("spawn", SPAWN, shows=TYPE_ERROR)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "lock", "ends", (*SERVED, SPAWNED), flags=FLAGS, fix="unsafe"),
    Case(
        RULE,
        "lock_under_fork",
        "measured",
        (Run("fork", FORK, shows=frozenset({"together"})),),
        flags=("--start-method", "fork"),
        fix=None,
    ),
    Case(RULE, "views", "ends", SERVED, flags=FLAGS, fix="unsafe"),
    Case(RULE, "generator", "ends", SERVED, flags=FLAGS, fix=None),
    Case(RULE, "module", "ends", SERVED, flags=FLAGS, fix="unsafe"),
    Case(RULE, "unused_handle", "ends", SERVED, flags=FLAGS, fix=None),
    Case(RULE, "manager", "ends", SERVED, flags=FLAGS, fix=None),
    Case(RULE, "opencv", "ends", SERVED, flags=FLAGS, fix="unsafe"),
    Case(
        RULE,
        "torch_generator",
        "ends",
        (FORKED, Run("fork server", FORK_SERVER, shows=frozenset({"RuntimeError"}))),
        flags=FLAGS,
        fix="unsafe",
    ),
    Case(
        RULE,
        "other_start_method",
        "ends",
        (FORKED, Run("as it is", {}, shows=frozenset({"RuntimeError"}))),
        flags=("--platforms", "linux", "--target-python", "3.11"),
        fix=None,
    ),
)
CLEAN: tuple[Case, ...] = tuple(
    Case(RULE, name, "ends", STARTED, flags=FLAGS) for name in ("clean_left_out", "clean_pickled")
)
