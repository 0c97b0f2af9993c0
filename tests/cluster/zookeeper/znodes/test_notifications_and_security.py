"""Notifications of brokers, ACLs and delegation tokens."""

from __future__ import annotations

import pytest
from support.zookeeper.encoded import node

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes import notifications, security
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError


def test_notifications() -> None:
    changed = node("/isr", {"version": 1, "partitions": [{"topic": "alpha", "partition": 2}]})
    assert notifications.decode_isr_change(changed) == (TopicPartition("alpha", 2),)
    assert (
        notifications.decode_log_dir_event(node("/dir", {"version": 1, "broker": 4, "event": 1}))
        == 4
    )
    block = node("/block", {"version": 1, "broker": 0, "block_start": "2000", "block_end": "2999"})
    assert notifications.decode_producer_id_block(block) == notifications.ProducerIdBlock(
        0, 2000, 2999
    )
    with pytest.raises(MalformedZnodeError, match="partitions"):
        notifications.decode_isr_change(node("/isr", {"partitions": {}}))
    with pytest.raises(MalformedZnodeError, match="topic"):
        notifications.decode_isr_change(node("/isr", {"partitions": [{"partition": 1}]}))
    with pytest.raises(MalformedZnodeError, match="block_start"):
        notifications.decode_producer_id_block(
            node("/block", {"broker": 0, "block_start": 1, "block_end": "2"})
        )


def test_acls_and_tokens() -> None:
    rule = {"principal": "User:alice", "permissionType": "Allow", "operation": "Read", "host": "*"}
    found = security.decode_acls(node("/kafka-acl/Topic/a", {"version": 1, "acls": [rule]}))
    assert found == (security.KafkaAcl("User:alice", "Allow", "Read", "*"),)
    literal = Znode("/kafka-acl-changes/acl_changes_1", b"Topic:a:b", 0)
    assert security.decode_acl_change(literal) == security.AclChange("Topic", "a:b")
    value = {"version": 1, "resourceType": "TOPIC", "name": "a", "patternType": "PREFIXED"}
    assert security.decode_acl_change(node("/c", value)) == security.AclChange(
        "TOPIC", "a", "PREFIXED"
    )
    for wrong in (b"Topic", b"\xff", None):
        with pytest.raises(MalformedZnodeError):
            security.decode_acl_change(Znode("/c", wrong, 0))
    token = {"tokenId": "t1", "owner": "User:a", "renewers": ["User:b"], "hmac": "c2VjcmV0"}
    decoded = security.decode_delegation_token(node("/delegation_token/tokens/t1", token))
    assert decoded == security.DelegationToken("t1", "User:a", ("User:b",))
    assert "c2VjcmV0" not in repr(decoded)
