"""Rules of a preferred leader election.

Controllers delete the node after one pass whatever came of it, and never try again: so only partitions that can
succeed are asked for (preferred replica alive and in the ISR), in batches, and the outcome is read from each
partition's state. When the node is gone, every state of the batch has been written.

========================================================  =============================================
seen                                                      action
========================================================  =============================================
our node or probe, past the pickup deadline               Finish: not picked up (deaf), can be resumed
our node or probe                                         Wait
any other node                                            Finish: busy, can be resumed
partitions that can be elected, asked for < 3 times       AskListening, then PublishElection
nothing left to ask for                                   Finish with what is still not led as preferred
========================================================  =============================================
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION
from kadmin.errors import NotCompletedError, name_some
from kadmin.operations.decide.actions import ELECTION_ATTEMPTS, ELECTION_BATCH, Finish, PublishElection, Wait
from kadmin.operations.decide.common import before_publish, foreign_node, not_picked_up, overdue, probe_unanswered
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.operations.zookeeper.probe import is_probe
from kadmin.plan.election import electable, obstacle, off_preferred

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.decide.actions import Action, ElectionWork, Memory, Observed


def decide_election(work: ElectionWork, observed: Observed, memory: Memory, now: float) -> Action:
    """Decide the next action of an election operation."""
    action = elect_scope(work.targets, observed, memory, now)
    return action or election_result(work.targets, observed, f"{len(work.targets)} partitions led as preferred")


def elect_scope(scope: Sequence[TopicPartition], observed: Observed, memory: Memory, now: float) -> Action | None:
    """Say what the election of these partitions needs next, or None when nothing more can be asked for."""
    node = observed.state.admin.election
    last = observed.steps[-1] if observed.steps else None
    if node is not None:
        probing = last is not None and last.kind is StepKind.PROBE and is_probe(node)
        electing = (
            last is not None
            and last.kind is StepKind.ELECTION
            and node.entries is not None
            and set(node.entries) == set(last.partitions)
        )
        if not (probing or electing):
            return foreign_node(PREFERRED_REPLICA_ELECTION)
        if overdue(memory, now):
            return (probe_unanswered if probing else not_picked_up)(PREFERRED_REPLICA_ELECTION)
        return Wait("the controller has not answered the probe yet" if probing else "electing", len(node.entries or ()))
    asked = Counter(p for step in observed.steps if step.kind is StepKind.ELECTION for p in step.partitions)
    # A preferred replica that died between question and answer may be back: asked again, after all others.
    wanted = [partition for partition in electable(scope, observed.state) if asked[partition] < ELECTION_ATTEMPTS]
    wanted.sort(key=asked.__getitem__)
    if not wanted:
        return None
    batch = tuple(wanted[:ELECTION_BATCH])
    return before_publish(PREFERRED_REPLICA_ELECTION, observed, memory, len(wanted)) or PublishElection(batch)


def election_result(scope: Sequence[TopicPartition], observed: Observed, success: str) -> Finish:
    """Judge the outcome from each partition's state."""
    off = off_preferred(scope, observed.state)
    if not off:
        return Finish(OperationState.COMPLETED, success)
    reasons = "; ".join(f"{partition}: {obstacle(partition, observed.state)}" for partition in off[:5])
    return Finish(
        OperationState.FAILED,
        f"{len(off)} partitions are not led by their preferred replica",
        NotCompletedError(
            f"{len(off)} of {len(scope)} partitions are not led by their preferred replica: {name_some(off)}.",
            cause=reasons,
            next_command="kadmin propose election, when the preferred replicas are alive and in sync",
        ),
    )
