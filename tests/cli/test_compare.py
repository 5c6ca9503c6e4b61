"""`check --compare`: the differences are those between two separate checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from loaderlint import cli
from loaderlint.commands import compare
from loaderlint.engine import Workspace
from loaderlint.engine.comparison import compared
from loaderlint.findings.differences import Difference, difference
from loaderlint.settings import changes as settings_changes
from loaderlint.settings import settings
from tests.cli import projects

PROGRAMS = Path(__file__).parents[1] / "diagnosis" / "programs"
CHANGES = ("python=3.14", "torch=1.8", "platforms=linux,windows", "start-method=spawn", "albumentations=2.0.8")
AUGMENTED = """import albumentations as A
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Augmented(Dataset):
    def __init__(self):
        self.transform = A.Compose([A.HorizontalFlip(p=0.5)])

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.transform(image=index + np.random.rand())


loader = DataLoader(Augmented(), num_workers=2)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with many faults, of many rules."""
    monkeypatch.chdir(tmp_path)
    settings.clear()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\ndependencies = ["torch>=1.7,<3"]\n')
    for program in PROGRAMS.glob("*.py"):
        # The change determines the start method.
        text = program.read_text().replace('multiprocessing_context="spawn"', "drop_last=True")
        (tmp_path / program.name).write_text(text)
    (tmp_path / "augmented.py").write_text(AUGMENTED)
    return tmp_path


def found(project: Path, overrides: Mapping[str, object]) -> Mapping[Path, Any]:
    """The findings of a separate check."""
    settings.clear()
    return Workspace([project], overrides, reports_unread=True).check([project])


def chosen(*texts: str) -> tuple[settings_changes.Change, ...]:
    arguments = [part for text in texts for part in ("--compare", text)]
    return compare.changes(cli._parser().parse_args(["check", *arguments]))


def plain(one: Difference) -> list[set[tuple[object, ...]]]:
    """A difference as sets, with the full text of findings."""
    return [{(each.before, each.after) for each in kind} for kind in one]


@pytest.mark.parametrize("pair", [*combinations(CHANGES, 2), ("torch=>=2.0,<2.5,python=3.14",)])
def test_both_sides_are_those_of_separate_checks(project: Path, pair: tuple[str, ...]) -> None:
    base: dict[str, object] = {"platforms": ["linux"]}
    changes = chosen(*pair)
    workspace = Workspace([project], base, reports_unread=True)
    told = compared(workspace, [project], base, changes)
    now = found(project, base)
    alone = [difference(now, found(project, {**base, **change.overrides})) for change in changes]
    assert [plain(one.difference) for one in told[: len(changes)]] == [plain(one) for one in alone]
    every = settings_changes.together(changes)
    both = difference(now, found(project, {**base, **every.overrides}))
    singly = [{(each.before, each.after) for one in alone for each in one[kind]} for kind in range(4)]
    left = [new - old for new, old in zip(plain(both), singly, strict=True)]
    for more, less in zip(plain(told[-1].difference), left, strict=True):
        assert more <= less


def test_each_change_matters(project: Path) -> None:
    """Otherwise the test above would compare nothing."""
    base: dict[str, object] = {"platforms": ["linux"]}
    now = found(project, base)
    for change in chosen(*CHANGES):
        assert any(difference(now, found(project, {**base, **change.overrides}))), change.text


@pytest.mark.parametrize(
    ("change", "code", "lists"),
    [
        ("python=3.14", 1, {"come": ["unpicklable-callable"]}),
        ("python=3.12", 0, {}),
        ("start-method=spawn", 1, {"come": ["unpicklable-callable"]}),
        ("torch=1.8", 1, {"come": ["duplicate-numpy-randomness"]}),
    ],
)
def test_the_report(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    change: str,
    code: int,
    lists: dict[str, list[str]],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.loaderlint]\nplatforms = ["linux"]\ntarget-torch = "2.4"\ntarget-python = "3.12"\n'
    )
    (tmp_path / "train.py").write_text(
        "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n\n\nclass Data(Dataset):\n"
        "    def __init__(self):\n        self.scale = lambda x: x * 2\n\n    def __len__(self):\n        return 8\n\n"
        "    def __getitem__(self, index):\n        return self.scale(np.random.rand())\n\n\n"
        'if __name__ == "__main__":\n    for batch in DataLoader(Data(), num_workers=2):\n        print(batch)\n'
    )
    assert projects.run("check", "--compare", change, "--output-format", "json") == code
    (told,) = json.loads(capsys.readouterr().out)
    names = {kind: [one["name"] for one in told[kind]] for kind in ("come", "gone", "louder", "quieter")}
    assert {kind: listed for kind, listed in names.items() if listed} == lists
    assert projects.run("check", "--compare", change) == code
    out = capsys.readouterr().out
    listed = f"With {change}:\n\n1 finding appears:\n\ntrain.py:"
    assert out.startswith(listed if lists else f"With {change}: no change.")


def test_what_goes_is_told_and_does_not_count(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ("--start-method", "spawn", "--select", "unpicklable-callable")
    assert projects.run("check", *flags, "--compare", "start-method=fork") == 0
    out = capsys.readouterr().out
    assert "1 finding disappears:" in out
    assert "[LDR301 unpicklable-callable]" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "python"], "'python' cannot be read; write NAME=VALUE, such as python=3.14"),
        (["--compare", "pyton=3.14"], "no finding depends on the version of 'pyton'; did you mean 'python'?"),
        (["--compare", "python=new"], "--compare: target-python: must be a version"),
        (["--compare", "platforms=linux,beos"], "'beos' is not a platform"),
        (["--compare", "start-method=clone"], "is not a start method"),
        (["--compare", "albumentations=new"], "'new' is not a version of albumentations"),
        (["--compare", "python=3.14,python=3.13"], "python is named twice"),
        (["--compare", "python=3.14", "--fix"], "leave out --fix"),
        (["--compare", "python=3.14", "--output-format", "sarif"], "text or json"),
    ],
)
def test_what_cannot_be_compared(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert projects.run("check", *arguments) == 2
    assert message in capsys.readouterr().err
