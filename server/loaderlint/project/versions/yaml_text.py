"""YAML, read by a library that is imported only where a file is in it.

The library's own way to values is not taken: it calls itself for every level of nesting, and one file can end the
process that way; it also makes the number 3.1 of the version 3.10. What its parser tells, step by step, has neither."""

from __future__ import annotations

from typing import Any

_DEEPEST = 50


def parsed(text: str) -> object:
    """The first document as dictionaries, lists and strings; None if it cannot be read or is nested too deep. What is
    repeated by reference (`*name`) is None."""
    import yaml  # 5 to 10 ms

    open_: list[list[object]] = [[]]
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionStartEvent):
                open_.append([])
            elif isinstance(event, yaml.CollectionEndEvent):
                items = open_.pop()
                open_[-1].append(_mapping(items) if isinstance(event, yaml.MappingEndEvent) else items)
            elif isinstance(event, yaml.NodeEvent):
                open_[-1].append(getattr(event, "value", None))
            elif isinstance(event, yaml.DocumentEndEvent):
                return open_[0][0]
            if len(open_) > _DEEPEST:
                return None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return None


def _mapping(items: list[Any]) -> dict[str, object]:
    return {key: value for key, value in zip(items[::2], items[1::2], strict=True) if isinstance(key, str)}
