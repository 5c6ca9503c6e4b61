"""What the main process sets between epochs: `audit` sees that persistent workers do not get it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loaderlint.audit import audit
from loaderlint.audit.report import Report, Verdict
from tests.truth import harness
from tests.truth.catalogue.persistent_state import CLEAN, FAULTY, STALE_STATE
from tests.truth.pytorch.test_audit_command import python
from tests.truth.tool import FixedPrograms

torch = pytest.importorskip("torch")
data = pytest.importorskip("torch.utils.data")

#: The programs whose loader is a DataLoader that is iterated as it is.
STALE = {case.name: case for case in FAULTY if case.fix}
SOUND = {case.name: case for case in CLEAN}


def stale_state(program: Path, scratch: Path) -> tuple[str, list[str]]:
    """The verdict of the command on the first loader of a program, and the rules of its faults."""
    folder = harness.copied(program, scratch / "program")
    done = python(folder, "-m", "loaderlint", "audit", "--no-record", "--output-format", "json", "train.py")
    (first, *_) = json.loads(done.stdout)["loaders"]
    verdicts = [each["verdict"] for each in first["results"] if each["check"] == "stale-state"]
    faults = [each["rule"] for each in first["results"] if each["verdict"] == "fault"]
    return (verdicts or ["none"])[0], faults


@pytest.mark.parametrize("name", STALE)
def test_what_persistent_workers_do_not_get_is_a_fault(name: str, tmp_path: Path) -> None:
    assert stale_state(STALE[name].folder, tmp_path) == ("fault", [STALE_STATE])


@pytest.mark.parametrize("name", STALE)
def test_the_fixed_program_is_clean(name: str, tmp_path: Path, fixed_programs: FixedPrograms) -> None:
    verdict, faults = stale_state(fixed_programs.folder(STALE[name]), tmp_path)
    assert verdict in ("clean", "none") and faults == []


@pytest.mark.parametrize("name", SOUND)
def test_a_clean_program_has_no_fault(name: str, tmp_path: Path) -> None:
    verdict, faults = stale_state(SOUND[name].folder, tmp_path)
    assert verdict != "fault" and faults == []


class Epochs(data.Dataset):  # type: ignore[misc,name-defined]
    """Samples that depend on the epoch, and a count of calls that they do not depend on."""

    def __init__(self) -> None:
        self.epoch = 0
        self.called = 0
        self.shared = torch.zeros(1).share_memory_()

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> float:
        return float(index + self.epoch + self.shared[0])

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def count(self, epoch: int) -> None:
        self.called += 1

    def share(self, epoch: int) -> None:
        self.shared[0] = epoch

    def nothing(self, epoch: int) -> None:
        pass


class Walk(data.IterableDataset):  # type: ignore[misc,name-defined]
    """Items that depend on the epoch."""

    def __init__(self) -> None:
        self.epoch = 0

    def __iter__(self) -> Any:
        return iter([self.epoch, self.epoch + 1])


def audited(method: str, persistent: bool = True, start: str = "fork") -> Report:
    dataset = Epochs()
    loader = data.DataLoader(
        dataset, batch_size=2, num_workers=2, persistent_workers=persistent, multiprocessing_context=start
    )
    return audit(loader, epochs=1, batches=2, timeout=200, between=getattr(dataset, method))


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_what_is_set_between_epochs_in_code_is_seen(start: str) -> None:
    (fault,) = audited("set_epoch", start=start).faults
    assert (fault.check, fault.rule) == ("stale-state", STALE_STATE)
    assert "dataset.epoch is 1 in the main process, and 0 in worker 0" in "".join(sorted(fault.evidence))


@pytest.mark.parametrize("method", ["count", "share", "nothing"])
def test_what_reaches_the_workers_or_matters_to_no_sample_is_clean(method: str) -> None:
    results = [each for each in audited(method).results if each.check == "stale-state"]
    assert [each.verdict for each in results] == [Verdict.CLEAN]


def test_workers_that_end_with_their_epoch_are_not_asked() -> None:
    assert "stale-state" not in [each.check for each in audited("set_epoch", persistent=False).results]


def test_an_iterable_dataset_is_asked_for_its_first_items() -> None:
    dataset = Walk()
    loader = data.DataLoader(dataset, num_workers=1, persistent_workers=True, multiprocessing_context="fork")

    def set_epoch(epoch: int) -> None:
        dataset.epoch = epoch

    report = audit(loader, epochs=1, batches=2, between=set_epoch)
    assert [each.rule for each in report.faults] == [STALE_STATE]
    assert dataset.epoch == 0, "it is set in a copy"
