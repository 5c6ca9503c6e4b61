"""If a library is not installed, loaderlint uses its summary of the library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.sources import library_summaries
from tests.engine.test_installed_libraries import JITTER, NOISY, SHARED, found, names, project, write

LOADER = "import torchio as tio\nloader = tio.SubjectsLoader(Noisy(), num_workers=4)\n"
POOL = "from mmcv.utils.parrots_wrapper import PoolDataLoader\nloader = PoolDataLoader(Noisy(), num_workers=4)\n"


#: A dataset that calls the transform `Noise()`, and its loader.
IMAGES = """
class Images(Dataset):
    def __init__(self):
        self.transform = Noise()
    def __len__(self): return 8
    def __getitem__(self, i): return self.transform(i)
loader = DataLoader(Images(), num_workers=4)
"""


def bare(root: Path, train: str, requirements: str = "") -> Path:
    """A project without an environment."""
    return write(root, {"train.py": train, "requirements.txt": requirements})


def test_a_loader_inside_a_library_holds_the_dataset_that_it_is_given(tmp_path: Path) -> None:
    assert names(bare(tmp_path, NOISY + LOADER)) == [(SHARED, 8)]


def test_a_dataset_of_a_library_calls_the_transform_that_it_is_given(tmp_path: Path) -> None:
    train = JITTER + "import torchio as tio\nfrom torch.utils.data import DataLoader\n"
    train += "data = tio.SubjectsDataset([], transform=Jitter())\nloader = DataLoader(data, num_workers=4)\n"
    assert names(bare(tmp_path, train)) == [(SHARED, 7)]


def test_a_name_that_the_library_takes_from_torch(tmp_path: Path) -> None:
    assert names(bare(tmp_path, NOISY + POOL, "mmcv<2\n")) == [(SHARED, 8)]


def test_a_transform_whose_base_class_calls_what_the_project_defines(tmp_path: Path) -> None:
    train = """
import numpy as np
from kornia.augmentation import IntensityAugmentationBase2D
from torch.utils.data import DataLoader, Dataset
class Noise(IntensityAugmentationBase2D):
    def __init__(self):
        super().__init__()
        self.rng = np.random.default_rng(0)
    def apply_transform(self, input, params, flags, transform=None):
        return input + self.rng.normal()
"""
    assert names(bare(tmp_path, train + IMAGES)) == [(SHARED, 8)]


def test_a_loader_class_that_is_in_no_table(tmp_path: Path) -> None:
    train = NOISY + "from dgl.dataloading import GraphDataLoader\nloader = GraphDataLoader(Noisy(), num_workers=4)\n"
    (loader,) = Workspace([bare(tmp_path, train)]).worker_map().loaders
    assert [one.name for one in loader.datasets] == ["Noisy"]


def test_a_dataset_class_that_is_in_no_table(tmp_path: Path) -> None:
    train = JITTER + "from torch.utils.data import DataLoader\nfrom pytorchvideo.data import LabeledVideoDataset\n"
    train += "data = LabeledVideoDataset([], None, transform=Jitter())\nloader = DataLoader(data, num_workers=4)\n"
    assert names(bare(tmp_path, train)) == [(SHARED, 7)]


def test_hyperparameters_that_lightning_keeps(tmp_path: Path) -> None:
    """Their property is in the summary, but not its value."""
    train = """
from lightning.pytorch import LightningDataModule
from torch.utils.data import DataLoader
class Data(LightningDataModule):
    def __init__(self, num_workers=4):
        super().__init__()
        self.save_hyperparameters()
    def train_dataloader(self):
        return DataLoader(Noisy(), num_workers=self.hparams.num_workers)
"""
    (loader,) = Workspace([bare(tmp_path, NOISY + train)]).worker_map().loaders
    assert loader.workers == "num_workers=4, default"


@pytest.mark.parametrize("requirements", ["mmcv>=2\n", "mmcv==2.0.1\n", "mmcv-lite>=2\n"])
def test_a_module_that_the_declared_versions_no_longer_have_is_not_there(tmp_path: Path, requirements: str) -> None:
    assert not found(bare(tmp_path, NOISY + POOL, requirements))


def test_without_a_declared_version_a_module_of_an_older_release_is_found(tmp_path: Path) -> None:
    assert names(bare(tmp_path, NOISY + POOL)) == [(SHARED, 8)]


def test_an_environment_without_the_library_gets_the_summary(tmp_path: Path) -> None:
    assert names(project(tmp_path, NOISY + LOADER, {"other.py": ""})) == [(SHARED, 8)]


def test_an_installed_library_wins(tmp_path: Path) -> None:
    installed = {
        "torchio/__init__.py": "class SubjectsLoader:\n    def __init__(self, *args, **kwargs):\n        pass\n"
    }
    assert not found(project(tmp_path, NOISY + LOADER, installed))


def test_explain_says_that_a_summary_was_asked(tmp_path: Path) -> None:
    line = len((NOISY + LOADER).splitlines()) - 1
    said = Workspace([bare(tmp_path, NOISY + LOADER)]).explain(tmp_path / "train.py", line).environment
    newest = next(one for one in library_summaries.fitting({}) if one.library == "torchio")
    assert f"tio.SubjectsLoader as summarised: torchio {newest.version} (torchio/data/loader.py)" in said


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-9], lambda data: b"", lambda data: data[:50] + b"?" + data[51:]]
)
def test_broken_data_cost_the_summary_and_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path / "summaries"
    folder.mkdir()
    for one in library_summaries.FOLDER.iterdir():
        data = one.read_bytes()
        (folder / one.name).write_bytes(damage(data) if one.name.startswith("torchio-1.2") else data)
    given = "from torch.utils.data import DataLoader\nother = DataLoader(Noisy(), num_workers=2)\n"
    use(monkeypatch, folder)
    workspace = Workspace([bare(tmp_path / "project", NOISY + LOADER + given + POOL, "torchio>=1\n")])
    shown = [one.name for some in workspace.check().values() for one in some]
    assert shown == [SHARED]  # in the workers of the torch loader and of mmcv's
    (problem,) = workspace.problems
    assert "torchio" in problem.message and "reinstall loaderlint" in problem.message and not problem.fatal


def test_a_broken_index_costs_all_summaries_and_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "summaries"
    folder.mkdir()
    (folder / library_summaries.INDEX).write_text('[{"library": "torchio"}]')
    use(monkeypatch, folder)
    workspace = Workspace([bare(tmp_path / "project", NOISY + LOADER)])
    assert not any(workspace.check().values())
    (problem,) = workspace.problems
    assert "summaries" in problem.message and not problem.fatal


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Use the summaries in a folder."""
    monkeypatch.setattr(library_summaries, "FOLDER", folder)


#: Code that looks like a use of a summarised library, and has no findings.
QUIET = {
    "no workers": NOISY + "import torchio as tio\nqueue = tio.Queue(Noisy(), 100, 10, None)\n",
    "a transform that the dataset does not hold": JITTER
    + "import torchio as tio\nfrom torch.utils.data import DataLoader\njitter = Jitter()\n"
    + "loader = DataLoader(tio.SubjectsDataset([]), num_workers=4)\n",
    "a class of the library that makes no loader": NOISY
    + "import torchio as tio\nsubject = tio.Subject(data=Noisy())\n",
    "a name that the library does not have": NOISY
    + "from torchio import Feed\nloader = Feed(Noisy(), num_workers=4)\n",
    "a library without a summary": NOISY + "from otherlib import Queue\nqueue = Queue(Noisy(), num_workers=4)\n",
}


@pytest.mark.parametrize("train", QUIET.values(), ids=QUIET)
def test_near_misses_are_quiet(tmp_path: Path, train: str) -> None:
    assert not found(bare(tmp_path, train))


def test_a_module_of_the_project_wins(tmp_path: Path) -> None:
    write(tmp_path, {"torchio.py": "class SubjectsLoader:\n    def __init__(self, *args, **kwargs):\n        pass\n"})
    assert not found(bare(tmp_path, NOISY + LOADER))


def test_data_are_read_only_where_the_library_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    read = library_summaries.read
    monkeypatch.setattr(library_summaries, "read", lambda one: (opened.append(one.library), read(one))[1])
    given = "import timm\nfrom torch.utils.data import DataLoader\nloader = DataLoader(Noisy(), num_workers=4)\n"
    assert names(bare(tmp_path, NOISY + given)) == [(SHARED, 8)]
    assert not opened
    assert names(bare(tmp_path / "other", NOISY + LOADER)) == [(SHARED, 8)]
    assert opened == ["torchio"]
