"""Proves faults on a running loader: `audit(loader)` iterates it in a copy of this process and reports what it saw.

This is the only room that runs the user's code, and it does so only on request. Its imports are light, without torch
and without the engine, because pytest imports the plugin of this room at every start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loaderlint.audit.auditing import audit as audit
    from loaderlint.audit.report import AuditError as AuditError
    from loaderlint.audit.report import Report as Report
    from loaderlint.audit.report import Result as Result

__all__ = ["AuditError", "Report", "Result", "audit"]


def __getattr__(name: str) -> Any:
    if name == "audit":
        from loaderlint.audit.auditing import audit

        return audit
    if name in __all__:
        from loaderlint.audit import report

        return getattr(report, name)
    raise AttributeError(name)
