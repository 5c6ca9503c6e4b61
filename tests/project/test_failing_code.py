"""Loaders that no program gets to, because an import or a call before them always fails, and programs that may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loaderlint.project.loaders.failing_code import _may_import
from tests.project.linking import link

#: The loader of another program, without which nothing is unused.
OTHER = "--- other.py\nfrom torch.utils.data import DataLoader\nother = DataLoader(range(9), num_workers=4)\n"
HEAD = "--- train.py\nfrom torch.utils.data import DataLoader\n"
LOADER = "loader = DataLoader(range(9), num_workers=4)\n"
DATA = "--- data.py\nclass Crops: ...\n"
#: So many lines that the block around them is cut into its statements.
LONG = "    x = 1\n" * 40
LOAD = "def load(config, folder): ...\n"
PARSER = "import argparse\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\n"
NEEDY = (
    "class Rows:\n    def __init__(self, path=None):\n        if path is None:\n            raise ValueError\n"
    "        self.path = path\n"
)
TRAINER = "class Trainer:\n    def fit(self): ...\n    def validate(self):\n        " + LOADER
#: A program that finds its modules in a folder beside its own.
KEPT = (
    HEAD.replace("train.py", "rows/bin/train.py")
    + "import os, sys\nsys.path.append(os.environ['HOME'] + FOLDER)\nfrom data import Tiles\n"
    + LOADER
    + DATA.replace("data.py", "rows/data.py")
)
PAIR = "from mine import pair\n"

#: Programs that never create `loader`.
NEVER = {
    "a name that nothing binds": HEAD + "rows = Tiles(9)\n" + LOADER,
    "such a name in a function": (
        HEAD
        + "def main():\n    options = parse_options()\n    loader = DataLoader(range(9), num_workers=options)\nmain()\n"
    ),
    "one that a test reads": HEAD + "if is_ready and print():\n    pass\n" + LOADER,
    "one that a star import of the project does not bring": (
        HEAD + "from data import *\nrows = Tiles(9)\n" + LOADER + DATA
    ),
    "one that is a local of another function": HEAD + "def load():\n    tiles = 1\nprint(tiles)\n" + LOADER,
    "an import of a missing name": HEAD + "from data import Tiles\n" + LOADER + DATA,
    "one beside a name that is there": HEAD + "from data import Crops, Tiles\n" + LOADER + DATA,
    "one of a module that looks at its options": (
        HEAD + "from data import Tiles\n" + LOADER + DATA + "def show(args):\n    print(vars(args), args.__dict__)\n"
        "    executor = setattr(self, 'x', 1)\n"
    ),
    "an import of a missing module of a package": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- pack/data.py\n"
    ),
    "of a missing name of a package": HEAD + "from data import tiles\n" + LOADER + "--- data/__init__.py\nrows = 1\n",
    "of a missing module of a folder": HEAD + "from data import tiles\n" + LOADER + "--- data/rows.py\n",
    "a relative one of a missing module beside": (
        "--- pack/train.py\nfrom torch.utils.data import DataLoader\nfrom . import tiles\n" + LOADER
    ),
    "of a name that star imports do not bring": (
        HEAD
        + "from data import Tiles\n"
        + LOADER
        + "--- data.py\nfrom rows import *\n--- rows.py\nfrom data import *\n"
    ),
    "of a module that looks at names of another": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nimport rows\nall = {**rows.__dict__}\n--- rows.py\n"
    ),
    "one beside a folder of the project that is added to the path": (
        HEAD
        + "import os, sys\nsys.path.append(os.path.dirname(os.path.abspath(__file__)))\nfrom pack.tiles import Tiles\n"
        + LOADER
        + "--- pack/__init__.py\n"
    ),
    "one beside the parent's folder that another file adds": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- start.py\nimport sys\n"
        "sys.path.append('..')\nimport train\n"
    ),
    "of a missing package in one": HEAD + "from pack.more.tiles import Tiles\n" + LOADER + "--- pack/data.py\n",
    "a relative one of a missing module": (
        "--- pack/__init__.py\n--- pack/train.py\nfrom torch.utils.data import DataLoader\nfrom .tiles import Tiles\n"
        + LOADER
    ),
    "a relative one": (
        "--- pack/__init__.py\n--- pack/data.py\nclass Crops: ...\n"
        "--- pack/train.py\nfrom torch.utils.data import DataLoader\nfrom .data import Tiles\n" + LOADER
    ),
    "one in a function": (
        HEAD
        + "def main():\n    from data import Tiles\n    loader = DataLoader(Tiles(), num_workers=4)\nmain()\n"
        + DATA
    ),
    "one of a module that another import needs": (
        HEAD + "import steps\n" + LOADER + "--- steps.py\nfrom data import Tiles\n" + DATA
    ),
    "a star import of a module that needs one": (
        HEAD + "from steps import *\n" + LOADER + "--- steps.py\nfrom data import Tiles\n" + DATA
    ),
    "a function after it": HEAD + "from data import Tiles\ndef make():\n    " + LOADER + "make()\n" + DATA,
    "a function that only such a script calls": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- train.py\nfrom data import Tiles\nfrom tools import make\nmake()\n"
        + DATA
    ),
    "the method of an object that such a script creates": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\nclass Tools:\n    def make(self):\n        "
        + LOADER
        + "--- train.py\nfrom data import Tiles\nfrom tools import Tools\nTools().make()\n"
        + DATA
    ),
    "an exception": HEAD + "raise RuntimeError('not finished')\n" + LOADER,
    "an assertion": HEAD + "assert False, 'not finished'\n" + LOADER,
    "the end of the process": HEAD + "import sys\nsys.exit()\n" + LOADER,
    "the end in a function": HEAD + "def main():\n    exit(1)\n    " + LOADER + "main()\n",
    "a module that ends at once": HEAD + "import data\n" + LOADER + "--- data.py\nraise SystemExit\n",
    "a call without a required argument": HEAD + LOAD + "rows = load('in')\n" + LOADER,
    "with an unknown keyword": HEAD + LOAD + "rows = load(1, 'in', fast=True)\n" + LOADER,
    "with an unknown keyword beside **kwargs": HEAD + LOAD + "rows = load(fast=True, **pair())\n" + LOADER,
    "with too many arguments before *args": HEAD + LOAD + "rows = load(1, 'in', 2, *pair())\n" + LOADER,
    "with too many arguments": HEAD + LOAD + "rows = load(1, 'in', 2)\n" + LOADER,
    "of a function of another module": (
        HEAD + "import data\nrows = data.load('in')\n" + LOADER + "--- data.py\n" + LOAD
    ),
    "in a function": HEAD + LOAD + "def main():\n    rows = load('in')\n    " + LOADER + "main()\n",
    "before a loop": (
        HEAD + LOAD + "def main():\n    rows = load('in')\n    for _ in range(3):\n        " + LOADER + "main()\n"
    ),
    "in the branch of the loader": (
        HEAD + LOAD + "def main(fast):\n    if fast:\n        rows = load('in')\n        " + LOADER + "main(True)\n"
    ),
    "under the main guard": (HEAD + LOAD + "if __name__ == '__main__':\n    rows = load('in')\n    " + LOADER),
    "of a class": (HEAD + "class Rows:\n    def __init__(self, folder): ...\nrows = Rows()\n" + LOADER),
    "of a class that inherits its __init__": (
        HEAD + "class Rows:\n    def __init__(self, folder): ...\nclass Tiles(Rows): ...\nrows = Tiles()\n" + LOADER
    ),
    "of a method through its class": (
        HEAD + "class Rows:\n    def load(self, folder): ...\nRows.load('in')\n" + LOADER
    ),
    "in a long block": HEAD + LOAD + "if __name__ == '__main__':\n    rows = load('in')\n" + LONG + "    " + LOADER,
    "of a data module": (
        HEAD + "import lightning as L\nclass Data(L.LightningDataModule):\n    def __init__(self, folder): ...\n"
        "    def train_dataloader(self):\n        " + LOADER + "        return loader\n"
        "Data(root='in').train_dataloader()\n"
    ),
    "before the call of the function that creates it": (
        HEAD + LOAD + "def make():\n    " + LOADER + "def look():\n    load('in')\n    make()\nlook()\n"
    ),
    "a call of a function that always raises": (
        HEAD + "def check(x):\n    x += 1\n    raise RuntimeError(x)\ncheck(1)\n" + LOADER
    ),
    "of one that calls such a function": (
        HEAD + "def stop():\n    raise SystemExit\ndef check():\n    stop()\n    return 1\ncheck()\n" + LOADER
    ),
    "of one in another module": (
        HEAD + "import data\nrows = data.load('in')\n" + LOADER + "--- data.py\n"
        "def load(folder):\n    raise DeprecationWarning('moved')\n    return folder\n"
    ),
    "of one beside a program with a main guard, though another folder has such a module": (
        HEAD
        + "from data import load\ndef main():\n    load('in')\n    "
        + LOADER
        + "if __name__ == '__main__':\n    main()\n--- data.py\n"
        + LOAD
        + "--- old/data.py\ndef load(config): ...\n"
    ),
    "the method of an object whose constructor fails": (
        HEAD
        + "class Tools:\n    def __init__(self):\n        self.rows = parse_rows(9)\n    def make(self):\n        "
        + LOADER
        + "Tools().make()\n"
    ),
    "of one in a package that has another module of this name": (
        HEAD + "from pack import io\nrows = io.load('in')\n" + LOADER + "--- pack/__init__.py\n"
        "--- pack/io.py\ndef load(folder):\n    raise RuntimeError\n"
        "--- pack/more/__init__.py\n--- pack/more/io.py\ndef load(folder): ...\n"
    ),
    "a loop without an end": HEAD + "import time\nwhile True:\n    time.sleep(3)\n" + LOADER,
    "such a loop under the main guard": (
        HEAD + "import time\nif __name__ == '__main__':\n    while 1:\n        time.sleep(3)\n" + LONG + "    " + LOADER
    ),
    "an import of a file that is not there from the tests of Python": HEAD + "from test import evaluate\n" + LOADER,
    "an option that no parser declares": HEAD + PARSER + "print(args.folder)\n" + LOADER,
    "one in the call of the function that creates it": (
        HEAD + PARSER + "def train(folder):\n    " + LOADER + "train(folder=args.folder)\n"
    ),
    "one that a function reads": (HEAD + PARSER + "def main():\n    print(args.folder)\n    " + LOADER + "main()\n"),
    "one of an argument": (
        HEAD + PARSER + "def main(options):\n    print(options.folder)\n    " + LOADER + "main(args)\n"
    ),
    "one of a function that parses": (
        HEAD + "import argparse\ndef parse():\n    parser = argparse.ArgumentParser()\n    return parser.parse_args()\n"
        "def main():\n    args = parse()\n    print(args.folder)\n    " + LOADER + "main()\n"
    ),
    "an option in a project that makes folders": (
        HEAD + PARSER + "from pathlib import Path\nPath('out').mkdir(parents=True)\nparser.set_defaults(lr=1)\n"
        "print(args.folder)\n" + LOADER
    ),
    "an exception in the branch that always runs": (
        HEAD
        + PARSER
        + "def main():\n    if args == 'train':\n        rows = 1\n    elif args == 'test':\n        rows = 2\n"
        + "    else:\n        raise ValueError(args)\n    "
        + LOADER
        + "main()\n"
    ),
    "one beside the project's folder, wherever somebody keeps it": KEPT.replace("FOLDER", "'/mine/rows/'"),
    "a constructor that fails without an argument": (
        HEAD + NEEDY + "def main():\n    rows = Rows()\n    " + LOADER + "main()\n"
    ),
    "a function that fails with these arguments": (
        HEAD + "def check(kind):\n    if kind == 'old':\n        return\n    raise NotImplementedError(kind)\n"
        "def main():\n    check('new')\n    " + LOADER + "main()\n"
    ),
    "the method of an object whose constructor fails with its arguments": (
        HEAD + NEEDY + "    def make(self):\n        " + LOADER + "Rows().make()\n"
    ),
    "an option with which another one begins": (
        HEAD + PARSER.replace("args =", "parser.add_argument('--folders')\nargs =") + "print(args.folder)\n" + LOADER
    ),
    "a method that nothing calls": HEAD + TRAINER + "Trainer().fit()\n",
    "one that is called on another object only": (
        HEAD + TRAINER + "class Model:\n    def validate(self): ...\nTrainer().fit()\nModel().validate()\n"
    ),
    "one that has the name of a mode": HEAD
    + TRAINER
    + "Trainer().fit()\n--- run.py\ndef run(mode='validate'): ...\nrun()\n",
    "a function that only test.py calls, in a function that nothing calls": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- test.py\nfrom tools import make\ndef test_make():\n    make()\n"
    ),
    "a function with the name of a method that is called": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef fit():\n    "
        + LOADER
        + "--- train.py\ndef run(model, mode='fit'):\n    model.fit()\n"
    ),
    "a call of a function of a module with a library's name, in a package": (
        HEAD + "from pack.datasets import load\nrows = load('in')\n" + LOADER + "--- pack/datasets.py\n" + LOAD
    ),
    "of one beside, by a relative import": (
        "--- pack/train.py\nfrom torch.utils.data import DataLoader\nfrom .datasets import load\nrows = load('in')\n"
        + LOADER
        + "--- pack/datasets.py\n"
        + LOAD
    ),
    "of one that a package passes on": (
        HEAD
        + "from pack import load\nrows = load('in')\n"
        + LOADER
        + "--- pack/__init__.py\nfrom .datasets import load\n--- pack/datasets.py\n"
        + LOAD
    ),
    "an import of a missing name, where another program adds folders": (
        HEAD
        + "from data import Tiles\n"
        + LOADER
        + DATA
        + "--- tools/show.py\nimport sys\nsys.path.append('/data/rows')\nimport rows\n"
    ),
    "a call of such a function that the caller imports itself": (
        HEAD
        + "def main():\n    from pack.datasets import load\n    rows = load('in')\n    "
        + LOADER
        + "main()\n--- pack/datasets.py\n"
        + LOAD
    ),
}

#: Programs that may create `loader`.
MAYBE = {
    "an import beside a folder that is not the project's": KEPT.replace("FOLDER", "'/mine/tiles'"),
    "an import beside a folder whose name is not written": KEPT.replace("FOLDER", "os.environ['rows']"),
    "a constructor that fails without an argument, which it gets": (
        HEAD + NEEDY + "def main(path):\n    rows = Rows(path)\n    " + LOADER + "main('rows')\n"
    ),
    "one whose failure is caught": (
        HEAD
        + NEEDY
        + "def main():\n    try:\n        rows = Rows()\n    except ValueError:\n        rows = []\n    "
        + LOADER
        + "main()\n"
    ),
    "a function that returns before it fails": (
        HEAD + "def check(kind=None):\n    if kind is None:\n        return\n    raise NotImplementedError(kind)\n"
        "def main():\n    check()\n    " + LOADER + "main()\n"
    ),
    "a function that may return in a loop": (
        HEAD
        + "def first(rows):\n    for row in rows:\n        return row\n    raise LookupError\n"
        + "def main():\n    first([1])\n    "
        + LOADER
        + "main()\n"
    ),
    "a constructor that another module may stand for": (
        HEAD
        + "import io_rows\ndef main():\n    rows = io_rows.Rows()\n    "
        + LOADER
        + "main()\n--- io_rows.py\n"
        + NEEDY
        + "--- lib/io_rows.py\nclass Rows: ...\n"
    ),
    "a function that fails in some calls": (
        HEAD + "def check(kind):\n    if kind == 'old':\n        raise NotImplementedError(kind)\n"
        "def main(kind):\n    check(kind)\n    " + LOADER + "import sys\nmain(sys.argv[1])\n"
    ),
    "an option that a text names among others": (
        HEAD + PARSER + "for name in 'size, folder'.split(', '):\n    args.__setattr__(name, 1)\n"
        "print(args.folder)\n" + LOADER
    ),
    "a method that is called on something unknown": (
        HEAD + TRAINER + "Trainer().fit()\ndef run(trainer):\n    trainer.validate()\n"
    ),
    "a method that is handed on": HEAD + TRAINER + "from mine import run\nrun(Trainer().validate)\n",
    "one that is looked up by its name": (
        HEAD + TRAINER + "--- run.py\nimport train\nfrom mine import call\ncall(train.Trainer(), 'validate')\n"
    ),
    "one of an object that is a command line": HEAD + TRAINER + "import fire\nfire.Fire(Trainer())\n",
    "one of an object of a library": (
        HEAD + "import lightning\n" + TRAINER.replace("Trainer:", "Trainer(lightning.LightningModule):") + "Trainer()\n"
    ),
    "one in a library that is installed": HEAD + TRAINER + "Trainer().fit()\n--- setup.py\n",
    "a property": HEAD + TRAINER.replace("    def validate", "    @property\n    def validate") + "Trainer().fit()\n",
    "a call of a function that may return": (
        HEAD + "def check(x):\n    if x:\n        return 1\n    raise RuntimeError(x)\ncheck(1)\n" + LOADER
    ),
    "of one that may return in a loop": (
        HEAD
        + "def first(rows):\n    for row in rows:\n        return row\n    raise LookupError\nfirst([1])\n"
        + LOADER
    ),
    "of one that only defines such a function": (
        HEAD + "def check():\n    def stop():\n        raise SystemExit\n    return stop\ncheck()\n" + LOADER
    ),
    "of one that catches it": (
        HEAD
        + "def check():\n    try:\n        raise RuntimeError\n    except RuntimeError:\n        pass\ncheck()\n"
        + LOADER
    ),
    "of a generator that raises": HEAD
    + "def rows():\n    raise RuntimeError\n    yield 1\nall_rows = rows()\n"
    + LOADER,
    "of a function with a decorator": (
        HEAD + "from mine import skipped\n@skipped\ndef check():\n    raise RuntimeError\ncheck()\n" + LOADER
    ),
    "of one beside a module without a main guard, where another folder has such a module": (
        HEAD
        + "from data import load\ndef main():\n    load('in')\n    "
        + LOADER
        + "main()\n--- data.py\n"
        + LOAD
        + "--- old/data.py\ndef load(config): ...\n"
    ),
    "the method of an object whose constructor fails in a branch": (
        HEAD + "class Tools:\n    def __init__(self, rows=None):\n        if rows is None:\n            rows = 1\n"
        "        elif print():\n            rows = parse_rows(9)\n        self.rows = rows\n"
        "    def make(self):\n        " + LOADER + "Tools().make()\n"
    ),
    "of one in a script that may import another module": (
        HEAD
        + "import io_rows\nrows = io_rows.load('in')\n"
        + LOADER
        + "--- io_rows.py\ndef load(folder):\n    raise RuntimeError\n--- lib/io_rows.py\ndef load(folder): ...\n"
    ),
    "a loop that ends": HEAD + "while True:\n    if print():\n        break\n" + LOADER,
    "a loop that an interrupt ends": (
        HEAD + "try:\n    while True:\n        print()\nexcept KeyboardInterrupt:\n    pass\n" + LOADER
    ),
    "an import of the tests of Python": HEAD + "from test import support, test_os, pickletester\n" + LOADER,
    "of the project's own": HEAD + "from test import evaluate\n" + LOADER + "--- test.py\nevaluate = 1\n",
    "an option of a parser": (
        HEAD
        + PARSER.replace("args =", "parser.add_argument('--the-folder')\nargs =")
        + "print(args.the_folder)\n"
        + LOADER
    ),
    "a method of a namespace": HEAD + PARSER + "print(args._get_kwargs())\n" + LOADER,
    "an option with a computed name": (
        HEAD
        + PARSER.replace(
            "args =", "for part in ['in', 'out']:\n    parser.add_argument('--' + part + '-folder')\nargs ="
        )
        + "print(args.in_folder)\n"
        + LOADER
    ),
    "an option with a formatted name": (
        HEAD
        + PARSER.replace("args =", "for part in ['in', 'out']:\n    parser.add_argument(f'--{part}-folder')\nargs =")
        + "print(args.in_folder)\n"
        + LOADER
    ),
    "an option of a parser that is made out of sight": (
        HEAD
        + "import argparse\nfrom mine import make\nplain = argparse.ArgumentParser()\nargs = make().parse_args()\n"
        + "print(args.folder)\n"
        + LOADER
    ),
    "an option with a default": HEAD + PARSER + "parser.set_defaults(folder=1)\nprint(args.folder)\n" + LOADER,
    "an option that is stored": HEAD + PARSER + "args.folder = 1\nprint(args.folder)\n" + LOADER,
    "by its name": HEAD + PARSER + "for key in config:\n    setattr(args, key, 1)\nprint(args.folder)\n" + LOADER,
    "of another parser": (
        HEAD
        + PARSER.replace("Parser()", "Parser(parents=[mine.parser()])").replace("argparse", "argparse, mine", 1)
        + "print(args.folder)\n"
        + LOADER
    ),
    "of a library's parser": HEAD
    + PARSER.replace("args =", "import mine\nmine.add(parser)\nargs =")
    + "print(args.folder)\n"
    + LOADER,
    "an option that code out of sight may store": (
        HEAD + PARSER + "from mine import complete\ncomplete(args)\nprint(args.folder)\n" + LOADER
    ),
    "an option that is read on some ways": HEAD + PARSER + "print(hasattr(args, 'x') and args.folder)\nimport os\n"
    "if os.name == 'nt':\n    print(args.folder)\n" + LOADER,
    "an option that may be missing": (
        HEAD + PARSER + "try:\n    print(args.folder)\nexcept AttributeError:\n    pass\n" + LOADER
    ),
    "an option of a known namespace": HEAD
    + PARSER.replace("parse_args()", "parse_args(namespace=Options())").replace(
        "import", "from mine import Options\nimport", 1
    )
    + "print(args.folder)\n"
    + LOADER,
    "a function that another file looks up": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- train.py\nimport tools\ngetattr(tools, 'make')()\n"
    ),
    "one that its own file looks up": HEAD + "def make():\n    " + LOADER + "globals()['make']()\n",
    "one of a module that an argument is": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- train.py\nimport tools\ndef run(module):\n    module.make()\nrun(tools)\n"
    ),
    "a function that a test calls": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- test_tools.py\nfrom tools import make\ndef test_make():\n    make()\n"
    ),
    "a name that a branch reads": HEAD + "import os\nif os.name == 'nt':\n    rows = Tiles(9)\n" + LOADER,
    "a name that is read on some ways": HEAD + "import os\nrows = os.name == 'nt' and Tiles(9)\n" + LOADER,
    "a name that another module has, beside a star import": (
        HEAD + "from data import *\nrows = Tiles(9)\n" + LOADER + DATA + "--- more/data.py\nTiles = 1\n"
    ),
    "a name of an unknown star import": HEAD + "from mine import *\nrows = Tiles(9)\n" + LOADER,
    "a name that may be missing": HEAD + "try:\n    rows = Tiles(9)\nexcept NameError:\n    rows = 1\n" + LOADER,
    "a name that a function binds": HEAD
    + "def load():\n    global tiles\n    tiles = 1\nload()\nprint(tiles)\n"
    + LOADER,
    "a name that a function says to be global": HEAD + "def load():\n    global tiles\nload()\nprint(tiles)\n" + LOADER,
    "a name that another module stores": HEAD
    + "print(tiles)\n"
    + LOADER
    + "--- data.py\nimport train\ntrain.tiles = 1\n",
    "a name that exec may bind": HEAD + "exec(open('x').read())\nprint(tiles)\n" + LOADER,
    "a builtin of Python 2": HEAD + "print(list(xrange(3)))\n" + LOADER,
    "the beginning of a name": HEAD + "Tiles = list\nrows = Til\nprint(rows)\n" + LOADER,
    "the beginning of a builtin": HEAD + "rows = sor(range(3))\n" + LOADER,
    "a name that a lambda reads": HEAD + "load = lambda: Tiles(9)\nprint(load)\n" + LOADER,
    "a name that is there": HEAD + "from data import Crops\n" + LOADER + DATA,
    "one bound in a branch": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nimport os\nif os.name == 'nt':\n    Tiles = 1\n"
    ),
    "one that a function binds": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\ndef f():\n    global Tiles\n    Tiles = 1\n"
    ),
    "one from a star import": HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nfrom rows import *\n",
    "one from __getattr__": HEAD + "from data import Tiles\n" + LOADER + "--- data.py\ndef __getattr__(name): ...\n",
    "one that is set by its name": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nglobals()['T' + 'iles'] = 1\n"
    ),
    "one that is set through vars": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nimport data\nvars(data)['T' + 'iles'] = 1\n"
    ),
    "one beside an absolute folder that is added to the path": (
        HEAD
        + "import sys\nsys.path.append('/data')\nprint(__file__)\nfrom pack.tiles import Tiles\n"
        + LOADER
        + "--- pack/__init__.py\n"
    ),
    "an exception in a branch": HEAD + "import os\nif os.name == 'nt':\n    raise OSError\n" + LOADER,
    "an assertion of something": HEAD + "import os\nassert os.name == 'nt'\n" + LOADER,
    "an exception that is caught": HEAD + "try:\n    raise OSError\nexcept OSError:\n    pass\n" + LOADER,
    "the end in a function that nobody calls": HEAD + "import sys\ndef stop():\n    sys.exit()\n" + LOADER,
    "the end of the main program": HEAD + "import sys\n" + LOADER + "if __name__ == '__main__':\n    sys.exit()\n",
    "one beside a folder that another file adds": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- start.py\nimport sys\n"
        "sys.path.insert(0, 'third_party')\nimport train\n"
    ),
    "one from a star import of a library": (
        HEAD
        + "from data import Tiles\n"
        + LOADER
        + "--- data.py\nfrom rows import *\n--- rows.py\nfrom more import *\n"
    ),
    "one from a star import of a module": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nfrom rows import *\n--- rows.py\nTiles = 1\n"
    ),
    "one that is set through __dict__": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nimport data\ndata.__dict__['T' + 'iles'] = 1\n"
    ),
    "one that is set by setattr": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nimport data\nsetattr(data, 'T' + 'iles', 1)\n"
    ),
    "one of a module that may be of a library": HEAD + "import tiles\n" + LOADER + DATA,
    "one that is missing beside its source": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- pack/tiles.pyx\n"
    ),
    "one that setup.py builds": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- setup.py\nname = 'pack.tiles'\n"
    ),
    "one that protoc makes": HEAD + "from pack.tiles_pb2 import Tiles\n" + LOADER + "--- pack/__init__.py\n",
    "one that is ignored by git": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- .gitignore\ntiles.py\n--- pack/__init__.py\n"
        "--- pack/tiles.py\nTiles = 1\n"
    ),
    "one that is in another folder too": (
        HEAD + "from pack.tiles import Tiles\n" + LOADER + "--- pack/__init__.py\n--- lib/pack/tiles.py\nTiles = 1\n"
    ),
    "one beside a folder that is added to the path": (
        HEAD
        + "import sys\nfolder = sys.argv[1]\nsys.path.append(folder)\nfrom pack.tiles import Tiles\n"
        + LOADER
        + "--- pack/__init__.py\n"
    ),
    "one that may be missing": (
        HEAD
        + "try:\n    from pack.tiles import Tiles\nexcept ImportError:\n    Tiles = 1\n"
        + LOADER
        + "--- pack/__init__.py\n"
    ),
    "one in a statement that cannot be read": (
        HEAD + "from data import Tiles\n" + LOADER + "--- data.py\nTiles = = 1\n"
    ),
    "a package with the source of an extension": (
        HEAD + "from data import tiles\n" + LOADER + "--- data/__init__.py\n--- data/tiles.pyx\n"
    ),
    "a folder with the source of an extension": (
        HEAD + "from data import tiles\n" + LOADER + "--- data/rows.py\n--- data/tiles.cpp\n"
    ),
    "a package that gets names from a module": (
        HEAD
        + "from data import tiles\n"
        + LOADER
        + "--- data/__init__.py\nfrom .rows import *\n--- data/rows.py\nfrom more import *\n"
    ),
    "a module that may be a library": HEAD + "from datasets import Tiles\n" + LOADER + "--- datasets.py\nCrops = 1\n",
    "a module that may be in another folder": (
        "--- a/train.py\nfrom torch.utils.data import DataLoader\nfrom data import Tiles\n"
        + LOADER
        + "--- a/data.py\nCrops = 1\n--- data.py\nTiles = 1\n"
    ),
    "a changed search path": HEAD
    + "import sys\nsys.path.insert(0, sys.argv[1])\nfrom data import Tiles\n"
    + LOADER
    + DATA,
    "an import that may fail": (
        HEAD + "try:\n    from data import Tiles\nexcept ImportError:\n    pass\n" + LOADER + DATA
    ),
    "a long block of imports that may fail": (
        HEAD + "try:\n    from data import Tiles\n" + LONG + "except ImportError:\n    pass\n" + LOADER + DATA
    ),
    "an import of a module with such a block": (
        HEAD
        + "import steps\n"
        + LOADER
        + "--- steps.py\ntry:\n    from data import Tiles\n"
        + LONG
        + "except ImportError:\n    pass\n"
        + DATA
    ),
    "for type checkers": (
        HEAD + "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from data import Tiles\n" + LOADER + DATA
    ),
    "an import after the loader": HEAD + LOADER + "from data import Tiles\n" + DATA,
    "a function that another script calls too": (
        "--- tools.py\nfrom torch.utils.data import DataLoader\ndef make():\n    "
        + LOADER
        + "--- train.py\nfrom data import Tiles\nfrom tools import make\nmake()\n"
        + "--- test.py\nfrom tools import make\nmake()\n"
        + DATA
    ),
    "a call that fits": HEAD + LOAD + "rows = load(1, folder='in')\n" + LOADER,
    "a default": HEAD + "def load(config, folder='in'): ...\nrows = load(1)\n" + LOADER,
    "*args of the function": HEAD + "def load(config, *rest): ...\nrows = load(1, 2, 3)\n" + LOADER,
    "**kwargs of the function": HEAD + "def load(config, **rest): ...\nrows = load(1, fast=2)\n" + LOADER,
    "*args and **kwargs beside a keyword": HEAD + PAIR + LOAD + "rows = load(*pair(), folder=1, **pair())\n" + LOADER,
    "*args of the call": HEAD + PAIR + LOAD + "rows = load(*pair())\n" + LOADER,
    "**kwargs of the call": HEAD + PAIR + LOAD + "rows = load(**pair())\n" + LOADER,
    "a decorator": HEAD + "from mine import with_config\n@with_config\n" + LOAD + "rows = load('in')\n" + LOADER,
    "one of two definitions": (
        HEAD
        + "import os\nif os.name == 'nt':\n    def load(folder): ...\nelse:\n    "
        + LOAD
        + "rows = load('in')\n"
        + LOADER
    ),
    "a later definition": HEAD + LOAD + "def load(folder): ...\nrows = load('in')\n" + LOADER,
    "a star import after the definition": HEAD + LOAD + "from mine import *\nrows = load('in')\n" + LOADER,
    "a function that is replaced": (
        HEAD + "import data\ndata.load = print\nrows = data.load('in')\n" + LOADER + "--- data.py\n" + LOAD
    ),
    "a module that may be in another folder, with another function": (
        "--- a/train.py\nfrom torch.utils.data import DataLoader\nimport data\nrows = data.load('in')\n"
        + LOADER
        + "--- a/data.py\n"
        + LOAD
        + "--- data.py\ndef load(folder): ...\n"
    ),
    "a function of a module that may be a library": (
        HEAD + "import datasets\nrows = datasets.load('in')\n" + LOADER + "--- datasets.py\n" + LOAD
    ),
    "a function by name, from such a module": (
        HEAD + "from datasets import load\nrows = load('in')\n" + LOADER + "--- datasets.py\n" + LOAD
    ),
    "one of a module of that name in two packages": (
        HEAD
        + "from pack.data import load\nrows = load('in')\n"
        + LOADER
        + "--- pack/data.py\n"
        + LOAD
        + "--- other/pack/data.py\ndef load(folder): ...\n"
    ),
    "partial": (
        HEAD + "from functools import partial\n" + LOAD + "load_in = partial(load, 1)\nrows = load_in('in')\n" + LOADER
    ),
    "a method": (
        HEAD
        + "class Rows:\n    def load(self, folder): ...\nRows().load('in')\nrows = Rows()\nrows.load('in')\n"
        + LOADER
    ),
    "a static method": (HEAD + "class Rows:\n    @staticmethod\n    def load(folder): ...\nRows.load('in')\n" + LOADER),
    "a class method": (
        HEAD + "class Rows:\n    @classmethod\n    def load(cls, folder): ...\nRows.load('in')\n" + LOADER
    ),
    "a dataclass": (
        HEAD
        + "from dataclasses import dataclass\n@dataclass\nclass Rows:\n    folder: str\nrows = Rows('in')\n"
        + LOADER
    ),
    "a NamedTuple": (
        HEAD + "from typing import NamedTuple\nclass Rows(NamedTuple):\n    folder: str\nrows = Rows('in')\n" + LOADER
    ),
    "__new__": (
        HEAD + "class Rows:\n    def __new__(cls): ...\n    def __init__(self, folder): ...\nrows = Rows()\n" + LOADER
    ),
    "an __init__ that is replaced": (
        HEAD + "class Rows:\n    def __init__(self, folder): ...\nRows.__init__ = print\nrows = Rows()\n" + LOADER
    ),
    "a metaclass": (
        HEAD
        + "from mine import Meta\nclass Rows(metaclass=Meta):\n    def __init__(self, folder): ...\nrows = Rows()\n"
        + LOADER
    ),
    "super().__init__": (
        HEAD + "class Rows:\n    def __init__(self, folder): ...\nclass Tiles(Rows):\n"
        "    def __init__(self):\n        super().__init__()\nrows = Tiles()\n" + LOADER
    ),
    "a call that may raise": HEAD + LOAD + "try:\n    rows = load('in')\nexcept TypeError:\n    pass\n" + LOADER,
    "a call in another branch": (
        HEAD + LOAD + "def main(fast):\n    if fast:\n        rows = load('in')\n    " + LOADER + "main(False)\n"
    ),
    "a call after the loader": HEAD + LOAD + "def main():\n    " + LOADER + "    rows = load('in')\nmain()\n",
    "a call that is not reached each time": HEAD + LOAD + "rows = None or load('in')\n" + LOADER,
    "a call of a function that is called elsewhere": HEAD + LOAD + "def look():\n    load('in')\n" + LOADER,
    "a module that the program imports adds folders": (
        HEAD
        + "import tools.show\nfrom data import Tiles\n"
        + LOADER
        + DATA
        + "--- tools/show.py\nimport sys\nsys.path.append('/data/rows')\n"
    ),
    "a package of the same name has the name": (
        HEAD + "from data import Tiles\n" + LOADER + DATA + "--- other/data/__init__.py\nTiles = 1\n"
    ),
}


def _unused(folder: Path, text: str) -> bool:
    return link(folder, text + OTHER).loader().unused


@pytest.mark.parametrize("code", NEVER.values(), ids=NEVER)
def test_no_program_gets_to_the_loader(code: str, tmp_path: Path) -> None:
    assert _unused(tmp_path, code)


@pytest.mark.parametrize("code", MAYBE.values(), ids=MAYBE)
def test_a_program_may_get_to_the_loader(code: str, tmp_path: Path) -> None:
    assert not _unused(tmp_path, code)


#: Cells of notebooks that may create `loader`: each runs by itself, in a folder that another one may have changed.
CELLS = {
    "an import of a missing name of a short module": ("from data import Tiles", LOADER),
    "an import that may fail": ("try:\n    from pack.rows import Tiles\nexcept ImportError:\n    pass", LOADER),
    "an import in a cell further down": (LOADER, "from pack.rows import Tiles"),
    "a name that a cell which is gone has set": ("print(rows)", LOADER),
    "an import after a change of the path": (
        "import sys\nsys.path.insert(0, '/data')\nfrom pack.rows import Tiles",
        LOADER,
    ),
    "a call that fails in another cell": ("def load(folder): ...", "load()", LOADER),
    "an import in a function": ("def main():\n    from data import Tiles\n    " + LOADER, "main()"),
}


#: Cells of notebooks that never create `loader`.
NEVER_CELLS = {
    "an import of a missing name of a package": ("from pack.rows import Tiles", LOADER),
    "an import of a missing module of a package": ("from pack.tiles import Tiles\nimport os", LOADER),
    "beside others": ("import os\nfrom pack.rows import Crops, Tiles", "rows = 1", f"if rows:\n    {LOADER}"),
}
PACK = "--- pack/__init__.py\n--- pack/rows.py\nclass Crops: ...\n"


def _notebook(cells: tuple[str, ...]) -> str:
    sources = ("from torch.utils.data import DataLoader", *cells)
    written = {"cells": [{"cell_type": "code", "source": [one]} for one in sources], "nbformat": 4}
    return f"--- train.ipynb\n{json.dumps(written)}\n"


@pytest.mark.parametrize("cells", CELLS.values(), ids=CELLS)
def test_the_cells_of_a_notebook(cells: tuple[str, ...], tmp_path: Path) -> None:
    assert not _unused(tmp_path, _notebook(cells) + DATA + PACK)


@pytest.mark.parametrize("cells", NEVER_CELLS.values(), ids=NEVER_CELLS)
def test_cells_after_an_import_that_always_fails(cells: tuple[str, ...], tmp_path: Path) -> None:
    assert _unused(tmp_path, _notebook(cells) + DATA + PACK)


def test_nothing_is_unused_where_all_programs_fail(tmp_path: Path) -> None:
    """Whoever mends the import gets the findings."""
    code = HEAD + "from data import Tiles\n" + LOADER + DATA
    assert not link(tmp_path, code).loader().unused


#: What a piece imports, and whether it may be a module of the project.
IMPORTS = {
    "import data": True,
    "import os, data": True,
    "import os; import data as rows": True,
    "try:\n    from data import Crops\nexcept ImportError: pass": True,
    "from .data import Crops": True,
    "from . import data": True,
    "from data.crops import (\n    Crops,\n)": True,
    "from data import *": True,
    "import os": False,
    "from json import dumps": False,
    "import torch.nn as nn, os.path": False,
    "from torch.utils import data": False,
    "important = data": False,
    "def f():\n    import data": False,
}


@pytest.mark.parametrize("text", IMPORTS)
def test_imports_of_the_project(text: str) -> None:
    assert _may_import(text) is IMPORTS[text]
