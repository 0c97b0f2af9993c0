"""Rules of another order of replicas, which a maintenance publishes and restores.

A partition is judged by its list: no replica is added or removed, so nothing is copied. The first
row that matches counts.

=====================================================  ==========================================
seen                                                   action
=====================================================  ==========================================
every partition in the order, or changed by others     as an election; None at its end
a broker of the replicas not alive                     Wait
anything else                                          as a reassignment
=====================================================  ==========================================

A list that is neither the order nor the one before was changed by others, or is being changed, and
is left as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import HealthSeen, Wait
from kadmin.operations.decide.election import elect_scope
from kadmin.operations.decide.failures import dead_targets
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.plan.election import off_preferred
from kadmin.plan.model import Elect
from kadmin.plan.progress import Progress, named_in_node
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.plan.model import PartitionTarget


def order_of(target: PartitionTarget, state: ClusterState) -> Progress:
    """Judge an order of replicas: stale where others changed the list, or are changing it."""
    partition, now = target.partition, state.replicas(target.partition)
    if named_in_node(target, state):
        return Progress.RUNNING
    if now is None or state.topics[partition.topic].is_moving(partition.partition):
        return Progress.STALE
    if now == target.replicas:
        return Progress.DONE
    return Progress.WAITING if now == target.current else Progress.STALE


def from_any_order(
    targets: Sequence[PartitionTarget], state: ClusterState
) -> tuple[PartitionTarget, ...]:
    """Return targets that take the same replicas in any order for those before.

    A reassignment that another tool took back leaves another order.
    """
    return tuple(
        replace(each, current=now)
        if (now := state.replicas(each.partition)) is not None
        and now != each.replicas
        and set(now) == set(each.replicas)
        else each
        for each in targets
    )


def reordered(
    targets: Sequence[PartitionTarget], state: ClusterState
) -> tuple[TopicPartition, ...]:
    """Return the partitions of targets that have the order."""
    return tuple(each.partition for each in targets if order_of(each, state) is Progress.DONE)


def reassigned_by_others(
    targets: Sequence[PartitionTarget], state: ClusterState
) -> tuple[PartitionTarget, ...]:
    """Return the targets whose partitions another tool reassigns now."""
    return tuple(
        each
        for each in targets
        if order_of(each, state) is Progress.STALE
        and each.partition.topic in state.topics
        and state.topics[each.partition.topic].is_moving(each.partition.partition)
    )


def reorder(
    waves: tuple[tuple[PartitionTarget, ...], ...], observed: Observed, memory: Memory, now: float
) -> Action | None:
    """Publish the order of the last of these waves, then elect its leaders; None once it is done.

    Their topics exist, and steps of earlier waves are left out.
    """
    led = reordered(waves[-1], observed.state)
    return publish_order(waves, observed, memory, now) or elect_scope(led, observed, memory, now)


def publish_order(
    waves: tuple[tuple[PartitionTarget, ...], ...], observed: Observed, memory: Memory, now: float
) -> Action | None:
    """Publish the order of the last of these waves; None once it is there."""
    *earlier, targets = waves
    state = observed.state
    ours = tuple(each for each in targets if order_of(each, state) is not Progress.STALE)
    open_ = [each for each in ours if order_of(each, state) is not Progress.DONE]
    if not open_:
        return None
    if dead := dead_targets(open_, state):
        reason = f"{brokers_in_words(dead)} is not alive: waiting to change the order of replicas"
        return Wait(reason, reason)
    moves = ReassignmentWork((*earlier, ours), (), Elect.NONE)
    # Another order copies nothing: it need not wait for the health of the cluster.
    healthy = replace(memory, health=HealthSeen(memory.wave, now, ()))
    action = moves.decide(observed, healthy, now)
    return action if not isinstance(action, Wait) else replace(action, warning=None)


def remains_of(targets: Sequence[PartitionTarget], state: ClusterState) -> str:
    """Describe the orders that are not restored and the leaders that are not back, '' without.

    The topics of the targets exist.
    """
    done = {each.partition: order_of(each, state) is Progress.DONE for each in targets}
    changed = [partition for partition, restored in done.items() if not restored]
    rest = [partition for partition, restored in done.items() if restored]
    not_led = off_preferred(rest, state)
    found = ""
    if changed:
        found += (
            f"; others changed the replicas of {count(len(changed), 'partition')}, which stay as "
            f"they are: {name_some(changed)}"
        )
    if not_led:
        found += (
            f"; {count(len(not_led), 'partition')} not led by the first replica yet: "
            f"{name_some(not_led)}"
        )
    return found
