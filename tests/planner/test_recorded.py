"""Published assignments with their fewest moves, computed by hand and by an exact solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from support.planner.exact_cases import judge
from support.planner.small_clusters import applied, propose, request

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Racks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NO_RACKS = {"racks": Racks.IGNORE}


@dataclass(frozen=True)
class Recorded:
    """One case: its source, the brokers with their racks, the lists in order, the request, moves
    and counts.
    """

    source: str
    brokers: Mapping[int, str | None]
    replicas: Sequence[Sequence[int]]
    moves: int
    counts: tuple[int, int]
    targets: Mapping[str, Any] = field(default_factory=dict)


def bare(*ids: int) -> dict[int, str | None]:
    return dict.fromkeys(ids)


SIFT = [(10, 11), (11, 12), (12, 10), (10, 12)]
MIXED = [(1001, 1002), (1002, 1001), (1003, 1004, 1001), (1004, 1003, 1002)]
MYCOOLTOPIC = [
    (10139, 10117, 10116),
    (10133, 10118, 10104),
    (10133, 10117, 10105),
    (10118, 10139, 10105),
    (10103, 10133, 10105),
    (10103, 10133, 10116),
    (10139, 10105, 10117),
    (10133, 10104, 10118),
    (10133, 10118, 10105),
    (10117, 10133, 10105),
    (10116, 10105, 10103),
    (10105, 10116, 10139),
    (10132, 10104, 10116),
    (10105, 10139, 10117),
]
NINE = bare(10103, 10104, 10105, 10116, 10117, 10118, 10132, 10133, 10139)
CASES = [
    Recorded(
        "SiftScience/kafka-assigner, KafkaTopicAssignerTest, rack-aware expansion",
        {10: "a", 11: "b", 12: "c", 13: "a", 14: "b"},
        SIFT,
        2,
        (1, 2),
    ),
    Recorded(
        "SiftScience/kafka-assigner, KafkaTopicAssignerTest, expansion",
        bare(10, 11, 12, 13),
        SIFT,
        2,
        (2, 2),
        NO_RACKS,
    ),
    Recorded(
        "SiftScience/kafka-assigner, KafkaTopicAssignerTest, decommission",
        bare(10, 11, 12, 13),
        [(10, 11), (11, 12), (12, 13), (13, 10)],
        2,
        (2, 3),
        {"drain": (12,), **NO_RACKS},
    ),
    Recorded(
        "SiftScience/kafka-assigner, KafkaTopicAssignerTest, replacement",
        bare(10, 11, 12, 13),
        SIFT,
        3,
        (2, 3),
        {"drain": (12,), **NO_RACKS},
    ),
    Recorded(
        "DataDog/kafka-kit, partition map of its tests, brokers added",
        bare(1001, 1002, 1003, 1004, 1005, 1006),
        MIXED,
        2,
        (1, 2),
        NO_RACKS,
    ),
    Recorded(
        "DataDog/kafka-kit, partition map of its tests, one replication factor",
        bare(1001, 1002, 1003, 1004),
        MIXED,
        2,
        (3, 3),
        {"replication_factor": {"*": 3}, **NO_RACKS},
    ),
    Recorded(
        "DataDog/kafka-kit wiki, rebuild command: two brokers, two added",
        bare(1001, 1002, 1003, 1004),
        [(1001, 1002), (1002, 1001)] * 2,
        4,
        (2, 2),
        NO_RACKS,
    ),
    Recorded(
        "everpeace/kafka-reassign-optimizer, pull request 8: three brokers, two added",
        bare(1, 2, 3, 4, 5),
        [(1, 2, 3), (2, 1, 3)],
        2,
        (1, 2),
        NO_RACKS,
    ),
    Recorded(
        "KIP-6: 7, 6, 0, 0 become 4, 3, 3, 3",
        bare(0, 1, 2, 3),
        [(0,)] * 7 + [(1,)] * 6,
        6,
        (3, 4),
        NO_RACKS,
    ),
    Recorded(
        "linkedin/kafka-tools, issue 56, the first 14 partitions",
        NINE,
        MYCOOLTOPIC,
        6,
        (4, 5),
        NO_RACKS,
    ),
    Recorded(
        "linkedin/kafka-tools, issue 56, broker 10133 drained",
        NINE,
        MYCOOLTOPIC,
        10,
        (5, 6),
        {"drain": (10133,), **NO_RACKS},
    ),
    Recorded(
        "linkedin/kafka-tools, issue 56, a rack for each block of ids",
        {broker: "abc"[(broker >= 10116) + (broker >= 10132)] for broker in NINE},
        MYCOOLTOPIC,
        7,
        (4, 5),
    ),
]


def inventory(case: Recorded) -> ClusterInventory:
    brokers = tuple(BrokerRow(broker, rack) for broker, rack in case.brokers.items())
    rows = (PartitionRow("test", number, tuple(row)) for number, row in enumerate(case.replicas))
    return ClusterInventory("recorded", brokers, tuple(rows))


@pytest.mark.parametrize("case", CASES, ids=[case.source for case in CASES])
def test_published_assignments_get_the_fewest_moves(case: Recorded) -> None:
    cluster, wished = inventory(case), request(**case.targets)
    proposed = propose(cluster, wished)
    after = proposed.figures["after"]
    assert (proposed.figures["moves"], after["replicas_min"], after["replicas_max"]) == (
        case.moves,
        *case.counts,
    )
    assert proposed.figures["proved_optimal"]
    assert after["rack_violations"] == 0
    assert after["leaders_max"] - after["leaders_min"] <= 1
    assert judge(cluster, wished) == "optimal"
    assert propose(applied(cluster, proposed), wished).entries == {}


def test_more_replicas_than_racks_name_topics_and_racks() -> None:
    """cruise-control issue 1451: "Insufficient number of racks (Current: 4, Needed: 6)", without
    the topics.
    """
    brokers = tuple(BrokerRow(broker, f"r{broker % 4}") for broker in range(8))
    rows = (PartitionRow("orders", 0, (0, 1, 2, 3)), PartitionRow("grown", 0, (0, 1, 2, 3, 4, 5)))
    cluster = ClusterInventory("recorded", brokers, rows)
    assert str(propose(cluster, request()).error).startswith(
        "InfeasibleError: RF 6 over 4 racks: topics grown"
    )
    relaxed = propose(cluster, request(racks=Racks.RELAXED))
    assert (relaxed.error, relaxed.figures["after"]["rack_violations"]) == (None, 0)
    back = propose(cluster, request(replication_factor={"grown": 4}))
    assert back.figures["proved_optimal"]


def test_racks_known_of_some_brokers_alone_are_no_stack_trace() -> None:
    """blueking-dbm issue 14096: "Not all brokers have rack information", from a tool that then
    stops.
    """
    brokers = (BrokerRow(1, "a"), BrokerRow(2, "b"), BrokerRow(3), BrokerRow(4))
    cluster = ClusterInventory(
        "recorded", brokers, tuple(PartitionRow("t", number, (1, 2)) for number in range(4))
    )
    assert "no rack is known of brokers 3, 4" in str(propose(cluster, request()).error)
    proposed = propose(cluster, request(racks=Racks.RELAXED))
    assert (proposed.figures["moves"], proposed.figures["proved_optimal"]) == (4, True)
