"""From files to findings and from findings to edits: what the command line and the language server use.

The engine determines the order of the work: it reads the project around the reported files, links a snapshot, runs
every rule on its subjects, and converts places to spans. It knows no protocol and prints nothing.

* `workspace`: the projects of some folders. This is the interface for other rooms.
* `project_state`: one project, composed of the parts below.
* `file_settings`: the settings and the environment of each file.
* `linking`: from the store to findings; repeated only if something that was read has changed.
* `run_rules`: runs the rules on their subjects.
* `finding_positions`: the current spans of findings.
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
    from loaderlint.runtime.internal_errors import Cancelled

__all__ = ["Cancelled", "Project", "Workspace"]

_HOMES = {
    "Cancelled": "loaderlint.runtime.internal_errors",
    "Project": "loaderlint.engine.project_state",
    "Workspace": "loaderlint.engine.workspace",
}


def __getattr__(name: str) -> object:
    """Import lazily: a check that the cache answers needs diagnostics, but not the modules that find them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
