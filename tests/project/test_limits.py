"""Each limit that is reached is told, and none that is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.project.evaluation.limits import (
    CALLER_LEVELS,
    CALLERS,
    CALLS,
    CONTEXTS,
    MAX_CALLER_LEVELS,
    MAX_CALLERS,
    MAX_CALLS,
    MAX_CONTEXTS,
    MAX_NESTED_FRAMES,
    NESTED_OBJECTS,
    OBJECTS,
    SUBCLASSES,
    WALK,
    Cut,
    ReachedLimits,
)
from loaderlint.project.loaders import declared_loaders
from tests.project.linking import link
from tests.rules.answers import answers

_HEAD = """\
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, size=1):
        self.size = size

    def __getitem__(self, index):
        return {}

    def __len__(self):
        return 8


"""


def _contexts(count: int) -> str:
    calls = ", ".join(f"helped({n})" for n in range(count))
    return _HEAD.format(f"[{calls}]") + "def helped(n):\n    return n\n\n\nDataLoader(Data(), num_workers=2)\n"


def _callers(count: int) -> str:
    calls = "\n".join(f"def f{n}():\n    return make({n})" for n in range(count))
    return _HEAD.format("index") + f"def make(data):\n    return DataLoader(data, num_workers=2)\n\n\n{calls}\n"


def _objects(count: int) -> str:
    made = "\n".join(f"maker{n} = Maker({n})" for n in range(count))
    return (
        _HEAD.format("index") + "class Maker:\n    def __init__(self, size):\n        self.size = size\n\n"
        f"    def load(self):\n        return DataLoader(Data(self.size), num_workers=2)\n\n\n{made}\n"
    )


def _subclasses(count: int) -> str:
    heirs = "\n".join(f"class Heir{n}(Maker):\n    pass" for n in range(count))
    return (
        _HEAD.format("index")
        + f"class Maker:\n    def load(self):\n        return DataLoader(Data(), num_workers=2)\n\n\n{heirs}\n"
    )


def _caller_levels(count: int) -> str:
    text = _HEAD.format("index") + "def make0(data):\n    return DataLoader(data, num_workers=2)\n"
    for n in range(1, count):
        text += f"\n\ndef make{n}(data):\n    return make{n - 1}(data)\n"
    return text + f"\n\nmake{count - 1}(Data())\n"


def _calls(count: int) -> str:
    text = _HEAD.format("step0(index)")
    for n in range(count - 1):
        text += f"def step{n}(index):\n    return {f'step{n + 1}(index)' if n < count - 2 else 'index'}\n\n\n"
    return text + "DataLoader(Data(), num_workers=2)\n"


def _nested(count: int) -> str:
    makes = "".join(f"        self.part{n} = Inner(Middle(size, {n}))\n" for n in range(count))
    reads = " + ".join(f"self.part{n}.read(index)" for n in range(count))
    classes = (
        "class Middle:\n    def __init__(self, size, number):\n"
        "        self.size, self.number = Leaf(size), number\n\n\n"
        "class Leaf:\n    def __init__(self, size):\n        self.size = size\n\n    def read(self):\n"
        "        return self.size\n\n\n"
        "class Inner:\n    def __init__(self, middle):\n        self.middle = middle\n\n"
        "    def read(self, index):\n        return self.middle.size.read()\n\n\n"
    )
    head = _HEAD.format(reads).replace("        self.size = size\n", makes)
    return f"{head}{classes}DataLoader(Data(), num_workers=2)\n"


@pytest.mark.parametrize(
    ("cut", "text_of", "most", "name"),
    [
        (CONTEXTS, _contexts, MAX_CONTEXTS, "`helped`"),
        (CALLERS, _callers, MAX_CALLERS, "`make`"),
        (OBJECTS, _objects, MAX_CALLERS, "`Maker`"),
        (SUBCLASSES, _subclasses, MAX_CALLERS, "`Maker`"),
        (CALLER_LEVELS, _caller_levels, MAX_CALLER_LEVELS + 1, "`make7`"),
        (CALLS, _calls, MAX_CALLS, "`step23`"),
        (NESTED_OBJECTS, _nested, MAX_NESTED_FRAMES, "`__init__`"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_limit_is_told_once_it_is_reached(
    cut: Cut, text_of: Callable[[int], str], most: int, name: str, tmp_path: Path
) -> None:
    for count in (most, most + 1):
        folder = tmp_path / str(count)
        folder.mkdir()
        model = link(folder, text_of(count)).model
        for function in model.worker_functions():
            for frame in function.frames:
                model.ev.leads(frame)
        told = [one.message for one in model.limits() if cut.how in one.message]
        assert len(told) == (count > most), count
    assert told[0].startswith(f"{name} {cut.how}") and told[0].endswith(f": {cut.cost}")


#: Code in which object number {n} runs the function `f{n}`, for as many objects as there are loaders.
RUNS = {
    "the method of a sample": (
        "class Own(Dataset):\n    def __init__(self, f): self.f = f\n    def __getitem__(self, i): return self.f(i)\n",
        "Own(f{n})",
    ),
    "a method with other arguments": (
        "class Own(Dataset):\n    def __init__(self, f, n): self.f, self.n = f, n\n"
        "    def read(self, i, n): return self.f(i)\n    def __getitem__(self, i): return self.read(i, self.n)\n",
        "Own(f{n}, {n})",
    ),
    "an object that another one holds": (
        "class Step:\n    def __init__(self, f): self.f = f\n    def __call__(self, i): return self.f(i)\n"
        "class Own(Dataset):\n    def __init__(self, step): self.step = step\n"
        "    def __getitem__(self, i): return self.step(i)\n",
        "Own(Step(f{n}))",
    ),
}


@pytest.mark.parametrize("case", RUNS)
def test_the_object_of_a_method_is_known_however_many_there_are(case: str, tmp_path: Path) -> None:
    classes, made = RUNS[case]
    count = 2 * MAX_CONTEXTS + 4
    functions = "".join(f"def f{n}(i): return {n}\n" for n in range(count))
    loaders = "".join(f"loader{n} = DataLoader({made.format(n=n)}, num_workers=2)\n" for n in range(count))
    linked = link(tmp_path, f"from torch.utils.data import DataLoader, Dataset\n{functions}{classes}{loaders}")
    model = linked.model
    for n in range(count):
        names = {model.def_of(one.frame).name for one in model.reached_by(linked.loader(f"loader{n}"))}
        assert {name for name in names if name[1:].isdigit()} == {f"f{n}"}


def test_a_walk_that_ends_early_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linked = link(tmp_path, _calls(4))
    frames = [entry for one in linked.model.entries for entry in one.frames]
    declared_loaders.run_from(linked.model.ev, frames)
    assert linked.model.limits() == ()
    monkeypatch.setattr(declared_loaders, "_MAX_FRAMES", 2)
    declared_loaders.run_from(linked.model.ev, frames)
    (limit,) = linked.model.limits()
    assert limit.message == f"`__getitem__` {WALK.how}: {WALK.cost}"


def test_what_is_told_does_not_depend_on_the_order(tmp_path: Path) -> None:
    library = tmp_path / "library.py"
    places = [(tmp_path / name, piece, 1) for name in ("b.py", "a.py") for piece in (3, 2)] + [(library, 1, 1)]
    told = []
    for order in (places, places[::-1]):
        reached = ReachedLimits()
        for cut in (CALLS, CALLERS) if order is places else (CALLERS, CALLS):
            for place in order:
                reached.note(cut, *place)
        told.append(list(reached.told(lambda path, piece, def_: f"`{path.stem}{piece}`", lambda path: path == library)))
    assert told[0] == told[1]
    assert told[0][0] == (tmp_path / "a.py", f"`a2` {CALLERS.how} (and 3 more like it): {CALLERS.cost}")


def test_limits_inside_libraries_are_not_told(tmp_path: Path) -> None:
    reached = ReachedLimits()
    reached.note(CALLS, tmp_path / "library.py", 1, 1)
    assert not list(reached.told(lambda path, piece, def_: "", lambda path: path.stem == "library"))
    assert list(reached.told(lambda path, piece, def_: "", lambda path: False))


_EXPERIMENT = """
class Experiment{number}:
    def __init__(self, args):
        self.args = args

    def run(self):
        return make(self.args, "train"), make(self.args, "test")


Experiment{number}(args).run()
"""


def test_whose_field_an_argument_was_makes_a_context_only_if_it_can_be_edited(tmp_path: Path) -> None:
    head = "import argparse\n" + _HEAD.format("index")
    head += "def make(args, name):\n    return DataLoader(Data(name), num_workers=args.workers)\n\n\n"
    experiments = "".join(_EXPERIMENT.format(number=number) for number in range(5))
    settings = f"{head}args = argparse.ArgumentParser().parse_args()\n{experiments}"
    edited = f"{head}args = [argparse.ArgumentParser().parse_args()]\n{experiments}"
    assert len(link(tmp_path / "settings", settings).model.loaders) == 2
    assert len(link(tmp_path / "edited", edited).model.loaders) == 10


_SETTING = """
import torch
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __init__(self, *names): pass
    def __getitem__(self, index):
        return [{calls}]
def scaled(image, {param}):
    return image.cuda() if {test} else image
def helped(image, fast=False):
    return scaled(image, fast)
loader = DataLoader(Data(), num_workers=2)
"""
#: The parameter of a function that is called in too many ways, the test of it, the calls, and whether the rule speaks.
SETTINGS: dict[tuple[str, str, str], bool] = {
    ("fast=False", "fast", "helped(torch.zeros(3, {n}))"): False,
    ("fast=False", "fast", "scaled(torch.zeros(3, {n}), fast=False)"): False,
    ("fast", "fast", "scaled(torch.zeros(3, {n}), False)"): False,
    ("kind='plain'", "kind == 'fast'", "scaled(torch.zeros(3, {n}), 'plain')"): False,
    ("level=0", "level > 1", "scaled(torch.zeros(3, {n}), level=0)"): False,
    # near misses: one call sets it, or the values are no settings
    ("fast=False", "fast", "helped(torch.zeros(3, {n}), {n} == 30)"): True,
    ("fast=False", "fast", "helped(torch.zeros(3, {n}), fast=True)"): True,
    ("level=0", "level > 1", "scaled(torch.zeros(3, {n}), level={n})"): True,
    ("fast=False", "fast", "scaled(torch.zeros(3, {n}), index)"): True,
}


@pytest.mark.parametrize("count", [MAX_CONTEXTS + 8, 2 * MAX_CONTEXTS + 8])
@pytest.mark.parametrize(("param", "test", "call"), SETTINGS)
def test_settings_stay_known_however_many_calls_there_are(
    param: str, test: str, call: str, count: int, tmp_path: Path
) -> None:
    calls = ", ".join(call.format(n=n) for n in range(count))
    said = answers(tmp_path, "cuda-in-worker", _SETTING.format(calls=calls, param=param, test=test))
    assert bool(said.findings) == SETTINGS[param, test, call]
