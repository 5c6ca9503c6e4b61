"""What the symptoms are and how they are measured. Runs next to the program: in the child of the zygote, or, with an
interpreter of its own, as `python oracles.py FOLDER ORACLE LOADER ARGUMENTS` (the last two in JSON).

A program is a module with `make_loader()`, which returns the loader that the program trains with. An oracle takes the
module and returns plain numbers; `harness.symptoms` says which of them are faults.

Kept to Python 3.8 and torch 1.8, because the verdicts in `recorded/` were measured there (see `record`).
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import operator
import platform
import subprocess
import sys
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader


def versions() -> dict[str, str]:
    """The versions that a verdict holds for."""
    return {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}


def override_loaders(changes: dict[str, Any]) -> None:
    """Have every DataLoader made from now on take `changes` over its own arguments, and see soon that a worker died."""
    from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

    _MultiProcessingDataLoaderIter._try_get_data.__defaults__ = (0.5,)
    original = DataLoader.__init__

    def changed(self: Any, *arguments: Any, **keywords: Any) -> None:
        keywords.update(changes)
        if changes and keywords.get("num_workers") == 0:
            for name in ("multiprocessing_context", "persistent_workers", "prefetch_factor", "timeout"):
                keywords.pop(name, None)
        original(self, *arguments, **keywords)

    DataLoader.__init__ = changed


def leave_numpy_unseeded() -> None:
    """Emulate torch < 1.9 in forked workers: PyTorch seeds Python's and its own random numbers there, not NumPy's.

    This is the one thing that it changes; the verdicts of a real torch 1.8.1 are in `recorded/`.
    """
    from torch.utils.data._utils import worker

    assert worker.HAS_NUMPY, "NumPy is not there, or PyTorch seeds its workers in another way now"
    worker.HAS_NUMPY = False


def _leaves(value: Any) -> list[Any]:
    """The numbers and strings in a batch, in order."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return list(value.flatten().tolist())
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def draws(
    module: ModuleType,
    *,
    columns: list[int],
    epochs: int = 2,
    touch: bool = False,
    emulate: bool = False,
    seed: int | None = None,
    alike: list[int] | None = None,
) -> dict[str, Any]:
    """How random the numbers are that the program's workers draw. `columns` of a batch hold what was drawn.

    `touch`: the main process reads a sample first. `emulate`: see `leave_numpy_unseeded`.
    `alike`: the numbers of two columns that should differ, for objects of one worker that have generators of their own.
    `seed`: for torch, in the main process.

    `duplicates`: draws of the first epoch that were made before in it. `repeats`: draws of later epochs that were made
    in an earlier one. `alike`: samples in which the two columns are equal. `digest`: equal for equal draws in equal
    order.
    """
    if emulate:
        leave_numpy_unseeded()
    if seed is not None:
        torch.manual_seed(seed)
    loader = module.make_loader()
    if touch:
        loader.dataset[0]
    batches = [[batch for batch in loader] for _ in range(epochs)]
    duplicates = repeats = 0
    for column in columns:
        seen: set[Any] = set()
        for number, epoch in enumerate(batches):
            values = [leaf for batch in epoch for leaf in _leaves(batch[column])]
            repeats += sum(value in seen for value in values)
            seen.update(values)
            if number == 0:
                duplicates += len(values) - len(seen)
    equal = 0
    if alike is not None:
        first, second = alike
        for batch in itertools.chain.from_iterable(batches):
            equal += sum(map(operator.eq, _leaves(batch[first]), _leaves(batch[second])))
    return {
        "duplicates": duplicates,
        "repeats": repeats,
        "alike": equal,
        "digest": hashlib.sha256(repr(_leaves(batches)).encode()).hexdigest()[:16],
    }


def threads(module: ModuleType) -> dict[str, int]:
    """The threads of the workers: the most that OpenCV says it uses (first column of a batch), the most that the system
    counts in a worker (second column), and what OpenCV uses in the main process afterwards."""
    import cv2

    batches = list(module.make_loader())
    return {
        "opencv": max(leaf for batch in batches for leaf in _leaves(batch[0])),
        "system": max(leaf for batch in batches for leaf in _leaves(batch[1])),
        "main": cv2.getNumThreads(),
    }


def reads(module: ModuleType, *, epochs: int, touch: bool = False) -> dict[str, Any]:
    """How many samples hold another record's bytes: a batch is (the index asked for, the index read from the record).

    Which reads meet depends on timing, so up to `epochs` epochs are tried; the first one with a wrong read is the last.
    `failed` names the exception that ended the reading.
    """
    loader = module.make_loader()
    if touch:
        loader.dataset[0]
    read = wrong = 0
    for _ in range(epochs):
        try:
            for asked, found in loader:
                wrong += sum(map(operator.ne, _leaves(asked), _leaves(found)))
                read += len(asked)
        except Exception as error:
            return {"read": read, "wrong": wrong, "failed": f"{type(error).__name__}: {error}"}
        if wrong:
            break
    return {"read": read, "wrong": wrong, "failed": None}


def data(module: ModuleType, *, epochs: int = 3) -> dict[str, Any]:
    """Whether the data changes under the program: how many different epochs come in `epochs` (without shuffling), and
    whether what `module.stored(dataset)` finds in the main process or on the disk has changed."""
    loader = module.make_loader()
    before = _leaves(module.stored(loader.dataset))
    seen = {repr([_leaves(batch) for batch in loader]) for _ in range(epochs)}
    return {"epochs": len(seen), "changed": before != _leaves(module.stored(loader.dataset))}


def items(module: ModuleType) -> dict[str, Any]:
    """How often the items of one epoch come, and how many different ones there are."""
    counts = Counter(itertools.chain.from_iterable(_leaves(batch) for batch in module.make_loader()))
    return {"items": len(counts), "fewest": min(counts.values()), "most": max(counts.values())}


def ends(module: ModuleType, *, epochs: int = 1, touch: bool = False) -> dict[str, Any]:
    """How going through the program's loader ends: `raised` is the type of the exception that the main process sees (''
    if none) with its `message`, `batches` how many came. `touch`: the main process reads a sample first."""
    batches = 0
    try:
        loader = module.make_loader()
        if touch:
            loader.dataset[0]
        for _ in range(epochs):
            for _ in loader:
                batches += 1
    except Exception as error:
        return {"batches": batches, "raised": type(error).__name__, "message": str(error)[-2000:]}
    return {"batches": batches, "raised": "", "message": ""}


def audited(module: ModuleType, *, emulate: bool = False, touch: bool = False, **arguments: Any) -> dict[str, Any]:
    """What `loaderlint.audit` says of the program's loader: its results that are no clean bill, by verdict, as pairs of
    the check and the rule; `text` is the report. `emulate`, `touch`: as in `draws`. Needs a Python that loaderlint runs
    on."""
    from multiprocessing import forkserver
    from pathlib import Path

    sys.path.append(str(Path(__file__).resolve().parents[2] / "server"))
    from loaderlint.audit import audit

    vars(forkserver._forkserver).pop("ensure_running", None)  # an audit starts a server of its own
    if emulate:
        leave_numpy_unseeded()
    loader = module.make_loader()
    if touch:
        loader.dataset[0]
    report = audit(loader, **arguments)
    found: dict[str, Any] = {"text": str(report), "seconds": report.seconds}
    for verdict, listed in (("faults", report.faults), ("notes", report.notes)):
        found[verdict] = [[result.check, result.rule] for result in listed]
    return found


def measured(module: ModuleType, **arguments: Any) -> dict[str, Any]:
    """What the program's own `measure.py` sees: `measure(module, **arguments)` returns the symptoms, a word each."""
    return {"symptoms": sorted(importlib.import_module("measure").measure(module, **arguments))}


def script(module: str, *, arguments: list[str] | None = None) -> dict[str, Any]:
    """How the program ends when it is run as a script, in a process of its own: `raised` is the last exception that it
    prints ('' if it ends well). The program is not imported here."""
    command = [sys.executable, f"{module}.py", *(arguments or [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return {"raised": "", "message": ""}
    lines = [line for line in done.stderr.splitlines() if line and not line[0].isspace() and ":" in line]
    raised = lines[-1].partition(":")[0].rpartition(".")[2] if lines else f"exit code {done.returncode}"
    return {"raised": raised, "message": done.stderr[-2000:]}


#: Oracles that are given the name of the program's module, not the module.
SCRIPTS = frozenset({"script"})


def main(folder: str, oracle: str, loader: str, arguments: str) -> None:
    """Print what `oracle` measures of the program in `folder`, and the versions, as a line of JSON."""
    sys.path.insert(0, folder)
    torch.set_num_threads(1)
    override_loaders(json.loads(loader))
    measured = globals()[oracle](importlib.import_module("train"), **json.loads(arguments))
    print(json.dumps({"versions": versions(), "measured": measured}))


if __name__ == "__main__":
    main(*sys.argv[1:])
