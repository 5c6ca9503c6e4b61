"""Only clients that know the token may talk to a listening server, and only web pages that are allowed."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from loaderlint import cli
from loaderlint.lsp import access_token
from loaderlint.lsp.access_token import Access, is_loopback
from tests.lsp.editor import FAKE, SERVER, editor
from tests.lsp.processes import Listening, listening
from tests.lsp.session import PATIENCE, run
from tests.lsp.test_process import fix_a_bug

CLI = ("-m", "loaderlint", "server", "--port", "0")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SERVER)}


# --- the token --------------------------------------------------------------------------------------------------------


def test_the_flag_wins_over_the_environment_and_nobody_inherits_the_token() -> None:
    environment = {access_token.VARIABLE: "inherited", "HOME": "/"}
    assert Access.of("flag", (), environment) == Access("flag")
    assert environment == {"HOME": "/"}
    assert Access.of(None, (), {access_token.VARIABLE: "inherited"}) == Access("inherited")


@pytest.mark.parametrize("environment", [{}, {access_token.VARIABLE: ""}])
def test_without_a_token_there_is_a_new_one(environment: dict[str, str]) -> None:
    one, other = Access.of(None, (), dict(environment)), Access.of(None, (), dict(environment))
    assert one.generated and len(one.token) >= 32 and one.token != other.token


@pytest.mark.parametrize(
    "token", ["", "secre", "secret ", "SECRET", "secr\u00e9t", "\ud800", None, 3, ["secret"], True]
)
def test_other_tokens(token: object) -> None:
    assert Access("secret").knows("secret")
    assert not Access("secret").knows(token)
    message = {"id": 1, "method": "initialize", "params": {"initializationOptions": {"token": token}}}
    assert Access("secret").refusal(json.dumps(message).encode()) is not None


@pytest.mark.parametrize(
    ("path", "header", "admitted"),
    [
        ("/?token=secret", None, True),
        ("/any/path?x=1&token=secret", None, True),
        ("/", "Bearer secret", True),
        ("/", "bearer  secret", True),
        ("/", None, False),
        ("/?token=", None, False),
        ("/?token=other", "Bearer other", False),
        ("/", "Basic secret", False),
        ("/", "secret", False),
        ("/secret", None, False),
    ],
)
def test_the_request_of_a_websocket(path: str, header: str | None, admitted: bool) -> None:
    headers = {"Authorization": header} if header else {}
    assert Access("secret").admits_request(path, headers) is admitted


def test_loopback() -> None:
    assert is_loopback("127.0.0.1") and is_loopback("127.1.2.3") and is_loopback("::1")
    assert not is_loopback("0.0.0.0") and not is_loopback("::") and not is_loopback("192.168.0.1")


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [("--token", "x"), ("--allow-origin", "https://x.org"), ("--stdio", "--token", "x")])
def test_stdio_needs_no_token(flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["server", *flags]) == 2
    assert "add --tcp or --ws" in capsys.readouterr().err


@pytest.mark.parametrize("token", ["", " ", "secr\u00e9t"])
def test_a_token_that_cannot_be_sent_is_refused(token: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["server", "--tcp", "--token", token]) == 2
    assert "--token" in capsys.readouterr().err


@pytest.mark.parametrize("by_flag", [True, False])
def test_a_token_that_is_given_is_not_told(by_flag: bool, tmp_path: Path) -> None:
    flags = ("--token", "secret") if by_flag else ()
    environment = {**ENVIRONMENT, access_token.VARIABLE: "other" if by_flag else "secret"}
    with listening(*CLI, "--tcp", *flags, token="secret", env=environment, cwd=tmp_path) as server:
        works(server, "tcp", tmp_path)
        assert server.process.wait(PATIENCE) == 0
    assert not any("secret" in line for line in server.lines)


def test_an_address_that_others_can_reach_is_warned_of() -> None:
    with listening(*CLI, "--tcp", "--host", "0.0.0.0", env=ENVIRONMENT) as server:
        assert "warning: other machines can reach this address" in server.lines[1]
    with listening(FAKE, "tcp", "0") as server:
        pass
    assert not any("warning" in line for line in server.lines)


# --- connections ------------------------------------------------------------------------------------------------------


def works(server: Listening, kind: str, folder: Path) -> None:
    """Check that a client with the token is served."""
    address: Any = {kind: ("127.0.0.1", server.port)}

    async def scenario() -> None:
        async with editor(folder=folder, token=server.token, **address) as window:
            if server.token != "secret":  # the tiny engine
                await fix_a_bug(window, folder)

    run(scenario())


def connected(server: Listening) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), PATIENCE)


def until_closed(connection: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    data = b""
    try:
        while more := connection.recv(1 << 16):
            data += more
    except ConnectionResetError:
        pass
    return data


def initialize(**options: Any) -> bytes:
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize("data", [initialize(), initialize(token="wrong"), initialize(token={})])
def test_a_client_without_the_token_is_told_so(data: bytes, tmp_path: Path) -> None:
    with listening(FAKE, "tcp", "0") as server:
        with connected(server) as connection:
            connection.sendall(data)
            answer = json.loads(until_closed(connection).partition(b"\r\n\r\n")[2])
        assert answer["id"] == 1 and "initializationOptions.token" in answer["error"]["message"]
        works(server, "tcp", tmp_path)


def test_what_else_connects_does_not_end_the_server(tmp_path: Path) -> None:
    with listening(FAKE, "tcp", "0") as server:
        connected(server).close()
        for data in (
            b"\r\n\r\n",
            b"hello\r\n",
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            # A web page can send a message as the body of a form.
            b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://x.org\r\n" + initialize(token=server.token),
            b"Content-Length: 99999999999\r\n\r\n",
            b"Content-Length: 2000000\r\n\r\n",
            b"Content-Type: a\r\n" * 100,
            b"x" * 1_000_000,
            initialize(token=server.token).replace(b"initialize", b"initialise"),
        ):
            with connected(server) as connection:
                try:
                    connection.sendall(data)
                except ConnectionError:
                    pass
                assert b"result" not in until_closed(connection)
        works(server, "tcp", tmp_path)
        assert server.process.wait(PATIENCE) == 0


def test_connections_that_say_nothing_hold_nobody_up(tmp_path: Path) -> None:
    with listening(FAKE, "tcp", "0") as server:
        silent = [connected(server) for _ in range(40)]
        silent[-1].sendall(b"Content-Length: 100\r\n")
        assert until_closed(silent[0]) == b""
        works(server, "tcp", tmp_path)
        for connection in silent:
            assert until_closed(connection) == b""
            connection.close()


def test_web_pages_and_who_does_not_know_the_token(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    with listening(FAKE, "ws", "0", "https://allowed.org") as server:
        address = f"ws://127.0.0.1:{server.port}"

        async def refused(path: str, **options: Any) -> int:
            with pytest.raises(InvalidStatus) as error:
                await connect(address + path, **options)
            return error.value.response.status_code

        async def scenario() -> None:
            known = f"/?token={server.token}"
            header = {"Authorization": f"Bearer {server.token}"}
            assert await refused("/") == 401
            assert await refused("/?token=wrong") == 401
            assert await refused("/", additional_headers={"Authorization": "Bearer wrong"}) == 401
            assert await refused("/", origin="https://allowed.org") == 401
            assert await refused(known, origin="https://other.org") == 403
            assert await refused(known, origin="null") == 403
            connected(server).close()
            async with connect(f"{address}/", additional_headers=header, origin="https://allowed.org") as client:
                await client.send(initialize().partition(b"\r\n\r\n")[2].decode())
                assert "capabilities" in json.loads(await client.recv())["result"]
                assert await refused(known) == 503

        asyncio.run(asyncio.wait_for(scenario(), 4 * PATIENCE))
        assert server.process.wait(PATIENCE) == 1


def test_a_page_is_refused_where_none_is_allowed(tmp_path: Path) -> None:
    pytest.importorskip("websockets")
    from websockets.asyncio.client import connect
    from websockets.exceptions import InvalidStatus

    with listening(FAKE, "ws", "0") as server:

        async def scenario() -> None:
            with pytest.raises(InvalidStatus):
                await connect(f"ws://127.0.0.1:{server.port}/?token={server.token}", origin="http://127.0.0.1:8888")

        run(scenario())
        works(server, "ws", tmp_path)
