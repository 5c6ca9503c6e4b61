"""Changes that can be assumed for a project: other versions, platforms or start methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from loaderlint.settings import settings

#: The settings that a change can set, by short name.
_SETTINGS = {
    "torch": "target-torch",
    "python": "target-python",
    "platforms": "platforms",
    "start-method": "start-method",
}
_LISTS = ("platforms",)


class NotSupposed(ValueError):
    """A change that cannot be assumed; the message says what to write instead."""


class Change(NamedTuple):
    """One assumed change: `text` as the user wrote it ('python=3.14'), and the setting `overrides` that it means."""

    text: str
    overrides: Mapping[str, object]


def changes_of(given: Sequence[str]) -> tuple[Change, ...]:
    """The changes that texts such as 'python=3.14,torch=2.9' name, one by one. Raises NotSupposed if one cannot be
    read."""
    changes: dict[str, Change] = {}
    for name, value in _parts(given):
        change = _change(name, value)
        if name in changes:
            raise NotSupposed(f"{name} is named twice; compare with one value at a time")
        changes[name] = change
    return tuple(changes.values())


def together(changes: Sequence[Change]) -> Change:
    """All changes at once."""
    overrides: dict[str, object] = {}
    for change in changes:
        for key, value in change.overrides.items():
            before = overrides.get(key)
            both = {**before, **value} if isinstance(before, Mapping) and isinstance(value, Mapping) else value
            overrides[key] = both
    return Change(", ".join(change.text for change in changes), overrides)


def _parts(given: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names and values; a part without a name belongs to the list before it:
    'platforms=linux,windows,torch=2.4'."""
    for text in given:
        listed: list[tuple[str, str]] = []
        for part in (part.strip() for part in text.split(",")):
            name, equals, value = part.partition("=")
            # '>=2.0' in 'torch=>=2.0,<2.5' contains an equals sign too
            if equals and name.strip().replace("-", "").isalnum():
                listed.append((name.strip().lower(), value.strip()))
            elif listed and part:
                listed[-1] = (listed[-1][0], f"{listed[-1][1]},{part}")
            else:
                raise NotSupposed(f"'{part}' cannot be read; write NAME=VALUE, such as python=3.14")
        yield from listed


def _change(name: str, value: str) -> Change:
    key = _SETTINGS.get(name.removeprefix("target-"))
    if key is None:
        return _package(name, value)
    given = {key: value.split(",") if key in _LISTS else value}
    wrong = [problem.message for problem in settings.load(Path.cwd() / "any.py", given)[1] if problem.path is None]
    if wrong:
        raise NotSupposed("\n".join(wrong))
    return Change(f"{name}={value}", given)


def _package(name: str, value: str) -> Change:
    from loaderlint.knowledge.augmentations import PACKAGES as AUGMENTATIONS
    from loaderlint.knowledge.wrappers import PACKAGES as WRAPPERS

    known = sorted({*AUGMENTATIONS, *(package for packages in WRAPPERS.values() for package in packages)})
    if name not in known:
        raise NotSupposed(
            f"no finding depends on the version of '{name}'{settings.nearest(name, (*_SETTINGS, *known))};"
            f" write {', '.join(_SETTINGS)} or a package that loaderlint knows"
        )
    _, messages = settings.load(Path.cwd() / "any.py", {"target-torch": value})
    if any(problem.path is None for problem in messages):
        raise NotSupposed(f"'{value}' is not a version of {name}; write a version such as 2.0.8, or a range")
    return Change(f"{name}={value}", {settings.PACKAGES: {name: value}})
