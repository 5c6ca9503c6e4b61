"""Transports messages over stdio, TCP or WebSocket, for one client, until it leaves.

On a socket, the client is the first connection that presents the token (`access`). Until then, a connection may send
only few bytes, for a short time.

The loops are our own for four reasons: stdin is read on its own thread, so no job can keep a message waiting; output of
the engine or its children cannot get between the messages; a header in another format does no harm; and we choose the
exit code.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, BinaryIO

from loaderlint.lsp.access_token import Access, is_loopback
from loaderlint.runtime import child_processes

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

#: A header at the end of a line: the rest of a message with a wrong length may precede it.
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*\Z", re.IGNORECASE)
#: The maximum size of a message; a larger length means a broken header.
_LARGEST = 1 << 30
#: The maximum length of a header line; longer lines are not headers.
_LONGEST_HEADER = 1 << 16
#: Limits for connections that have not presented the token: header lines, bytes, seconds, and the number of
#: connections.
_HEADERS, _LARGEST_FIRST, _SECONDS_TO_AUTHENTICATE, _MOST_WAITING = 8, 1 << 20, 10.0, 16


class _Pipe:
    """The writer of pygls: a binary file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.close()


async def serve_stdio(server: Server) -> None:
    """Talk over stdin and stdout until the end of stdin or `exit`.

    Both are reserved for the protocol: all other output goes to stderr, and child processes have an empty stdin."""
    source, sink = child_processes.claim_stdio()
    server.protocol.set_writer(_Pipe(sink))
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        body: bytes | None = b""
        while body is not None:
            body = _read_message(source)
            try:
                loop.call_soon_threadsafe(messages.put_nowait, body)
            except RuntimeError:  # the event loop has ended
                return

    threading.Thread(target=read, name="loaderlint-stdin", daemon=True).start()
    await _converse(server, _drained(messages))


async def serve_tcp(server: Server, host: str, port: int, access: Access) -> None:
    """Wait on `host`:`port` (0: a free one) for a TCP connection that presents the token, and serve it. Raises OSError
    if it cannot listen."""
    authenticator = _Authenticator(access)
    listener = await asyncio.start_server(authenticator.receive, host, port, limit=_LONGEST_HEADER)
    _announce("tcp", [one.getsockname() for one in listener.sockets], access)
    reader, writer, first = await authenticator.client
    listener.close()
    authenticator.close()
    server.protocol.set_writer(writer)
    try:
        await _converse(server, _with_first(first, _received(reader)))
        await writer.drain()
    except ConnectionError:
        logger.info("the connection is lost")
    finally:
        writer.close()


class _Authenticator:
    """Reads the first message of each TCP connection. `client`: the first one that presented the token."""

    def __init__(self, access: Access) -> None:
        self.client: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]]
        self.client = asyncio.get_running_loop().create_future()
        self._access = access
        self._waiting: list[asyncio.StreamWriter] = []

    async def receive(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Accept a connection, or close it. If too many wait, the one that has waited longest is closed, because
        clients present the token at once."""
        if self.client.done():
            writer.close()
            return
        self._waiting.append(writer)
        if len(self._waiting) > _MOST_WAITING:
            self._waiting[0].close()
        try:
            first = await asyncio.wait_for(_first_message(reader), _SECONDS_TO_AUTHENTICATE)
        except (asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            first = b""
        self._waiting.remove(writer)
        if self.client.done():
            writer.close()
            return
        refusal = self._access.refusal(first)
        if refusal is None:
            self.client.set_result((reader, writer, first))
            return
        logger.warning("a connection without the token is closed")
        with contextlib.suppress(OSError):
            if first:
                body = json.dumps(refusal).encode()
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            writer.close()

    def close(self) -> None:
        """Close all connections but the client's."""
        for writer in self._waiting:
            writer.close()


async def _first_message(reader: asyncio.StreamReader) -> bytes:
    """The body of the first message; empty if the connection begins with something else. Raises IncompleteReadError,
    LimitOverrunError or OSError."""
    length = None
    for _ in range(_HEADERS):
        header = await reader.readuntil(b"\n")
        if found := _LENGTH.match(header):
            length = int(found[1])
        elif not header.strip():
            return await reader.readexactly(length) if length is not None and length <= _LARGEST_FIRST else b""
        elif not header.lower().startswith(b"content-type:"):
            break  # for example HTTP
    return b""


async def _with_first(first: bytes, others: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for body in others:
        yield body


async def serve_ws(server: Server, host: str, port: int, access: Access) -> None:
    """Wait for a WebSocket connection that presents the token and does not come from a web page, unless its origin is
    allowed, and serve it. Raises ImportError without the library `websockets`, OSError if it cannot listen."""
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Request, Response
    from websockets.typing import Origin

    ended = asyncio.Event()
    taken = False

    async def messages(connection: ServerConnection) -> AsyncIterator[bytes]:
        with contextlib.suppress(ConnectionClosed):
            while True:
                yield await connection.recv(decode=False)

    def admit(connection: ServerConnection, request: Request) -> Response | None:
        if taken:
            return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "The server has its client.\n")
        if access.admits_request(request.path, request.headers):
            return None
        logger.warning("a connection without the token is closed")
        return connection.respond(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong: add ?token=TOKEN.\n")

    async def accept(connection: ServerConnection) -> None:
        nonlocal taken
        if taken:
            return
        taken = True
        outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        sender = asyncio.create_task(_send_all(outgoing, connection.send))
        server.protocol.set_writer(_Outbox(outgoing), include_headers=False)
        try:
            await _converse(server, messages(connection))
            await asyncio.wait({asyncio.ensure_future(outgoing.join()), sender}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sender.cancel()
            ended.set()

    async with serve(
        accept,
        host,
        port,
        process_request=admit,
        origins=[None, *map(Origin, access.origins)],
        open_timeout=_SECONDS_TO_AUTHENTICATE,
        max_size=_LARGEST,
        close_timeout=1,
    ) as listener:
        _announce("ws", [one.getsockname() for one in listener.sockets], access)
        await ended.wait()


class _Outbox:
    """The writer of pygls: a queue that keeps the order of the messages."""

    def __init__(self, queue: asyncio.Queue[bytes]) -> None:
        self._queue = queue

    def write(self, data: bytes) -> None:
        self._queue.put_nowait(data)

    def close(self) -> None:
        """Nothing to do: the connection closes itself."""


async def _send_all(queue: asyncio.Queue[bytes], send: Callable[[str], Awaitable[None]]) -> None:
    while True:
        data = await queue.get()
        try:
            await send(data.decode("utf-8"))
        finally:
            queue.task_done()


async def _converse(server: Server, messages: AsyncIterator[bytes]) -> None:
    """Handle the messages in order, until there are no more or the client sends `exit`."""
    async for body in messages:
        server.protocol.receive(body)
        if server.left:
            return
        # A flood of queued messages must not delay timers and answers, and a request must see the documents as they are
        # before the next message.
        await asyncio.sleep(0)


async def _drained(messages: asyncio.Queue[bytes | None]) -> AsyncIterator[bytes]:
    while (body := await messages.get()) is not None:
        yield body


async def _received(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The message bodies of a stream."""
    length = None
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            try:
                header = await reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                await reader.readexactly(error.consumed)
                continue
            if found := _LENGTH.search(header):
                length = _length(found)
            elif not header.strip() and length is not None:
                body = await reader.readexactly(length)
                length = None
                yield body


def _read_message(source: BinaryIO) -> bytes | None:
    """The body of the next message, None at the end of the stream."""
    length = None
    try:
        while header := source.readline(_LONGEST_HEADER):
            if found := _LENGTH.search(header):
                length = _length(found)
            elif not header.strip() and length is not None:
                body = source.read(length)
                return body if len(body) == length else None
    except (OSError, ValueError):  # closed meanwhile
        logger.info("stdin is lost", exc_info=True)
    except MemoryError:  # the start of the next message is no longer known
        logger.error("there is no memory for a message of %s bytes; the server ends", length)
    return None


def _length(header: re.Match[bytes]) -> int | None:
    """The length in a header; None if it is too large, so that the message is skipped."""
    length = int(header[1])
    if length > _LARGEST:
        logger.error("the header of a message of %d bytes is ignored", length)
        return None
    return length


def _announce(kind: str, addresses: Sequence[tuple[Any, ...]], access: Access) -> None:
    """Print to stderr where the server listens, and what a client needs."""
    host, port = addresses[0][:2]
    _say(f"listening on {kind}://{f'[{host}]' if ':' in host else host}:{port}")
    if not all(is_loopback(address[0]) for address in addresses):
        _say(
            "warning: other machines can reach this address, and the connection is not encrypted: anyone on the"
            " network can read the token and the code; listen on 127.0.0.1 instead, and connect through SSH"
        )
    if access.generated:
        _say(f"the token of this server is {access.token}")


def _say(line: str) -> None:
    print(f"loaderlint: {line}", file=sys.stderr, flush=True)
