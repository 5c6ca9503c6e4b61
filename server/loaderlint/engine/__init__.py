"""From files to findings and from findings to edits: what the command line and the language server use.

The engine owns the order of things: it reads the project around the files that are reported, links a snapshot, asks
every rule its question about every subject, and turns places into spans. It knows no protocol and prints nothing.

* `workspace`: the projects of some folders. What others call.
* `project`: one project, put together from the parts below.
* `configuration`: the settings and the environment of each file.
* `linking`: from the store to findings; again only when something that was read has changed.
* `asking`: the rules' questions about their subjects.
* `places`: where a finding stands now.
* `showing`: which findings are shown, and why others are not.
* `repairs`: from fix intents to edits.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loaderlint.engine.project_state import Project
    from loaderlint.engine.workspace import Workspace
    from loaderlint.findings.diagnostics import Diagnostic, Note, Problem, ProjectInfo
    from loaderlint.sources.store import Cancelled

__all__ = ["Cancelled", "Diagnostic", "Note", "Problem", "Project", "ProjectInfo", "Workspace"]

_HOMES = {
    "Cancelled": "loaderlint.sources.store",
    "Diagnostic": "loaderlint.findings.diagnostics",
    "Note": "loaderlint.findings.diagnostics",
    "Problem": "loaderlint.findings.diagnostics",
    "Project": "loaderlint.engine.project_state",
    "ProjectInfo": "loaderlint.findings.diagnostics",
    "Workspace": "loaderlint.engine.workspace",
}


def __getattr__(name: str) -> object:
    """Import what is asked for: a check that a cache answers needs diagnostics, and nothing that finds them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
