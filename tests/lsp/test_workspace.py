"""Settings, folders, and files that change on disk."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from loaderlint.cache import cache_folder
from loaderlint.lsp import client_settings
from loaderlint.lsp.client_settings import overrides
from loaderlint.lsp.file_events import WATCHED
from tests.lsp.session import Refused, Session, capabilities, run, session

A = "file:///project/a.py"


def setups(client: Session) -> list[tuple[tuple[Path, ...], dict[str, object]]]:
    return client.backend.setups


def test_camel_case_becomes_the_names_of_pyproject() -> None:
    section = {"targetTorch": "2.4", "perFileIgnores": {"tests/*": ["LDR1"]}, "select": [], "ignore": ["a"]}
    assert overrides({**section, "path": ["/usr/bin/loaderlint"], "startMethod": None}) == {
        "target-torch": "2.4",
        "per-file-ignores": {"tests/*": ["LDR1"]},
        "ignore": ["a"],
    }
    assert overrides(None) == overrides([1]) == overrides("x") == {}


def test_settings_are_asked_for_before_anything_is_analysed() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            await client.initialize(capabilities(asked=True))
            client.open(A, "BUG")
            asked = await client.until(
                lambda: [one for one in client.received if one.get("method") == "workspace/configuration"]
            )
            assert asked[0]["params"]["items"] == [{"section": "loaderlint"}]
            assert not client.published(A) and not client.backend.checks
            client.send({"id": asked[0]["id"], "result": [{"targetTorch": "2.4"}]})
            assert len(await client.diagnostics(A)) == 1
            assert setups(client) == [((), {"target-torch": "2.4"})]
            # The engine's message about the settings is in the log once.
            client.change(A, 2, "")
            await client.settled()
            said = [one["params"] for one in client.received if one.get("method") == "window/logMessage"]
            assert said == [{"type": 2, "message": "settings: ['target-torch']"}]

    run(scenario())


@pytest.mark.parametrize(
    "reply", [{"result": None}, {"result": [None]}, {"result": []}, {"error": {"code": 1, "message": "no"}}]
)
def test_a_client_that_has_no_settings(reply: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            await client.initialize(capabilities(asked=True))
            client.open(A, "BUG")
            asked = await client.until(
                lambda: [one for one in client.received if one.get("method") == "workspace/configuration"]
            )
            client.send({"id": asked[0]["id"], **reply})
            assert len(await client.diagnostics(A)) == 1
            assert not client.server.protocol._request_futures.keys() & {asked[0]["id"]}
            assert asked[0]["id"] not in client.server.protocol._result_types

    run(scenario())


def test_a_client_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_settings, "PATIENCE", 0.01)

    async def scenario() -> None:
        async with session(capabilities(asked=True)) as client:
            client.open(A, "BUG")
            assert len(await client.diagnostics(A)) == 1
            (asked,) = [one for one in client.received if one.get("method") == "workspace/configuration"]
            client.send({"id": asked["id"], "result": [{"targetTorch": "1.8"}]})
            await client.until(lambda: setups(client)[-1] == ((), {"target-torch": "1.8"}))

    run(scenario())


def test_settings_of_a_client_that_cannot_be_asked() -> None:
    async def scenario() -> None:
        options = {"settings": {"targetTorch": "2.0"}}
        async with session(initializationOptions=options) as client:
            client.open(A, "BUG")
            await client.settled()
            client.notify("workspace/didChangeConfiguration", settings={"loaderlint": {"targetTorch": "2.1"}})
            await client.settled()
            client.notify("workspace/didChangeConfiguration", settings={"loaderlint": {"targetTorch": "2.1"}})
            await client.settled()
            assert [setup[1] for setup in setups(client)] == [{"target-torch": "2.0"}, {"target-torch": "2.1"}]
            assert len(client.backend.workspaces) == 1, "what is known of the files was thrown away"

    run(scenario())


def test_changed_settings_are_asked_for_again() -> None:
    answers = iter([[{}], [{"ignore": ["fake-bug"]}]])

    async def scenario() -> None:
        async with session(bare=True) as client:
            client.replies["workspace/configuration"] = lambda params: next(answers)
            await client.initialize(capabilities(asked=True))
            client.open(A, "BUG")
            await client.settled()
            client.notify("workspace/didChangeConfiguration", settings=None)
            await client.until(lambda: len(setups(client)) == 2)
            assert setups(client)[-1][1] == {"ignore": ["fake-bug"]}

    run(scenario())


def test_settings_of_single_folders(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two words"

    async def scenario() -> None:
        async with session(bare=True) as client:
            client.replies["workspace/configuration"] = lambda params: [
                {"ignore": ["fake-bug"]} if "two" in item.get("scopeUri", "") else {} for item in params["items"]
            ]
            await client.initialize(capabilities(asked=True), folders=[one, two])
            client.open(A, "BUG")
            await client.settled()
            assert setups(client)[-1][1] == {"folders": {one: {}, two: {"ignore": ["fake-bug"]}}}
            client.notify(
                "workspace/didChangeWorkspaceFolders",
                event={"added": [], "removed": [{"uri": two.as_uri(), "name": "two"}]},
            )
            await client.until(lambda: setups(client)[-1] == ((one,), {}))

    run(scenario())


# --- folders ----------------------------------------------------------------------------------------------------------


def test_several_folders(tmp_path: Path) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two words", "three"))

    async def scenario() -> None:
        async with session(folders=[one, two]) as client:
            client.open(A, "BUG")
            await client.settled()
            client.notify(
                "workspace/didChangeWorkspaceFolders",
                event={
                    "added": [{"uri": three.as_uri(), "name": "3"}, {"uri": "vscode-vfs://github/x", "name": "x"}],
                    "removed": [{"uri": one.as_uri(), "name": "1"}],
                },
            )
            await client.settled()
            assert [setup[0] for setup in setups(client)] == [(one, two), (two, three)]
            # The new workspace knows the open documents.
            assert client.backend.workspaces[-1].texts == {Path("/project/a.py"): "BUG"}

    run(scenario())


@pytest.mark.parametrize("old", ["rootUri", "rootPath"])
def test_the_one_root_of_older_clients(old: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        root = {"rootUri": tmp_path.as_uri()} if old == "rootUri" else {"rootPath": str(tmp_path)}
        async with session(**root) as client:
            await client.settled()
            assert setups(client) == [((tmp_path,), {})]

    run(scenario())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"interpreter": "/envs/train/bin/python"}, {"interpreter": "/envs/train/bin/python"}),
        (
            {"interpreter": "/envs/train/bin/python", "settings": {"targetTorch": "2.4"}},
            {"interpreter": "/envs/train/bin/python", "target-torch": "2.4"},
        ),
        ({"interpreter": None}, {}),
        ({"interpreter": ["python"]}, {}),
    ],
)
def test_the_interpreter_that_is_selected_in_the_editor(options: dict[str, Any], expected: dict[str, object]) -> None:
    async def scenario() -> None:
        async with session(initializationOptions=options) as client:
            await client.settled()
            assert setups(client)[-1] == ((), expected)

    run(scenario())


# --- files on disk ----------------------------------------------------------------------------------------------------


def test_watchers_are_registered() -> None:
    async def scenario(able: dict[str, Any], methods: set[str]) -> list[Any]:
        async with session(able) as client:
            await client.settled()
            asked = [one["params"] for one in client.received if one.get("method") == "client/registerCapability"]
            registrations = [one for params in asked for one in params["registrations"]]
            assert {one["method"] for one in registrations} == methods
            return registrations

    async def rich() -> None:
        both = {"workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration"}
        registrations = await scenario(capabilities(), both)
        (watch,) = [one["registerOptions"] for one in registrations if one["method"].endswith("WatchedFiles")]
        *patterns, audits = [watcher["globPattern"] for watcher in watch["watchers"]]
        assert patterns == list(WATCHED)
        folder = cache_folder.folder()
        assert folder is not None and folder.is_dir()
        assert audits == {"baseUri": folder.as_uri(), "pattern": "audits-*.json"}

    async def poor() -> None:
        await scenario(capabilities(rich=False), set())

    run(rich())
    run(poor())


@pytest.mark.parametrize(
    "name",
    """uv.lock poetry.lock pdm.lock pixi.lock pylock.toml pylock.train.toml Pipfile Pipfile.lock conda-lock.yml
    gpu.conda-lock.yml requirements.txt requirements-gpu.in requirement.txt train_requirements.txt requirements.lock
    requirements/base.txt environment.yml conda_env.yaml pyproject.toml pixi.toml setup.cfg setup.py .python-version
    loaderlint.toml .venv/pyvenv.cfg .venv/lib/python3.12/site-packages/torch-2.4.1.dist-info/METADATA
    packages/a/uv.lock cog.yaml""".split(),
)
def test_every_file_that_tells_a_version_is_watched(name: str) -> None:
    assert any(matches(pattern, name) for pattern in WATCHED)


def matches(pattern: str, name: str) -> bool:
    """Whether a glob of the protocol (of the kinds used here) matches a path."""
    text = re.escape(pattern.removeprefix("**/")).replace(r"\*", "[^/]*")
    text = text.replace(r"\{", "(?:").replace(r"\}", ")").replace(",", "|")
    return re.search(rf"(?:^|/){text}\Z", name) is not None


def test_a_client_that_refuses_to_watch() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            del client.replies["client/registerCapability"]
            await client.initialize()
            asked = await client.until(
                lambda: [one for one in client.received if one.get("method") == "client/registerCapability"]
            )
            for one in asked:
                client.send({"id": one["id"], "error": {"code": -32601, "message": "no"}})
            client.open(A, "BUG")
            assert len(await client.diagnostics(A)) == 1

    run(scenario())


def test_files_that_change_on_disk(tmp_path: Path) -> None:
    a, new = tmp_path / "a.py", tmp_path / "new.py"
    (tmp_path / "b.py").write_text("one")

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            client.open(a.as_uri(), "BUG")
            await client.settled()
            (workspace,) = client.backend.workspaces
            assert workspace.text(tmp_path / "b.py") == "one"
            (tmp_path / "b.py").write_text("two")
            (tmp_path / "loud.txt").write_text("")
            client.notify(
                "workspace/didChangeWatchedFiles",
                changes=[
                    {"uri": (tmp_path / "b.py").as_uri(), "type": 2},
                    {"uri": new.as_uri(), "type": 1},
                    {"uri": "git:/x.py", "type": 3},
                ],
            )
            (shown,) = await client.diagnostics(a.as_uri())
            assert shown["severity"] == 1, "the open file was not looked at again"
            assert workspace.text(tmp_path / "b.py") == "two"
            assert set(client.backend.forgotten) == {tmp_path / "b.py", new}

    run(scenario())


def test_files_that_the_user_creates_renames_and_deletes(tmp_path: Path) -> None:
    one, two, three, four = ((tmp_path / name).as_uri() for name in ("1.py", "2.py", "three", "4.py"))

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            await client.settled()
            client.notify("workspace/didRenameFiles", files=[{"oldUri": one, "newUri": two}])
            client.notify("workspace/didDeleteFiles", files=[{"uri": three}])
            client.notify("workspace/didCreateFiles", files=[{"uri": four}])
            await client.settled()
            assert {path.name for path in client.backend.forgotten} == {"1.py", "2.py", "three", "4.py"}

    run(scenario())


def test_the_server_asks_to_be_told_about_renames() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            result = await client.initialize()
            told = result["capabilities"]["workspace"]["fileOperations"]
            assert set(told) == {"didCreate", "didRename", "didDelete"}
            assert result["capabilities"]["textDocumentSync"]["change"] == 2
            assert result["capabilities"]["hoverProvider"]
            with pytest.raises(Refused):
                await client.initialize()

    run(scenario())
