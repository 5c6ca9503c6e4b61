"""The versions that a project runs on, combined from its files and its environment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from loaderlint.files import file_accesses
from loaderlint.project.versions import installed_packages, library_folders
from loaderlint.project.versions.declaration import PLATFORM, normal
from loaderlint.project.versions.environment import Range, VersionSet, python_set, union, version_set
from loaderlint.project.versions.installed_packages import Installed
from loaderlint.project.versions.library_folders import LibraryFolders
from loaderlint.project.versions.version_files import Found, Kind, in_folder, of_workspace

_INSTALLED, _RANGES, _ASIDE = 3, 4, 10
#: The names of folders in which a project keeps packages of others.
_OF_OTHERS = frozenset(
    "libs lib third_party third-party thirdparty 3rdparty external externals extern vendor submodules deps".split()
)


class _Said(NamedTuple):
    """What files of one rank in one folder say; a lower `rank` wins, then a lower `distance` from the loader's file."""

    rank: int
    distance: int
    versions: VersionSet


class Versions:
    """The versions of packages in a project: reads each folder once. `interpreter`: the editor's, a path."""

    def __init__(self, root: Path, interpreter: str | None = None) -> None:
        self._root = root
        self._interpreter = interpreter
        self._folders: dict[Path, tuple[Found, ...]] = {}
        self.unread: dict[Path, str] = {}
        """The files that could not be read, as far as they were asked for, each with the reason."""
        self._shared = tuple(of_workspace(root, self.unread.setdefault))
        self._environments: dict[Path, Installed | None] = {}
        self._library_folders: dict[Path | None, LibraryFolders] = {}
        self._times: dict[Path, int] = {}

    def at(self, folder: Path, platforms: tuple[str, ...], python: VersionSet | None = None) -> Declared:
        """What holds for the files of a folder on these platforms. `python`: the version that is set, if one is."""
        folders, found = self._found_from(folder)
        environment = self._environment(folders, Declared(_without_readmes(found), platforms, python))
        return Declared(found, platforms, python, environment)

    def platforms(self, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The platforms that the project of a folder names, and the files that do: its classifiers, or pixi's list. The
        nearest such file decides."""
        named = [one for one in self._found_from(folder)[1] if one[1].declaration.name.startswith(PLATFORM)]
        nearest = min((distance for distance, _ in named), default=0)
        here = [one for distance, one in named if distance == nearest]
        names = dict.fromkeys(one.declaration.name.removeprefix(PLATFORM) for one in here)
        return tuple(sorted(names)), tuple(dict.fromkeys(one.source for one in here))

    def _found_from(self, folder: Path) -> tuple[list[Path], list[tuple[int, Found]]]:
        """The folders from one upwards, and what the files in them say, each with its distance. A package of others in
        a folder for such is installed beside the project, so what the project says is nearer. What the README of a
        copied repository tells its own users to install is not said of the project."""
        folders = list(_upwards(folder, self._root))
        inside = _as_far_as(folders[:-1], _is_vendored)
        distances = [number + (len(folders) + 1 if number < inside else 0) for number in range(len(folders))]
        copied = _as_far_as(folders[:-1], _is_copy)
        found = [
            (distance, one)
            for number, (distance, at) in enumerate(zip(distances, folders, strict=True))
            for one in self._in(at)
            if number >= copied or one.kind is not Kind.README
        ]
        found.extend((len(folders), one) for one in self._shared)
        return folders, found

    def _in(self, folder: Path) -> tuple[Found, ...]:
        if folder not in self._folders:
            self._folders[folder] = tuple(in_folder(folder, self._root, self.unread.setdefault))
        return self._folders[folder]

    def _environment(self, folders: list[Path], declared: Declared) -> Installed | None:
        """The environment that the project runs in: the first that loaders can run in and that fits. One in the
        project's own folder is the project's, whatever it holds."""
        for prefix, label in installed_packages.candidates(folders, self._root, self._interpreter):
            if prefix not in self._environments:
                self._times.update(
                    (folder, installed_packages.time(folder)) for folder in installed_packages.folders(prefix)
                )
                self._environments[prefix] = installed_packages.read(prefix, label)
            found = self._environments[prefix]
            if found is not None and (prefix.is_relative_to(self._root) or declared.fits(found)):
                return found
        return None

    def library_folders(self, folder: Path, platforms: tuple[str, ...], python: VersionSet | None) -> LibraryFolders:
        """Where the modules are that the files of a folder import: in the environment that the project runs in, else in
        one of the project's own, whatever it holds."""
        folders, found = self._found_from(folder)
        environment = self._environment(folders, Declared(_without_readmes(found), platforms, python))
        prefix = environment.prefix if environment else self._own_environment(folders)
        if prefix not in self._library_folders:
            self._library_folders[prefix] = library_folders.of_environment(prefix, self._root)
        return self._library_folders[prefix]

    def _own_environment(self, folders: list[Path]) -> Path | None:
        """The environment in the project's own folder, or the one that an editor has selected."""
        for prefix, _ in installed_packages.candidates(folders, self._root, self._interpreter):
            selected = self._interpreter is not None and Path(self._interpreter).is_relative_to(prefix)
            if prefix.is_relative_to(self._root) or selected:
                return prefix
        return None

    def changed(self) -> bool:
        """Whether something was installed in, or removed from, an environment since it was read."""
        return any(installed_packages.time(folder) != time for folder, time in self._times.items())


class Declared(Mapping[str, VersionSet]):
    """Versions by the normalised names of packages, and 'python'. A package that is named without a version is among
    them, and nothing is known of it."""

    def __init__(
        self,
        found: Iterable[tuple[int, Found]],
        platforms: tuple[str, ...],
        python: VersionSet | None,
        environment: Installed | None = None,
    ) -> None:
        self._found: dict[str, list[tuple[int, Found]]] = {}
        for distance, one in found:
            if one.declaration.name.startswith(PLATFORM):
                continue
            self._found.setdefault(one.declaration.name, []).append((distance, one))
        self._environment = environment
        self._platforms = platforms
        self._known: dict[str, VersionSet] = {}
        self._python = python if python is not None else self["python"] if "python" in self else VersionSet()

    def __getitem__(self, name: str) -> VersionSet:
        name = normal(name)
        if name not in self._known:
            if not self._is_named(name):
                raise KeyError(name)
            self._known[name] = self._versions(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(self._found)
        names.update(dict.fromkeys(self._environment.versions if self._environment else ()))
        return iter(name for name in names if self._is_named(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._is_named(normal(name))

    def _is_named(self, name: str) -> bool:
        if self._environment is not None and name in self._environment.versions:
            return True
        return any(self._holds(one) for _, one in self._found.get(name, ()))

    def _holds(self, one: Found) -> bool:
        if not one.declaration.marker or one.declaration.name == "python":
            return True  # Python's own version is found out first, and no marker speaks about it
        from loaderlint.project.versions.markers import may_hold

        return may_hold(one.declaration.marker, self._platforms, self._python)

    def fits(self, environment: Installed) -> bool:
        """Whether what is declared admits what an environment holds."""
        return all(
            name not in self or name not in environment.versions or self[name].admits(environment.versions[name])
            for name in ("python", "torch", "tensorflow", "keras")
        )

    def _versions(self, name: str) -> VersionSet:
        said = sorted(self._said(name), key=lambda one: (one.rank, one.distance))
        for one in said:
            nearer = [
                other.versions
                for other in said
                if other.distance < one.distance and other.rank < _ASIDE and other.rank not in (_INSTALLED, Kind.README)
            ]
            kept = _overlapping(one.versions, nearer)
            if kept.known:
                return _with_readme(kept, one, [other for other in said if other.rank == Kind.README])
        return VersionSet()

    def _said(self, name: str) -> Iterator[_Said]:
        """All that is said of a package, grouped by how much it counts and where it is said."""
        groups: dict[tuple[int, int], list[VersionSet]] = {}
        constraints: list[VersionSet] = []
        for distance, one in self._found.get(name, ()):
            if not self._holds(one):
                continue
            ranges = _ranges(name, one.declaration.versions)
            if one.declaration.constraint:
                constraints.append(VersionSet(ranges, (one.source,)))
                continue
            for member in ranges:
                rank = _rank(one, member) + (_ASIDE if one.declaration.aside else 0)
                groups.setdefault((rank, distance), []).append(VersionSet((member,), (one.source,)))
        for (rank, distance), versions in groups.items():
            yield _Said(rank, distance, _constrained(union(versions), constraints))
        if constraints and not groups:
            limits = union(constraints)
            exact = limits.known and all(member.exact for member in limits.ranges)
            yield _Said(int(Kind.REQUIREMENTS) if exact else _RANGES, 0, limits)
        here = self._environment.versions.get(name) if self._environment else None
        if here is not None and self._environment is not None:
            nearest = min((key for key in groups if key[0] == _RANGES), default=None)
            if nearest is None or union(groups[nearest]).admits(here):
                yield _Said(_INSTALLED, 0, VersionSet(_ranges(name, str(here)), (self._environment.label,)))


def _with_readme(versions: VersionSet, by: _Said, readmes: list[_Said]) -> VersionSet:
    """Versions that a project's files say, with those of the nearest README if it contradicts them: one of the two is
    out of date. Lock files and environments are not, and neither is the version that a project pins beside the README
    of code that it holds in a folder."""
    if not readmes or by.rank in (Kind.LOCK, _INSTALLED, Kind.README):
        return versions
    if by.rank < _RANGES and readmes[0].distance < by.distance:
        return versions
    told = readmes[0].versions
    if any(member.meets(other) for member in versions.ranges for other in told.ranges):
        return versions
    return union([versions, told])


def _without_readmes(found: list[tuple[int, Found]]) -> list[tuple[int, Found]]:
    return [(distance, one) for distance, one in found if one.kind is not Kind.README]


def _rank(one: Found, member: Range) -> int:
    """How much one version, or range, counts. What a lock file says of Python is for which it was made ('==3.12.*')."""
    if not member.exact:
        return _RANGES
    return int(one.kind if member.low == member.high else max(one.kind, Kind.REQUIREMENTS))


def _ranges(name: str, text: str) -> tuple[Range, ...]:
    return (python_set if name == "python" else version_set)(text, "").ranges


def _overlapping(versions: VersionSet, nearer: list[VersionSet]) -> VersionSet:
    """Without the members that what is said nearer to the loader's file rules out."""
    kept = tuple(m for m in versions.ranges if all(any(m.meets(o) for o in one.ranges) for one in nearer if one.known))
    return VersionSet(kept, versions.sources)


def _constrained(versions: VersionSet, constraints: list[VersionSet]) -> VersionSet:
    """What is left of the versions under constraints; those that contradict them stay."""
    for limit in constraints:
        ranges = tuple(narrowed for one in versions.ranges for other in limit.ranges if (narrowed := one.within(other)))
        if ranges:
            versions = VersionSet(ranges, tuple(dict.fromkeys((*versions.sources, *limit.sources))))
    return versions


def _as_far_as(folders: list[Path], is_one: Callable[[Path], bool]) -> int:
    """How many folders, going outwards, come up to the last one for which a test is true; 0 if there is none."""
    return max((number + 1 for number, at in enumerate(folders) if is_one(at)), default=0)


def _is_vendored(folder: Path) -> bool:
    """Whether a folder is a package of others, judging by the folder that it is in."""
    if folder.parent.name.lower() not in _OF_OTHERS:
        return False
    setup = folder / "setup.py"
    file_accesses.saw(setup)
    return setup.is_file()


def _is_copy(folder: Path) -> bool:
    """Whether a folder is the download of another repository, judging by its name: `pointnet-master`."""
    return folder.name.endswith(("-master", "-main"))


def _upwards(folder: Path, root: Path) -> Iterator[Path]:
    """The folder and those around it up to `root`; one outside of `root` stands alone."""
    yield folder
    while folder != root and folder.is_relative_to(root):
        folder = folder.parent
        yield folder
