"""Bytes in and out: stdio, TCP or WebSocket, one client, until it leaves.

Our own loops, for four reasons: stdin is read on a thread of its own, so that no job can keep a message waiting; what
the engine or its children print cannot get between the messages; a header written in another way does no harm; and the
exit code is ours to give.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

_LENGTH = re.compile(rb"content-length\s*:\s*(\d+)\s*\Z", re.IGNORECASE)
#: No message is larger; a length beyond it is a broken header.
_LARGEST = 1 << 30
#: A header line; longer ones are no headers.
_LONGEST_HEADER = 1 << 16


class _Pipe:
    """Where pygls writes: a binary file."""

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

    The two are kept for the protocol alone: everything else that is printed goes to stderr, and a child process finds
    an empty stdin."""
    source, sink = _claim_stdio()
    server.protocol.set_writer(_Pipe(sink))
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        body: bytes | None = b""
        while body is not None:
            body = _read_message(source)
            try:
                loop.call_soon_threadsafe(messages.put_nowait, body)
            except RuntimeError:  # the loop has ended
                return

    threading.Thread(target=read, name="loaderlint-stdin", daemon=True).start()
    await _converse(server, _drained(messages))


async def serve_tcp(server: Server, host: str, port: int) -> None:
    """Wait for one TCP connection on `host`:`port` (0: a free one) and serve it. Raises OSError if it cannot listen."""
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result((reader, writer))

    listener = await asyncio.start_server(accept, host, port, limit=_LONGEST_HEADER)
    _announce("tcp", listener.sockets[0].getsockname())
    reader, writer = await connected
    listener.close()
    server.protocol.set_writer(writer)
    try:
        await _converse(server, _received(reader))
        await writer.drain()
    except ConnectionError:
        logger.info("the connection is lost")
    finally:
        writer.close()


async def serve_ws(server: Server, host: str, port: int) -> None:
    """Wait for one WebSocket connection and serve it. Raises ImportError without the library `websockets`, OSError if
    it cannot listen."""
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.exceptions import ConnectionClosed

    ended = asyncio.Event()
    taken = False

    async def messages(connection: ServerConnection) -> AsyncIterator[bytes]:
        with contextlib.suppress(ConnectionClosed):
            while True:
                yield await connection.recv(decode=False)

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

    async with serve(accept, host, port, max_size=None, close_timeout=1) as listener:
        _announce("ws", next(iter(listener.sockets)).getsockname())
        await ended.wait()


class _Outbox:
    """Where pygls writes: a queue that keeps the order of the messages."""

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
    """Handle the messages in their order until there are no more or the client said `exit`."""
    async for body in messages:
        server.protocol.receive(body)
        if server.left:
            return
        # A flood of messages that are there already must not keep timers and answers waiting, and a request has to
        # see the documents as they are before the message after it.
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
            if found := _LENGTH.match(header):
                length = int(found[1])
            elif not header.strip() and length is not None:
                if length > _LARGEST:
                    logger.error("a message of %d bytes is refused", length)
                    return
                body = await reader.readexactly(length)
                length = None
                yield body


def _read_message(source: BinaryIO) -> bytes | None:
    """The body of the next message, None at the end of the stream."""
    length = None
    try:
        while header := source.readline(_LONGEST_HEADER):
            if found := _LENGTH.match(header):
                length = int(found[1])
            elif not header.strip() and length is not None:
                if length > _LARGEST:
                    logger.error("a message of %d bytes is refused", length)
                    return None
                body = source.read(length)
                return body if len(body) == length else None
    except (OSError, ValueError):  # closed under our hands
        logger.info("stdin is lost", exc_info=True)
    return None


def _claim_stdio() -> tuple[BinaryIO, BinaryIO]:
    """Private copies of stdin and stdout; the common ones then lead to nothing and to stderr."""
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return source, sink


def _announce(kind: str, address: tuple[object, ...]) -> None:
    print(f"loaderlint: listening on {kind}://{address[0]}:{address[1]}", file=sys.stderr, flush=True)
