"""torch's seed set again in each epoch."""

from __future__ import annotations

from tests.truth.catalogue.base import FORK, FORK_SERVER, MAIN_PROCESS, PERSISTENT, Case, Run

RULE = "constant-epoch-seed"
ORDER = frozenset({"order"})
ORDER_AND_NUMBERS = frozenset({"order", "repeats"})
EPOCHS = (
    Run("fork", FORK, shows=ORDER_AND_NUMBERS),
    Run("fork server", FORK_SERVER, shows=ORDER_AND_NUMBERS),
    Run("fork, persistent", PERSISTENT, shows=ORDER),
    Run("main process", MAIN_PROCESS, shows=ORDER_AND_NUMBERS),
)

FAULTY: tuple[Case, ...] = (
    Case(RULE, "in_the_loop", "measured", EPOCHS, fix="unsafe"),
    Case(RULE, "helper", "measured", EPOCHS, fix="unsafe"),
)
CLEAN: tuple[Case, ...] = (
    Case(RULE, "clean_before_the_loop", "measured", EPOCHS),
    Case(RULE, "clean_epoch_in_the_seed", "measured", EPOCHS),
    Case(RULE, "clean_generator_of_the_loader", "measured", EPOCHS[:-1]),
)
