"""Reads the admin nodes entry by entry and finds the flaws of each.

A flaw is in the payload, or against the cluster. The codecs of `znodes.admin` accept or refuse a
payload as a whole; this module reports every flaw and its place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kadmin.cluster.names import escaped
from kadmin.diagnostics import Diagnostic
from kadmin.insight.diagnosis.finding import Flaw
from kadmin.insight.tables.admin_nodes import Entry, Motion, NodeReading
from kadmin.insight.tables.table import Table
from kadmin.insight.tables.zookeeper import EntryRow
from kadmin.plan.election import obstacle
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.znodes.admin import DELETE_TOPICS, PROBE_TOPIC, REASSIGN_PARTITIONS
from kadmin.worlds.zookeeper.znodes.values import (
    MAX_INT32,
    MalformedZnodeError,
    decode_json,
    integer,
    integers,
    leading_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.worlds.zookeeper.model import Znode

_SHOWN_NAME = 80
_INT32 = re.compile(r"-?[0-9]{1,10}")


def read_node(node: Znode, state: ClusterState) -> NodeReading:
    """Read a reassignment or an election node against the cluster's state."""
    value, findings = _parse(node)
    entries: tuple[Entry, ...] = ()
    if not any(finding.code is not Flaw.TRAILING_TEXT for finding in findings):
        listed, more = _partitions(node.path, value)
        findings = (*findings, *more)
        entries = tuple(_entry(node.path, each) for each in listed)
    times = Counter(entry.subject for entry in entries)
    entries = tuple(_against(node.path, entry, state, times[entry.subject]) for entry in entries)
    return NodeReading(node.path, node.data, node.version, findings, entries)


def entry_table(
    readings: Iterable[NodeReading], deletions: Iterable[str], state: ClusterState
) -> Table:
    """Return a row for each entry, and one without a topic for each node with flaws of its own."""
    rows = []
    for reading in readings:
        if reading.findings:
            rows.append(EntryRow(reading.path, None, None, None, None, _flaws(reading.findings)))
        rows += [
            EntryRow(
                reading.path,
                each.topic,
                each.partition,
                each.replicas,
                each.motion,
                _flaws(each.findings),
            )
            for each in reading.entries
        ]
    rows += [
        EntryRow(DELETE_TOPICS, each, None, None, None, _flaws(deletion_findings(each, state)))
        for each in deletions
    ]
    return Table.of("admin-entries", EntryRow, rows)


def deletion_findings(topic: str, state: ClusterState) -> tuple[Diagnostic, ...]:
    """Return the flaws of a request to delete a topic."""
    found = state.topics.get(topic)
    if found is None:
        return tuple(_in_cluster(Entry(topic, None, None), state))
    return tuple(_dead(sorted(found.brokers), state))


def _parse(node: Znode) -> tuple[object, tuple[Diagnostic, ...]]:
    if node.data is None:
        return None, (Diagnostic(Flaw.NULL_DATA, "the node has no data"),)
    if not node.data:
        return None, (Diagnostic(Flaw.EMPTY_DATA, "the data is empty"),)
    try:
        return decode_json(node.path, node.data), ()
    except MalformedZnodeError as error:
        reason = error.reason
    try:
        value = leading_json(node.path, node.data)
    except MalformedZnodeError:
        return None, (Diagnostic(Flaw.NOT_JSON, reason),)
    return value, (Diagnostic(Flaw.TRAILING_TEXT, "text follows the end of the JSON"),)


def _partitions(path: str, value: object) -> tuple[list[object], tuple[Diagnostic, ...]]:
    if value is None:
        return [], (Diagnostic(Flaw.JSON_NULL, "the JSON is null"),)
    if not isinstance(value, dict):
        return [], (
            Diagnostic(Flaw.NOT_AN_OBJECT, f"the JSON is a {type(value).__name__}, not an object"),
        )
    findings = tuple(_unknown_keys(path, value, {"version", "partitions"}))
    listed = value.get("partitions")
    if listed is None:
        return [], (*findings, Diagnostic(Flaw.NO_PARTITIONS, "the key partitions is missing"))
    if not isinstance(listed, list):
        return [], (
            *findings,
            Diagnostic(Flaw.NOT_A_LIST, f"partitions is a {type(listed).__name__}, not a list"),
        )
    if not listed:
        return [], (*findings, Diagnostic(Flaw.NO_ENTRIES, "the list of partitions is empty"))
    return listed, findings


def _unknown_keys(
    path: str, value: Mapping[str, object], allowed: set[str]
) -> Iterator[Diagnostic]:
    # The election decoder ignores unknown keys.
    unknown = sorted(set(value) - allowed) if path == REASSIGN_PARTITIONS else []
    if unknown:
        yield Diagnostic(Flaw.UNKNOWN_KEY, f"unknown key {_named(unknown)}")


def _entry(path: str, value: object) -> Entry:
    if not isinstance(value, dict):
        return Entry(
            None, None, None, (Diagnostic(Flaw.NOT_AN_ENTRY, f"not an entry: {_named(value)}"),)
        )
    reassigns = path == REASSIGN_PARTITIONS
    topic, of_topic = _topic(value.get("topic"))
    partition, of_partition = _partition(value.get("partition"))
    replicas, of_replicas = _replicas(path, value) if reassigns else (None, ())
    unknown = _unknown_keys(path, value, {"topic", "partition", "replicas"})
    return Entry(topic, partition, replicas, (*unknown, *of_topic, *of_partition, *of_replicas))


def _topic(value: object) -> tuple[str | None, tuple[Diagnostic, ...]]:
    if isinstance(value, str):
        return value, ()
    return None, (
        Diagnostic(
            Flaw.NO_TOPIC, "no topic" if value is None else f"topic is not text: {_named(value)}"
        ),
    )


def _partition(value: object) -> tuple[int | None, tuple[Diagnostic, ...]]:
    try:
        return integer("", value, "partition"), ()
    except MalformedZnodeError:
        pass
    # Jackson also accepts these as an int.
    taken = 0 if value is None else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= MAX_INT32:
        taken = int(value)
    if isinstance(value, str) and _INT32.fullmatch(value) and abs(int(value)) <= MAX_INT32:
        taken = int(value)
    flaw = Flaw.BAD_PARTITION if taken is None else Flaw.ODD_PARTITION
    said = "no partition" if value is None else f"partition is not an integer: {_named(value)}"
    return taken, (Diagnostic(flaw, said),)


def _replicas(
    path: str, value: Mapping[str, Any]
) -> tuple[Replicas | None, tuple[Diagnostic, ...]]:
    given = value.get("replicas")
    if given is None:
        return None, (Diagnostic(Flaw.NO_REPLICAS, "no replicas"),)
    if not isinstance(given, list):
        return None, (Diagnostic(Flaw.BAD_REPLICAS, f"replicas is not a list: {_named(given)}"),)
    if not given:
        return (), (Diagnostic(Flaw.EMPTY_REPLICAS, "the list of replicas is empty"),)
    try:
        found = integers(path, given, "replicas")
    except MalformedZnodeError:
        return None, (
            Diagnostic(Flaw.BAD_BROKER_ID, f"broker ids are not integers: {_named(given)}"),
        )
    twice = sorted(broker for broker, times in Counter(found).items() if times > 1)
    if twice:
        return found, (
            Diagnostic(Flaw.DUPLICATE_BROKER, f"broker {twice[0]} is named twice in {list(found)}"),
        )
    return found, ()


def _against(path: str, entry: Entry, state: ClusterState, times: int) -> Entry:
    if entry.topic == PROBE_TOPIC and path == REASSIGN_PARTITIONS:
        return replace(entry, findings=(*entry.findings, Diagnostic(Flaw.PROBE, "kadmin's probe")))
    motion = _motion(entry, state) if path == REASSIGN_PARTITIONS else None
    findings = [*entry.findings]
    if times > 1 and entry.subject is not None:
        findings.append(Diagnostic(Flaw.NAMED_TWICE, f"{entry} is named {times} times"))
    findings += _in_cluster(entry, state)
    if path == REASSIGN_PARTITIONS:
        findings += _of_brokers(entry, motion, state)
    elif entry.subject is not None and state.replicas(entry.subject):
        findings += _of_election(entry.subject, state)
    return replace(entry, findings=tuple(findings), motion=motion)


def _in_cluster(entry: Entry, state: ClusterState) -> Iterator[Diagnostic]:
    if entry.topic is None or f"/brokers/topics/{entry.topic}" in {
        each.path for each in details_of(state).unreadable
    }:
        return
    if entry.topic not in state.topics:
        yield Diagnostic(
            Flaw.UNKNOWN_TOPIC, f"topic {escaped(entry.topic, _SHOWN_NAME)} does not exist"
        )
    elif entry.subject is not None and state.replicas(entry.subject) is None:
        yield Diagnostic(Flaw.UNKNOWN_PARTITION, f"partition {entry} does not exist")
    elif entry.topic in state.requests.deletions:
        yield Diagnostic(Flaw.BEING_DELETED, f"topic {entry.topic} is being deleted")


def _of_brokers(entry: Entry, motion: Motion | None, state: ClusterState) -> Iterator[Diagnostic]:
    yield from _dead(dict.fromkeys(entry.replicas or ()), state)
    if motion is Motion.AT_TARGET:
        yield Diagnostic(Flaw.NO_OP, f"{entry} already has these replicas")


def _dead(brokers: Iterable[int], state: ClusterState) -> Iterator[Diagnostic]:
    dead = [str(broker) for broker in brokers if broker not in state.brokers]
    if dead:
        yield Diagnostic(Flaw.DEAD_BROKER, f"brokers that are not alive: {', '.join(dead)}")


def _of_election(partition: TopicPartition, state: ClusterState) -> Iterator[Diagnostic]:
    found, reason = state.states.get(partition), obstacle(partition, state)
    if found is not None and found.leader == (state.replicas(partition) or (None,))[0]:
        yield Diagnostic(Flaw.NO_OP, f"the preferred replica of {partition} already leads")
    elif reason is not None:
        yield Diagnostic(Flaw.NOT_ELECTABLE, reason)


def _motion(entry: Entry, state: ClusterState) -> Motion | None:
    current = None if entry.subject is None else state.replicas(entry.subject)
    if entry.subject is None or current is None or entry.replicas is None:
        return None
    topic = state.topics[entry.subject.topic]
    if entry.subject.partition in {*topic.adding_replicas, *topic.removing_replicas}:
        return Motion.IN_FLIGHT
    # Up to 2.3 a list that holds the whole target may be the union of a move in flight, which waits
    # for the ISR.
    found = state.states.get(entry.subject)
    if (
        current == entry.replicas
        and found is not None
        and set(current) <= {*found.isr}
        and found.leader in current
    ):
        return Motion.AT_TARGET
    return Motion.NOT_STARTED if set(entry.replicas) - set(current) else Motion.UNCLEAR


def _named(value: object) -> str:
    try:
        return escaped(json.dumps(value), _SHOWN_NAME)
    except RecursionError:
        return "a value that is nested too deep"


def _flaws(findings: Iterable[Diagnostic]) -> tuple[str, ...]:
    return tuple(str(finding.code) for finding in findings)
