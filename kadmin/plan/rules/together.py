"""Rules on several documents: conflicts of plans that are each valid alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kadmin.cluster.model import TopicPartition


@dataclass(frozen=True, slots=True)
class PlanFootprint:
    """The partitions that a plan reassigns, and the topics that it deletes and that it needs.

    `elects` selects the partitions whose leaders the plan elects.
    """

    reassigned: tuple[TopicPartition, ...] = ()
    deleted: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    elects: Callable[[Iterable[TopicPartition]], tuple[TopicPartition, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document by the name of its file, with its footprint and its cluster id.

    The id is None where the document has none.
    """

    file: str
    cluster_id: str | None
    touched: PlanFootprint


def check_beside(document: NamedDocument, earlier: Sequence[NamedDocument]) -> Iterator[Diagnostic]:
    """Yield the conflicts of a document with earlier ones.

    Of two plans in conflict the later one is reported. Plans of different clusters (by their
    `cluster_id`) do not conflict.
    """
    others = [each for each in earlier if _one_cluster(document, each)]
    partitions: dict[TopicPartition, str] = {}
    deleted: dict[str, str] = {}
    used: dict[str, str] = {}
    for other in reversed(others):
        partitions.update(dict.fromkeys(other.touched.reassigned, other.file))
        deleted.update(dict.fromkeys(other.touched.deleted, other.file))
        used.update(dict.fromkeys(other.touched.used, other.file))
    for partition in dict.fromkeys(document.touched.reassigned):
        if partition in partitions:
            message = f"{partition}: reassigned by {partitions[partition]}, too"
            yield Diagnostic(
                codes.PARTITION_IN_TWO_PLANS, message, "keep one of the two", partition=partition
            )
    yield from _elections(document, others)
    for topic in dict.fromkeys(document.touched.used):
        if topic in deleted:
            yield _conflict(f"{topic} is deleted by {deleted[topic]}", topic)
    for topic in dict.fromkeys(document.touched.deleted):
        if topic in used:
            yield _conflict(f"{topic} is used by {used[topic]}", topic)


def _elections(document: NamedDocument, others: Sequence[NamedDocument]) -> Iterator[Diagnostic]:
    """Warn of two plans where one reassigns partitions whose leaders the other elects."""
    for other in others:
        for elector, mover in ((document, other), (other, document)):
            if met := elector.touched.elects(mover.touched.reassigned):
                yield _meeting(met, other.file)


def _meeting(met: Sequence[TopicPartition], file: str) -> Diagnostic:
    first, rest = met[0], f" and {len(met) - 1} more" if met[1:] else ""
    message = f"{file} and this plan meet: one reassigns {first}{rest}, one elects its leader"
    next_step = "let the reassignment elect: spec.elect: at_end"
    return Diagnostic(
        codes.ELECTED_WHILE_REASSIGNED,
        message,
        next_step,
        "warning",
        partition=first,
        topic=first.topic,
    )


def _conflict(message: str, topic: str) -> Diagnostic:
    next_step = (
        "a deletion during a reassignment of its topic leaves a request that blocks every other "
        "reassignment"
    )
    return Diagnostic(codes.DELETED_AND_USED, message, next_step, topic=topic)


def _one_cluster(one: NamedDocument, other: NamedDocument) -> bool:
    return len({one.cluster_id, other.cluster_id} - {None}) <= 1
