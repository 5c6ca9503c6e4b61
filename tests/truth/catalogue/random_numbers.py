"""Random numbers of workers."""

from __future__ import annotations

from tests.truth.catalogue.base import (
    BOTH,
    DUPLICATES,
    FORK,
    FORK_SERVER,
    MAIN_PROCESS,
    ONE_WORKER,
    PERSISTENT,
    PERSISTENT_FORK_SERVER,
    PICKLE,
    REPEATS,
    SPAWN,
    TOUCH,
    Case,
    Run,
)

DRAWN_FROM_COPIES = (
    Run("fork", FORK, shows=BOTH),
    Run("fork, sample read before", FORK, TOUCH, BOTH),
    Run("fork, one worker", ONE_WORKER, shows=REPEATS),
    Run("fork, persistent", PERSISTENT, {"epochs": 3}, DUPLICATES),
    # The fix leaves the main process its generators, of which two with one seed draw alike.
    Run("main process", MAIN_PROCESS, {"alike": None}),
    Run("fork server", FORK_SERVER, shows=BOTH),
    Run("fork server, persistent, sample read before", PERSISTENT_FORK_SERVER, TOUCH, DUPLICATES),
)
SPAWNED_FROM_COPIES = Run("spawn, persistent, sample read before", SPAWN, TOUCH, DUPLICATES)
#: One cannot be sent to workers that are not forked.
TORCH_GENERATOR = (
    *DRAWN_FROM_COPIES[:5],
    Run("fork server", FORK_SERVER, shows=PICKLE),
    Run("fork server, persistent, sample read before", PERSISTENT_FORK_SERVER, TOUCH, PICKLE),
    Run("spawn, sample read before", SPAWN, TOUCH, PICKLE),
)

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

CALM = Run("fork", FORK)
#: A loader that is no torch DataLoader, which alone can be told how its workers start.
AS_IT_IS = Run("as it is", {}, shows=BOTH)

NUMPY = "duplicate-numpy-randomness"
GENERATOR = "shared-generator"
SEED = "constant-worker-seed"
BEFORE = ("--target-torch", "1.8")
NOW = ("--target-torch", "2.13")

FAULTY: tuple[Case, ...] = (
    Case(NUMPY, "helper_class", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "item_of_a_dict", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "through_pandas", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "own_init_function", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "unpacked_options", "draws", BEFORE_1_9, {"columns": [1], "emulate": True}, flags=BEFORE),
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
    Case(
        GENERATOR,
        "closure",
        "draws",
        DRAWN_FROM_COPIES[:5],  # a closure cannot be sent to workers that are not forked
        {"columns": [0, 1, 2]},
        # The two closures have the same seed.
        after={"alike": [0, 1]},
    ),
    Case(
        GENERATOR, "first_sample", "draws", (DRAWN_FROM_COPIES[0], *DRAWN_FROM_COPIES[2:4]), {"columns": [1]}, fix=None
    ),
    Case(GENERATOR, "partial_and_default", "draws", (*DRAWN_FROM_COPIES, SPAWNED_FROM_COPIES), {"columns": [0, 1]}),
    Case(GENERATOR, "default_factory", "draws", (*DRAWN_FROM_COPIES, SPAWNED_FROM_COPIES), {"columns": [0, 1]}),
    Case(GENERATOR, "monai_loader", "draws", DRAWN_FROM_COPIES[:4], {"columns": [0]}, modules=("monai",)),
    Case(GENERATOR, "stateful_loader", "draws", (AS_IT_IS,), {"columns": [0]}, modules=("torchdata",)),
    Case(GENERATOR, "class_attribute", "draws", DRAWN_FROM_COPIES, {"columns": [1]}),
    Case(GENERATOR, "base_class_and_default", "draws", DRAWN_FROM_COPIES, {"columns": [0, 1]}),
    Case(GENERATOR, "unreached_by_init_function", "draws", DRAWN_FROM_COPIES[:5], {"columns": [1]}),
    Case(GENERATOR, "torch_generator", "draws", TORCH_GENERATOR, {"columns": [1]}),
    Case(GENERATOR, "torch_generator_reseeded", "draws", TORCH_GENERATOR, {"columns": [1]}),
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
    Case(SEED, "first_sample", "draws", SAME_SEED_IN_EVERY_EPOCH, {"columns": [0, 1, 2]}, flags=NOW),
    Case(
        SEED,
        "head_of_stream",
        "draws",
        (
            Run("fork", FORK, shows=REPEATS),
            Run("fork, persistent", PERSISTENT, shows=REPEATS),
        ),
        {"columns": [1]},
        flags=NOW,
        fix=None,
    ),
)

CLEAN: tuple[Case, ...] = (
    Case(NUMPY, "helper_class", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}, flags=NOW),
    Case(NUMPY, "clean_seeded", "draws", BEFORE_1_9[:4], {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_other_sources", "draws", BEFORE_1_9[:2], {"columns": [1, 2], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_main_process", "draws", (Run("as it is", {}),), {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_through_pandas", "draws", BEFORE_1_9[:2], {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(NUMPY, "clean_generator_per_item", "draws", BEFORE_1_9[:2], {"columns": [1], "emulate": True}, flags=BEFORE),
    Case(GENERATOR, "clean_reached_by_init_function", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}),
    Case(GENERATOR, "clean_monai_randomizable", "draws", (CALM,), {"columns": [0]}, modules=("monai",)),
    Case(GENERATOR, "clean_made_in_worker", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1, 2]}),
    Case(GENERATOR, "clean_order_of_samples", "draws", DRAWN_FROM_COPIES[:4], {"columns": [1]}),
    Case(GENERATOR, "clean_common_order", "items", (Run("fork", FORK), Run("fork server", FORK_SERVER))),
    Case(SEED, "clean_torch_seed", "draws", SAME_SEED, {"columns": [0, 1, 2]}),
    Case(SEED, "clean_persistent", "draws", (Run("as it is", {}, {"epochs": 3}),), {"columns": [1]}),
    Case(SEED, "clean_first_sample", "draws", SAME_SEED_IN_EVERY_EPOCH, {"columns": [1]}),
    Case(SEED, "clean_main_seed", "draws", SAME_SEED, {"columns": [0, 1, 2]}),
)
