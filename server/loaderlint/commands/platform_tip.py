"""How to ask for findings of other systems: a line that a user is shown once for a project that names no platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.engine.file_settings import ASSUMED

if TYPE_CHECKING:
    from loaderlint.commands.cached_check import CheckCache
    from loaderlint.engine import Workspace
    from loaderlint.engine.project_state import Project

_NAMES = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
#: What a project that creates loaders with workers has in its text.
_WORD = "num_workers"


def tip(workspace: Workspace, cache: CheckCache) -> str:
    """The line after a check; '' if none of its projects is to be told of for the first time."""
    for project, _ in workspace.answered():
        platforms = _assumed(project)
        if platforms and _has_workers(project) and cache.is_first(f"platforms of {project.root}"):
            others = " and ".join(name for key, name in _NAMES.items() if key not in platforms)
            return (
                f"The check assumes {_NAMES[platforms[0]]}, as on this machine. To see findings for {others} too: "
                f"loaderlint check --platforms {','.join(_NAMES)} (or the setting platforms). You are told this once."
            )
    return ""


def _assumed(project: Project) -> tuple[str, ...]:
    """The platforms of a project that nobody has named; () if somebody has."""
    environment = project.configuration.environment(project.root / "any.py")
    return environment.platforms if environment.platforms_source == ASSUMED else ()


def _has_workers(project: Project) -> bool:
    return bool(project.store.searching().find("containing", _WORD))
