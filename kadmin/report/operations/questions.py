"""The questions before a change: they name the cluster, the change and its amount."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.operations.decide.recovery_by_config import ConfigRecoveryWork
from kadmin.operations.record.record import OperationKind
from kadmin.plan.model import DeletionPlan, GrowthPlan, RecoveryPlan
from kadmin.plan.throttle import describe_entities
from kadmin.report.kinds import LASTING, election_text, lost_text, words_of
from kadmin.report.text import about
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.reading.status import Unfinished
    from kadmin.plan.model import Plan
    from kadmin.plan.throttle import ConfigChanges


def cluster_at(cluster_id: str | None, address: str) -> str:
    """Name a cluster by its id, where that is known, and its address as it was typed."""
    name = "the cluster" if cluster_id is None else f"cluster {one_line(cluster_id)}"
    return f"{name} at {one_line(address)}"


def apply_question(plan: Plan, examination: Examination, where: str) -> str:
    """Ask before a plan is applied."""
    named = "the plan" if plan.header.name is None else f"plan {one_line(plan.header.name)}"
    lasting = f"{LASTING}.\n" if isinstance(plan, GrowthPlan) else ""
    return f"{lasting}Apply {named} to {where}: {_work(plan, examination)}?"


def words_to_type(plan: Plan, examination: Examination) -> str | None:
    """Return what a person types before data is destroyed, None for plans that destroy none.

    The topics of a deletion, the number of partitions of a recovery.
    """
    if isinstance(plan, DeletionPlan):
        return ",".join(plan.topics)
    return str(len(examination.targets)) if isinstance(plan, RecoveryPlan) else None


def question_to_type(plan: Plan, examination: Examination, where: str, wanted: str) -> str:
    """Ask for the words of `words_to_type`, before data is destroyed."""
    what = "the topics to delete them"
    if isinstance(plan, RecoveryPlan):
        what = "the number of partitions to elect their leaders"
    return f"This destroys data on {where}: {_work(plan, examination)}. Type {what} ({wanted})"


def unfinished_question(verb: str, found: Unfinished, where: str, how: str = "") -> str:
    """Ask before an unfinished operation is resumed or cancelled.

    `how` describes further effects.
    """
    record, words = found.record, words_of(found.listing.kind)
    name = None if record is None else record.plan_name
    of_plan = "" if name is None else f" of plan {one_line(name)}"
    progress = found.progress
    left = words.no_progress
    if progress is not None:
        left = count(progress.total - progress.done, words.subject)
        if progress.total_bytes and progress.done_bytes is not None:
            left += f", {about(progress.total_bytes - progress.done_bytes)}"
        left += " left"
    return f"{verb} operation {found.listing.operation_id}{of_plan} on {where}{how}: {left}?"


def creating(to_create: str, question: str) -> str:
    """Say in a question that a topic will be created for lock and record.

    `to_create` names it, '' where none is.
    """
    return (
        f"First, {to_create} will be created; it keeps lock and record.\n{question}"
        if to_create
        else question
    )


def throttle_question(changes: ConfigChanges, where: str) -> str:
    """Ask before throttles are written; no config may change, as by hours alone."""
    if not changes:
        return f"Change the throttle on {where}?"
    return f"Write these values for {describe_entities(changes)} on {where}?"


def broker_question(verb: str, broker: int, where: str) -> str:
    """Ask before a broker is cordoned, uncordoned or unregistered."""
    return f"{verb} broker {broker} of {where}?"


def catch_up_question(broker: int, replicas: int, where: str) -> str:
    """Ask before the catch-up of a broker is throttled."""
    words = words_of(OperationKind.CATCH_UP).targets(replicas)
    return f"Throttle the catch-up of broker {broker} on {where}: {words}?"


def _work(plan: Plan, examination: Examination) -> str:
    words, change = words_of(plan), examination.change
    tiered = "" if examination.tiered is None else f" ({examination.tiered})"
    if change is not None:
        copied = (
            "bytes to copy unknown"
            if change.moved_bytes is None
            else f"{about(change.moved_bytes)} to copy"
        )
        elected = election_text(plan)
        return (
            f"{words.targets(len(change.pending))}, "
            f"{copied}{tiered}{'' if elected is None else f'; {elected}'}"
        )
    destroyed = lost_text(examination)
    lost = "" if destroyed is None else f", {destroyed}"
    work, how = examination.work, ""
    if isinstance(work, ConfigRecoveryWork):
        how = f", by {work.means}"
    return f"{words.targets(len(examination.targets))}{lost}{tiered}{how}"
