"""What is caught before the write: the exit code, and that nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.documents.plans import document, reassignment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.eras]

REFUSED: dict[str, tuple[int, str, Callable[[str], dict[str, Any]]]] = {
    "F16 unknown topic": (4, "no-such-topic", lambda _: reassignment("no-such-topic", {0: [1, 2]})),
    "F16 unknown partition": (4, "-7", lambda topic: reassignment(topic, {7: [1, 2]})),
    "F17 unknown broker": (4, "99", lambda topic: reassignment(topic, {0: [1, 99]})),
    "empty replicas": (3, "replicas", lambda topic: reassignment(topic, {0: []})),
    "duplicate replicas": (3, "replicas", lambda topic: reassignment(topic, {0: [1, 1]})),
    "a string id": (3, "whole number", lambda topic: reassignment(topic, {0: ["1", "2"]})),
    "a float id": (3, "whole number", lambda topic: reassignment(topic, {0: [1.0, 2]})),
    "a boolean id": (3, "whole number", lambda topic: reassignment(topic, {0: [True, 2]})),
    "a string partition": (3, "whole number", lambda topic: reassignment(topic, {"0": [1, 2]})),
    "another factor": (3, "replication", lambda topic: reassignment(topic, {0: [1, 2, 3]})),
    "fewer racks": (3, "rack", lambda topic: reassignment(topic, {0: [1, 4]})),
    "F16 stale current": (
        4,
        "current",
        lambda topic: reassignment(topic, {0: [2, 3]}, current={0: [3, 4]}),
    ),
    "F18 another cluster": (
        4,
        "cluster",
        lambda topic: reassignment(topic, {0: [2, 3]}, cluster_id="A" * 22),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_and_nothing_changed(cluster: Cluster, tmp_path: Path, case: str) -> None:
    status, word, build = REFUSED[case]
    topic = cluster.shared_topic()
    plan = document(tmp_path / "plan.yaml", build(topic))
    before = cluster.fingerprint()
    refused = cluster.kadmin("apply", plan, "--yes")
    assert refused.status == status, refused.err
    assert word in refused.err
    assert "Traceback" not in refused.err
    assert cluster.fingerprint() == before


def test_f14_a_foreign_admin_node_is_left_byte_identical(cluster: Cluster, tmp_path: Path) -> None:
    """Its entry waits for a broker that does not exist, so the controller keeps it."""
    topic = cluster.create_topic({0: [1, 2], 1: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    with cluster.stuck_reassignment(topic, 1) as payload:
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == 5, refused.err
        assert cluster.get("/admin/reassign_partitions") == payload
    assert cluster.kadmin("apply", plan, "--yes").status == 0


def test_f15_a_reassignment_through_the_api_is_respected(cluster: Cluster, tmp_path: Path) -> None:
    """From 2.4 on there are reassignments without an admin node: only the topic znode tells."""
    topic = cluster.create_topic({0: [1, 2], 1: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    if not cluster.has_reassignment_api:
        assert cluster.kadmin("apply", plan, "--yes").status == 0
        return
    with cluster.api_reassignment(topic, 1):
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == 5, refused.err
        assert f"{topic}-1" in refused.err
    assert cluster.kadmin("apply", plan, "--yes").status == 0


def test_f19_a_mistyped_chroot_is_refused_and_not_created(cluster: Cluster, tmp_path: Path) -> None:
    plan = document(tmp_path / "plan.yaml", reassignment("t", {0: [1]}))
    servers = cluster.connect.split("/")[0]
    for chroot in ("/kafak", ""):
        refused = cluster.kadmin("apply", plan, "--yes", connect=servers + chroot)
        assert refused.status == 6, refused.err
    assert cluster.root_children() == ("kafka", "zookeeper")


@pytest.mark.parametrize(
    ("verb", "instead"),
    [
        ("cordon", "propose decommission --broker 4"),
        ("uncordon", "propose decommission --broker 4"),
        ("unregister", "ends with its session"),
    ],
)
def test_cordons_and_registrations_are_of_kraft_mode(
    cluster: Cluster, verb: str, instead: str
) -> None:
    before = cluster.fingerprint()
    refused = cluster.kadmin("broker", verb, "4", "--yes")
    assert refused.status == 64
    assert instead in refused.err
    assert cluster.fingerprint() == before
