"""The abilities of the client, read once from its `initialize` request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types
from msgspec import Struct
from pygls.capabilities import ServerCapabilitiesBuilder, get_capability

from loaderlint.lsp.text_positions import Encoding

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class Client(Struct, frozen=True):
    """The client's abilities. `pulls`: it pulls diagnostics, and pulls them again after a refresh; otherwise they are
    pushed. `status`: it asked for `loaderlint/status` notifications in its initialization options; `commands`: our
    commands that it listed there."""

    encoding: Encoding = "utf-16"
    related_information: bool = False
    code_description: bool = False
    diagnostic_data: bool = False
    tags: frozenset[types.DiagnosticTag] = frozenset()
    pulls: bool = False
    applies_edits: bool = False
    document_changes: bool = False
    change_annotations: bool = False
    resolves_edits: bool = False
    markdown: bool = False
    configuration: bool = False
    registers_configuration: bool = False
    registers_watchers: bool = False
    watches_folders: bool = False
    refreshes_lenses: bool = False
    shows_documents: bool = False
    shows_progress: bool = False
    status: bool = False
    commands: frozenset[str] = frozenset()

    def knows(self, command: str) -> bool:
        """Whether the client can run a command of ours."""
        return command in self.commands

    @staticmethod
    def of(params: types.InitializeParams) -> Client:
        """The abilities of the client that sends `params`."""
        able = params.capabilities
        get: Any = get_capability  # its overloads take literal names only

        def can(name: str) -> bool:
            return bool(get(able, name, False))

        def listed(name: str) -> Sequence[Any]:
            return get(able, name, None) or ()

        # A client that pulls diagnostics may declare it only there (since LSP 3.18).
        ways = ("text_document.publish_diagnostics", "text_document.diagnostic")

        def shows(name: str) -> bool:
            return any(can(f"{way}.{name}") for way in ways)

        return Client(
            encoding=_ENCODINGS.get(str(_value(ServerCapabilitiesBuilder.choose_position_encoding(able))), "utf-16"),
            related_information=shows("related_information"),
            code_description=shows("code_description_support"),
            diagnostic_data=shows("data_support"),
            tags=frozenset(tag for way in ways for tag in listed(f"{way}.tag_support.value_set")),
            # An edit in one file changes the findings of others: if a client cannot be notified of that, pushing is
            # better.
            pulls=get(able, "text_document.diagnostic", None) is not None
            and can("workspace.diagnostics.refresh_support")
            and not _refreshes_the_workspace_only(params.client_info),
            applies_edits=can("workspace.apply_edit"),
            document_changes=can("workspace.workspace_edit.document_changes"),
            change_annotations=can("workspace.workspace_edit.change_annotation_support"),
            resolves_edits="edit" in listed("text_document.code_action.resolve_support.properties")
            and can("text_document.code_action.data_support"),
            markdown=types.MarkupKind.Markdown in listed("text_document.hover.content_format"),
            configuration=can("workspace.configuration"),
            registers_configuration=can("workspace.did_change_configuration.dynamic_registration"),
            registers_watchers=can("workspace.did_change_watched_files.dynamic_registration"),
            watches_folders=can("workspace.did_change_watched_files.relative_pattern_support"),
            refreshes_lenses=can("workspace.code_lens.refresh_support"),
            shows_documents=can("window.show_document.support"),
            shows_progress=can("window.work_done_progress"),
            status=bool(initialization(params).get("status")),
            commands=frozenset(map(str, initialization(params).get("commands") or ())),
        )


def initialization(params: types.InitializeParams) -> dict[str, Any]:
    """The client's initialization options; empty unless they are an object."""
    options = params.initialization_options
    return options if isinstance(options, dict) else {}


def _refreshes_the_workspace_only(client: types.ClientInfo | None) -> bool:
    """Whether the client pulls only the workspace after a refresh, and not the documents on the screen: Neovim does, as
    of 0.12.4 (`on_refresh` in its vim/lsp/diagnostic.lua)."""
    return client is not None and client.name == "Neovim"


def _value(encoding: Any) -> Any:
    return getattr(encoding, "value", encoding)
