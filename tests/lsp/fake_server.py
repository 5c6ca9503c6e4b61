"""The real server process with the tiny engine: `python fake_server.py stdio|tcp|ws [port [origin...]]`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parents[2] / "server"), str(Path(__file__).parent)]
    from fake_engine import FakeBackend

    from loaderlint.lsp.access_token import Access
    from loaderlint.lsp.server import serve

    port, *origins = sys.argv[2:] or ["0"]
    access = Access.of(None, tuple(origins))
    sys.exit(serve(FakeBackend, sys.argv[1], "127.0.0.1", int(port), access))  # type: ignore
