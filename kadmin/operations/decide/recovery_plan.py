"""The kind of a recovery: its examination, what may be awaited before it, and its verdicts."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from kadmin.insight.quorum import running_brokers
from kadmin.operations.decide.recovery import RecoveryWork
from kadmin.operations.decide.recovery_by_config import ConfigRecoveryWork
from kadmin.operations.decide.spec import PlanKind, Verdict
from kadmin.operations.record.record import OperationKind
from kadmin.plan.model import RecoveryPlan
from kadmin.plan.progress import Progress
from kadmin.plan.recovery import starts_of, without_leader
from kadmin.plan.unclean import UNCLEAN_ELECTION
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.rules import ClusterView

IMPATIENT_S = 600.0
"""Seconds since the plan was made, before which a dead broker counts as seen alive lately."""


def examine_recovery(found: Examination, plan: RecoveryPlan, world: ClusterView) -> Examination:
    """Complete the examination of a recovery by its partitions without a leader."""
    state, before = world.state, {}
    if world.facts.elects_by_config:
        topics = sorted({entry.partition.topic for entry in plan.partitions} & state.topics.keys())
        before = {each: state.topic_configs.get(each, {}).get(UNCLEAN_ELECTION) for each in topics}
    work = recovery_work(plan, before)
    if not (targets := work.open(state)):
        return found
    warnings = (*found.warnings, work.effects) if isinstance(work, ConfigRecoveryWork) else None
    return replace(found, work=work, targets=targets, warnings=warnings or found.warnings)


def recovery_work(plan: RecoveryPlan, unclean: Mapping[str, str | None]) -> RecoveryWork:
    """Return the work of a plan; `unclean` are the values before of the configs that it sets."""
    return ConfigRecoveryWork(plan, unclean) if unclean else RecoveryWork(plan)


def _fields(work: RecoveryWork, _: ClusterState) -> dict[str, Any]:
    origin = {entry.partition: entry.current for entry in work.plan.partitions}
    unclean = work.unclean if isinstance(work, ConfigRecoveryWork) else {}
    return {"origin": origin, "unclean": unclean}


def awaited_lately(plan: RecoveryPlan, state: ClusterState, now: datetime) -> frozenset[int]:
    """Return dead brokers that would lead without a loss and were seen alive lately, or may be.

    They are not known to be dead for IMPATIENT_S, or their process runs again.
    """
    leaderless = set(without_leader(state))
    named = [each.partition for each in plan.partitions if each.partition in leaderless]
    able = frozenset(starts_of(named, state))
    if plan.allow_impatient:
        return frozenset()
    looked_at = None if plan.looked_at is None else datetime.fromisoformat(plan.looked_at)
    proved = looked_at is not None and (now - looked_at).total_seconds() >= IMPATIENT_S
    return able & running_brokers(state.controller) if proved else able


def _verdicts(plan: RecoveryPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    for entry in plan.partitions:
        partition, found = entry.partition, state.states.get(entry.partition)
        replicas = state.replicas(partition)
        if found is None or replicas is None:
            progress, detail = Progress.STALE, "no such partition"
        elif not state.has_leader(partition):
            progress, detail = Progress.WAITING, "no leader"
        elif missing := sorted(set(replicas) - set(found.isr)):
            progress = Progress.SETTLED
            detail = f"led by {found.leader}, not in sync yet: {brokers_in_words(missing)}"
        else:
            progress, detail = Progress.DONE, ""
        yield Verdict(partition.topic, partition.partition, progress, detail)


RECOVERY = PlanKind(
    OperationKind.RECOVERY,
    RecoveryPlan,
    scope=lambda plan: {entry.partition.topic for entry in plan.partitions},
    spec_of=lambda plan, record: recovery_work(plan, record.unclean),
    fields=_fields,
    verdicts=_verdicts,
)
