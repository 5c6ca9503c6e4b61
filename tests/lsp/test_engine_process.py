"""The engine's process: its answers, the work that it continues, and its end."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from loaderlint.lsp import memory
from loaderlint.lsp.backend import Workspace
from loaderlint.lsp.engine_client import Cancelled, Failed, Remote, RemoteWorkspace
from loaderlint.lsp.engine_messages import Call, Reply, Stop, Told
from loaderlint.lsp.engine_process import EngineLoop
from loaderlint.runtime.internal_errors import Postponed
from tests.lsp.editor import SERVER
from tests.lsp.session import PATIENCE

A, B = Path("/project/a.py"), Path("/project/b.py")
DATA = """\
from torch.utils.data import DataLoader, Dataset


class Samples(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __getitem__(self, index):
        try:
            return open(self.paths[index]).read()
        except OSError:
            return None


loader = DataLoader(Samples(["a"]), num_workers=2)
"""


# --- what it does with calls, without a process -----------------------------------------------------------------------


class Stopped(Exception):
    pass


class Scripted:
    """A backend and its workspace. `during` is called in each check with the check's `stop`."""

    cancelled: type[Exception] = Stopped
    pages: Mapping[str, str] = {}
    problems: Sequence[Any] = ()
    links = 0

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.known = False
        self.during: Callable[[], None] = lambda: None
        self.found: dict[Path, tuple[Any, ...]] = {A: ("finding",)}

    def workspace(self, folders: Sequence[Path], overrides: Mapping[str, object]) -> Any:
        self.log.append("workspace")
        return self

    def close(self) -> None: ...

    def set_text(self, path: Path, text: str | None) -> None:
        self.log.append(text)

    def configure(self, overrides: Mapping[str, object]) -> None:
        self.log.append("configure")

    def environment(self, path: Path) -> tuple[str, ...]:
        return ("torch",)

    def rest(self) -> Iterator[None]:
        for number in (1, 2):
            self.log.append(f"rest {number}")
            yield

    def check(self, paths: Any, *, stop: Callable[[], bool], typing: bool, progress: Any, early: Any) -> Any:
        self.log.append("check")
        if not self.known:
            early({A: ("of the first project",)})
        self.during()
        self.during = lambda: None
        if stop():
            raise Stopped
        if typing and self.known:
            raise Postponed(0.25)
        self.known = True
        self.log.append("checked")
        return self.found


class Harness:
    def __init__(self) -> None:
        self.engine = Scripted()
        self.inbox: queue.SimpleQueue[Call | Stop] = queue.SimpleQueue()
        self.replies: list[Reply] = []
        self.child = EngineLoop(lambda: self.engine, self.inbox, self.replies.append)

    def put(self, *messages: Call | Stop) -> None:
        for message in messages:
            self.inbox.put(pickle.loads(pickle.dumps(message)))

    def kinds(self) -> list[tuple[int, str]]:
        return [(reply.number, reply.kind) for reply in self.replies]


FIRST = (Told("workspace", ((), {})), Told("set_text", (A, "one")))


def check(number: int, *told: Told) -> Call:
    return Call(number, told, "check", ((A,), False))


def check_while_typing(number: int, *told: Told) -> Call:
    return Call(number, told, "check", ((A,), True))


def test_a_check_is_postponed_while_somebody_types_and_the_engine_does_not_rest_then() -> None:
    harness = Harness()
    harness.put(check(1, *FIRST), check_while_typing(2), check(3))
    harness.child.step()
    assert harness.child._resting is not None
    harness.child.step()
    assert (harness.replies[-1].number, harness.replies[-1].kind, harness.replies[-1].value) == (2, "postponed", 0.25)
    assert harness.child._resting is None
    harness.child.step()
    assert harness.kinds()[-1] == (3, "done")
    assert harness.child._resting is not None


def test_a_first_check_goes_on_and_what_comes_meanwhile_waits() -> None:
    harness = Harness()
    harness.put(check(1, *FIRST))
    harness.engine.during = lambda: harness.put(Stop(1), check(2, Told("set_text", (A, "two"))))
    harness.child.step()
    assert harness.engine.log == ["workspace", "one", "check", "checked"], "it was linked to the end, with the old text"
    assert harness.kinds() == [(1, "early")], "the first answer is no longer wanted"
    harness.child.step()
    assert harness.engine.log[4:] == ["two", "check", "checked"]
    assert harness.kinds()[1:] == [(2, "done")]
    found, environments, _, _ = harness.replies[-1].value
    assert found == {A: ("finding",)} and environments == {A: ("torch",)}


def test_only_the_last_of_several_questions_is_worked_on() -> None:
    harness = Harness()
    harness.put(check(1, *FIRST))
    harness.engine.during = lambda: harness.put(
        Stop(1), check(2, Told("set_text", (A, "two"))), Stop(2), check(3, Told("set_text", (A, "three")))
    )
    for _ in range(3):
        harness.child.step()
    assert harness.engine.log[4:] == ["two", "three", "check", "checked"], "what was told is told, in order"
    assert harness.kinds() == [(1, "early"), (3, "done")]


@pytest.mark.parametrize("told", [Told("configure", ({},)), Told("workspace", ((), {}))])
def test_other_settings_or_folders_end_a_first_check(told: Told) -> None:
    harness = Harness()
    harness.put(check(1, *FIRST))
    harness.engine.during = lambda: harness.put(Stop(1), check(2, told))
    harness.child.step()
    assert harness.engine.log[-1] == "check" and harness.kinds() == [(1, "early")]
    harness.child.step()
    assert harness.engine.log[-1] == "checked" and harness.kinds()[-1] == (2, "done")


def test_a_later_check_is_really_stopped() -> None:
    harness = Harness()
    harness.put(check(1, *FIRST))
    harness.child.step()
    harness.put(check(2))
    harness.engine.during = lambda: harness.put(Stop(2))
    harness.child.step()
    assert harness.engine.log[-1] == "check", "it did not come to its end"
    assert harness.kinds()[1:] == [(1, "done"), (2, "cancelled")]


def test_it_rests_only_while_nobody_asks_and_goes_on_with_it_later() -> None:
    harness = Harness()
    harness.put(check(1, *FIRST))
    harness.child.step()
    before = len(harness.engine.log)
    harness.put(check(2))
    harness.child._rest()
    assert len(harness.engine.log) == before
    harness.child.step()
    harness.child._rest()
    assert harness.engine.log[before:] == ["check", "checked", "rest 1", "rest 2"]


def test_many_findings_come_in_several_messages() -> None:
    harness = Harness()
    harness.engine.found = {Path(f"/project/{number}.py"): ("finding",) * 50 for number in range(20)}
    harness.put(check(1, *FIRST))
    harness.child.step()
    parts = [reply.value for reply in harness.replies if reply.kind == "part"] + [harness.replies[-1].value[0]]
    assert len(parts) > 3
    assert {path: found for part in parts for path, found in part.items()} == harness.engine.found


# --- the workspace that asks it, without a process --------------------------------------------------------------------


class Asked:
    """A `Remote` that only records calls."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def tell(self, told: Told) -> None:
        self.log.append(told)

    def ask(self, method: str, about: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        self.log.append((method, about, named))
        return f"the answer to {method}", 7


def test_a_question_is_passed_on_by_its_name_and_nothing_else_is() -> None:
    asked = Asked()
    workspace: Any = RemoteWorkspace(asked, (), {})  # type: ignore[arg-type]
    assert workspace.fix_all((A,), rules=["x"]) == "the answer to fix_all" and workspace.links == 7
    assert asked.log[1:] == [("fix_all", ((A,),), {"rules": ["x"]})]
    for name in ("keep", "lock", "rest", "_folders_", "__len__"):
        with pytest.raises(AttributeError):
            getattr(workspace, name)


def test_a_workspace_elsewhere_has_all_that_the_server_may_ask() -> None:
    workspace = RemoteWorkspace(Asked(), (), {})  # type: ignore[arg-type]
    names = {name for protocol in Workspace.__mro__ for name in vars(protocol) if not name.startswith("_")}
    assert {"text", "fix_all", "check", "problems"} <= names
    assert [name for name in sorted(names) if not hasattr(workspace, name)] == []


def test_a_new_process_is_told_what_counts_now() -> None:
    workspace = RemoteWorkspace(Asked(), (Path("/project"),), {"select": []})  # type: ignore[arg-type]
    for text in ("one", "two"):
        workspace.set_text(A, text)
    workspace.set_text(B, "gone")
    workspace.set_text(B, None)
    workspace.configure({"ignore": []})
    state = [Told("workspace", ((Path("/project"),), {"ignore": []})), Told("set_text", (A, "two"))]
    assert list(workspace.state()) == state


# --- the process ------------------------------------------------------------------------------------------------------


@pytest.fixture
def remote() -> Iterator[Remote]:
    remote = Remote()
    yield remote
    remote.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "demo"\n')
    (tmp_path / "data.py").write_text(DATA)
    return tmp_path.resolve()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux")
def test_variables_for_python_are_not_the_user_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONSTARTUP", "/somewhere.py")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    remote = Remote()
    try:
        environment = Path(f"/proc/{remote._process._child.pid}/environ").read_bytes().split(b"\0")
        own = dict(one.split(b"=", 1) for one in environment if one.startswith(b"PYTHON"))
        assert own == {name.encode(): value.encode() for name, value in memory.allocator().items()}
    finally:
        remote.close()


def names(found: Mapping[Path, Sequence[Any]]) -> list[str]:
    return [one.name for diagnostics in found.values() for one in diagnostics]


def test_findings_of_the_first_of_several_projects_come_early(remote: Remote, project: Path) -> None:
    paths = []
    for name in ("first", "second"):
        (project / name).mkdir()
        (project / name / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
        paths.append(project / name / "data.py")
        paths[-1].write_text(DATA)
    workspace = remote.workspace([project], {})
    early: list[Any] = []
    found = workspace.check(paths, early=early.append)
    assert names(found) == ["none-sample", "none-sample"] and [names(one) for one in early] == [["none-sample"]]
    workspace.set_text(paths[0], DATA.replace("None", "''"))
    assert names(workspace.check(paths, early=early.append)) == ["none-sample"] and len(early) == 1


def test_a_process_that_dies_is_replaced_and_knows_what_the_last_one_knew(remote: Remote, project: Path) -> None:
    path = project / "data.py"
    workspace = remote.workspace([project], {})
    workspace.set_text(path, DATA.replace("None", "''"))
    assert names(workspace.check([path])) == []
    os.kill(remote._process._child.pid, signal.SIGTERM)
    assert names(workspace.check([path])) == [], "the text of the editor counts"
    os.kill(remote._process._child.pid, signal.SIGTERM)
    workspace.set_text(path, None)
    assert names(workspace.check([path])) == ["none-sample"]


def test_an_error_of_the_engine_is_told(remote: Remote, project: Path) -> None:
    workspace = remote.workspace([project], {})
    with pytest.raises(Failed, match="AttributeError"):
        workspace.locate(3)  # type: ignore[arg-type]
    assert workspace.text(project / "data.py") == DATA


def test_a_question_that_is_not_wanted_any_more_is_given_up(remote: Remote, project: Path) -> None:
    workspace = remote.workspace([project], {})
    with pytest.raises(Cancelled):
        workspace.check([project / "data.py"], stop=lambda: True)
    assert workspace.text(project / "data.py") == DATA


def test_a_linking_is_postponed_while_somebody_types(remote: Remote, project: Path) -> None:
    path = project / "data.py"
    workspace = remote.workspace([project], {})
    assert names(workspace.check([path], typing=True)) == ["none-sample"], "what is opened is linked at once"
    workspace.set_text(path, DATA.replace("None", "''"))
    with pytest.raises(Postponed) as postponed:
        workspace.check([path], typing=True)
    assert postponed.value.took > 0
    assert names(workspace.check([path])) == []


def test_nothing_in_the_folder_of_the_server_is_imported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "queue", "libcst", "loaderlint"):
        (project / f"{name}.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.chdir(project)
    remote = Remote()
    remote.close()


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return True
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(sys.platform == "win32", reason="looks at processes as POSIX has them")
@pytest.mark.parametrize("busy", [False, True])
def test_it_never_outlives_the_server(busy: bool) -> None:
    code = f"""
    import threading, time
    from loaderlint.lsp.engine_client import Remote
    from tests.lsp.busy import engine_is_busy

    remote = Remote()
    workspace = remote.workspace([], {{}})
    if {busy}:
        threading.Thread(target=workspace.answer, args=(engine_is_busy,), daemon=True).start()
        while remote._numbers < 2:
            time.sleep(0.001)
    print(remote._process._child.pid, flush=True)
    time.sleep(60)
    """
    server = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{SERVER}{os.pathsep}{SERVER.parent}"},
        cwd=Path(__file__).parent,
    )
    assert server.stdout is not None
    child = int(server.stdout.readline())
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    server.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while not gone(child):
        assert time.monotonic() < deadline, "the engine goes on without a server"
        time.sleep(0.01)
