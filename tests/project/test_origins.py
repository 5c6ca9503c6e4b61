"""Whose stored data a value may be, or be a part of: what a sample that is edited in place would change."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.facts import ir
from tests.project.linking import link

CODE = """
import copy, json, random
import h5py, numpy as np, torch, zarr
import torchvision.transforms as T
from torch.utils.data import DataLoader, Dataset
GLOBAL = np.zeros(9)
class A:
    def __init__(self): self.x = np.zeros(9)
    def give(self): return self.x
class D(Dataset):
    shared = np.zeros(9)
    def __init__(self, path="x", where=None):
        self.x = np.zeros(9)
        self.t = torch.zeros(9)
        self.items = [np.zeros(3), np.zeros(3)]
        self.named = {"a": np.zeros(3), "b": [1, 2]}
        self.records = json.load(open(path))
        self.file = h5py.File(path)
        self.archive = np.load(path)
        self.number = 3
        self.a = A()
        self.more = {}
        self.more["k"] = np.zeros(3)
        self.where = where
    def give(self): return self.x
    def load(self): return np.zeros(3)
    @property
    def prop(self): return self.x
    def __getitem__(self, index):
        {}
loader = DataLoader(D(), num_workers=2)
"""
#: Samples, and the stored data that each may be; nothing for a copy.
ORIGINS: dict[str, str] = {
    "self.x": "x same",
    "self.x[0]": "x[] element",
    "self.x[index]": "x[] element",
    "self.x[1:3]": "x[] view",
    "self.x[[0, 1]]": "",
    "self.x[self.x > 0]": "",
    "self.x[self.x == 1]": "",
    "self.x[~self.x]": "",
    "self.x[-self.x]": "x[] element",
    "self.x[np.where(self.x)]": "",
    "self.x[np.where(self.x)[0]]": "",
    "self.x[np.arange(9)[0]]": "x[] element",
    "self.x[np.arange(9)[1:]]": "",
    "self.x[np.random.randint(9)]": "x[] element",
    "self.x[np.random.randint(0, 9, 2)]": "",
    "self.x[np.random.choice(9)]": "x[] element",
    "self.x[np.random.choice(9, 2)]": "",
    "self.x[np.random.choice(9, size=2)]": "",
    "self.x[random.sample([1, 2], 1)]": "",
    "self.x[torch.randperm(9)]": "",
    "self.x[load().argsort()]": "",
    "self.x[load().tolist()]": "",
    "self.x[load().index]": "x[] element",
    "self.x[index, 1:]": "x[] view",
    "self.x[(0, [1, 2])]": "",
    "self.x[index + 1]": "x[] element",
    "self.x[np.arange(9) + 1]": "",
    "self.x[np.arange(9) + 1 + 1]": "",
    "self.x.copy()": "",
    "self.x + 1": "",
    "self.x.reshape(3, 3)": "x view",
    "self.x.view()": "x view",
    "self.x.T": "x same",
    "self.x.astype(int)": "",
    "self.x.sum()": "",
    "np.asarray(self.x)": "x view",
    "np.asarray(self.x, dtype=int)": "",
    "np.asarray(self.number)": "",
    "np.array(self.x)": "",
    "np.reshape(self.x, (3, 3))": "x view",
    "np.atleast_2d(self.x)": "x view",
    "torch.from_numpy(self.x)": "x view",
    "torch.as_tensor(self.x)": "x view",
    "torch.tensor(self.x)": "",
    "self.t.numpy()": "t view",
    "self.t.clone()": "",
    "self.items": "items same",
    "self.items[0]": "items[] element",
    "self.items[index]": "items[] element",
    "self.items[:1]": "",
    "self.items[0][0]": "items[][] element",
    "list(self.items)": "",
    "self.items.copy()": "",
    "copy.copy(self.items)": "",
    "copy.deepcopy(self.items)": "",
    "copy.copy(self.items)[0]": "items[] element",
    "copy.deepcopy(self.items)[0]": "",
    'self.named["a"]': "named[] element",
    'self.named["c"]': "named[] element",
    "self.named[index]": "named[] element",
    "self.named.copy()": "",
    'self.named.copy()["a"]': "named[] element",
    'dict(self.named)["a"]': "named[] element",
    '{**self.named}["a"]': "named[] element",
    'copy.deepcopy(self.named)["a"]': "",
    'self.named["b"][0]': "named[][] element",
    'self.more["k"]': "more[] element",
    "self.records": "records same",
    "self.records[index]": "records[] element",
    'self.records[index]["a"]': "records[][] element",
    "self.records.copy()": "",
    "self.records[index].copy()": "",
    'self.records[index].copy()["a"]': "records[][] element",
    "copy.deepcopy(self.records[index])": "",
    'self.file["a"]': "",
    'self.file["a"][0]': "",
    'self.file["a"][:]': "",
    "self.archive[0]": "archive[] element",
    'self.archive["a"]': "",
    "self.number": "number same",
    "self.a.x": "a.x same | x same",
    "self.a.give()": "x same",
    "self.give()": "x same",
    "self.prop": "x same",
    "self.load()": "",
    "self.shared": "shared same",
    "D.shared": "D.shared same | shared same",
    "GLOBAL": "GLOBAL same",
    "GLOBAL[1:]": "GLOBAL[] view",
    'zarr.open("x")[0]': "",
    "x = self.x; x": "x same",
    "x = self.x; x = x[1:]; x": "x[] view",
    "x = self.x if index else self.t; x": "t same | x same",
    "x = self.x or self.t; x": "t same | x same",
    "x = self.x; x += 1; x": "x same",
    "for x in self.items: y = x; y": "items[] element",
    "for n, x in enumerate(self.items): y = x; y": "items[] element",
    "for n, x in zip(self.items, self.items): y = x; y": "items[] element",
    "for n, x in self.named.items(): y = x; y": "named[] element",
    "for x in self.named.values(): y = x; y": "named[] element",
    "for x in self.records: y = x; y": "records[] element",
    "for x in self.x: y = x; y": "x[] element",
    "[x for x in self.items]": "",
    "[x for x in self.items][0]": "items[] element",
    "next(iter(self.items))": "items[] element",
    "x, *y = self.items; y": "",
    "(self.x, self.t)": "",
    "(self.x, self.t)[1]": "t same",
    '{"a": self.x}["a"]': "x same",
    '{"a": self.x}': "",
    "random.choice(self.items)": "items[] element",
    "np.random.choice(self.items)": "",
    "T.Compose([T.ToTensor()])(self.x)": "",
    "T.Lambda(lambda x: x)(self.x)": "x same",
    "T.Compose([lambda x: x.copy()])(self.x)": "",
    "T.ToTensor()(self.x)": "",
    "(lambda x: x)(self.x)": "x same",
    "(lambda x: x[0])(self.items)": "items[] element",
    "map(lambda x: x, self.items)": "",
    "list(map(lambda x: x, self.items))[0]": "items[] element",
    'getattr(self, "x")': "x same",
}


def origins(tmp_path: Path, code: str) -> str:
    """The stored data that a sample may be: 'x same', 'items[] element', 'x view'."""
    lines = code.split("; ")
    lines[-1] = f"return {lines[-1]}"
    model = link(tmp_path, CODE.replace("{}\nloader", "\n        ".join(lines) + "\nloader")).model
    frame = next(one for one in model.reached if model.label(one) == "D.__getitem__")
    step = next(step for _, step in model.steps(frame) if isinstance(step, ir.Return))
    found = model.ev.eval(step.value, frame).origins
    return " | ".join(sorted(f"{'.'.join(one.path).replace('.[]', '[]')} {one.relation}" for one in found))


@pytest.mark.parametrize("code", ORIGINS)
def test_what_a_sample_aliases(tmp_path: Path, code: str) -> None:
    assert origins(tmp_path, code) == ORIGINS[code]
