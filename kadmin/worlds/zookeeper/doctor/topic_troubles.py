"""Finds flaws of topic znodes.

String ids, empty replica lists, reassignments without an admin node, bad JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.tables.configs import HIDDEN
from kadmin.next_step import command
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.doctor.evidence import HEAL
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.tables.znodes import holds_secrets
from kadmin.worlds.zookeeper.znodes.configs import CONFIG
from kadmin.worlds.zookeeper.znodes.topics import TOPICS, topic_path
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError, decode_object

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import Topic, Unreadable
    from kadmin.worlds.zookeeper.doctor.evidence import Evidence

_TOPIC_ZNODE = re.compile(re.escape(TOPICS) + "/([^/]+)")
_LISTS = ("partitions", "adding_replicas", "removing_replicas")
_SHOWN_DATA = 200


def topic_troubles(evidence: Evidence) -> Iterator[Finding]:
    """Find flaws of topic znodes, and every znode that cannot be read."""
    for each in details_of(evidence.state).unreadable:
        if not each.denied:
            yield _unreadable(each)
    yield from _denied(evidence)
    for name in sorted(evidence.state.topics):
        yield from _emptied(evidence.state.topics[name])
    yield from _api_reassignments(evidence)


def emptied_partitions(topic: Topic) -> tuple[int, ...]:
    """Return the partitions without replicas, or with all replicas to be removed.

    An empty target has that result.
    """
    return tuple(
        number
        for number, replicas in topic.replicas.items()
        if set(replicas) <= set(topic.removing_replicas.get(number, ()))
    )


def string_ids(data: bytes | None) -> tuple[int, ...]:
    """Return the partitions of a topic znode with broker ids as text.

    Empty where it has other flaws, too.
    """
    try:
        value = decode_object("", data)
    except MalformedZnodeError:
        return ()
    found: set[int] = set()
    for key in _LISTS:
        lists = value.get(key) or {}
        if not isinstance(lists, dict):
            return ()
        for number, ids in lists.items():
            if not (number.isascii() and number.isdigit() and isinstance(ids, list)) or not all(
                map(_is_id, ids)
            ):
                return ()
            if any(isinstance(each, str) for each in ids):
                found.add(int(number))
    return tuple(sorted(found))


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool)


def _unreadable(znode: Unreadable) -> Finding:
    topic, numbers = _TOPIC_ZNODE.fullmatch(znode.path), string_ids(znode.data)
    shown = HIDDEN if holds_secrets(znode.path) else escaped(znode.data, _SHOWN_DATA)
    seen = (znode.reason, f"it holds {shown}")
    if topic is not None and numbers:
        return Finding(
            Trouble.STRING_IDS,
            f"Topic {topic[1]} holds broker ids as text: every controller of 2.0 or later that is "
            "elected fails on it.",
            HEAL,
            topic=topic[1],
            znode=znode.path,
            evidence=seen,
            partitions=numbers,
            version=znode.version,
        )
    return Finding(
        Trouble.UNREADABLE_ZNODE,
        f"{escaped(znode.path)} does not have the format that Kafka writes.",
        "read it with zookeeper-shell; kadmin writes nothing to a cluster that it cannot read",
        severity="error" if not znode.path.startswith(CONFIG) else "warning",
        znode=znode.path,
        evidence=seen,
        version=znode.version,
    )


def _denied(evidence: Evidence) -> Iterator[Finding]:
    denied = [each for each in details_of(evidence.state).unreadable if each.denied]
    if denied:
        paths = name_some((escaped(each.path, 80) for each in denied), most=10)
        yield Finding(
            Trouble.WRONG_ACL,
            "ZooKeeper denies this identity some znodes that doctor reads.",
            "authenticate as the brokers' principal: secured clusters grant writes only to it",
            severity="error"
            if any(not each.path.startswith(CONFIG) for each in denied)
            else "warning",
            znode=denied[0].path,
            evidence=(f"denied: {paths}", *sorted({each.reason for each in denied})[:3]),
        )


def _emptied(topic: Topic) -> Iterator[Finding]:
    numbers = emptied_partitions(topic)
    if not numbers:
        return
    lost = [number for number in numbers if not topic.replicas[number]]
    seen = tuple(
        f"{topic.name}-{number}: replicas {list(topic.replicas[number])}, removing "
        f"{list(topic.removing_replicas.get(number, ()))}"
        for number in numbers[:5]
    )
    message = (
        f"Topic {topic.name} has partitions without replicas; their data is deleted."
        if len(lost) == len(numbers)
        else (
            f"Topic {topic.name} has partitions whose replicas are all to be removed: the next "
            "controller fails on it."
        )
    )
    yield Finding(
        Trouble.EMPTY_REPLICAS,
        message,
        HEAL,
        severity="error" if len(lost) < len(numbers) else "warning",
        topic=topic.name,
        znode=topic_path(topic.name),
        evidence=seen,
        partitions=numbers,
        version=topic.fingerprint,
    )


def _api_reassignments(evidence: Evidence) -> Iterator[Finding]:
    node = evidence.state.requests.reassignment
    requested = set(node.entries or ()) if node is not None else set()
    moving: list[TopicPartition] = []
    dead: set[int] = set()
    for topic in evidence.state.topics.values():
        for number in sorted(
            {*topic.adding_replicas, *topic.removing_replicas} - set(emptied_partitions(topic))
        ):
            partition = TopicPartition(topic.name, number)
            wanted = topic.target(number)
            ours = any(
                wanted in operation.lists.get(partition, ()) for operation in evidence.operations
            )
            if partition not in requested and not ours:
                moving.append(partition)
                dead |= set(topic.adding_replicas.get(number, ())) - set(evidence.state.brokers)
    if moving:
        waits = f"waiting for brokers that are not alive: {', '.join(map(str, sorted(dead)))}"
        yield Finding(
            Trouble.API_REASSIGNMENT,
            "Partitions are being reassigned without an admin node: through the brokers' API, or "
            "from a removed node.",
            "wait until they are done, or end them: " + command("cancel", "--foreign"),
            znode=topic_path(moving[0].topic)
            if len({each.topic for each in moving}) == 1
            else TOPICS,
            evidence=(
                (
                    f"adding or removing replicas ({len(moving)}): "
                    f"{name_some(sorted(moving), most=10)}"
                ),
                *((waits,) if dead else ()),
            ),
        )
