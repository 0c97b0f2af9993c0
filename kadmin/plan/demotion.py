"""Demotes brokers: plans that only take leaders from them.

Goals: the brokers lead no partition and are preferred for none; the others lead as evenly as the
lists allow.
Constraints: replicas stay where they are. A partition that another broker leads keeps its leader;
each other one changes its leader once. A new leader is alive and in sync. With `keep_racks` it is
in the rack of the leader before where that rack has one.
Algorithm: each partition goes to the candidate that leads least so far. Then the broker with most
leaders passes one along the shortest path to the reachable broker with fewest, until no path
connects two that differ by two or more; that is optimal for every convex measure of evenness, the
maximum among them.
Example: broker 1 leads a-0 [1, 2, 3], and 2 leads one partition more than 3: [3, 2, 1], led by 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.model import (
    Elect,
    MaintenancePlan,
    MaintenanceRound,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
)
from kadmin.plan.progress import in_flight
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, PartitionState, Replicas, TopicPartition
    from kadmin.plan.model import ThrottleSpec

    _Given = defaultdict[int, defaultdict[Replicas, list[TopicPartition]]]

_UNEVEN = 2
"""The smallest difference of two counts that passing one leader reduces."""


@dataclass(frozen=True, slots=True)
class PartitionDemotion:
    """A partition of a demotion, with its leader before and after; NO_LEADER where unknown."""

    partition: TopicPartition
    leader: int
    new_leader: int


@dataclass(frozen=True, slots=True)
class DemotionProposal:
    """A demotion of brokers.

    `impossible` are partitions that they lead, or are preferred for, and keep, each with the
    reason. `leaders` are the counts of leaders by live broker, before and after.
    """

    plan: ReassignmentPlan
    brokers: tuple[int, ...]
    demoted: tuple[PartitionDemotion, ...]
    impossible: tuple[tuple[TopicPartition, str], ...]
    leaders: Mapping[int, tuple[int, int]]

    @property
    def leader_changes(self) -> int:
        """The number of partitions that get another leader."""
        return sum(each.leader != each.new_leader for each in self.demoted)


def propose_demotion(
    state: ClusterState, brokers: Collection[int], *, keep_racks: bool = False
) -> DemotionProposal:
    """Propose the demotion of some brokers; the plan is empty where they lead nothing."""
    demoted = frozenset(brokers)
    led = {
        partition: _leader(partition, state)
        for name in sorted(state.topics)
        for partition in state.topics[name].partitions()
    }
    concerned = [
        each
        for each, replicas in sorted(state.assignment.items())
        if led[each] in demoted or demoted.intersection(replicas[:1])
    ]
    moving = frozenset(in_flight(state))
    reasons = {each: _obstacle(each, state, demoted, moving) for each in concerned}
    able = [each for each in concerned if reasons[each] is None]
    candidates = {each: _candidates(each, state, demoted, keep_racks=keep_racks) for each in able}
    before = Counter(leader for leader in led.values() if leader in state.brokers)
    fixed = before - Counter(led[each] for each in able)
    chosen = choose_evenly(candidates, fixed)
    after = fixed + Counter(chosen.values())
    return DemotionProposal(
        ReassignmentPlan(
            PlanHeader(
                "demotion",
                state.cluster_id,
                f"Takes the leaders from {brokers_in_words(demoted)}.",
            ),
            tuple(
                PartitionTarget(
                    each,
                    _demoted_list(state.assignment[each], chosen[each], demoted),
                    state.assignment[each],
                )
                for each in able
            ),
            elect=Elect.AT_END,
        ),
        tuple(sorted(demoted)),
        tuple(PartitionDemotion(each, led[each], chosen[each]) for each in able),
        tuple((each, reason) for each, reason in reasons.items() if reason is not None),
        {broker: (before[broker], after[broker]) for broker in sorted(state.brokers)},
    )


def choose_evenly(
    candidates: Mapping[TopicPartition, Replicas], led: Mapping[int, int]
) -> dict[TopicPartition, int]:
    """Choose the leader of each partition among its candidates.

    `led` is the number of other partitions that each broker leads.
    """
    count = Counter(led)
    given: _Given = defaultdict(lambda: defaultdict(list))
    for partition, brokers in sorted(candidates.items(), key=lambda each: len(each[1])):
        leader = min(brokers, key=count.__getitem__)
        given[leader][brokers].append(partition)
        count[leader] += 1
    settled: set[int] = set()
    while open_ := given.keys() - settled:
        fullest = max(open_, key=lambda broker: (count[broker], -broker))
        paths = _paths(fullest, given)
        emptiest = min(paths, key=lambda broker: (count[broker], broker))
        if count[fullest] - count[emptiest] < _UNEVEN:
            settled |= paths.keys()  # no path leads out of them
            continue
        for giver, taker, brokers in paths[emptiest]:
            given[taker][brokers].append(given[giver][brokers].pop())
        count[fullest] -= 1
        count[emptiest] += 1
    return {
        partition: leader
        for leader, groups in given.items()
        for partitions in groups.values()
        for partition in partitions
    }


def _paths(start: int, given: _Given) -> dict[int, tuple[tuple[int, int, Replicas], ...]]:
    """Return a shortest path to each broker that leaders can be passed to.

    A step is the giver, the taker, and the candidates of a partition that they can pass.
    """
    paths: dict[int, tuple[tuple[int, int, Replicas], ...]] = {start: ()}
    ring = [start]
    while ring:
        following = []
        for giver in ring:
            for brokers, partitions in given[giver].items() if giver in given else ():
                for taker in brokers if partitions else ():
                    if taker not in paths:
                        paths[taker] = (*paths[giver], (giver, taker, brokers))
                        following.append(taker)
        ring = following
    return paths


def _leader(partition: TopicPartition, state: ClusterState) -> int:
    found = state.states.get(partition)
    return NO_LEADER if found is None else found.leader


def _candidates(
    partition: TopicPartition,
    state: ClusterState,
    demoted: Collection[int],
    *,
    keep_racks: bool = False,
) -> Replicas:
    """Return the brokers that may lead a partition: its leader where that stays."""
    found = state.states.get(partition)
    if found is None:
        return ()
    able = tuple(
        broker
        for broker in state.assignment[partition]
        if broker in found.isr
        and broker in state.brokers
        and broker not in found.offline_replicas
        and broker not in demoted
    )
    if found.leader in able:
        return (found.leader,)
    before = state.brokers.get(found.leader)
    if keep_racks and before is not None and before.rack is not None:
        return tuple(broker for broker in able if state.brokers[broker].rack == before.rack) or able
    return able


def _obstacle(
    partition: TopicPartition,
    state: ClusterState,
    demoted: Collection[int],
    moving: Collection[TopicPartition],
) -> str | None:
    """Return the reason that a partition cannot be demoted, or None when it can."""
    replicas = state.assignment[partition]
    if partition.topic in state.requests.deletions:
        return "its topic is being deleted"
    if partition in moving:
        return "it is being reassigned"
    if not _candidates(partition, state, demoted):
        return _why_none_leads(replicas, state.states.get(partition), demoted)
    if dead := [broker for broker in replicas if broker not in state.brokers]:
        return f"a reassignment would wait for {brokers_in_words(dead)}: not alive"
    return None


def _why_none_leads(
    replicas: Replicas, found: PartitionState | None, demoted: Collection[int]
) -> str:
    others = [broker for broker in replicas if broker not in demoted]
    if not others:
        return f"its replicas are on {brokers_in_words(replicas)} only"
    if found is None or not found.isr_known:
        return f"it is unknown whether {brokers_in_words(others)} can lead"
    return f"no other replica is alive and in the ISR {list(found.isr)}"


def _demoted_list(replicas: Replicas, leader: int, demoted: Collection[int]) -> Replicas:
    """Return the leader, the other replicas in their order, those of demoted brokers last."""
    return tuple(sorted(replicas, key=lambda broker: (broker != leader, broker in demoted)))


def propose_maintenance(
    state: ClusterState,
    rounds: Iterable[Collection[int]],
    throttle: ThrottleSpec | None,
    margin: int,
) -> MaintenancePlan:
    """Propose the maintenance of brokers, each round with its demotion."""
    found = tuple(
        MaintenanceRound(
            tuple(sorted(brokers)), propose_demotion(state, brokers).plan.reassignments
        )
        for brokers in rounds
    )
    brokers = {broker for each in found for broker in each.brokers}
    header = PlanHeader(
        "maintenance", state.cluster_id, f"Stops and starts {brokers_in_words(brokers)}."
    )
    return MaintenancePlan(header, found, throttle, margin)
