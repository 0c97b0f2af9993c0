"""Finds moves in flight that wait for a broker, and moves of no unfinished operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command, joined
from kadmin.plan.progress import moves_in_flight
from kadmin.plan.sources import awaited, lacks_source
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.diagnostics import Severity
    from kadmin.next_step import NextStep
    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence, UnansweredRequest

_END = command("cancel", "--foreign")
_SHOWN = 5


def move_troubles(evidence: KafkaEvidence, state: ClusterState) -> Iterator[Finding]:
    """Find troubles of the moves in flight.

    One of another tool, or of a finished operation, stops every apply. One that has nothing to copy
    from waits for a broker, and stops no apply.
    """
    moves = moves_in_flight(state)
    unfinished = {each.operation_id for each in evidence.operations}
    ours = {
        each: found
        for each in moves
        if (found := evidence.asked.get(each)) in unfinished and found is not None
    }
    foreign = sorted(moves.keys() - evidence.asked.keys())
    yield from _stalled(evidence, state, moves, ours)
    for operation in evidence.past:
        late = sorted(each for each in moves if evidence.asked.get(each) == operation.operation_id)
        yield Finding(
            Trouble.LATE_MOVE,
            f"Moves are in flight that operation {operation.operation_id} asked for, which is "
            f"over: {name_some(late)}.",
            _end_of(late, state),
            severity=_severity(late, state),
            evidence=(operation.words, *_shown(state, late)),
        )
    if foreign and not evidence.records_elsewhere:
        yield Finding(
            Trouble.FOREIGN_MOVE,
            "Partitions are being reassigned, and no operation on record asked for it: another "
            f"tool or operator is at work: {name_some(foreign)}.",
            "wait until they are done: "
            + command("inspect admin")
            + "; or "
            + _end_of(foreign, state),
            severity=_severity(foreign, state),
            evidence=_shown(state, foreign),
        )


def unanswered_requests(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find requests that got no answer and whose targets are neither in flight nor reached.

    They may come late.
    """
    for request in evidence.unanswered:
        waiting = sorted(
            each for each in request.targets if _may_come(request, each, evidence.state)
        )
        if waiting:
            yield Finding(
                Trouble.UNANSWERED_REQUEST,
                f"A request of operation {request.operation_id} got no answer, and may still be "
                f"applied: {name_some(waiting)}.",
                command("doctor")
                + ", again in a few minutes; a move that begins then ends with "
                + _END
                if request.finished
                else command("resume", request.operation_id),
                severity="warning",
                evidence=(
                    f"sent at {request.sent_at}",
                    *(
                        f"{each}: asked for {list(request.targets[each] or ())}"
                        for each in waiting[:_SHOWN]
                    ),
                ),
            )


def late_targets(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find partitions that a late request brought to its target.

    Those in flight are among the moves.
    """
    for late in evidence.late:
        yield Finding(
            Trouble.LATE_MOVE,
            f"A request that got no answer was applied after its operation was over: {late}.",
            "move it back: " + late.next_step,
            severity="warning",
        )


def _may_come(request: UnansweredRequest, partition: TopicPartition, state: ClusterState) -> bool:
    topic, target = state.topics.get(partition.topic), request.targets[partition]
    same = topic is not None and topic.topic_id == request.topic_ids.get(topic.name)
    return (
        same
        and target is not None
        and topic is not None
        and topic.target(partition.partition) != target
    )


def _stalled(
    evidence: KafkaEvidence,
    state: ClusterState,
    moves: Mapping[TopicPartition, Replicas],
    ours: Mapping[TopicPartition, str],
) -> Iterator[Finding]:
    fenced = state.fenced_brokers or {}
    waits = {
        each: sorted(set(target) - set(state.brokers))
        for each, target in moves.items()
        if set(target) - set(state.brokers)
    }
    if not waits:
        return
    away = sorted({broker for brokers in waits.values() for broker in brokers})
    dead, gone = (
        [each for each in away if each in fenced],
        [each for each in away if each not in fenced],
    )
    operations = dict.fromkeys(ours[each] for each in waits if each in ours)
    ends = [command("cancel", each, "--now") for each in operations]
    ends += [_END] if waits.keys() - ours.keys() else []
    unknown = state.fenced_brokers is None
    yield Finding(
        Trouble.STALLED_MOVE,
        f"Moves in flight wait for brokers that are not alive: {name_some(sorted(waits))}.",
        "start the brokers"
        if evidence.records_elsewhere
        else "start the brokers, or end the moves: " + joined("; ", ends),
        severity="warning",
        evidence=(
            *((f"fenced: {name_some(dead)}",) if dead else ()),
            *(
                (f"{'not alive' if unknown else 'not registered'}: {name_some(gone)}",)
                if gone
                else ()
            ),
            *_shown(state, sorted(waits)),
        ),
    )


def _severity(moves: Iterable[TopicPartition], state: ClusterState) -> Severity:
    return "warning" if all(lacks_source(each, state) for each in moves) else "error"


def _end_of(moves: Iterable[TopicPartition], state: ClusterState) -> NextStep:
    """Return the next step that ends moves; the controller takes none back that has no source."""
    stuck = sorted(each for each in moves if lacks_source(each, state))
    if not stuck:
        return "end them: " + _END
    away = {broker for each in stuck for broker in awaited(each, state)}
    return (
        f"start {brokers_in_words(away)}, without which {name_some(stuck)} cannot go back; "
        "then end them: "
    ) + _END


def _shown(state: ClusterState, partitions: list[TopicPartition]) -> tuple[str, ...]:
    lines = []
    for each in partitions[:_SHOWN]:
        topic, number = state.topics[each.topic], each.partition
        adding, removing = (
            list(found.get(number, ()))
            for found in (topic.adding_replicas, topic.removing_replicas)
        )
        lines.append(
            f"{each}: to {list(topic.target(number))}, adding {adding}, removing {removing}"
        )
    return tuple(lines)
