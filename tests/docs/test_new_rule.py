"""The skeleton of a rule is a rule: it imports, its page is whole, its cases can be read."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from loaderlint.rules import RULES
from loaderlint.rules.base import Rule
from scripts import new_rule
from tests.docs.test_docs import SECTIONS, headings
from tests.rules import pages


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in (new_rule.RULES, new_rule.CASES):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_the_skeleton_is_a_rule(root: Path) -> None:
    module, cases = new_rule.write(root, "LDR199", "frozen-shuffle-seed", "W2", "warning")
    assert module.as_posix() == "server/loaderlint/rules/frozen_shuffle_seed.py"
    spec = importlib.util.spec_from_file_location("skeleton", root / module)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    rule = loaded.RULE
    assert isinstance(rule, Rule)
    assert (rule.code, rule.name, rule.severity, rule.needs) == ("LDR199", "frozen-shuffle-seed", "warning", "W2")
    assert headings(rule.page) == SECTIONS
    assert rule.summary == "Finds THE FAULT in code that a loader's workers run."
    page = pages.read_page(root / cases)
    assert (page.rule, len(page.cases)) == ("frozen-shuffle-seed", 2)


def test_a_rule_may_be_a_package(root: Path) -> None:
    """Rules with modules of their own are packages: neither their code nor their name is free."""
    module, _ = new_rule.write(root, "LDR101", "first-fault", "W1", "error")
    package = root / module.with_suffix("")
    package.mkdir()
    (root / module).rename(package / "__init__.py")
    (root / new_rule.CASES / "first-fault.md").unlink()
    with pytest.raises(new_rule.Refused, match="LDR101 is taken by server/loaderlint/rules/first_fault/__init__.py"):
        new_rule.write(root, "LDR101", "other-fault", "W1", "error")
    with pytest.raises(new_rule.Refused, match="server/loaderlint/rules/first_fault already exists"):
        new_rule.write(root, "LDR102", "first-fault", "W1", "error")


@pytest.mark.parametrize("tool", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy", "--strict"]])
@pytest.mark.parametrize("over", ["worker function", "loader"])
def test_the_skeleton_is_clean(root: Path, tool: list[str], over: str) -> None:
    module, _ = new_rule.write(root, "LDR199", "frozen-shuffle-seed", "W1", "error", over)
    config = ["--config", str(new_rule.ROOT / "pyproject.toml")] if tool[0] == "ruff" else ["--follow-imports=silent"]
    done = subprocess.run(
        [sys.executable, "-m", *tool, *config, str(root / module)], capture_output=True, text=True, cwd=new_rule.ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("LDR99", "some-fault", "'LDR99' is not a code"),
        ("ABC100", "some-fault", "'ABC100' is not a code"),
        ("LDR100", "SomeFault", "'SomeFault' is not a name"),
        ("LDR100", "fault", "'fault' is not a name"),
        ("LDR101", "other-fault", "LDR101 is taken by server/loaderlint/rules/first_fault.py"),
        ("LDR100", "first-fault", "server/loaderlint/rules/first_fault.py already exists"),
    ],
)
def test_what_is_refused(root: Path, code: str, name: str, message: str) -> None:
    new_rule.write(root, "LDR101", "first-fault", "W1", "error")
    with pytest.raises(new_rule.Refused, match=message):
        new_rule.write(root, code, name, "W1", "error")


def test_nothing_is_left_of_the_skeleton() -> None:
    """The skeleton marks with THE FAULT what has to be written."""
    cases = {path.stem: path.read_text("utf-8") for path in (new_rule.ROOT / new_rule.CASES).glob("*.md")}
    left = [rule.name for rule in RULES if "THE FAULT" in rule.page + cases.get(rule.name, "")]
    assert not left, "replace every THE FAULT in the module of the rule and in its page of cases"
