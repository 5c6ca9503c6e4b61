"""Emacs, without a screen, configured as docs/editors/emacs.md says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.editors.support import HERE, Project, add_noise, installed, played, snippet

CLIENTS = pytest.mark.parametrize(
    ("client", "newest"),
    [
        pytest.param("eglot", False, id="eglot"),
        pytest.param("eglot", True, id="newest-eglot"),
        pytest.param("lsp-mode", False, id="lsp-mode"),
    ],
)


def emacs(project: Project, script: str, *headings: str, newest: bool) -> Mapping[str, Any]:
    """Run a script in Emacs, configured as the page says below these headings; what it saw."""
    program = installed("emacs", newest=newest)
    configuration = project.home / "init.el"
    configuration.write_text("\n".join(snippet("emacs.md", heading) for heading in headings))
    script_file = HERE / "emacs" / f"{script}.el"
    return played((program, "--batch", "-Q", "-l", script_file), project, CONFIGURATION=configuration)


@CLIENTS
def test_a_session(project: Project, client: str, newest: bool) -> None:
    seen = emacs(project, client, client, newest=newest)

    assert seen["line"] == 27
    assert "flymake-error" in seen["drawn"]
    assert "Copied into each worker" in seen["loader"]
    assert "in the workers of" in seen["worker"] and "validation_loader" in seen["worker"]
    assert any(title.startswith("Suppress constant-worker-seed") for title in seen["offered"])
    assert seen["left"] is None, "the fixed line is still marked"

    loaders = project.read("loaders.py")
    assert "1234" not in loaders
    assert "        worker_init_fn=seed_worker,\n" in loaders
    assert "        TileStream(slides),\n" in loaders and "generator=" in loaders
    compile(loaders, "loaders.py", "exec")
    assert project.unchanged("transforms.py")


@CLIENTS
def test_a_fix_of_several_files_and_its_undo(project: Project, client: str, newest: bool) -> None:
    add_noise(project)
    seen = emacs(project, f"{client}-undo", client, newest=newest)

    assert seen["fixed"] == ["fit.py", "score.py", "signals.py"]
    assert seen["undone"] == [["fit.py", "score.py", "signals.py"], ["fit.py", "score.py"], ["score.py"], []]
    if client == "lsp-mode":
        assert seen["asked"] == []
        return
    # eglot asks, because these files are not open.
    (question,) = seen["asked"]
    assert "Server wants to edit" in question
    assert all(str(project / name) in question for name in seen["fixed"]) and "noise.py" not in question


def test_eglot_can_be_told_not_to_ask(project: Project) -> None:
    add_noise(project)
    seen = emacs(project, "eglot-undo", "eglot", "Fixes of several files", newest=True)

    assert seen["asked"] == []
    assert seen["fixed"] == ["fit.py", "score.py", "signals.py"]


@CLIENTS
def test_settings(project: Project, client: str, newest: bool) -> None:
    """OpenCV's threads are ignored, and torch 2.4 seeds NumPy."""
    seen = emacs(project, f"{client}-settings", client, f"Settings of {client}", newest=newest)

    assert len(seen["found"]) == 1, seen["found"]


@pytest.mark.parametrize("newest", [pytest.param(False, id="eglot"), pytest.param(True, id="newest-eglot")])
def test_questions(project: Project, newest: bool) -> None:
    seen = emacs(project, "questions", "eglot", "Questions", newest=newest)

    assert seen["explained"].startswith("loaders.py:27: np.random.seed(1234)\n")
    assert "the DataLoader in training_loader() at loaders.py:16" in seen["workers"]
    assert seen["supposed"].startswith("With python=3.14:")
    assert "findings in 3 files" in seen["checked"]


@pytest.mark.parametrize("newest", [pytest.param(False, id="eglot"), pytest.param(True, id="newest-eglot")])
def test_a_hover_without_markdown_mode_is_plain_text(project: Project, newest: bool) -> None:
    seen = emacs(project, "eglot-hover", "eglot", newest=newest)

    assert seen["markdown"] is None, "markdown-mode is there"
    assert "Copied into each worker" in seen["loader"]
    assert not any(sign in seen["loader"] for sign in ("**", "`", "](", "&nbsp;"))
