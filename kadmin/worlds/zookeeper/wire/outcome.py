"""Reads kazoo's answer to a multi."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kazoo import exceptions as zookeeper
from kazoo.handlers.threading import KazooTimeoutError

from kadmin.worlds.zookeeper.model import MultiResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.worlds.zookeeper.model import Op

LOST = (
    zookeeper.ConnectionLoss,
    zookeeper.SessionExpiredError,  # and ConnectionClosedError
    zookeeper.OperationTimeoutError,
    zookeeper.RequestTimeoutError,
    zookeeper.SessionMovedError,
    zookeeper.ThrottledOpError,
)
"""Errors of a call that may have an answer on another connection."""
FORBIDDEN = (
    zookeeper.NoAuthError,
    zookeeper.AuthFailedError,
    zookeeper.SessionClosedRequireSaslError,
)
"""Errors of a session that is refused, or may not make the call."""
# In a failed multi these are the results of the ops before and after the refused one.
_BYSTANDERS = (zookeeper.RolledBackError, zookeeper.RuntimeInconsistency)


def fate_of(ops: Sequence[Op], results: Sequence[object]) -> MultiResult:
    """Return the result of a multi: whether it was applied, else the refused op and the reason."""
    errors = [
        (op, each) for op, each in zip(ops, results, strict=True) if isinstance(each, Exception)
    ]
    if not errors:
        return MultiResult(committed=True)
    causes = [(op, error) for op, error in errors if not isinstance(error, _BYSTANDERS)]
    failed, error = (causes or errors)[0]
    return MultiResult(committed=False, failed=failed, reason=error_name(error))


def described(ops: Sequence[Op]) -> str:
    """Name the ops for the log."""
    return ", ".join(f"{type(op).__name__} {op.path}" for op in ops)


def error_name(error: Exception) -> str:
    """Return the name of an error for messages."""
    return (
        "no answer"
        if isinstance(error, KazooTimeoutError)
        else type(error).__name__.removesuffix("Error")
    )
