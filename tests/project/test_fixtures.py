"""pytest passes a fixture to each parameter with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.linking import files_of, link_files

HEAD = """
import pytest
from torch.utils.data import DataLoader, Dataset


class D(Dataset):
    def __getitem__(self, i):
        return i


class E(D):
    pass
"""

SEEN = {
    "in the module": """
@pytest.fixture
def items():
    return D()


def test_it(items):
    loader = DataLoader(items)
""",
    "one that another fixture asks for": """
@pytest.fixture(scope="module")
def items():
    yield D()


@pytest.fixture()
def loader(items):
    loader = DataLoader(items)
    return loader
""",
    "a method": """
class TestIt:
    @pytest.fixture
    def items(self):
        return D()

    def test_it(self, items):
        loader = DataLoader(items)
""",
    "one that the class replaces": """
@pytest.fixture
def items():
    return E()


class TestIt:
    @pytest.fixture
    def items(self):
        return D()

    def test_it(self, items):
        loader = DataLoader(items)
""",
    "another name": """
@pytest.fixture(scope="module", name="items")
def make_items():
    return D()


def test_it(items):
    loader = DataLoader(items)
""",
    "parametrized for other parameters": """
@pytest.fixture
def items():
    return D()


@pytest.mark.parametrize("batch", [1, 2])
def test_it(items, batch):
    loader = DataLoader(items, batch_size=batch)
""",
}

OUT_OF_SIGHT = {
    "no fixture": """
def items():
    return D()


def test_it(items):
    loader = DataLoader(items)
""",
    "no test": """
@pytest.fixture
def items():
    return D()


def check(items):
    loader = DataLoader(items)
""",
    "parametrized": """
@pytest.fixture
def items():
    return D()


@pytest.mark.parametrize("batch, items", [(1, load())])
def test_it(items, batch):
    loader = DataLoader(items)
""",
    "a class that is parametrized": """
@pytest.fixture
def items():
    return D()


@pytest.mark.parametrize("items", load())
class TestIt:
    def test_it(self, items):
        loader = DataLoader(items)
""",
    "asks for itself": """
@pytest.fixture
def items(items):
    return items


def test_it(items):
    loader = DataLoader(items)
""",
}


@pytest.mark.parametrize("code", SEEN.values(), ids=SEEN)
def test_a_parameter_is_the_fixture_with_its_name(code: str, tmp_path: Path) -> None:
    assert link_files(tmp_path, {"test_items.py": HEAD + code}).datasets() == ["D"]


@pytest.mark.parametrize("code", OUT_OF_SIGHT.values(), ids=OUT_OF_SIGHT)
def test_nothing_else_is(code: str, tmp_path: Path) -> None:
    assert link_files(tmp_path, {"test_items.py": HEAD + code}).loader().late


def test_only_pytest_passes_fixtures(tmp_path: Path) -> None:
    """A function in another file gets what its callers pass, whatever its name is."""
    code = HEAD + SEEN["in the module"].replace("@pytest.fixture\n", "")
    assert link_files(tmp_path, {"train.py": code}).loader().late


def test_the_nearest_conftest_counts(tmp_path: Path) -> None:
    """A fixture that asks for its own name gets the one further out."""
    linked = link_files(
        tmp_path,
        files_of(
            """
            --- conftest.py
            import pytest
            from items import E


            @pytest.fixture
            def items():
                return E()
            --- items.py
            from torch.utils.data import Dataset


            class D(Dataset):
                pass


            class E(Dataset):
                pass
            --- inner/conftest.py
            import pytest
            from items import D


            @pytest.fixture
            def other(items):
                return items


            @pytest.fixture
            def items(items):
                return D()
            --- inner/test_items.py
            from torch.utils.data import DataLoader


            def test_near(items):
                near = DataLoader(items)
            --- test_items.py
            from torch.utils.data import DataLoader


            def test_far(items):
                far = DataLoader(items)
            """
        ),
    )
    assert (linked.datasets("near"), linked.datasets("far")) == (["D"], ["E"])
