"""The words that differ by kind of operation and by kind of step.

All renderers look them up here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.next_step import command
from kadmin.operations.decide.kinds import kind_of
from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import StepKind
from kadmin.plan.model import Elect, ReassignmentPlan
from kadmin.plan.units import readable_size
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class KindWords:
    """Words for a kind of operation: `subject` in the singular, `action`: "3 topics to delete".

    `no_progress` is the reason that its progress cannot be counted.
    """

    kind: OperationKind
    subject: str
    action: str
    no_progress: str = "its record is incomplete, nothing was published"

    @property
    def title(self) -> str:
        """The title of a table of them: `Topics to delete`."""
        return f"{self.subject}s {self.action}".capitalize()

    def targets(self, number: int) -> str:
        """Return `3 topics to delete`."""
        return f"{count(number, self.subject)} {self.action}"

    def commands(self, operation_id: str) -> tuple[NextStep, ...]:
        """Return the commands that finish this operation, the most likely one first."""
        if self.kind is OperationKind.HEAL:
            return (command("heal"),)
        return command("resume", operation_id), command("cancel", operation_id)


@dataclass(frozen=True, slots=True)
class StepWords:
    """The words for a kind of step: `published` names its write, `done` its effect."""

    subject: str
    published: str
    done: str


KINDS = (
    KindWords(OperationKind.REASSIGNMENT, "partition", "to reassign"),
    KindWords(OperationKind.ELECTION, "partition", "to elect"),
    KindWords(OperationKind.DELETION, "topic", "to delete"),
    KindWords(OperationKind.RECREATION, "topic", "to recreate"),
    KindWords(OperationKind.HEAL, "step", "to repair", "repaired step by step"),
    KindWords(OperationKind.CANCELLATION, "reassignment", "of other tools to end"),
    KindWords(OperationKind.CATCH_UP, "replica", "to catch up"),
    KindWords(OperationKind.MAINTENANCE, "stage", "of a maintenance"),
    KindWords(OperationKind.DECOMMISSION, "partition", "to move from brokers that leave"),
    KindWords(OperationKind.RECOVERY, "partition", "to elect a leader that lacks records"),
    KindWords(OperationKind.GROWTH, "partition", "to add"),
)
STEP_WORDS = {
    StepKind.PROBE: StepWords("partition", "probe", "probed whether the controller listens"),
    StepKind.THROTTLE: StepWords(
        "partition", "change of the throttle", "changed the throttle to {rate}"
    ),
    StepKind.WAVE: StepWords("partition", "reassignment", "published wave {wave} of {waves}"),
    StepKind.LOG_DIRS: StepWords(
        "partition", "request for log directories", "named log directories to a broker"
    ),
    StepKind.ELECTION: StepWords("partition", "election", "elected preferred leaders"),
    StepKind.UNCLEAN_ELECTION: StepWords(
        "partition", "unclean election", "elected leaders that lack records"
    ),
    StepKind.DELETION: StepWords("topic", "deletion", "deleted topics"),
    StepKind.CREATION: StepWords("topic", "creation", "recreated topics"),
    StepKind.GROWTH: StepWords("topic", "growth", "added partitions to topics"),
    StepKind.CANCEL: StepWords(
        "partition", "return to the original replicas", "cancelled running reassignments"
    ),
    StepKind.REPAIR: StepWords("partition", "repair", "repaired one finding"),
    StepKind.GONE: StepWords("broker", "stop", "saw brokers stopped"),
    StepKind.DRAIN: StepWords("partition", "further round", "planned a further round"),
    StepKind.ERRAND: StepWords("broker", "errand", "asked to {errand}"),
    StepKind.CONFIG: StepWords("topic", "config of before", "restored the configs of topics"),
}
_BY_KIND = {words.kind: words for words in KINDS}


def words_of(operation: OperationKind | Plan) -> KindWords:
    """Return the words for a kind of operation, or for a plan."""
    return _BY_KIND[operation if isinstance(operation, OperationKind) else kind_of(operation).kind]


LASTING = "This cannot be rolled back: Kafka removes no partition of a topic"


def election_text(plan: Plan) -> str | None:
    """Say that a reassignment elects leaders, and when.

    None for one that does not, and for other plans.
    """
    if not isinstance(plan, ReassignmentPlan) or plan.elect is Elect.NONE:
        return None
    when = {Elect.AT_END: "after the last wave", Elect.AFTER_EACH_WAVE: "after each wave"}[
        plan.elect
    ]
    return f"preferred leaders are elected {when}"


def lost_text(found: Examination) -> str | None:
    """Return the bytes that a deletion destroys, None where unknown and for other plans."""
    if found.lost_bytes is None:
        return None
    return readable_size(found.lost_bytes) + ("" if found.tiered is None else " on disk")


def tiered_text(found: Examination) -> str | None:
    """Return the bytes of tiered partitions, and what a plan does with them; None without any."""
    if found.tiered is None:
        return None
    done = "all would be deleted" if found.change is None else "the local bytes are copied"
    return f"{found.tiered}; {done}"
