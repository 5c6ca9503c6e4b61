"""The effect of recorded audits on the findings of a project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from loaderlint import cli
from loaderlint.cache import audit_results, cache_folder
from loaderlint.engine import Workspace
from loaderlint.findings.audits import Audit, Fault
from loaderlint.findings.diagnostics import Diagnostic

DATA = """\
import numpy as np
from torch.utils.data import Dataset

KINDS = {}


def register(kind):
    KINDS[kind.__name__] = kind
    return kind


@register
class Crops(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(42)

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.rng.integers(32)
"""
TRAIN = """\
import sys

from data import KINDS
from torch.utils.data import DataLoader

loader = DataLoader(KINDS[sys.argv[1]](), num_workers=2)
for batch in loader:
    print(batch)
"""
#: The line that draws, and the one that makes the loader.
DRAWS, MADE = 21, 6


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "demo"\n[tool.loaderlint]\nplatforms = ["linux"]\n')
    (root / "data.py").write_text(DATA)
    (root / "train.py").write_text(TRAIN)
    monkeypatch.chdir(root)
    return root


def audit_of(root: Path, *, line: int = MADE, file: str = "train.py", **changed: Any) -> Audit:
    """An audit in which the workers drew different numbers."""
    files = {str(path): audit_results.content_digest(path.read_bytes()) for path in root.glob("*.py")}
    made, drew = ((str(root / file), line),), ((str(root / "data.py"), DRAWS),)
    audit = Audit("train.py", "", made, 2, 2, 8, "fork", "2.4.1+cpu", "3.12.1", files, (), drew)
    return msgspec.structs.replace(audit, **changed)


def fault(root: Path, line: int = DRAWS, rule: str = "shared-generator") -> Fault:
    return Fault("workers-draw-alike", rule, ((str(root / "data.py"), line),))


def found(root: Path) -> list[Diagnostic]:
    workspace = Workspace((root,), {})
    return [one for listed in workspace.check().values() for one in listed if one.name == "shared-generator"]


def test_without_audits_nothing_is_different(project: Path) -> None:
    (one,) = found(project)
    assert (one.certainty, one.audit) == ("possible", "")


def test_a_fault_that_was_seen_confirms_the_finding(project: Path) -> None:
    audit_results.record(project, [audit_of(project, faults=(fault(project),), drew=())])
    (one,) = found(project)
    assert one.audit == (
        "workers drew the same numbers in the audit of train.py: 2 workers (fork), 2 epochs of at most 8 batches, "
        "Python 3.12.1, torch 2.4.1+cpu"
    )


def test_a_fault_of_another_line_or_rule_confirms_nothing(project: Path) -> None:
    faults = (fault(project, line=DRAWS - 1), fault(project, rule="constant-worker-seed"))
    audit_results.record(project, [audit_of(project, faults=faults, drew=())])
    (one,) = found(project)
    assert one.audit == ""


def test_a_fault_that_was_seen_in_other_files_confirms_nothing(project: Path) -> None:
    audit_results.record(project, [audit_of(project, faults=(fault(project),), drew=(), files={"gone.py": "0"})])
    (one,) = found(project)
    assert one.audit == ""


def test_draws_apart_refute_a_finding_that_is_only_possible(project: Path) -> None:
    audit_results.record(project, [audit_of(project)])
    assert found(project) == []
    explained = Workspace((project,), {}).explain(project / "data.py", 14, None)
    (hidden,) = explained.hidden
    assert hidden.reason.startswith(
        "an audit refutes it: no two workers and no two epochs drew the same numbers in the"
    )


def test_what_is_proven_is_not_refuted(project: Path) -> None:
    (project / "train.py").write_text(TRAIN.replace("KINDS[sys.argv[1]]()", "Crops()").replace("KINDS", "Crops"))
    audit_results.record(project, [audit_of(project)])
    (one,) = found(project)
    assert one.certainty == "proven"


#: Audits that refute nothing, each with what is missing.
NO_PROOF: dict[str, Callable[[Path], Audit]] = {
    "another line drew": lambda root: audit_of(root, drew=((str(root / "data.py"), DRAWS - 1),)),
    "another loader": lambda root: audit_of(root, line=MADE + 1),
    "spawned workers": lambda root: audit_of(root, method="spawn"),
    "a fault of another stream": lambda root: audit_of(root, faults=(fault(root, DRAWS - 1, "reseed-per-sample"),)),
    "a file that is gone": lambda root: audit_of(root, files={str(root / "gone.py"): "0"}),
    "a file that has changed": lambda root: audit_of(root, files={str(root / "data.py"): "0"}),
}


@pytest.mark.parametrize("name", NO_PROOF)
def test_an_audit_that_did_not_look_refutes_nothing(project: Path, name: str) -> None:
    audit_results.record(project, [NO_PROOF[name](project)])
    assert len(found(project)) == 1


@pytest.mark.parametrize("setting", ['target-torch = "2.5.0"', 'target-python = "3.11"'])
def test_other_versions_void_an_audit(project: Path, setting: str) -> None:
    audit_results.record(project, [audit_of(project)])
    with (project / "pyproject.toml").open("a") as file:
        file.write(f"{setting}\n")
    assert len(found(project)) == 1


def test_each_loader_has_to_be_audited(project: Path) -> None:
    (project / "valid.py").write_text(TRAIN)
    audit_results.record(project, [audit_of(project)])
    assert len(found(project)) == 1, "nobody looked at the workers of valid.py"
    audit_results.record(project, [audit_of(project), audit_of(project, file="valid.py")])
    assert found(project) == []


def test_a_loader_that_is_made_for_several_callers_is_not_refuted(project: Path) -> None:
    """It is not known which of the callers was audited."""
    call = "DataLoader(KINDS[sys.argv[1]](), num_workers=2)"
    made = f"def make(kind, count):\n    return {call.replace('=2', '=count').replace('sys.argv[1]', 'kind')}\n\n\n"
    twice = "loader = make(sys.argv[1], 2)\nother = make(sys.argv[2], 4)"
    (project / "train.py").write_text(TRAIN.replace(f"loader = {call}", made + twice))
    audit_results.record(project, [audit_of(project, line=MADE + 1)])
    (one,) = found(project)
    assert one.finding.loaders == ()


def test_a_later_audit_replaces_an_earlier_one_of_the_same_loader(project: Path) -> None:
    audit_results.record(project, [audit_of(project, faults=(fault(project),), drew=())])
    audit_results.record(project, [audit_of(project)])
    assert found(project) == [] and len(audit_results.recorded(project)) == 1


def test_a_fault_counts_more_than_draws_apart_with_other_arguments(project: Path) -> None:
    audit_results.record(project, [audit_of(project, faults=(fault(project),), drew=())])
    audit_results.record(project, [audit_of(project, arguments="other")])
    (one,) = found(project)
    assert one.audit


def test_an_edit_in_the_editor_voids_an_audit_until_it_is_undone(project: Path) -> None:
    audit_results.record(project, [audit_of(project)])
    workspace = Workspace((project,), {})

    def count() -> int:
        return sum(one.name == "shared-generator" for listed in workspace.check().values() for one in listed)

    assert count() == 0
    workspace.set_text(project / "train.py", f"{TRAIN}print()\n")
    assert count() == 1, "train.py is another one, though data.py has the finding"
    workspace.set_text(project / "train.py", TRAIN)
    assert count() == 0


def test_a_new_record_is_read_without_linking_again(project: Path) -> None:
    workspace = Workspace((project,), {})
    workspace.check()
    links = workspace.links
    audit_results.record(project, [audit_of(project)])
    file = audit_results.file_of(project)
    assert file is not None
    workspace.forget([file])
    assert not any(workspace.check().values()) and workspace.links == links


def test_the_record_holds_paths_below_the_root_and_neither_code_nor_arguments(project: Path) -> None:
    audit_results.record(project, [audit_of(project, faults=(fault(project),))])
    file = audit_results.file_of(project)
    assert file is not None
    kept = json.loads(file.read_text())
    (one,) = kept["audits"]
    assert sorted(one["files"]) == ["data.py", "train.py"] and one["made"] == [["train.py", MADE]]
    assert set(one) == set(Audit.__struct_fields__)


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"version": 1, "audits": [{}]}', b"\xff" * 9])
def test_a_record_that_cannot_be_read_is_no_record(project: Path, data: bytes) -> None:
    audit_results.record(project, [audit_of(project)])
    file = audit_results.file_of(project)
    assert file is not None
    file.write_bytes(data)
    assert len(found(project)) == 1


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def confirmed(project: Path) -> Path:
    audit_results.record(project, [audit_of(project, faults=(fault(project),), drew=())])
    return project


def shown(capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    capsys.readouterr()
    cli.main(["check", *flags])
    return capsys.readouterr().out


def test_formats_say_what_was_confirmed(confirmed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "workers drew the same numbers in the audit of train.py"
    assert f"= confirmed: {said}" in shown(capsys)
    (one,) = json.loads(shown(capsys, "--output-format", "json"))
    assert one["audit"].startswith(said)
    ((result,),) = [run["results"] for run in json.loads(shown(capsys, "--output-format", "sarif"))["runs"]]
    assert result["properties"]["audit"].startswith(said)


def test_a_cached_check_asks_the_audits_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def count() -> int:
        return len(json.loads(shown(capsys, "--output-format", "json")))

    assert (count(), count()) == (1, 1)
    audit_results.record(project, [audit_of(project)])
    assert (count(), count()) == (0, 0)
    text = (project / "train.py").read_text()
    (project / "train.py").write_text(f"{text}\n# an edit that changes no answer\n")
    assert (count(), count()) == (1, 1), "the finding is in the file that was not edited"


def test_the_summary_counts_what_audits_refute(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit_results.record(project, [audit_of(project)])
    said = "No findings in 2 files. 1 more refuted by audits (--no-audits).\n"
    assert (shown(capsys), shown(capsys)) == (said, said), "with the cache, too"
    assert shown(capsys, "data.py").endswith("1 more refuted by audits (--no-audits).\n")
    assert shown(capsys, "train.py") == "No findings in 1 file.\n"
    assert "[LDR102 shared-generator]" in shown(capsys, "--no-audits")


def test_what_a_comment_silences_is_not_counted(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "data.py").write_text(DATA.replace("rng(42)", "rng(42)  # loaderlint: ignore[shared-generator]"))
    audit_results.record(project, [audit_of(project)])
    assert "refuted" not in shown(capsys)


def test_without_audits_nothing_is_confirmed(confirmed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "confirmed" not in shown(capsys, "--no-audits")
    assert "confirmed" in shown(capsys)


def test_clean_removes_the_record(confirmed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["clean"]) == 0
    assert audit_results.recorded(confirmed) == ()
