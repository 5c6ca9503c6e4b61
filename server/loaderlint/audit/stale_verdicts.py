"""Checks whether persistent workers get what the main process sets between epochs."""

from __future__ import annotations

from collections.abc import Iterator

from loaderlint.audit.evidence import Evidence, of_kind, process
from loaderlint.audit.messages import Answer, Holds
from loaderlint.audit.report import Result, Verdict, clean, not_seen
from loaderlint.audit.sandbox import Outcome

#: The maximum number of attributes and items that are shown.
_SHOWN = 3


def stale_state(evidence: Evidence) -> Iterator[Result]:
    """Whether persistent workers get what is set on the dataset between epochs."""
    if evidence.facts.workers and evidence.facts.persistent:
        yield of_changes(evidence.changing)


def of_changes(run: Outcome | None) -> Result:
    """The result of a run of two epochs between which something was set. Its `Answer` holds that as 'path, old, new'
    lines, and the paths that have an effect on samples."""
    check = "stale-state"
    if run is None:
        return not_seen(check, "the values that the program sets between epochs are not known")
    answer = next(of_kind(run, Answer), None)
    if not run.finished or answer is None:
        return not_seen(check, "the two epochs with the values that are set between them did not finish")
    if not answer.values["set"]:
        return clean(check, "no attribute and no item of the dataset was set between epochs")
    second = [each for each in of_kind(run, Holds) if each.worker >= 0 and each.epoch == 1]
    stale: dict[str, list[str]] = {}
    for line in answer.values["set"]:
        path, old, new = line.split("\n")
        for each in second:
            if each.values.get(path) == old and path in answer.values["effect"]:
                text = f"{path} is {new} in the main process, and {old} in {process(each.worker, each.pid)}, epoch 2"
                stale.setdefault(path, []).append(text)
    if not stale:
        return clean(check, "the values that were set between epochs reach the workers, or have no effect on samples")
    text = f"persistent workers do not get the values that are set between epochs: {', '.join(list(stale)[:_SHOWN])}"
    lines = tuple(line for path in list(stale)[:_SHOWN] for line in stale[path][:_SHOWN])
    return Result(check, Verdict.FAULT, text, lines, "stale-persistent-state")
