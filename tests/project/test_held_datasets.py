"""`loader.dataset` is the dataset that the loader was made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = """
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, random_split


class D(Dataset):
    def __getitem__(self, i):
        return i


class E(D):
    pass


def make(data):
    return DataLoader(data)
"""

SEEN = {
    "of a loader": "first = make(D())\nloader = DataLoader(first.dataset, batch_size=4)",
    "of a parameter": "def again(first):\n    loader = DataLoader(first.dataset)\nagain(DataLoader(D()))",
    "of a part": "part, rest = random_split(D(), [1, 2])\nloader = DataLoader(part.dataset)",
    "of a subset in a loader": "first = make(Subset(D(), [1]))\nloader = DataLoader(first.dataset.dataset)",
    "one that replaces it": "part = Subset(D(), [1])\npart.dataset = D()\nloader = DataLoader(part.dataset)",
}

OUT_OF_SIGHT = {
    "of a loader that is not known": "def again(first):\n    loader = DataLoader(first.dataset)",
    "of a loader of what is not known": "def again(data):\n    loader = DataLoader(make(data).dataset)",
    "another attribute": "first = make(D())\nloader = DataLoader(first.data)",
    "what has no such attribute": "loader = DataLoader(ConcatDataset([D(), E()]).dataset)",
}


@pytest.mark.parametrize("code", SEEN.values(), ids=SEEN)
def test_the_dataset_of_a_loader_or_subset(code: str, tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + code)
    assert (set(linked.datasets()), linked.loader().late) == ({"D"}, "")


@pytest.mark.parametrize("code", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_nothing_else(code: str, tmp_path: Path) -> None:
    assert link(tmp_path, HEAD + code).loader().late


def test_a_subset_may_get_another_one(tmp_path: Path) -> None:
    code = "part = Subset(D(), [1])\nif part.indices:\n    part.dataset = E()\nloader = DataLoader(part.dataset)"
    assert link(tmp_path, HEAD + code).datasets() == ["D", "E"]


WORKERS = {
    "passed": ("first = DataLoader(D(), num_workers=2)", "num_workers=2"),
    "left out": ("first = DataLoader(D())", "num_workers=0"),
    "not known": ("first = DataLoader(D(), **load())", "num_workers unknown"),
}


@pytest.mark.parametrize(("code", "shown"), WORKERS.values(), ids=WORKERS)
def test_the_number_of_workers_of_a_loader(code: str, shown: str, tmp_path: Path) -> None:
    code += "\nloader = DataLoader(first.dataset, num_workers=first.num_workers)"
    assert link(tmp_path, HEAD + code).loader().workers_text == shown
