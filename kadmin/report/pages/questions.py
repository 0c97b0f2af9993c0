"""Answers what a reviewer asks first: what could go wrong, and how is it undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.next_step import command
from kadmin.operations.decide.kinds import kind_of
from kadmin.operations.record.record import OperationState
from kadmin.operations.repair.rollback import REVERSIBLE, without_rollback
from kadmin.plan.model import ReassignmentPlan
from kadmin.plan.throttle_words import throttle_in_words
from kadmin.report.pages.page import Notice, Question, Tone
from kadmin.report.pages.sections import worst_text
from kadmin.report.plans.rows import fill_text
from kadmin.report.text import about, duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.insight.predict.forecast import Forecast
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.reading.timeline import Timeline
    from kadmin.operations.record.record import OperationKind
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan

_RISKS, _UNDO = "What could go wrong", "How do I undo it"


def plan_questions(plan: Plan, found: Examination, forecast: Forecast) -> tuple[Question, ...]:
    """Answer both questions for a plan; none where there is nothing to do."""
    if found.work is None:
        return ()
    return (
        Question(_RISKS, tuple(_plan_risks(plan, found, forecast))),
        Question(_UNDO, tuple(_undo(kind_of(plan).kind, "ID"))),
    )


def operation_questions(
    found: Timeline, forecast: Forecast, *, has_runner: bool
) -> tuple[Question, ...]:
    """Answer both questions for an operation."""
    record, state = found.record, found.status.state
    risks = []
    if not state.finished and not has_runner:
        risks.append(Notice("No runner: copies in flight continue, and nothing further begins."))
    if found.targets:
        risks.append(Notice(f"If the worst broker fails now: {worst_text(forecast.losses_after)}."))
    undo = tuple(_undo(record.kind, one_line(record.operation_id), state))
    questions = (Question(_RISKS, tuple(risks)), Question(_UNDO, undo))
    return tuple(each for each in questions if each.answers)


def _plan_risks(plan: Plan, found: Examination, forecast: Forecast) -> Iterator[Notice]:
    if found.change is not None:
        yield from _copy_risks(found.change, found)
    if found.lost_bytes is not None:
        yield Notice(f"The records are lost: {about(found.lost_bytes)} on all disks.", Tone.BAD)
    moved = _changed_leaders(found)
    if moved:
        yield Notice(f"Partitions that get another leader: {moved:,}. Their clients follow it.")
    if forecast.losses_after:
        before, after = map(worst_text, (forecast.losses_before, forecast.losses_after))
        yield Notice(f"If the worst broker fails: {before} before, {after} after.")
    if isinstance(plan, ReassignmentPlan) and (waived := tuple(_waived(plan))):
        yield Notice(f"The plan allows {' and '.join(waived)}.", Tone.WARN)


def _copy_risks(change: PlanDiff, found: Examination) -> Iterator[Notice]:
    if not change.replicas_added:
        yield Notice("No data is copied to another broker.", Tone.GOOD)
    elif found.throttle is None:
        text = "No throttle: copies may take the whole network, and clients then wait."
        yield Notice(text, Tone.WARN)
    else:
        seconds = found.throttle.makespan_seconds
        time = "for an unknown time" if seconds is None else f"for at least {duration(seconds)}"
        rate = throttle_in_words(found.throttle.asked)
        yield Notice(f"Copies share disks and networks with clients {time}, at {rate}.")
    fullest = max(
        (each for each in change.disks.disks if each.highest_fill is not None),
        key=lambda each: each.highest_fill or 0,
        default=None,
    )
    if fullest is not None:
        filled = f"The fullest disk reaches {fill_text(fullest.highest_fill)}"
        yield Notice(f"{filled}: {one_line(fullest.paths[0])} of broker {fullest.broker_id}.")


def _changed_leaders(found: Examination) -> int:
    if found.change is not None:
        pending = found.change.pending
        return sum((target.current or ())[:1] != target.replicas[:1] for target in pending)
    return sum(before != after for before, after in found.leaders)


def _waived(plan: ReassignmentPlan) -> Iterator[str]:
    if plan.allow_replication_factor_change:
        yield "another number of replicas"
    if plan.allow_fewer_racks:
        yield "fewer racks"
    if plan.allow_without_source:
        yield "partitions without a live copy in sync"


def _undo(
    kind: OperationKind, operation_id: str, state: OperationState | None = None
) -> Iterator[Notice]:
    """Yield the ways back; `state` is None before the plan is applied."""
    if state is OperationState.DISCARDED:
        yield Notice("Nothing was changed.")
    elif kind in REVERSIBLE:
        if state is None or not state.finished:
            yield Notice("To stop it; moves in flight go on:", next_step=_typed("pause"))
            text = "To end it at once; moves in flight return to their lists of before:"
            yield Notice(text, next_step=_typed("cancel", "--now"))
        text = "Afterwards, each partition to its list of before, in its order:"
        named = () if state is None else (operation_id,)
        yield Notice(text, next_step=_typed("rollback", *named))
    elif (refused := without_rollback(operation_id).get(kind)) is not None:
        cause, next_step = refused
        whole = str(next_step) if len(next_step.parts) == 1 else ""
        yield Notice(f"Not at all: {cause}.", Tone.WARN, whole)


def _typed(*words: str) -> str:
    return str(command(*words))
