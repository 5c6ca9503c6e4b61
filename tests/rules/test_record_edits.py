"""Edits of a record that the dataset keeps: those that change it a little more in each epoch, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.answers import answers, lines

CODE = """
import copy, csv, json, os
from dataclasses import dataclass
import numpy as np
from torch.utils.data import DataLoader, Dataset
@dataclass
class Row:
 path: str
 size: int = 3
class Log:
 def append(self, one): print(one)
class D(Dataset):
 def __init__(self, paths, root):
  self.records = {0}
  self.root = root
 def __len__(self): return 3
 def __getitem__(self, index):
  record = self.records[index]
{1}
  return record
def main(paths, root): return DataLoader(D(paths, root), num_workers=0)
"""
RECORDS = '[dict(path=path, size=3, box=[1, 2], parts=["a"]) for path in paths]'
MEANT = "silent: it may be a number or a list, or meant to change: a cache, a buffer, a shuffled order"
EDITS = {
    'record["size"] += 1': "error",
    'record["size"] -= 1': "error",
    'record["size"] *= 2': "warning",
    'record["size"] /= 2': "warning",
    'record["size"] //= 2': "warning",
    'record["size"] **= 2': "warning",
    'record["size"] <<= 1': "warning",
    'record["size"] ^= 1': "warning",
    'record["size"] %= index': "warning",
    'record["size"] %= 2': "",
    'record["size"] |= 1': "",
    'record["size"] &= 1': "",
    'size = record["size"]; size &= 2': "",
    'record["size"] = record["size"] + 1': "error",
    'record["size"] = 1 + record["size"]': "error",
    'record["size"] = record["size"] - record["box"][0]': "error",
    'record["size"] = record["size"] / record["size"]': MEANT,
    'record["size"] = record["size"] % 2': MEANT,
    'record["size"] = self.records[0]["size"] - 1': MEANT,
    'record["size"] = record["box"][0]': MEANT,
    'record["path"] = "root/" + record["path"]': "error",
    'record["path"] = f"{self.root}/{record[\'path\']}"': "error",
    'record["path"] = f"{index}{index}"': MEANT,
    'record["path"] = os.path.join("root", record["path"])': "error",
    'record["path"] = os.path.join("root", "more", record["path"])': "error",
    'record["path"] = os.path.join("/root", record["path"])': MEANT,
    'record["path"] = os.path.join("C:/root", record["path"])': MEANT,
    'record["path"] = os.path.join(self.root, record["path"])': MEANT,
    'record["path"] = os.path.join("root", "more")': MEANT,
    'record["path"] = str("root", record["path"])': MEANT,
    'record["box"] = record["box"] + [1]': "error",
    'record["box"] = [cell + 1 for cell in record["box"]]': "error",
    'record["box"] = np.array(record["box"]) + 1': "error",
    'record["box"] = record["box"][1:]': MEANT,
    'record["box"][0] += 1': "error",
    'record["box"][0] = 1': MEANT,
    'record.update(size=record["size"] + 1)': "error",
    'record.update(path="a", size=record["size"] + 1)': "error",
    'record.update(size=record["box"] + 1)': "",
    "record.update(size=index)": "",
    'self.records[index].update(size=self.records[index]["size"] + 1)': "error",
    'self.records[index].update(size=self.records[0]["size"] + 1)': "",
    'record.update([("size", record["size"] + 1)])': "",
    'record.update(record["size"] + 1)': "",
    'record.other(size=record["size"] + 1)': "",
    'append(record["size"])': "",
    'pop = record.pop; pop("size")': "error",
    'record["parts"].append("b")': "error",
    'record["parts"].extend(["b"])': "error",
    'record["parts"].insert(0, "b")': "error",
    'record["parts"].pop()': "error",
    'record["parts"].remove("a")': "error",
    'record["parts"].sort()': "error",
    'record["parts"].clear()': "",
    'record.pop("box")': "error",
    'record.pop("box", None)': "",
    'box = record.pop("box", None)': "error",
    'del record["box"]': "error",
    'del record["parts"][0]': "error",
    'if index > 3:;  record["size"] += 1': "error",
    'if "box" in record:;  del record["box"]': "",
    'if record.get("done"):;  record["size"] += 1': "",
    'for part in record["parts"]:;  record["size"] += 1': "error",
    'with open(record["path"]):;  record["size"] += 1': "error",
    'match record:;  case {"done": 1}: record["size"] += 1': "",
    'while record["size"] < 9:;  record["size"] += 1': "",
    'try:;  record["size"] += 1; except KeyError:;  pass': "error",
    'if self.records[index]["size"]:;  self.records[index]["size"] += 1': "",
    'if self.records[index]["size"]:;  self.records[0]["size"] += 1': "error",
    'record = dict(record); record["size"] += 1': "",
    'record = copy.copy(record); record["size"] += 1': "",
    'record = record.copy(); record["parts"].append(1)': "error",
    'record = copy.deepcopy(record); record["parts"].append(1)': "",
}
#: What is stored, and an edit of an item of it.
STORED = {
    ("[Row(path) for path in paths]", "record.size += 1"): "error",
    ("[Row(path) for path in paths]", "record.size = record.size + 1"): "error",
    ("[Row(path) for path in paths]", 'record.path = os.path.join("root", record.path)'): "error",
    ("[Row(path) for path in paths]", "del record.size"): "error",
    ("[Row(path) for path in paths]", "record.size = index"): "",
    ("[Log() for path in paths]", "record.append(1)"): "",
    ("[[path] for path in paths]", "record.append(index)"): "error",
    ("[(path, 1) for path in paths]", "record = record + (1,)"): "",
    ("{path: dict(size=3) for path in paths}", 'record["size"] += 1'): "error",
    ("{path: [path] for path in paths}", "record.append(index)"): "error",
    ("json.load(open(paths))", 'record["size"] += 1'): "error",
    ("json.load(open(paths))", 'record.pop("size")'): "error",
    ("list(csv.DictReader(open(paths)))", 'record["size"] = "0" + record["size"]'): "error",
    ("np.load(paths)", 'record["size"] = record["size"] + 1'): MEANT,
    ("load(paths)", 'record["size"] = record["size"] + 1'): MEANT,
    ("load(paths)", 'record.pop("size")'): "",
    ("[load(path) for path in paths]", 'record.pop("size")'): "",
    ("[load(path) if path else {} for path in paths]", 'record.pop("size")'): "",
    ("dict(size=3)", 'self.records["size"] += 1'): "",
    ("dict(size=3)", 'self.records["size"] = self.records["size"] * 2'): MEANT,
}

KEPT = """
import numpy as np
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
 def __init__(self, paths, split):
  self.paths, self.split = paths, split
  self.kept = {"images": {}, "sizes": {}, "order": [], "train": {}}
  self.records = [dict(path=path, label=3) for path in paths]
 def __len__(self): return 3
 def remember(self, key, image):
  self.kept["sizes"][key] = image.size
 def __getitem__(self, index):
  old = self.kept["order"][0]
CODE
  return self.kept, self.records[index]
def main(paths, split): return DataLoader(D(paths, split), num_workers=0)
"""
LOADED = 'self.kept["images"][index] = np.load(self.paths[index])'
CACHE = "workers put items in and take others out: a cache or a queue"
#: Edits of containers in a container on self: caches, and what nobody loads again.
CACHES = {
    f'del self.kept["images"][old]; {LOADED}': CACHE,
    f'{LOADED}; self.kept["images"].pop(old)': CACHE,
    f'{LOADED}; self.kept["images"].popitem()': CACHE,
    f'images = self.kept["images"]; {LOADED}; del images[old]': CACHE,
    'self.remember(index, np.load(self.paths[index])); del self.kept["sizes"][old]': CACHE,
    "self.kept[self.split][index] = np.load(self.paths[index]); del self.kept[self.split][old]": CACHE,
    'self.kept["order"].append(index); self.kept["order"].pop(0)': CACHE,
    'self.kept["order"].append(index); del self.kept["order"][0]': CACHE,
    'self.kept["images"]["last"] = np.load(self.paths[index]); del self.kept["images"]["last"]': CACHE,
    'del self.kept["images"][old]': "error",
    f'del self.kept["sizes"][old]; {LOADED}': "error",
    'self.kept["images"]["last"] = np.load(self.paths[index]); del self.kept["images"]["first"]': "error",
    'self.kept["images"]["last"] = np.load(self.paths[index]); del self.kept["images"][old]': "error",
    'self.kept["images"][index] = self.kept["images"][old]; self.kept["images"].pop(old)': "error",
    'self.kept["order"].append(index)': "error",
    'self.kept["order"].append(index); self.kept["sizes"].popitem()': "error | error",
    'del self.records[index]["label"]': "error",
    'self.records[index][self.split] = np.load(self.paths[index]); del self.records[index]["label"]': "error",
    "self.records[index][old] = np.load(self.paths[index]); del self.records[index][index]": "error",
}


@pytest.mark.parametrize(("code", "expected"), EDITS.items(), ids=EDITS)
def test_edits(tmp_path: Path, code: str, expected: str) -> None:
    assert said(tmp_path, RECORDS, code) == expected


@pytest.mark.parametrize(("stored", "code"), STORED)
def test_what_is_stored(tmp_path: Path, stored: str, code: str) -> None:
    assert said(tmp_path, stored, code) == STORED[stored, code]


@pytest.mark.parametrize(("code", "expected"), CACHES.items(), ids=CACHES)
def test_caches(tmp_path: Path, code: str, expected: str) -> None:
    text = KEPT.replace("CODE", lines(code, 2))
    said = answers(tmp_path, "stored-data-mutation", text)
    reasons = {one.reason for one in said.silences}
    assert (" | ".join(said.severities) or CACHE in reasons) == (expected == CACHE or expected)


def said(folder: Path, stored: str, code: str) -> str:
    """The severities of the findings, or why there is none."""
    return answers(folder, "stored-data-mutation", CODE.format(stored, lines(code, 2))).short
