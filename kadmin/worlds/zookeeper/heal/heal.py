"""Heals a cluster: diagnoses, offers a repair, makes it, diagnoses again, until none is left.

A heal is an operation under lock and fence, beside any unfinished one. Each step saves the replaced
znode in the same write, and is made once.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from kadmin.errors import (
    KadminError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
    UsageError,
)
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.decide.actions import PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S, Finish, Wait
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.execute.follow import Loop, follow
from kadmin.operations.port import Postponed, PublishOutcome
from kadmin.operations.record.holder import lost_lock
from kadmin.operations.record.record import (
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import HealStep, Replaced
from kadmin.operations.session import held
from kadmin.wording import count
from kadmin.worlds.zookeeper.controller_move import ControllerMover, await_successor
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose
from kadmin.worlds.zookeeper.doctor.evidence import HEAL
from kadmin.worlds.zookeeper.doctor.gather import gather
from kadmin.worlds.zookeeper.heal.repair_steps import (
    Diagnosis,
    Write,
    healable,
    next_step,
    unhealed,
)
from kadmin.worlds.zookeeper.model import Check, Create, Delete, SetData, details_of
from kadmin.worlds.zookeeper.publish import Publisher
from kadmin.worlds.zookeeper.transaction import write
from kadmin.worlds.zookeeper.values.lock import lease_checks
from kadmin.worlds.zookeeper.znodes.controller import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    encode_placeholder,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.next_step import NextStep
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.steps import Step
    from kadmin.operations.session import Session
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.controller_move import ControllerMove
    from kadmin.worlds.zookeeper.heal.repair_steps import RepairStep
    from kadmin.worlds.zookeeper.model import Op

    Confirm: TypeAlias = Callable[[str, str], None]

PLACEHOLDER_S = 1.0
REACTION_S = PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
"""Seconds until a repair shows; a new controller of a large cluster needs time to start."""


def heal(context: ZooKeeperContext, lock_timeout_s: float, confirm: Confirm) -> Outcome:
    """Repair each trouble that has a repair.

    `confirm` gets finding and repair before a step, and raises to decline. Raises NotCompletedError
    where a trouble remains that blocks operations.
    """
    diagnosis, consent = diagnose_nodes(context), _Consent(confirm)
    first = next_step(diagnosis, ())
    if first is not None:
        consent.to(first)
    unfinished = _unfinished(context)
    if first is None and not unfinished:
        return Outcome(None, _verdict(diagnosis.findings, 0).message)
    if context.clock.over:
        raise _past_deadline(None)
    holder, wait_s = context.new_holder(unfinished[0] if unfinished else None), lock_timeout_s
    other = context.operations.lock.holder()
    # Its runner was killed; its lock expires.
    if other is not None and other.operation_id == holder.operation_id:
        wait_s += other.expires_s
    with held(context, holder, wait_s) as session:
        if not unfinished:
            session.begin(_record(holder, diagnosis))
        context.tell(events.OperationStarted(holder.operation_id, diagnosis.state.cluster_id))
        return Outcome(holder.operation_id, _Healing(context, session, consent).run())


def diagnose_nodes(context: ZooKeeperContext) -> Diagnosis:
    """Diagnose, and read the znodes that the findings name."""
    evidence = gather(context)
    findings = diagnose(evidence)
    paths = sorted({finding.znode for finding in findings if healable(finding)})
    nodes = context.store.get_many(paths)
    return Diagnosis(
        findings, evidence.state, {node.path: node for node in nodes if node is not None}
    )


class _Consent:
    """Asks once for each step, not again where a step is repeated because the cluster changed."""

    def __init__(self, confirm: Confirm) -> None:
        self._confirm = confirm
        self._agreed: set[str] = set()

    def to(self, step: RepairStep) -> None:
        if step.words in self._agreed:
            return
        try:
            self._confirm(step.finding.message, step.words)
        except UsageError as declined:
            if not self._agreed:
                raise
            raise UsageError("Not confirmed; the earlier steps remain done.") from declined
        self._agreed.add(step.words)


class _Healing:
    def __init__(self, context: ZooKeeperContext, session: Session, consent: _Consent) -> None:
        self._context = context
        self._session = session
        self._consent = consent
        self._publisher = Publisher(context.store, context.paths)
        self._mover = ControllerMover(context.store, context.clock)
        self._tried: set[tuple[str, str]] = set()
        self._steps = 0
        self._last_step_at = context.clock.now()
        self._noted = ""

    def run(self) -> str:
        loop = Loop(
            lambda: diagnose_nodes(self._context),
            self._decide,
            self._repair,
            self._on_wait,
            lambda reason, _: _past_deadline(reason),
            "the earlier steps remain done",
            HEAL,
        )
        try:
            finish, _ = follow(loop, self._context)
        except (UnreachableError, UnknownOutcomeError):
            raise
        except KadminError as error:
            self._close(OperationState.FAILED, error.message)
            raise
        self._close(finish.state, finish.message)
        return finish.message

    def _decide(self, diagnosis: Diagnosis) -> RepairStep | Wait | Finish:
        step = next_step(diagnosis, self._tried)
        healing = self._steps > 0 and self._context.clock.now() - self._last_step_at < REACTION_S
        if step is None and healing and unhealed(diagnosis.findings):
            return Wait("")
        return _verdict(diagnosis.findings, self._steps) if step is None else step

    def _repair(self, repair: RepairStep, diagnosis: Diagnosis) -> str | None:
        self._consent.to(repair)
        move: ControllerMove | None = None
        if repair.move:
            answer = self._mover.ask(() if repair.node is None else (repair.node.path,))
            if isinstance(answer, Postponed):
                return answer.reason
            move = answer
        step = self._step(repair)
        outcome = self._publisher.send(
            step, _ops(repair, move, diagnosis, self._context), self._session.lease
        )
        if outcome is PublishOutcome.LOST_LOCK:
            raise lost_lock()
        if outcome is not PublishOutcome.PUBLISHED:
            self._context.tell(
                events.Note("the cluster changed since it was read; reading it again")
            )
            return None
        self._context.tell(events.Note(f"step {step.number}: {repair.words}"))
        repaired = diagnosis.findings if repair.move else (repair.finding,)
        self._tried |= {(finding.code, finding.znode) for finding in repaired}
        self._steps += 1
        if repair.write is Write.PLACEHOLDER:
            self._step_down()
        if move is not None:
            await_successor(self._context.store, self._context.clock, move.epoch_version)
        self._last_step_at = self._context.clock.now()
        return None

    def _on_wait(self, wait: Wait, _: Diagnosis) -> None:
        if wait.reason and wait.reason != self._noted:
            self._noted = wait.reason
            self._context.tell(events.Note(wait.reason))

    def _step(self, repair: RepairStep) -> Step:
        number = len(self._session.steps()) + 1
        node = repair.node
        deleted = repair.write is Write.DELETE
        replaced = None if node is None else Replaced(node.path, node.version, node.data, deleted)
        return HealStep(number, self._context.clock.timestamp(), replaced)

    def _step_down(self) -> None:
        # The checks of the lease prove that our session is alive: so the ephemeral node is ours,
        # not that of a controller elected meanwhile.
        store = self._context.store
        self._context.clock.wait(PLACEHOLDER_S)
        ops: list[Op] = [
            *lease_checks(self._session.lease, self._context.paths),
            Delete(CONTROLLER, 0),
        ]

        def happened() -> bool:
            node = store.exists(CONTROLLER)
            return node is None or node.ephemeral_owner != store.session_id

        result = write(store, ops, happened, "delete the temporary controller node")
        if result is not None and not result.committed and not happened():
            raise lost_lock()

    def _close(self, state: OperationState, message: str) -> None:
        self._session.set_status(OperationStatus(state, self._context.clock.timestamp(), message))
        self._context.tell(events.StateChanged(state.value, message))


def _record(holder: Holder, diagnosis: Diagnosis) -> OperationRecord:
    findings = [
        {"trouble": finding.code, "path": finding.znode, "message": finding.message}
        for finding in diagnosis.findings
    ]
    text = json.dumps({"kind": "Heal", "findings": findings}, sort_keys=True)
    return OperationRecord(
        operation_id=holder.operation_id,
        kind=OperationKind.HEAL,
        plan_text=text,
        plan_digest=f"sha256:{hashlib.sha256(text.encode()).hexdigest()}",
        cluster_id=diagnosis.state.cluster_id,
        created_at=holder.started_at,
        author=holder.author,
        origin={},
    )


def _past_deadline(reason: str | None) -> NotCompletedError:
    return NotCompletedError(
        f"The deadline passed: {reason or 'some findings are not healed'}.", next_step=HEAL
    )


def _unfinished(context: ZooKeeperContext) -> tuple[str, ...]:
    """Return the heals that were killed.

    One with an incomplete record has written nothing: `resume` discards it.
    """
    found = (each for each in context.operations.unfinished() if each.kind is OperationKind.HEAL)
    return tuple(each.operation_id for each in found if each.status.state is OperationState.RUNNING)


def _ops(
    repair: RepairStep, move: ControllerMove | None, diagnosis: Diagnosis, context: ZooKeeperContext
) -> tuple[Op, ...]:
    if repair.write is Write.PLACEHOLDER:
        return (
            Create(CONTROLLER, encode_placeholder(), context.store.acl("/admin"), ephemeral=True),
        )
    check: Op = Check(CONTROLLER_EPOCH, details_of(diagnosis.state).controller_epoch_version)
    moving: tuple[Op, ...] = ()
    if move is not None:
        check, *rest = move.ops()
        moving = tuple(rest)
    change: tuple[Op, ...] = ()
    if repair.node is not None:
        path, version = repair.node.path, repair.node.version
        change = (
            Delete(path, version)
            if repair.write is Write.DELETE
            else SetData(path, repair.data, version),
        )
    return (*((check,) if repair.checked else ()), *change, *moving)


def _verdict(findings: Sequence[Finding], steps: int) -> Finish:
    """Return the success; raises NotCompletedError where something still blocks operations."""
    left = unhealed(findings)
    done = (
        f"healed in {count(steps, 'step')}; nothing is left to heal" if steps else "nothing to heal"
    )
    if not left:
        return Finish(OperationState.COMPLETED, done)
    more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
    raise NotCompletedError(
        f"Not healed: {left[0].message}{more}",
        cause=f"{count(steps, 'step')} done before" if steps else "nothing was changed",
        next_step=_onward(left[0]),
    )


def _onward(finding: Finding) -> NextStep | str | None:
    if finding.code is Trouble.EMPTY_REPLICAS:
        return (
            f"delete the topic {finding.topic} and create it again: its data was deleted with the "
            "empty list"
        )
    return (
        command("doctor") if healable(finding) and finding.next_step == HEAL else finding.next_step
    )
