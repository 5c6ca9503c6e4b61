"""One repository to one result."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.survey.measure import measure
from loaderlint.survey.results import Count, Dataset, Loaders, Measured, NotAResult, Repository, from_line, to_line
from tests.survey.made import NOISY, PLAIN, repository


def read(folder: Path) -> Measured:
    """What is found in one repository."""
    result = measure(Repository(folder.name, str(folder)))
    assert result is not None and result.measured is not None
    assert from_line(to_line(result)) == result
    return result.measured


def rules(dataset: Dataset) -> dict[str, set[str]]:
    """The rules that concern a dataset and are more than hints, by reading."""
    return {
        reading: {one.rule for one in counts if one.severity != "hint"} for reading, counts in dataset.hazards.items()
    }


def test_both_readings(tmp_path: Path) -> None:
    found = read(repository(tmp_path, "a", {"train.py": NOISY}))
    assert (found.files, found.lines) == (1, NOISY.count("\n"))
    assert (found.torch.declared, found.torch.before_1_9) == ("not known", "none")
    assert found.loaders == Loaders(yes=1, maybe=0, no=1)
    noisy, quiet = found.datasets
    assert (noisy.name, noisy.certainty, noisy.workers, noisy.draws_numpy) == ("train.py::Noisy", "proven", "yes", True)
    assert (quiet.name, quiet.certainty, quiet.workers, quiet.draws_numpy) == ("train.py::Quiet", "proven", "no", False)
    assert rules(noisy) == {"declared": set(), "before_1_9": {"LDR101"}}
    assert rules(quiet) == {"declared": set(), "before_1_9": set()}
    assert Count("LDR101", "hint", "proven", 1) in found.findings["declared"]
    assert Count("LDR101", "error", "proven", 1) in found.findings["before_1_9"]


@pytest.mark.parametrize(
    ("pin", "answer", "concerned"), [("==1.8.1", "yes", {"LDR101"}), ("==2.4.0", "no", set()), (">=1.5", "open", set())]
)
def test_declared_versions_count(tmp_path: Path, pin: str, answer: str, concerned: set[str]) -> None:
    files = {"train.py": NOISY, "requirements.txt": f"torch{pin}\n"}
    found = read(repository(tmp_path, "a", files))
    assert found.torch.before_1_9 == answer and pin.strip("=") in found.torch.declared
    assert rules(found.datasets[0]) == {"declared": concerned, "before_1_9": {"LDR101"}}


def test_nothing_to_load(tmp_path: Path) -> None:
    found = read(repository(tmp_path, "a", {"add.py": PLAIN}))
    assert (found.files, found.loaders.total, found.datasets) == (1, 0, ())
    assert not any(found.findings.values())


def test_the_project_above_is_not_read(tmp_path: Path) -> None:
    repository(tmp_path, ".", {"pyproject.toml": "", "other.py": NOISY})
    assert read(repository(tmp_path, "a", {"add.py": PLAIN})).files == 1


def test_a_dataset_whose_samples_a_library_makes_is_not_analysable(tmp_path: Path) -> None:
    text = """\
from torch.utils.data import DataLoader
from torchvision import datasets

loader = DataLoader(datasets.CIFAR10("."), num_workers=2)
"""
    assert read(repository(tmp_path, "a", {"train.py": text})).datasets == ()


def test_a_library_dataset_with_a_transform_of_the_repository_is_analysable(tmp_path: Path) -> None:
    text = """\
import numpy as np
from torch.utils.data import DataLoader
from torchvision import datasets


def noisy(image):
    return image + np.random.rand()


loader = DataLoader(datasets.CIFAR10(".", transform=noisy), num_workers=2)
"""
    (one,) = read(repository(tmp_path, "a", {"train.py": text})).datasets
    assert one.name == "torchvision.datasets.CIFAR10"
    assert rules(one)["before_1_9"] == {"LDR101"}


def test_a_dataset_that_no_loader_in_sight_holds_is_possible(tmp_path: Path) -> None:
    text = """\
import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __getitem__(self, index):
        return np.random.randn()
"""
    found = read(repository(tmp_path, "a", {"data.py": text}))
    (one,) = found.datasets
    assert (found.loaders.total, one.certainty, one.workers) == (0, "possible", "maybe")
    assert rules(one)["before_1_9"] == {"LDR101"}


def test_one_place_is_one_loader_however_many_callers_it_has(tmp_path: Path) -> None:
    text = """\
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __getitem__(self, index):
        return index


def make(workers):
    return DataLoader(Numbers(), num_workers=workers)


a = make(4)
b = make(0)
"""
    assert read(repository(tmp_path, "a", {"train.py": text})).loaders == Loaders(yes=1, maybe=0, no=0)


def test_a_generator_of_a_transform_concerns_the_datasets_that_use_it(tmp_path: Path) -> None:
    text = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Crop:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, sample):
        return sample + self.rng.random()


class Cropped(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __getitem__(self, index):
        return self.transform(index)


class Whole(Dataset):
    def __getitem__(self, index):
        return index


loader = DataLoader(Cropped(Crop()), num_workers=2)
other = DataLoader(Whole(), num_workers=2)
"""
    cropped, whole = read(repository(tmp_path, "a", {"train.py": text})).datasets
    assert "LDR102" in rules(cropped)["declared"]
    assert "LDR102" not in rules(whole)["declared"]


def test_a_collate_function_concerns_what_its_loader_holds(tmp_path: Path) -> None:
    text = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class One(Dataset):
    def __getitem__(self, index):
        return index


class Two(Dataset):
    def __getitem__(self, index):
        return index + 1


def mix(samples):
    return np.random.permutation(samples)


a = DataLoader(One(), num_workers=2, collate_fn=mix)
b = DataLoader(Two(), num_workers=2)
"""
    one, two = read(repository(tmp_path, "a", {"train.py": text})).datasets
    assert (rules(one)["before_1_9"], one.draws_numpy) == ({"LDR101"}, True)
    assert (rules(two)["before_1_9"], two.draws_numpy) == (set(), False)


def test_of_many_loaders_all_are_concerned(tmp_path: Path) -> None:
    """A finding names six loaders; the datasets of the others are concerned all the same."""
    classes = "".join(f"class D{n}(Base):\n    pass\n\n\n" for n in range(9))
    loaders = "".join(f"l{n} = DataLoader(D{n}(), num_workers=2)\n" for n in range(9))
    head, base = NOISY.partition("class Quiet")[0], "class Base(Noisy):\n    pass\n\n\n"
    found = read(repository(tmp_path, "a", {"train.py": head + base + classes + loaders}))
    assert len(found.datasets) == 9
    assert all(rules(one)["before_1_9"] == {"LDR101"} for one in found.datasets)


def test_unreadable_files(tmp_path: Path) -> None:
    folder = repository(tmp_path, "a", {"good.py": NOISY, "half.py": "def f(:\n", "sub/x.ipynb": "{"})
    (folder / "bytes.py").write_bytes(b"\xff\xfe\x00DataLoader")
    found = read(folder)
    assert found.unreadable >= 1
    assert len(found.datasets) == 2


def test_what_is_known_is_not_read_again(tmp_path: Path) -> None:
    folder = repository(tmp_path, "a", {"train.py": NOISY})
    one = Repository("a", str(folder))
    first = measure(one)
    assert first is not None and measure(one, first.key) is None
    (folder / "train.py").write_text(NOISY + "\n")
    again = measure(one, first.key)
    assert again is not None and again.key != first.key


@pytest.mark.parametrize("line", ["", "{", "[]", "{}", '{"schema": 99}', '{"schema": 1, "name": "a"}'])
def test_what_is_no_result(line: str) -> None:
    with pytest.raises(NotAResult):
        from_line(line)
