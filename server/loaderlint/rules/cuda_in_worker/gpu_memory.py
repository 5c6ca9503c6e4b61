"""What the main process puts into GPU memory, and workers use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from loaderlint.project.evaluation.values import LibObject, Val
from loaderlint.project.reach.model import Model, WorkerFunction
from loaderlint.rules.cuda_in_worker.cuda_conditions import cure
from loaderlint.rules.shared.cuda_uses import kept_on_gpu, used_reads
from loaderlint.rules.shared.held_handles import is_held
from loaderlint.rules.shared.judgement import Candidate
from loaderlint.rules.shared.unresolved_places import Spot, site_key

_NOT_HELD = "the main process no longer holds it when the workers start"


class Brought(NamedTuple):
    """What the main process puts into GPU memory by a call, with its `text` for messages, and where workers read it."""

    text: str
    reader: Spot


def brought_to_gpu(function: WorkerFunction, model: Model) -> Iterator[Candidate[Brought]]:
    """What the main process has put into GPU memory, and workers use."""
    if not model.files.containing("cuda"):
        return
    done: set[tuple[Path, int, int]] = set()
    for frame in function.frames:
        for number, value in used_reads(frame, model):
            for held in value.ordered():
                if not isinstance(held, LibObject) or site_key(held.site) in done:
                    continue
                use = kept_on_gpu(held, model)
                if use is None or model.runs_in_worker(held.site.frame):
                    continue
                here, brought = Spot(use.call.frame, use.call.number), Brought(use.text, Spot(frame, number))
                why_not = "" if is_held(held, value.origins, model) else _NOT_HELD
                done.update(() if why_not else [site_key(held.site)])
                doubts = max(use.doubts, _others(value, model))
                yield Candidate(brought, frame, here, cure(use, model), why_not, doubts=doubts)


def _others(value: Val, model: Model) -> int:
    """One doubt where a value may be something else that is not on the GPU."""
    return int(any(not isinstance(one, LibObject) or kept_on_gpu(one, model) is None for one in value.atoms))
