"""What ships says the same everywhere."""

from __future__ import annotations

import json
import re

import loaderlint
from loaderlint.lsp import client_settings
from loaderlint.settings import settings
from scripts.generate_docs import ROOT


def test_one_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", loaderlint.__version__)
    manifest = json.loads((ROOT / "package.json").read_text("utf-8"))
    assert manifest["version"] == loaderlint.__version__
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    assert lock["version"] == loaderlint.__version__
    assert f"## {loaderlint.__version__} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_editor_knows_every_setting_and_the_server_every_setting_of_the_editor() -> None:
    manifest = json.loads((ROOT / "package.json").read_text("utf-8"))
    offered = {
        name.removeprefix("loaderlint."): None for name in manifest["contributes"]["configuration"]["properties"]
    }
    # What is the editor's alone: how to find and watch the server, and what is shown.
    own = {
        name
        for name in offered
        if "." in name
        or name in ("enable", "interpreter", "auditLens", client_settings.MODE, client_settings.LOG_LEVEL)
    }
    given: dict[str, object] = {name: "x" for name in offered if name not in own}
    assert sorted(settings.from_editor(given)) == sorted(settings.KEYS)
