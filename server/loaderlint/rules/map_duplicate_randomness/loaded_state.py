"""Whether the main process has a state of `numpy.random` that the processes of a pool can start from.

NumPy 1 creates it when NumPy is imported. NumPy 2 loads `numpy.random` at its first use: if the main process has not
used it, each process creates its own, from the system's entropy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from loaderlint.facts import ir
from loaderlint.project.evaluation.file_imports import own_imports
from loaderlint.project.evaluation.frames import Frame
from loaderlint.project.modules.project_files import holds
from loaderlint.project.reach.model import Model
from loaderlint.project.versions.environment import VersionSet

#: Libraries that load `numpy.random` when they are imported: measured with NumPy 2.4 on Python 3.11. torch, OpenCV,
#: Pillow, h5py, matplotlib, librosa and transformers do not.
LOADING = frozenset({"albumentations", "datasets", "monai", "pandas", "skimage", "sklearn", "torchvision"})
_USES = ("np.random", "numpy.random", "numpy import random")


def is_copied(path: Path, frames: Iterable[Frame], model: Model) -> Literal["yes", "no", "unknown"]:
    """Whether processes that the code at `path` forks to run `frames` start from a copy of NumPy's global state: NumPy
    is older than 2.0, or code that runs with it and is not theirs names `numpy.random`, or a library loads it."""
    environment = model.environment_at(path)
    declared = (environment.packages or {}).get("numpy", VersionSet()).before("2.0")
    if declared in ("yes", "maybe") or environment.python.before("3.9") == "yes":  # NumPy 2.0 needs Python 3.9
        return "yes"
    theirs = {(frame.path, frame.piece) for frame in frames}
    if any(_loads(one, theirs, model) for one in sorted({path, *model.scripts.run_with(path)})):
        return "yes"
    return "no" if declared == "no" else "unknown"


def _loads(path: Path, theirs: set[tuple[Path, int]], model: Model) -> bool:
    if any(_is_loading(one) for one in own_imports(model.ev, path)):
        return True
    file = model.files.file(path)
    if file is None:
        return False
    named = (index for index, _ in file.asking(holds, "random") if (path, index) not in theirs)
    return any(file.pieces[index].holds(use) for index in named for use in _USES)


def _is_loading(imported: ir.Imported) -> bool:
    """Whether an import loads `numpy.random`. `import scipy` alone does not, its packages do."""
    top, _, rest = imported.module.partition(".")
    return top in LOADING or (top == "scipy" and bool(rest or imported.name))
