"""Consumer groups that keep their offsets in Kafka."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import why
from kadmin.cluster.groups import ConsumerGroup, Groups
from kadmin.cluster.offsets import GroupOffsets
from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.group_members import ask_members
from kadmin.worlds.kafka.wire.offsets import ask_group_offsets, ask_groups, commit_offsets
from kadmin.worlds.kafka.wire.rights import lists_every_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.groups import ListedGroup
    from kadmin.cluster.servers import Servers
    from kadmin.worlds.kafka.wire.group_members import Memberships


def describe_groups(servers: Servers, brokers: Iterable[int]) -> Groups:
    """Ask each of the brokers for the groups that it coordinates, their offsets and their members.

    A missing answer of one broker, or a refusal for one group, hides no other. Raises
    UnreachableError where none of the addresses answers, NotCompletedError where there is none.
    """
    with KafkaConnection(servers) as connection:
        listed = ask_groups(connection, brokers, REQUEST_S)()
        offsets = ask_group_offsets(connection, listed.given, REQUEST_S)
        members = ask_members(connection, listed.given, REQUEST_S)
        found = _groups(listed.given, offsets(), members())
        hidden = _hidden(connection)
    silent = (
        (f"groups that broker {broker} coordinates were not seen", why(error))
        for broker, error in listed.failed.items()
    )
    return Groups(tuple(sorted(found, key=lambda each: each.name)), (*hidden, *silent))


def _groups(
    listed: Mapping[int, Sequence[ListedGroup]],
    offsets: FromBrokers[GroupOffsets],
    members: Memberships,
) -> Iterator[ConsumerGroup]:
    for broker, groups in listed.items():
        answer, failure = offsets.given.get(broker, GroupOffsets()), offsets.failed.get(broker)
        silent = {} if failure is None else dict.fromkeys(commit_offsets(groups), why(failure))
        refused = {**silent, **answer.refused, **members.refused}
        for each in groups:
            member = members.by_group.get(each.name)
            committed = {partition.topic for partition in answer.offsets.get(each.name, ())}
            yield ConsumerGroup(
                each if member is None else replace(each, state=each.state or member.state),
                None if member is None else member.members,
                frozenset(committed if member is None else committed | member.topics),
                refused.get(each.name),
            )


def _hidden(connection: KafkaConnection) -> tuple[tuple[str, str], ...]:
    """Say that brokers may leave groups out of their lists, which they do without an error."""
    try:
        reason = None if lists_every_group(connection) else f"{Right('Describe')} is missing"
    except (NotCompletedError, UnreachableError) as error:
        reason = why(error)
    return () if reason is None else (("groups that may not be described were not seen", reason),)
