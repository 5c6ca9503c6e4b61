"""Stored data that is changed in place."""

from __future__ import annotations

from tests.truth.catalogue.base import CHANGED, EPOCHS, MAIN_PROCESS, SPAWN, Case, Loader, Run

STORED = "stored-data-mutation"
TWO: Loader = {"multiprocessing_context": "fork", "num_workers": 2, "persistent_workers": False}
TWO_PERSISTENT: Loader = {**TWO, "persistent_workers": True}
TWO_OF_SERVER: Loader = {**TWO, "multiprocessing_context": "forkserver"}
CHANGES_HERE = Run("main process", MAIN_PROCESS, shows=EPOCHS | CHANGED)
CHANGES_THERE = Run("fork, persistent", TWO_PERSISTENT, shows=EPOCHS)

SHARED_TENSOR = (
    CHANGES_HERE,
    CHANGES_THERE,
    Run("fork", TWO),
    # A tensor that is sent to a worker is shared with it.
    Run("fork server", TWO_OF_SERVER, shows=EPOCHS | CHANGED),
)

FAULTY: tuple[Case, ...] = (
    Case(STORED, "array", "data", (CHANGES_HERE, CHANGES_THERE, Run("fork", TWO), Run("fork server", TWO_OF_SERVER))),
    Case(
        STORED,
        "tensor",
        "data",
        (*SHARED_TENSOR, Run("spawn, persistent", SPAWN, shows=EPOCHS | CHANGED)),
    ),
    Case(STORED, "helper", "data", SHARED_TENSOR),
    Case(
        STORED,
        "memory_map",
        "data",
        (CHANGES_HERE, Run("fork", TWO, shows=EPOCHS | CHANGED), Run("fork server", TWO_OF_SERVER)),
    ),
    Case(STORED, "scaled", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "nested", "data", (CHANGES_HERE, CHANGES_THERE), fix="unsafe"),
    Case(STORED, "json_record", "data", (CHANGES_HERE, CHANGES_THERE, Run("fork", TWO))),
    Case(STORED, "annotated_record", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "inner_list", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "returned_record", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "memoized", "data", (CHANGES_HERE, CHANGES_THERE), fix=None),
    Case(STORED, "in_place_option", "data", (CHANGES_HERE, CHANGES_THERE), fix=None),
    Case(STORED, "shallow_copy", "data", (CHANGES_HERE, CHANGES_THERE), fix=None),
    Case(STORED, "record", "data", (CHANGES_HERE, CHANGES_THERE, Run("fork", TWO)), fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(STORED, "clean_copied", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "clean_record_marked", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "clean_view_shape", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "clean_read_from_disk", "data", (CHANGES_HERE, CHANGES_THERE)),
)
