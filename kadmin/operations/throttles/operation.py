"""The throttle of an operation.

It is set before its first wave, changed on request, removed when nothing is in flight. It is on
record, so that any machine can remove it. It is removed only under the lock, and only where the
cluster shows no copy in progress; otherwise it remains, with a note. A config request without an
answer may be applied late; an operation that sent one waits for that before it ends.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import (
    BusyError,
    InvalidInputError,
    KadminError,
    NotCompletedError,
    StoppedError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.decide import settling
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.port import ConfigsOutcome
from kadmin.operations.record.holder import LostLockError, is_run_by
from kadmin.operations.record.steps import ThrottleChange, ThrottleStep, log_dirs_of, waves_of
from kadmin.operations.record.throttle_steps import (
    current_throttle,
    throttle_changes,
    writes_unanswered,
)
from kadmin.operations.throttles.changes import (
    Removal,
    changed_before,
    in_flight,
    is_on_record,
    is_there,
    no_disks,
    of_further_rounds,
    require_followed,
    still_throttled,
    throttle_steps,
    throttled_by,
    wanted_by,
    with_most,
)
from kadmin.plan.hours import until
from kadmin.plan.model import hours_of
from kadmin.plan.throttle import (
    describe_entities,
    edits_to_set,
    only_readable,
    plan_revision,
    rates,
    rates_in,
    rates_of,
)
from kadmin.plan.throttle_words import rate_in_words
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.port import EditConfigs
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.record import OperationRecord, ThrottleRecord
    from kadmin.operations.record.steps import Step
    from kadmin.operations.record.throttle_request import ThrottleRequest
    from kadmin.operations.throttles.changes import BetweenDisks
    from kadmin.plan.signals import SignalValue
    from kadmin.plan.throttle import ConfigChanges, ConfigEdits, ConfigValues, ForeignValue

RECONCILE_S = 5.0
"""Seconds between two comparisons of the cluster's throttles with those on record."""


class Throttling:
    """Sets, changes and removes the throttle of one recorded operation, if it has one."""

    def __init__(
        self,
        context: Context,
        record: OperationRecord,
        work: OperationSpec,
        between_disks: BetweenDisks = no_disks,
    ) -> None:
        self._context = context
        self._between_disks = between_disks
        self._record = record
        self._work = work
        self._throttle = record.throttle
        self._taken_up: ThrottleRequest | None = None
        self._reported = False
        self.removed = False
        """Whether the throttle was removed from every broker and topic."""
        self._noted = ""
        self._reconcile_at = context.clock.now() + RECONCILE_S

    @property
    def current(self) -> ThrottleRecord | None:
        """The throttle on record, with every change; None without one."""
        return self._throttle

    def set_rates(
        self,
        rate_of: Mapping[int, int],
        why: str,
        lease: Lease,
        signals: tuple[SignalValue, ...] = (),
    ) -> None:
        """Put other rates of brokers on record, and set them; the lists of replicas stay."""
        if self._throttle is not None:
            every = rates({**rates_of(self._throttle.changes), **rate_of})
            change = ThrottleChange(self._throttle.rate, {}, None, why, signals)
            self._put_on_record(every, change, lease)
            steps = self._steps()
            self._set(self._throttle, steps, lease)

    def set_up(self, lease: Lease) -> None:
        """Set the values of the throttle that are not set yet, while something is left to copy.

        Raises BusyError where a value changed since the record was made and nothing has been
        published. Once copies run, a changed value is kept, with a note.
        """
        steps = self._steps()
        if (wider := of_further_rounds(self._work, self._throttle)) is not None:
            self._put_on_record(*wider, lease)
            steps = self._steps()
        if self._throttle is not None and (changed := self._set(self._throttle, steps, lease)):
            rate, on = rate_in_words(self._throttle.rate), describe_entities(changed)
            self._context.tell(events.Note(f"throttled at {rate} on {on}"))
        for change in throttle_changes(steps):
            self._taken_up = change.request or self._taken_up

    def _set(self, throttle: ThrottleRecord, steps: Iterable[Step], lease: Lease) -> ConfigChanges:
        """Set the values of a throttle while something is left to copy; return its changes."""
        state = self._read()
        if not self._has_copies_to_make(state):
            return {}
        wanted = {
            entity: keys for entity, keys in throttle.changes.items() if is_there(entity, state)
        }
        found = self._context.backend.read_configs(wanted)
        changes = {entity: keys for entity, keys in wanted.items() if entity in found}
        foreign = edits_to_set(changes, found).kept
        # Followers catch up with or without a throttle.
        begun = waves_of(steps) or log_dirs_of(steps)
        if foreign and not begun and self._work.channel is not None:
            raise changed_before(foreign, self._resume)
        self._note_kept(foreign)

        def edit(found: ConfigValues) -> ConfigEdits:
            return edits_to_set({entity: changes[entity] for entity in found}, found).values

        self._change(changes, edit, lease)
        return changes

    def take_up(self, lease: Lease) -> None:
        """Record a new request for another rate; change the configs while copies are left to do.

        A request that another version of kadmin wrote is reported, and so is one with signals or a
        time zone that this machine does not have: the throttle stays as it is. Where the configs
        cannot be changed now, the throttle on record differs from the one that is set, with a note;
        `kadmin resume` sets it.
        """
        try:
            request = self._context.operations.throttle_request(self._record.operation_id)
        except NotCompletedError as unreadable:
            self._note_once(f"{unreadable.message} {unreadable.cause}")
            return
        if request is None or request == self._taken_up:
            return
        try:
            if not is_on_record(request, self._steps()):
                self._note_once(str(request))
                require_followed(self._context, request.asked, request.hours)
                self.put_on_record(request, lease)
            self.set_up(lease)
        except LostLockError:
            raise
        except (BusyError, InvalidInputError, NotCompletedError) as refused:
            self._note_once(f"the throttle was not changed: {refused.message}")
        self._taken_up = request

    def put_on_record(self, request: ThrottleRequest, lease: Lease) -> None:
        """Write the steps that change the throttle on record to the rate that is asked for.

        Outside the hours the rate is at most that outside. No config is changed.
        """
        if not isinstance(self._work, CopyingSpec):
            return
        now = self._context.clock.utc()
        targets = (target for wave in self._work.waves for target in wave)
        wanted = wanted_by(request, self._throttle, targets)
        if request.hours is not None and (outside := hours_of(request.hours).limit(now)):
            when = until(hours_of(request.hours), now)
            self._note_once(f"outside its hours{when}: at most {rate_in_words(outside)}")
            wanted = with_most(wanted, outside)
        self._put_on_record(wanted, ThrottleChange(request.rate, {}, request), lease)

    def _put_on_record(self, wanted: ConfigValues, change: ThrottleChange, lease: Lease) -> None:
        number = len(self._steps()) + 1
        before: ConfigChanges = {} if self._throttle is None else self._throttle.changes
        found = self._context.backend.read_configs(wanted)
        changes = plan_revision(only_readable(wanted, found, before), before, found)
        highest = max(rates_in(wanted).values(), default=change.rate)
        change = replace(change, rate=highest, changes=changes)
        for step in throttle_steps(change, number, self._context.clock.timestamp()):
            self._context.operations.write_step(step, lease)

    def reconcile(self, lease: Lease) -> None:
        """Set values of the throttle again that were removed, while something is left to copy.

        Where a write is a request that may be applied late, an earlier one can overwrite a later
        one. Values of other clients are kept, with a note.
        """
        backend, now = self._context.backend, self._context.clock.now()
        late = backend.capabilities.late_configs
        if not late or self._throttle is None or now < self._reconcile_at:
            return
        self._reconcile_at = now + RECONCILE_S
        changes = self._throttle.changes
        found = backend.read_configs(changes)
        edits = edits_to_set({entity: changes[entity] for entity in found}, found)
        state = self._read() if edits.values else None
        if state is None or not self._has_copies_to_make(state):
            return
        if lacking := [each for each in edits.values if is_there(each, state)]:
            self._note_once(f"the throttle is not set on {describe_entities(lacking)}; setting it")
            self._set(self._throttle, self._steps(), lease)

    def take_down(self, lease: Lease, next_step: NextStep) -> NotCompletedError | None:
        """Remove the throttle, unless something of the operation is in flight.

        `next_step` removes it later. Returns an error that names the brokers where it remains,
        because neither they nor the controller took the change; None where it is removed.
        """
        self._steps()
        throttle, work = self._throttle, self._work
        if throttle is None or self._reported or not isinstance(work, CopyingSpec):
            return None
        if moving := in_flight(work, self._read(), self._between_disks):
            self._remains(f"{moving} {work.UNDER_WAY}", next_step)
            return None
        left = self._remove(throttle.changes, lease)
        self.removed = left is None
        return left

    def end(self, lease: Lease, *, finishes: bool) -> NotCompletedError | None:
        """Remove the throttle of an operation that ends.

        It remains on partitions in flight, with a note; that of a catch-up only where this is a
        pause. `finishes`: wait for requests without an answer. Returns as `take_down` does.
        """
        self._steps()
        throttle, work = self._throttle, self._work
        if throttle is None or self._reported or not isinstance(work, CopyingSpec):
            return None
        keeps = work.KEEPS_THROTTLE or not finishes
        moving = in_flight(work, self._read(), self._between_disks) if keeps else None
        kept = throttled_by(moving, work, throttle.rate) if moving else ()
        if moving:
            later = command("throttle clear") if finishes else self._resume
            self._remains(f"{moving} {work.UNDER_WAY}", later)
        changes = {entity: keys for entity, keys in throttle.changes.items() if entity not in kept}
        left = self._remove(changes, lease, settles=finishes)
        self.removed = left is None and not moving
        return left

    def _remove(
        self, changes: ConfigChanges, lease: Lease, *, settles: bool = False
    ) -> NotCompletedError | None:
        removal = Removal(changes)
        self._change(changes, removal.edit, lease)
        left = self._overwrite(removal.unseen, lease)
        self._reported = True
        self._note_kept(tuple(removal.foreign.values()))
        if removal.undone:
            text = f"the throttle is removed from {describe_entities(removal.undone)}"
            self._context.tell(events.Note(text))
        if settles:
            self._settle(removal, lease)
        return left

    def _settle(self, removal: Removal, lease: Lease) -> None:
        """Remove values set by unanswered requests, until none was applied for a time.

        The time is as long as they may take.
        """
        clock, since = self._context.clock, self._context.clock.now()
        while (
            writes_unanswered(self._steps())
            and (rest_s := since + settling.SETTLE_S - clock.now()) > 0
        ):
            if clock.stop_signal is not None or clock.over:
                raise self._out_of_time("the wait for config requests that got no answer")
            text = f"settling for {settling.SETTLE_S:g} s: config requests got no answer"
            self._note_once(f"{text} and may be applied late")
            clock.wait(min(RECONCILE_S, rest_s))
            removal.undone.clear()
            self._change(removal.changes, removal.edit, lease)
            if removal.undone:
                since = clock.now()
                late = describe_entities(removal.undone)
                text = (
                    f"a config request that got no answer was applied late on {late}; it is undone"
                )
                self._context.tell(events.Note(text))

    def _overwrite(self, changes: ConfigChanges, lease: Lease) -> NotCompletedError | None:
        """Give brokers that do not answer their values from before.

        Returns the error where that is not possible.
        """
        if not changes:
            return None
        values = {
            entity: {key: change.previous for key, change in keys.items()}
            for entity, keys in changes.items()
        }
        failed = self._context.backend.overwrite_configs(values, lease, self._next_step())
        if written := sorted(values.keys() - failed.keys()):
            text = (
                f"{name_some(written)} does not answer: the controller keeps its previous values "
                "for it"
            )
            self._context.tell(events.Note(text))
        return still_throttled("remains", failed) if failed else None

    def _change(self, changes: ConfigChanges, edit: EditConfigs, lease: Lease) -> None:
        outcome = self._context.backend.change_configs(changes, edit, lease, self._next_step())
        if outcome is ConfigsOutcome.CUT_SHORT:
            raise self._out_of_time("the throttle's config changes")

    def _next_step(self) -> Step:
        return ThrottleStep(len(self._steps()) + 1, self._context.clock.timestamp())

    def leave(self, error: KadminError, lease: Lease) -> None:
        """Remove the throttle after an error; a failure here does not replace that error."""
        next_step = self._resume
        if isinstance(error, LostLockError) and is_run_by(
            self._record.operation_id, error.successor
        ):
            return  # the other runner removes it
        if isinstance(error, UnreachableError | UnknownOutcomeError | LostLockError):
            self._remains("the cluster is unreachable, or the lock was lost", next_step)
            return
        try:
            if (left := self.take_down(lease, next_step)) is not None:
                self._context.tell(events.Note(f"{left.message} {left.cause}; {left.next_step}"))
        except KadminError as another:
            self._remains(another.message, next_step)

    def _read(self) -> ClusterState:
        self._context.backend.check()
        return self._context.backend.read(self._work.topics())

    def _has_copies_to_make(self, state: ClusterState) -> bool:
        return isinstance(self._work, CopyingSpec) and self._work.has_copies_to_make(state)

    def _steps(self) -> tuple[Step, ...]:
        steps = self._context.operations.steps(self._record.operation_id)
        self._throttle = current_throttle(self._record, steps)
        return steps

    def _out_of_time(self, what: str) -> KadminError:
        next_step, number = self._resume, self._context.clock.stop_signal
        if number is not None:
            return StoppedError(f"stopped during {what}", signal_number=number, next_step=next_step)
        return NotCompletedError(f"The deadline passed during {what}.", next_step=next_step)

    @property
    def _resume(self) -> NextStep:
        return command("resume", self._record.operation_id)

    def _remains(self, why: str, next_step: NextStep) -> None:
        if self._throttle is not None and not self._reported:
            self._reported = True
            text = f"the throttle remains: {why}; remove it later with {next_step}"
            self._context.tell(events.Note(text))

    def _note_once(self, text: str) -> None:
        if text != self._noted:
            self._noted = text
            self._context.tell(events.Note(text))

    def _note_kept(self, foreign: tuple[ForeignValue, ...]) -> None:
        if foreign:
            text = f"kept throttles that another client changed: {name_some(foreign)}"
            self._context.tell(events.Note(text))
