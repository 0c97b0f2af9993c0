"""What one reading of a cluster in KRaft mode shows is no older than the reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.catch_up import caught_up_broker
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = pytest.mark.live

CHANGES = 30


@pytest.mark.matrix
def test_k17_a_reading_shows_what_was_changed_before_it(connection: KafkaConnection) -> None:
    """A change of the order alone is done when it is answered; Metadata of any broker shows one in
    five too late.
    """
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    for number in range(CHANGES):
        order = (1, 2) if number % 2 else (2, 1)
        assert alter_reassignments(connection, {partition: order}) == {partition: None}
        assert read_cluster(connection, [partition.topic]).replicas(partition) == order


@pytest.mark.matrix
def test_k04_a_frozen_broker_is_not_read(kraft: Sandbox, connection: KafkaConnection) -> None:
    frozen = caught_up_broker(connection, describe_quorum(connection).high_watermark)
    kraft.freeze(frozen)
    try:
        assert caught_up_broker(connection, describe_quorum(connection).high_watermark) != frozen
    finally:
        kraft.thaw(frozen)
