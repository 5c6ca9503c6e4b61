"""pygls' protocol, made robust.

The differences from the base class: the documents are our own (`lsp.documents`), finished notifications are dropped
(the base class keeps a future for each, for ever), malformed messages and requests at the wrong time get the answers
that the specifications require, a command can be cancelled, and `exit` ends the process with the right code.
"""

from __future__ import annotations

import json
import logging
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn

from cattrs import BaseValidationError, transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

if TYPE_CHECKING:
    from loaderlint.lsp.server import Server

logger = logging.getLogger(__name__)

#: The maximum number of characters of a text about a malformed message.
_MESSAGE_LENGTH = 300


class Superseded(JsonRpcException):
    """A request was about a text that no longer exists. This happens while a user types, so it is not logged."""

    MESSAGE = "the document has changed"


class ContentModified(Superseded):
    """The answer would be about a text that no longer exists. Clients drop it silently."""

    CODE = types.LSPErrorCodes.ContentModified.value


class Protocol(LanguageServerProtocol):
    """One client's connection."""

    _server: Server

    def receive(self, body: bytes) -> None:
        """Handle one message. Whatever its content, it raises only SystemExit and the like, and a fault costs one line
        of the log."""
        data = self._parsed(body)
        if data is None:
            return
        if "method" not in data:
            self._take_response(data)
        elif self._timely(data):
            # Clients in Lua and PHP cannot tell an empty object from an empty array.
            self._take_call({**data, "params": {}} if data.get("params") == [] else data)

    def _parsed(self, body: bytes) -> dict[str, Any] | None:
        """The message; None if it is not JSON-RPC 2.0, which is reported to the client."""
        try:
            data = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            logger.error("a message is not JSON: %s", _in_one_line(error))
            self._refuse(None, types.ErrorCodes.ParseError, "the message is not JSON")
            return None
        problem = _problem(data)
        if problem is None:
            return dict(data)
        logger.error("a message is not JSON-RPC 2.0: %s", problem)
        if not _is_response(data):  # answering an error with an error would never end
            self._refuse(data.get("id") if isinstance(data, dict) else None, types.ErrorCodes.InvalidRequest, problem)
        return None

    def _take_response(self, data: dict[str, Any]) -> None:
        number = data["id"]
        if number not in self._result_types:  # the server did not ask this, or has the answer already
            logger.warning("the response to an unknown request is ignored: %.100r", number)
            return
        try:
            message = self.structure_message(data)
            self._handle_response(number, getattr(message, "result", None), getattr(message, "error", None))
        except Exception as error:
            logger.error("a response cannot be read: %s", _in_one_line(error))
            # Its caller must not wait for ever.
            unreadable = types.ResponseError(code=types.ErrorCodes.InvalidParams.value, message="unreadable answer")
            self._handle_response(number, error=unreadable)

    def _take_call(self, data: dict[str, Any]) -> None:
        """Handle a request or a notification."""
        refused = self._refusal(data)
        if refused is None:
            try:
                message = self.structure_message(data)
            except Exception as error:
                refused = types.ErrorCodes.InvalidParams, f"the parameters cannot be read: {_in_one_line(error)}"
        if refused is not None:
            code, reason = refused
            logger.warning("%.100r is ignored: %s", data["method"], reason)
            if _is_request(data):
                self._refuse(data["id"], code, reason)
            return
        try:
            self.handle_message(message)
        except Exception:
            logger.exception("cannot handle %.100r", data["method"])
            if _is_request(data):
                self._refuse(data["id"], types.ErrorCodes.InternalError, "the request cannot be handled")

    def _refusal(self, data: dict[str, Any]) -> tuple[types.ErrorCodes, str] | None:
        """Why a request or notification is rejected, as far as that does not depend on its parameters; None if it is
        not."""
        method = data["method"]
        if method != types.CANCEL_REQUEST and not (method in self.fm.builtin_features or method in self.fm.features):
            return types.ErrorCodes.MethodNotFound, "the method is not known"
        if not isinstance(data.get("params"), (dict, NoneType)):
            return types.ErrorCodes.InvalidParams, "the parameters are not an object"
        if not _is_request(data):
            return None
        if data["id"] in self._request_futures:
            return types.ErrorCodes.InvalidRequest, "the id belongs to a request that is not answered yet"
        kind = self.get_message_type(method)
        if kind is not None and not hasattr(kind, "id"):
            return types.ErrorCodes.InvalidRequest, "the method is a notification, and has an id"
        return None

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Like the base class, but errors are raised and not logged."""
        method, number = data.get("method"), data.get("id")
        if method is not None:
            kind = self.get_message_type(method) or (JsonRPCRequestMessage if "id" in data else JsonRPCNotification)
        elif "error" in data:
            kind = types.ResponseErrorMessage
        else:
            kind = self._result_types.get(number) or JsonRPCResponseMessage  # type: ignore[arg-type]
        return self._converter.structure(data, kind)

    def _timely(self, data: dict[str, Any]) -> bool:
        """Whether the message may come now: after `initialize` and before `shutdown`."""
        method = data["method"]
        if method == types.EXIT:
            return True
        if self._shutdown:
            refused = (types.ErrorCodes.InvalidRequest.value, "the server is shutting down")
        elif self._workspace is None and method != types.INITIALIZE:
            refused = (types.ErrorCodes.ServerNotInitialized.value, "the server is not initialized")
        elif self._workspace is not None and method == types.INITIALIZE:
            refused = (types.ErrorCodes.InvalidRequest.value, "the server is initialized already")
        else:
            return True
        logger.warning("%.100r is ignored: %s", method, refused[1])
        if _is_request(data):
            self._refuse(data["id"], *refused)
        return False

    def _refuse(self, msg_id: Any, code: int, message: str) -> None:
        self._send_data(refusal(msg_id, code, message))

    def _execute_handler(self, msg_id: Any, handler: Any, callback: Any, args: Any = None, kwargs: Any = None) -> None:
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, JsonRpcException):  # an intended answer of a handler, not a fault
            if not isinstance(error, Superseded):
                logger.warning("the request %.100r is refused: %s", msg_id, _in_one_line(error))
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        if is_id(msg_id) and msg_id in self._request_futures and msg_id not in self._result_types:
            super()._handle_cancel_notification(msg_id)
        else:  # normal: the cancellation and the answer crossed
            logger.debug("the cancelled request %.100r is not running", msg_id)

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        self._result_types.pop(msg_id, None)
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            # Its caller no longer waits; the base class would fail on the finished future.
            self._request_futures.pop(msg_id)
            return
        super()._handle_response(msg_id, result, error)

    # These six override the handlers with which pygls stores its own documents. The registered features store ours.

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """Run one of the server's commands. Unlike the base class, this can cancel one that has begun. Raises
        JsonRpcInvalidParams for an unknown command or wrong arguments."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        try:
            work = handler(*(params.arguments or ()))
        except TypeError as error:  # raised by the call itself: commands are coroutines, and have not begun
            raise JsonRpcInvalidParams(f"{params.command}: {error}") from error
        return await work

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.TEXT_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_OPEN](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_CHANGE](params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """Pass the notification to its feature only."""
        self.fm.features[types.NOTEBOOK_DOCUMENT_DID_CLOSE](params)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        """End the process: with 0 if `shutdown` came before, else with 1."""
        self._server.leave(orderly=self._shutdown)

    @property
    def shutting_down(self) -> bool:
        """Whether the client has sent `shutdown`."""
        return bool(self._shutdown)


def _problem(data: Any) -> str | None:
    """Why `data` is not a JSON-RPC 2.0 message; None if it is."""
    if isinstance(data, list):
        return "the message is an array, and the protocol has no batches"
    if not isinstance(data, dict):
        return "the message is not an object"
    if data.get("jsonrpc") != Protocol.VERSION:
        return 'the message has no "jsonrpc": "2.0"'
    if "method" not in data and not _is_response(data):
        return "the message has neither a method nor a result nor an error"
    if not isinstance(data.get("method", ""), str):
        return "the method is not a string"
    if ("id" in data or _is_response(data)) and not is_id(data.get("id")):
        return "the id is neither an integer nor a string"
    return None


def refusal(msg_id: object, code: int, message: str) -> dict[str, Any]:
    """The error response to a request, or to a message that is not a request: then its id is null."""
    error = {"code": int(code), "message": message}
    return {"jsonrpc": Protocol.VERSION, "id": msg_id if is_id(msg_id) else None, "error": error}


def _is_request(data: dict[str, Any]) -> bool:
    return "id" in data and "method" in data


def _is_response(data: Any) -> bool:
    return isinstance(data, dict) and "method" not in data and ("result" in data or "error" in data)


def is_id(value: object) -> bool:
    """Whether a message may have this id."""
    return isinstance(value, (int, str)) and not isinstance(value, bool)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _in_one_line(error: Exception) -> str:
    """The text of an error, shortened."""
    said = transform_error(error) if isinstance(error, BaseValidationError) else [f"{type(error).__name__}: {error}"]
    return " ".join("; ".join(said).split())[:_MESSAGE_LENGTH]
