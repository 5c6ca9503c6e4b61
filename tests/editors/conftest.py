from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors.support import EDITORS, ROOT, Project, installed, project_in

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

    from tests.editors.vscode.workbench import Workbench


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the example project for one test."""
    return project_in(tmp_path)


# --- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[BrowserContext]:
    """One for all tests of a module: what it shows again comes from its cache. Not for longer, because no test of
    another folder could run an event loop while playwright does."""
    pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")
    from playwright.sync_api import expect, sync_playwright

    from tests.editors.support import PATIENCE
    from tests.editors.vscode.workbench import chromium

    expect.set_options(timeout=1000 * PATIENCE)
    program = installed("chromium")
    with sync_playwright() as playwright, chromium(playwright.chromium, program) as browser:
        yield browser


# --- VS Code: one package of the extension and one server of the workbench for all tests ------------------------------


@pytest.fixture(scope="session")
def vsix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as users get it."""
    if not (EDITORS / "code-server" / ".version").exists():
        pytest.skip("VS Code is not installed; to get it: make setup-editors")
    from tests.editors.vscode.workbench import package

    return package(tmp_path_factory.mktemp("extension"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Where VS Code keeps its things, and the server that it starts."""
    return project_in(tmp_path_factory.mktemp("vscode"))


@pytest.fixture(scope="session")
def address(home: Project, vsix: Path) -> Iterator[str]:
    """A running VS Code whose settings say which server to start."""
    from tests.editors.vscode.workbench import code_server

    machine = {"loaderlint.server.path": str(home.home / "bin" / "loaderlint")}
    with code_server(home, [vsix], machine, {"security.workspace.trust.enabled": False}) as address:
        yield address


@pytest.fixture
def pictures(request: pytest.FixtureRequest) -> Path:
    """Where the test keeps what was on the screen; empty."""
    folder = ROOT / "build" / "screenshots" / "vscode" / request.node.name.removeprefix("test_")
    shutil.rmtree(folder, ignore_errors=True)
    return folder


@pytest.fixture
def code(browser: BrowserContext, address: str, project: Project, pictures: Path) -> Iterator[Workbench]:
    """A window on a project of its own."""
    from tests.editors.vscode.workbench import window

    with window(browser, address, project, pictures) as opened:
        yield opened
