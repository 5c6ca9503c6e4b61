"""pygls' protocol, made hard to upset.

What differs from the base class: the documents are our own (`lsp.documents`), finished notifications are forgotten (the
base keeps one future each for ever), requests at the wrong time get the answers that the specification asks for,
requests with parameters that cannot be read are answered at all, and `exit` ends the process with the right code.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)


class Superseded(JsonRpcException):
    """A request was about a text that is no longer there; nothing to log, somebody types."""

    MESSAGE = "the document has changed"


class ContentModified(Superseded):
    """The answer would be about a text that is no longer there. Clients drop it silently."""

    CODE = types.LSPErrorCodes.ContentModified.value


class Protocol(LanguageServerProtocol):
    """One client's connection."""

    _server: Server

    def receive(self, body: bytes) -> None:
        """Handle one message. Whatever it holds, nothing is raised but SystemExit and the like."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            logger.error("a message is no JSON: %s", error)
            self._refuse(None, types.ErrorCodes.ParseError, "the message is no JSON")
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != self.VERSION:
            logger.error("a message is no JSON-RPC 2.0 object: %.200r", data)
            self._refuse(None, types.ErrorCodes.InvalidRequest, "the message is no JSON-RPC 2.0 object")
            return
        try:
            if self._timely(data):
                self.handle_message(self.structure_message(data))
        except Exception:
            logger.exception("cannot handle the message %.500r", data)
            if _is_request(data):
                self._refuse(data["id"], types.ErrorCodes.InvalidParams, "the parameters cannot be read")
            elif data.get("id") in self._request_futures:
                # An answer of the wrong shape: who waits for it must not wait for ever.
                unreadable = types.ResponseError(code=types.ErrorCodes.InvalidParams.value, message="unreadable answer")
                self._handle_response(data["id"], error=unreadable)

    def _timely(self, data: dict[str, Any]) -> bool:
        """Whether the message may come now: after `initialize` and before `shutdown`."""
        method = data.get("method")
        if method is None or method == types.EXIT:
            return True
        if self._shutdown:
            refusal = (types.ErrorCodes.InvalidRequest.value, "the server is shutting down")
        elif self._workspace is None and method != types.INITIALIZE:
            refusal = (types.ErrorCodes.ServerNotInitialized.value, "the server is not initialized")
        elif self._workspace is not None and method == types.INITIALIZE:
            refusal = (types.ErrorCodes.InvalidRequest.value, "the server is initialized already")
        else:
            return True
        logger.warning("%s ignored: %s", method, refusal[1])
        if _is_request(data):
            self._refuse(data["id"], *refusal)
        return False

    def _refuse(self, msg_id: Any, code: int, message: str) -> None:
        usable = msg_id if isinstance(msg_id, (int, str)) else None
        error = types.ResponseError(code=int(code), message=message)
        self._send_data(types.ResponseErrorMessage(id=usable, error=error, jsonrpc=self.VERSION))

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, Superseded):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        self._result_types.pop(msg_id, None)
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            # Nobody waits for it any more (it was given up); the base class would stumble over the finished future.
            self._request_futures.pop(msg_id)
            return
        super()._handle_response(msg_id, result, error)

    # The six below replace pygls' own documents. The registered features hold ours.

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """The client leaves: the process ends, with 0 if `shutdown` came before, else with 1."""
        self._server.leave(orderly=self._shutdown)

    @property
    def shutting_down(self) -> bool:
        """Whether the client has asked for the end."""
        return bool(self._shutdown)


def _is_request(data: dict[str, Any]) -> bool:
    return "id" in data and "method" in data
