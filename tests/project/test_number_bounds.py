"""The bounds of a number of workers that is computed."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from loaderlint.project.evaluation.number_bounds import Count, count_of
from tests.project.linking import link, link_files

CODE = """
import argparse, math, os, random
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
p = argparse.ArgumentParser()
p.add_argument('--jobs', type=int, default=4)
p.add_argument('--none', type=int)
args = p.parse_args()
cpus = os.cpu_count()
some = len(open('names'))
loader = DataLoader(D(), num_workers={})
"""
INF = math.inf
OPTION = "argparse default"

#: Expressions, each with the least and the most that it may be.
BOUNDS: dict[str, tuple[float, float]] = {
    "cpus": (1, INF),
    "some": (0, INF),
    "len(os.sched_getaffinity(0))": (1, INF),
    "None": (0, 0),
    "load()": (-INF, INF),
    "'many'": (-INF, INF),
    "float('nan')": (-INF, INF),
    "-3": (-3, -3),
    "+3": (-INF, INF),
    "~-3": (-INF, INF),
    "cpus + 2": (3, INF),
    "2 + some": (2, INF),
    "cpus - 1": (0, INF),
    "8 - cpus": (-INF, 7),
    "some - cpus": (-INF, INF),
    "cpus * 3": (3, INF),
    "cpus * 0": (0, 0),
    "load() * 0": (0, 0),
    "0 * load()": (0, 0),
    "some * cpus": (0, INF),
    "cpus * -1": (-INF, INF),
    "-1 * cpus": (-INF, INF),
    "cpus / 2": (0.5, INF),
    "cpus // 2": (0, INF),
    "min(7, cpus) // 2": (0, 3),
    "12 // min(4, cpus)": (3, 12),
    "12 // cpus": (0, 12),
    "5 / some": (-INF, INF),
    "(some - 3) / 2": (-INF, INF),
    "cpus % 4": (-INF, INF),
    "min(8, cpus)": (1, 8),
    "max(8, cpus)": (8, INF),
    "max(2, some, 5)": (5, INF),
    "min([3, cpus])": (1, 3),
    "min(load())": (-INF, INF),
    "min(3, cpus, key=load)": (-INF, INF),
    "min(3, *load())": (-INF, INF),
    "int(cpus / 2)": (0, INF),
    "int(min(3, cpus) / 2)": (0, 1),
    "round(min(3, cpus) / 2)": (0, 1),
    "math.floor(min(3, cpus) / 2)": (0, 1),
    "math.ceil(min(3, cpus) / 2)": (1, 2),
    "round(cpus, 1)": (-INF, INF),
    "cpus if load() else 3": (1, INF),
    "2 if load() else 6": (2, 6),
}


def bounds(tmp_path: Path, expression: str) -> Count:
    linked = link(tmp_path, CODE.replace("{}", expression))
    return count_of(linked.model.ev, linked.loader().argument("num_workers"))


@pytest.mark.parametrize("expression", BOUNDS)
def test_bounds(tmp_path: Path, expression: str) -> None:
    found = bounds(tmp_path, expression)
    assert (found.least, found.most) == BOUNDS[expression]


@pytest.mark.parametrize(
    ("expression", "least", "most", "source"),
    [
        ("args.jobs", 4, 4, OPTION),
        ("args.jobs + 1", 5, 5, OPTION),
        ("1 + args.jobs", 5, 5, OPTION),
        ("9 - args.jobs", 5, 5, OPTION),
        ("args.jobs * 2", 8, 8, OPTION),
        ("args.jobs // 2", 2, 2, OPTION),
        ("min(args.jobs, cpus)", 1, 4, OPTION),
        ("int(args.jobs)", 4, 4, OPTION),
        ("args.none", -INF, INF, ""),
        ("int(os.environ.get('N', 3))", 3, 3, "environment default"),
        ("int(os.environ.get('N', '3'))", 3, 3, "environment default"),
        ("int(os.environ['N'])", -INF, INF, ""),
        ("cpus + 1", 2, INF, ""),
    ],
)
def test_what_a_user_may_set_is_named(tmp_path: Path, expression: str, least: float, most: float, source: str) -> None:
    found = bounds(tmp_path, expression)
    assert (found.least, found.most, found.configured) == (least, most, source)


def test_a_number_that_is_made_of_itself_has_an_end(tmp_path: Path) -> None:
    deep = "cpus" + " + 1" * 20
    assert bounds(tmp_path, deep) == Count()
    assert bounds(tmp_path, "cpus" + " + 1" * 5).least == 6


def _workers(files: dict[str, str], tmp_path: Path) -> str:
    (loader,) = link_files(tmp_path, files).model.loaders
    return loader.workers_text


_PARSER = "import argparse\ndef declare(parser):\n    parser.add_argument('--jobs', type=int, default={})\n"
_TRAIN = """
import argparse
from torch.utils.data import DataLoader
{imports}
parser = argparse.ArgumentParser()
declare(parser)
args = parser.parse_args()
loader = DataLoader([1], num_workers={workers})
"""


@pytest.mark.parametrize("imports", ["from common.options import declare", "from between import declare"])
def test_an_option_is_one_that_an_imported_file_declares(imports: str, tmp_path: Path) -> None:
    files = {
        "common/options.py": _PARSER.format(4),
        "between.py": "from common.options import declare\n",
        "tools/other.py": _PARSER.format(0),
        "train.py": _TRAIN.format(imports=imports, workers="args.jobs"),
    }
    assert _workers(files, tmp_path) == "num_workers=4, argparse default"


def test_an_option_that_no_imported_file_declares_is_that_of_any(tmp_path: Path) -> None:
    files = {
        "a/options.py": _PARSER.format(4),
        "b/options.py": _PARSER.format(0),
        "train.py": _TRAIN.format(imports="from elsewhere import declare", workers="args.jobs"),
    }
    assert _workers(files, tmp_path) == "num_workers=0 or 4, argparse default"


@pytest.mark.parametrize("record", ["EasyDict(vars(args))", "EasyDict(options)"])
def test_options_kept_in_a_record(record: str, tmp_path: Path) -> None:
    code = f"""
import argparse
from easydict import EasyDict
from torch.utils.data import DataLoader
parser = argparse.ArgumentParser()
parser.add_argument('--jobs', type=int, default=4)
args = parser.parse_args()
options = vars(args)
config = {record}
loader = DataLoader([1], num_workers=config.jobs)
"""
    assert _workers({"train.py": code}, tmp_path) == "num_workers=4, argparse default"


_NODE = """
from easydict import EasyDict
settings = EasyDict()
settings.LOADER = EasyDict()
settings.LOADER.JOBS = {}
"""
_CHANGE = "from {} import settings\nsettings.LOADER.JOBS = {}\n"

#: Another file beside the settings of `a.py`; then the number of workers. `b.py` has settings of the same names, with 4
#: workers.
NODES = {
    "nothing else": ("", "num_workers=0, configuration default"),
    "a file that changes them": (_CHANGE.format("a", 2), "num_workers=0 or 2, configuration default"),
    "a file that may change them": (_CHANGE.format("elsewhere", 3), "num_workers=0 or 3, configuration default"),
    "a file that changes the others": (_CHANGE.format("b", 5), "num_workers=0, configuration default"),
}


@pytest.mark.parametrize("beside", NODES)
def test_settings_of_one_file_are_not_those_of_another(beside: str, tmp_path: Path) -> None:
    other, expected = NODES[beside]
    imports = "from a import settings\nimport other"
    files = {
        "a.py": _NODE.format(0),
        "b.py": _NODE.format(4),
        "other.py": other,
        "train.py": f"{imports}\nfrom torch.utils.data import DataLoader\n"
        "loader = DataLoader([1], num_workers=settings.LOADER.JOBS)\n",
    }
    assert _workers(files, tmp_path) == expected
