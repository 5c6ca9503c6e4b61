"""Which programs are run, how, and what must be seen of them.

A faulty program is run before and after the tool's own fix, under each start method that matters and in the ways that
break fixes that are too simple: the main process reads a sample first (`touch`), the workers persist, there is one
worker or none. A clean one (`clean_*`) shows no symptom, and the tool is silent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.truth.harness import CASES

Loader = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """One way to run a program.

    `loader` and `arguments` as `harness.Zygote.measure` takes them; `shows` the symptoms of the faulty program (none:
    the fault does not show in this way, and the fix must not spoil it); `timeout` in seconds."""

    name: str
    loader: Loader
    arguments: Mapping[str, Any] = field(default_factory=dict)
    shows: frozenset[str] = frozenset()
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class Case:
    """A program in `cases/<rule>/<name>`. `flags`: what the tool is told beside the rule.

    `common`: arguments of the oracle in all runs. `after`: those that differ after the fix. A run's own arguments
    override both. `fix`: what the tool offers."""

    rule: str
    name: str
    oracle: str
    runs: tuple[Run, ...]
    common: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    fix: Literal["safe", "unsafe"] | None = "safe"

    @property
    def folder(self) -> Path:
        """Where the program is."""
        return CASES / self.rule / self.name


FORK: Loader = {"multiprocessing_context": "fork"}
ONE_WORKER: Loader = {"multiprocessing_context": "fork", "num_workers": 1}
PERSISTENT: Loader = {"multiprocessing_context": "fork", "persistent_workers": True}
MAIN_PROCESS: Loader = {"num_workers": 0}
FORK_SERVER: Loader = {"multiprocessing_context": "forkserver"}
PERSISTENT_FORK_SERVER: Loader = {"multiprocessing_context": "forkserver", "persistent_workers": True}
#: A spawned worker imports PyTorch: seconds. Hence two workers that live on, and only where start methods can differ.
SPAWN: Loader = {"multiprocessing_context": "spawn", "num_workers": 2, "persistent_workers": True}

BOTH = frozenset({"duplicates", "repeats"})
DUPLICATES = frozenset({"duplicates"})
REPEATS = frozenset({"repeats"})
PICKLE = frozenset({"pickle"})
READS = frozenset({"reads"})
HANG = frozenset({"hang"})
THREADS = frozenset({"threads"})
EPOCHS = frozenset({"epochs"})
CHANGED = frozenset({"changed"})
ITEMS = frozenset({"items"})
TOUCH = {"touch": True}


# --- random numbers ---------------------------------------------------------------------------------------------------

DRAWN_FROM_COPIES = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, sample read before", FORK, TOUCH, BOTH),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}, DUPLICATES),
    Run("main process", MAIN_PROCESS),
    Run("fork server", FORK_SERVER, shows=BOTH),
    Run("fork server, persistent, sample read before", PERSISTENT_FORK_SERVER, TOUCH, DUPLICATES),
)
SPAWNED_FROM_COPIES = Run("spawn, persistent, sample read before", SPAWN, TOUCH, DUPLICATES)

#: Workers of the fork server import NumPy anew and have entropy of their own.
BEFORE_1_9 = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, sample read before", FORK, TOUCH, BOTH),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}, DUPLICATES),
    Run("main process", MAIN_PROCESS),
)
SAME_SEED = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}, DUPLICATES),
    Run("fork server", FORK_SERVER, shows=BOTH),
)
SAME_SEED_IN_EVERY_EPOCH = (
    Run("fork", FORK, shows=REPEATS),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}),
)

NUMPY = "duplicate-numpy-randomness"
GENERATOR = "shared-generator"
SEED = "constant-worker-seed"
BEFORE = ("--target-torch", "1.8")
NOW = ("--target-torch", "2.13")

FAULTY: tuple[Case, ...] = (
    Case(NUMPY, "helper_class", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "own_init_function", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(
        GENERATOR,
        "attribute",
        "draws",
        (*DRAWN_FROM_COPIES, SPAWNED_FROM_COPIES),
        {"columns": [0, 1, 2]},
        # The two transforms have the same seed; generators that are seeded by the worker alone would draw alike.
        after={"alike": [0, 1]},
    ),
    Case(GENERATOR, "module_level", "draws", DRAWN_FROM_COPIES, {"columns": [0, 1]}),
    Case(GENERATOR, "class_attribute", "draws", DRAWN_FROM_COPIES, {"columns": [1]}, fix=None),
    Case(GENERATOR, "unreached_by_init_function", "draws", DRAWN_FROM_COPIES[:5], {"columns": [1]}),
    Case(
        GENERATOR,
        "torch_generator",
        "draws",
        (
            *DRAWN_FROM_COPIES[:5],
            Run("fork server", FORK_SERVER, shows=PICKLE),
            Run("fork server, persistent, sample read before", PERSISTENT_FORK_SERVER, TOUCH, PICKLE),
            Run("spawn, sample read before", SPAWN, TOUCH, PICKLE),
        ),
        {"columns": [1]},
        fix=None,
    ),
    Case(
        SEED,
        "all_three",
        "draws",
        (*SAME_SEED, Run("spawn, persistent", SPAWN, shows=DUPLICATES)),
        {"columns": [0, 1, 2]},
    ),
    Case(SEED, "factory", "draws", SAME_SEED[:3], {"columns": [0, 1]}),
    Case(
        SEED,
        "worker_number",
        "draws",
        (*SAME_SEED_IN_EVERY_EPOCH, Run("fork server", FORK_SERVER, shows=REPEATS)),
        {"columns": [1]},
        flags=NOW,
    ),
    Case(SEED, "numpy_state", "draws", SAME_SEED_IN_EVERY_EPOCH, {"columns": [1]}, flags=NOW),
)

CLEAN: tuple[Case, ...] = (
    Case(NUMPY, "helper_class", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}, flags=NOW),
    Case(NUMPY, "clean_seeded", "draws", BEFORE_1_9[:4], {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_other_sources", "draws", BEFORE_1_9[:2], {"columns": [1, 2], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_main_process", "draws", (Run("as it is", {}),), {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_generator_per_item", "draws", BEFORE_1_9[:2], {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(GENERATOR, "clean_reached_by_init_function", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}),
    Case(GENERATOR, "clean_made_in_worker", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1, 2]}),
    Case(GENERATOR, "clean_order_of_samples", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}),
    Case(SEED, "clean_torch_seed", "draws", SAME_SEED, {"columns": [0, 1, 2]}),
    Case(SEED, "clean_persistent", "draws", (Run("as it is", {}, {"epochs": 3}),), {"columns": [1]}),
    Case(SEED, "clean_main_seed", "draws", SAME_SEED, {"columns": [0, 1, 2]}),
)


# --- threads ----------------------------------------------------------------------------------------------------------

CV2 = "opencv-threads-in-workers"
WITH_THREADS = (
    Run("fork", FORK, shows=THREADS),
    Run("fork server", FORK_SERVER, shows=THREADS),
)
FAULTY += (
    Case(CV2, "no_init_function", "threads", (*WITH_THREADS, Run("spawn", SPAWN, shows=THREADS))),
    Case(CV2, "init_function", "threads", WITH_THREADS),
)
CLEAN += (
    Case(CV2, "clean_module_level", "threads", WITH_THREADS),
    Case(CV2, "clean_init_function", "threads", WITH_THREADS),
    Case(CV2, "clean_read_before", "threads", WITH_THREADS[:1]),
)


# --- handles ----------------------------------------------------------------------------------------------------------

HANDLE = "handle-across-workers"
CANNOT_START = Run("fork server, sample read before", FORK_SERVER, TOUCH, PICKLE)
WRONG_READS = (
    Run("fork", FORK, shows=READS),
    Run("fork, sample read before", FORK, TOUCH, READS),
    Run("fork, persistent", PERSISTENT, TOUCH, READS),
    CANNOT_START,
)
#: HDF5 2.0 and a read-only LMDB environment bear a fork; what shows with them is that no other start method works.
RIGHT_READS = (
    Run("fork, sample read before", FORK, TOUCH),
    Run("fork, persistent", PERSISTENT, TOUCH),
    CANNOT_START,
)
SPAWNED = Run("spawn, sample read before", SPAWN, {"epochs": 1, **TOUCH}, PICKLE)
ALONE = Run("main process", MAIN_PROCESS, {"epochs": 2})
#: Which reads meet is chance: some 30 of 250 are wrong. 40 epochs are tried before the fix, 3 after it.
TRIED: Mapping[str, Any] = {"epochs": 40}
TRIED_AFTER: Mapping[str, Any] = {"epochs": 3}
FEW: Mapping[str, Any] = {"epochs": 2}

FAULTY += (
    Case(HANDLE, "records", "reads", (*WRONG_READS, SPAWNED, ALONE), TRIED, TRIED_AFTER),
    Case(HANDLE, "archive", "reads", (*WRONG_READS, ALONE), TRIED, TRIED_AFTER),
    Case(
        HANDLE,
        "lazy",
        "reads",
        (WRONG_READS[0], *WRONG_READS[2:], ALONE),
        TRIED,
        TRIED_AFTER,
        fix=None,
    ),
    Case(HANDLE, "hdf5", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(HANDLE, "lmdb", "reads", (*RIGHT_READS, ALONE), FEW),
    Case(
        HANDLE,
        "video",
        "reads",
        (Run("fork, sample read before", FORK, TOUCH, HANG, timeout=4.0), CANNOT_START, ALONE),
        FEW,
        fix=None,
    ),
)
CLEAN += (
    Case(HANDLE, "clean_opened_per_sample", "reads", (*WRONG_READS[:2], CANNOT_START), TRIED_AFTER),
    Case(HANDLE, "clean_keyed_by_process", "reads", WRONG_READS, TRIED_AFTER),
    Case(
        HANDLE, "clean_opened_in_init_function", "reads", (WRONG_READS[0], Run("fork server", FORK_SERVER)), TRIED_AFTER
    ),
    Case(HANDLE, "clean_main_process", "reads", (Run("as it is", {}),), TRIED_AFTER),
)


# --- stored data ------------------------------------------------------------------------------------------------------

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

FAULTY += (
    Case(STORED, "array", "data", (CHANGES_HERE, CHANGES_THERE, Run("fork", TWO), Run("fork server", TWO_OF_SERVER))),
    Case(
        STORED,
        "tensor",
        "data",
        (*SHARED_TENSOR, Run("spawn, persistent", SPAWN, shows=EPOCHS | CHANGED)),
    ),
    Case(STORED, "helper", "data", SHARED_TENSOR, fix=None),
    Case(
        STORED,
        "memory_map",
        "data",
        (CHANGES_HERE, Run("fork", TWO, shows=EPOCHS | CHANGED), Run("fork server", TWO_OF_SERVER)),
    ),
    Case(STORED, "scaled", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "nested", "data", (CHANGES_HERE, CHANGES_THERE), fix="unsafe"),
)
CLEAN += (
    Case(STORED, "clean_copied", "data", (CHANGES_HERE, CHANGES_THERE)),
    Case(STORED, "clean_read_from_disk", "data", (CHANGES_HERE, CHANGES_THERE)),
)


# --- streams ----------------------------------------------------------------------------------------------------------

STREAM = "unsharded-iterable-dataset"
STREAMED = (
    Run("fork", FORK, shows=ITEMS),
    Run("fork, one worker", ONE_WORKER),
    Run("main process", MAIN_PROCESS),
    Run("fork server, persistent", PERSISTENT_FORK_SERVER, shows=ITEMS),
)
FAULTY += (
    Case(STREAM, "ranges", "items", (*STREAMED, Run("spawn", SPAWN, shows=ITEMS))),
    Case(STREAM, "loop", "items", STREAMED, fix=None),
    Case(STREAM, "helpers", "items", STREAMED, fix=None),
)
CLEAN += (
    Case(STREAM, "clean_sharded", "items", STREAMED),
    Case(STREAM, "clean_sharded_by_init_function", "items", (STREAMED[0], STREAMED[3])),
    Case(STREAM, "clean_one_worker", "items", (Run("as it is", {}),)),
)
