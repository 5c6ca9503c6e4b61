"""What an editor shows when the engine fails: the last findings, one message, and new findings after the next edit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from msgspec.structs import replace

from loaderlint import rules
from loaderlint.engine.project_state import Project
from loaderlint.files import reading
from loaderlint.fixes import apply
from loaderlint.lsp import analysis
from loaderlint.lsp.backend import Loaderlint
from loaderlint.lsp.engine_client import Died
from tests.lsp.editor import editor
from tests.lsp.fake_engine import FakeBackend, FakeWorkspace
from tests.lsp.session import Refused, Session, capabilities, run, session
from tests.lsp.test_pull_diagnostics import accept_refreshes
from tests.robustness.faulty import TWO_FAULTS as DATA

pytestmark = pytest.mark.internal_errors

STRIDE = "LDR402"


async def shown(client: Session, uri: str, pulls: bool) -> dict[str, int]:
    """The lines of what is shown of a document, by code."""
    if not pulls:
        found = await client.diagnostics(uri)
    else:
        answer = await client.request("textDocument/diagnostic", textDocument={"uri": uri})
        found = answer["items"]
    return {one["code"]: one["range"]["start"]["line"] for one in found}


def messages(client: Session) -> list[str]:
    return [one["params"]["message"] for one in client.received if one.get("method") == "window/showMessage"]


@pytest.mark.parametrize("pulls", [False, True])
def test_a_rule_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, pulls: bool
) -> None:
    failing = [False]

    def broken(rule: Any) -> Any:
        def find(subject: Any, model: Any) -> Iterator[Any]:
            if failing[0]:
                raise IndexError("tuple index out of range")
            yield from rule.find(subject, model)

        return replace(rule, find=find)

    monkeypatch.setattr(rules, "RULES", tuple(broken(one) if one.code == STRIDE else one for one in rules.RULES))
    path = tmp_path / "data.py"
    path.write_text(DATA)
    uri = path.as_uri()

    async def scenario() -> None:
        able = capabilities("utf-32", pulls=pulls)
        async with session(able, [tmp_path], backend=Loaderlint()) as client:
            accept_refreshes(client)
            client.open(uri, DATA)
            await client.settled()
            before = await shown(client, uri, pulls)
            assert before[STRIDE] == 5
            failing[0] = True
            for version in range(2, 5):
                edited = DATA.replace("num_workers=2", f"num_workers={version + 2}")  # what the rules ask for
                client.change(uri, version, "import os\n" * (version - 1) + edited)
                now = await shown(client, uri, pulls)
                assert now == {code: line + version - 1 for code, line in before.items()}, "the last findings stay"
            titles = [one["title"] for one in await client.actions(uri, (8, 0), (8, 99)) or []]
            assert not any("np.copy" in title for title in titles), titles
            assert len(messages(client)) == 1 and "https://" in messages(client)[0]
            failing[0] = False
            client.change(uri, 5, DATA.replace("[::-1]", "[::-2]"))
            await client.settled()  # a pull is answered before that, with what stands, if the engine takes its time
            assert await shown(client, uri, pulls) == before
            assert len(messages(client)) == 1

    run(scenario())
    assert caplog.text.count("Traceback (most recent call last)") == 1


@pytest.mark.parametrize("pulls", [False, True])
def test_typing_a_method_over_the_real_server(tmp_path: Path, pulls: bool) -> None:
    """The real engine in its process: no key fails, and the findings of the rest of the file stay."""
    before = DATA.replace("class Data", "class Other(Dataset):\n    x = 1\n\nclass Data", 1)
    typed = "def __getitem__(self, i): return i"

    async def scenario() -> None:
        async with editor(
            sys.executable, "-m", "loaderlint", "server", "--stdio", folder=tmp_path, pulls=pulls
        ) as window:
            shown = window.pulled if pulls else window.diagnostics
            uri = window.open(tmp_path / "data.py", before)
            found = {one.code for one in await shown(uri)}
            assert STRIDE in found
            for end in range(1, len(typed) + 1):
                whole = types.Range(types.Position(0, 0), types.Position(99, 0))
                window.edit(uri, [types.TextEdit(whole, before.replace("x = 1", typed[:end]))])
                assert found <= {one.code for one in await shown(uri)}, typed[:end]
            assert window.client.messages == []

    run(scenario())


@pytest.mark.parametrize("pulls", [False, True])
def test_questions_that_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, pulls: bool
) -> None:
    """They get empty answers, and findings stay."""
    path = tmp_path / "data.py"
    path.write_text(DATA)
    uri, identifier = path.as_uri(), {"uri": path.as_uri()}

    def fails(*about: Any, **more: Any) -> Any:
        raise KeyError("gone")

    async def scenario() -> None:
        async with session(capabilities("utf-32", pulls=pulls), [tmp_path], backend=Loaderlint()) as client:
            accept_refreshes(client)
            client.open(uri, DATA)
            await client.settled()
            before = await shown(client, uri, pulls)
            for name in ("explain", "loaders", "refactorings"):
                monkeypatch.setattr(Project, name, fails)
            monkeypatch.setattr(apply, "Draft", fails)
            for _ in range(3):
                at = {"line": 8, "character": 0}
                assert await client.request("textDocument/hover", textDocument=identifier, position=at) is None
                assert await client.request("textDocument/codeLens", textDocument=identifier) == []
                fixes = [one for one in await client.actions(uri, (5, 0), (5, 99)) or [] if "np.copy" in one["title"]]
                for one in fixes:
                    with pytest.raises(Refused, match="cannot be made"):
                        await client.request("codeAction/resolve", **one)
                assert fixes
                for method in ("loaderlint/explain", "loaderlint/workers"):
                    with pytest.raises(Refused, match="internal error"):
                        await client.request(method, textDocument=identifier, position=at)
            client.change(uri, 2, DATA + "\n")
            assert await shown(client, uri, pulls) == before
            assert messages(client) == []

    run(scenario())
    assert caplog.text.count("Traceback (most recent call last)") == 2, "one for the questions, one for the fix"


def test_a_document_that_is_too_large_is_explained_by_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SOURCE", reading.SOURCE._replace(size=100))
    uri = (tmp_path / "data.py").as_uri()
    about: dict[str, Any] = {"textDocument": {"uri": uri}, "position": {"line": 8, "character": 0}}

    async def scenario() -> None:
        async with session(capabilities("utf-32"), [tmp_path], backend=Loaderlint()) as client:
            client.open(uri, DATA)
            await client.settled()
            assert await client.request("textDocument/hover", **about) is None
            told = await client.request("loaderlint/explain", **about)
            assert told["text"].startswith("data.py: larger than")

    run(scenario())


# --- the engine's process ends ----------------------------------------------------------------------------------------


class Dying(FakeBackend):
    """Its process ends during the next so many checks."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times
        self.asked = 0

    def workspace(self, *about: Any) -> FakeWorkspace:
        made = super().workspace(*about)
        check: Callable[..., Any] = made.check

        def dies(*about: Any, **more: Any) -> Any:
            self.asked += 1
            if self.times:
                self.times -= 1
                raise Died("the analysis process has ended with -9")
            return check(*about, **more)

        made.check = dies  # type: ignore[method-assign]
        return made


def test_after_its_process_ended_the_engine_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "AGAIN", (0.0, 0.0, 0.0))

    async def scenario() -> None:
        backend = Dying(3)
        async with session(backend=backend) as client:
            client.open("file:///a.py", "BUG")
            assert len(await client.diagnostics("file:///a.py")) == 1
            assert messages(client) == [] and backend.asked == 4

    run(scenario())


def test_it_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "AGAIN", (0.0, 0.0, 0.0))

    async def scenario() -> None:
        backend = Dying(4)
        async with session(backend=backend) as client:
            client.open("file:///a.py", "BUG")
            assert (await client.settled())["settled"]
            (told,) = messages(client)
            assert backend.asked == 4 and "Restart Server" in told
            client.change("file:///a.py", 2, "BUG BUG")
            assert len(await client.diagnostics("file:///a.py")) == 2

    run(scenario())
