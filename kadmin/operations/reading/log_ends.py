"""Asks the leaders of partitions for the ends of their logs, at an operation's start and end."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import why
from kadmin.cluster.offsets import EPOCHS_NOT_KEPT, LogEnd
from kadmin.errors import KadminError
from kadmin.operations.decide.actions import Observed
from kadmin.operations.decide.common import made_again
from kadmin.operations.record.record import HighWatermark
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.cluster.offsets import LogOffsets
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.port import LiveBrokers
    from kadmin.operations.record.steps import Step

    Led = Mapping[int, Mapping[TopicPartition, int]]

_NEW_LEADERS_S = 5.0
"""Seconds that a broker may take to lead a partition after the cluster shows it as leader."""
_MOST_S, _LEAST_S = 5.0, 0.3
"""Seconds that answers may take, and that they have at the command's end."""
_NO_LEADER = "no leader"
_NO_EPOCHS = "brokers before Kafka 2.1 do not report leader epochs"


@dataclass(frozen=True, slots=True)
class HighWatermarks:
    """The high watermarks of partitions; `unknown` has the reasons for missing ones."""

    by_partition: Mapping[TopicPartition, HighWatermark]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpochEnds:
    """End offsets of leader epochs in the logs of the leaders in `state`.

    `unknown`: reasons for missing ones.
    """

    offsets: Mapping[TopicPartition, int]
    unknown: tuple[str, ...]
    state: ClusterState


def read_high_watermarks(
    context: Context, partitions: Iterable[TopicPartition], state: ClusterState
) -> HighWatermarks:
    """Ask the leaders of partitions for their high watermarks; nothing is raised."""
    led, unknown = _by_leader(dict.fromkeys(partitions, 0), state)
    timeout_s = _timeout_s(context.clock)
    found, failed = _ask(
        context.backend.brokers(state),
        led,
        lambda brokers: brokers.log_offsets(led, LogEnd.LAST, timeout_s),
    )
    unknown += failed
    high_watermarks: dict[TopicPartition, HighWatermark] = {}
    for each in found:
        unknown += each.refused
        for partition, offset in each.offsets.items():
            if partition in each.leader_epochs:
                high_watermarks[partition] = HighWatermark(offset, each.leader_epochs[partition])
            else:
                unknown[_NO_EPOCHS] += 1
    return HighWatermarks(high_watermarks, _in_words(unknown))


def read_epoch_ends(
    context: Context, before: Mapping[TopicPartition, HighWatermark], steps: tuple[Step, ...]
) -> EpochEnds:
    """Ask the present leaders for the end offsets of the high watermarks' epochs in their logs.

    Partitions that were deleted, or made again after `steps`, are left out. A new leader that does
    not lead yet is asked again. Raises as `Backend.read` does.
    """
    clock = context.clock
    ends: dict[TopicPartition, int] = {}
    for _ in clock.poll(_NEW_LEADERS_S):
        state = context.backend.read({partition.topic for partition in before})
        left = before.keys() & state.states.keys() - ends.keys()
        left -= made_again(left, Observed(state, steps, context.backend.capabilities))
        led, unknown = _by_leader({each: before[each].leader_epoch for each in sorted(left)}, state)
        found, failed = _ask(
            context.backend.brokers(state),
            led,
            _epoch_ends(led, _timeout_s(clock)),
        )
        refused = Counter[str]()
        for each in found:
            ends |= each.offsets
            refused += each.refused
        if not refused.keys() - {EPOCHS_NOT_KEPT} or clock.stop_signal is not None:
            break
    return EpochEnds(ends, _in_words(unknown + failed + refused), state)


def _by_leader(
    epochs: Mapping[TopicPartition, int], state: ClusterState
) -> tuple[Led, Counter[str]]:
    """Return the partitions to ask each live leader for, and the number without one."""
    led: dict[int, dict[TopicPartition, int]] = {}
    unknown = Counter[str]()
    for partition, epoch in epochs.items():
        found = state.states.get(partition)
        if found is None or found.leader not in state.brokers:
            unknown[_NO_LEADER] += 1
        else:
            led.setdefault(found.leader, {})[partition] = epoch
    return led, unknown


def _epoch_ends(led: Led, timeout_s: float) -> Callable[[LiveBrokers], FromBrokers[LogOffsets]]:
    return lambda brokers: brokers.epoch_ends(led, timeout_s)


def _timeout_s(clock: Clock) -> float:
    return max(_LEAST_S, min(_MOST_S, clock.until - clock.now()))


def _ask(
    brokers: LiveBrokers, led: Led, question: Callable[[LiveBrokers], FromBrokers[LogOffsets]]
) -> tuple[tuple[LogOffsets, ...], Counter[str]]:
    """Return the answers of brokers, and the number of partitions without one by reason."""
    if not led:
        return (), Counter()
    try:
        with closing(brokers):
            found = question(brokers)
    except KadminError as error:
        return (), Counter({why(error): sum(map(len, led.values()))})
    failed = Counter[str]()
    for broker, reason in found.failed.items():
        failed[why(reason)] += len(led[broker])
    return tuple(found.given.values()), failed


def _in_words(unknown: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(f"{count(number, 'partition')}: {reason}" for reason, number in unknown.items())
