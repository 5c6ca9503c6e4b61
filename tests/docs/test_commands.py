"""Each command of README.md and docs/ does something sensible when it is typed as it stands there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import loaderlint
from scripts.generate_docs import ROOT

PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/editors/*.md")))
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
#: Programs of the commands that are looked at.
_PROGRAMS = re.compile(r"(?:\$ )?((?:loaderlint|git|cd|pip|make|npm|code) .*)")

_AUDIT = "needs torch and a program with data; tests/truth/pytorch/test_audit_command.py runs it"

#: Commands that are not run by `test_it_runs`, each with the reason.
NOT_RUN = {
    "loaderlint audit train.py 5": _AUDIT,
    "loaderlint audit train.py --epochs 3": _AUDIT,
    "loaderlint audit -m package.train --epochs 3": _AUDIT,
    "loaderlint audit --batches 20 --timeout 120 --output-format json train.py": _AUDIT,
    "git clone https://github.com/loaderlint/loaderlint": "downloads this repository",
    "cd loaderlint": "goes into it",
    "cd examples": "the folder of each command is a copy of it",
    "pip install .": "test_what_the_readme_says_works_in_a_clean_environment runs it",
    "make setup": "whoever runs the tests did it",
    "npm run package": "the tests of the client run it",
    f"code --install-extension loaderlint-{loaderlint.__version__}.vsix": "tests/editors installs the extension",
    f"pip download --dest wheels dist/loaderlint-{loaderlint.__version__}-py3-none-any.whl": "downloads",
    "pip config --user set global.find-links /path/to/wheels": "changes the user's settings",
    "pip config --user set global.no-index true": "changes the user's settings",
    "make benchmarks": "takes hours",
    "loaderlint server --tcp": "waits for a client",
    "loaderlint survey repos/ --dask tcp://head:8786 --results done.jsonl": "needs a cluster",
}


def commands(page: Path) -> Iterator[str]:
    """The commands in the blocks of a page, without comments."""
    text = page.read_text("utf-8")
    blocks = [block for kind, block in _FENCED.findall(text) if kind in ("", "sh", "console")]
    blocks += _INDENTED.findall(_FENCED.sub("", text))
    for line in "\n".join(blocks).splitlines():
        found = _PROGRAMS.fullmatch(line.strip().partition("  #")[0].partition(" # ")[0].strip())
        if found:
            yield found[1]


ALL = [(page, command) for page in PAGES for command in dict.fromkeys(commands(page))]
RUN = [(page.relative_to(ROOT).as_posix(), command) for page, command in ALL if command not in NOT_RUN]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, and what the commands of the pages name in it."""
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "examples", folder)
    for number in range(30):  # enough for each of eight shards
        (folder / "repos" / str(number)).mkdir(parents=True)
        shutil.copy(ROOT / "examples" / "loaders.py", folder / "repos" / str(number))
    return folder


def ran(program: list[str], command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [*program, *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def test_what_is_not_run_is_still_there() -> None:
    assert NOT_RUN.keys() <= {command for _, command in ALL}


@pytest.mark.parametrize(("page", "command"), RUN)
def test_it_runs(page: str, command: str, folder: Path) -> None:
    assert command.startswith("loaderlint "), "say in NOT_RUN why it is not run, or run it"
    program = [sys.executable, "-m", "loaderlint"]
    if "--baseline " in command:
        ran(program, "loaderlint check --write-baseline", folder)
    if " merge " in command:
        ran(program, "loaderlint survey repos/ --shard 1/1 --results part-1.jsonl", folder)
        command = command.replace("part-*.jsonl", "part-1.jsonl")  # what a shell makes of it
    done = ran(program, command, folder)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.strip() or "--write-baseline" in command or "--results" in command


@pytest.mark.slow
def test_what_the_readme_says_works_in_a_clean_environment(tmp_path: Path, folder: Path) -> None:
    environment, checkout = tmp_path / "environment", tmp_path / "checkout"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    readme = [*commands(ROOT / "README.md")]
    assert "pip install ." in readme
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check", "install", "."]
    installed = subprocess.run(pip, cwd=checkout, capture_output=True, text=True)
    if re.search(
        r"NewConnectionError|NameResolutionError|No matching distribution found for hatchling", installed.stderr
    ):
        pytest.skip("the package index cannot be reached")
    assert installed.returncode == 0, installed.stderr
    shutil.rmtree(checkout)
    for command in readme:
        if command.startswith("loaderlint "):
            done = ran([str(programs / "loaderlint")], command, folder)
            assert done.returncode in (0, 1), (command, done.stderr)
    left = ran([str(programs / "loaderlint")], "loaderlint check", folder)
    assert "fixable with --fix" not in left.stdout, "--fix was among the commands"
