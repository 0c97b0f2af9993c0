"""Asks brokers for their disks, their settings and their groups.

Groups of old consumers are in ZooKeeper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.from_brokers import why
from kadmin.cluster.groups import Groups
from kadmin.cluster.log_dirs import LogDirs
from kadmin.cluster.rights import Right
from kadmin.errors import KadminError, UnreachableError
from kadmin.insight.predict.consumers import OFFSETS
from kadmin.plan.recovery import without_leader
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.errors import NotAuthorizedError
    from kadmin.operations.port import Backend, LiveBrokers
    from kadmin.plan.facts import ClusterFacts

Answer = TypeVar("Answer")

DELETES_TOPICS = "delete.topic.enable"
CREATES_TOPICS = "auto.create.topics.enable"


def log_dirs_of(
    state: ClusterState, brokers: LiveBrokers, *, bootstrap_s: float | None = None
) -> LogDirs:
    """Ask live brokers for the bytes of replicas on their disks (DescribeLogDirs, 1.1 and later).

    Raises NotCompletedError or UnreachableError where a broker does not answer, or can read none of
    its directories.
    """
    found = brokers.log_dirs(state.brokers, bootstrap_s=bootstrap_s)
    for error in found.failed.values():
        raise error
    return found


def unused_copies(
    state: ClusterState, held: Mapping[int, Mapping[TopicPartition, int]]
) -> dict[int, dict[TopicPartition, int]]:
    """Return the copies on disk, of topics that exist, whose broker is no replica.

    They are bytes by broker and partition.
    """
    unused = {
        broker: {
            p: size for p, size in sizes.items() if broker not in (state.replicas(p) or (broker,))
        }
        for broker, sizes in held.items()
    }
    return {broker: sizes for broker, sizes in unused.items() if sizes}


def with_disks(given: ClusterFacts, state: ClusterState, brokers: LiveBrokers) -> ClusterFacts:
    """Complete given facts by the live brokers' bytes per partition and disk space.

    Bytes that were given take precedence. What brokers do not answer is in `disks_unavailable`;
    nothing is raised.
    """
    return _with_disks(given, state, _Questions(brokers))


def with_usage(
    given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str]
) -> ClusterFacts:
    """Complete given facts by the groups of topics.

    Add whether brokers delete and auto-create topics, and their disks. What brokers do not answer
    is in `unavailable` and `disks_unavailable`; nothing is raised.
    """
    questions = _Questions(backend.brokers(state))
    return _with_disks(
        _with_groups_and_settings(given, backend, state, topics, questions), state, questions
    )


def with_guards(
    given: ClusterFacts, backend: Backend, state: ClusterState, topics: Collection[str]
) -> ClusterFacts:
    """Complete given facts as `with_usage`, and by topics that brokers flag as internal."""
    questions = _Questions(backend.brokers(state))
    facts = _with_groups_and_settings(given, backend, state, topics, questions)
    flags = questions.ask_flags([topic for topic in topics if topic in state.topics])
    internal = frozenset(topic for topic, flagged in flags.items() if flagged)
    return _with_disks(
        replace(facts, internal_topics=internal, unavailable=questions.unavailable),
        state,
        questions,
    )


def with_elections(given: ClusterFacts, backend: Backend, state: ClusterState) -> ClusterFacts:
    """Complete given facts by how leaders are elected that are not in sync, where it matters."""
    if given.elects_by_config or not without_leader(state):
        return given
    return replace(given, elects_by_config=not backend.brokers(state).serve_elections())


def groups_in_metadata(backend: Backend, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return, by topic, the groups that keep their offsets in the cluster's metadata."""
    return {} if backend.metadata_store is None else backend.metadata_store.groups_of_topics(topics)


def _with_groups_and_settings(
    given: ClusterFacts,
    backend: Backend,
    state: ClusterState,
    topics: Collection[str],
    questions: _Questions,
) -> ClusterFacts:
    old = groups_in_metadata(backend, topics)
    groups = questions.ask_groups(state)
    settings = questions.ask_settings(state, (DELETES_TOPICS, CREATES_TOPICS))
    return replace(
        given,
        consumers={topic: _users(topic, old.get(topic, ()), groups) for topic in topics},
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
        disks=found.disks,
        replicas=found.replicas,
        disks_unavailable=(*unavailable, *_not_listed(state, found)),
        hidden_topics=_hidden_topics(state, found, questions.brokers),
    )


def sizes_of(
    state: ClusterState, held: Mapping[int, Mapping[TopicPartition, int]]
) -> dict[TopicPartition, int]:
    """Return the bytes of each partition that is read or on disk.

    They are those of its leader, from which copies are made. Replicas of a compacted topic differ.
    Where the leader did not answer, the largest in-sync replica counts; others are stale. Of a
    partition whose state was not read, the largest copy counts.
    """
    copies: dict[TopicPartition, dict[int, int]] = {}
    for broker, sizes in held.items():
        for partition, size_bytes in sizes.items():
            copies.setdefault(partition, {})[broker] = size_bytes
    found: dict[TopicPartition, int] = {}
    for partition, by_broker in copies.items():
        partition_state = state.states.get(partition)
        if partition_state is None:
            found[partition] = max(by_broker.values())
        elif partition_state.leader in by_broker:
            found[partition] = by_broker[partition_state.leader]
        elif in_sync := by_broker.keys() & set(partition_state.isr):
            found[partition] = max(by_broker[broker] for broker in in_sync)
    return found


def groups_of(
    brokers: LiveBrokers, state: ClusterState
) -> tuple[Mapping[str, frozenset[str]], tuple[str, ...]]:
    """Return the topics of groups with offsets in Kafka, and what brokers did not answer."""
    questions = _Questions(brokers)
    groups = questions.ask_groups(state)
    return groups.topics, questions.unavailable


def refused_credentials(backend: Backend, state: ClusterState) -> NotAuthorizedError | None:
    """Return the error where a change would run without the facts from brokers.

    They refuse the client's credentials. Those facts are sizes, disk space and consumers.
    """
    return (
        backend.brokers(state).refused_credentials()
        if backend.capabilities.asks_brokers_beside
        else None
    )


def _hidden_topics(state: ClusterState, found: LogDirs, brokers: LiveBrokers) -> tuple[str, ...]:
    """Name the topics that brokers hold and may not show, in a sentence.

    Nothing where there are none. Brokers leave topics that may not be described out of their
    metadata, without an error.
    """
    if not state.may_hide_topics:
        return ()
    left_out = {
        partition.topic for sizes in found.sizes.values() for partition in sizes
    } - state.topics.keys()
    if not left_out:
        return ()
    hidden = brokers.hidden_topics(left_out)
    if not hidden:
        return ()
    return (
        (
            f"the right Describe is missing on {count(len(hidden), 'topic')}: "
            f"{name_some(hidden)}; not shown"
        ),
    )


def _not_listed(state: ClusterState, found: LogDirs) -> tuple[str, ...]:
    """Say how many partitions lack a folder at brokers that answered a reading through them."""
    if not state.may_hide_topics:
        return ()
    missing = sum(
        any(
            broker in found.sizes and partition not in found.sizes[broker]
            for broker in partition_state.isr
        )
        for partition, partition_state in state.states.items()
    )
    if not missing:
        return ()
    return (
        f"{count(missing, 'partition')} not on disk yet at an in-sync broker: sizes are incomplete",
    )


@dataclass(frozen=True, slots=True)
class HeldBytes:
    """The bytes on the disks of live brokers.

    Of a broker with a directory that it cannot read, they are those in the others; `listed` named
    their replicas. `unavailable` are the reasons for unknown bytes and unknown directories,
    `hidden_topics` a sentence on topics that brokers hold and did not show.
    """

    by_broker: Mapping[int, int]
    listed: frozenset[int]
    unavailable: tuple[str, ...]
    hidden_topics: tuple[str, ...]


def held_by(state: ClusterState, brokers: LiveBrokers) -> HeldBytes:
    """Ask each live broker for the bytes on its disks."""
    found, unavailable = _Questions(brokers).ask_disks(state)
    return HeldBytes(
        {broker: sum(sizes.values()) for broker, sizes in found.sizes.items()},
        frozenset(found.sizes),
        unavailable,
        _hidden_topics(state, found, brokers),
    )


def usable_of(found: LogDirs) -> dict[int, int | None]:
    """Return the usable bytes on disk of each broker that answered.

    A broker that does not report them has None. Those that failed are left out: `not_described` has
    their errors.
    """
    return {**dict.fromkeys(found.sizes), **found.usable}


def not_described(found: LogDirs) -> tuple[str, ...]:
    """Return the reasons that the disks of some brokers, or single directories, are unknown."""
    return tuple(
        f"bytes on disk of broker {broker} are not known: {error.message}"
        for broker, error in found.failed.items()
    ) + tuple(
        f"bytes in a log directory are not known: {error.message}"
        for errors in found.failed_dirs.values()
        for error in errors
    )


def switch(settings: Mapping[int, Mapping[str, str]], name: str, *, decisive: bool) -> bool | None:
    """Return a switch: one broker with `decisive` is enough for it, the other value needs all.

    None where unknown. The controller deletes topics, and any broker may become it; any broker
    creates topics.
    """
    found = {each.get(name) for each in settings.values()}
    if str(decisive).lower() in found:
        return decisive
    return None if not found or None in found else not decisive


class _Questions:
    """Asks one question after the other.

    After one without an answer, brokers are not asked again.
    """

    def __init__(self, brokers: LiveBrokers) -> None:
        self.brokers = brokers
        self._unknown: dict[str, list[str]] = {}
        self._silence: UnreachableError | None = None

    @property
    def unavailable(self) -> tuple[str, ...]:
        """Questions that brokers did not answer: one sentence for each reason."""
        return tuple(f"{'; '.join(unknown)}: {reason}" for reason, unknown in self._unknown.items())

    def ask_disks(self, state: ClusterState) -> tuple[LogDirs, tuple[str, ...]]:
        """Return the disks of the live brokers, and the reasons for unknown ones."""
        try:
            found = self._ask(lambda: self.brokers.log_dirs(state.brokers))
        except KadminError as error:
            return LogDirs({}, {}), (f"bytes on disk are not known: {error.message}",)
        return found, not_described(found)

    def ask_groups(self, state: ClusterState) -> Groups:
        """Return the groups that live brokers coordinate.

        A partition of their offsets without a leader hides some.
        """
        if leaderless := _leaderless_offsets(state):
            self._miss(
                f"groups that keep their offsets in {name_some(leaderless)} were not seen",
                "no leader",
            )
        try:
            groups = self._ask(lambda: self.brokers.groups(state.brokers))
        except KadminError as error:
            self._miss("groups that keep their offsets in Kafka were not seen", why(error))
            return Groups(())
        for what, reason in groups.unseen:
            self._miss(what, reason)
        return groups

    def ask_settings(
        self, state: ClusterState, names: Sequence[str]
    ) -> Mapping[int, Mapping[str, str]]:
        """Return settings of each live broker, none of one that does not answer."""
        unknown = f"{DELETES_TOPICS} of {{}} is not known (before 1.0 it is off by default)"
        try:
            found = self._ask(lambda: self.brokers.settings(state.brokers, names))
        except KadminError as error:
            self._miss(unknown.format("the brokers"), why(error))
            return {}
        for broker, failure in found.failed.items():
            self._miss(unknown.format(f"broker {broker}"), why(failure))
        return {broker: found.given.get(broker, {}) for broker in state.brokers}

    def ask_flags(self, topics: Sequence[str]) -> Mapping[str, bool | None]:
        """Return the topics that brokers flag as internal; None where they do not report it."""
        unknown = "whether {} is internal is not known"
        try:
            flags = self._ask(lambda: self.brokers.internal_topics(topics))
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
    """Return the partitions of groups' offsets without a leader.

    No broker coordinates their groups.
    """
    topic = state.topics.get(OFFSETS)
    partitions = () if topic is None else topic.partitions()
    return [
        each for each in partitions if each not in state.states or state.states[each].leader < 0
    ]


def _users(topic: str, old: Iterable[str], groups: Groups) -> tuple[str, ...]:
    return tuple(
        sorted({*old, *(group for group, topics in groups.topics.items() if topic in topics)})
    )
