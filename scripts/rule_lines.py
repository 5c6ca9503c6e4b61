"""One short line about what each rule finds, for the table of rules and the editor's settings. The pages are exact."""

from __future__ import annotations

from collections.abc import Mapping

from loaderlint.rules.base import Rule

#: By name. A rule without a line has the first sentence of its page.
LINES: Mapping[str, str] = {
    "unused-suppression": "a comment that suppresses nothing",
    "unread-code": "code that no parser can read, and that is not checked",
    "duplicate-numpy-randomness": "`np.random` in workers that all start from one state (torch before 1.9)",
    "shared-generator": "a random generator created before the workers start: all draw the same numbers",
    "constant-worker-seed": "a `worker_init_fn` whose seed is the same in every epoch or worker",
    "worker-seed-overflow": "a 63-bit seed of torch given to NumPy, which takes 32 bits",
    "reseed-per-sample": "a random state that is reset to the same seed for every sample",
    "frozen-augmentation-state": "random transforms of albumentations, MONAI or imgaug with one state in all workers",
    "keras-duplicate-randomness": "the same random numbers in all processes of a Keras dataset",
    "map-duplicate-randomness": "the same random numbers in all processes of `map(num_proc=...)` or a pool",
    "common-seed-in-workers": "one seed for all workers, set once for an epoch or a batch",
    "opencv-threads-in-workers": "OpenCV starts its own threads in each worker",
    "torch-threads-in-worker": "`torch.set_num_threads` above 1 in a forked worker",
    "cuda-in-worker": "CUDA in a forked worker",
    "process-in-worker": "a worker that starts processes of its own",
    "executor-across-fork": "a thread pool of the main process, used in forked workers",
    "unguarded-worker-start": 'workers started outside `if __name__ == "__main__"`',
    "main-guard-global": 'workers read a global that exists only under `if __name__ == "__main__"`',
    "worker-info-in-main": "`get_worker_info()` called where it always returns None",
    "unpicklable-callable": "a lambda or nested function sent to spawned workers",
    "unpicklable-state": "a dataset that holds an object which cannot be pickled",
    "handle-across-workers": "an open file, database or video shared by several workers",
    "unpicklable-sample": "a sample that a worker cannot send back",
    "lossy-worker-exception": "an exception that the main process cannot rebuild",
    "stored-data-mutation": "sample code that changes the stored data in place",
    "negative-stride-sample": "a reversed array that becomes a tensor without a copy",
    "read-only-sample": "a tensor that shares read-only memory",
    "lost-worker-state": "a counter or cache that dies with its worker",
    "stale-persistent-state": "a change of the dataset that persistent workers never see",
    "object-list-growth": "a large list of Python objects that grows memory in every forked worker",
    "aliased-sample": "a sample that is the stored data itself, not a copy",
    "retained-batches": "batches kept in a list, each with open file descriptors or shared memory",
    "none-sample": "a sample that can be None",
    "unsharded-iterable-dataset": "every worker yields the whole stream",
    "unsorted-listing": "an order of samples that depends on the file system",
    "unguarded-normalisation": "a division by a range or norm that can be zero",
    "missing-set-epoch": "a `DistributedSampler` that shuffles the same way in every epoch",
    "stop-iteration-sample": "a StopIteration that ends the epoch early",
    "exhausted-iterable": "an iterable dataset that is empty from the second epoch on",
    "constant-epoch-seed": "the same seed, set again in every epoch",
    "notebook-class-in-worker": "a class from a notebook, sent to spawned workers",
    "init-through-wrapper": "a `worker_init_fn` that sets its attribute on a `Subset`, not on the dataset",
    "uncollatable-sample": "a sample that `default_collate` cannot batch",
    "conflicting-loader-arguments": "loader arguments that PyTorch rejects",
    "called-worker-init": "a `worker_init_fn` that is not a function of one argument",
}


def line(rule: Rule) -> str:
    """What a rule finds, without a full stop."""
    return LINES.get(rule.name) or rule.summary.removeprefix("Finds ").rstrip(".")
