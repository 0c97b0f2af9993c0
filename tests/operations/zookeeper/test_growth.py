"""Growths by the topic znode, on a real ZooKeeper with a SimpleController."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.security import make_acl
from support.cli.in_process import command
from support.controller.simple_controller import Manner, SimpleController
from support.documents.plans import document
from support.network.frame_proxy import Action, Fault
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.connect_string import parse_connect_string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper

NEW = [[2, 3], [4, 1]]
BEFORE = {0: [1, 2]}
AFTER = {0: [1, 2], 1: [2, 3], 2: [4, 1]}


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        found.create_topic("orders", BEFORE)
        yield found


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path / "growth.yaml")


def write(path: Path, **allow: bool) -> Path:
    topics = [{"topic": "orders", "current": 1, "new_partitions": NEW}]
    value = {"kind": "PartitionGrowth", "spec": {"topics": topics, "allow": allow}}
    return document(path, value)


def last(cluster: SimpleController) -> tuple[str, int]:
    """The state of the last operation, and the number of its steps."""
    return cluster.operations()[-1]["state"], len(cluster.steps("growth"))


def test_a_topic_grows_once_and_keeps_the_other_keys_of_its_znode(
    cluster: SimpleController, plan: Path
) -> None:
    path = "/brokers/topics/orders"
    value: dict[str, Any] = {
        "version": 3,
        "topic_id": "Z_jcEjghQECxVvc59mF5_Q",
        "partitions": {"0": [1, 2]},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    cluster.client.set(path, json.dumps(value).encode())
    done = command("apply", plan, "--yes", "-z", cluster.connect)
    assert done.status == 0, done.err
    assert "2 partitions added" in done.out
    assert json.loads(cluster.get(path) or b"") == {
        **value,
        "partitions": {str(number): replicas for number, replicas in AFTER.items()},
    }
    assert last(cluster) == ("completed", 1)
    again = command("apply", plan, "--yes", "-z", cluster.connect)
    assert (again.status, again.out.strip()) == (0, "nothing to do")
    refused = command("rollback", cluster.operations()[-1]["id"], "--yes", "-z", cluster.connect)
    assert (refused.status, "Kafka removes no partition" in refused.err) == (3, True), refused.err


def test_a_dry_run_changes_nothing(cluster: SimpleController, plan: Path) -> None:
    before = cluster.fingerprint()
    done = command("apply", plan, "--dry-run", "-z", cluster.connect)
    assert done.status == 0, done.err
    assert "This cannot be rolled back" in done.err
    assert cluster.fingerprint() == before


def test_a_compacted_topic_needs_the_waiver(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    config = b'{"config":{"cleanup.policy":"compact"},"version":1}'
    cluster.client.set("/config/topics/orders", config)
    refused = command("apply", plan, "--yes", "-z", cluster.connect)
    assert (refused.status, "KA099" in refused.err) == (3, True), refused.err
    assert cluster.replicas("orders") == BEFORE
    meant = write(tmp_path / "meant.yaml", keys_move=True)
    assert command("apply", meant, "--yes", "-z", cluster.connect).status == 0
    assert cluster.replicas("orders") == AFTER


def test_a_dead_broker_and_another_count_refuse(cluster: SimpleController, plan: Path) -> None:
    cluster.client.delete("/brokers/ids/4")
    refused = command("apply", plan, "--yes", "-z", cluster.connect)
    assert (refused.status, "the cluster has no broker 4" in refused.err) == (4, True), refused.err
    cluster.add_partition("orders", [1, 2])
    refused = command("apply", plan, "--yes", "-z", cluster.connect)
    assert "orders has 2 partitions, the plan was made on 1" in refused.err


def test_a_right_that_is_missing_is_named_before_anything_is_written(
    cluster: SimpleController, plan: Path
) -> None:
    path = "/brokers/topics/orders"
    cluster.client.set_acls(path, [make_acl("world", "anyone", read=True)])
    refused = command("apply", plan, "--yes", "-z", cluster.connect)
    assert (refused.status, f"w on {path}" in refused.err) == (6, True), refused.err
    assert cluster.replicas("orders") == BEFORE


def publish(then: Callable[[], object] | None = None, action: Action = Action.CALL) -> Fault:
    """Break, or come before, the transaction that writes the topic znode."""
    return Fault(
        action,
        lambda frame: frame.op == MULTI and b"/brokers/topics/orders" in frame.body,
        then=then,
    )


def test_a_lost_reply_adds_the_partitions_once(
    cluster: SimpleController, proxy: FaultProxy, plan: Path, chroot: str
) -> None:
    proxy.faults = [publish(action=Action.CUT_AFTER)]
    way = f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
    done = command("apply", plan, "--yes", "-z", way, "--timeout", "40")
    assert done.status == 0, done.err
    assert cluster.replicas("orders") == AFTER
    assert last(cluster) == ("completed", 1)


def test_what_another_tool_added_meanwhile_is_left_alone(
    cluster: SimpleController, proxy: FaultProxy, plan: Path, chroot: str
) -> None:
    proxy.faults = [publish(then=lambda: cluster.add_partition("orders", [4, 3]))]
    way = f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
    refused = command("apply", plan, "--yes", "-z", way, "--timeout", "40")
    assert refused.status == 4, refused.err
    assert cluster.replicas("orders") == {0: [1, 2], 1: [4, 3]}
    assert last(cluster) == ("failed", 0)


def test_a_controller_that_gives_no_leaders_is_told_and_the_growth_is_resumed(
    cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)
    slow = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "3")
    assert slow.status == 8, slow.err
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "40").status == 0
    assert cluster.replicas("orders") == AFTER
    assert last(cluster) == ("completed", 1)
