"""Emacs, without a screen, configured as docs/editors/emacs.md says."""

from __future__ import annotations

import pytest

from tests.editors.support import HERE, Project, installed, played, snippet


@pytest.mark.parametrize(
    ("client", "newest"),
    [
        pytest.param("eglot", False, id="eglot"),
        pytest.param("eglot", True, id="newest-eglot"),
        pytest.param("lsp-mode", False, id="lsp-mode"),
    ],
)
def test_a_session(project: Project, client: str, newest: bool) -> None:
    emacs = installed("emacs", newest=newest)
    configuration = project.home / "init.el"
    configuration.write_text(snippet("emacs.md", client))
    script = HERE / "emacs" / f"{client}.el"
    seen = played((emacs, "--batch", "-Q", "-l", script), project, CONFIGURATION=configuration)

    assert seen["line"] == 27
    assert "flymake-error" in seen["drawn"]
    assert any(title.startswith("Suppress constant-worker-seed") for title in seen["offered"])
    assert seen["left"] is None, "the fixed line is still marked"

    loaders = project.read("loaders.py")
    assert "1234" not in loaders
    assert "        worker_init_fn=seed_worker,\n" in loaders
    compile(loaders, "loaders.py", "exec")
    assert project.unchanged("transforms.py")
