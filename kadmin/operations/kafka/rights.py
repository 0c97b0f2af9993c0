"""Compares the rights that docs/kraft.md names with those that the brokers say this client has; nothing is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.kafka.errors import Right
from kadmin.cluster.kafka.rights import cluster_rights, may_describe_groups, topic_rights
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.errors import KadminError
from kadmin.operations.reading.rights import MissingRight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.cluster.kafka.connection import KafkaConnection

_MOVES, _SIZES, _THROTTLES = "reassignments and elections", "sizes, moves in flight and the quorum", "throttles"
_READS_CLUSTER = {"Describe": _SIZES, "DescribeConfigs": _THROTTLES}
_WRITES_CLUSTER = {"Alter": _MOVES, **_READS_CLUSTER, "AlterConfigs": _THROTTLES}
_READS_TOPICS = {"Describe": "topics to be seen", "DescribeConfigs": _THROTTLES}
_WRITES_TOPICS = {**_READS_TOPICS, "AlterConfigs": _THROTTLES, "Delete": "deletions"}
_RECORD = dict.fromkeys(("Describe", "Read", "Write", "DescribeConfigs"), "lock and record")
_MOST_NAMED = 5


class RightsCheck:
    """Asks one question after the other; `missing` and `unchecked` are what was found.

    `writes` is whether operations go through the brokers, as they do without ZooKeeper.
    """

    def __init__(self, connection: KafkaConnection, *, writes: bool) -> None:
        self._connection = connection
        self._writes = writes
        self.missing: list[MissingRight] = []
        self.unchecked: list[str] = []

    def run(self) -> None:
        """Ask for everything."""
        self._ask("rights on the cluster", self._of_cluster)
        self._ask("rights on topics", self._of_topics)
        self._ask("rights on groups", self._of_groups)
        if self._writes:
            self.unchecked.append(f"Write on the transactional id {RECORD_TOPIC}: brokers do not say")

    def _ask(self, what: str, question: Callable[[], Iterator[tuple[Right, str]]]) -> None:
        try:
            self.missing += [self._missing(right, needed_for) for right, needed_for in question()]
        except KadminError as error:
            self.unchecked.append(f"{what}: {error.message}")

    def _missing(self, right: Right, needed_for: str) -> MissingRight:
        return MissingRight(str(right), needed_for, right.granted_by(self._connection.servers))

    def _of_cluster(self) -> Iterator[tuple[Right, str]]:
        found = cluster_rights(self._connection)
        if found is None:
            self.unchecked.append("rights on the cluster: brokers do not say")
            return
        for operation, needed_for in (_WRITES_CLUSTER if self._writes else _READS_CLUSTER).items():
            if operation not in found:
                yield Right(operation), needed_for

    def _of_topics(self) -> Iterator[tuple[Right, str]]:
        found = topic_rights(self._connection)
        known = {name: rights for name, rights in found.items() if rights is not None}
        if len(known) < len(found) or not found:
            self.unchecked.append("rights on topics: no topic is shown, or brokers do not say")
        record = known.pop(RECORD_TOPIC, None)
        for operation, needed_for in (_WRITES_TOPICS if self._writes else _READS_TOPICS).items():
            lacking = sorted(name for name, rights in known.items() if operation not in rights)
            everywhere = len(lacking) == len(known) or len(lacking) > _MOST_NAMED
            for name in ["*"] if lacking and everywhere else lacking:
                yield Right(operation, name), needed_for
        if self._writes and record is not None:
            for operation, needed_for in _RECORD.items():
                if operation not in record:
                    yield Right(operation, RECORD_TOPIC), needed_for

    def _of_groups(self) -> Iterator[tuple[Right, str]]:
        if not may_describe_groups(self._connection):
            yield Right("Describe", group="*"), "consumer groups and the guards of deletions"
