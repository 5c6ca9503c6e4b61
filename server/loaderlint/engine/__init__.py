"""From files to findings and from findings to edits: what the command line and the language server use.

The engine owns the order of things: it reads the project around the files that are reported, links a snapshot, asks
every rule its question about every subject, and turns places into spans. It knows no protocol and prints nothing.

* `workspace`: the projects of some folders. What others call.
* `project_state`: one project, put together from the parts below.
* `file_settings`: the settings and the environment of each file.
* `linking`: from the store to findings; again only when something that was read has changed.
* `run_rules`: the rules' questions about their subjects.
* `finding_positions`: where a finding stands now.
* `visibility`: which findings are shown, and why others are not.
* `repairs`: from fix intents to edits.
* `comparison`: what other settings would change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.engine.project_state import Project
    from loaderlint.engine.workspace import Workspace
    from loaderlint.sources.store import Cancelled

__all__ = ["Cancelled", "Project", "Workspace"]

_HOMES = {
    "Cancelled": "loaderlint.sources.store",
    "Project": "loaderlint.engine.project_state",
    "Workspace": "loaderlint.engine.workspace",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: a check that a cache answers needs diagnostics, and nothing that finds them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
