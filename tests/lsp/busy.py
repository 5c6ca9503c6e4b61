"""A question that keeps an engine's process busy."""

from __future__ import annotations


def engine_is_busy(workspace: object) -> None:
    """Never return."""
    while True:
        pass
