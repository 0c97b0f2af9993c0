"""Samples what brokers know of their load: start and end offsets, log sizes, committed offsets of groups."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.connection import REQUEST_S
from kadmin.cluster.kafka.log_dirs import LogDirs, ask_log_dirs
from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.offsets import OFFSETS_AT, LogEnd, ask_group_offsets, ask_groups, ask_log_offsets
from kadmin.cluster.model import NO_LEADER
from kadmin.errors import KadminError, NotCompletedError, UnreachableError
from kadmin.inventory.samples import LoadSample, SampleExistsError
from kadmin.operations import events
from kadmin.operations.reading.brokers import not_described
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.kafka.metadata import ClusterMetadata
    from kadmin.cluster.kafka.offsets import GroupOffsets
    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.context import Clock
    from kadmin.operations.events import Tell


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sample that was written, how many were before it, and how many times passed without one."""

    sample: LoadSample
    file: Path
    samples: int = 1
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """At every multiple of `every_s` since 1970, which five minutes make :00, :05 and so on, for `for_s` seconds."""

    every_s: int
    for_s: int

    def following(self, now_s: float) -> float:
        """Return the next time after `now_s`."""
        return (math.floor(now_s / self.every_s) + 1.0) * self.every_s

    def passed(self, due_s: float, now_s: float) -> int:
        """Return how many times there are after `due_s`, and not after `now_s`."""
        return max(0, math.floor(now_s / self.every_s) - math.floor(due_s / self.every_s))


def take_sample(connection: KafkaConnection, clock: Clock) -> LoadSample:
    """Ask every live broker at once; a broker that does not answer costs its own rows.

    Raises UnreachableError or NotCompletedError where no broker describes the cluster, or none tells any end offset.
    """
    metadata = read_metadata(connection)
    brokers = [each.broker_id for each in metadata.brokers.values() if each.alive]
    led, taken_at = _led(metadata), clock.utc()
    waits = {at: ask_log_offsets(connection, led, at, REQUEST_S) for at in (LogEnd.LAST, LogEnd.FIRST)}
    sizes = ask_log_dirs(connection, brokers, REQUEST_S)
    groups = ask_groups(connection, brokers, REQUEST_S)()
    groups_at = clock.utc()
    committed = ask_group_offsets(connection, groups.given, REQUEST_S)()
    offsets = {at: wait() for at, wait in waits.items()}
    ends = offsets[LogEnd.LAST]
    if ends.failed and not ends.given:
        raise next(iter(ends.failed.values()))
    disks = _sizes(sizes, brokers)
    unavailable = (
        *_unled(metadata),
        *(
            line
            for at, found in offsets.items()
            for line in _not_told(
                OFFSETS_AT[at], found.failed, (each.refused for each in found.given.values()), "partition"
            )
        ),
        *not_described(disks),
        *_not_told("groups", groups.failed, (), "group"),
        *_not_told("committed offsets", committed.failed, map(_counted, committed.given.values()), "group"),
    )
    return LoadSample(
        taken_at,
        metadata.cluster_id,
        {leader: answer.known for leader, answer in ends.given.items()},
        disks.sizes,
        {name: offsets for answer in committed.given.values() for name, offsets in answer.known.items()},
        groups_at,
        unavailable,
        {each: offset for answer in offsets[LogEnd.FIRST].given.values() for each, offset in answer.known.items()},
    )


def sample_once(take: Callable[[], LoadSample], write: Callable[[LoadSample], Path], tell: Tell) -> Sampled:
    """Take one sample, and tell what brokers did not answer; raises what `take` and `write` do."""
    sample = take()
    done = Sampled(sample, write(sample))
    for line in sample.unavailable:
        tell(events.Noted(line))
    return done


def sample_repeatedly(
    take: Callable[[], LoadSample], write: Callable[[LoadSample], Path], clock: Clock, tell: Tell, schedule: Schedule
) -> Sampled:
    """Take a sample now, and then at each time of the schedule; a time that passes meanwhile is left out.

    An error before the first sample is written is raised; later it costs that sample and is told. A signal raises
    StoppedError between two samples.
    """
    clock.careful = True
    end, due_s = clock.now() + schedule.for_s, clock.utc().timestamp()
    done: Sampled | None = None
    missed = 0
    while True:
        begun = clock.timestamp()
        try:
            sample = take()
            done = Sampled(sample, write(sample), 1 if done is None else done.samples + 1)
            for line in (f"{done.file.name}: {counts(sample)}", *sample.unavailable):
                tell(events.Noted(line))
        except (UnreachableError, NotCompletedError) as error:
            # A run that is started again at once meets the last sample of the run before.
            if done is None and (not isinstance(error, SampleExistsError) or clock.now() >= end):
                raise
            missed += 1
            tell(events.Noted(f"no sample at {begun}: {error.message}"))
        now_s = clock.utc().timestamp()
        missed += schedule.passed(due_s, now_s)
        due_s = schedule.following(now_s)
        if done is not None and clock.now() + (due_s - now_s) >= end:
            return replace(done, missed=missed)
        _wait(clock, due_s, done)


def _wait(clock: Clock, due_s: float, done: Sampled | None) -> None:
    """Wait for a time of the wall clock; raises StoppedError, or NotCompletedError at the command's end."""
    kept = "no sample was written"
    if done is not None:
        kept = f"{done.file.parent} has {count(done.samples, 'sample')} of this run"
    while (left_s := due_s - clock.utc().timestamp()) > 0 or clock.stop_signal is not None:
        clock.stop_if_asked(kept, "repeat the command: it goes on in the same folder")
        if clock.over:
            raise NotCompletedError(
                f"Not finished within --timeout; {kept}.", next_command="run it again with a longer --timeout"
            )
        clock.wait(left_s)


def counts(sample: LoadSample) -> str:
    """Count the partitions, replicas and groups of a sample, for people."""
    parts = count(partitions(sample), "partition"), count(replicas(sample), "replica")
    return f"{', '.join(parts)}, {count(len(sample.group_offsets), 'group')}"


def partitions(sample: LoadSample) -> int:
    """Return the number of partitions whose end offsets a sample has."""
    return sum(len(offsets) for offsets in sample.end_offsets.values())


def replicas(sample: LoadSample) -> int:
    """Return the number of replicas whose sizes a sample has."""
    return sum(len(sizes) for sizes in sample.log_sizes.values())


def _led(metadata: ClusterMetadata) -> Mapping[int, list[TopicPartition]]:
    led: dict[int, list[TopicPartition]] = {}
    for partition, found in metadata.partitions.items():
        if found.leader != NO_LEADER:
            led.setdefault(found.leader, []).append(partition)
    return led


def _unled(metadata: ClusterMetadata) -> Iterator[str]:
    without = sum(found.leader == NO_LEADER for found in metadata.partitions.values())
    if without:
        yield f"no end offset of {count(without, 'partition')} without a leader"


def _sizes(wait: Callable[[], LogDirs], brokers: Iterable[int]) -> LogDirs:
    try:
        return wait()
    except KadminError as error:
        return LogDirs({}, dict.fromkeys(brokers, error))


def _counted(offsets: GroupOffsets) -> Counter[str]:
    return Counter(offsets.refused.values())


def _not_told(
    what: str, failed: Mapping[int, KadminError], refused: Iterable[Counter[str]], noun: str
) -> Iterator[str]:
    for broker, error in failed.items():
        yield f"{what} at broker {broker} are not known: {error.message}"
    for each in refused:
        for name, number in sorted(each.items()):
            yield f"{what} of {count(number, noun)} are not known: {name}"
