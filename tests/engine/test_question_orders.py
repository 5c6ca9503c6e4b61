"""No answer depends on the order of the questions: the order of the rules, that of the files, or earlier questions.
That is also true beyond each limit of the evaluator.

LOADERLINT_TREES names further folders to compare (separated as in PATH)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from benchmarks.question_orders import ORDERS, answers
from loaderlint.project.evaluation.limits import MAX_CONTEXTS
from tests.engine import projects
from tests.rules.cases import PAGES

TREES = [Path(one) for one in os.environ.get("LOADERLINT_TREES", "").split(os.pathsep) if one]
#: More than any limit on the contexts of a function, its callers, or the objects of a class.
MANY = 3 * MAX_CONTEXTS

#: One function makes all loaders, and its arguments determine the findings.
_FACTORY = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, draw, offset):
        self.draw, self.offset = draw, offset
        self.rng = np.random.default_rng(offset)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return helped(self.draw, self.offset) + self.rng.normal()


def helped(draw, offset):
    return draw(offset)


def drawn(offset):
    return np.random.rand(offset)


def plain(offset):
    return np.zeros(offset)


def loader(draw, offset, workers):
    return DataLoader(Data(draw, offset), num_workers=workers)
"""


def _factory_called(times: int) -> Mapping[str, str]:
    files = {"loaders.py": _FACTORY}
    for n in range(times):
        call = f"loader({('drawn', 'plain')[n % 2]}, {n}, {n % 3})"
        files[f"use{n}.py"] = f"from loaders import *\n\n\nfor batch in {call}:\n    print(batch)\n"
    return files


def _within_limits(root: Path) -> None:
    projects.write(root)


def _factory(root: Path) -> None:
    projects.write(root, _factory_called(MAX_CONTEXTS - 2))


def _contexts(root: Path) -> None:
    """A factory that is called in more contexts than are distinguished, each in a separate file."""
    projects.write(root, _factory_called(MANY))


_CALLED_OFTEN = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __getitem__(self, index):
        return [{calls}]

    def __len__(self):
        return 8


def change(index, how, amount):
    return how(index) * amount


def draw(index):
    return np.random.rand(index)


def keep(index):
    return np.zeros(index)


for batch in DataLoader(Data(), num_workers=2):
    print(batch)
"""


def _calls(root: Path) -> None:
    """A helper that one method calls in more contexts than are distinguished, and so does code that only trains."""
    of_worker = ", ".join(f"change(index, {('keep', 'draw')[n > 80]}, {n})" for n in range(MANY))
    of_main = "".join(f"    change(epoch, keep, {n / 2})\n" for n in range(MANY))
    training = f"from data import *\n\n\ndef train(epoch):\n    np.random.seed(epoch)\n{of_main}\n\ntrain(3)\n"
    projects.write(root, {"data.py": _CALLED_OFTEN.format(calls=of_worker), "a_train.py": training})


def _callers(root: Path) -> None:
    """A function with more callers than are followed, each of which is called too."""
    files = {"loaders.py": _FACTORY}
    for n in range(MANY):
        draw = ("plain", "drawn")[n % 2]
        files[f"use{n}.py"] = (
            f"from loaders import *\n\n\ndef run{n}(draw):\n    return loader(draw, {n}, 2)\n\n\nrun{n}({draw})\n"
        )
    projects.write(root, files)


_CYCLE = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Draws(Dataset):
    def __init__(self, inner=None):
        self.inner = inner

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.first(index) if self.inner is None else self.inner[index]

    def first(self, depth):
        return self.second(depth - 1) if depth else np.random.rand(3)

    def second(self, depth):
        return self.first(depth - 1) if depth else np.random.randint(3, size=3)


class Keeps(Draws):
    def first(self, depth):
        return np.zeros(3)


def ping(depth):
    if depth:
        return pong(depth - 1)
    return Draws()


def pong(depth):
    if depth:
        return ping(depth - 1)
    return Keeps(Draws())
"""


def _cycles(root: Path) -> None:
    """Functions, methods and attributes that refer to each other, entered at both ends."""
    use = "from data import *\n\n\nfor batch in DataLoader({0}(7), num_workers=2):\n    print(batch)\n"
    projects.write(root, {"data.py": _CYCLE, "a.py": use.format("ping"), "z.py": use.format("pong")})


def _loaders(root: Path) -> None:
    """More than 256 loaders."""
    lines = [f"loader{n} = DataLoader(Data({('drawn', 'plain')[n % 2]}, {n}), num_workers={n % 3})" for n in range(300)]
    projects.write(root, {"loaders.py": _FACTORY, "use.py": "from loaders import *\n\n" + "\n".join(lines) + "\n"})


def _nested_classes(root: Path) -> None:
    """Classes that create objects of each other, so that their objects nest endlessly."""
    names = [f"C{n}" for n in range(8)]
    text = "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n"
    for name in names:
        made = "".join(f"        self.{other.lower()} = {other}(self, depth - 1)\n" for other in names if other != name)
        read = " + ".join(f"self.{other.lower()}[index]" for other in names if other != name)
        text += (
            f"\n\nclass {name}(Dataset):\n    def __init__(self, parent, depth):\n        if depth == 0:\n"
            f"            return\n        self.parent = parent\n{made}\n    def __len__(self):\n        return 8\n\n"
            f"    def __getitem__(self, index):\n        return np.random.rand(3) + {read}\n"
        )
    projects.write(
        root, {"data.py": f"{text}\n\nfor batch in DataLoader(C0(None, 5), num_workers=2):\n    print(batch)\n"}
    )


def _long_chains(root: Path) -> None:
    """A chain of calls that is longer than is followed, forwards from a method and backwards from a loader."""
    text = _FACTORY.replace("return draw(offset)", "return step0(draw, offset)")
    for n in range(40):
        text += (
            f"\n\ndef step{n}(draw, offset):\n    return {f'step{n + 1}(draw, offset)' if n < 39 else 'draw(offset)'}\n"
        )
    for n in range(20):
        inner = f"make{n + 1}" if n < 19 else "loader"
        text += f"\n\ndef make{n}(draw, workers):\n    return {inner}(draw, 1{', workers' if n == 19 else ''})\n"
        text = text.replace(f"return {inner}(draw, 1)", f"return {inner}(draw, workers)")
    uses = [f"from loaders import *\n\nmake{n}({('drawn', 'plain')[n % 2]}, 2)\n" for n in range(20)]
    projects.write(root, {"loaders.py": text, **{f"use{n}.py": use for n, use in enumerate(uses)}})


def _bad_cases(root: Path) -> None:
    """The first case with a finding of each page, all in one project."""
    for page in PAGES:
        case = next(one for one in page.cases if one.expects(page.rule))
        for block in case.files:
            if block.name.endswith(".py"):
                path = root / page.rule.replace("-", "_") / block.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")


_MADE = (
    _within_limits,
    _factory,
    _contexts,
    _calls,
    _callers,
    _cycles,
    _loaders,
    _nested_classes,
    _long_chains,
    _bad_cases,
)


@pytest.mark.parametrize("make", _MADE)
def test_no_order_of_the_questions_changes_an_answer(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    _compare(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_no_order_of_the_questions_changes_an_answer_about_a_real_tree(tree: Path) -> None:
    _compare(tree)


def _compare(folder: Path) -> None:
    findings, loaders = answers(folder)
    assert findings and loaders
    for order in ORDERS:
        other_findings, other_loaders = answers(folder, order)
        assert other_findings == findings, order.name
        # The explanation of a loader lists its datasets in the order of their files.
        assert other_loaders == loaders or order.backwards, order.name
