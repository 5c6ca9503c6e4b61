"""VS Code on whole projects: files that are not open, come, go and are not saved; versions; several folders at once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.editors.support import Project, project_in

pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")

from playwright.sync_api import BrowserContext, expect  # noqa: E402

from tests.editors.vscode.workbench import Workbench, window  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=1)

SEED = "LDR101"  # two draws, of one cause


def settings(folder: Path, **values: object) -> None:
    """Write the settings of a folder."""
    file = folder / ".vscode" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({f"loaderlint.{name}": value for name, value in values.items()}))


def test_files_that_are_not_open(code: Workbench) -> None:
    settings(code.project.folder, diagnosticMode="workspace")
    code.go("predict.py")
    expect(code.problem("LDR502")).to_have_count(1)
    expect(code.problem(SEED)).to_have_count(2)
    expect(code.problem("every worker yields every item").locator(".codicon-error")).to_have_count(1)
    code.picture("workspace")

    # The only file that gives the stream to a loader. Without it the finding is a hint, and hints are not shown.
    code.delete("predict.py")
    expect(code.problem("every worker yields every item")).to_have_count(0)

    # Nothing runs in workers that no loader finds.
    code.rename("transforms.py", "augmentation.py")
    expect(code.problem(SEED)).to_have_count(0)
    code.rename("augmentation.py", "transforms.py")
    expect(code.problem(SEED)).to_have_count(2)

    expect(code.problem("LDR303")).to_have_count(1)
    settings(code.project.folder)
    expect(code.problem("LDR303")).to_have_count(0)


def test_text_that_is_not_saved(code: Workbench) -> None:
    code.go("transforms.py", 11, 20)
    expect(code.problem(SEED)).to_have_count(2)
    code.go("loaders.py", 22, 1)
    code.press("End", "Enter")
    code.type("worker_init_fn=seed_validation_worker,")
    expect(code.problem(SEED)).to_have_count(0)
    assert code.project.unchanged("loaders.py")
    code.command("File: Revert File")
    expect(code.problem(SEED)).to_have_count(2)


def test_another_torch(browser: BrowserContext, address: str, project: Project, pictures: Path) -> None:
    environment = project / ".venv"
    site = environment / "lib" / "python3.9" / "site-packages"
    installed(site, "1.8.1")
    (environment / "pyvenv.cfg").write_text("version = 3.9.7\n")
    with window(browser, address, project, pictures) as code:
        code.go("transforms.py", 11, 20)
        expect(code.problem(SEED)).to_have_count(2)
        requirements = project / "requirements.txt"
        requirements.write_text("torch==2.4.1\n")
        expect(code.problem(SEED)).to_have_count(0)
        expect(code.problem("LDR201")).to_have_count(1)

        # What is installed counts where nothing is declared.
        requirements.write_text("numpy\n")
        expect(code.problem(SEED)).to_have_count(2)
        code.go("transforms.py", 11, 20)
        expect(code.hover("torch 1.8.1, from .venv")).to_be_visible()
        code.press("Escape")
        shutil.rmtree(site / "torch-1.8.1.dist-info")
        installed(site, "2.4.1")
        expect(code.problem(SEED)).to_have_count(0)
        expect(code.problem("LDR201")).to_have_count(1)


def installed(site: Path, version: str) -> None:
    """Leave what an installer leaves."""
    place = site / f"torch-{version}.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")


def test_several_folders(browser: BrowserContext, address: str, tmp_path: Path, pictures: Path) -> None:
    first, second = (project_in(tmp_path / name) for name in ("first", "second"))
    (second / "train.py").rename(second / "fit.py")
    settings(first.folder, ignore=["LDR1"])
    settings(second.folder, select=["LDR1"], targetTorch="2.4")
    workspace = tmp_path / "both.code-workspace"
    folders = [{"path": str(project.folder), "name": project.folder.parent.name} for project in (first, second)]
    workspace.write_text(json.dumps({"folders": folders, "settings": {"loaderlint.diagnosticMode": "workspace"}}))
    with window(browser, address, first, pictures, workspace) as code:
        code.page.set_viewport_size({"width": 1280, "height": 1200})  # enough for the findings of both
        code.go("fit.py")
        expect(code.problem("LDR401")).to_have_count(1)
        expect(code.problem("LDR103")).to_have_count(1)
        expect(code.problem("LDR102")).to_have_count(1)
        expect(code.problem(SEED)).to_have_count(0)
        code.picture("two folders")
        settings(second.folder, select=["LDR1"])
        expect(code.problem(SEED)).to_have_count(2)
        settings(first.folder)
        expect(code.problem(SEED)).to_have_count(4)
        expect(code.problem("LDR401")).to_have_count(1)
