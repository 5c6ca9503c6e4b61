"""Many findings with one cause: one block in the text format, separate findings for tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import projects

DATA = """import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return index + np.random.rand()


class Jittered(Noisy):
    def __getitem__(self, index):
        if np.random.randint(2):
            return index
        return index + np.random.normal()
"""
NESTED = """import numpy as np
from torch.utils.data import Dataset


def shift(value):
    return value + np.random.rand() * np.random.rand()


class Noisy(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return shift(index)


class Jittered(Noisy):
    pass
"""
ONE_LOADER = """from torch.utils.data import ConcatDataset, DataLoader

from data import Jittered, Noisy

loader = DataLoader(ConcatDataset([Noisy(), Jittered()]), num_workers=4)
"""
TWO_LOADERS = """from torch.utils.data import DataLoader

from data import Jittered, Noisy

first = DataLoader(Noisy(), num_workers=4)
second = DataLoader(Jittered(), num_workers=4)
"""
#: A loader with a worker_init_fn that is no function of the project, so that no fix is offered.
OTHER_INIT = """from torch.utils.data import DataLoader

from data import Jittered


class Factory:
    def __init__(self, init=None):
        self.init = init

    def make(self):
        return DataLoader(Jittered(), num_workers=4, worker_init_fn=self.init)


loader = Factory().make()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an old torch, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    settings = '[tool.loaderlint]\ntarget-torch = "1.8.1"\nplatforms = ["linux"]\n'
    settings += 'select = ["duplicate-numpy-randomness"]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    (tmp_path / "data.py").write_text(DATA)
    (tmp_path / "train.py").write_text(ONE_LOADER)
    return tmp_path


def test_the_text_has_one_block_at_the_loader(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.count("[LDR101 duplicate-numpy-randomness]") == out.count("fix (safe)") == 1
    assert out.startswith("train.py:5:10: error: every worker draws the same numbers")
    places = out.split("= at 3 places:\n")[1].splitlines()[:3]
    assert [place.strip() for place in places] == [
        "data.py:10:24: return index + np.random.rand()",
        "data.py:15:12: if np.random.randint(2):",
        "data.py:17:24: return index + np.random.normal()",
    ]
    assert "3 findings in 1 file (3 errors); 2 files checked." in out


def test_the_block_is_at_the_loader_however_the_draws_are_called(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "data.py").write_text(NESTED)
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.startswith("train.py:5:10: error: every worker draws the same numbers")
    assert "Noisy.__getitem__ calls shift (data.py:14)" in out
    assert "= at 2 places:" in out


def test_sarif_leads_from_the_loader_through_the_calls_to_the_draw(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "data.py").write_text(NESTED)
    projects.run("check", "--output-format", "sarif")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (flow,) = run["results"][0]["codeFlows"][0]["threadFlows"]
    places = [step["location"]["physicalLocation"] for step in flow["locations"]]
    steps = [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places]
    assert steps == [("train.py", 5), ("data.py", 14), ("data.py", 6)]


def _show_in_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.mark.parametrize("columns", [60, 100])
def test_the_text_is_as_wide_as_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    _show_in_terminal(monkeypatch, columns)
    (folder / "data.py").write_text(DATA.replace("np.random.normal()", f"np.random.normal(){' + 0' * 40}"))
    projects.run("check")
    projects.run("check", "--output-format", "full")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert any(len(line) > columns - 15 for line in lines)


@pytest.mark.parametrize("columns", [60, 100])
def test_grouped_findings_are_as_wide_as_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    _show_in_terminal(monkeypatch, columns)
    projects.run("check", "--output-format", "grouped")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "data.py:" and lines[1].startswith("  10:24: error: ")
    assert max(map(len, lines)) <= columns
    assert any(len(line) > columns - 15 for line in lines)
    projects.run("check", "--output-format", "concise")
    concise = capsys.readouterr().out.splitlines()[:3]
    assert all(line.startswith("data.py:") and line.endswith("randomness]") for line in concise)


def test_two_loaders_are_two_causes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(TWO_LOADERS)
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.count("[LDR101 duplicate-numpy-randomness]") == 2
    assert "= at 2 places:" in out


def test_the_text_has_one_block_at_the_loader_without_a_fix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").write_text(OTHER_INIT)
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.startswith("train.py:11:16: error: every worker draws the same numbers")
    assert out.count("[LDR101 duplicate-numpy-randomness]") == 1 and "= fix" not in out
    places = out.split("= at 2 places:\n")[1].splitlines()[:2]
    assert [place.strip() for place in places] == [
        "data.py:15:12: if np.random.randint(2):",
        "data.py:17:24: return index + np.random.normal()",
    ]


@pytest.mark.parametrize("output_format", ["json", "sarif"])
def test_tools_are_told_the_cause_without_a_fix(
    folder: Path, capsys: pytest.CaptureFixture[str], output_format: str
) -> None:
    (folder / "train.py").write_text(OTHER_INIT)
    projects.run("check", "--output-format", output_format)
    found = json.loads(capsys.readouterr().out)
    findings = found if output_format == "json" else [one["properties"] for one in found["runs"][0]["results"]]
    first, other = findings
    assert first["cause"] == other["cause"]


def test_the_unknown_loaders_of_two_datasets_are_two_causes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "train.py").unlink()
    shared = DATA.replace("return index + np.random.normal()", "return shift(index) + np.random.normal()")
    (folder / "data.py").write_text(f"{shared}\n\ndef shift(index):\n    return index + np.random.rand()\n")
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.count("[LDR101 duplicate-numpy-randomness]") == 2
    assert "= at 3 places:" in out


def test_what_the_unknown_loaders_of_two_datasets_run_has_a_cause_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "train.py").unlink()
    shared = DATA.replace("return index", "return self.shift(index)")
    shift = "    def shift(self, index):\n        return index + np.random.rand()\n"
    (folder / "data.py").write_text(shared.replace("\n\n\nclass Jittered", f"\n\n{shift}\n\nclass Jittered"))
    assert projects.run("check") == 1
    out = capsys.readouterr().out
    assert out.count("[LDR101 duplicate-numpy-randomness]") == 3
    assert "= at 2 places:" in out


def test_json_names_the_cause_and_the_other_places(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    projects.run("check", "--output-format", "json")
    first, *others = json.loads(capsys.readouterr().out)
    assert [one["cause"] for one in (first, *others)] == [first["fingerprint"]] * 3
    assert first["related"] == [{key: one[key] for key in ("path", "line", "column")} for one in others]
    assert all(one["related"] == [{key: first[key] for key in ("path", "line", "column")}] for one in others)


def test_sarif_names_the_cause_and_the_other_places(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    projects.run("check", "--output-format", "sarif")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    first, *others = run["results"]
    assert len({one["properties"]["cause"] for one in (first, *others)}) == 1
    same = [one for one in first["relatedLocations"] if "same cause" in one["message"]["text"]]
    assert [one["physicalLocation"] for one in same] == [one["locations"][0]["physicalLocation"] for one in others]
