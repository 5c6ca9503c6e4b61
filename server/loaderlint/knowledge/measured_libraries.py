"""Libraries that the tables describe: what they do was measured, or much of it is compiled. All others are known by
their source, where they are installed (see `loaderlint.project.evaluation.installed`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module

from loaderlint.knowledge.canonical_names import OPTIONAL_IMPORTERS, canonical

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
#: Packages inside a library of whose classes the tables speak as a whole, by the beginnings of their names.
_CLASSES = ("monai.transforms.", "monai.config.", "monai.utils.")
#: What rules name themselves.
_NAMED_BY_RULES = frozenset({"monai.data.set_rnd"})
_TABLES = """
    arrays augmentations canonical_names collation counts cuda handles higher_order iterators keras listings
    loader_defaults numpy_random opencv paths pickling plain_records process_pools process_starts registries settings
    wrappers
    """.split()
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))


def is_measured_library(top: str) -> bool:
    """Whether the tables speak of a whole top-level package, or Python brings it: its source is never read."""
    return top in _WHOLE or top in _STANDARD or top in sys.builtin_module_names


@cache
def is_measured(name: str) -> bool:
    """Whether the tables know what the dotted `name` does: its source is not read."""
    full = canonical(name)
    top, _, rest = full.partition(".")
    last = rest.rpartition(".")[2]
    if is_measured_library(top) or last in OPTIONAL_IMPORTERS or full in names_in_tables():
        return True
    return full.startswith(_CLASSES) and last[:1].isupper()


@cache
def names_in_tables() -> frozenset[str]:
    """Every dotted name that a table holds."""
    found = set(_NAMED_BY_RULES)
    for table in _TABLES:
        module = import_module(f"loaderlint.knowledge.{table}")
        for value in vars(module).values():
            found.update(_names_in(value))
    return frozenset(found)


def _names_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if "." in value and value.replace(".", "").isidentifier():
            yield value
    elif isinstance(value, Mapping):
        yield from _names_in(tuple(value))
        yield from _names_in(tuple(value.values()))
    elif isinstance(value, tuple | list | frozenset | set):
        for one in value:
            yield from _names_in(one)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _names_in(tuple(getattr(value, one.name) for one in fields(value)))
