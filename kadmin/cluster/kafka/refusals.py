"""Why brokers refused an entry of a request, and requests whose fate is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.errors import error_name
from kadmin.errors import UnknownOutcomeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.kafka.errors import Right

CHANGE_S = 30.0
"""How long the answer to a change may take: brokers forward it to a new controller for as long as an election takes."""
NOT_AUTHORIZED = frozenset({29, 31})
"""TOPIC_AUTHORIZATION_FAILED and CLUSTER_AUTHORIZATION_FAILED."""
_REQUEST_TIMED_OUT = 7


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an entry was refused: Kafka's error code, its name (INVALID_REPLICA_ASSIGNMENT), its message."""

    code: int
    name: str
    message: str | None

    def __str__(self) -> str:
        return f"{self.name}: {self.message or 'no message'}"


def refusal(code: int, message: str | None, right: Right | None = None) -> Refusal | None:
    """Return the refusal of an entry, None for the code 0; `right` is the one that the entry needs."""
    if code in NOT_AUTHORIZED and right is not None:
        message = f"{right} is missing"
    return Refusal(code, error_name(code), message) if code else None


def require_confirmed(codes: Iterable[int], changes: str) -> None:
    """Raise UnknownOutcomeError where the controller did not confirm the changes in time: they may still be applied."""
    if _REQUEST_TIMED_OUT in codes:
        raise UnknownOutcomeError(f"The controller did not confirm the {changes} in time; they may still be applied.")
