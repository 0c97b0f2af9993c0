"""The controller, its epoch, features and the migration to KRaft."""

from __future__ import annotations

import pytest
from support.zookeeper.encoded import node

from kadmin.worlds.zookeeper.model import ControllerNode, Znode
from kadmin.worlds.zookeeper.znodes import consumers, controller
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError


def test_the_controller() -> None:
    one = node("/controller", {"version": 1, "brokerid": 2, "timestamp": "1"})
    assert controller.decode_controller(one) == ControllerNode(2, 9, None)
    two = node(
        "/controller",
        {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": 12},
    )
    assert controller.decode_controller(two).kraft_epoch == 12
    with pytest.raises(MalformedZnodeError, match="brokerid"):
        controller.decode_controller(node("/controller", {"version": 1, "brokerid": "2"}))


@pytest.mark.parametrize(
    "data", [None, b"", b"x", b" 1", b"1 ", b"+1", b"1_0", b"1.0", b"\xd9\xa1", b"1" * 30]
)
def test_numbers_are_plain_ascii_digits(data: bytes | None) -> None:
    with pytest.raises(MalformedZnodeError, match="not an integer"):
        controller.decode_controller_epoch(Znode("/controller_epoch", data, 0))
    with pytest.raises(MalformedZnodeError, match="not an integer"):
        consumers.decode_offset(Znode("/offset", data, 0))


def test_migration_and_features() -> None:
    state = {
        "version": 0,
        "kraft_controller_id": 3000,
        "kraft_controller_epoch": 2,
        "kraft_metadata_offset": 9,
    }
    assert controller.decode_migration(node("/migration", state)) == controller.Migration(3000, 9)
    assert controller.decode_migration(node("/migration", {"version": 0})) == controller.Migration(
        -1, -1
    )
    one = {
        "version": 1,
        "status": 0,
        "features": {"a": {"min_version_level": 1, "max_version_level": 3}},
    }
    assert controller.decode_features(node("/feature", one)) == controller.Features(
        1, enabled=False, levels={"a": 3}
    )
    two = {"version": 2, "status": 1, "features": {"a": 4}}
    assert controller.decode_features(node("/feature", two)) == controller.Features(
        2, enabled=True, levels={"a": 4}
    )
