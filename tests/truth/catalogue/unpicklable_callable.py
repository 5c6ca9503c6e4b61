"""Lambdas, nested functions and local classes that are sent to workers."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, SPAWN, Case, Run

RULE = "unpicklable-callable"
FLAGS = ("--start-method", "spawn")
NO_NAME = frozenset({"AttributeError"})
FORKED = Run("fork", FORK)
SERVED = Run("fork server", FORK_SERVER, shows=NO_NAME)
SPAWNED = Run("spawn", SPAWN, shows=NO_NAME)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "collate", "ends", (FORKED, SERVED, SPAWNED), flags=FLAGS),
    Case(RULE, "nested", "ends", (FORKED, SERVED, SPAWNED), flags=FLAGS),
    Case(RULE, "factory", "ends", (FORKED, SERVED), flags=FLAGS),
    Case(RULE, "transforms", "ends", (FORKED, SERVED), flags=FLAGS),
    Case(RULE, "with_transform", "ends", (FORKED, SERVED), flags=FLAGS),
    Case(RULE, "wrapper", "ends", (FORKED, SERVED), flags=FLAGS),
    Case(RULE, "local_class", "ends", (FORKED, SERVED), flags=FLAGS, fix=None),
)
STARTED = (FORKED, Run("fork server", FORK_SERVER))
CLEAN: tuple[Case, ...] = tuple(
    Case(RULE, name, "ends", STARTED, flags=FLAGS) for name in ("clean_stays_in_main", "clean_left_out", "clean_named")
)
