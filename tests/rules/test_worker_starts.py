"""Where a script starts workers that run it again, and on which platforms and by which method workers start."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.versions.environment import Environment
from tests.project.linking import link
from tests.rules.answers import answers, lines

HEAD = """
import absl.app, accelerate, fire, functools, itertools, multiprocessing, os, platform, pytest, sys, torchinfo, unittest
import lightning.pytorch as pl
import torch.multiprocessing as mp
import torch.optim.swa_utils
from torch.utils.data import DataLoader, Dataset
from torch_lr_finder import LRFinder
from tqdm import tqdm
from unknown import load
class D(Dataset):
 def __getitem__(self, index): return index
"""
#: Modules that such code may import. `termios` hides Python's.
BESIDE = """
--- other.py
import fcntl
--- deeper.py
from other import x
from os import sched_getaffinity
--- near.py
def f(): import fcntl
if __name__ == '__main__': import pwd
import json
--- termios.py
x = 3
"""


def started(folder: Path, code: str) -> str:
    """What is said of a script that makes `loader`, whose workers spawn, and goes on with this code: the safety of the
    fix, the function that goes through the loader; or why nothing is wrong."""
    text = f"{HEAD}loader = DataLoader(D(), num_workers=2, multiprocessing_context='spawn')\n{lines(code)}\n"
    found = answers(folder, "unguarded-worker-start", text)
    shown = [
        " ".join([one.severity.value, one.fixes[0].safety, *(e.message.partition(" > ")[2] for e in one.evidence[1:])])
        for one in found.findings
    ]
    return " + ".join(shown) or ", ".join(dict.fromkeys(one.reason for one in found.silences))


def platforms(folder: Path, test: str) -> str:
    """On which platforms the code that makes a loader runs. Other module-level code stands before ` | `."""
    above, _, code = test.rpartition(" | ")
    text = f"--- train.py\n{HEAD}{lines(above)}\n{lines(code)}\n{BESIDE}"
    model = link(folder, text, Environment(platforms=("linux", "windows", "macos"))).model
    (loader,) = (one for one in model.loaders if one.name == "loader")
    return " ".join(model.environment(loader).platforms)


def methods(folder: Path, code: str) -> str:
    """The start methods of a loader with these options, and those that are certain; module-level code before ` | `."""
    above, _, options = map(str.strip, code.partition(" |"))
    text = f"{HEAD}{lines(above)}\nloader = DataLoader(D(), num_workers=2{options and ', '}{options})\n"
    linked = link(folder, text)
    of, chosen = linked.model.start_methods.of(linked.loader()), linked.model.start_methods.chosen(linked.loader())
    return " ".join(sorted(of)) + (f" (chosen: {' '.join(sorted(chosen))})" if chosen else "")


#: Module-level code after a loader, and what is said of it.
STARTED: dict[str, str] = {
    "print(3)": "no script iterates over it when it is imported",
    "for x in loader: print(x)": "error safe",
    "for x in tqdm(loader): print(x)": "error safe",
    "for x in enumerate(loader): print(x)": "error safe",
    "for n, x in enumerate(tqdm(loader)): print(x)": "error safe",
    "for x in itertools.islice(loader, 3): print(x)": "error safe",
    "for x in zip(loader, loader): print(x)": "error safe",
    "for x in load(loader): print(x)": "no script iterates over it when it is imported",
    "for x in load(): print(x)": "no script iterates over it when it is imported",
    "for x in [1, 2]: print(x)": "no script iterates over it when it is imported",
    "for x in enumerate(enumerate(enumerate(enumerate(loader)))): print(x)": "error safe",
    "list(loader)": "error safe",
    "iter(loader)": "error safe",
    "next(iter(loader))": "error safe",
    "len(loader)": "no script iterates over it when it is imported",
    "print(loader)": "no script iterates over it when it is imported",
    "load(loader)": "no script iterates over it when it is imported",
    "x = [x for x in loader]": "error safe",
    "x = (x for x in loader)": "error safe",
    "x = {x: 1 for x in loader}": "error safe",
    "def f(): return 3; list(loader)": "error safe",
    "while load(): list(loader)": "error safe",
    "if load(): list(loader)": "error safe",
    "if False: list(loader)": "no script iterates over it when it is imported",
    "try: list(loader); except OSError: pass": "error safe",
    "with open('x'): list(loader)": "error safe",
    "if __name__ == '__main__': list(loader)": "no script iterates over it when it is imported",
    "if load() and __name__ == '__main__': list(loader)": "no script iterates over it when it is imported",
    "if mp.current_process().name == 'MainProcess': list(loader)": "no script iterates over it when it is imported",
    "if multiprocessing.parent_process() is None: list(loader)": "no script iterates over it when it is imported",
    "if load().__name__: list(loader)": "no script iterates over it when it is imported",
    "if platform.system() == 'Linux': list(loader)": "error safe",
    "def f(): list(loader)": "no script iterates over it when it is imported",
    "def f(): list(loader); f()": "error safe f",
    "def f(x): list(x); f(loader)": "error safe f",
    "def f(): list(loader); if __name__ == '__main__': f()": "no script iterates over it when it is imported",
    "def f(): list(loader); def g(): f(); g()": "error safe g > f",
    "def f(): list(loader); x = f": "no script iterates over it when it is imported",
    "def f(): list(loader); load(f)": "no script iterates over it when it is imported",
    "def f(): list(loader); fire.Fire(f)": "error safe f",
    "def f(): list(loader); absl.app.run(f)": "error safe f",
    "def f(): list(loader); fire.Fire(load(), f)": "no script iterates over it when it is imported",
    "class C:;  def f(self): list(loader); C().f()": "error safe C.f",
    "class C:;  def __init__(self): list(loader); C()": "error safe C.__init__",
    "class C:;  def f(self): list(loader)": "no script iterates over it when it is imported",
    "f = lambda: list(loader)": "no script iterates over it when it is imported",
    "f = lambda: list(loader); f()": "error safe a lambda",
    "def f():;  yield from loader; list(f())": "error safe f",
    "def f(x):;  if x: f(x - 1); f(3); list(loader)": "error safe",
    "loader = accelerate.Accelerator().prepare(loader); list(loader)": "error safe",
    "m, loader2 = accelerate.Accelerator().prepare(load(), loader); list(loader2)": "error safe",
    "a, b = load(loader); list(b)": "no script iterates over it when it is imported",
    "pl.Trainer().fit(load(), loader)": "error safe",
    "pl.tuner.Tuner(pl.Trainer()).lr_find(load(), train_dataloaders=loader)": "error safe",
    "pl.tuner.Tuner(pl.Trainer()).scale_batch_size(load(), train_dataloaders=loader)": "error safe",
    "pl.Trainer().tuner.lr_find(load(), loader)": "error safe",
    "pl.Trainer().tune(load(), loader)": "error safe",
    "LRFinder(load(), load(), load()).range_test(loader)": "error safe",
    "torch.optim.swa_utils.update_bn(loader, load())": "error safe",
    "pl.tuner.Tuner(loader)": "no script iterates over it when it is imported",
    "pl.tuner.Tuner(pl.Trainer()).find(load(), loader)": "no script iterates over it when it is imported",
    "torch.optim.swa_utils.AveragedModel(loader)": "no script iterates over it when it is imported",
    "def lr_find(x): load(x); lr_find(loader)": "no script iterates over it when it is imported",
    "pl.Trainer().save(load(), loader)": "no script iterates over it when it is imported",
    "pl.Trainer().fit(load(), [loader])": "no script iterates over it when it is imported",
    "class M(pl.LightningModule):; "
    " def train_dataloader(self): return DataLoader(D(), num_workers=2, multiprocessing_context='spawn'); "
    "pl.Trainer().fit(M())": "error safe",
    "class M(pl.LightningModule):; "
    " def loader_of(self): return DataLoader(D(), num_workers=2, multiprocessing_context='spawn'); "
    "pl.Trainer().fit(M())": "no script iterates over it when it is imported",
    "class M(pl.LightningModule):; "
    " def train_dataloader(self): return DataLoader(D(), num_workers=2, multiprocessing_context='spawn'); "
    "load(M())": "no script iterates over it when it is imported",
    "class M(pl.LightningModule):; "
    " def train_dataloader(self): return DataLoader(D(), num_workers=2, multiprocessing_context='spawn'); "
    "pl.tuner.Tuner(pl.Trainer()).lr_find(M())": "error safe",
    "class M(pl.LightningModule):; "
    " def test_dataloader(self): return DataLoader(D(), num_workers=2, multiprocessing_context='spawn'); "
    "pl.tuner.Tuner(pl.Trainer()).lr_find(M())": "no script iterates over it when it is imported",
    "loader.__iter__()": "error safe",
    "it = loader._get_iterator()": "error safe",
    "loader.__len__()": "no script iterates over it when it is imported",
    "list(loader); list(loader)": "error safe",
    "list(loader); class E: pass": "error safe",
    "print(3); def f(): return 3; list(loader)": "error unsafe",
    "x = torch.load('x'); def f(): return 3; list(loader)": "error unsafe",
    "x = load(); x.load_state_dict(3); def f(): return 3; list(loader)": "error unsafe",
    "def g(): return torch.load('x'); x = g(); def f(): return 3; list(loader)": "error unsafe",
    "def g(): print(3); x = g(); def f(): return 3; list(loader)": "error safe",
    "x = torch.load('x'); load(x); list(loader)": "error unsafe",
    "x = torch.load('x'); torchinfo.summary(x); list(loader)": "error safe",
    "x = torch.load('x'); import json; list(loader)": "error safe",
    "x = torch.load('x'); import json; import csv; list(loader)": "error unsafe",
    "x = torch.load('x'); from torch import *; list(loader)": "error unsafe",
    "_, x = torch.load('x'); list(loader)": "error safe",
    "_ = torch.load('x'); list(loader)": "error unsafe",
    "x = [3]; def f(): return 3; list(loader)": "error safe",
    "def f(): return torch.load('x'); list(loader)": "error safe",
    "list(loader); X = 3": "error safe",
}
#: Methods of a subclass of DataLoader, and the line of a script that starts its workers: the one that makes it, or the
#: next one, which goes over it.
SUBCLASSES: dict[str, str] = {
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.it = super().__iter__(); "
    "def __iter__(self):;  for n in range(len(self)): yield next(self.it)": "made in its constructor",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.begin(); "
    "def begin(self): self.it = DataLoader.__iter__(self); "
    "def __iter__(self):;  for n in range(len(self)): yield next(self.it)": "made in its constructor",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.it = self._get_iterator(); "
    "def __iter__(self): return self.it": "made in its constructor",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.it = iter(self)": "made in its constructor",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.it = None; "
    "def __iter__(self):;  self.it = self.it or super().__iter__();  return self.it": "gone over",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k); "
    "def __iter__(self):;  for x in super().__iter__(): yield x": "gone over",
    "def __init__(self, *a, **k):;  super().__init__(*a, **k);  self.s = self.sampler.__iter__()": "gone over",
    "def begin(self): self.it = super().__iter__()": "gone over",
}
#: Code that makes a loader under a test, and the platforms on which it runs.
PLATFORMS: dict[str, str] = {
    "loader = DataLoader(D())": "linux windows macos",
    "if load(): loader = DataLoader(D())": "linux windows macos",
    "if sys.platform == 'win32': loader = DataLoader(D())": "windows",
    "if sys.platform != 'win32': loader = DataLoader(D())": "linux macos",
    "if sys.platform == 'linux': loader = DataLoader(D())": "linux",
    "if sys.platform == 'darwin': loader = DataLoader(D())": "macos",
    "if sys.platform == 'other': loader = DataLoader(D())": "",
    "if sys.platform == load(): loader = DataLoader(D())": "linux windows macos",
    "if sys.platform in ('win32', 'darwin'): loader = DataLoader(D())": "windows macos",
    "if sys.platform not in ['win32', 'darwin']: loader = DataLoader(D())": "linux",
    "if sys.platform.startswith('win'): loader = DataLoader(D())": "windows",
    "if sys.platform.startswith(('win', 'lin')): loader = DataLoader(D())": "linux windows",
    "if sys.platform.startswith(load()): loader = DataLoader(D())": "linux windows macos",
    "if sys.platform.endswith('win'): loader = DataLoader(D())": "linux windows macos",
    "if load().startswith('win'): loader = DataLoader(D())": "linux windows macos",
    "if not sys.platform == 'win32': loader = DataLoader(D())": "linux macos",
    "if not load(): loader = DataLoader(D())": "linux windows macos",
    "if sys.platform == 'win32' or sys.platform == 'darwin': loader = DataLoader(D())": "windows macos",
    "if sys.platform == 'win32' or load(): loader = DataLoader(D())": "linux windows macos",
    "if sys.platform == 'win32' and load(): loader = DataLoader(D())": "windows",
    "if sys.platform != 'win32' and sys.platform != 'darwin': loader = DataLoader(D())": "linux",
    "if os.name == 'nt': loader = DataLoader(D())": "windows",
    "if os.name == 'posix': loader = DataLoader(D())": "linux macos",
    "if platform.system() == 'Windows': loader = DataLoader(D())": "windows",
    "if platform.system() == 'Linux': loader = DataLoader(D())": "linux",
    "if platform.system() == 'Darwin': loader = DataLoader(D())": "macos",
    "if load() == 'Windows': loader = DataLoader(D())": "linux windows macos",
    "if sys.platform == 'win32': pass; else: loader = DataLoader(D())": "linux macos",
    "if sys.platform == 'win32': pass; elif sys.platform == 'darwin': loader = DataLoader(D())": "macos",
    "if sys.platform == 'win32': pass; elif sys.platform == 'darwin': pass; else: loader = DataLoader(D())": "linux",
    "if load():;  if sys.platform == 'win32': loader = DataLoader(D())": "windows",
    "for x in load():;  if sys.platform == 'win32': loader = DataLoader(D())": "windows",
    "IS_WINDOWS = sys.platform == 'win32' | if IS_WINDOWS: loader = DataLoader(D())": "windows",
    "IS_WINDOWS = sys.platform == 'win32' | if not IS_WINDOWS: loader = DataLoader(D())": "linux macos",
    "IS_WINDOWS = load() | if IS_WINDOWS: loader = DataLoader(D())": "linux windows macos",
    "@pytest.mark.skipif(sys.platform == 'win32', reason='x'); def test_x(): loader = DataLoader(D())": "linux macos",
    "@pytest.mark.skipif(sys.platform != 'win32', reason='x'); def test_x(): loader = DataLoader(D())": "windows",
    "@pytest.mark.skipif(load(), reason='x'); def test_x(): loader = DataLoader(D())": "linux windows macos",
    "@pytest.mark.skipif(); def test_x(): loader = DataLoader(D())": "linux windows macos",
    "@pytest.mark.slow(sys.platform == 'win32'); def test_x(): loader = DataLoader(D())": "linux windows macos",
    "@unittest.skipIf(sys.platform == 'win32', 'x'); def test_x(): loader = DataLoader(D())": "linux macos",
    "@unittest.skipUnless(sys.platform == 'win32', 'x'); def test_x(): loader = DataLoader(D())": "windows",
    "@unittest.skipUnless(os.name == 'posix', 'x'); class T(unittest.TestCase):; "
    " def test_x(self): loader = DataLoader(D())": "linux macos",
    "class T(unittest.TestCase):;  @unittest.skipIf(os.name == 'nt', 'x'); "
    " def test_x(self): loader = DataLoader(D())": "linux macos",
    "pytestmark = pytest.mark.skipif(sys.platform == 'win32', reason='x') | "
    "def test_x(): loader = DataLoader(D())": "linux macos",
    "pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == 'win32', reason='x')] | "
    "def test_x(): loader = DataLoader(D())": "linux macos",
    "skip = pytest.mark.skipif(sys.platform == 'win32', reason='x') | @skip; "
    "def test_x(): loader = DataLoader(D())": "linux macos",
    "from os import sched_getaffinity | loader = DataLoader(D())": "linux",
    "import fcntl | loader = DataLoader(D())": "linux macos",
    "from resource import * | loader = DataLoader(D())": "linux macos",
    "import json, pwd as users | loader = DataLoader(D())": "linux macos",
    "import nvidia.dali.fn as fn | loader = DataLoader(D())": "linux",
    "from nvidia import dali | loader = DataLoader(D())": "linux",
    "from nvidia.dali.plugin.pytorch import DALIGenericIterator | loader = DataLoader(D())": "linux",
    "from google.colab import drive | loader = DataLoader(D())": "linux",
    "import google.colab.patches as patches | loader = DataLoader(D())": "linux",
    "from google import colab | loader = DataLoader(D())": "linux",
    "from kaggle_secrets import UserSecretsClient | loader = DataLoader(D())": "linux",
    "from cucim.skimage import color; import fcntl | loader = DataLoader(D())": "linux",
    "import other | loader = DataLoader(D())": "linux macos",
    "from deeper import x | loader = DataLoader(D())": "linux",
    "from os import cpu_count; import nvidia.cublas, resources | loader = DataLoader(D())": "linux windows macos",
    "import near | loader = DataLoader(D())": "linux windows macos",
    "import termios | loader = DataLoader(D())": "linux windows macos",
    "from .fcntl import lock | loader = DataLoader(D())": "linux windows macos",
    "def f(): import fcntl | loader = DataLoader(D())": "linux windows macos",
    "def f(): import other | loader = DataLoader(D())": "linux windows macos",
    "try: import fcntl; except ImportError: fcntl = None | loader = DataLoader(D())": "linux windows macos",
    "if sys.platform != 'win32': import fcntl | loader = DataLoader(D())": "linux windows macos",
    "try: from google.colab import drive; except ImportError: drive = None | loader = DataLoader(D())": (
        "linux windows macos"
    ),
    "COLAB = 'google.colab' in sys.modules | if COLAB: import google.colab | loader = DataLoader(D())": (
        "linux windows macos"
    ),
    "from google.cloud import storage as colab | loader = DataLoader(D())": "linux windows macos",
    "loader = DataLoader(D(), num_workers=len(os.sched_getaffinity(0)))": "linux",
    "def f():;  n = os.getloadavg();  loader = DataLoader(D(), num_workers=int(n[0]))": "linux macos",
    "N = len(os.sched_getaffinity(0)) | loader = DataLoader(D())": "linux",
    "def f():;  if load(): os.getuid();  loader = DataLoader(D())": "linux windows macos",
    "def f():;  if load():;   os.getuid();   loader = DataLoader(D())": "linux macos",
    "def f():;  loader = DataLoader(D());  os.getuid()": "linux macos",
    "def f():;  loader = DataLoader(D());  print(*loader);  os.getuid()": "linux windows macos",
    "def f(): os.getuid() | loader = DataLoader(D())": "linux windows macos",
    "try: N = len(os.sched_getaffinity(0)); except AttributeError: N = 2 | loader = DataLoader(D())": (
        "linux windows macos"
    ),
    "N = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 2 | loader = DataLoader(D())": (
        "linux windows macos"
    ),
    "f = os.sched_getaffinity | loader = DataLoader(D())": "linux windows macos",
}
#: Module-level code and, after ` | `, options of a loader, and the start methods of its workers.
METHODS: dict[str, str] = {
    "pass |": "fork",
    "pass | multiprocessing_context='fork'": "fork (chosen: fork)",
    "pass | multiprocessing_context='spawn'": "spawn (chosen: spawn)",
    "pass | multiprocessing_context=None": "fork",
    "pass | multiprocessing_context=load()": "fork",
    "pass | multiprocessing_context=mp.get_context('spawn')": "spawn (chosen: spawn)",
    "pass | multiprocessing_context=multiprocessing.get_context('forkserver')": "forkserver (chosen: forkserver)",
    "pass | multiprocessing_context=mp.get_context(method='spawn')": "spawn (chosen: spawn)",
    "pass | multiprocessing_context=mp.get_context()": "fork",
    "pass | multiprocessing_context=mp.get_context(load())": "fork",
    "pass | multiprocessing_context='fork' if load() else 'spawn'": "fork spawn (chosen: fork spawn)",
    "pass | multiprocessing_context='fork' if load() else None": "fork (chosen: fork)",
    "mp.set_start_method('spawn') |": "spawn (chosen: spawn)",
    "mp.set_start_method('fork') |": "fork (chosen: fork)",
    "mp.set_start_method('spawn', force=True) |": "spawn (chosen: spawn)",
    "mp.set_start_method(load()) |": "fork",
    "mp.set_start_method() |": "fork",
    "mp.set_start_method('spawn') | multiprocessing_context='fork'": "fork (chosen: fork)",
    "if load(): mp.set_start_method('spawn') |": "fork spawn",
    "if __name__ == '__main__': mp.set_start_method('spawn') |": "spawn (chosen: spawn)",
    "if __name__ == '__main__': pass; else: mp.set_start_method('spawn') |": "fork spawn",
    "if '__main__' == __name__: mp.set_start_method('spawn') |": "fork spawn",
    "if load() == '__main__': mp.set_start_method('spawn') |": "fork spawn",
    "for x in load(): mp.set_start_method('spawn') |": "fork spawn",
    "try: mp.set_start_method('spawn'); except RuntimeError: pass |": "spawn (chosen: spawn)",
    "def main(): mp.set_start_method('spawn') |": "spawn (chosen: spawn)",
    "def other(): mp.set_start_method('spawn') |": "fork spawn",
    "def main():;  if load(): mp.set_start_method('spawn') |": "fork spawn",
    "def main():;  if __name__ == '__main__': mp.set_start_method('spawn') |": "spawn (chosen: spawn)",
    "mp.set_start_method('spawn'); mp.set_start_method('fork') |": "fork spawn (chosen: fork spawn)",
    "load('spawn').set_start_method |": "fork",
}


@pytest.mark.parametrize("code", STARTED)
def test_where_a_script_starts_workers(code: str, tmp_path: Path) -> None:
    assert started(tmp_path, code) == STARTED[code]


@pytest.mark.parametrize("code", SUBCLASSES)
def test_where_a_loader_of_a_class_of_the_project_starts_its_workers(code: str, tmp_path: Path) -> None:
    methods = "".join(f" {one}\n" for one in lines(code).splitlines())
    made = "loader = Own(D(), num_workers=2, multiprocessing_context='spawn')\n"
    text = f"{HEAD}class Own(DataLoader):\n{methods}\n{made}for batch in loader: print(batch)\n"
    (one,) = answers(tmp_path, "unguarded-worker-start", text).findings
    inside = " in its constructor" if any("makes its iterator" in e.message for e in one.evidence) else ""
    where = "made" if one.place.piece == one.evidence[0].place.piece else "gone over"
    assert where + inside == SUBCLASSES[code]


@pytest.mark.parametrize("code", PLATFORMS)
def test_on_which_platforms_a_loader_is_made(code: str, tmp_path: Path) -> None:
    assert platforms(tmp_path, code) == PLATFORMS[code]


@pytest.mark.parametrize("code", METHODS)
def test_by_which_method_workers_start(code: str, tmp_path: Path) -> None:
    assert methods(tmp_path, code) == METHODS[code]
