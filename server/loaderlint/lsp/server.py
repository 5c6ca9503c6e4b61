"""The server: its parts, and its life from `initialize` to `exit`."""

from __future__ import annotations

import asyncio
import logging
import sys
import uuid
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from loaderlint import __version__
from loaderlint.lsp import (
    Transport,
    check_workspace,
    client_capabilities,
    client_settings,
    code_actions,
    code_lens,
    debug_information,
    document_sync,
    explain_line,
    file_events,
    fix_workspace,
    hover,
    pull_diagnostics,
    rule_page,
    status,
    symptom_request,
    trace,
    transport,
    what_if,
    worker_map_request,
)
from loaderlint.lsp.access_token import Access
from loaderlint.lsp.analysis import Analysis
from loaderlint.lsp.async_engine import AsyncEngine
from loaderlint.lsp.backend import Backend
from loaderlint.lsp.client_capabilities import Client
from loaderlint.lsp.documents import Documents
from loaderlint.lsp.engine_jobs import Setup
from loaderlint.lsp.notices import Notices
from loaderlint.lsp.protocol import Protocol
from loaderlint.lsp.pull_diagnostics import FileReport
from loaderlint.lsp.shown_documents import ShownDocuments

logger = logging.getLogger(__name__)


class Server(LanguageServer):
    """One client, its documents and their analysis.

    `load` makes an engine. It is called on the worker's thread after `initialize` has been answered, and again, on
    another thread, for each comparison (`what_if`)."""

    protocol: Protocol

    def __init__(self, load: Callable[[], Backend]) -> None:
        super().__init__(
            "loaderlint",
            __version__,
            types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=document_sync.NOTEBOOKS,
            protocol_cls=Protocol,
        )
        self.load = load
        self.client = Client()
        self.folders: tuple[Path, ...] = ()
        self.overrides: dict[str, object] = {}
        self.workspace_by_setting = False
        """Whether the setting `diagnosticMode` asks for the diagnostics of files that are not open."""
        self.workspace_by_request = False
        """Whether `loaderlint/checkWorkspace` asked for them."""
        self.let_go: set[str] = set()
        """The URIs of closed documents that were pulled again. VS Code does this, and then shows the report of the
        whole workspace. It drops a report that comes before the answer to this pull, so the report is sent again."""
        self.last_reports: dict[str, FileReport] = {}
        """The reports of the last check of the whole workspace, by URI."""
        self.unopened: dict[str, str] = {}
        """The result ids of the reports that were pushed for files that are not open, by URI (`check.follow`)."""
        self.interpreter: str | None = None
        """The Python that is selected in the editor; its environment is read, never run."""
        self.documents = Documents()
        self.engine = AsyncEngine(load)
        self.shown = ShownDocuments(
            self.documents, self.text_document_publish_diagnostics, lambda: self.start(self.refresh())
        )
        self.analysis = Analysis(
            self.shown,
            self.engine,
            Notices(self.say, self.alert),
            linked=lambda: self.start(self.refresh_lenses()),
            announce=lambda document, settled: status.announce(self, document, settled),
            checked=lambda job, answer, seconds, linked: trace.checked(self, job, answer, seconds, linked),
        )
        self.left = False
        self.exit_code = 1
        self._tasks: set[asyncio.Task[None]] = set()
        for feature in (
            document_sync,
            file_events,
            client_settings,
            code_actions,
            hover,
            code_lens,
            status,
            explain_line,
            worker_map_request,
            rule_page,
            symptom_request,
            check_workspace,
            fix_workspace,
            what_if,
            debug_information,
        ):
            feature.register(self)
        self.feature(types.INITIALIZE)(initialize)
        self.feature(types.INITIALIZED)(initialized)
        self.feature(types.SHUTDOWN)(shutdown)

    @property
    def shows_workspace(self) -> bool:
        """Whether diagnostics of files that are not open are wanted."""
        return self.workspace_by_setting or self.workspace_by_request

    def setup(self) -> Setup:
        """The current folders and settings."""
        selected = {"interpreter": self.interpreter} if self.interpreter else {}
        return Setup(self.folders, {**self.overrides, **selected})

    def apply_settings(self) -> None:
        """Analyse with the current folders and settings."""
        setup = self.setup()
        logger.info("folders: %s; settings: %s", [*map(str, setup.folders)], setup.overrides)
        self.analysis.configure(setup)
        self.analysis.news.send()

    async def refresh(self) -> None:
        """Let the client pull all diagnostics again: a change in one file has changed findings in others."""
        await self.workspace_diagnostic_refresh_async(None)

    async def refresh_lenses(self) -> None:
        """Let the client request all code lenses again, if it can: the project was linked again."""
        if self.client.refreshes_lenses:
            await self.workspace_code_lens_refresh_async(None)

    def alert(self, message: str) -> None:
        """Show the user a message that needs a reaction."""
        self.window_show_message(types.ShowMessageParams(type=types.MessageType.Error, message=message))

    def say(self, message: str) -> None:
        """Write a warning to the client's log."""
        self.window_log_message(types.LogMessageParams(type=types.MessageType.Warning, message=message))

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task in the background. An error in it is logged."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a task failed", exc_info=error)

    async def register_with_client(self, method: str, options: Any) -> None:
        """Ask the client to notify the server (by `method`) when settings or watched files change; a refusal is
        logged."""
        registration = types.Registration(id=str(uuid.uuid4()), method=method, register_options=options)
        try:
            await self.client_register_capability_async(types.RegistrationParams(registrations=[registration]))
        except Exception as error:
            logger.warning("the client does not register %s: %s", method, error)

    def leave(self, *, orderly: bool) -> None:
        """End the server, because the client left; with exit code 0 if it announced that before (`orderly`)."""
        self.left = True
        self.exit_code = 0 if orderly else 1

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log an error of a handler. The base class shows it to the user, who can do nothing about it."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)


def initialize(ls: Server, params: types.InitializeParams) -> None:
    """The client introduces itself and its abilities. The engine is not used: the answer must not wait for it."""
    ls.client = Client.of(params)
    ls.documents.encoding = ls.client.encoding
    ls.shown.client = ls.client
    ls.folders = file_events.first_folders(params)
    options = client_capabilities.initialization(params)
    client_settings.take(ls, options.get("settings"))
    ls.interpreter = client_settings.interpreter(options)
    ls.workspace_by_request = client_settings.shows_workspace(options)
    trace.begin(ls, params)
    logger.info("the client is %s", params.client_info)
    if ls.client.pulls:
        pull_diagnostics.register(ls)


def initialized(ls: Server, _: types.InitializedParams) -> None:
    """The client is ready: load the engine, and meanwhile request what the engine needs to know."""
    ls.start(ls.analysis.load())
    ls.start(client_settings.load(ls))
    ls.start(client_settings.watch(ls))
    ls.start(file_events.watch(ls))
    if not ls.client.pulls:
        ls.start(check_workspace.follow(ls))


def shutdown(ls: Server, _: None) -> None:
    """Stop all work, because the client is about to leave."""
    ls.analysis.stop()


def serve(load: Callable[[], Backend], kind: Transport, host: str, port: int, access: Access) -> int:
    """Serve one client over `kind`; see `loaderlint.lsp.main`."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger().addHandler(debug_information.RECENT)
    server = Server(load)
    try:
        asyncio.run(_serve(server, kind, host, port, access))
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"loaderlint: cannot listen on {host}:{port}: {error.strerror or error}", file=sys.stderr)
        return 2
    except ImportError as error:
        if error.name != "websockets":
            raise
        print("loaderlint: WebSockets need one more library: pip install websockets", file=sys.stderr)
        return 2
    return server.exit_code


async def _serve(server: Server, kind: Transport, host: str, port: int, access: Access) -> None:
    try:
        if kind == "stdio":
            await transport.serve_stdio(server)
        elif kind == "tcp":
            await transport.serve_tcp(server, host, port, access)
        else:
            await transport.serve_ws(server, host, port, access)
    finally:
        server.analysis.stop()
        server.engine.close()
        if not server.left:
            # The client closed the connection.
            server.leave(orderly=server.protocol.shutting_down)
