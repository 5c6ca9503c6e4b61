"""Small changes of the cases of all pages, as they happen while somebody types: none is an internal error."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.robustness.scale import scaled
from tests.rules.variations import PAGES, VariedProject, variations


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_no_internal_error(tmp_path: Path) -> None:
    chosen = random.Random(1)
    cases = [(page, case) for page in PAGES for case in page.cases]
    for number, (page, case) in enumerate(chosen.choices(cases, k=scaled(100))):
        project = VariedProject(tmp_path / f"{number}", page, case)
        varied = variations(case)
        for one in chosen.sample(varied, min(4, len(varied))):
            compile(one.text, one.name, "exec")
            project.answer(one)
