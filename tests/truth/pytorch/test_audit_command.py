"""`loaderlint audit`, the pytest plugin, and that an audit leaves everything as it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.truth import harness

TRAIN = """
import sys
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return self.rng.random()

def main(epochs):
    train = DataLoader(Crops(), batch_size=2, num_workers=2, multiprocessing_context="fork")
    valid = DataLoader(list(range(16)), batch_size=2)
    unused = DataLoader(list(range(16)), batch_size=2)
    for epoch in range(epochs):
        assert len(list(train)) <= 2 and len(list(valid)) <= 2
    raise ValueError("the end of " + sys.argv[2])

if __name__ == "__main__":
    main(int(sys.argv[1]))
"""

#: Prints what an audit must not change, before and after it.
UNTOUCHED = """
import os, random, threading, multiprocessing
import numpy as np, torch
from torch.utils.data import DataLoader
from loaderlint.audit import audit

loader = DataLoader(list(range(16)), batch_size=2, num_workers=1, persistent_workers=True)
running = iter(loader)
next(running)

def state():
    children = sorted(child.pid for child in multiprocessing.active_children())
    return (random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist(), children,
            threading.active_count(), sorted(os.listdir(".")), sorted(os.listdir("/proc/self/fd")),
            loader._iterator is running)

before = state()
audit(loader, batches=3).raise_for_faults()
print(before == state(), len(list(running)))
"""

PLUGIN = """
import numpy as np, pytest
from torch.utils.data import DataLoader, Dataset

class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return self.rng.random()

@pytest.fixture
def sound():
    return DataLoader(list(range(16)), batch_size=2)

@pytest.fixture
def faulty():
    return DataLoader(Crops(), batch_size=2, num_workers=2, multiprocessing_context="fork")

def test_fixture(loaderlint_audit, sound):
    assert loaderlint_audit(sound, batches=3).faults == ()

@pytest.mark.loaderlint_audit("sound", epochs=1, batches=2)
def test_marker():
    pass

@pytest.mark.loaderlint_audit("faulty", batches=2)
def test_faulty():
    raise AssertionError("the test runs only if its loader is sound")
"""


#: Samples that draw: the first also edits what is stored, the others write to a buffer and make their generator late.
DRAWN = """
import numpy as np
from torch.utils.data import DataLoader, Dataset
from loaderlint.audit import audit

class Edited(Dataset):
    def __init__(self):
        self.rows = np.zeros((8, 4))
    def __len__(self):
        return 8
    def __getitem__(self, index):
        row = self.rows[index]
        row += 1
        return row + np.random.rand()

class Buffered(Edited):
    def __getitem__(self, index):
        self.rows[0] = np.random.rand(4)
        return self.rows[0].copy()

class Late(Edited):
    rng = None
    def __getitem__(self, index):
        self.rng = self.rng or np.random.default_rng()
        self.rows[0] = self.rng.random(4)
        return self.rows[0].copy()

for kind in (Edited, Buffered, Late):
    print(kind.__name__, *(one.check for one in audit(DataLoader(kind(), num_workers=1)).faults))
"""


def environment() -> dict[str, str]:
    path = os.pathsep.join(part for part in (str(harness.ROOT / "server"), os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}


#: The dataset is looked up, and so is what its worker_init_fn sets: `check` cannot know that the workers draw apart.
LOOKED_UP = """
import sys
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

KINDS = {}

def register(kind):
    KINDS[kind.__name__] = kind
    return kind

@register
class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)
    def __len__(self):
        return 16
    def __getitem__(self, index):
        return self.rng.random()

def start(worker):
    dataset = get_worker_info().dataset
    for name in sys.argv[1:]:
        setattr(dataset, name, np.random.default_rng(torch.initial_seed()))

if __name__ == "__main__":
    loader = DataLoader(
        KINDS["Crops"[:9]](), num_workers=2, multiprocessing_context="fork", worker_init_fn=start
    )
    list(loader)
"""


def python(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**environment(), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_a_program_is_run_and_its_loaders_are_audited(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    words = ["-m", "loaderlint", "audit", "--batches", "2", "--output-format", "json", "train.py", "1", "all"]
    done = python(tmp_path, *words)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("audit runs your program: python train.py 1 all")
    told = json.loads(done.stdout)
    assert [each["loader"] for each in told["loaders"]] == ["loader at train.py:15", "loader at train.py:16"]
    faults = [[each["check"] for each in one["results"] if each["verdict"] == "fault"] for one in told["loaders"]]
    assert faults == [["workers-draw-alike", "epochs-draw-alike"], []]
    assert told["failure"].splitlines()[-1] == "ValueError: the end of all"
    assert "loaderlint" not in told["failure"].replace(str(harness.ROOT), "")


def test_a_module_is_stopped_when_its_loaders_were_seen(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "train.py").write_text(TRAIN.replace("    unused", "    # unused"))
    done = python(tmp_path, "-m", "loaderlint", "audit", "--batches", "2", "-m", "package.train", "1000", "all")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[0].startswith("audit runs your program: python -m package.train 1000 all")
    assert "[shared-generator]" in done.stdout
    assert "failed" not in done.stdout
    assert "2 loaders: 2 faults, 0 notes." in done.stdout.splitlines()


def test_loaders_are_seen_where_torch_is_there_before_the_program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "sitecustomize.py").write_text("import torch.utils.data\n")
    words = ["-m", "loaderlint", "audit", "--no-record", "--batches", "2", "train.py", "1", "all"]
    done = python(tmp_path, *words, PYTHONPATH=f"{tmp_path}{os.pathsep}{environment()['PYTHONPATH']}")
    assert "2 loaders: 2 faults, 0 notes." in done.stdout.splitlines(), done.stdout


def test_a_program_that_iterates_no_loader_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("raise SystemExit(3)\n")
    done = python(tmp_path, "-m", "loaderlint", "audit", "train.py")
    assert done.returncode == 2
    assert "the program ended with exit code 3" in done.stdout and "No DataLoader was iterated." in done.stdout
    missing = python(tmp_path, "-m", "loaderlint", "audit", "other.py")
    assert (missing.returncode, missing.stdout) == (2, "")


def test_check_knows_what_the_audit_saw(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(LOOKED_UP)
    os.utime(folder / "train.py", (time.time() - 60, time.time() - 60))

    def loaderlint(*words: str) -> str:
        environ = {**environment(), "LOADERLINT_CACHE_DIR": cache}
        command = [sys.executable, "-m", "loaderlint", *words]
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False).stdout

    def found() -> list[tuple[str, str, bool]]:
        told = json.loads(loaderlint("check", "--output-format", "json"))
        return [(each["name"], each["certainty"], bool(each["audit"])) for each in told]

    said = ("shared-generator", "possible")
    assert found() == [(*said, False)]
    told = json.loads(loaderlint("audit", "--no-record", "--output-format", "json", "train.py", "rng"))
    assert "refuted" not in told and found() == [(*said, False)], "nothing is kept"
    told = json.loads(loaderlint("audit", "--output-format", "json", "train.py", "rng"))
    assert [each["name"] for each in told["refuted"]] == ["shared-generator"], told
    assert found() == [] and (told["confirmed"], told["missed"], told["problems"]) == ([], [], [])
    assert "an audit refutes it" in loaderlint("explain", "train.py:16")
    told = json.loads(loaderlint("audit", "--output-format", "json", "train.py"))
    assert [each["name"] for each in told["confirmed"]] == ["shared-generator"], told
    assert found() == [(*said, True)] and (told["refuted"], told["missed"], told["problems"]) == ([], [], [])
    with (folder / "train.py").open("a") as file:
        file.write("# changed\n")
    assert found() == [(*said, False)]
    os.utime(folder / "train.py", (time.time() + 60, time.time() + 60))
    told = json.loads(loaderlint("audit", "--output-format", "json", "train.py"))
    assert found() == [(*said, False)] and len(told["problems"]) == 1, "what ran need not be what is there"


def test_a_fault_that_check_does_not_know_is_a_miss(tmp_path: Path) -> None:
    hidden = "vars(np.random)[sys.argv[2][:0] + 'default_rng'](42)"
    (tmp_path / "train.py").write_text(TRAIN.replace("np.random.default_rng(42)", hidden))
    os.utime(tmp_path / "train.py", (time.time() - 60, time.time() - 60))
    words = ["-m", "loaderlint", "audit", "--batches", "2", "train.py", "1", "all"]
    told = python(tmp_path, *words).stdout
    assert "missed: `loaderlint check` does not report workers-draw-alike." in told, told
    assert "Output of: loaderlint explain train.py:12" in told
    assert "default_rng" not in told.partition("missed:")[2], "the text for an issue holds no code"


def test_stored_data_that_samples_edit_is_seen_where_they_draw(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(DRAWN)
    done = python(tmp_path, "main.py")
    assert done.stdout.splitlines() == ["Edited stored-data", "Buffered", "Late"], done.stdout + done.stderr


def test_an_audit_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(UNTOUCHED)
    done = python(tmp_path, "main.py")
    assert done.stdout.split() == ["True", "7"], done.stdout + done.stderr


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_audit_leaves_no_process(tmp_path: Path) -> None:
    slow = TRAIN.replace("return self.rng.random()", "import time; time.sleep(60)")
    (tmp_path / "train.py").write_text(slow)
    words = [sys.executable, "-m", "loaderlint", "audit", "train.py", "1", str(tmp_path)]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    while b"auditing" not in process.stdout.readline():
        pass
    time.sleep(1)
    assert len(_processes(tmp_path)) > 2
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=30)
    end = time.monotonic() + 30
    while _processes(tmp_path) and time.monotonic() < end:
        time.sleep(0.2)
    assert _processes(tmp_path) == []


def _processes(folder: Path) -> list[str]:
    """The processes that run in a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(each / "cwd") == str(folder) and "Z" not in (each / "stat").read_text().split()[2]:
                found.append(each.name)
        except OSError:
            continue
    return found


def test_the_plugin_audits_in_tests(tmp_path: Path) -> None:
    (tmp_path / "test_loaders.py").write_text(PLUGIN)
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", "test_loaders.py"]
    listed = python(tmp_path, "-m", "pytest", "--markers").stdout
    if "loaderlint_audit" not in listed:  # an environment that was installed before there was a plugin
        words += ["-p", "loaderlint.audit.pytest_plugin"]
    done = python(tmp_path, *words)
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "fault: workers-draw-alike" in done.stdout
    assert "only if its loader is sound" not in done.stdout.partition("short test summary")[0].replace(PLUGIN, "")
