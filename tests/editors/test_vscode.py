"""VS Code's own workbench in a browser without a screen, with the extension as users get it.

What was on the screen is kept in build/screenshots."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaderlint import __version__
from tests.editors.support import HERE, NOISE, ROOT, Project, add_noise, project_in

pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")

from playwright.sync_api import BrowserContext, expect  # noqa: E402

from tests.editors.vscode.workbench import Workbench  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=1)


#: A loader that may run the dataset of another file: its fix is unsafe.
BUILD = """\
from torch.utils.data import DataLoader

import synthetic


def build(name):
    dataset = getattr(synthetic, name)()
    return DataLoader(dataset, batch_size=8, num_workers=4)
"""
SYNTHETIC = """\
import numpy as np
from torch.utils.data import Dataset


class Synthetic(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return np.random.randn(3, 64, 64)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example project that is fixed when it is saved, if the user saves it himself. Problems are shown
    with their chains."""
    made = project_in(tmp_path)
    settings = made / ".vscode" / "settings.json"
    settings.parent.mkdir()
    on_save = {
        "editor.codeActionsOnSave": {"source.fixAll.loaderlint": "explicit"},
        "notebook.codeActionsOnSave": {"notebook.source.fixAll.loaderlint": "explicit"},
    }
    settings.write_text(json.dumps({**on_save, "problems.defaultViewMode": "tree"}))
    return made


def test_a_finding_is_shown(code: Workbench) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.squiggles("error")).not_to_have_count(0)
    expect(code.squiggles("info")).not_to_have_count(0)

    expect(code.lightbulb()).to_be_visible()
    expect(code.problem("every worker draws the same numbers").first).to_contain_text("LDR101")
    expect(
        code.problem("runs in the workers of the DataLoader in training_loader() (loaders.py)").first
    ).to_contain_text("loaders.py[Ln 16")
    expect(code.problem("RandomCrop.__call__ calls crop_box").first).to_contain_text("transforms.py[Ln 21")
    code.picture("problems and the chain")

    code.go("transforms.py", 11, 20)
    popup = code.hover("Why is this bad?")
    expect(popup).to_contain_text("every worker draws the same numbers")
    code.picture("hover")
    code.press("Escape")

    titles = code.actions().all_inner_texts()
    assert titles == [
        "Seed each worker: pass `worker_init_fn=seed_worker` (edits loaders.py)",
        "Fix all duplicate-numpy-randomness findings in this file (edits loaders.py)",
        "Suppress duplicate-numpy-randomness here",
        "Show the page of duplicate-numpy-randomness",
    ]
    code.picture("menu")
    code.press("Escape")
    code.fix("Show the page")
    code.page.locator('.tab[aria-label^="Preview duplicate-numpy-randomness.md"]').wait_for()
    shown = code.page.frame_locator("iframe.webview").frame_locator("#active-frame")
    expect(shown.locator("h1")).to_contain_text("duplicate-numpy-randomness (LDR101)")
    code.picture("page")
    code.command("View: Close All Editors in Group")

    code.go("loaders.py", 16, 12)
    expect(code.lenses().first).to_contain_text("in its workers")
    code.picture("lens")


def test_what_runs_where(code: Workbench) -> None:
    code.go("transforms.py", 43, 10)
    expect(code.squiggles("error")).to_have_count(1)
    popup = code.hover("AddNoise.__call__ runs")
    expect(popup).to_contain_text("in the workers of the DataLoader in training_loader() (loaders.py) (num_workers=4")
    code.picture("a function of workers")

    code.go("transforms.py", 41, 47)
    code.type("  # loaderlint: ignore[shared-generator]")
    expect(code.squiggles("error")).to_have_count(0)
    code.go("transforms.py", 41, 80)
    popup = code.hover("What it does")
    expect(popup).to_contain_text("shared-generator (LDR102)")
    code.picture("a suppression")
    code.press("Escape")

    code.go("loaders.py", 16, 14)
    expect(code.lenses().first).to_contain_text("9 functions in its workers")
    popup = code.hover("Copied into each worker")
    expect(popup).to_contain_text("Runs in its workers: NucleiDataset.__getitem__")
    code.picture("a loader")
    code.press("Escape")

    code.refactor("Seed workers reproducibly")
    expect(code.text("worker_init_fn=seed_worker,")).to_have_count(1)
    code.picture("seeded")
    code.save()
    code.on_disk("loaders.py", "        worker_init_fn=seed_worker,\n        generator=")
    compile(code.project.read("loaders.py"), "loaders.py", "exec")


def test_fixes_with_the_keyboard(code: Workbench) -> None:
    # In the file itself.
    code.go("datasets.py", 26, 9)
    expect(code.problem("LDR401")).to_have_count(1)
    code.go("datasets.py", 26, 9)
    code.fix("Edit a copy")
    expect(code.problem("LDR401")).to_have_count(0)
    expect(code.text("np.copy(self.weights[index])")).to_have_count(1)

    # In a file that is not open: it is edited at once, as by a rename, opened and not saved, and can be undone there.
    code.go("transforms.py", 11, 20)
    expect(code.problem("LDR101")).not_to_have_count(0)
    code.go("transforms.py", 11, 20)
    code.fix("Seed each worker")
    expect(code.problem("LDR101")).to_have_count(0)
    expect(code.page.locator('.tab.dirty[aria-label^="loaders.py"]')).to_have_count(1)
    assert code.project.unchanged("loaders.py")
    code.go("loaders.py", 24, 1)  # in the middle of the screen: the Problems view leaves few lines in sight
    expect(code.text("worker_init_fn=seed_worker,")).to_have_count(1)
    code.picture("fixed in the other file")
    code.press("Control+z")
    expect(code.text("worker_init_fn=seed_worker,")).to_have_count(0)
    code.press("Control+Shift+z")
    expect(code.text("worker_init_fn=seed_worker,")).to_have_count(1)

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
    code.on_disk("loaders.py", "worker_init_fn=seed_worker,")
    compile(code.project.read("loaders.py"), "loaders.py", "exec")
    assert code.project.unchanged("transforms.py")


@pytest.fixture
def noise(project: Project) -> None:
    """Add a draw whose fix edits several files, before VS Code opens the project."""
    add_noise(project)


@pytest.mark.usefixtures("noise")
def test_one_undo_takes_a_fix_of_several_files_back(code: Workbench) -> None:
    edited = ("signals.py", "fit.py", "score.py")
    code.go("noise.py", 5, 12)
    expect(code.problem("LDR101")).to_have_count(1)
    code.go("noise.py", 5, 12)
    code.fix("Seed each worker: pass `worker_init_fn=seed_worker` to 2 loaders (edits fit.py and 2 other files)")
    expect(code.problem("LDR101")).to_have_count(0)
    for name in edited:  # they were not open, so VS Code saves them
        code.on_disk(name, "seed_worker")
    expect(code.page.locator(".tab")).to_have_count(1)

    # In the file with the finding there is nothing to be undone.
    code.go("noise.py", 5, 12)
    code.press("Control+z")
    code.go("fit.py", 1, 1)
    expect(code.text("worker_init_fn=seed_worker,")).to_have_count(1)
    expect(code.problem("LDR101")).to_have_count(0)

    # In one that the fix edited, one undo takes back all of them, and leaves them unsaved.
    code.go("fit.py", 1, 1)
    code.press("Control+z")
    expect(code.text("seed_worker")).to_have_count(0)
    expect(code.problem("LDR101")).to_have_count(1)
    code.go("score.py", 1, 1)
    expect(code.text("seed_worker")).to_have_count(0)
    expect(code.page.locator(".tab.active.dirty")).to_have_count(1)
    code.picture("undone")
    for name in edited:
        assert "seed_worker" in code.project.read(name)
    code.save_all()
    for name, text in NOISE.items():
        code.until(f"{name} as it was", lambda at=name, was=text: code.project.read(at) == was)


@pytest.mark.usefixtures("noise")
def test_undo_after_another_edit_takes_a_fix_back_in_one_file(code: Workbench) -> None:
    code.go("noise.py", 5, 12)
    expect(code.problem("LDR101")).to_have_count(1)
    code.go("noise.py", 5, 12)
    code.fix("Seed each worker")
    code.on_disk("score.py", "seed_worker")
    code.go("score.py", 1, 1)
    code.type("# how well it does\n")
    code.go("fit.py", 1, 1)
    expect(code.text("seed_worker")).to_have_count(2)
    code.press("Control+z")
    expect(code.text("seed_worker")).to_have_count(0)
    code.go("score.py", 1, 1)
    expect(code.text("seed_worker")).to_have_count(2)
    code.go("signals.py", 1, 1)
    expect(code.text("def seed_worker")).to_have_count(1)


def test_the_changes_of_a_safe_fix_can_be_shown_first(code: Workbench) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.problem("LDR101")).not_to_have_count(0)
    code.go("transforms.py", 11, 20)
    code.actions()
    code.press("Control+Enter")
    changes = code.page.locator(".bulk-edit-panel")
    expect(changes.locator(".monaco-list-row")).to_contain_text(["loaders.py", "def seed_worker", "drop_last=True,"])
    code.picture("preview")
    assert code.project.unchanged("loaders.py")
    changes.locator(".monaco-button", has_text="Apply").click()
    code.page.locator('.tab[aria-label^="loaders.py"]').wait_for()
    code.save_all()
    code.on_disk("loaders.py", "worker_init_fn=seed_worker,")


@pytest.fixture
def possible(project: Project) -> None:
    """Add a loader that may run the dataset of another file, before VS Code opens the project."""
    (project / "build.py").write_text(BUILD)
    (project / "synthetic.py").write_text(SYNTHETIC)


@pytest.mark.usefixtures("possible")
def test_an_unsafe_fix_of_another_file_shows_its_changes_first(code: Workbench) -> None:
    code.go("synthetic.py", 10, 20)
    expect(code.problem("LDR101")).to_have_count(1)
    code.go("synthetic.py", 10, 20)
    code.fix("Seed each worker: pass `worker_init_fn=seed_worker` (unsafe) (edits build.py)")
    changes = code.page.locator(".bulk-edit-panel")
    expect(changes.locator(".monaco-list-row").first).to_contain_text("build.py")
    code.picture("asked")
    assert (code.project / "build.py").read_text() == BUILD
    changes.locator(".monaco-list-row").first.locator('[type="checkbox"], .monaco-checkbox').first.click()
    changes.locator(".monaco-button", has_text="Apply").click()
    code.page.locator('.tab[aria-label^="build.py"]').wait_for()
    code.save_all()
    code.on_disk("build.py", "worker_init_fn=seed_worker")


def test_the_extension_is_turned_off_and_on(code: Workbench, home: Project) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.problem("LDR101")).not_to_have_count(0)
    settings = code.project / ".vscode" / "settings.json"
    before = settings.read_text()
    running = int(home.server_pid.read_text())
    settings.write_text(json.dumps({**json.loads(before), "loaderlint.enable": False}))
    expect(code.problem("LDR101")).to_have_count(0)
    code.until("the end of the server", lambda: not Path(f"/proc/{running}").exists())
    settings.write_text(before)
    expect(code.problem("LDR101")).not_to_have_count(0)
    assert int(home.server_pid.read_text()) != running


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
    expect(code.squiggles("error")).to_have_count(1)
    code.type("  # loaderlint: ignore[shared-generator]")
    expect(code.squiggles("error")).to_have_count(0)
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
    expect(code.text("np.random.seed(torch.initial_seed() % 2**32)")).to_have_count(1)
    expect(code.problem("LDR103")).to_have_count(0)
    code.save()
    code.on_disk("loaders.py", "np.random.seed(torch.initial_seed() % 2**32)")


def test_questions(code: Workbench) -> None:
    code.press("Control+B")  # more room beside the file
    code.go("loaders.py", 16, 12)
    worker_map = code.page.locator('.tab[aria-label^="worker map (loaders.py)"]')
    code.click_lens("9 functions in its workers", worker_map)
    expect(code.text("copied into each worker").first).to_be_visible()
    code.picture("worker map")

    code.go("transforms.py", 21, 9)
    code.command("loaderlint: Explain This Line")
    code.page.locator('.tab[aria-label^="explanation (transforms.py line 21)"]').wait_for()
    expect(code.text("runs in the workers of the DataLoader in `training_loader()`").first).to_be_visible()
    code.picture("a line explained")

    code.command("loaderlint: Check the Whole Workspace")
    code.page.locator(".markers-panel").wait_for()  # the command shows it
    expect(code.problem("LDR502")).to_have_count(1)
    code.picture("the whole workspace")
    expect(code.notification("loaderlint: 9 findings in 3 files")).to_be_visible()
    code.answer("loaderlint: 9 findings in 3 files", "Show Open Files Only")
    expect(code.problem("LDR502")).to_have_count(0)

    code.command("loaderlint: Show Debug Information")
    expect(code.text("the setting loaderlint.server.path").first).to_be_visible()
    code.picture("debug information")


def test_links_of_the_worker_map_and_of_an_explanation(code: Workbench) -> None:
    code.go("loaders.py", 16, 12)
    code.click_lens("9 functions in its workers", code.page.locator('.tab[aria-label^="worker map (loaders.py)"]'))
    code.follow("datasets.py:22")  # NucleiDataset.__getitem__
    expect(code.page.locator('.tab.selected[aria-label^="datasets.py"]')).to_be_visible()
    expect(code.position(22, 1)).to_be_visible()
    code.command("View: Close All Editors")

    code.go("transforms.py", 21, 9)
    code.command("loaderlint: Explain This Line")
    code.follow("loaders.py:16")  # the loader whose workers run the line
    expect(code.page.locator('.tab.selected[aria-label^="loaders.py"]')).to_be_visible()
    expect(code.position(16, 1)).to_be_visible()


def test_a_message_in_the_terminal_leads_to_its_page(code: Workbench) -> None:
    (code.project / "printed.txt").write_text("zipfile.BadZipFile: Bad CRC-32 for file 'a.png'\n")
    code.go("transforms.py", 11, 20)
    expect(code.squiggles("error").first).to_be_visible()  # now the server runs
    code.command("Terminal: Create New Terminal")
    code.page.locator(".terminal-wrapper.active .xterm.focus").wait_for()
    code.type("cat printed.txt\n")
    row = code.page.locator(".xterm-rows > div", has_text="BadZipFile: Bad CRC-32")
    row.hover(position={"x": 60, "y": 5}, force=True)  # what catches the mouse lies above the text
    code.picture("a link in the terminal")
    row.click(position={"x": 60, "y": 5}, modifiers=["Control"], force=True)
    code.page.locator('.tab.active[aria-label^="Preview a message of your program.md"]').wait_for()
    shown = code.page.frame_locator("iframe.webview").frame_locator("#active-frame")
    expect(shown.locator("body")).to_contain_text("Cause: a zip archive crossed a fork.")
    expect(shown.locator("h1").last).to_contain_text("handle-across-workers (LDR303)")
    code.picture("its page")


def test_the_status_item_has_restart(code: Workbench) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.squiggles("error").first).to_be_visible()
    code.page.locator('.statusbar-item[id="status.languageStatus"]').click()
    status = code.page.locator(".hover-language-status", has_text=f"loaderlint: {__version__}")
    expect(status).to_contain_text("the setting loaderlint.server.path")
    expect(status.get_by_text("Restart")).to_be_visible()
    code.picture("status")


@pytest.fixture
def complaining(home: Project) -> Iterator[None]:
    """Let each server that is started write an error first."""
    program = home.home / "bin" / "loaderlint"
    before = program.read_text()
    program.write_text(before.replace("\n", "\necho 'MemoryError: no room left' >&2\n", 1))
    yield
    program.write_text(before)


@pytest.mark.usefixtures("complaining")
def test_the_server_dies_too_often(code: Workbench, home: Project) -> None:
    code.go("loaders.py", 27, 20)
    expect(code.problem("LDR103")).to_have_count(1)
    killed = ""
    for _ in range(5):
        code.until("another server", lambda last=killed: home.server_pid.read_text() not in ("", last))
        killed = home.server_pid.read_text()
        threads = Path(f"/proc/{int(killed)}/task")  # one of them starts the engine when the client is ready
        code.until("its engine", lambda at=threads: any(one.read_text() for one in at.glob("*/children")))
        os.kill(int(killed), signal.SIGKILL)
    said = code.notification("stopped 5 times within three minutes and is off now")
    expect(said).to_contain_text("Its last error: MemoryError: no room left")
    expect(said.locator(".monaco-button", has_text="Show Logs")).to_be_visible()
    code.picture("crashed")
    code.answer("stopped 5 times", "Restart")
    code.until("another server", lambda: home.server_pid.read_text() not in ("", killed))
    expect(code.problem("LDR103")).to_have_count(1)


def test_all_fixes_of_the_workspace(code: Workbench) -> None:
    code.go("train.py")
    code.command("loaderlint: Fix All in Workspace")
    code.answer("loaderlint: all safe fixes are applied; 3 files edited", "Save All")
    code.on_disk("loaders.py", "worker_init_fn=seed_worker")
    code.on_disk("datasets.py", "get_worker_info")
    code.picture("fixed")


def test_most_settings_can_be_set_with_the_mouse(code: Workbench) -> None:
    code.page.set_viewport_size({"width": 1280, "height": 4000})  # the Settings editor draws what is in sight
    code.command("Preferences: Open Settings (UI)")
    code.page.locator(
        ".settings-editor .monaco-editor.focused, .settings-editor .suggest-input-container"
    ).first.click()
    code.type("@ext:loaderlint.loaderlint")
    settings = code.page.locator(".settings-editor .setting-item-contents")
    known = json.loads((ROOT / "package.json").read_text())["contributes"]["configuration"]["properties"]
    # Those that name a program are settings of the machine, on a page of their own.
    expect(settings).to_have_count(sum(one["scope"] != "machine-overridable" for one in known.values()))
    expect(settings.filter(has_text="Edit in settings.json")).to_have_count(2)
    code.picture("settings")


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook; cells that start with '# ' are Markdown, all others code."""
    code = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    markdown = {"cell_type": "markdown", "metadata": {}}
    notebook = {
        "cells": [{**(markdown if one.startswith("# ") else code), "source": one.splitlines(True)} for one in cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 2,
    }
    path.write_text(json.dumps(notebook))


def add_notebook(project: Project) -> None:
    """Put explore.ipynb into the project: a generator that is made in one cell and sent to workers in the next."""
    write_notebook(
        project / "explore.ipynb",
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
    )


def test_a_notebook(code: Workbench) -> None:
    add_notebook(code.project)
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


@pytest.fixture
def notebook(project: Project) -> None:
    """Add a notebook with a finding, before VS Code opens the project."""
    add_notebook(project)


@pytest.mark.usefixtures("notebook")
def test_the_whole_workspace_with_a_notebook_is_remembered(code: Workbench, address: str) -> None:
    program = code.project.home / "bin" / "loaderlint"
    command = [program, "check", "--no-cache", "--color=never", code.project.folder]
    told = subprocess.run(command, capture_output=True, text=True).stdout.strip().splitlines()[-1]
    counted = re.match(r"\d+ findings in \d+ files", told)
    assert counted is not None, told

    code.go("train.py")
    code.command("loaderlint: Check the Whole Workspace")
    expect(code.notification(f"loaderlint: {counted[0]}")).to_be_visible()
    expect(code.problem("explore.ipynb")).not_to_have_count(0)
    code.picture("the notebook is counted")

    code.start(address)
    code.go("train.py")
    expect(code.problem("LDR502")).to_have_count(1)
    expect(code.problem("explore.ipynb")).not_to_have_count(0)
    code.picture("the mode is remembered")
    code.command("loaderlint: Show Findings of Open Files Only")
    expect(code.problem("LDR502")).to_have_count(0)
    code.start(address)
    code.go("transforms.py", 11, 20)
    expect(code.problem("LDR101")).not_to_have_count(0)
    expect(code.problem("LDR502")).to_have_count(0)


DRAW = (
    "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset",
    "class Noise(Dataset):\n"
    "    def __len__(self):\n"
    "        return 8\n"
    "    def __getitem__(self, index):\n"
    "        return np.random.rand()",
    "loader = DataLoader(Noise(), num_workers=2)",
)


def test_a_draw_and_its_loader_in_different_cells(code: Workbench) -> None:
    write_notebook(code.project / "draw.ipynb", *DRAW)
    code.open_notebook("draw.ipynb")
    expect(code.squiggles("error")).to_have_count(1)
    code.go_to_problem("LDR101")
    code.fix("Seed each worker")
    expect(code.text("def seed_worker(worker_id):")).to_have_count(1)
    expect(code.problem("LDR101")).to_have_count(0)
    expect(code.squiggles("error")).to_have_count(0)
    code.picture("the draw is fixed by its loader")
    code.save()
    code.on_disk("draw.ipynb", "num_workers=2, worker_init_fn=seed_worker")


@pytest.mark.parametrize("first", ["# A title", "", "%%bash\nls"], ids=["markdown", "empty", "magic"])
def test_a_notebook_is_fixed_on_save_whatever_its_first_cell_is(code: Workbench, first: str) -> None:
    write_notebook(code.project / "draw.ipynb", first, *DRAW)
    code.open_notebook("draw.ipynb")
    expect(code.problem("LDR101")).to_have_count(1)
    code.go_to_problem("LDR101")
    code.press("End")
    code.type("  # from 0 to 1")
    code.save()
    code.on_disk("draw.ipynb", "num_workers=2, worker_init_fn=seed_worker")
    expect(code.problem("LDR101")).to_have_count(0)
    code.picture("fixed")
    assert "np.random.rand()  # from 0 to 1" in code.project.read("draw.ipynb")


def test_in_the_extension_host(
    browser: BrowserContext, address: str, home: Project, project: Project, pictures: Path
) -> None:
    add_notebook(project)
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
    title = "Seed each worker: pass `worker_init_fn=seed_worker` (edits loaders.py)"
    fix = {"title": title, "kind": "quickfix", "preferred": True}
    assert seen["fixes"][0] == {**fix, "files": ["loaders.py"]}
    assert [one["kind"] for one in seen["all"]] == ["source.fixAll.loaderlint"]
    assert sorted(seen["all"][0]["files"]) == ["loaders.py", "transforms.py"]
    assert seen["others"] == []
    assert "# duplicate-numpy-randomness (LDR101)" in seen["hover"]
    manifest = json.loads((ROOT / "package.json").read_text())
    assert {one["command"] for one in manifest["contributes"]["commands"]} <= set(seen["commands"])
    assert len(seen["told"]) == 1 and "copied into each worker" in seen["told"][0]

    # A notebook is fixed as a whole: asked cell by cell, VS Code would make each edit several times.
    notebook = seen["notebook"]
    assert (notebook["kind"], notebook["more"]) == ("notebook.source.fixAll.loaderlint", 0)
    assert notebook["cellByCell"] == 0 and notebook["applied"]
    assert "return self._get_rng().random()" in notebook["cells"][1]
    assert notebook["cells"][1].startswith("%matplotlib inline\nclass Noise(Dataset):")
    compile("\n".join(notebook["cells"]).replace("%matplotlib inline", ""), "explore", "exec")


def test_the_walkthrough(code: Workbench) -> None:
    (walkthrough,) = json.loads((ROOT / "package.json").read_text())["contributes"]["walkthroughs"]
    rows = code.page.locator(".quick-input-list .monaco-list-row")
    code.press("F1")
    code.page.locator('.quick-input-widget:visible input[type="text"]').fill(">Welcome: Open Walkthrough")
    rows.filter(has_text="Open Walkthrough...").click()
    rows.filter(has_text=walkthrough["title"]).click()
    shown = code.page.locator(".gettingStartedContainer")
    for step in walkthrough["steps"]:
        shown.locator(".step-title", has_text=step["title"]).click()
        expect(shown.locator(".getting-started-step.expanded")).to_contain_text(step["title"])
        code.picture(f"walkthrough {step['id']}")
