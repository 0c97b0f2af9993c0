"""A cluster at two times, gathered for people to look at: what brokers and racks hold, and what losses would do.

Goals: the loads before and after a change, by broker and by rack, and the worst that a single loss does. Constraints:
pure; what is not known is None, never 0. Loads count preferred leaders, for those are what a reassignment decides, and
the leaders of now where a plan elects; losses go by leaders and in-sync replicas, as whatif has them, and leave out
partitions whose state is not known.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.plans import effect_of, planned
from kadmin.insight.predict.whatif import Load, PlacedPartition, compare, placements_of, single_losses, without

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.model import Assignment, ClusterState, Replicas, TopicPartition
    from kadmin.insight.predict.whatif import SingleLoss
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class BrokerOutlook:
    """One broker that is alive or holds replicas, before and after; `capacity_bytes` None: nobody said."""

    broker_id: int
    rack: str | None
    alive: bool
    before: Load
    after: Load
    capacity_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RackOutlook:
    """The brokers of one rack (None: those whose rack is unknown) together.

    `offline_before` and `offline_after` count the partitions that nobody leads when all its live brokers are lost;
    None where that is not known.
    """

    rack: str | None
    brokers: tuple[int, ...]
    before: Load
    after: Load
    offline_before: int | None = None
    offline_after: int | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Both times side by side, by id and by rack.

    `losses_before` and `losses_after` hold the loss of each live broker alone, empty where that is not known;
    `stateless` counts the partitions that losses had to leave out. `by_election`: loads count those who lead, not those
    who are preferred.
    """

    brokers: tuple[BrokerOutlook, ...]
    racks: tuple[RackOutlook, ...]
    losses_before: Mapping[int, SingleLoss] = field(default_factory=dict)
    losses_after: Mapping[int, SingleLoss] = field(default_factory=dict)
    stateless: int = 0
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
    """Compare the cluster of now with the cluster when a plan that fits it is done."""
    effect = effect_of(plan, state)
    sizes = {**effect.sizes, **sizes}
    held, known = state.assignment, placements_of(state, sizes)
    led = _Times(known, planned(plan, known, state))
    stateless = len(held) - len(known)
    if effect.leaders_only:
        return replace(_gather(state, led, led, capacities, stateless), by_election=True)
    after = {partition: effect.replicas(partition, replicas) for partition, replicas in held.items()}
    return _gather(state, _Times(_preferred(held, sizes), _preferred(after, sizes)), led, capacities, stateless)


def retrospect(
    origin: Assignment,
    state: ClusterState,
    sizes: Mapping[TopicPartition, int],
    capacities: Mapping[int, int],
) -> Forecast:
    """Compare the cluster as it was with the cluster of now: `origin` holds what a finished operation changed.

    Who led and who was in sync then is on no record: of losses only those of now are known.
    """
    now, known = _preferred(state.assignment, sizes), placements_of(state, sizes)
    return _gather(state, _Times(_changed(now, origin), now), _Times((), known), capacities, len(now) - len(known))


def _preferred(assignment: Assignment, sizes: Mapping[TopicPartition, int]) -> tuple[PlacedPartition, ...]:
    return tuple(_led_by_first(each, replicas, sizes.get(each)) for each, replicas in assignment.items())


def _changed(placements: Sequence[PlacedPartition], changes: Assignment) -> tuple[PlacedPartition, ...]:
    return tuple(
        _led_by_first(each.partition, changes[each.partition], each.size_bytes) if each.partition in changes else each
        for each in placements
    )


def _led_by_first(partition: TopicPartition, replicas: Replicas, size_bytes: int | None) -> PlacedPartition:
    return PlacedPartition(partition, replicas, replicas[0] if replicas else NO_LEADER, replicas, size_bytes=size_bytes)


def _gather(state: ClusterState, loads: _Times, led: _Times, capacities: Mapping[int, int], stateless: int) -> Forecast:
    every = set(state.brokers).union(*(each.replicas for time in (loads.before, loads.after) for each in time))
    compared = compare(loads.before, loads.after, every, every)
    racks = {broker: state.brokers[broker].rack if broker in state.brokers else None for broker in sorted(every)}
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
    offline = [_offline(time, racks, state.brokers) if time else None for time in (led.before, led.after)]
    return Forecast(
        brokers,
        tuple(
            _rack(rack, brokers, offline) for rack in sorted(set(racks.values()), key=lambda name: (name is None, name))
        ),
        single_losses(led.before, state.brokers) if led.before else {},
        single_losses(led.after, state.brokers) if led.after else {},
        stateless,
    )


def _rack(rack: str | None, brokers: Iterable[BrokerOutlook], offline: Sequence[Counter[str] | None]) -> RackOutlook:
    members = [each for each in brokers if each.rack == rack]
    before, after = (None if rack is None or counts is None else counts[rack] for counts in offline)
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
) -> Counter[str]:
    """Count by rack the partitions that nobody leads when the rack is lost."""
    left = {rack: frozenset(each for each in alive if racks[each] != rack) for rack in set(racks.values())}
    offline: Counter[str] = Counter()
    for placement in placements:
        if placement.leader == NO_LEADER:
            continue
        # Whoever is in sync on another rack would lead: only what is in sync on one rack alone needs a closer look.
        in_sync = {racks[broker] for broker in (placement.leader, *placement.isr) if broker in alive}
        rack = in_sync.pop() if len(in_sync) == 1 else None
        if rack is not None:
            offline[rack] += without(placement, left[rack]).leader == NO_LEADER
    return offline


def _together(loads: Iterable[Load]) -> Load:
    each = list(loads)
    return Load(
        sum(load.replicas for load in each),
        sum(load.leaders for load in each),
        _sum([load.size_bytes for load in each]),
        _sum([load.leader_bytes for load in each]),
    )


def _sum(amounts: Sequence[int | None]) -> int | None:
    return None if None in amounts else sum(amount or 0 for amount in amounts)
