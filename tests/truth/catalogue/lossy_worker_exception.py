"""Exceptions that do not come out of a worker as they went in."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, MAIN_PROCESS, Case, Run

RULE = "lossy-worker-exception"
ALONE = Run("main process", MAIN_PROCESS)


def _case(name: str, seen: str) -> Case:
    return Case(RULE, name, "measured", (Run("fork", FORK, shows=frozenset({seen})), ALONE), fix=None)


FAULTY: tuple[Case, ...] = (
    _case("several", "RuntimeError"),
    _case("no_argument", "RuntimeError"),
    _case("message", "TypeError"),
    _case("library", "RuntimeError"),
)
CLEAN: tuple[Case, ...] = tuple(
    Case(RULE, name, "measured", (Run("fork", FORK), ALONE)) for name in ("clean_one_text", "clean_message")
)
