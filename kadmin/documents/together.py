"""Several documents side by side: what each allows, but not both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents.text import printable
from kadmin.plan import codes
from kadmin.plan.checks import Violation
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.documents.check import Checked
    from kadmin.documents.problem import Problem


def check_together(documents: Sequence[Checked]) -> tuple[Problem, ...]:
    """Find partitions in two reassignment plans, topics that one deletes and another uses, elections in mid-move.

    Plans of different clusters (by their `cluster_id`) do not meet. The problem stands in the later document.
    """
    return tuple(
        problem
        for later, document in enumerate(documents)
        for problem in document.place(tuple(_against(document, documents[:later])))
    )


def _against(document: Checked, earlier: Sequence[Checked]) -> Iterator[Violation]:
    partitions: dict[TopicPartition, str] = {}
    deleted: dict[str, str] = {}
    used: dict[str, str] = {}
    for other in reversed(earlier):
        if _one_cluster(document, other):
            partitions.update(dict.fromkeys(_reassigned(other), printable(other.source)))
            deleted.update(dict.fromkeys(_deleted(other), printable(other.source)))
            used.update(dict.fromkeys(_used(other), printable(other.source)))
    for partition in dict.fromkeys(_reassigned(document)):
        if partition in partitions:
            message = f"{partition} is reassigned by {partitions[partition]} too"
            yield Violation(codes.PARTITION_IN_TWO_PLANS, message, "keep one of the two", partition=partition)
    yield from _elections(document, earlier)
    for topic in dict.fromkeys(_used(document)):
        if topic in deleted:
            yield _conflict(f"{topic} is deleted by {deleted[topic]}", topic)
    for topic in dict.fromkeys(_deleted(document)):
        if topic in used:
            yield _conflict(f"{topic} is used by {used[topic]}", topic)


def _elections(document: Checked, earlier: Sequence[Checked]) -> Iterator[Violation]:
    """Warn where of two plans one reassigns what the other elects; the later of the two says so."""
    for other in (each for each in earlier if _one_cluster(document, each)):
        for elector, mover in ((document, other), (other, document)):
            if not isinstance(elector.document, ElectionPlan):
                continue
            if met := list(_elected_among(elector.document, _reassigned(mover))):
                yield _meeting(met, printable(other.source))


def _meeting(met: Sequence[TopicPartition], source: str) -> Violation:
    first, rest = met[0], f" and {len(met) - 1} more" if met[1:] else ""
    return Violation(
        codes.ELECTED_WHILE_REASSIGNED,
        f"{source} and this plan meet: one reassigns {first}{rest}, one elects its leader",
        "let the reassignment elect: spec.elect: at_end",
        partition=first,
        topic=first.topic,
        severity="warning",
    )


def _elected_among(plan: ElectionPlan, partitions: Iterator[TopicPartition]) -> Iterator[TopicPartition]:
    topics, named = frozenset(plan.topics), frozenset(plan.partitions)
    return (each for each in partitions if plan.all_partitions or each.topic in topics or each in named)


def _conflict(message: str, topic: str) -> Violation:
    hint = "a deletion that meets a reassignment of its topic leaves a node that blocks everybody"
    return Violation(codes.DELETED_AND_USED, message, hint, topic=topic)


def _one_cluster(one: Checked, other: Checked) -> bool:
    if one.document is None or other.document is None:
        return False
    ids = {one.document.header.cluster_id, other.document.header.cluster_id} - {None}
    return len(ids) <= 1


def _reassigned(checked: Checked) -> Iterator[TopicPartition]:
    if isinstance(checked.document, ReassignmentPlan):
        yield from (target.partition for target in checked.document.reassignments)


def _deleted(checked: Checked) -> tuple[str, ...]:
    return checked.document.topics if isinstance(checked.document, DeletionPlan) else ()


def _used(checked: Checked) -> Iterator[str]:
    yield from (partition.topic for partition in _reassigned(checked))
    if isinstance(checked.document, ElectionPlan):
        yield from checked.document.topics
        yield from (partition.topic for partition in checked.document.partitions)
