"""`loaderlint.audit` sees the faults that it claims to see, and none in the fixed and the clean programs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest

from loaderlint.audit.visible_rules import SEEN_BY
from tests.truth import harness
from tests.truth.catalogue import CLEAN, FAULTY, Case
from tests.truth.catalogue.base import FORK_SERVER, SPAWN, Loader
from tests.truth.programs import Programs
from tests.truth.tool import FixedPrograms

Phase = Literal["before", "after", "clean"]

BY_NAME: dict[str, Case] = {f"{case.rule}/{case.name}": case for case in (*CLEAN, *FAULTY)}

#: The programs that are audited: the rule and name, the check that sees it, and whether what it sees is a fault. A note
#: is what may be wanted. Each rule that audit claims to see is here, but for those of `ELSEWHERE`.
SEEN = (
    ("duplicate-numpy-randomness/helper_class", "workers-draw-alike", "faults"),
    ("shared-generator/attribute", "workers-draw-alike", "faults"),
    ("shared-generator/module_level", "epochs-draw-alike", "faults"),
    ("shared-generator/stateful_loader", "workers-draw-alike", "faults"),
    ("constant-worker-seed/worker_number", "epochs-draw-alike", "faults"),
    ("constant-worker-seed/first_sample", "epochs-draw-alike", "faults"),
    ("worker-seed-overflow/as_it_is", "samples", "faults"),
    ("reseed-per-sample/constant", "samples-reseed", "faults"),
    ("reseed-per-sample/worker_seed", "samples-reseed", "faults"),
    ("frozen-augmentation-state/albumentations", "workers-draw-alike", "faults"),
    ("common-seed-in-workers/collate", "workers-draw-alike", "faults"),
    ("common-seed-in-workers/epoch_in_seed", "workers-draw-alike", "faults"),
    ("torch-threads-in-worker/helper", "hanging", "faults"),
    ("cuda-in-worker/saved_on_gpu", "samples", "faults"),
    ("process-in-worker/pool", "samples", "faults"),
    ("executor-across-fork/thread_pool", "hanging", "faults"),
    ("worker-info-in-main/constructor", "items", "faults"),
    ("unpicklable-callable/collate", "pickling", "notes"),
    ("unpicklable-state/lock", "pickling", "notes"),
    ("handle-across-workers/records", "open-files", "faults"),
    ("handle-across-workers/lmdb", "crossed-the-fork", "notes"),
    ("unpicklable-sample/file_alone", "samples", "faults"),
    ("stored-data-mutation/array", "stored-data", "faults"),
    ("stored-data-mutation/memory_map", "stored-data", "faults"),
    ("negative-stride-sample/flipped", "samples", "faults"),
    ("lost-worker-state/cache", "kept-state", "notes"),
    ("none-sample/handler", "samples", "faults"),
    ("unsharded-iterable-dataset/shuffled", "items", "faults"),
    ("stop-iteration-sample/stored", "samples", "faults"),
    ("exhausted-iterable/generator", "epochs", "faults"),
    ("uncollatable-sample/path", "samples", "faults"),
)

#: Their fixes make the program raise an exception that says what is wrong, which is a result too.
RAISE_AFTER = ("none-sample", "stop-iteration-sample")

#: Classes of notebooks: tests/audit/test_pickling.py. What is set between epochs: test_audit_epochs.py.
ELSEWHERE = {"notebook-class-in-worker", "stale-persistent-state"}

#: Clean programs that look like the faults that audit sees.
NOT_FAULTS = (
    "frozen-augmentation-state/clean_calm",
    "duplicate-numpy-randomness/clean_other_sources",
    "shared-generator/clean_made_in_worker",
    "shared-generator/clean_order_of_samples",
    "shared-generator/clean_common_order",
    "constant-worker-seed/clean_persistent",
    "constant-worker-seed/clean_main_seed",
    "reseed-per-sample/clean_put_back",
    "reseed-per-sample/clean_drawn_seed",
    "common-seed-in-workers/clean_shared_order",
    "executor-across-fork/clean_keyed",
    "handle-across-workers/clean_keyed_by_process",
    "stored-data-mutation/clean_record_marked",
    "lost-worker-state/clean_shared",
    "unpicklable-state/clean_left_out",
    "unpicklable-sample/clean_plain",
    "unsharded-iterable-dataset/clean_sharded",
    "exhausted-iterable/clean_begun_again",
    "none-sample/clean_own_collate",
)

#: Programs whose workers are not forked: what is seen of each then. What needs a fork is not there any more, or cannot
#: be pickled. Left out are programs that make their loader themselves, or one without workers (`NO_CHOICE`), and under
#: spawn those whose fault or fix depends on workers that end with their epoch: those of `SPAWN` live on (`PERSIST`).
NO_CHOICE = ("shared-generator/stateful_loader", "exhausted-iterable/generator")
PERSIST = (
    "constant-worker-seed/worker_number",
    "constant-worker-seed/first_sample",
    "common-seed-in-workers/epoch_in_seed",
    "lost-worker-state/cache",
)
NOT_FORKED: tuple[tuple[str, Loader, tuple[tuple[str, str | None, str], ...]], ...] = (
    (
        "forkserver",
        FORK_SERVER,
        (
            ("shared-generator/attribute", "workers-draw-alike", "faults"),
            ("constant-worker-seed/worker_number", "epochs-draw-alike", "faults"),
            ("worker-seed-overflow/as_it_is", "samples", "faults"),
            ("reseed-per-sample/worker_seed", "samples-reseed", "faults"),
            ("common-seed-in-workers/collate", "workers-draw-alike", "faults"),
            ("process-in-worker/pool", "samples", "faults"),
            ("executor-across-fork/thread_pool", "pickling", "faults"),
            ("worker-info-in-main/constructor", "items", "faults"),
            ("unpicklable-callable/collate", "pickling", "faults"),
            ("unpicklable-state/lock", "pickling", "faults"),
            ("handle-across-workers/records", "pickling", "faults"),
            ("handle-across-workers/lmdb", "pickling", "faults"),
            ("unpicklable-sample/file_alone", "samples", "faults"),
            ("stored-data-mutation/array", "stored-data", "faults"),
            ("negative-stride-sample/flipped", "samples", "faults"),
            ("none-sample/handler", "samples", "faults"),
            ("unsharded-iterable-dataset/shuffled", "items", "faults"),
            ("stop-iteration-sample/stored", "samples", "faults"),
            ("uncollatable-sample/path", "samples", "faults"),
            ("shared-generator/module_level", "epochs-draw-alike", "faults"),
            ("constant-worker-seed/first_sample", "epochs-draw-alike", "faults"),
            ("reseed-per-sample/constant", "samples-reseed", "faults"),
            ("frozen-augmentation-state/albumentations", "workers-draw-alike", "faults"),
            ("common-seed-in-workers/epoch_in_seed", "workers-draw-alike", "faults"),
            ("cuda-in-worker/saved_on_gpu", "samples", "faults"),
            ("lost-worker-state/cache", "kept-state", "notes"),
            ("duplicate-numpy-randomness/helper_class", None, "faults"),
            ("torch-threads-in-worker/helper", None, "faults"),
            ("stored-data-mutation/memory_map", None, "faults"),
        ),
    ),
    (
        "spawn",
        SPAWN,
        (
            ("shared-generator/attribute", "workers-draw-alike", "faults"),
            ("unpicklable-callable/collate", "pickling", "faults"),
            ("unpicklable-state/lock", "pickling", "faults"),
            ("handle-across-workers/records", "pickling", "faults"),
            ("negative-stride-sample/flipped", "samples", "faults"),
            ("shared-generator/module_level", "workers-draw-alike", "faults"),
            ("worker-seed-overflow/as_it_is", "samples", "faults"),
            ("reseed-per-sample/constant", "samples-reseed", "faults"),
            ("reseed-per-sample/worker_seed", "samples-reseed", "faults"),
            ("frozen-augmentation-state/albumentations", "workers-draw-alike", "faults"),
            ("common-seed-in-workers/collate", "workers-draw-alike", "faults"),
            ("cuda-in-worker/saved_on_gpu", "samples", "faults"),
            ("process-in-worker/pool", "samples", "faults"),
            ("executor-across-fork/thread_pool", "pickling", "faults"),
            ("worker-info-in-main/constructor", "items", "faults"),
            ("handle-across-workers/lmdb", "pickling", "faults"),
            ("unpicklable-sample/file_alone", "samples", "faults"),
            ("stored-data-mutation/array", "stored-data", "faults"),
            ("none-sample/handler", "samples", "faults"),
            ("unsharded-iterable-dataset/shuffled", "items", "faults"),
            ("stop-iteration-sample/stored", "samples", "faults"),
            ("uncollatable-sample/path", "samples", "faults"),
            ("duplicate-numpy-randomness/helper_class", None, "faults"),
            ("torch-threads-in-worker/helper", None, "faults"),
            ("stored-data-mutation/memory_map", None, "faults"),
        ),
    ),
)
METHODS = [(how, loader, *row) for how, loader, rows in NOT_FORKED for row in rows]
FIXED_METHODS = [(how, loader, name) for how, loader, name, *_ in METHODS if BY_NAME[name].fix]

#: How long an audit may take that ends by itself, and one in which a worker hangs.
LONG, SHORT = 200.0, 15.0


class Audits:
    """Audits of programs, a few at a time, each made once."""

    def __init__(self, scratch: Path, programs: Programs, fixed: FixedPrograms) -> None:
        self._scratch = scratch
        self._programs = programs
        self._fixed = fixed
        self._pool = ThreadPoolExecutor(3)
        self._asked: dict[tuple[str, Phase, str], Future[dict[str, Any]]] = {}

    def ask(self, name: str, phase: Phase, how: str = "", loader: Loader | None = None) -> Future[dict[str, Any]]:
        """What `oracles.audited` tells of a program. `how` names the arguments that its loaders take over their own."""
        key = (name, phase, how)
        if key not in self._asked:
            self._asked[key] = self._pool.submit(self._audit, name, phase, how, loader or {})
        return self._asked[key]

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _audit(self, name: str, phase: Phase, how: str, loader: Loader) -> dict[str, Any]:
        case = BY_NAME[name]
        program = self._fixed.folder(case) if phase == "after" else case.folder
        folder = harness.copied(program, self._scratch / f"{case.rule}-{case.name}-{phase}-{how}")
        hangs = phase == "before" and (name, "hanging", "faults") in SEEN
        timeout = SHORT if hangs else LONG
        arguments = {"batches": 64, "timeout": timeout, "emulate": bool(case.common.get("emulate"))}
        return self._programs.measure(folder, "audited", loader, arguments, timeout=timeout + 20, needs=case.modules)


@pytest.fixture(scope="module")
def audits(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    programs: Programs,
    fixed_programs: FixedPrograms,
) -> Iterator[Audits]:
    """All audits that the tests of this session ask for, running."""
    audits = Audits(tmp_path_factory.mktemp("audits"), programs, fixed_programs)
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.path == request.path and hasattr(item, "callspec"):
            parameters = item.callspec.params
            if "phase" in parameters and harness.lacking(BY_NAME[parameters["name"]].modules) is None:
                audits.ask(parameters["name"], parameters["phase"], parameters.get("how", ""), parameters.get("loader"))
    yield audits
    audits.close()


def _result(audits: Audits, name: str, phase: Phase, how: str = "", loader: Loader | None = None) -> dict[str, Any]:
    if reason := harness.lacking(BY_NAME[name].modules):
        pytest.skip(reason)
    answer = audits.ask(name, phase, how, loader).result()
    assert "faults" in answer, answer
    return answer


def test_each_rule_that_is_claimed_to_be_seen_is_proven() -> None:
    shown = {name.partition("/")[0]: set[str]() for name, _, _ in SEEN}
    for name, check, _ in SEEN:
        shown[name.partition("/")[0]].add(check)
    assert set(SEEN_BY) - ELSEWHERE == set(shown)
    assert all(checks <= set(SEEN_BY[rule]) for rule, checks in shown.items())


def test_each_program_is_run_under_each_start_method_that_it_can() -> None:
    every = {name for name, *_ in SEEN}
    for how, _, rows in NOT_FORKED:
        assert every - {name for name, *_ in rows} == {*NO_CHOICE, *(PERSIST if how == "spawn" else ())}, how


@pytest.mark.parametrize("phase", ["before"])
@pytest.mark.parametrize(("name", "check", "kind"), SEEN)
def test_the_fault_is_seen(name: str, check: str, kind: str, phase: Phase, audits: Audits) -> None:
    answer = _result(audits, name, phase)
    assert check in [found for found, _ in answer[kind]], answer["text"]


@pytest.mark.parametrize("phase", ["after"])
@pytest.mark.parametrize("name", [name for name, _, _ in SEEN if BY_NAME[name].fix])
def test_the_fixed_program_is_clean(name: str, phase: Phase, audits: Audits) -> None:
    answer = _result(audits, name, phase)
    if name.startswith(RAISE_AFTER):
        assert answer["faults"] == [["samples", None]], answer["text"]
    else:
        assert answer["faults"] == [], answer["text"]
    seen = {check for kind in ("faults", "notes") for check, rule in answer[kind] if rule == BY_NAME[name].rule}
    assert seen == set(), answer["text"]


@pytest.mark.parametrize("phase", ["before"])
@pytest.mark.parametrize("name", ["handle-across-workers/hdf5"])
def test_reading_without_moving_the_position_is_a_note(name: str, phase: Phase, audits: Audits) -> None:
    """HDF5 keeps one state for each file and process, and reads at positions of its own."""
    answer = _result(audits, name, phase)
    assert answer["faults"] == [] and "open-files" in [check for check, _ in answer["notes"]], answer["text"]


@pytest.mark.parametrize("phase", ["clean"])
@pytest.mark.parametrize("name", NOT_FAULTS)
def test_a_clean_program_has_no_fault(name: str, phase: Phase, audits: Audits) -> None:
    answer = _result(audits, name, phase)
    assert answer["faults"] == [], answer["text"]


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["before"])
@pytest.mark.parametrize(("how", "loader", "name", "check", "kind"), METHODS)
def test_workers_that_are_not_forked(
    how: str, loader: Loader, name: str, check: str | None, kind: str, phase: Phase, audits: Audits
) -> None:
    answer = _result(audits, name, phase, how, loader)
    found = [found for found, _ in answer[kind]]
    assert check in found if check is not None else found == [], answer["text"]


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["after"])
@pytest.mark.parametrize(("how", "loader", "name"), FIXED_METHODS)
def test_the_fixed_program_is_clean_when_workers_are_not_forked(
    how: str, loader: Loader, name: str, phase: Phase, audits: Audits
) -> None:
    answer = _result(audits, name, phase, how, loader)
    expected = [["samples", None]] if name.startswith(RAISE_AFTER) else []
    assert answer["faults"] == expected, answer["text"]
