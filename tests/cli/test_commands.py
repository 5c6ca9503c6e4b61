"""The commands other than `check`, and how the process ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import loaderlint
import loaderlint.lsp
from loaderlint.rules import RULES
from tests.cli.conftest import Run


def test_a_command_that_does_not_exist(run: Run) -> None:
    result = run("chek")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "loaderlint: no command is called 'chek'; did you mean 'check'?\n"
        "loaderlint: For more information: loaderlint --help\n"
    )


def test_no_command_prints_the_help(run: Run) -> None:
    result = run()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("usage: loaderlint [-h]")
    assert "find faults, and fix them" in result.err


def test_explain_takes_names_and_codes(run: Run) -> None:
    rule = RULES[0]
    by_name = run("explain", rule.name)
    assert by_name.code == 0
    assert by_name.out == rule.page.strip() + "\n"
    assert run("explain", rule.code.lower()) == by_name


def test_explain_of_what_is_no_rule(run: Run) -> None:
    result = run("explain", RULES[0].name + "x")
    assert (result.code, result.out) == (2, "")
    assert f"did you mean '{RULES[0].name}'?" in result.err


def test_rules(run: Run) -> None:
    lines = run("rules").out.splitlines()
    assert len(lines) == len(RULES)
    assert all(rule.code in line and rule.summary in line for rule, line in zip(RULES, lines, strict=True))


def test_rules_as_json(run: Run) -> None:
    entries = json.loads(run("rules", "--output-format", "json").out)
    assert [entry["name"] for entry in entries] == [rule.name for rule in RULES]
    assert set(entries[0]) == {"code", "name", "severity", "needs", "summary", "fix", "enabled_by_default"}


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], ("stdio", "127.0.0.1", 2087)),
        (["--stdio"], ("stdio", "127.0.0.1", 2087)),
        (["--tcp", "--port", "0"], ("tcp", "127.0.0.1", 0)),
        (["--ws", "--host", "::1"], ("ws", "::1", 2087)),
        (["--cache-dir", "kept"], ("stdio", "127.0.0.1", 2087, "kept")),
        (["--no-cache"], ("stdio", "127.0.0.1", 2087, True)),
    ],
)
def test_server(run: Run, monkeypatch: pytest.MonkeyPatch, flags: list[str], expected: tuple[object, ...]) -> None:
    started = []

    def serve(*arguments: object, **cache: object) -> int:
        started.append((*arguments, *filter(None, cache.values())))
        return 7

    monkeypatch.setattr(loaderlint.lsp, "main", serve)
    assert run("server", *flags).code == 7
    assert started == [expected]


def test_two_transports_are_one_too_many(run: Run) -> None:
    assert run("server", "--tcp", "--ws").code == 2


def test_version(run: Run) -> None:
    assert run("--version").out == f"loaderlint {loaderlint.__version__}\n"


def _start(*arguments: str, **keywords: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(loaderlint.__file__).parents[1])}
    command = [sys.executable, *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, **keywords)  # type: ignore[call-overload, no-any-return]


_LONG = """
import sys
from loaderlint import cli
def chatter(chosen):
    while True:
        print('x' * 4096)
cli._rules = chatter
sys.argv = ['loaderlint', 'rules']
cli.entry()
"""

_SLOW = """
import sys, time
from loaderlint import cli
def work(chosen):
    print('ready', flush=True)
    time.sleep(60)
cli._rules = work
sys.argv = ['loaderlint', 'rules']
cli.entry()
"""


_COLLECTING = """
import atexit, gc, sys
from loaderlint import cli
from loaderlint.lsp import server
def tell(*args):
    print(gc.isenabled(), flush=True)
    return 0
cli._rules = server.serve = tell
atexit.register(lambda: print(len(gc.get_objects()) < 1000))
sys.argv = ['loaderlint', *sys.argv[1:]]
cli.entry()
"""


@pytest.mark.parametrize(("command", "collects"), [("rules", "False"), ("server", "True")])
def test_the_collector_looks_through_what_a_server_holds_only(command: str, collects: str) -> None:
    """Otherwise it would take a tenth of the time of a check, a quarter of that at exit."""
    out, err = _start("-c", _COLLECTING, command).communicate()
    assert out.decode().split() == [collects, "True"], err.decode()


def test_a_reader_that_leaves_is_no_traceback() -> None:
    process = _start("-c", _LONG)
    assert process.stdout and process.stderr
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 2


def test_a_fault_of_ours_is_not_taken_for_findings() -> None:
    process = _start("-c", _LONG.replace("print('x' * 4096)", "raise ValueError('broken')"))
    (err,) = process.communicate()[1].decode().splitlines()
    assert process.returncode == 2
    assert err.startswith("loaderlint: internal error: ValueError: broken") and "LOADERLINT_DEBUG=1" in err


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to send")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_no_traceback() -> None:
    process = _start("-c", _SLOW)
    assert process.stdout and process.stderr
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == b""
    assert process.wait() == 130


def test_the_light_commands_load_no_heavy_libraries() -> None:
    code = (
        "import sys\n"
        "from loaderlint import cli\n"
        "cli.main(['rules'])\n"
        "heavy = {'libcst', 'rich', 'pygls', 'lsprotocol', 'pathspec'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    process = _start("-c", code)
    assert process.communicate()[1] == b"[]\n"


_FINDING = """
from torch.utils.data import DataLoader, Dataset

class BadRecord(Exception):
    def __init__(self, path, index):
        super().__init__(f"{path}: {index}" "!")

class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        raise BadRecord("a.bin", index)

for batch in DataLoader(Rows(), batch_size=2, num_workers=2):
    print(batch)
"""


def test_a_check_that_shows_places_and_no_fix_does_not_import_libcst(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_FINDING, "utf-8")
    code = (
        "import sys\n"
        "from loaderlint import cli\n"
        "cli.main(['check', '--no-cache', '--select', 'LDR305', 'train.py'])\n"
        "print('libcst' in sys.modules, file=sys.stderr)"
    )
    out, err = _start("-c", code, cwd=tmp_path).communicate()
    assert b"train.py:13:15: information: " in out and b"LDR305" in out
    assert err == b"False\n"
