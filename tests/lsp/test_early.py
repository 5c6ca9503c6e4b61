"""What is shown during the first check of a project, and which process loads the engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.lsp.editor import SERVER, editor
from tests.lsp.session import capabilities, run, session
from tests.lsp.test_engine_process import DATA

URI = "file:///project/a.py"


def test_a_client_that_is_sent_diagnostics_gets_them_early_and_then_all() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(URI, "EARLY BUG GUESS")
            await client.until(lambda: client.published(URI))
            (first,) = client.published(URI)
            assert [one["message"] for one in first["diagnostics"]] == ["BUG is a fault"]
            assert not client.server.analysis.is_settled
            client.change(URI, 2, "EARLY BUG BUG GUESS")
            await client.until(lambda: client.published(URI)[-1]["version"] == 2)
            assert len(client.published(URI)[-1]["diagnostics"]) == 2
            client.backend.release.set()
            assert len(await client.diagnostics(URI)) == 3

    run(scenario())


def test_a_client_that_asks_is_answered_early_and_told_to_ask_again() -> None:
    async def scenario() -> None:
        async with session(capabilities(pulls=True)) as client:
            client.replies["workspace/diagnostic/refresh"] = lambda params: None
            client.open(URI, "EARLY BUG GUESS")
            first = await client.request("textDocument/diagnostic", textDocument={"uri": URI})
            assert len(first["items"]) == 1 and not client.server.analysis.is_settled
            client.backend.release.set()
            await client.until(
                lambda: any(one.get("method") == "workspace/diagnostic/refresh" for one in client.received)
            )
            then = await client.request("textDocument/diagnostic", textDocument={"uri": URI})
            assert len(then["items"]) == 2

    run(scenario())


def test_a_client_that_asks_is_told_to_ask_again_when_more_is_known_early() -> None:
    async def scenario() -> None:
        async with session(capabilities(pulls=True)) as client:
            client.replies["workspace/diagnostic/refresh"] = lambda params: None
            client.open(URI, "EARLY TWICE BUG GUESS")
            assert len((await client.request("textDocument/diagnostic", textDocument={"uri": URI}))["items"]) == 1
            client.backend.release_early.set()
            await client.until(
                lambda: any(one.get("method") == "workspace/diagnostic/refresh" for one in client.received)
            )
            assert len((await client.request("textDocument/diagnostic", textDocument={"uri": URI}))["items"]) == 2
            assert not client.server.analysis.is_settled
            client.backend.release.set()

    run(scenario())


def test_actions_wait_for_all_that_is_found() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(URI, "EARLY BUG")
            await client.until(lambda: client.published(URI))
            _, answer = client.ask(
                "textDocument/codeAction",
                {"textDocument": {"uri": URI}, "range": RANGE, "context": {"diagnostics": []}},
            )
            await client.request("loaderlint/status", uri=URI)
            assert not answer.done()
            client.backend.release.set()
            assert (await answer)["result"]

    run(scenario())


RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 99}}

#: The server. After its answer to `initialize`, and at its end, it prints whether it has imported libcst.
WATCHED = f"""
import sys
sys.path.insert(0, {str(SERVER)!r})
from loaderlint.lsp import server
answered = server.initialize
def initialize(ls, params):
    answered(ls, params)
    print(int("libcst" in sys.modules), ls.engine._engine._backend, file=sys.stderr)
server.initialize = initialize
from loaderlint.cli import main
code = main(["server"])
print(int("libcst" in sys.modules), file=sys.stderr)
sys.exit(code)
"""


def test_the_server_never_imports_the_parser(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "demo"\n')

    async def scenario() -> None:
        async with editor(sys.executable, "-c", WATCHED, folder=tmp_path) as window:
            uri = window.open(tmp_path / "data.py", DATA)
            (shown,) = await window.diagnostics(uri)
            assert await window.hover(uri, shown.range.start)
            await window.fix(uri, "Let the exception through", shown.range)
            assert await window.diagnostics(uri) == []

    run(scenario())
    assert capfd.readouterr().err.split() == ["0", "None", "0"]
