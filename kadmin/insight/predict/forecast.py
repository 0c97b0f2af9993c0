"""Compares a cluster at two times: the loads of brokers and racks, and the effects of losing them.

Goals: the loads before and after a change, by broker and by rack, and the worst single loss.
Constraints: pure; unknown amounts are None, never 0. Loads count preferred leaders, because a
reassignment decides them, and current leaders for elections. Losses are predicted from leaders and
in-sync replicas as in `whatif`: bounds where these are unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.losses import Bound, Load, PlacedPartition
from kadmin.insight.predict.plans import effect_of, planned
from kadmin.insight.predict.whatif import compare, placements_of, single_losses, without

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import Assignment, ClusterState, Replicas, TopicPartition
    from kadmin.insight.predict.losses import SingleLoss
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class BrokerOutlook:
    """One broker that is alive or holds replicas, before and after.

    `capacity_bytes` None: unknown.
    """

    broker_id: int
    rack: str | None
    alive: bool
    before: Load
    after: Load
    capacity_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RackOutlook:
    """The brokers of one rack (None: those whose rack is unknown) together.

    `offline_before` and `offline_after` count the partitions without a leader when all its live
    brokers are lost; None where nothing is known of that.
    """

    rack: str | None
    brokers: tuple[int, ...]
    before: Load
    after: Load
    offline_before: Bound | None = None
    offline_after: Bound | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Both times side by side, by id and by rack.

    `losses_before` and `losses_after` hold the loss of each live broker alone, empty where unknown;
    `unknown` counts the partitions of which the leader or the ISR is unknown. `by_election`: loads
    count current leaders instead of preferred ones.
    """

    brokers: tuple[BrokerOutlook, ...]
    racks: tuple[RackOutlook, ...]
    losses_before: Mapping[int, SingleLoss] = field(default_factory=dict)
    losses_after: Mapping[int, SingleLoss] = field(default_factory=dict)
    unknown: int = 0
    by_election: bool = False


@dataclass(frozen=True, slots=True)
class _Times:
    """Partitions with their leaders and in-sync replicas, at both times."""

    before: Sequence[PlacedPartition]
    after: Sequence[PlacedPartition]


def forecast(
    plan: Plan,
    state: ClusterState,
    sizes: Mapping[TopicPartition, int],
    capacities: Mapping[int, int],
) -> Forecast:
    """Compare a cluster with its prediction for when the plan is done."""
    effect = effect_of(plan, state)
    sizes = {**effect.sizes, **sizes}
    held, placements = state.assignment, placements_of(state, sizes)
    led = _Times(placements, planned(plan, placements, state))
    if effect.leaders_only:
        return replace(_gather(state, led, led, capacities), by_election=True)
    after = {
        partition: effect.replicas(partition, replicas) for partition, replicas in held.items()
    } | dict(effect.new)
    return _gather(
        state, _Times(_preferred(held, sizes), _preferred(after, sizes)), led, capacities
    )


def retrospect(
    origin: Assignment,
    state: ClusterState,
    sizes: Mapping[TopicPartition, int],
    capacities: Mapping[int, int],
) -> Forecast:
    """Compare a cluster before an operation with the cluster now.

    `origin` holds the replicas that it changed. Records hold no earlier leaders and in-sync
    replicas, so losses are known for now only.
    """
    now, placements = _preferred(state.assignment, sizes), placements_of(state, sizes)
    return _gather(state, _Times(_changed(now, origin), now), _Times((), placements), capacities)


def _preferred(
    assignment: Assignment, sizes: Mapping[TopicPartition, int]
) -> tuple[PlacedPartition, ...]:
    return tuple(
        _led_by_first(each, replicas, sizes.get(each)) for each, replicas in assignment.items()
    )


def _changed(
    placements: Sequence[PlacedPartition], changes: Assignment
) -> tuple[PlacedPartition, ...]:
    return tuple(
        _led_by_first(each.partition, changes[each.partition], each.size_bytes)
        if each.partition in changes
        else each
        for each in placements
    )


def _led_by_first(
    partition: TopicPartition, replicas: Replicas, size_bytes: int | None
) -> PlacedPartition:
    return PlacedPartition(
        partition, replicas, replicas[0] if replicas else NO_LEADER, replicas, size_bytes=size_bytes
    )


def _gather(
    state: ClusterState, loads: _Times, led: _Times, capacities: Mapping[int, int]
) -> Forecast:
    every = set(state.brokers).union(
        *(each.replicas for time in (loads.before, loads.after) for each in time)
    )
    compared = compare(loads.before, loads.after, every, every)
    racks = {
        broker: state.brokers[broker].rack if broker in state.brokers else None
        for broker in sorted(every)
    }
    brokers = tuple(
        BrokerOutlook(
            broker,
            rack,
            broker in state.brokers,
            compared.before[broker],
            compared.after[broker],
            capacities.get(broker),
        )
        for broker, rack in racks.items()
    )
    offline = [
        _offline(time, racks, state.brokers) if time else None for time in (led.before, led.after)
    ]
    return Forecast(
        brokers,
        tuple(
            _rack(rack, brokers, offline)
            for rack in sorted(set(racks.values()), key=lambda name: (name is None, name))
        ),
        single_losses(led.before, state.brokers) if led.before else {},
        single_losses(led.after, state.brokers) if led.after else {},
        sum(each.leader is None or each.isr is None for each in led.before or led.after),
    )


def _rack(
    rack: str | None,
    brokers: Iterable[BrokerOutlook],
    offline: Sequence[Mapping[str, Bound] | None],
) -> RackOutlook:
    members = [each for each in brokers if each.rack == rack]
    before, after = (
        None if rack is None or counts is None else counts.get(rack, Bound(0, 0))
        for counts in offline
    )
    return RackOutlook(
        rack,
        tuple(each.broker_id for each in members),
        _together(each.before for each in members),
        _together(each.after for each in members),
        before,
        after,
    )


def _offline(
    placements: Iterable[PlacedPartition], racks: Mapping[int, str | None], alive: Collection[int]
) -> dict[str, Bound]:
    """Count by rack the partitions without a leader when the rack is lost."""
    left = {
        rack: frozenset(each for each in alive if racks[each] != rack)
        for rack in set(racks.values())
    }
    least, most = Counter[str](), Counter[str]()
    for placement in placements:
        if placement.leader == NO_LEADER:
            continue
        for rack in _racks_at_risk(placement, racks, alive):
            leader = without(placement, left[rack]).leader
            least[rack] += leader == NO_LEADER
            most[rack] += leader == NO_LEADER or (leader is None and not placement.unclean)
    return {rack: Bound(least[rack], most[rack]) for rack in most}


def _racks_at_risk(
    placement: PlacedPartition, racks: Mapping[int, str | None], alive: Collection[int]
) -> Iterator[str]:
    """Yield the racks whose loss may leave a partition without a leader."""
    if placement.leader is None or placement.isr is None:
        yield from sorted(
            {rack for broker in placement.replicas if broker in alive and (rack := racks[broker])}
        )
        return
    # An in-sync replica on another rack would lead, so only partitions in sync on one rack need the
    # full rule.
    in_sync = {racks[broker] for broker in (placement.leader, *placement.isr) if broker in alive}
    rack = in_sync.pop() if len(in_sync) == 1 else None
    if rack is not None:
        yield rack


def _together(loads: Iterable[Load]) -> Load:
    each = list(loads)
    return Load(
        sum(load.replicas for load in each),
        _sum(load.leaders for load in each),
        _sum(load.size_bytes for load in each),
        _sum(load.leader_bytes for load in each),
    )


def _sum(amounts: Iterable[int | None]) -> int | None:
    listed = list(amounts)
    return None if None in listed else sum(amount or 0 for amount in listed)
