"""Where in a document a violation belongs."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.plan import codes
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition
    from kadmin.documents.problem import Path
    from kadmin.plan.checks import Violation
    from kadmin.plan.model import Document

_FIELDS = {
    codes.UNKNOWN_TOPIC: "topic",
    codes.DELETED_AND_USED: "topic",
    codes.UNKNOWN_PARTITION: "partition",
    codes.STALE_CURRENT: "current",
    codes.FEWER_RACKS: "replicas",
}
"""The field of a partition's entry that a code is about; codes that are not here are about the entry."""

REPEATS = frozenset({codes.DUPLICATE_PARTITION, codes.DUPLICATE_ENTRY, codes.DUPLICATE_KEY})
"""Codes of what stands in a document a second time: their place is the second, and they name the first."""


class PlaceFinder:
    """Knows at which paths a document names its partitions and topics."""

    def __init__(self, document: Document) -> None:
        self._targets: tuple[tuple[int, ...], ...] = ()
        self._partitions: defaultdict[TopicPartition, list[int]] = defaultdict(list)
        self._topics: defaultdict[str, list[Path]] = defaultdict(list)
        if isinstance(document, ReassignmentPlan):
            self._targets = tuple(target.replicas for target in document.reassignments)
            self._index(tuple(target.partition for target in document.reassignments))
        elif isinstance(document, ElectionPlan):
            self._index(document.partitions)
        if isinstance(document, DeletionPlan | ElectionPlan):
            for index, topic in enumerate(document.topics):
                self._topics[topic].append(("spec", "topics", index))

    def find(self, violation: Violation) -> Path:
        """Return the path that the violation concerns most closely; of repetitions the second."""
        if violation.field:
            return violation.field
        if violation.partition is not None and violation.partition in self._partitions:
            return self._in_entry(violation, self._partitions[violation.partition])
        if violation.topic is not None and violation.topic in self._topics:
            paths = self._topics[violation.topic]
            return paths[-1] if violation.code in REPEATS else paths[0]
        return ("spec",)

    def first(self, violation: Violation) -> Path | None:
        """Return the path of what a repetition repeats."""
        if violation.code not in REPEATS:
            return None
        if violation.partition is not None:
            return ("spec", "partitions", self._partitions[violation.partition][0])
        return self._topics[violation.topic][0] if violation.topic is not None else None

    def _index(self, partitions: tuple[TopicPartition, ...]) -> None:
        for index, partition in enumerate(partitions):
            self._partitions[partition].append(index)
            if partition.topic not in self._topics:
                self._topics[partition.topic].append(("spec", "partitions", index, "topic"))

    def _in_entry(self, violation: Violation, indexes: list[int]) -> Path:
        if violation.code in REPEATS:
            return ("spec", "partitions", indexes[1])
        entry: Path = ("spec", "partitions", indexes[0])
        if violation.broker is not None:
            return (*entry, "replicas", self._targets[indexes[0]].index(violation.broker))
        return (*entry, _FIELDS[violation.code]) if violation.code in _FIELDS else entry
