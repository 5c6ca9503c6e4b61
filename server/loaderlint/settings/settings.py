"""Settings: `[tool.loaderlint]` in pyproject.toml or loaderlint.toml, in the nearest folder upwards from a file.

The user may name another file, or none (`FILE`).

Every key is optional; a key that is not set is None, which differs from every value. A wrong key or value never stops
anything: it becomes a `SettingsProblem`, and the rest applies.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from loaderlint.files import reading, toml
from loaderlint.files.gitignore import IgnoreRules
from loaderlint.files.reading import MissingFile, UnreadableFile
from loaderlint.files.toml import BadToml
from loaderlint.findings.finding import Severity
from loaderlint.project.loaders.loader_wrapper import LoaderWrapper

Platform = Literal["linux", "macos", "windows"]
StartMethod = Literal["fork", "spawn", "forkserver"]

PLATFORMS: tuple[Platform, ...] = ("linux", "macos", "windows")
START_METHODS: tuple[StartMethod, ...] = ("fork", "spawn", "forkserver")
SEVERITIES = tuple(severity.value for severity in Severity)

OWN_FILE = "loaderlint.toml"
SHARED_FILE = "pyproject.toml"

#: How exactly a selector names a rule: the most exact one decides, and `ignore` wins a tie. A prefix counts with its
#: length.
_DEFAULT, _ALL, _EXACT = 0, 1, 9
#: The number of characters of a value that messages show.
_SHOWN = 60
#: The maximum number of messages about one setting.
_MOST_MESSAGES = 20
#: The highest position of an argument: no call has more.
_MOST_ARGUMENTS = 1_000
_CODE_PREFIX = re.compile(r"LDR\d{0,3}\Z")


class SettingsProblem(NamedTuple):
    """A setting that cannot be used. `path` is the settings file, None for a flag or an editor setting."""

    path: Path | None
    message: str


class PerFileIgnore(NamedTuple):
    """`selectors` are ignored in the files that match `pattern` (gitignore syntax, relative to the settings file)."""

    pattern: str
    selectors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project. None means that a setting is not set.

    `directory` is the folder of the settings `file` (patterns are relative to it), None without a file. `target_torch`
    and `target_python` are a version ('2.4') or a range ('>=2.0,<2.5') that `packaging` can read. `baseline`: a path,
    relative to `directory`; '' for none."""

    directory: Path | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] | None = None
    per_file_ignores: tuple[PerFileIgnore, ...] | None = None
    severity: tuple[tuple[str, Severity], ...] | None = None
    exclude: tuple[str, ...] | None = None
    target_torch: str | None = None
    target_python: str | None = None
    platforms: tuple[Platform, ...] | None = None
    start_method: StartMethod | None = None
    loaders: tuple[LoaderWrapper, ...] | None = None
    baseline: str | None = None
    file: Path | None = field(default=None, compare=False)

    def told(self) -> tuple[str, ...]:
        """The settings that are set, one per line, after their file."""
        lines = [f"from {self.file}"] if self.file else []
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None and one.name not in ("directory", "file"):
                lines.append(f"{one.name.replace('_', '-')}: {value}")
        return tuple(lines)

    def enabled(self, name: str, code: str, by_default: bool = True) -> bool:
        """Whether the rule runs, regardless of `per_file_ignores`.

        The most exact selector that matches decides: a name or full code, then a code prefix, then 'ALL'."""
        wanted = _exactness(self.select, name, code)
        if self.select is None:
            wanted = _DEFAULT if by_default else None
        wanted = _most(wanted, _exactness(self.extend_select, name, code))
        if wanted is None:
            return False
        unwanted = _exactness(self.ignore, name, code)
        return unwanted is None or unwanted < wanted

    def ignored_in(self, path: Path, name: str, code: str) -> bool:
        """Whether `per_file_ignores` silence the rule in the file at `path` (absolute)."""
        return any(
            _exactness(entry.selectors, name, code) is not None and self._matches((entry.pattern,), path)
            for entry in self.per_file_ignores or ()
        )

    def excluded(self, path: Path) -> bool:
        """Whether `exclude` leaves the file at `path` (absolute) out."""
        return bool(self.exclude) and self._matches(self.exclude or (), path)

    def severity_of(self, name: str, code: str) -> Severity | None:
        """The severity that is set for this rule; None if none is set."""
        best: tuple[int, Severity] | None = None
        for selector, severity in self.severity or ():
            exactness = _exactness((selector,), name, code)
            if exactness is not None and (best is None or exactness >= best[0]):
                best = (exactness, severity)
        return best[1] if best else None

    def _matches(self, patterns: tuple[str, ...], path: Path) -> bool:
        base = self.directory or Path.cwd()
        try:
            relative = path.relative_to(base)
        except ValueError:
            return False
        return _rules(patterns).ignores_file(os.fsencode(relative.as_posix()))


#: Not a setting: the key of overrides for single folders.
FOLDERS = "folders"
#: Not a setting: the key under which overrides name the only settings file (an absolute path), or '' for none. Its
#: patterns and paths are relative to the current folder, because the file may be anywhere.
FILE = "settings-file"
#: Not a setting: the key of overrides for versions of packages, by their normalised names.
PACKAGES = "packages"
#: Not a setting: if overrides set this key to False, audits do not affect findings.
AUDITS = "audits"

_NO_SETTINGS = (FILE, PACKAGES, AUDITS)


def load(path: Path, overrides: Mapping[str, object] | None = None) -> tuple[Settings, tuple[SettingsProblem, ...]]:
    """The settings that apply to the file at `path` (which need not exist), and the problems in them.

    `overrides` (flags, editor settings) use the names of pyproject.toml and replace the file's values key by key. A
    `select` in them also disables the file's `ignore` and `extend-select`, because a user who names a rule wants to see
    it. `FOLDERS` in them may contain overrides for single folders (absolute paths), which replace the others there.
    Results are cached per directory until `clear` is called."""
    over = _of_folder(path.parent, overrides or {})
    key = (path.parent, repr(sorted(over.items())))
    if key not in _loaded:
        from_file, problems = _from_named(over[FILE]) if FILE in over else _from_directory(path.parent)
        asked, more = _from_overrides({key: value for key, value in over.items() if key not in _NO_SETTINGS})
        _loaded[key] = (_merged(from_file, asked), problems + more)
    return _loaded[key]


def is_settings_file(path: Path | None) -> bool:
    """Whether the file at `path` holds settings."""
    return path is not None and path.name in (OWN_FILE, SHARED_FILE)


def clear() -> None:
    """Clear the cache, because a settings file changed."""
    _loaded.clear()
    _read.clear()


def from_editor(given: Mapping[str, object]) -> dict[str, object]:
    """Editor settings (camelCase) by their names in pyproject.toml. Empty values mean 'not set'; other keys stay."""
    names = {_camel(key): key for key in KEYS}
    return {names.get(key, key): value for key, value in given.items() if value not in (None, "", [], {})}


_loaded: dict[tuple[Path, str], tuple[Settings, tuple[SettingsProblem, ...]]] = {}
_read: dict[Path, tuple[Settings, tuple[SettingsProblem, ...]]] = {}


def _of_folder(directory: Path, overrides: Mapping[str, object]) -> Mapping[str, object]:
    """The overrides that apply in a directory."""
    folders = overrides.get(FOLDERS)
    if not isinstance(folders, Mapping):
        return overrides
    around = [folder for folder in folders if directory.is_relative_to(folder)]
    if around:
        chosen: Mapping[str, object] = folders[max(around, key=lambda one: len(one.parts))]
        return chosen
    return {key: value for key, value in overrides.items() if key != FOLDERS}


# --- reading ----------------------------------------------------------------------------------------------------------


def _from_directory(directory: Path) -> tuple[Settings, tuple[SettingsProblem, ...]]:
    for folder in (directory, *directory.parents):
        if folder not in _read:
            own = _from_file(folder / OWN_FILE)
            shared = own or _from_file(folder / SHARED_FILE)
            if shared is None:
                continue
            _read[folder] = shared
        return _read[folder]
    return Settings(), ()


def _from_named(file: object) -> tuple[Settings, tuple[SettingsProblem, ...]]:
    """The settings of the file that the user names; the defaults for ''."""
    if not file:
        return Settings(), ()
    path = Path(str(file))
    if path not in _read:
        found = _from_file(path) or (Settings(), (SettingsProblem(path, "contains no loaderlint settings"),))
        _read[path] = replace(found[0], directory=Path.cwd()), found[1]
    return _read[path]


def _from_file(path: Path) -> tuple[Settings, tuple[SettingsProblem, ...]] | None:
    """The settings of one file; None if there is no such file or it contains no settings of loaderlint."""
    try:
        data = reading.read(path, reading.SETTINGS)
    except MissingFile:
        return None
    except UnreadableFile as error:
        # A pyproject.toml that cannot be read may not be about loaderlint: look further up.
        message = f"{error}; its settings are not applied"
        return (Settings(), (SettingsProblem(path, message),)) if path.name != SHARED_FILE else None
    is_shared = path.name == SHARED_FILE
    if is_shared and b"loaderlint" not in data:
        return None
    try:
        document = toml.parsed(data)
    except BadToml as error:
        return Settings(directory=path.parent, file=path), (SettingsProblem(path, f"is not valid TOML: {error}"),)
    if not is_shared:
        return _settings(document, path)
    tool = document.get("tool")
    if not isinstance(tool, dict) or "loaderlint" not in tool:
        return None
    return _settings(tool["loaderlint"], path)


def _settings(table: object, path: Path) -> tuple[Settings, tuple[SettingsProblem, ...]]:
    settings, messages = _checked(table)
    problems = tuple(SettingsProblem(path, message) for message in messages)
    return replace(settings, directory=path.parent, file=path), problems


def _from_overrides(overrides: Mapping[str, object]) -> tuple[Settings, tuple[SettingsProblem, ...]]:
    settings, messages = _checked(dict(overrides))
    return settings, tuple(SettingsProblem(None, message) for message in messages)


def _merged(base: Settings, over: Settings) -> Settings:
    changes = {field.name: getattr(over, field.name) for field in fields(over)}
    changes = {name: value for name, value in changes.items() if value is not None}
    if over.select is not None:
        base = replace(base, ignore=None, extend_select=None)
    return replace(base, **changes)


# --- checking values --------------------------------------------------------------------------------------------------


class _Bad(Exception):
    """A value that cannot be used; the message says what would be right."""


def _checked(table: object) -> tuple[Settings, list[str]]:
    if not isinstance(table, dict):
        return Settings(), ["the loaderlint settings must be a table of keys and values"]
    values: dict[str, Any] = {}
    messages: list[str] = []
    for key, value in table.items():
        if key not in KEYS:
            messages.append(_unknown_key(key))
            continue
        said: list[str] = []
        try:
            values[key.replace("-", "_")] = KEYS[key](value, said.append)
        except _Bad as bad:
            said.append(str(bad))
        messages.extend(f"{key}: {text}" for text in _some(said))
    return Settings(**values), messages


def _some(messages: Sequence[str]) -> Sequence[str]:
    """The first messages of many about one setting."""
    left = len(messages) - _MOST_MESSAGES
    return messages if left <= 0 else [*messages[:_MOST_MESSAGES], f"and {left:,} more like these"]


def _unknown_key(key: str) -> str:
    if len(key) > _SHOWN:
        return f"unknown setting {_shown(key)}"
    if key in ("tool", "loaderlint"):
        return f"unknown setting '{key}': in {OWN_FILE} the keys are at the top level, without [tool.loaderlint]"
    dashed = re.sub(r"(?<=[a-z])([A-Z])", lambda found: "-" + found[1].lower(), key).replace("_", "-")
    if dashed in KEYS:
        return f"unknown setting '{key}'; write '{dashed}'"
    return f"unknown setting '{key}'{nearest(key, KEYS)}"


def nearest(word: str, known: Iterable[str]) -> str:
    """A clause for the end of a message: '; did you mean ...?' with the most similar word, a list of all words if there
    are few, or ''. Texts that messages would cut are never names, and comparing them takes long."""
    words = list(known)
    if len(word) > _SHOWN:
        return ""
    close = difflib.get_close_matches(word.lower(), {known.lower(): known for known in words}, n=1, cutoff=0.55)
    if close:
        return f"; did you mean '{next(known for known in words if known.lower() == close[0])}'?"
    return f"; choose from {', '.join(words)}" if len(words) <= 12 else ""


#: Reads one value; the second argument is called with messages about parts that are left out.
_Reader = Callable[[Any, Callable[[str], None]], object]


def _strings(value: object, _say: Callable[[str], None]) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    example = f' such as ["{value}"]' if isinstance(value, str) else ""
    raise _Bad(f"must be a list of strings{example}, not {_shown(value)}")


def _patterns(value: object, say: Callable[[str], None]) -> tuple[str, ...]:
    return tuple(pattern for pattern in _strings(value, say) if _usable_pattern(pattern, say))


def _selectors(value: object, say: Callable[[str], None]) -> tuple[str, ...]:
    """Rule names, codes, code prefixes and 'ALL'; others are reported and left out."""
    return tuple(selector for selector in _strings(value, say) if _known_selector(selector, say))


def _known_selector(selector: str, say: Callable[[str], None]) -> bool:
    names, codes = _rule_names()
    if selector == "ALL" or selector in names or any(code.startswith(selector) for code in codes if selector):
        return True
    # A shared settings file may name a rule of a newer version: that is reported, and the other names still apply.
    say(f"no rule is called {_shown(selector)}{_similar_rule(selector, names, codes)}")
    return False


def _similar_rule(selector: str, names: Sequence[str], codes: Sequence[str]) -> str:
    if re.fullmatch(r"LDR\d{1,2}", selector):
        families = ", ".join(sorted({code[:4] for code in codes}))
        return f", and no code starts with it; families are {families}"
    return nearest(selector, (*names, *codes, "ALL"))


def _rule_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    from loaderlint.rules import RULES  # here, because commands that need no rules read settings too

    return tuple(rule.name for rule in RULES), tuple(rule.code for rule in RULES)


def _per_file_ignores(value: object, say: Callable[[str], None]) -> tuple[PerFileIgnore, ...]:
    if not isinstance(value, dict):
        raise _Bad(f'must be a table such as {{"tests/*" = ["LDR1"]}}, not {_shown(value)}')
    entries = []
    for pattern, selectors in value.items():
        try:
            if _usable_pattern(pattern, say):
                entries.append(PerFileIgnore(pattern, _selectors(selectors, say)))
        except _Bad as bad:
            say(f"'{pattern}' {bad}")
    return tuple(entries)


def _severities(value: object, say: Callable[[str], None]) -> tuple[tuple[str, Severity], ...]:
    if not isinstance(value, dict):
        raise _Bad(f'must be a table such as {{shared-generator = "warning"}}, not {_shown(value)}')
    entries = []
    for selector, level in value.items():
        if level not in SEVERITIES:
            similar = nearest(level, SEVERITIES) if isinstance(level, str) else ""
            hint = similar if "mean" in similar else ""
            say(f"'{selector}' must be one of {', '.join(SEVERITIES)}, not {_shown(level)}{hint}")
        elif _known_selector(selector, say):
            entries.append((selector, Severity(level)))
    return tuple(entries)


def _version(value: object, _say: Callable[[str], None]) -> str:
    if isinstance(value, float):
        # 3.10 as a TOML number is 3.1, so it is not known which one was meant.
        raise _Bad(f'must be a string such as "{value}", with quotes')
    if not isinstance(value, str) or not value.strip():
        raise _Bad(f'must be a version such as "2.4" or a range such as ">=2.0,<2.5", not {_shown(value)}')
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion, Version

    from loaderlint.project.versions.environment import LONGEST_VERSION

    text = value.strip()
    if len(text) > LONGEST_VERSION:
        raise _Bad(f'must be a version such as "2.4", not one of {len(text):,} characters')
    try:
        Version(text)
    except InvalidVersion:
        try:
            SpecifierSet(text)
        except InvalidSpecifier:
            raise _Bad(
                f'must be a version such as "2.4" or a range such as ">=2.0,<2.5", not {_shown(value)}'
            ) from None
    return text


def _platforms(value: object, say: Callable[[str], None]) -> tuple[Platform, ...]:
    items = _strings(value, say)
    chosen = [item for item in items if item in PLATFORMS]
    wrong = ", ".join(f"'{item}' is not a platform" for item in items if item not in PLATFORMS)
    message = f"{wrong or 'names no platform'}; choose from {', '.join(PLATFORMS)}"
    if not chosen:
        raise _Bad(message)
    if wrong:
        say(message)
    return cast("tuple[Platform, ...]", tuple(chosen))


def _start_method(value: object, _say: Callable[[str], None]) -> StartMethod:
    if value not in START_METHODS:
        hint = nearest(value, START_METHODS) if isinstance(value, str) else f"; choose from {', '.join(START_METHODS)}"
        raise _Bad(f"{_shown(value)} is not a start method{hint}")
    return value


def _loaders(value: object, say: Callable[[str], None]) -> tuple[LoaderWrapper, ...]:
    """`["make_loader"]`, or a table of names with the differences from the defaults: `dataset`, `num_workers`, no
    seeding."""
    if isinstance(value, (list, tuple)):
        return tuple(LoaderWrapper(name, "dataset", "num_workers", False) for name in _strings(value, say))
    if not isinstance(value, dict):
        raise _Bad(
            f'must be a table such as {{make_loader = {{dataset = "data", workers = "jobs"}}}}, not {_shown(value)}'
        )
    return tuple(wrapper for name, table in value.items() if (wrapper := _wrapper(name, table, say)))


def _wrapper(name: str, table: object, say: Callable[[str], None]) -> LoaderWrapper | None:
    if not isinstance(table, dict):
        say(f"'{name}' must be a table with dataset, workers, seeds, not {_shown(table)}")
        return None
    wrapper = LoaderWrapper(name, "dataset", "num_workers", False)
    for key, value in table.items():
        if key in ("dataset", "workers") and _is_argument(value):
            wrapper = wrapper._replace(**{key: value})
        elif key == "seeds" and isinstance(value, bool):
            wrapper = wrapper._replace(seeds=value)
        elif key in ("dataset", "workers"):
            say(f"'{name}': {key} must be an argument's name or its position from 0, not {_shown(value)}")
        elif key == "seeds":
            say(f"'{name}': seeds must be true or false, not {_shown(value)}")
        else:
            say(f"'{name}': unknown key '{key}'{nearest(key, ('dataset', 'workers', 'seeds'))}")
    return wrapper


def _file(value: object, _say: Callable[[str], None]) -> str:
    if isinstance(value, str):
        return value
    raise _Bad(f'must be the path of a file such as "loaderlint-baseline.json", not {_shown(value)}')


def _is_argument(value: object) -> bool:
    if isinstance(value, str):
        return value.isidentifier()
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_ARGUMENTS


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a table"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with more digits than Python converts
        return "a value that is too large to show"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


#: Every settings key, in the order of the documentation, with the function that reads its value.
KEYS: dict[str, _Reader] = {
    "select": _selectors,
    "ignore": _selectors,
    "extend-select": _selectors,
    "per-file-ignores": _per_file_ignores,
    "severity": _severities,
    "exclude": _patterns,
    "target-torch": _version,
    "target-python": _version,
    "platforms": _platforms,
    "start-method": _start_method,
    "loaders": _loaders,
    "baseline": _file,
}


# --- selectors and patterns -------------------------------------------------------------------------------------------


def _exactness(selectors: Sequence[str] | None, name: str, code: str) -> int | None:
    """How exactly the best selector names the rule; None if none does."""
    best = None
    for selector in selectors or ():
        if selector in (name, code):
            best = _most(best, _EXACT)
        elif selector == "ALL":
            best = _most(best, _ALL)
        elif _CODE_PREFIX.match(selector) and code.startswith(selector):
            best = _most(best, len(selector))
    return best


def _most(first: int | None, second: int | None) -> int | None:
    return max((value for value in (first, second) if value is not None), default=None)


@lru_cache(maxsize=256)
def _rules(patterns: tuple[str, ...]) -> IgnoreRules:
    return IgnoreRules(pattern.encode("utf-8", "surrogateescape") for pattern in patterns)


def _usable_pattern(pattern: str, say: Callable[[str], None]) -> bool:
    for _, why in _rules((pattern,)).problems:
        say(f"{_shown(pattern)} is not a file pattern: {why}")
        return False
    return True


def _camel(key: str) -> str:
    head, *rest = key.split("-")
    return head + "".join(word.capitalize() for word in rest)
