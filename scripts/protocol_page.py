"""docs/editors/protocol.md: every message that the language server understands or sends, with tests that use it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from loaderlint.lsp import (
    check_workspace,
    client_settings,
    fix_workspace,
    pull_diagnostics,
    rule_page,
    status,
    trace,
    what_if,
)
from loaderlint.lsp.protocol_diagnostics import Report
from loaderlint.lsp.server import Server

TESTS = Path("tests/lsp")
GENERATED = (
    "<!-- Written by scripts/generate_docs.py from the handlers' docstrings and tests/lsp/methods.json"
    " (LOADERLINT_RECORD=1 python -m pytest tests/lsp). -->"
)
INTRODUCTION = """\
All messages that the server understands or sends. The tests beside each use it over the real protocol (at most three
are named), and a message without a test fails the tests. The server never asks for what a client cannot do: it reads
the client's capabilities once, from `initialize`."""

#: The messages that are sent, with the function that sends each.
SENT: Mapping[str, Callable[..., Any]] = {
    types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: Report.messages,
    types.WINDOW_LOG_MESSAGE: Server.say,
    types.WINDOW_SHOW_MESSAGE: Server.alert,
    types.WORKSPACE_CONFIGURATION: client_settings.load,
    types.CLIENT_REGISTER_CAPABILITY: Server.register_with_client,
    types.WORKSPACE_DIAGNOSTIC_REFRESH: Server.refresh,
    types.WORKSPACE_CODE_LENS_REFRESH: Server.refresh_lenses,
    types.WINDOW_SHOW_DOCUMENT: rule_page.open_page,
    types.PROGRESS: pull_diagnostics.shown_progress,
    types.WINDOW_WORK_DONE_PROGRESS_CREATE: check_workspace.shown_token,
    types.WORKSPACE_APPLY_EDIT: fix_workspace.fix_workspace,
    types.LOG_TRACE: trace.checked,
    status.STATUS: status.announce,
}

#: The messages that pygls handles, without a handler of ours.
_BY_PYGLS = {
    types.CANCEL_REQUEST: "Stops a request and what is computed for it; it is answered with an error, as the"
    " specification asks for.",
    types.SET_TRACE: "Whether the server writes into the client's trace what it checks: see `$/logTrace`.",
    types.WINDOW_WORK_DONE_PROGRESS_CANCEL: "Stops the check of the workspace whose progress is shown.",
    types.WORKSPACE_EXECUTE_COMMAND: f"Carries out `{rule_page.OPEN}` or `{what_if.WHAT_IF}`, the server's commands.",
}


def received() -> dict[str, str]:
    """Every method that a client may send, with its description."""
    server = Server(_no_engine)
    pull_diagnostics.register(server)
    features = server.protocol.fm
    handlers = {**features.builtin_features, **features.features}
    return {**{method: _said(handler) for method, handler in handlers.items()}, **_BY_PYGLS}


def sent() -> dict[str, str]:
    """Every method that the server may send, with its description."""
    return {method: _said(function) for method, function in SENT.items()}


def written(root: Path) -> str:
    """The text of the page."""
    tests = json.loads((root / TESTS / "methods.json").read_text(encoding="utf-8"))
    return "\n".join(
        [
            GENERATED,
            "# Messages",
            "",
            INTRODUCTION,
            "",
            "## To the server",
            "",
            *_table(received(), tests["received"]),
            "",
            "## From the server",
            "",
            *_table(sent(), tests["sent"]),
            "",
        ]
    )


def _table(methods: Mapping[str, str], tests: Mapping[str, Sequence[str]]) -> list[str]:
    rows = [f"| `{name}` | {does} | {_links(tests.get(name, ()))} |" for name, does in sorted(methods.items())]
    return ["| method | what it does | tests |", "|---|---|---|", *rows]


def _links(tests: Sequence[str]) -> str:
    names = dict.fromkeys(test.partition("[")[0] for test in tests)
    split = [name.split("::") for name in names]
    return ", ".join(f"[{test.removeprefix('test_')}](../../{TESTS.as_posix()}/{file})" for file, test in split)


def _said(handler: Callable[..., Any]) -> str:
    """The first sentence of a docstring. Raises ValueError if there is none."""
    text = re.sub(r"\s+", " ", inspect.getdoc(getattr(handler, "func", handler)) or "").strip()
    if not text:
        raise ValueError(f"{handler} has no docstring")
    return re.split(r"(?<=\.) ", text)[0].replace("|", "\\|")


def _no_engine() -> Any:
    raise AssertionError("the page needs no engine")
