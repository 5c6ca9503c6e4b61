"""Renew the summaries of libraries (server/loaderlint/knowledge/library_summaries) and the tables derived from them.

python -m scripts.library_summaries                     downloads the archives, and writes the summaries
python -m scripts.library_summaries --archives FOLDER   keeps the archives in FOLDER, and downloads only missing ones

`pip download` fetches the archives from PyPI. They are read as archives: nothing is installed, built, imported or run.
For a source distribution, pip would run `setup.py` to get the metadata, so it is kept from finding a build backend, and
the files that it has unpacked are read.
"""

from __future__ import annotations

import argparse
import ast
import fnmatch
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from loaderlint.sources import library_summaries
from loaderlint.sources.library_summaries import FOLDER, INDEX, Release
from scripts import derived_names
from scripts.reduced_code import Module, reduced

#: Folders and modules that no loader's worker runs, in any library.
_NEVER = frozenset(
    """
    benchmarks configs demo docs engine examples export layers losses metrics model models modules necks nets networks
    ops optim optimizers projects recipes scripts templates test testing tests tools visualization
    """.split()
)
_LONGEST_MODULE = 1_000_000
_MOST_MODULES = 5_000


@dataclass(frozen=True)
class Library:
    """A library to summarise. `releases`: the distributions to read, as pip names them; `names`: other names of the
    library on PyPI; `only`: patterns of the modules to keep; `source`: releases without a wheel; `built_for`: the
    Python version and the platform of the wheels, if there are none for this one."""

    name: str
    releases: tuple[str, ...]
    tops: tuple[str, ...]
    names: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    built_for: tuple[str, ...] = ()


def _library(
    name: str, releases: str, tops: str = "", names: str = "", only: str = "", source: str = "", built_for: str = ""
) -> Library:
    return Library(
        name,
        tuple(releases.split()),
        tuple(tops.split()) or (name.replace("-", "_"),),
        tuple(names.split()),
        tuple(only.split()),
        tuple(source.split()),
        tuple(built_for.split()),
    )


LIBRARIES = (
    _library("mmcv", "mmcv==1.7.1 mmcv-lite==2.1.0", names="mmcv-full mmcv-lite", source="mmcv==1.7.1"),
    _library("mmengine", "mmengine==0.10.7", names="mmengine-lite"),
    _library("mmdet", "mmdet==2.28.2 mmdet==3.3.0"),
    _library("mmdet3d", "mmdet3d==1.4.0"),
    _library("mmsegmentation", "mmsegmentation==0.30.0 mmsegmentation==1.2.2", "mmseg"),
    _library("mmpretrain", "mmpretrain==1.2.0"),
    _library("mmcls", "mmcls==0.25.0"),
    _library("mmpose", "mmpose==1.3.2"),
    _library("mmaction2", "mmaction2==1.2.0", "mmaction"),
    _library("mmocr", "mmocr==1.0.1"),
    _library("timm", "timm==0.4.12 timm==0.6.13 timm==1.0.31", only="timm/data/* timm/utils/*"),
    _library("monai", "monai==0.9.1 monai==1.3.2 monai==1.6.1", only="monai/data/* monai/utils/* monai/apps/*"),
    _library("torchio", "torchio==0.18.92 torchio==0.20.23 torchio==1.2.1"),
    _library("torchgeo", "torchgeo==0.8.1"),
    _library("webdataset", "webdataset==0.1.103 webdataset==0.2.86 webdataset==1.0.2", "webdataset wids"),
    _library(
        "speechbrain", "speechbrain==0.5.16 speechbrain==1.1.2", only="*/dataio/* */utils/* */core.py */augment/*"
    ),
    _library(
        "espnet",
        "espnet==202511",
        "espnet espnet2",
        only="espnet2/train/* espnet2/iterators/* espnet2/fileio/* espnet2/samplers/* espnet/utils/*",
    ),
    _library(
        "nemo-toolkit",
        "nemo-toolkit==1.23.0 nemo-toolkit==3.0.0",
        "nemo",
        only="*/data/* nemo/core/* nemo/utils/data_utils.py nemo/utils/get_rank.py",
    ),
    _library(
        "fairseq",
        "fairseq==0.12.2",
        only="fairseq/data/* fairseq/tasks/fairseq_task.py fairseq/tasks/translation.py fairseq/utils.py",
        source="fairseq==0.12.2",
    ),
    _library("lhotse", "lhotse==1.33.0", only="lhotse/dataset/* lhotse/utils.py lhotse/workarounds.py"),
    _library("pytorchvideo", "pytorchvideo==0.1.5", only="*/data/* */transforms/*", source="pytorchvideo==0.1.5"),
    _library("segmentation-models-pytorch", "segmentation-models-pytorch==0.6.0"),
    _library("nuscenes-devkit", "nuscenes-devkit==1.2.0", "nuscenes"),
    _library("pycocotools", "pycocotools==2.0.11"),
    _library("decord", "decord==0.6.0", names="eva-decord"),
    _library(
        "open3d",
        "open3d==0.19.0",
        only="open3d/_ml3d/datasets/* open3d/_ml3d/torch/dataloaders/* open3d/_ml3d/utils/* open3d/ml/torch/*",
    ),
    _library("gluonts", "gluonts==0.17.0", only="gluonts/torch/* gluonts/transform/* gluonts/itertools.py"),
    _library("avalanche-lib", "avalanche-lib==0.6.0", "avalanche"),
    _library("pytorch-ignite", "pytorch-ignite==0.5.5", "ignite", only="ignite/distributed/* ignite/utils.py"),
    _library("mosaicml", "mosaicml==0.32.1", "composer", only="composer/datasets/* composer/core/data_spec.py"),
    _library("lightning-bolts", "lightning-bolts==0.7.0", "pl_bolts"),
    _library("batchgenerators", "batchgenerators==0.25.5"),
    _library("batchgeneratorsv2", "batchgeneratorsv2==0.3.6"),
    _library("nnunetv2", "nnunetv2==2.8.1"),
    _library("lightly", "lightly==1.6.0", only="lightly/data/* lightly/transforms/* lightly/utils/*"),
    _library("medmnist", "medmnist==3.0.2"),
    _library("torchxrayvision", "torchxrayvision==1.5.7"),
    _library("pytorch-forecasting", "pytorch-forecasting==1.8.0", only="*/data/* */utils/*"),
    _library("pytorch-metric-learning", "pytorch-metric-learning==2.9.0"),
    _library("catalyst", "catalyst==22.4", only="catalyst/data/* catalyst/contrib/data/* catalyst/utils/*"),
    _library("skorch", "skorch==1.4.0", only="skorch/dataset.py skorch/helper.py skorch/net.py skorch/utils.py"),
    _library("pytorch-tabnet", "pytorch-tabnet==4.1.0"),
    _library("pyannote-audio", "pyannote-audio==4.0.7", "pyannote", only="*/core/* */tasks/* */utils/random.py"),
    _library("torch-audiomentations", "torch-audiomentations==0.12.0", only="*/core/* */augmentations/*"),
    _library("schnetpack", "schnetpack==2.1.1", only="*/data/* */datasets/* */transform/*"),
    _library("deepchem", "deepchem==2.8.0", only="deepchem/data/*"),
    _library("augly", "augly==1.0.0", only="augly/audio/* augly/image/*"),
    _library("sentence-transformers", "sentence-transformers==6.2.0", only="*/datasets/* */readers/*"),
    _library(
        "open-clip-torch",
        "open-clip-torch==3.3.0",
        "open_clip open_clip_train",
        only="open_clip_train/* open_clip/transform.py open_clip/factory.py",
    ),
    _library("lightning", "lightning==2.6.6", only="*/pytorch/core/* */pytorch/demos/* */utilities/seed.py"),
    _library(
        "pytorch-lightning", "pytorch-lightning==1.9.5 pytorch-lightning==2.6.6", only="*/core/* */utilities/seed*"
    ),
    _library("kornia", "kornia==0.9.0", only="kornia/augmentation/* kornia/constants.py"),
    _library("albumentations", "albumentations==1.3.1 albumentations==2.0.8", only="*/core/*"),
    _library("imgaug", "imgaug==0.4.0", only="imgaug/random.py imgaug/multicore.py"),
    _library("datasets", "datasets==5.2.0", only="datasets/*_dataset.py datasets/distributed.py datasets/load.py"),
    _library(
        "transformers",
        "transformers==5.24.0",
        only="transformers/trainer*.py transformers/training_args*.py transformers/data/data_collator.py",
    ),
    _library("accelerate", "accelerate==1.15.0", only="*/data_loader.py */utils/random.py"),
    _library(
        "torch-geometric",
        "torch-geometric==2.8.1",
        only="*/loader/* */data/dataset.py */data/in_memory_dataset.py */data/lightning/*",
        names="torch_geometric",
    ),
    _library("fastai", "fastai==2.8.12", only="fastai/data/* fastai/torch_core.py"),
    _library("torchdata", "torchdata==0.9.0 torchdata==0.11.0"),
    _library("litdata", "litdata==0.2.76", only="litdata/streaming/*"),
    _library("mosaicml-streaming", "mosaicml-streaming==0.13.0", "streaming", only="streaming/base/*"),
    _library("torchvision", "torchvision==0.29.1", only="*/datasets/* */transforms/transforms.py"),
    _library("torchaudio", "torchaudio==2.11.0", only="*/datasets/*"),
    _library("torchtext", "torchtext==0.18.0", only="*/data/* */datasets/*"),
    _library("dgl", "dgl==2.1.0", only="dgl/dataloading/* dgl/data/dgl_dataset.py"),
    _library(
        "pytorch3d",
        "pytorch3d==0.7.4",
        only="pytorch3d/datasets/* pytorch3d/implicitron/dataset/* pytorch3d/common/datatypes.py",
        built_for="3.9 macosx_11_0_x86_64",
    ),
    _library("lmdb", "lmdb==3.0.0"),
    _library("h5py", "h5py==3.16.0", only="h5py/_hl/files.py"),
    _library("zarr", "zarr==3.1.6", only="zarr/api/* zarr/convenience.py"),
)


def main() -> None:
    """Write the summaries of all libraries, and their index."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--archives", type=Path, help="a folder for the archives (default: one that is removed)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        archives = options.archives or Path(scratch)
        archives.mkdir(parents=True, exist_ok=True)
        found = [summarised(one, wanted, archives) for one in LIBRARIES for wanted in one.releases]
    write({release: data for release, data in found})
    derived_names.main()


def write(summaries: Mapping[Release, bytes]) -> None:
    """Write the data of each release and the index, and delete what is no longer listed."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for release, data in summaries.items():
        (FOLDER / release.file).write_bytes(data)
    rows = sorted(map(asdict, summaries), key=lambda one: str(one["file"]))
    (FOLDER / INDEX).write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n")


def summarised(library: Library, wanted: str, archives: Path) -> tuple[Release, bytes]:
    """The summary of one release."""
    distribution, _, version = wanted.partition("==")
    from_source = wanted in library.source
    if from_source:
        archive = unpacked_source(distribution, version, archives)
    else:
        archive = wheel(distribution, version, archives, library.built_for)
    modules = dict(_modules(archive, library))
    texts = {path: text for path, text in reduced(list(_parsed(modules))).items() if text.strip()}
    data = library_summaries.packed(texts)
    release = Release(
        library.name,
        version,
        library.tops,
        (*dict.fromkeys((library.name, distribution, *library.names)),),
        f"{distribution}-{version}.tar.gz" if from_source else archive.name,
        _digest(archive, modules),
        len(texts),
        f"{library.name}-{version}.json.z",
        library_summaries.checksum(data),
    )
    print(f"{library.name} {version}: {len(texts)} modules, {len(data):,} bytes", file=sys.stderr)
    return release, data


def wheel(distribution: str, version: str, archives: Path, built_for: tuple[str, ...] = ()) -> Path:
    """The wheel of a release, downloaded if it is missing. `built_for`: see `Library`."""
    pattern = f"{re.sub(r'[-_.]+', '_', distribution)}-{version}-*.whl"
    if not (found := _first(archives, pattern)):
        options = zip(("--python-version", "--platform"), built_for, strict=False)
        chosen = [part for option in options for part in option]
        _pip(["--only-binary", ":all:", *chosen, "-d", str(archives), f"{distribution}=={version}"])
        found = _first(archives, pattern)
    if found is None:
        raise SystemExit(f"pip brought no wheel of {distribution} {version}")
    return found


def _first(folder: Path, pattern: str) -> Path | None:
    matching = (one for one in sorted(folder.iterdir()) if fnmatch.fnmatch(one.name.lower(), pattern.lower()))
    return next(matching, None)


def unpacked_source(distribution: str, version: str, archives: Path) -> Path:
    """The folder with the content of a source distribution. pip unpacks it, and then fails because it finds no
    setuptools."""
    folder = archives / f"{distribution}-{version}"
    if not folder.exists():
        (folder / "blocked" / "setuptools").mkdir(parents=True)
        (folder / "blocked" / "setuptools" / "__init__.py").write_text("raise ImportError('nothing is built')\n")
        blocked = {"TMPDIR": str(folder), "PYTHONPATH": str(folder / "blocked")}
        wanted = ["--no-binary", ":all:", "--no-build-isolation", "--no-clean", f"{distribution}=={version}"]
        _pip(["-d", str(folder), *wanted], blocked, fails=True)
    found = _first(folder, "pip-download-*")
    inner = _first(found, f"{distribution}_*") if found is not None else None
    if inner is None:
        raise SystemExit(f"pip unpacked nothing of {distribution} {version}")
    return inner


def _pip(arguments: list[str], environment: Mapping[str, str] | None = None, *, fails: bool = False) -> None:
    command = ["pip", "download", "--quiet", "--no-deps", *arguments]
    done = subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True, text=True)
    if done.returncode and not fails:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")


def _digest(archive: Path, modules: Mapping[str, bytes]) -> str:
    """The SHA-256 of an archive; for a source distribution, that of its modules, because pip keeps nothing else."""
    if archive.is_file():
        return hashlib.sha256(archive.read_bytes()).hexdigest()
    found = hashlib.sha256()
    for path, data in sorted(modules.items()):
        found.update(path.encode() + b"\0" + data)
    return found.hexdigest()


def _modules(archive: Path, library: Library) -> Iterator[tuple[str, bytes]]:
    """The modules of a library to summarise, each with its path."""
    if archive.is_dir():
        paths = (one.relative_to(archive).as_posix() for one in sorted(archive.rglob("*.py")) if not one.is_symlink())
        yield from ((path, (archive / path).read_bytes()) for path in paths if _is_wanted(path, library))
        return
    with zipfile.ZipFile(archive) as opened:
        members = [one for one in opened.infolist() if one.filename.endswith(".py")]
        if len(members) > _MOST_MODULES:
            raise SystemExit(f"{archive.name}: more than {_MOST_MODULES} modules")
        for one in members:
            if one.file_size <= _LONGEST_MODULE and _is_wanted(one.filename, library):
                yield one.filename, opened.read(one)


def _is_wanted(path: str, library: Library) -> bool:
    *folders, last = path.removesuffix(".py").split("/")
    if not folders or folders[0] not in library.tops or any(one.startswith(".") for one in folders):
        return path.removesuffix(".py") in library.tops
    if library.only and last != "__init__" and not any(fnmatch.fnmatch(path, one) for one in library.only):
        return False
    return not _NEVER & {*folders[1:], last}


def _parsed(modules: Mapping[str, bytes]) -> Iterator[Module]:
    for path, data in sorted(modules.items()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data)
        except (SyntaxError, ValueError):
            continue  # a template, or Python 2
        name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        yield Module(name, path, tree)


if __name__ == "__main__":
    main()
