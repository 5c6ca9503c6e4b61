"""Where the order of a listed folder numbers the classes of a dataset, and where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import glob, os, random
from pathlib import Path
from torch.utils.data import DataLoader, Dataset
{}
class D(Dataset):
 def __init__(self, root="x", size=3):
{}
{}
loader = DataLoader(D(), num_workers=2)
"""


def numbered(folder: Path, code: str) -> str:
    """What is said of a constructor; module-level code stands before ` | `, and other methods than a `__getitem__` that
    gives `self.items[index]` after ` / `."""
    above, _, inside = code.rpartition(" | ")
    built, _, methods = inside.partition(" / ")
    sample = methods or "def __getitem__(self, index): return self.items[index]"
    found = answers(folder, "unsorted-listing", CODE.format(lines(above), lines(built, 2), lines(sample, 1)))
    shown = [
        " ".join([one.severity.value, one.subject, *["numbers"] * ("number" in one.message.partition(";")[0])])
        + "".join(f" [{fix.safety}]" for fix in one.fixes)
        for one in found.findings
    ]
    return " + ".join(sorted(shown)) or ", ".join(dict.fromkeys(one.reason for one in found.silences))


#: The constructor of a dataset, and what is said of its listings.
NUMBERED: dict[str, str] = {
    "c = os.listdir(root); self.n = {x: n for n, x in enumerate(c)}; "
    "self.items = load(self.n)": "warning os.listdir numbers [unsafe]",
    "c = sorted(os.listdir(root)); self.n = {x: n for n, x in enumerate(c)}; self.items = load(self.n)": "",
    "c = os.listdir(root); c.sort(); self.n = {x: n for n, x in enumerate(c)}; self.items = load(self.n)": "",
    "self.n = {x: n for n, x in enumerate(os.listdir(root))}; "
    "self.items = load(self.n)": "warning os.listdir numbers [unsafe]",
    "self.n = {x: n for n, x in enumerate(load(root))}; self.items = load(self.n)": "",
    "self.n = {x: n for n, x in enumerate(glob.glob(root))}; "
    "self.items = load(self.n)": "warning glob.glob numbers [unsafe]",
    "self.n = {x: n for n, x in enumerate(Path(root).iterdir())}; "
    "self.items = load(self.n)": "warning Path.iterdir numbers [unsafe]",
    "self.n = {x: n for n, x in enumerate(set(load(root)))}; self.items = load(self.n)": "",
    "self.n = {n: x for n, x in enumerate(os.listdir(root))}; self.items = load(self.n)": "",
    "self.n = {x: x for x in os.listdir(root)}; self.items = load(self.n)": "",
    "self.n = {}; for n, x in enumerate(os.listdir(root)): self.n[x] = n": "warning os.listdir numbers [unsafe]",
    "self.n = {}; for n, x in enumerate(os.listdir(root)): self.n[n] = x": "",
    "self.n = {}; for n, x in enumerate(sorted(os.listdir(root))): self.n[x] = n": "",
    "self.c = os.listdir(root); self.items = [self.c.index(x) for x in load()]": "warning os.listdir numbers [unsafe]",
    "self.c = sorted(os.listdir(root)); self.items = [self.c.index(x) for x in load()]": "",
    "c = os.listdir(root); "
    "self.items = [(f, c.index(x)) for x in c for f in load(x)]": "warning os.listdir numbers [unsafe]",
    "c = os.listdir(root); n = c.index('a'); self.items = load()": "warning os.listdir numbers [unsafe]",
    "c = os.listdir(root); n = c.index('a', 3); self.items = load()": "",
    "c = os.listdir(root); print(c.index('a')); self.items = load()": "warning os.listdir numbers [unsafe]",
    "self.items = []; for n, c in enumerate(os.listdir(root)):;  for f in os.listdir(c): self.items.append((f, n))": (
        "hint os.listdir [unsafe] + warning os.listdir numbers [unsafe]"
    ),
    "self.items = []; for n, c in enumerate(os.listdir(root)):; "
    " for f in os.listdir(c): self.items.append(n)": "hint os.listdir [unsafe] + warning os.listdir numbers [unsafe]",
    "self.items = []; for n, c in enumerate(os.listdir(root)):; "
    " for f in os.listdir(c): self.items.append((f, c))": "hint os.listdir [safe] + hint os.listdir [safe]",
    "self.items = []; for n, c in enumerate(os.listdir(root)): self.items.append((c, n))": "hint os.listdir [safe]",
    "self.items = []; for n, c in enumerate(sorted(os.listdir(root))):; "
    " for f in os.listdir(c): self.items.append((f, n))": "hint os.listdir [safe]",
    "self.items = []; n = 0; for c in os.listdir(root):;  for f in os.listdir(c): self.items.append((f, n)); "
    " n += 1": "hint os.listdir [unsafe] + warning os.listdir numbers [unsafe]",
    "self.items = []; n = 0; for c in os.listdir(root):;  for f in os.listdir(c): self.items.append((f, n)); "
    " n = n + 1": "hint os.listdir [unsafe] + warning os.listdir numbers [unsafe]",
    "self.items = []; n = 0; for c in os.listdir(root):;  for f in os.listdir(c): self.items.append((f, c)); "
    " n += 1": "hint os.listdir [safe] + hint os.listdir [safe]",
    "self.items = []; n = 0; for c in os.listdir(root):;  self.items += [(f, n) for f in os.listdir(c)]; "
    " n += 1": "hint os.listdir [unsafe] + warning os.listdir numbers [unsafe]",
    "self.items = []; n = 0; for c in sorted(os.listdir(root)):; "
    " for f in os.listdir(c): self.items.append((f, n));  n += 1": "hint os.listdir [safe]",
    "self.items = []; n = 0; for c in os.listdir(root):;  self.items.append((c, n));  n += 1": "hint os.listdir [safe]",
    "self.items = load(); self.n = {x: n for n, x in enumerate(os.listdir(root))} / "
    "def __getitem__(self, index): return self.n[self.items[index]]": "warning os.listdir numbers [unsafe]",
    "self.c = os.listdir(root); self.items = load(); self.n = {x: n for n, x in enumerate(self.c)} / "
    "def __getitem__(self, index): return self.c[index]": "hint os.listdir [safe]",
    "self.c = os.listdir(root); self.items = load(); self.n = {x: n for n, x in enumerate(self.c)} / "
    "def __getitem__(self, index): return self.c[0]": "warning os.listdir numbers [unsafe]",
    "self.items = load() / def __getitem__(self, index): return {x: n for n, x in enumerate(os.listdir('x'))}": "",
    "self.items = load(); self.c = os.listdir(root) / "
    "def __getitem__(self, index): return self.c.index(self.items[index])": "warning os.listdir numbers [unsafe]",
    "self.items = load(); self.c = os.listdir(root) / "
    "def __getitem__(self, index): return self.c.index(self.items[index]), self.c[index]": "hint os.listdir [safe]",
    "def number(c): return {x: n for n, x in enumerate(c)} | self.n = number(os.listdir(root)); "
    "self.items = load(self.n)": "warning os.listdir numbers [unsafe]",
    "def number(c): return {x: n for n, x in enumerate(c)} | self.n = number(sorted(os.listdir(root))); "
    "self.items = load(self.n)": "",
    "def use(n): return 3 | c = os.listdir(root); self.items = [use(c.index(x)) for x in load()]": "",
    "def use(n): return n | c = os.listdir(root); "
    "self.items = [use(c.index(x)) for x in load()]": "warning os.listdir numbers [unsafe]",
    "def use(a, n=0): return a | c = os.listdir(root); self.items = [use(x, n=c.index(x)) for x in load()]": "",
    "def use(a, n=0): return n | c = os.listdir(root); "
    "self.items = [use(x, n=c.index(x)) for x in load()]": "warning os.listdir numbers [unsafe]",
    "def use(*a): return 3 | c = os.listdir(root); "
    "self.items = [use(c.index(x)) for x in load()]": "warning os.listdir numbers [unsafe]",
    "def use(n): return lambda: n | c = os.listdir(root); "
    "self.items = [use(c.index(x)) for x in load()]": "warning os.listdir numbers [unsafe]",
    "def use(n): return 3 | c = os.listdir(root); k = c.index('a'); "
    "self.items = [use(k), k]": "warning os.listdir numbers [unsafe]",
    "def use(n): return 3 | c = os.listdir(root); "
    "self.items = [use(*[c.index(x)]) for x in load()]": "warning os.listdir numbers [unsafe]",
    "C = os.listdir('x') | self.n = {x: n for n, x in enumerate(C)}; "
    "self.items = load(self.n)": "warning os.listdir numbers [unsafe]",
}


@pytest.mark.parametrize("code", NUMBERED)
def test_what_a_listing_numbers(code: str, tmp_path: Path) -> None:
    assert numbered(tmp_path, code) == NUMBERED[code]
