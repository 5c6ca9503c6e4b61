"""What one rule says about a few lines of code: short answers for tables."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, NoReturn

from loaderlint.engine.run_rules import ask_rules
from loaderlint.findings.finding import Finding, Silence
from loaderlint.rules import RULES
from loaderlint.runtime.internal_errors import Failure
from tests.project.linking import files_of, link_files


class Answers(NamedTuple):
    """What a rule says about a project: its findings, and why it is silent elsewhere."""

    findings: list[Finding]
    silences: list[Silence]

    @property
    def severities(self) -> list[str]:
        """'error', 'possible warning': one for each finding, sorted."""
        words = [("possible " * (one.certainty == "possible"), one.severity.value) for one in self.findings]
        return sorted(map("".join, words))

    @property
    def short(self) -> str:
        """The severities of the findings; where there are none, the reasons of the silences."""
        reasons = dict.fromkeys(f"silent: {one.reason}" for one in self.silences)
        return " | ".join(self.severities or sorted(reasons))


def answers(folder: Path, rule: str, text: str) -> Answers:
    """What the rule of this name says about the project written in `text` (see `link`)."""
    files = files_of(text)
    for name, content in files.items():
        compile(content, name, "exec")
    silences: list[Silence] = []
    (asked,) = (one for one in RULES if one.name == rule)
    found = ask_rules(link_files(folder, files).model, [asked], lambda: False, silences.append, raise_error)
    return Answers(found, silences)


def lines(code: str, indent: int = 0) -> str:
    """Code in which `; ` ends a line, and more spaces after it indent the next one."""
    return "\n".join(f"{' ' * indent}{line}" for line in code.split("; "))


def raise_error(failure: Failure) -> NoReturn:
    """An internal error is an error of the test."""
    raise AssertionError(failure.traceback)
