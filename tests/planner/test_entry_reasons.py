"""Reasons of entries: the first objective that an entry serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from support.planner.small_clusters import clusters, lists, propose, request

from kadmin.cluster.model import TopicPartition
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import FreeBytes, Pin, Racks
from kadmin.planner.kernel.entry_reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Sequence


def cluster(
    replicas: Sequence[tuple[int, ...]], racks: str, sizes: Sequence[int] = ()
) -> ClusterInventory:
    brokers = tuple(
        BrokerRow(at, None if rack == "-" else rack) for at, rack in enumerate(racks, start=1)
    )
    rows = (
        PartitionRow("t", number, row, size_bytes=sizes[number] if sizes else 100)
        for number, row in enumerate(replicas)
    )
    return ClusterInventory("c", brokers, tuple(rows))


EVEN = cluster([(1, 3), (2, 4), (3, 1), (4, 2)], "aabb")
HEIRS = [(1, 2, 3), (1, 2, 3), (2, 3, 1), (2, 3, 1), (3, 1, 2), (3, 1, 2)] * 8
CASES: list[tuple[ClusterInventory, dict[str, Any], Reason]] = [
    (EVEN, {"free": FreeBytes(1, 100)}, Reason.FREE),
    (EVEN, {"pins": (Pin(TopicPartition("t", 0), (3, 1)),)}, Reason.PIN),
    (cluster([(1,), (2,)], "---"), {"drain": (1,)}, Reason.EMPTIED),
    (cluster([(1,), (2,)], "---"), {"broker_sets": {"t": (2, 3)}}, Reason.BROKER_SET),
    (cluster([(1, 2)], "aab"), {}, Reason.RACK),
    (cluster([(1,)], "--"), {"replication_factor": {"t": 2}}, Reason.REPLICATION_FACTOR),
    (cluster([(1,)], "--"), {"never_lead": (1,)}, Reason.NEVER_LEAD),
    (cluster([(1,), (1,)], "--"), {}, Reason.COUNT),
    (cluster([(1,), (1,), (2,), (2,)], "--", (900, 900, 10, 10)), {}, Reason.BYTES),
    (cluster([(1, 2), (1, 2)], "--"), {}, Reason.LEADER),
    (cluster(HEIRS, "---"), {}, Reason.NEXT_LEADER),
]


@pytest.mark.parametrize(
    ("of", "targets", "reason"), CASES, ids=[case[2].name.lower() for case in CASES]
)
def test_each_reason_is_given_where_it_holds(
    of: ClusterInventory, targets: dict[str, Any], reason: Reason
) -> None:
    proposed = propose(of, request(**targets))
    assert proposed.error is None
    assert reason in set(proposed.reasons.values())
    assert next(iter(proposed.reasons.values())) == reason


@given(clusters())
def test_what_moves_no_data_says_so(asked: ClusterInventory) -> None:
    """Rule: leaders and next leaders are the reasons of entries that only reorder, and of these
    alone.
    """
    proposed = propose(asked, request(racks=Racks.IGNORE))
    before = lists(asked)
    for key, why in proposed.reasons.items():
        reorders = set(proposed.entries[key]) == set(before[key])
        assert reorders == (why in (Reason.LEADER, Reason.NEXT_LEADER))
