"""Recognises main guards by their text."""

from __future__ import annotations

import re

_GUARD = re.compile(r"if\b[^:]*\b__name__\b")


def is_main_guard(text: str) -> bool:
    """Whether a piece's text begins with a test of `__name__`, as `if __name__ == "__main__":` does."""
    return bool(_GUARD.match(text))
