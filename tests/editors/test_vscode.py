"""VS Code's own workbench in a browser without a screen, with the extension as users get it.

What was on the screen is kept in build/screenshots."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaderlint import __version__
from tests.editors.support import EDITORS, HERE, ROOT, Project, installed, project_in

pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")
if not (EDITORS / "code-server" / ".version").exists():
    pytest.skip("VS Code is not installed; to get it: make setup-editors", allow_module_level=True)

from playwright.sync_api import BrowserContext, expect, sync_playwright  # noqa: E402

from tests.editors.support import PATIENCE  # noqa: E402
from tests.editors.vscode.workbench import Workbench, chromium, code_server, package, window  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=1)

expect.set_options(timeout=1000 * PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One for all tests: the workbench is loaded from its cache."""
    program = installed("chromium")
    with sync_playwright() as playwright, chromium(playwright.chromium, program) as browser:
        yield browser


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return project_in(tmp_path_factory.mktemp("vscode"))


@pytest.fixture(scope="module")
def address(home: Project) -> Iterator[str]:
    with code_server(home, package(home.home)) as address:
        yield address


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example project that is fixed when it is saved, if the user saves it himself."""
    made = project_in(tmp_path)
    settings = made / ".vscode" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"editor.codeActionsOnSave": {"source.fixAll.loaderlint": "explicit"}}')
    return made


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path:
    """Where the test keeps what was on the screen; empty."""
    folder = ROOT / "build" / "screenshots" / "vscode" / request.node.name.removeprefix("test_")
    for old in folder.glob("*.png"):
        old.unlink()
    return folder


@pytest.fixture
def code(browser: BrowserContext, address: str, project: Project, pictures: Path) -> Iterator[Workbench]:
    """A window on a project of its own."""
    with window(browser, address, project, pictures) as opened:
        yield opened
        opened.picture("at the end")


def test_a_finding_is_shown(code: Workbench) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.squiggles("error")).not_to_have_count(0)
    expect(code.squiggles("info")).not_to_have_count(0)

    expect(code.lightbulb()).to_be_visible()
    expect(code.problem("every worker draws the same numbers").first).to_contain_text("LDR101")
    expect(code.problem("runs in the workers of training_loader in loaders.py").first).to_contain_text(
        "loaders.py[Ln 16"
    )
    expect(code.problem("RandomCrop.__call__ calls crop_box").first).to_contain_text("transforms.py[Ln 21")
    code.picture("problems and the chain")

    code.go("transforms.py", 11, 20)
    popup = code.hover()
    expect(popup).to_contain_text("every worker draws the same numbers")
    expect(popup).to_contain_text("Why is this bad?")
    code.picture("hover")
    code.press("Escape")

    titles = code.actions().all_inner_texts()
    assert titles == [
        "Seed each worker: pass `worker_init_fn=seed_worker`",
        "Fix all duplicate-numpy-randomness findings in this file",
        "Suppress duplicate-numpy-randomness here",
    ]
    code.picture("menu")
    code.press("Escape")

    code.go("loaders.py", 16, 12)
    expect(code.lenses().first).to_contain_text("in its workers")
    code.picture("lens")


def test_fixes_with_the_keyboard(code: Workbench) -> None:
    # In the file itself.
    code.go("datasets.py", 26, 9)
    expect(code.problem("LDR401")).to_have_count(1)
    code.go("datasets.py", 26, 9)
    code.fix("Edit a copy")
    expect(code.problem("LDR401")).to_have_count(0)
    expect(code.text("np.copy(self.weights[index])")).to_have_count(1)

    # In a file that is not open: VS Code shows what would change, and asks.
    code.go("transforms.py", 11, 20)
    expect(code.problem("LDR101")).not_to_have_count(0)
    code.go("transforms.py", 11, 20)
    code.fix("Seed each worker")
    code.accept_preview("loaders.py")
    expect(code.problem("LDR101")).to_have_count(0)
    code.picture("fixed in the other file")
    code.on_disk("loaders.py", "worker_init_fn=seed_worker,")

    # In a file that is open in another tab.
    code.go("loaders.py", 1, 1)
    code.go("transforms.py", 5, 1)
    expect(code.problem("LDR201")).to_have_count(1)
    code.go("transforms.py", 5, 1)
    code.fix("Call `cv2.setNumThreads(0)`")
    expect(code.problem("LDR201")).to_have_count(0)
    code.save_all()
    code.on_disk("datasets.py", "np.copy(self.weights[index])")
    code.on_disk("loaders.py", "    cv2.setNumThreads(0)\n    worker_seed = torch.initial_seed() % 2**32\n")
    compile(code.project.read("loaders.py"), "loaders.py", "exec")
    assert code.project.unchanged("transforms.py")


def test_fix_all_on_save(code: Workbench) -> None:
    code.go("datasets.py", 26, 9)
    expect(code.problem("LDR401")).to_have_count(1)
    code.go("datasets.py", 72, 1)
    code.press("End")
    code.type("  # from 0 to 1")
    code.save()
    expect(code.problem("LDR401")).to_have_count(0)
    code.picture("fixed")
    code.on_disk("datasets.py", "np.copy(self.weights[index])")
    datasets = code.project.read("datasets.py")
    assert "for path in shard_by_worker(self.paths):" in datasets
    compile(datasets, "datasets.py", "exec")
    assert code.project.unchanged("loaders.py")


def test_a_half_finished_line(code: Workbench) -> None:
    code.go("transforms.py", 13, 21)
    expect(code.problem("LDR101")).not_to_have_count(0)
    code.go("transforms.py", 12, 50)
    code.press("Enter")
    code.type("if top >")
    # Another finding goes: the server has seen the text as it is now.
    code.go("transforms.py", 42, 47)
    code.type("  # loaderlint: ignore[shared-generator]")
    expect(code.problem("LDR102")).to_have_count(0)
    code.go("transforms.py", 13, 9)
    expect(code.squiggles("error")).to_have_count(2)
    code.picture("half a line")


def test_settings_of_the_project_change(code: Workbench) -> None:
    code.go("datasets.py", 26, 9)
    expect(code.problem("LDR401")).to_have_count(1)
    code.go("pyproject.toml", 4, 1)
    code.press("Control+End")
    code.type('\n[tool.loaderlint]\nignore = ["stored-data-mutation"]\n')
    code.save()
    expect(code.problem("LDR401")).to_have_count(0)
    expect(code.problem("LDR502")).to_have_count(1)
    code.picture("ignored")


def test_the_server_is_killed(code: Workbench, home: Project) -> None:
    code.go("loaders.py", 27, 20)
    expect(code.problem("LDR103")).to_have_count(1)
    killed = home.server_pid.read_text()
    os.kill(int(killed), signal.SIGKILL)
    code.until("another server", lambda: home.server_pid.read_text() not in ("", killed))
    code.go("loaders.py", 27, 20)
    code.fix("Seed from")
    expect(code.text("torch.initial_seed()")).to_have_count(3)
    expect(code.problem("LDR103")).to_have_count(0)
    code.save()
    code.on_disk("loaders.py", "np.random.seed(torch.initial_seed() % 2**32)")


def test_a_notebook(code: Workbench) -> None:
    cells = [
        "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset",
        "%matplotlib inline\n"
        "class Noise(Dataset):\n"
        "    def __init__(self):\n"
        "        self.rng = np.random.default_rng(1)\n"
        "    def __len__(self):\n"
        "        return 8\n"
        "    def __getitem__(self, index):\n"
        "        return self.rng.random()",
        "for batch in DataLoader(Noise(), num_workers=2):\n    print(batch)",
    ]
    common = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    notebook = {
        "cells": [{**common, "source": cell.splitlines(keepends=True)} for cell in cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 2,
    }
    (code.project / "explore.ipynb").write_text(json.dumps(notebook))
    code.open_notebook("explore.ipynb")
    expect(code.squiggles("error")).to_have_count(1)
    expect(code.problem("LDR102")).to_have_count(1)
    code.go_to_problem("LDR102")
    code.picture("a cell")
    code.fix("Make the generator in the worker")
    expect(code.problem("LDR102")).to_have_count(0)
    code.picture("a fixed cell")
    code.save()
    code.on_disk("explore.ipynb", "return self._get_rng().random()")
    assert "%matplotlib inline" in code.project.read("explore.ipynb")


def test_in_the_extension_host(
    browser: BrowserContext, address: str, home: Project, project: Project, pictures: Path
) -> None:
    with browser.new_page() as page:
        Workbench(page, project, pictures).run_tests(address, HERE / "vscode" / "inhost")
    seen = json.loads((home.home / "report.json").read_text())

    assert seen["extension"] == __version__
    draw = next(one for one in seen["diagnostics"] if one["code"] == "LDR101")
    assert draw == {
        "code": "LDR101",
        "link": "https://loaderlint.dev/rules/duplicate-numpy-randomness",
        "severity": "Error",
        "source": "loaderlint",
        "start": [11, 11],
        "related": ["loaders.py", "datasets.py", "transforms.py", "transforms.py"],
    }
    fix = {"title": "Seed each worker: pass `worker_init_fn=seed_worker`", "kind": "quickfix", "preferred": True}
    assert seen["fixes"][0] == {**fix, "files": ["loaders.py"]}
    assert [one["kind"] for one in seen["all"]] == ["source.fixAll.loaderlint"]
    assert sorted(seen["all"][0]["files"]) == ["loaders.py", "transforms.py"]
    assert seen["others"] == []
    assert "# duplicate-numpy-randomness (LDR101)" in seen["hover"]
    assert {"loaderlint.restart", "loaderlint.showLogs"} <= set(seen["commands"])
