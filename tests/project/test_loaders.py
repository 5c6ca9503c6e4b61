"""Loaders: where they are made, with which arguments, and which parts of the project their workers run."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loaderlint.project.evaluation.values import Literal_, Unknown
from loaderlint.project.versions.environment import Environment, version_set
from tests.project.linking import link

HEAD = """
import argparse, functools, os
from dataclasses import dataclass
import torch.utils.data
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
"""

#: Ways to say how many workers: the code, then the answer to 'at least one?' and what people read.
WORKERS = {
    "left out": ("loader = DataLoader(D())", "no", "num_workers=0"),
    "a literal": ("loader = DataLoader(D(), num_workers=4)", "yes", "num_workers=4"),
    "zero": ("loader = DataLoader(D(), num_workers=0)", "no", "num_workers=0"),
    "the sixth position": ("loader = DataLoader(D(), 1, True, None, None, 3)", "yes", "num_workers=3"),
    "a constant": ("N = 2 * 4\nloader = DataLoader(D(), num_workers=N)", "yes", "num_workers=8"),
    "a visible dict": ("kw = {'num_workers': 2}\nloader = DataLoader(D(), **kw)", "yes", "num_workers=2"),
    "a dict that is filled": (
        "kw = dict(num_workers=2)\nkw['num_workers'] = 0\nloader = DataLoader(D(), **kw)",
        "no",
        "num_workers=0",
    ),
    "an unknown dict": ("loader = DataLoader(D(), **load())", "maybe", "num_workers unknown"),
    "argparse": (
        "p = argparse.ArgumentParser()\np.add_argument('-j', '--num-workers', type=int, default=4)\n"
        "args = p.parse_args()\nloader = DataLoader(D(), num_workers=args.num_workers)",
        "yes",
        "num_workers=4, argparse default",
    ),
    "argparse through calls": (
        "def main(args):\n    run(args.workers)\ndef run(n):\n    loader = DataLoader(D(), num_workers=n)\n"
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=2)\nmain(p.parse_args())",
        "yes",
        "num_workers=2, argparse default",
    ),
    "a parser that went through code out of sight": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=2)\np = extended(p)\n"
        "loader = DataLoader(D(), num_workers=p.parse_args().workers)",
        "yes",
        "num_workers=2, argparse default",
    ),
    "a required option": (
        "p = argparse.ArgumentParser()\np.add_argument('--n', required=True)\n"
        "loader = DataLoader(D(), num_workers=p.parse_args().n)",
        "maybe",
        "num_workers unknown",
    ),
    "a dataclass": (
        "@dataclass\nclass C:\n    n: int = 3\nloader = DataLoader(D(), num_workers=C().n)",
        "yes",
        "num_workers=3, class default",
    ),
    "a parameter's default": (
        "def make(n=5):\n    loader = DataLoader(D(), num_workers=n)",
        "yes",
        "num_workers=5, default",
    ),
    "a parameter nobody gives": (
        "def make(n):\n    loader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers unknown",
    ),
    "an attribute": (
        "class T:\n    def __init__(self, n): self.n = n\n    def go(self):\n"
        "        loader = DataLoader(D(), num_workers=self.n)\nT(6).go()",
        "yes",
        "num_workers=6",
    ),
    "the smaller of two": ("loader = DataLoader(D(), num_workers=min(8, 2))", "yes", "num_workers=2"),
    "the processors": ("loader = DataLoader(D(), num_workers=os.cpu_count())", "yes", "num_workers at least 1"),
    "the processors, or one": (
        "loader = DataLoader(D(), num_workers=os.cpu_count() or 1)",
        "yes",
        "num_workers at least 1",
    ),
    "the processors that the program may use": (
        "loader = DataLoader(D(), num_workers=len(os.sched_getaffinity(0)))",
        "yes",
        "num_workers at least 1",
    ),
    "half of the processors, of which there may be one": (
        "loader = DataLoader(D(), num_workers=os.cpu_count() // 2)",
        "maybe",
        "num_workers unknown",
    ),
    "one processor less, where there may be one": (
        "loader = DataLoader(D(), num_workers=os.cpu_count() - 1)",
        "maybe",
        "num_workers unknown",
    ),
    "twice the processors": (
        "loader = DataLoader(D(), num_workers=2 * os.cpu_count())",
        "yes",
        "num_workers at least 2",
    ),
    "no processors": ("loader = DataLoader(D(), num_workers=0 * os.cpu_count())", "no", "num_workers=0"),
    "no more than the processors": (
        "loader = DataLoader(D(), num_workers=min(8, os.cpu_count()))",
        "yes",
        "num_workers at least 1",
    ),
    "the smallest in a list": (
        "loader = DataLoader(D(), num_workers=min([os.cpu_count(), 0]))",
        "no",
        "num_workers=0",
    ),
    "the largest by another order": (
        "loader = DataLoader(D(), num_workers=max(1, load(), key=abs))",
        "maybe",
        "num_workers unknown",
    ),
    "one at least": ("loader = DataLoader(D(), num_workers=max(1, load()))", "yes", "num_workers at least 1"),
    "none at least": ("loader = DataLoader(D(), num_workers=max(0, load()))", "maybe", "num_workers unknown"),
    "a number that grows": (
        "def make(loads):\n    n = 1\n    for one in loads:\n        n = n + 1\n"
        "    loader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers unknown",
    ),
    "an option or the processors": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', type=int)\n"
        "loader = DataLoader(D(), num_workers=p.parse_args().workers or os.cpu_count())",
        "yes",
        "num_workers at least 1",
    ),
    "an option or a constant, which proves no branch dead": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', type=int)\n"
        "n = p.parse_args().workers or 0\nif n:\n    loader = DataLoader(D(), num_workers=n)",
        "no",
        "num_workers=0, argparse default",
    ),
    "the environment": (
        "loader = DataLoader(D(), num_workers=int(os.environ.get('WORKERS', '4')))",
        "yes",
        "num_workers=4, environment default",
    ),
    "the environment, by default none": (
        "loader = DataLoader(D(), num_workers=int(os.getenv('WORKERS', 0)))",
        "no",
        "num_workers=0, environment default",
    ),
    "the environment alone": (
        "loader = DataLoader(D(), num_workers=int(os.environ['WORKERS']))",
        "maybe",
        "num_workers unknown",
    ),
    "an option that main() makes global": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\nargs = None\n"
        "def main():\n    global args, best\n    args = p.parse_args()\n    train()\n"
        "def train():\n    loader = DataLoader(D(), num_workers=args.workers)\nmain()",
        "yes",
        "num_workers=4, argparse default",
    ),
    "a number that a function changes": (
        "N = 0\ndef more():\n    global N\n    N = 4\nloader = DataLoader(D(), num_workers=N)\nmore()",
        "maybe",
        "num_workers=0 or 4",
    ),
    "a local of the same name": (
        "N = 0\ndef more():\n    N = 4\nloader = DataLoader(D(), num_workers=N)\nmore()",
        "no",
        "num_workers=0",
    ),
    "a dict that is updated": (
        "kw = dict(batch_size=2)\nkw.update(num_workers=2)\nloader = DataLoader(D(), **kw)",
        "yes",
        "num_workers=2",
    ),
    "a field of a pydantic model": (
        "from pydantic import BaseModel, Field\nclass C(BaseModel):\n    n: int = Field(3, ge=0)\n"
        "loader = DataLoader(D(), num_workers=C().n)",
        "yes",
        "num_workers=3, class default",
    ),
    "a field of a pydantic model that is passed": (
        "from pydantic import BaseModel, Field\nclass C(BaseModel):\n    n: int = Field(default=3)\n"
        "loader = DataLoader(D(), num_workers=C(n=0).n)",
        "no",
        "num_workers=0",
    ),
    "a dict in one branch": (
        "loader = DataLoader(D(), **({'num_workers': 0, 'pin_memory': True} if input() else {}))",
        "no",
        "num_workers=0",
    ),
    "a dict with workers in one branch": (
        "kw = {'num_workers': 4} if input() else {}\nloader = DataLoader(D(), **kw)",
        "maybe",
        "num_workers=0 or 4",
    ),
    "a dict that a branch fills": (
        "kw = dict(batch_size=2)\nif input():\n    kw.update({'num_workers': 0})\nloader = DataLoader(D(), **kw)",
        "no",
        "num_workers=0",
    ),
    "a dict that is filled after a branch": (
        "def main():\n    kw = {'num_workers': 0} if input() else {}\n    kw['num_workers'] = 2\n"
        "    loader = DataLoader(D(), **kw)\nmain()",
        "yes",
        "num_workers=2",
    ),
    "a dict of a module that is filled after a branch": (
        "kw = {'num_workers': 0} if input() else {}\nkw['num_workers'] = 2\nloader = DataLoader(D(), **kw)",
        "yes",
        "num_workers=2",
    ),
    "two dicts, one in a branch": (
        "kw = {'batch_size': 2} | ({'num_workers': 4} if input() else {})\nloader = DataLoader(D(), **kw)",
        "maybe",
        "num_workers=0 or 4",
    ),
    "a dict of an object that a branch fills": (
        "class Make:\n    def __init__(self):\n        self.kw = dict(batch_size=2)\n        if input():\n"
        "            self.kw['num_workers'] = 2\n    def run(self):\n        loader = DataLoader(D(), **self.kw)\n"
        "Make().run()",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a dict that a function fills in a branch": (
        "def fill(kw):\n    if input():\n        kw['num_workers'] = 2\n"
        "def main():\n    kw = dict(batch_size=2)\n    fill(kw)\n    loader = DataLoader(D(), **kw)\nmain()",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a dict, or one that is not known": (
        "kw = {'num_workers': 4} if input() else load()\nloader = DataLoader(D(), **kw)",
        "maybe",
        "num_workers unknown",
    ),
    "a default that a dict may replace": (
        "def make(n=3, **more):\n    loader = DataLoader(D(), num_workers=n, **more)\n"
        "make(**({'n': 4, 'pin_memory': True} if input() else {}))",
        "yes",
        "num_workers=3 or 4",
    ),
    "the default of a record that a dict may replace": (
        "@dataclass\nclass C:\n    n: int = 3\n"
        "loader = DataLoader(D(), num_workers=C(**({'n': 0} if input() else {})).n)",
        "maybe",
        "num_workers=0 or 3, class default",
    ),
    "keywords that a caller may leave out": (
        "def make(**more):\n    loader = DataLoader(D(), num_workers=more.get('n', 2))\n"
        "make(**({'n': 0} if input() else {}))",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a partial whose workers a dict may replace": (
        "make = functools.partial(DataLoader, num_workers=2)\n"
        "loader = make(D(), **({'num_workers': 0} if input() else {}))",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a test of keywords that a caller may leave out": (
        "def make(**more):\n    loader = DataLoader(D(), num_workers=2 if more else 0)\n"
        "make(**({'n': 0} if input() else {}))",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a dict of an object whose constructor removes the key": (
        "class Make:\n    def __init__(self, **kw):\n        self.kw = kw.copy()\n        del self.kw['num_workers']\n"
        "    def run(self):\n        loader = DataLoader(D(), **self.kw)\nMake(num_workers=2).run()",
        "no",
        "num_workers=0",
    ),
    "a dict of an object whose constructor may remove the key": (
        "class Make:\n    def __init__(self, **kw):\n        if input():\n            kw.pop('num_workers')\n"
        "        self.kw = kw\n    def run(self):\n        loader = DataLoader(D(), **self.kw)\n"
        "Make(num_workers=2).run()",
        "maybe",
        "num_workers=0 or 2",
    ),
    "a dict of an object that has the key in another method": (
        "class Make:\n    def __init__(self, **kw):\n        self.kw = kw\n    def other(self):\n"
        "        self.kw.pop('num_workers')\n    def run(self):\n        loader = DataLoader(D(), **self.kw)\n"
        "Make(num_workers=2).run()",
        "yes",
        "num_workers=2",
    ),
    "a key that is removed in a loop": (
        "def make(**kw):\n    for key in ('num_workers', 'timeout'):\n        kw.pop(key, None)\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "no",
        "num_workers=0",
    ),
    "a key that each branch removes": (
        "def make(**kw):\n    if input():\n        del kw['num_workers']\n    else:\n        kw.pop('num_workers')\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "no",
        "num_workers=0",
    ),
    "a key that a branch removes before it returns": (
        "def make(**kw):\n    if input():\n        del kw['num_workers']\n        return kw\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "yes",
        "num_workers=2",
    ),
    "a key that is removed from a copy": (
        "def make(**kw):\n    own = dict(kw)\n    own.pop('num_workers')\n    loader = DataLoader(D(), **kw)\n"
        "make(num_workers=2)",
        "yes",
        "num_workers=2",
    ),
    "a key that is removed before the dict is copied": (
        "def make(**kw):\n    kw.pop('num_workers')\n    loader = DataLoader(D(), **{**kw, 'timeout': 0})\n"
        "make(num_workers=2)",
        "no",
        "num_workers=0",
    ),
    "a key that is removed before the dict is returned": (
        "def cleaned(**kw):\n    kw.pop('num_workers')\n    return kw\n"
        "loader = DataLoader(D(), **cleaned(num_workers=2))",
        "no",
        "num_workers=0",
    ),
    "a key that is removed and stored again in a branch": (
        "def make(**kw):\n    kw.pop('num_workers')\n    if input():\n        kw['num_workers'] = 3\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=3)",
        "maybe",
        "num_workers=0 or 3",
    ),
    "a key that a module removes": (
        "kw = dict(num_workers=2)\nn = kw.pop('num_workers')\nloader = DataLoader(D(), **kw)",
        "no",
        "num_workers=0",
    ),
    "a key that a module removes later": (
        "kw = dict(num_workers=2)\nloader = DataLoader(D(), **kw)\ndel kw['num_workers']",
        "yes",
        "num_workers=2",
    ),
    "all keys but one": (
        "def make(**kw):\n    kw = {k: v for k, v in kw.items() if v is not None and k != 'num_workers'}\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "no",
        "num_workers=0",
    ),
    "some keys": (
        "def make(**kw):\n    kw = {k: v for k, v in kw.items() if k in ('num_workers', 'timeout')}\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "yes",
        "num_workers=2",
    ),
    "all keys but some": (
        "def make(**kw):\n    kw = {k: v for k, v in kw.items() if k not in ('shuffle', 'timeout')}\n"
        "    loader = DataLoader(D(), **kw)\nmake(num_workers=2)",
        "yes",
        "num_workers=2",
    ),
    "a record as a dict": (
        "from dataclasses import asdict\n@dataclass\nclass C:\n    num_workers: int = 3\n    batch_size: int = 2\n"
        "loader = DataLoader(D(), **asdict(C()))",
        "yes",
        "num_workers=3, class default",
    ),
    "an object that stores its keyword arguments": (
        "class C:\n    def __init__(self, **kw):\n        self.__dict__.update(kw)\n"
        "loader = DataLoader(D(), num_workers=C(n=3).n)",
        "yes",
        "num_workers=3",
    ),
    "an object that stores its keyword arguments one by one": (
        "class C:\n    def __init__(self, **kw):\n        for k, v in kw.items():\n            setattr(self, k, v)\n"
        "loader = DataLoader(D(), num_workers=C(n=3).n)",
        "yes",
        "num_workers=3",
    ),
    "an object that stores keyword arguments with other names": (
        "class C:\n    def __init__(self, **kw):\n        vars(self).update(kw)\n"
        "loader = DataLoader(D(), num_workers=C(m=3).n)",
        "maybe",
        "num_workers unknown",
    ),
    "an object that stores the command line": (
        "p = argparse.ArgumentParser()\np.add_argument('--n', default=4)\nclass C:\n    def __init__(self, options):\n"
        "        for k, v in vars(options).items():\n            setattr(self, k, v)\n"
        "loader = DataLoader(D(), num_workers=C(p.parse_args()).n)",
        "yes",
        "num_workers=4, argparse default",
    ),
    "a namespace that the command line fills": (
        "class C(argparse.Namespace):\n    def __init__(self):\n        p = argparse.ArgumentParser()\n"
        "        p.add_argument('--n', default=4)\n        super().__init__(**vars(p.parse_args()))\n"
        "loader = DataLoader(D(), num_workers=C().n)",
        "yes",
        "num_workers=4, argparse default",
    ),
    "a namespace whose attribute is assigned afterwards": (
        "class C(argparse.Namespace):\n    def __init__(self):\n        p = argparse.ArgumentParser()\n"
        "        p.add_argument('--n', default=4)\n        super().__init__(**vars(p.parse_args()))\n"
        "        self.n = 0\nloader = DataLoader(D(), num_workers=C().n)",
        "no",
        "num_workers=0",
    ),
    "a record that the command line fills": (
        "p = argparse.ArgumentParser()\np.add_argument('--n', default=4)\n@dataclass\nclass C:\n    n: int = 0\n"
        "loader = DataLoader(D(), num_workers=C(**vars(p.parse_args())).n)",
        "yes",
        "num_workers=4, argparse default",
    ),
    "a parameter that the command line fills": (
        "p = argparse.ArgumentParser()\np.add_argument('--n', default=4)\ndef main(n=0):\n"
        "    loader = DataLoader(D(), num_workers=n)\nmain(**vars(p.parse_args()))",
        "yes",
        "num_workers=4, argparse default",
    ),
    "a parameter that is no option of the command line": (
        "p = argparse.ArgumentParser()\np.add_argument('--m', default=4)\ndef main(m, n=0):\n"
        "    loader = DataLoader(D(), num_workers=n)\nmain(**vars(p.parse_args()))",
        "maybe",
        "num_workers unknown",
    ),
    "the command line as a dict": (
        "p = argparse.ArgumentParser()\np.add_argument('--workers', default=4)\n"
        "loader = DataLoader(D(), num_workers=vars(p.parse_args())['workers'])",
        "yes",
        "num_workers=4, argparse default",
    ),
    "an option of a command": (
        "import click\n@click.command()\n@click.option('-j', '--data-workers', default=8)\n"
        "def main(data_workers):\n    loader = DataLoader(D(), num_workers=data_workers)\nmain()",
        "yes",
        "num_workers=8, option default",
    ),
    "another option of a command": (
        "import click\n@click.command()\n@click.option('--workers', default=8)\n@click.option('--n', required=True)\n"
        "def main(workers, n):\n    loader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers unknown",
    ),
    "a parameter that is an option": (
        "import typer\ndef main(n: int = typer.Option(2)):\n    loader = DataLoader(D(), num_workers=n)",
        "yes",
        "num_workers=2, option default",
    ),
    "either of two": (
        "n = 0\nif input():\n    n = 4\nloader = DataLoader(D(), num_workers=n)",
        "maybe",
        "num_workers=0 or 4",
    ),
    "partial": (
        "make = functools.partial(DataLoader, num_workers=4)\nloader = make(D())",
        "yes",
        "num_workers=4",
    ),
    "the dotted name": ("loader = torch.utils.data.DataLoader(D(), num_workers=1)", "yes", "num_workers=1"),
    "one class of two": (
        "cls = DataLoader if input() else DataLoader\nloader = cls(D(), num_workers=1)",
        "yes",
        "num_workers=1",
    ),
    "a subclass": (
        "class Mine(DataLoader):\n    def __init__(self, ds, **k):\n        super().__init__(ds, num_workers=2, **k)\n"
        "loader = Mine(D())",
        "yes",
        "num_workers=2",
    ),
    "a subclass without a constructor": (
        "class Mine(DataLoader): pass\nloader = Mine(D(), num_workers=2)",
        "yes",
        "num_workers=2",
    ),
}


#: Subclasses of torch's loader: torch starts workers in `DataLoader.__iter__` only.
SUBCLASSES = {
    "a subclass that reads the dataset itself, without torch's constructor": (
        "class Own(DataLoader):\n    def __init__(self, dataset, batch_size=1):\n        self.dataset = dataset\n"
        "        self.batch_size = batch_size\n    def __iter__(self):\n        for i in range(len(self)):\n"
        "            yield self.dataset[i]\n    def __len__(self): return len(self.dataset)\nloader = Own(D())",
        "no",
        "its own __iter__ starts no workers",
    ),
    "a subclass whose base in the project reads the dataset itself": (
        "class Own(DataLoader):\n    def __iter__(self): return map(self.one, self.batch_sampler)\n"
        "    def one(self, indices): return [self.dataset[i] for i in indices]\n"
        "class Heir(Own):\n    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n"
        "loader = Heir(D(), **load())",
        "no",
        "its own __iter__ starts no workers",
    ),
    "a subclass that reads the dataset itself, with a number of workers": (
        "class Own(DataLoader):\n    def __init__(self, dataset, num_workers):\n"
        "        DataLoader.__init__(self, dataset, num_workers=num_workers)\n"
        "    def __iter__(self):\n        index_iterator = iter(self.sampler)\n"
        "        yield from (self.dataset[i] for i in index_iterator)\n"
        "loader = Own(D(), 4)",
        "no",
        "its own __iter__ starts no workers",
    ),
    "a subclass that reads the dataset itself, in threads": (
        "from concurrent.futures import ThreadPoolExecutor\nclass Own(DataLoader):\n    def __iter__(self):\n"
        "        with ThreadPoolExecutor(self.num_workers) as pool:\n"
        "            yield from pool.map(self.dataset.__getitem__, self.sampler)\nloader = Own(D(), num_workers=4)",
        "no",
        "its own __iter__ starts no workers",
    ),
    "a subclass whose __iter__ goes on to torch's": (
        "class Ahead(DataLoader):\n    def __iter__(self):\n        for batch in super().__iter__():\n"
        "            yield batch\nloader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass whose __iter__ asks for torch's iterator": (
        "class Ahead(DataLoader):\n    def __iter__(self):\n        self.ahead = self._get_iterator()\n"
        "        return self.ahead\nloader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass that goes on to torch's in another method": (
        "class Ahead(DataLoader):\n    def __iter__(self):\n        yield from self.batches()\n"
        "    def batches(self): return DataLoader.__iter__(self)\nloader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass that hands itself to an iterator": (
        "class Ahead(DataLoader):\n    def __iter__(self): return somewhere.Iterator(self)\n"
        "loader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass that hands itself to an iterator as a keyword": (
        "class Ahead(DataLoader):\n    def __iter__(self): return somewhere.Iterator(loader=self)\n"
        "loader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass with a base out of sight": (
        "class Ahead(somewhere.Mixin, DataLoader):\n    def __iter__(self): yield from self.batches()\n"
        "loader = Ahead(D(), num_workers=4)",
        "yes",
        "num_workers=4",
    ),
    "a subclass without an __iter__ or torch's constructor": (
        "class Own(DataLoader):\n    def __init__(self, dataset):\n        self.dataset = dataset\nloader = Own(D())",
        "maybe",
        "num_workers unknown",
    ),
    "torch's loader in an attribute of a subclass": (
        "class Own(DataLoader):\n    def __init__(self, dataset):\n"
        "        self.loader = DataLoader(dataset, num_workers=2)\n"
        "    def __iter__(self):\n        for batch in self.loader:\n            yield batch\n"
        "loader = Own(D()).loader",
        "yes",
        "num_workers=2",
    ),
}


@pytest.mark.parametrize("way", SUBCLASSES)
def test_a_subclass_that_reads_the_dataset_itself_has_no_workers(way: str, tmp_path: Path) -> None:
    code, answer, text = SUBCLASSES[way]
    loader = link(tmp_path, HEAD + code + "\n").loader()
    assert (loader.has_workers(), loader.workers_text) == (answer, text)


@pytest.mark.parametrize("way", WORKERS)
def test_the_number_of_workers_is_read_from(way: str, tmp_path: Path) -> None:
    code, answer, text = WORKERS[way]
    linked = link(tmp_path, HEAD + code + "\n")
    loader = linked.loader()
    assert (loader.has_workers(), loader.workers_text) == (answer, text)
    assert linked.datasets() == ["D"]


def test_an_option_of_another_program_is_not_passed(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""
--- case.py
{HEAD}
p = argparse.ArgumentParser()
p.add_argument("--path")
def main(path, n=0):
    loader = DataLoader(D(), num_workers=n)
main(**vars(p.parse_args()))
--- other.py
import argparse
p = argparse.ArgumentParser()
p.add_argument("--n", default=4)
print(p.parse_args().n)
""",
    )
    assert linked.loader().workers_text == "num_workers unknown"


#: What a Lightning module keeps: the constructor and what reads it, then the answer.
HYPERPARAMETERS = {
    "an attribute": ("def __init__(self, n=4):\n        self.save_hyperparameters()", "self.hparams.n", "yes"),
    "an item": ("def __init__(self, n=4):\n        self.save_hyperparameters('n')", "self.hparams['n']", "yes"),
    "an item that may be missing": (
        "def __init__(self, n=4):\n        self.save_hyperparameters()",
        "self.hparams.get('n', 0)",
        "yes",
    ),
    "none by default": ("def __init__(self, n=0):\n        self.save_hyperparameters()", "self.hparams.n", "no"),
    "one of many": ("def __init__(self, **more):\n        self.save_hyperparameters()", "self.hparams.n", "maybe"),
    "a record of them": (
        "def __init__(self):\n        self.save_hyperparameters({'n': 2})",
        "self.hparams.n",
        "yes",
    ),
    "what is kept, again": (
        "def __init__(self, n=4):\n"
        "        self.save_hyperparameters()\n"
        "        self.save_hyperparameters(self.hparams)",
        "self.hparams.n",
        "maybe",
    ),
    "what is kept, and nothing else": (
        "def __init__(self, n=4):\n        self.save_hyperparameters(self.hparams)",
        "self.hparams.n",
        "maybe",
    ),
    "nothing": ("def __init__(self, n=4):\n        pass", "self.hparams.n", "maybe"),
    "another one": ("def __init__(self, m=4):\n        self.save_hyperparameters()", "self.hparams.n", "maybe"),
}


@pytest.mark.parametrize("way", HYPERPARAMETERS)
def test_the_number_of_workers_is_a_hyperparameter(way: str, tmp_path: Path) -> None:
    init, read, answer = HYPERPARAMETERS[way]
    linked = link(
        tmp_path,
        HEAD
        + f"""
from lightning import LightningDataModule
class Data(LightningDataModule):
    {init}
    def train_dataloader(self):
        loader = DataLoader(D(), num_workers={read})
Data()
""",
    )
    assert linked.loader().has_workers() == answer


def test_what_fills_an_option_in_is_stored_under_its_name(tmp_path: Path) -> None:
    code = """
        def main(options):
            options["workers"] = 3
            options["batch"] = 7
            loader = DataLoader(D(), num_workers=options["workers"])
        p = argparse.ArgumentParser()
        p.add_argument("--workers")
        main(vars(p.parse_args()))
    """
    workers = link(tmp_path, HEAD + textwrap.dedent(code)).loader().argument("num_workers")
    assert workers is not None
    assert {atom.value for atom in workers.only(Literal_)} == {None, 3}


def test_a_flag_that_nothing_in_sight_defines_is_unknown(tmp_path: Path) -> None:
    code = """
        from absl import flags
        flags.DEFINE_integer("workers", 2, "")
        known = DataLoader(D(), num_workers=flags.FLAGS.workers)
        loader = DataLoader(D(), num_workers=flags.FLAGS.processes)
    """
    linked = link(tmp_path, HEAD + textwrap.dedent(code))
    assert linked.loader("known").has_workers() == "yes"
    workers = linked.loader().argument("num_workers")
    assert workers.only(Unknown)


def test_a_subclass_passes_hyperparameters_on(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
from lightning import LightningDataModule
class Base(LightningDataModule):
    def __init__(self, folder):
        self.save_hyperparameters()
    def train_dataloader(self):
        loader = DataLoader(D(), num_workers=self.hparams.n)
class Data(Base):
    def __init__(self, folder, n):
        super().__init__(folder)
Data("here", 2)
""",
    )
    assert linked.loader().workers_text == "num_workers=2"


def test_many_objects_of_one_class_keep_their_arguments(tmp_path: Path) -> None:
    made = "".join(f"loader_{n} = Mine(D(), num_workers=2)\n" for n in range(40))
    linked = link(
        tmp_path,
        HEAD
        + """
class Mine(DataLoader):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
"""
        + made,
    )
    assert {(one.has_workers(), len(one.datasets)) for one in linked.model.loaders} == {("yes", 1)}


def test_an_alias_of_the_class_is_a_loader(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        from torch.utils.data import DataLoader as DL, Dataset
        class D(Dataset):
            def __getitem__(self, i): return i
        loader = DL(D(), num_workers=2)
        """,
    )
    assert linked.datasets() == ["D"]


def test_a_class_that_a_parameter_holds_by_default_is_a_loader(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        from torch.utils.data import DataLoader, Dataset
        class D(Dataset):
            def __getitem__(self, i): return i
        def make(dataset, klass=DataLoader, **options):
            return klass(dataset, **options)
        loader = make(D(), num_workers=2)
        """,
    )
    assert linked.datasets("make") == ["D"]
    assert linked.loader("make").has_workers() == "yes"


def test_a_class_of_the_same_name_is_none(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        class DataLoader:
            def __init__(self, ds, num_workers): pass
        loader = DataLoader([], num_workers=2)
        """,
    )
    assert linked.model.loaders == ()


#: A class called `DataLoader` in a file of the project, then whether it is one whose workers run the dataset.
COPIES = {
    "a copy of torch's": (
        """
        def _worker_loop(dataset, indices, results, collate_fn): results.put(collate_fn([dataset[0]]))
        class DataLoader(object):
            def __init__(self, dataset, batch_size=1, shuffle=False, sampler=None, num_workers=0, collate_fn=None): ...
        """,
        True,
    ),
    "a copy whose arguments stand in another order": (
        """
        def _worker_loop(*queues): ...
        class DataLoader:
            def __init__(self, batch_size, dataset, num_workers=0, collate_fn=None): ...
        """,
        True,
    ),
    "a copy that is kept with a base of its own": (
        """
        class Base: ...
        def _worker_loop(*queues): ...
        class DataLoader(Base):
            def __init__(self, batch_size, dataset, *, collate_fn=list, num_workers): ...
        """,
        True,
    ),
    "a class without workers": (
        """
        class DataLoader:
            def __init__(self, dataset, batch_size, num_workers, collate_fn): ...
        """,
        False,
    ),
    "a class that goes over files": (
        """
        def _worker_loop(*queues): ...
        class DataLoader:
            def __init__(self, filename, split, num_workers=2): ...
        """,
        False,
    ),
    "a class of another name": (
        """
        def _worker_loop(*queues): ...
        class DataLoader: ...
        class BatchReader:
            def __init__(self, dataset, batch_size, num_workers, collate_fn): ...
        """,
        False,
    ),
}

COPY_USER = """
from lib.loading import DataLoader
from torch.utils.data import Dataset
class A(Dataset):
    def __getitem__(self, i): return i
loader = DataLoader(dataset=A(), batch_size=4, num_workers=2)
"""


@pytest.mark.parametrize("way", COPIES)
def test_a_class_that_is_copied_from_torch_is_a_loader(way: str, tmp_path: Path) -> None:
    code, is_copy = COPIES[way]
    linked = link(tmp_path, f"--- lib/loading.py\n{textwrap.dedent(code)}--- train.py{COPY_USER}")
    found = [(one.workers_text, linked.datasets(one.name)) for one in linked.model.loaders if one.site is not None]
    assert found == ([("num_workers=2", ["A"])] if is_copy else [])


@pytest.mark.parametrize(("loop", "seeds"), [("np.random.seed(seed)", True), ("torch.set_num_threads(1)", False)])
def test_a_copied_loader_seeds_what_its_worker_loop_seeds(loop: str, seeds: bool, tmp_path: Path) -> None:
    code = textwrap.dedent(COPIES["a copy of torch's"][0]).replace("results.put", f"{loop}; results.put")
    linked = link(tmp_path, f"--- lib/loading.py\n{code}--- train.py{COPY_USER}")
    assert linked.loader().kind.seeds_numpy == seeds


def test_the_default_collate_of_a_copied_loader_is_its_own(tmp_path: Path) -> None:
    code = textwrap.dedent(COPIES["a copy of torch's"][0])
    linked = link(tmp_path, f"--- lib/loading.py\n{code}--- train.py{COPY_USER}")
    assert linked.loader().argument("collate_fn").unknown is not None


def test_parts_are_told_apart(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
def stack(batch): return batch
def init(worker_id): return seed(worker_id)
def seed(n): return n
class Sampler:
    def __iter__(self): return iter([1])
loader = DataLoader(D(), sampler=Sampler(), num_workers=2, collate_fn=stack, worker_init_fn=init)
""",
    )
    parts = {linked.model.label(f): set(r.loaders) for f, r in linked.model.reached.items()}
    assert parts == {"D.__getitem__": {"sample"}, "stack": {"collate"}, "init": {"init"}, "seed": {"init"}}


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ("Dataset", ["E.__getitem__", "E.__getitems__"]),
        ("torch.utils.data.IterableDataset", ["E.__iter__", "E.__next__"]),
        ("D", ["E.__getitem__", "E.__getitems__"]),
        ("object", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("Dataset, somewhere.Mixin", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("Dataset, globals()['Mixin']", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
        ("litdata.StreamingDataset", ["E.__getitem__", "E.__getitems__", "E.__iter__", "E.__next__"]),
    ],
)
def test_torchs_base_says_which_methods_workers_call(tmp_path: Path, bases: str, expected: list[str]) -> None:
    """A library may call an item of its own iterator, as litdata does; torch's bases call nothing."""
    linked = link(
        tmp_path,
        HEAD
        + f"""
import litdata, torch
from elsewhere import somewhere
class E({bases}):
    def __getitem__(self, index): return index
    def __getitems__(self, indices): return indices
    def __iter__(self): return self
    def __next__(self): return 1
loader = DataLoader(E(), num_workers=2)
""",
    )
    assert linked.reached("loader") == expected


def test_a_method_and_a_partial_can_be_collate_functions(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class E(D):
    def collate(self, batch): return batch
def pad(batch, by): return batch
e = E()
loader = DataLoader(e, num_workers=2, collate_fn=e.collate)
other = DataLoader(e, num_workers=2, collate_fn=functools.partial(pad, by=1))
""",
    )
    assert linked.reached("loader") == ["E.__getitem__", "E.collate"]
    assert linked.reached("other") == ["E.__getitem__", "pad"]


def test_a_function_that_makes_loaders_makes_one_a_caller(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class E(D): pass
def make(ds, n):
    loader = DataLoader(ds, num_workers=n)
    return loader
make(D(), 0)
make(E(), 4)
""",
    )
    found = sorted((one.workers_text, len(one.datasets)) for one in linked.model.loaders)
    assert found == [("num_workers=0", 1), ("num_workers=4", 1)]


#: A dataset class and the call that creates an object of it, then whether the loader gets one.
CONSTRUCTED = {
    "an argument is missing": ("class E(D):\n    def __init__(self, n, path): pass", "E(n=3)", False),
    "a keyword that it does not have": ("class E(D):\n    def __init__(self, n): pass", "E(3, path='')", False),
    "one argument too many": ("class E(D):\n    def __init__(self, n): pass", "E(3, '')", False),
    "a keyword-only argument by position": ("class E(D):\n    def __init__(self, *, n): pass", "E(3)", False),
    "in a Subset": ("class E(D):\n    def __init__(self, n): pass", "torch.utils.data.Subset(E(), [0])", False),
    "a base class has the constructor": (
        "class B(D):\n    def __init__(self, n): pass\nclass E(B): pass",
        "E()",
        False,
    ),
    "a default": ("class E(D):\n    def __init__(self, n, path=''): pass", "E(n=3)", True),
    "other keywords": ("class E(D):\n    def __init__(self, n, **more): pass", "E(3, path='')", True),
    "arguments of a list": ("class E(D):\n    def __init__(self, n, path): pass", "E(*load())", True),
    "arguments of a dict": ("class E(D):\n    def __init__(self, n, path): pass", "E(n=3, **load())", True),
    "a decorator of the constructor": (
        "from company import configured\nclass E(D):\n    @configured\n    def __init__(self, n): pass",
        "E()",
        True,
    ),
    "a decorator of the class": (
        "from company import configured\n@configured\nclass E(D):\n    def __init__(self, n): pass",
        "E()",
        True,
    ),
    "a decorator of the base class": (
        "from company import configured\n@configured\nclass B(D):\n    def __init__(self, n): pass\nclass E(B): pass",
        "E()",
        True,
    ),
    "a dataclass": ("@dataclass\nclass E(D):\n    n: int\n    path: str = ''", "E(3)", True),
    "a metaclass": (
        "from company import Configured\nclass E(D, metaclass=Configured):\n    def __init__(self, n): pass",
        "E()",
        True,
    ),
    "an unknown base class": (
        "from company import Configured\nclass E(Configured, D):\n    def __init__(self, n): pass",
        "E()",
        True,
    ),
    "__new__": (
        "class E(D):\n    def __new__(cls): return C(1)\n    def __init__(self, n): pass",
        "E()",
        True,
    ),
    "one of two constructors": (
        "import sys\nclass E(D):\n    if sys.version_info > (3, 12):\n        def __init__(self): pass\n"
        "    else:\n        def __init__(self, n): pass",
        "E()",
        True,
    ),
    "None has no items": ("class E(D):\n    def __init__(self, n=None): self.n = n[0]", "E()", False),
    "None has no length": ("class E(D):\n    def __init__(self, n): self.n = len(n)", "E(None)", False),
    "None has no attributes": ("class E(D):\n    def __init__(self, n=None): self.n = n.shape", "E()", False),
    "None cannot be unpacked": ("class E(D):\n    def __init__(self, n=None): self.a, self.b = n", "E()", False),
    "None is not iterated over": (
        "class E(D):\n    def __init__(self, n=None):\n        for one in n: print(one)",
        "E()",
        False,
    ),
    "None in a comprehension": ("class E(D):\n    def __init__(self, n=None): self.n = [1 for _ in n]", "E()", False),
    "a value instead of None": ("class E(D):\n    def __init__(self, n=None): self.n = n[0]", "E([1])", True),
    "a default with items": ("class E(D):\n    def __init__(self, n=(1,)): self.n = n[0]", "E()", True),
    "None is replaced": (
        "class E(D):\n    def __init__(self, n=None):\n        if n is None: n = (1,)\n        self.n = n[0]",
        "E()",
        True,
    ),
    "None is tested": ("class E(D):\n    def __init__(self, n=None): self.n = n[0] if n else 0", "E()", True),
    "None is left by": (
        "class E(D):\n    def __init__(self, n=None):\n        if n is None: return\n        self.n = n[0]",
        "E()",
        True,
    ),
    "None is caught": (
        "class E(D):\n    def __init__(self, n=None):\n        try: self.n = n[0]\n        except TypeError: pass",
        "E()",
        True,
    ),
    "None is used later": ("class E(D):\n    def __init__(self, n=None): self.n = lambda: n[0]", "E()", True),
    "what a dict passes instead of None": (
        "class E(D):\n    def __init__(self, n=None): self.n = n[0]",
        "E(**load())",
        True,
    ),
    "the rest of a partial": (
        "class E(D):\n    def __init__(self, n, path): pass\nmake = functools.partial(E, path='')",
        "make(3)",
        True,
    ),
}


@pytest.mark.parametrize("way", CONSTRUCTED)
def test_a_call_that_the_constructor_does_not_accept_makes_no_dataset(way: str, tmp_path: Path) -> None:
    """It raises TypeError before the loader exists."""
    code, call, made = CONSTRUCTED[way]
    linked = link(tmp_path, f"{HEAD}{code}\nloader = DataLoader({call}, num_workers=2)\n")
    assert linked.datasets() == ["E"] * made
    assert linked.reached("loader") == (["E.__getitem__"] if made else [])
    assert not linked.loader().late


def test_the_other_dataset_of_a_refused_call_is_made(tmp_path: Path) -> None:
    code = "class E(D):\n    def __init__(self, n): pass\ndata = E() if load() else D()\n"
    linked = link(tmp_path, f"{HEAD}{code}loader = DataLoader(data, num_workers=2)\n")
    assert linked.datasets() == ["D"]


def test_a_late_bound_dataset_is_possible_and_says_why(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
class Unused(Dataset):
    def __getitem__(self, i): return i
REGISTRY = {}
loader = DataLoader(REGISTRY[input()](), num_workers=2)
certain = DataLoader(D(), num_workers=2)
""",
    )
    assert linked.loader().late
    assert linked.guessed() == ["Unused.__getitem__"]


def test_a_dataset_without_a_loader_in_sight_is_possible(tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD)
    assert linked.guessed() == ["D.__getitem__"]
    assert [one.out_of_sight for one in linked.model.loaders] == [True]


def test_a_dataset_made_for_something_else_is_nobodys(tmp_path: Path) -> None:
    linked = link(tmp_path, HEAD + "first = D()[0]\n")
    assert linked.reached() == []


def test_the_chain_leads_from_the_loader_to_the_line(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        """
        --- data.py
        from torch.utils.data import Dataset
        from ops import crop
        class D(Dataset):
            def __getitem__(self, i): return crop(i)
        --- ops.py
        def crop(x): return box(x)
        def box(x): return x
        --- train.py
        from torch.utils.data import DataLoader
        from data import D
        train_loader = DataLoader(D(), num_workers=4)
        """,
    )
    (frame,) = [f for f in linked.model.reached if linked.model.label(f) == "box"]
    exposure = linked.model.exposure(frame, 1)
    assert exposure is not None and exposure.certainty == "proven"
    first, *rest = [e.message for e in linked.model.why(frame, exposure)]
    assert first == "runs in the workers of `train_loader` in train.py (num_workers=4): D.__getitem__ > crop > box"
    assert rest == ["D.__getitem__ calls crop", "crop calls box"]


@pytest.mark.parametrize(
    ("argument", "environment", "expected"),
    [
        ("", Environment(), {"fork"}),
        ("", Environment(python=version_set("3.14", "")), {"forkserver"}),
        ("", Environment(platforms=("linux", "windows")), {"fork", "spawn"}),
        ("", Environment(start_method="spawn"), {"spawn"}),
        (", multiprocessing_context='forkserver'", Environment(), {"forkserver"}),
        (", multiprocessing_context=mp.get_context('spawn')", Environment(start_method="fork"), {"spawn"}),
    ],
)
def test_start_methods(argument: str, environment: Environment, expected: set[str], tmp_path: Path) -> None:
    code = f"import multiprocessing as mp\n{HEAD}\nloader = DataLoader(D(), num_workers=2{argument})\n"
    linked = link(tmp_path, code, environment)
    assert linked.model.start_methods.of(linked.loader()) == expected


def test_set_start_method_counts_where_no_setting_does(tmp_path: Path) -> None:
    code = (
        f"import multiprocessing as mp\n{HEAD}\nmp.set_start_method('spawn')\nloader = DataLoader(D(), num_workers=2)\n"
    )
    linked = link(tmp_path, code)
    assert linked.model.start_methods.of(linked.loader()) == {"spawn"}


#: Statements of a program that set the start method in a `try`, and what its workers start by.
TRIES: dict[str, set[str]] = {
    "try:\n    mp.set_start_method('spawn', force=True)\nexcept RuntimeError:\n    print('set')": {"spawn"},
    "try:\n    import os\n    mp.set_start_method('spawn')\nexcept RuntimeError:\n    pass": {"spawn"},
    "if __name__ == '__main__':\n    try:\n        mp.set_start_method('spawn')\n    except:\n        pass": {"spawn"},
    "def main():\n    try:\n        mp.set_start_method('spawn')\n    except Exception:\n        pass": {"spawn"},
    "try:\n    mp.set_start_method('forkserver')\nexcept RuntimeError:\n    pass": {"forkserver"},
    "with quiet():\n    mp.set_start_method('spawn')": {"spawn"},
    # another way out
    "try:\n    load()\n    mp.set_start_method('spawn')\nexcept RuntimeError:\n    pass": {"fork", "spawn"},
    "try:\n    load()\nexcept RuntimeError:\n    mp.set_start_method('spawn')": {"fork", "spawn"},
    "try:\n    mp.set_start_method('spawn')\nexcept RuntimeError:\n    mp.set_start_method('forkserver', force=True)": {
        "fork",
        "forkserver",
        "spawn",
    },
    "try:\n    mp.set_start_method('forkserver')\nexcept (RuntimeError, ValueError):\n    pass": {"fork", "forkserver"},
    "try:\n    mp.set_start_method('forkserver')\nexcept:\n    pass": {"fork", "forkserver"},
    # another call may come first
    "mp.set_start_method('fork')\ntry:\n    mp.set_start_method('spawn')\nexcept RuntimeError:\n    pass": {"fork"},
    "def f():\n    mp.set_start_method('fork')\ntry:\n    mp.set_start_method('spawn')\nexcept:\n    pass": {
        "fork",
        "spawn",
    },
}


@pytest.mark.parametrize("code", TRIES)
def test_a_start_method_that_is_set_in_a_try(code: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"import multiprocessing as mp\n{HEAD}\n{code}\nloader = DataLoader(D(), num_workers=2)\n")
    assert linked.model.start_methods.of(linked.loader()) == TRIES[code]


#: Statements of a function before its loader with `workers` workers, and what they start by.
IN_ITS_FUNCTION: dict[str, set[str]] = {
    "mp.set_start_method('fork', force=True)": {"fork"},
    "try: mp.set_start_method('fork', force=True)\n    except RuntimeError: pass": {"fork"},
    "if workers: mp.set_start_method('fork')": {"fork"},
    "if workers > 0:\n        try: mp.set_start_method('fork', True)\n        except RuntimeError: pass": {"fork"},
    "if workers >= 1: mp.set_start_method('fork', force=True)": {"fork"},
    "mp.set_start_method('forkserver')\n    mp.set_start_method('fork', force=True)": {"fork"},
    "try: mp.set_start_method('fork')\n    except RuntimeError: pass": {"fork"},
    # on the way to another method, or to none
    "try: mp.set_start_method('fork', force=True)\n    except Exception: pass": {"fork", "spawn"},
    "try: mp.set_start_method('fork', force=True)\n    except (RuntimeError, ValueError): pass": {"fork", "spawn"},
    "if sys.platform == 'linux': mp.set_start_method('fork', force=True)": {"fork", "spawn"},
    "if workers > 4: mp.set_start_method('fork', force=True)": {"fork", "spawn"},
    "if not workers: mp.set_start_method('fork', force=True)": {"fork", "spawn"},
    "if others > 0: mp.set_start_method('fork', force=True)": {"fork", "spawn"},
    "loader = None\n    def later(): mp.set_start_method('fork', force=True)": {"fork", "spawn"},
}


@pytest.mark.parametrize("passed", ["num_workers=workers", "**options"])
@pytest.mark.parametrize("code", IN_ITS_FUNCTION)
def test_a_start_method_that_is_set_in_the_function_of_the_loader(code: str, passed: str, tmp_path: Path) -> None:
    made = f"def load(workers, others):\n    {code}\n    options = dict(num_workers=workers)\n"
    made += f"    loader = DataLoader(D(), {passed})\n    return loader\nload(2, 2)\n"
    linked = link(tmp_path, f"import multiprocessing as mp, sys\n{HEAD}\n{made}", Environment(platforms=("macos",)))
    assert linked.model.start_methods.of(linked.loader()) == IN_ITS_FUNCTION[code]


#: A function `init` of another module, with what the program does before its loader, and how its workers start.
IN_A_CALLED_FUNCTION: dict[tuple[str, str], set[str]] = {
    ("mp.set_start_method('spawn')", "init()"): {"spawn"},
    ("mp.set_start_method('spawn')", "if __name__ == '__main__':\n    init()"): {"spawn"},
    ("mp.set_start_method('spawn')", "def first():\n    init()\nfirst()"): {"spawn"},
    ("try: mp.set_start_method('spawn')\n    except RuntimeError: pass", "init()"): {"spawn"},
    ("mp.set_start_method('spawn')", "class A:\n    def __init__(self): init()\nA()"): {"spawn"},
    # it may not run
    ("mp.set_start_method('spawn')", "class A:\n    def __init__(self): init()\nprint(A)"): {"fork", "spawn"},
    ("mp.set_start_method('spawn')", "class A:\n    def run(self): init()\nA()"): {"fork", "spawn"},
    ("mp.set_start_method('spawn')", "print(init)"): {"fork", "spawn"},
    ("mp.set_start_method('spawn')", "if load(): init()"): {"fork", "spawn"},
    ("if load(): mp.set_start_method('spawn')", "init()"): {"fork", "spawn"},
    ("mp.set_start_method('spawn')", "for one in (init, load): one()"): {"fork", "spawn"},
    ("yield\n    mp.set_start_method('spawn')", "init()"): {"fork", "spawn"},
    ("mp.set_start_method('spawn')", "mp.set_start_method('fork')\ntry: init()\nexcept RuntimeError: pass"): {"fork"},
}


@pytest.mark.parametrize(("setting", "program"), IN_A_CALLED_FUNCTION)
def test_a_start_method_that_a_called_function_sets(setting: str, program: str, tmp_path: Path) -> None:
    (tmp_path / "setup_code.py").write_text(f"import multiprocessing as mp\ndef init():\n    {setting}\n")
    code = f"import multiprocessing as mp\nfrom setup_code import init\n{HEAD}\n{program}\n"
    linked = link(tmp_path, f"{code}loader = DataLoader(D(), num_workers=2)\n")
    assert linked.model.start_methods.of(linked.loader()) == IN_A_CALLED_FUNCTION[setting, program]


def test_a_start_method_that_is_set_after_the_loader(tmp_path: Path) -> None:
    """The loader may have started its workers before."""
    made = "def load():\n    loader = DataLoader(D(), num_workers=2)\n    mp.set_start_method('fork', True)\n"
    code = f"import multiprocessing as mp\n{HEAD}\n{made}    return loader\nload()\n"
    linked = link(tmp_path, code, Environment(platforms=("macos",)))
    assert linked.model.start_methods.of(linked.loader()) == {"fork", "spawn"}


def test_a_start_method_that_may_be_set_is_one_of_several(tmp_path: Path) -> None:
    code = (
        f"import multiprocessing as mp\n{HEAD}\ndef init_dist():\n    if mp.get_start_method() is None:\n"
        "        mp.set_start_method('spawn')\nloader = DataLoader(D(), num_workers=2)\n"
    )
    linked = link(tmp_path, code)
    assert linked.model.start_methods.of(linked.loader()) == {"fork", "spawn"}


def test_a_subclass_that_nobody_creates_makes_no_dataset_known(tmp_path: Path) -> None:
    """The base class takes its dataset out of a registry, for its subclasses too: it stays unknown."""
    code = """
    from torch.utils.data import DataLoader

    KINDS = {}

    class Trainer:
        def __init__(self, kind):
            self.kind = kind

        def loader(self):
            return DataLoader(KINDS[self.kind](), num_workers=2)

    class SlowTrainer(Trainer):
        pass
    """
    (loader,) = link(tmp_path, code).model.loaders
    assert not loader.datasets
    assert loader.late


def test_a_loop_over_a_dict_goes_over_the_loaders_that_are_there(tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + """
def again(loaders):
    for name, one in loaders.items():
        loader = DataLoader(one.dataset, num_workers=one.num_workers)
def main():
    loaders = {}
    for name in ("train", "test"):
        loaders[name] = DataLoader(D(), num_workers=0)
    again(loaders)
""",
    )
    assert linked.loader().has_workers() == "no"


@pytest.mark.parametrize(("separator", "answer"), [('"+"', "yes"), ('""', "maybe"), ("", "maybe"), ("sign", "maybe")])
def test_an_option_is_split_at_a_constant(separator: str, answer: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        HEAD
        + f"""
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--sizes", default="2+4")
args = parser.parse_args()
args.sizes = args.sizes.split({separator})
for size in args.sizes:
    loader = DataLoader(D(), num_workers=int(size))
""",
    )
    assert linked.loader().has_workers() == answer
