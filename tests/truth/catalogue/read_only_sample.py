"""Arrays whose memory cannot be written. PyTorch's warning is an error in these runs, in forked workers too."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, Case, Run

READ_ONLY = "read-only-sample"
UNWRITABLE = frozenset({"unwritable"})
WARNED = (Run("fork", FORK, shows=UNWRITABLE), Run("main process", MAIN_PROCESS, shows=UNWRITABLE))
#: The worker ends with a segmentation fault. In the main process nobody would be left to tell.
ENDS = frozenset({"RuntimeError"})
#: A mapping that is sent to a worker arrives as an array in memory.
ENDED = (Run("fork", FORK, shows=ENDS), Run("fork server", FORK_SERVER))

FAULTY: tuple[Case, ...] = (
    Case(READ_ONLY, "buffer", "measured", WARNED),
    Case(READ_ONLY, "picture", "measured", WARNED, modules=("PIL",)),
    Case(READ_ONLY, "memory_map", "ends", ENDED),
)
CLEAN: tuple[Case, ...] = (
    Case(READ_ONLY, "clean_copied", "measured", WARNED),
    Case(READ_ONLY, "clean_writable", "measured", WARNED),
)
