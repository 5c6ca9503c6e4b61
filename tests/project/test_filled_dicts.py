"""A dict that a function gets, from a call or from its module, has the items that the function stores in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import link

HEAD = """
from torch.utils.data import DataLoader, Dataset


class D(Dataset):
    def __getitem__(self, i):
        return i


class E(D):
    pass


SMALL, LARGE = {"size": 1}, {"size": 2}


def options():
    return {"size": 1, "workers": "2"}
"""

SEEN = {
    "from a call": """
def main():
    made = options()
    made["data"] = D()
    loader = DataLoader(made["data"])
""",
    "from the module": """
def main():
    made = SMALL
    made["data"] = D()
    loader = DataLoader(made["data"])
""",
    "one of several, returned": """
def chosen(large):
    if large:
        made, kind = LARGE, D
    else:
        made, kind = SMALL, D
    made["kind"] = kind
    return made


def main(large):
    loader = DataLoader(chosen(large)["kind"]())
""",
    "by update": """
def main():
    made = options()
    made.update(data=D())
    loader = DataLoader(**{"dataset": made["data"]})
""",
    "at module level": """
made = options()
made["data"] = D()
loader = DataLoader(made["data"])
""",
    "twice": """
def main():
    made = options()
    made["data"] = E()
    made["data"] = D()
    loader = DataLoader(made["data"])
""",
}

OUT_OF_SIGHT = {
    "stored later": """
def main():
    made = options()
    loader = DataLoader(made["data"])
    made["data"] = D()
""",
    "another dict": """
def main():
    made, other = options(), options()
    other["data"] = D()
    loader = DataLoader(made["data"])
""",
    "another function": """
def fill():
    made = options()
    made["data"] = D()


def main():
    loader = DataLoader(options()["data"])
""",
}


@pytest.mark.parametrize("code", SEEN.values(), ids=SEEN)
def test_what_a_def_stores_is_in_its_dict(code: str, tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + code)
    assert (linked.datasets(), linked.loader().late) == (["D"], "")


@pytest.mark.parametrize("code", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_nothing_else_is(code: str, tmp_path: Path) -> None:
    assert link(tmp_path, HEAD + code).loader().late


def test_a_branch_may_store_another(tmp_path: Path) -> None:
    code = """
def main(small):
    made = options()
    made["data"] = D()
    if small:
        made["data"] = E()
    loader = DataLoader(made["data"])
"""
    assert link(tmp_path, HEAD + code).datasets() == ["D", "E"]


def test_an_item_may_be_made_of_itself(tmp_path: Path) -> None:
    code = """
def main():
    made = options()
    made["workers"] = int(made["workers"])
    loader = DataLoader(D(), num_workers=made["workers"])
"""
    assert link(tmp_path, HEAD + code).loader().workers_text == "num_workers=2"


HANDED_ON = """
import argparse


class Rows(D):
    def __init__(self, path):
        self.path = path


class Trainer:
    def __init__(self, loaders):
        self.loaders = loaders

    def run(self, epochs):
        return self.loaders


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path")
    args = parser.parse_args()
    parts = {"train": Rows(args.path), "dev": Rows(args.path)}
    first = DataLoader(parts["train"])
    loader = DataLoader(parts["dev"])
    Trainer({"train": first, "dev": loader}).run(3)
"""


@pytest.mark.parametrize("last", ["", "    trainer = Trainer({'dev': loader})\n    trainer.run(3)\n"])
def test_the_default_of_an_option_asks_nothing_of_what_gets_it(last: str, tmp_path: Path) -> None:
    """The option is None by default, so it matters whether some library gets it; no library's function is an attribute
    of what a call returns."""
    linked = link(tmp_path, HEAD + HANDED_ON + last)
    assert (linked.datasets(), linked.loader().late) == (["Rows"], "")
