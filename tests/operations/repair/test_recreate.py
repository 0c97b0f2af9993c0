"""`kadmin recreate`, on a real ZooKeeper with a SimpleController."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from support.cli.in_process import command
from support.controller.simple_controller import CLUSTER_ID, Manner, SimpleController
from support.documents.plans import UNASKED, deletion, document
from support.network.frame_proxy import Action, Fault
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.connect_string import parse_connect_string

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper

CONFIG = b'{"config":{"min.insync.replicas":"2","retention.ms":"604800000"},"version":1}'
ASSIGNMENT = {0: [1, 2], 1: [2, 3], 2: [3, 1]}


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        yield found


@pytest.fixture
def deleted(cluster: SimpleController, tmp_path: Path) -> str:
    """A topic with configs of its own that was deleted; the operation that did it."""
    cluster.create_topic("orders", ASSIGNMENT)
    cluster.client.set("/config/topics/orders", CONFIG)
    wanted = document(tmp_path / "d.yaml", deletion("orders", allow=UNASKED))
    done = command("apply", wanted, "--yes", "-z", cluster.connect)
    assert done.status == 0, done.err
    assert cluster.get("/brokers/topics/orders") is None
    return str(cluster.operations()[-1]["id"])


def recreate(cluster: SimpleController, *arguments: str | Path) -> Answer:
    return command("recreate", *arguments, "-z", cluster.connect, "--timeout", "40")


def recreation(cluster: SimpleController) -> dict[str, Any]:
    """The recreation on record, with the topics of its steps; operations of one second have no
    order by name.
    """
    (found,) = [each for each in cluster.operations() if each["kind"] == "recreation"]
    parent = f"/kadmin/operations/{found['id']}/steps"
    steps = [
        json.loads(cluster.get(f"{parent}/{name}") or b"{}") for name in cluster.children(parent)
    ]
    return {**found, "made": [step["topics"] for step in steps]}


def is_back(cluster: SimpleController) -> bool:
    config = json.loads(cluster.get("/config/topics/orders") or b"{}")
    return cluster.replicas("orders") == ASSIGNMENT and config == json.loads(CONFIG)


def test_a_deleted_topic_is_made_again_with_assignment_and_configs(
    cluster: SimpleController, deleted: str
) -> None:
    done = recreate(cluster, deleted, "--yes")
    assert done.status == 0, done.err
    assert "1 topic created again" in done.out
    assert is_back(cluster)
    assert (recreation(cluster)["state"], recreation(cluster)["made"]) == (
        "completed",
        [["orders"]],
    )


def test_the_config_stands_before_the_topic_does(cluster: SimpleController, deleted: str) -> None:
    """Brokers read a topic's configs when they make its first log."""
    assert recreate(cluster, deleted, "--yes").status == 0
    zxids = [
        cluster.client.exists(path).czxid
        for path in ("/config/topics/orders", "/brokers/topics/orders")
    ]
    assert zxids[0] == zxids[1], "one transaction, the config first in it"


def test_a_recipe_is_written_and_used_from_its_file(
    cluster: SimpleController, deleted: str, tmp_path: Path
) -> None:
    recipe, before = tmp_path / "recipe.yaml", cluster.fingerprint()
    assert recreate(cluster, deleted, "--out", recipe).status == 0
    assert cluster.fingerprint() == before
    value = yaml.safe_load(recipe.read_text())
    assert value["metadata"]["cluster_id"] == CLUSTER_ID
    assert value["spec"]["topics"][0]["partitions"] == list(ASSIGNMENT.values())
    assert command("validate", recipe).status == 0
    assert command("verify", recipe, "-z", cluster.connect).status == 3, (
        "a recipe is not a plan to apply or verify"
    )
    assert recreate(cluster, recipe, "--yes").status == 0
    assert is_back(cluster)


def test_a_dry_run_changes_nothing(cluster: SimpleController, deleted: str) -> None:
    before = cluster.fingerprint()
    done = recreate(cluster, deleted, "--dry-run")
    assert done.status == 0, done.err
    assert cluster.fingerprint() == before


def test_a_topic_that_is_there_is_left_alone(cluster: SimpleController, deleted: str) -> None:
    cluster.create_topic("orders", {0: [4]})
    before = cluster.fingerprint()
    refused = recreate(cluster, deleted, "--yes")
    assert refused.status == 5, refused.err
    assert "orders exists" in refused.err
    assert cluster.fingerprint() == before


def test_a_dead_broker_refuses(cluster: SimpleController, deleted: str) -> None:
    cluster.client.delete("/brokers/ids/3")
    refused = recreate(cluster, deleted, "--yes")
    assert (refused.status, "not alive: 3" in refused.err) == (4, True), refused.err


def test_a_deletion_in_the_queue_refuses(cluster: SimpleController, deleted: str) -> None:
    cluster.behave(Manner.HOLD)
    cluster.client.create("/admin/delete_topics/orders")
    refused = recreate(cluster, deleted, "--yes")
    assert (refused.status, "still being deleted" in refused.err) == (5, True), refused.err


def test_a_name_that_collides_refuses(cluster: SimpleController, tmp_path: Path) -> None:
    cluster.create_topic("old.events", {0: [1]})
    recipe = {
        "kind": "TopicRecipe",
        "spec": {"topics": [{"topic": "old_events", "partitions": [[1]]}]},
    }
    refused = recreate(cluster, document(tmp_path / "r.yaml", recipe), "--yes")
    assert (refused.status, "one name" in refused.err) == (3, True), refused.err


def test_an_operation_that_is_not_on_record_is_told(cluster: SimpleController) -> None:
    refused = recreate(cluster, "no-such-operation", "--yes")
    assert (refused.status, "no operation" in refused.err) == (3, True), refused.err


def test_a_recreation_is_no_deletion(cluster: SimpleController, deleted: str) -> None:
    assert recreate(cluster, deleted, "--yes").status == 0
    refused = recreate(cluster, str(recreation(cluster)["id"]), "--yes")
    assert (refused.status, "is no deletion" in refused.err) == (3, True), refused.err


def test_a_lost_reply_makes_the_topic_once(
    cluster: SimpleController, proxy: FaultProxy, deleted: str, chroot: str
) -> None:
    publishes = b"/brokers/topics/orders"
    proxy.faults = [
        Fault(Action.CUT_AFTER, lambda frame: frame.op == MULTI and publishes in frame.body)
    ]
    way = f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
    done = command("recreate", deleted, "--yes", "-z", way, "--timeout", "40")
    assert done.status == 0, done.err
    assert is_back(cluster)
    assert recreation(cluster)["made"] == [["orders"]]


def test_a_controller_that_gives_no_leaders_is_told_and_resumed(
    cluster: SimpleController, deleted: str
) -> None:
    cluster.behave(Manner.HOLD)
    slow = command("recreate", deleted, "--yes", "-z", cluster.connect, "--timeout", "2")
    assert slow.status == 8, slow.err
    assert "orders" in slow.err
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "40").status == 0
    assert is_back(cluster)


def test_what_somebody_else_made_meanwhile_is_left_alone(
    cluster: SimpleController, proxy: FaultProxy, deleted: str, chroot: str
) -> None:
    publish = Fault(
        Action.CALL,
        lambda frame: frame.op == MULTI and b"/brokers/topics/orders" in frame.body,
        then=lambda: cluster.create_topic("orders", {0: [4]}),
    )
    proxy.faults = [publish]
    way = f"{proxy.connect_string}{parse_connect_string(chroot).chroot}"
    refused = command("recreate", deleted, "--yes", "-z", way, "--timeout", "40")
    assert refused.status == 5, refused.err
    assert cluster.replicas("orders") == {0: [4]}
    assert (recreation(cluster)["state"], recreation(cluster)["made"]) == ("failed", [])
