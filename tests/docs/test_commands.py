"""Each command of README.md, CONTRIBUTING.md, docs/ and examples/ does something sensible when it is typed as it stands
there. The slow tests do this as a new user does: in a fresh clone, with an environment of its own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import loaderlint
from scripts.generate_docs import ROOT

PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")),
    *(
        page
        for folder in ("docs", "docs/editors", "docs/architecture")
        for page in sorted((ROOT / folder).glob("*.md"))
    ),
)
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)
#: Programs of the commands that are looked at; variables of the environment may come first.
_PROGRAMS = re.compile(
    r"(?:\$ )?((?:\w+=\S+ )*(?:loaderlint|git|cd|pip|pipx|uv|make|npm|npx|code|python3?|pytest|valgrind) .*)"
)

_AUDIT = "needs torch and a program with data; tests/truth/pytorch/test_audit_command.py runs it"
_INSTALL = "test_what_the_readme_says_works_in_a_clean_environment runs it"
_OFFLINE = "test_the_wheels_of_another_machine_are_enough_without_a_network runs it"
_MAKE = "takes long, or changes the checkout; test_make_knows_the_target"
_PYTEST = "a run of tests inside a test; CI runs all of them"
_MINUTES = "takes minutes"
_WHEEL = f"loaderlint-{loaderlint.__version__}-py3-none-any.whl"
_VALGRIND = (
    "PYTHONHASHSEED=0 valgrind --tool=callgrind --callgrind-out-file=/dev/null"
    " python -m loaderlint check --no-cache --jobs 1 --select ALL ."
)
_PRECISION = (
    "python -m benchmarks.precision --loaderlint loaderlint --torchfix FLAKE8 --semgrep SEMGREP --semgrep-rules RULES"
    " --dslinter PYLINT --ruff ruff --labels LABELS.csv FOLDER"
)

#: Commands that are not run by `test_it_runs`, each with the reason.
NOT_RUN = {
    "loaderlint audit train.py 5": _AUDIT,
    "loaderlint audit train.py --epochs 3": _AUDIT,
    "loaderlint audit -m package.train --epochs 3": _AUDIT,
    "loaderlint audit --batches 20 --timeout 120 --output-format json train.py": _AUDIT,
    "python train.py 2>&1 | loaderlint diagnose": "needs torch; tests/diagnosis runs the command on what torch prints",
    "git clone https://github.com/loaderlint/loaderlint": _INSTALL,
    "cd loaderlint": _INSTALL,
    "python3 -m venv .venv && . .venv/bin/activate": _INSTALL,
    "pip install .": _INSTALL,
    "cd examples": _INSTALL,
    "make setup": _MAKE,
    "make test": _MAKE,
    "make lint": _MAKE,
    "make format": _MAKE,
    "make docs": "test_make_docs_in_a_clean_clone runs it",
    "make benchmarks": _MAKE,
    "npm run package": "test_the_extension_is_packaged_under_the_name_that_is_installed runs it",
    f"code --install-extension loaderlint-{loaderlint.__version__}.vsix": "needs VS Code; tests/editors installs it",
    f"pip download --dest wheels dist/{_WHEEL}": _OFFLINE,
    "pip config --user set global.find-links /path/to/wheels": _OFFLINE,
    "pip config --user set global.no-index true": _OFFLINE,
    "loaderlint server --tcp": "waits for a client",
    "loaderlint survey repos/ --dask tcp://head:8786 --results done.jsonl": "needs a cluster",
    "python scripts/new_rule.py LDR110 frozen-shuffle-seed --needs W1 --severity error": (
        "test_the_skeleton_of_a_rule_is_written runs it"
    ),
    "python -m pytest tests/rules -k frozen-shuffle-seed": _PYTEST,
    "LOADERLINT_UPDATE=1 python -m pytest tests/rules -k frozen-shuffle-seed": _PYTEST,
    "python -m pytest tests/rules tests/wrappers tests/late_binding -n auto -k test_findings": _PYTEST,
    "python -m scripts.mutants server/loaderlint/rules/shared/worker_seeding.py -- tests/rules -k seed": _MINUTES,
    "python -m scripts.mutants --sample 60 --seed 1 --jobs 2 --seconds 60 server/loaderlint/rules --"
    " tests/rules/test_pages.py": _MINUTES,
    "python -m benchmarks --quick": _MINUTES,
    "python -m benchmarks loading growth": _MINUTES,
    _PRECISION: "needs other linters, repositories and labels",
    "cd FOLDER": "any folder",
    _VALGRIND: "needs valgrind",
}


def commands(page: Path) -> Iterator[str]:
    """The commands in the blocks of a page, each in one line and without its comment."""
    text = page.read_text("utf-8")
    blocks = [block for kind, block in _FENCED.findall(text) if kind in ("", "sh", "console")]
    blocks += _INDENTED.findall(_FENCED.sub("", text))
    for line in re.sub(r" *\\\n *", " ", "\n".join(blocks)).splitlines():
        found = _PROGRAMS.fullmatch(line.strip().partition("  #")[0].partition(" # ")[0].strip())
        if found:
            yield found[1]


ALL = [(page, command) for page in PAGES for command in dict.fromkeys(commands(page))]
RUN = [(page.relative_to(ROOT).as_posix(), command) for page, command in ALL if command not in NOT_RUN]
README = ROOT / "README.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example, and what the commands of the pages name in it."""
    return example(tmp_path)


def example(parent: Path) -> Path:
    folder = parent / "examples"
    shutil.copytree(ROOT / "examples", folder)
    for number in range(30):  # enough for each of eight shards
        (folder / "repos" / str(number)).mkdir(parents=True)
        shutil.copy(ROOT / "examples" / "loaders.py", folder / "repos" / str(number))
    return folder


def ran(program: Sequence[str | Path], command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [*program, *shlex.split(command)[1:]]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def check(program: Sequence[str | Path], page: str, command: str, folder: Path) -> None:
    """Run a command of loaderlint as it stands in a page. Raises AssertionError unless it says something."""
    if "--baseline " in command:
        ran(program, "loaderlint check --write-baseline", folder)
    if " merge " in command:
        ran(program, "loaderlint survey repos/ --shard 1/1 --results part-1.jsonl", folder)
        command = command.replace("part-*.jsonl", "part-1.jsonl")  # what a shell makes of it
    done = ran(program, command, folder.parent if page == "examples/README.md" else folder)
    assert done.returncode in (0, 1), (command, done.stderr)
    assert done.stdout.strip() or "--write-baseline" in command or "--results" in command, command


def test_what_is_not_run_is_still_there() -> None:
    assert NOT_RUN.keys() <= {command for _, command in ALL}
    named = {name for reason in NOT_RUN.values() for name in re.findall(r"\btest_\w+(?!\S*\.py)", reason)}
    assert all(callable(globals().get(name)) for name in named), named


@pytest.mark.parametrize(("page", "command"), RUN)
def test_it_runs(page: str, command: str, folder: Path) -> None:
    assert command.startswith("loaderlint "), "say in NOT_RUN why it is not run, or run it"
    check([sys.executable, "-m", "loaderlint"], page, command, folder)


@pytest.mark.skipif(sys.platform == "win32" or not shutil.which("make"), reason="there is no make")
@pytest.mark.parametrize("command", sorted({command for _, command in ALL if command.startswith("make ")}))
def test_make_knows_the_target(command: str) -> None:
    done = subprocess.run(["make", "--dry-run", *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- in a clean clone -------------------------------------------------------------------------------------------------

posix = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a shell like bash")
#: What pip prints where there is no network.
_UNREACHABLE = re.compile(r"NewConnectionError|NameResolutionError|No matching distribution found for hatchling")


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user: with a home of its own, with nothing of this checkout, and with a repository of the
    tracked files, as they are now, where git looks for that of the documentation."""
    published = tmp_path_factory.mktemp("published")
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        (published / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, published / name)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message", "All"]):
        subprocess.run([*git, *words], cwd=published, check=True)
    home = tmp_path_factory.mktemp("home")
    theirs = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {
        **theirs,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{published}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/loaderlint/loaderlint",
    }


@pytest.fixture
def clone(tmp_path: Path, surroundings: dict[str, str]) -> Path:
    words = ["git", "clone", "--quiet", "https://github.com/loaderlint/loaderlint"]
    subprocess.run(words, cwd=tmp_path, env=surroundings, check=True)
    return tmp_path / "loaderlint"


def typed(
    lines: Sequence[str], folder: Path, surroundings: dict[str, str]
) -> tuple[list[int], subprocess.CompletedProcess[str]]:
    """Type lines into one shell: the exit code of each, and all that was printed."""
    codes = folder / "codes"
    script = "\n".join(f"{line}\necho $? >>{shlex.quote(str(codes))}" for line in lines)
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=surroundings, capture_output=True, text=True)
    if _UNREACHABLE.search(done.stderr):
        pytest.skip("the package index cannot be reached")
    return [int(code) for code in codes.read_text().split()], done


@posix
@pytest.mark.slow
def test_what_the_readme_says_works_in_a_clean_environment(tmp_path: Path, surroundings: dict[str, str]) -> None:
    """README from its first command to the editors, in one shell, and then the commands of all other pages."""
    readme = [*commands(README)]
    lines = readme[: readme.index("make setup")]
    assert {"git clone https://github.com/loaderlint/loaderlint", "pip install .", "loaderlint check"} <= {*lines}
    codes, done = typed([*lines, "loaderlint check", "command -v loaderlint"], tmp_path, surroundings)
    for line, code in zip(lines, codes, strict=False):
        assert code in ((0, 1) if line.startswith("loaderlint ") else (0,)), (line, done.stdout, done.stderr)
    program = tmp_path / "loaderlint" / ".venv" / "bin" / "loaderlint"
    assert done.stdout.splitlines()[-1] == str(program)
    assert "fixable with --fix" in done.stdout
    assert "fixable with --fix" not in done.stdout.splitlines()[-2], "--fix was among the commands"
    for number, (page, command) in enumerate(RUN):
        if page == "README.md":
            continue
        (tmp_path / str(number)).mkdir()
        folder = example(tmp_path / str(number))
        if "--html" in command:  # its packages are an extra, as the page says
            assert "run pip install 'loaderlint[survey]'" in ran([program], command, folder).stderr
        else:
            check([program], page, command, folder)


@posix
@pytest.mark.slow
def test_the_wheels_of_another_machine_are_enough_without_a_network(
    clone: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    """docs/editors/vscode.md: both ways to set the extension up without a network."""
    page = ROOT / "docs" / "editors" / "vscode.md"
    wheel = "pip wheel --quiet --no-deps --wheel-dir dist ."  # the extension has it
    download, *configure = (command for command in commands(page) if command.startswith("pip "))
    (sentence,) = (line for line in page.read_text("utf-8").splitlines() if "`python -m venv tools`" in line)
    inline = re.findall(r"`((?:python|tools/bin/pip) [^`]+)`", sentence)
    assert len(inline) == 2
    codes, done = typed([wheel, download, *inline, "tools/bin/loaderlint --version"], clone, surroundings)
    assert codes == [0] * 5, done.stderr
    told = [line.replace("/path/to/wheels", str(clone / "wheels")) for line in configure]
    assert told != configure
    (tmp_path / "other").mkdir()
    offline = {name: value for name, value in surroundings.items() if not name.startswith("PIP_")}
    set_up = ["python -m venv private", "private/bin/pip install loaderlint", "private/bin/loaderlint --version"]
    codes, done = typed([*told, *set_up], tmp_path / "other", offline)
    assert codes == [0] * 5, done.stderr
    assert f"Looking in links: {clone / 'wheels'}" in done.stdout


@posix
@pytest.mark.slow
def test_make_docs_in_a_clean_clone(clone: Path, surroundings: dict[str, str]) -> None:
    """It writes what is committed, and renews a page that is stale. The packages are those of these tests."""
    if not shutil.which("make"):
        pytest.skip("there is no make")
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(clone / "server"))} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (clone / ".venv" / ".ready").touch()
    index = clone / "docs" / "rules" / "README.md"
    text = index.read_text("utf-8")
    index.write_text(text + "stale\n", "utf-8")
    codes, done = typed(["make docs", "git diff --stat --exit-code"], clone, surroundings)
    assert codes == [0, 0], done.stdout + done.stderr
    assert index.read_text("utf-8") == text


@pytest.mark.slow
def test_the_skeleton_of_a_rule_is_written(clone: Path, surroundings: dict[str, str]) -> None:
    (command,) = (line for line in commands(ROOT / "CONTRIBUTING.md") if "new_rule" in line)
    words = [sys.executable, *shlex.split(command)[1:]]
    environment = {**surroundings, "PYTHONPATH": str(clone / "server")}
    done = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (clone / "server" / "loaderlint" / "rules" / "frozen_shuffle_seed.py").exists()


@posix
@pytest.mark.slow
def test_the_extension_is_packaged_under_the_name_that_is_installed(clone: Path, surroundings: dict[str, str]) -> None:
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    if not (ROOT / "node_modules" / ".ready").exists():
        pytest.skip("the client's packages are not installed; to get them: make setup-client")
    (clone / "node_modules").symlink_to(ROOT / "node_modules")
    (install,) = (line for line in commands(README) if line.startswith("code "))
    codes, done = typed(["npm run package"], clone, surroundings)
    assert codes == [0], done.stdout + done.stderr
    assert (clone / install.split()[-1]).exists()
