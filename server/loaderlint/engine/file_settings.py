"""Determines the settings of a project's files, and the versions and platforms that they run on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loaderlint.findings.diagnostics import Problem
from loaderlint.project.loaders.loader_wrapper import LoaderWrapper
from loaderlint.settings import settings as settings_module
from loaderlint.settings.settings import Settings
from loaderlint.syntax.notebook import SUFFIX

if TYPE_CHECKING:
    from loaderlint.project.versions.environment import Environment, VersionSet
    from loaderlint.project.versions.library_folders import LibraryFolders
    from loaderlint.project.versions.notebook_versions import NotebookVersions
    from loaderlint.project.versions.project_versions import Versions
    from loaderlint.sources.library_summaries import Release

_PLATFORMS = {"linux": "linux", "darwin": "macos", "win32": "windows", "cygwin": "windows"}


class Configuration:
    """The configuration of the project at `root`. `overrides`: settings that override files; `interpreter`: the Python
    that an editor has selected."""

    def __init__(self, root: Path, overrides: Mapping[str, object], interpreter: str | None) -> None:
        self.root = root
        self.overrides = overrides
        self.interpreter = interpreter
        self.wrong: dict[Problem, None] = {}
        """Problems in the settings and in files that declare versions, as far as these were read."""
        self._versions: Versions | None = None
        self._environments: dict[Path, Environment] = {}
        self._notebooks: NotebookVersions | None = None

    def renew(self) -> None:
        """Forget what was read, because it may have changed."""
        self._environments.clear()
        self._versions = None
        self.wrong.clear()

    def changed(self) -> bool:
        """Whether a file that declares versions has changed."""
        return self._versions is not None and self._versions.changed()

    @property
    def asks_audits(self) -> bool:
        """Whether audits affect findings."""
        return self.overrides.get(settings_module.AUDITS) is not False

    def settings(self, path: Path) -> Settings:
        """The settings that apply to a file."""
        settings, wrong = settings_module.load(path, self.overrides)
        for one in wrong:
            self.wrong.setdefault(Problem(one.path, one.message, fatal=one.path is not None))
        return settings

    def environment(self, path: Path) -> Environment:
        """The environment that the project of the file at `path` runs on."""
        known = self._environments.get(path.parent)
        if known is None:
            if self._versions is None:
                from loaderlint.project.versions.project_versions import Versions

                self._versions = Versions(self.root, self.interpreter)
            known = _environment(self.settings(path), path.parent, self._versions, self._supposed())
            self._environments[path.parent] = known
            self._note_unread(self._versions.unread)
        return self._of_notebook(path, known) if path.suffix == SUFFIX else known

    def _of_notebook(self, path: Path, around: Environment) -> Environment:
        """The environment of a notebook, in a folder with the environment `around`."""
        if self._notebooks is None:
            from loaderlint.project.versions.notebook_versions import NotebookVersions

            self._notebooks = NotebookVersions()
        return self._notebooks.environment(path, around)

    def _supposed(self) -> dict[str, VersionSet]:
        """The versions of packages that apply whatever the project declares."""
        from loaderlint.project.versions.environment import version_set

        packages = self.overrides.get(settings_module.PACKAGES)
        given = packages if isinstance(packages, Mapping) else {}
        return {name: version_set(text, "the command line") for name, text in given.items()}

    def _note_unread(self, unread: Mapping[Path, str]) -> None:
        """Record unreadable files that may declare versions. A settings file that is not valid TOML is recorded
        once."""
        noted = {one.path for one in self.wrong}
        for path, why in unread.items():
            if path not in noted:
                self.wrong.setdefault(Problem(path, f"{why}; the versions in it are not known", fatal=False))

    def library_folders(self, folder: Path) -> LibraryFolders:
        """The folders of the libraries that the files of a folder import."""
        environment = self.environment(folder / "x.py")
        assert self._versions is not None
        return self._versions.library_folders(folder, environment.platforms, environment.python)

    def summarised(self, folder: Path) -> tuple[Release, ...]:
        """The releases of libraries whose summaries match the environment of a folder's files."""
        from loaderlint.sources import library_summaries

        return library_summaries.fitting(self.environment(folder / "x.py").packages or {})

    def note(self, message: str) -> None:
        """Record a problem with loaderlint's own data."""
        self.wrong.setdefault(Problem(None, message, fatal=False))

    def declared(self, path: Path) -> tuple[LoaderWrapper, ...]:
        """The loaders that the settings of a file declare."""
        return self.settings(path).loaders or ()


#: The source of the platforms of a project that names none.
ASSUMED = "this machine; the setting platforms adds others"


def _environment(settings: Settings, folder: Path, versions: Versions, supposed: dict[str, VersionSet]) -> Environment:
    """The environment of a folder's project: settings and the `supposed` versions first, then what its files
    declare."""
    from loaderlint.project.versions.environment import Environment, VersionSet, python_set, version_set

    torch = version_set(settings.target_torch, "the setting target-torch") if settings.target_torch else None
    python = python_set(settings.target_python, "the setting target-python") if settings.target_python else None
    platforms, source = _platforms(settings, folder, versions)
    declared = versions.at(folder, platforms, python)
    return Environment(
        torch or declared.get("torch", VersionSet()),
        python or declared.get("python", VersionSet()),
        platforms,
        settings.start_method,
        {**declared, **supposed} if supposed else declared,
        source,
    )


def _platforms(settings: Settings, folder: Path, versions: Versions) -> tuple[tuple[str, ...], str]:
    """The platforms that a folder's project runs on, and their source: the settings, else this machine and the
    platforms that the project's files name."""
    if settings.platforms:
        return tuple(settings.platforms), "the setting platforms"
    here = _PLATFORMS.get(sys.platform, "linux")
    named, files = versions.platforms(folder)
    if not named:
        return (here,), ASSUMED
    return tuple(dict.fromkeys((here, *named))), f"this machine and {', '.join(files)}"
