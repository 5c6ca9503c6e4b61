"""`explain FILE:LINE` and `workers`: their output and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loaderlint import cli
from loaderlint.commands import command_inputs
from loaderlint.engine.workspace import Workspace
from loaderlint.lsp.markdown import about_line
from tests.cli.conftest import Result, Run
from tests.rules.cases import _notebook

DATA = """\
import numpy as np
from torch.utils.data import Dataset


def crop(rng, image):
    return image[rng.integers(4):]


class Crops(Dataset):
    def __init__(self, images):
        self.images = images
        self.rng = np.random.default_rng(42)
        self.size = 224

    def __getitem__(self, index):
        return crop(self.rng, self.images[index])

    def describe(self):
        return self.size

"""
TRAIN = """\
import argparse
from torch.utils.data import DataLoader
from data import Crops

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=4)
args = parser.parse_args()


def seed_worker(worker_id):
    pass


if __name__ == "__main__":
    train_loader = DataLoader(Crops([1]), num_workers=args.workers, worker_init_fn=seed_worker)
    val_loader = DataLoader(Crops([2]))
"""


@pytest.fixture
def crops(project: Path) -> Path:
    """A project with two loaders of one dataset class."""
    (project / "data.py").write_text(DATA)
    (project / "train.py").write_text(TRAIN)
    (project / "requirements.txt").write_text("torch==2.4.1\n")
    (project / "loaderlint.toml").write_text('platforms = ["linux"]\ntarget-python = "3.11"\n')
    return project


@pytest.fixture
def run(crops: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line with the real workspace."""

    def go(*arguments: str) -> Result:
        return Result(cli.main(arguments), *capsys.readouterr())

    return go


def test_a_line_that_workers_run(run: Run, crops: Path) -> None:
    code, out, err = run("explain", "data.py:6")
    assert (code, err) == (0, "")
    assert out.split("\n\nwhat it runs on\n")[0] == (
        "data.py:6: return image[rng.integers(4):]\n"
        "\n"
        "in the function crop\n"
        "  runs in the workers of `train_loader` at train.py:15 (num_workers=4, argparse default)\n"
        "    by Crops.__getitem__ > crop\n"
        "  runs in the main process for `val_loader` at train.py:16 (num_workers=0)\n"
        "    by Crops.__getitem__ > crop"
    )
    assert "\n  torch 2.4.1, from requirements.txt\n" in out


def test_a_line_of_a_folder_that_no_project_file_marks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "build.py").write_text(
        "from torch.utils.data import DataLoader\n\n\n"
        "def build(items, workers=0):\n    return DataLoader(items, num_workers=workers)\n"
    )
    (tmp_path / "train.py").write_text("from lib.build import build\n\nloader = build([1], workers=4)\n")
    monkeypatch.chdir(tmp_path)
    assert "num_workers=4" in run("explain", "lib/build.py:5").out
    assert "num_workers=4" in run("workers", "lib/build.py").out


def test_checking_a_file_in_a_folder_that_no_project_file_marks(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder is read around the file if it is small: its finding depends on a file that it does not
    import."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "data.py").write_text(
        "import numpy as np\nfrom torch.utils.data import Dataset\n\n\n"
        "class Crops(Dataset):\n    def __len__(self):\n        return 9\n\n"
        "    def __getitem__(self, index):\n        return np.random.rand(3)\n"
    )
    (tmp_path / "train.py").write_text(
        "from torch.utils.data import DataLoader\n\nfrom lib.data import Crops\n\n"
        "loader = DataLoader(Crops(), num_workers=4)\n"
    )
    asked = ("check", "--no-cache", "--target-torch", "1.8", "lib/data.py")
    monkeypatch.chdir(tmp_path)
    assert "lib/data.py:10:16: error: every worker draws the same numbers" in run(*asked).out
    monkeypatch.setattr(command_inputs, "_SMALL", (20_000, 1))
    assert "lib/data.py:10:16: warning (possible): every worker" in run(*asked).out  # nobody has seen train.py


def test_a_finding_with_its_fix(run: Run, crops: Path) -> None:
    out = run("explain", "data.py:12").out
    assert "runs where the object is made, before the workers start\n" in out
    assert "each worker gets a copy of the object where it is the dataset: `train_loader` in train.py\n" in out
    assert "\nfindings\n  error: every worker draws the same numbers" in out
    assert "    = fix (safe): Make the generator in the worker; `torch.manual_seed` then fixes its numbers\n" in out


@pytest.mark.parametrize("line", ["data.py:6", "data.py:16", "train.py:15"])
def test_a_finding_at_another_line_that_involves_this_one(run: Run, crops: Path, line: str) -> None:
    out = run("explain", line).out
    assert "\nfindings at other lines that involve this line\n  data.py:12: error: every worker draws" in out
    assert out.endswith("No other rule applies to this line.\n")
    (found,) = json.loads(run("explain", line, "--output-format", "json").out)["elsewhere"]
    assert (found["path"], found["line"]) == ("data.py", 12)


@pytest.mark.parametrize("flags", [("--ignore", "LDR102"), ("--exclude", "data.py")])
def test_a_hidden_finding_at_another_line_is_not_named(run: Run, crops: Path, flags: tuple[str, ...]) -> None:
    assert "findings at other lines" not in run("explain", "train.py:15", *flags).out
    assert "findings at other lines" not in run("explain", "data.py:12").out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "data.py:19",
            "in the method Crops.describe\n  runs only in the main process: no known loader's workers",
        ),
        ("data.py:4", "there is no code on this line"),
        ("data.py:9", "in the class Crops\n  runs when the file is imported"),
        (
            "train.py:15",
            "in module-level code of train.py\n  runs only in the main process: it is under the main guard",
        ),
        (
            "train.py:15",
            "makes `train_loader`: torch.utils.data.DataLoader, num_workers=4, argparse default",
        ),
        ("train.py:15", "  worker_init_fn: seed_worker\n"),
        ("train.py:10", "  runs when a worker starts in the workers of `train_loader`"),
    ],
)
def test_what_stands_there(run: Run, crops: Path, line: str, said: str) -> None:
    assert said in run("explain", line).out


def test_a_form_feed_ends_no_line(run: Run, crops: Path) -> None:
    (crops / "data.py").write_text(f"# a\x0cb\n{DATA}")
    assert run("explain", "data.py:7").out.split("\n")[0] == "data.py:7: return image[rng.integers(4):]"
    last = DATA.count("\n") + 1
    assert f"choose one from 1 to {last}" in run("explain", f"data.py:{last + 1}").err


def test_a_column_chooses_among_the_findings(run: Run, crops: Path) -> None:
    assert "\nfindings\n" in run("explain", "data.py:12:25").out
    assert "\nfindings\n" not in run("explain", "data.py:12:10").out


@pytest.mark.parametrize(
    ("comment", "flags", "reason"),
    [
        ("  # loaderlint: ignore[shared-generator]", (), "suppressed by the comment '# loaderlint: ignore[shared-gen"),
        ("", ("--per-file-ignores", "data.py:LDR102"), "per-file-ignores turns it off here"),
        ("", ("--ignore", "LDR102"), "the rule is not among those that the settings select"),
    ],
)
def test_findings_that_are_not_shown(run: Run, crops: Path, comment: str, flags: tuple[str, ...], reason: str) -> None:
    (crops / "data.py").write_text(DATA.replace("default_rng(42)", f"default_rng(42){comment}"))
    out = run("explain", "data.py:12", *flags).out
    assert f"\nfindings that are not shown\n  [LDR102 shared-generator] {reason}" in out


def test_a_finding_in_the_baseline(run: Run) -> None:
    run("check", "--write-baseline")
    out = run("explain", "data.py:12", "--baseline").out
    assert "\nfindings that are not shown\n  [LDR102 shared-generator] it is in the baseline\n" in out
    assert "\nfindings\n" in run("explain", "data.py:12").out


def test_json(run: Run, crops: Path) -> None:
    told = json.loads(run("explain", "data.py:6", "--output-format", "json").out)
    (subject,) = told["subjects"]
    first, second = subject["runs"]
    assert (subject["kind"], subject["name"]) == ("function", "crop")
    assert first["loader"] == {"name": "train_loader", "path": "train.py", "line": 15, "column": 20}
    assert [link["function"] for link in first["chain"]] == ["Crops.__getitem__", "crop"]
    assert (first["starts_workers"], second["starts_workers"]) == ("yes", "no")
    told = json.loads(run("explain", "data.py:12", "--output-format", "json").out)
    assert [found["name"] for found in told["findings"]] == ["shared-generator"]
    assert told["findings"][0]["fix"]["safety"] == "safe"


def test_excluded_files_are_explained_too(run: Run, crops: Path) -> None:
    (crops / ".gitignore").write_text("data.py\n")
    out = run("explain", "data.py:6", "--exclude", "data.py").out
    assert "runs in the workers of `train_loader`" in out


def test_a_notebook_counts_its_code_lines(run: Run, crops: Path) -> None:
    (crops / "nb.ipynb").write_text(_notebook("# %%\nfrom data import Crops\n# %%\nx = Crops([1])\n"))
    out = run("explain", "nb.ipynb:4").out
    assert out.startswith("nb.ipynb:cell 2:2: x = Crops([1])\n")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("gone.py:3", "gone.py: no such file or folder"),
        ("dat.py:3", "dat.py: no such file or folder; did you mean data.py?"),
        ("data.py:99", "data.py: the file has 20 lines; choose one from 1 to 20"),
        ("data.py:0", "choose one from 1 to 20"),
        ("data.py", "which line of it? Write data.py:12"),
        (".:3", ".: a folder has no lines; write FILE:LINE"),
        ("empty.py:1", "empty.py: the file is empty"),
        ("broken.py:1", "broken.py: "),
    ],
)
def test_what_cannot_be_explained(run: Run, crops: Path, asked: str, message: str) -> None:
    (crops / "empty.py").write_text("")
    (crops / "broken.py").write_bytes(b"\xff\xfe\x00x")
    code, out, err = run("explain", asked)
    assert (code, out) == (2, "")
    assert message in err


def test_a_project_without_loaders(run: Run, crops: Path) -> None:
    (crops / "train.py").unlink()
    (crops / "data.py").write_text("def f():\n    pass\n")
    assert "no known loader's workers reach it" in run("explain", "data.py:2").out
    assert run("workers") == (0, "No loaders found.\n", "")


def test_the_worker_map(run: Run, crops: Path) -> None:
    assert run("workers").out == (
        "`train_loader` at train.py:15: torch.utils.data.DataLoader, num_workers=4, argparse default\n"
        "  workers start by fork (the default of Linux)\n"
        "  datasets\n"
        "    Crops at train.py:15\n"
        "  runs in its workers\n"
        "    crop at data.py:5\n"
        "    Crops.__getitem__ at data.py:15\n"
        "    seed_worker at train.py:10 (when a worker starts)\n"
        "  copied into each worker\n"
        "    Crops.images: a list, stored at data.py:11\n"
        "    Crops.rng: numpy.random.default_rng(...), stored at data.py:12\n"
        "\n"
        "`val_loader` at train.py:16: torch.utils.data.DataLoader, num_workers=0, no workers\n"
        "  datasets\n"
        "    Crops at train.py:16\n"
        "  runs in the main process\n"
        "    crop at data.py:5\n"
        "    Crops.__getitem__ at data.py:15\n"
        "\n"
        "2 loaders, 1 with workers.\n"
    )


def test_the_worker_map_as_json(run: Run, crops: Path) -> None:
    train, val = json.loads(run("workers", "train.py", "--output-format", "json").out)["loaders"]
    assert (train["name"], train["starts_workers"], val["starts_workers"]) == ("train_loader", "yes", "no")
    assert train["start_methods"] == ["fork"]
    assert [(one["owner"], one["attribute"]) for one in train["objects"]] == [("Crops", "images"), ("Crops", "rng")]
    assert {one["name"]: one["parts"] for one in train["functions"]} == {
        "crop": ["sample"],
        "Crops.__getitem__": ["sample"],
        "seed_worker": ["init"],
    }
    assert json.loads(run("workers", "data.py", "--output-format", "json").out) == {"loaders": []}


def test_a_loader_that_no_variable_holds_has_the_name_of_the_messages(run: Run, crops: Path) -> None:
    (crops / "loaders.py").write_text(
        "from torch.utils.data import DataLoader\nfrom data import Crops\n\n\n"
        "def __getattr__(name):\n    return DataLoader(Crops([1]), num_workers=2)\n"
    )
    (crops / "train.py").unlink()
    name = "the DataLoader in __getattr__()"
    assert run("workers").out.startswith(f"{name} at loaders.py:6: torch.utils.data.DataLoader, num_workers=2\n")
    assert f"\nmakes {name}: torch.utils.data.DataLoader, num_workers=2\n" in run("explain", "loaders.py:6").out
    assert f"  runs in the workers of {name} at loaders.py:6 (num_workers=2)\n" in run("explain", "data.py:16").out
    found = run("explain", "data.py:12").out
    assert f"each worker gets a copy of the object where it is the dataset: {name} (loaders.py)\n" in found
    assert f"in the workers of {name} (loaders.py): this Generator" in found
    assert json.loads(run("workers", "--output-format", "json").out)["loaders"][0]["name"] == "__getattr__"
    told = Workspace([crops])
    assert about_line(told, crops / "loaders.py", 5).startswith(
        "**the DataLoader in `__getattr__()`** torch.utils.data.DataLoader, num_workers=2\n"
    )
    assert about_line(told, crops / "data.py", 14) == (
        "**`Crops.__getitem__`** runs\n"
        "- in the workers of the DataLoader in `__getattr__()` (loaders.py) (num_workers=2)"
    )


def test_a_dataset_out_of_sight_is_possible(run: Run, crops: Path) -> None:
    (crops / "train.py").write_text(
        "import sys\nfrom torch.utils.data import DataLoader\n\nloader = DataLoader(eval(sys.argv[1]), num_workers=2)\n"
    )
    out = run("workers").out
    assert "its dataset is not known: " in out
    assert "    Crops.__getitem__ at data.py:15 (possible)\n" in out
    out = run("explain", "data.py:16").out
    assert "  may run in the workers of `loader` at train.py:4 (num_workers=2)\n" in out
    assert "    only possible: its dataset is not known: " in out


def test_many_loaders_stay_readable(run: Run, crops: Path) -> None:
    made = "".join(f"loader_{number} = DataLoader(Crops([1]), num_workers=2)\n" for number in range(40))
    (crops / "train.py").write_text(f"from torch.utils.data import DataLoader\nfrom data import Crops\n{made}")
    out, whole = run("workers").out, run("workers", "--all").out
    assert out.count("copied into each worker") == 20
    assert whole.count("copied into each worker") == 40
    assert "40 loaders, 40 with workers. All of each: --all" in out


def test_every_command_says_which_limits_were_reached(run: Run, crops: Path) -> None:
    calls = "\n".join(f"make({n})" for n in range(40))
    head = "from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, num_workers=2)\n"
    (crops / "many.py").write_text(f"{head}\n\n{calls}\n")
    said = "`make` is called in more than 32 ways: not all of them are followed"
    for command in (("check", "many.py"), ("workers", "many.py"), ("explain", "many.py:5")):
        done = run(*command)
        assert done.code == 0 and said in done.err, command


def test_check_says_one_of_many_limits_and_how_to_see_them_all(run: Run, crops: Path) -> None:
    calls = "\n".join(f"make({n})" for n in range(40))
    chain = "\n\n\n".join(f"def call{n}(data):\n    return call{n + 1}(data)" for n in range(40))
    head = "from torch.utils.data import DataLoader\n\n\ndef make(data):\n    return DataLoader(data, num_workers=2)\n"
    (crops / "many.py").write_text(
        f"{head}\n\n{chain}\n\n\ndef call40(data):\n    return make(data)\n\n\n{calls}\ncall0(1)\n"
    )
    limits = [line for line in run("check", "many.py").err.splitlines() if "more than" in line]
    assert len(limits) == 1 and "limits were reached (see them: check --verbose)" in limits[0]
    whole = run("check", "--verbose", "many.py").err.partition("Limits that were reached:")[2]
    assert sum("more than" in line for line in whole.splitlines()) == int(limits[0].rpartition("; ")[2].split()[0]) + 1


def test_a_project_with_a_loader_of_its_own(run: Run, crops: Path) -> None:
    reads = "    def __iter__(self):\n        for sample in self.dataset:\n            yield sample\n"
    (crops / "train.py").write_text(f"class DataLoader:\n{reads}")
    out = run("explain", "data.py:15").out
    assert "the project's own `DataLoader` reads its datasets, without workers" in out
    (crops / "train.py").write_text(f"from torch.utils.data import DataLoader as Base\nclass DataLoader:\n{reads}")
    assert "own `DataLoader`" not in run("explain", "data.py:15").out
