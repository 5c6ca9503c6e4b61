"""The findings of a project as it is and as it would be after a change: for `check --compare` and the editor.

Both sides are found in one workspace. The files are read and lowered once; the rules are asked again for each side,
because what a project runs on decides how its workers start and so what the model says."""

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
    """What a comparison asks of a workspace, which may be that of another process."""

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
    """What each change makes of the findings; where there are several, then what only all of them together do. The
    workspace is left as it would be after the last one. Raises what `check` raises once `stop` answers True."""

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
