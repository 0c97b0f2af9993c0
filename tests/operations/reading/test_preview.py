"""A plan on an inventory is cut into the waves that a live cluster of its mode executes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.model import TopicPartition
from kadmin.inventory.model import BrokerRow, ClusterInventory, KafkaFacts, PartitionRow
from kadmin.operations.reading.preview import preview_cluster
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, Policy, ReassignmentPlan, WaveLimits

PARTITIONS = 3_000
NAMES = [TopicPartition(f"topic-{number // 100:02d}", number % 100) for number in range(PARTITIONS)]
INVENTORY = ClusterInventory(
    "cluster",
    tuple(BrokerRow(broker, alive=True) for broker in (1, 2, 3)),
    tuple(PartitionRow(each.topic, each.partition, (1, 2), leader=1, isr=(1, 2)) for each in NAMES),
)
RAISED = WaveLimits(max_payload=900_000, max_partitions=PARTITIONS, max_moves_per_broker=PARTITIONS)
PLAN = ReassignmentPlan(
    PlanHeader(), tuple(PartitionTarget(each, (1, 3), (1, 2)) for each in NAMES), limits=RAISED
)


@pytest.mark.parametrize(
    ("mode", "waves"), [(None, 2), (MetadataMode.ZOOKEEPER, 2), (MetadataMode.KRAFT, 3)]
)
def test_waves_are_bounded_by_what_the_mode_of_the_inventory_publishes_at_once(
    mode: MetadataMode | None, waves: int
) -> None:
    found = preview_cluster(
        PLAN,
        replace(INVENTORY, facts=KafkaFacts(mode=mode)),
        "a snapshot",
        ClusterFacts(),
        Policy(),
    )
    change = found.examination.change
    assert change is not None
    assert len(change.waves) == waves
