"""Inputs that nobody writes on purpose, or only somebody who means harm, as a table.

Each row writes a project; `train.py` beside it holds one ordinary fault, which must be found whatever else is there."""

from __future__ import annotations

import json
import os
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.robustness.bounded import Bound
from tests.robustness.programs import damaged, program
from tests.robustness.projects import TEXTS

#: One loader with one fault, found on every version of torch and Python, and on every platform.
TRAIN = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(3)


def init(worker_id):
    np.random.seed(0)


loader = DataLoader(Rows(), num_workers=2, worker_init_fn=init)
for batch in loader:
    print(batch)
"""
FINDING = "LDR103"

Make = Callable[[Path, int], None]


@dataclass(frozen=True, slots=True)
class Hostile:
    """`make(folder, size)` writes the input; the first of `sizes` is for every run of the tests, the others are for the
    long form. `finds`: the fault in train.py must be found; `says`: what must be said. `command` replaces `check .`.
    What does not hold yet is in `KNOWN`."""

    name: str
    make: Make
    sizes: tuple[int, ...] = (1,)
    finds: bool = True
    says: str = ""
    command: tuple[str, ...] = ("check", ".")
    bound: Bound = Bound()


# --- ways to make a row ----------------------------------------------------------------------------------------------


def source(text: Callable[[int], str], name: str = "x.py") -> Make:
    """A Python file."""

    def make(folder: Path, size: int) -> None:
        (folder / name).write_text(text(size), encoding="utf-8", errors="surrogatepass", newline="")

    return make


def raw(data: Callable[[int], bytes], name: str = "x.py") -> Make:
    """A file of bytes."""

    def make(folder: Path, size: int) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data(size))

    return make


def fixed(data: str | bytes, name: str = "x.py") -> Make:
    """A file that has no size to vary."""
    made = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return raw(lambda _: made, name)


def nested(before: str, middle: str, after: str) -> Make:
    """An expression that is nested `size` deep."""
    return source(lambda size: f"x = {before * size}{middle}{after * size}\n")


def blocks(head: str) -> Make:
    """Statements with a body, nested `size` deep."""
    return source(lambda size: "".join(f"{' ' * n}{head.format(n=n)}\n" for n in range(size)) + " " * size + "pass\n")


def lines(line: str) -> Make:
    """`size` lines; {n} is their number, {m} the next."""
    return source(lambda size: "".join(line.format(n=n, m=n + 1) + "\n" for n in range(size)))


def notebook(value: object) -> Make:
    """A notebook file with this JSON."""
    return raw(lambda _: json.dumps(value).encode(), "x.ipynb")


def cells(*sources: object, **more: object) -> Make:
    """A notebook with code cells of these sources."""
    listed = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one, **more} for one in sources]
    return notebook({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def _bomb(step: str) -> Make:
    """Names of which each is made of the one before."""
    return source(
        lambda size: (
            "from torch.utils.data import DataLoader\nv0 = [1, 2]\n"
            + "".join(f"v{n + 1} = {step.format(v=f'v{n}')}\n" for n in range(size))
            + f"for one in v{size}:\n    DataLoader(v{size}, num_workers=v{size}[0], batch_size=len(v{size}))\n"
        )
    )


# --- what is linked to what ------------------------------------------------------------------------------------------


def _calls(size: int) -> str:
    """Each function calls the next one twice, in contexts of its own."""
    made = [f"def f{n}(a, b):\n    return f{n + 1}(a, {n}) + f{n + 1}(b, [a])\n" for n in range(size)]
    head = "from torch.utils.data import DataLoader, Dataset\n"
    data = "class D(Dataset):\n    def __getitem__(self, i):\n        return f0(i, self)\n"
    return head + "".join(made) + f"def f{size}(a, b):\n    return a\n{data}DataLoader(D(), num_workers=2)\n"


def _attributes(size: int) -> str:
    """Each object holds two of the next class."""
    made = [
        f"class C{n}:\n    def __init__(self, x):\n        self.a = C{n + 1}(x)\n        self.b = C{n + 1}(self.a)\n"
        f"    def __call__(self, i):\n        return self.a(self.b(i))\n"
        for n in range(size)
    ]
    last = f"class C{size}:\n    def __init__(self, x): self.x = x\n    def __call__(self, i): return i\n"
    return _dataset("C0(self)(i)") + "".join(made) + last


def _dataset(value: str) -> str:
    return (
        "from torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n"
        f"    def __getitem__(self, i):\n        return {value}\nDataLoader(D(), num_workers=2)\n"
    )


def _diamonds(size: int) -> str:
    """Layers of classes, each of which derives from all of the layer above."""
    made = ["from torch.utils.data import Dataset, DataLoader\nclass A0(Dataset): pass\nclass B0(Dataset): pass\n"]
    for n in range(size):
        made += [f"class {name}{n + 1}(A{n}, B{n}):\n    def m(self): return super().m()\n" for name in "AB"]
    return "".join(made) + f"DataLoader(A{size}(), num_workers=2)\n"


def _mesh(size: int) -> str:
    """Each class derives from all before it."""
    made = [f"class C{n}({', '.join(f'C{m}' for m in range(max(0, n - 30), n))}): pass\n" for n in range(size)]
    return "".join(made) + f"from torch.utils.data import DataLoader\nDataLoader(C{size - 1}(), num_workers=2)\n"


def _loaders(size: int) -> str:
    return TRAIN + "".join(
        f"loader{n} = DataLoader(Rows(), num_workers={n % 3}, worker_init_fn=init)\n" for n in range(size)
    )


_HEAD = "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset\n"


def _many(before: str, line: str, after: str = "") -> Make:
    """`size` lines between two texts; {n} is their number."""
    return source(lambda size: before + "".join(line.replace("{n}", str(n)) + "\n" for n in range(size)) + after)


def _in_sample(line: str) -> Make:
    """`size` lines in the `__getitem__` of a dataset with workers."""
    head = f"{_HEAD}class D(Dataset):\n    def __getitem__(self, x):\n        y = x = self.data[x]\n"
    return _many(head, line, "        return x\nDataLoader(D(), num_workers=2)\n")


def _on_one_line(item: str) -> Make:
    """`size` items in a list that a sample is, on one line."""

    def text(size: int) -> str:
        items = ", ".join(item.replace("{n}", str(n)) for n in range(size))
        sample = f"    def __getitem__(self, x):\n        return [{items}]\n"
        return f"{_HEAD}class D(Dataset):\n{sample}DataLoader(D(), num_workers=2)\n"

    return source(text)


def _handles(size: int) -> str:
    """A dataset whose constructor opens files, and whose samples read them all."""
    opened = "".join(f"        self.h{n} = open(p)\n" for n in range(size))
    read = "".join(f"        self.h{n}.read()\n" for n in range(size))
    methods = f"    def __init__(self, p):\n{opened}    def __getitem__(self, i):\n{read}"
    return f"{_HEAD}class D(Dataset):\n{methods}DataLoader(D(__file__), num_workers=2)\n"


def _handles_of_methods(size: int) -> str:
    """The same, each file opened by a method of its own that the method before it calls."""
    methods = [f"    def m{n}(self, p):\n        self.h{n} = open(p)\n        self.m{n + 1}(p)\n" for n in range(size)]
    read = "".join(f"        self.h{n}.read()\n" for n in range(size))
    before = "    def __init__(self, p):\n        self.m0(p)\n"
    body = f"{before}{''.join(methods)}    def __getitem__(self, i):\n{read}"
    return f"{_HEAD}class D(Dataset):\n{body}DataLoader(D(__file__), num_workers=2)\n"


def _datasets(size: int) -> str:
    """Dataset classes, each with a fault, and a function that makes the loader of each."""
    made = [
        f"class R{n}(Dataset):\n    def __getitem__(self, i):\n        return np.random.rand(3)\n" for n in range(size)
    ]
    loaders = "".join(f"    l{n} = DataLoader(R{n}(), num_workers=2)\n" for n in range(size))
    return f"{_HEAD}{''.join(made)}def main():\n{loaders}main()\n"


def _datasets_of_branches(size: int) -> str:
    """Dataset classes in one function, each returned in a loader from a branch of its own."""
    made = "".join(
        f"    class R{n}(Dataset):\n        def __getitem__(self, i):\n            return i\n"
        f"    if name == {n}:\n        return DataLoader(R{n}(), num_workers=2)\n"
        for n in range(size)
    )
    return f"{_HEAD}def main(name):\n{made}main()\n"


def _import_cycle(line: str) -> Make:
    def make(folder: Path, size: int) -> None:
        for n in range(size):
            other = (n + 1) % size
            (folder / f"m{n}.py").write_text(
                f"{line.format(m=f'm{other}')}\nclass C{n}(C{other}): pass\n{_dataset('C0()')}"
            )

    return make


def _packages(folder: Path, size: int) -> None:
    (folder / "p").mkdir()
    (folder / "p" / "__init__.py").write_text("".join(f"from .m{n} import *\n" for n in range(size)))
    for n in range(size):
        (folder / "p" / f"m{n}.py").write_text(f"from . import *\nfrom .m{(n + 1) % size} import *\nx{n} = p.x{n}\n")


# --- files and folders -----------------------------------------------------------------------------------------------


def _names(folder: Path, size: int) -> None:
    odd = [
        "a b.py",
        "-x.py",
        "--fix.py",
        "a\nb.py",
        "%s.py",
        "a'\"b.py",
        "\x1b[31m.py",
        "é\U0001f600.py",
        "a" * 250 + ".py",
    ]
    for name in (*odd, "{0}.py", "a:b.py", "con.py", "\u202egnp.py", "x.py.py", ".py", "\\.py", "*.py", "[a].py"):
        (folder / name).write_text(TRAIN)
    (folder / os.fsdecode(b"\xff\xfe.py")).write_text(TRAIN)
    (folder / "folder.py").mkdir()
    (folder / "folder.ipynb").mkdir()


def _links(folder: Path, size: int) -> None:
    (folder / "loop.py").symlink_to("loop.py")
    (folder / "gone.py").symlink_to("nowhere.py")
    (folder / "up").symlink_to("..", target_is_directory=True)
    (folder / "here").symlink_to(".", target_is_directory=True)
    (folder / "again.py").symlink_to("train.py")
    (folder / "a.py").symlink_to("b.py")
    (folder / "b.py").symlink_to("a.py")


def _device(target: str, name: str = "x.py") -> Make:
    def make(folder: Path, size: int) -> None:
        (folder / name).symlink_to(target)

    return make


def _fifo(name: str) -> Make:
    return lambda folder, size: os.mkfifo(folder / name)


def _huge(name: str) -> Make:
    """A file of 3 GB that takes no room."""

    def make(folder: Path, size: int) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(3 << 30)

    return make


#: Files that are read for the versions in them alone.
_VERSION_FILES = (
    "requirements.txt",
    "uv.lock",
    "poetry.lock",
    "Pipfile.lock",
    "pixi.lock",
    "environment.yml",
    "setup.cfg",
    "cog.yaml",
    ".python-version",
)


def _socket(folder: Path, size: int) -> None:
    here = os.open(".", os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(folder)  # The path of a socket is short.
        try:
            made.bind("x.py")
        finally:
            os.fchdir(here)
            os.close(here)


def _folder(name: str) -> Make:
    return lambda folder, size: (folder / name).mkdir()


def _deep_folders(folder: Path, size: int) -> None:
    here = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    try:
        for _ in range(size):
            os.mkdir("dddddd")
            os.chdir("dddddd")
        Path("x.py").write_text(TRAIN)
    finally:
        os.fchdir(here)
        os.close(here)


def _many_files(folder: Path, size: int) -> None:
    for n in range(size):
        (folder / f"m{n}.py").write_text(f"import m{n + 1}\nx = {n}\n")


def _forbidden(folder: Path, size: int) -> None:
    (folder / "closed").mkdir()
    (folder / "closed" / "x.py").write_text(TRAIN)
    (folder / "x.py").write_text(TRAIN)
    (folder / "x.py").chmod(0)
    (folder / "closed").chmod(0)


# --- tables of small files -------------------------------------------------------------------------------------------

_COOKIES = (
    "utf-7 utf-16 utf-32 rot13 hex zip base64 idna punycode undefined unicode_escape raw_unicode_escape mbcs cp0 "
    "nonsense latin-1 utf-8-sig ascii shift_jis euc_jp hz iso2022_kr gb18030 big5hkscs " + "x" * 1000
).split(" ")

_BYTES: dict[str, bytes] = {
    "nul": b"x = 1\x00\n",
    "only-nul": b"\x00" * 10_000,
    "bom": b"\xef\xbb\xbf" + TRAIN.encode(),
    "two-boms": b"\xef\xbb\xbf" * 2 + TRAIN.encode(),
    "bom-and-cookie": b"\xef\xbb\xbf# coding: latin-1\n" + TRAIN.encode(),
    "utf-16": TRAIN.encode("utf-16"),
    "utf-32": TRAIN.encode("utf-32"),
    "surrogates": b"x = '\xed\xa0\x80\xed\xb0\x80'\n",
    "no-utf-8": b"# \xff\xfe\x80\n" + TRAIN.encode(),
    "cut-in-a-character": TRAIN.encode() + "# é".encode()[:-1],
    "carriage-returns": TRAIN.replace("\n", "\r").encode(),
    "form-feeds": TRAIN.replace("\n", "\n\x0c").encode(),
    "end-of-file-sign": TRAIN.encode() + b"\x1a",
    "separators": "x = 'a\u2028b\u2029c\x85d\x0be'\n".encode(),
    "backslash-at-the-end": b"x = 1\\",
    "only-a-backslash": b"\\",
    "open-string": b"x = '''" + b"a\n" * 1000,
    "only-carriage-return": b"\r",
    "tab-mix": b"if x:\n\ty = 1\n        z = 2\n",
    "dedent-mix": b"if x:\n        y\n    z\n",
    "empty": b"",
}

_SETTINGS: dict[str, str | bytes] = {
    "no-toml": "[tool.loaderlint\n",
    "deep": "a = " + "[" * 5000 + "]" * 5000 + "\n",
    "deep-tables": "[" + ".".join(["a"] * 5000) + "]\n",
    "deep-inline": "a = " + "{b=" * 3000 + "1" + "}" * 3000 + "\n",
    "no-utf-8": b"\xff\xfe\x00",
    "nul": b"[tool]\x00\n",
    "utf-16": "[tool.loaderlint]\n".encode("utf-16"),
    "no-table": "tool = 3\n",
    "list-for-table": "[[tool.loaderlint]]\nselect = []\n",
    "wrong-types": "[tool.loaderlint]\nselect = 3\nignore = {}\nexclude = [[1]]\nseverity = ['a']\nplatforms = 'x'\n",
    "unknown-keys": "[tool.loaderlint]\nnonsense = 1\n'' = 2\n",
    "huge-number": "[tool.loaderlint]\nselect = " + "9" * 6000 + "\n",
    "odd-patterns": '[tool.loaderlint]\nexclude = ["[", "!", "***", "a[!", "\\u0000", "", "/", "..", "{a,b", "(?"]\n',
    "odd-ignores": '[tool.loaderlint]\nper-file-ignores = {"[" = ["LDR1"], "" = [""], "**" = [3]}\n',
    "odd-versions": '[tool.loaderlint]\ntarget-torch = ">=1,<"\ntarget-python = "' + "1." * 2000 + '1"\n',
    "odd-loaders": '[tool.loaderlint]\nloaders = ["", ".", "a..b", {name = 1}, {name = "a", dataset = -1}, 5]\n',
    "baseline-above": '[tool.loaderlint]\nbaseline = "../../../../etc/passwd"\n',
    "baseline-nul": '[tool.loaderlint]\nbaseline = "a\\u0000b"\n',
    "odd-dependencies": '[project]\nname = 3\ndependencies = [1, {}, "torch", "torch==", "@"]\nrequires-python = []\n',
    "poetry": '[tool.poetry.dependencies]\ntorch = [{}, 1, {version = 3}]\npython = {}\nnumpy = "^"\n',
    "sources": '[tool.uv]\nsources = 3\nworkspace = []\n[dependency-groups]\na = [{include-group = "a"}]\n',
    "date": "[tool.loaderlint]\nselect = 1979-05-27T07:32:00Z\n",
}

_REQUIREMENTS: dict[str, str | bytes] = {
    "itself": "-r requirements.txt\n",
    "device": "-r /dev/zero\n-c /dev/stdin\n",
    "far": "-r " + "../" * 50 + "etc/passwd\n",
    "url": "torch @ http://127.0.0.1:1/torch.whl\n-e git+ssh://x\n--index-url http://127.0.0.1:1\n",
    "continued": "torch\\\n" * 20_000,
    "specifiers": "torch" + ",".join([">=1"] * 20_000) + "\n",
    "version": "torch==" + "1." * 50_000 + "0\n",
    "numbers": "torch==" + "9" * 10_000 + "\n",
    "markers": "torch; " + "(" * 5000 + "python_version > '3'" + ")" * 5000 + "\n",
    "or-markers": "torch; " + " or ".join(["python_version > '3'"] * 5000) + "\n",
    "extras": "torch[" + ",".join(["a"] * 50_000) + "]\n",
    "no-utf-8": b"torch==2.0 # \xff\n\xfe\x00",
    "long-line": "torch" + " " * 1_000_000 + "==2\n",
    "hashes": "torch==2.0 " + "--hash=sha256:0 " * 20_000 + "\n",
}

_YAML: dict[str, str] = {
    "bomb": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{n}: &{n} [{','.join([f'*{b}'] * 9)}]\n" for b, n in zip("abcdefgh", "bcdefghi", strict=True))
    + "dependencies: *i\n",
    "deep": "dependencies: " + "[" * 5000 + "]" * 5000 + "\n",
    "deep-blocks": "".join(f"{' ' * n}a:\n" for n in range(1500)),
    "itself": "dependencies: &a [*a]\n",
    "tags": "dependencies: !!python/object/apply:os.system ['touch executed']\n",
    "broken": "dependencies: [\n",
    "unknown-alias": "dependencies: *nothing\n",
    "documents": "--- 1\n" * 2000,
    "wrong-types": "dependencies: {a: [1, 2.5, null, {pip: 3}]}\nname: [x]\n",
    "controls": "dependencies:\n- \x07\n- '\\uD800'\n",
}

_LOCKS: dict[str, str] = {
    "uv.lock": '[[package]]\nname = "torch"\nversion = "' + "1." * 20_000 + '"\n' + "[[package]]\n" * 20_000,
    "poetry.lock": '[[package]]\nname = "torch"\n' * 20_000,
    "Pipfile.lock": '{"default": {"torch": ' + "[" * 50_000,
    "Pipfile": "[packages]\ntorch = {version = 3}\nnumpy = []\n",
    "pixi.lock": "packages:\n- conda: " + "a" * 500_000 + "\n",
    "pixi.toml": "[dependencies]\ntorch = [[[]]]\n",
    "conda-lock.yml": "package:\n" + "- name: torch\n" * 20_000,
    "setup.cfg": "[options]\ninstall_requires =\n\n%(a)s\n[options]\n[\n",
    "setup.py": "setup(install_requires=" + "[" * 150 + "]" * 150 + ")\n" + "x(" * 3000,
    ".python-version": "3." * 100_000,
    "cog.yaml": "build:\n  python_version: [3]\n  python_packages: {a: b}\n  gpu: *x\n",
    ".gitignore": "[\n!\n**\\\n\x00\n" + "a" * 100_000 + "\n",
}

_NOTEBOOKS: dict[str, object] = {
    "list": [],
    "number": 1,
    "none": None,
    "no-cells": {"metadata": {}, "nbformat": 4},
    "cells-are-an-object": {"cells": {"a": 1}},
    "cells-are-text": {"cells": "abc"},
    "cell-is-a-number": {"cells": [1, None, [], "x", {}]},
    "no-source": {"cells": [{"cell_type": "code"}]},
    "type-is-a-list": {"cells": [{"cell_type": ["code"], "source": "x"}]},
    "metadata-is-text": {"cells": [], "metadata": "python"},
    "language": {"cells": [], "metadata": {"kernelspec": 3, "language_info": {"name": ["python"]}}},
    "version-three": {"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}], "nbformat": 3},
    "version": {"cells": [], "nbformat": "four", "nbformat_minor": []},
    "huge-number": {"cells": [], "nbformat": 10**4000},
    "ids": {"cells": [{"cell_type": "code", "id": [one], "source": "x"} for one in (None, {}, "", "a")]},
    "same-ids": {"cells": [{"cell_type": "code", "id": "a", "source": "x = 1"}] * 50},
    "raw-cells": {
        "cells": [{"cell_type": kind, "source": TRAIN} for kind in ("raw", "markdown", "", "heading", "CODE")]
    },
    "nested-sources": {"cells": [{"cell_type": "code", "source": [["x"], [["y"]]]}]},
    "outputs": {"cells": [{"cell_type": "code", "source": "x", "outputs": 3, "execution_count": "a"}]},
}

_CELLS: dict[str, tuple[object, ...]] = {
    "string": (TRAIN,),
    "lines": (TRAIN.splitlines(keepends=True),),
    "lines-without-ends": (TRAIN.splitlines(),),
    "numbers": ([1, 2, None, TRAIN],),
    "an-object": ({"a": TRAIN},),
    "none": (None, TRAIN),
    "surrogate": ("x = '\ud800'\n" + TRAIN,),
    "nul": ("x = '\x00'\n", TRAIN),
    "carriage-returns": (TRAIN.replace("\n", "\r\n"), TRAIN.replace("\n", "\r")),
    "magics": ("%%bash\n" + "!" * 5000, "%time x\n!ls {x}\n?\nx??\n%%\n%\n!\n", "x = !ls\ny = %who\n", TRAIN),
    "half": ("def f(", ")", "'''", TRAIN, "'''"),
    "many": ("x = 1\n",) * 5000,
    "empty": ("",) * 5000,
    "deep": ("x = " + "(" * 5000 + ")" * 5000, TRAIN),
}

_NOTEBOOK_TEXTS: dict[str, bytes] = {
    "empty": b"",
    "cut": b'{"cells": [{"cell_type": "code", "source": ["x',
    "deep": b"[" * 100_000,
    "deep-objects": b'{"a":' * 100_000,
    "deep-metadata": b'{"cells": [], "metadata": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "bom": b'\xef\xbb\xbf{"cells": []}',
    "utf-16": '{"cells": []}'.encode("utf-16"),
    "no-utf-8": b'{"cells": [{"cell_type": "code", "source": "\xff"}]}',
    "constants": b'{"cells": [NaN, Infinity, -Infinity, 1e999]}',
    "twice": b'{"cells": [], "cells": [{"cell_type": "code", "source": "x"}]}',
    "two-values": b'{"cells": []}{"cells": []}',
    "python": TRAIN.encode(),
    "output": b'{"cells": [{"cell_type": "code", "source": "x", "outputs": ["' + b"A" * 4_000_000 + b'"]}]}',
}

_BASELINES: dict[str, bytes] = {
    "empty": b"",
    "list": b"[]",
    "deep": b"[" * 100_000,
    "wrong-types": b'{"version": [], "findings": {"a": 1}}',
    "entries": b'{"version": 1, "findings": [1, null, {}, {"rule": 1, "path": [], "count": "x"}]}',
    "huge-number": b'{"version": ' + b"9" * 6000 + b"}",
    "no-utf-8": b"\xff\xfe",
    "nul": b'{"version": 1}\x00',
    "cut": b'{"version": 1, "findings": [',
    "next-version": b'{"version": 99, "findings": []}',
    "negative-version": b'{"version": -1, "findings": []}',
    "text-findings": b'{"version": 1, "findings": "abc"}',
    "surrogates": b'{"version": 1, "findings": ["\\ud800"]}',
    "bom": b'\xef\xbb\xbf{"version": 1, "findings": []}',
}

_VALUES: dict[str, str] = {
    "shift": "n = 1 << 10**9",
    "power": "n = 9 ** 9 ** 9 ** 9",
    "text": "n = 'a' * 10**10",
    "list": "n = [0] * 10**10",
    "nested-lists": "n = [[[[0] * 10**4] * 10**4] * 10**4] * 10**4",
    "range": "n = list(range(10**12))",
    "digits": "n = " + "9" * 100_000,
    "hexadecimal": "n = 0x" + "f" * 1_000_000,
    "float": "n = 1e" + "9" * 1000,
    "format": "n = '%1000000000d' % 1",
    "f-string": "n = f'{1:>1000000000}'",
    "division": "n = 1 // 0 + 1 % 0 + 0 ** -1",
    "negative-shift": "n = 1 << -1",
    "format-method": "n = '{0.__class__.__mro__}'.format(1) + '{:>999999999}'.format(2)",
    "join": "n = 'x'.join(['y'] * 10**9)",
    "huge-workers": "n = 10 ** 5000",
    "itself": "n = n",
    "swap": "n, m = m, n",
    "walrus": "n = (n := (n := n))",
    "star": "[*n, [*m]] = n, *m = m, *n",
    "slice": "n = [1] * 5; n = n[::-1][10**20:-10**20:3]",
}

_TREES: dict[str, str] = {
    "its-own-base": "class A(A): pass",
    "bases-in-a-ring": "class A(B): pass\nclass B(C): pass\nclass C(A): pass",
    "no-order": "class A: pass\nclass B(A): pass\nclass C(A, B): pass",
    "metaclass": "class A(metaclass=A): pass",
    "decorator": "@d\ndef d(x): return d(d)",
    "property": "class A:\n    @property\n    def a(self): return self.a\n"
    "    def __getattr__(self, n): return getattr(self, n)",
    "call-itself": "class A:\n    def __call__(self, *a): return self(self)(*a)",
    "returns-itself": "def f(x): return f(f(x))\nA = f",
    "grows": "def f(x): return f([x])\nA = f(1)",
    "grows-by-closures": "def f(x):\n    def g(): return f(g)\n    return g()\nA = f(1)",
    "grows-by-objects": "class A:\n    def __init__(self, x=None): self.n = A(self)",
    "partial": "from functools import partial\nA = partial(lambda: A, partial(partial, partial))\nA = partial(A, A)",
    "lambdas": "A = (lambda x: x(x))(lambda x: x(x))",
    "new": "class A:\n    def __new__(cls): return A()\n    def __init_subclass__(cls): cls.x = A",
    "iterator": "class A:\n    def __iter__(self): return iter(self)\n    def __next__(self): return next(self)",
    "setattr": "class A:\n    def __init__(self): [setattr(self, n, getattr(self, n)) for n in dir(self)]",
    "registry": "R = {}\ndef A(x=None): return R.get(x, A)(R)\nR['a'] = A\nR[A] = R",
    "getattr": "import sys\nA = getattr(sys.modules[__name__], 'A')",
    "global": "def A():\n    global A\n    A = A()\n    return A",
    "star-import": "from x import *\nfrom .x import *\nfrom . import x as A",
    "import": "import x\nA = x.x.x.x.A",
}


def _program(folder: Path, size: int) -> None:
    chance = random.Random(size)
    for name in ("x.py", "y.py")[: chance.randint(1, 2)]:
        (folder / name).write_text(program(chance), encoding="utf-8", errors="surrogatepass")


def _damage(folder: Path, size: int) -> None:
    chance = random.Random(size)
    (folder / "x.py").write_bytes(damaged(chance.choice(TEXTS), chance))
    if chance.random() < 0.3:
        source = {"cells": [{"cell_type": "code", "source": chance.choice(TEXTS), "outputs": [], "metadata": {}}]}
        (folder / "y.ipynb").write_bytes(damaged(json.dumps(source), chance))
    if chance.random() < 0.3:
        name, text = chance.choice([("pyproject.toml", one) for one in _SETTINGS.values()] + list(_LOCKS.items()))
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(damaged(data[:2000].decode("latin-1"), chance))


def _comments(size: int) -> str:
    return "".join(
        f"x{n} = 1  # loaderlint: ignore[{'a,' * (n % 50)}LDR{n}] # noqa: LDR{n}, F{n}\n" for n in range(size)
    )


def _ignore_patterns(folder: Path, size: int) -> None:
    (folder / ".gitignore").write_text("".join(f"{'*a' * 12}*b{n}\n" for n in range(size)))
    for n in range(20):
        (folder / f"{'a' * 200}{n}.py").write_text("x = 1\n")


DEEP = (1000, 90, 99, 101, 201, 5000, 100_000)

ROWS: tuple[Hostile, ...] = (
    *(
        Hostile(f"nested-{name}", nested(*parts), DEEP)
        for name, parts in {
            "brackets": ("(", "1", ")"),
            "lists": ("[", "1", "]"),
            "dicts": ("{1:", "1", "}"),
            "calls": ("f(", "1", ")"),
            "chained-calls": ("", "f", "()"),
            "attributes": ("", "a", ".b"),
            "subscripts": ("", "a", "[0]"),
            "sums": ("1 + ", "1", ""),
            "powers": ("2 ** ", "1", ""),
            "negations": ("not ", "x", ""),
            "minus": ("-", "x", ""),
            "lambdas": ("lambda: ", "x", ""),
            "conditions": ("a if b else ", "c", ""),
            "comprehensions": ("[x for x in ", "y", "]"),
            "comparisons": ("a < ", "b", ""),
            "ors": ("a or ", "b", ""),
            "texts": ("'a' ", "'b'", ""),
            "stars": ("[*", "x", "]"),
            "assignments": ("x = ", "1", ""),
            "open": ("(", "", ""),
            "closed": ("", "", ")"),
            "mixed": ("([{1: f(", "1", ")}])"),
            "strings": ("f'{", "x", "}'"),
            "awaits": ("await ", "x", ""),
        }.items()
    ),
    *(
        Hostile(f"blocks-of-{name}", blocks(head), (99, 20, 101, 500, 2000))
        for name, head in {
            "if": "if x{n}:",
            "def": "def f{n}():",
            "class": "class C{n}(C):",
            "for": "for x{n} in y:",
            "with": "with x{n}:",
            "while": "while x{n}:",
            "async": "async def f{n}():",
        }.items()
    ),
    *(
        Hostile(f"lines-of-{name}", lines(line), sizes)
        for name, line, sizes in (
            ("assignments", "x{n} = x{m}", (5000, 20_000, 200_000)),
            ("same-name", "x = x", (5000, 20_000, 200_000)),
            ("calls", "x{n} = f{n}(x{m})", (5000, 20_000)),
            ("defs", "def f{n}(): return f{m}()", (5000, 20_000)),
            ("classes", "class C{n}(C{m}): pass", (2000, 20_000)),
            ("imports", "from m{n} import *", (2000, 20_000)),
            ("plain-imports", "import m{n}.a.b.c as x{n}", (2000, 20_000)),
            ("decorators", "@d{n}", (2000, 20_000)),
            ("comments", "# {n}", (50_000, 500_000)),
            ("semicolons", "x; " * 20, (1000, 20_000)),
            ("ifs", "if x{n}: y = {n}", (2000, 20_000)),
            ("appends", "x.append({n})", (2000, 20_000)),
            ("loops", "for x in loader: pass", (2000, 20_000)),
            ("random", "np.random.rand({n})", (2000, 20_000)),
        )
    ),
    Hostile("elifs", source(lambda n: "if a:\n pass\n" + "elif b:\n pass\n" * n), (1000, 5000, 40_000)),
    Hostile(
        "more-branches-than-are-read",
        source(lambda n: "if a:\n pass\n" + "".join(f"elif b == {k}:\n    c = {k}\n" for k in range(n))),
        (150_000,),
        says="more than 50,000 branches and loops at module level",
    ),
    Hostile("long-name", source(lambda n: f"{'x' * n} = 1\n"), (1_000_000, 4_900_000)),
    Hostile("long-text", source(lambda n: f"x = '{'x' * n}'\n"), (1_000_000, 4_900_000)),
    Hostile("long-document", source(lambda n: f"'''{'x ' * n}'''\n"), (500_000, 2_400_000)),
    Hostile("long-comment", source(lambda n: f"#{'x' * n}\n"), (1_000_000, 4_900_000)),
    Hostile("long-line", source(lambda n: f"x = [{'1, ' * n}]\n"), (100_000, 1_500_000)),
    Hostile("long-dict", source(lambda n: f"x = {{{', '.join(f'{k}: {k}' for k in range(n))}}}\n"), (10_000, 200_000)),
    Hostile("many-arguments", source(lambda n: f"f({', '.join(f'a{k}={k}' for k in range(n))})\n"), (5000, 200_000)),
    Hostile(
        "many-parameters", source(lambda n: f"def f({', '.join(f'a{k}' for k in range(n))}): pass\n"), (5000, 200_000)
    ),
    Hostile("many-backslashes", source(lambda n: "x = \\\n" + "\\\n" * n + "1\n"), (10_000, 1_000_000)),
    Hostile("many-quotes", source(lambda n: "'\"" * n), (10_000, 1_000_000)),
    Hostile("many-triple-quotes", source(lambda n: "''' \\" * n), (300_000, 10_000, 500_000)),
    Hostile("many-escaped-quotes", source(lambda n: "x = '" + "\\'" * n), (160_000, 1_000_000)),
    Hostile("many-escaped-quotes-of-f-strings", source(lambda n: 'x = f"' + '\\"' * n + "\n"), (160_000, 1_000_000)),
    Hostile("many-spaces", source(lambda n: " " * n + "x\n"), (100_000, 4_900_000)),
    Hostile("many-blank-lines", source(lambda n: "\n" * n + "x\n"), (100_000, 4_900_000)),
    Hostile("larger-than-is-read", source(lambda n: "x = 1\n" * n), (900_000,)),
    Hostile("many-loaders", source(_loaders), (300, 1000, 5000)),
    Hostile("call-mesh", source(_calls), (20, 100, 1000)),
    Hostile("object-mesh", source(_attributes), (20, 100, 1000)),
    Hostile("diamonds", source(_diamonds), (20, 100, 1000)),
    Hostile("class-mesh", source(_mesh), (300, 50, 1500)),
    Hostile("handles", source(_handles), (100, 2500)),
    Hostile("handles-of-methods", source(_handles_of_methods), (100, 2500)),
    Hostile("datasets", source(_datasets), (100, 2500)),
    Hostile("datasets-of-branches", source(_datasets_of_branches), (100, 2500)),
    *(
        Hostile(f"samples-with-{name}", _in_sample(f"        {line}"), (400, 5000))
        for name, line in {
            "augmented-names": "y += [{n}]",
            "items": "y[{n}] = x",
            "branches": "if x: x = f(x)",
            "returns": "if self.kinds[x] is None:\n            return None",
            "seeds": "np.random.seed({n})",
            "bounds": "if x > {n}: x = {n}",
            "loops": "while x < {n}: x += 1",
            "defs": "def f{n}(a): return a",
            "lambdas": "f{n} = lambda a: a + {n}",
            "draws": "x = x + np.random.rand()",
            "imports": "import m{n}",
            "reseeds": "random.seed({n})",
            "reopened-files": "if self.h is None:\n            self.h = open(x)",
        }.items()
    ),
    *(
        Hostile(f"items-with-{name}", _on_one_line(item), (400, 6000))
        for name, item in {"attributes": "self.h{n}", "draws": "np.random.rand({n})", "lambdas": "lambda q: q"}.items()
    ),
    Hostile("conditional-names", _many("", "if a{n}: x = f{n}", "DataLoader(x, num_workers=x())\n"), (400, 6000)),
    Hostile("comprehensions", _many("x = []\n", "x = [q for q in x]"), (400, 6000)),
    Hostile(
        "kept-batches",
        _many(f"{TRAIN}def train():\n    kept = []\n", "    for batch in loader:\n        kept.append(batch)"),
        (200, 2500),
    ),
    *(
        Hostile(f"bomb-of-{name}", _bomb(step), (30, 100, 2000))
        for name, step in {
            "lists": "[{v}, {v}]",
            "sums": "{v} + {v}",
            "products": "{v} * 10",
            "tuples": "({v}, {v}, *{v})",
            "dicts": "{{'a': {v}, 'b': {v}, **{v}}}",
            "calls": "f({v}, {v})",
            "conditions": "{v} if x else [{v}]",
            "loaders": "DataLoader({v}, num_workers=2, collate_fn={v})",
        }.items()
    ),
    *(Hostile(f"cookie-{name[:20]}", fixed(f"# coding: {name}\n{TRAIN}")) for name in _COOKIES),
    *(Hostile(f"bytes-{name}", fixed(data)) for name, data in _BYTES.items()),
    *(Hostile(f"settings-{name}", fixed(text, "pyproject.toml"), finds=False) for name, text in _SETTINGS.items()),
    *(Hostile(f"requirements-{name}", fixed(text, "requirements.txt")) for name, text in _REQUIREMENTS.items()),
    *(Hostile(f"environment-{name}", fixed(text, "environment.yml")) for name, text in _YAML.items()),
    *(
        Hostile(f"malformed-{name}", fixed(text, name), says=f"{name}: is not ")
        for name, text in {
            "environment.yml": "dependencies: [\n",
            "cog.yaml": "build: [\n",
            "pixi.toml": "[dependencies\n",
            "Pipfile": "[packages\n",
            "Pipfile.lock": '{"default": ',
            "setup.cfg": "[options\n",
            "pyproject.toml": "[project\n",
        }.items()
    ),
    *(Hostile(f"file-{name}", fixed(text, name)) for name, text in _LOCKS.items()),
    *(Hostile(f"notebook-{name}", notebook(value)) for name, value in _NOTEBOOKS.items()),
    *(Hostile(f"cells-{name}", cells(*sources)) for name, sources in _CELLS.items()),
    *(Hostile(f"notebook-text-{name}", fixed(data, "x.ipynb")) for name, data in _NOTEBOOK_TEXTS.items()),
    *(
        Hostile(
            f"baseline-{name}",
            fixed(data, "loaderlint-baseline.json"),
            command=("check", "--baseline", "loaderlint-baseline.json", "."),
            finds=False,
        )
        for name, data in _BASELINES.items()
    ),
    *(
        Hostile(f"value-{name}", fixed(f"{text}\n{TRAIN}DataLoader(Rows(), batch_size=n, num_workers=n)\n"))
        for name, text in _VALUES.items()
    ),
    *(
        Hostile(f"tree-{name}", fixed(f"{text}\n{_dataset('A()')}DataLoader(A(), num_workers=2)\n"))
        for name, text in _TREES.items()
    ),
    *(
        Hostile(f"cycle-of-{name}", _import_cycle(line), (30, 1, 2, most))
        for name, line, most in (
            ("stars", "from {m} import *", 500),
            ("names", "import {m}", 500),
            ("members", "from {m} import C0", 500),
            # These make one part of all files, train.py too, and each file has a loader.
            ("relatives", "from .{m} import *", 500),
            ("far", "from ....{m} import *", 500),
        )
    ),
    Hostile(
        "more-loaders-than-are-read",
        _many(
            f"{_HEAD}class D(Dataset):\n    def __getitem__(self, x):\n        return x\n",
            "DataLoader(D(), num_workers={n})",
        ),
        (4100,),
        says="more than 4000 loaders",
    ),
    Hostile("star-packages", _packages, (20, 100, 300)),
    # Two findings a line, each with some 560 characters of JSON.
    Hostile("suppressions", source(_comments), (2000, 12_000)),
    Hostile("suppressions-of-old-mac", raw(lambda size: b"x = 1  # loaderlint: ignore\r" * size), (3,)),
    Hostile("odd-names", _names),
    Hostile("links", _links),
    Hostile("device-zero", _device("/dev/zero")),
    Hostile("device-null", _device("/dev/null")),
    Hostile("device-random", _device("/dev/urandom")),
    Hostile("device-tty", _device("/dev/tty")),
    Hostile("process-memory", _device("/proc/self/mem")),
    Hostile("fifo", _fifo("x.py")),
    Hostile("fifo-notebook", _fifo("x.ipynb")),
    Hostile("fifo-settings", _fifo("loaderlint.toml")),
    *(
        Hostile(f"{kind}-{name}", make(name), says=f"{name}: {says}")
        for name in _VERSION_FILES
        for kind, make, says in (("fifo", _fifo, "is a named pipe"), ("huge", _huge, "larger than"))
    ),
    Hostile("fifo-ignore", _fifo(".gitignore")),
    Hostile("zero-settings", _device("/dev/zero", "loaderlint.toml"), finds=False),
    Hostile("zero-requirements", _device("/dev/zero", "requirements.txt")),
    Hostile("zero-ignore", _device("/dev/zero", ".gitignore")),
    Hostile("socket", _socket),
    Hostile("folder-settings", _folder("loaderlint.toml")),
    Hostile("folder-requirements", _folder("requirements.txt")),
    Hostile("folder-ignore", _folder(".gitignore")),
    Hostile("deep-folders", _deep_folders, (200, 900)),
    Hostile("many-files", _many_files, (500, 10_000)),
    Hostile("forbidden", _forbidden),
    Hostile("ignore-patterns", _ignore_patterns, (20, 2000)),
    Hostile("program", _program, tuple(range(20))),
    Hostile("damage", _damage, tuple(range(20))),
)


#: What is known not to hold, by the names of rows, with the mechanism. The tests of these rows must fail.
KNOWN: Mapping[str, str] = {}


def write(row: Hostile, folder: Path, size: int) -> None:
    """Write the row's project into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(TRAIN)
    row.make(folder, size)
