"""The rule's page on a finding, and on its name in a suppression comment."""

from __future__ import annotations

from typing import Any

import pytest

from loaderlint.lsp.hover import pages
from tests.lsp.session import capabilities, run, session, span

A = "file:///project/a.py"


def hover(text: str, line: int, column: int, able: dict[str, Any] | None = None) -> dict[str, Any] | None:
    answers: list[dict[str, Any] | None] = []

    async def scenario() -> None:
        async with session(able) as client:
            client.open(A, text)
            await client.settled()
            position = {"line": line, "character": column}
            answers.append(await client.request("textDocument/hover", textDocument={"uri": A}, position=position))

    run(scenario())
    return answers[0]


def test_on_a_finding() -> None:
    shown = hover("'\U0001f600' + BUG", 0, 8)
    assert shown is not None
    assert shown["contents"]["kind"] == "markdown"
    assert shown["contents"]["value"].startswith("### fake-bug (FAK003)")
    assert shown["range"] == span(0, 7, 0, 10)
    below = shown["contents"]["value"].partition("\n")[2]
    assert below.startswith("\nHere: torch 2.4.1, from uv.lock; Python not known.\n"), "what the finding rests on"


def test_on_a_loader() -> None:
    shown = hover("  loader = LOADER(4)", 0, 3)
    assert shown is not None
    assert shown["contents"]["value"] == (
        "**`loader`** Loader, num_workers=4\n\nWorkers start by fork (the default of linux).\n\n"
        "Runs in its workers: `work`.\n\nCopied into each worker: `Data.rng` (Random(...))."
    )
    idle = hover("LOADER(0)", 0, 3)
    assert idle is not None
    assert idle["contents"]["value"] == "**`loader`** Loader, num_workers=0\n\nRuns in the main process: `work`."


def test_on_a_loader_right_after_an_edit() -> None:
    """The hover waits briefly for the analysis of the edit."""

    async def scenario() -> None:
        async with session() as client:
            client.open(A, "x = 1")
            await client.settled()
            client.change(A, 2, "loader = LOADER(4)")
            position = {"line": 0, "character": 3}
            shown = await client.request("textDocument/hover", textDocument={"uri": A}, position=position)
            assert shown is not None and "num_workers=4" in shown["contents"]["value"]

    run(scenario())


def test_beside_a_finding() -> None:
    assert hover("x = 1 + BUG", 0, 1) is None
    assert hover("BUG", 7, 7) is not None, "beyond the end is the end"


def test_plain_text_for_a_client_that_knows_no_markdown() -> None:
    shown = hover("BUG", 0, 1, capabilities(rich=False))
    assert shown is not None and shown["contents"]["kind"] == "plaintext"


@pytest.mark.parametrize(("column", "page"), [(32, "fake-bug"), (41, "fake-gue"), (29, None), (50, None)])
def test_on_a_name_in_a_suppression(column: int, page: str | None) -> None:
    shown = hover("x = 1  # loaderlint: ignore[   fake-bug, fake-gue, unknown]", 0, column)
    if page is None:
        assert shown is None
    else:
        assert shown is not None and shown["contents"]["value"].startswith(f"### {page}")


def test_a_rule_without_a_page_shows_nothing() -> None:
    assert hover("STUCK", 0, 1) is None


def test_headings_are_small_and_code_is_as_it_was() -> None:
    page = "# name (LDR1)\n\n## Example\n```python\n# a comment\nx = 1\n```\n\n## Fixed\n```python\n## two\n```\n"
    small = "### name (LDR1)\n\n#### Example\n```python\n# a comment\nx = 1\n```\n\n#### Fixed\n```python\n## two\n```"
    assert pages(["name"], {"name": page}) == small
