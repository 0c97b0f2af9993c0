"""Tables that only brokers have: the quorum of controllers, reassignments in flight, consumer groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.insight.tables.kafka import GroupRow, QuorumRow, ReassignmentRow
from kadmin.insight.tables.table import Table, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.groups import ConsumerGroup
    from kadmin.cluster.model import ClusterState
    from kadmin.insight.tables.kafka import Role
    from kadmin.worlds.kafka.wire.model import Quorum, QuorumReplica


def quorum_table(quorum: Quorum) -> Table:
    """Return the replicas of the metadata log: the active controller, the other voters, then the observers."""
    end = max((each.log_end_offset for each in quorum.voter_states if each.replica_id == quorum.leader_id), default=-1)

    def row(each: QuorumReplica, role: Role) -> QuorumRow:
        both_known = min(each.log_end_offset, end) >= 0
        return QuorumRow(
            each.replica_id,
            role,
            quorum.leader_epoch if role == "leader" else None,
            each.log_end_offset if each.log_end_offset >= 0 else None,
            max(end - each.log_end_offset, 0) if both_known else None,
            moment(max(each.last_fetch_ms, 0)),
            moment(max(each.last_caught_up_ms, 0)),
        )

    voters = sorted(quorum.voter_states, key=lambda each: (each.replica_id != quorum.leader_id, each.replica_id))
    rows = [row(each, "leader" if each.replica_id == quorum.leader_id else "voter") for each in voters]
    return Table.of("quorum", QuorumRow, [*rows, *(row(each, "observer") for each in quorum.observers)])


def controller_of(state: ClusterState) -> Table:
    """Return the controller of a cluster in ZooKeeper mode as a table of the quorum: brokers give its id alone."""
    rows = [] if state.controller is None else [QuorumRow(state.controller.broker_id, "leader")]
    return Table.of("quorum", QuorumRow, rows)


def reassignment_table(state: ClusterState, operations: Mapping[TopicPartition, str]) -> Table:
    """Return every reassignment in flight, with the operation on record that asked for it."""

    def rows() -> Iterator[ReassignmentRow]:
        for name in sorted(state.topics):
            topic = state.topics[name]
            for number in sorted({*topic.adding_replicas, *topic.removing_replicas}):
                partition = TopicPartition(name, number)
                found = state.states.get(partition)
                yield ReassignmentRow(
                    name,
                    number,
                    topic.target(number),
                    topic.adding_replicas.get(number, ()),
                    topic.removing_replicas.get(number, ()),
                    None if found is None else found.leader,
                    None if found is None else found.isr,
                    operations.get(partition),
                )

    return Table.of("reassignments", ReassignmentRow, rows())


def group_table(groups: Iterable[ConsumerGroup]) -> Table:
    """Return every group that keeps its offsets in Kafka; fields that brokers do not report are None."""
    rows = (
        GroupRow(
            each.name,
            each.listed.kind,
            each.listed.protocol or None,
            each.listed.state or None,
            each.members,
            tuple(sorted(each.topics)),
        )
        for each in groups
    )
    return Table.of("groups", GroupRow, rows)
