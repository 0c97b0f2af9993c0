"""kafka-python's admin client, for what kadmin does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kafka
from kafka.net.compat import KafkaNetClient

from kadmin.worlds.kafka.wire.client import client_settings

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


def admin_client(connection: KafkaConnection) -> kafka.KafkaAdminClient:
    """Return a client on the connections of another, with which it ends."""
    client = KafkaNetClient(net=connection._net, manager=connection._manager)
    return kafka.KafkaAdminClient(
        kafka_client=lambda **_: client, **client_settings(connection.servers)
    )
