"""Which dataset a loader holds where one method wraps the dataset that another one makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Instance
from tests.project.linking import link

HEAD = """
import pytorch_lightning as pl
from torch.utils.data import DataLoader, Dataset, random_split
class Raw(Dataset):
    def __getitem__(self, index): return index
class Part(Dataset):
    def __init__(self, data): self.data = data
    def __getitem__(self, index): return self.data[index]
"""

#: The datasets that the loader may hold, `?` for those that are a guess, of a data module of Lightning.
STAGED: dict[str, tuple[str, str]] = {
    "prepared, then set up": (
        """
        def prepare_data(self): self.data = Raw()
        def setup(self): self.data = Part(self.data)
        """,
        "Part",
    ),
    "made, then set up": (
        """
        def __init__(self): self.data = Raw()
        def setup(self, stage=None): self.data = Part(self.data)
        """,
        "Part",
    ),
    "set up for a stage": (
        """
        def prepare_data(self): self.data = Raw()
        def setup(self, stage=None):
            if stage == "fit" or stage is None:
                self.data = Part(self.data)
        """,
        "Part",
    ),
    "set up in two steps": (
        """
        def setup(self, stage):
            self.data = Raw()
            self.data = Part(self.data)
        """,
        "Part",
    ),
    "another one": (
        """
        def prepare_data(self): self.data = Raw()
        def setup(self, stage): self.data = Part(Raw())
        """,
        "Part",
    ),
    "set up only where a setting says so": (
        """
        def __init__(self, wrap): self.wrap = wrap
        def prepare_data(self): self.data = Raw()
        def setup(self, stage):
            if self.wrap:
                self.data = Part(self.data)
        """,
        "Part Raw",
    ),
    "wrapped by what nobody calls in this order": (
        """
        def __init__(self): self.data = Raw()
        def wrap(self): self.data = Part(self.data)
        """,
        "Part ?Raw",
    ),
    "not wrapped": (
        """
        def prepare_data(self): self.data = Raw()
        def setup(self, stage): self.part = Part(self.data)
        """,
        "Raw",
    ),
}

#: The same of a class that is none of Lightning.
PLAIN: dict[str, tuple[str, str]] = {
    "wrapped by another method": STAGED["wrapped by what nobody calls in this order"],
    "by a method with the name of a hook": (STAGED["prepared, then set up"][0], "Part ?Raw"),
    "built in two steps": (
        """
        def build(self):
            self.data = Raw()
            self.data = Part(self.data)
        """,
        "Part ?Raw",
    ),
    "one of two methods": (
        """
        def small(self): self.data = Raw()
        def large(self): self.data = Part(Raw())
        """,
        "Part Raw",
    ),
}


def held(root: Path, base: str, methods: str) -> str:
    """The classes of the datasets that the loader of a class with these methods holds."""
    hook = "        def train_dataloader(self): return DataLoader(self.data)\n"
    linked = link(root, f"{HEAD}class Data{base}:{methods.rstrip()}\n{hook}")
    loader = linked.loader("train_dataloader")
    held = {one: linked.model.ev.classes.name(one.cls) for one in loader.datasets if isinstance(one, Instance)}
    named = sorted((name, "?" if one in loader.guessed else "") for one, name in held.items())
    return " ".join(guess + name for name, guess in named)


@pytest.mark.parametrize("way", STAGED)
def test_a_trainer_sets_a_data_module_up_first(way: str, tmp_path: Path) -> None:
    methods, expected = STAGED[way]
    assert held(tmp_path, "(pl.LightningDataModule)", methods) == expected


@pytest.mark.parametrize("way", PLAIN)
def test_the_order_of_methods_is_not_known(way: str, tmp_path: Path) -> None:
    methods, expected = PLAIN[way]
    assert held(tmp_path, "", methods) == expected
