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

SHELLS = ("bash", "zsh", "fish", "powershell")
#: The programs that run the code, where they are not called as the shell is.
PROGRAMS = {"powershell": "pwsh"}


def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command."""
    (group,) = (one for one in cli._parser()._actions if isinstance(one, argparse._SubParsersAction))
    return dict(group.choices)


def needed(shell: str) -> str:
    """The program that runs a shell's code; skips the test if it is not installed."""
    called = PROGRAMS.get(shell, shell)
    if shutil.which(called) is None:
        pytest.skip(f"{called} is not installed")
    return called


def run(shell: str, program: str, folder: Path) -> list[str]:
    """The lines that a program in a shell prints when the completions are loaded."""
    called = needed(shell)
    code = folder / "completions.ps1"  # PowerShell wants this ending, to the others it is the same
    code.write_text(completions(cli._parser(), shell))
    command = [called, "-c", f". {code}\n{program}"]
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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])  # PowerShell has no such flag
def test_the_shell_reads_it(tmp_path: Path, shell: str) -> None:
    needed(shell)
    (tmp_path / "completions").write_text(completions(cli._parser(), shell))
    subprocess.run([shell, "-n", str(tmp_path / "completions")], check=True, timeout=60)


BASH = """
COMP_WORDS=(loaderlint {words} "{last}"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_loaderlint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# `string replace` fails if it replaced nothing, which is fine: words need no description.
FISH = "complete -C 'loaderlint {words} {last}' | string replace -r '\\t.*' ''; true"
POWERSHELL = """
$line = 'loaderlint {words} {last}'.Replace('  ', ' ')
[System.Management.Automation.CommandCompletion]::CompleteInput($line, $line.Length, $null).CompletionMatches |
    ForEach-Object {{ $_.CompletionText }}
"""


@pytest.mark.parametrize(("shell", "program"), [("bash", BASH), ("fish", FISH), ("powershell", POWERSHELL)])
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


def test_powershell_gets_each_value_in_quotes() -> None:
    """Its code is data between two fixed parts: this reads the data, also where PowerShell is not installed."""
    text = completions(cli._parser(), "powershell")
    tables = dict(re.findall(r"^    \$(\w+) = @\{\n((?: {8}.*\n)*)    \}$", text, re.MULTILINE))
    rows = {name: dict(re.findall(r"^ {8}'(.*)' = @\((.*)\)$", table, re.MULTILINE)) for name, table in tables.items()}
    assert set(rows["words"]) == set(rows["flags"]) == {"", *parsers()}
    assert rows["words"]["completions"] == "'bash', 'zsh', 'fish', 'powershell'"
    assert "'spawn'" in rows["values"]["check --start-method"].split(", ")
    lists, texts = (re.search(rf"^    \${name} = @\((.*)\)$", text, re.MULTILINE) for name in ("lists", "texts"))
    assert lists is not None and "'check --select'" in lists[1].split(", ")
    assert texts is not None and "'check --config'" in texts[1].split(", ")
    assert text.count("{") == text.count("}")
    for table in rows.values():  # a table of PowerShell takes `-q` and `-Q` for one key twice, which is an error
        assert len({key.casefold() for key in table}) == len(table)
