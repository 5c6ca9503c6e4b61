"""What cannot be sent to a worker, named by its path. Needs PyTorch, of which only two classes are asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from loaderlint.audit import pickling


class Part:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


class Torch:
    """Stands for PyTorch."""

    class Tensor:
        def numel(self) -> int:
            return 10

        def element_size(self) -> int:
            return 4

    class Generator:
        pass


@pytest.fixture(autouse=True)
def torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", Torch)


def test_the_innermost_part_is_named() -> None:
    steps = [Part(), Part(), Part(fn=lambda value: value)]
    dataset = Part(transform=Part(transforms=steps))
    ((path, why),) = pickling.sent({"dataset": dataset, "collate_fn": len}).problems
    assert path == "dataset.transform.transforms[2].fn"
    assert "pickle" in why


@pytest.mark.parametrize(
    ("held", "path"),
    [
        ({"rows": {"a": threading.Lock()}}, "dataset.rows['a']"),
        ({"generator": Torch.Generator()}, "dataset.generator"),
        ({"squares": (n * n for n in range(3))}, "dataset.squares"),
    ],
)
def test_what_fails_is_found(held: dict[str, Any], path: str) -> None:
    assert [each for each, _ in pickling.sent({"dataset": Part(**held)}).problems] == [path]


def test_what_left_itself_out_is_no_problem() -> None:
    class Left(Part):
        def __reduce__(self) -> Any:
            return Part, ()

    assert pickling.sent({"dataset": Left(lock=threading.Lock())}).problems == ()


def test_tensors_are_shared_and_the_rest_is_copied() -> None:
    found = pickling.sent({"dataset": Part(rows=[0] * 10_000, tensor=Torch.Tensor())})
    assert found.shared == 40
    assert found.copied > 10_000 and found.problems == ()


def test_a_class_of_a_console_cannot_be_imported_by_a_worker() -> None:
    program = """
import sys, types
sys.modules["torch"] = types.SimpleNamespace(Tensor=type("T", (), {}), Generator=type("G", (), {}))
from loaderlint.audit.pickling import sent
class Rows: pass
print(sent({"dataset": Rows()}).problems)
"""
    done = subprocess.run([sys.executable], input=program, capture_output=True, text=True, check=True)
    assert "defined in a notebook or console" in done.stdout
