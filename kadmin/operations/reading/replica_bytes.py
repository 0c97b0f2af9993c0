"""Asks brokers how far the copies of a reassignment are, while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.log_dirs import LogDirs, describe_replicas
from kadmin.errors import KadminError
from kadmin.operations import events
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.reading.brokers import plain_listeners
from kadmin.plan.copied import SAMPLE_S, replicas_to_measure, sizes_told
from kadmin.plan.progress import copying
from kadmin.plan.waves import added

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Clock
    from kadmin.operations.decide.actions import Memory, Observed, Work
    from kadmin.operations.events import Tell
    from kadmin.plan.copied import OnDisk, Sizes

PATIENCE_S = 1.0
"""The most that it takes to find a broker, and then to have all answers: the runner waits for them."""
SILENCE_S = 30.0
"""Seconds for which a broker that did not answer is not asked again."""


class ReplicaBytes:
    """Asks brokers for the bytes of what is in flight, over connections that stay open; close it, or use `with`.

    Nothing is raised: the copies on a broker that does not answer count when they are whole, which is told once.
    """

    def __init__(self, work: Work, clock: Clock, tell: Tell) -> None:
        self._work = work
        self._clock = clock
        self._tell = tell
        self._connection: KafkaConnection | None = None
        self._due = 0.0
        self._silent: dict[int, float] = {}
        self._noted: set[str] = set()
        self._on_disk: OnDisk = {}
        self._sizes: Sizes = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def measure(self, observed: Observed, memory: Memory) -> Observed:
        """Return the observation with what brokers told last; they are asked where SAMPLE_S have passed."""
        now = self._clock.now()
        in_time = self._due <= now < self._clock.until - 2 * PATIENCE_S
        if isinstance(self._work, ReassignmentWork) and in_time:
            self._sample(self._work, observed, memory, now)
        return replace(observed, sizes=self._sizes, on_disk=self._on_disk)

    def _sample(self, work: ReassignmentWork, observed: Observed, memory: Memory, now: float) -> None:
        state, moving = observed.state, copying(work.wave(memory), observed.state)
        unsized = [
            target
            for wave in work.waves
            for target in wave
            if target.size_bytes is None and target.partition not in self._sizes and added(target)
        ]
        wanted = {
            broker: partitions
            for broker, partitions in replicas_to_measure(moving, unsized, state).items()
            if broker in state.brokers and self._silent.get(broker, now) <= now
        }
        if not wanted:
            return
        found = self._ask(wanted, state)
        self._due = self._clock.now() + SAMPLE_S
        self._silent.update(dict.fromkeys(found.failed, now + SILENCE_S))
        self._on_disk = {
            broker: {partition: held.get(partition, 0) for partition in wanted[broker]}
            for broker, held in found.sizes.items()
        }
        self._sizes = {**self._sizes, **sizes_told((*moving, *unsized), state, self._on_disk)}

    def _ask(self, wanted: Mapping[int, Collection[TopicPartition]], state: ClusterState) -> LogDirs:
        try:
            if self._connection is None:
                self._connection = KafkaConnection(plain_listeners(state), bootstrap_s=PATIENCE_S)
            found = describe_replicas(self._connection, wanted, PATIENCE_S)
        except KadminError as error:
            self._note(f"progress counts whole partitions: {error.message}")
            found = LogDirs({}, dict.fromkeys(wanted, error))
        else:
            for broker, reason in found.failed.items():
                self._note(f"progress counts whole partitions on broker {broker}: {reason.message}")
        if found.failed:
            self.close()
        return found

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._tell(events.Noted(text))
