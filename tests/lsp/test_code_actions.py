"""Fixes: which ones are offered, what they change, and when they are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from loaderlint import rule_url
from loaderlint.findings import insert_suppressions
from loaderlint.findings.insert_suppressions import Insertion
from loaderlint.findings.read_suppressions import Suppression, suppressions
from loaderlint.lsp.text_positions import Place, split_lines
from loaderlint.lsp.workspace_edits import applied, difference
from tests.lsp.fake_engine import FakeWorkspace, FileEdit, Repair, Span, TextEdit
from tests.lsp.session import Refused, Session, capabilities, run, session, span

A = "file:///project/a.py"
FIX_ALL = "source.fixAll.loaderlint"


def titles(actions: list[dict[str, Any]]) -> list[str]:
    return [action["title"] for action in actions]


def named(actions: list[dict[str, Any]], title: str) -> dict[str, Any]:
    return next(action for action in actions if action["title"] == title)


async def resolved(client: Session, action: dict[str, Any]) -> dict[str, Any]:
    return dict((await client.request("codeAction/resolve", **action))["edit"])


def test_capabilities() -> None:
    async def scenario() -> None:
        async with session(bare=True) as client:
            result = await client.initialize()
            assert result["capabilities"]["codeActionProvider"] == {
                "codeActionKinds": ["quickfix", "refactor.rewrite", FIX_ALL, f"notebook.{FIX_ALL}"],
                "resolveProvider": True,
            }

    run(scenario())


def test_a_quick_fix_and_its_edit() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "'\U0001f600', BUG\n", version=3)
            (shown,) = await client.diagnostics(A)
            action = named(await client.actions(A, (0, 7)), "Fix this BUG")
            assert (action["kind"], action["isPreferred"], action["diagnostics"]) == ("quickfix", True, [shown])
            assert "edit" not in action
            assert await resolved(client, action) == {
                "documentChanges": [
                    {
                        "textDocument": {"uri": A, "version": 3},
                        "edits": [{"range": span(0, 6, 0, 9), "newText": "FIXED"}],
                    }
                ]
            }

    run(scenario())


def test_the_data_of_actions_survive_an_editor_that_drops_nulls() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\nBUG")
            for title in ("Fix this BUG", "Fix all fake-bug findings in this file", "Fix all loaderlint findings"):
                action = next(one for one in await client.actions(A, (0, 0)) if one["title"].startswith(title))
                # Neovim 0.7 sends the data back without members that are null.
                action["data"] = {name: value for name, value in action["data"].items() if value is not None}
                assert (await resolved(client, action))["documentChanges"], title

    run(scenario())


def test_a_client_that_cannot_resolve_gets_the_edits_at_once() -> None:
    async def scenario() -> None:
        async with session(capabilities(rich=False)) as client:
            client.open(A, "BUG STUCK")
            actions = await client.actions(A, (0, 0), (0, 9))
            edit = named(actions, "Fix this BUG")["edit"]
            assert edit == {"changes": {A: [{"range": span(0, 0, 0, 3), "newText": "FIXED"}]}}
            assert "Fix this STUCK" not in titles(actions), "an action without an edit"

    run(scenario())


def test_the_findings_are_those_of_the_range() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\nBUG BUG\nGUESS")
            for start, end, count in [
                ((0, 0), None, 1),
                ((0, 3), None, 1),
                ((1, 0), (1, 7), 2),
                ((1, 7), (1, 0), 2),
                ((0, 0), (9, 9), 3),
            ]:
                actions = await client.actions(A, start, end)
                assert titles(actions).count("Fix this BUG") == count, (start, end)

    run(scenario())


def test_what_the_client_says_about_diagnostics_is_not_believed() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "'\U0001f600\U0001f600\U0001f600\U0001f600', BUG, BUG")
            first, second = await client.diagnostics(A)
            # An editor that counts bytes asks about a place between the two, with a wrong range.
            wrong = {**second, "range": span(0, 90, 0, 93)}
            actions = await client.actions(A, (0, 99), (0, 99), diagnostics=[wrong])
            fixes = [action for action in actions if action["title"] == "Fix this BUG"]
            assert [fix["diagnostics"][0]["range"] for fix in fixes] == [second["range"]]
            edit = await resolved(client, fixes[0])
            assert edit["documentChanges"][0]["edits"][0]["range"] == second["range"]
            # On another line the id alone is not enough.
            client.change(A, 2, {"range": span(0, 99, 0, 99), "text": "\n\n"})
            assert not titles(await client.actions(A, (2, 0), diagnostics=[{**second, "data": first["data"]}, wrong]))[
                1:
            ]

    run(scenario())


@pytest.mark.parametrize(
    ("only", "kinds"),
    [
        (None, {"quickfix", FIX_ALL}),
        (["quickfix"], {"quickfix"}),
        (["source"], {FIX_ALL}),
        (["source.fixAll"], {FIX_ALL}),
        ([FIX_ALL], {FIX_ALL}),
        ([""], {"quickfix", FIX_ALL}),
        (["source.fixAll.other"], set()),
        (["source.fixAll.loaderlint.more"], set()),
        (["refactor", "sour"], set()),
        ([], set()),
    ],
)
def test_kinds(only: list[str] | None, kinds: set[str]) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            actions = await client.actions(A, (0, 0), **({} if only is None else {"only": only}))
            assert {action["kind"] for action in actions} == kinds

    run(scenario())


def test_an_unsafe_fix_says_so_and_is_not_preferred() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "GUESS")
            actions = await client.actions(A, (0, 0))
            assert "isPreferred" not in named(actions, "Fix this GUESS (unsafe)")
            assert not [action for action in actions if action["kind"] == FIX_ALL]
            edit = await resolved(client, named(actions, "Fix this GUESS (unsafe)"))
            assert edit["documentChanges"][0]["edits"][0]["newText"] == "FIXED"

    run(scenario())


def test_a_fix_across_open_files(tmp_path: Path) -> None:
    a, b = (tmp_path / "a.py").as_uri(), (tmp_path / "b.py").as_uri()

    async def scenario() -> None:
        async with session() as client:
            client.open(a, "FAR(b.py)", version=4)
            client.open(b, "# loader", version=9)
            edit = await resolved(client, named(await client.actions(a, (0, 0)), "Fix this FAR (edits b.py)"))
            assert [change["textDocument"] for change in edit["documentChanges"]] == [
                {"uri": a, "version": 4},
                {"uri": b, "version": 9},
            ]
            assert "changeAnnotations" not in edit

    run(scenario())


def test_a_fix_in_a_file_that_is_not_open(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    b.write_text("# loader\n")

    async def scenario(able: dict[str, Any], word: str, title: str) -> dict[str, Any]:
        async with session(able) as client:
            client.open(a.as_uri(), word)
            return await resolved(client, named(await client.actions(a.as_uri(), (0, 0)), title))

    async def safe() -> None:
        edit = await scenario(capabilities(), "FAR(b.py)", "Fix this FAR (edits b.py)")
        assert edit["documentChanges"][1] == {
            "textDocument": {"uri": b.as_uri(), "version": None},
            "edits": [{"range": span(0, 0, 0, 0), "newText": "import fix\n"}],
        }
        assert "changeAnnotations" not in edit

    async def unsafe() -> None:
        title = "Fix this RISK (unsafe) (edits b.py)"
        edit = await scenario(capabilities(), "RISK(b.py)", title)
        assert edit["documentChanges"][1]["edits"] == [
            {"range": span(0, 0, 0, 0), "newText": "import fix\n", "annotationId": "unseen"}
        ]
        assert edit["changeAnnotations"]["unseen"] == {"label": title, "needsConfirmation": True}

    async def plain() -> None:
        able = capabilities()
        del able["workspace"]["workspaceEdit"]["changeAnnotationSupport"]
        edit = await scenario(able, "RISK(b.py)", "Fix this RISK (unsafe) (edits b.py)")
        assert edit["documentChanges"][1]["edits"] == [{"range": span(0, 0, 0, 0), "newText": "import fix\n"}]

    async def unversioned() -> None:
        able = capabilities()
        del able["workspace"]["workspaceEdit"]
        edit = await scenario(able, "FAR(b.py)", "Fix this FAR (edits b.py)")
        assert set(edit["changes"]) == {a.as_uri(), b.as_uri()}

    run(safe())
    run(unsafe())
    run(plain())
    run(unversioned())


def test_titles_name_the_other_files_that_are_edited() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "FAR(c.py) FAR(b.py) BUG FAR(d.py)")
            actions = await client.actions(A, (0, 0), (0, 33))
            titles = [action["title"] for action in actions]
            assert "Fix this BUG" in titles
            assert "Fix this FAR (edits c.py)" in titles
            assert "Fix all fake-far findings in this file (edits b.py and 2 other files)" in titles
            assert "Fix all loaderlint findings that have a safe fix (edits b.py and 2 other files)" in titles

            other = "file:///project/b.py"
            client.open(other, "BUG FAR(b.py) BUG")
            titles = [action["title"] for action in await client.actions(other, (0, 0), (0, 17))]
            assert "Fix this FAR" in titles  # b.py is the file itself
            assert "Fix all fake-bug findings in this file" in titles

    run(scenario())


def test_a_closed_file_that_changed_unseen_is_not_edited(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    b.write_text("# loader\n")

    async def scenario() -> None:
        async with session() as client:
            client.open(a.as_uri(), "FAR(b.py)")
            action = named(await client.actions(a.as_uri(), (0, 0)), "Fix this FAR (edits b.py)")
            b.write_text('"""Something else."""\n')
            with pytest.raises(Refused) as refused:
                await resolved(client, action)
            assert refused.value.code == -32801
            # The file was read again: the next attempt uses the new text.
            action = named(await client.actions(a.as_uri(), (0, 0)), "Fix this FAR (edits b.py)")
            assert len((await resolved(client, action))["documentChanges"]) == 2

    run(scenario())


def test_an_edit_for_another_version_is_refused() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            action = named(await client.actions(A, (0, 0)), "Fix this BUG")
            client.change(A, 2, " BUG")
            with pytest.raises(Refused) as refused:
                await resolved(client, action)
            assert refused.value.code == -32801
            client.shut(A)
            with pytest.raises(Refused):
                await resolved(client, action)
            client.open(A, "  BUG", version=1)
            with pytest.raises(Refused):
                await resolved(client, action)

    run(scenario())


def test_actions_asked_for_a_text_that_is_changed_meanwhile() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "HANG BUG")
            await client.until(lambda: client.backend.hanging)
            _, future = client.ask(
                "textDocument/codeAction",
                {"textDocument": {"uri": A}, "range": span(0, 0, 0, 9), "context": {"diagnostics": []}},
            )
            await asyncio.sleep(0)  # as between any two messages
            client.change(A, 2, "BUG")
            client.backend.release.set()
            assert (await future)["result"] is None

    run(scenario())


def test_actions_right_after_an_edit_are_about_the_new_text() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "")
            await client.settled()
            client.change(A, 2, "\nBUG")
            action = named(await client.actions(A, (1, 0)), "Fix this BUG")
            assert action["diagnostics"][0]["range"] == span(1, 0, 1, 3)

    run(scenario())


def test_a_fix_that_comes_to_nothing_is_an_error_nobody_sees() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "STUCK")
            action = named(await client.actions(A, (0, 0)), "Fix this STUCK")
            with pytest.raises(Refused) as refused:
                await resolved(client, action)
            assert refused.value.code == -32803

    run(scenario())


def test_a_crash_while_an_edit_is_made(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: Any) -> Any:
        raise ValueError("no repair today")

    monkeypatch.setattr(FakeWorkspace, "repairs", crash)

    async def scenario(able: dict[str, Any]) -> list[dict[str, Any]]:
        async with session(able) as client:
            client.open(A, "BUG")
            actions = await client.actions(A, (0, 0), only=["quickfix"])
            if actions[0]["title"] == "Fix this BUG":
                with pytest.raises(Refused):
                    await resolved(client, actions[0])
            return actions

    async def scenarios() -> None:
        assert titles(await scenario(capabilities())) == ["Fix this BUG", "Suppress fake-bug here"]
        assert titles(await scenario(capabilities(rich=False))) == ["Suppress fake-bug here"]

    run(scenarios())
    assert "no repair today" in caplog.text


@pytest.mark.parametrize(
    "data",
    [
        None,
        3,
        {},
        {"uri": A},
        {"uri": A, "at": "x"},
        {"uri": A, "at": [1, 1]},
        {"uri": A, "at": [1, 1], "finding": "x"},
    ],
)
def test_resolving_what_we_did_not_send(data: Any) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            await client.settled()
            try:
                answer = await client.request(
                    "codeAction/resolve", title="x", **({} if data is None else {"data": data})
                )
                assert "edit" not in answer
            except Refused as refused:
                assert refused.code in (-32801, -32803)
            assert await client.actions(A, (0, 0))

    run(scenario())


# --- fix all ----------------------------------------------------------------------------------------------------------


def test_fix_all_goes_on_until_nothing_is_left() -> None:
    text = "BUG BUG2\r\nkeep\r\nGUESS BUG2\r\n"

    async def scenario() -> None:
        async with session() as client:
            client.open(A, text)
            (action,) = await client.actions(A, (1, 0), only=["source.fixAll"])
            (change,) = (await resolved(client, action))["documentChanges"]
            (edit,) = change["edits"]
            assert edit == {"range": span(0, 0, 3, 0), "newText": "FIXED FIXED\r\nkeep\r\nGUESS FIXED\r\n"}
            # The engine is back at the editor's text.
            assert client.backend.workspaces[0].text(Path("/project/a.py")) == text
            assert len(await client.diagnostics(A)) == 4

    run(scenario())


def test_fix_all_in_one_round_keeps_the_small_edits() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG and BUG")
            (action,) = await client.actions(A, (0, 0), only=[FIX_ALL])
            (change,) = (await resolved(client, action))["documentChanges"]
            assert [edit["range"] for edit in change["edits"]] == [span(0, 0, 0, 3), span(0, 8, 0, 11)]

    run(scenario())


def test_all_findings_of_one_rule() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG\nBUG\nGUESS\nGUESS")
            action = named(await client.actions(A, (0, 0)), "Fix all fake-bug findings in this file")
            assert len((await resolved(client, action))["documentChanges"][0]["edits"]) == 2
            assert not [title for title in titles(await client.actions(A, (2, 0))) if title.startswith("Fix all fake")]

    run(scenario())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nc", "a\nX\nc"),
        ("a\nb", "a\nb\n"),
        ("a\n", "a"),
        ("", "a\nb"),
        ("a\nb", ""),
        ("a", "a"),
        ("a\r\nb", "a\nb"),
        ("x\nx\nx", "x\nx"),
    ],
)
def test_the_difference_of_two_texts(before: str, after: str) -> None:
    assert applied(before, [difference(before, after)]) == after


# --- suppress here ----------------------------------------------------------------------------------------------------


def suppressed(text: str, line: int = 0, end_line: int | None = None) -> str | None:
    lines = split_lines(text)
    place = Place(line, 0, line if end_line is None else end_line, 3)
    insertion = insert_suppressions.Suppressing(lines).insertion(place, "fake-bug", "LDR999")
    if insertion is None:
        return None
    return applied(text, [_Written(insertion)])


class _Written:
    def __init__(self, insertion: Insertion) -> None:
        self.span = Place(insertion.line, insertion.column, insertion.line, insertion.end_column)
        self.text = insertion.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = BUG\n", "x = BUG  # loaderlint: ignore[fake-bug]\n"),
        ("x = BUG   \r\ny", "x = BUG   # loaderlint: ignore[fake-bug]\r\ny"),
        ("x = BUG", "x = BUG  # loaderlint: ignore[fake-bug]"),
        ("x = BUG  # why", "x = BUG  # why  # loaderlint: ignore[fake-bug]"),
        ("x = BUG  # loaderlint: ignore[other]", "x = BUG  # loaderlint: ignore[other, fake-bug]"),
        ("x = BUG  # loaderlint: ignore[a, b,]  # c", "x = BUG  # loaderlint: ignore[a, b, fake-bug]  # c"),
        ("x = BUG  # loaderlint: ignore[]", "x = BUG  # loaderlint: ignore[fake-bug]"),
        ("x = '# loaderlint: ignore[a]'", None),
        ("x = '''\nBUG'''", None),
        ("x = \\\nBUG", None),
        ("x = BUG  # loaderlint: ignore[open", None),
    ],
)
def test_where_the_comment_goes(text: str, expected: str | None) -> None:
    assert suppressed(text) == expected


def test_a_finding_over_several_lines_takes_its_last_line_if_it_must() -> None:
    assert suppressed("f('''\nBUG\n''', 1)\n", 0, 2) == "f('''\nBUG\n''', 1)  # loaderlint: ignore[fake-bug]\n"


def test_many_comments_take_no_more_reading_than_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = '''\n''', BUG\n" * 500
    read: list[int] = []

    def noted(part: str) -> tuple[Suppression, ...]:
        read.append(len(part))
        return suppressions(part)

    monkeypatch.setattr(insert_suppressions, "suppressions", noted)
    here = insert_suppressions.Suppressing(split_lines(text))
    assert all(here.insertion(Place(line, 5, line, 8), "fake-bug", "LDR999") for line in range(1, 1000, 2))
    comment = len("  # loaderlint: ignore[fake-bug]")
    assert sum(read) == len(text) + 500 * comment


def test_suppress_here_in_the_editor() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "x = '\U0001f600'; BUG # \U0001f600\n", version=5)
            action = named(await client.actions(A, (0, 11)), "Suppress fake-bug here")
            (change,) = action["edit"]["documentChanges"]
            assert change["textDocument"] == {"uri": A, "version": 5}
            (edit,) = change["edits"]
            assert edit == {"range": span(0, 18, 0, 18), "newText": "  # loaderlint: ignore[fake-bug]"}
            client.change(A, 6, {"range": edit["range"], "text": edit["newText"]})
            assert await client.diagnostics(A) == []

    run(scenario())


def test_a_refactoring_needs_no_fault() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "\nx = LOADER(4)\n")
            assert not await client.actions(A, (0, 0))
            action = named(await client.actions(A, (1, 0), only=["refactor"]), "Seed this loader")
            assert action["kind"] == "refactor.rewrite" and "diagnostics" not in action
            (change,) = (await resolved(client, action))["documentChanges"]
            assert [edit["newText"] for edit in change["edits"]] == ["SEEDED"]
            assert not await client.actions(A, (1, 0), only=["quickfix"])

    run(scenario())


# --- the rule's page --------------------------------------------------------------------------------------------------


def test_a_client_that_shows_pages_asks_for_the_text() -> None:
    async def scenario() -> None:
        async with session(initializationOptions={"commands": ["loaderlint.showPage"]}) as client:
            client.open(A, "BUG BUG")
            (action,) = [one for one in await client.actions(A, (0, 0), (0, 7)) if "page" in one["title"]]
            assert action["title"] == "Show the page of fake-bug"
            assert action["command"] == {
                **action["command"],
                "command": "loaderlint.showPage",
                "arguments": ["fake-bug"],
            }
            assert len(action["diagnostics"]) == 2
            assert (await client.request("codeAction/resolve", **action)) == action
            told = await client.request("loaderlint/page", rule="fake-bug")
            assert told["text"].startswith("# fake-bug (FAK003)\n")
            with pytest.raises(Refused, match="there is no rule fake-bag"):
                await client.request("loaderlint/page", rule="fake-bag")

    run(scenario())


@pytest.mark.parametrize("resolves", [True, False])
def test_a_client_that_shows_documents_opens_the_page_in_the_browser(resolves: bool) -> None:
    able = capabilities(rich=resolves)
    able["window"] = {"showDocument": {"support": True}}

    async def scenario() -> None:
        async with session(able) as client:
            shown: list[Any] = []
            client.replies["window/showDocument"] = lambda asked: shown.append(asked) or {"success": True}
            client.open(A, "BUG")
            command = named(await client.actions(A, (0, 0)), "Show the page of fake-bug")["command"]
            await client.request("workspace/executeCommand", **command)
            assert [(one["uri"], one["external"]) for one in shown] == [(rule_url("fake-bug"), True)]
            with pytest.raises(Refused):
                await client.request("workspace/executeCommand", **{**command, "arguments": ["fake-bag"]})
            assert len(shown) == 1

    run(scenario())


def test_a_client_that_shows_neither_is_offered_no_page() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            assert not [one for one in titles(await client.actions(A, (0, 0))) if "page" in one]

    run(scenario())


# --- edits that would do harm -----------------------------------------------------------------------------------------


async def refusal(client: Session, uri: str, kind: str) -> str:
    """The error message when the first action of a kind is resolved."""
    action = next(one for one in await client.actions(uri, (0, 0), (0, 20)) if one["kind"] == kind)
    with pytest.raises(Refused) as refused:
        await resolved(client, action)
    return str(refused.value)


def test_fixes_that_undo_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(self: FakeWorkspace, paths: Sequence[Path], **_: Any) -> tuple[FileEdit, ...]:
        return (FileEdit(paths[0], (TextEdit(Span(0, 0, 0, 0), "#"),)),)

    monkeypatch.setattr(FakeWorkspace, "fix_all", again)

    async def scenario() -> None:
        async with session() as client:
            client.open(A, "BUG")
            assert "the fixes of a.py undo each other" in await refusal(client, A, FIX_ALL)
            assert set(client.backend.workspaces[0].texts.values()) == {"BUG"}

    run(scenario())


@pytest.mark.parametrize("kind", ["quickfix", FIX_ALL])
def test_what_is_python_stays_python(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(A, "x = 1  # BUG")
            edits = (FileEdit(Path("/project/a.py"), (TextEdit(Span(0, 4, 0, 5), "1 +"),)),)
            monkeypatch.setattr(FakeWorkspace, "repairs", lambda self, found: (Repair(_title(found), "safe", edits),))
            monkeypatch.setattr(FakeWorkspace, "fix_all", _once(edits))
            assert "it would leave a.py with code that is not Python" in await refusal(client, A, kind)

    run(scenario())


def test_two_names_of_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file, link = tmp_path / "file.py", tmp_path / "link.py"
    file.write_text("x = 1")
    link.symlink_to("file.py")
    edits = tuple(FileEdit(path, (TextEdit(Span(0, 0, 0, 0), "y = 1\n"),)) for path in (file, link))
    monkeypatch.setattr(FakeWorkspace, "repairs", lambda self, found: (Repair(_title(found), "safe", edits),))

    async def scenario() -> None:
        async with session(folders=[tmp_path]) as client:
            client.open(A, "BUG")
            assert "link.py and file.py are the same file" in await refusal(client, A, "quickfix")

    run(scenario())


def _title(found: Any) -> str:
    return str(found.finding.fixes[0].title)


def _once(edits: tuple[FileEdit, ...]) -> Callable[..., tuple[FileEdit, ...]]:
    left = [edits]
    return lambda self, paths, **_: left.pop() if left else ()
