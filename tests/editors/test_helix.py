"""Helix takes the configuration of docs/editors/helix.md."""

from __future__ import annotations

import re
import subprocess

from tests.editors.support import PATIENCE, Project, installed, snippet


def test_the_server_is_found(project: Project) -> None:
    helix = installed("hx", newest=True)
    configuration = project.home / "config" / "helix" / "languages.toml"
    configuration.parent.mkdir(parents=True)
    configuration.write_text(snippet("helix.md", "Configuration"))
    done = subprocess.run(
        [helix, "--health", "python"],
        cwd=project.folder,
        env=project.environment(NO_COLOR="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        text=True,
    )
    servers = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert re.search(r"✓ loaderlint: .*bin/loaderlint", servers), servers
