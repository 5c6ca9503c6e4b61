"""The database of the cache: whatever happens to it, a read returns what was written, or nothing."""

from __future__ import annotations

import os
import pickle
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from loaderlint.cache import database
from loaderlint.cache.database import NAME, Database


def key(number: int) -> bytes:
    return number.to_bytes(16, "little")


def test_what_was_put_is_there_in_the_next_process(tmp_path: Path) -> None:
    assert Database(tmp_path).put([(key(1), b"one"), (key(2), b"")])
    again = Database(tmp_path)
    assert (again.get(key(1)), again.get(key(2)), again.get(key(3))) == (b"one", b"", None)


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert Database(tmp_path / "cache").get(key(1)) is None
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_ignored_by_git_and_private(tmp_path: Path) -> None:
    Database(tmp_path / "a" / "b").put([(key(1), b"")])
    assert "*" in (tmp_path / "a" / "b" / ".gitignore").read_text().split("\n")
    if os.name == "posix":
        assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_the_file_is_private_in_a_folder_that_others_may_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    try:
        assert Database(tmp_path).put([(key(1), b"one")])
    finally:
        os.umask(mask)
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0


def test_deleted_at_any_moment(tmp_path: Path) -> None:
    one = Database(tmp_path)
    one.put([(key(1), b"one")])
    (tmp_path / NAME).unlink()
    one.get(key(1))
    one.put([(key(2), b"two")])
    one.close()
    fresh = Database(tmp_path)
    assert fresh.get(key(1)) is None
    assert fresh.put([(key(1), b"again")])
    assert Database(tmp_path).get(key(1)) == b"again"


def test_a_file_that_is_none_is_replaced(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"no database at all\n" * 100)
    broken = Database(tmp_path)
    assert broken.get(key(1)) is None
    assert not broken.put([(key(1), b"one")]), "not in this run"
    assert Database(tmp_path).put([(key(1), b"one")])
    assert Database(tmp_path).get(key(1)) == b"one"


def test_an_empty_file_and_another_layout(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    one = Database(tmp_path)
    assert one.put([(key(1), b"one")])
    one.close()
    (tmp_path / NAME).unlink()
    with sqlite3.connect(tmp_path / NAME) as other:
        other.execute("CREATE TABLE kept (something TEXT)")
    other.close()
    assert Database(tmp_path).get(key(1)) is None
    assert Database(tmp_path).put([(key(1), b"one")]), "it was replaced"


def test_values_of_other_types_are_not_there(tmp_path: Path) -> None:
    one = Database(tmp_path)
    one.put([(key(1), b"one")])
    one.close()
    with sqlite3.connect(tmp_path / NAME) as other:
        for number, value in enumerate([None, 7, "text", 1.5, b"", b"short"], 2):
            other.execute("INSERT OR REPLACE INTO kept VALUES (?, 1, ?)", (key(number), value or "x"))
        other.execute("INSERT INTO kept SELECT ?, 1, data FROM kept WHERE key = ?", (key(9), key(1)))
    other.close()
    again = Database(tmp_path)
    assert [again.get(key(number)) for number in range(1, 10)] == [b"one", *[None] * 8], "not under another key either"


@pytest.mark.parametrize("seed", range(6))
def test_damage_is_never_read(tmp_path: Path, seed: int) -> None:
    """If the file is truncated or overwritten anywhere, each row is unchanged or missing."""
    numbers = random.Random(seed)
    rows = {key(number): numbers.randbytes(numbers.randrange(6000)) for number in range(60)}
    whole = Database(tmp_path)
    whole.put(rows.items())
    whole.close()
    data = (tmp_path / NAME).read_bytes()
    for _ in range(25):
        damaged = bytearray(data[: numbers.randrange(len(data))] if numbers.random() < 0.3 else data)
        for _ in range(numbers.randrange(40)):
            at = numbers.randrange(len(damaged) + 1)
            damaged[at : at + 4] = numbers.randbytes(4)
        (tmp_path / NAME).write_bytes(damaged)
        one = Database(tmp_path)
        assert all(one.get(name) in (None, value) for name, value in rows.items())
        one.put([(key(1000), b"new")])
        one.close()
        assert Database(tmp_path).get(key(1000)) in (None, b"new")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="who may write anywhere sees no read-only folder")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        one = Database(tmp_path / "cache")
        assert not one.put([(key(1), b"one")])
        assert one.get(key(1)) is None
    finally:
        tmp_path.chmod(0o700)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    one = Database(tmp_path / "cache")
    assert not one.put([(key(1), b"one")])
    assert one.get(key(1)) is None


def test_a_read_only_database_is_read(tmp_path: Path) -> None:
    whole = Database(tmp_path)
    whole.put([(key(1), b"one")])
    whole.close()
    uri = f"file:{tmp_path / NAME}?mode=ro"
    one = Database(tmp_path)
    one._connection = sqlite3.connect(uri, uri=True)  # like a read-only home
    assert one.get(key(1)) == b"one"
    assert not one.put([(key(2), b"two")])


def test_a_full_disk(tmp_path: Path) -> None:
    one = Database(tmp_path)
    one.put([(key(1), b"one")])
    assert one._connection is not None
    one._connection.execute("PRAGMA max_page_count = 4")  # SQLite then fails as it does when the disk is full
    assert not one.put([(key(2), random.Random(1).randbytes(200_000))])
    again = Database(tmp_path)
    assert (again.get(key(1)), again.get(key(2))) == (b"one", None)


def test_locked_by_somebody_who_stays(tmp_path: Path) -> None:
    Database(tmp_path).put([(key(1), b"one")])
    other = sqlite3.connect(tmp_path / NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    one = Database(tmp_path, patience=0.05)
    assert one.get(key(1)) is None
    assert not one.put([(key(2), b"two")])
    there = pickle.loads(pickle.dumps(one))
    assert there._patience == 0.0, "another process of the same run does not wait once more"
    other.execute("ROLLBACK")
    other.close()
    assert Database(tmp_path).get(key(1)) == b"one", "nothing was deleted for it"


WRITER = """
import sys
from pathlib import Path
from loaderlint.cache.database import Database
first = int(sys.argv[2])
for number in range(first, first + 40):
    one = Database(Path(sys.argv[1]))
    assert one.put([(number.to_bytes(16, "little"), b"%d" % number * 1000)])
    assert one.get(number.to_bytes(16, "little")) == b"%d" % number * 1000
    one.close()
"""


def test_two_processes_at_once(tmp_path: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(first)]) for first in (0, 20)]
    assert [one.wait() for one in both] == [0, 0]
    found = Database(tmp_path)
    assert all(found.get(key(number)) == b"%d" % number * 1000 for number in range(60))


def test_the_size_is_bounded_and_the_oldest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = random.Random(3)
    limit = 400_000
    for day in range(40):
        monkeypatch.setattr(database, "_today", lambda day=day: day)
        one = Database(tmp_path, limit)
        one.get(key(0))  # used every day
        assert one.put([(key(day), numbers.randbytes(20_000))])
        one.close()
        assert (tmp_path / NAME).stat().st_size <= limit + 60_000
    last = Database(tmp_path, limit)
    there = [number for number in range(40) if last.get(key(number)) is not None]
    assert there[0] == 0 and there[1:] == list(range(there[1], 40)) and 8 < len(there) < 20


def test_no_write_ahead_log(tmp_path: Path) -> None:
    """It needs shared memory, which network file systems lack."""
    one = Database(tmp_path)
    one.put([(key(1), b"one")])
    assert one._connection is not None
    assert one._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME]


def test_a_row_that_grows_without_end_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Database(tmp_path).put([(key(1), b"\0" * 1_000_000)])
    monkeypatch.setattr(database, "_LARGEST", 1000)
    assert Database(tmp_path).get(key(1)) is None
