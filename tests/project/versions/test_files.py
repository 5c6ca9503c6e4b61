"""What each kind of file declares, and what looks like a declaration and is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loaderlint.project.versions.project_versions import Declared, Versions

LINUX = ("linux",)


def declared(folder: Path, root: Path | None = None, platforms: tuple[str, ...] = LINUX) -> Declared:
    return Versions(root or folder).at(folder, platforms)


def told(folder: Path, name: str = "torch", platforms: tuple[str, ...] = LINUX) -> str:
    """What is known of a package; '-' if it is not named at all."""
    found = declared(folder, platforms=platforms)
    return found[name].described.partition(", from ")[0] if name in found else "-"


REQUIREMENTS = [
    ("torch==1.8.1", "1.8.1"),
    ("numpy\ntorch==1.8.1  # old\n", "1.8.1"),
    ("torch[opt] == 2.1", "2.1"),
    ("torch (>=1.4,<1.6)", ">=1.4,<1.6"),
    ("Torch==1.8.1", "1.8.1"),
    ("pytorch==1.3.1", "1.3.1"),
    ("torch==1.8.1+cu111\n", "1.8.1+cu111"),
    ("torch==1.8.*", "1.8.*"),
    ("torch~=1.8", "~=1.8"),
    ("torch>=1.7.0,!=1.12.0", ">=1.7.0,!=1.12.0"),
    ("torch", "not known"),
    ("torch!=1.7", "not known"),
    ("torch===1.8", "1.8"),
    ("torch==1.8.1 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nnumpy==1.19\n", "1.8.1"),
    ("--extra-index-url https://x\ntorch==1.8.1 --no-binary :all:", "1.8.1"),
    ("torch @ https://download.pytorch.org/whl/cu111/torch-1.8.1%2Bcu111-cp38-cp38-linux_x86_64.whl", "1.8.1+cu111"),
    ("https://download.pytorch.org/whl/cu111/torch-1.8.1%2Bcu111-cp38-cp38-linux_x86_64.whl", "1.8.1+cu111"),
    ("./wheels/torch-1.8.1-cp38-cp38-manylinux1_x86_64.whl", "1.8.1"),
    ("https://download.pytorch.org/whl/torch-1.8.1-cp38-cp38-win_amd64.whl", "-"),
    ("torch @ git+https://github.com/pytorch/pytorch@main", "not known"),
    ("torch @ file:///tmp/build/torch_163", "not known"),
    ("torch==1.8.1=pypi_0", "-"),
    ("torch=1.8.1=pypi_0", "1.8.1"),
    ("# platform: linux-64\npytorch=1.8.1=py3.8_cuda10.2_0\n", "1.8.1"),
    ("torch==1.8 ; python_version < '3.9'\ntorch==2.1 ; python_version >= '3.9'\n", "1.8 or 2.1"),
    ("torch==1.8 ; sys_platform == 'win32'\ntorch==2.1 ; sys_platform != 'win32'\n", "2.1"),
    ("torch==1.8 ; python_version < '3'\n", "-"),
    ("torch==1.8 ; not a marker\n", "1.8"),
    ("\ufefftorch==1.8.1\n", "1.8.1"),
    # near misses
    ("torchvision==0.9", "-"),
    ("torch-geometric==2.0\ntorch_scatter==2.1\n", "-"),
    ("# torch==1.0", "-"),
    ("-e git+https://github.com/x/torch.git#egg=torch-1.0", "-"),
    ("pytorch-lightning==1.5", "-"),
    ("lightning==2.0", "-"),
    ("pytorch-cuda=11.8=h7e8668a_5", "-"),
    ("--find-links https://download.pytorch.org/whl/torch_stable.html", "-"),
    ("https://download.pytorch.org/whl/torchvision-0.9.1-cp38-cp38-linux_x86_64.whl", "-"),
]


@pytest.mark.parametrize(("text", "expected"), REQUIREMENTS)
def test_requirements_txt(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(text, encoding="utf-8")
    assert told(tmp_path) == expected


def test_requirements_that_powershell_wrote(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==1.8.1\r\nnumpy==1.19\r\n", encoding="utf-16")
    assert told(tmp_path) == "1.8.1"


CONDA = [
    ("- pytorch=1.8", "1.8.*"),
    ("- pytorch=1.8.1", "1.8.1"),
    ("- pytorch==1.8", "1.8"),
    ("- pytorch=1.8.1=py3.8_cuda10.2_0", "1.8.1"),
    ("- pytorch 1.8.1 py3.8_0", "1.8.1"),
    ("- pytorch 1.8.*", "1.8.*"),
    ("- pytorch >=1.8, <2", ">=1.8,<2"),
    ("- pytorch::pytorch=1.8", "1.8.*"),
    ("- conda-forge/linux-64::pytorch-gpu=1.8.0", "1.8.0"),
    ("- pytorch[version='>=1.8,<2']", ">=1.8,<2"),
    ("- pytorch=1.8|1.9.*", "1.8.* or 1.9.*"),
    ("- pytorch", "not known"),
    ("- pip\n- pip:\n  - torch==1.8.1+cu111", "1.8.1+cu111"),
    ("- pip:\n  - -r more.txt", "1.4"),
    # near misses
    ("- pytorch-cuda=11.8\n- pytorch-mutex=1.0\n- torchvision=0.9", "-"),
    ("- pytorch-lightning=1.5", "-"),
    ("# - pytorch=1.8\n- numpy", "-"),
]


@pytest.mark.parametrize(("entries", "expected"), CONDA)
@pytest.mark.parametrize("name", ["environment.yml", "conda_env.yaml"])
def test_conda(entries: str, expected: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("torch==1.4\n")
    (tmp_path / name).write_text(f"name: x\nchannels: [pytorch]\ndependencies:\n{entries}\n")
    assert told(tmp_path) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("python=3.8", "3.8"),
        ("python=3.8.5=h7579374_1", "3.8.5"),
        ("python>=3.9", ">=3.9"),
        ("python-dateutil=3", "-"),
    ],
)
def test_conda_python(entry: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "environment.yaml").write_text(f"dependencies:\n  - {entry}\n")
    assert told(tmp_path, "python") == expected


@pytest.mark.parametrize(
    ("text", "torch", "python"),
    [
        ('build:\n  python_version: "3.8"\n  python_packages:\n    - "torch==1.8.0"\n', "1.8.0", "3.8"),
        ("build:\n  python_requirements: more.txt\n", "1.4", "-"),
        ("build:\n  python_version: 3.10\n", "-", "3.10"),
        ('python_packages:\n  - "torch==1.8.0"\n', "-", "-"),
        ("build:\n  system_packages: [torch==1.8.0]\n", "-", "-"),
        ("build: torch==1.8.0\n", "-", "-"),
    ],
)
def test_cog(text: str, torch: str, python: str, tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_text("torch==1.4\n")
    (tmp_path / "cog.yaml").write_text(text)
    assert (told(tmp_path), told(tmp_path, "python")) == (torch, python)


PYPROJECT = [
    ("[project]\ndependencies = [\"torch==2.4.0; python_version > '3'\"]", "2.4.0"),
    (
        '[project]\ndependencies = ["torchvision==0.9"]\n[project.optional-dependencies]\ngpu = ["torch>=2,<3"]',
        ">=2,<3",
    ),
    (
        '[project]\ndependencies = ["torch>=2"]\n[project.optional-dependencies]\nold = ["torch<2.1"]\nx = ["torch"]',
        ">=2 or >=2,<2.1",
    ),
    ('[dependency-groups]\ntrain = ["torch==2.4.0", {include-group = "dev"}]\ndev = ["torch==1.0"]', "2.4.0"),
    ('[dependency-groups]\ndev = ["torch==2.4.0"]', "2.4.0"),
    ('[project]\ndependencies = ["torch>=2"]\n[dependency-groups]\ndev = ["torch==2.4.0"]', ">=2"),
    ('[tool.poetry.dependencies]\ntorch = "^1.8"', ">=1.8,<2"),
    ('[tool.poetry.dependencies]\ntorch = "^0.4.1"', ">=0.4.1,<0.5"),
    ('[tool.poetry.dependencies]\ntorch = "~1.8.1"', ">=1.8.1,<1.9"),
    ('[tool.poetry.dependencies]\ntorch = "~1"', ">=1,<2"),
    ('[tool.poetry.dependencies]\ntorch = "1.8.1"', "1.8.1"),
    ('[tool.poetry.dependencies]\ntorch = "1.8.*"', "1.8.*"),
    ('[tool.poetry.dependencies]\ntorch = "*"', "not known"),
    ('[tool.poetry.dependencies]\ntorch = ">=1.8 <2"', ">=1.8,<2"),
    ('[tool.poetry.dependencies]\ntorch = "1.8.1 || 2.1.0"', "1.8.1 or 2.1.0"),
    ('[tool.poetry.dependencies]\ntorch = {version = "1.8.1", optional = true, extras = ["x"]}', "1.8.1"),
    ('[tool.poetry.dependencies]\ntorch = {version = "1.8.1", markers = "sys_platform == \'win32\'"}', "-"),
    ('[tool.poetry.dependencies]\ntorch = {version = "1.8.1", platform = "darwin"}', "-"),
    (
        '[tool.poetry.dependencies]\ntorch = [{version = "1.8", python = "<3.9"}, {version = "2.1", python = ">=3.9"}]',
        "1.8 or 2.1",
    ),
    ('[tool.poetry.dependencies]\ntorch = {url = "https://x/torch-1.8.1-cp38-cp38-linux_x86_64.whl"}', "1.8.1"),
    ('[tool.poetry.dependencies]\ntorch = {git = "https://github.com/pytorch/pytorch"}', "not known"),
    ('[tool.poetry.group.train.dependencies]\ntorch = "2.4.0"', "2.4.0"),
    ('[tool.pdm.dev-dependencies]\ntest = ["torch==2.4.0"]', "2.4.0"),
    ('[tool.uv]\ndev-dependencies = ["torch==2.4.0"]', "2.4.0"),
    ('[project]\ndependencies = ["torch>=2"]\n[tool.uv]\nconstraint-dependencies = ["torch<2.3"]', ">=2,<2.3"),
    (
        '[project]\ndependencies = ["torch"]\n'
        '[tool.uv.sources]\ntorch = {url = "https://x/torch-2.3.0-cp312-cp312-linux_x86_64.whl"}',
        "2.3.0",
    ),
    ('[tool.pixi.dependencies]\npytorch = "2.4.*"\npython = "3.12.*"', "2.4.*"),
    ('[tool.hatch.envs.default]\ndependencies = ["torch==2.4"]', "2.4"),
    # near misses
    ('[build-system]\nrequires = ["torch==2.0"]', "-"),
    ('[project]\nname = "torch"\nversion = "2.0"\nkeywords = ["torch==1.0"]', "-"),
    ('[tool.mypy]\ntorch = "1.0"', "-"),
    ('[project]\ndependencies = "torch==2.0"', "-"),
    ('[project\ndependencies = ["torch==2.0"]', "-"),
    ("project = 3\ntool = []", "-"),
]


@pytest.mark.parametrize(("text", "expected"), PYPROJECT)
def test_pyproject(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert told(tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[project]\nrequires-python = ">=3.14"', ">=3.14"),
        ('[tool.poetry.dependencies]\npython = "^3.8"', ">=3.8,<4"),
        ('[tool.poetry.dependencies]\npython = ">=3.8,<3.11"', ">=3.8,<3.11"),
    ],
)
def test_python_of_a_pyproject(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert told(tmp_path, "python") == expected


SETUP_CFG = [
    ("[options]\ninstall_requires =\n    numpy\n    torch==1.7  # old\n", "1.7"),
    ("[options]\ninstall_requires = file: deps/needed.txt\n", "1.5"),
    ("[options.extras_require]\nall =\n    torch>=1.7\ndocs =\n    torch==1.0\n", ">=1.7"),
    (
        "[options]\ninstall_requires =\n    torch>=1.7\n[options.extras_require]\nold =\n    torch<2\n",
        ">=1.7 or >=1.7,<2",
    ),
    ("[options]\ntests_require =\n    torch==1.0\n", "1.0"),
    ("[options]\ninstall_requires =\n    torchvision==1.0\n", "-"),
    ("[flake8]\nignore = torch==1.0\n", "-"),
    ("install_requires = torch==1.0\n", "-"),
]


@pytest.mark.parametrize(("text", "expected"), SETUP_CFG)
def test_setup_cfg(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "deps").mkdir()
    (tmp_path / "deps" / "needed.txt").write_text("torch==1.5\n")
    (tmp_path / "setup.cfg").write_text(text)
    assert told(tmp_path) == expected


SETUP_PY = [
    ("setup(install_requires=['torch==1.7'])", "1.7"),
    ("setup(install_requires='numpy\\ntorch==1.7\\n')", "1.7"),
    ("REQUIRED = ['torch', 'numpy']\nsetup(install_requires=REQUIRED)", "not known"),
    ("deps = ['torch>=1.7']\nsetup(install_requires=deps)", ">=1.7"),
    ("reqs = []\nif x:\n    reqs.append('torch>=1.7')\nsetup(install_requires=reqs)", ">=1.7"),
    ("setup(extras_require={'all': ['torch>=1.7'], 'docs': ['torch==1.0']})", ">=1.7"),
    ("setup(install_requires={'a': {'torch>=1.7'}}.values())", ">=1.7"),
    ("setup(install_requires=open('deps/requires.txt').read().split())", "1.5"),
    ("setup(tests_require=['torch==1.0'])", "1.0"),
    # near misses
    ("'''Needs\ntorch==1.0\n'''\nsetup(name='torch')", "-"),
    ("# torch==1.0\nsetup()", "-"),
    ("setup(setup_requires=['torch==1.0'], keywords=['torch==1.0'], packages=['torch'])", "-"),
    ("import torch\nassert torch.__version__ >= '1.0', 'torch==1.0 is wrong here'\nsetup()", "-"),
    ("print 'python 2'\nsetup(install_requires=['torch==1.0'])", "-"),
    ("raise SystemExit('never run')\nsetup(install_requires=['torch==1.7'])", "1.7"),
]


@pytest.mark.parametrize(("text", "expected"), SETUP_PY)
def test_setup_py(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "deps").mkdir()
    (tmp_path / "deps" / "requires.txt").write_text("torch==1.5\n")
    (tmp_path / "setup.py").write_text(f"from setuptools import setup\n{text}\n")
    assert told(tmp_path) == expected


@pytest.mark.parametrize(
    "text", ["setup(python_requires='>=3.8')", "REQUIRES_PYTHON = '>=3.8'\nsetup(python_requires=REQUIRES_PYTHON)"]
)
def test_python_of_a_setup_py(text: str, tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(text)
    assert told(tmp_path, "python") == ">=3.8"


UV = """version = 1
requires-python = ">=3.10"
resolution-markers = ["sys_platform == 'win32'"]

[[package]]
name = "mine"
source = { virtual = "." }
dependencies = [
    { name = "torch", version = "0.1", source = { registry = "x" } },
]

[[package]]
name = "torch"
version = "2.5.1"
source = { registry = "https://pypi.org/simple" }
resolution-markers = [
    "sys_platform == 'darwin'",
]
dependencies = [{ name = "numpy" }]

[[package]]
name = "torch"
version = "2.4.1+cu121"
source = { registry = "https://download.pytorch.org/whl/cu121" }
resolution-markers = [
    "platform_machine == 'aarch64' and sys_platform == 'linux'",
    "sys_platform == 'win32'",
]

[[package]]
name = "torch-scatter"
version = "9.9"
"""
POETRY_1 = """[[package]]
category = "main"
description = "Tensors"
name = "torch"
optional = false
python-versions = ">=3.6.2"
version = "1.8.1"

[package.dependencies]
numpy = "*"

[package.dependencies.typing]
version = "9.9"

[[package]]
category = "main"
name = "torchvision"
version = "0.9.1"

[metadata]
content-hash = "x"
python-versions = "^3.7"
"""
POETRY_2 = """[[package]]
name = "torch"
version = "2.2.2"
description = ""
groups = ["main"]
markers = "platform_machine == \\"x86_64\\" and sys_platform == \\"darwin\\""
files = []

[[package]]
name = "torch"
version = "2.4.1"
markers = "sys_platform == \\"linux\\""
files = [
    {file = "torch-2.4.1.whl", hash = "sha256:00"},
]
"""
PYLOCK = """lock-version = "1.0"
requires-python = ">=3.9"

[[packages]]
name = "torch"
version = "2.4.1"
marker = 'sys_platform == "linux"'
wheels = [{ url = "https://x/torch-2.4.1-cp39-cp39-linux_x86_64.whl" }]

[[packages]]
name = "torch"
version = "2.2.2"
marker = "sys_platform == 'darwin'"
"""
CONDA_LOCK = """version: 1
metadata:
  platforms:
  - linux-64
package:
- name: pytorch
  version: 2.3.0
  manager: conda
  platform: linux-64
  dependencies:
    python: '>=3.10'
    version: 9.9.9
  url: https://conda.anaconda.org/pytorch/linux-64/pytorch-2.3.0-py3.10_cuda12.1_cudnn8.9.2_0.tar.bz2
- name: pytorch
  version: 2.2.0
  manager: conda
  platform: osx-arm64
- name: pytorch-cuda
  version: '12.1'
  platform: linux-64
- name: python
  version: 3.10.14
  platform: linux-64
"""
PIXI = """version: 6
packages:
- conda: https://conda.anaconda.org/conda-forge/linux-64/pytorch-2.3.0-cpu_generic_py310.conda
  sha256: 00
- conda: https://conda.anaconda.org/conda-forge/osx-arm64/pytorch-2.2.0-cpu_generic_py310.conda
- conda: https://conda.anaconda.org/conda-forge/linux-64/python-3.10.14-hd12c33a_0_cpython.conda
- pypi: https://files.pythonhosted.org/packages/aa/bb/torchvision-0.9.1-cp38-cp38-manylinux1_x86_64.whl
  name: torchvision
  version: 0.9.1
"""
PIPENV = json.dumps(
    {
        "_meta": {"requires": {"python_version": "3.8"}},
        "default": {"torch": {"version": "==1.8.1", "hashes": []}, "torchvision": {"version": "==0.9"}},
        "develop": {"torch": {"version": "==1.0"}},
    }
)
LOCKS = [
    ("uv.lock", UV, "2.4.1+cu121", "2.5.1", ">=3.10"),
    ("poetry.lock", POETRY_1, "1.8.1", "1.8.1", ">=3.7,<4"),
    ("poetry.lock", POETRY_1.replace("\n", "\r\n"), "1.8.1", "1.8.1", ">=3.7,<4"),
    ("poetry.lock", POETRY_2, "2.4.1", "2.2.2", "-"),
    ("pdm.lock", '[[package]]\nname = "torch"\nversion = "2.0.1"\nrequires_python = ">=3.8"\n', "2.0.1", "2.0.1", "-"),
    ("pylock.toml", PYLOCK, "2.4.1", "2.2.2", ">=3.9"),
    ("pylock.train.toml", PYLOCK, "2.4.1", "2.2.2", ">=3.9"),
    ("conda-lock.yml", CONDA_LOCK, "2.3.0", "2.2.0", "3.10.14"),
    ("gpu.conda-lock.yml", CONDA_LOCK, "2.3.0", "2.2.0", "3.10.14"),
    ("pixi.lock", PIXI, "2.3.0", "2.2.0", "3.10.14"),
    ("Pipfile.lock", PIPENV, "1.8.1", "1.8.1", "3.8"),
    ("requirements.lock", "torch==1.8.1\n    # via -r x\n", "1.8.1", "1.8.1", "-"),
]


@pytest.mark.parametrize(("name", "text", "linux", "macos", "python"), LOCKS)
def test_locks(name: str, text: str, linux: str, macos: str, python: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert told(tmp_path) == linux
    assert told(tmp_path, platforms=("macos",)) == macos
    assert told(tmp_path, "python") == python


def test_two_platforms_have_the_versions_of_both(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text(UV)
    torch = declared(tmp_path, platforms=("linux", "macos"))["torch"]
    assert torch.described == "2.4.1+cu121 or 2.5.1, from uv.lock"
    assert torch.before("2.5") == "maybe"


@pytest.mark.parametrize(
    ("text", "torch", "python"),
    [
        ('[packages]\ntorch = "==1.8.1"\n[requires]\npython_version = "3.8"\n', "1.8.1", "3.8"),
        ('[packages]\ntorch = "*"\n[dev-packages]\ntorch = "==1.0"\n', "1.0", "-"),
        ('[packages]\ntorch = {version = ">=1.8", sys_platform = "== \'win32\'"}\n', "-", "-"),
        ('[packages]\ntorch = {file = "https://x/torch-1.8.1-cp38-cp38-linux_x86_64.whl"}\n', "1.8.1", "-"),
        ('[[source]]\nname = "torch"\nurl = "x"\n', "-", "-"),
    ],
)
def test_pipfile(text: str, torch: str, python: str, tmp_path: Path) -> None:
    (tmp_path / "Pipfile").write_text(text)
    assert (told(tmp_path), told(tmp_path, "python")) == (torch, python)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3.12\n", "3.12"), ("3.12.1\n3.11\n", "3.12.1"), ("cpython-3.12", "3.12"), ("myenv", "-"), ("", "-")],
)
def test_python_version(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / ".python-version").write_text(text)
    assert told(tmp_path, "python") == expected


@pytest.mark.parametrize(
    "name",
    """uv.lock poetry.lock pdm.lock pylock.toml Pipfile.lock conda-lock.yml pixi.lock requirements.txt pyproject.toml
    pixi.toml setup.cfg setup.py environment.yml cog.yaml Pipfile .python-version""".split(),
)
def test_broken_files_say_nothing(name: str, tmp_path: Path) -> None:
    for content in (b"\xff\x00[broken", b"[" * 5000, b"dependencies: [" + b"{" * 5000, b"\x00" * 100):
        (tmp_path / name).write_bytes(content)
        assert told(tmp_path) == "-"
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert told(tmp_path) == "-"
