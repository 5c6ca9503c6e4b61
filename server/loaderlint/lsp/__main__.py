"""`python -m loaderlint.lsp` starts the language server alone, without the command line."""

from __future__ import annotations

import argparse
import sys

from loaderlint.lsp import main


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loaderlint.lsp", description="Start the loaderlint language server.")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--stdio", dest="transport", action="store_const", const="stdio", help="talk over stdin and stdout"
    )
    kind.add_argument("--tcp", dest="transport", action="store_const", const="tcp", help="wait for a TCP connection")
    kind.add_argument(
        "--ws", dest="transport", action="store_const", const="ws", help="wait for a WebSocket connection"
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=2087, help="port to listen on, 0 for a free one (%(default)s)")
    parser.add_argument("--no-cache", action="store_true", help="read and write no cache")
    parser.add_argument("--cache-dir", metavar="DIR", help="the folder of the cache")
    parser.set_defaults(transport="stdio")
    return parser.parse_args()


if __name__ == "__main__":
    chosen = _arguments()
    sys.exit(main(chosen.transport, chosen.host, chosen.port, cache_dir=chosen.cache_dir, no_cache=chosen.no_cache))
