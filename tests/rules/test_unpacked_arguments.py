"""What the dicts that a loader's call unpacks cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.rules.shared.unpacked_arguments import lack
from tests.project.linking import link_files
from tests.rules.answers import lines

ABOVE = """
import functools, json, config, other
from torch.utils.data import DataLoader
from config import SHARED
{}
def make(data, cuda=False, **options):
{}
 return DataLoader(data, {})
def init(n): pass
def main():
 {}
"""
CONFIG = 'SHARED = {"num_workers": 2}\nFILLED = {"num_workers": 2}\n'
OTHER = 'import config\ndef fill(): config.FILLED["worker_init_fn"] = len\n'


def can_lack(folder: Path, code: str, files: dict[str, str] | None = None) -> bool:
    """Whether no call of `DataLoader(data, ...)` in `make` can get a worker_init_fn by `**`. Code of the module stands
    before ` | `, then code of `make`, the arguments of the loader, and code of `main` after ` | `."""
    parts = code.split(" | ")
    above, inside, given, main = parts if len(parts) == 4 else ("", *parts, "make([1], json.cuda)")
    text = ABOVE.format(lines(above), lines(inside, 1), given, main)
    project = {"case.py": text, "config.py": CONFIG, "other.py": OTHER, **(files or {})}
    model = link_files(folder, project).model
    sites = [loader.site for loader in model.loaders if loader.site is not None]
    assert sites
    answers = {lack(site, "worker_init_fn", model) for site in sites}
    assert len(answers) == 1
    return answers.pop()


#: Other code of the project names a worker_init_fn.
LACKING = [
    "pass | num_workers=2",
    "pass | **dict(num_workers=2)",
    "pass | **{'num_workers': 2}",
    "own = {'num_workers': 2} | **own",
    "own = {'num_workers': 2} if cuda else {} | **own",
    "own = {'num_workers': 2}; if cuda:;  own = {} | **own",
    "own = {'num_workers': 2}; if cuda:;  own.update({'pin_memory': True}) | **own",
    "own = {}; own['num_workers'] = 2 | **own",
    "own = {'num_workers': 2}; more = {'pin_memory': True}; own.update(more) | **own",
    "own = {'num_workers': 2}; own.update(**{'pin_memory': True}, timeout=1) | **own",
    "own = {'num_workers': 2}; print(own['num_workers']) | **own",
    "own = {}; own.setdefault('num_workers', 2) | **own",
    "own = {}; own = {**own, 'num_workers': 2} | **own",
    "own = {}; for n in data:;  own = dict(own, num_workers=n) | **own",
    "own = {'num_workers': 2}; own = dict(own, pin_memory=True) | **own",
    "own = {'num_workers': 2} | **own, **{'pin_memory': True}",
    "OWN = {'num_workers': 2} | pass | **OWN | make([1])",
    "OWN = {'num_workers': 2} if json else {} | pass | **OWN | make([1])",
    "pass | **options",
    "pass | pass | **options | make([1], num_workers=2)",
    "pass | pass | **{**options, 'pin_memory': True} | make([1], num_workers=2)",
]
#: They can hold one, or code that is not seen may fill them.
HOLDING = [
    "own = {'worker_init_fn': None} | **own",
    "own = {'num_workers': 2}; if cuda:;  own = {'worker_init_fn': init} | **own",
    "own = {'num_workers': 2}; own['worker_init_fn'] = init | **own",
    "own = {'num_workers': 2}; own[json.loads('1')] = init | **own",
    "own = {'num_workers': 2}; own.update(json.loads('{}')) | **own",
    "own = {'num_workers': 2}; own.update(**json.loads('{}')) | **own",
    "own = {'num_workers': 2}; more = {}; json.dump(more); own.update(more) | **own",
    "own = {'num_workers': 2}; more = {}; more.update(own, worker_init_fn=init); own = more | **own",
    "own = {'num_workers': 2}; other.fill(own) | **own",
    "own = {'num_workers': 2}; json.dump(own) | **own",
    "own = {'num_workers': 2}; json.own = own | **own",
    "own = {'num_workers': 2}; json.own[0] = own | **own",
    "own = {'num_workers': 2}; kept = [own] | **own",
    "own = {'num_workers': 2}; (lambda: own.update(worker_init_fn=init))() | **own",
    "own = {'num_workers': 2}; own |= {'worker_init_fn': init} | **own",
    "own = {'num_workers': 2}; own.__setitem__('worker_init_fn', init) | **own",
    "own = {'num_workers': 2}; kept = {'own': own}; json.dump(kept) | **own",
    "pass | global G; own = {'num_workers': 2}; G = own | **own | make([1])",
    "own = json.loads('{}') | **own",
    "pass | **SHARED",
    "pass | **config.FILLED",
    "own = {**SHARED, 'num_workers': 2} | **own",
    "own = dict(SHARED, num_workers=2) | **own",
    "OWN = {'num_workers': 2, **SHARED} | pass | **OWN | make([1])",
    "class M:;  def f(self, **more): return DataLoader([1], **more) | pass | **SHARED | M().f(num_workers=2)",
    "OWN = {'num_workers': 2}; OWN['a'] = 1 | pass | **OWN | make([1])",
    "OWN = {'num_workers': 2} | global OWN; OWN = json.loads('1') | **OWN | make([1])",
    "pass | pass | **options | make([1], worker_init_fn=init)",
    "pass | pass | **options | make([1], num_workers=2); make([1], worker_init_fn=init)",
    "pass | pass | **options | make([1], **json.loads('1'))",
    "pass | pass | **options | [make]",
    "pass | pass | **options | make([1]); [make]",
    "pass | options.update(SHARED) | **options | make([1])",
    "pass | json.dump(options) | **options | make([1])",
    "pass | more = lambda: options.update(worker_init_fn=init); more() | **options | make([1])",
]


@pytest.mark.parametrize("code", LACKING)
def test_the_code_shows_that_they_hold_none(code: str, tmp_path: Path) -> None:
    assert can_lack(tmp_path, code)


@pytest.mark.parametrize("code", HOLDING)
def test_they_may_hold_one(code: str, tmp_path: Path) -> None:
    assert not can_lack(tmp_path, code)


UNNAMED = {"other.py": "def fill(*args): pass\n"}
PACKAGE = {"pyproject.toml": "[project]\nname = 'loading'\n"}
GUARD = "if __name__ == '__main__':;  main() | pass | **options | make([1])"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pass | **SHARED", True),
        ("own = {'num_workers': 2}; json.dump(own) | **own", True),
        ("own = {'num_workers': 2}; own.update(json.loads('{}')) | **own", False),
        ("own = {'num_workers': 2}; own.update(data) | **own", False),
        ("own = json.loads('{}') | **own", False),
    ],
)
def test_what_nothing_names_is_in_no_dict_of_the_project(code: str, expected: bool, tmp_path: Path) -> None:
    assert can_lack(tmp_path, code, UNNAMED) is expected


@pytest.mark.parametrize(
    ("code", "files", "expected"),
    [
        ("pass | pass | **options | make([1])", {}, False),
        ("pass | pass | **options | make([1])", UNNAMED, False),
        ("pass | own = json.loads(data); own = {**options} | **own | make([1])", UNNAMED, False),
        ("pass | **SHARED", UNNAMED, True),
        ("pass | **{'num_workers': 2}", {}, True),
        (GUARD, {}, True),
        (GUARD, {"train.py": "import case\n"}, False),
    ],
)
def test_a_package_may_be_called_by_other_projects(
    code: str, files: dict[str, str], expected: bool, tmp_path: Path
) -> None:
    assert can_lack(tmp_path, code, {**PACKAGE, **files}) is expected


def test_not_all_of_many_callers_are_seen(tmp_path: Path) -> None:
    many = "; ".join(f"make([1], timeout={number})" for number in range(40))
    assert not can_lack(tmp_path, f"pass | pass | **options | {many}")
    assert not can_lack(tmp_path, f"pass | pass | **options | {many}; make([1], worker_init_fn=init)")
