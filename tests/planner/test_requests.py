"""The effect of each field of a request, on clusters small enough to check by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.planner.small_clusters import applied, lists, propose, request

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import FreeBytes, Pin, ProposalLimits, RackFloor, Racks
from kadmin.plan.rules import check, require
from kadmin.report.proposals import figure_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from support.planner.small_clusters import Proposed


def cluster(
    rows: Mapping[str, Sequence[tuple[int, ...]]],
    racks: str = "aabbcc",
    **brokers: Any,  # noqa: ANN401
) -> ClusterInventory:
    """Return brokers 1, 2, ... one per letter of `racks` (`-`: no rack), and topics of 100 bytes a
    partition.
    """
    return ClusterInventory(
        "c",
        tuple(
            BrokerRow(at, None if name == "-" else name, **brokers)
            for at, name in enumerate(racks, start=1)
        ),
        tuple(
            PartitionRow(topic, number, replicas, size_bytes=100)
            for topic, lists_of in rows.items()
            for number, replicas in enumerate(lists_of)
        ),
    )


def held(proposed: Proposed, of: ClusterInventory) -> dict[int, int]:
    return dict(
        sorted(Counter(broker for row in proposed.target(of).values() for broker in row).items())
    )


EVEN = cluster({"a": [(1, 3), (3, 5), (5, 1), (2, 4), (4, 6), (6, 2)]})


def test_an_even_cluster_needs_nothing() -> None:
    proposed = propose(EVEN, request())
    assert dict(proposed.entries) == {}
    assert proposed.figures["proved_optimal"]
    assert proposed.figures["moves_bound"] == 0


def test_a_drained_broker_ends_empty_and_the_others_even() -> None:
    proposed = propose(EVEN, request(drain=(3,)))
    assert 3 not in held(proposed, EVEN)
    assert proposed.figures["moves"] == proposed.figures["moves_bound"] == 2
    assert proposed.figures["after"]["rack_violations"] == 0


def test_a_new_broker_is_filled_from_the_fullest() -> None:
    grown = replace(EVEN, brokers=(*EVEN.brokers, BrokerRow(7, "d")))
    proposed = propose(grown, request())
    assert (
        held(proposed, grown) == {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 1, 7: 1}
        or proposed.figures["moves"] == 1
    )
    assert proposed.figures["moves"] == proposed.figures["moves_bound"] == 1


def test_a_substitute_takes_over_and_keeps_the_place_in_the_list() -> None:
    grown = replace(EVEN, brokers=(*EVEN.brokers, BrokerRow(9, "b")))
    proposed = propose(grown, request(substitute={3: 9}))
    assert dict(proposed.entries) == {("a", 0): (1, 9), ("a", 1): (9, 5)}


def test_a_broker_that_may_not_receive_keeps_what_it_has() -> None:
    grown = replace(EVEN, brokers=(*EVEN.brokers, BrokerRow(7, "d"), BrokerRow(8, "d")))
    proposed = propose(grown, request(no_receive=(7,)))
    assert 7 not in held(proposed, grown)
    assert held(proposed, grown)[8] == 1


def test_a_broker_that_never_leads_is_never_first() -> None:
    proposed = propose(EVEN, request(never_lead=(1, 2)))
    assert not {1, 2} & {row[0] for row in proposed.target(EVEN).values()}
    assert proposed.figures["moves"] == 0
    assert proposed.figures["order_changes"] == len(proposed.entries) == 2


def test_a_sole_replica_moves_off_a_broker_that_never_leads() -> None:
    proposed = propose(cluster({"a": [(1,)]}, "--"), request(never_lead=(1,)))
    assert dict(proposed.entries) == {("a", 0): (2,)}
    assert proposed.figures["moves_bound"] == 1


def test_excluded_topics_stay_and_count_for_evenness() -> None:
    crowded = cluster({"__x": [(1,), (1,), (1,)], "a": [(1,), (2,), (2,), (2,), (2,), (1,)]}, "---")
    proposed = propose(crowded, request(exclude_topics=("__*",)))
    assert not any(topic == "__x" for topic, _ in proposed.entries)
    assert held(proposed, crowded) == {1: 3, 2: 3, 3: 3}


def test_only_included_topics_take_part() -> None:
    proposed = propose(
        cluster({"a": [(1,), (1,)], "b": [(1,), (1,)]}, "--"), request(include_topics=("a",))
    )
    assert {topic for topic, _ in proposed.entries} == {"a"}


def test_replication_factors_go_up_and_down_by_pattern() -> None:
    mixed = cluster({"orders-1": [(1,), (3,)], "logs": [(1, 3, 5), (2, 4, 6)], "other": [(5, 1)]})
    proposed = propose(mixed, request(replication_factor={"orders-*": 3, "logs": 2}))
    sizes = {key: len(row) for key, row in proposed.target(mixed).items()}
    assert sizes == {
        ("orders-1", 0): 3,
        ("orders-1", 1): 3,
        ("logs", 0): 2,
        ("logs", 1): 2,
        ("other", 0): 2,
    }
    assert proposed.figures["after"]["rack_violations"] == 0
    assert proposed.figures["moves"] == proposed.figures["moves_bound"]


def test_a_broker_set_holds_its_topics_evenly() -> None:
    paid = cluster({"pay-a": [(1, 2), (3, 4), (5, 6)], "z": [(1, 2)] * 6}, "------")
    proposed = propose(paid, request(broker_sets={"pay-*": (1, 2, 3)}))
    target = proposed.target(paid)
    counted = Counter(
        broker for (topic, _), row in target.items() if topic == "pay-a" for broker in row
    )
    assert counted == {1: 2, 2: 2, 3: 2}
    assert set(held(proposed, paid).values()) == {3}


def test_a_pin_is_the_target() -> None:
    pin = Pin(TopicPartition("a", 0), (6, 1))
    proposed = propose(EVEN, request(pins=(pin,)))
    assert proposed.entries["a", 0] == (6, 1)
    assert next(iter(proposed.entries)) == ("a", 0)
    again = propose(applied(EVEN, proposed), request(pins=(pin,)))
    assert dict(again.entries) == {}


def test_a_broker_that_never_leads_makes_way_for_a_leader_on_its_rack() -> None:
    """Rule: never-lead is no obstacle as long as one broker that may lead can take a replica."""
    proposed = propose(cluster({"a": [(1, 3)]}, "aabb"), request(drain=(3,), never_lead=(1, 4)))
    assert (proposed.error, dict(proposed.entries)) == (None, {("a", 0): (2, 4)})


def test_weights_shift_counts_and_bytes() -> None:
    proposed = propose(cluster({"a": [(1,)] * 8}, "---"), request(weights={3: 2.0}))
    assert held(proposed, cluster({"a": [(1,)] * 8}, "---")) == {1: 2, 2: 2, 3: 4}


def test_strict_racks_are_repaired_first() -> None:
    broken = cluster({"a": [(1, 2), (3, 5), (4, 6), (1, 3), (2, 5), (4, 6)]})
    proposed = propose(broken, request())
    assert proposed.figures["before"]["rack_violations"] == 1
    assert proposed.figures["after"]["rack_violations"] == 0
    assert next(iter(proposed.entries)) == ("a", 0)


def test_relaxed_racks_spread_as_far_as_there_are_racks() -> None:
    two = cluster({"a": [(1, 2, 3)]}, "aabb")
    proposed = propose(two, request(racks=Racks.RELAXED))
    assert (proposed.error, dict(proposed.entries)) == (None, {})
    crowded = cluster({"a": [(1, 2, 3)]}, "aaabb")
    row = propose(crowded, request(racks=Racks.RELAXED)).target(crowded)["a", 0]
    assert len({"aaabb"[broker - 1] for broker in row}) == 2


def test_relaxed_racks_include_one_with_a_single_broker() -> None:
    """Rule: as many racks as possible come before even counts."""
    single = cluster({"t": [(2, 3, 4, 5)] * 5}, "abbcc")
    proposed = propose(single, request(racks=Racks.RELAXED))
    target = proposed.target(single)
    assert {len({"abbcc"[broker - 1] for broker in row}) for row in target.values()} == {3}
    assert held(proposed, single) == {1: 5, 2: 4, 3: 4, 4: 4, 5: 3}
    assert (proposed.figures["moves"], proposed.figures["proved_optimal"]) == (5, True)
    violations = (proposed.figures[time]["rack_violations"] for time in ("before", "after"))
    assert tuple(violations) == (5, 0)


def test_relaxed_racks_leave_out_one_without_the_room() -> None:
    """Rule: where capacities allow no plan on all racks, the cap of each rack holds."""
    small = cluster({"t": [(2, 3, 4, 5)] * 5}, "abbcc")
    tight = replace(small.brokers[0], capacity_bytes=200)
    small = replace(small, brokers=(tight, *small.brokers[1:]))
    proposed = propose(small, request(racks=Racks.RELAXED))
    assert proposed.error is None
    assert held(proposed, small)[1] == 2
    assert max(most_on_one_rack(row, "abbcc") for row in proposed.target(small).values()) == 2


def test_relaxed_racks_count_those_whose_brokers_receive_nothing_for_their_own_partitions() -> None:
    closed = cluster({"t": [(1, 2, 3, 4), (2, 3, 4, 5)]}, "abbcc")
    proposed = propose(closed, request(racks=Racks.RELAXED, no_receive=(1,)))
    assert {key: 1 in row for key, row in proposed.target(closed).items()} == {
        ("t", 0): True,
        ("t", 1): False,
    }


def most_on_one_rack(row: tuple[int, ...], racks: str) -> int:
    return max(Counter(racks[broker - 1] for broker in row).values())


@pytest.mark.parametrize(
    ("racks", "counts"),
    [
        (Racks.STRICT, (30, 60)),
        (Racks.RELAXED, (30, 60)),
        (Racks.IGNORE, (36, 36)),
        (RackFloor(2), (36, 36)),
        (RackFloor(3), (30, 60)),
    ],
)
def test_brokers_are_evened_out_beyond_the_floor_of_racks(
    racks: Racks | RackFloor, counts: tuple[int, int]
) -> None:
    lists_of = [(1 + at % 2, 3 + at // 2 % 2, 5) for at in range(60)]
    uneven = cluster({"a": lists_of}, "aabbc")
    proposed = propose(uneven, request(racks=racks))
    found = held(proposed, uneven).values()
    assert (min(found), max(found), proposed.figures["proved_optimal"]) == (*counts, True)
    least = {Racks.IGNORE: 1, RackFloor(2): 2}.get(racks, 3)
    target = proposed.target(uneven).values()
    assert min(len({"aabbc"[broker - 1] for broker in row}) for row in target) >= least


def test_a_floor_of_racks_is_reached_where_it_was_not() -> None:
    """Rule: figures count the partitions below the floor, and their entries come first."""
    below = cluster({"a": [(1, 3, 5), (1, 2, 3), (2, 3, 1), (4, 5, 6)]}, "aaabbc")
    proposed = propose(below, request(racks=RackFloor(2)))
    figures = (proposed.figures[time] for time in ("before", "after", "bound"))
    assert [each["rack_violations"] for each in figures] == [2, 0, 0]
    assert list(proposed.reasons.values())[:2] == ["a rack holds too many of its replicas"] * 2


def test_rack_violations_count_by_the_brokers_that_may_hold_replicas() -> None:
    """Rule: a violation is a rack with more replicas than the brokers of the result make necessary,
    in every mode.
    """
    ignoring = cluster({"a": [(1, 2, 3)]}, "aabc")
    figures = propose(ignoring, request(racks=Racks.IGNORE)).figures
    assert (figures["before"]["rack_violations"], figures["bound"]["rack_violations"]) == (1, 0)
    drained = propose(ignoring, request(racks=Racks.IGNORE, drain=(4,))).figures
    assert (drained["before"]["rack_violations"], drained["after"]["rack_violations"]) == (0, 0)
    unmoved = cluster({"__x": [(1, 2, 3)], "a": [(1, 3)]}, "aabb")
    figures = propose(unmoved, request(exclude_topics=("__*",))).figures
    assert [figures[time]["rack_violations"] for time in ("before", "after", "bound")] == [0, 0, 0]


def test_racks_that_a_plan_loses_are_counted() -> None:
    losing = cluster({"a": [(1, 3, 5), (2, 4, 5)], "b": [(1, 5)], "c": [(1, 3)]}, "aabbc")
    proposed = propose(losing, request(drain=(5,), racks=Racks.RELAXED))
    assert proposed.figures["fewer_racks"] == [{"before": 3, "after": 2, "partitions": 2}]
    assert propose(losing, request(leaders_only=True)).figures["fewer_racks"] == []
    (unknown,) = [cluster({"a": [(1, 3, 5)]}, "aabb-")]
    assert propose(unknown, request(drain=(5,), racks=Racks.RELAXED)).figures["fewer_racks"] == []


def test_brokers_without_a_rack_are_a_rack_each_where_racks_are_relaxed() -> None:
    partly = cluster({"a": [(1, 2)]}, "aa--")
    row = propose(partly, request(racks=Racks.RELAXED)).target(partly)["a", 0]
    assert set(row) != {1, 2}
    assert propose(partly, request(racks=Racks.IGNORE)).figures["moves"] == 0


def test_leaders_only_moves_no_data() -> None:
    skewed = cluster({"a": [(1, 3), (1, 4), (1, 5), (1, 6), (2, 3), (2, 4)]})
    proposed = propose(skewed, request(leaders_only=True))
    assert proposed.figures["moves"] == 0
    assert proposed.figures["moved_bytes"] == 0
    assert (proposed.figures["after"]["leaders_min"], proposed.figures["after"]["leaders_max"]) == (
        1,
        1,
    )
    assert all(sorted(row) == sorted(lists(skewed)[key]) for key, row in proposed.entries.items())


def test_dead_brokers_keep_their_partitions_as_they_are() -> None:
    dead = replace(
        EVEN, brokers=(replace(EVEN.brokers[0], alive=False), *EVEN.brokers[1:], BrokerRow(7, "d"))
    )
    proposed = propose(dead, request())
    assert not {("a", 0), ("a", 2)} & set(proposed.entries)
    assert (
        "2 partitions with a replica on dead brokers (1) stay as they are"
        in proposed.figures["notes"][0]
    )


def test_what_has_no_live_in_sync_replica_is_left_out_and_listed() -> None:
    """A drained broker keeps it, too: nothing can be copied from. Where leader or ISR are not known
    it may be moved.
    """
    rows = {(row.topic, row.partition): row for row in EVEN.partitions}
    rows["a", 0] = replace(rows["a", 0], leader=-1, isr=())
    rows["a", 2] = replace(rows["a", 2], leader=-1, isr=(1,))
    dead = replace(
        EVEN,
        brokers=(replace(EVEN.brokers[0], alive=False), *EVEN.brokers[1:]),
        partitions=tuple(rows.values()),
    )
    proposed = propose(dead, request(drain=(1,), pins=(Pin(TopicPartition("a", 0), (2, 3)),)))
    assert not {("a", 0), ("a", 2)} & set(proposed.entries)
    assert proposed.figures["notes"][0] == (
        "2 partitions have no replica that is alive and in sync, and will not change (a-0, a-2); "
        "start their brokers"
    )
    unknown = {key: replace(row, leader=None, isr=None) for key, row in rows.items()}
    assert ("a", 0) in propose(
        replace(dead, partitions=tuple(unknown.values())), request(drain=(1,))
    ).entries


def test_a_dead_broker_is_emptied_when_drained() -> None:
    without_row = replace(EVEN, brokers=EVEN.brokers[1:])
    proposed = propose(without_row, request(drain=(1,)))
    assert 1 not in held(proposed, without_row)
    assert proposed.figures["notes"] == []


def test_the_second_replica_of_what_moves_spreads_the_leaders_after_a_loss() -> None:
    lumped = cluster({"a": [(1, 2, 3, 4)] * 12 + [(2, 1, 3, 4)] * 12}, "-----")
    before, after = (propose(lumped, request()).figures[name] for name in ("before", "after"))
    assert after["failover_share"] < before["failover_share"]
    assert after["failover_share"] <= 1.5


def test_capacity_is_a_hard_limit() -> None:
    tight = cluster({"a": [(1,), (1,), (1,), (1,), (2,), (3,)]}, "---")
    full = replace(
        tight,
        brokers=(
            *tight.brokers[:1],
            replace(tight.brokers[1], capacity_bytes=100),
            tight.brokers[2],
        ),
    )
    proposed = propose(full, request())
    assert held(proposed, full)[2] == 1
    assert held(proposed, full) == {1: 3, 2: 1, 3: 2} or held(proposed, full) == {1: 2, 2: 1, 3: 3}


def test_bytes_are_even_where_counts_leave_a_choice() -> None:
    sizes = [1000, 1000, 1000, 1, 1, 1, 1000, 1, 1000, 1, 1000, 1]
    skewed = ClusterInventory(
        "c",
        tuple(BrokerRow(broker) for broker in (1, 2, 3)),
        tuple(
            PartitionRow("a", number, (1,), size_bytes=size) for number, size in enumerate(sizes)
        ),
    )
    after = propose(skewed, request()).figures["after"]
    assert (after["replicas_min"], after["replicas_max"]) == (4, 4)
    assert after["bytes_max_over_mean"] == 1.0


def test_unknown_sizes_are_reported_and_no_figure_is_made_up() -> None:
    bare = replace(EVEN, partitions=tuple(replace(row, size_bytes=None) for row in EVEN.partitions))
    figures = propose(bare, request(drain=(1,))).figures
    assert (figures["moved_bytes"], figures["after"]["bytes_cv"], figures["notes"]) == (
        None,
        None,
        [],
    )
    partly = replace(EVEN, partitions=(*bare.partitions[:2], *EVEN.partitions[2:]))
    assert propose(partly, request()).figures["notes"] == [
        "size_bytes is missing for 2 of 6 partitions, which count as empty"
    ]


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({"replication_factor": {"a": 4}}, "InfeasibleError: RF 4 over 3 racks: topics a"),
        (
            {"replication_factor": {"a": 7}, "racks": Racks.IGNORE},
            "InfeasibleError: RF 7 over 6 brokers: topics a",
        ),
        ({"drain": (3, 4, 5, 6)}, "InfeasibleError: RF 2 over 1 rack: topics a"),
        ({"broker_sets": {"a": (1, 2)}}, "InfeasibleError: RF 2 over 1 rack: topics a"),
        (
            {"drain": (1,), "exclude_topics": ("a",)},
            "must stay: topics a (spec.topics excludes them)",
        ),
        ({"substitute": {1: 2}, "no_receive": (2,)}, "broker 2 cannot take the place of 1"),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 2)),)},
            "the pin of a-0 has two replicas on one rack",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 3)),), "drain": (3,)},
            "the pin of a-0 names a broker",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 3)),), "never_lead": (1,)},
            "the pin of a-0 puts a broker first",
        ),
        ({"never_lead": (1, 2, 3, 4, 5, 6)}, "InfeasibleError: "),
        ({"never_lead": (1, 2, 3, 4, 5, 6), "leaders_only": True}, "InfeasibleError: "),
        (
            {"replication_factor": {"a": 1, "*": 2}},
            "InvalidInputError: spec.replication_factor: topic a matches both",
        ),
        ({"limits": ProposalLimits(max_bytes=1)}, ""),
    ],
)
def test_what_cannot_be_is_refused_with_names(targets: dict[str, Any], message: str) -> None:
    error = propose(EVEN, request(**targets)).error
    assert message in (error or "")
    assert (error is None) == (message == "")


OUT_OF_RACKS = (
    "set spec.racks: relaxed (or ignore), add or allow a broker of another rack (spec.brokers, "
    "spec.broker_sets), or lower spec.replication_factor"
)


@pytest.mark.parametrize(
    ("targets", "ways_out"),
    [
        ({"replication_factor": {"a": 4}}, OUT_OF_RACKS),
        (
            {"replication_factor": {"a": 7}, "racks": Racks.IGNORE},
            (
                "add or allow another broker (spec.brokers, spec.broker_sets), or lower "
                "spec.replication_factor"
            ),
        ),
        (
            {"drain": (1,), "exclude_topics": ("a",)},
            "include them in spec.topics, or keep these brokers",
        ),
        (
            {"substitute": {1: 2}, "no_receive": (2,)},
            "choose one of brokers 3, 4, 5, 6, or drain 1 instead",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 2)),)},
            "choose brokers of different racks, set spec.racks: relaxed, or leave the pin out",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 3)),), "drain": (3,)},
            "choose brokers that may hold replicas (1, 2, 4, 5, 6), or leave the pin out",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 3)),), "never_lead": (1,)},
            "put another broker first, remove 1 from spec.brokers.never_lead, or leave the pin out",
        ),
        (
            {"racks": RackFloor(4)},
            "add brokers of another rack, or set spec.racks: relaxed",
        ),
        (
            {"pins": (Pin(TopicPartition("a", 0), (1, 2)),), "racks": RackFloor(2)},
            "choose brokers of more racks, set spec.racks: relaxed, or leave the pin out",
        ),
        ({"racks": RackFloor(2), "broker_sets": {"a": (1, 2)}}, OUT_OF_RACKS),
        (
            {"never_lead": (1, 2, 3, 4, 5, 6)},
            (
                "set spec.racks: relaxed (or ignore); or shorten spec.brokers.never_lead; or "
                "lower spec.replication_factor"
            ),
        ),
        (
            {"never_lead": (1, 2, 3, 4, 5, 6), "leaders_only": True},
            "remove one of their brokers from spec.brokers.never_lead",
        ),
    ],
)
def test_an_infeasible_request_names_the_ways_out(targets: dict[str, Any], ways_out: str) -> None:
    """Rule: whatever ends with exit code 9 says what to change."""
    refused = propose(EVEN, request(**targets))
    assert (refused.error or "").startswith("InfeasibleError: ")
    assert f"({ways_out})" in (refused.error or "")


def test_three_replicas_over_two_racks_name_their_topics() -> None:
    two = cluster({"a": [(1, 2, 3)], "b": [(1, 3)], "c": [(2, 3, 4)]}, "aabb")
    assert str(propose(two, request()).error).startswith(
        "InfeasibleError: RF 3 over 2 racks: topics a, c"
    )


def test_strict_racks_need_to_be_known() -> None:
    error = str(propose(cluster({"a": [(1, 2)]}, "ab-"), request()).error)
    assert "no rack is known of brokers 3" in error


def test_an_overfull_broker_that_cannot_be_emptied_is_infeasible() -> None:
    full = cluster({"a": [(1,), (2,)]}, "--", capacity_bytes=99)
    assert str(propose(full, request()).error).startswith(
        "InfeasibleError: no plan was found that keeps every broker"
    )
    assert propose(full, request(leaders_only=True)).error is None


def test_entries_wait_until_there_is_room() -> None:
    """Rule: every prefix keeps capacities: a broker that is full gives before it gets."""
    swap = ClusterInventory(
        "c",
        (BrokerRow(1, capacity_bytes=100), BrokerRow(2, capacity_bytes=100), BrokerRow(3)),
        (PartitionRow("a", 0, (1,), size_bytes=100), PartitionRow("b", 0, (2,), size_bytes=80)),
    )
    pins = (Pin(TopicPartition("a", 0), (2,)), Pin(TopicPartition("b", 0), (3,)))
    assert list(propose(swap, request(pins=pins)).entries) == [("b", 0), ("a", 0)]
    around = (*pins[:1], Pin(TopicPartition("b", 0), (1,)))
    assert "no order of the reassignments keeps" in str(propose(swap, request(pins=around)).error)


def test_an_entry_that_limits_leave_out_makes_no_room() -> None:
    swap = ClusterInventory(
        "c",
        (BrokerRow(1), BrokerRow(2, capacity_bytes=100), BrokerRow(3)),
        (PartitionRow("a", 0, (1,), size_bytes=60), PartitionRow("b", 0, (2,), size_bytes=80)),
    )
    pins = (Pin(TopicPartition("a", 0), (2,)), Pin(TopicPartition("b", 0), (3,)))
    cut = propose(swap, request(pins=pins, limits=ProposalLimits(max_bytes=70)))
    assert cut.error is None
    assert list(cut.entries) == []
    assert cut.figures["left_out"] == 2


def test_limits_in_bytes_need_sizes() -> None:
    bare = replace(EVEN, partitions=tuple(replace(row, size_bytes=None) for row in EVEN.partitions))
    message = "spec.limits counts bytes, but 6 partitions have no size_bytes in the inventory"
    for limits in (ProposalLimits(max_bytes=1), ProposalLimits(max_bytes_in_per_broker=1)):
        assert message in str(propose(bare, request(limits=limits)).error)


def test_bytes_into_one_broker_are_limited() -> None:
    grown = cluster({"a": [(1,)] * 8}, "--")
    proposed = propose(grown, request(limits=ProposalLimits(max_bytes_in_per_broker=250)))
    assert len(proposed.entries) == 2
    assert proposed.figures["left_out"] == 2
    bounds = {
        name: proposed.figures[f"{name}_bound"]
        for name in ("moves", "moved_bytes", "leader_changes")
    }
    assert set(bounds.values()) == {None}, (
        "the plan that limits cut may well do less than the whole one must"
    )
    rows = {name: bound for name, *_, bound in figure_rows(proposed.figures)}
    assert {rows[name] for name in ("moves", "bytes to copy", "leader changes")} == {""}


@pytest.mark.parametrize(
    ("targets", "kind", "field"),
    [
        (
            {"free": FreeBytes(1, 10), "drain": (2,)},
            InvalidInputError,
            "spec.free .* spec.brokers.drain",
        ),
        (
            {"free": FreeBytes(1, 10), "leaders_only": True},
            InvalidInputError,
            "spec.free asks for more",
        ),
        ({"leaders_only": True, "drain": (1,)}, InvalidInputError, "spec.brokers.drain"),
        (
            {"leaders_only": True, "replication_factor": {"a": 2}},
            InvalidInputError,
            "spec.replication_factor",
        ),
        ({"leaders_only": True, "weights": {1: 2.0}}, InvalidInputError, "spec.brokers.weights"),
    ],
)
def test_contradictions_are_refused_by_field(
    targets: dict[str, Any], kind: type[Exception], field: str
) -> None:
    with pytest.raises(kind, match=field):
        require(check(request(**targets)))


def sized(*sizes: int) -> ClusterInventory:
    """Return partitions of these sizes, all on brokers 1 and 2 of four."""
    rows = tuple(PartitionRow("a", at, (1, 2), size_bytes=size) for at, size in enumerate(sizes))
    return replace(cluster({}, "abab"), partitions=rows)


@pytest.mark.parametrize(
    ("sizes", "of"),
    [
        ((5 * 10**18,), "a-0"),
        ((2**63 - 1,) * 8, "a-0"),
        ((2**60, 2**60, 2**20), "a-2"),  # two replicas each
    ],
)
def test_sizes_whose_sum_does_not_fit_are_refused_with_the_row(
    sizes: tuple[int, ...], of: str
) -> None:
    proposed = propose(sized(*sizes), request())
    assert (proposed.error or "").startswith(
        f"InvalidInputError: The sizes of all replicas add up to more than {2**62} bytes, at {of}."
    )


def test_sizes_of_a_higher_replication_factor_count() -> None:
    kept = sized(*[2**60] * 2)
    assert propose(kept, request()).error is None
    assert "InvalidInputError" in (propose(kept, request(replication_factor={"a": 3})).error or "")


def test_the_largest_sizes_that_fit_have_right_figures() -> None:
    proposed = propose(sized(*[2**58] * 8), request())
    figures = proposed.figures
    assert (figures["before"]["bytes_max_over_mean"], figures["after"]["bytes_max_over_mean"]) == (
        2.0,
        1.0,
    )
    assert figures["bound"]["bytes_max_over_mean"] == 1.0
    assert figures["moved_bytes"] == figures["moves"] * 2**58
