"""Finds the field of a document that a diagnostic of the rules is about."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.plan import codes
from kadmin.plan.model import DeletionPlan, ElectionPlan, GrowthPlan, ReassignmentPlan

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition
    from kadmin.diagnostics import Diagnostic, Field
    from kadmin.plan.model import Document

_FIELDS = {
    codes.UNKNOWN_TOPIC: "topic",
    codes.DELETED_AND_USED: "topic",
    codes.UNKNOWN_PARTITION: "partition",
    codes.STALE_CURRENT: "current",
    codes.FEWER_RACKS: "replicas",
    codes.RACKS_LOST: "replicas",
}
"""The field of a partition's entry that a code is about; codes that are not here are about the
entry."""

REPEATS = frozenset({codes.DUPLICATE_PARTITION, codes.DUPLICATE_ENTRY})
"""Codes of repetitions: their place is the second occurrence, and they name the first."""


class PlaceFinder:
    """Finds the fields in which a document names its partitions and topics."""

    def __init__(self, document: Document) -> None:
        self._targets: tuple[tuple[int, ...], ...] = ()
        self._partitions: defaultdict[TopicPartition, list[int]] = defaultdict(list)
        self._topics: defaultdict[str, list[Field]] = defaultdict(list)
        if isinstance(document, ReassignmentPlan):
            self._targets = tuple(target.replicas for target in document.reassignments)
            self._index(tuple(target.partition for target in document.reassignments))
        elif isinstance(document, ElectionPlan):
            self._index(document.partitions)
        if isinstance(document, DeletionPlan | ElectionPlan):
            for index, topic in enumerate(document.topics):
                self._topics[topic].append(("spec", "topics", index))
        elif isinstance(document, GrowthPlan):
            for index, topic in enumerate(document.names):
                self._topics[topic].append(("spec", "topics", index, "topic"))

    def find(self, diagnostic: Diagnostic) -> Field:
        """Return the field that the diagnostic is about; of repetitions the second."""
        if diagnostic.field:
            return diagnostic.field
        if diagnostic.partition is not None and diagnostic.partition in self._partitions:
            return self._in_entry(diagnostic, self._partitions[diagnostic.partition])
        if diagnostic.topic is not None and diagnostic.topic in self._topics:
            paths = self._topics[diagnostic.topic]
            return paths[-1] if diagnostic.code in REPEATS else paths[0]
        return ("spec",)

    def first(self, diagnostic: Diagnostic) -> Field | None:
        """Return the field that a repetition repeats."""
        if diagnostic.code not in REPEATS:
            return None
        if diagnostic.partition is not None:
            return ("spec", "partitions", self._partitions[diagnostic.partition][0])
        return self._topics[diagnostic.topic][0] if diagnostic.topic is not None else None

    def _index(self, partitions: tuple[TopicPartition, ...]) -> None:
        for index, partition in enumerate(partitions):
            self._partitions[partition].append(index)
            if partition.topic not in self._topics:
                self._topics[partition.topic].append(("spec", "partitions", index, "topic"))

    def _in_entry(self, diagnostic: Diagnostic, indexes: list[int]) -> Field:
        if diagnostic.code in REPEATS:
            return ("spec", "partitions", indexes[1])
        for index in indexes if diagnostic.broker is not None else ():
            if diagnostic.broker in self._targets[index]:
                return (
                    "spec",
                    "partitions",
                    index,
                    "replicas",
                    self._targets[index].index(diagnostic.broker),
                )
        entry: Field = ("spec", "partitions", indexes[0])
        return (*entry, _FIELDS[diagnostic.code]) if diagnostic.code in _FIELDS else entry
