"""`diagnose` over what real programs printed: it names the rule or the cure, and finds the line that is the cause."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from loaderlint import cli
from loaderlint.explanations.tracebacks import Call, calls_in, conditions
from loaderlint.knowledge.symptoms import main_ones, sections, seen_in
from loaderlint.rules import RULES
from loaderlint.settings import settings

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "programs").glob("*.py"))
_CAUSE = re.compile(r"# cause: (?P<rule>[a-z-]+)")

#: What the programs without a line to blame lead to.
CURES = {
    "memory_map_edited": "edit a copy: `image = image.copy()`; stored-data-mutation says more",
    "samples_of_different_sizes": "pad or crop in `__getitem__`, or pass a `collate_fn`",
    "length_of_a_stream": "define `__len__`, or do not call `len`",
    "worker_killed": "object-list-growth; arrays, tensors or Arrow instead of lists of objects",
    "exception_with_its_own_arguments": "lossy-worker-exception",
}


def recorded(name: str) -> str:
    return (HERE / "recorded" / f"{name}.txt").read_text("utf-8")


def diagnosed(folder: Path, text: str, capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, str]:
    """The exit code and the output for a text and a project."""
    (folder / "output.txt").write_text(text, "utf-8")
    settings.clear()
    code = cli.main(["diagnose", str(folder / "output.txt"), "--project", str(folder), *flags])
    return code, capsys.readouterr().out


@pytest.mark.parametrize("program", PROGRAMS, ids=[one.stem for one in PROGRAMS])
def test_the_cause_is_found(tmp_path: Path, program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = program.read_text("utf-8")
    (tmp_path / "train.py").write_text(text, "utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.loaderlint]\nplatforms = ["linux"]\n')
    code, out = diagnosed(tmp_path, recorded(program.stem), capsys, "--output-format", "json")
    told = json.loads(out)
    assert code == 0
    if program.stem in CURES:
        assert told["symptoms"][0]["cure"] == CURES[program.stem]
        return
    blamed = [(line, found["rule"]) for line, one in enumerate(text.split("\n"), 1) if (found := _CAUSE.search(one))]
    first = told["findings"][0]
    assert [(first["line"], first["name"])] == blamed
    assert first["name"] in told["symptoms"][0]["rules"]


@pytest.mark.parametrize("program", PROGRAMS, ids=[one.stem for one in PROGRAMS])
def test_what_other_programs_print_before_and_after_is_no_hindrance(program: Path) -> None:
    text = recorded(program.stem)
    lines = ["Epoch 1: loss 0.5", "DEBUG NameError is a class", *text.splitlines(), "Killed"]
    symptoms = [one.symptom for one in main_ones(seen_in(lines))]
    assert symptoms == [one.symptom for one in main_ones(seen_in(text.splitlines()))] != []


def test_each_message_of_the_page_leads_to_its_own_row() -> None:
    for section in sections():
        for row in section.symptoms:
            for shown in re.findall(r"`([^`]+)`", row.shown) if row.messages or row.aside else ():
                if shown.count(" ") < 3:
                    continue
                text = re.sub(r"\b[NM]\b", "12", shown).replace("...", "abc")
                found = seen_in([text, *row.needs[:1]])
                assert [one.symptom for one in found] == [row], shown


def test_every_rule_of_the_table_exists() -> None:
    names = {rule.name for rule in RULES}
    assert {name for section in sections() for one in section.symptoms for name in one.rules} <= names


@pytest.mark.parametrize(
    "line",
    [
        "TypeError: f() missing 1 required positional argument: 'x'",
        "NameError: name 'x' is not defined",
        "TypeError: object of type 'int' has no len()",
        "KeyError: 'image'",
        "RuntimeError: Caught RuntimeError in DataLoader worker process 0.",
        "INFO worker 3 missing files: 1",
        "AttributeError: 'Model' object has no attribute 'x'",
        "RuntimeError: CUDA out of memory.",
    ],
)
def test_what_is_no_fault_of_a_loader_is_not_recognised(line: str) -> None:
    assert seen_in(["Traceback (most recent call last):", '  File "train.py", line 3, in f', line]) == []


def test_an_unknown_message_shows_the_findings_at_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train.py").write_text((HERE / "programs" / "none_from_getitem.py").read_text())
    line = next(i for i, one in enumerate((tmp_path / "train.py").read_text().split("\n"), 1) if "# cause" in one)
    text = f'Traceback\n  File "/home/me/train.py", line {line}, in __getitem__\nValueError: my own\n'
    code, out = diagnosed(tmp_path, text, capsys)
    assert code == 0
    assert out.startswith("loaderlint knows no message in this text.\n\nAt the lines of the traceback:\n")
    assert " none-sample]" in out
    assert f"The traceback passes line {line} of train.py." in out
    assert diagnosed(tmp_path, text.replace(f"line {line}", "line 1"), capsys)[0] == 1


def test_a_rule_that_finds_nothing_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.py").write_text("")
    code, out = diagnosed(tmp_path, recorded("none_from_getitem"), capsys)
    assert code == 0
    assert "rule or cure: none-sample\n" in out
    assert "No finding of none-sample in this project. For more about it:\n  loaderlint explain none-sample\n" in out


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ('  File "/a/data.py", line 3, in __getitem__', Call(PurePosixPath("/a/data.py"), 3, "__getitem__")),
        ('[rank0]:   File "C:\\a\\data.py", line 3, in f', Call(PureWindowsPath("C:\\a\\data.py"), 3, "f")),
        (
            "File ~/a/data.py:3, in Crops.__getitem__(self, i)",
            Call(PurePosixPath("~/a/data.py"), 3, "Crops.__getitem__"),
        ),
        ("data.py:3: ValueError", Call(PurePosixPath("data.py"), 3, "")),
        ("| /a/my data.py:3 in __getitem__      |", Call(PurePosixPath("/a/my data.py"), 3, "__getitem__")),
        ('  File "<string>", line 1, in <module>', Call(PurePosixPath("<string>"), 1, "<module>")),
        ('  File "/x/site-packages/torch/utils/data/dataloader.py", line 3, in f', None),
        ("see data.py: 3 files", None),
        ("12:30:05 INFO started", None),
    ],
)
def test_calls_are_read(line: str, call: Call | None) -> None:
    assert calls_in([line]) == ([] if call is None else [call])


def test_the_traceback_tells_how_workers_were_started() -> None:
    assert conditions(recorded("lambda_sent_to_spawned_workers").splitlines())["start-method"] == "spawn"
    assert conditions(recorded("lock_on_the_dataset").splitlines())["start-method"] == "forkserver"
    assert conditions(recorded("none_from_getitem").splitlines()) == {"target-python": "3.11"}
    windows = 'File "C:\\Python314\\Lib\\multiprocessing\\popen_spawn_win32.py", line 95, in __init__'
    assert conditions([windows]) == {"start-method": "spawn", "platforms": ["windows"], "target-python": "3.14"}


def test_two_files_that_end_alike_are_not_confused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text((HERE / "programs" / "none_from_getitem.py").read_text())
    text = recorded("none_from_getitem")
    told = json.loads(diagnosed(tmp_path, text, capsys, "--output-format", "json")[1])
    assert [one["traceback_line"] for one in told["findings"]] == [None, None]
    text = text.replace("/project/train.py", "/project/two/train.py")
    told = json.loads(diagnosed(tmp_path, text, capsys, "--output-format", "json")[1])
    assert [Path(one["path"]).parent.name for one in told["findings"]] == ["two", "one"]


def test_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diagnose", str(tmp_path / "gone.txt"), "--project", str(tmp_path)]) == 2
    assert "gone.txt" in capsys.readouterr().err
    code, _ = diagnosed(tmp_path, "ok\n", capsys, "--project", str(tmp_path / "gone"))
    assert code == 2


def test_only_the_beginning_of_a_very_long_line_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed."
    assert diagnosed(tmp_path, f"{message} {'a/' * 500_000}", capsys)[0] == 0
    assert diagnosed(tmp_path, f"{'a/' * 500_000} {message}", capsys)[0] == 1
