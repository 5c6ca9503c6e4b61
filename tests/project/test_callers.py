"""Callers are searched where a call may lead to the function, and not where it is written that it does not."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from loaderlint.project.evaluation.callers import Callers
from loaderlint.project.evaluation.values import ClassRef
from tests.project.linking import Linked, link

TRAINER = """
--- trainer.py
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, workers):
        self.workers = workers

    def run(self, data, batch):
        loader = DataLoader(data, batch_size=batch, num_workers=self.workers)
        return loader


class Longer(Trainer):
    def longer(self, data):
        return super().run(data, 8)
--- train.py
from trainer import Longer, Trainer


def main():
    Trainer(2).run([], 4)


def other():
    Longer(3).longer([])
--- tools.py
import subprocess


class Tool:
    def run(self):
        return subprocess.run(["ls"])

    def again(self):
        return self.run()


def several(tools):
    return [Tool().run() for _ in tools]


def build():
    several([1])
"""


def _searched(monkeypatch: pytest.MonkeyPatch, folder: Path) -> tuple[set[str], set[object]]:
    """The files in which callers were searched while the project was linked, and the loader's batch sizes."""
    searched: set[str] = set()
    find = Callers._find

    def noted(self, path, piece, def_, facts, depth):  # type: ignore[no-untyped-def]
        searched.add(f"{path.name}:{facts.ir.defs[def_].name}")
        return find(self, path, piece, def_, facts, depth)

    monkeypatch.setattr(Callers, "_find", noted)
    linked = link(folder, TRAINER)
    sizes = {one.argument("batch_size").literal for one in linked.model.loaders}
    return searched, {one.value for one in sizes if one is not None}


def test_only_calls_that_may_lead_there_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    searched, sizes = _searched(monkeypatch, tmp_path)
    assert sizes == {4, 8}
    assert "trainer.py:longer" in searched
    assert not {one for one in searched if one.startswith("tools.py:again")}
    assert "tools.py:run" not in searched


MADE_HEAD = """
class Base: pass
class Made(Base):
    def one(self): pass
class Heir(Made):
    def two(self): pass
def given(x): return x
"""

#: Code that makes an object of `Made` or of a class that derives from it, whoever calls it.
MADE_FOR_ALL = {
    "of the module": "Made()",
    "in a function": "def f(x): return Made()\nf(1)",
    "of a subclass": "def f(x): return Heir()",
    "in a loop": "def f(x):\n    for _ in x:\n        with x: Made()",
    "where nobody can tell": "def f(x):\n    if isinstance(x, int): return Made()\nf(3)",
    "where nobody can tell twice": "def f(x):\n    if not (x in 'ab' or len(x)): return Made()\nf('a')",
}

#: Code that makes one for some callers, as a look at these tells.
MADE_FOR_SOME = {
    "where it is told to": "def f(x):\n    if x: return Made()\nf(True)",
    "by a name of another function": "def f(Made):\n    def g(): return Made()\n    return g()\nf(Made)",
}

#: Code that makes none.
NEVER_MADE = {
    "nowhere": "Base()",
    "where it is told not to": "def f(x):\n    if x: return Made()\nf(False)",
    "where it is told not to beside what nobody can tell": (
        "def f(x, y):\n    if isinstance(y, int) and x: return Made()\nf(False, 1)"
    ),
    "where another test tells not to": ("def f(x, y):\n    if y in 'a':\n        if x: return Made()\nf(False, 1)"),
    "with a test of the project's own": (
        "def isinstance(x, y): return False\ndef f(x):\n    if isinstance(x, int): return Made()\nf(1)"
    ),
    "of another class of that name": "def f():\n    class Made: pass\n    return Made()",
    "what a parameter of that name holds": "def f(Made): return Made()\nf(given)",
}


def _are_made(folder: Path, code: str) -> tuple[bool, bool]:
    """Whether objects of `Made` are made, as it is asked at once and by looking at all of them."""
    ev = link(folder, MADE_HEAD + code + "\n").model.ev
    (cls,) = ev.names.lookup(folder / "case.py", "Made").only(ClassRef)
    assert isinstance(cls, ClassRef)
    return Callers(ev).are_made(cls), any(one.site is not None for one in Callers(ev).instances(cls))


@pytest.mark.parametrize("way", MADE_FOR_ALL)
def test_nobody_asks_who_calls_code_that_makes_an_object_for_all(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _are_made(tmp_path, MADE_FOR_ALL[way]) == (True, True)
    with monkeypatch.context() as patched:
        patched.setattr(Callers, "frames", lambda self, *place: ())
        assert _are_made(tmp_path, MADE_FOR_ALL[way]) == (True, False)


@pytest.mark.parametrize("way", MADE_FOR_SOME)
def test_an_object_that_is_made_for_some_is_made(way: str, tmp_path: Path) -> None:
    assert _are_made(tmp_path, MADE_FOR_SOME[way]) == (True, True)


@pytest.mark.parametrize("way", NEVER_MADE)
def test_an_object_that_nobody_has_made_is_not(way: str, tmp_path: Path) -> None:
    assert _are_made(tmp_path, NEVER_MADE[way]) == (False, False)


def test_no_more_callers_are_asked_for_than_count(tmp_path: Path) -> None:
    """Of many callers the first ones count: who calls the others is not searched, and what they pass not evaluated."""
    calls = "\n".join(f"def f{n}():\n    return make({n})" for n in range(40))
    linked = link(tmp_path, f"from torch.utils.data import DataLoader\ndef make(x): return DataLoader(x)\n{calls}\n")
    path = tmp_path / "case.py"
    asked = [n for n in range(40) if _was_evaluated(linked, path, 2 + n)]
    assert len(linked.model.loaders) == 32 and len(asked) == 33  # one more, to know that there are more
    limit = next(one for one in linked.model.limits() if "ways" in one.message)
    assert limit.path == path and limit.message.startswith("`make` is called in more than 32 ways")


def _was_evaluated(linked: Linked, path: Path, piece: int) -> bool:
    """Whether a frame of the function at a piece has values."""
    frame = linked.model.callers.opened(path, piece, 1)
    return frame is not None and bool(frame.memo)


@pytest.mark.parametrize(
    "calling",
    [
        "from lib import make as other\nother(4)",
        "import functools, lib\nother = functools.partial(\n    lib.make, 4)\nother()",
        "from functools import partial\nfrom lib import make\nother = partial(make, 4)\nother()",
        "from functools import partial\nfrom lib import make\ndef main():\n    other = partial(make, 4)\n    other()",
        "import functools, lib\ndef main(on):\n if on:\n  other = functools.partial(lib.make)\n  other(4)",
        (
            "from functools import partial\nfrom lib import make\n"
            "def main(on):\n    other = partial(make, 4)\n    if on: other = partial(make, n=4)\n    return other()"
        ),
    ],
)
def test_a_function_is_called_by_its_other_names(calling: str, tmp_path: Path) -> None:
    lib = "--- lib.py\nfrom torch.utils.data import DataLoader\ndef make(n): return DataLoader([], num_workers=n)\n"
    linked = link(tmp_path, f"{lib}--- train.py\n{calling}\n")
    assert [one.workers_text for one in linked.model.loaders] == ["num_workers=4"]


_TRAINERS = """
from torch.utils.data import DataLoader
class Short:
    def __init__(self, workers): self.workers = workers
    def fit(self): return DataLoader([], num_workers=self.workers)
class Long:
    def fit(self): pass
"""


@pytest.mark.parametrize(
    ("making", "workers"),
    [
        ("from lib import Short\nTrainer = Short\nTrainer(4).fit()\n", "num_workers=4"),
        ("import lib\nTrainer = lib.Short  # the default\nTrainer(4).fit()\n", "num_workers=4"),
        ("from lib import Short as Trainer\nTrainer(4).fit()\n", "num_workers=4"),
        ("from lib import *\nimport sys\nT = Long if sys.argv else Short\nT(4).fit()\n", "num_workers=4"),
        ("from lib import Short, Long\nTrainer = Long\nTrainer(4)\n", "num_workers unknown"),
        ("from lib import Short\nother = Short\nTrainer = print\nTrainer(4)\n", "num_workers unknown"),
    ],
)
def test_a_class_is_made_by_its_other_names(making: str, workers: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"--- lib.py{_TRAINERS}--- main.py\n{making}")
    assert [one.workers_text for one in linked.model.loaders] == [workers]


#: A decorator of the project, how the decorated function is called, and the number of its loader's workers.
DECORATORS = {
    "passes the arguments on": (
        "def timed(f):\n    @functools.wraps(f)\n    def inner(*args, **kwargs):\n        return f(*args, **kwargs)\n"
        "    return inner\n",
        "@timed",
        "make(D(), workers=2)",
        "num_workers=2",
    ),
    "makes the arguments from a configuration": (
        "def read(cfg, data): return {'data': data, 'workers': 3}\ndef configurable(from_config):\n    def outer(f):\n"
        "        def inner(*args, **kwargs): return f(**from_config(*args, **kwargs))\n        return inner\n"
        "    return outer\n",
        "@configurable(from_config=read)",
        "make(object(), D())",
        "num_workers=3",
    ),
    "registers the function": (
        "KNOWN = {}\ndef register(name):\n    def keep(f):\n        KNOWN[name] = f\n        return f\n"
        "    return keep\n",
        "@register('make')",
        "make(D(), 4)",
        "num_workers=4",
    ),
    "is one of two": (
        "def timed(f):\n    def inner(*args):\n        return f(*args)\n    return inner\n"
        "def more(f):\n    def inner(data, workers):\n        return f(data, 2 * workers)\n    return inner\n",
        "@timed\n@more",
        "make(D(), 4)",
        "num_workers=8",
    ),
    "calls what a library makes of it": (
        "import pool\ndef sent(f):\n    def inner(*args):\n        return pool.submit(f, *args)\n    return inner\n",
        "@sent",
        "make(D(), 4)",
        "num_workers=4",
    ),
    "is a library's": ("import timing\n", "@timing.timed", "make(D(), 4)", "num_workers=4"),
}


@pytest.mark.parametrize("way", DECORATORS)
def test_a_decorator(way: str, tmp_path: Path) -> None:
    decorator, written, call, expected = DECORATORS[way]
    linked = link(
        tmp_path,
        f"""
import functools
from torch.utils.data import DataLoader, Dataset
class D(Dataset):
    def __getitem__(self, i): return i
{decorator}{written}
def make(data, workers=0):
    loader = DataLoader(data, num_workers=workers)
    return loader
{call}
""",
    )
    assert (linked.datasets(), linked.loader().workers_text) == (["D"], expected)


#: How a function or class that makes a loader is looked up by its name, in a file that imports `data`.
LOOKED_UP = {
    "in a function that passes everything on": """
        def create(name, **options):
            return getattr(data, name)(**options)
        create("Trains", workers=4)
        create("make", workers=4)
    """,
    "in a function with the module": """
        def create(module, name, *args, **options):
            return getattr(module, name)(*args, **options)
        create(data, "Trains", 4)
        create(data, name="make", workers=4)
    """,
    "by a method": """
        class Config:
            def create(self, name, module, **options):
                made = getattr(module, name)
                return made(**options)
        Config().create("Trains", data, workers=4)
        Config().create("make", data, workers=4)
    """,
    "at once": """
        getattr(data, "Trains")(4)
        getattr(data, 'make')(workers=4)
    """,
    "by a table": """
        KINDS = {"Trains": data.Trains, "make": data.make}
        def create(kind, **options):
            return KINDS[kind](**options)
        create("Trains", workers=4)
        create("make", workers=4)
    """,
    "by a table with other keys": """
        KINDS = {"first": data.Trains, "second": data.make}
        def create(kind, **options):
            return KINDS[kind](**options)
        create(load(), workers=4)
    """,
    "by a table, and with a name of its own": """
        KINDS = {"first": data.Trains, "second": data.make}
        def create(kind):
            maker = KINDS.get(kind)
            if maker is None:
                raise ValueError(kind)
            return maker(4)
        create(load())
    """,
    "by a table of another module": """
        from tables import KINDS
        for kind in ("first", "second"):
            KINDS[kind](workers=4)
        --- tables.py
        from data import Trains, make
        KINDS = {
            "first": Trains,
            "second": make,
        }
    """,
    "by a list": """
        KINDS = [data.Trains, data.make]
        KINDS[load()](4)
    """,
}
MAKERS = """
--- data.py
from torch.utils.data import DataLoader
class Trains:
    def __init__(self, workers, batch=1):
        held = DataLoader([1], batch, num_workers=workers)
class Others:
    def __init__(self, workers):
        other = DataLoader([1], num_workers=workers)
def make(workers, **options):
    made = DataLoader([1], num_workers=workers, **options)
"""


@pytest.mark.parametrize("way", LOOKED_UP)
def test_what_calls_look_up_by_its_name(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, f"{MAKERS}--- main.py\nimport data\n{textwrap.dedent(LOOKED_UP[way])}")
    texts = {one.name: one.workers_text for one in linked.model.loaders}
    assert texts == {"held": "num_workers=4", "made": "num_workers=4", "other": "num_workers unknown"}


@pytest.mark.parametrize(
    "use",
    [
        'print("Trains", "make", 4)',
        'create("Trains" + suffix, workers=4)',
        'names = ["Trains", "make"]',
        'if False:\n    create("Trains", workers=4)\n    create("make", workers=4)',
        'other("Trains", workers=4)\nother("make", workers=4)',
    ],
)
def test_a_text_that_looks_nothing_up(use: str, tmp_path: Path) -> None:
    linked = link(
        tmp_path,
        f"""{MAKERS}--- main.py
import data
import tools
def create(name, **options):
    return getattr(data, name)(**options)
def other(name, **options):
    return getattr(tools, name)(**options)
{use}
--- tools.py
""",
    )
    assert {one.workers_text for one in linked.model.loaders} == {"num_workers unknown"}


#: Code beside a function that no known code calls, and the number of workers of the loader that the function makes.
STORED = {
    "in a dict that is handed on": (
        """
        import data
        def run(name, table, **options): return table[name](**options)
        run(load(), {"make": data.make}, workers=0)
        """,
        "num_workers unknown",
    ),
    "in a dict, from a module that nobody knows": (
        """
        def table_of(module):
            table = {}
            table["make"] = module.make
            return table
        """,
        "num_workers unknown",
    ),
    "in a list": (
        """
        from data import make
        register([make])
        """,
        "num_workers unknown",
    ),
    "nowhere": ("import data", "num_workers=4, default"),
    "in a dict, as another function of that name": (
        """
        def make(): pass
        register({"make": make})
        """,
        "num_workers=4, default",
    ),
    "in a dict, as an attribute of that name": (
        """
        class Table:
            def __init__(self, make):
                self.make = make
                self.table = {"make": self.make}
        """,
        "num_workers=4, default",
    ),
    "in a dict, where it is called": (
        """
        import data
        register({"loader": data.make(workers=2)})
        """,
        "num_workers=2",
    ),
}


@pytest.mark.parametrize("place", STORED)
def test_the_default_is_not_what_a_lost_call_passes_if_the_function_is_stored(place: str, tmp_path: Path) -> None:
    code, expected = STORED[place]
    makes = """
--- data.py
from torch.utils.data import DataLoader
def make(workers=4):
    made = DataLoader([1], num_workers=workers)
"""
    linked = link(tmp_path, f"{makes}--- main.py\n{textwrap.dedent(code)}")
    assert linked.loader("made").workers_text == expected


PROGRAMS = """
--- trainer.py
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return index


class Trainer:
    def fit(self, data):
        return DataLoader(data, num_workers=2)

    def distill(self, data):
        loader = DataLoader(data, num_workers=2)
        return loader
--- fit.py
from trainer import Rows, Trainer


def main():
    Trainer().fit(Rows())
--- distill.py
from trainer import Rows, Trainer


def main():
    Trainer().distill(Rows())
"""


def _are_known(linked: Linked) -> list[bool]:
    """For each loader called `loader` whether its dataset is known."""
    return [bool(one.datasets) for one in linked.model.loaders if one.name == "loader"]


def test_a_method_that_is_only_called_on_another_object_does_not_run(tmp_path: Path) -> None:
    assert _are_known(link(tmp_path, PROGRAMS)) == [True]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Trainer:", "import lightning\nclass Trainer(lightning.LightningDataModule):"),
        ("class Trainer:", "from base import Base\nclass Trainer(Base):"),
        ("    Trainer().fit(Rows())", "    for one in made([Trainer()]):\n        one.distill(Rows())"),
        ("    Trainer().distill(Rows())", "    run(Trainer().distill, Rows())"),
    ],
    ids=["a library calls it", "a missing base class calls it", "a call on any object", "no call at all"],
)
def test_a_method_that_code_may_call_unseen_runs_with_anything(tmp_path: Path, old: str, new: str) -> None:
    assert False in _are_known(link(tmp_path, PROGRAMS.replace(old, new)))


CHOSEN = """
--- items.py
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
        return index


class Trainer:
    def __init__(self, rows, workers):
        self.rows = rows
        self.workers = workers

    def run(self):
        loader = DataLoader(self.rows, num_workers=self.workers)
        return loader
--- train.py
from items import Rows, Trainer


def choose():
    return Trainer, {"workers": 4}


def get():
    if True: return Trainer


class Program:
    def choose(self):
        return [print, Trainer]

    def main(self):
        CALL


Program().main()
"""
CHOICES = {
    "unpacked": "kind, options = choose()\n        kind(Rows(), **options).run()",
    "an item": "made = choose()\n        made[0](Rows(), 4).run()",
    "at once": "get()(Rows(), 4).run()",
    "a name": "kind = get()\n        kind(Rows(), 4).run()",
    "by a method": "_, kind = self.choose()\n        kind(Rows(), 4).run()",
    "in a branch": "kind = get()\n        if 'x':\n            kind, _ = choose()\n        kind(Rows(), 4).run()",
}


@pytest.mark.parametrize("way", CHOICES)
def test_an_object_of_a_class_that_a_function_returns(way: str, tmp_path: Path) -> None:
    linked = link(tmp_path, CHOSEN.replace("CALL", CHOICES[way]))
    assert linked.datasets() == ["Rows"]
    assert linked.loader().workers_text == "num_workers=4"


@pytest.mark.parametrize(
    "call",
    [
        "kind = choose()\n        print(kind)",
        "kind, options = choose()\n        options(Rows(), 4)",
        "if False:\n            get()(Rows(), 4).run()",
    ],
    ids=["not called", "another item", "a dead branch"],
)
def test_a_returned_class_of_which_no_object_is_made(call: str, tmp_path: Path) -> None:
    linked = link(tmp_path, CHOSEN.replace("CALL", call))
    assert [one.workers_text for one in linked.model.loaders if one.name == "loader"] == ["num_workers unknown"]
