"""Estimates the bytes that a reassignment copies through each broker, the rate, and the time.

A throttle counts what a broker sends and what it receives separately, so the busier direction of
the busiest broker decides. Waves follow each other: their times add up. Once in sync, a throttled
partition's ordinary replication is no longer held back, but still counted, which is why a rate
below it never lets the copies catch up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.sources import sender_of, with_size
from kadmin.plan.throttle import disk_rates, throttled
from kadmin.plan.units import readable_rate
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.hours import Ending
    from kadmin.plan.model import HoursSpec, PartitionTarget
    from kadmin.plan.throttle import ConfigValues

NAMED_LINK, NAMED_LINK_SHARE = 125_000_000, 3
"""A link of 1 Gbit/s, in bytes per second, and the divisor of its unused part for a first rate."""
WHOLE_NETWORK = ThrottleSpec(ThrottleBy.RATE, 10**12)
"""A throttle above any network, for copies that are to be slower at other hours."""
LEAST_SHARE = 10
"""Divisor of a link's budget: copies get at least this part (a tenth); without it the reassignment
would not end."""


@dataclass(frozen=True, slots=True)
class Throttle:
    """The throttle of a plan: `rate` in bytes per second, `values` to add to the existing configs.

    `wave_seconds` are the least seconds of each wave at that rate, None where a size is unknown;
    `bound_seconds` those of any waves: the most bytes in or out of one broker over the rate. `spec`
    is the throttle as it was asked for: where its rate follows the clients, `rate` is the first
    one. `hours` are those of the copies, None for all, `ending` the end of the waves by them.
    """

    rate: int
    values: ConfigValues
    wave_seconds: tuple[float | None, ...]
    bound_seconds: float | None
    warnings: tuple[str, ...]
    spec: ThrottleSpec
    hours: HoursSpec | None = None
    ending: Ending | None = None

    @property
    def asked(self) -> ThrottleSpec:
        """The throttle as it was asked for, by its rate."""
        return replace(self.spec, by=ThrottleBy.RATE, amount=self.rate)

    @property
    def makespan_seconds(self) -> float | None:
        """The least time of all waves, one after the other; None where a size is unknown."""
        measured = [seconds for seconds in self.wave_seconds if seconds is not None]
        return sum(measured) if len(measured) == len(self.wave_seconds) else None


def throttle_of(
    target: ThrottleSpec,
    waves: Sequence[Sequence[PartitionTarget]],
    state: ClusterState,
    inbound: Mapping[TopicPartition, float],
) -> Throttle | None:
    """Return the throttle of a plan, None if its waves copy nothing or may use the whole network.

    Brokers on which the plan names log directories get the rate between their disks. A broker that
    is not alive sends and receives nothing, and its configs may be out of reach: it gets no rate.
    `inbound` is the producers' rate for each partition, in bytes per second, where it was observed.
    Raises InvalidInputError for a `finish_in` without the sizes that it needs.
    """
    every = [each for wave in waves for each in wave if each.added]
    between_disks = _between_disks(target, waves, state)
    if not every or target.by is ThrottleBy.NONE:
        if not between_disks:
            return None
        rate = WHOLE_NETWORK.amount
        return Throttle(rate, between_disks, (None,) * len(waves), None, (), target)
    busiest = [_busiest(wave, state) for wave in waves]
    rate = _rate(target, every, busiest, state, inbound)
    *seconds, bound = (
        None if size is None else size / rate for size in (*busiest, _busiest(every, state))
    )
    wanted = throttled(every, rate)
    values = {
        entity: keys
        for entity, keys in wanted.items()
        if entity.is_topic or entity.broker_id in state.brokers
    }
    values |= {each: {**values.get(each, {}), **keys} for each, keys in between_disks.items()}
    warnings = _warnings(every, rate, state, inbound)
    return Throttle(rate, values, tuple(seconds), bound, warnings, target)


def _between_disks(
    target: ThrottleSpec, waves: Iterable[Iterable[PartitionTarget]], state: ClusterState
) -> ConfigValues:
    """Return the rates of the live brokers on which waves name log directories."""
    named = {broker for wave in waves for each in wave for broker in each.directories}
    return {} if target.disks is None else disk_rates(named & state.brokers.keys(), target.disks)


def suggested_rate(
    copied: Iterable[PartitionTarget], state: ClusterState | None, facts: ClusterFacts
) -> tuple[int, str]:
    """Return a rate for a plan without a throttle, and its source in words.

    The budget of the brokers' links where an inventory has one, else a third of NAMED_LINK; less
    what the busiest broker replicates now. Where that is not known, a third of the budget. It has
    two digits, to be typed.
    """
    brokers = {broker for each in copied for broker in (*each.replicas, *(each.current or ()))}
    link = min((facts.links[broker] for broker in brokers if broker in facts.links), default=None)
    reported = state is not None and bool(facts.inbound)
    now = math.ceil(_spoken_for(brokers, state, facts.inbound)) if state is not None else 0
    less = f"less {readable_rate(now)} that the busiest broker replicates now"
    source = (
        "a link of 1 Gbit/s"
        if link is None
        else f"the inventory's link budget of {readable_rate(link)}"
    )
    budget, share = (NAMED_LINK if link is None else int(link)), 1
    if link is None or not reported:
        source, share = f"a third of {source}", NAMED_LINK_SHARE
    why = f"{source}, {less}" if reported else f"{source}; what brokers replicate now is not known"
    return _two_digits(max(_left_of(budget, now) // share, 1)), why


def _left_of(budget: int, spoken_for: float) -> int:
    """Return the rate that a link's budget leaves to the copies beside ordinary replication."""
    return max(budget - math.ceil(spoken_for), budget // LEAST_SHARE, 1)


def _two_digits(rate: int) -> int:
    unit = int(10 ** max(len(str(rate)) - 2, 0))
    return rate // unit * unit


def sized(
    waves: Iterable[Iterable[PartitionTarget]], sizes: Mapping[TopicPartition, int]
) -> list[list[PartitionTarget]]:
    """Return waves with the sizes, in bytes, of targets that have none."""
    return [[with_size(target, sizes) for target in wave] for wave in waves]


def _rate(
    target: ThrottleSpec,
    every: Sequence[PartitionTarget],
    busiest: Sequence[float | None],
    state: ClusterState,
    inbound: Mapping[TopicPartition, float],
) -> int:
    if target.by is ThrottleBy.RATE:
        return target.amount
    if target.by is ThrottleBy.LINK_BUDGET:
        brokers = {broker for each in every for broker in (*each.replicas, *(each.current or ()))}
        return _left_of(target.amount, _spoken_for(brokers, state, inbound))
    unknown = [each.partition for each in every if each.size_bytes is None]
    if unknown:
        raise InvalidInputError(
            "spec.throttle.finish_in needs the size of every partition that is copied: "
            f"{name_some(unknown)}.",
            next_step=(
                "add size_bytes to the plan, or give the sizes with --sizes FILE; or set "
                "spec.throttle.rate"
            ),
        )
    return max(math.ceil(sum(size or 0 for size in busiest) / target.amount), 1)


def _busiest(wave: Iterable[PartitionTarget], state: ClusterState) -> float | None:
    """Return the most bytes that a broker sends or receives, None where a size is unknown."""
    moving = [target for target in wave if target.added]
    if any(target.size_bytes is None for target in moving):
        return None
    return max(
        per_broker(
            (leader_of(target, state), target.added, target.size_bytes or 0) for target in moving
        ),
        default=0,
    )


def per_broker(copies: Iterable[tuple[int | None, Collection[int], float]]) -> tuple[float, ...]:
    """Return the amount that each broker sends or receives.

    A copy is a sender, its receivers, the amount for each.
    """
    received, sent = _flow(copies)
    return (*sent.values(), *received.values())


def _spoken_for(
    brokers: Iterable[int], state: ClusterState, inbound: Mapping[TopicPartition, float]
) -> float:
    """Return the most that one of these brokers sends or receives for ordinary replication."""
    copies = []
    for partition, rate in inbound.items():
        replicas = state.replicas(partition)
        if replicas:
            leader = sender_of(partition, replicas, state)
            copies.append(
                (
                    leader,
                    [each for each in replicas if each != leader and each in state.brokers],
                    rate,
                )
            )
    received, sent = _flow(copies)
    return max((way.get(broker, 0) for broker in brokers for way in (received, sent)), default=0)


def _warnings(
    moving: Sequence[PartitionTarget],
    rate: int,
    state: ClusterState,
    inbound: Mapping[TopicPartition, float],
) -> tuple[str, ...]:
    """Name the brokers whose throttled partitions, at today's inbound rate, use up the throttle."""
    received, _ = _flow(
        (leader_of(target, state), target.added, inbound.get(target.partition, 0))
        for target in moving
    )
    _, sent = _flow(
        (leader_of(target, state), _followers(target, state), inbound.get(target.partition, 0))
        for target in moving
    )
    return tuple(
        f"broker {broker} {verb} {readable_rate(traffic)} for the throttled partitions already; "
        f"at a throttle of {readable_rate(rate)} their copies never catch up"
        for verb, way in (("receives", received), ("sends", sent))
        for broker, traffic in sorted(way.items())
        if traffic >= rate
    )


def _flow(
    copies: Iterable[tuple[int | None, Collection[int], float]],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the amounts that each broker receives and sends.

    A copy is a sender, its receivers, the amount for each. A copy without a sender counts for its
    receivers, which get it once there is one.
    """
    received: dict[int, float] = {}
    sent: dict[int, float] = {}
    for sender, receivers, amount in copies:
        if sender is not None:
            sent[sender] = sent.get(sender, 0) + amount * len(receivers)
        for broker in receivers:
            received[broker] = received.get(broker, 0) + amount
    return received, sent


def leader_of(target: PartitionTarget, state: ClusterState) -> int | None:
    """Return the broker that sends a partition's copies, None where none that is alive can."""
    return sender_of(target.partition, target.current or target.replicas, state)


def _followers(target: PartitionTarget, state: ClusterState) -> set[int]:
    held = {*(target.current or ()), *target.replicas} - {leader_of(target, state)}
    return held & state.brokers.keys()
