"""Which rights are missing, for operations through the brokers and for reading alone."""

from __future__ import annotations

import pytest

from kadmin.cluster.model import OwnRights
from kadmin.worlds.kafka.needed_rights import LackingRight, lacking_rights

EVERYTHING = frozenset(
    {"Alter", "AlterConfigs", "Create", "Delete", "Describe", "DescribeConfigs", "Read", "Write"}
)
READING = frozenset({"Describe", "DescribeConfigs"})
TOPICS = ("__kadmin", "a", "b")


def lacking(rights: OwnRights, *, writes: bool = True) -> list[tuple[str, tuple[str, ...]]]:
    """Each operation that is missing, with the topics on which it is to be granted."""
    return [(each.operation, each.grant_on) for each in lacking_rights(rights, writes=writes)]


def test_what_only_reads_needs_less() -> None:
    rights = OwnRights(READING, dict.fromkeys(TOPICS, READING))
    assert lacking(rights, writes=False) == []
    assert lacking(rights) == [
        ("Alter", ()),
        ("AlterConfigs", ()),
        ("AlterConfigs", ("*",)),
        ("Delete", ("*",)),
        ("Alter", ("*",)),
        ("Read", ("__kadmin",)),
        ("Write", ("__kadmin",)),
    ]


@pytest.mark.parametrize("writes", [True, False])
def test_where_brokers_do_not_say_nothing_is_missing(*, writes: bool) -> None:
    assert lacking(OwnRights(None, {}), writes=writes) == []


def test_without_describe_brokers_tell_no_other_right_on_the_cluster() -> None:
    (only,) = lacking_rights(OwnRights(frozenset(), {}))
    assert only == LackingRight(
        "Describe", "reassignments in flight, sizes and the quorum", essential=True
    )


@pytest.mark.parametrize(
    ("without", "grant_on"),
    [(("a",), ("a",)), (("a", "b"), ("a", "b")), (TOPICS, ("*",))],
    ids=["one topic", "some topics", "every topic that is seen"],
)
def test_what_is_missing_everywhere_is_granted_everywhere(
    without: tuple[str, ...], grant_on: tuple[str, ...]
) -> None:
    topics = {name: EVERYTHING - ({"Delete"} if name in without else set()) for name in TOPICS}
    (only,) = lacking_rights(OwnRights(EVERYTHING, topics))
    assert (only.operation, only.topics, only.grant_on, only.essential) == (
        "Delete",
        without,
        grant_on,
        False,
    )


def test_the_topic_of_the_record_needs_more_than_others() -> None:
    rights = OwnRights(EVERYTHING, dict.fromkeys(TOPICS, EVERYTHING - {"Read"}))
    (only,) = lacking_rights(rights)
    assert (only.operation, only.topics, only.essential) == ("Read", ("__kadmin",), True)
