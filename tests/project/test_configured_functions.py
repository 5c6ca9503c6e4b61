"""Decorators that pass arguments from a configuration: gin's and sacred's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = """
import gin
import library
from sacred import Experiment, Ingredient
from torch.utils.data import DataLoader, Dataset

training = Ingredient("training")
experiment = Experiment("train", ingredients=[training])


class D(Dataset):
    def __getitem__(self, i):
        return i
"""

SEEN = {
    "gin": """
@gin.configurable
def make(data, workers=2):
    loader = DataLoader(data, num_workers=workers)


make(D())
""",
    "gin under another name": """
@gin.configurable("data")
def get():
    return D()
loader = DataLoader(get(), num_workers=2)
""",
    "an argument that sacred passes": """
@training.capture
def make(data, batch, workers=2):
    loader = DataLoader(data, batch_size=batch, num_workers=workers)

@experiment.automain
def main(batch):
    make(D())
""",
    "a branch that an option of sacred chooses": """
@training.capture
def make(data, is_training=False):
    if is_training:
        loader = DataLoader(data, num_workers=2)

make(D())
""",
}


@pytest.mark.parametrize("code", SEEN.values(), ids=SEEN)
def test_the_function_itself_runs(code: str, tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + code)
    assert (linked.datasets(), linked.loader().has_workers()) == (["D"], "yes")


def test_a_default_is_one_of_a_configuration(tmp_path: Path) -> None:
    assert link(tmp_path, HEAD + SEEN["gin"]).loader().workers_text == "num_workers=2, configuration default"


OUT_OF_SIGHT = {
    "an argument that is left to the configuration": """
@training.capture
def make(data):
    loader = DataLoader(data)

make()
""",
    "a decorator that is not known": "@library.configurable\ndef get():\n    return D()\nloader = DataLoader(get())",
    "another object": "@library.training.capture\ndef get():\n    return D()\nloader = DataLoader(get())",
}


@pytest.mark.parametrize("code", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_what_is_not_known_stays_so(code: str, tmp_path: Path) -> None:
    assert link(tmp_path, HEAD + code).loader().late


def test_only_these_decorators_pass_arguments(tmp_path: Path) -> None:
    """A call without an argument that nothing passes raises TypeError."""
    code = SEEN["an argument that sacred passes"].replace("@training.capture\n", "")
    assert link(tmp_path, HEAD + code).datasets() == []
