"""One question to several brokers at once; each broker's answer or error is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from kadmin.cluster.from_brokers import FromBrokers
from kadmin.errors import NotCompletedError, UnreachableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.errors import KadminError
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

Answer = TypeVar("Answer")


def ask_each(
    connection: KafkaConnection,
    what: str,
    requests: Mapping[int, Any],
    read: Callable[[Any], Answer],
    timeout_s: float,
) -> Callable[[], FromBrokers[Answer]]:
    """Send each broker its request, all at once.

    Returns the call that waits for the answers and reads them. `what` completes "Broker 1 did not
    ...". Nothing is raised for a broker that does not answer.
    """
    waits = {
        broker: connection.send(what, request, broker_id=broker, timeout_s=timeout_s)
        for broker, request in sorted(requests.items())
    }

    def collect() -> FromBrokers[Answer]:
        given: dict[int, Answer] = {}
        failed: dict[int, KadminError] = {}
        for broker, wait in waits.items():
            try:
                given[broker] = read(wait())
            except (NotCompletedError, UnreachableError) as error:
                silent = type(error) is UnreachableError
                failed[broker] = (
                    UnreachableError(f"Broker {broker} did not {what}.", cause=error.cause)
                    if silent
                    else error
                )
        return FromBrokers(given, failed)

    return collect
