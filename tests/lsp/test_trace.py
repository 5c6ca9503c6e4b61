"""The trace in the client's log: what was checked, and how long it took."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lsp.session import Session, run, session

URI = "file:///project/a.py"


def traced(client: Session) -> list[dict[str, Any]]:
    return [one["params"] for one in client.received if one.get("method") == "$/logTrace"]


@pytest.mark.parametrize("value", ["messages", "verbose"])
def test_a_client_traces_from_the_start(value: str) -> None:
    async def scenario() -> None:
        async with session(trace=value) as client:
            client.open(URI, "BUG")
            await client.diagnostics(URI)
            last = traced(client)[-1]
            assert last["message"].startswith("checked 1 document in ") and last["message"].endswith(" ms")
            assert ("verbose" in last) is (value == "verbose")

    run(scenario())


def test_a_client_turns_the_trace_on_and_off() -> None:
    async def scenario() -> None:
        async with session() as client:
            client.open(URI, "BUG")
            await client.diagnostics(URI)
            assert not traced(client)
            client.notify("$/setTrace", value="verbose")
            client.change(URI, 2, "BUG BUG relink")
            assert len(await client.diagnostics(URI)) == 2
            lines = traced(client)[-1]["verbose"].splitlines()
            assert [line.replace("\\", "/").partition("project/")[2] for line in lines[:-1]] == ["a.py"]
            assert lines[0].startswith("edited: ") and lines[-1] == "linked again"
            client.notify("$/setTrace", value="off")
            before = len(traced(client))
            client.change(URI, 3, "BUG")
            assert len(await client.diagnostics(URI)) == 1
            assert len(traced(client)) == before

    run(scenario())
