"""Processes that die or stop, disks that are full, caches that are broken: nothing is lost, nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from loaderlint.cache.database import NAME
from tests.lsp.editor import SERVER
from tests.robustness.bounded import Bound, Runner
from tests.robustness.client import PATIENCE, Client
from tests.robustness.edits import Generator, Open
from tests.robustness.hostile_inputs import TRAIN
from tests.robustness.player import Player, Way
from tests.robustness.projects import project, write
from tests.robustness.scale import cases, scaled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs signals, RLIMIT_FSIZE and /proc")

SESSIONS = cases(5, quick=1)
KILLS_OF_A_SESSION = 5
#: What the server logs of it; the second where the engine is killed again before it has answered.
_RESTARTED = (
    r"\S+ loaderlint\.lsp\.(?:engine_client: the analysis process has ended with -9; it is started again"
    r"|analysis: the analysis process has ended with -9; asking again)\n"
)

Record = Callable[[str, object], None]


# --- the engine's process --------------------------------------------------------------------------------------------


def _engine(client: Client) -> int:
    """The process of the engine. Waits until the server has started one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = _children(client)
        if found:
            return found[-1]
        time.sleep(0.01)
    raise AssertionError("the server has no engine")


def _children(client: Client) -> list[int]:
    """The processes that the server has started and not waited for."""
    tasks = Path(f"/proc/{client.process.pid}/task").glob("*/children")
    return [int(word) for task in tasks for word in task.read_text().split()]


@pytest.mark.parametrize("seed", SESSIONS)
def test_engine_killed_while_somebody_edits(tmp_path: Path, seed: int, record_property: Record) -> None:
    counts = _edit_with_faults(tmp_path, seed, lambda pid, chance: os.kill(pid, signal.SIGKILL))
    record_property("kills", KILLS_OF_A_SESSION)
    record_property("findings", counts["findings"])


@pytest.mark.parametrize("seed", cases(2, quick=1))
def test_engine_stopped_for_a_while(tmp_path: Path, seed: int, record_property: Record) -> None:
    stopped: list[int] = []

    def stop_or_continue(pid: int, chance: random.Random) -> None:
        os.kill(pid, signal.SIGCONT if stopped else signal.SIGSTOP)
        stopped[:] = [] if stopped else [pid]

    try:
        counts = _edit_with_faults(tmp_path, seed, stop_or_continue, twice=True)
    finally:
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    record_property("stops", KILLS_OF_A_SESSION)
    record_property("findings", counts["findings"])


def _edit_with_faults(
    folder: Path, seed: int, fault: Callable[[int, random.Random], None], *, twice: bool = False
) -> Counter[str]:
    """Edit a project, and let something happen to the engine at a random moment of each batch; `twice`: something else
    happens at a later moment, before which nobody waits for an answer. Returns what was done and compared."""
    chance = random.Random(1000 + seed)
    files = project(chance)
    root = write(folder / "project", files)
    way = Way("utf-16", pulls=False)
    with Client(root, folder / "log", encoding=way.encoding) as client:
        player = Player(root, way, client, dict(files), allowed=_RESTARTED)
        generator = Generator(files, chance, waits=not twice)
        for name in list(files)[1:3]:
            player.play(Open(name))
        for _ in range(KILLS_OF_A_SESSION):
            moments = sorted(chance.sample(range(12), 2))[: 1 + twice]
            for number in range(12):
                if number in moments:
                    time.sleep(chance.choice((0, 0, 0.01, 0.03, 0.1)))
                    fault(_engine(client), chance)
                player.play(generator.step(player.disk, player.opened))
            player.compare()
        engine = _engine(client)
    # Of some seeds nothing is found in any text; findings are counted over the campaign.
    assert player.counts["comparisons"] == KILLS_OF_A_SESSION
    assert _ended(engine), "the engine outlives its server"
    return player.counts


@pytest.mark.parametrize("pulls", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_engine_killed_again_and_again_while_nobody_edits(tmp_path: Path, pulls: bool) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN, "other.py": TRAIN})
    with Client(root, tmp_path / "log", pulls=pulls) as client:
        first, second = (_open(client, root / name) for name in ("train.py", "other.py"))
        wanted = [client.shown(first), client.shown(second)]
        assert all("LDR103" in _codes(found) for found in wanted)
        client.notify("textDocument/didClose", textDocument={"uri": second})
        client.settle()
        os.kill(_engine(client), signal.SIGSTOP)  # so that it is at work when it dies
        _notify_open(client, root / "other.py")
        killed: list[int] = []
        while len(killed) < 3:
            killed.append(_kill_next(client, killed))
        client.settle()
        assert [client.shown(first), client.shown(second)] == wanted
        assert client.messages == []


@pytest.mark.parametrize("pulls", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_engine_that_never_comes_back(tmp_path: Path, pulls: bool) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN, "other.py": TRAIN})
    with Client(root, tmp_path / "log", pulls=pulls) as client:
        uri = _open(client, root / "train.py")
        wanted = client.shown(uri)
        os.kill(_engine(client), signal.SIGSTOP)
        _notify_open(client, root / "other.py")
        killed: list[int] = []
        while not client.messages:
            killed.append(_kill_next(client, killed))
        (told,) = client.messages
        assert "repeatedly" in told and f"'{_title_of_restart()}'" in told
        assert len(killed) < 10
        client.settle()
        assert client.shown(uri) == wanted, "the last findings stay"
    with Client(root, tmp_path / "log", pulls=pulls) as client:  # what the command does
        assert client.shown(_open(client, root / "train.py")) == wanted


def _notify_open(client: Client, path: Path) -> str:
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": path.read_text()}
    client.notify("textDocument/didOpen", textDocument=document)
    return path.as_uri()


def _open(client: Client, path: Path) -> str:
    uri = _notify_open(client, path)
    client.settle()
    return uri


def _codes(found: list[dict[str, object]]) -> list[object]:
    return [one["code"] for one in found]


def _kill_next(client: Client, killed: list[int]) -> int:
    """Kill the engine's process as soon as there is one that was not killed before, or end if people are told that
    there will be none. Its number."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and not client.messages:
        for pid in [one for one in _children(client) if one not in killed]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return pid
        time.sleep(0.01)
    return 0


def _title_of_restart() -> str:
    """The title of the command of the VS Code client that starts the server again."""
    package = json.loads((Path(__file__).parents[2] / "package.json").read_text())
    (command,) = [one for one in package["contributes"]["commands"] if one["command"] == "loaderlint.restart"]
    return f"{command['category']}: {command['title']}"


def _ended(pid: int) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.01)
    return False


# --- the cache -------------------------------------------------------------------------------------------------------


def _flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 10, 1000))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    path.write_bytes(data)


def _truncate(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def _empty(path: Path, chance: random.Random) -> None:
    os.truncate(path, 0)


def _replaced_by_folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _replaced_by_fifo(path: Path, chance: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def _replaced_by_loop(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _replaced_by_zeros(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _odd_journal(path: Path, chance: random.Random) -> None:
    path.with_name(f"{path.name}-journal").write_bytes(chance.randbytes(5000))


def _from_the_future(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes().replace(b"loaderlint", b"loaderlinX"))


DAMAGES = (
    *(_flip,) * 4,
    *(_truncate,) * 3,
    _empty,
    _replaced_by_folder,
    pytest.param(_replaced_by_fifo),
    _replaced_by_loop,
    _replaced_by_zeros,
    _odd_journal,
    _from_the_future,
)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("seed", range(scaled(1)))
def test_damaged_cache(
    tmp_path: Path, runner: Runner, damage: Callable[[Path, random.Random], None], seed: int, record_property: Record
) -> None:
    chance = random.Random(f"{seed} {damage}" if seed else None)
    root = write(tmp_path / "project", {"train.py": TRAIN})
    cache = tmp_path / "cache"
    command = ("check", "--cache-dir", str(cache), ".")
    wanted = runner.run(root, ("check", "--no-cache", "."), Bound())
    assert wanted.code == 1 and "LDR103" in wanted.stdout
    assert runner.run(root, command, Bound()).stdout == wanted.stdout
    damage(cache / NAME, chance)
    for _ in range(3):
        ended = runner.run(root, command, Bound())
        assert not ended.wrong(Bound())
        assert (ended.code, ended.stdout) == (wanted.code, wanted.stdout)
    record_property("damaged caches", 1)


def test_cache_locked_by_another_process(tmp_path: Path, runner: Runner) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN})
    command = ("check", "--cache-dir", str(tmp_path / "cache"), ".")
    wanted = runner.run(root, command, Bound())
    with contextlib.closing(sqlite3.connect(tmp_path / "cache" / NAME)) as other:
        other.execute("BEGIN EXCLUSIVE")
        (root / "more.py").write_text("x = 1\n")
        ended = runner.run(root, command, Bound())
    assert not ended.wrong(Bound())
    assert ended.stdout.splitlines()[:3] == wanted.stdout.splitlines()[:3]


@pytest.mark.parametrize("size", [0, 1, 512, 4096, 20_000])
def test_no_room_for_the_cache(tmp_path: Path, runner: Runner, size: int) -> None:
    """A limit on the size of files is a full disk of which anybody can have one; output goes to a pipe."""
    root = write(tmp_path / "project", {"train.py": TRAIN})
    wanted = runner.run(root, ("check", "--no-cache", "."), Bound())
    ended = _command(root, ("check", "--cache-dir", str(tmp_path / "cache"), "."), file_size=size)
    assert (ended.returncode, ended.stdout) == (wanted.code, wanted.stdout), ended.stderr
    assert "Traceback" not in ended.stderr


def test_full_disk(tmp_path: Path, runner: Runner) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a disk can be mounted by root only: {mounted.stderr.strip()}")
    try:
        root = write(disk / "project", {"train.py": TRAIN})
        wanted = runner.run(root, ("check", "--no-cache", "."), Bound())
        with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(b"x" * 4096)
        before = sorted(disk.rglob("*"))
        ended = runner.run(root, ("check", "--cache-dir", str(disk / "cache"), "."), Bound())
        assert (ended.code, ended.stdout) == (wanted.code, wanted.stdout)
        ended = runner.run(root, ("check", "--no-cache", "--fix", "."), Bound())
        assert not ended.wrong(Bound())
        assert ended.code == 2 and "No space left" in ended.stderr
        assert (root / "train.py").read_text() == TRAIN
        assert [one for one in sorted(disk.rglob("*")) if "cache" not in one.parts] == before
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_no_room_for_a_fix(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN})
    ended = _command(root, ("check", "--no-cache", "--fix", "."), file_size=100)
    assert ended.returncode == 2 and "train.py" in ended.stderr and "Traceback" not in ended.stderr
    assert [one.name for one in root.iterdir()] == ["train.py"]
    assert (root / "train.py").read_text() == TRAIN


@pytest.mark.parametrize("mtime", [0, 2**31, 4_000_000_000, 253_402_300_800])
def test_clock_that_jumps(tmp_path: Path, runner: Runner, mtime: int) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN.replace("seed(0)", "seed( )")})
    command = ("check", "--cache-dir", str(tmp_path / "cache"), ".")
    os.utime(root / "train.py", (mtime, mtime))
    for _ in range(2):
        assert "LDR103" not in runner.run(root, command, Bound()).stdout
    (root / "train.py").write_text(TRAIN)
    os.utime(root / "train.py", (mtime - 1, mtime - 1) if mtime else (1, 1))
    assert "LDR103" in runner.run(root, command, Bound()).stdout


# --- where it runs ---------------------------------------------------------------------------------------------------


def _command(
    folder: Path, arguments: tuple[str, ...], file_size: int | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A real command line in a new interpreter; `file_size` limits what it may write to a file, in bytes."""
    started = [sys.executable, "-m", "loaderlint", *arguments]
    if file_size is not None:
        limit = f"import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({file_size},) * 2)"
        started = [sys.executable, "-c", f"{limit}; os.execv(sys.argv[1], sys.argv[1:])", *started]
    env = {**os.environ, "PYTHONPATH": SERVER, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    return subprocess.run(started, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.parametrize("home", ["/nonexistent/home", "/dev/null", ""])
def test_no_home(tmp_path: Path, home: str) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN})
    missing = {"HOME": home, "XDG_CACHE_HOME": home, "LOADERLINT_CACHE_DIR": ""}
    ended = _command(root, ("check", "."), environment=missing)
    assert ended.returncode == 1 and "LDR103" in ended.stdout and not ended.stderr
    assert [one.name for one in root.iterdir()] == ["train.py"]


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_project(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN})
    root.chmod(0o500)
    try:
        ended = _command(root, ("check", "--fix", "--cache-dir", str(root / "cache"), "."))
        assert ended.returncode == 2 and "train.py" in ended.stderr and "Traceback" not in ended.stderr
        assert (root / "train.py").read_text() == TRAIN
    finally:
        root.chmod(0o700)


@pytest.mark.parametrize("how", ["text", "json", "sarif", "github"])
@pytest.mark.parametrize("lines", [0, 1])
def test_output_that_nobody_reads(tmp_path: Path, how: str, lines: int) -> None:
    root = write(tmp_path / "project", {f"train{number}.py": TRAIN for number in range(40)})
    command = [sys.executable, "-m", "loaderlint", "check", "--no-cache", f"--output-format={how}", "."]
    env = {**os.environ, "PYTHONPATH": SERVER}
    # A pipe that holds less than the output, and no reading ahead: the program is not done before the pipe is closed.
    with subprocess.Popen(
        command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, pipesize=4096
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read().decode()
    assert process.returncode == 2 and not said


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {"train.py": TRAIN})
    env = {**os.environ, "PYTHONPATH": SERVER}
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "loaderlint", "check", "."], cwd=root, env=env, stdout=full, stderr=subprocess.PIPE
        )
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr and b"No space left" in ended.stderr


@pytest.mark.parametrize("seed", range(scaled(8)))
@pytest.mark.usefixtures("interruptible")
def test_interrupted_while_it_fixes(tmp_path: Path, seed: int, runner: Runner, record_property: Record) -> None:
    """Each file is what it was, or what its fix makes of it. What a killed process left beside it goes with the next
    fix."""
    chance = random.Random(seed)
    number = chance.choice((signal.SIGINT, signal.SIGTERM))
    names = [f"train{n}.py" for n in range(30)]
    root = write(tmp_path / "project", dict.fromkeys(names, TRAIN))
    fixed = write(tmp_path / "fixed", {"train0.py": TRAIN})
    assert runner.run(fixed, ("check", "--no-cache", "--fix", "."), Bound()).code == 0
    after = (fixed / "train0.py").read_text()
    assert after != TRAIN
    env = {**os.environ, "PYTHONPATH": SERVER, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "loaderlint", "check", "--no-cache", "--fix", "."]
    with subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(chance.uniform(0.1, 1.2))
        process.send_signal(number)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 2, 130, -number)
    assert {(root / name).read_text() for name in names} <= {TRAIN, after}
    assert runner.run(root, ("check", "--no-cache", "--fix", "."), Bound()).code == 0
    assert sorted(one.name for one in root.iterdir()) == sorted(names)
    assert {(root / name).read_text() for name in names} == {after}
    record_property("interruptions", 1)
    if process.returncode == 130:
        assert b"Traceback" not in said


def test_interrupted_while_it_fills_the_cache(tmp_path: Path, runner: Runner) -> None:
    root = write(tmp_path / "project", {f"train{n}.py": TRAIN for n in range(40)})
    cache = tmp_path / "cache"
    command = ("check", "--cache-dir", str(cache), ".")
    wanted = runner.run(root, ("check", "--no-cache", "."), Bound())
    env = {**os.environ, "PYTHONPATH": SERVER}
    for seed in range(scaled(3)):
        started = [sys.executable, "-m", "loaderlint", *command]
        with subprocess.Popen(started, cwd=root, env=env, stdout=subprocess.DEVNULL) as process:
            time.sleep(random.Random(seed).uniform(0.2, 1.5))
            process.kill()
        assert runner.run(root, command, Bound()).stdout == wanted.stdout
        shutil.rmtree(cache, ignore_errors=True)
