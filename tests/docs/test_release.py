"""What a release and the repository's own automation say: notes, workflows, the action, issue forms, the schema."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import loaderlint
from scripts import release_notes
from scripts.generate_docs import ROOT

CHANGELOG = """\
# Changelog

## 0.3.0 (not released)

- One.

## 0.2.0 (2026-01-02)

- Two ([why](docs/ci.md), [more](https://x.org)).

## 0.1.0 (2025-12-01)
"""


def loaded(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text("utf-8"))


# --- notes ------------------------------------------------------------------------------------------------------------


def test_the_notes_are_the_section_of_the_version() -> None:
    told = release_notes.notes("v0.2.0", CHANGELOG, "0.2.0")
    assert told == (
        "- Two ([why](https://github.com/loaderlint/loaderlint/blob/v0.2.0/docs/ci.md), [more](https://x.org)).\n"
    )


@pytest.mark.parametrize(
    ("tag", "version", "why"),
    [
        ("v0.2.1", "0.2.0", "the version is 0.2.0"),
        ("0.2.0", "0.2.0", "tag v0.2.0"),
        ("v0.3.0", "0.3.0", "write the date"),
        ("v0.1.0", "0.1.0", "no section"),
        ("v0.9.0", "0.9.0", "no section"),
        ("v0.2.", "0.2.", "no section"),
    ],
)
def test_a_release_that_is_not_ready_has_no_notes(tag: str, version: str, why: str) -> None:
    with pytest.raises(release_notes.NoNotes, match=re.escape(why)):
        release_notes.notes(tag, CHANGELOG, version)


# --- workflows --------------------------------------------------------------------------------------------------------


def test_every_python_that_is_supported_is_tested_on_every_system() -> None:
    matrix = loaded(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    supported = re.findall(
        r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8")
    )
    assert matrix["python"] == supported
    assert {one.partition("-")[0] for one in matrix["os"]} == {"ubuntu", "windows", "macos"}


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_a_workflow_may_write_only_what_a_job_needs(name: str) -> None:
    workflow = loaded(f".github/workflows/{name}.yml")
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"]
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout"):
                assert step["with"]["persist-credentials"] is False


def test_what_workflows_run_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        assert set(re.findall(r"run: make ([\w-]+)", text)) <= targets
        for module in re.findall(r"python -m scripts\.(\w+)", text):
            assert (ROOT / "scripts" / f"{module}.py").exists()
        for folder in re.findall(r"tests/[\w/]+", text):
            assert (ROOT / folder).is_dir()


def test_issue_forms_ask_for_what_helps() -> None:
    forms = {path.stem: path.read_text("utf-8") for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}
    assert forms.keys() == {"config", "false-alarm", "missed-bug", "crash"}
    for name in ("false-alarm", "missed-bug"):
        assert "`loaderlint explain FILE:LINE`" in forms[name]


def test_one_version_in_the_citation() -> None:
    assert loaded("CITATION.cff")["version"] == loaderlint.__version__


# --- the action -------------------------------------------------------------------------------------------------------


bash = pytest.mark.skipif(sys.platform == "win32", reason="writes a program into a folder")


def step(name: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as GitHub does."""
    (script,) = (one["run"] for one in loaded("action.yml")["runs"]["steps"] if one.get("name") == name)
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True)


@bash
@pytest.mark.parametrize(("version", "installed"), [("", "/path of/the action"), ("0.1.0", "loaderlint==0.1.0")])
def test_the_action_installs_itself_or_a_version(version: str, installed: str, tmp_path: Path) -> None:
    environment, program = tmp_path / "its environment", tmp_path / "python"
    program.write_text(
        f"""#!{sys.executable}
import pathlib, shutil, sys
if sys.argv[1:3] == ["-m", "venv"]:
    (pathlib.Path(sys.argv[3]) / "bin").mkdir(parents=True)
    shutil.copy(__file__, pathlib.Path(sys.argv[3]) / "bin" / "python")
print(sys.argv[1:])
"""
    )
    program.chmod(0o755)
    variables = {
        "PYTHON": str(program),
        "VERSION": version,
        "ACTION": "/path of/the action",
        "FOLDER": str(environment),
    }
    done = step("Install loaderlint", tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    made, pip = done.stdout.splitlines()
    assert made == str(["-m", "venv", str(environment)])
    assert pip == str(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", installed])


@bash
@pytest.mark.slow
def test_the_action_installs_and_checks(tmp_path: Path) -> None:
    variables = {"PYTHON": sys.executable, "VERSION": "", "ACTION": str(ROOT), "FOLDER": str(tmp_path / "its own")}
    theirs = {**variables, "FORMAT": "github", "ARGS": "", "PYTHONPATH": ""}
    done = step("Install loaderlint", tmp_path, **theirs)
    if "NewConnectionError" in done.stderr or "No matching distribution found for hatchling" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr
    done = step("Check", ROOT / "examples", **theirs)
    assert done.returncode == 1 and "::error " in done.stdout, done.stderr


@bash
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ("", 1, "::error "),
        ("transforms.py --select shared-generator", 1, "LDR102"),
        ("model.py", 0, ""),
        ("model.py; echo $HOME `id`", 2, ""),
    ],
)
def test_the_action_checks(arguments: str, code: int, told: str, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "loaderlint"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m loaderlint "$@"\n')
    program.chmod(0o755)
    server = str(Path(loaderlint.__file__).parents[1])
    variables = {"FOLDER": str(tmp_path), "FORMAT": "github", "ARGS": arguments, "PYTHONPATH": server}
    done = step("Check", ROOT / "examples", **variables)
    assert done.returncode == code, done.stderr
    assert told in done.stdout


# --- the schema of the settings ---------------------------------------------------------------------------------------

SCHEMA = json.loads((ROOT / "docs" / "loaderlint.schema.json").read_text("utf-8"))
FULL = {
    "select": ["shared-generator", "LDR2", "LDR103", "ALL"],
    "extend-select": ["LDR999"],
    "ignore": [],
    "per-file-ignores": {"tests/*": ["LDR4"]},
    "severity": {"shared-generator": "hint", "LDR1": "error"},
    "exclude": ["third_party/"],
    "target-torch": ">=1.8,<2.1",
    "target-python": "3.14",
    "platforms": ["linux", "windows"],
    "start-method": "spawn",
    "loaders": {"make_loader": {"dataset": "data", "workers": 2, "seeds": True}},
    "baseline": "loaderlint-baseline.json",
}


def test_the_schema_is_one_and_describes_every_setting() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert SCHEMA["properties"].keys() == FULL.keys()
    assert all(one["description"] and one.keys() & {"type", "allOf", "anyOf"} for one in SCHEMA["properties"].values())


@pytest.mark.parametrize("settings", [{}, FULL, {"loaders": ["make_loader"]}, *({key: FULL[key]} for key in FULL)])
def test_the_schema_accepts_what_is_right(settings: dict[str, Any]) -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"selects": []},
        {"select": "LDR1"},
        {"select": ["shared-generators"]},
        {"select": ["LDR1234"]},
        {"severity": {"shared-generator": "fatal"}},
        {"severity": {"shared": "hint"}},
        {"per-file-ignores": {"tests/*": "LDR4"}},
        {"target-torch": 2.4},
        {"platforms": ["solaris"]},
        {"start-method": ""},
        {"loaders": {"make_loader": {"data": 1}}},
        {"targetTorch": "2.4"},
    ],
)
def test_the_schema_refuses_what_is_wrong(settings: dict[str, Any]) -> None:
    assert not jsonschema.Draft7Validator(SCHEMA).is_valid(settings)
