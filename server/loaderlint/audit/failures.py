"""Maps an exception that a loader raises to the rule about it."""

from __future__ import annotations

from loaderlint.audit.messages import Failure, Unit

#: A part of the exception's message, with its rule.
_BY_TEXT = (
    ("Seed must be between 0 and 2**32 - 1", "worker-seed-overflow"),
    ("daemonic processes are not allowed to have children", "process-in-worker"),
    ("Cannot re-initialize CUDA in forked subprocess", "cuda-in-worker"),
    ("At least one stride in the given numpy array is negative", "negative-stride-sample"),
    ("negative strides are not currently supported", "negative-stride-sample"),
    ("default_collate: batch must contain", "uncollatable-sample"),
    ("'NoneType' object has no attribute 'dataset'", "worker-info-in-main"),
    ("'NoneType' object has no attribute 'id'", "worker-info-in-main"),
)


def rule_of_failure(failure: Failure, unit: Unit | None, odd: bool) -> str | None:
    """The rule about an exception, None if there is none. `unit` raised it; `odd`: whether a sample of its batch
    contains None."""
    if odd:
        return "none-sample"
    if failure.kind == "UnsendableBatch":
        return "unpicklable-sample"
    if failure.kind == "StopIteration" and unit is not None and unit.kind in ("sample", "samples", "collate"):
        return "stop-iteration-sample"
    return next((rule for text, rule in _BY_TEXT if text in failure.text), None)
