"""A finding is less severe in tests and tutorials, but not in an evaluation script that is called `test.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers

FAULT = """
import numpy as np
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self): self.rng = np.random.default_rng(0)
    def __len__(self): return 10
    def __getitem__(self, index): return self.rng.random()
"""
LOADER = "list(DataLoader(D(), num_workers=2))"
TEST = f"def test_loads():\n    {LOADER}\n"
METHOD = f"class Loads(Base):\n    def test_loads(self):\n        {LOADER}\n"
FIXTURE = f"import pytest\n@pytest.fixture\ndef batches():\n    return {LOADER}\n"
SCRIPT = f"def main():\n    {LOADER}\nmain()\n"


@pytest.mark.parametrize(
    ("path", "code", "severity"),
    [
        ("tests/test_data.py", TEST, "warning"),
        ("tests/test_data.py", METHOD, "warning"),
        ("tests/conftest.py", FIXTURE, "warning"),
        ("tests/helpers/data.py", FIXTURE, "warning"),
        ("data_test.py", TEST, "warning"),
        ("tests/data.py", SCRIPT, "error"),  # imported by a test, or a script
        ("test.py", SCRIPT, "error"),  # evaluates a model
        ("test_net.py", SCRIPT, "error"),
        ("train.py", TEST, "error"),
        ("latest/train.py", TEST, "error"),
        ("tutorials/train.py", SCRIPT, "warning"),
        ("docs/tutorial_notebooks/train.py", SCRIPT, "warning"),
        ("Tutorial.py", SCRIPT, "warning"),
        ("examples/train.py", SCRIPT, "error"),  # people train with examples
    ],
)
def test_severity(tmp_path: Path, path: str, code: str, severity: str) -> None:
    assert answers(tmp_path, "shared-generator", f"--- {path}\n{FAULT}{code}").severities == [severity]


IMPORT = "from torch.utils.data import DataLoader\nfrom data import D\n"
FRAGILE = """
import multiprocessing
from torch.utils.data import Dataset
class D(Dataset):
    def __init__(self): self.scale = lambda x: x
    def prepare(self): multiprocessing.set_start_method("spawn", force=True)
    def __len__(self): return 10
    def __getitem__(self, index): return self.scale(index)
"""


@pytest.mark.parametrize(
    ("files", "of_function", "of_loader"),
    [
        ({"tests/test_data.py": TEST}, "error", "information"),  # a library has no other loaders
        ({"tests/test_data.py": TEST, "scripts.py": "list(DataLoader([1]))"}, "warning", "hint"),
        ({"tests/test_data.py": TEST, "tutorials/first.py": SCRIPT}, "warning", "hint"),
        ({"tests/test_data.py": TEST, "train.py": SCRIPT}, "error", "information"),
        (
            {"tests/test_data.py": TEST, "train.py": SCRIPT.replace("2", "int(input())")},
            "error",
            "hint",
        ),  # perhaps none
        ({"tests/test_data.py": TEST, "train.py": SCRIPT.replace("2", "0")}, "warning", "hint"),  # without workers
        ({"tests/data_run.py": SCRIPT}, "error", "information"),
    ],
)
def test_the_loaders_decide(tmp_path: Path, files: dict[str, str], of_function: str, of_loader: str) -> None:
    """Code of the project is less severe if nothing but tests and tutorials has a loader for it, where a program of the
    project creates loaders."""
    text = "".join(f"--- {path}\n{IMPORT}{code}" for path, code in files.items())
    assert answers(tmp_path, "shared-generator", f"--- data.py\n{FAULT}{text}").severities == [of_function]
    assert answers(tmp_path, "unpicklable-callable", f"--- data.py\n{FRAGILE}{text}").severities == [of_loader]


def test_a_hint_remains(tmp_path: Path) -> None:
    passed_on = FAULT.replace("return self.rng.random()", "return self.data[index]").replace(
        "self.rng = np.random.default_rng(0)", "self.data = np.zeros((10, 3))"
    )
    code = "def test_loads():\n    for batch in DataLoader(D(), batch_size=None): print(batch)\n"
    assert answers(tmp_path, "aliased-sample", f"--- tests/test_data.py\n{passed_on}{code}").severities == ["hint"]


BLURRING = """
import cv2
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __len__(self): return 10
    def __getitem__(self, index): return cv2.GaussianBlur(cv2.imread(str(index)), (5, 5), 0)
"""
IN_DATA = f"--- data.py\n{BLURRING}"


@pytest.mark.parametrize(
    ("text", "safety"),
    [
        (f"{IN_DATA}--- tests/test_data.py\n{IMPORT}{TEST}", "unsafe"),
        (f"{IN_DATA}--- tests/test_data.py\n{IMPORT}{TEST}--- tutorials/first.py\n{IMPORT}{SCRIPT}", "unsafe"),
        (f"{IN_DATA}--- tests/test_data.py\n{IMPORT}{TEST}--- train.py\n{IMPORT}{SCRIPT}", "safe"),
        (f"{IN_DATA}--- test.py\n{IMPORT}{SCRIPT}", "safe"),  # evaluates a model
        (f"--- tutorials/first.py\n{BLURRING}{SCRIPT}", "safe"),  # which is all there is
    ],
)
def test_a_fix_of_tests_alone_is_unsafe(tmp_path: Path, text: str, safety: str) -> None:
    """The loaders that train are elsewhere, and stay as they are."""
    (finding,) = answers(tmp_path, "opencv-threads-in-workers", text).findings
    assert finding.fixes[0].safety == safety


def test_a_fix_of_the_dataset_is_safe(tmp_path: Path) -> None:
    """It mends the dataset for all loaders, though only a test is known to have one."""
    text = f"--- data.py\n{FAULT}--- tests/test_data.py\n{IMPORT}{TEST}"
    (finding,) = answers(tmp_path, "shared-generator", text).findings
    assert finding.fixes[0].safety == "safe"
