"""YAML, read by a library that is imported only when there is a YAML file.

Values are built from the events of the library's parser. Its own constructor recurses for each level of nesting, so
that one file can end the process, and it reads the version 3.10 as the number 3.1."""

from __future__ import annotations

import re
from typing import Any

from loaderlint.project.versions.declaration import Malformed

_DEEPEST = 50
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False, "yes": True, "no": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[-+]?\d{1,17}(?=[.eE])(?:\.\d{0,17})?(?:[eE][-+]?\d{1,3})?")
#: Stands in a typed document for what is repeated by reference, and for objects.
REPEATED = "${}"


def parsed(text: str, *, typed: bool = False) -> object:
    """The first document as dictionaries, lists and strings; None if there is none. What is repeated by reference
    (`*name`) is None. `typed`: plain words are the numbers, truth values and nulls that YAML takes them for, and what
    is repeated is `REPEATED`, and so is what a tag makes an object of (`!include`). Raises Malformed if it cannot be
    read or is nested too deep."""
    import yaml  # 5 to 10 ms

    open_: list[list[object]] = [[]]
    tagged: list[bool] = []
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append([])
                tagged.append(typed and _is_object(event))
            elif isinstance(event, yaml.CollectionEndEvent):
                items = open_.pop()
                made = _mapping(items) if isinstance(event, yaml.MappingEndEvent) else items
                open_[-1].append(REPEATED if tagged.pop() else made)
            elif isinstance(event, yaml.NodeEvent):
                open_[-1].append(_typed(event) if typed else getattr(event, "value", None))
            elif isinstance(event, yaml.DocumentEndEvent):
                return open_[0][0]
            if len(open_) > _DEEPEST:
                raise Malformed(f"is nested more than {_DEEPEST} levels deep")
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        raise Malformed(f"is not valid YAML: {_described(error)}") from error
    return None


def _is_object(event: Any) -> bool:
    """Whether a tag of a program's own makes an object: `!include x.yaml`."""
    return event.tag is not None and not event.tag.startswith("tag:yaml.org,2002:")


def _typed(event: Any) -> object:
    """What a scalar or a reference to something is."""
    value: str | None = getattr(event, "value", None)
    if value is None:
        return REPEATED
    if not event.implicit[0]:
        return value
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    if _INTEGER.fullmatch(value):
        return int(value)
    return float(value) if _NUMBER.fullmatch(value) else value


def _described(error: Exception) -> str:
    """What is wrong, and where, in one line."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or " ".join(str(error).split())
    return f"{problem} (line {mark.line + 1})" if mark is not None else problem


def _mapping(items: list[Any]) -> dict[str, object]:
    return {key: value for key, value in zip(items[::2], items[1::2], strict=True) if isinstance(key, str)}
