"""`cancel --now`: takes back what is in flight, by one write of the original lists together with a new controller.

Whoever runs this holds the lock, and no runner is at work. Killed at any moment it can be run again: the step record
and the node tell what was asked for, so that the controller is not moved twice for the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.reader import read_cluster
from kadmin.cluster.zookeeper.znodes.admin import REASSIGN_PARTITIONS
from kadmin.errors import KadminError, NotCompletedError, name_some
from kadmin.operations.decide.actions import Finish, Observed, ReassignmentWork, Wait
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.execute import events
from kadmin.operations.execute.progress import topics_of
from kadmin.operations.reading.brokers import log_dirs_of
from kadmin.operations.record.record import StepKind
from kadmin.operations.record.work import work_of
from kadmin.operations.zookeeper.failover import Failover, await_successor
from kadmin.operations.zookeeper.journal import lost_lock
from kadmin.operations.zookeeper.publish import Publisher, PublishOutcome, next_step

if TYPE_CHECKING:
    from kadmin.operations.decide.cancel_now import Supersede
    from kadmin.operations.execute.runner import Context
    from kadmin.operations.record.record import OperationRecord, Step
    from kadmin.operations.zookeeper.lock import Lease

POLL_S = 0.2
_REMOVAL_S = 5.0
_ASKING_S = 20.0
"""What asking the brokers for their disks may take at worst."""


def cancel_now(
    context: Context, record: OperationRecord, lease: Lease, *, allow_foreign: bool, deadline: float | None
) -> str:
    """Bring every partition of the operation that is in flight back to its original ordered replicas.

    Returns the success message, seen on the cluster. `allow_foreign` lets the new controller begin with entries of
    others. Raises BusyError where such entries are not allowed or the lock is lost, NotCompletedError where data would
    be lost, the controller must not be moved, or the deadline (on the context's clock) passes.
    """
    work = work_of(record)
    if not isinstance(work, ReassignmentWork):
        raise NotCompletedError(
            f"A running {record.kind} cannot be taken back.", next_command=f"kadmin cancel {record.operation_id}"
        )
    return _Cancellation(context, record, work, lease, deadline).run(allow_foreign=allow_foreign)


class _Cancellation:
    def __init__(
        self, context: Context, record: OperationRecord, work: ReassignmentWork, lease: Lease, deadline: float | None
    ) -> None:
        self._context = context
        self._record = record
        self._work = work
        self._lease = lease
        self._deadline = deadline
        self._publisher = Publisher(context.store, context.paths, record.operation_id)
        self._failover = Failover(context)
        self._steps: tuple[Step, ...] = ()
        self._told = ""

    def run(self, *, allow_foreign: bool) -> str:
        clock, again = self._context.clock, f"kadmin cancel {self._record.operation_id} --now"
        self._context.store.sync("/")
        while True:
            clock.stop_if_asked(f"operation {self._record.operation_id} is kept as it is", again)
            observed = self._observe()
            action = decide_cancel(self._work, observed, allow_foreign=allow_foreign)
            if isinstance(action, Finish):
                if action.error is not None:
                    raise action.error
                return action.message + self._copies_left(observed)
            if self._deadline is not None and clock.now() >= self._deadline:
                raise NotCompletedError("The deadline passed before everything was taken back.", next_command=again)
            reason = action.reason if isinstance(action, Wait) else self._supersede(action, observed)
            if reason is not None:
                self._tell(reason)
                clock.wait(POLL_S)

    def _observe(self) -> Observed:
        topics = topics_of(self._work)
        while True:
            state = read_cluster(self._context.store, topics)
            node = state.admin.reassignment
            named = {partition.topic for partition in (node.entries or {})} if node is not None else set()
            if named <= topics:
                self._steps = self._context.journal.steps(self._record.operation_id, self._steps)
                return Observed(state, self._steps)
            topics |= named

    def _supersede(self, action: Supersede, observed: Observed) -> str | None:
        bump = self._failover.ask()
        if isinstance(bump, str):
            return bump
        step = next_step(observed.steps, StepKind.CANCEL, REASSIGN_PARTITIONS, self._context.clock.timestamp())
        step = replace(step, partitions=action.partitions)
        published = self._publisher.supersede(action, bump, step, self._lease)
        if published is PublishOutcome.LOST_LOCK:
            raise lost_lock()
        if published is not PublishOutcome.YES:
            return "the node or the controller changed in this moment; looking again"
        self._context.tell(events.StepPublished(step.kind, len(action.partitions), step.number))
        await_successor(self._context, bump.epoch_version, self._deadline)
        return None

    def _copies_left(self, observed: Observed) -> str:
        """Say which added copies the brokers keep on disk, or that they could not be asked; empty where none.

        Kafka from 2.6 on, up to some 3.x, ignores its own request to remove a copy that had not caught up.
        """
        origin = {p: self._record.origin[p] for s in observed.steps if s.kind is StepKind.CANCEL for p in s.partitions}
        if not origin or (self._deadline is not None and self._deadline - self._context.clock.now() < _ASKING_S):
            return ""
        give_up = self._context.clock.now() + _REMOVAL_S
        while True:
            try:
                held = log_dirs_of(observed.state)
            except KadminError as error:
                return f"; whether added copies are gone from disk was not seen: {error.message}"
            left = [f"{p} on broker {b}" for b, sizes in held.items() for p in sizes if b not in origin.get(p, (b,))]
            if not left:
                return ""
            if self._context.clock.now() >= give_up:
                return f"; these brokers keep copies on disk that nothing uses: {name_some(left)}"
            self._context.clock.wait(POLL_S)

    def _tell(self, reason: str) -> None:
        if reason != self._told:
            self._told = reason
            self._context.tell(events.Noted(reason))
