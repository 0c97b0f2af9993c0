"""Finds dangers to the topic of records: settings, too few replicas in sync, everybody's rights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence, RecordTopic

_EVERYBODY = "User:*"
_WRITES = {"ALL", "WRITE"}


def record_topic_troubles(evidence: KafkaEvidence, state: ClusterState) -> Iterator[Finding]:
    """Find troubles of the topic of records, where there is one."""
    topic = evidence.record_topic
    if topic is not None and topic.lost:
        lost = f"Topic {topic.name} has lost records of operations."
        yield Finding(
            Trouble.UNSAFE_RECORD_TOPIC,
            lost,
            topic.next_step,
            topic=topic.name,
            evidence=(topic.lost,),
        )
        return
    if topic is None or topic.name not in state.topics:
        return
    if topic.problem:
        yield Finding(
            Trouble.UNSAFE_RECORD_TOPIC,
            f"Topic {topic.name} has a setting under which records of operations can be lost.",
            topic.next_step,
            topic=topic.name,
            evidence=(topic.problem,),
        )
    yield from _in_sync(topic, state)
    yield from _rights(topic, evidence)


def _in_sync(topic: RecordTopic, state: ClusterState) -> Iterator[Finding]:
    least = min_insync_replicas(topic.name, state)
    short = {
        each: found
        for each in state.topics[topic.name].partitions()
        if len((found := state.states[each]).isr) < least
    }
    if short:
        away = {broker for each in short for broker in state.replicas(each) or ()} - set(
            state.brokers
        )
        yield Finding(
            Trouble.UNSAFE_RECORD_TOPIC,
            f"Topic {topic.name} accepts no records: fewer than {least} replicas are in sync. No "
            "operation can begin.",
            f"start {brokers_in_words(away)}"
            if away
            else "the log of a broker that is not in the ISR says why it does not follow",
            topic=topic.name,
            evidence=tuple(
                (
                    f"{each}: leader {found.leader}, ISR {list(found.isr)}, replicas "
                    f"{list(state.replicas(each) or ())}"
                )
                for each, found in sorted(short.items())
            ),
        )


def _rights(topic: RecordTopic, evidence: KafkaEvidence) -> Iterator[Finding]:
    if topic.grants is None:
        return
    everybody = [
        each for each in topic.grants if each.principal == _EVERYBODY and each.operation in _WRITES
    ]
    if any(each.allows for each in everybody) and all(each.allows for each in everybody):
        seen = (
            f"an ACL grants {', '.join(sorted({each.operation for each in everybody}))} to "
            f"{_EVERYBODY}"
        )
    elif topic.open_by_default and not topic.grants:
        seen = (
            "no ACL names it, and the brokers set allow.everyone.if.no.acl.found (its value is "
            "kept secret)"
        )
    else:
        return
    yield Finding(
        Trouble.UNSAFE_RECORD_TOPIC,
        f"Every user may write to topic {topic.name}, and change the records of operations.",
        "grant Write only to the users who run kadmin: "
        f"kafka-acls.sh {evidence.tool_options} --add --allow-principal {evidence.principal} "
        f"--topic {topic.name} --operation Read --operation Write",
        severity="warning",
        topic=topic.name,
        evidence=(seen,),
    )
