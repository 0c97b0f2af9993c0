"""Drains brokers: targets that take every replica from them.

Goals: the replicas that they hold are spread over the others as evenly as lists and racks allow,
and so are the preferred leaders that they were.
Constraints: each replica that leaves is replaced by one copy, so nothing can move less. The copy
is on a broker that is alive, and in a rack that the partition would otherwise lose where one has
room. Other replicas keep their broker and their order.
Algorithm: for each leaving broker, the exact even choice of `choose_evenly`, of takers by the
replicas that each holds, then of first replicas by the partitions that each is preferred for.
Example: broker 4 leaves a-0 [4, 1]: 1 comes first if it is preferred for less than the taker 2,
[1, 2].
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.plan.demotion import choose_evenly
from kadmin.plan.model import DecommissionPlan, Elect, PartitionTarget, PlanHeader
from kadmin.plan.progress import in_flight
from kadmin.plan.sources import lacks_source
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.plan.model import ReassignmentPlan, ThrottleSpec


@dataclass(frozen=True, slots=True)
class Drain:
    """Targets without these brokers, in order of partitions.

    `impossible` are the partitions that cannot be moved from them now, each with the reason.
    """

    brokers: frozenset[int]
    targets: tuple[PartitionTarget, ...]
    impossible: Mapping[TopicPartition, str]


@dataclass(frozen=True, slots=True)
class DecommissionProposal:
    """A decommission of brokers; `impossible` as of a Drain.

    `replicas` are the counts of replicas by broker, before and after.
    """

    plan: DecommissionPlan
    impossible: Mapping[TopicPartition, str]
    replicas: Mapping[int, tuple[int, int]]


def propose_decommission(
    state: ClusterState,
    brokers: Collection[int],
    throttle: ThrottleSpec | None = None,
    given: ReassignmentPlan | None = None,
) -> DecommissionProposal:
    """Propose that brokers leave, by their drain, or by the reassignment that is given."""
    found = drain(state, brokers)
    targets = found.targets if given is None else given.reassignments
    after = {**state.assignment, **{each.partition: each.replicas for each in targets}}
    counts = [
        Counter(broker for replicas in lists.values() for broker in replicas)
        for lists in (state.assignment, after)
    ]
    shown = sorted({*state.brokers, *counts[0], *counts[1]})
    leaving = brokers_in_words(brokers)
    plan = DecommissionPlan(
        PlanHeader("decommission", state.cluster_id, f"Takes {leaving} out of the cluster."),
        targets,
        throttle or (None if given is None else given.throttle),
        elect=Elect.AT_END,
        brokers=tuple(sorted(set(brokers))),
    )
    replicas = {broker: (counts[0][broker], counts[1][broker]) for broker in shown}
    return DecommissionProposal(plan, found.impossible, replicas)


def drain(state: ClusterState, brokers: Collection[int]) -> Drain:
    """Return targets for every partition that one of the brokers is a replica of.

    Offline partitions, and those in flight, are impossible; so is one whose other brokers are all
    its replicas already.
    """
    leaving, moving = frozenset(brokers), frozenset(in_flight(state))
    held = state.assignment
    concerned = [each for each, replicas in sorted(held.items()) if leaving.intersection(replicas)]
    impossible = {
        each: "it is being reassigned" if each in moving else "no replica is alive and in sync"
        for each in concerned
        if each in moving or lacks_source(each, state)
    }
    lists = {each: held[each] for each in concerned if each not in impossible}
    counts = Counter(
        broker for replicas in held.values() for broker in replicas if broker not in leaving
    )
    for broker in sorted(leaving):
        of_broker = {each: replicas for each, replicas in lists.items() if broker in replicas}
        candidates = {
            each: takers(replicas, broker, state, leaving) for each, replicas in of_broker.items()
        }
        chosen = choose_evenly({each: able for each, able in candidates.items() if able}, counts)
        counts += Counter(chosen.values())
        for each, replicas in of_broker.items():
            if each in chosen:
                lists[each] = tuple(chosen[each] if old == broker else old for old in replicas)
            else:
                impossible[each] = "every other live broker is a replica already"
                del lists[each]
    lists = _with_even_leaders(lists, state, leaving)
    targets = tuple(PartitionTarget(each, lists[each], held[each]) for each in sorted(lists))
    return Drain(leaving, targets, impossible)


def takers(
    replicas: Replicas, broker: int, state: ClusterState, leaving: Collection[int]
) -> Replicas:
    """Return the brokers that may take a replica: in racks that no other replica is in, if any."""
    able = [each for each in sorted(state.brokers) if each not in (*replicas, *leaving)]
    racks = {_rack(each, state) for each in replicas if each != broker}
    apart = [each for each in able if _rack(each, state) not in racks]
    return tuple(apart or able)


def _rack(broker: int, state: ClusterState) -> str | int:
    """Return the rack of a broker; one without, or that is not alive, is a rack of its own."""
    found = state.brokers.get(broker)
    return broker if found is None or found.rack is None else found.rack


def _with_even_leaders(
    lists: Mapping[TopicPartition, Replicas], state: ClusterState, leaving: Collection[int]
) -> dict[TopicPartition, Replicas]:
    """Return the lists with another first replica where a leaving broker was the first."""
    headless = {each for each in lists if state.assignment[each][0] in leaving}
    led = Counter(_firsts(state, headless))
    candidates = {
        each: tuple(broker for broker in lists[each] if broker in state.brokers)
        for each in sorted(headless)
    }
    chosen = choose_evenly(candidates, led)
    return {each: _led_by(chosen.get(each), replicas) for each, replicas in lists.items()}


def _firsts(state: ClusterState, headless: Collection[TopicPartition]) -> Iterable[int]:
    return (
        replicas[0]
        for each, replicas in state.assignment.items()
        if each not in headless and replicas
    )


def _led_by(leader: int | None, replicas: Replicas) -> Replicas:
    if leader is None:
        return replicas
    return (leader, *(each for each in replicas if each != leader))
