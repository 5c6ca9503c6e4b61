"""The examples in docs/survey.md are what the tool prints. LOADERLINT_UPDATE=1 writes them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from loaderlint.survey.measure import measure
from loaderlint.survey.results import Repository, Result, to_line
from loaderlint.survey.summarise import as_json, summarise
from loaderlint.survey.text_summary import render
from tests.survey.made import NOISY, repository

GUIDE = Path(__file__).parents[2] / "docs" / "survey.md"


def _json(value: object) -> str:
    """JSON with lists and objects of plain values on one line, where they fit."""
    text = json.dumps(value, indent=2)
    return re.sub(r"([\[{])\n\s+([^\[\]{}]{1,160})\n\s+([\]}])", lambda m: m[1] + " ".join(m[2].split()) + m[3], text)


SHOWN: dict[str, Callable[[Result], str]] = {
    "result": lambda result: _json(json.loads(to_line(result))),
    "text": lambda result: "\n".join(render(summarise([result]))),
    "summary": lambda result: _json(as_json(summarise([result]))),
}


@pytest.mark.parametrize("name", SHOWN)
def test_examples(tmp_path: Path, name: str) -> None:
    folder = repository(tmp_path, "noisy", {"train.py": NOISY, "requirements.txt": "torch==1.8.1\n"})
    result = measure(Repository("noisy", str(folder)))
    assert result is not None
    shown = SHOWN[name](replace(result, key="5b42f2afcdb398154d8e1bda", cpu=0.21))
    guide = GUIDE.read_text(encoding="utf-8")
    block = re.compile(rf"(<!-- {name} -->\n```\w+\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
    if os.environ.get("LOADERLINT_UPDATE"):
        GUIDE.write_text(block.sub(lambda m: f"{m[1]}{shown}\n{m[3]}", guide), encoding="utf-8")
        return
    found = block.search(guide)
    assert found is not None and found[2] == shown + "\n", "run: LOADERLINT_UPDATE=1 pytest tests/survey/test_guide.py"
