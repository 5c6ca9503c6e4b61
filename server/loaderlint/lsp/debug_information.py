"""`loaderlint/debugInformation`: what a bug report needs, as Markdown (`{text}`).

It names versions, folders and settings, and contains no code. The home folder is shortened to `~`, and names and
passwords in URLs are removed."""

from __future__ import annotations

import asyncio
import logging
import platform
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaderlint import __version__
from loaderlint.lsp.backend import Workspace

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

DEBUG = "loaderlint/debugInformation"
#: Seconds to wait for a busy engine: a user who reports a hanging server must get an answer.
PATIENCE = 3.0

_LIBRARIES = ("libcst", "pygls", "lsprotocol", "cattrs", "attrs", "packaging")
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@")


class Recent(logging.Handler):
    """Keeps the last warnings and errors."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: deque[str] = deque(maxlen=20)
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message."""
        self.lines.append(self.format(record))


#: The last warnings and errors of this process.
RECENT = Recent()


async def debug_information(ls: Server, _: Any) -> dict[str, object]:
    """The current information. It waits briefly for the engine, and for nothing else."""
    projects = ["No project has been analysed yet."]
    try:
        projects = await asyncio.wait_for(ls.engine.ask(lambda workspace: list(_projects(workspace))), PATIENCE)
    except asyncio.TimeoutError:
        projects = [f"The engine is busy and did not answer within {PATIENCE:g} seconds."]
    except Exception as error:
        projects = [f"The projects are not known: {error}."]
    lines = [*_server(ls), "", "## Projects", "", *projects, "", *_errors()]
    return {"text": without_secrets("\n".join(lines) + "\n")}


def _server(ls: Server) -> Iterator[str]:
    yield "## Server"
    yield ""
    yield f"- loaderlint {__version__}: `{Path(__file__).parents[1]}`"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    yield f"- {python} on {platform.platform()}: `{sys.executable}`"
    yield f"- {', '.join(f'{name} {_version(name)}' for name in _LIBRARIES)}"
    selected = f"`{ls.interpreter}`" if ls.interpreter else "none"
    yield f"- interpreter selected in the editor (its environment is read, it is not run): {selected}"
    asks = "pulls diagnostics" if ls.client.pulls else "gets diagnostics pushed"
    yield f"- the editor counts in {ls.client.encoding} and {asks}; {_count(list(ls.documents), 'document')} open"
    yield f"- shows the findings of {'the whole workspace' if ls.shows_workspace else 'open files'}"
    yield f"- settings of the editor: `{dict(ls.overrides)}`"
    yield f"- folders: {', '.join(f'`{folder}`' for folder in ls.folders) or 'none'}"
    yield f"- {'the analysis is complete' if ls.analysis.is_settled else 'the analysis is running'}"


def _projects(workspace: Workspace) -> Iterator[str]:
    for project in workspace.projects():
        yield f"- `{project.root}`: {project.files} files, linked {project.links} times"
        yield from (f"  - {fact}" for fact in project.runs_on)
        yield f"  - settings: {'; '.join(project.settings) or 'none'}"
    for problem in workspace.problems:
        yield f"- problem: {problem.path or ''} {problem.message}"


def _errors() -> Iterable[str]:
    return ["## Last warnings and errors", "", "```", *(RECENT.lines or ["none"]), "```"]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(version not known)"


def _count(things: list[Any], word: str) -> str:
    return f"{len(things)} {word}{'' if len(things) == 1 else 's'}"


def without_secrets(text: str) -> str:
    """The text with `~` for the home folder, and without names and passwords in URLs."""
    home = str(Path.home())
    shortened = text.replace(home, "~") if len(home) > 1 else text
    return _CREDENTIALS.sub("", shortened)


def register(server: Server) -> None:
    """Offer the request."""
    server.feature(DEBUG)(debug_information)
