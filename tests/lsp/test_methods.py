"""Every message that the server understands or sends is used by tests."""

from __future__ import annotations

from scripts import protocol_page
from tests.lsp import wire
from tests.lsp.session import Refused, run, session

AGAIN = "run LOADERLINT_RECORD=1 python -m pytest tests/lsp, then make docs"


def test_each_method_to_the_server_has_a_test() -> None:
    without = protocol_page.received().keys() - wire.kept()["received"].keys()
    assert not without, f"no test sends {sorted(without)}; write one, and {AGAIN}"


def test_each_method_from_the_server_is_told_and_has_a_test() -> None:
    told, seen = protocol_page.sent().keys(), wire.kept()["sent"].keys()
    assert not told - seen, f"no test sees {sorted(told - seen)}; write one, and {AGAIN}"
    assert not seen - told, f"scripts/protocol_page.py does not know what sends {sorted(seen - told)}"


def test_the_tests_that_are_named_exist() -> None:
    names = {test for methods in wire.kept().values() for tests in methods.values() for test in tests}
    gone = sorted(name for name in names if not wire.exists(name))
    assert not gone, f"{gone} are gone; {AGAIN}"


def test_what_is_only_understood() -> None:
    """Clients send these to every server; they have no effect and break nothing."""

    async def scenario() -> None:
        async with session() as client:
            client.notify("window/workDoneProgress/cancel", token="unknown")
            client.notify("textDocument/didSave", textDocument={"uri": "file:///a.py"})
            try:
                await client.request("workspace/executeCommand", command="unknown")
            except Refused as refused:
                assert refused.code
            client.open("file:///a.py", "BUG")
            assert len(await client.diagnostics("file:///a.py")) == 1

    run(scenario())
