"""No command and no process of the server imports a module of the project, or of the folder that it runs in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loaderlint.report import FORMATS
from tests.lsp.editor import SERVER, editor
from tests.lsp.processes import listening
from tests.lsp.session import PATIENCE, run
from tests.robustness.planting import left, plant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = """\
import numpy as np
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()


loader = DataLoader(Noisy(), num_workers=2)
"""
PACKAGES = ("one", "two", "three")
#: The line that draws, as `explain` counts.
LINE = 10


@dataclass(frozen=True)
class Project:
    """A project in which modules are planted, and a folder beside it that holds the same modules."""

    folder: Path
    beside: Path
    marks: Path
    scripts: Path
    cache: Path

    def run(self, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the console script in the project, or elsewhere."""
        return self.python(str(self.scripts / "loaderlint"), *arguments, cwd=cwd, **variables)

    def python(self, *arguments: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the project, or elsewhere."""
        environment = {**os.environ, "PYTHONPATH": str(SERVER), "LOADERLINT_CACHE_DIR": str(self.cache), **variables}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=cwd or self.folder, env=environment, capture_output=True, text=True)


def console_script(folder: Path) -> None:
    """Write the console script as pip does."""
    declared = tomllib.loads((SERVER.parent / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]["loaderlint"]
    module, _, function = declared.partition(":")
    folder.mkdir()
    (folder / "loaderlint").write_text(
        f"import re\nimport sys\nfrom {module} import {function}\nif __name__ == '__main__':\n"
        f"    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])\n    sys.exit({function}())\n",
        "utf-8",
    )


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    tmp_path = tmp_path.resolve()
    made = Project(*(tmp_path / name for name in ("project", "beside", "marks", "scripts", "cache")))
    for folder in (made.folder, made.beside):
        folder.mkdir()
        plant(folder, made.marks)
    for name in PACKAGES:
        (made.folder / name).mkdir()
        (made.folder / name / "data.py").write_text(DATA, "utf-8")
    console_script(made.scripts)
    (made.folder / "pyproject.toml").write_text('[project]\nname = "demo"\ndependencies = ["torch==1.8.1"]\n', "utf-8")
    yield made
    assert left(made.marks) == []


def leave_out(project: Project, modules: list[str]) -> None:
    """Remove the planted modules of these names."""
    for name in modules:
        (project.folder / f"{name}.py").unlink(missing_ok=True)


def findings(text: str) -> set[tuple[str, str]]:
    """The findings of a check in JSON: the files' folders with the rules' names."""
    return {(Path(one["path"]).parent.name, one["name"]) for one in json.loads(text)}


EXPECTED = {(name, "duplicate-numpy-randomness") for name in PACKAGES}


def test_a_planted_module_that_is_imported_is_noticed(project: Project) -> None:
    for name in ("multiprocessing", "loaderlint"):
        assert project.python("-c", f"import {name}", PYTHONPATH="").returncode != 0
        assert left(project.marks)
        shutil.rmtree(project.marks)
        project.marks.mkdir()


@pytest.mark.parametrize("arguments", [(), ("--jobs", "2"), ("--jobs", "2", "--no-cache")], ids=" ".join)
def test_check(project: Project, arguments: tuple[str, ...]) -> None:
    inside = project.run("check", "--output-format", "json", *arguments)
    outside = project.run("check", str(project.folder), "--output-format", "json", *arguments, cwd=project.beside)
    for done in (inside, outside):
        assert (done.returncode, done.stderr) == (1, "")
        assert findings(done.stdout) >= EXPECTED


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(project: Project, name: str) -> None:
    done = project.run("check", "one", "--output-format", name)
    assert done.returncode == 1 and "duplicate-numpy-randomness" in done.stdout, done.stderr


def test_fixes(project: Project) -> None:
    shown = project.run("check", "one", "--diff", "--unsafe-fixes")
    assert "+++" in shown.stdout, shown.stderr
    assert (project.folder / "one" / "data.py").read_text("utf-8") == DATA
    done = project.run("check", "one", "--fix", "--unsafe-fixes")
    assert "worker_init_fn" in (project.folder / "one" / "data.py").read_text("utf-8"), done.stderr


def test_questions(project: Project) -> None:
    for cwd in (project.folder, project.beside):
        file = str(project.folder / "one" / "data.py")
        assert "LDR" in project.run("explain", "duplicate-numpy-randomness", cwd=cwd).stdout
        assert "Noisy.__getitem__" in project.run("explain", f"{file}:{LINE}", cwd=cwd).stdout
        assert "Noisy" in project.run("workers", str(project.folder / "one"), cwd=cwd).stdout
        assert "shared-generator" in project.run("rules", cwd=cwd).stdout
        assert project.run("--version", cwd=cwd).returncode == 0


def test_clean(project: Project) -> None:
    project.run("check", "one")
    assert project.run("clean", "--show").returncode == 0
    assert project.run("clean").returncode == 0


def test_survey(project: Project) -> None:
    for cwd in (project.folder, project.beside):
        done = project.run("survey", str(project.folder), "--jobs", "2", "--output-format", "json", cwd=cwd)
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)["repositories"]


def test_survey_with_a_page(project: Project) -> None:
    for name in ("altair", "jinja2", "vl_convert"):
        pytest.importorskip(name)
    done = project.run("survey", ".", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "<html" in (project.folder / "page.html").read_text("utf-8")


def test_survey_on_a_cluster(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its workers run in the project's folder, too."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(project.scripts)
    workers: dict[str, Any] = {"n_workers": 1, "threads_per_worker": 1, "processes": True}
    with distributed.LocalCluster(**workers, dashboard_address=None, silence_logs=50) as cluster:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            client.run(os.chdir, str(project.folder))
        done = project.run("survey", str(project.folder), "--dask", cluster.scheduler_address)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["stdio", "tcp", "ws"])
def test_server(project: Project, kind: str) -> None:
    path = project.folder / "one" / "data.py"

    async def checks(*command: str, **options: Any) -> None:
        async with editor(*command, folder=project.folder, **options) as window:
            uri = window.open(path)
            found = await window.diagnostics(uri)
            assert [one.code for one in found] == ["LDR101"]
            assert "Seed each worker" in [
                one.title.partition(":")[0] for one in await window.actions(uri, found[0].range)
            ]

    command = (str(project.scripts / "loaderlint"), "server", f"--{kind}")
    if kind == "stdio":
        run(checks(sys.executable, *command, cwd=project.folder))
        return
    pytest.importorskip("websockets")
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    with listening(*command, "--port", "0", cwd=project.folder, env=environment) as server:
        address: Any = {kind: ("127.0.0.1", server.port)}
        run(checks(token=server.token, **address))
        assert server.process.wait(PATIENCE) == 0


def test_an_empty_entry_in_the_path_is_not_the_current_folder(project: Project) -> None:
    """As of `PYTHONPATH=$PYTHONPATH:/x`. What Python itself imports at its start cannot be helped, so only modules are
    planted that it does not import."""
    (project.scripts / "early.py").write_text("import re, sys; print(*sys.modules, 'sitecustomize', 'usercustomize')")
    leave_out(project, project.python(str(project.scripts / "early.py")).stdout.split())
    for entry in ("", "."):
        done = project.run(
            "check", "--jobs", "2", "--output-format", "json", PYTHONPATH=os.pathsep.join((str(SERVER), entry))
        )
        assert done.returncode == 1, done.stderr
        assert findings(done.stdout) >= EXPECTED


def test_python_m(project: Project) -> None:
    """Python puts the current folder first, and looks for `loaderlint` and some more before loaderlint can change that.
    Everything else is safe."""
    shutil.rmtree(project.folder / "loaderlint")
    (project.scripts / "early.py").write_text("import sys; print(*sys.modules)")
    leave_out(project, project.python("-m", "early", cwd=project.scripts).stdout.split())
    done = project.python("-m", "loaderlint", "check", "--jobs", "2", "--output-format", "json")
    assert done.returncode == 1, done.stderr
    assert findings(done.stdout) >= EXPECTED
