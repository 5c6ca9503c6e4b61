"""JupyterLab with jupyterlab-lsp, in a browser without a screen, configured as docs/editors/jupyterlab.md says.

What was on the screen is kept in build/screenshots."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.support import EDITORS, PATIENCE, ROOT, Project, project_in, snippet

pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")
PROGRAMS = EDITORS / "jupyterlab" / "environment" / "bin"
if not (EDITORS / "jupyterlab" / ".version").exists():
    pytest.skip("JupyterLab is not installed; to get it: make setup-editors", allow_module_level=True)

from playwright.sync_api import BrowserContext, Page, expect  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=1)

expect.set_options(timeout=1000 * PATIENCE)

_SERVER = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port=0",
    "--ServerApp.password=",
    "--IdentityProvider.token=",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
CELLS = (
    "import numpy as np\nfrom torch.utils.data import DataLoader, Dataset",
    "class Noisy(Dataset):\n"
    "    def __init__(self):\n"
    "        self.rng = np.random.default_rng(0)\n\n"
    "    def __len__(self):\n"
    "        return 8\n\n"
    "    def __getitem__(self, index):\n"
    "        return self.rng.random(3)",
    "loader = DataLoader(Noisy(), num_workers=2)",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The example project with a notebook, and JupyterLab's configuration in its home folder."""
    project = project_in(tmp_path_factory.mktemp("jupyterlab"))
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell{number}",
            "metadata": {},
            "outputs": [],
            "source": one,
        }
        for number, one in enumerate(CELLS)
    ]
    python = {"name": "python", "mimetype": "text/x-python", "file_extension": ".py"}
    metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {**python, "codemirror_mode": {"name": "ipython", "version": 3}},
    }
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    (project / "noisy.ipynb").write_text(json.dumps(notebook))
    configuration = project.home / ".jupyter"
    settings = (
        configuration / "lab" / "user-settings" / "@jupyter-lsp" / "jupyterlab-lsp" / "plugin.jupyterlab-settings"
    )
    notices = settings.parents[2] / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    for path, text in (
        (configuration / "jupyter_server_config.d" / "loaderlint.json", snippet("jupyterlab.md", "Configuration")),
        (settings, snippet("jupyterlab.md", "Settings")),
        (notices, '{"fetchNews": "false", "checkForUpdates": false}'),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return project


@pytest.fixture(scope="module")
def address(lab: Project) -> Iterator[str]:
    """A running JupyterLab; its address."""
    log = lab.home / "jupyterlab.log"
    environment = lab.environment(JUPYTER_RUNTIME_DIR=str(lab.home / "runtime"))
    environment["PATH"] = os.pathsep.join((environment["PATH"], str(PROGRAMS)))
    with log.open("w") as out:
        process = subprocess.Popen(
            [str(PROGRAMS / "jupyter-lab"), *_SERVER],
            cwd=lab.folder,
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield _address(lab.home / "runtime", process, log)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _address(runtime: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    """Where it listens, as soon as it says so."""
    end = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None and time.monotonic() < end, log.read_text()
        for found in runtime.glob("jpserver-*.json"):
            if text := found.read_text():  # it is written in two steps
                return str(json.loads(text)["url"])
        time.sleep(0.05)


@pytest.fixture(scope="module")
def page(browser: BrowserContext) -> Iterator[Page]:
    with browser.new_page() as page:
        yield page


def picture(page: Page, name: str) -> None:
    folder = ROOT / "build" / "screenshots" / "jupyterlab"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")


def hover(page: Page, words: str, line: str, shows: str) -> None:
    """Ctrl and the pointer on these words of a line: `shows` appears."""
    page.keyboard.down("Control")
    page.locator(".cm-line", has_text=line).get_by_text(words, exact=True).first.hover()
    expect(page.locator(".lsp-hover")).to_contain_text(shows)
    page.keyboard.up("Control")


def test_a_file(page: Page, address: str) -> None:
    page.goto(f"{address}lab/tree/loaders.py?reset")
    squiggle = page.locator(".cm-lintRange-error")
    expect(squiggle).to_have_text(["1234"])
    squiggle.hover()
    expect(page.locator(".cm-diagnostic-error")).to_contain_text("every worker draws the same numbers")
    picture(page, "file")
    hover(page, "1234", "np.random.seed(1234)", "constant-worker-seed")
    hover(page, "return", "return DataLoader(flipped", "Copied into each worker")


def test_the_settings_hold(page: Page, address: str) -> None:
    """OpenCV's threads are ignored, and torch 2.4 seeds NumPy."""
    page.goto(f"{address}lab/tree/transforms.py?reset")
    expect(page.locator(".cm-lintRange")).to_have_text(["np.random.default_rng(seed)"])


def test_a_notebook(page: Page, address: str) -> None:
    page.goto(f"{address}lab/tree/noisy.ipynb?reset")
    squiggle = page.locator(".jp-Notebook .cm-lintRange-error")
    expect(squiggle).to_have_text(["np.random.default_rng(0)"])
    squiggle.hover()
    expect(page.locator(".cm-diagnostic-error")).to_contain_text("this Generator is made in `Noisy.__init__`")
    picture(page, "notebook")
    hover(page, "2", "num_workers=2", "Copied into each worker")

    # What is typed in one cell changes what is found in another.
    page.locator(".cm-line", has_text="num_workers=2").click()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Backspace")
    page.keyboard.type("0")
    expect(squiggle).to_have_count(0)
