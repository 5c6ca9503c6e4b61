"""Which diagnostics are shown, for which version, and when they are shown again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from loaderlint import HOME
from loaderlint.lsp import analysis, protocol_diagnostics, typing_pauses
from tests.lsp.session import Session, capabilities, run, session, span

#: Seconds, longer than any test.
HOUR = 3600.0

A, B = "file:///project/a.py", "file:///project/b.py"


def test_a_diagnostic_in_full(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text("")
    b.write_text("\U0001f600 = DataLoader()\n", encoding="utf-8")

    async def scenario() -> None:
        async with session(capabilities("utf-16")) as client:
            client.open(a.as_uri(), "x = '\U0001f600', FAR(b.py)\n", version=7)
            await client.settled()
            (published,) = client.published(a.as_uri())
            assert published["version"] == 7
            (shown,) = published["diagnostics"]
            assert shown == {
                "range": span(0, 10, 0, 19),
                "severity": 2,
                "code": "FAK003",
                "codeDescription": {"href": f"{HOME}/rules/fake-far"},
                "source": "loaderlint",
                "message": "FAR(b.py) is a fault",
                "relatedInformation": [
                    {"location": {"uri": b.as_uri(), "range": span(0, 0, 0, 4)}, "message": "the loader is here"}
                ],
                "data": {"id": "a.py:FAR(b.py):0:9"},
            }

    run(scenario())


def test_a_client_that_knows_little(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("")

    async def scenario() -> None:
        async with session(capabilities(rich=False)) as client:
            uri = (tmp_path / "a.py").as_uri()
            client.open(uri, "FAR(b.py)")
            (shown,) = await client.diagnostics(uri)
            assert not {"codeDescription", "relatedInformation", "data", "tags"} & set(shown)

    run(scenario())


def test_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_diagnostics, "TAGS", {"fake-bug": (types.DiagnosticTag.Unnecessary,)})

    async def scenario(able: dict[str, Any], tags: list[int] | None) -> None:
        async with session(able) as client:
            client.open(A, "BUG")
            (shown,) = await client.diagnostics(A)
            assert shown.get("tags") == tags

    run(scenario(capabilities(), [1]))
    run(scenario(capabilities(rich=False), None))


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 10), ("utf-16", 8), ("utf-32", 7)])
def test_positions_in_the_units_of_the_client(encoding: str, start: int) -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            result = await client.initialize(capabilities(encoding))
            assert result["capabilities"]["positionEncoding"] == encoding
            text = "a\u2028b\x0c\n'\U0001f600', [x]\r\n"
            client.open(A, text)
            # x becomes BUG; its place depends on the emoji before it.
            client.change(A, 2, {"range": span(1, start - 1, 1, start), "text": "BUG"})
            (shown,) = await client.diagnostics(A)
            assert shown["range"] == span(1, start - 1, 1, start + 2)

    run(scenario())


@pytest.mark.usefixtures("answers_come_first")
def test_only_the_last_of_many_versions_is_shown() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "")
            await client.settled()
            for version in range(2, 50):
                client.change(A, version, "BUG " * version)
            assert len(await client.diagnostics(A)) == 49
            assert [params["version"] for params in client.published(A)] == [1, 49]

    run(scenario())


def test_other_settings_stop_the_analysis() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "HANG BUG")
            await client.until(lambda: client.backend.hanging)
            before = len(client.backend.setups)
            client.notify("workspace/didChangeConfiguration", settings={"loaderlint": {"ignore": ["LDR1"]}})
            await client.until(lambda: len(client.backend.setups) > before)
            assert not client.published(A) and not client.backend.release.is_set()

    run(scenario())


def test_findings_move_with_the_text_while_it_is_looked_at() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\nGUESS\n")
            await client.settled()
            client.change(A, 2, "HANG\nBUG\nGUESS\n")
            await client.until(lambda: client.published(A)[-1]["version"] == 2)
            assert lines(client, A) == [1, 2] and not client.server.analysis.is_settled
            await client.until(lambda: client.backend.hanging)
            client.change(A, 3, "HANG\n\nBUG\nGUESS\n")  # from now on at once: the engine is busy
            client.change(A, 4, "HANG\n\nBUG  # typed\nGUESS\n")
            assert client.published(A)[-1]["version"] == 4
            assert lines(client, A) == [2, 3]
            client.change(A, 5, "HANG\n\nBUG  # typed\nGUES\n")
            assert lines(client, A) == [2]
            client.backend.release.set()
            assert [one["message"] for one in await client.diagnostics(A)] == ["BUG is a fault"]
            assert client.published(A)[-1]["version"] == 5

    run(scenario())


def test_an_analysis_ends_while_somebody_types() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\n")
            await client.settled()
            client.change(A, 2, "HANG\nBUG\nBUG\n")
            await client.until(lambda: client.backend.hanging)
            checks = len(client.backend.checks)
            for version in range(3, 30):
                client.change(A, version, "HANG\n" + "\n" * version + "BUG\nBUG\n")
                await asyncio.sleep(0.001)
            assert len(client.backend.checks) == checks  # it was not started again
            client.backend.release.set()
            await client.until(lambda: len(client.published(A)[-1]["diagnostics"]) == 2)
            assert lines(client, A) == [30, 31]

    run(scenario())


def test_a_linking_waits_for_a_pause_in_which_the_engine_is_asked_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with session() as client:
            monkeypatch.setattr(typing_pauses, "_LONGEST", HOUR)
            client.open(A, "BUG\n")
            await client.settled()
            client.change(A, 2, "PAUSE\nBUG\n")
            await client.until(lambda: client.backend.hanging)
            checks = len(client.backend.checks)
            for version in range(3, 8):
                client.change(A, version, "PAUSE\n" + "\n" * version + "BUG\nGUESS\n")
                await client.until(lambda line=version + 1: lines(client, A) == [line])  # type: ignore[misc]
            assert len(client.backend.checks) == checks
            monkeypatch.setattr(typing_pauses, "_LONGEST", 0.0)
            client.change(A, 8, "PAUSE\nBUG\nGUESS\n")
            assert len(await client.diagnostics(A)) == 2
            assert len(client.backend.checks) == checks + 1, "after the pause it looks once"

    run(scenario())


def test_in_the_middle_of_a_word_the_engine_is_asked_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((typing_pauses, "_PER_GAP"), (typing_pauses, "_LONGEST"), (analysis, "LONGEST")):
        monkeypatch.setattr(module, name, HOUR)

    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\n")
            await client.settled()
            client.change(A, 2, "\nBUG\n")
            await client.settled()
            checks = len(client.backend.checks)
            for version in range(3, 7):
                client.change(A, version, "\n" * version + "BUG\n")
                await client.until(lambda line=version: lines(client, A) == [line])  # type: ignore[misc]
            assert len(client.backend.checks) == checks
            await client.settled()
            assert len(client.backend.checks) == checks + 1, "who waits for the answer gets it at once"

    run(scenario())


def test_other_settings_wait_for_no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_pauses, "_LONGEST", HOUR)

    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\n")
            await client.settled()
            client.change(A, 2, "PAUSE\nBUG\nBUG\n")
            await client.until(lambda: client.backend.hanging)
            checks = len(client.backend.checks)
            client.notify("workspace/didChangeConfiguration", settings={"loaderlint": {"ignore": ["LDR1"]}})
            await client.until(lambda: len(client.backend.checks) > checks)

    run(scenario())


def test_the_reason_in_another_file_moves_too(tmp_path: Path) -> None:
    a, b = (tmp_path / "a.py").as_uri(), (tmp_path / "b.py").as_uri()

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            client.open(a, "FAR(b.py)\n")
            client.open(b, "loader\n")
            await client.settled()
            client.change(b, 2, "# HANG\nloader\n")
            await client.until(lambda: client.backend.hanging)
            client.change(a, 2, "\nFAR(b.py)\n")
            (shown,) = client.published(a)[-1]["diagnostics"]
            (reason,) = shown["relatedInformation"]
            assert shown["range"]["start"]["line"] == 1
            assert reason["location"] == {"uri": b, "range": span(1, 0, 1, 3)}
            client.change(b, 3, "# HANG\nsampler\n")
            client.change(a, 3, "\n\nFAR(b.py)\n")
            (shown,) = client.published(a)[-1]["diagnostics"]
            assert "relatedInformation" not in shown

    run(scenario())


def test_what_stands_is_never_fixed() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\n")
            await client.settled()
            client.change(A, 2, "HANG\nBUG\n")
            await client.until(lambda: client.published(A)[-1]["version"] == 2)
            asked = asyncio.ensure_future(client.actions(A, (1, 0)))
            await client.request("loaderlint/status", uri=A)
            assert not asked.done()
            client.backend.release.set()
            assert [one["title"] for one in await asked if "Fix" in one["title"]][0] == "Fix this BUG"

    run(scenario())


def lines(client: Session, uri: str) -> list[int]:
    return [one["range"]["start"]["line"] for one in client.published(uri)[-1]["diagnostics"]]


def test_an_answer_that_comes_too_late_is_shown_as_far_as_it_stands() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "SLOW BUG\nBUG")
            client.open(B, "BUG")
            await client.until(lambda: client.backend.hanging)
            client.change(A, 2, "BUG BUG BU\n\nBUG")
            client.shut(B)
            client.open(B, "nothing", version=1)
            client.backend.release.set()
            assert len(await client.diagnostics(A)) == 3
            first, last = client.published(A)
            assert first["version"] == last["version"] == 2
            assert [one["range"] for one in first["diagnostics"]] == [span(2, 0, 2, 3)]
            assert [params["diagnostics"] for params in client.published(B)] == [[]]

    run(scenario())


def test_the_loop_answers_while_the_engine_works() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "HANG")
            await client.until(lambda: client.backend.hanging)
            assert await client.request("loaderlint/status", uri=A) == {"uri": A, "version": 1, "settled": False}
            hover = await client.request(
                "textDocument/hover", textDocument={"uri": A}, position=span(0, 0, 0, 0)["start"]
            )
            assert hover is None
            client.change(A, 2, "")
            client.backend.release.set()
            await client.settled()

    run(scenario())


@pytest.mark.usefixtures("answers_come_first")
def test_other_open_files_are_shown_again_only_if_their_findings_changed(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            client.open(a.as_uri(), "BUG")
            client.open(b.as_uri(), "BUG")
            await client.settled()
            assert len(client.published(b.as_uri())) == 1
            client.change(a.as_uri(), 2, "BUG BUG")
            await client.settled()
            assert len(client.published(a.as_uri())) == 2
            assert len(client.published(b.as_uri())) == 1
            (tmp_path / "loud.txt").write_text("")
            client.change(a.as_uri(), 3, "")
            (shown,) = await client.diagnostics(b.as_uri())
            assert shown["severity"] == 1

    run(scenario())


def test_closing_a_file_clears_it() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            await client.settled()
            client.shut(A)
            assert client.published(A)[-1] == {"uri": A, "diagnostics": []}
            await client.settled()
            assert len(client.published(A)) == 2

    run(scenario())


def test_a_file_closed_during_its_analysis_shows_nothing() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "HANG BUG")
            await client.until(lambda: client.backend.hanging)
            client.shut(A)
            client.backend.release.set()
            await client.settled()
            assert not client.published(A)

    run(scenario())


def test_a_file_opened_again_at_the_same_version_is_another() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "HANG BUG")
            await client.until(lambda: client.backend.hanging)
            client.shut(A)
            client.open(A, "nothing")
            client.backend.release.set()
            assert await client.diagnostics(A) == []
            client.open(A, "BUG BUG")
            assert len(await client.diagnostics(A)) == 2

    run(scenario())


def test_the_closed_file_on_disk_counts_again(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("on disk")
    uri = (tmp_path / "a.py").as_uri()

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            client.open(uri, "in the editor")
            await client.settled()
            (workspace,) = client.backend.workspaces
            assert workspace.text(tmp_path / "a.py") == "in the editor"
            client.shut(uri)
            await client.settled()
            assert workspace.text(tmp_path / "a.py") == "on disk"

    run(scenario())


@pytest.mark.parametrize("word", ["CRASH", "LEAVE"])
def test_a_crash_of_the_engine_is_no_end(word: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, f"{word} BUG")
            assert (await client.settled())["settled"]
            assert not client.published(A)
            assert await client.actions(A, (0, 0)) is None
            client.change(A, 2, "BUG")
            assert len(await client.diagnostics(A)) == 1
            for version in range(3, 6):
                client.change(A, version, f"{word} BUG" + version * " ")
                await client.settled()
            (told,) = [one["params"] for one in client.received if one.get("method") == "window/showMessage"]
            assert "internal error" in told["message"] and "https://" in told["message"]

    run(scenario())
    assert caplog.text.count("the analysis failed") == 1 and "that was asked for" in caplog.text


def test_the_last_findings_stay_when_the_engine_fails() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\n")
            assert len(await client.diagnostics(A)) == 1
            client.change(A, 2, "\nBUG\nCRASH\n")
            await client.settled()
            (shown,) = client.published(A)[-1]["diagnostics"]
            assert client.published(A)[-1]["version"] == 2 and shown["range"]["start"] == {"line": 1, "character": 0}
            assert await client.actions(A, (1, 0)) is None, "what stands is not repaired"
            client.change(A, 3, "\nBUG BUG")
            assert len(await client.diagnostics(A)) == 2

    run(scenario())


def test_an_engine_that_cannot_be_loaded_is_told_in_the_log() -> None:
    async def scenario() -> None:
        client = Session(None)  # type: ignore[arg-type]

        def fail() -> Any:
            raise ImportError("no libcst")

        client._load = fail  # type: ignore[method-assign]
        client.server.engine._engine._load = fail
        await client.initialize()
        client.open(A, "BUG")
        assert (await client.settled())["settled"]
        (said,) = [one["params"] for one in client.received if one.get("method") == "window/logMessage"]
        assert "no libcst" in said["message"]

    run(scenario())


def test_status_notifications_are_sent_to_those_who_asked() -> None:
    async def scenario(options: dict[str, Any], expected: list[dict[str, Any]]) -> None:
        async with session(initializationOptions=options) as client:
            client.open(A, "BUG")
            await client.settled()
            client.change(A, 2, "")
            await client.settled()
            told = [one["params"] for one in client.received if one.get("method") == "loaderlint/status"]
            # The first analysis begins before the file is opened, when the settings are known.
            assert told[-3:] == expected

    run(scenario({}, []))
    run(
        scenario(
            {"status": True},
            [
                {"uri": A, "version": 1, "settled": True},
                {"uri": A, "version": 2, "settled": False},
                {"uri": A, "version": 2, "settled": True},
            ],
        )
    )


def test_a_file_behind_a_link_is_known_by_its_real_name(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)

    async def scenario() -> None:
        async with session(folders=[link]) as client:
            a, b = (link / "a.py").as_uri(), (link / "b.py").as_uri()
            client.open(a, "FAR(b.py)")
            client.open(b, "# loader")
            (shown,) = await client.diagnostics(a)
            assert shown["relatedInformation"][0]["location"]["uri"] == b
            assert set(client.backend.workspaces[0].texts) == {real / "a.py", real / "b.py"}

    run(scenario())
