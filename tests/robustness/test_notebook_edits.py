"""Whatever is done to notebooks in an editor, what it shows in the end is what a server shows that has just started.

`LOADERLINT_FUZZ=20 python -m pytest tests/robustness/test_notebook_edits.py -s` walks twenty times as far."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loaderlint.lsp import refreshes
from loaderlint.lsp.backend import Loaderlint
from tests.lsp.cells import Cells, Puller
from tests.lsp.session import Session, capabilities, run, session
from tests.lsp.test_file_events import DATA, OLD, TRAIN, made
from tests.robustness.scale import scaled

WALKS = scaled(2)
STEPS, STOPS = 5, 8

IMPORTS, DRAW = DATA.split("\n\n\n")
LOADER = "from torch.utils.data import DataLoader\nloader = DataLoader(Noisy(), num_workers={})\n"
#: What makes findings, and what may stand around it.
PARTS = (IMPORTS, DRAW, LOADER.format(4))
OTHERS = (
    DRAW.replace("Noisy", "Other"),
    LOADER.format(0),
    LOADER.format(2).replace("Noisy", "Other"),
    f"%%time\n{LOADER.format(3)}",
    "%matplotlib inline\nfrom data import Noisy",
    "class Noisy:\n    pass",
    "%%bash\nls",
    "def half(",
    "'''half a string",
    "",
    "\n\n",
    "# %% A title",
)
CELLS = (*OTHERS, *PARTS)


class Walk:
    """Two notebooks and a module in an editor, and a user who does something at random."""

    def __init__(self, client: Session, puller: Puller | None, folder: Path, chance: random.Random) -> None:
        self.client, self.puller, self.chance, self.done = client, puller, chance, 0
        self.books = [
            Cells(client, folder / f"{name}.ipynb", *PARTS, *chance.sample(CELLS, 3), puller=puller) for name in "ab"
        ]
        self.closed: set[int] = set()
        self.module, self.version, self.text = (folder / "train.py").as_uri(), 1, TRAIN
        client.open(self.module, TRAIN)
        self._ask()

    def _ask(self) -> None:
        if self.puller:
            self.puller.ask(self.module)

    def step(self) -> None:
        """Do one thing to one notebook, or to the module."""
        self.done += 1
        number = self.chance.randrange(len(self.books))
        if number in self.closed:
            self.closed.remove(number)
            self.books[number].reopen()
        elif self.chance.random() < 0.1:
            self.closed.add(number)
            self.books[number].close()
        elif self.chance.random() < 0.1:
            self.version += 1
            self.text = TRAIN.replace("4", self.chance.choice("048"))
            self.client.change(self.module, self.version, self.text)
            self._ask()
        elif self.chance.random() < 0.2:
            self._tidy(self.books[number])
        else:
            self._edit(self.books[number])

    def _tidy(self, book: Cells) -> None:
        """Make the notebook one with a finding again: most edits take what there is away."""
        while book.order:
            book.delete(0)
        for at, text in enumerate(PARTS):
            book.insert(at, text)

    def _edit(self, book: Cells) -> None:
        chance, count = self.chance, len(book.order)
        at = chance.randrange(count) if count else 0
        text = chance.choice(CELLS)
        lines = book.texts[book.order[at]].count("\n") + 1 if count else 1
        acts: list[Callable[[], object]] = [lambda: book.insert(chance.randrange(count + 1), text)]
        if count:
            acts += [lambda: book.type(at, text), lambda: book.move(at, chance.randrange(count))] * 2
            acts += [lambda: book.turn(at), lambda: book.mark(at), lambda: book.delete(at), lambda: book.type(at, "")]
            acts.append(lambda: book.split(at, chance.randrange(lines)))
        if at + 1 < count:
            acts.append(lambda: book.merge(at))
        chance.choice(acts)()

    async def shown(self) -> list[Any]:
        """What the user sees when all is settled: in the cells of each open notebook, and in the module."""
        cells = [await self.books[number].diagnostics() for number in self._open()]
        if self.puller:
            return [*cells, self.puller.shown[self.module]]
        open_now = {self.module, *(uri for number in self._open() for uri in self.books[number].order)}
        gone = {message["params"]["uri"] for message in self.client.received if "uri" in (message.get("params") or {})}
        assert not any(self.client.published(uri)[-1]["diagnostics"] for uri in gone - open_now)
        return [*cells, self.client.published(self.module)[-1]["diagnostics"]]

    async def afresh(self, folder: Path) -> list[Any]:
        """What a server shows of the same notebooks and the same module that has just started."""
        async with window(folder, self.puller is not None) as (client, puller):
            books = [self.books[number].again(client, puller) for number in self._open()]
            client.open(self.module, self.text)
            if puller:
                puller.ask(self.module)
            cells = [await book.diagnostics() for book in books]
            await client.settled()
            if puller:
                await puller.settled()
                return [*cells, puller.shown[self.module]]
            return [*cells, client.published(self.module)[-1]["diagnostics"]]

    def _open(self) -> list[int]:
        return [number for number in range(len(self.books)) if number not in self.closed]


class window:
    """A session of the real engine, with a puller if the client pulls."""

    def __init__(self, folder: Path, pulls: bool) -> None:
        self._session = session(capabilities(pulls=pulls), [folder], backend=Loaderlint())
        self._pulls = pulls

    async def __aenter__(self) -> tuple[Session, Puller | None]:
        client = await self._session.__aenter__()
        return client, Puller(client) if self._pulls else None

    async def __aexit__(self, *error: Any) -> None:
        await self._session.__aexit__(*error)


@pytest.mark.parametrize("pulls", [True, False])
def test_any_edits_end_where_a_fresh_start_does(pulls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refreshes, "APART", 0.0)
    made(tmp_path, {"data.py": DATA, "train.py": TRAIN, "requirements.txt": OLD, "pyproject.toml": "[project]\n"})
    steps = findings = refreshed = 0

    async def scenario(seed: int) -> None:
        nonlocal steps, findings, refreshed
        async with window(tmp_path, pulls) as (client, puller):
            walk = Walk(client, puller, tmp_path, random.Random(seed))
            for _ in range(STOPS):
                for _ in range(STEPS):
                    walk.step()
                shown = await walk.shown()
                assert shown == await walk.afresh(tmp_path), f"walk {seed}, after {walk.done} steps"
                findings += str(shown).count("'code':")
            steps += walk.done
            refreshed += puller.refreshes if puller else 0

    for seed in range(WALKS):
        run(scenario(seed))
    print(f"{WALKS} walks, {steps} steps, {WALKS * STOPS} comparisons, {findings} findings, {refreshed} refreshes")
    assert findings
