"""`spec.brokers.substitute`: a broker takes another's place in every list; nothing else moves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.planner.small_clusters import applied, clusters, lists, propose, request

from kadmin.cluster.model import TopicPartition
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import Pin, Racks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas

RACKS = {1: "a", 2: "b", 3: "c", 4: "a", 16: "a"}
LOPSIDED = {("t", n): (2, 3, 16) if n < 8 else (2, 3, 4) for n in range(20)}


def cluster(
    racks: Mapping[int, str | None],
    rows: Mapping[tuple[str, int], Replicas],
    size_bytes: int = 10,
) -> ClusterInventory:
    return ClusterInventory(
        "c",
        tuple(BrokerRow(broker, rack) for broker, rack in racks.items()),
        tuple(PartitionRow(*key, row, size_bytes=size_bytes) for key, row in rows.items()),
    )


def test_a_substitute_has_the_place_in_the_list_and_no_other_partition_changes() -> None:
    proposed = propose(cluster(RACKS, LOPSIDED), request(substitute={16: 1}))
    assert proposed.entries == {("t", n): (2, 3, 1) for n in range(8)}
    assert (proposed.figures["moves"], proposed.figures["leader_changes"]) == (8, 0)
    assert (proposed.figures["moved_bytes"], proposed.figures["moved_bytes_bound"]) == (80, 80)
    assert proposed.figures["proved_optimal"]
    assert set(proposed.reasons.values()) == {"a broker that holds it must be emptied"}


def test_evenness_is_asked_for() -> None:
    proposed = propose(cluster(RACKS, LOPSIDED), request(substitute={16: 1}, even=True))
    after = proposed.figures["after"]
    assert (after["replicas_min"], after["replicas_max"]) == (10, 20)
    assert after["leaders_max"] - after["leaders_min"] <= 1
    drained = propose(cluster(RACKS, LOPSIDED), request(substitute={16: 1}, drain=(4,)))
    assert not {4, 16} & {broker for row in drained.entries.values() for broker in row}


@pytest.mark.parametrize("row", [(3, 4), (4, 5, 3)])
def test_a_replica_goes_elsewhere_where_the_substitute_has_one(row: Replicas) -> None:
    """Broker 4 has a replica already: another broker gets that of broker 3, in its place."""
    racks = dict.fromkeys((1, 2, 3, 4, 5))
    proposed = propose(cluster(racks, {("t", 0): row}), request(substitute={3: 4}))
    (found,) = proposed.entries.values()
    assert {broker for broker in found if broker not in row} <= {1, 2, 5}
    assert [at for at, broker in enumerate(found) if broker not in row] == [row.index(3)]


def test_strict_racks_send_a_replica_to_another_broker() -> None:
    racks = {1: "a", 2: "b", 3: "c", 4: "a", 5: "c"}
    proposed = propose(cluster(racks, {("t", 0): (1, 3)}), request(substitute={3: 4}))
    assert proposed.entries in ({("t", 0): (1, 2)}, {("t", 0): (1, 5)})


def test_racks_that_are_crowded_already_stay_as_they_are() -> None:
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    crowded = cluster(racks, {("t", 0): (1, 2, 3), ("t", 1): (1, 2)})
    assert propose(crowded, request(substitute={3: 4})).entries == {("t", 0): (1, 2, 4)}
    assert propose(crowded, request(substitute={1: 4})).entries == {
        ("t", 0): (4, 2, 3),
        ("t", 1): (4, 2),
    }


def test_what_the_substitute_has_no_room_for_goes_elsewhere() -> None:
    small = cluster(dict.fromkeys((1, 2, 3)), {("t", n): (1,) for n in range(3)})
    brokers = tuple(
        replace(row, capacity_bytes=20 if row.broker_id == 2 else None) for row in small.brokers
    )
    proposed = propose(replace(small, brokers=brokers), request(substitute={1: 2}))
    assert sorted(proposed.entries.values()) == [(2,), (2,), (3,)]
    full = tuple(replace(row, capacity_bytes=20) for row in small.brokers if row.broker_id != 3)
    refused = propose(replace(small, brokers=full), request(substitute={1: 2}))
    assert "no other broker may hold the replicas of a replaced broker" in (refused.error or "")


def test_pins_hold_beside_a_substitute() -> None:
    pin = Pin(TopicPartition("t", 0), (1, 3))
    proposed = propose(cluster(RACKS, LOPSIDED), request(substitute={16: 1}, pins=(pin,)))
    assert proposed.entries == {
        ("t", 0): (1, 3),
        **{("t", n): (2, 3, 1) for n in range(1, 8)},
    }


def test_a_partition_whose_only_copy_is_on_a_dead_broker_is_left_out_and_named() -> None:
    racks = dict.fromkeys((1, 2, 3))
    mixed = cluster(racks, {("t", 0): (3,), ("t", 1): (3, 1), ("t", 2): (1,)})
    dead = tuple(replace(row, alive=row.broker_id != 3) for row in mixed.brokers)
    for targets in ({"substitute": {3: 2}}, {"drain": (3,)}):
        proposed = propose(replace(mixed, brokers=dead), request(**targets))
        assert ("t", 0) not in proposed.entries
        assert set(proposed.entries["t", 1]) == {1, 2}
        (note,) = proposed.figures["notes"]
        assert "1 partition has no replica that is alive and in sync" in note
        assert "(t-0)" in note


@given(clusters(), st.integers(1, 8), st.integers(1, 8), st.sampled_from(list(Racks)))
def test_only_lists_of_the_replaced_broker_change(
    drawn: ClusterInventory, old: int, new: int, racks: Racks
) -> None:
    """Rule: each list has one name replaced, by the substitute where it may have the replica; a
    second run proposes nothing.
    """
    assume(old != new and max(old, new) <= len(drawn.brokers))
    wished = request(substitute={old: new}, racks=racks)
    proposed = propose(drawn, wished)
    assume(proposed.error is None)
    before = lists(drawn)
    assert set(proposed.entries) == {key for key, row in before.items() if old in row}
    for key, row in proposed.entries.items():
        place = before[key].index(old)
        assert row[place] != old
        assert (*row[:place], old, *row[place + 1 :]) == before[key]
        unhindered = racks is Racks.IGNORE and drawn.brokers[0].capacity_bytes is None
        assert row[place] == new or new in before[key] or not unhindered
    assert proposed.figures["moves"] == proposed.figures["moves_bound"] == len(proposed.entries)
    assert dict(propose(applied(drawn, proposed), wished).entries) == {}
