"""`loaderlint survey`, as it is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from loaderlint import cli
from loaderlint.survey import html_page
from tests.survey.made import three


class Ran(NamedTuple):
    """What a run left behind."""

    code: int
    out: str
    err: str


class Run(Protocol):
    """Runs the command."""

    def __call__(self, *arguments: str) -> Ran:
        """With these arguments."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command line in a folder that has the folder `repositories`."""
    three(tmp_path / "repositories")
    monkeypatch.chdir(tmp_path)

    def go(*arguments: str) -> Ran:
        code = cli.main(["survey", *arguments])
        return Ran(code, *capsys.readouterr())

    return go


def counted(ran: Ran) -> dict[str, Any]:
    """The summary, but for what no two runs have in common."""
    summary: dict[str, Any] = json.loads(ran.out)
    return {key: value for key, value in summary.items() if not key.startswith("cpu")}


def test_shards_put_together_are_the_whole(run: Run, tmp_path: Path) -> None:
    whole = run("repositories", "--output-format", "json", "--jobs", "1")
    assert (whole.code, whole.err) == (0, "")
    assert counted(whole)["read"] == 3 and counted(whole)["rules"]
    for number in ("1", "2", "3"):
        part = run("repositories", "--shard", f"{number}/3", "--results", f"{number}.jsonl", "--jobs", "1")
        assert part.code == 0 or "no repository" in part.err
    parts = [str(path) for path in sorted(tmp_path.glob("*.jsonl"))]
    assert len(parts) > 1, "other names are needed: all are in one shard"
    together = run("merge", *parts, "--output-format", "json", "--results", "all.jsonl", "--html", "page.html")
    assert counted(together) == counted(whole)
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_page_needs_an_extra(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_page, "_PACKAGES", {"json": "json", "no_such_module": "no-such-package"})
    ran = run("repositories", "--html", "page.html", "--results", "results.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert "no-such-package" in ran.err and "pip install 'loaderlint[survey]'" in ran.err
    assert not (tmp_path / "results.jsonl").exists(), "it says so before it begins"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--shard", "4/3", "repositories"], "write 1/8 to 8/8"),
        (["--shard", "0/3", "repositories"], "write 1/8 to 8/8"),
        (["nowhere"], "nowhere: No such file"),
        (["merge"], "the files that survey --results wrote"),
        (["merge", "nothing.jsonl"], "nothing.jsonl: No such file"),
        (["merge", "a.jsonl", "--shard", "1/2"], "leave --shard"),
        (["repositories", "--repositories-from", "list"], "not both"),
        (["repositories", "--html", "no/page.html"], "there is no such folder"),
        (["repositories/plain/add.py"], "Not a directory"),
    ],
)
def test_what_cannot_be_done(run: Run, arguments: list[str], told: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
