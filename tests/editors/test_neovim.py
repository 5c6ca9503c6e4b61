"""Neovim, without a screen, configured as docs/editors/neovim.md says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.editors.support import HERE, NOISE, Project, add_noise, installed, played, snippet

CONFIGURATIONS = pytest.mark.parametrize(
    ("heading", "newest"),
    [
        pytest.param("Neovim 0.7", False, id="0.7"),
        pytest.param("Neovim 0.8 to 0.10", True, id="0.8"),
        pytest.param("Neovim 0.11 and newer", True, id="0.11"),
    ],
)


def neovim(project: Project, script: str, *headings: str, newest: bool) -> Mapping[str, Any]:
    """Run a script in Neovim, configured as the page says below these headings; what it saw."""
    program = installed("nvim", newest=newest)
    configuration = project.home / "init.lua"
    configuration.write_text("\n".join(snippet("neovim.md", heading) for heading in headings))
    command = (program, "--headless", "--clean", "-n", "-i", "NONE", "-S", HERE / "neovim" / f"{script}.lua")
    return played(command, project, CONFIGURATION=configuration)


@CONFIGURATIONS
def test_a_session(project: Project, heading: str, newest: bool) -> None:
    seen = neovim(project, "session", heading, newest=newest)

    assert seen["finding"]["line"] == 27 and "draws the same numbers" in seen["finding"]["message"]
    assert any("Underline" in highlight for highlight in seen["drawn"]["highlights"])
    assert "constant-worker-seed" in seen["page"]
    assert "Copied into each worker" in seen["loader"]
    assert "in the workers of the DataLoader in `validation_loader()`" in seen["worker"]
    assert [one["line"] for one in seen["lenses"]] == [16, 33, 44, 48]
    assert seen["lenses"][0]["title"].startswith("num_workers=4")
    assert seen["offered"][0].startswith("Seed from")
    assert seen["left"]["highlights"] == []

    loaders = project.read("loaders.py")
    assert "1234" not in loaders
    assert "        worker_init_fn=seed_worker,\n" in loaders
    assert "        TileStream(slides),\n" in loaders and "generator=" in loaders
    compile(loaders, "loaders.py", "exec")
    assert project.unchanged("transforms.py")


@CONFIGURATIONS
def test_fix_all(project: Project, heading: str, newest: bool) -> None:
    neovim(project, "fix_all", heading, "Keys", newest=newest)

    datasets = project.read("datasets.py")
    assert "weight = np.copy(self.weights[index])" in datasets
    assert "for path in shard_by_worker(self.paths):" in datasets
    compile(datasets, "datasets.py", "exec")


@CONFIGURATIONS
def test_a_fix_of_several_files_and_its_undo(project: Project, heading: str, newest: bool) -> None:
    add_noise(project)
    seen = neovim(project, "undo", heading, newest=newest)

    assert seen["fixed"] == ["fit.py", "score.py", "signals.py"]
    assert seen["shown"] == ["noise.py"]
    assert seen["undone"] == [["fit.py", "score.py", "signals.py"], ["fit.py", "score.py"], ["score.py"], []]
    for name in NOISE:
        assert (project.read(name) == NOISE[name]) == (name == "noise.py")


def test_settings(project: Project) -> None:
    seen = neovim(project, "settings", "Neovim 0.11 and newer", "Settings", newest=True)

    assert seen["codes"] == ["LDR102"]
    assert seen["changed"] == ["LDR201"]
    assert seen["files"] == ["datasets.py", "loaders.py", "transforms.py"]


def test_questions(project: Project) -> None:
    seen = neovim(project, "questions", "Neovim 0.11 and newer", "Questions", newest=True)

    assert seen["explained"].startswith("loaders.py:27: np.random.seed(1234)\n")
    assert "[LDR103 constant-worker-seed]" in seen["explained"]
    assert (
        "the DataLoader in training_loader() at loaders.py:16" in seen["workers"] and "train.py" not in seen["workers"]
    )
    assert seen["supposed"].startswith("With python=3.14:") and "Only with python=3.14, torch=1.8" in seen["supposed"]
    assert seen["checked"].startswith("loaderlint: ") and "findings in 3 files" in seen["checked"]
