"""Heals a cluster: looks, offers one cure, does it, looks again, until nothing that it can heal is left.

An operation of its own, under lock and fence, beside whatever else is unfinished. Each step saves what it replaces in
the same write, is judged by the next look, and is done once.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import Check, Create, Delete, SetData
from kadmin.cluster.zookeeper.znodes.controller import CONTROLLER, CONTROLLER_EPOCH, encode_stand_in
from kadmin.errors import KadminError, NotCompletedError, UnknownOutcomeError, UnreachableError, UsageError
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.insight.diagnosis.zookeeper.diagnose import diagnose
from kadmin.operations.decide.actions import PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
from kadmin.operations.execute import events
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.execute.holding import give_back, new_holder, new_operation_id
from kadmin.operations.record.record import (
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    Replaced,
    StepKind,
)
from kadmin.operations.zookeeper.doctor import gather
from kadmin.operations.zookeeper.failover import ControllerMove, Failover, await_successor
from kadmin.operations.zookeeper.journal import lost_lock
from kadmin.operations.zookeeper.lock import EXPIRY_GRACE_S, read_holder, take
from kadmin.operations.zookeeper.publish import Publisher, PublishOutcome, next_step
from kadmin.operations.zookeeper.repair_steps import Patient, Write, healable, next_cure, unhealed
from kadmin.operations.zookeeper.transaction import write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from kadmin.cluster.model import Op
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.operations.execute.apply import Bounds
    from kadmin.operations.execute.runner import Context
    from kadmin.operations.record.record import Step
    from kadmin.operations.zookeeper.lock import Holder, Lease
    from kadmin.operations.zookeeper.repair_steps import Cure

    Confirm: TypeAlias = Callable[[str, str], None]

POLL_S = 0.5
STAND_IN_S = 1.0
REACTION_S = PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
"""How long a cure may take to show; a new controller of a large cluster is busy with its start."""


def heal(context: Context, bounds: Bounds, confirm: Confirm) -> Outcome:
    """Heal what can be healed; `confirm` is given finding and cure before each step, and raises to end it.

    Raises NotCompletedError where something remains, with the command for it.
    """
    patient, consent = examine(context), _Consent(confirm)
    first = next_cure(patient, ())
    if first is not None:
        consent.to(first)
    unfinished = _unfinished(context)
    if first is None and not unfinished:
        return Outcome(None, _verdict(patient.findings, 0))
    _require_time(context, bounds.deadline)
    now, wait_s = context.clock.timestamp(), bounds.lock_timeout_s
    operation_id = unfinished[0] if unfinished else new_operation_id(now)
    other = read_holder(context.store, context.paths)
    if other is not None and other.operation_id == operation_id:  # it was killed, and its lock goes with its session
        wait_s += other.session_timeout_s + EXPIRY_GRACE_S
    holder = new_holder(context, operation_id, now)
    lease = take(context.store, context.paths, holder, context.clock, wait_s)
    try:
        if not unfinished:
            _open(context, holder, patient, lease)
        return Outcome(operation_id, _Healing(context, operation_id, lease, consent).run(bounds.deadline))
    finally:
        give_back(context, lease)


def examine(context: Context) -> Patient:
    """Look once, with the znodes that the findings name."""
    evidence = gather(context)
    findings = diagnose(evidence)
    paths = sorted({finding.path for finding in findings if healable(finding)})
    nodes = context.store.get_many(paths)
    return Patient(findings, evidence.state, {node.path: node for node in nodes if node is not None})


class _Consent:
    """Asks once for each step; a step that the cluster's own changes make us repeat is agreed to already."""

    def __init__(self, confirm: Confirm) -> None:
        self._confirm = confirm
        self._agreed: set[str] = set()

    def to(self, cure: Cure) -> None:
        if cure.words in self._agreed:
            return
        try:
            self._confirm(cure.finding.message, cure.words)
        except UsageError as declined:
            if not self._agreed:
                raise
            raise UsageError("Not confirmed; what was healed before stays healed.") from declined
        self._agreed.add(cure.words)


class _Healing:
    def __init__(self, context: Context, operation_id: str, lease: Lease, consent: _Consent) -> None:
        self._context = context
        self._operation_id = operation_id
        self._lease = lease
        self._consent = consent
        self._publisher = Publisher(context.store, context.paths, operation_id)
        self._tried: set[tuple[str, str]] = set()
        self._steps = 0
        self._last_step_at = context.clock.now()

    def run(self, deadline: float | None) -> str:
        try:
            message = self._run(deadline)
        except (UnreachableError, UnknownOutcomeError):
            raise
        except KadminError as error:
            self._close(OperationState.FAILED, error.message)
            raise
        self._close(OperationState.COMPLETED, message)
        return message

    def _run(self, deadline: float | None) -> str:
        clock = self._context.clock
        while True:
            clock.stop_if_asked("what was healed stays healed", "kadmin heal")
            patient = examine(self._context)
            cure = next_cure(patient, self._tried)
            healing = self._steps > 0 and clock.now() - self._last_step_at < REACTION_S
            if cure is None and not (healing and unhealed(patient.findings)):
                return _verdict(patient.findings, self._steps)
            _require_time(self._context, deadline)
            if cure is None:
                clock.wait(POLL_S)
            else:
                self._administer(cure, patient, deadline)

    def _administer(self, cure: Cure, patient: Patient, deadline: float | None) -> None:
        self._consent.to(cure)
        bump = self._allowed_bump(cure, deadline) if cure.move else None
        step = self._step(cure)
        published = self._publisher.cure(step, _ops(cure, bump, patient, self._context), self._lease)
        if published is PublishOutcome.LOST_LOCK:
            raise lost_lock()
        if published is not PublishOutcome.YES:
            self._context.tell(events.Noted("the cluster changed in this moment; looking again"))
            return
        self._context.tell(events.Noted(f"step {step.number}: {cure.words}"))
        cured = patient.findings if cure.move else (cure.finding,)
        self._tried |= {(finding.code, finding.path) for finding in cured}
        self._steps += 1
        if cure.write is Write.STAND_IN:
            self._step_down()
        if bump is not None:
            await_successor(self._context, bump.epoch_version, deadline)
        self._last_step_at = self._context.clock.now()

    def _allowed_bump(self, cure: Cure, deadline: float | None) -> ControllerMove:
        failover, clock, told = Failover(self._context), self._context.clock, ""
        replaced = () if cure.node is None else (cure.node.path,)
        while True:
            answer = failover.ask(replaced)
            if isinstance(answer, ControllerMove):
                return answer
            clock.stop_if_asked("what was healed stays healed", "kadmin heal")
            _require_time(self._context, deadline, answer)
            if answer != told:
                told = answer
                self._context.tell(events.Noted(answer))
            clock.wait(POLL_S)

    def _step(self, cure: Cure) -> Step:
        step = next_step(
            self._context.journal.steps(self._operation_id),
            StepKind.CURE,
            cure.finding.path,
            self._context.clock.timestamp(),
        )
        node = cure.node
        return step if node is None else replace(step, replaced=Replaced(node.path, node.version, node.data))

    def _step_down(self) -> None:
        # The checks of the lease say that our session lives, and with it that the ephemeral node is ours and not that
        # of a controller elected meanwhile.
        store = self._context.store
        self._context.clock.wait(STAND_IN_S)
        ops: list[Op] = [*self._lease.checks(self._context.paths), Delete(CONTROLLER, 0)]

        def happened() -> bool:
            node = store.exists(CONTROLLER)
            return node is None or node.ephemeral_owner != store.session_id

        result = write(store, ops, happened, "step down as stand-in controller")
        if result is not None and not result.committed and not happened():
            raise lost_lock()

    def _close(self, state: OperationState, message: str) -> None:
        status = OperationStatus(state, self._context.clock.timestamp(), message)
        self._context.journal.set_status(self._operation_id, status, self._lease)


def _open(context: Context, holder: Holder, patient: Patient, lease: Lease) -> None:
    findings = [
        {"trouble": finding.code.value, "path": finding.path, "message": finding.message}
        for finding in patient.findings
    ]
    text = json.dumps({"kind": "Heal", "findings": findings}, sort_keys=True)
    record = OperationRecord(
        operation_id=holder.operation_id,
        kind=OperationKind.HEAL,
        plan_text=text,
        plan_digest=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        cluster_id=patient.state.cluster_id,
        created_at=holder.started_at,
        author=holder.author,
        origin={},
    )
    context.journal.create(record, lease, holder.started_at)
    context.journal.prune(lease)
    context.tell(events.Opened(holder.operation_id))


def _require_time(context: Context, deadline: float | None, waiting_for: str = "not all is healed") -> None:
    if deadline is not None and context.clock.now() >= deadline:
        raise NotCompletedError(f"The deadline passed: {waiting_for}.", next_command="kadmin heal")


def _unfinished(context: Context) -> tuple[str, ...]:
    """Return the heals that were killed; one whose record was never whole has written nothing: `resume` discards it."""
    found = (each for each in context.journal.unfinished() if each.kind is OperationKind.HEAL)
    return tuple(each.operation_id for each in found if each.status.state is OperationState.RUNNING)


def _ops(cure: Cure, bump: ControllerMove | None, patient: Patient, context: Context) -> tuple[Op, ...]:
    if cure.write is Write.STAND_IN:
        return (Create(CONTROLLER, encode_stand_in(), context.store.acl("/admin"), ephemeral=True),)
    check: Op = Check(CONTROLLER_EPOCH, patient.state.controller_epoch_version)
    move: tuple[Op, ...] = ()
    if bump is not None:
        check, *move_ops = bump.ops()
        move = tuple(move_ops)
    change: tuple[Op, ...] = ()
    if cure.node is not None:
        path, version = cure.node.path, cure.node.version
        change = (Delete(path, version) if cure.write is Write.DELETE else SetData(path, cure.data, version),)
    return (*((check,) if cure.checked else ()), *change, *move)


def _verdict(findings: Sequence[Finding], steps: int) -> str:
    """Return the success message; raises NotCompletedError where something stands in everybody's way."""
    left = unhealed(findings)
    if not left:
        return f"healed in {steps} steps; nothing is left to heal" if steps else "nothing to heal"
    more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
    raise NotCompletedError(
        f"Not healed: {left[0].message}{more}",
        cause=f"{steps} steps were done before" if steps else "nothing was changed",
        next_command=_onward(left[0]),
    )


def _onward(finding: Finding) -> str:
    if finding.code is Trouble.EMPTY_REPLICAS:
        return f"delete the topic {finding.topic} and make it again: its data went with the empty list"
    mendable = healable(finding) and finding.remedy.startswith("kadmin heal")
    return "kadmin doctor" if mendable else finding.remedy
