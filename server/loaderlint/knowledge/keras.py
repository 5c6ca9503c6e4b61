"""Keras: its datasets, and which of its calls run them in a pool of processes.

Sources: keras 2.15 `utils/data_utils.py`, keras 3.15 `src/trainers/data_adapters/py_dataset_adapter.py`. In both
`init_pool_generator` seeds NumPy only `if random_seed is not None`, and the enqueuer of datasets passes None.
"""

from __future__ import annotations

#: Base classes of datasets by index; `Sequence` is the old name of `PyDataset`.
DATASETS = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})

#: Methods of a model that took `workers` and `use_multiprocessing` before Keras 3. Each takes the dataset first, under
#: one of `DATASET_ARGUMENTS`.
POOLED_METHODS = frozenset({"fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator"})
DATASET_ARGUMENTS = ("x", "generator")

#: Where `PyDataset.__init__` takes them (Keras 3).
WORKERS_POSITION = 0
FLAG_POSITION = 1

#: The first versions with Keras 3, by package: `fit` raises a TypeError there when it is given the old arguments.
KERAS_3 = (("keras", "3.0"), ("tensorflow", "2.16"))
