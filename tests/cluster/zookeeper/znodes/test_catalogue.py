"""Every path has its codec, and no data makes a codec fail otherwise than it says."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.znode_names import require_element, require_path, require_topic_name
from kadmin.errors import InvalidInputError
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes import consumers
from kadmin.worlds.zookeeper.znodes.catalogue import decoder_of
from kadmin.worlds.zookeeper.znodes.topics import partitions_path, state_path, topic_path
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError


def test_paths() -> None:
    assert topic_path("a.b") == "/brokers/topics/a.b"
    assert partitions_path("a") == "/brokers/topics/a/partitions"
    assert state_path(TopicPartition("a", 3)) == "/brokers/topics/a/partitions/3/state"
    assert consumers.group_path("g 1", "owners", "t") == "/consumers/g 1/owners/t"
    assert consumers.group_path("g", "offsets", "t") == "/consumers/g/offsets/t"
    assert require_path("/") == "/"
    for bad in ("a/b", "", ".", "..", "a\0", "\ud800"):
        for path in (
            partial(consumers.group_path, kind="ids"),
            topic_path,
            require_element,
            require_topic_name,
        ):
            with pytest.raises(InvalidInputError) as caught:
                path(bad)
            assert caught.value.message.isascii()


PATHS = [
    "/admin/reassign_partitions",
    "/admin/preferred_replica_election",
    "/brokers/ids/1",
    "/brokers/topics/a",
    "/brokers/topics/a/partitions/0/state",
    "/controller",
    "/controller_epoch",
    "/cluster/id",
    "/feature",
    "/migration",
    "/config/changes/config_change_0000000001",
    "/config/users/u/clients/c",
    "/config/ips/127.0.0.1",
    "/isr_change_notification/isr_change_0000000001",
    "/log_dir_event_notification/log_dir_event_0000000001",
    "/latest_producer_id_block",
    "/consumers/g/ids/c",
    "/consumers/g/owners/t/0",
    "/consumers/g/offsets/t/0",
    "/kafka-acl/Topic/a",
    "/kafka-acl-extended/prefixed/Topic/a",
    "/kafka-acl-changes/acl_changes_0000000001",
    "/kafka-acl-extended-changes/acl_changes_0000000001",
    "/delegation_token/tokens/t",
]
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "version",
                    "partitions",
                    "topic",
                    "replicas",
                    "leader",
                    "isr",
                    "config",
                    "features",
                    "endpoints",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("path", PATHS)
@given(
    data=st.none() | st.binary(max_size=60) | values.map(lambda value: json.dumps(value).encode())
)
def test_codecs_raise_nothing_else_on_any_data(path: str, data: bytes | None) -> None:
    """Whatever lies in ZooKeeper, a codec returns a value or raises MalformedZnodeError."""
    decode = decoder_of(path)
    assert decode is not None
    with suppress(MalformedZnodeError):
        decode(Znode(path, data, 0))


@pytest.mark.parametrize(
    "path", ["/", "/admin", "/brokers/topics", "/zookeeper/quota", "/kadmin/lock", "/config/x/y"]
)
def test_folders_and_strangers_have_no_codec(path: str) -> None:
    assert decoder_of(path) is None
