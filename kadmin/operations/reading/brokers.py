"""Asks brokers for their disks, their settings, and the groups that keep their offsets in Kafka."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.kafka.acls import hidden_topics
from kadmin.cluster.kafka.configs import describe_settings
from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.groups import describe_groups
from kadmin.cluster.kafka.log_dirs import LogDirs, describe_log_dirs
from kadmin.cluster.kafka.log_dirs_file import largest
from kadmin.cluster.kafka.servers import Servers
from kadmin.errors import KadminError, UnreachableError, count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from kadmin.cluster.kafka.groups import Groups
    from kadmin.cluster.kafka.servers import Security
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.backend import Backend
    from kadmin.plan.facts import ClusterFacts

Answer = TypeVar("Answer")

DELETES_TOPICS = "delete.topic.enable"
CREATES_TOPICS = "auto.create.topics.enable"


def log_dirs_of(
    state: ClusterState, servers: Servers, *, bootstrap_s: float | None = None
) -> Mapping[int, Mapping[TopicPartition, int]]:
    """Ask the live brokers for the bytes of every replica on their disks, by broker (DescribeLogDirs, 1.1 and later).

    Raises NotCompletedError or UnreachableError where a broker does not answer or cannot read a directory.
    """
    found = describe_log_dirs(servers, state.brokers, bootstrap_s=bootstrap_s)
    for error in found.failed.values():
        raise error
    return found.sizes


def unused_copies(
    state: ClusterState, held: Mapping[int, Mapping[TopicPartition, int]]
) -> dict[int, dict[TopicPartition, int]]:
    """Return the copies on disk, of topics that exist, whose broker is no replica: bytes by broker and partition."""
    unused = {
        broker: {p: size for p, size in sizes.items() if broker not in (state.replicas(p) or (broker,))}
        for broker, sizes in held.items()
    }
    return {broker: sizes for broker, sizes in unused.items() if sizes}


def with_disks(given: ClusterFacts, state: ClusterState, servers: Servers) -> ClusterFacts:
    """Complete given facts by bytes per partition and room on disk, which the live brokers are asked for.

    Bytes that were given take precedence. What brokers do not answer is in `disks_unavailable`; nothing is raised.
    """
    return _with_disks(given, state, _Questions(servers))


def with_usage(given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str]) -> ClusterFacts:
    """Complete given facts by the groups of topics, whether brokers delete and auto-create topics, and their disks.

    What brokers do not answer is in `unavailable` and `disks_unavailable`; nothing is raised.
    """
    servers = backend.servers(state)
    old, questions = backend.metadata_groups(topics), _Questions(servers)
    wanted = (DELETES_TOPICS, CREATES_TOPICS)
    groups = questions.ask_groups()
    settings = questions.ask(
        lambda: describe_settings(servers, state.brokers, wanted),
        f"{DELETES_TOPICS} of the brokers is not known (before 1.0 it is off by default)",
    )
    facts = replace(
        given,
        obscure_groups=() if groups is None else groups.unseen,
        consumers=old if groups is None else {topic: _users(topic, old[topic], groups) for topic in topics},
        deletion_enabled=switch(settings or {}, DELETES_TOPICS, decisive=False),
        topics_create_themselves=switch(settings or {}, CREATES_TOPICS, decisive=True),
        unavailable=tuple(questions.unavailable),
    )
    return _with_disks(facts, state, questions)


def _with_disks(given: ClusterFacts, state: ClusterState, questions: _Questions) -> ClusterFacts:
    found, unavailable = questions.ask_disks(state)
    # A follower may lag behind, or hold more after a truncation: a copy costs as much as the largest replica.
    sizes = largest([replica for broker in found.sizes.values() for replica in broker.items()])
    return replace(
        given,
        sizes={**sizes, **given.sizes},
        usable=usable_of(found),
        disks_unavailable=(*unavailable, *_not_listed(state, found)),
        hidden_topics=_hidden_topics(state, found, questions.servers),
    )


def groups_of(servers: Servers) -> tuple[Mapping[str, frozenset[str]], tuple[str, ...]]:
    """Return the topics of each group that keeps its offsets in Kafka, and what brokers did not answer."""
    questions = _Questions(servers)
    groups = questions.ask_groups()
    return {} if groups is None else groups.topics, tuple(questions.unavailable)


def _hidden_topics(state: ClusterState, found: LogDirs, servers: Servers) -> tuple[str, ...]:
    """Name the topics that brokers hold and may not show, in a sentence; nothing where there are none.

    Brokers leave topics that may not be described out of their metadata, without an error.
    """
    if not state.may_hide_topics:
        return ()
    left_out = {partition.topic for sizes in found.sizes.values() for partition in sizes} - state.topics.keys()
    if not left_out:
        return ()
    with KafkaConnection(servers) as connection:
        hidden = hidden_topics(connection, left_out)
    if not hidden:
        return ()
    return (f"the right Describe is missing on {count(len(hidden), 'topic')}: {name_some(hidden)}; not shown",)


def _not_listed(state: ClusterState, found: LogDirs) -> tuple[str, ...]:
    """Say how many partitions have no folder yet at brokers that answered, for a reading through them."""
    if not state.may_hide_topics:
        return ()
    missing = sum(
        any(broker in found.sizes and partition not in found.sizes[broker] for broker in known.isr)
        for partition, known in state.states.items()
    )
    if not missing:
        return ()
    return (f"{count(missing, 'partition')} not on disk yet at an in-sync broker: sizes are incomplete",)


def held_by(state: ClusterState, servers: Servers) -> tuple[Mapping[int, int], tuple[str, ...]]:
    """Return the bytes on the disks of each live broker, and why where they are not known."""
    found, unavailable = _Questions(servers).ask_disks(state)
    return (
        {broker: sum(sizes.values()) for broker, sizes in found.sizes.items()},
        (*unavailable, *_hidden_topics(state, found, servers)),
    )


def usable_of(found: LogDirs) -> dict[int, int | None]:
    """Return the room of each broker that answered, None where it does not report it.

    Those that failed are left out: `not_described` says so of them, and their unknown room has the same cause.
    """
    return {**dict.fromkeys(found.sizes), **found.usable}


def not_described(found: LogDirs) -> tuple[str, ...]:
    """Return why the disks of some brokers are not known."""
    return tuple(
        f"bytes on disk of broker {broker} are not known: {error.message}" for broker, error in found.failed.items()
    )


def switch(settings: Mapping[int, Mapping[str, str]], name: str, *, decisive: bool) -> bool | None:
    """Return a switch: one broker with `decisive` is enough for it, the other value needs all; None where unknown.

    The controller deletes topics, and any broker may become it; any broker creates topics.
    """
    found = {each.get(name) for each in settings.values()}
    if str(decisive).lower() in found:
        return decisive
    return None if not found or None in found else not decisive


class _Questions:
    """Asks one question after the other; after one without an answer, brokers are not asked again."""

    def __init__(self, servers: Servers) -> None:
        self.servers = servers
        self.unavailable: list[str] = []
        self._silence: UnreachableError | None = None

    def ask(self, question: Callable[[], Answer], otherwise: str) -> Answer | None:
        try:
            if self._silence is not None:
                raise self._silence
            return question()
        except KadminError as error:
            self._silence = error if isinstance(error, UnreachableError) else None
            self.unavailable.append(f"{otherwise}: {error.message}")
            return None

    def ask_disks(self, state: ClusterState) -> tuple[LogDirs, tuple[str, ...]]:
        """Return the disks of the live brokers, and why where they are not known."""
        found = self.ask(lambda: describe_log_dirs(self.servers, state.brokers), "bytes on disk are not known")
        return (LogDirs({}, {}), (self.unavailable[-1],)) if found is None else (found, not_described(found))

    def ask_groups(self) -> Groups | None:
        groups = self.ask(
            lambda: describe_groups(self.servers), "groups that keep their offsets in Kafka were not seen"
        )
        if groups is not None and groups.unseen:
            self.unavailable.append(f"what these groups subscribe to was not seen: {name_some(groups.unseen)}")
        return groups


def _users(topic: str, old: Iterable[str], groups: Groups) -> tuple[str, ...]:
    return tuple(sorted({*old, *(group for group, topics in groups.topics.items() if topic in topics)}))


def listeners_of(state: ClusterState, security: Security) -> Servers:
    """Return the live brokers' listeners of a security protocol; there may be none."""
    found = [
        f"{endpoint.host}:{endpoint.port}"
        for broker in state.brokers.values()
        for endpoint in broker.endpoints
        if endpoint.security_protocol == security.protocol
    ]
    return Servers(found, security)
