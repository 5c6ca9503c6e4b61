"""Compares the findings of a project before and after a change of its settings or versions, for `check --compare` and
the editor.

Both sides use one workspace. Files are read and lowered once, but the rules run for each side, because the platform and
the versions determine how workers start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from loaderlint.findings.differences import Compared, difference
from loaderlint.settings import changes as settings_changes
from loaderlint.settings.changes import Change

if TYPE_CHECKING:
    from loaderlint.findings.diagnostics import Diagnostic

_Found = Mapping[Path, Sequence["Diagnostic"]]


class Checked(Protocol):
    """The part of a workspace that a comparison needs. The workspace may be in another process."""

    def configure(self, overrides: Mapping[str, object]) -> None:
        """Replace the settings."""

    def check(
        self,
        paths: Sequence[Path] | None = None,
        *,
        stop: Callable[[], bool] = ...,
        progress: Callable[[int, int], None] | None = ...,
    ) -> dict[Path, tuple[Diagnostic, ...]]:
        """The findings of files; without `paths`, of all files of the workspace."""


def compared(
    workspace: Checked,
    paths: Sequence[Path] | None,
    overrides: Mapping[str, object],
    changes: Sequence[Change],
    *,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Compared, ...]:
    """The effect of each change on the findings; if there are several, then also the effect of all together. The
    workspace keeps the settings of the last one. Raises what `check` raises when `stop` returns True."""

    def found_with(change: Change) -> _Found:
        workspace.configure({**overrides, **change.overrides})
        return workspace.check(paths, stop=stop)

    now = workspace.check(paths, stop=stop, progress=progress)
    told = [Compared(change.text, difference(now, found_with(change))) for change in changes]
    if len(changes) > 1:
        every = settings_changes.together(changes)
        both = difference(now, found_with(every))
        told.append(Compared(every.text, both.without([one.difference for one in told]), together=True))
    return tuple(told)
