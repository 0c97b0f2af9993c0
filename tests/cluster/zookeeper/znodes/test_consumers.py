"""Members, owners and offsets of old consumers."""

from __future__ import annotations

import pytest
from support.zookeeper.encoded import node

from kadmin.cluster.groups import ConsumerRegistration
from kadmin.worlds.zookeeper.model import Znode
from kadmin.worlds.zookeeper.znodes import consumers
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError


def test_offsets_may_be_negative_and_long() -> None:
    assert consumers.decode_offset(Znode("/offset", b"-1", 0)) == -1
    assert consumers.decode_offset(Znode("/offset", b"9223372036854775807", 0)) == 2**63 - 1


def test_old_consumers() -> None:
    value = {"version": 1, "subscription": {"b": 2, "a": 1}, "timestamp": "17"}
    found = consumers.decode_registration(
        "c1", node(consumers.group_path("g", "ids") + "/c1", value)
    )
    assert found == ConsumerRegistration("c1", {"a": 1, "b": 2}, "static", 17)
    malformed: list[object] = [{}, {"subscription": {"a": "1"}}, {"subscription": {}, "pattern": 1}]
    for wrong in malformed:
        with pytest.raises(MalformedZnodeError):
            consumers.decode_registration("c1", node("/consumers/g/ids/c1", wrong))
    assert consumers.decode_owner(Znode("/o", "g_é-0".encode(), 0)) == "g_é-0"
    with pytest.raises(MalformedZnodeError):
        consumers.decode_owner(Znode("/o", b"\xff", 0))


@pytest.mark.parametrize(("name", "partition"), [("0", 0), ("12", 12), ("3-0", 0), ("3-12", 12)])
def test_both_layouts_of_owners_and_offsets(name: str, partition: int) -> None:
    assert consumers.partition_of(name) == partition


@pytest.mark.parametrize("name", ["", "x", "1-", "1-x", "\u0661"])
def test_names_without_a_partition(name: str) -> None:
    with pytest.raises(MalformedZnodeError, match="names no partition"):
        consumers.partition_of(name)
