"""Judges whether brokers may be stopped together: the gate of every errand that stops brokers.

Goals: each partition keeps a leader without a loss, and its writers with acks=all are not refused.
Constraints: pure; unknown is never safe; the leader after the stop is that of `whatif`.
Algorithm: a stop concerns the partitions with a replica on one of the brokers. Where a broker of
the ISR is stopped, the partition must have a leader that was in sync or eligible, and the live
in-sync replicas that are left must be at least min.insync.replicas and a margin. A reassignment in
flight forbids the stop too: from Kafka 4.3 on it may end with a short ISR. A partition that has no
leader already, or that refuses acks=all already and loses no in-sync replica, is no worse
afterwards. In KRaft mode a majority of the controllers that follow the active one must be left.
Example: replicas [1, 2, 3], ISR [1, 2], min.insync.replicas 2: 3 may be stopped, 1 and 2 may not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.whatif import without
from kadmin.insight.quorum import not_following
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kadmin.cluster.model import Controller, Replicas, TopicPartition
    from kadmin.insight.predict.losses import PlacedPartition

    Placements: TypeAlias = Mapping[TopicPartition, PlacedPartition]


class StopReason(StrEnum):
    """The reason for which brokers may not be stopped, the worst first."""

    OFFLINE = "offline"
    """The partition has no leader afterwards."""
    UNCLEAN = "unclean"
    """A replica that is not in sync leads afterwards: records are lost."""
    UNDER_MIN_ISR = "under-min-isr"
    """Too few in-sync replicas are left for acks=all, and for the margin."""
    MOVE_IN_FLIGHT = "move-in-flight"
    """The partition is being reassigned."""
    QUORUM = "quorum"
    """The controllers lose their majority."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class StopObstacle:
    """A reason that forbids to stop brokers.

    `partition` is None where it concerns the cluster. `isr` are the live in-sync replicas that are
    left, `min_isr` is min.insync.replicas; None: unknown, or not asked.
    """

    reason: StopReason
    because: str
    partition: TopicPartition | None = None
    isr: Replicas | None = None
    min_isr: int | None = None


@dataclass(frozen=True, slots=True)
class StopVerdict:
    """Whether brokers may be stopped together, with each obstacle.

    `no_worse` are partitions on these brokers that are offline, or refuse acks=all, before and
    after.
    """

    brokers: tuple[int, ...]
    obstacles: tuple[StopObstacle, ...]
    no_worse: tuple[TopicPartition, ...] = ()

    @property
    def safe(self) -> bool:
        """Whether nothing forbids the stop."""
        return not self.obstacles

    @property
    def why_not(self) -> str:
        """The obstacles in a few words, `2 offline, 1 under-min-isr`; empty where it is safe."""
        numbers = Counter(each.reason for each in self.obstacles)
        return ", ".join(f"{numbers[each]:,} {each}" for each in StopReason if each in numbers)


@dataclass(frozen=True)
class StopEvidence:
    """What was read of a cluster to judge stops.

    `default_min_isr` is each broker's own min.insync.replicas, which topics get that are not in
    `own_min_isr`; a broker that did not report it is missing. None: every placement has the right
    one. `unsettled` topics kept changing while they were read. `unlisted` are brokers that may hold
    replicas that were not read, and `doubts` what is unknown of the whole cluster, with the
    reasons.
    """

    placements: tuple[PlacedPartition, ...]
    alive: frozenset[int]
    moving: frozenset[TopicPartition] = frozenset()
    controller: Controller | None = None
    default_min_isr: Mapping[int, int] | None = None
    own_min_isr: frozenset[str] = frozenset()
    unsettled: frozenset[str] = frozenset()
    unlisted: Mapping[int, str] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @cached_property
    def by_broker(self) -> Mapping[int, Placements]:
        """The partitions with a replica on each broker."""
        found: dict[int, dict[TopicPartition, PlacedPartition]] = {}
        for placement in self.placements:
            for broker in {*placement.replicas, *(placement.isr or ())}:
                found.setdefault(broker, {})[placement.partition] = placement
        return found

    def min_isr(self, placement: PlacedPartition, leaders: Replicas) -> int | None:
        """Return min.insync.replicas of a partition that one of `leaders` leads; None: unknown."""
        if self.default_min_isr is None or placement.partition.topic in self.own_min_isr:
            return placement.min_isr
        found = [self.default_min_isr.get(broker) for broker in leaders]
        known = [each for each in found if each is not None]
        return max(known) if known and len(known) == len(found) else None


def judge_stop(evidence: StopEvidence, brokers: Collection[int], margin: int = 0) -> StopVerdict:
    """Judge whether brokers may be stopped together.

    `margin` is the number of further in-sync replicas that every partition must keep. One that is
    not alive changes nothing.
    """
    stopped = frozenset(brokers)
    stop = _Stop(evidence, stopped, evidence.alive - stopped, margin)
    concerned: dict[TopicPartition, PlacedPartition] = {}
    for broker in sorted(stopped):
        concerned |= evidence.by_broker.get(broker, {})
    in_order = sorted(concerned, key=attrgetter("topic", "partition"))
    found = {partition: stop.obstacle(concerned[partition]) for partition in in_order}
    return StopVerdict(
        tuple(sorted(stopped)),
        (*stop.of_cluster(), *(each for each in found.values() if each is not None)),
        tuple(
            partition
            for partition, obstacle in found.items()
            if obstacle is None and stop.is_no_worse(concerned[partition])
        ),
    )


@dataclass(frozen=True, slots=True)
class _Stop:
    """A stop of some brokers, that leaves the brokers `left` alive."""

    evidence: StopEvidence
    stopped: frozenset[int]
    left: frozenset[int]
    margin: int

    def of_cluster(self) -> Iterator[StopObstacle]:
        """Yield the obstacles that are of no partition."""
        for doubt in self.evidence.doubts:
            yield StopObstacle(StopReason.UNKNOWN, doubt)
        for broker in sorted(self.stopped & self.evidence.unlisted.keys()):
            yield StopObstacle(StopReason.UNKNOWN, self.evidence.unlisted[broker])
        controller = self.evidence.controller
        if controller is None:
            return
        going = [voter for voter in controller.voters if voter.server_id in self.stopped]
        late = {voter.server_id for voter in not_following(controller)} - self.stopped
        voters = len(controller.voters)
        staying = voters - len(going) - len(late)
        majority = voters // 2 + 1
        if going and staying < majority:
            behind = f"; not following: {name_some(sorted(late))}" if late else ""
            yield StopObstacle(
                StopReason.QUORUM,
                f"{staying} of {count(voters, 'controller')} would be left, and {majority} are a "
                f"majority{behind}",
            )

    def obstacle(self, placement: PlacedPartition) -> StopObstacle | None:
        """Return the worst obstacle of a partition on one of the brokers."""
        if placement.leader == NO_LEADER:
            return None
        if placement.isr is None or placement.leader is None:
            return self._obstacle(placement, StopReason.UNKNOWN, "the ISR is unknown")
        if placement.partition.topic in self.evidence.unsettled:
            because = "the topic kept changing while it was read"
            return self._obstacle(placement, StopReason.UNKNOWN, because)
        found = None
        if not self.stopped.isdisjoint(placement.isr):
            found = self._of_leader(placement) or self._of_in_sync(placement)
        if found is None and placement.partition in self.evidence.moving:
            because = "a reassignment is in flight"
            return self._obstacle(placement, StopReason.MOVE_IN_FLIGHT, because)
        return found

    def is_no_worse(self, placement: PlacedPartition) -> bool:
        """Whether a partition without an obstacle has no leader, or refuses acks=all, already."""
        if placement.leader == NO_LEADER:
            return True
        in_sync = self._in_sync(placement)
        wanted = self.evidence.min_isr(placement, in_sync)
        return wanted is not None and len(in_sync) < wanted

    def _of_leader(self, placement: PlacedPartition) -> StopObstacle | None:
        if self._in_sync(placement):  # one of them leads
            return None
        leader = without(placement, self.left).leader
        if leader == NO_LEADER:
            alone = len(placement.replicas) == 1
            because = "its only replica" if alone else "no other live replica is in sync"
            return self._obstacle(placement, StopReason.OFFLINE, because)
        if leader not in (placement.isr or ()) and leader not in placement.elr:
            because = "unclean elections are allowed, and no other live replica is in sync"
            return self._obstacle(placement, StopReason.UNCLEAN, because)
        return None

    def _of_in_sync(self, placement: PlacedPartition) -> StopObstacle | None:
        in_sync = self._in_sync(placement)
        wanted = self.evidence.min_isr(placement, in_sync)
        if wanted is None and in_sync:
            silent = sorted(set(in_sync) - (self.evidence.default_min_isr or {}).keys())
            because = f"min.insync.replicas of {brokers_in_words(silent)} is unknown"
            return self._obstacle(placement, StopReason.UNKNOWN, because)
        if wanted is not None and len(in_sync) >= wanted + self.margin:
            return None
        already = wanted is not None and len(placement.isr or ()) < wanted
        margin = f" with a margin of {self.margin}" if self.margin else ""
        because = (
            "it refuses acks=all already, and loses another in-sync replica"
            if already
            else f"{len(in_sync)} in sync would be left, too few{margin}"
        )
        return self._obstacle(placement, StopReason.UNDER_MIN_ISR, because)

    def _in_sync(self, placement: PlacedPartition) -> Replicas:
        return tuple(broker for broker in placement.isr or () if broker in self.left)

    def _obstacle(
        self, placement: PlacedPartition, reason: StopReason, because: str
    ) -> StopObstacle:
        isr = None if placement.isr is None else self._in_sync(placement)
        wanted = self.evidence.min_isr(placement, isr or placement.isr or ())
        return StopObstacle(reason, because, placement.partition, isr, wanted)
