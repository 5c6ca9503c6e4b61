"""The code that is checked: public packages from PyPI, by name and version. They are downloaded and unpacked into the
cache folder, and never run."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from benchmarks.measures import EVERY_RULE, Options, note

#: Packages that train or load data, and their dependencies: 11,175 files, 3.4 million lines.
WHEELS = (
    "accelerate==1.15.0",
    "albumentations==2.0.8",
    "datasets==5.2.0",
    "espnet==202511",
    "fastai==2.8.12",
    "imgaug==0.4.0",
    "keras==3.15.1",
    "kornia==0.9.0",
    "lightning==2.6.6",
    "litdata==0.2.76",
    "mmengine==0.10.7",
    "monai==1.6.1",
    "mosaicml-streaming==0.13.0",
    "nemo-toolkit==3.0.0",
    "pytorch-ignite==0.5.5",
    "segmentation-models-pytorch==0.6.0",
    "speechbrain==1.1.2",
    "tensorflow-datasets==4.9.10",
    "timm==1.0.31",
    "torch-geometric==2.8.1",
    "torchdata==0.11.0",
    "torchio==1.2.1",
    "torchvision==0.29.2",
    "transformers==5.23.0",
    "ultralytics==8.4.190",
    "webdataset==1.0.2",
)
#: All wheels are for one platform, so that everybody measures the same files.
_PLATFORM = ("--platform=manylinux_2_28_x86_64", "--implementation=cp", "--python-version=3.11")

#: The folders of these packages that are about loading data: about 160 files and 45,000 lines.
LOADING = (
    "fastai/data",
    "mmengine/dataset",
    "segmentation_models_pytorch/datasets",
    "speechbrain/dataio",
    "timm/data",
    "torch_geometric/loader",
    "torchdata",
    "torchio/data",
    "ultralytics/data",
    "webdataset",
)
_MARKER = f'[project]\nname = "corpus"\nversion = "0"\n\n[tool.fixit]\nroot = true\n\n{EVERY_RULE}'


def packages(options: Options) -> Path:
    """The folder of all packages, each in a folder of its own."""
    folder = options.cache / "corpora" / "packages"
    for requirement in WHEELS:
        unpacked = folder / requirement.partition("==")[0]
        if not unpacked.is_dir():
            _unpack(_wheel(requirement, options.cache / "wheels"), unpacked)
    mark(folder)
    return folder


def loading(options: Options) -> Path:
    """The folder of the files that load data; a tenth of them for a quick run."""
    folder = options.cache / "corpora" / ("some-loading" if options.quick else "loading")
    if not folder.is_dir():
        source = packages(options)
        for one in LOADING[:2] if options.quick else LOADING:
            found = next(source.glob(f"*/{one}"))
            shutil.copytree(found, folder / one.replace("/", "_"), ignore=_but_code)
    mark(folder)
    return folder


def whole(options: Options) -> Path:
    """The folder of all packages; for a quick run, that of one."""
    folder = packages(options)
    if not options.quick:
        return folder
    mark(folder / "torch-geometric")
    return folder / "torch-geometric"


def size(folder: Path) -> tuple[int, int]:
    """The numbers of Python files and of their lines."""
    files = [path for path in folder.rglob("*.py*") if path.suffix in (".py", ".pyi")]
    return len(files), sum(path.read_bytes().count(b"\n") for path in files)


def mark(folder: Path) -> None:
    """Make a folder a project with all rules on, so that settings and ignore files of its parent folders have no
    effect."""
    (folder / "pyproject.toml").write_text(_MARKER, encoding="utf-8")


def _wheel(requirement: str, folder: Path) -> Path:
    """The wheel in `folder`, downloaded if it is missing."""
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(pattern)):
        note(f"downloading {requirement}")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run(
            [*command, "--only-binary=:all:", *_PLATFORM, f"--dest={folder}", requirement], check=True, timeout=600
        )
    return next(folder.glob(pattern))


def _unpack(wheel: Path, folder: Path) -> None:
    """Unpack the Python files of a wheel, all or none."""
    unfinished = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(unfinished, [name for name in archive.namelist() if name.endswith((".py", ".pyi"))])
    unfinished.rename(folder)


def _but_code(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_file() and not name.endswith((".py", ".pyi"))]
