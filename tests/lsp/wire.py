"""Records which methods of the protocol a test uses, and stores in `methods.json` the tests of every method.

docs/editors/protocol.md is generated from it. `LOADERLINT_RECORD=1 python -m pytest tests/lsp` writes it again;
otherwise, each test that is named in it must still use the methods that it is named for."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("methods.json")
RECORDS = bool(os.environ.get("LOADERLINT_RECORD"))
#: The maximum number of tests stored for each method.
_ENOUGH = 3

#: The methods in the running test: to the server, and from it.
received: set[str] = set()
sent: set[str] = set()


def to_server(method: Any) -> None:
    """The client sends a request or notification; an answer has no method."""
    if isinstance(method, str):
        received.add(method)


def from_server(method: Any) -> None:
    """The server sends a request or notification; an answer has no method."""
    if isinstance(method, str):
        sent.add(method)


def seen() -> dict[str, set[str]]:
    """The methods since the test began, by direction."""
    return {"received": set(received), "sent": set(sent)}


def kept() -> dict[str, dict[str, list[str]]]:
    """The tests ('test_pull.py::test_x') of every method, by direction."""
    found: dict[str, dict[str, list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def missing(test: str) -> list[str]:
    """The methods that the last test is named for but did not use."""
    return sorted(
        method
        for direction, methods in kept().items()
        for method, tests in methods.items()
        if test in tests and method not in seen()[direction]
    )


def exists(test: str) -> bool:
    """Whether there is a test of this name."""
    file, _, name = test.partition("::")
    path = FILE.with_name(file)
    return path.exists() and f"\ndef {name.partition('[')[0]}(" in path.read_text(encoding="utf-8")


def keep(tests: dict[str, dict[str, set[str]]]) -> None:
    """Write the file from what each test used: for every method the tests that are most about it. Entries of tests that
    did not run stay."""
    known = kept()
    for direction, methods in known.items():
        count = Counter(method for used in tests.values() for method in used[direction])
        for method in sorted(count.keys() | methods.keys()):
            using = [name for name in tests if method in tests[name][direction]]
            about = {name: sum(1 / count[other] for other in tests[name][direction]) * count[method] for name in using}
            others = [name for name in methods.get(method, ()) if name not in tests and exists(name)]
            best = sorted(using, key=lambda name: ("[" in name, about[name], name))
            methods[method] = [*others, *best][:_ENOUGH]
        known[direction] = {method: methods[method] for method in sorted(methods) if methods[method]}
    FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
