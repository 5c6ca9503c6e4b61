"""YAML, read by a library that is imported only where a file is in it."""

from __future__ import annotations


def parsed(text: str) -> object:
    """The document as plain values; None if it cannot be read."""
    import yaml  # 5 to 10 ms

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
