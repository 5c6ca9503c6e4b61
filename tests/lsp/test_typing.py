"""Fast typing into a dataset, with the real engine: what is shown meanwhile and at the end."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from loaderlint.lsp.backend import Loaderlint, Workspace
from tests.lsp.session import capabilities, run, session

TEXT = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        image = np.random.rand(3)
        return image[::-1]


loader = DataLoader(Data(), num_workers=2, worker_init_fn=lambda worker: np.random.seed(0))
"""
#: These texts are typed; many of their prefixes change what the rules see.
TYPED = ("        np.random.seed(index)\n", "        image = image + np.random.rand(3)\n", "# a comment\n", "\n")


class Slow(Loaderlint):
    """The engine with slow checks once `slow` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = threading.Event()

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Workspace:
        made: Any = super().workspace(folders, overrides)
        check = made.check

        def slowly(*about: Any, **more: Any) -> Any:
            if self.slow.is_set():
                time.sleep(0.01)
            return check(*about, **more)

        made.check = slowly
        return made  # type: ignore[no-any-return]


@pytest.mark.parametrize("seed", range(3))
def test_findings_stand_in_the_text_and_end_as_in_a_fresh_start(tmp_path: Path, seed: int) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==1.8"]\n')
    path, chance = tmp_path / "data.py", random.Random(seed)
    path.write_text(TEXT)
    uri = path.as_uri()

    async def scenario() -> None:
        backend = Slow()
        async with session(capabilities("utf-32"), [tmp_path], backend=backend) as client:
            client.open(uri, TEXT)
            assert await client.diagnostics(uri)
            backend.slow.set()
            texts = {1: TEXT}
            for version, text in enumerate(_typed(TEXT, chance, 60), 2):
                texts[version] = text
                client.change(uri, version, text)
                await asyncio.sleep(0.002)
            shown = await client.diagnostics(uri)
            moved = [one for one in client.published(uri) if one["version"] not in (1, len(texts))]
            assert moved
            for one in moved:
                for diagnostic in one["diagnostics"]:
                    assert _stands(texts[one["version"]], diagnostic["range"])
        async with session(capabilities("utf-32"), [tmp_path], backend=Loaderlint()) as fresh:
            fresh.open(uri, texts[len(texts)])
            assert await fresh.diagnostics(uri) == shown

    run(scenario())


def _typed(text: str, chance: random.Random, keys: int) -> list[str]:
    """The successive texts while lines are typed, some of which are deleted again."""
    found: list[str] = []
    while len(found) < keys:
        lines = text.splitlines(keepends=True)
        at = chance.randrange(9, len(lines) + 1)
        before, after = "".join(lines[:at]), "".join(lines[at:])
        words = chance.choice(TYPED)
        steps = [before + words[:end] + after for end in range(1, len(words) + 1)]
        found += steps
        text = steps[-1]
        if chance.random() < 0.5:
            found += [*reversed(steps[:-1]), before + after]
            text = before + after
    return found


def _stands(text: str, place: dict[str, Any]) -> bool:
    """Whether a place still exists."""
    lines = text.split("\n")
    start, end = place["start"], place["end"]
    if end["line"] >= len(lines) or end["character"] > len(lines[end["line"]]):
        return False
    first = lines[start["line"]]
    words = first[start["character"] : end["character"] if start["line"] == end["line"] else len(first)]
    return bool(words.strip()) and "#" not in first[: start["character"]]
