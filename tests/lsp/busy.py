"""Questions for an engine's process."""

from __future__ import annotations


def engine_is_busy(workspace: object) -> None:
    """Never comes back."""
    while True:
        pass
