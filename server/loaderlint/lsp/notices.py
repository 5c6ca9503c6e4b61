"""Messages about problems, each shown once until the settings change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from loaderlint import HOME

logger = logging.getLogger(__name__)

_INTERNAL = (
    "loaderlint: an internal error kept some code from being checked. The last findings stay, and the next edit tries"
    f" again. Please report it with the server's log: {HOME}"
)
#: What users can do in every editor if the engine does not restart.
_RESTART = "restart the server (VS Code: 'loaderlint: Restart Server')"


class Notices:
    """Sends messages: `say` puts one into the client's log, `alert` shows it."""

    def __init__(self, say: Callable[[str], None], alert: Callable[[str], None]) -> None:
        self._say = say
        self._alert = alert
        self._said: set[str] = set()

    def renew(self) -> None:
        """Show every message again, because the settings changed."""
        self._said.clear()

    def not_loaded(self, error: Exception) -> None:
        """Report that the engine cannot be loaded."""
        logger.exception("the engine cannot be loaded")
        self._say(f"loaderlint cannot work: {error}")

    def problems(self, messages: Iterable[str]) -> None:
        """Show messages of the engine."""
        for message in messages:
            if self._is_new(message):
                self._say(message)

    def incomplete(self) -> None:
        """Report that some code was not checked because of an internal error, which is already logged."""
        self._alert_once(_INTERNAL, logger.debug)

    def failed(self, error: Exception) -> None:
        """Report that the engine raised an error: the last findings stay, and the next edit tries again."""
        from loaderlint.runtime.internal_errors import failure_of

        failure = failure_of(error)
        if self._is_new(failure.error):
            logger.error("the analysis failed: %s\n%s", failure.error, failure.traceback)
        self.incomplete()

    def gone(self, error: Exception) -> None:
        """Report that the engine's process ended, and so did its replacements."""
        message = f"{error}, repeatedly. Edit a file to try again, or {_RESTART}."
        self._alert_once(message, logger.error)

    def _alert_once(self, message: str, log: Callable[[str], None]) -> None:
        if self._is_new(message):
            log(message)
            self._alert(message)

    def _is_new(self, message: str) -> bool:
        is_new = message not in self._said
        self._said.add(message)
        return is_new
