"""The context of a cluster that is reached through its brokers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.context import Context

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


@dataclass(frozen=True, slots=True)
class KafkaContext(Context):
    """A context with its connection to the brokers."""

    connection: KafkaConnection
