"""The throttle of an operation: set before its first wave, removed when nothing of it is in flight.

It is on record with the operation, so that any machine can remove it. It is removed only under the lock, and only where
the cluster shows no copy in progress; otherwise it remains, with a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import (
    BusyError,
    KadminError,
    NotCompletedError,
    StoppedError,
    UnknownOutcomeError,
    UnreachableError,
    name_some,
)
from kadmin.operations import events
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.holder import LostLockError
from kadmin.operations.record.record import StepKind, ThrottleRecord
from kadmin.plan.progress import Progress, in_flight, judge, still_copied
from kadmin.plan.throttle import merge, to_set, to_undo
from kadmin.plan.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.backend import Backend
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Work
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import OperationRecord
    from kadmin.plan.copying import Throttle
    from kadmin.plan.throttle import ConfigValues, ForeignValue


def record_throttle(backend: Backend, throttle: Throttle | None) -> ThrottleRecord | None:
    """Return the throttle to record: the current values and ours."""
    if throttle is None:
        return None
    return ThrottleRecord(throttle.rate, merge(throttle.values, backend.read_configs(throttle.values)))


def in_flight_of(work: Work, state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the partitions of an operation that are being reassigned, or whose new replicas still copy."""
    if not isinstance(work, ReassignmentWork):
        return ()
    moving = set(in_flight(state))
    return tuple(w.partition for w in work.targets if w.partition in moving or still_copied(w, state))


class Throttling:
    """Sets and removes the throttle of one recorded operation, if it has one."""

    def __init__(self, context: Context, record: OperationRecord, work: Work) -> None:
        self._context = context
        self._record = record
        self._work = work
        self._reported = False

    def set_up(self, lease: Lease) -> None:
        """Set what is not set yet, while something is left to copy.

        Raises BusyError where a value changed since the record was made and nothing has been published. Once copies
        run, a changed value is kept, with a note.
        """
        throttle = self._record.throttle
        if throttle is None:
            return
        state = self._read()
        if not self._has_copies_to_make(state):
            return
        changes = {entity: keys for entity, keys in throttle.changes.items() if _is_there(entity, state)}
        foreign = to_set(changes, self._context.backend.read_configs(changes)).kept
        if foreign and not self._published():
            raise self._changed_before(foreign)
        self._note_kept(foreign)

        def edit(found: ConfigValues) -> Mapping[str, Mapping[str, str | None]]:
            return to_set({entity: changes[entity] for entity in found}, found).values

        if not self._context.backend.change_configs(changes, edit, lease):
            raise self._out_of_time()
        self._context.tell(events.Noted(f"throttled at {format_rate(throttle.rate)}: {_extent(changes)}"))

    def take_down(self, lease: Lease, next_command: str) -> None:
        """Remove the throttle, unless something of the operation is in flight; `next_command` removes it later."""
        throttle = self._record.throttle
        if throttle is None or self._reported:
            return
        moving = in_flight_of(self._work, self._read())
        if moving:
            self._remains(f"{name_some(moving)} in flight", next_command)
            return
        changes = throttle.changes
        foreign: dict[str, ForeignValue] = {}
        undone: set[str] = set()

        def edit(found: ConfigValues) -> Mapping[str, Mapping[str, str | None]]:
            edits = to_undo({entity: changes[entity] for entity in found}, found)
            foreign.update({f"{each.entity} {each.key}": each for each in edits.kept})
            undone.update(edits.values)
            return edits.values

        if not self._context.backend.change_configs(changes, edit, lease):
            raise self._out_of_time()
        self._reported = True
        self._note_kept(tuple(foreign.values()))
        if undone:
            self._context.tell(events.Noted(f"the throttle is removed: {_extent(undone)}"))

    def leave(self, error: KadminError, lease: Lease) -> None:
        """Remove the throttle after an error; a failure here does not replace that error."""
        next_command = f"kadmin resume {self._record.operation_id}"
        if isinstance(error, UnreachableError | UnknownOutcomeError | LostLockError):
            self._remains("the cluster is unreachable, or the lock was lost", next_command)
            return
        try:
            self.take_down(lease, next_command)
        except KadminError as another:
            self._remains(another.message, next_command)

    def _read(self) -> ClusterState:
        self._context.backend.check()
        return self._context.backend.read(self._work.topics())

    def _has_copies_to_make(self, state: ClusterState) -> bool:
        if not isinstance(self._work, ReassignmentWork):
            return False
        unfinished = {Progress.WAITING, Progress.RUNNING}
        return any(judge(target, state, published=True) in unfinished for target in self._work.targets)

    def _published(self) -> bool:
        steps = self._context.operations.steps(self._record.operation_id)
        return any(step.kind is StepKind.WAVE for step in steps)

    def _changed_before(self, foreign: tuple[ForeignValue, ...]) -> BusyError:
        return BusyError(
            f"A throttle was changed by others since the operation was recorded: {name_some(foreign)}.",
            cause="it was left unchanged; nothing was published",
            next_command=f"restore it, then kadmin resume {self._record.operation_id}",
        )

    def _out_of_time(self) -> KadminError:
        what, next_command = "the throttle's config changes", f"kadmin resume {self._record.operation_id}"
        number = self._context.clock.stop_signal
        if number is not None:
            return StoppedError(
                f"Interrupted (signal {number}) during {what}.", signal_number=number, next_command=next_command
            )
        return NotCompletedError(f"The deadline passed before the last of {what}.", next_command=next_command)

    def _remains(self, why: str, next_command: str) -> None:
        if self._record.throttle is not None and not self._reported:
            self._reported = True
            self._context.tell(events.Noted(f"the throttle remains: {why}; remove it later with {next_command}"))

    def _note_kept(self, foreign: tuple[ForeignValue, ...]) -> None:
        if foreign:
            self._context.tell(events.Noted(f"kept throttles that another client changed: {name_some(foreign)}"))


def _is_there(entity: str, state: ClusterState) -> bool:
    kind, _, name = entity.partition("/")
    return kind != "topics" or name in state.topics


def _extent(entities: Collection[str]) -> str:
    topics = sum(entity.startswith("topics/") for entity in entities)
    return f"brokers: {len(entities) - topics}, topics: {topics}"
