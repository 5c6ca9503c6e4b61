"""Helix, in a terminal without a screen, configured as docs/editors/helix.md says."""

from __future__ import annotations

import re
import subprocess

from tests.editors.support import PATIENCE, Project, installed, snippet
from tests.editors.terminal import ENTER, ESCAPE, Terminal


def configured(project: Project, *headings: str) -> None:
    """Write the configuration that the page shows below these headings."""
    configuration = project.home / "config" / "helix" / "languages.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text("\n".join(snippet("helix.md", heading) for heading in headings))


def helix(project: Project, *files: str) -> Terminal:
    """Helix in the project's folder, with these files open."""
    return Terminal([installed("hx", newest=True), *files], project.folder, project.environment())


def closed(screen: Terminal, words: str) -> None:
    """Close what shows these words. The key after it must wait for that: the two together would be another key."""
    screen.press(ESCAPE)
    screen.until("it to close", lambda text: words not in text)


def test_the_server_is_found(project: Project) -> None:
    configured(project, "Configuration")
    done = subprocess.run(
        [installed("hx", newest=True), "--health", "python"],
        cwd=project.folder,
        env=project.environment(NO_COLOR="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        text=True,
    )
    servers = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert re.search(r"✓ loaderlint: .*bin/loaderlint", servers), servers


def test_a_session(project: Project) -> None:
    configured(project, "Configuration")
    with helix(project, "loaders.py") as screen:
        screen.shows("def training_loader")

        # A finding below its line, in the list of the file, and the page of its rule.
        screen.press("27gg")
        screen.shows("└─every worker draws the same numbers in the workers of the DataLoader")
        screen.press(" d")
        screen.until("the list of findings", lambda text: "LDR103" in text and "LDR601" in text)
        closed(screen, "LDR601")
        screen.press("f3 k")
        screen.shows("constant-worker-seed (LDR103)")
        closed(screen, "constant-worker-seed (LDR103)")

        # Its fix, from the menu.
        screen.press(" a")
        offered = screen.shows("Seed from `torch.initial_seed() % 2**32`")
        assert "Suppress constant-worker-seed here" in offered
        screen.press(ENTER + ENTER)
        screen.until("the fix", lambda text: "1234" not in text and "torch.initial_seed() % 2**32)" in text)
        screen.until("the fixed finding to go", lambda text: "draws the same numbers" not in text)

        # What a loader starts, and the refactoring that needs no fault.
        screen.press("16gg k")
        screen.shows("Copied into each worker")
        closed(screen, "Copied into each worker")
        screen.press(" a")
        screen.shows("Seed workers reproducibly")
        screen.press(ENTER + ENTER)
        screen.shows("generator=")

        screen.press(":write-quit-all" + ENTER)
        assert screen.ended() == 0

    loaders = project.read("loaders.py")
    assert "1234" not in loaders and "worker_init_fn=seed_worker" in loaders and "generator=" in loaders
    compile(loaders, "loaders.py", "exec")


def test_a_fix_in_another_file(project: Project) -> None:
    configured(project, "Configuration")
    with helix(project, "transforms.py") as screen:
        screen.shows("def crop_box")
        screen.press("11gg")
        screen.shows("└─every worker draws the same numbers: `np.random.randint`")
        screen.press("fn a")
        screen.shows("Seed each worker")
        screen.press(ENTER + ENTER)
        screen.until("the finding to go", lambda text: "`np.random.randint`" not in text)
        screen.press(":write-quit-all" + ENTER)
        assert screen.ended() == 0

    assert "        worker_init_fn=seed_worker,\n" in project.read("loaders.py")
    assert project.unchanged("transforms.py")


def test_settings(project: Project) -> None:
    configured(project, "Configuration", "Settings")
    with helix(project, "transforms.py") as screen:
        screen.shows("every worker draws the same numbers")
        assert "OpenCV" not in screen.text, "what is ignored is shown"
        assert "`np.random.randint`" not in screen.text, "torch 2.4 seeds NumPy"
        screen.press(" D")
        screen.until("files that are not open", lambda text: "datasets.py" in text and "LDR401" in text)
        closed(screen, "LDR401")
        screen.press(":quit" + ENTER)
        assert screen.ended() == 0
