from __future__ import annotations

from dataclasses import replace

from kadmin.cluster.disks import Disk, DiskReplica
from kadmin.cluster.model import (
    NO_LEADER,
    Broker,
    ClusterState,
    PartitionState,
    Topic,
    TopicPartition,
)
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    PartitionRow,
    facts_of,
    inventory_of,
    state_of,
)
from kadmin.plan.facts import ClusterFacts

TAKEN_AT = "2026-11-21T08:30:00Z"
ORDERS = [TopicPartition("orders", number) for number in range(3)]
STATE = ClusterState(
    cluster_id="c",
    controller=None,
    controller_epoch=3,
    brokers={2: Broker(2, None), 1: Broker(1, "r1")},
    topics={"orders": Topic("orders", {0: (1, 2), 1: (2, 9), 2: (9,)}), "a": Topic("a", {0: (1,)})},
    states={ORDERS[0]: PartitionState(1, (1, 2), 4), ORDERS[2]: PartitionState(NO_LEADER, (9,), 4)},
)


def test_an_inventory_has_a_row_for_every_broker_and_partition() -> None:
    found = inventory_of(STATE, {ORDERS[0]: 7}, TAKEN_AT)
    assert found.taken_at == TAKEN_AT
    assert list(found.clusters) == [SINGLE_CLUSTER]
    assert found.single() == ClusterInventory(
        "c",
        (
            BrokerRow(1, "r1", alive=True),
            BrokerRow(2, None, alive=True),
            BrokerRow(9, None, alive=False),
        ),
        (
            PartitionRow("a", 0, (1,)),
            PartitionRow("orders", 0, (1, 2), 1, (1, 2), 7),
            PartitionRow("orders", 1, (2, 9)),
            PartitionRow("orders", 2, (9,), NO_LEADER, (9,)),
        ),
    )


def test_sizes_are_null_where_they_are_unknown() -> None:
    assert all(
        row.size_bytes is None for row in inventory_of(STATE, None, TAKEN_AT).single().partitions
    )
    assert facts_of(inventory_of(STATE, {ORDERS[1]: 0}, TAKEN_AT).single()).sizes == {ORDERS[1]: 0}


def test_disks_and_replicas_go_into_an_inventory_and_back() -> None:
    disks = {1: (Disk(1, "/a", 9, 5), Disk(1, "/b", 9, 4)), 2: (Disk(2, "/a"),)}
    here, there = DiskReplica(ORDERS[0], 1, "/a", 7), DiskReplica(ORDERS[0], 2, "/a", 6)
    future = DiskReplica(ORDERS[0], 1, "/b", 3, is_future=True, offset_lag=9)
    facts = ClusterFacts(disks=disks, replicas={1: (here, future), 2: (there,)})
    found = inventory_of(STATE, None, TAKEN_AT, facts).single()
    assert found.disks == (*disks[1], *disks[2])
    assert found.replicas == (here, there)
    back = facts_of(found)
    assert (back.disks, back.replicas) == (disks, {1: (here,), 2: (there,)})


def test_tiered_topics_go_into_an_inventory_and_back() -> None:
    configs = {"orders": {"remote.storage.enable": "true", "min.insync.replicas": "2"}, "a": {}}
    facts = ClusterFacts(sizes={ORDERS[0]: 7}, tiered_sizes={ORDERS[0]: 70})
    found = inventory_of(
        replace(STATE, topic_configs=configs), facts.sizes, TAKEN_AT, facts
    ).single()
    assert found.facts.tiered_topics == ("orders",)
    assert facts_of(found).tiered_sizes == {ORDERS[0]: 70}
    assert state_of(found).topic_configs == {"orders": configs["orders"]}


def test_the_state_keeps_what_an_inventory_has() -> None:
    back = state_of(inventory_of(STATE, None, TAKEN_AT).single())
    assert back.topics == STATE.topics
    assert {broker: each.rack for broker, each in back.brokers.items()} == {1: "r1", 2: None}
    assert {partition: (each.leader, each.isr) for partition, each in back.states.items()} == {
        ORDERS[0]: (1, (1, 2)),
        ORDERS[2]: (NO_LEADER, (9,)),
    }


def test_a_leader_without_a_known_isr_is_the_whole_isr() -> None:
    rows = (PartitionRow("a", 0, (1, 2), leader=1), PartitionRow("a", 1, (1, 2), leader=NO_LEADER))
    states = state_of(ClusterInventory(None, (BrokerRow(1),), rows)).states
    assert [each.isr for each in states.values()] == [(1,), ()]
