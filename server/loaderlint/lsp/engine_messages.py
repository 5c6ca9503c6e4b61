"""The messages between the server and the engine's process (`loaderlint.runtime.child_processes` sends them)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Kind = Literal["early", "part", "progress", "done", "cancelled", "postponed", "failed"]


class Told(NamedTuple):
    """A call that needs no answer: a method of the workspace, or `workspace` itself, with its arguments."""

    method: str
    about: tuple[Any, ...]


class Call(NamedTuple):
    """A question, and everything that the engine must know before it. Without a `method`, the answer is no longer
    wanted."""

    number: int
    told: tuple[Told, ...]
    method: str
    about: tuple[Any, ...]
    named: Mapping[str, Any] = {}


class Stop(NamedTuple):
    """The answer to a call is no longer wanted."""

    number: int


class Reply(NamedTuple):
    """A reply to a call. The last one is `done`, `cancelled`, `postponed` or `failed`."""

    number: int
    kind: Kind
    value: Any
