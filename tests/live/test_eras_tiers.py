"""Claims of TIER_CLAIMS, on live brokers of every version under test.

One topic is produced, copied, moved, and deleted in the end: the order of the tests is that of its
life.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import kafka
import pytest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import FindCoordinatorRequest
from support.eras.claims import TIER_CLAIMS, claim
from support.eras.kraft import delete, move
from support.kafka.admin import admin_client
from support.live.kraft import make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.log_dirs import alter_log_dirs, ask_log_dirs
from kadmin.worlds.kafka.wire.metadata import internal_topics, read_metadata
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.claims(TIER_CLAIMS)]

RECORDS, RECORD_BYTES = 1200, 10_000
SEGMENT_BYTES, LOCAL_BYTES = 1_048_576, 2_097_152
CONFIGS = {
    "remote.storage.enable": "true",
    "segment.bytes": str(SEGMENT_BYTES),
    "local.retention.bytes": str(LOCAL_BYTES),
}
END, FIRST, FIRST_ON_DISK, LAST_IN_TIER = -1, -2, -4, -5
ALLOWED = 0.1


@dataclass(frozen=True, slots=True)
class Tiered:
    """A partition [1, 2] of 12 MB, of which a bit more than 2 MB are on disk."""

    sandbox: Sandbox
    connection: KafkaConnection
    partition: TopicPartition

    def seen(self, name: str) -> str:
        return claim(name, TIER_CLAIMS).seen[self.sandbox.spec.version]

    def size(self, broker: int = 1) -> int:
        """The bytes of a replica by DescribeLogDirs."""
        return ask_log_dirs(self.connection, [broker])().sizes[broker][self.partition]

    def segments(self, broker: int = 1) -> list[Path]:
        """The segments of a replica on disk, the oldest first."""
        folders = self.sandbox.log_dirs(broker)
        return sorted(each for folder in folders for each in folder.glob(f"{self.partition}/*.log"))

    def tiered(self) -> list[Path]:
        """The segments in the tier."""
        found = self.sandbox.tier.rglob("*.log")
        return [each for each in found if str(self.partition) in str(each.parent)]

    def offset(self, of: int, version: int | None = None) -> int:
        """The leader's offset, or the code of its refusal below 0."""
        topic = ListOffsetsRequest.ListOffsetsTopic
        asked = topic.ListOffsetsPartition(partition_index=0, timestamp=of)
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=0,
            topics=[topic(name=self.partition.topic, partitions=[asked])],
            max_version=version,
        )
        answer = self.connection.ask("list offsets", request, broker_id=1)
        (found,) = answer.topics[0].partitions
        return int(-found.error_code or found.offset)


@pytest.fixture(scope="module")
def tiered(tier_sandbox: Sandbox) -> Iterator[Tiered]:
    with KafkaConnection(Servers(tier_sandbox.bootstrap)) as connection:
        partition = TopicPartition(make_topic(connection, {0: (1, 2)}, CONFIGS), 0)
        produce(connection.servers, {partition: [b"x" * RECORD_BYTES] * RECORDS})
        found = Tiered(tier_sandbox, connection, partition)
        most = LOCAL_BYTES + SEGMENT_BYTES
        wait_until(lambda: max(found.size(1), found.size(2)) < most)
        wait_until(lambda: found.offset(LAST_IN_TIER) == int(found.segments()[-1].stem) - 1)
        yield found


def test_tiered_bytes(tiered: Tiered) -> None:
    on_disk = sum(each.stat().st_size for each in tiered.segments())
    in_tier = sum(each.stat().st_size for each in tiered.tiered())
    assert tiered.size() == on_disk < LOCAL_BYTES + SEGMENT_BYTES
    assert in_tier > RECORDS * RECORD_BYTES - SEGMENT_BYTES
    assert tiered.seen("tiered_bytes") == "those of its local segments"


def test_tiered_offsets(tiered: Tiered) -> None:
    first, *_, active = (int(each.stem) for each in tiered.segments())
    assert (tiered.offset(FIRST), tiered.offset(END)) == (0, RECORDS)
    assert (tiered.offset(FIRST_ON_DISK), tiered.offset(LAST_IN_TIER)) == (first, active - 1)
    refused = -tiered.offset(FIRST_ON_DISK, 7), -tiered.offset(LAST_IN_TIER, 8)
    assert tiered.seen("tiered_offsets") == (
        f"first in the tier, first on disk (refused: {refused[0]}), last in the tier (refused: "
        f"{refused[1]})"
    )


def test_untiered_offsets(tiered: Tiered) -> None:
    """The first records are deleted from the middle of a segment."""
    connection = tiered.connection
    configs = {"segment.bytes": str(SEGMENT_BYTES)}
    partition = TopicPartition(make_topic(connection, {0: (1, 2)}, configs), 0)
    produce(connection.servers, {partition: [b"x" * RECORD_BYTES] * 400})
    found = replace(tiered, partition=partition)
    for start in (0, 150):
        admin_client(connection).delete_records({kafka.TopicPartition(partition.topic, 0): start})
        assert found.offset(FIRST) == found.offset(FIRST_ON_DISK) == start
    assert tiered.seen("untiered_offsets") == "as -2"


def test_tiered_estimate(tiered: Tiered) -> None:
    end, first, on_disk = map(tiered.offset, (END, FIRST, FIRST_ON_DISK))
    estimate = (end - first) * tiered.size() / (end - on_disk)
    assert estimate == pytest.approx(RECORDS * RECORD_BYTES, rel=ALLOWED)
    assert tiered.seen("tiered_estimate") == "within 10 % of what was produced"


def test_tiered_copy(tiered: Tiered) -> None:
    move(tiered.connection, tiered.partition, (1, 2, 3))
    wait_assigned(tiered.connection, {tiered.partition: (1, 2, 3)})
    assert tiered.segments(3)[0].name == tiered.segments(1)[0].name
    assert tiered.size(3) == tiered.size(1)
    assert tiered.seen("tiered_copy") == (
        "local segments are copied, from the first offset on the disk of the leader"
    )


def test_tiered_move_inside(tiered: Tiered) -> None:
    size, there = tiered.size(2), tiered.segments(2)[0].parent.parent
    (disk,) = set(tiered.sandbox.log_dirs(2)) - {there}
    asked = {str(disk): [tiered.partition]}
    assert alter_log_dirs(tiered.connection, 2, asked) == {tiered.partition: None}

    def copies() -> list[tuple[str, int | None]]:
        found = ask_log_dirs(tiered.connection, [2])().replicas[2]
        return [
            (each.path, each.size_bytes) for each in found if each.partition == tiered.partition
        ]

    wait_until(lambda: copies() == [(str(disk), size)])
    assert tiered.seen("tiered_move_inside") == "local segments are copied"


def test_internal_topics(tiered: Tiered) -> None:
    connection, names = tiered.connection, ("__consumer_offsets", "__remote_log_metadata")

    def are_there() -> bool:
        """The first request for a coordinator makes the topic of offsets."""
        asked = FindCoordinatorRequest(key="g", key_type=0, max_version=3)
        connection.ask("find a coordinator", asked)
        return read_metadata(connection, names).topics.keys() == set(names)

    wait_until(are_there)
    found = internal_topics(connection, names)
    assert tiered.seen("internal_topics") == ", ".join(str(found[each]).lower() for each in names)


def test_tiered_deletion(tiered: Tiered) -> None:
    """The last one: the topic is gone afterwards."""
    assert tiered.tiered()
    delete(tiered.connection, tiered.partition.topic)
    wait_until(lambda: not tiered.tiered())
    assert tiered.seen("tiered_deletion") == "what it has in the tier is removed"
