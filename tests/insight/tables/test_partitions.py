"""What is not as it should be with a partition, and the three tables made of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.answers import violations
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.insight.tables.partitions import (
    PartitionCondition,
    broker_table,
    conditions_of,
    partition_table,
    topic_table,
)
from kadmin.report.cluster.tables import table_answer

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.insight.tables.table import Cell, Table


def limited(state: ClusterState, limit: str) -> ClusterState:
    return replace(state, topic_configs={"a": {"min.insync.replicas": limit}})


@pytest.mark.parametrize(
    ("leader", "isr", "min_isr", "expected"),
    [
        (1, (1, 2, 3), "1", set()),
        (1, (3, 1, 2), "2", set()),
        (1, (1, 2), "1", {PartitionCondition.UNDER_REPLICATED}),
        (1, (1, 2), "2", {PartitionCondition.UNDER_REPLICATED, PartitionCondition.AT_MIN_ISR}),
        (1, (1,), "2", {PartitionCondition.UNDER_REPLICATED, PartitionCondition.UNDER_MIN_ISR}),
        (2, (1, 2, 3), "nonsense", {PartitionCondition.NOT_PREFERRED}),
        (
            -1,
            (3,),
            "2",
            {
                PartitionCondition.OFFLINE,
                PartitionCondition.UNDER_REPLICATED,
                PartitionCondition.NOT_PREFERRED,
            },
        ),
    ],
)
def test_conditions(
    leader: int, isr: Replicas, min_isr: str, expected: set[PartitionCondition]
) -> None:
    state = limited(cluster({"a-0": (1, 2, 3)}, states={"a-0": (leader, isr)}), min_isr)
    assert set(conditions_of(state)[tp("a-0")]) == expected


def test_a_replica_that_is_being_added_is_not_missed() -> None:
    """Kafka 2.5 and later (KIP-352): a reassignment alone makes no partition under-replicated."""
    state = cluster({"a-0": (4, 1, 2)}, states={"a-0": (1, (1, 2))})
    assert PartitionCondition.UNDER_REPLICATED in conditions_of(state)[tp("a-0")]
    moved = moving(state, "a-0", adding=(4,))
    assert set(conditions_of(moved)[tp("a-0")]) == {
        PartitionCondition.NOT_PREFERRED,
        PartitionCondition.MOVING,
    }


def test_a_partition_of_the_admin_node_is_moving() -> None:
    state = with_node(cluster({"a-0": (1, 2), "b-0": (2, 1)}), {"b-0": (2, 3)})
    assert {str(p): set(found) for p, found in conditions_of(state).items()} == {
        "a-0": set(),
        "b-0": {PartitionCondition.MOVING},
    }


def test_a_partition_without_a_state_has_no_eligible_replicas_either() -> None:
    """Through the brokers: an empty list, where the schema of the answer forbids null."""
    state = replace(cluster({"a-0": (1, 2)}), states={})
    answer = table_answer(partition_table(state, with_eligible=True), ())
    assert violations(answer, "inspect-partitions") == []
    (row,) = answer["partitions"]
    assert (row["isr"], row["elr"], row["last_known_elr"], row["offline_replicas"]) == (
        None,
        [],
        [],
        [],
    )


def test_a_partition_without_replicas_is_not_led_by_the_first_of_them() -> None:
    """A topic znode may hold an empty list; `doctor` ended with a traceback then."""
    state = cluster({"a-0": (1, 2)})
    emptied = replace(state, topics={"a": replace(state.topics["a"], replicas={0: ()})})
    assert PartitionCondition.NOT_PREFERRED in conditions_of(emptied)[tp("a-0")]


def column(table: Table, name: str) -> list[Cell]:
    return [row[table.columns.index(name)] for row in table.rows]


def test_the_three_tables_of_a_cluster_that_lost_a_broker() -> None:
    state = cluster(
        {"a-0": (1, 9), "a-1": (9, 1), "b-0": (9,)},
        brokers={1: "r1", 2: None},
        states={"a-0": (1, (1,)), "a-1": (1, (1,)), "b-0": (-1, (9,))},
    )
    gone = {partition: found for partition, found in state.states.items() if partition != tp("a-1")}
    brokers, topics = broker_table(state, {1: 7, 2: 0}), topic_table(state)
    partitions = partition_table(replace(state, states=gone))
    assert column(brokers, "broker_id") == [1, 2, 9]
    assert column(brokers, "alive") == [True, True, False]
    assert column(brokers, "rack") == ["r1", None, None]
    assert column(brokers, "replicas") == [2, 0, 3]
    assert column(brokers, "leaders") == [2, 0, 0]
    assert column(brokers, "out_of_sync") == [0, 0, 2]
    assert column(brokers, "size_bytes") == [7, 0, None]
    assert column(topics, "under_replicated") == [2, 0]
    assert column(topics, "offline") == [0, 1]
    assert column(topics, "not_preferred") == [1, 1]
    assert column(partitions, "leader") == [1, None, -1]
    assert column(partitions, "condition")[1] == ("no-state",)
