"""The fix of `unpicklable-state` is offered only for a class whose pickling is the usual one."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.engine import Workspace
from loaderlint.findings.diagnostics import Diagnostic
from loaderlint.syntax.positions import apply_edits

BEGIN = """\
import threading

from torch.utils.data import DataLoader, Dataset


"""
CLASS = """\
class Rows({base}):
    def __init__(self):
        self.lock = threading.Lock()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        with self.lock:
            return float(index)
"""
END = """\


def main():
    return DataLoader(Rows(), num_workers=2)
"""
OWN = {
    "__getstate__": "\n    def __getstate__(self):\n        return dict(self.__dict__)\n",
    "__setstate__": "\n    def __setstate__(self, state):\n        self.__dict__.update(state)\n",
    "__setattr__": "\n    def __setattr__(self, name, value):\n        super().__setattr__(name, value)\n",
    "__slots__": '\n    __slots__ = ("lock",)\n',
}
FIXED = """
    def __getstate__(self):
        state = self.__dict__.copy()
        del state["lock"]  # cannot be pickled
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.lock = threading.Lock()
"""


def test_the_attribute_is_left_out(tmp_path: Path) -> None:
    text = BEGIN + CLASS.format(base="Dataset") + END
    workspace, lock = _found(tmp_path, text)
    (repair,) = workspace.repairs(lock)
    (edit,) = repair.files
    assert repair.safety == "unsafe"
    assert apply_edits(text, edit.edits) == BEGIN + CLASS.format(base="Dataset") + FIXED + END


@pytest.mark.parametrize("member", OWN)
def test_a_class_that_says_how_it_is_pickled_has_no_fix(tmp_path: Path, member: str) -> None:
    workspace, lock = _found(tmp_path, BEGIN + CLASS.format(base="Dataset") + OWN[member] + END)
    assert not workspace.repairs(lock)


def test_a_class_of_a_library_has_no_fix(tmp_path: Path) -> None:
    begin = BEGIN.replace("torch.utils.data import", "torch.utils.data import ConcatDataset,")
    workspace, lock = _found(tmp_path, begin + CLASS.format(base="ConcatDataset") + END)
    assert not workspace.repairs(lock)


def _found(folder: Path, text: str) -> tuple[Workspace, Diagnostic]:
    """The only finding about the lock."""
    (folder / "train.py").write_text(text, encoding="utf-8")
    workspace = Workspace([folder], {"start-method": "spawn", "target-torch": "2.4"})
    (lock,) = [one for each in workspace.check([folder]).values() for one in each if one.name == "unpicklable-state"]
    return workspace, lock
