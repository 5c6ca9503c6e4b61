"""What may cost any amount costs little: values that double, code that makes itself, long defs, large files.

Counted are calls of functions and bytes of memory, never time."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from loaderlint.engine import Workspace
from loaderlint.fixes import conflicts, draft
from loaderlint.project.loaders import loaders
from loaderlint.syntax import piece_size

HEAD = """from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __init__(self, x):
        self.x = x

    def __getitem__(self, index):
        return self.x


"""
DRAWING = """import numpy as np
from torch.utils.data import DataLoader, Dataset


class Drawn(Dataset):
    def __getitem__(self, index):
        return np.random.rand() + np.random.randint(9)


loader = DataLoader(Drawn(), num_workers=2)
"""
USE = "loader = DataLoader(Data({0}), num_workers=2, collate_fn={0})\nother = DataLoader({0}, num_workers=2)\n"


@pytest.fixture(scope="module", autouse=True)
def _imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the first check imports and compiles does not count."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "main.py").write_text(HEAD + USE.format("Data(1)"), encoding="utf-8")
    Workspace([folder]).check()


def _check_with_fixes(workspace: Workspace) -> None:
    """Check, and make the fixes of all findings."""
    for found in workspace.check().values():
        for diagnostic in found:
            workspace.preferred_repair(diagnostic)


def _calls(folder: Path, text: str, ask: Callable[[Workspace], object] = Workspace.check) -> int:
    """How often functions of Python are called when this is asked of a project of one file with this text."""
    folder.mkdir()
    (folder / "main.py").write_text(text, encoding="utf-8")
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    workspace = Workspace([folder])
    before = sys.getprofile()
    threading.setprofile(note)  # linking runs on a thread of its own
    sys.setprofile(note)
    try:
        ask(workspace)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return count


# --- values -----------------------------------------------------------------------------------------------------------

DOUBLED = {
    "a list": "[{0}, {0}]",
    "a tuple": "({0}, {0})",
    "a dict": "{{'a': {0}, 'b': {0}}}",
    "a sum": "{0} + {0}",
    "a product": "{0} * 2",
    "stars": "[*{0}, *{0}]",
    "a condition": "[{0}, {0}] if test else ({0}, {0})",
    "a choice": "[{0}] or ({0},)",
    "a comprehension": "[[one, one] for one in {0}]",
    "a call": "both({0}, {0})",
    "zip": "list(zip({0}, {0}))",
    "a pipeline": "transforms.Compose([{0}, {0}])",
    "a partial": "partial(both, {0}, {0})",
    "a method": "{0}.strip()",
    "an attribute": "{0}.name",
}


def _chain(step: str, lines: int) -> str:
    made = "".join(f"x{n} = {step.format(f'x{n - 1}')}\n" for n in range(1, lines + 1))
    return f"{HEAD}def both(*given):\n    return given\n\n\nx0 = [1, 2]\n{made}{USE.format(f'x{lines}')}"


@pytest.mark.parametrize("step", DOUBLED.values(), ids=DOUBLED)
def test_a_value_that_doubles_with_each_line(tmp_path: Path, step: str) -> None:
    few, many = (_calls(tmp_path / str(lines), _chain(step, lines)) for lines in (12, 24))
    assert many < 4 * few


def test_a_list_past_its_budget_is_still_a_list(tmp_path: Path) -> None:
    """The loader's other arguments are known, and so is that its dataset is none of the project's."""
    (tmp_path / "main.py").write_text(_chain(DOUBLED["a list"], 24) + "DataLoader(x24, num_workers='2')\n")
    assert Workspace([tmp_path]).check()[tmp_path / "main.py"] == ()


# --- code that makes itself -------------------------------------------------------------------------------------------


def _mesh(count: int) -> str:
    every = ", ".join(f"D{n}()" for n in range(count))
    classes = [
        f"class D{n}(Dataset):\n    def __init__(self):\n        self.parts = [{every}]\n\n"
        "    def __getitem__(self, index):\n        return [part[index] for part in self.parts]\n\n\n"
        for n in range(count)
    ]
    return f"from torch.utils.data import DataLoader, Dataset\n\n\n{''.join(classes)}DataLoader(D0(), num_workers=2)\n"


def _functions(count: int) -> str:
    calls = [", ".join(f"f{n}([given, {n}])" for n in range(count))] * count
    functions = [f"def f{n}(given):\n    return [{inner}]\n\n\n" for n, inner in enumerate(calls)]
    return f"{HEAD}{''.join(functions)}{USE.format('f0(1)')}"


@pytest.mark.parametrize("text", [_mesh, _functions])
def test_code_that_leads_everywhere(tmp_path: Path, text: Callable[[int], str]) -> None:
    few, many = (_calls(tmp_path / str(count), text(count)) for count in (6, 12))
    assert many < 8 * few


# --- long defs --------------------------------------------------------------------------------------------------------

STATEMENTS = {
    "one name": "x = {n}",
    "many names": "v{n} = {n}",
    "append": "x.append({n})",
    "an item": "x[{n}] = {n}",
    "an attribute": "self.a = {n}",
    "a counter": "self.a += 1",
    "a branch": "if y == {n}:\n    x = {n}",
    "a branch of many names": "if y == {n}:\n    v{n} = {n}",
    "a branch that leaves": "if y == {n}:\n    return x",
    "try": "try:\n    v{n} = y({n})\nexcept ValueError:\n    pass",
    "with": "with open(y) as file{n}:\n    x = file{n}",
    "a loop": "for k{n} in y:\n    x += k{n}",
    "a loop that is left": "for k{n} in y:\n    if k{n}:\n        break\n    x = k{n}",
    "a call": "y(x, {n})",
    "a function": "def h{n}(a):\n    return a + x",
}


def _long(statement: str, count: int) -> str:
    lines = [line for n in range(count) for line in statement.format(n=n).splitlines()]
    body = "".join(f"        {line}\n" for line in lines)
    return (
        "from torch.utils.data import DataLoader, Dataset\n\n\nclass Long(Dataset):\n    def __init__(self):\n"
        "        self.a = 0\n\n    def __getitem__(self, y):\n        x = self.a\n"
        f"{body}        return x\n\n\nDataLoader(Long(), num_workers=2)\n"
    )


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_a_def_costs_what_its_statements_cost(tmp_path: Path, statement: str) -> None:
    few, many = (_calls(tmp_path / str(count), _long(statement, count)) for count in (100, 500))
    assert many < 7 * few


# --- many findings ----------------------------------------------------------------------------------------------------

COUNTERS = """from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self):
        self.seen = 0
{made}
    def __getitem__(self, index):
{counted}        return index


rows = Rows()
loader = DataLoader(rows, num_workers=2)
{read}"""
HANDLES = """from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, path):
{opened}
    def __getitem__(self, index):
{read}        return index


DataLoader(Rows("x"), num_workers=2)
"""
THREADS = """import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __getitem__(self, index):
{0}        return index


DataLoader(Rows(), num_workers=2)
"""


def _one_counter(count: int) -> str:
    return COUNTERS.format(made="", counted="        self.seen += 1\n" * count, read="print(rows.seen)\n" * count)


def _counters(count: int) -> str:
    numbers = range(count)
    return COUNTERS.format(
        made="".join(f"        self.n{n} = 0\n" for n in numbers),
        counted="".join(f"        self.n{n} += 1\n" for n in numbers),
        read="".join(f"print(rows.n{n})\n" for n in numbers),
    )


def _silences_nothing(count: int) -> str:
    return THREADS.format("".join(f"        x{n} = 1  # noqa: LDR102\n" for n in range(count)))


def _deletable(count: int) -> str:
    return THREADS.format("".join(f"        torch.set_num_threads({n + 2})\n" for n in range(count)))


def _arguments(count: int) -> str:
    calls = "".join(f"    loader{n} = DataLoader(Rows(), num_workers=0, prefetch_factor=2)\n" for n in range(count))
    return f"{THREADS.format('')}\n\ndef main():\n{calls}"


def _handles(count: int) -> str:
    opened = "".join(f"        self.h{n} = open(path)\n" for n in range(count))
    read = "".join(f"        self.h{n}.read()\n" for n in range(count))
    return HANDLES.format(opened=opened, read=read)


def _draws(count: int) -> str:
    return THREADS.format("        index = index + np.random.rand()\n" * count).replace("torch\n", "numpy as np\n", 1)


MANY_FINDINGS = (
    _one_counter,
    _counters,
    _silences_nothing,
    _deletable,
    _arguments,
    _handles,
    _draws,
)


@pytest.mark.parametrize("text", MANY_FINDINGS, ids=lambda text: text.__name__.strip("_"))
def test_a_finding_costs_the_same_among_many(tmp_path: Path, text: Callable[[int], str]) -> None:
    few, many = (_calls(tmp_path / str(count), text(count), _check_with_fixes) for count in (50, 200))
    assert many < 5.5 * few


def test_a_fix_costs_the_same_among_many_that_conflict(tmp_path: Path) -> None:
    """Of two comments in a line both would take the space between them."""
    line = "        x{n} = 1  # loaderlint: ignore[LDR102] # noqa: LDR102\n"
    compared = []
    for count in (100, 400):
        (tmp_path / str(count)).mkdir()
        text = THREADS.format("".join(line.format(n=n) for n in range(count)))
        (tmp_path / str(count) / "main.py").write_text(text, encoding="utf-8")
        workspace = Workspace([tmp_path / str(count)])
        with patch.object(conflicts, "_meet", wraps=conflicts._meet) as meet:
            assert len(workspace.fix_all([tmp_path / str(count)], hints=True)[0].edits) == count
        compared.append(meet.call_count)
    assert compared[1] < 5 * compared[0]


def _loaders(count: int) -> str:
    return DRAWING + "".join(f"loader{n} = DataLoader(Drawn(), num_workers=2)\n" for n in range(count))


def test_a_loader_costs_the_same_among_many_in_the_worker_map(tmp_path: Path) -> None:
    few, many = (_calls(tmp_path / str(count), _loaders(count), Workspace.worker_map) for count in (300, 1200))
    assert many < 4.8 * few


# --- large files ------------------------------------------------------------------------------------------------------

LARGE = {
    "a list of numbers": ("rows = [", "1,", "]\n"),
    "a list of calls": ("rows = [", "f(),", "]\n"),
    "semicolons": ("", "x=1;", "\n"),
    "an import": ("from module import (", "name,", ")\n"),
    "blank lines": ("", "\n", ""),
    "an f-string": ("rows = f'", "{x}", "'\n"),
}
#: A check of one file within so much memory, in a process of its own.
CHECK = """
import resource, sys
limit = 1 << 30
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
from loaderlint.cli import main
sys.exit(main(["check", "--no-cache", sys.argv[1]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process so")
@pytest.mark.parametrize("parts", LARGE.values(), ids=LARGE)
def test_a_large_file_needs_less_than_a_gibibyte(tmp_path: Path, parts: tuple[str, str, str]) -> None:
    first, middle, last = parts
    data = first + middle * (4_000_000 // len(middle)) + last
    (tmp_path / "main.py").write_text(data + HEAD + USE.format("Data(1)") + "DataLoader(Data(1), num_workers=2)\n")
    done = subprocess.run([sys.executable, "-c", CHECK, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr[-2000:]
    left_out = "main.py: line 1: the statement that begins here is too large; not checked" in done.stderr
    assert left_out == (middle != "\n")


def test_more_loaders_than_are_read_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaders, "MAX_LOADERS", 20)
    few = HEAD + "DataLoader(Data(1))\n" * 20
    path, other = tmp_path / "a" / "main.py", tmp_path / "b" / "main.py"
    for one in (path, other):
        one.parent.mkdir()
        one.write_text(few, "utf-8")
    workspace = Workspace([tmp_path])
    workspace.check()
    assert workspace.problems == []
    path.write_text(few + "loader = DataLoader(Data(2))\n", "utf-8")
    told = Workspace([tmp_path])
    told.check()
    (problem,) = told.problems
    assert problem.path == path and "more than 20 loaders" in problem.message
    assert "`loader`" in problem.message and not problem.fatal
    told.set_text(path, few)
    told.check()
    assert told.problems == []


def test_limits_that_another_process_reached_are_told(tmp_path: Path) -> None:
    made = "def make(x):\n    return DataLoader(x)\n\n\n"
    calls = "\n".join(f"def f{number}():\n    return make(Data({number}))" for number in range(40))
    path = tmp_path / "a" / "main.py"
    for one, text in ((path, HEAD + made + calls), (tmp_path / "b" / "main.py", HEAD + "DataLoader(Data(1))")):
        one.parent.mkdir()
        one.write_text(text + "\n", "utf-8")
    told = Workspace([tmp_path], jobs=2)
    told.check()
    problem = next(one for one in told.problems if "ways" in one.message)
    assert problem.path == path and problem.message.startswith("`make` is called in more than 32 ways")


def test_what_stands_beside_a_large_statement_is_checked(tmp_path: Path) -> None:
    fault = (
        "import random\n\n\nclass Drawn(Data):\n    def __getitem__(self, index):\n        return np.random.rand()\n"
    )
    code = f"import numpy as np\n{HEAD}{fault}\n\nDataLoader(Drawn(1), num_workers=2)\n"
    path = tmp_path / "main.py"
    path.write_text(code, "utf-8")
    found = Workspace([tmp_path]).check()[path]
    assert found
    path.write_text(code + f"rows = [{'1,' * 200_000}]\n", "utf-8")
    workspace = Workspace([tmp_path])
    assert [one.code for one in workspace.check()[path]] == [one.code for one in found]
    (problem,) = workspace.problems
    assert problem.path == path and "too large" in problem.message
    workspace.set_text(path, code)
    assert [one.code for one in workspace.check()[path]] == [one.code for one in found]
    assert workspace.problems == []


def test_findings_beyond_the_budget_of_fixes_have_none_and_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "main.py"
    path.write_text(DRAWING, "utf-8")
    assert _repairs(path) == (2, [])
    monkeypatch.setattr(draft, "MAX_WORK", 1)
    monkeypatch.setattr(draft, "_CHEAP", 0)
    count, (message,) = _repairs(path)
    assert count == 0 and message.startswith("some findings are shown without a fix")


def _repairs(path: Path) -> tuple[int, list[str]]:
    """How many findings of a file have a fix, and what is told beside them."""
    workspace = Workspace([path.parent], {"target-torch": "1.8"})
    found = workspace.check()[path]
    assert len(found) == 2
    count = sum(workspace.preferred_repair(one) is not None for one in found)
    return count, [problem.message for problem in workspace.problems]


@pytest.mark.parametrize("typed", [False, True])
def test_a_file_of_too_many_branches_is_left_out_and_comes_back(tmp_path: Path, typed: bool) -> None:
    path = tmp_path / "main.py"
    few = "from torch.utils.data import DataLoader\nif a:\n    pass\n"
    many = few + "elif b:\n    pass\n" * (piece_size.MAX_CLAUSES + 1)
    path.write_text(few if typed else many, "utf-8")
    workspace = Workspace([tmp_path])
    if typed:
        workspace.set_text(path, few)
        workspace.check()
        workspace.set_text(path, many)
    workspace.check()
    (problem,) = workspace.problems
    assert problem.path == path and "more than 50,000 branches" in problem.message
    workspace.set_text(path, few)
    assert workspace.check()[path] == ()
    assert workspace.problems == []
