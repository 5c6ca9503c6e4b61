"""Arguments of loaders that PyTorch rejects."""

from __future__ import annotations

from tests.truth.catalogue.base import Case, Run

ARGUMENTS = "conflicting-loader-arguments"
NOW = ("--target-torch", "2.13")


def _rejects(**named: str) -> tuple[Run, ...]:
    """One run, in which the loaders so called end with these exceptions."""
    return (Run("as it is", {}, shows=frozenset(f"{error} ({name})" for name, error in named.items())),)


FAULTY: tuple[Case, ...] = (
    Case(
        ARGUMENTS,
        "without_workers",
        "measured",
        _rejects(persistent="ValueError", prefetch="ValueError", timeout="AssertionError", context="ValueError"),
        flags=NOW,
    ),
    Case(
        ARGUMENTS,
        "constant",
        "measured",
        _rejects(persistent="ValueError", prefetch="ValueError", timeout="AssertionError", context="ValueError"),
        flags=NOW,
    ),
    Case(
        ARGUMENTS,
        "dict",
        "measured",
        _rejects(prefetch="ValueError", several="ValueError", named="ValueError", together="ValueError"),
        flags=NOW,
    ),
    Case(
        ARGUMENTS,
        "samplers",
        "measured",
        _rejects(
            shuffled="ValueError",
            sized="ValueError",
            unsized="ValueError",
            shuffled_batches="ValueError",
            dropped="ValueError",
            dropped_single="ValueError",
        ),
        flags=NOW,
    ),
    Case(
        ARGUMENTS,
        "lost",
        "measured",
        _rejects(both="ValueError", shuffled="ValueError", sampled="ValueError", batched="ValueError"),
        flags=NOW,
        fix="unsafe",
    ),
    Case(
        ARGUMENTS,
        "alone",
        "measured",
        _rejects(
            workers="ValueError",
            none="TypeError",
            half="TypeError",
            timeout="ValueError",
            prefetch="ValueError",
            no_prefetch="AssertionError",
            size="ValueError",
            context="ValueError",
        ),
        flags=NOW,
        fix=None,
    ),
)
CLEAN: tuple[Case, ...] = (Case(ARGUMENTS, "clean_allowed", "measured", _rejects(), flags=NOW),)
