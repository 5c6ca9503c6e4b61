"""What a project is searched for is found in indexes, and over edits: always what a look into each file would find."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.modules.project_files import WHOLE
from loaderlint.sources.store import Store
from loaderlint.syntax.byte_search import bases, calls

TEXTS = (
    "import torch.utils\n\n\ndef train(model):\n    model.train()\n    pretrain(model)\n",
    "from a import train\n\n\nclass Net(nn.Module, Mixin):\n    pass\n\n\ntrain (Net)\n",
    "class Trainer(Net):\n    def train(self): ...\n\n\nx = data.train[::-1]\n",
    "retrain(1)\nx = 'n\u00fcll'\n",
    "",
)
#: More words than are looked for before there is an index of all.
CONTAINING = (
    *("Train", "torch", "nn", "Mixin", "model", "import", "from", "class", "self", "pass", "data", "def", "Net"),
    *("train", ".train", "train(", "utils", "torch.utils", "n\u00fcll", "::-", "_", "1", ")\n", "rain", ".nowhere"),
)
NAMES = ("train", "pretrain", "Net", "Mixin", "Module", "n\u00fcll", "nowhere")


def _naive(kind: str, word: str, text: str) -> bool:
    if kind == "calling":
        return calls(text, word)
    if kind == "deriving" and word.isascii():
        return word.encode() in bases(text.encode())
    return word in text


def _wrong(store: Store, texts: dict[Path, str]) -> list[tuple[str, str]]:
    """The searches that find something else than a look into each text does."""
    asked = [("containing", word) for word in CONTAINING]
    asked += [(kind, name) for kind in ("calling", "deriving") for name in NAMES]
    return [
        (kind, word)
        for kind, word in asked
        if store.searching().find(kind, word)
        != tuple(path for path in sorted(texts) if _naive(kind, word, texts[path]))
    ]


@pytest.mark.parametrize("new", TEXTS)
def test_searches_find_what_is_there_before_and_after_an_edit(tmp_path: Path, new: str) -> None:
    root = tmp_path.resolve()
    texts = {root / f"m{number}.py": text for number, text in enumerate(TEXTS)}
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    store = Store(root)
    assert _wrong(store, texts) == []
    for path in texts:
        store.set_text(path, new)
        edited = {**texts, path: new}
        assert _wrong(store, edited) == []  # remembered
        store.searching().begin(WHOLE)
        store.searching().begin(WHOLE)
        assert _wrong(store, edited) == []  # searched again
        store.set_text(path, None)
