"""decide(work, observed, memory, now) -> action: the executor's rules, with no clock and no I/O.

One module per kind of operation holds its table of rules; `remember` is what one look teaches the next.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS
from kadmin.operations.decide.actions import DeletionWork, ElectionWork, ReassignmentWork
from kadmin.operations.decide.deletion import decide_deletion
from kadmin.operations.decide.election import decide_election
from kadmin.operations.decide.reassignment import decide_reassignment
from kadmin.operations.decide.recreation import decide_recreation
from kadmin.operations.decide.stop_request import heed

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Action, Memory, Observed, Work
    from kadmin.operations.record.record import Step

__all__ = ["decide", "remember"]


def decide(work: Work, observed: Observed, memory: Memory, now: float) -> Action:
    """Say what to do next; `now` is on the clock of the memory's times (monotonic seconds)."""
    action = _without_request(work, observed, memory, now)
    return action if observed.request is None else heed(observed.request, action, work, observed, memory)


def _without_request(work: Work, observed: Observed, memory: Memory, now: float) -> Action:
    if isinstance(work, ReassignmentWork):
        return decide_reassignment(work, observed, memory, now)
    if isinstance(work, ElectionWork):
        return decide_election(work, observed, memory, now)
    if isinstance(work, DeletionWork):
        return decide_deletion(work, observed, memory, now)
    return decide_recreation(work, observed, memory, now)


def remember(memory: Memory, observed: Observed, now: float) -> Memory:
    """Fold one look into the memory.

    A new step starts the pickup clock, a new epoch ends every proof of listening, a change anywhere in the topics
    looked at starts the clock of a stall.
    """
    epoch = observed.state.controller_epoch
    if memory.epoch != epoch:
        changed_at = None if memory.epoch is None else now
        memory = replace(memory, epoch=epoch, epoch_changed_at=changed_at, listening=frozenset())
    last_step = observed.steps[-1].number if observed.steps else 0
    if last_step != memory.last_step:
        memory = replace(memory, last_step=last_step, step_seen_at=now, attempts=0)
    if (sight := _digest(observed)) != memory.sight:
        memory = replace(memory, sight=sight, changed_at=now)
    if memory.probe is not None and not _present(memory.probe, observed):
        memory = replace(memory, listening=memory.listening | {memory.probe.path}, probe=None)
    return memory


def _digest(observed: Observed) -> int:
    state, node = observed.state, observed.state.admin.reassignment
    topics = tuple((name, topic.version) for name, topic in sorted(state.topics.items()))
    states = tuple((partition, found.version) for partition, found in sorted(state.states.items()))
    return hash((topics, states, None if node is None else node.version, state.admin.deletions))


def _present(probe: Step, observed: Observed) -> bool:
    admin = observed.state.admin
    return (admin.reassignment if probe.path == REASSIGN_PARTITIONS else admin.election) is not None
