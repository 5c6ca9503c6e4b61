"""`completions`: each shell that is installed completes every command, flag and choice of the parser."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.commands.completions import completions
from loaderlint.rules import RULES

SHELLS = ("bash", "zsh", "fish")


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    (group,) = (one for one in cli._parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(group.choices)


def run(shell: str, program: str, folder: Path) -> list[str]:
    """The lines that a program in a shell prints when the completions are loaded."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (folder / "completions").write_text(completions(cli._parser(), shell))
    command = [shell, "-c", f". {folder / 'completions'}\n{program}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_flag_is_named(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completions", shell]) == 0
    text = capsys.readouterr().out
    prefix = "-l " if shell == "fish" else "--"
    for name, parser in parsers().items():
        assert re.search(rf"\b{name}\b", text)
        flags = [flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")]
        assert [flag for flag in flags if prefix + flag.removeprefix("--") not in text] == []


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_reads_it(tmp_path: Path, shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "completions").write_text(completions(cli._parser(), shell))
    subprocess.run([shell, "-n", str(tmp_path / "completions")], check=True, timeout=60)


BASH = """
COMP_WORDS=(loaderlint {words} "{last}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_loaderlint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# `string replace` fails if it replaced nothing, which is fine: words need no description.
FISH = "complete -C 'loaderlint {words} {last}' | string replace -r '\\t.*' ''; true"


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("fish", FISH)])
@pytest.mark.parametrize(
    ("words", "last", "expected"),
    [
        ("", "ex", ["explain"]),
        ("check", "--output-fo", ["--output-format"]),
        ("check --output-format", "sa", ["sarif"]),
        ("check --select", "shared-generator,opencv", ["shared-generator,opencv-threads-in-workers"]),
        ("check --platforms linux", "--start-m", ["--start-method"]),
        ("check --start-method", "spa", ["spawn"]),
        ("explain", "opencv", ["opencv-threads-in-workers"]),
        ("completions", "fi", ["fish"]),
    ],
)
def test_words_are_completed(
    tmp_path: Path, shell: str, program: str, words: str, last: str, expected: list[str]
) -> None:
    assert run(shell, program.format(words=words, last=last), tmp_path) == expected


def test_rules_are_all_there() -> None:
    text = completions(cli._parser(), "bash")
    assert [rule.name for rule in RULES if not re.search(rf"[\s\"]{rule.name}[\s\"]", text)] == []
