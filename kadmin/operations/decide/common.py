"""Rules of all kinds of operations: pickup deadlines, controllers and other tools' requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S,
    PICKUP_DEADLINE_S,
    PICKUP_WARNING_S,
    PUBLISH_ATTEMPTS,
    AskListening,
    AskStop,
    Wait,
    failed,
    unfinished,
)
from kadmin.operations.record.steps import LogDirsStep, Sending, WaveStep, intents
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Finish, Memory, Observed, StopSeen
    from kadmin.operations.record.steps import Channel, Step, TopicStep


class AskedTopics:
    """The topics that steps of a kind asked for, those refused with reasons, and the unanswered."""

    def __init__(self, kind: type[TopicStep], steps: Iterable[Step]) -> None:
        asked = [step for step in steps if isinstance(step, kind)]
        self.topics = {topic for step in asked for topic in step.topics}
        self.refused = {
            topic: reason for step in asked for topic, reason in step.refused_topics.items()
        }
        self.unanswered = {
            topic for step in asked if step.sending is Sending.UNANSWERED for topic in step.topics
        }


def overdue(memory: Memory, now: float) -> bool:
    """Whether the latest step is past its pickup deadline.

    The deadline is longer after a change of the controller.
    """
    changed = memory.epoch_changed_at
    recently = (
        changed is not None
        and changed >= memory.step_seen_at - PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
    )
    since = (
        max(memory.step_seen_at, changed)
        if recently and changed is not None
        else memory.step_seen_at
    )
    limit = PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S if recently else PICKUP_DEADLINE_S
    return now - since > limit


def before_publish(
    channel: Channel, observed: Observed, memory: Memory
) -> AskListening | Wait | Finish | None:
    """Return the action that must precede a publish on the channel, None where there is none."""
    if (unready := before_request(observed, memory)) is not None:
        return unready
    return None if channel in memory.listening else AskListening(channel)


def before_request(observed: Observed, memory: Memory) -> Wait | Finish | None:
    """Return what must precede a request to the brokers, None where there is nothing."""
    if observed.state.controller is None:
        return Wait("the cluster has no controller")
    return changing() if memory.attempts >= PUBLISH_ATTEMPTS else None


def refused_topics(change: str, reasons: Mapping[str, str], again: NextStep) -> Finish:
    """Finish: the controller refused to `change` topics, for these reasons."""
    return failed(
        NotCompletedError(
            f"The controller refused to {change} {name_some(reasons)}.",
            cause="; ".join(dict.fromkeys(reasons.values())),
            next_step=again + ", when the cause is removed",
        )
    )


def changing() -> Finish:
    """Finish: the cluster changed between reading and writing at every attempt."""
    return failed(
        StalePlanError(
            f"The publish was refused {PUBLISH_ATTEMPTS} times: topics, brokers or the controller "
            "kept changing.",
            next_step=command("diff", "FILE")
            + ", then "
            + command("apply", "FILE")
            + ", when the cluster is quiet",
        )
    )


def made_again(partitions: Iterable[TopicPartition], observed: Observed) -> set[TopicPartition]:
    """Return the partitions whose topic was recreated since their wave was published.

    Topics are compared by id.
    """
    ids = {topic: topic_id for step in observed.steps for topic, topic_id in _ids_of(step).items()}
    now = observed.state.topics
    other = {
        topic
        for topic, topic_id in ids.items()
        if topic in now and now[topic].topic_id not in {topic_id, None}
    }
    return {partition for partition in partitions if partition.topic in other}


def _ids_of(step: Step) -> Mapping[str, str | None]:
    if isinstance(step, LogDirsStep):
        return step.topic_ids
    asked = step.intent if isinstance(step, WaveStep) else None
    return {} if asked is None else asked.topic_ids


def accepted_by_controller(
    partitions: Iterable[TopicPartition], observed: Observed
) -> set[TopicPartition]:
    """Return the partitions whose last reassignment of ours was accepted: it has begun."""
    last = {
        partition: step for step, intent in intents(observed.steps) for partition in intent.targets
    }
    begun = {
        each
        for each, step in last.items()
        if isinstance(step, WaveStep) and step.sending is Sending.ANSWERED
    }
    return begun.intersection(partitions)


def foreign_request(channel_name: str, partitions: Iterable[TopicPartition] = ()) -> Finish:
    """Finish: another tool's request is pending on the channel."""
    return unfinished(occupied(channel_name, partitions))


def occupied(channel_name: str, partitions: Iterable[TopicPartition] = ()) -> BusyError:
    """Build the error for a pending request of another tool, which names these partitions."""
    names = f": {name_some(listed)}" if (listed := sorted(partitions)) else ""
    return BusyError(
        f"{channel_name} holds entries of another tool{names}; it was left unchanged.",
        cause="another tool or operator is working on this cluster, or left an entry behind",
        next_step=command("doctor") + "; " + command("resume") + ", when it is gone",
    )


def not_watching(channel_name: str, *, probed: bool) -> NotCompletedError:
    """Build the error for a controller that would not see a request."""
    written = (
        "only kadmin's own record and the probe node were written"
        if probed
        else "nothing was changed"
    )
    return NotCompletedError(
        f"The controller does not watch {channel_name} and would not see a plan written there; "
        f"{written}.",
        cause=(
            "the node was deleted or overwritten by hand; from Kafka 1.1 on that removes the watch"
        ),
        next_step=command("heal")
        + ", then "
        + (command("resume") if probed else command("apply", "FILE")),
    )


def probe_unanswered(channel_name: str) -> Finish:
    """Finish: the controller did not answer the probe, so the plan was not written."""
    return unfinished(not_watching(channel_name, probed=True))


def awaiting_pickup(reason: str, memory: Memory, now: float) -> Wait:
    """Wait for the controller to start our request; after PICKUP_WARNING_S with a warning."""
    late = now - memory.step_seen_at > PICKUP_WARNING_S
    warning = (
        f"the controller has not started the request within {PICKUP_WARNING_S:g} s"
        if late
        else None
    )
    return Wait(reason, warning)


def not_picked_up(channel_name: str) -> Finish:
    """Finish: the controller did not start our request."""
    return unfinished(
        NotCompletedError(
            f"The controller did not pick up {channel_name} within the deadline; no partition has "
            "changed.",
            cause="it does not watch the node (deleted or overwritten by hand), or is busy",
            next_step=command("heal") + ", then " + command("resume"),
        )
    )


def stop_gate(asked: AskStop, memory: Memory, now: float) -> AskStop | StopSeen:
    """Return the last answer to a question of the stop gate, the question where it is old."""
    seen = memory.stop
    same = seen is not None and (seen.brokers, seen.alive) == (asked.brokers, asked.alive)
    return seen if seen is not None and same and now < seen.until else asked


def await_stop(asked: AskStop, memory: Memory, now: float, ready: str) -> AskStop | Wait:
    """Wait for the person to stop brokers, in the words `ready`; warn where the gate forbids it."""
    seen = stop_gate(asked, memory, now)
    if isinstance(seen, AskStop):
        return seen
    if seen.why_not:
        reason = f"do not stop {brokers_in_words(asked.brokers)} now: {seen.why_not}"
        return Wait(reason, reason)
    return Wait(f"{ready}; kadmin waits until that is seen", for_person=True)
