"""What a README tells people to install, and how little that counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaderlint.project.versions.project_versions import Versions

LINUX = ("linux",)


def told(folder: Path, root: Path | None = None, name: str = "torch") -> str:
    declared = Versions(root or folder).at(folder, LINUX)
    return declared[name].described if name in declared else "-"


def block(command: str) -> str:
    return f"# Crops\n\nInstall it:\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (block("pip install torch==1.7.1"), "1.7.1"),
        (
            block("$ pip3 install numpy 'torch==1.8.1+cu111' -f https://download.pytorch.org/whl/torch_stable.html"),
            "1.8.1",
        ),
        (block("python -m pip install --upgrade torch==2.4.0"), "2.4.0"),
        (block("conda install pytorch==2.5.1 torchvision==0.20.1 -c pytorch -c nvidia"), "2.5.1"),
        (block("(base) $ conda install -y pytorch=1.9.0 cudatoolkit=10.2"), "1.9.0"),
        (block("conda create -n crops python=3.8 pytorch=1.8"), "1.8.*"),
        (block("pip install numpy \\\n    torch==1.6.0"), "1.6.0"),
        (block("pip install torch==1.7.1\n# or\npip install torch==1.9.0"), "1.7.1 or 1.9.0"),
        ("~~~\npip install torch==1.5\n~~~\n", "1.5"),
        (block("pip install torch"), "-"),
        (block("pip install torch>=1.7"), "-"),
        (block("pip uninstall torch==1.7.1"), "-"),
        (block("pip install numpy  # needs torch==1.7.1"), "-"),
        (block("pip install -r torch==1.7.1.txt").replace("-r", "-i"), "-"),
        ("Do not run `pip install torch==1.7.1`.\n", "-"),
        ("pip install torch==1.7.1\n", "-"),
    ],
)
def test_commands(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "README.md").write_text(text)
    assert told(tmp_path).partition(", from ")[0].replace("+cu111", "") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## Requirements\n\n- Python 3.7\n- PyTorch 1.7.1\n", "1.7.1"),
        ("4. PyTorch (1.7)\n", "1.7.*"),
        ("* **[PyTorch](https://pytorch.org)** (1.8) - with CUDA\n", "1.8.*"),
        ("- `torch==1.9.0`\n", "1.9.0"),
        ("+ pytorch = 1.10.2, torchvision = 0.11.3\n", "1.10.2"),
        ("- torch: 2.1.0\r\n- numpy: 1.26.0\r\n", "2.1.0"),
        ("- PyTorch version 1.13\n", "1.13.*"),
        ("- PyTorch 1.7+\n", "-"),
        ("- PyTorch 1.7 or newer\n", "-"),
        ("- PyTorch >= 1.7\n", "-"),
        ("- PyTorch 1.7 - 1.9\n", "-"),
        ("- PyTorch 1.x\n", "-"),
        ("- PyTorch\n", "-"),
        ("- PyTorch 2.0 brings torch.compile\n", "-"),
        ("- PyTorch Lightning 1.7\n", "-"),
        ("- Do not use PyTorch 1.7.1\n", "-"),
        ("We used PyTorch 1.7.1.\n", "-"),
        ("PyTorch 1.7.1\n", "-"),
        (block("- PyTorch 1.7.1"), "-"),
    ],
)
def test_lists(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "README.md").write_text(text)
    assert told(tmp_path).partition(", from ")[0] == said


def test_python_of_a_new_environment(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(block("conda create -n crops python=3.8"))
    assert told(tmp_path, name="python") == "3.8, from README.md"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("requirements.txt", "torch==2.4\n", "1.7.1 or 2.4, from requirements.txt and README.md"),
        ("requirements.txt", "torch<1.7\n", "<1.7 or 1.7.1, from requirements.txt and README.md"),
        ("requirements.txt", "torch>=1.7\n", ">=1.7, from requirements.txt"),
        ("requirements.txt", "torch\n", "1.7.1, from README.md"),
        ("requirements.txt", "torch==1.7.1\n", "1.7.1, from requirements.txt"),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.4"\n', "2.4, from uv.lock"),
    ],
)
def test_other_files_come_first_unless_it_contradicts_them(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / "README.md").write_text(block("pip install torch==1.7.1"))
    (tmp_path / name).write_text(text)
    assert told(tmp_path) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("torch==2.5.1\n", "2.5.1, from requirements.txt"),
        ("torch>=1.5\n", ">=1.5, from requirements.txt"),
        ("torch>=2\n", "1.7.1 or >=2, from requirements.txt and models/net/README.md"),
        ("torch\n", "1.7.1, from models/net/README.md"),
    ],
)
def test_the_readme_of_code_in_a_folder_yields_to_a_pinned_version(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    inner = tmp_path / "models" / "net"
    inner.mkdir(parents=True)
    (inner / "README.md").write_text(block("pip install torch==1.7.1"))
    assert told(inner, tmp_path) == said


@pytest.mark.parametrize(
    ("folder", "said"), [("net-master", "-"), ("net-main", "-"), ("master", "1.7.1, from master/data/README.md")]
)
def test_the_readme_of_a_downloaded_repository_says_nothing_of_the_project(
    tmp_path: Path, folder: str, said: str
) -> None:
    inner = tmp_path / folder / "data"
    inner.mkdir(parents=True)
    (inner / "README.md").write_text(block("pip install torch==1.7.1"))
    assert told(inner, tmp_path) == said
    assert told(inner) == "1.7.1, from README.md"


def test_an_environment_need_not_fit_it(tmp_path: Path) -> None:
    site = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    site.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    (site / "torch-2.4.0.dist-info").mkdir()
    (tmp_path / "README.md").write_text(block("pip install torch==1.7.1"))
    assert told(tmp_path) == "2.4.0, from .venv"


@pytest.mark.parametrize(
    ("folder", "setup", "said"),
    [
        ("third_party/engine", "setup.py", "2.5.1, from environment.yml"),
        ("libs/engine", "setup.py", "2.5.1, from environment.yml"),
        ("libs/engine", "notes.txt", "1.4, from libs/engine/requirements.txt"),
        ("packages/engine", "setup.py", "1.4, from packages/engine/requirements.txt"),
    ],
)
def test_a_package_of_others_is_installed_beside_the_project(
    tmp_path: Path, folder: str, setup: str, said: str
) -> None:
    (tmp_path / "environment.yml").write_text("dependencies:\n  - pytorch=2.5.1\n")
    inner = tmp_path / folder / "examples"
    inner.mkdir(parents=True)
    (inner.parent / setup).write_text("")
    (inner.parent / "requirements.txt").write_text("torch==1.4\n")
    assert told(inner, tmp_path) == said


def test_a_package_of_others_says_what_the_project_leaves_open(tmp_path: Path) -> None:
    inner = tmp_path / "third_party" / "engine"
    inner.mkdir(parents=True)
    (inner / "setup.py").write_text("")
    (inner / "requirements.txt").write_text("torch==1.4\n")
    assert told(inner, tmp_path) == "1.4, from third_party/engine/requirements.txt"
    assert told(inner) == "1.4, from requirements.txt"
