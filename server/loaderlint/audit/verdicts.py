"""Draws conclusions from the evidence: each check is a function that yields results."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loaderlint.audit.data_verdicts import (
    epochs_end,
    items,
    kept_state,
    reproducible,
    same_without_workers,
    stored_data,
)
from loaderlint.audit.evidence import Evidence, of_kind
from loaderlint.audit.messages import Batch
from loaderlint.audit.process_verdicts import crossing, hanging, open_files, samples, sending
from loaderlint.audit.random_verdicts import epochs_draw_alike, samples_reseed, workers_draw_alike
from loaderlint.audit.rank_verdicts import ranks
from loaderlint.audit.report import Result, Verdict, not_seen
from loaderlint.audit.resource_verdicts import kept_descriptors, kept_shared_memory, memory_growth
from loaderlint.audit.stale_verdicts import stale_state

#: The checks, in the order of the report.
QUESTIONS: tuple[Callable[[Evidence], Iterator[Result]], ...] = (
    samples,
    hanging,
    workers_draw_alike,
    epochs_draw_alike,
    samples_reseed,
    stored_data,
    epochs_end,
    items,
    ranks,
    open_files,
    crossing,
    kept_state,
    stale_state,
    memory_growth,
    kept_shared_memory,
    kept_descriptors,
    sending,
    reproducible,
    same_without_workers,
)

#: The checks that do not need a batch.
_WITHOUT_SAMPLES = ("hanging", "crossed-the-fork", "pickling")


def results(evidence: Evidence) -> Iterator[Result]:
    """The results of all checks."""
    made = next(of_kind(evidence.run, Batch), None) is not None
    for question in QUESTIONS:
        for result in question(evidence):
            looked = made or result.verdict is not Verdict.CLEAN or result.check in _WITHOUT_SAMPLES
            yield result if looked else not_seen(result.check, "no batch was made")
