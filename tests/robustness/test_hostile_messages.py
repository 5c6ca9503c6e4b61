"""Whatever a client sends, the server goes on, says what is wrong, and needs one line of its log for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.processes import URI, Pipe, piped

PARSE, INVALID, UNKNOWN, PARAMS = -32700, -32600, -32601, -32602
STATUS, OPEN = "loaderlint/status", "textDocument/didOpen"
#: A request or response that is well-formed but for what a case changes.
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": "x", "method": STATUS, "params": {"uri": URI}}
RESPONSE: dict[str, Any] = {"jsonrpc": "2.0", "id": "x", "result": 3}


def note(method: Any, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def deep(levels: int, opening: str = '{"a":', closing: str = "}") -> bytes:
    text = json.dumps(note("workspace/didChangeConfiguration", {"settings": "HERE"}))
    return text.replace('"HERE"', opening * levels + "1" + closing * levels).encode()


def without(message: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != key}


#: Bodies, and the error that answers them: its code and the id that it names.
BODIES: list[tuple[Any, tuple[int, Any] | None]] = [
    # no JSON
    (b"", (PARSE, None)),
    (b"{", (PARSE, None)),
    (b"\x00\x00\x00", (PARSE, None)),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', (PARSE, None)),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xed\xa0\x80"}', (PARSE, None)),
    (json.dumps(CALL).encode("utf-16"), (PARSE, None)),
    (b'{"jsonrpc": "2.0", "id": NaN, "method": "x"}', (PARSE, None)),
    (b'{"jsonrpc": "2.0", "id": -Infinity, "method": "x"}', (PARSE, None)),
    (b'{"jsonrpc": "2.0", "id": 1' + 5000 * b"0" + b', "method": "x"}', (PARSE, None)),
    (b"[" * 100_000, (PARSE, None)),
    (b'{"a":' * 100_000, (PARSE, None)),
    # no message
    (None, (INVALID, None)),
    (3, (INVALID, None)),
    ("text", (INVALID, None)),
    ([], (INVALID, None)),
    ([CALL], (INVALID, None)),
    ({}, (INVALID, None)),
    ({"jsonrpc": "2.0"}, (INVALID, None)),
    ({"jsonrpc": "2.0", "id": 7}, (INVALID, 7)),
    (without(CALL, "jsonrpc"), (INVALID, "x")),
    ({**CALL, "jsonrpc": "1.0"}, (INVALID, "x")),
    ({**CALL, "jsonrpc": 2.0}, (INVALID, "x")),
    # ids
    ({**CALL, "id": {}}, (INVALID, None)),
    ({**CALL, "id": []}, (INVALID, None)),
    ({**CALL, "id": {"a": 1}}, (INVALID, None)),
    ({**CALL, "id": None}, (INVALID, None)),
    ({**CALL, "id": True}, (INVALID, None)),
    ({**CALL, "id": 1.5}, (INVALID, None)),
    (b'{"jsonrpc": "2.0", "id": 1e999, "method": "x"}', (INVALID, None)),
    # methods
    ({**CALL, "method": 5}, (INVALID, "x")),
    ({**CALL, "method": None}, (INVALID, "x")),
    ({**CALL, "method": {}}, (INVALID, "x")),
    ({**CALL, "method": ""}, (UNKNOWN, "x")),
    ({**CALL, "method": "no/such/request"}, (UNKNOWN, "x")),
    ({**CALL, "method": "\ud800\n\x00"}, (UNKNOWN, "x")),
    ({**CALL, "id": "\ud800", "method": "no/such/request"}, (UNKNOWN, "\ud800")),
    ({**CALL, "method": "exit"}, (INVALID, "x")),
    ({**CALL, "method": OPEN}, (INVALID, "x")),
    (note(5, {}), (INVALID, None)),
    (note("no/such/notification", {"a": {"b": []}}), None),
    (note("$/no/such/notification", {}), None),
    # parameters
    ({**CALL, "params": 3}, (PARAMS, "x")),
    ({**CALL, "params": "text"}, (PARAMS, "x")),
    ({**CALL, "params": []}, (PARAMS, "x")),
    ({**CALL, "method": "textDocument/hover", "params": {"textDocument": {"uri": URI}}}, (PARAMS, "x")),
    ({**CALL, "method": "textDocument/hover", "params": [1, 2]}, (PARAMS, "x")),
    ({**CALL, "method": "textDocument/codeAction", "params": None}, (PARAMS, "x")),
    (note(OPEN, 3), None),
    (note(OPEN, []), None),
    (note(OPEN, {}), None),
    (note(OPEN, {"textDocument": {"uri": {}, "languageId": [], "version": "x", "text": 3}}), None),
    (note("textDocument/didChange", {"textDocument": 3}), None),
    (note("$/cancelRequest", {}), None),
    (note("$/cancelRequest", {"id": {}}), None),
    (note("$/cancelRequest", {"id": "no such request"}), None),
    (note("workspace/didChangeConfiguration", {"settings": [None, 3]}), None),
    # responses: an error that answers an error would have no end
    (RESPONSE, None),
    ({**RESPONSE, "id": {}}, None),
    ({**RESPONSE, "id": []}, None),
    ({**RESPONSE, "id": None}, None),
    ({**RESPONSE, "id": True}, None),
    (without(RESPONSE, "id"), None),
    ({**RESPONSE, "error": 2}, None),
    ({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "what?"}}, None),
    ({"jsonrpc": "2.0", "id": {}, "error": 5}, None),
    # well-formed, and odd
    (b'{"jsonrpc": "2.0", "method": "exit", "method": "no/such/notification"}', None),
]
#: What comes before or instead of a header and its body.
STREAMS = [
    b"\r\n\r\n",
    b"hello\r\n\r\n",
    b"\x00" * 100_000 + b"\n",
    b"Content-Length: x\r\n\r\n",
    b"Content-Length: -5\r\n\r\n",
    b"Content-Length: 99999999999999999\r\n\r\n",
    b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    b"Content-Length: " + b"9" * 100_000 + b"\r\n\r\n",
    b"Content-Length: 4\r\n\r\nnull and more than four",
    b"Content-Length: 2\r\nno end of the header {}",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
]


class Server:
    def __init__(self, pipe: Pipe, errors: Path) -> None:
        self.pipe = pipe
        self._errors = errors
        self._numbers = 1_000  # apart from the ids of the messages

    def answers(self, data: bytes) -> list[dict[str, Any]]:
        """What the server sends until it has answered a question that comes after `data`."""
        try:
            self.pipe.raw(data)
            self._numbers += 1
            self.pipe.send(STATUS, {"uri": URI}, self._numbers)
            found = []
            while (message := self.pipe.read()).get("id") != self._numbers:
                found.append(message)
        except (OSError, ValueError):
            self.pipe.process.kill()  # if it has not ended; the next test gets another one
            pytest.fail(f"the server has ended with {self.pipe.process.wait()}")
        assert "result" in message
        return found

    def logged(self) -> list[str]:
        return self._errors.read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Server]]:
    yield {}


@pytest.fixture
def server(shared: dict[str, Server], request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Server]:
    """One for many tests, as long as it lives."""
    if "server" not in shared or shared["server"].pipe.process.poll() is not None:
        errors = tmp_path_factory.mktemp("server") / "stderr"
        context = piped(errors)
        pipe = context.__enter__()
        request.node.getparent(pytest.Module).addfinalizer(lambda: context.__exit__(None, None, None))
        pipe.initialize()
        shared["server"] = Server(pipe, errors)
    yield shared["server"]


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(("message", "error"), BODIES, ids=lambda value: repr(value)[:60])
def test_a_message(server: Server, message: Any, error: tuple[int, Any] | None) -> None:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    before = len(server.logged())
    answers = server.answers(framed(body))
    assert [(one["error"]["code"], one["id"]) for one in answers] == ([error] if error else [])
    assert len(server.logged()) - before <= 1


def test_a_cancellation_that_crosses_the_answer_is_not_logged(server: Server) -> None:
    before = server.logged()
    assert server.answers(framed(json.dumps(note("$/cancelRequest", {"id": 1})).encode())) == []
    assert server.logged() == before


@pytest.mark.parametrize("levels", [100, 500, 900, 3000])
def test_settings_that_are_deep(server: Server, levels: int) -> None:
    server.answers(framed(deep(levels)))
    server.answers(framed(deep(levels, "[", "]")))


@pytest.mark.parametrize("garbage", STREAMS, ids=lambda value: repr(value)[:60])
def test_what_is_no_message(server: Server, garbage: bytes) -> None:
    answers = server.answers(garbage)
    assert [one["error"]["code"] for one in answers] in ([], [INVALID])


def test_an_id_that_is_in_use(server: Server) -> None:
    """The first request keeps its answer, also when a response and a cancellation name its id."""
    wait = {**CALL, "id": "waits", "params": {"uri": URI, "wait": True}}
    server.pipe.open("HANG")
    messages = [wait, wait, {**RESPONSE, "id": "waits"}, {**RESPONSE, "id": "waits", "error": 2}]
    answers = server.answers(b"".join(framed(json.dumps(one).encode()) for one in messages))
    assert [(one["id"], one["error"]["code"]) for one in answers] == [("waits", INVALID)]
    (answer,) = server.answers(framed(json.dumps(note("$/cancelRequest", {"id": "waits"})).encode()))
    assert (answer["id"], answer["error"]["code"]) == ("waits", -32800)
