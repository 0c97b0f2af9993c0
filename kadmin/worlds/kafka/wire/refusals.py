"""Refusals of single entries of a request, and errors for requests with an unknown outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, UnknownOutcomeError
from kadmin.worlds.kafka.wire.errors import error_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.rights import Right

CHANGE_S = 30.0
"""Seconds for the answer to a change: brokers retry to forward it while a controller is being
elected."""
NOT_AUTHORIZED = frozenset({29, 31})
"""TOPIC_AUTHORIZATION_FAILED and CLUSTER_AUTHORIZATION_FAILED."""
_UNKNOWN = frozenset({-1, 7, 41})
"""UNKNOWN_SERVER_ERROR, REQUEST_TIMED_OUT and NOT_CONTROLLER.

A controller that failed, took long or was deposed may have made the change before it answered.
"""


class RefusedError(NotCompletedError):
    """The controller answered that it did not make a change; `cause` is its reason."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The refusal of an entry: Kafka's code, its name (INVALID_REPLICA_ASSIGNMENT), its message."""

    code: int
    name: str
    message: str | None

    def __str__(self) -> str:
        return f"{self.name}: {self.message or 'no message'}"


def refusal(code: int, message: str | None, right: Right | None = None) -> Refusal | None:
    """Return the refusal of an entry, None for the code 0.

    `right` is the one that the entry needs.
    """
    if code in NOT_AUTHORIZED and right is not None:
        message = f"{right} is missing"
    return Refusal(code, error_name(code), message) if code else None


def require_confirmed(codes: Iterable[int], changes: str, asked: str = "The controller") -> None:
    """Raise UnknownOutcomeError where the answer does not say whether the changes were made."""
    unknown = sorted(_UNKNOWN.intersection(codes))
    if unknown:
        raise UnknownOutcomeError(
            f"{asked} did not confirm the {changes}; they may still be applied.",
            cause=f"it answered {', '.join(map(error_name, unknown))}",
        )
