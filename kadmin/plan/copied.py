"""Measures a running reassignment: bytes copied, their speed, and the remaining time.

Goals: a rate of this run that is steady to read, and a remaining time that holds from the first
tenth of the bytes on.
Constraints: waves follow each other, and in each the busier direction of the busiest broker
decides. A broker fetches in bursts, so that of several brokers that are about as busy, another one
has the most left at every sample.
Algorithm: what is left on the busiest broker, added up over the waves, through the speed at which
the mean falls of all brokers that are about as busy. Speeds are averages over the last WINDOW_S, or
over the last WINDOW_SAMPLES where samples are rare, as they are where only whole partitions count.
Time before the first byte does not count. While the busy brokers copy far less than the average
broker, they are between two bursts, and the remaining time is not known.
Example: 60 MB left on the busiest broker, 50 MB half a minute later: 10 MB in 30 s, so 150 s
remain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.plan.copying import leader_of, per_broker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.model import PartitionTarget

SAMPLE_S = 2.0
"""Seconds between two samples, and between two requests to a broker."""
WINDOW_S = 30.0
WINDOW_SAMPLES = 5
_SHARPNESS = 8
"""A broker that sends or receives half as much as the busiest weighs 2^8 times less."""
_LEAST_SHARE = 0.1
"""The least growth of the busy brokers, as a fraction of the average broker's, that gives a
remaining time."""

Sizes: TypeAlias = Mapping[TopicPartition, int]
"""Bytes to copy to each new replica, by partition."""
OnDisk: TypeAlias = Mapping[int, Mapping[TopicPartition, int]]
"""Bytes of replicas by the broker that holds them, of the brokers that answered."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Bytes copied of bytes to copy.

    `left` is the sum over waves of the bytes left on the busiest broker; `level` the same for the
    mean of the busy brokers, `mean` for that of all brokers.
    """

    done: int
    total: int
    left: float
    level: float
    mean: float


@dataclass(frozen=True, slots=True)
class Sample:
    """The bytes copied at a time of a monotonic clock."""

    at: float
    copied: Copied


def replicas_to_measure(
    copying: Iterable[PartitionTarget], unsized: Iterable[PartitionTarget], state: ClusterState
) -> dict[int, set[TopicPartition]]:
    """Return, by broker, the replicas whose sizes give the progress of copies.

    They also give the sizes of `unsized` partitions.
    """
    found: dict[int, set[TopicPartition]] = {}
    for target, brokers in (
        *((each, (*_holders(each, state), *each.added)) for each in copying),
        *((each, _holders(each, state)) for each in unsized),
    ):
        for broker in brokers:
            found.setdefault(broker, set()).add(target.partition)
    return found


def sizes_told(targets: Iterable[PartitionTarget], state: ClusterState, held: OnDisk) -> Sizes:
    """Return the sizes of targets whose holders all answered, at least one with a replica.

    `held` has no entry of a replica that is not there: a leader that the reassignment removes may
    have deleted its own since `state` was read, which does not change the partition's size.
    """
    sizes = {}
    for target in targets:
        holders, partition = _holders(target, state), target.partition
        held_bytes = [
            held[broker][partition] for broker in holders if partition in held.get(broker, ())
        ]
        if held_bytes and all(broker in held for broker in holders):
            sizes[partition] = max(held_bytes)
    return sizes


def copied(
    waves: Iterable[Iterable[PartitionTarget]],
    finished: Collection[TopicPartition],
    state: ClusterState,
    sizes: Sizes,
    on_disk: OnDisk,
) -> Copied | None:
    """Add up the copies of all waves; None where a size is unknown.

    `sizes` take precedence over those of the plan. A copy on a broker that is not in `on_disk`
    counts when its partition is `finished`.
    """
    done = total = 0
    left = level = mean = 0.0
    for wave in waves:
        copies: list[tuple[int | None, int, int, int]] = []
        for target in wave:
            new, whole = target.added, target.partition in finished
            size = sizes.get(target.partition, target.size_bytes) if new else 0
            if size is None:
                return None
            # The leader of a finished partition may be one that received it.
            sender = (target.current or target.replicas)[0] if whole else leader_of(target, state)
            for broker in new:
                present_bytes = (
                    size if whole else min(size, on_disk.get(broker, {}).get(target.partition, 0))
                )
                done, total = done + present_bytes, total + size
                copies.append((sender, broker, size, size - present_bytes))
        if any(rest for *_, rest in copies):
            lefts = per_broker((sender, (broker,), rest) for sender, broker, _, rest in copies)
            left += max(lefts)
            level += _level(
                lefts, per_broker((sender, (broker,), size) for sender, broker, size, _ in copies)
            )
            mean += sum(lefts) / len(lefts)
    return Copied(done, total, left, level, mean)


def with_sample(samples: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """Add a sample and drop outdated ones; when copied bytes shrink, the average starts again."""
    idle = len(samples) == 1 and samples[0].copied.done == new.copied.done
    if not samples or idle or new.copied.done < samples[-1].copied.done:
        return (new,)
    kept = (*samples, new)
    while len(kept) > WINDOW_SAMPLES and kept[1].at <= new.at - WINDOW_S:
        kept = kept[1:]
    return kept


def rate_of(samples: tuple[Sample, ...]) -> float | None:
    """Return the bytes per second that are copied, None before the first growth."""
    elapsed = _elapsed(samples)
    return (samples[-1].copied.done - samples[0].copied.done) / elapsed if elapsed else None


def eta_of(samples: tuple[Sample, ...], throttle: int | None) -> float | None:
    """Return the seconds that are left, never fewer than the throttle allows.

    None where the end does not approach.
    """
    elapsed = _elapsed(samples)
    if not elapsed:
        return None
    before, now = samples[0].copied, samples[-1].copied
    speed = (before.level - now.level) / elapsed
    if speed <= 0 or before.level - now.level < _LEAST_SHARE * (before.mean - now.mean):
        return None
    return now.left / (speed if throttle is None else min(speed, throttle))


def _holders(target: PartitionTarget, state: ClusterState) -> tuple[int, ...]:
    """Return the leader, where there is one.

    Of a partition that was not read the first replicas before and after.
    """
    if target.partition in state.states:
        sender = leader_of(target, state)
        return () if sender is None else (sender,)
    return ((target.current or target.replicas)[0], target.replicas[0])


def _level(lefts: Sequence[float], totals: Sequence[float]) -> float:
    """Return the mean of the bytes left on brokers, weighted by their bytes in the whole wave."""
    most = max(totals)
    weights = [(total / most) ** _SHARPNESS for total in totals]
    return sum(weight * rest for weight, rest in zip(weights, lefts, strict=True)) / sum(weights)


def _elapsed(samples: tuple[Sample, ...]) -> float:
    return samples[-1].at - samples[0].at if samples else 0.0
