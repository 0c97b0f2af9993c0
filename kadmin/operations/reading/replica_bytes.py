"""Asks brokers for the bytes of a reassignment's copies, while it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from kadmin.cluster.log_dirs import LogDirs
from kadmin.errors import KadminError, UnreachableError
from kadmin.operations import events
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.plan.copied import SAMPLE_S, replicas_to_measure, sizes_told

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Clock
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.events import EventSink
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.copied import OnDisk, Sizes

PATIENCE_S = 1.0
"""The most that it takes to find a broker, and then to have all answers: the runner waits for
them."""
SILENCE_S = 30.0
"""Seconds for which a broker that missed two samples in a row is not asked again: one may be a
pause."""


class BrokerBackoff:
    """Brokers that are not asked for SILENCE_S after they missed two samples in a row."""

    def __init__(self) -> None:
        self._missed: set[int] = set()
        self._until: dict[int, float] = {}

    def is_over(self, broker: int, now: float) -> bool:
        """Whether a broker may be asked."""
        return self._until.get(broker, now) <= now

    def heard(self, found: LogDirs, now: float) -> dict[int, KadminError]:
        """Record the answers to one sample.

        Return the brokers that are not asked from now on, with their errors.
        """
        lasting = {
            broker: error
            for broker, error in found.failed.items()
            if broker in self._missed or not isinstance(error, UnreachableError)
        }
        self._until.update(dict.fromkeys(lasting, now + SILENCE_S))
        self._missed = (self._missed - found.sizes.keys()) | found.failed.keys()
        return lasting


class ReplicaBytes:
    """Asks brokers for the bytes of replicas in flight, over connections that stay open.

    Close it, or use `with`. Nothing is raised: while a broker does not answer, its last answer
    counts, and copies that are whole. A note says so once.
    """

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
        self._due = 0.0
        self._backoff = BrokerBackoff()
        self._noted: set[str] = set()
        self._on_disk: OnDisk = {}
        self._sizes: Sizes = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._brokers is not None:
            self._brokers.close()
            self._brokers = None

    def measure(self, observed: Observed, memory: Memory) -> Observed:
        """Return the observation with the brokers' last answers.

        They are asked where SAMPLE_S have passed.
        """
        now = self._clock.now()
        in_time = self._due <= now < self._clock.until - 2 * PATIENCE_S
        if isinstance(self._work, CopyingSpec) and in_time:
            self._sample(self._work, observed, memory, now)
        return replace(observed, sizes=self._sizes, on_disk=self._on_disk)

    def _sample(self, work: CopyingSpec, observed: Observed, memory: Memory, now: float) -> None:
        state, moving = observed.state, work.copying(work.wave(memory), observed.state)
        unsized = [
            target
            for wave in work.waves
            for target in wave
            if target.size_bytes is None and target.partition not in self._sizes and target.added
        ]
        wanted = {
            broker: partitions
            for broker, partitions in replicas_to_measure(moving, unsized, state).items()
            if broker in state.brokers and self._backoff.is_over(broker, now)
        }
        if not wanted:
            return
        found = self._ask(wanted, state)
        self._due = self._clock.now() + SAMPLE_S
        for broker, error in self._backoff.heard(found, now).items():
            where = f" on broker {broker}" if found.sizes else ""
            self._note(f"progress counts whole partitions{where}: {error.message}")
        # A broker that answered and does not hold a replica yet has copied 0 of it.
        answered = {
            broker: {partition: held.get(partition, 0) for partition in wanted[broker]}
            for broker, held in found.sizes.items()
        }
        self._on_disk = {**self._on_disk, **answered}
        self._sizes = {**self._sizes, **sizes_told((*moving, *unsized), state, found.sizes)}

    def _ask(
        self, wanted: Mapping[int, Collection[TopicPartition]], state: ClusterState
    ) -> LogDirs:
        try:
            if self._brokers is None:
                self._brokers = self._brokers_of(state)
            found = self._brokers.replica_sizes(wanted, PATIENCE_S)
        except KadminError as error:
            found = LogDirs({}, dict.fromkeys(wanted, error))
        if found.failed:
            self.close()
        return found

    def _note(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            self._tell(events.Note(text))
