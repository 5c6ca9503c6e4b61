"""VS Code as a new user has it, on a machine without any loaderlint: from the first message to the first fix."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.editors.support import HERE, project_in

pytest.importorskip("playwright", reason="what drives the browser is not installed; to get it: make setup-editors")

from playwright.sync_api import BrowserContext, expect  # noqa: E402

from tests.editors.vscode.workbench import Workbench, code_server, window, zipped  # noqa: E402

pytestmark = pytest.mark.flaky(reruns=1)

OLD = '#!/bin/sh\necho \'loaderlint-probe {"python": "3.8.10", "executable": "x", "version": null, "problem": "x"}\'\n'


#: The file for the seconds until the first squiggle: `python -m benchmarks first` measures them.
STOPWATCH = os.environ.get("LOADERLINT_STOPWATCH")


class Watch:
    """Says how long each step took; nothing is asserted of it."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, float]] = []
        self._detours = 0.0

    @contextmanager
    def __call__(self, step: str, *, detour: bool = False) -> Iterator[None]:
        """Time a step. A `detour` is one that a user whose machine has a Python does not take."""
        start = time.monotonic()
        yield
        self._steps.append((step, time.monotonic() - start))
        self._detours += self._steps[-1][1] * detour

    @property
    def seconds(self) -> float:
        """The time of all steps until now but the detours."""
        return sum(seconds for _, seconds in self._steps) - self._detours

    def __str__(self) -> str:
        rows = [f"{seconds:6.1f} s  {step}" for step, seconds in self._steps]
        return "\n".join(["", *rows, f"{self.seconds:6.1f} s  in all where there is a Python"])


def test_from_nothing_to_the_first_fix(
    browser: BrowserContext, vsix: Path, tmp_path: Path, pictures: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = project_in(tmp_path)
    # Nothing is on the PATH but a Python that is too old (VSCODE_CLI: nor does a login shell put something there).
    programs = tmp_path / "programs"
    programs.mkdir()
    python = programs / "python3"
    python.write_text(OLD)
    python.chmod(0o755)
    selected = project.home / "interpreter"
    selected.write_text(sys.executable)
    extensions = [vsix, zipped(HERE / "vscode" / "python", tmp_path / "python.vsix")]
    watch = Watch()
    user = {"security.workspace.trust.startupPrompt": "never"}
    with ExitStack() as stack:
        with watch("the extension is installed, VS Code starts"):
            address = stack.enter_context(
                code_server(project, extensions, {}, user, PATH=str(programs), VSCODE_CLI="1")
            )
        with watch("a window is opened"):
            code = stack.enter_context(window(browser, address, project, pictures))

        with watch("a Python file is opened; what is missing is said"):
            code.go("transforms.py", 11, 20)
            said = code.notification("loaderlint needs Python 3.10 or newer and found none")
            expect(said).to_contain_text("python3 on the PATH (python3) is Python 3.8.10, which is too old")
            expect(said).to_contain_text("python on the PATH (python) cannot be run (ENOENT)")
        expect(said).to_contain_text("This workspace is not trusted, so its own interpreter was not tried")
        expect(said).not_to_contain_text("Set Up")
        code.picture("no Python")
        code.command("Notifications: Clear All Notifications")

        python.write_text(f'#!/bin/sh\nexec {sys._base_executable} "$@"\n')  # type: ignore[attr-defined]
        with watch("now there is a Python; Restart Server; what is offered is said", detour=True):
            code.command("loaderlint: Restart Server")
            offer = code.notification("Set Up creates one")
            expect(offer.locator(".codicon-info")).to_be_visible()  # an offer, no error
        code.picture("offer")
        with watch("Set Up: the environment is made, the server starts, findings are shown"):
            code.answer("Set Up creates one", "Set Up")
            expect(code.squiggles("error")).to_have_count(2)
        if STOPWATCH:
            Path(STOPWATCH).write_text(str(watch.seconds), "utf-8")
        code.picture("set up")

        with watch("Ctrl+. on the finding, Enter: the first fix is on disk"):
            code.go("transforms.py", 11, 20)
            code.fix("Seed each worker")
            # The other file is opened when it is changed.
            code.page.locator('.tab[aria-label^="loaders.py"]').wait_for()
            expect(code.squiggles("error")).to_have_count(0)
            code.save_all()
            code.on_disk("loaders.py", "worker_init_fn=seed_worker,")

        # The interpreter that is selected has loaderlint, and is run as soon as the workspace is trusted.
        served_by(code, "the extension's own environment")
        expect(code.text("limited: workspace not trusted").first).to_be_visible()
        code.picture("debug information")
        code.command("Workspaces: Manage Workspace Trust")
        editor = code.page.locator(".workspace-trust-editor")
        editor.locator(".monaco-button", has_text="Trust").first.click()
        expect(editor).to_contain_text("You trust this folder")
        code.page.locator(".modal-editor-action-container .codicon-close").click()
        expect(editor).to_have_count(0)
        served_by(code, "the selected interpreter")
        code.picture("trusted")
        selected.write_text(str(python))
        served_by(code, "the extension's own environment")
    with capsys.disabled():
        print(watch)


def served_by(code: Workbench, origin: str) -> None:
    """Wait until the server is the one from `origin`."""

    def told() -> bool:
        code.command("loaderlint: Show Debug Information")
        code.page.wait_for_timeout(1000)
        return code.text(f"from {origin}").count() > 0

    code.until(f"the server from {origin}", told)
