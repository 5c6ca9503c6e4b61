"""Functions that end the process. Source: https://docs.python.org/3/library/constants.html, `sys` and `os`."""

from __future__ import annotations

EXITS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})
