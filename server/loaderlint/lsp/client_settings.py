"""The user's settings in the editor: section `loaderlint`, the names of pyproject.toml in camelCase."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from loaderlint.files.symlinks import known_as
from loaderlint.lsp.uris import uri_of
from loaderlint.settings.settings import FOLDERS, KEYS, from_editor

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

SECTION = "loaderlint"
#: Which files get diagnostics: `openFilesOnly` (the default) or `workspace`.
MODE = "diagnosticMode"
#: How much the server writes to stderr: a key of `_LOG_LEVELS`; `warning` is the default.
LOG_LEVEL = "logLevel"
_LOG_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
#: Seconds that the first analysis waits for the client's settings.
PATIENCE = 5.0


def overrides(section: Any) -> dict[str, object]:
    """The settings of a configuration section by their names in pyproject.toml. The section also holds settings of the
    client, such as the path of the server; they are ignored."""
    if not isinstance(section, Mapping):
        return {}
    return {key: value for key, value in from_editor(section).items() if key in KEYS}


def take(ls: Server, section: Any, folders: Mapping[Path, Any] | None = None) -> None:
    """Store the settings of a configuration section, also for single folders; `Server.apply_settings` applies them."""
    ls.overrides = overrides(section)
    of_folders = {known_as(folder): overrides(one) for folder, one in (folders or {}).items()}
    if any(one != ls.overrides for one in of_folders.values()):
        ls.overrides = {**ls.overrides, FOLDERS: of_folders}
    own = section if isinstance(section, Mapping) else {}
    ls.workspace_by_setting = own.get(MODE) == "workspace"
    logging.getLogger("loaderlint").setLevel(_LOG_LEVELS.get(str(own.get(LOG_LEVEL)), logging.WARNING))


def interpreter(options: Mapping[str, Any]) -> str | None:
    """The Python that is selected in the editor, from the initialization options."""
    selected = options.get("interpreter")
    return selected if isinstance(selected, str) and selected else None


def shows_workspace(options: Mapping[str, Any]) -> bool:
    """Whether the initialization options ask for the findings of all files from the start: a client sets this if it
    remembers a `loaderlint/checkWorkspace` from its last session."""
    return options.get(MODE) == "workspace"


async def load(ls: Server) -> None:
    """Ask the client for its settings, if it supports that, and apply them. If it does not answer in time, the analysis
    starts without them; a late answer still counts."""
    if ls.client.configuration:
        asked = asyncio.ensure_future(_ask(ls))
        try:
            await asyncio.wait_for(asyncio.shield(asked), PATIENCE)
        except asyncio.TimeoutError:
            logger.warning("the client does not send its settings")
            asked.add_done_callback(lambda _: ls.apply_settings())
    ls.apply_settings()


async def _ask(ls: Server) -> None:
    folders = ls.folders
    scopes = [None, *map(uri_of, folders)]
    items = [types.ConfigurationItem(section=SECTION, scope_uri=scope) for scope in scopes]
    try:
        answer = await ls.workspace_configuration_async(types.ConfigurationParams(items=items))
    except Exception as error:
        logger.warning("the client does not send its settings: %s", error)
        return
    if answer:
        take(ls, answer[0], dict(zip(folders, answer[1:], strict=False)))


async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
    """The settings in the editor changed. The server asks newer clients for them; older ones send them."""
    if ls.client.configuration:
        await load(ls)
        return
    given = _plain(params.settings)
    if isinstance(given, Mapping):
        take(ls, given.get(SECTION, given))
        ls.apply_settings()


def _plain(settings: Any) -> Any:
    return settings._asdict() if hasattr(settings, "_asdict") else settings


async def watch(ls: Server) -> None:
    """Ask the client to report changed settings, if it supports that."""
    if ls.client.registers_configuration:
        options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
        await ls.register_with_client(types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)


def register(server: Server) -> None:
    """Offer the feature."""
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)
