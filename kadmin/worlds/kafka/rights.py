"""Compares the rights that docs/kraft.md names with those that brokers report for this client.

Nothing is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.model import OwnRights
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.cluster.rights import Right
from kadmin.errors import KadminError
from kadmin.insight.diagnosis.rights import MissingRight
from kadmin.worlds.kafka.needed_rights import lacking_rights
from kadmin.worlds.kafka.wire.rights import (
    cluster_rights,
    known_rights,
    may_describe_groups,
    topic_rights,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_DESCRIBE = "Describe"
Answer = TypeVar("Answer")


class RightsCheck:
    """Asks one question after the other; the results are in `missing` and `unchecked`.

    `writes` is whether operations go through the brokers, as they do without ZooKeeper.
    """

    def __init__(self, connection: KafkaConnection, *, writes: bool) -> None:
        self._connection = connection
        self._writes = writes
        self.missing: list[MissingRight] = []
        self.unchecked: list[str] = []

    def run(self) -> None:
        """Ask the brokers for every right that kadmin needs."""
        cluster = self._ask("rights on the cluster", self._on_cluster)
        topics = self._ask("rights on topics", self._on_topics) or {}
        for each in lacking_rights(OwnRights(cluster, topics), writes=self._writes):
            for topic in each.grant_on or (None,):
                self._miss(Right(each.operation, topic), each.needed_for)
        if self._ask("rights on groups", lambda: may_describe_groups(self._connection)) is False:
            self._miss(Right(_DESCRIBE, group="*"), "consumer groups and the guards of deletions")
        if self._writes:
            self.unchecked.append(
                f"Write on the transactional id {RECORD_TOPIC}: brokers do not report it"
            )

    def _ask(self, what: str, question: Callable[[], Answer]) -> Answer | None:
        try:
            return question()
        except KadminError as error:
            self.unchecked.append(f"{what}: {error.message}")
            return None

    def _miss(self, right: Right, needed_for: str) -> None:
        self.missing.append(
            MissingRight(str(right), needed_for, right.granted_by(self._connection.servers))
        )

    def _on_cluster(self) -> frozenset[str] | None:
        found = cluster_rights(self._connection)
        if found is None:
            self.unchecked.append("rights on the cluster: brokers do not report them")
        elif _DESCRIBE not in found:
            self.unchecked.append(
                f"other rights on the cluster: brokers report them with the right {_DESCRIBE} only"
            )
        return found

    def _on_topics(self) -> Mapping[str, frozenset[str]]:
        found = topic_rights(self._connection)
        rights = known_rights(found)
        if len(rights) < len(found) or not found:
            self.unchecked.append(
                "rights on topics: no topic is shown, or brokers do not report them"
            )
        return rights
