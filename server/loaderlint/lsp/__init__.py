"""The language server: the engine's findings as messages of the Language Server Protocol.

One file per feature. `documents` contains the editor's texts, `document_state` what each of them shows and whether that
is outdated, and `shown_documents` sends it to the client. `analysis` decides when the engine checks the texts (a job of
`engine_jobs`). `backend` lists the questions to the engine; `async_engine` asks them on one thread (`engine_thread`),
and the engine runs in a process of its own (`engine_client`, `engine_process`, `engine_messages`). `protocol` and
`transport` protect the server from harmful messages. Nothing here imports libcst: the engine does, and its process
starts after `initialize` has been answered.

All lines and columns inside are 0-based characters. They become the client's units (UTF-8, UTF-16 or UTF-32) only where
a message is made or read.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

Transport = Literal["stdio", "tcp", "ws"]


def main(
    transport: Transport = "stdio",
    host: str = "127.0.0.1",
    port: int = 2087,
    *,
    token: str | None = None,
    origins: Sequence[str] = (),
    cache_dir: str | None = None,
    no_cache: bool = False,
) -> int:
    """Serve one client until it leaves, and return the exit code: 0 after a proper shutdown, 1 if the client left
    without one, 2 if the transport is not available. Port 0 chooses a free port; the address is printed to stderr.
    `token`, `origins`: who may connect to a socket (`access_token`); without a token, $LOADERLINT_TOKEN or a new one.
    `cache_dir`, `no_cache`: as for `loaderlint check`."""
    # Imported modules stay in memory. Garbage collections that examine them each time would delay messages (by 36 ms).
    gc.disable()
    try:
        from loaderlint.lsp.access_token import Access
        from loaderlint.lsp.engine_client import load
        from loaderlint.lsp.server import serve
    finally:
        gc.freeze()
        gc.enable()

    def folder() -> Path | None:
        from loaderlint.cache import cache_folder

        return None if no_cache else cache_folder.folder(cache_dir)

    return serve(lambda: load(folder), transport, host, port, Access.of(token, tuple(origins)))
