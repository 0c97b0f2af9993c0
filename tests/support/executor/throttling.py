"""Builds an operation that sets and removes a throttle of 5 kB/s on a real ZooKeeper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from support.cluster.states import tp
from support.stores import OPERATION
from support.zookeeper.znode_cluster import config

from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.context import Clock
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationKind, OperationRecord
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.operations.throttles.changes import record_throttle
from kadmin.operations.throttles.operation import Throttling
from kadmin.plan.copying import throttle_of
from kadmin.plan.model import Elect, PartitionTarget, ThrottleBy, ThrottleSpec
from kadmin.plan.throttle import FOLLOWER_RATE, LEADER_RATE, LEADER_REPLICAS
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend
from kadmin.worlds.zookeeper.cluster import zookeeper_context
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.operations.record.steps import Step
    from kadmin.worlds.zookeeper.wire.store import Store


PATHS = Paths()
LOCKED = Holder(Author("ann", "host-a", 7), OPERATION, "now", 10.0)
OFF = command("resume", OPERATION)
RATE = ThrottleSpec(ThrottleBy.RATE, 5000)
RATES = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
ENTITIES = ["brokers/1", "brokers/2", "brokers/3", "topics/a"]
BEFORE = {
    "topics/a": {"retention.ms": "7", LEADER_REPLICAS: "7:7"},
    "brokers/2": {LEADER_RATE: "99", "log.cleaner.threads": "2"},
}


class Told(list[str]):
    """Collects the texts of events, in order."""

    def __call__(self, event: events.Event) -> None:
        assert isinstance(event, events.Note)
        self.append(event.text)


def targets(topics: Sequence[str] = ("a",)) -> tuple[PartitionTarget, ...]:
    return tuple(PartitionTarget(tp(f"{topic}-0"), (1, 3), (1, 2)) for topic in topics)


def recorded(store: Store, entries: Sequence[PartitionTarget]) -> OperationRecord:
    backend = ZooKeeperBackend(store, PATHS, Clock())
    throttle = throttle_of(RATE, [entries], backend.read(), {})
    record = OperationRecord(
        OPERATION, OperationKind.REASSIGNMENT, "{}", "sha256:0", "id", "now", LOCKED.author, {}
    )
    return replace(record, throttle=record_throttle(backend, throttle))


def throttling(
    store: Store, record: OperationRecord, told: Told | None = None, clock: Clock | None = None
) -> Throttling:
    entries = targets(
        sorted({each.name for each in record.throttle.changes if each.is_topic})
        if record.throttle
        else ()
    )
    context = zookeeper_context(store, PATHS, clock or Clock(), Told() if told is None else told)
    return Throttling(context, record, ReassignmentWork((entries,), entries, Elect.NONE))


def rates_on_record(record: OperationRecord, steps: Iterable[Step]) -> set[str]:
    """Return every rate that an operation set or is to set, and those that it found."""
    throttle = current_throttle(record, steps)
    changes = () if throttle is None else throttle.changes.values()
    found = [keys[LEADER_RATE] for keys in changes if LEADER_RATE in keys]
    rates = {rate for each in found for rate in (each.ours, each.previous, *each.earlier)}
    return {rate for rate in rates if rate is not None}


def configs(store: Store) -> dict[str, dict[str, str]]:
    return {entity: found for entity in ENTITIES if (found := config(store, entity))}
