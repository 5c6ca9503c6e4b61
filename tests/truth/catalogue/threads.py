"""OpenCV's threads."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, SPAWN, THREADS, Case, Run

CV2 = "opencv-threads-in-workers"
WITH_THREADS = (
    Run("fork", FORK, shows=THREADS),
    Run("fork server", FORK_SERVER, shows=THREADS),
)
FAULTY: tuple[Case, ...] = (
    Case(CV2, "no_init_function", "threads", (*WITH_THREADS, Run("spawn", SPAWN, shows=THREADS))),
    Case(CV2, "two_scripts", "threads", (*WITH_THREADS, Run("spawn", SPAWN, shows=THREADS))),
    Case(CV2, "init_function", "threads", WITH_THREADS),
)
CLEAN: tuple[Case, ...] = (
    Case(CV2, "clean_module_level", "threads", WITH_THREADS),
    Case(CV2, "clean_init_function", "threads", WITH_THREADS),
    Case(CV2, "clean_read_before", "threads", WITH_THREADS[:1]),
    Case(CV2, "clean_forked_after_use", "threads", WITH_THREADS[:1]),
)
