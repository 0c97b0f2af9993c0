"""What changes on the cluster between the plan, the look and the write, and what its controller
makes of a plan.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import CLUSTER_ID, Manner
from support.documents.plans import UNASKED, deletion, document, election, reassignment
from support.network.frame_proxy import Action, Fault
from support.zookeeper.fault_proxy import MULTI, PUBLISH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.controller.simple_controller import SimpleController
    from support.zookeeper.fault_proxy import FaultProxy

pytestmark = pytest.mark.zookeeper

NODE = "/admin/reassign_partitions"
FOREIGN = b'{"version":1,"partitions":[{"topic":"theirs","partition":0,"replicas":[4]}]}'


@pytest.fixture
def plan(cluster: SimpleController, tmp_path: Path) -> Path:
    cluster.create_topic("orders", {0: [1, 2], 1: [2, 3]})
    value = reassignment(
        "orders", {0: [2, 3], 1: [3, 1]}, current={0: [1, 2], 1: [2, 3]}, cluster_id=CLUSTER_ID
    )
    return document(tmp_path / "plan.yaml", value)


def test_f14_a_node_that_another_creates_in_the_same_moment_is_left_byte_identical(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)
    proxy.faults = [Fault(Action.CALL, PUBLISH, then=lambda: cluster.client.create(NODE, FOREIGN))]
    refused = command("apply", plan, "--yes", "-z", broken, "--timeout", "30")
    assert refused.status == 5, refused.err
    assert cluster.get(NODE) == FOREIGN
    assert cluster.client.exists(NODE).version == 0
    assert cluster.steps("wave") == []
    cluster.client.delete(NODE)
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "30").status == 0


def recreated(cluster: SimpleController) -> None:
    cluster.delete_topic("orders")
    cluster.create_topic("orders", {0: [3, 4], 1: [2, 3]})


def recreated_smaller(cluster: SimpleController) -> None:
    cluster.delete_topic("orders")
    cluster.create_topic("orders", {0: [1, 2]})


CHANGES: dict[str, tuple[Callable[[SimpleController], object], str]] = {
    "F16-deleted": (lambda cluster: cluster.delete_topic("orders"), "orders"),
    "F16-recreated": (recreated, "orders-0"),
    "F16-recreated-smaller": (recreated_smaller, "orders-1"),
    "F17-target-died": (lambda cluster: cluster.client.delete("/brokers/ids/3"), "3"),
    "F18-other-cluster": (
        lambda cluster: cluster.client.set(
            "/cluster/id", json.dumps({"version": "1", "id": "B" * 22}).encode()
        ),
        "B" * 22,
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_plan_that_the_cluster_has_left_behind_is_refused_before_the_lock(
    cluster: SimpleController, plan: Path, change: str
) -> None:
    happen, named = CHANGES[change]
    happen(cluster)
    before = cluster.fingerprint()
    refused = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert refused.status == 4, refused.err
    assert named in refused.err.split("error:")[1]
    assert cluster.fingerprint() == before


@pytest.mark.parametrize("change", ["F16-deleted", "F17-target-died"])
def test_what_changes_right_before_the_write_is_caught_by_its_checks(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path, change: str
) -> None:
    happen, named = CHANGES[change]
    proxy.faults = [Fault(Action.CALL, PUBLISH, then=lambda: happen(cluster))]
    refused = command("apply", plan, "--yes", "-z", broken, "--timeout", "30")
    assert refused.status == 4, refused.err
    assert named in refused.err.split("error:")[1]
    assert cluster.steps("wave") == []
    assert cluster.get(NODE) is None


def test_f16_partitions_added_elsewhere_in_the_topic_do_not_make_a_plan_stale(
    cluster: SimpleController, proxy: FaultProxy, broken: str, plan: Path
) -> None:
    """Every partition of the plan is still at its `current`, which is all that a plan stands on."""
    proxy.faults = [
        Fault(Action.CALL, PUBLISH, then=lambda: cluster.add_partition("orders", [1, 3]))
    ]
    applied = command("apply", plan, "--yes", "-z", broken, "--timeout", "30")
    assert applied.status == 0, applied.err
    assert len([frame for frame in proxy.requests(MULTI) if PUBLISH(frame)]) == 2
    assert cluster.replicas("orders") == {0: [2, 3], 1: [3, 1], 2: [1, 3]}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the controller a second in place of ten."""
    monkeypatch.setattr("kadmin.operations.decide.common.PICKUP_DEADLINE_S", 1.0)


@pytest.mark.usefixtures("impatient")
def test_f24_a_controller_that_ignores_the_plan_is_told_with_the_way_to_resume(
    cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.HOLD)
    ignored = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert ignored.status == 8, ignored.err
    assert "did not pick up" in ignored.err
    assert "kadmin resume" in ignored.err
    assert cluster.get("/kadmin/lock") is None
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "30").status == 0
    assert len(cluster.steps("wave")) == 1


def test_f24_a_reassignment_that_never_ends_is_listed_at_the_deadline(
    cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.BEGIN)
    started = time.monotonic()
    late = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "3")
    assert time.monotonic() - started < 30.0
    assert late.status == 8, late.err
    assert "2 targets open: orders-0, orders-1" in late.err
    operation = cluster.operations()[-1]["id"]
    assert f"kadmin resume {operation}" in late.err
    assert cluster.get("/kadmin/lock") is None
    cluster.behave(Manner.OBEY)
    assert command("resume", "--yes", "-z", cluster.connect, "--timeout", "30").status == 0


def test_f25_a_plan_that_the_controller_rejects_is_not_written_again(
    cluster: SimpleController, plan: Path
) -> None:
    cluster.behave(Manner.REJECT)
    rejected = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert rejected.status == 8, rejected.err
    assert "rejected by the controller" in rejected.err
    assert len(cluster.steps("wave")) == 1, "no endless re-create"
    assert cluster.operations()[-1]["state"] == "failed"
    assert cluster.replicas("orders") == {0: [1, 2], 1: [2, 3]}


def test_f33_a_deletion_that_a_reassignment_names_is_refused(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    del plan
    cluster.behave(Manner.HOLD)
    cluster.client.create(NODE, FOREIGN.replace(b"theirs", b"orders"))
    before = cluster.fingerprint()
    refused = command(
        "apply",
        document(tmp_path / "deletion.yaml", deletion("orders")),
        "--yes",
        "-z",
        cluster.connect,
        "--timeout",
        "30",
    )
    assert refused.status == 5, refused.err
    assert "orders" in refused.err
    assert cluster.fingerprint() == before


def test_a_deletion_whose_guards_no_broker_answers_is_refused_and_nothing_is_written(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    del plan
    before = cluster.fingerprint()
    wanted = document(
        tmp_path / "deletion.yaml", deletion("orders", allow={"active_consumers": True})
    )
    refused = command("apply", wanted, "--yes", "-z", cluster.connect)
    assert refused.status == 6, refused.err
    assert "KA073" in refused.err
    assert (
        "groups that keep their offsets in Kafka were not seen; delete.topic.enable of the brokers"
        in refused.err
    )
    assert "set spec.allow.unchecked_guards: true if this is meant" in refused.err
    assert cluster.fingerprint() == before
    wanted = document(tmp_path / "waived.yaml", deletion("orders", allow=UNASKED))
    done = command("apply", wanted, "--yes", "-z", cluster.connect)
    assert done.status == 0, done.err
    assert "warning: groups that keep their offsets in Kafka were not seen" in done.err


@pytest.mark.usefixtures("impatient")
def test_f33_a_deletion_where_deletion_is_disabled_is_reported(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    """The controller takes the child away and keeps the topic."""
    del plan
    cluster.behave(Manner.REJECT)
    deleted = command(
        "apply",
        document(tmp_path / "deletion.yaml", deletion("orders", allow=UNASKED)),
        "--yes",
        "-z",
        cluster.connect,
        "--timeout",
        "30",
    )
    assert deleted.status == 8, deleted.err
    assert "delete.topic.enable" in deleted.err
    assert cluster.replicas("orders") == {0: [1, 2], 1: [2, 3]}


def test_f34_an_election_tells_per_partition_what_could_not_be_elected(
    cluster: SimpleController, tmp_path: Path
) -> None:
    cluster.create_topic("orders", {0: [1, 2], 1: [2, 3]})
    cluster.lead("orders", {0: 2, 1: 3})
    cluster.client.delete("/brokers/ids/1")
    plan = document(tmp_path / "election.yaml", election(topics=["orders"]))
    applied = command("apply", plan, "--yes", "-z", cluster.connect, "--timeout", "30")
    assert applied.status == 8, applied.err
    assert "1 of 2 partitions" in applied.err
    assert "orders-0: " in applied.err
    assert "orders-1: " not in applied.err
    assert cluster.leaders("orders") == {0: 2, 1: 2}
