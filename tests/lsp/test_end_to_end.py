"""The real process with the real engine: from keystrokes to findings and fixes."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from loaderlint.cache import audit_results
from loaderlint.findings.audits import Audit, Fault
from loaderlint.lsp.text_positions import Encoding
from tests.lsp.editor import Editor, editor
from tests.lsp.session import run

DATA = """\
import numpy as np
from torch.utils.data import Dataset


class AugDataset(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return "\U0001f600", self.items[index] + np.random.rand()
"""
TRAIN = """\
from torch.utils.data import DataLoader

from data import AugDataset

train_loader = DataLoader(AugDataset([1, 2, 3]), batch_size=2, num_workers=4)

for batch in train_loader:
    print(batch)
"""
NAME = "duplicate-numpy-randomness"
#: Up to this version, all workers draw the same numbers.
OLD = {"targetTorch": "1.8.1"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "data.py").write_text(DATA, encoding="utf-8")
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    return tmp_path


@asynccontextmanager
async def window(folder: Path, encoding: Encoding = "utf-16", settings: Any = OLD) -> AsyncIterator[Editor]:
    command = (sys.executable, "-m", "loaderlint", "server")
    async with editor(*command, folder=folder, encoding=encoding, asked=True, settings=settings) as opened:
        yield opened
        assert opened.client.messages == [], "something popped up"


def place(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


def insertion(line: int, column: int, text: str) -> types.TextEdit:
    return types.TextEdit(range=place(line, column, column), new_text=text)


@pytest.mark.parametrize(("encoding", "width"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_a_fault_that_takes_two_files_and_its_fix(project: Path, encoding: Encoding, width: int) -> None:
    async def scenario() -> None:
        async with window(project, encoding) as opened:
            data, train = opened.open(project / "data.py"), opened.open(project / "train.py")
            (shown,) = await opened.diagnostics(data)
            start = 16 + width + 3 + len("self.items[index] + ")
            assert shown.range == place(12, start, start + len("np.random.rand()"))
            assert shown.code == "LDR101" and shown.source == "loaderlint"
            assert "`train_loader` in train.py" in shown.message
            assert shown.code_description is not None and shown.code_description.href.endswith(NAME)
            (related,) = shown.related_information or ()
            assert (related.location.uri, related.location.range.start.line) == (train, 4)
            page = await opened.hover(data, shown.range.start)
            assert page is not None and page.startswith(f"### {NAME}")
            assert await opened.diagnostics(train) == []

            await opened.fix(data, "Seed each worker", shown.range)
            assert opened.buffers[data].text == DATA
            assert "worker_init_fn=seed_worker" in opened.buffers[train].text
            ast.parse(opened.buffers[train].text)
            assert await opened.diagnostics(data) == []

    run(scenario())


def test_a_fix_in_a_file_that_is_not_open(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            (shown,) = await opened.diagnostics(data)
            action = next(one for one in await opened.actions(data, shown.range) if one.is_preferred)
            edit = (await opened.client.code_action_resolve_async(action)).edit
            assert edit is not None
            (change,) = edit.document_changes or ()
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.uri == (project / "train.py").as_uri()
            assert change.text_document.version is None
            assert not any(isinstance(one, types.AnnotatedTextEdit) for one in change.edits)  # safe: no confirmation

    run(scenario())


def test_fix_all(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data, train = opened.open(project / "data.py"), opened.open(project / "train.py")
            await opened.diagnostics(data)
            await opened.fix(data, "Fix all loaderlint findings", place(0, 0, 0))
            assert "worker_init_fn=seed_worker" in opened.buffers[train].text
            assert await opened.diagnostics(data) == []

    run(scenario())


def test_suppress_here(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            (shown,) = await opened.diagnostics(data)
            silence = next(one for one in await opened.actions(data, shown.range) if one.title.startswith("Suppress"))
            assert silence.edit is not None
            opened.apply(silence.edit)
            assert f"np.random.rand()  # loaderlint: ignore[{NAME}]\n" in opened.buffers[data].text
            assert await opened.diagnostics(data) == []

    run(scenario())


def test_an_edit_in_one_file_changes_what_is_shown_in_another(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data, train = opened.open(project / "data.py"), opened.open(project / "train.py")
            assert len(await opened.diagnostics(data)) == 1
            line = TRAIN.splitlines()[4]
            column = line.index("4")
            opened.edit(train, [types.TextEdit(range=place(4, column, column + 1), new_text="0")])
            assert await opened.diagnostics(data) == []
            opened.edit(train, [types.TextEdit(range=place(4, column, column + 1), new_text="2")])
            assert len(await opened.diagnostics(data)) == 1

    run(scenario())


def test_half_typed_text_keeps_the_findings(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            (shown,) = await opened.diagnostics(data)
            opened.edit(data, [insertion(3, 0, "def half(typed\n")])
            (moved,) = await opened.diagnostics(data)
            assert moved.range.start.line == shown.range.start.line + 1
            # Also in the function itself: the line of the finding is still there.
            opened.edit(data, [insertion(12, 0, "        if (\n")])
            (kept,) = await opened.diagnostics(data)
            assert kept.range.start.line == moved.range.start.line + 1

    run(scenario())


def test_a_file_that_changes_on_disk(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            assert len(await opened.diagnostics(data)) == 1
            train = project / "train.py"
            train.write_text(TRAIN.replace("num_workers=4", "num_workers=0"))
            changed = types.FileEvent(uri=train.as_uri(), type=types.FileChangeType.Changed)
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[changed]))
            assert await opened.diagnostics(data) == []
            train.unlink()
            (project / "other.py").write_text(TRAIN)
            events = [
                types.FileEvent(uri=train.as_uri(), type=types.FileChangeType.Deleted),
                types.FileEvent(uri=(project / "other.py").as_uri(), type=types.FileChangeType.Created),
            ]
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=events))
            (shown,) = await opened.diagnostics(data)
            assert "other.py" in shown.message

    run(scenario())


def test_an_audit_is_shown_when_its_record_changes(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            (before,) = await opened.diagnostics(data)
            files = {str(path): audit_results.content_digest(path.read_bytes()) for path in project.glob("*.py")}
            fault = Fault("workers-draw-alike", NAME, ((str(project / "data.py"), 13),))
            audit_results.record(
                project, [Audit("train.py", "", (), 4, 2, 8, "fork", "1.8.1", "3.12.1", files, (fault,), ())]
            )
            record = audit_results.file_of(project)
            assert record is not None
            changed = types.FileEvent(uri=record.as_uri(), type=types.FileChangeType.Created)
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[changed]))
            (after,) = await opened.diagnostics(data)
            said = "workers drew the same numbers in the audit of train.py"
            assert said not in before.message and said in after.message

    run(scenario())


def test_settings_in_the_editor_and_in_files(project: Path) -> None:
    async def scenario() -> None:
        async with window(project, settings={"ignore": [NAME], **OLD}) as opened:
            data = opened.open(project / "data.py")
            assert await opened.diagnostics(data) == []
            opened.client.set_configuration({"loaderlint": OLD})
            opened.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
            while not await opened.diagnostics(data):  # the server asks for the settings first
                pass
            (project / "pyproject.toml").write_text(f'[tool.loaderlint]\nignore = ["{NAME}"]\n')
            changed = types.FileEvent(uri=(project / "pyproject.toml").as_uri(), type=types.FileChangeType.Changed)
            opened.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes=[changed]))
            assert await opened.diagnostics(data) == []

    run(scenario())


def test_settings_of_the_editor_alone_mean_nothing_to_the_server(project: Path) -> None:
    """The client that reads `enable` stops the server. The server ignores it, and does not call it unknown."""

    async def scenario() -> None:
        theirs = {"enable": False, "trace": {"server": "verbose"}, "server": {"path": "x"}, "auditLens": False}
        async with window(project, settings={**theirs, **OLD}) as opened:
            (found,) = await opened.diagnostics(opened.open(project / "data.py"))
            assert found.code == "LDR101"
            assert opened.client.messages == [] and opened.client.log_messages == []

    run(scenario())


def test_a_wrong_setting_is_told_in_the_log(project: Path) -> None:
    async def scenario() -> None:
        async with window(project, settings={"startMethod": "fork", "ignore": ["no-such-rule"], **OLD}) as opened:
            data = opened.open(project / "data.py")
            await opened.settled(data)
            assert any("no-such-rule" in message.message for message in opened.client.log_messages)

    run(scenario())


#: Texts that could stop a server, by file name.
HOSTILE_TEXTS = {
    "open_brackets": "(" * 100_000,
    "brackets": "x = " + "[" * 3_000 + "]" * 3_000 + "\n",
    "operators": "x = " + " + ".join(["1"] * 30_000) + "\n",
    "python_2": "print 'Python 2'\n\tx\n  y\n",
    "strange_signs": "\0\x0c\u2028\ud800",
    "long": "x = 1\n" * 200_000,
    "byte_order_mark": "\ufeff",
}


def test_text_that_could_stop_the_server(project: Path) -> None:
    """One server gets one text after the other, each alone in a file and inside a file with a finding."""

    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py")
            assert len(await opened.diagnostics(data)) == 1
            for name, text in HOSTILE_TEXTS.items():
                bad = opened.open(project / f"{name}.py", text)
                await opened.settled(bad)
                opened.edit(data, [insertion(0, 0, text[:20_000] + "\n")])
                await opened.settled(data)
                opened.edit(data, [types.TextEdit(range=place(0, 0, 0), new_text="")])
                everything = types.Range(types.Position(0, 0), types.Position(10**6, 0))
                opened.edit(data, [types.TextEdit(range=everything, new_text=DATA)])
                assert len(await opened.diagnostics(data)) == 1, name

    run(scenario())


def test_positions_behind_signs_that_end_no_line(project: Path) -> None:
    text = DATA.replace("import numpy", "# a\u2028b\x0cc\x85d\nimport numpy").replace("\n", "\r\n")

    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py", text)
            (shown,) = await opened.diagnostics(data)
            assert shown.range.start == types.Position(13, 41)

    run(scenario())


def test_an_encoding_cookie_does_not_move_columns(project: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n" + DATA.replace("\U0001f600", "\u00e9\u00e9")

    async def scenario() -> None:
        async with window(project) as opened:
            data = opened.open(project / "data.py", text)
            (shown,) = await opened.diagnostics(data)
            assert shown.range.start == types.Position(13, 41)
            opened.edit(data, [insertion(13, 40, " ")])
            (shown,) = await opened.diagnostics(data)
            assert shown.range.start == types.Position(13, 42)

    run(scenario())


def test_a_file_outside_the_workspace(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "alone.py").write_text(DATA + TRAIN.replace("from data import AugDataset\n", ""), encoding="utf-8")

    async def scenario() -> None:
        async with window(project) as opened:
            alone = opened.open(elsewhere / "alone.py")
            assert len(await opened.diagnostics(alone)) == 1

    run(scenario())


def test_a_new_file_that_is_not_on_disk_yet(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as opened:
            new = opened.open(project / "new.py", DATA + TRAIN.replace("from data import AugDataset\n", ""))
            assert len(await opened.diagnostics(new)) == 1

    run(scenario())


def test_what_a_baseline_keeps_is_not_shown(project: Path) -> None:
    flags = ["--target-torch", "1.8.1", "--write-baseline", "known.json"]
    subprocess.run([sys.executable, "-m", "loaderlint", "check", *flags], cwd=project, check=True, capture_output=True)

    async def scenario() -> None:
        async with window(project, settings={**OLD, "baseline": "known.json"}) as opened:
            assert await opened.diagnostics(opened.open(project / "data.py")) == []
        async with window(project) as opened:
            assert len(await opened.diagnostics(opened.open(project / "data.py"))) == 1

    run(scenario())


def test_the_whole_workspace_has_as_many_findings_as_the_command_line_counts(project: Path) -> None:
    sources = (DATA, TRAIN.replace("from data import AugDataset", ""))
    cells = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []} for source in sources]
    (project / "draw.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    (project / "lines.py").write_text(
        "import cv2\n" + DATA.replace("np.random", "cv2.resize(image, (3, 3)); np.random")
    )
    command = [sys.executable, "-m", "loaderlint", "check", "--target-torch", "1.8.1", "--output-format"]
    told = subprocess.run([*command, "concise"], cwd=project, capture_output=True, text=True).stdout.splitlines()
    files = {line.split(":")[0] for line in told[:-1]}
    assert "draw.ipynb" in files

    async def scenario() -> None:
        async with window(project) as here:
            found = await here.client.protocol.send_request_async("loaderlint/checkWorkspace", {})
            assert (found.findings, found.files) == (len(told) - 1, len(files))
            assert told[-1].startswith(f"{found.findings} findings")

    run(scenario())


def test_what_a_loader_starts_and_for_whom_a_function_runs(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as here:
            train, data = here.open(project / "train.py"), here.open(project / "data.py")
            await here.settled(train)
            identifier = types.TextDocumentIdentifier(uri=train)
            (lens,) = await here.client.text_document_code_lens_async(types.CodeLensParams(identifier)) or ()
            assert lens.range.start.line == 4 and lens.command is not None
            assert lens.command.title == "num_workers=4: 1 function in its workers, 1 object copied into each"
            loader = await here.hover(train, types.Position(4, 2))
            assert loader is not None and "Runs in its workers: `AugDataset.__getitem__`" in loader
            function = await here.hover(data, types.Position(11, 10))
            assert function is not None
            assert function.startswith(
                "**`AugDataset.__getitem__`** runs\n- in the workers of `train_loader` in train.py"
            )
            assert await here.hover(data, types.Position(8, 9)) is None, "runs in the main process"
            draw = await here.hover(data, types.Position(12, 50))
            assert draw is not None and "torch 1.8.1, from the setting target-torch" in draw

    run(scenario())


def test_a_message_of_a_worker_leads_to_the_pages_of_its_rules(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as here:
            message = {"text": "EOFError: Ran out of input"}
            told = await here.client.protocol.send_request_async("loaderlint/symptom", message)
            assert "\n# unpicklable-state (LDR302)\n" in told.text

    run(scenario())
