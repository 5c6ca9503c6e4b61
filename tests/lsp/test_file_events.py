"""Files that are created, deleted, moved and declare versions, links, several folders, and stopped work, with the real
engine."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from loaderlint.lsp.backend import Loaderlint
from tests.lsp.session import PATIENCE, Session, capabilities, run, session

DATA = """\
import numpy as np
from torch.utils.data import Dataset


class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand()
"""
TRAIN = """\
from torch.utils.data import DataLoader

from data import Noisy

train_loader = DataLoader(Noisy(), num_workers=4)
"""
#: Up to this version all workers draw the same numbers.
OLD, NEW = "torch==1.8.1\n", "torch==2.4.0\n"


def made(folder: Path, files: dict[str, str]) -> Path:
    """Write these files. Returns their folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(
        tmp_path, {"data.py": DATA, "train.py": TRAIN, "requirements.txt": OLD, "pyproject.toml": "[project]\n"}
    )


@asynccontextmanager
async def window(*folders: Path, **more: Any) -> AsyncIterator[Session]:
    async with session(capabilities(**more), folders, backend=Loaderlint()) as client:
        yield client


def opened(client: Session, path: Path, text: str | None = None) -> str:
    """Open a file. Returns its URI."""
    client.open(path.as_uri(), path.read_text() if text is None else text)
    return path.as_uri()


def touched(client: Session, *paths: Path) -> None:
    """Notify the server that these files changed."""
    client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": path.as_uri(), "type": 2} for path in paths])


async def codes(client: Session, uri: str) -> list[str]:
    return [one["code"] for one in await client.diagnostics(uri)]


async def loaders(client: Session, uri: str) -> list[bool]:
    """For each finding, whether the loader of train.py is known to hold the dataset; otherwise only an unknown loader
    may hold it."""
    return ["`train_loader` in train.py" in one["message"] for one in await client.diagnostics(uri)]


# --- versions ---------------------------------------------------------------------------------------------------------


def test_another_version_in_the_requirements(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as client:
            data = opened(client, project / "data.py")
            assert await codes(client, data) == ["LDR101"]
            (project / "requirements.txt").write_text(NEW)
            touched(client, project / "requirements.txt")
            assert await codes(client, data) == []
            (project / "requirements.txt").unlink()
            made(project, {"uv.lock": '[[package]]\nname = "torch"\nversion = "1.8.1"\n'})
            touched(client, project / "requirements.txt", project / "uv.lock")
            assert await codes(client, data) == ["LDR101"]

    run(scenario())


def test_another_torch_is_installed(project: Path) -> None:
    (project / "requirements.txt").unlink()
    packages = project / ".venv" / "lib" / "python3.9" / "site-packages"
    old, new = (packages / f"torch-{version}.dist-info" / "METADATA" for version in ("1.8.1", "2.4.0"))
    made(project, {".venv/pyvenv.cfg": "version = 3.9.18\n"})

    def install(metadata: Path, version: str) -> None:
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n")

    install(old, "1.8.1")

    async def scenario() -> None:
        async with window(project) as client:
            data = opened(client, project / "data.py")
            assert await codes(client, data) == ["LDR101"]
            old.unlink()
            old.parent.rmdir()
            install(new, "2.4.0")
            touched(client, old, new)
            assert await codes(client, data) == []

    run(scenario())


# --- renamed, deleted, unsaved ----------------------------------------------------------------------------------------


def test_a_renamed_file(project: Path) -> None:
    """The import of the old name cannot be resolved until it is renamed too, unsaved."""

    async def scenario() -> None:
        async with window(project) as client:
            data, new = opened(client, project / "data.py"), project / "samples.py"
            assert await loaders(client, data) == [True]
            (project / "data.py").rename(new)
            client.shut(data)
            opened(client, new)
            client.notify("workspace/didRenameFiles", files=[{"oldUri": data, "newUri": new.as_uri()}])
            assert await loaders(client, new.as_uri()) == [False]
            assert client.published(data)[-1]["diagnostics"] == []
            opened(client, project / "train.py", TRAIN.replace("from data", "from samples"))
            assert await loaders(client, new.as_uri()) == [True]

    run(scenario())


def test_a_renamed_folder(tmp_path: Path) -> None:
    made(tmp_path, {"old/data.py": DATA, "train.py": TRAIN.replace("data", "old.data", 1), "requirements.txt": OLD})
    text = TRAIN.replace("from data", "from new.data")

    async def scenario() -> None:
        async with window(tmp_path) as client:
            train = opened(client, tmp_path / "train.py", TRAIN.replace("from data", "from old.data"))
            data = opened(client, tmp_path / "old" / "data.py")
            assert await loaders(client, data) == [True]
            client.shut(data)
            (tmp_path / "old").rename(tmp_path / "new")
            old, new = ((tmp_path / name).as_uri() for name in ("old", "new"))
            client.notify("workspace/didRenameFiles", files=[{"oldUri": old, "newUri": new}])
            client.change(train, 2, text)
            assert await loaders(client, opened(client, tmp_path / "new" / "data.py")) == [True]

    run(scenario())


def test_a_deleted_file(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as client:
            data = opened(client, project / "data.py")
            assert await loaders(client, data) == [True]
            (project / "train.py").unlink()
            client.notify("workspace/didDeleteFiles", files=[{"uri": (project / "train.py").as_uri()}])
            assert await loaders(client, data) == [False]
            # A deleted file that is open still exists in the editor.
            (project / "data.py").unlink()
            client.notify("workspace/didDeleteFiles", files=[{"uri": data}])
            opened(client, project / "train.py", TRAIN)
            assert await loaders(client, data) == [True]

    run(scenario())


def test_what_was_not_saved_is_gone_when_it_is_closed(project: Path) -> None:
    async def scenario() -> None:
        async with window(project) as client:
            data = opened(client, project / "data.py")
            train = opened(client, project / "train.py", TRAIN.replace("num_workers=4", "num_workers=0"))
            assert await codes(client, data) == []
            client.shut(train)
            assert await codes(client, data) == ["LDR101"]

    run(scenario())


# --- links and folders ------------------------------------------------------------------------------------------------


def test_a_project_behind_a_link(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Open files have the editor's names, all others their real names."""
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(project)

    async def scenario() -> None:
        async with window(link) as client:
            data, train = opened(client, link / "data.py"), opened(client, link / "train.py")
            (shown,) = await client.diagnostics(data)
            assert train in {one["location"]["uri"] for one in shown["relatedInformation"]}
            actions = await client.actions(data, (9, 20))
            fix = next(one for one in actions if one.get("isPreferred"))
            edit = (await client.request("codeAction/resolve", **fix))["edit"]
            assert [change["textDocument"] for change in edit["documentChanges"]] == [{"uri": train, "version": 1}]

    run(scenario())


ALL = DATA + "\n\n" + TRAIN.replace("from data import Noisy\n", "")


async def edits(client: Session, uri: str, line: int = 9) -> list[Any]:
    """The edits of the preferred fix on a line and of 'fix all', each a list of changes to documents."""
    actions = await client.actions(uri, (line, 20))
    fixes = [one for one in actions if one.get("isPreferred") or one["kind"].startswith("source.fixAll")]
    return [(await client.request("codeAction/resolve", **one))["edit"]["documentChanges"] for one in fixes]


def test_the_document_of_a_link_is_fixed_under_its_own_uri(project: Path) -> None:
    """Two documents that are links to one file are edited separately, each once."""
    (project / "all.py").write_text(ALL)
    (project / "link.py").symlink_to("all.py")

    async def scenario() -> None:
        async with window(project) as client:
            link = opened(client, project / "link.py")
            for _ in range(2):
                made = await edits(client, link)
                assert [[change["textDocument"]["uri"] for change in one] for one in made] == [[link], [link]]
                texts = ["".join(edit["newText"] for edit in one[0]["edits"]) for one in made]
                assert [text.count("def seed_worker") for text in texts] == [1, 1]
                file = opened(client, project / "all.py")
            made = await edits(client, file)
            assert [[change["textDocument"]["uri"] for change in one] for one in made] == [[file], [file]]

    run(scenario())


def test_no_fix_is_offered_for_a_link_out_of_the_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("elsewhere") / "all.py"
    outside.write_text(ALL)
    (project / "link.py").symlink_to(outside)

    async def scenario() -> None:
        async with window(project) as client:
            link = opened(client, project / "link.py")
            assert await codes(client, link) == ["LDR101"]
            assert await edits(client, link) == []
            file = opened(client, outside)
            assert await codes(client, link) == ["LDR101"]
            assert await edits(client, link) == []
            client.shut(file)

    run(scenario())


def test_a_file_that_is_open_under_two_uris(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """It is open through a linked folder: the document that was edited last counts, and a fix for one text is never
    applied to the other."""
    folder = tmp_path_factory.mktemp("elsewhere") / "link"
    folder.symlink_to(project)
    (project / "all.py").write_text(ALL)

    async def scenario() -> None:
        async with window(project) as client:
            first, second = opened(client, project / "all.py"), opened(client, folder / "all.py")
            for uri in (first, second):
                assert await codes(client, uri) == ["LDR101"]
                made = await edits(client, uri)
                assert [[change["textDocument"]["uri"] for change in one] for one in made] == [[uri], [uri]]
            client.change(first, 2, "# one line more\n" + ALL)
            (shown,) = await client.diagnostics(first)
            assert shown["range"]["start"]["line"] == 10
            made = await edits(client, first, 10)
            assert [[change["textDocument"] for change in one] for one in made] == 2 * [[{"uri": first, "version": 2}]]
            assert await codes(client, second) == []
            assert await edits(client, second) == []
            client.change(second, 2, "# one line more\n" + ALL)
            assert await codes(client, second) == ["LDR101"]
            client.shut(second)
            assert await codes(client, first) == ["LDR101"]

    run(scenario())


def test_each_folder_has_its_own_settings_and_modules(tmp_path: Path) -> None:
    """Equal names in two folders belong to two projects, even if one of them is added later."""
    quiet = '[tool.loaderlint]\nignore = ["duplicate-numpy-randomness"]\n'
    one = made(tmp_path / "one", {"data.py": DATA, "train.py": TRAIN, "requirements.txt": OLD, "pyproject.toml": quiet})
    two = made(tmp_path / "two", {"data.py": DATA, "train.py": TRAIN, "requirements.txt": OLD, "pyproject.toml": ""})

    async def scenario() -> None:
        async with window(one) as client:
            first, second = opened(client, one / "data.py"), opened(client, two / "data.py")
            assert await codes(client, first) == []
            event = {"added": [{"uri": two.as_uri(), "name": "two"}], "removed": []}
            client.notify("workspace/didChangeWorkspaceFolders", event=event)
            assert await codes(client, first) == []
            (shown,) = await client.diagnostics(second)
            related = {one["location"]["uri"] for one in shown["relatedInformation"]}
            assert related == {(two / "train.py").as_uri()}
            event = {"added": [], "removed": [{"uri": two.as_uri(), "name": "two"}]}
            client.notify("workspace/didChangeWorkspaceFolders", event=event)
            assert await codes(client, second) == ["LDR101"], "what is open is looked at wherever it is"

    run(scenario())


# --- work that is stopped ---------------------------------------------------------------------------------------------


class Watched(Loaderlint):
    """The engine, blocked when it first asks whether to stop a check of all files."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.go_on = threading.Event(), threading.Event()
        self.ended: list[str] = []
        """The outcomes of the checks of all files."""

    def workspace(self, folders: Sequence[Path], overrides: Any) -> Any:
        made = super().workspace(folders, overrides)
        check = made.check

        def watched(paths: Any = None, *, stop: Any = lambda: False, typing: Any = False, progress: Any = None) -> Any:
            if paths is not None:
                return check(paths, stop=stop, typing=typing, progress=progress)
            try:
                found = check(None, stop=self._holding(stop), progress=progress)
            except self.cancelled:
                self.ended.append("stopped")
                raise
            self.ended.append("done")
            return found

        made.check = watched
        return made

    def _holding(self, stop: Callable[[], bool]) -> Callable[[], bool]:
        def hold() -> bool:
            self.held.set()
            assert self.go_on.wait(PATIENCE)
            return stop()

        return hold


@pytest.mark.parametrize("by", ["cancel", "edit", "shutdown"])
def test_work_that_nobody_wants_any_more_is_stopped(by: str, tmp_path: Path) -> None:
    made(tmp_path, {f"{name}.py": DATA + TRAIN.replace("from data import Noisy\n", "") for name in "abcdef"})
    settings = {"initializationOptions": {"settings": {"diagnosticMode": "workspace"}}}
    backend = Watched()

    async def scenario() -> None:
        async with session(capabilities(pulls=True), [tmp_path], backend=backend, **settings) as client:
            number, answer = client.ask("workspace/diagnostic", {"previousResultIds": []})
            await client.until(backend.held.is_set)
            if by == "cancel":
                client.notify("$/cancelRequest", id=number)
                assert (await asyncio.wait_for(answer, PATIENCE))["error"]["code"] == -32800
            elif by == "edit":
                opened(client, tmp_path / "a.py", DATA)
            else:
                client.ask("shutdown", None)
            backend.go_on.set()
            await client.until(lambda: backend.ended)
            assert backend.ended[0] == "stopped"

    run(scenario())
