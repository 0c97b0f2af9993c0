"""Subscriptions of classic groups: bytes that any client may send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from kadmin.worlds.kafka.wire.group_members import subscribed_topics


def subscription(*topics: str) -> bytes:
    """Return what a consumer sends: the version, and the rest in it."""
    found: bytes = ConsumerProtocolSubscription(topics=list(topics), user_data=b"").encode(
        version=0
    )
    return found


def test_the_topics_of_all_members_count() -> None:
    assert subscribed_topics([subscription("a", "b"), subscription("b", "c")]) == {"a", "b", "c"}
    assert subscribed_topics([]) == set()


@pytest.mark.parametrize(
    "unreadable", [b"", b"\x00", b"\xff" * 10, b"\x00\x00\x00\x00\x00\x01\x00\x02\xff\xff"]
)
def test_one_that_cannot_be_read_leaves_the_topics_of_its_group_unknown(unreadable: bytes) -> None:
    assert subscribed_topics([subscription("a"), unreadable]) is None


@given(st.lists(st.binary()))
def test_no_bytes_are_an_error(members: list[bytes]) -> None:
    found = subscribed_topics(members)
    assert found is None or all(isinstance(topic, str) for topic in found)
