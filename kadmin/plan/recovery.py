"""Proposes leaders for partitions that have none, each with the least loss that is known.

Goals: name first who must be started to lose nothing; then, for each partition, the living replica
whose log is the longest, and the records that it lacks.
Constraints: nothing is guessed. The end of a living copy is exact, as its broker told it. What a
dead leader had is known from below by committed offsets, by records of earlier operations and by
samples; from above by no more than the last sample, if nothing was written after it. An unknown
bound is None, never 0. Offsets are counted: markers of transactions, and records that compaction
removed, count as well.
Example: [1, 2, 3], 1 is dead; 2 ends at 200, 3 at 350; a group has committed 500. Broker 3 leads,
and 150 records are lost at least.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.demotion import choose_evenly
from kadmin.plan.drain import takers
from kadmin.plan.model import ForcedLeader, Losing, PlanHeader, RecoveryPlan
from kadmin.plan.progress import in_flight
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition


@dataclass(frozen=True, slots=True)
class KnownEnd:
    """An offset that the log of a partition had reached, and who says so."""

    offset: int
    source: str


@dataclass(frozen=True, slots=True)
class LogEvidence:
    """What is known of the logs of one partition.

    `ends` are the ends of the living copies by broker, `sizes` their bytes; `known` are offsets
    that were reached, `sampled` the end of the last sample.
    """

    ends: Mapping[int, int] = field(default_factory=dict)
    sizes: Mapping[int, int] = field(default_factory=dict)
    known: tuple[KnownEnd, ...] = ()
    sampled: KnownEnd | None = None


NO_EVIDENCE = LogEvidence()


@dataclass(frozen=True, slots=True)
class WaysOut:
    """Dead brokers that would give a partition its leader back.

    Each of `clean` would lead without a loss; `last` are the last leaders, where none is known
    (KIP-966).
    """

    clean: tuple[int, ...]
    last: tuple[int, ...]

    @property
    def brokers(self) -> tuple[int, ...]:
        """Those of which one is to be started."""
        return self.clean or self.last


@dataclass(frozen=True, slots=True)
class OfflinePartition:
    """A partition without a leader.

    `ways` are those without a loss, `alive` its living replicas. `entry` is None where `impossible`
    says why the partition is not in the plan.
    """

    partition: TopicPartition
    replicas: Replicas
    ways: WaysOut
    alive: tuple[int, ...]
    evidence: LogEvidence
    entry: ForcedLeader | None
    impossible: str = ""


@dataclass(frozen=True, slots=True)
class RecoveryProposal:
    """A recovery of partitions without a leader.

    `starts` are dead brokers, each with the number of partitions to which it alone gives a leader
    back without a loss, the most first.
    """

    plan: RecoveryPlan
    offline: tuple[OfflinePartition, ...]
    starts: Mapping[int, int]


def living_replicas(partition: TopicPartition, state: ClusterState) -> Replicas:
    """Return the replicas on brokers that are alive, without those on failed disks, in order."""
    found = state.states.get(partition)
    failed = () if found is None else found.offline_replicas
    return tuple(
        broker
        for broker in state.replicas(partition) or ()
        if broker in state.brokers and broker not in failed
    )


def clean_leaders(partition: TopicPartition, state: ClusterState) -> Replicas:
    """Return the living replicas that lead without a loss: in sync, or eligible (KIP-966)."""
    found = state.states[partition]
    return tuple(
        broker
        for broker in living_replicas(partition, state)
        if broker in found.isr or broker in found.elr
    )


def has_clean_leader(partition: TopicPartition, state: ClusterState) -> bool:
    """Whether a replica is known, alive or dead, that leads without a loss."""
    return bool(state.states[partition].isr or state.states[partition].elr)


def to_start(partition: TopicPartition, state: ClusterState) -> WaysOut:
    """Return the dead brokers that would give a partition its leader back."""
    found, alive = state.states[partition], set(living_replicas(partition, state))
    able = {*found.isr, *found.elr}
    last = set() if able else set(found.last_known_elr)
    return WaysOut(tuple(sorted(able - alive)), tuple(sorted(last - alive)))


def starts_of(partitions: Iterable[TopicPartition], state: ClusterState) -> dict[int, int]:
    """Return dead brokers with the number of partitions that each alone gives a leader back to.

    The most first.
    """
    found = Counter(broker for each in partitions for broker in to_start(each, state).brokers)
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def way_out(partition: TopicPartition, state: ClusterState) -> str:
    """Return the best way out for a partition without a leader, in words."""
    if clean := clean_leaders(partition, state):
        return f"{brokers_in_words(clean)} is alive and in sync: its log says why it does not lead"
    if ways := to_start(partition, state).brokers:
        one = "one of " if len(ways) > 1 else ""
        return f"start {one}{brokers_in_words(ways)}, or propose recovery"
    empty = "" if living_replicas(partition, state) else " --empty"
    return f"propose recovery{empty}"


def without_leader(state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the partitions without a leader, in order."""
    return tuple(sorted(each for each in state.states if not state.has_leader(each)))


def propose_recovery(
    state: ClusterState,
    evidence: Mapping[TopicPartition, LogEvidence],
    looked_at: str,
    *,
    empty: bool = False,
) -> RecoveryProposal:
    """Propose a leader for each partition without one.

    `empty`: partitions whose replicas are all dead come back empty, on live brokers.
    """
    lost = without_leader(state)
    dead = [each for each in lost if empty and not living_replicas(each, state)]
    fresh, moving = _new_replicas(dead, state), frozenset(in_flight(state))
    found = tuple(
        _offline(each, state, evidence.get(each, NO_EVIDENCE), fresh, moving) for each in lost
    )
    plan = RecoveryPlan(
        PlanHeader("recovery", state.cluster_id, "Elects leaders that lack records."),
        tuple(each.entry for each in found if each.entry is not None),
        looked_at,
        empty=empty,
    )
    return RecoveryProposal(plan, found, starts_of(lost, state))


def losing(evidence: LogEvidence, leader: int) -> Losing | None:
    """Return what the log of a leader lacks, None where nothing is known."""
    end = evidence.ends.get(leader)
    if end is None:
        return None
    reached = [each.offset for each in (*evidence.known, *_sampled(evidence))]
    beyond = max((*reached, *evidence.ends.values()), default=end) - end
    sampled = None if evidence.sampled is None else evidence.sampled.offset - end
    at_most = None if sampled is None or sampled < 0 else max(sampled, beyond)
    records = beyond or None
    return None if records is None and at_most is None else Losing(records, at_most)


def _sampled(evidence: LogEvidence) -> Iterable[KnownEnd]:
    return () if evidence.sampled is None else (evidence.sampled,)


def _offline(
    partition: TopicPartition,
    state: ClusterState,
    evidence: LogEvidence,
    fresh: Mapping[TopicPartition, Replicas],
    moving: Collection[TopicPartition],
) -> OfflinePartition:
    replicas = state.assignment[partition]
    alive = living_replicas(partition, state)
    ways = to_start(partition, state)
    entry, impossible = None, _impossible(partition, state, moving)
    if not impossible and alive:
        leader = _longest(alive, evidence)
        because = _because(ways)
        entry = ForcedLeader(
            partition, leader, replicas, losing=losing(evidence, leader), because=because
        )
    elif not impossible and (new := fresh.get(partition)):
        because = f"every replica is on a dead broker or disk: {name_some(replicas)}"
        entry = ForcedLeader(partition, new[0], replicas, new, because=because)
    elif not impossible:
        impossible = "no replica is alive"
    return OfflinePartition(partition, replicas, ways, alive, evidence, entry, impossible)


def _impossible(
    partition: TopicPartition, state: ClusterState, moving: Collection[TopicPartition]
) -> str:
    if clean := clean_leaders(partition, state):
        return f"{brokers_in_words(clean)} is alive and in sync, and is elected without a loss"
    return "it is being reassigned" if partition in moving else ""


def _because(ways: WaysOut) -> str:
    if ways.clean:
        return f"what would lead without a loss is dead: {brokers_in_words(ways.clean)}"
    if ways.last:
        return f"the last leader is dead: {brokers_in_words(ways.last)}"
    return "no replica is known that would lead without a loss"


def _longest(alive: Replicas, evidence: LogEvidence) -> int:
    """Return the living replica with the longest log, the first of the list among equals.

    A copy whose end is not known comes after all others.
    """
    return max(alive, key=lambda broker: evidence.ends.get(broker, -1))


def _new_replicas(
    partitions: Iterable[TopicPartition], state: ClusterState
) -> dict[TopicPartition, Replicas]:
    """Return new replicas for each partition: as many as now, or as there are live brokers."""
    lists: dict[TopicPartition, Replicas] = dict.fromkeys(partitions, ())
    held = Counter(broker for replicas in state.assignment.values() for broker in replicas)
    for position in range(max((len(state.assignment[each]) for each in lists), default=0)):
        candidates = {
            each: able
            for each, replicas in lists.items()
            if position < len(state.assignment[each])
            and (able := takers(replicas, NO_LEADER, state, ()))
        }
        chosen = choose_evenly(candidates, held)
        held += Counter(chosen.values())
        lists |= {each: (*lists[each], broker) for each, broker in chosen.items()}
    return {each: replicas for each, replicas in lists.items() if replicas}
