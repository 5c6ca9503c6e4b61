"""Which handles a sample reads, whether the main process holds them when the workers start, and where it uses them
first."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Instance
from loaderlint.rules.shared.first_uses import first_uses
from loaderlint.rules.shared.held_handles import handles_read, is_held, opener
from tests.project.linking import link

CODE = """
import gzip, io, os, sqlite3, tarfile, zipfile
import h5py, lmdb, netCDF4
from pathlib import Path
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self, path="x"):
        {}
    {}
    def __getitem__(self, index):
        {}
loader = DataLoader(D(), num_workers=2)
"""

#: What the constructor and, after ` / `, the sample do: the handles of the main process that the sample may read, each
#: with `held` if the workers inherit it. `; ` ends a line, and more spaces after it indent the next one.
HANDLES: dict[str, str] = {
    "self.f = open(path) / return self.f.read()": "builtins.open held",
    "self.f = gzip.open(path) / return self.f.read()": "gzip.open held",
    "self.f = Path(path).open() / return self.f.read()": "pathlib.Path.open held",
    "self.f = load(path) / return self.f.read()": "",
    "self.f = open(path).read() / return self.f": "",
    "self.f = io.BytesIO(b'x') / return self.f.read()": "",
    "self.f = zipfile.ZipFile(path) / return self.f.read('a')": "zipfile.ZipFile held",
    "self.f = zipfile.ZipFile(io.BytesIO(b'x')) / return self.f.read('a')": "",
    "self.f = gzip.GzipFile(fileobj=io.BytesIO(b'x')) / return self.f.read()": "",
    "self.f = zipfile.ZipFile(io.BytesIO(b'x')).open('a') / return self.f.read()": "",
    "self.f = zipfile.ZipFile(path).open('a') / return self.f.read()": "zipfile.ZipFile.open of zipfile.ZipFile held",
    "self.f = sqlite3.connect(path).cursor() / return self.f.all()": "sqlite3.connect.cursor of sqlite3.connect held",
    "self.f = lmdb.open(path); self.t = self.f.begin() / return self.t.get(b'a')": "lmdb.open.begin of lmdb.open held",
    "self.f = h5py.File(path) / return self.f['a'][index]": "h5py.File held",
    "self.f = h5py.File(path)['a'] / return self.f[index]": "h5py.File[] of h5py.File held",
    "self.f = h5py.File(path).get('a') / return self.f[index]": "h5py.File.get of h5py.File held",
    "self.f = h5py.File(path)['a'][:] / return self.f[index]": "",
    "self.f = netCDF4.Dataset(path)['a'] / return self.f[index]": "netCDF4.Dataset[] of netCDF4.Dataset held",
    "self.f = tarfile.open(path).extractfile('a') / return self.f.x()": "tarfile.open.extractfile of tarfile.open held",
    "self.f = {'a': open(path)} / return self.f['a'].read()": "builtins.open held",
    "self.f = {}; self.f['a'] = open(path) / return self.f['a'].read()": "builtins.open held",
    "self.f = {}; self.g = {}; self.g['a'] = open(path) / return self.f['a']": "",
    "self.f = [open(path)] / return self.f[0].read()": "builtins.open held",
    "self.f = [open(path)] / return self.f[index].read()": "builtins.open held",
    "pass / f = open('x'); return f.read()": "",
    "pass / self.f = open('x'); return self.f.read()": "",
    "self.f = None / if self.f is None: self.f = open('x'); return self.f.read()": "",
    "self.f = open(path) / if self.f is None: self.f = open('x'); return self.f.read()": "builtins.open held",
    "self.f = open(path) / if not self.f: self.f = open('x'); return self.f.read()": "builtins.open held",
    "self.f = open(path) / if index or not self.f: self.f = open('x'); return self.f.read()": "builtins.open held",
    "self.f = open(path) / if not hasattr(self, 'f'): self.f = open('x'); return self.f.read()": "builtins.open held",
    "self.f = open(path) / if not hasattr(self, 'g'): self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / if index: self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / if self.pid != os.getpid(): self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / if self.f is None: self.reopen(); return self.f.read()": "builtins.open held",
    "self.f = open(path) / self.reopen(); return self.f.read()": "builtins.open",
    "self.f = open(path) / x = self.f.read(); self.reopen(); return x": "builtins.open held",
    "self.f = open(path) / x = self.f.read(); self.f = open('x'); return x": "builtins.open held",
    "self.f = open(path) / for x in self.f: pass; self.f = open('x'); return x": "builtins.open held",
    "self.f = open(path) / x = load(self.f); self.f = open('x'); return x": "builtins.open held",
    "self.f = open(path) / print(self.f); self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / self.f.close(); self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / if index: self.f.read(); self.f = open('x'); return self.f.read()": "builtins.open",
    "self.f = open(path) / try: return self.f.read(); except E:;  self.f = open('x');  return 1": "builtins.open held",
    "self.f = open(path); self.f = None / return self.f.read()": "builtins.open",
    "self.f = open(path); self.f.close() / return self.f.read()": "builtins.open",
    "self.f = open(path); self.f.read() / return self.f.read()": "builtins.open held",
    "self.f = open(path); del self.f / return self.f.read()": "builtins.open",
    "self.f = open(path); self.g = 1; del self.g / return self.f.read()": "builtins.open held",
    "self.f = None; self.f = open(path) / return self.f.read()": "builtins.open held",
    "self.f = open(path); if load(path): self.f = None / return self.f.read()": "builtins.open held",
    "self.f = open(path); if path: self.f = None / return self.f.read()": "builtins.open",
    "self.f = gzip.open(path); self.f = open(path) / return self.f.read()": "builtins.open held",
    "self.f = gzip.open(path); self.reopen() / return self.f.read()": "builtins.open held",
    "self.reopen(); self.f = gzip.open(path) / return self.f.read()": "gzip.open held",
    "self.f = {'a': open(path)}; self.f = None / return self.f['a'].read()": "builtins.open held",
}


@pytest.mark.parametrize("code", HANDLES)
def test_which_handles_a_sample_reads(code: str, tmp_path: Path) -> None:
    init, sample = ("\n        ".join(part.split("; ")) for part in code.split(" / "))
    more = 'def reopen(self): self.f = open("x")' if "reopen" in code else ""
    model = link(tmp_path, CODE.format(init, more, sample)).model
    (entry,) = [frame for frame in model.reached if model.label(frame) == "D.__getitem__"]
    found = set()
    for read in handles_read(entry, model):
        if model.runs_in_worker(read.handle.site.frame):
            continue
        made = opener(read.handle, model)
        name = read.handle.name if made == read.handle else f"{read.handle.name} of {made.name}"
        found.add(f"{name} held" if is_held(read.handle, read.value.origins, model) else name)
    assert " | ".join(sorted(found)) == HANDLES[code]


TOUCHED = """
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __init__(self): self.f = None
    def open(self):
        if self.f is None: self.f = open("x")
        return self.f
    def __len__(self): {}
    def __getitem__(self, index): return self.open().read()
def main(other):
    data = D()
    {}
    return loader
"""
_LOADER = "loader = DataLoader(data, num_workers=2)"
_SHUFFLED = "loader = DataLoader(data, num_workers=2, shuffle=True)"
#: What `__len__` and, after ` / `, the main process do: what uses the handle first.
TOUCHES: dict[str, list[str]] = {
    f"return 3 / {_LOADER}": [],
    f"return 3 / {_SHUFFLED}": [],
    f"return 3 / data[0]; {_LOADER}": ["the main process takes a sample"],
    f"return 3 / other[0]; {_LOADER}": [],
    f"return 3 / for x in data: pass; {_LOADER}": ["the main process takes a sample"],
    f"return 3 / for x in other: pass; {_LOADER}": [],
    f"return 3 / len(data); {_LOADER}": [],
    f"return len(self.open()) / {_LOADER}": [],
    f"return len(self.open()) / len(data); {_LOADER}": ["the main process asks for the length, which opens it"],
    f"return len(self.open()) / len(other); {_LOADER}": [],
    f"return len(self.open()) / {_SHUFFLED}": ["this loader's sampler asks for the length"],
    "return len(self.open()) / loader = DataLoader(data, num_workers=2, shuffle=False)": [],
    "return len(self.open()) / loader = DataLoader(data, num_workers=2, shuffle=other)": [],
    f"return len(self.open()) / data[0]; {_SHUFFLED}": ["the main process takes a sample"],
}


@pytest.mark.parametrize("code", TOUCHES)
def test_where_the_main_process_uses_a_handle_first(code: str, tmp_path: Path) -> None:
    length, main = code.split(" / ")
    linked = link(tmp_path, TOUCHED.format(length, "\n    ".join(main.split("; "))))
    (inst,) = {one for one in linked.loader().datasets if isinstance(one, Instance)}
    reads = [read for frame in linked.model.reached for read in handles_read(frame, linked.model)]
    found = {e.message: None for read in reads for e in first_uses(read.handle, read.value.origins, linked.model)}
    assert list(found) == TOUCHES[code] and reads and inst.site is not None
