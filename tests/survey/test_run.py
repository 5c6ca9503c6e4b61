"""Many repositories: nothing stops a survey, and nothing is done twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from loaderlint.survey.repositories import repositories
from loaderlint.survey.result_store import Kept, Unusable, merged, read
from loaderlint.survey.results import Failure, Result
from loaderlint.survey.run import Answer, Limits, Task, local, read_one, survey
from tests.survey import doubles
from tests.survey.made import NOISY, PLAIN, repository, three


def quiet(done: int, total: int) -> None:
    """No progress."""


class Here:
    """An executor in this process that remembers what it was asked."""

    def __init__(self, limit: int = 1000) -> None:
        self.limit = limit
        self.asked: list[str] = []

    def __call__(self, tasks: Iterable[Task]) -> Iterator[Answer]:
        for task in tasks:
            if len(self.asked) == self.limit:
                raise KeyboardInterrupt
            self.asked.append(task.repository.name)
            yield task, read_one(task)


def test_what_breaks_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the doubles are not found in the current folder
    for name in ("crashes", "eats", "fine", "good", "hangs", "raises"):
        repository(tmp_path, name, {"train.py": NOISY})
    kept = Kept(tmp_path / "results.jsonl")
    executor = local(2, Limits(seconds=10, mebibytes=2048), doubles.by_name)
    results = survey(repositories([tmp_path]), kept, executor, retry=False, progress=quiet)
    kinds = {one.name: one.failure.kind if one.failure else "" for one in results}
    assert kinds == {"crashes": "crash", "eats": "memory", "fine": "", "good": "", "hangs": "time", "raises": "error"}
    assert all(one.failure and one.failure.message for one in results if kinds[one.name])
    assert {one.name: one for one in read(tmp_path / "results.jsonl")} == {one.name: one for one in results}


def test_the_environment_here_counts_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository(tmp_path, "env", {"lib/python3.11/site-packages/torch-2.4.0.dist-info/METADATA": "Version: 2.4.0\n"})
    repository(tmp_path, "env", {"pyvenv.cfg": "version = 3.11.4\n"})
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "env"))
    found = repositories([repository(tmp_path, "a", {"train.py": NOISY})])
    (result,) = survey(found, Kept(None), local(1, Limits(60, 4096)), retry=False, progress=quiet)
    assert result.measured is not None and result.measured.torch.declared == "not known"


def test_a_survey_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    found = repositories([three(tmp_path / "repositories")])
    path = tmp_path / "results.jsonl"
    with pytest.raises(KeyboardInterrupt):
        survey(found, Kept(path), Here(limit=2), retry=False, progress=quiet)
    assert [one.name for one in read(path)] == ["old", "open"]
    executor = Here()
    results = survey(found, Kept(path), executor, retry=False, progress=quiet)
    assert [one.name for one in results] == ["old", "open", "plain"]
    assert path.read_text().count("\n") == 3, "what is unchanged is not kept twice"
    whole = survey(found, Kept(None), Here(), retry=False, progress=quiet)
    assert [one.measured for one in results] == [one.measured for one in whole]


def test_what_changed_is_read_again(tmp_path: Path) -> None:
    found = repositories([three(tmp_path / "repositories")])
    path = tmp_path / "results.jsonl"
    survey(found, Kept(path), Here(), retry=False, progress=quiet)
    (tmp_path / "repositories" / "plain" / "train.py").write_text(NOISY)
    results = survey(found, Kept(path), Here(), retry=False, progress=quiet)
    assert results[2].measured is not None and len(results[2].measured.datasets) == 2
    assert len(Kept(path).get("plain").measured.datasets) == 2  # type: ignore[union-attr]


def test_what_another_version_found_is_read_again(tmp_path: Path) -> None:
    found = repositories([repository(tmp_path, "a", {"add.py": PLAIN})])
    kept = Kept(tmp_path / "results.jsonl")
    kept.add(Result("a", "0.0.1", failure=Failure("crash", "old")))
    (result,) = survey(found, kept, Here(), retry=False, progress=quiet)
    assert result.measured is not None


@pytest.mark.parametrize(("retry", "asked"), [(False, []), (True, ["a"])])
def test_what_failed_is_read_again_when_asked(tmp_path: Path, retry: bool, asked: list[str]) -> None:
    from loaderlint import __version__

    found = repositories([repository(tmp_path, "a", {"add.py": PLAIN})])
    kept = Kept(None)
    kept.add(Result("a", __version__, failure=Failure("time", "slow")))
    executor = Here()
    survey(found, kept, executor, retry=retry, progress=quiet)
    assert executor.asked == asked


def test_a_torn_line_is_dropped(tmp_path: Path) -> None:
    found = repositories([three(tmp_path / "repositories")])
    path = tmp_path / "results.jsonl"
    survey(found, Kept(path), Here(), retry=False, progress=quiet)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert [one.name for one in read(path)] == ["old", "open"]
    survey(found, Kept(path), Here(), retry=False, progress=quiet)
    assert [one.name for one in read(path)] == ["old", "open", "plain"]


def test_a_file_of_something_else_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("All models are wrong.\nSome end without a line break")
    before = path.read_bytes()
    with pytest.raises(Unusable, match="line 1"):
        Kept(path)
    assert path.read_bytes() == before


def test_versions_are_not_mixed(tmp_path: Path) -> None:
    for number in ("1", "2"):
        Kept(tmp_path / number).add(Result("a", f"0.{number}.0", failure=Failure("crash", "")))
    with pytest.raises(Unusable, match=r"0\.1\.0 \(1\), 0\.2\.0 \(2\)"):
        merged([tmp_path / "1", tmp_path / "2"])
