"""The rules whose faults an audit can see, by check, and why it cannot see the others."""

from __future__ import annotations

from types import MappingProxyType

#: The checks that see the fault of a rule. docs/audit.md has this as a table.
SEEN_BY = MappingProxyType(
    {
        "duplicate-numpy-randomness": ("workers-draw-alike", "epochs-draw-alike"),
        "shared-generator": ("workers-draw-alike", "epochs-draw-alike"),
        "constant-worker-seed": ("workers-draw-alike", "epochs-draw-alike"),
        "worker-seed-overflow": ("samples",),
        "reseed-per-sample": ("samples-reseed", "workers-draw-alike", "epochs-draw-alike"),
        "frozen-augmentation-state": ("workers-draw-alike", "epochs-draw-alike"),
        "common-seed-in-workers": ("workers-draw-alike", "epochs-draw-alike"),
        "torch-threads-in-worker": ("hanging",),
        "cuda-in-worker": ("samples", "crossed-the-fork"),
        "process-in-worker": ("samples",),
        "executor-across-fork": ("hanging", "crossed-the-fork"),
        "worker-info-in-main": ("items",),
        "unpicklable-callable": ("pickling",),
        "unpicklable-state": ("pickling",),
        "handle-across-workers": ("open-files", "crossed-the-fork"),
        "unpicklable-sample": ("samples",),
        "stored-data-mutation": ("stored-data",),
        "negative-stride-sample": ("samples",),
        "lost-worker-state": ("kept-state", "items"),
        "stale-persistent-state": ("stale-state",),
        "none-sample": ("samples",),
        "unsharded-iterable-dataset": ("items",),
        "stop-iteration-sample": ("samples",),
        "exhausted-iterable": ("epochs",),
        "notebook-class-in-worker": ("pickling",),
        "uncollatable-sample": ("samples",),
    }
)

_PROGRAM = "the fault is in the program around the loader"

#: Why an audit does not see the faults of the other rules.
NOT_SEEN = MappingProxyType(
    {
        "unused-suppression": "it is about comments",
        "unread-code": "it is about text",
        "keras-duplicate-randomness": "Keras has its own workers",
        "map-duplicate-randomness": "process pools are not loaders",
        "opencv-threads-in-workers": "the threads of OpenCV are not counted",
        "unguarded-worker-start": _PROGRAM,
        "main-guard-global": _PROGRAM,
        "lossy-worker-exception": "an audit sees the exception, but not what is lost",
        "read-only-sample": "PyTorch warns and goes on",
        "object-list-growth": "an audit does not measure memory that workers copy page by page",
        "aliased-sample": "an audit does not see what happens to a batch",
        "retained-batches": "an audit does not see what happens to a batch",
        "unsorted-listing": "the order is the same in all runs on one machine",
        "unguarded-normalisation": "an audit does not know the right numbers",
        "missing-set-epoch": _PROGRAM,
        "constant-epoch-seed": _PROGRAM,
        "init-through-wrapper": "an audit does not notice an attribute that is set in the wrong place",
        "conflicting-loader-arguments": "PyTorch rejects the loader",
        "called-worker-init": _PROGRAM,
    }
)
