"""The process that runs the programs, and the programs as the tool's fix leaves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.truth.catalogue import Case
from tests.truth.harness import Zygote, check, copied


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """The process that has imported PyTorch."""
    process = Zygote()
    yield process
    process.close()


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """A copy of a case's program, which is a project of its own for the tool; made once for each case."""
    folders: dict[Path, Path] = {}

    def copy(case: Case) -> Path:
        if case.folder not in folders:
            folders[case.folder] = copied(case.folder, tmp_path_factory.mktemp("plain") / case.name)
        return folders[case.folder]

    return copy


@pytest.fixture(scope="session")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Path]:
    """Where a case's program is after the tool's own fix; made once for each case."""
    folders: dict[Path, Path] = {}

    def fix(case: Case) -> Path:
        if case.folder not in folders:
            folder = copied(case.folder, tmp_path_factory.mktemp("fixed") / case.name)
            run = check(folder, "--fix", "--select", case.rule, *case.flags)
            assert run.returncode in (0, 1), run.stderr
            folders[case.folder] = folder
        return folders[case.folder]

    return fix
