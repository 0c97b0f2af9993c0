"""Asks brokers in which log directories the replicas of a plan are."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import KadminError
from kadmin.operations import events
from kadmin.operations.decide.ended_moves import begun_moves, moving_between_disks
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.steps import published_by
from kadmin.plan.copied import SAMPLE_S
from kadmin.plan.directories import Directories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.events import EventSink
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.model import PartitionTarget

PATIENCE_S = 5.0
"""The most that it takes to find a broker, and then to have all answers."""


def read_directories(
    brokers: LiveBrokers, targets: Iterable[PartitionTarget], state: ClusterState
) -> tuple[Directories, tuple[str, ...]]:
    """Return where the replicas are for which targets name a directory, and what is not known.

    Brokers that are not alive are not asked; nothing is raised.
    """
    wanted: dict[int, list[TopicPartition]] = {}
    for target in targets:
        for broker in target.directories:
            if broker in state.brokers:
                wanted.setdefault(broker, []).append(target.partition)
    if not wanted:
        return Directories(), ()
    try:
        found = brokers.replica_sizes(wanted, PATIENCE_S)
    except KadminError as error:
        return Directories(), (error.message,)
    partitions = {each for listed in wanted.values() for each in listed}
    unknown = tuple(error.message for error in found.failed.values())
    return Directories.of(found.disks, found.replicas, partitions), unknown


def with_directories(context: Context, work: OperationSpec, observed: Observed) -> Observed:
    """Return an observation with the directories for which the work names some, read once."""
    if not isinstance(work, ReassignmentWork):
        return observed
    named = [target for target in work.targets if target.log_dirs]
    if not named:
        return observed
    with closing(context.backend.brokers(observed.state)) as brokers:
        found, _ = read_directories(brokers, named, observed.state)
    return replace(observed, directories=found)


def between_disks_now(
    context: Context, operation_id: str, work: OperationSpec, state: ClusterState
) -> Mapping[TopicPartition, tuple[int, ...]]:
    """Return the partitions that an operation moves between disks now, with their brokers.

    Those of a broker that does not answer are among them.
    """
    if not isinstance(work, ReassignmentWork):
        return {}
    steps = published_by(context.operations.steps(operation_id))
    begun = {partition for partition, _ in begun_moves(steps)}
    if not begun:
        return {}
    asked = [each for each in work.targets if each.partition in begun]
    with closing(context.backend.brokers(state)) as brokers:
        found, _ = read_directories(brokers, asked, state)
    moving: dict[TopicPartition, tuple[int, ...]] = {}
    for partition, broker in moving_between_disks(steps, found):
        moving[partition] = (*moving.get(partition, ()), broker)
    return moving


class DirectoryReader:
    """Asks brokers at each look that may need it, over connections that stay open; close it."""

    def __init__(
        self,
        work: OperationSpec,
        brokers_of: Callable[[ClusterState], LiveBrokers],
        clock: Clock,
        tell: EventSink,
    ) -> None:
        self._work = work
        self._brokers_of = brokers_of
        self._clock = clock
        self._tell = tell
        self._brokers: LiveBrokers | None = None
        self._seen = Directories()
        self._key: object = None
        self._due = 0.0
        self._noted: set[str] = set()

    def close(self) -> None:
        """Close the connections."""
        if self._brokers is not None:
            self._brokers.close()
            self._brokers = None

    def look(self, observed: Observed, memory: Memory) -> Observed:
        """Return the observation with the directories of the wave's replicas.

        They are those of all waves while the operation is cancelled, and after the last. They are
        read again after SAMPLE_S, and after each step.
        """
        work, now = self._work, self._clock.now()
        if not isinstance(work, ReassignmentWork):
            return observed
        whole = observed.request is not None or memory.wave >= len(work.waves)
        targets = [each for each in (work.targets if whole else work.wave(memory)) if each.log_dirs]
        if not any(each.directories for each in targets):
            return observed
        key = (memory.wave, whole, len(observed.steps), frozenset(observed.state.brokers))
        if key != self._key or now >= self._due:
            self._read(targets, observed.state)
            self._key, self._due = key, self._clock.now() + SAMPLE_S
        return replace(observed, directories=self._seen)

    def _read(self, targets: Iterable[PartitionTarget], state: ClusterState) -> None:
        if self._brokers is None:
            self._brokers = self._brokers_of(state)
        self._seen, unknown = read_directories(self._brokers, targets, state)
        for text in unknown:
            if text not in self._noted:
                self._noted.add(text)
                self._tell(events.Note(f"log directories are not known: {text}"))
        if unknown:
            self.close()
