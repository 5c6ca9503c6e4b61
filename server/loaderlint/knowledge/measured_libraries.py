"""Libraries that the tables describe: what they do was measured, or much of it is compiled. All others are known by
their source, where they are installed (see `loaderlint.project.evaluation.installed`)."""

from __future__ import annotations

import sys
from functools import cache

from loaderlint.knowledge.canonical_names import OPTIONAL_IMPORTERS, canonical
from loaderlint.knowledge.higher_order import ORDERED_PIPELINES, PIPELINES
from loaderlint.knowledge.loader_defaults import DATASET_BASES, WRAPPING_DATASETS
from loaderlint.knowledge.wrappers import LOADERS

#: Top-level packages of which the tables, or rules, speak as a whole.
_WHOLE = frozenset(
    """
    PIL absl accelerate albumentations apex attr attrs audiomentations beartype cffi click configargparse cupy cv2
    cython dask dataclasses_json datasets deepspeed detectron2 dgl easydict fastai fire fsspec fvcore google h5py
    horovod hydra ignite imageio imgaug jax jaxtyping joblib keras kornia lightning lightning_fabric litdata lmdb
    matplotlib
    ml_collections mpi4py mmengine msgpack multiprocess netCDF4 numba numexpr numpy omegaconf onnx orjson pandas polars
    psutil psycopg2 pyarrow pydantic pymongo pytest pytorch_lightning ray redis rich scipy setuptools six skimage
    sklearn sqlalchemy streaming tables tensorboard tensorflow tf_keras tifffile toolz torch torch_geometric torchaudio
    torchdata torchmetrics torchtext torchvision tqdm transformers triton tyro typer typing_extensions ultralytics
    wandb xarray yacs yaml zarr
    """.split()
)
#: Packages inside a library of which the tables speak as a whole.
_PACKAGES = ("monai.transforms.", "monai.config.", "monai.utils.")
#: Single names of libraries that are read otherwise.
_NAMES = frozenset({*LOADERS, *DATASET_BASES, *WRAPPING_DATASETS, *PIPELINES, *ORDERED_PIPELINES})
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))


def is_measured_library(top: str) -> bool:
    """Whether the tables speak of a whole top-level package, or Python brings it: its source is never read."""
    return top in _WHOLE or top in _STANDARD or top in sys.builtin_module_names


@cache
def is_measured(name: str) -> bool:
    """Whether the tables know what the dotted `name` does: its source is not read."""
    full = canonical(name)
    if full in _NAMES or full.rpartition(".")[2] in OPTIONAL_IMPORTERS or f"{full}.".startswith(_PACKAGES):
        return True
    return is_measured_library(full.partition(".")[0])
