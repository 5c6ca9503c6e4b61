"""The project in `examples/` runs, has the faults that its README tells of, and runs better after all safe fixes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.truth import harness
from tests.truth.programs import Programs

#: Programs for the oracles: data as the project reads it, and its own loaders.
PREDICTION = """
import numpy as np
from loaders import prediction_loader

def make_loader():
    np.save("slide.npy", np.arange(64 * 64 * 3 * 64.0).reshape(512, 512, 3))
    loader = prediction_loader(["slide.npy"], batch_size=1, workers=3)
    return [tiles[:, 0, 0, 0] for tiles in loader]
"""
TRAINING = """
import h5py
import numpy as np
from loaders import training_loader

def make_loader():
    with h5py.File("nuclei.h5", "w") as file:
        file["images"] = np.zeros((16, 64, 64, 3), np.float32)
        file["masks"] = np.arange(16 * 64 * 64).reshape(16, 64, 64) // 7 % 2
    loader = training_loader("nuclei.h5", batch_size=1, workers=4, crop=48)
    loader.collate_fn = summed
    return loader

def summed(samples):
    # images are 0 before noise is added, so this is what was drawn
    return (float(samples[0]["image"].double().sum()),)
"""


@pytest.mark.parametrize(("start", "training_shows"), [("fork", "duplicates"), ("forkserver", "pickle")])
def test_example(start: str, training_shows: str, programs: Programs, tmp_path: Path) -> None:
    plain = harness.copied(harness.ROOT / "examples", tmp_path / "plain")
    fixed = harness.copied(harness.ROOT / "examples", tmp_path / "fixed")
    run = harness.check(fixed, "--fix", "--output-format", "json")
    assert run.returncode == 0, run.stderr
    assert [found for found in json.loads(run.stdout) if found["severity"] != "hint"] == []
    for folder, faults in ((plain, [{"items"}, {training_shows}]), (fixed, [set(), set()])):
        loader = {"multiprocessing_context": start}
        (folder / "prediction.py").write_text(PREDICTION)
        (folder / "training.py").write_text(TRAINING)
        predicted = programs.measure(folder, "items", loader, {}, module="prediction")
        drawn = programs.measure(folder, "draws", loader, {"columns": [0], "emulate": True}, module="training")
        assert [set(harness.symptoms(answer)) for answer in (predicted, drawn)] == faults
