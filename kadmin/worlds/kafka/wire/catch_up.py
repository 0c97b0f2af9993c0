"""Finds a broker whose copy of the metadata has caught up with the controller (KRaft mode).

Brokers apply the metadata log some time after the controller committed it: milliseconds when idle,
seconds under load. A broker answers ApiVersions with the offset that its copy has reached, as
`finalized_features_epoch`, and answers Metadata and DescribeConfigs from the same copy
(KRaftMetadataCache.features in KRaftMetadataCache.scala).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from kafka.protocol.metadata import ApiVersionsRequest

from kadmin.errors import UnreachableError
from kadmin.next_step import command
from kadmin.waiting import poll
from kadmin.wording import name_some
from kadmin.worlds.kafka.wire.connection import ATTEMPT_S

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

CATCH_UP_S = 20.0
"""Seconds to wait for a broker that has applied the controller's committed records."""
_PATIENCE_S = 2.0
"""Seconds to wait for one broker before another one is asked."""
_PAUSE_S = 0.01
_CLIENT = {"client_software_name": "kadmin", "client_software_version": "1"}


def caught_up_broker(connection: KafkaConnection, high_watermark: int) -> int:
    """Return a broker that has applied every record below `high_watermark` of the metadata log.

    Raises UnreachableError where none does so in CATCH_UP_S.
    """
    behind = set[int]()
    for _ in poll(CATCH_UP_S, _PAUSE_S):
        with suppress(UnreachableError):
            broker_id = connection.any_broker(behind)
            if catches_up(connection, broker_id, high_watermark):
                return broker_id
            behind.add(broker_id)
    raise UnreachableError(
        f"No broker that answers caught up with the controller within {CATCH_UP_S:g} s.",
        cause=(
            f"the controller committed {high_watermark} records of metadata; behind: "
            f"{name_some(sorted(behind))}"
        ),
        next_step=command("inspect controller"),
    )


def catches_up(connection: KafkaConnection, broker_id: int, high_watermark: int) -> bool:
    """Wait a moment until a broker has applied every record below `high_watermark`.

    Return whether it has. Raises as `KafkaConnection.ask` does.
    """
    what = "report the age of their metadata"
    for _ in poll(_PATIENCE_S, _PAUSE_S):
        answer = connection.ask(
            what, ApiVersionsRequest(**_CLIENT), broker_id=broker_id, timeout_s=ATTEMPT_S
        )
        if answer.finalized_features_epoch + 1 >= high_watermark:
            return True
    return False
