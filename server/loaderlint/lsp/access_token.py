"""Decides which clients may talk to a server that listens on a socket: those that know its token.

The client chooses the folder, and the answers reveal the content of its files. Without a token, every user and program
on the machine could read them through the port. So could a web page: browsers let pages connect to local WebSockets,
and send data to local ports that looks like a message."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import json
import os
import secrets
from collections.abc import Mapping, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lsprotocol import types
from msgspec import Struct

from loaderlint.lsp.protocol import refusal

VARIABLE = "LOADERLINT_TOKEN"


class Access(Struct, frozen=True):
    """The token that a client must present, and the origins of web pages that may connect. `generated`: this process
    created the token, so nobody else knows it yet."""

    token: str
    origins: tuple[str, ...] = ()
    generated: bool = False

    @staticmethod
    def of(token: str | None, origins: tuple[str, ...], environment: MutableMapping[str, str] = os.environ) -> Access:
        """Create it with the token from the command line, from the environment (where child processes cannot see it
        afterwards), or with a new one."""
        inherited = environment.pop(VARIABLE, "")
        known = token or inherited
        return Access(known or secrets.token_urlsafe(32), origins, generated=not known)

    def knows(self, token: object) -> bool:
        """Whether this is the token."""
        return isinstance(token, str) and hmac.compare_digest(_bytes(token), _bytes(self.token))

    def admits_request(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether the request that opens a WebSocket presents the token: as `Authorization: Bearer TOKEN`, or as
        `?token=TOKEN` in its address, since pages and many clients cannot set headers."""
        kind, _, token = headers.get("Authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.knows(token.strip()):
            return True
        return any(self.knows(given) for given in parse_qs(urlsplit(path).query).get("token", ()))

    def refusal(self, body: bytes) -> dict[str, Any] | None:
        """The error response to the first message of a connection; None if that is `initialize` with the token in its
        initialization options."""
        number = token = None
        with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
            message = json.loads(body.decode("utf-8-sig"))
            number = message["id"]
            if message["method"] == types.INITIALIZE:
                token = message["params"]["initializationOptions"]["token"]
        if self.knows(token):
            return None
        reason = "the token is missing or wrong: send initialize with initializationOptions.token"
        return refusal(number, types.ErrorCodes.InvalidRequest, reason)


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach the address (an IP address, not a name)."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
