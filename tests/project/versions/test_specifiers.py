"""How one package is written: requirements of PEP 508, tables of Poetry and Pipenv, conda's notation."""

from __future__ import annotations

import pytest

from loaderlint.project.versions import conda_specifiers, poetry_constraints
from loaderlint.project.versions.declaration import Declaration
from loaderlint.project.versions.requirement_specifiers import LONGEST, linked_file, requirement

WHEEL = "https://x.org/whl/torch-1.8.1-cp38-cp38-linux_x86_64.whl"
LINUX = 'sys_platform == "linux"'

REQUIREMENTS = [
    ("torch[opt]>=1.8,<2; python_version<'3.9'", Declaration("torch", ">=1.8,<2", "python_version<'3.9'")),
    ("torch", Declaration("torch", "")),
    (f"torch @ {WHEEL}", Declaration("torch", "1.8.1", LINUX)),
    (f"torch @ {WHEEL} ; extra == 'x'", Declaration("torch", "1.8.1", f"(extra == 'x') and ({LINUX})")),
    ("torch @ https://x.org/torch-1.8.1.tar.gz ; extra == 'x'", Declaration("torch", "1.8.1", "extra == 'x'")),
    (f"numpy @ {WHEEL}", Declaration("numpy", "")),
    ("torch @ git+https://x.org/torch ; extra == 'x'", Declaration("torch", "", "extra == 'x'")),
    ("torch" + " " * (LONGEST - 5), Declaration("torch", "")),
    ("torch" + " " * LONGEST, None),
    ("-r other.txt", None),
]
FILES = [
    (WHEEL, Declaration("torch", "1.8.1", LINUX)),
    (f"{WHEEL}#sha256=0/1", Declaration("torch", "1.8.1", LINUX)),
    (
        "https://x.org/torch-1.8.1%2Bcu111-cp38-cp38-win_amd64.whl",
        Declaration("torch", "1.8.1+cu111", 'sys_platform == "win32"'),
    ),
    ("torch-1.8.1-py3-none-any.whl", Declaration("torch", "1.8.1")),
    ("a/b/torch-1.8.1.zip", Declaration("torch", "1.8.1")),
    ("https://x.org/torch", None),
]
TABLES = [
    ("^1.8", ">=1.8,<2", ""),
    ("^0.0.3", ">=0.0.3,<0.0.4", ""),
    ("~1.8", ">=1.8,<1.9", ""),
    ("*", "", ""),
    ("^next", "^next", ""),
    ({"version": "1.8", "python": "*"}, "==1.8", ""),
    ({"path": "wheels/torch-1.8.1-py3-none-any.whl"}, "1.8.1", ""),
    ({"file": "wheels/torch-1.8.1.zip"}, "1.8.1", ""),
    ({"git": "https://x.org/torch"}, "", ""),
    ({"version": "1.8", "python": "^3.8"}, "==1.8", '(python_full_version >= "3.8" and python_full_version < "4")'),
    ({"version": "1.8", "python": "3.8.*"}, "==1.8", '(python_full_version == "3.8.*")'),
    ({"version": "1.8", "python": "3.8 || 3.9"}, "==1.8", ""),
    ({"version": "1.8", "platform": "darwin"}, "==1.8", '(sys_platform == "darwin")'),
    (
        {"version": "1.8", "markers": "extra == 'x'", "os_name": "== 'nt'"},
        "==1.8",
        "(extra == 'x') and (os_name == 'nt')",
    ),
]
CONDA = [
    ("conda-forge::pytorch=1.8", Declaration("torch", "==1.8.*")),
    ("pytorch=1.8.1", Declaration("torch", "==1.8.1")),
    ("pytorch==1.8", Declaration("torch", "==1.8")),
    ("pytorch=1.8=py38_cuda", Declaration("torch", "==1.8")),
    ("pytorch 1.8", Declaration("torch", "==1.8")),
    ("pytorch 1.8.* py38_0", Declaration("torch", "==1.8.*")),
    ("pytorch >=1.8, <2|2.1.0  # why", Declaration("torch", ">=1.8,<2 || ==2.1.0")),
    ("pytorch[version='>=1.8,<2',build=x]", Declaration("torch", ">=1.8,<2")),
    ("pytorch[build=x] 1.8", Declaration("torch", "==1.8")),
    ("pytorch" + " " * (LONGEST - 7), Declaration("torch", "")),
    ("pytorch" + " " * LONGEST, None),
    ("- pip:", None),
]


@pytest.mark.parametrize(("text", "expected"), REQUIREMENTS)
def test_a_requirement(text: str, expected: Declaration | None) -> None:
    assert requirement(text) == expected
    assert requirement(text, aside=True) == (expected and expected._replace(aside=True))


@pytest.mark.parametrize(("url", "expected"), FILES)
def test_a_linked_file(url: str, expected: Declaration | None) -> None:
    assert linked_file(url) == expected


@pytest.mark.parametrize(("wanted", "versions", "marker"), TABLES)
def test_a_table_of_poetry(wanted: object, versions: str, marker: str) -> None:
    assert list(poetry_constraints.table({"Torch": wanted})) == [Declaration("torch", versions, marker)]
    assert list(poetry_constraints.table({"Torch": [wanted]}, aside=True)) == [
        Declaration("torch", versions, marker, aside=True)
    ]


@pytest.mark.parametrize(("text", "expected"), CONDA)
def test_conda(text: str, expected: Declaration | None) -> None:
    assert conda_specifiers.package(text) == expected
