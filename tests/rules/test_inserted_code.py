"""The functions and methods that fixes insert, as the rules write them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import loaderlint.rules

_RULES = Path(loaderlint.rules.__file__).parent
_MARK = re.compile(r"\{+([\w.]+)\}+")
_LIMIT = 79


def _templates() -> list[tuple[str, str]]:
    """The file and the text of each string constant of the rules that writes a function or a method."""
    found = []
    for path in sorted(_RULES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_def(node.value):
                found.append((path.name, node.value))
    return found


def _is_def(text: str) -> bool:
    return re.match(r"(?:@.*\n)*def [\w{]", text) is not None


def test_there_are_templates() -> None:
    assert len(_templates()) > 10


def test_lines_fit() -> None:
    long = []
    for name, text in _templates():
        indent = 4 if re.search(r"^def .*\(self", text, re.MULTILINE) else 0
        lines = [_MARK.sub(r"\1", line) for line in text.splitlines()]
        long += [(name, line) for line in lines if len(line) + indent > _LIMIT]
    assert not long


def test_the_main_process_draws_nothing_from_torch() -> None:
    """A script without workers must get the numbers that it got before the fix."""
    drawing = [text for _, text in _templates() if "initial_seed" in text or "randint" in text or "{seed}" in text]
    assert len(drawing) > 4
    for text in drawing:
        first = min(found for word in ("initial_seed", "randint", "{seed}") if (found := text.find(word)) >= 0)
        in_main = text.find("get_worker_info() is None")
        assert "(worker_id" in text or 0 <= in_main < first, text


def test_there_are_no_fallbacks() -> None:
    """No lines for what cannot happen in the project that gets them."""
    caught = {word for _, text in _templates() for word in re.findall(r"except (\w+)", text)}
    assert caught <= {"StopIteration"}
