"""Asks brokers for their disks, their settings, and the groups that keep their offsets in Kafka."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.kafka.acls import hidden_topics
from kadmin.cluster.kafka.configs import describe_settings
from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.errors import Right
from kadmin.cluster.kafka.from_brokers import why
from kadmin.cluster.kafka.groups import Groups, describe_groups
from kadmin.cluster.kafka.log_dirs import LogDirs, describe_log_dirs
from kadmin.cluster.kafka.metadata import internal_topics
from kadmin.cluster.kafka.servers import PLAIN, Servers
from kadmin.errors import KadminError, NotAuthorizedError, UnreachableError
from kadmin.insight.predict.consumers import OFFSETS
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.kafka.servers import Security
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.backend import Backend
    from kadmin.plan.facts import ClusterFacts

Answer = TypeVar("Answer")

DELETES_TOPICS = "delete.topic.enable"
CREATES_TOPICS = "auto.create.topics.enable"


def log_dirs_of(state: ClusterState, servers: Servers, *, bootstrap_s: float | None = None) -> LogDirs:
    """Ask the live brokers for the bytes of every replica on their disks (DescribeLogDirs, 1.1 and later).

    Raises NotCompletedError or UnreachableError where a broker does not answer, or can read none of its directories.
    """
    found = describe_log_dirs(servers, state.brokers, bootstrap_s=bootstrap_s)
    for error in found.failed.values():
        raise error
    return found


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
    questions = _Questions(backend.servers(state))
    return _with_disks(_with_groups_and_settings(given, backend, state, topics, questions), state, questions)


def with_guards(given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str]) -> ClusterFacts:
    """Complete given facts as `with_usage` does, and by the topics that brokers flag as internal."""
    questions = _Questions(backend.servers(state))
    facts = _with_groups_and_settings(given, backend, state, topics, questions)
    flags = questions.ask_flags([topic for topic in topics if topic in state.topics])
    internal = frozenset(topic for topic, flagged in flags.items() if flagged)
    return _with_disks(replace(facts, internal_topics=internal, unavailable=questions.unavailable), state, questions)


def refused_credentials(servers: Servers) -> NotAuthorizedError | None:
    """Return why brokers refuse this client's credentials, and what to do; None where they do not."""
    if servers.security is PLAIN or servers.unasked:
        return None
    try:
        KafkaConnection(servers).close()
    except NotAuthorizedError as error:
        instead = "--without-brokers, to go on without what brokers know"
        return NotAuthorizedError(error.message, cause=error.cause, next_command=f"{error.next_command}; or {instead}")
    except KadminError:
        return None
    return None


def _with_groups_and_settings(
    given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str], questions: _Questions
) -> ClusterFacts:
    old = backend.metadata_groups(topics)
    groups = questions.ask_groups(state)
    settings = questions.ask_settings(state, (DELETES_TOPICS, CREATES_TOPICS))
    return replace(
        given,
        consumers={topic: _users(topic, old[topic], groups) for topic in topics},
        deletion_enabled=switch(settings, DELETES_TOPICS, decisive=False),
        topics_create_themselves=switch(settings, CREATES_TOPICS, decisive=True),
        unavailable=questions.unavailable,
        from_brokers=True,
    )


def _with_disks(given: ClusterFacts, state: ClusterState, questions: _Questions) -> ClusterFacts:
    found, unavailable = questions.ask_disks(state)
    return replace(
        given,
        sizes={**sizes_of(state, found.sizes), **given.sizes},
        usable=usable_of(found),
        disks_unavailable=(*unavailable, *_not_listed(state, found)),
        hidden_topics=_hidden_topics(state, found, questions.servers),
    )


def sizes_of(state: ClusterState, held: Mapping[int, Mapping[TopicPartition, int]]) -> dict[TopicPartition, int]:
    """Return the bytes of each partition that is read or on disk: those of its leader, from which copies are made.

    Replicas of a compacted topic differ. Where the leader did not tell, the largest in-sync replica counts; others are
    stale. Of a partition that was not read, every copy counts.
    """
    copies: dict[TopicPartition, dict[int, int]] = {}
    for broker, sizes in held.items():
        for partition, size_bytes in sizes.items():
            copies.setdefault(partition, {})[broker] = size_bytes
    found: dict[TopicPartition, int] = {}
    for partition, by_broker in copies.items():
        known = state.states.get(partition)
        if known is None:
            found[partition] = max(by_broker.values())
        elif known.leader in by_broker:
            found[partition] = by_broker[known.leader]
        elif in_sync := by_broker.keys() & set(known.isr):
            found[partition] = max(by_broker[broker] for broker in in_sync)
    return found


def groups_of(servers: Servers, state: ClusterState) -> tuple[Mapping[str, frozenset[str]], tuple[str, ...]]:
    """Return the topics of each group that keeps its offsets in Kafka, and what brokers did not answer."""
    questions = _Questions(servers)
    groups = questions.ask_groups(state)
    return groups.topics, questions.unavailable


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
        {broker: sum(sizes.values()) for broker, sizes in found.sizes.items() if broker not in found.failed_dirs},
        (*unavailable, *_hidden_topics(state, found, servers)),
    )


def usable_of(found: LogDirs) -> dict[int, int | None]:
    """Return the room of each broker that answered, None where it does not report it.

    Those that failed are left out: `not_described` says so of them, and their unknown room has the same cause.
    """
    return {**dict.fromkeys(found.sizes), **found.usable}


def not_described(found: LogDirs) -> tuple[str, ...]:
    """Return why the disks of some brokers are not known, or one directory of them."""
    return tuple(
        f"bytes on disk of broker {broker} are not known: {error.message}" for broker, error in found.failed.items()
    ) + tuple(
        f"bytes in a log directory are not known: {error.message}"
        for errors in found.failed_dirs.values()
        for error in errors
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
        self._unknown: dict[str, list[str]] = {}
        self._silence: UnreachableError | None = None

    @property
    def unavailable(self) -> tuple[str, ...]:
        """What brokers did not answer: one sentence for each reason."""
        return tuple(f"{'; '.join(unknown)}: {reason}" for reason, unknown in self._unknown.items())

    def ask_disks(self, state: ClusterState) -> tuple[LogDirs, tuple[str, ...]]:
        """Return the disks of the live brokers, and why where they are not known."""
        try:
            found = self._ask(lambda: describe_log_dirs(self.servers, state.brokers))
        except KadminError as error:
            return LogDirs({}, {}), (f"bytes on disk are not known: {error.message}",)
        return found, not_described(found)

    def ask_groups(self, state: ClusterState) -> Groups:
        """Return the groups that live brokers coordinate; a partition of their offsets without a leader hides some."""
        if leaderless := _leaderless_offsets(state):
            self._miss(f"groups that keep their offsets in {name_some(leaderless)} were not seen", "no leader")
        try:
            groups = self._ask(lambda: describe_groups(self.servers, state.brokers))
        except KadminError as error:
            self._miss("groups that keep their offsets in Kafka were not seen", why(error))
            return Groups(())
        for what, reason in groups.unseen:
            self._miss(what, reason)
        return groups

    def ask_settings(self, state: ClusterState, names: Sequence[str]) -> Mapping[int, Mapping[str, str]]:
        """Return settings of each live broker, none of one that does not answer."""
        unknown = f"{DELETES_TOPICS} of {{}} is not known (before 1.0 it is off by default)"
        try:
            found = self._ask(lambda: describe_settings(self.servers, state.brokers, names))
        except KadminError as error:
            self._miss(unknown.format("the brokers"), why(error))
            return {}
        for broker, failure in found.failed.items():
            self._miss(unknown.format(f"broker {broker}"), why(failure))
        return {broker: found.given.get(broker, {}) for broker in state.brokers}

    def ask_flags(self, topics: Sequence[str]) -> Mapping[str, bool | None]:
        """Return which topics brokers flag as internal; None where they do not say."""
        unknown = "whether {} is internal is not known"
        try:
            flags = self._ask(lambda: _flags(self.servers, topics))
        except KadminError as error:
            self._miss(unknown.format(name_some(topics)), why(error))
            return {}
        for topic in topics:
            if flags.get(topic) is None:
                self._miss(unknown.format(topic), f"{Right('Describe', topic)} is missing")
        return flags

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        if self._silence is not None:
            raise self._silence
        try:
            return question()
        except UnreachableError as error:
            self._silence = error
            raise

    def _miss(self, unknown: str, reason: str) -> None:
        self._unknown.setdefault(reason, []).append(unknown)


def _leaderless_offsets(state: ClusterState) -> list[TopicPartition]:
    """Return the partitions of groups' offsets without a leader: no broker coordinates the groups there."""
    topic = state.topics.get(OFFSETS)
    partitions = () if topic is None else topic.partitions()
    return [each for each in partitions if each not in state.states or state.states[each].leader < 0]


def _flags(servers: Servers, topics: Sequence[str]) -> Mapping[str, bool | None]:
    with KafkaConnection(servers) as connection:
        return internal_topics(connection, topics)


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
