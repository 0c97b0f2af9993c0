"""Finds unhealthy partitions, brokers, stuck deletions, leftover throttles, many notifications."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.names import escaped
from kadmin.insight.diagnosis.copies import copy_troubles
from kadmin.insight.diagnosis.disks import disk_troubles
from kadmin.insight.diagnosis.emptied_brokers import emptied_broker_troubles
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.health import health_of, return_or_decommission
from kadmin.insight.diagnosis.min_isr import above_replicas, min_isr_troubles
from kadmin.insight.diagnosis.offline import offline_partitions, partition_seen
from kadmin.next_step import command
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.throttle import THROTTLE_KEYS
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.doctor.evidence import STAYS_S
from kadmin.worlds.zookeeper.znodes.admin import DELETE_TOPICS
from kadmin.worlds.zookeeper.znodes.brokers import BROKER_IDS
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES, MANY_CONFIG_CHANGES
from kadmin.worlds.zookeeper.znodes.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.zookeeper.doctor.evidence import Evidence

THROTTLE_SETTINGS = THROTTLE_KEYS | {"replica.alter.log.dirs.io.max.bytes.per.second"}
MANY_MESSAGES = 1_000
"""Above this number notifications to the controller are reported; a working controller removes them
at once."""


def cluster_troubles(evidence: Evidence) -> Iterator[Finding]:
    """Find unhealthy parts of the cluster.

    Of these only a cluster without any broker stops every apply.
    """
    yield from _brokers(evidence)
    yield from _deletions(evidence)
    yield from _partitions(evidence)
    yield from emptied_broker_troubles(evidence.state, evidence.held)
    yield from disk_troubles(evidence.state, evidence.disks, evidence.earlier_disks, TOPICS)
    yield from copy_troubles(
        evidence.unused_copies,
        evidence.disks,
        "no version of Kafka (0.10.2 to 3.9) removes them at a restart",
        f"a reassignment to these brokers and {command('rollback')}, one after the other, remove "
        "them too",
        znode=TOPICS,
    )
    yield from _throttles(evidence)
    yield from _messages(evidence)


def _brokers(evidence: Evidence) -> Iterator[Finding]:
    state = evidence.state
    if not state.brokers:
        yield Finding(
            Trouble.MISSING_BROKERS,
            "No broker is registered.",
            "start the brokers",
            znode=BROKER_IDS,
            evidence=(f"{BROKER_IDS} has no children that can be read",),
        )
        return
    hosted: dict[int, int] = {}
    for topic in state.topics.values():
        for replicas in topic.replicas.values():
            for broker in set(replicas) - set(state.brokers):
                hosted[broker] = hosted.get(broker, 0) + 1
    if hosted:
        yield Finding(
            Trouble.MISSING_BROKERS,
            f"Brokers that hold replicas are not alive: {name_some(sorted(hosted))}. Plans that "
            "name them are refused.",
            return_or_decommission(hosted),
            severity="warning",
            znode=BROKER_IDS,
            evidence=tuple(
                f"broker {broker}: assigned replicas: {number}"
                for broker, number in sorted(hosted.items())[:10]
            ),
        )


def _deletions(evidence: Evidence) -> Iterator[Finding]:
    state = evidence.state
    stuck = (
        sorted(set(evidence.first.deletions) & set(evidence.last.deletions))
        if evidence.stayed_s >= STAYS_S
        else []
    )
    for name in stuck:
        topic = state.topics.get(name)
        dead = [] if topic is None else sorted(topic.brokers - set(state.brokers))
        why = (
            (
                f"replicas on brokers that are not alive: {', '.join(map(str, dead))}; the live "
                "ones are deleted already"
            )
            if dead
            else (
                "all replicas are on live brokers: the topic is large, or the controller does not "
                "work"
            )
        )
        yield Finding(
            Trouble.STUCK_DELETION,
            f"The deletion of topic {escaped(name)} does not end.",
            "start those brokers; never remove the request by hand: the topic would come back empty"
            if dead
            else command("doctor") + ", again in a minute; never remove the request by hand",
            severity="warning",
            topic=None if topic is None else name,
            znode=f"{DELETE_TOPICS}/{escaped(name)}",
            evidence=(f"queued for more than {evidence.stayed_s:.0f} s", why),
        )


def _partitions(evidence: Evidence) -> Iterator[Finding]:
    state = evidence.state
    health = health_of(state)
    offline, short = (
        {each for each in found if each.topic not in state.requests.deletions}
        for found in (health.offline, health.under_min_isr)
    )
    yield from min_isr_troubles(state, short, znode=TOPICS)
    yield from offline_partitions(state, sorted(offline), TOPICS)
    if partitions := sorted(short - above_replicas(state, short)):
        yield Finding(
            Trouble.UNDER_MIN_ISR,
            f"Partitions with fewer in-sync replicas than {MIN_INSYNC_REPLICAS}: "
            f"{name_some(partitions)}.",
            "start the brokers of their ISR; the log of a running broker says why it does not "
            "follow",
            severity="warning",
            znode=TOPICS,
            evidence=tuple(partition_seen(state, each) for each in partitions[:5]),
        )


def _throttles(evidence: Evidence) -> Iterator[Finding]:
    state = evidence.state
    moving = any(
        topic.adding_replicas or topic.removing_replicas for topic in state.topics.values()
    )
    if moving or evidence.operations or evidence.last.reassignment is not None:
        return
    configs = {ConfigEntity.of_topic(name): config for name, config in state.topic_configs.items()}
    configs |= evidence.broker_configs
    left = {
        str(each): sorted(THROTTLE_SETTINGS & set(config))
        for each, config in sorted(configs.items())
    }
    entities = [name for name, keys in left.items() if keys]
    if entities:
        yield Finding(
            Trouble.LEFTOVER_THROTTLE,
            "Replication throttles are set although nothing is being reassigned: "
            f"{name_some(map(escaped, entities))}.",
            command("throttle audit"),
            severity="warning",
            znode=CONFIG,
            evidence=tuple(f"{escaped(name)}: {', '.join(left[name])}" for name in entities[:5]),
        )


def _messages(evidence: Evidence) -> Iterator[Finding]:
    for path, number in sorted(evidence.notifications.items()):
        config = path == CONFIG_CHANGES
        if number > (MANY_CONFIG_CHANGES if config else MANY_MESSAGES):
            yield Finding(
                Trouble.MANY_NOTIFICATIONS,
                f"{path} holds {number:,} notifications.",
                command("doctor") + ", again in 15 minutes"
                if config
                else "read the controller's log",
                severity="warning",
                znode=path,
                evidence=(
                    "brokers purge them after 15 minutes; no throttle is set until then"
                    if config
                    else "a working controller removes them at once",
                ),
            )
