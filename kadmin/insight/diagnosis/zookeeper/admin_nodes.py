"""The admin nodes entry by entry, with what is odd about each: first the payload alone, then against the cluster.

The codecs of `znodes.admin` accept or refuse a payload; this module names every flaw and its place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped
from kadmin.cluster.zookeeper.model import details_of
from kadmin.cluster.zookeeper.znodes.admin import DELETE_TOPICS, PROBE_TOPIC, REASSIGN_PARTITIONS
from kadmin.cluster.zookeeper.znodes.values import (
    MAX_INT32,
    MalformedZnodeError,
    decode_json,
    integer,
    integers,
    leading_json,
)
from kadmin.insight.diagnosis.zookeeper.effects import Flaw
from kadmin.insight.tables.table import Table
from kadmin.plan.election import obstacle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.cluster.zookeeper.model import Znode
    from kadmin.insight.tables.table import Cell

ENTRIES = ("node", "topic", "partition", "replicas", "motion", "flaws")
_SHOWN_NAME = 80
_INT32 = re.compile(r"-?[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Remark:
    """One flaw, in words that are safe to print."""

    flaw: Flaw
    words: str


class Motion(StrEnum):
    """How far the partition of a reassignment entry is, as far as its topic znode tells."""

    IN_FLIGHT = "in flight"
    NOT_STARTED = "not started"
    AT_TARGET = "at the target"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an admin node; what could not be read of it is None. `replicas` is for reassignments only."""

    topic: str | None
    partition: int | None
    replicas: Replicas | None
    remarks: tuple[Remark, ...] = ()
    motion: Motion | None = None

    @property
    def subject(self) -> TopicPartition | None:
        """The partition that it names."""
        if self.topic is None or self.partition is None:
            return None
        return TopicPartition(self.topic, self.partition)

    def __str__(self) -> str:
        number = "?" if self.partition is None else self.partition
        return f"{'?' if self.topic is None else escaped(self.topic, _SHOWN_NAME)}-{number}"


@dataclass(frozen=True, slots=True)
class NodeReading:
    """A reassignment or election node: remarks on the node as a whole, and its entries."""

    path: str
    data: bytes | None
    version: int
    remarks: tuple[Remark, ...]
    entries: tuple[Entry, ...]

    @property
    def every_remark(self) -> tuple[Remark, ...]:
        """Remarks on the node and on each entry."""
        return (*self.remarks, *(remark for entry in self.entries for remark in entry.remarks))


def read_node(node: Znode, state: ClusterState) -> NodeReading:
    """Read a reassignment or an election node against the cluster's state."""
    value, remarks = _parse(node)
    entries: tuple[Entry, ...] = ()
    if not any(remark.flaw is not Flaw.TRAILING_TEXT for remark in remarks):
        listed, more = _partitions(node.path, value)
        remarks = (*remarks, *more)
        entries = tuple(_entry(node.path, each) for each in listed)
    times = Counter(entry.subject for entry in entries)
    entries = tuple(_against(node.path, entry, state, times[entry.subject]) for entry in entries)
    return NodeReading(node.path, node.data, node.version, remarks, entries)


def remarks_on_deletion(topic: str, state: ClusterState) -> tuple[Remark, ...]:
    """Say what is odd about the request to delete a topic."""
    found = state.topics.get(topic)
    if found is None:
        return tuple(_in_cluster(Entry(topic, None, None), state))
    held = {broker for replicas in found.replicas.values() for broker in replicas}
    return tuple(_dead(sorted(held), state))


def entry_table(readings: Iterable[NodeReading], deletions: Iterable[str], state: ClusterState) -> Table:
    """Return every entry of the admin nodes, and each node that is odd as a whole, without a topic."""
    rows: list[tuple[Cell, ...]] = []
    for reading in readings:
        if reading.remarks:
            rows.append((reading.path, None, None, None, None, _flaws(reading.remarks)))
        rows += [
            (reading.path, each.topic, each.partition, each.replicas, each.motion and each.motion.value, flaws)
            for each in reading.entries
            for flaws in [_flaws(each.remarks)]
        ]
    rows += [(DELETE_TOPICS, each, None, None, None, _flaws(remarks_on_deletion(each, state))) for each in deletions]
    return Table.of("admin-entries", ENTRIES, rows)


def _flaws(remarks: Iterable[Remark]) -> tuple[str, ...]:
    return tuple(remark.flaw.value for remark in remarks)


def _parse(node: Znode) -> tuple[object, tuple[Remark, ...]]:
    if node.data is None:
        return None, (Remark(Flaw.NULL_DATA, "the node has no data at all"),)
    if not node.data:
        return None, (Remark(Flaw.EMPTY_DATA, "the data is empty"),)
    try:
        return decode_json(node.path, node.data), ()
    except MalformedZnodeError as error:
        reason = error.reason
    try:
        value = leading_json(node.path, node.data)
    except MalformedZnodeError:
        return None, (Remark(Flaw.NOT_JSON, reason),)
    return value, (Remark(Flaw.TRAILING_TEXT, "something follows after the end of the JSON"),)


def _partitions(path: str, value: object) -> tuple[list[object], tuple[Remark, ...]]:
    if value is None:
        return [], (Remark(Flaw.JSON_NULL, "the JSON is null"),)
    if not isinstance(value, dict):
        return [], (Remark(Flaw.NOT_AN_OBJECT, f"not a JSON object but {type(value).__name__}"),)
    remarks = tuple(_unknown_keys(path, value, {"version", "partitions"}))
    listed = value.get("partitions")
    if listed is None:
        return [], (*remarks, Remark(Flaw.NO_PARTITIONS, "it has no partitions"))
    if not isinstance(listed, list):
        return [], (*remarks, Remark(Flaw.NOT_A_LIST, f"partitions is not a list but {type(listed).__name__}"))
    if not listed:
        return [], (*remarks, Remark(Flaw.NO_ENTRIES, "its list of partitions is empty"))
    return listed, remarks


def _unknown_keys(path: str, value: Mapping[str, object], known: set[str]) -> Iterator[Remark]:
    # Controllers read elections key by key and never mind others.
    unknown = sorted(set(value) - known) if path == REASSIGN_PARTITIONS else []
    if unknown:
        yield Remark(Flaw.UNKNOWN_KEY, f"unknown key {_named(unknown)}")


def _entry(path: str, value: object) -> Entry:
    if not isinstance(value, dict):
        return Entry(None, None, None, (Remark(Flaw.NOT_AN_ENTRY, f"not an entry: {_named(value)}"),))
    reassigns = path == REASSIGN_PARTITIONS
    topic, of_topic = _topic(value.get("topic"))
    partition, of_partition = _partition(value.get("partition"))
    replicas, of_replicas = _replicas(path, value) if reassigns else (None, ())
    unknown = _unknown_keys(path, value, {"topic", "partition", "replicas"})
    return Entry(topic, partition, replicas, (*unknown, *of_topic, *of_partition, *of_replicas))


def _topic(value: object) -> tuple[str | None, tuple[Remark, ...]]:
    if isinstance(value, str):
        return value, ()
    return None, (Remark(Flaw.NO_TOPIC, "no topic" if value is None else f"topic is not text: {_named(value)}"),)


def _partition(value: object) -> tuple[int | None, tuple[Remark, ...]]:
    try:
        return integer("", value, "partition"), ()
    except MalformedZnodeError:
        pass
    # What Jackson takes for an int all the same.
    taken = 0 if value is None else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_INT32:
        taken = int(value)
    if isinstance(value, str) and _INT32.fullmatch(value) and abs(int(value)) <= MAX_INT32:
        taken = int(value)
    flaw = Flaw.BAD_PARTITION if taken is None else Flaw.ODD_PARTITION
    said = "no partition" if value is None else f"partition is not an integer: {_named(value)}"
    return taken, (Remark(flaw, said),)


def _replicas(path: str, value: Mapping[str, Any]) -> tuple[Replicas | None, tuple[Remark, ...]]:
    given = value.get("replicas")
    if given is None:
        return None, (Remark(Flaw.NO_REPLICAS, "no replicas"),)
    if not isinstance(given, list):
        return None, (Remark(Flaw.BAD_REPLICAS, f"replicas is not a list: {_named(given)}"),)
    if not given:
        return (), (Remark(Flaw.EMPTY_REPLICAS, "the list of replicas is empty"),)
    try:
        found = integers(path, given, "replicas")
    except MalformedZnodeError:
        return None, (Remark(Flaw.BAD_BROKER_ID, f"broker ids that are no integers: {_named(given)}"),)
    twice = sorted(broker for broker, times in Counter(found).items() if times > 1)
    if twice:
        return found, (Remark(Flaw.DUPLICATE_BROKER, f"broker {twice[0]} stands twice in {list(found)}"),)
    return found, ()


def _against(path: str, entry: Entry, state: ClusterState, times: int) -> Entry:
    if entry.topic == PROBE_TOPIC and path == REASSIGN_PARTITIONS:
        return replace(entry, remarks=(*entry.remarks, Remark(Flaw.PROBE, "kadmin's probe")))
    motion = _motion(entry, state) if path == REASSIGN_PARTITIONS else None
    remarks = [*entry.remarks]
    if times > 1 and entry.subject is not None:
        remarks.append(Remark(Flaw.NAMED_TWICE, f"{entry} is named {times} times"))
    remarks += _in_cluster(entry, state)
    if path == REASSIGN_PARTITIONS:
        remarks += _of_brokers(entry, motion, state)
    elif entry.subject is not None and state.replicas(entry.subject):
        remarks += _of_election(entry.subject, state)
    return replace(entry, remarks=tuple(remarks), motion=motion)


def _in_cluster(entry: Entry, state: ClusterState) -> Iterator[Remark]:
    if entry.topic is None or f"/brokers/topics/{entry.topic}" in {each.path for each in details_of(state).unreadable}:
        return
    if entry.topic not in state.topics:
        yield Remark(Flaw.UNKNOWN_TOPIC, f"there is no topic {escaped(entry.topic, _SHOWN_NAME)}")
    elif entry.subject is not None and state.replicas(entry.subject) is None:
        yield Remark(Flaw.UNKNOWN_PARTITION, f"there is no partition {entry}")
    elif entry.topic in state.requests.deletions:
        yield Remark(Flaw.BEING_DELETED, f"topic {entry.topic} is being deleted")


def _of_brokers(entry: Entry, motion: Motion | None, state: ClusterState) -> Iterator[Remark]:
    yield from _dead(dict.fromkeys(entry.replicas or ()), state)
    if motion is Motion.AT_TARGET:
        yield Remark(Flaw.NO_OP, f"{entry} has these replicas already")


def _dead(brokers: Iterable[int], state: ClusterState) -> Iterator[Remark]:
    dead = [str(broker) for broker in brokers if broker not in state.brokers]
    if dead:
        yield Remark(Flaw.DEAD_BROKER, f"broker {', '.join(dead)} is not alive")


def _of_election(partition: TopicPartition, state: ClusterState) -> Iterator[Remark]:
    found, reason = state.states.get(partition), obstacle(partition, state)
    if found is not None and found.leader == (state.replicas(partition) or (None,))[0]:
        yield Remark(Flaw.NO_OP, f"{partition} is led by its preferred replica already")
    elif reason is not None:
        yield Remark(Flaw.NOT_ELECTABLE, reason)


def _motion(entry: Entry, state: ClusterState) -> Motion | None:
    current = None if entry.subject is None else state.replicas(entry.subject)
    if entry.subject is None or current is None or entry.replicas is None:
        return None
    topic = state.topics[entry.subject.topic]
    if entry.subject.partition in {*topic.adding_replicas, *topic.removing_replicas}:
        return Motion.IN_FLIGHT
    # Up to 2.3 a list that holds the whole target may be the union of a move in flight, which waits for the ISR.
    found = state.states.get(entry.subject)
    if current == entry.replicas and found is not None and set(current) <= {*found.isr} and found.leader in current:
        return Motion.AT_TARGET
    return Motion.NOT_STARTED if set(entry.replicas) - set(current) else Motion.UNCLEAR


def _named(value: object) -> str:
    try:
        return escaped(json.dumps(value), _SHOWN_NAME)
    except RecursionError:
        return "something nested too deep"
