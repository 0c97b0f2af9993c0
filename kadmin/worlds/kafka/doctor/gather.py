"""Reads the evidence for `doctor` through the brokers; nothing is written.

Each question has its own deadline. One without an answer is reported, and hides no answer to the
others.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.cluster.services import other_than_kafka
from kadmin.errors import KadminError, NotAuthorizedError, NotCompletedError, UnreachableError
from kadmin.next_step import command
from kadmin.operations.decide.sent import askers, sent_lists
from kadmin.operations.reading.brokers import not_described, unused_copies
from kadmin.operations.reading.late_requests import late_among
from kadmin.operations.reading.open_operations import lock_held, open_operation
from kadmin.operations.record.record import OperationKind
from kadmin.operations.record.steps import Sending, intents
from kadmin.operations.throttles.audit import read_throttles
from kadmin.plan.cordon import CORDON
from kadmin.plan.progress import moves_in_flight
from kadmin.worlds.kafka.doctor.diagnose import passing_troubles
from kadmin.worlds.kafka.doctor.evidence import (
    STAYS_S,
    BlockedUpgrade,
    ClusterLook,
    KafkaEvidence,
    RecordTopic,
    StrayFolders,
    UnansweredRequest,
)
from kadmin.worlds.kafka.reader import read_without_controllers
from kadmin.worlds.kafka.values.record_copy import LostRecordError
from kadmin.worlds.kafka.values.topic_settings import check_topic
from kadmin.worlds.kafka.wire.acls import hidden_topics, topic_acls
from kadmin.worlds.kafka.wire.configs import (
    OPENS_TOPICS,
    describe_settings,
    opens_without_acls,
)
from kadmin.worlds.kafka.wire.log_dirs import describe_log_dirs
from kadmin.worlds.kafka.wire.metadata import read_metadata, read_service
from kadmin.worlds.kafka.wire.registrations import metadata_levels, validate_upgrade
from kadmin.worlds.kafka.wire.rights import own_rights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.cluster.services import Service
    from kadmin.insight.diagnosis.operations import LateRequest, LockHeld, OpenOperation
    from kadmin.operations.record.record import Listing
    from kadmin.operations.record.steps import Step
    from kadmin.worlds.kafka.context import KafkaContext

Answer = TypeVar("Answer")

_BLOCKS = re.compile(r"Broker (\d+) only supports versions")
"""The controller's reason for a broker that does not support a level."""
RECENT_S = 3_600.0
"""A request that got no answer for longer is not expected to be applied any more."""


def records_elsewhere(service: Service | None) -> str:
    """Return the facts that are unknown without the operations on record."""
    unknown = "the origin of moves in flight and of throttles: "
    other = other_than_kafka(service)
    if other is None:
        there = f"operations on record are in ZooKeeper ({command('doctor', '-z', 'CONNECT')})"
    else:
        there = f"kadmin keeps no operations on record in {other} ({other.page})"
    return unknown + there


def gather(context: KafkaContext) -> KafkaEvidence:
    """Read the evidence, whatever state the cluster is in; nothing is written.

    Looks at servers, partitions and moves twice, STAYS_S apart, where the first look is not that of
    a healthy cluster. Raises UnreachableError where no broker answers.
    """
    return _Examination(context).evidence()


class _Examination:
    """Asks one question after the other, and keeps the errors of those without an answer."""

    def __init__(self, context: KafkaContext) -> None:
        self._context = context
        self._connection = context.connection
        self._unavailable: list[str] = []

    def evidence(self) -> KafkaEvidence:
        """Read all evidence from the brokers."""
        first, servers = self._look(), self._connection.servers
        evidence = self._with_operations(
            KafkaEvidence(
                (first,),
                servers.options,
                servers.principal,
                self._ask("the service", lambda: read_service(self._connection)),
                record_topic=self._record_topic(first.state),
            )
        )
        if passing_troubles(evidence, first) and not first.controllers_silent:
            self._pause()
            evidence = replace(evidence, looks=(first, self._look()))
        evidence = self._with_registrations(self._with_disks(evidence))
        throttles = self._ask("throttles", lambda: read_throttles(self._context)[0]) or ()
        return replace(
            evidence,
            throttles={each.entity: tuple(sorted(each.values)) for each in throttles},
            unavailable=tuple(self._unavailable),
        )

    def _look(self) -> ClusterLook:
        try:
            return ClusterLook(self._context.backend.read(with_configs=True))
        except UnreachableError as error:
            refused = isinstance(error, NotAuthorizedError)
            if refused:
                self._unavailable.append(f"moves in flight: {error.message}")
            return ClusterLook(
                read_without_controllers(self._connection), "" if refused else error.message
            )

    def _pause(self) -> None:
        self._context.clock.wait(STAYS_S)
        # Looks that were cut short are not STAYS_S apart, and prove nothing.
        self._context.clock.stop_if_asked("nothing was changed", command("doctor"))

    def _with_operations(self, evidence: KafkaEvidence) -> KafkaEvidence:
        """Read the operations on record.

        Of finished ones only those that asked for a move in flight.
        """
        operations, state = self._context.operations, evidence.state
        if self._context.backend.capabilities.mode is MetadataMode.ZOOKEEPER:
            return replace(evidence, records_elsewhere=records_elsewhere(evidence.service))
        lock = self._ask("the lock", lambda: lock_held(self._context))
        listings = self._ask("operations on record", operations.listings) or ()
        steps = {
            each.operation_id: found
            for each in listings
            if (found := self._steps(each.operation_id)) is not None
        }
        unanswered = tuple(found for each in listings for found in self._unanswered(each, steps))
        asked = askers(moves_in_flight(state), listings, partial(self._lists, state, steps))
        past = dict.fromkeys(
            each.operation_id for each in asked.values() if each.status.state.finished
        )
        late: tuple[LateRequest, ...] = ()
        if len(steps) == len(listings):  # otherwise the last request is unknown
            question = partial(late_among, self._context, listings, steps, state, lambda _: asked)
            late = self._ask("late requests", question) or ()
        return replace(
            evidence,
            lock=lock,
            operations=self._recorded(
                (each for each in listings if not each.status.state.finished), lock, state
            ),
            past=self._recorded(
                (each for each in listings if each.operation_id in past), None, state
            ),
            asked={partition: each.operation_id for partition, each in asked.items()},
            unanswered=unanswered,
            late=tuple(each for each in late if each.last is not None),
            rights=self._ask("rights of this user", lambda: own_rights(self._connection)),
            stray=tuple(found for each in listings for found in self._stray(each, state)),
        )

    def _lists(
        self, state: ClusterState, steps: Mapping[str, Iterable[Step]], listing: Listing
    ) -> Mapping[TopicPartition, frozenset[Replicas]]:
        operation_id = listing.operation_id
        if operation_id not in steps:
            return {}

        def question() -> Mapping[TopicPartition, frozenset[Replicas]]:
            return sent_lists(
                self._context.operations.record(operation_id), steps[operation_id], state
            )

        return self._ask(f"requests of {operation_id}", question) or {}

    def _steps(self, operation_id: str) -> tuple[Step, ...] | None:
        return self._ask(
            f"steps of {operation_id}", lambda: self._context.operations.steps(operation_id)
        )

    def _unanswered(
        self, listing: Listing, steps: Mapping[str, Iterable[Step]]
    ) -> Iterator[UnansweredRequest]:
        operation_id, now = (
            listing.operation_id,
            datetime.fromisoformat(self._context.clock.timestamp()),
        )
        for step, intent in intents(steps.get(operation_id, ())):
            recent = (now - datetime.fromisoformat(step.at)).total_seconds() <= RECENT_S
            if step.sending is Sending.UNANSWERED and recent:
                finished = listing.status.state.finished
                yield UnansweredRequest(
                    operation_id, finished, step.at, intent.targets, intent.topic_ids
                )

    def _stray(self, listing: Listing, state: ClusterState) -> Iterator[StrayFolders]:
        """Find topics of a deletion on record that had replicas on brokers which were not alive."""
        operation_id = listing.operation_id
        if listing.kind != OperationKind.DELETION or not listing.status.state.has_record:
            return
        record = self._ask(
            f"operation {operation_id}", lambda: self._context.operations.record(operation_id)
        )
        if record is None or record.health is None:
            return
        for recipe in record.recipes:
            held = {broker for replicas in recipe.replicas.values() for broker in replicas}
            topic_now = state.topics.get(recipe.topic)
            deleted = topic_now is None or topic_now.topic_id != record.topic_ids.get(recipe.topic)
            if deleted and (away := sorted(held - record.health.brokers)):
                yield StrayFolders(recipe.topic, tuple(away), operation_id)

    def _recorded(
        self, listings: Iterable[Listing], lock: LockHeld | None, state: ClusterState
    ) -> tuple[OpenOperation, ...]:
        found = (
            self._ask(
                f"operation {each.operation_id}",
                partial(open_operation, self._context, each, lock, state),
            )
            for each in listings
        )
        return tuple(each for each in found if each is not None)

    def _with_disks(self, evidence: KafkaEvidence) -> KafkaEvidence:
        """Find copies that no partition uses, and topics that are on disk and not described."""
        state, connection = evidence.state, self._connection
        disks = self._ask("disks", lambda: describe_log_dirs(connection.servers, state.brokers))
        if disks is None:
            return evidence
        unknown = not_described(disks)
        self._unavailable += unknown
        unused: Mapping[int, Mapping[TopicPartition, int]] = unused_copies(state, disks.sizes)
        # A move may have begun in the meantime: what is assigned now is used.
        if topics := {partition.topic for sizes in unused.values() for partition in sizes}:
            read = self._ask("unused copies", lambda: self._context.backend.read(topics))
            unused = {} if read is None else unused_copies(read, disks.sizes)
        strange = {
            partition.topic for sizes in disks.sizes.values() for partition in sizes
        } - state.topics.keys()
        hidden = self._ask("hidden topics", lambda: hidden_topics(connection, strange))
        return replace(
            evidence,
            unused_copies=unused,
            hidden_topics=hidden or (),
            disks_known=not unknown and hidden is not None,
            held={} if hidden is None else disks.complete,
            empty_brokers=disks.empty,
            disks=disks,
        )

    def _with_registrations(self, evidence: KafkaEvidence) -> KafkaEvidence:
        """Find cordons, and the dead broker that blocks an upgrade of metadata.version."""
        state, operations = evidence.state, self._context.operations
        recorded = self._ask("cordons on record", operations.cordons)
        blocked = (
            self._ask("upgrades of metadata.version", lambda: self._blocked_upgrade(state))
            if state.fenced_brokers
            else None
        )
        return replace(
            evidence,
            cordons=self._cordons(state),
            recorded_cordons=recorded or {},
            blocked_upgrade=blocked,
        )

    def _cordons(self, state: ClusterState) -> Mapping[int, str]:
        """Return the cordons in force; brokers before Kafka 4.3 have none."""
        servers = self._connection.servers
        found = self._ask("cordons", lambda: describe_settings(servers, state.brokers, [CORDON]))
        if found is None:
            return {}
        self._unavailable += [f"cordons: {error.message}" for error in found.failed.values()]
        given = {broker: settings.get(CORDON) for broker, settings in found.given.items()}
        return {broker: value for broker, value in given.items() if value}

    def _blocked_upgrade(self, state: ClusterState) -> BlockedUpgrade | None:
        """Ask whether a broker that is registered and dead blocks the level of all live ones."""
        found = [metadata_levels(self._connection, broker) for broker in sorted(state.brokers)]
        levels = [each for each in found if each is not None]
        if not levels or len(levels) < len(found):
            return None
        level = min(each.supported for each in levels)
        if level <= max(each.finalized for each in levels):
            return None
        refused = validate_upgrade(self._connection, level)
        named = None if refused is None else _BLOCKS.search(refused.message or "")
        if refused is None or named is None or int(named[1]) not in (state.fenced_brokers or {}):
            return None
        return BlockedUpgrade(int(named[1]), level, refused.message or "")

    def _record_topic(self, state: ClusterState) -> RecordTopic | None:
        connection = self._connection
        try:
            self._context.operations.listings()
        except LostRecordError as error:
            return RecordTopic(RECORD_TOPIC, lost=error.cause or "", next_step=error.next_step)
        except KadminError:
            pass  # what is asked next says so
        if RECORD_TOPIC not in state.topics or not state.brokers:
            return None
        grants = self._ask(
            f"ACLs of topic {RECORD_TOPIC}", lambda: topic_acls(connection, RECORD_TOPIC)
        )
        opened = grants is not None and self._ask(
            OPENS_TOPICS, lambda: opens_without_acls(connection, min(state.brokers))
        )
        found = RecordTopic(RECORD_TOPIC, grants=grants, open_by_default=bool(opened))
        try:
            check_topic(
                connection,
                RECORD_TOPIC,
                read_metadata(connection, (RECORD_TOPIC,)).topics[RECORD_TOPIC],
            )
        except UnreachableError as error:
            self._unavailable.append(f"settings of topic {RECORD_TOPIC}: {error.message}")
        except NotCompletedError as error:
            return replace(found, problem=error.message, next_step=error.next_step)
        return found

    def _ask(self, what: str, question: Callable[[], Answer]) -> Answer | None:
        try:
            return question()
        except KadminError as error:
            self._unavailable.append(f"{what}: {error.message}")
            return None
