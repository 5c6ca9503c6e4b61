"""How to see findings for other platforms: a tip that is shown once for a project that declares no platform."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loaderlint.engine.file_settings import ASSUMED

if TYPE_CHECKING:
    from loaderlint.commands.cached_check import CheckCache
    from loaderlint.engine import Workspace
    from loaderlint.engine.project_state import Project

_NAMES = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
#: A word in every project that creates loaders with workers.
_WORD = "num_workers"


def tip(workspace: Workspace, cache: CheckCache) -> str:
    """The tip to print after a check; '' unless it is due for one of the projects."""
    for project, _ in workspace.answered():
        platforms = _assumed(project)
        if platforms and _has_workers(project) and cache.is_first(f"platforms of {project.root}"):
            others = " and ".join(name for key, name in _NAMES.items() if key not in platforms)
            return (
                f"The check assumes {_NAMES[platforms[0]]}, as on this machine. To see findings for {others} too: "
                f"loaderlint check --platforms {','.join(_NAMES)} (or the setting platforms). This tip is shown once."
            )
    return ""


def _assumed(project: Project) -> tuple[str, ...]:
    """The platforms that are assumed for a project; () if it declares some."""
    environment = project.configuration.environment(project.root / "any.py")
    return environment.platforms if environment.platforms_source == ASSUMED else ()


def _has_workers(project: Project) -> bool:
    return bool(project.store.searching().find("containing", _WORD))
