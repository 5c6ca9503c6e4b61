"""What is said of a file before its project is known."""

from __future__ import annotations

from pathlib import Path

from loaderlint.engine import Workspace
from loaderlint.engine.preview import _CERTAIN
from loaderlint.rules import RULES
from tests.rules import cases

CASES = [(page.rule, case) for page in cases.PAGES if page.rule in _CERTAIN for case in page.cases]


def test_the_rules_are_there() -> None:
    assert {rule.name for rule in RULES} >= _CERTAIN


def test_nothing_is_taken_back_in_any_case(tmp_path: Path) -> None:
    said = 0
    for number, (rule, case) in enumerate(CASES):
        project = cases.Project(tmp_path / str(number), case)
        project.write((block.name, block.text) for block in case.files)
        workspace = project.workspace()
        alone = workspace.alone(sorted(project.root.rglob("*.py")), {})
        found = workspace.check([project.root])
        for path, early in alone.items():
            known = {(one.name, one.span, one.message) for one in found[path]}
            assert {(one.name, one.span, one.message) for one in early} <= known, (rule, case.heading)
            said += len(early)
    assert said > 50, "it would be easy never to be wrong"


LIMITED = {
    "data.py": """\
import cv2
from torch.utils.data import DataLoader, Dataset

import setup_threads


class Images(Dataset):
    def __getitem__(self, index):
        return cv2.imread(str(index))


loader = DataLoader(Images(), num_workers=4)
""",
    "setup_threads.py": "import cv2\n\ncv2.setNumThreads(0)\n",
}


def test_what_nobody_does_is_not_known_of_a_file_alone(tmp_path: Path) -> None:
    for name, text in LIMITED.items():
        (tmp_path / name).write_text(text)
    path = tmp_path.resolve() / "data.py"
    assert Workspace([tmp_path]).alone([path], {}) == {path: ()}


def test_a_module_of_the_project_is_no_library(tmp_path: Path) -> None:
    (tmp_path / "datasets.py").write_text("def load_dataset(name):\n    return [1, 2]\n")
    path = tmp_path.resolve() / "train.py"
    path.write_text(
        "from datasets import load_dataset\nfrom torch.utils.data import DataLoader\n"
        "for batch in DataLoader(load_dataset('a'), num_workers=2):\n    print(batch)\n"
    )
    opened: list[Path] = []
    workspace = Workspace([tmp_path])
    read = Path.read_bytes
    Path.read_bytes = lambda self: (opened.append(self), read(self))[1]  # type: ignore[method-assign]
    try:
        workspace.alone([path], {path: path.read_text()})
    finally:
        Path.read_bytes = read  # type: ignore[method-assign]
    assert [one for one in opened if one.suffix == ".py"] == [], "no other file is read"
