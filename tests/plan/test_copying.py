from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster, tp

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.errors import InvalidInputError
from kadmin.plan.copying import suggested_rate, throttle_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import UNTHROTTLED, PartitionTarget, ThrottleBy, ThrottleSpec
from kadmin.plan.throttle import DISK_RATE, RATES, describe_entities

STATE = cluster({"a-0": (1, 2), "a-1": (2, 1), "b-0": (1, 2, 3)}, states={"a-1": (-1, (2, 1))})
TO_4 = PartitionTarget(tp("a-0"), (1, 4), (1, 2), 6000)
ALSO_TO_4 = PartitionTarget(tp("a-1"), (4, 1), (2, 1), 3000)
FROM_1 = PartitionTarget(tp("b-0"), (1, 2, 4), (1, 2, 3), 1000)
REORDER = PartitionTarget(tp("a-0"), (2, 1), (1, 2))
RATE = ThrottleSpec(ThrottleBy.RATE, 100)


def test_the_busier_way_of_the_busiest_broker_takes_the_time_wave_by_wave() -> None:
    found = throttle_of(RATE, [[TO_4, ALSO_TO_4], [FROM_1], [REORDER]], STATE, {})
    assert found is not None
    assert found.wave_seconds == (90.0, 10.0, 0.0), (
        "broker 4 receives 9000 bytes, then broker 1 sends 1000"
    )
    assert (found.makespan_seconds, found.bound_seconds) == (100.0, 100.0), (
        "broker 4 receives 10000 bytes in all"
    )
    assert found.rate == 100
    assert found.warnings == ()


def test_without_a_size_the_time_of_a_wave_is_unknown() -> None:
    unknown = PartitionTarget(tp("b-0"), (1, 2, 4), (1, 2, 3))
    found = throttle_of(RATE, [[TO_4], [unknown]], STATE, {})
    assert found is not None
    assert found.wave_seconds == (60.0, None)
    assert (found.makespan_seconds, found.bound_seconds) == (None, None)


def test_what_copies_nothing_needs_no_throttle() -> None:
    assert throttle_of(RATE, [[REORDER]], STATE, {}) is None
    assert throttle_of(RATE, [], STATE, {}) is None
    assert throttle_of(UNTHROTTLED, [[TO_4]], STATE, {}) is None


def test_moves_between_disks_have_a_rate_of_their_own_where_directories_are_named() -> None:
    inside = PartitionTarget(tp("a-0"), (1, 2), (1, 2), log_dirs=("/b", "any"))
    alone = ThrottleSpec(ThrottleBy.NONE, 0, disks=50)
    found = throttle_of(alone, [[inside, TO_4]], STATE, {})
    assert found is not None
    assert found.values == {ConfigEntity.of_broker(1): {DISK_RATE: "50"}}
    assert (found.rate, found.wave_seconds, found.makespan_seconds) == (10**12, (None,), None)
    both = throttle_of(replace(RATE, disks=50), [[inside, TO_4]], STATE, {})
    assert both is not None
    assert both.values[ConfigEntity.of_broker(1)] == {
        **dict.fromkeys(RATES, "100"),
        DISK_RATE: "50",
    }
    assert DISK_RATE not in both.values[ConfigEntity.of_broker(4)]
    assert throttle_of(alone, [[TO_4]], STATE, {}) is None
    assert throttle_of(RATE, [[inside]], STATE, {}) is None


def test_a_broker_that_is_not_alive_is_no_part_of_a_forecast() -> None:
    """In KRaft mode its configs cannot be read, so that no rate is set there."""
    dead = replace(
        STATE, brokers={broker: found for broker, found in STATE.brokers.items() if broker != 2}
    )
    found = throttle_of(RATE, [[TO_4]], dead, {tp("a-0"): 100.0})
    assert found is not None
    assert [entity.name for entity in found.values if not entity.is_topic] == ["1", "4"]
    assert "on 2 brokers and 1 topic" in f"on {describe_entities(found.values)}"
    assert [each.partition(" for ")[0] for each in found.warnings] == [
        "broker 4 receives 100 B/s",
        "broker 1 sends 100 B/s",
    ]
    link = throttle_of(ThrottleSpec(ThrottleBy.LINK_BUDGET, 100), [[TO_4]], dead, {tp("b-0"): 10.0})
    assert link is not None
    assert link.rate == 90, "broker 1 sends b-0 to 3 alone"


def test_a_time_to_finish_in_gives_the_rate_that_keeps_it_over_all_waves() -> None:
    found = throttle_of(
        ThrottleSpec(ThrottleBy.FINISH_IN, 30), [[TO_4, ALSO_TO_4], [FROM_1]], STATE, {}
    )
    assert found is not None
    assert found.rate == 334, "10000 bytes, one after the other, in 30 s, rounded up"
    assert sum(seconds or 0 for seconds in found.wave_seconds) <= 30


def test_a_time_to_finish_in_needs_sizes() -> None:
    unknown = PartitionTarget(tp("b-0"), (1, 2, 4), (1, 2, 3))
    with pytest.raises(InvalidInputError, match="b-0") as refused:
        throttle_of(ThrottleSpec(ThrottleBy.FINISH_IN, 30), [[TO_4, unknown]], STATE, {})
    assert "--sizes" in (refused.value.next_command or "")


@pytest.mark.parametrize(
    ("inbound", "rate"),
    [
        ({}, 100),
        ({tp("b-0"): 10.0}, 80),  # broker 1 leads b-0 and sends it to two followers
        # a-1 has no leader: its first replica counts, broker 1 follows.
        ({tp("b-0"): 10.0, tp("a-1"): 70.0}, 30),
        ({tp("b-0"): 1000.0}, 10),  # a tenth is left at least
        ({tp("gone-0"): 1000.0}, 100),
    ],
)
def test_a_links_budget_leaves_what_replication_does_not_take(
    inbound: dict[object, float], rate: int
) -> None:
    found = throttle_of(ThrottleSpec(ThrottleBy.LINK_BUDGET, 100), [[TO_4]], STATE, inbound)  # type: ignore[arg-type]
    assert found is not None
    assert found.rate == rate


def test_a_rate_below_what_producers_write_is_warned_about() -> None:
    """A throttle below the observed inbound rate: such a move never ends."""
    found = throttle_of(RATE, [[TO_4, ALSO_TO_4]], STATE, {tp("a-0"): 60.0, tp("a-1"): 40.0})
    assert found is not None
    assert [warning.split(" for ")[0] for warning in found.warnings] == [
        "broker 4 receives 100 B/s",
        "broker 1 sends 120 B/s",
    ]
    assert all("never catch up" in warning for warning in found.warnings)


@pytest.mark.parametrize(
    ("facts", "rate", "why"),
    [
        (
            ClusterFacts(),
            41_000_000,
            "a third of a link of 1 Gbit/s; what brokers replicate now is not known",
        ),
        (
            ClusterFacts(inbound={tp("b-0"): 25_000_000.0}),
            25_000_000,
            "a third of a link of 1 Gbit/s, less 50.0 MB/s that the busiest broker replicates now",
        ),
        (ClusterFacts(inbound={tp("b-0"): 900_000_000.0}), 4_100_000, "less 1.80 GB/s"),
        (
            ClusterFacts(
                inbound={tp("b-0"): 5_000_000.0}, links={1: 99_600_000.0, 4: 500_000_000.0, 9: 1.0}
            ),
            89_000_000,
            (
                "the inventory's link budget of 99.6 MB/s, less 10.0 MB/s that the busiest broker "
                "replicates now"
            ),
        ),
        (
            ClusterFacts(links={1: 99_600_000.0}),
            33_000_000,
            (
                "a third of the inventory's link budget of 99.6 MB/s; what brokers replicate now "
                "is not known"
            ),
        ),
    ],
)
def test_a_rate_for_a_plan_without_one_is_what_a_link_has_left(
    facts: ClusterFacts, rate: int, why: str
) -> None:
    """The smallest link among the plan's brokers; a broker that has no part in it does not
    count.
    """
    found, said = suggested_rate([TO_4], STATE, facts)
    assert (found, why in said) == (rate, True), said


def test_without_a_cluster_the_rate_is_that_of_an_empty_link() -> None:
    assert suggested_rate([TO_4], None, ClusterFacts())[0] == 41_000_000
