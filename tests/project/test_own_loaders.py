"""Which objects a loader holds that a method makes of its own object: those on which the method is called."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Instance
from tests.project.linking import link

HEAD = """
from torch.utils.data import DataLoader, Dataset
class Fires(Dataset):
    def __init__(self, size): self.size = size
    def __len__(self): return self.size
    def __getitem__(self, index): return index
    def loader(self): return DataLoader(self)
    @property
    def batches(self): return DataLoader(self)
"""

#: Code that makes objects of sizes 1 and 2, the method, and the sizes of those that its loaders hold, `?` for a guess.
USES: dict[str, tuple[str, str, str]] = {
    "called on one": ("Fires(1).loader(); raw = Fires(2); raw[0]", "loader", "1"),
    "called on one in a function": (
        """
        def run(data): return data.loader()
        run(Fires(1))
        raw = Fires(2)
        """,
        "loader",
        "1",
    ),
    "called on one from a list": ("[Fires(1)][0].loader(); raw = Fires(2)", "loader", "1"),
    "called on both": ("Fires(1).loader(); Fires(2).loader()", "loader", "1 2"),
    "called on either": ("(Fires(1) if load() else Fires(2)).loader()", "loader", "1 2"),
    "called by a method": (
        """
        class Smoke(Fires):
            def run(self): return self.loader()
        Smoke(1).run()
        raw = Fires(2)
        """,
        "loader",
        "1",
    ),
    "called on one and on an unknown object": ("Fires(1).loader(); load().loader(); raw = Fires(2)", "loader", "1 ?2"),
    "called on nothing in sight": ("kept = Fires(1), Fires(2)", "loader", "?1 ?2"),
    "read as a property": ("Fires(1).batches; raw = Fires(2)", "batches", "1 2"),
}


@pytest.mark.parametrize("way", USES)
def test_a_loader_of_the_own_object_holds_what_its_method_is_called_on(way: str, tmp_path: Path) -> None:
    code, method, expected = USES[way]
    linked = link(tmp_path, f"{HEAD}{textwrap.dedent(code)}\n")
    sizes = {
        (linked.model.ev.classes.field(one, "size").literal, one in loader.guessed)
        for loader in linked.model.loaders
        if loader.name == method
        for one in loader.datasets
        if isinstance(one, Instance)
    }
    shown = sorted((literal.value if literal else None, "?" if guessed else "") for literal, guessed in sizes)
    assert " ".join(f"{guess}{size}" for size, guess in shown) == expected
