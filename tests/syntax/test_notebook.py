"""Notebooks as source and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loaderlint.syntax import notebook


def made(*cells: str | list[str], indent: int | None = 1, **more: Any) -> str:
    """A notebook's file with these code cells, a Markdown cell in front, and an output behind each."""
    listed: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# import torch"]}]
    listed += [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"name": "stdout", "text": ["source"]}],
            "source": cell,
        }
        for cell in cells
    ]
    whole = {"cells": listed, "metadata": {"kernelspec": {"language": "python"}}, "nbformat": 4, **more}
    return json.dumps(whole, indent=indent, ensure_ascii=False) + "\n"


def test_code_cells_are_one_source() -> None:
    found = notebook.read(made(["import torch\n", "x = 1"], "y = 2\nz = 3\n", [], "w = 4"))
    assert found.text == "import torch\nx = 1\ny = 2\nz = 3\n\n\nw = 4\n"
    assert found.starts == (0, 2, 5, 6)
    assert notebook.cell_of(found.starts, 3) == (2, 1)
    assert notebook.cell_of(found.starts, 4) == (2, 2)  # the empty line that editors show
    assert notebook.cell_of(found.starts, 6) == (4, 0)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", " " * 18 + "\nx = 1"),
        ("if True:\n    !ls -l", "if True:\n    0     "),
        ("files = !ls\n", "files = 0  \n"),
        ("t = %time f(x)", "t = 0         "),
        ("DataLoader?", " " * 11),
        ("torch.utils??\nx", " " * 13 + "\nx"),
        ("?help", " " * 5),
        ("%%bash\nls *.py\n", "      \n       \n"),
        ("%%time\nx = 1\n%who", "      \nx = 1\n    "),
        ("print('%d'\n    % x)", "print('%d'\n    % x)"),
        ('"""\n%no magic\n"""', '"""\n%no magic\n"""'),
        ("x = 5 \\\n% 3", "x = 5 \\\n% 3"),
        ("x = y % 3\nz != 4", "x = y % 3\nz != 4"),
        ("a[0] = !pwd", "a[0] = 0   "),
        ("f(x, b='!ls')", "f(x, b='!ls')"),
        ("!a \\\n  b\nx", "    \n   \nx"),
        ("pip install -r requirements.txt\n", " " * 31 + "\n"),
        ("ls saved_models/\nx", " " * 16 + "\nx"),
        ("cd ..\ncd ~/data\nls -l data\n", "     \n         \n          \n"),
        ("if a:\n    pip install x\n", "if a:\n    0" + " " * 12 + "\n"),
        ("ls = 1\nls -l\nrun(x)\ntime in x\nload . x\n", "ls = 1\nls -l\nrun(x)\ntime in x\n" + " " * 8 + "\n"),
        ("run.x = 1\npip: int = 1\nenv if x else y\n", "run.x = 1\npip: int = 1\nenv if x else y\n"),
        ("# %magic\n", "# %magic\n"),
    ],
)
def test_magics_are_blanked_at_equal_length(cell: str, expected: str) -> None:
    assert notebook.blanked(cell) == expected
    assert len(expected) == len(cell)


@given(st.text(alphabet="ab%!?= \n\t'\"\\()#[]", max_size=60))
def test_blanking_keeps_every_position(cell: str) -> None:
    done = notebook.blanked(cell)
    assert len(done) == len(cell)
    assert [at for at, sign in enumerate(done) if sign in "\r\n"] == [
        at for at, sign in enumerate(cell) if sign in "\r\n"
    ]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("cell", ["x = 1\n%who\ny = 2", ["x = 1\n", "%who\n", "y = 2"]])
def test_an_edit_changes_its_cell_only(cell: str | list[str], indent: int | None) -> None:
    file = made("import torch  # é", cell, "z = 3", indent=indent)
    found = notebook.read(file)
    after = found.edited(found.text.replace("y = 2", "y = 20\nprint(y)").replace("import torch", "import numpy"))
    cells = [cell["source"] for cell in json.loads(after)["cells"]]
    assert "".join(cells[1]) == "import numpy  # é"
    assert "".join(cells[2]) == "x = 1\n%who\ny = 20\nprint(y)"
    assert type(cells[2]) is type(cell)
    assert after == made(
        "import numpy  # é",
        ["x = 1\n", "%who\n", "y = 20\n", "print(y)"] if isinstance(cell, list) else "x = 1\n%who\ny = 20\nprint(y)",
        "z = 3",
        indent=indent,
    )


def test_no_edit_gives_the_same_file() -> None:
    file = made(["import torch\n"], "x = 1", [])
    found = notebook.read(file)
    assert found.edited(found.text) == file


def test_a_line_in_front_of_a_cell_belongs_to_the_cell_before() -> None:
    found = notebook.read(made("import torch", "x = 1"))
    after = json.loads(found.edited("import torch\nimport numpy\nx = 1\n"))
    assert [cell["source"] for cell in after["cells"]] == [["# import torch"], "import torch\nimport numpy", "x = 1"]


def test_a_function_at_the_end_of_a_cell_leaves_no_blank_lines() -> None:
    found = notebook.read(made("import torch", "x = 1\n\n"))
    after = json.loads(found.edited("import torch\n\n\ndef f(): ...\n\n\nx = 1\n\n\n"))
    assert [cell["source"] for cell in after["cells"]][1:] == ["import torch\n\n\ndef f(): ...", "x = 1\n\n"]


@pytest.mark.parametrize(("cell", "expected"), [("x = g()", "def f"), ("\nx = g()", "\n\n\ndef f")])
def test_a_function_at_the_start_of_a_cell_leaves_no_blank_lines_above(cell: str, expected: str) -> None:
    found = notebook.read(made("import torch", cell))
    above = cell.removesuffix("x = g()")
    after = json.loads(found.edited(f"import torch\n{above}\n\ndef f(): ...\n\n\nx = g(f)\n"))
    assert after["cells"][2]["source"].startswith(expected)


def test_other_languages_have_no_source() -> None:
    assert notebook.read(made("x <- 1", metadata={"kernelspec": {"language": "R"}})).text == ""


@pytest.mark.parametrize("file", ["", "[]", "{", '{"cells": [], "nbformat": 3}', "x" * 50])
def test_what_is_no_notebook_is_said(file: str) -> None:
    with pytest.raises(notebook.UnreadableNotebook, match="not a notebook"):
        notebook.read(file)


@pytest.mark.parametrize("indent", [None, 1])
def test_a_place_in_the_source_is_one_in_the_file(indent: int | None) -> None:
    cells = (["a = 'é'\n", 'b = "\\\\" + c\n', "\tlast"], "x = '\U0001f600' + y\r\nz\n", [], "%magic\nd")
    file = made(*cells, indent=indent)
    lines = file.split("\n")
    for text in (file, json.dumps(json.loads(file), indent=indent)):
        found, lines = notebook.read(text), text.split("\n")
        source = found.text.split("\n")
        for sign in "abcyd":
            line = next(number for number, shown in enumerate(source) if sign in shown.replace("magic", ""))
            at, column = found.in_file(line, source[line].index(sign))
            assert lines[at][column] == sign
        end, after = found.in_file(1, len(source[1]))
        assert lines[end][:after].endswith("c")
        assert found.in_file(10**6, 10**6)[0] < len(lines)


def test_a_place_in_a_notebook_without_code() -> None:
    assert notebook.read(made()).in_file(3, 4) == (0, 0)


def test_a_notebook_of_too_many_values_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_MOST_VALUES", 60)

    def file(output: object) -> str:
        cell = {"cell_type": "code", "source": "x = 1", "outputs": [output]}
        return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]})

    assert notebook.read(file(r'[1, "2", \\\\' * 100)).text == "x = 1\n", "signs inside of a string"
    for output in ([1] * 100, [[]] * 100, [{}] * 100, ["x"] * 100, ['\\"'] * 100):
        with pytest.raises(notebook.UnreadableNotebook, match="more than 60 values; clear its outputs"):
            notebook.read(file(output))
