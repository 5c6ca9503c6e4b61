"""What is known by the tables and not by its source: what it does was measured, or most of it is compiled. All else is
known by its source, or by the summary of it (see `loaderlint.project.evaluation.installed`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from msgspec import Struct

from loaderlint.knowledge import augmentations
from loaderlint.knowledge.canonical_names import OPTIONAL_IMPORTERS, canonical
from loaderlint.knowledge.higher_order import TEMPLATE_METHODS

#: Compiled for the most part; of what they make, the tables speak by the beginnings of names.
_DATA = """
    PIL cffi cupy cv2 cython dask datasets google h5py imageio jax joblib keras lmdb mpi4py msgpack multiprocess netCDF4
    numba numexpr numpy onnx orjson pandas polars psutil psycopg2 pyarrow pymongo ray redis scipy skimage sklearn
    sqlalchemy tables tensorflow tf_keras tifffile torch triton xarray zarr
    """
#: Settings, records and command lines, which the engine evaluates itself.
_SETTINGS = """
    absl attr attrs beartype click configargparse dataclasses_json easydict fire hydra jaxtyping ml_collections
    omegaconf pydantic typer typing_extensions tyro yacs yaml
    """
#: Nothing that a worker runs for a sample.
_TOOLS = "fsspec matplotlib pytest rich setuptools six tensorboard toolz tqdm wandb"
_MEASURED = frozenset(f"{_DATA} {_SETTINGS} {_TOOLS}".split())
#: Packages inside a library of whose classes the tables speak as a whole, by the beginnings of their names.
_CLASSES = (*(one.prefix for one in augmentations.LIBRARIES), *TEMPLATE_METHODS, "monai.config.", "monai.utils.")
#: Packages that compute with tensors or graphs, in a lot of code, of which no rule asks more than what they draw:
#: torchaudio from torch's generator, NetworkX behind decorators about which nothing is known. Source:
#: torchaudio 2.11.0, NetworkX 3.6.1.
_COMPUTING = ("networkx.", "torchaudio.functional.", "torchaudio.transforms.")
#: Classes that make no loader and nothing that a worker runs, in more code than all that is read of other libraries.
#: Source: Lightning 2.6.6, where `_update_dataloader` makes the loaders that it is given anew, and Accelerate 1.15.0,
#: where `prepare` does.
_TRAINERS = frozenset(
    """
    lightning.Trainer lightning.pytorch.Trainer lightning.pytorch.trainer.Trainer
    lightning.pytorch.trainer.trainer.Trainer lightning.pytorch.cli.LightningCLI
    lightning.pytorch.tuner.Tuner lightning.pytorch.tuner.tuning.Tuner
    lightning.Fabric lightning.fabric.Fabric lightning.fabric.fabric.Fabric
    accelerate.Accelerator accelerate.accelerator.Accelerator
    """.split()
)
#: What rules name themselves.
_NAMED_BY_RULES = frozenset({"monai.data.set_rnd"})
_TABLES = """
    arrays augmentations collation counts cuda handles higher_order iterators keras lazy_pipelines
    library_datasets listings loader_consumers loader_defaults numpy_random opencv paths pickling plain_records
    process_launchers process_pools process_starts registries settings truth_values value_types wrappers
    """.split()
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ()))


def is_measured_library(top: str) -> bool:
    """Whether the tables speak of a whole top-level package, or Python brings it: its source is never read."""
    return top in _MEASURED or top in _STANDARD or top in sys.builtin_module_names


@cache
def is_measured(name: str) -> bool:
    """Whether the tables know what the dotted `name` does: its source is not read."""
    full = canonical(name)
    top, _, rest = full.partition(".")
    last = rest.rpartition(".")[2]
    if is_measured_library(top) or last in OPTIONAL_IMPORTERS or full in names_in_tables() or full in _owners():
        return True
    return full.startswith(_COMPUTING) or (full.startswith(_CLASSES) and last[:1].isupper())


@cache
def names_in_tables() -> frozenset[str]:
    """Every dotted name that a table holds."""
    found = {*_NAMED_BY_RULES, *_TRAINERS}
    for table in _TABLES:
        module = import_module(f"loaderlint.knowledge.{table}")
        for value in vars(module).values():
            found.update(_names_in(value))
    return frozenset(found)


@cache
def is_in_tables(name: str) -> bool:
    """Whether a table holds a dotted name, or one that begins with it: `torch.nn` for `torch.nn.Module`."""
    start = f"{canonical(name)}."
    return any(f"{one}.".startswith(start) for one in names_in_tables())


@cache
def _owners() -> frozenset[str]:
    """The classes of which a table holds a member: `fastai.DataLoaders` of `fastai.DataLoaders.from_dsets`."""
    owners = {name.rpartition(".")[0] for name in names_in_tables()}
    return frozenset(one for one in owners if one.rpartition(".")[2][:1].isupper())


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
    elif isinstance(value, Struct):
        yield from _names_in(tuple(getattr(value, name) for name in value.__struct_fields__))
