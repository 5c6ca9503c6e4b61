"""Where CUDA fails in workers, and what leaves it in doubt."""

from __future__ import annotations

from loaderlint.findings.finding import Severity
from loaderlint.project.reach.model import Model, WorkerCall
from loaderlint.rules.cuda_in_worker.device_choices import workers_only_on_cpu
from loaderlint.rules.shared.cuda_uses import CudaUse, doubts_around
from loaderlint.rules.shared.judgement import Cure
from loaderlint.rules.shared.loader_traits import not_forked
from loaderlint.rules.shared.process_guards import callers_of

#: Why a use of CUDA does not fail.
ASKS = "the code checks the device or the process first, or an option turns it off"
#: What shows that the main process uses CUDA, or leaves it to a trainer that does.
_SIGNS = ("cuda", "Trainer", "Accelerator", "Fabric", "accelerator", "pin_memory=True")


def cure(use: CudaUse | None, model: Model) -> Cure:
    """A cure of a use of CUDA, or of one of which nothing is known: it can be used in workers that are not forked, and
    a loader may have no workers where it is used."""
    in_spawned = not_forked(model, "where CUDA can be used")
    return lambda loader: in_spawned(loader) or workers_only_on_cpu(loader, use, model)


def doubts_of(call: WorkerCall, model: Model) -> int | None:
    """The conditions that the call and the way to it are under (see `doubts_around`)."""
    found = [doubts_around(frame, context, model) for frame, context in callers_of(call, model)]
    return None if None in found else max(one for one in found if one is not None)


def severity_under(conditions: int | None) -> Severity | None:
    """A hint under a condition that is not known; None for the severity of the rule."""
    return Severity.HINT if conditions else None


def main_uses_cuda(model: Model) -> bool:
    """Whether code outside the workers' own shows a sign of CUDA."""
    workers = {(frame.path, frame.piece) for frame in model.reached}
    for sign in _SIGNS:
        for path in model.files.containing(sign):
            file = model.files.file(path)
            if file and any((path, piece) not in workers for piece in file.mentioning(sign)):
                return True
    return False
