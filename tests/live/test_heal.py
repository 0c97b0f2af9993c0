"""F35, F36, F40: each trouble is healed as live brokers proved, and a plain reassignment runs
afterwards.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.eras.claims import claim
from support.live.cluster import Cluster
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, Side
from support.zookeeper.fault_proxy import MULTI, FaultProxy

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import Channel, HealStep
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.zookeeper.publish import probe_payload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.network.frame_proxy import Frame


pytestmark = [pytest.mark.live, pytest.mark.executor]

ELECTION = "/admin/preferred_replica_election"


@pytest.fixture(scope="module")
def cluster(live: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of this module's own, which its tests break."""
    spec = SandboxSpec(
        tmp_path_factory.mktemp("sick") / "sandbox", live.spec.version, brokers=3, chroot="/kafka"
    )
    sandbox = Sandbox.up(spec)
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, live.spec.version, sandbox)
    yield found
    found.close()
    sandbox.down()


def can_be_deaf(cluster: Cluster) -> bool:
    return claim("node_deleted_by_hand").seen[cluster.version_text] == "not seen"


def repairs(cluster: Cluster) -> Sequence[HealStep]:
    """The steps of the latest heal."""
    heals = [listing for listing in cluster.history() if listing.kind is OperationKind.HEAL]
    assert heals[-1].status.state is OperationState.COMPLETED
    return [step for step in cluster.steps(heals[-1].operation_id) if isinstance(step, HealStep)]


def heal(cluster: Cluster) -> Answer:
    cluster.controllers.wait()
    return cluster.kadmin("heal", "--yes", "--timeout", "180")


def reassigns(cluster: Cluster, folder: Path) -> None:
    """A plain reassignment runs, and nothing is left to heal."""
    topic = cluster.create_topic({0: [1, 2]})
    applied = cluster.kadmin(
        "apply", document(folder / f"{topic}.json", reassignment(topic, {0: [2, 3]})), "--yes"
    )
    assert applied.status == 0, applied.err
    nothing = cluster.kadmin("heal")
    assert (nothing.status, nothing.out.strip()) == (0, "nothing to heal"), nothing.err


def heal_a_loop(cluster: Cluster) -> None:
    """Heal; 0.10.2 needs its brokers restarted besides, and heal says so."""
    healed = cluster.kadmin("heal", "--yes", "--timeout", "180")
    assert b'"repair"' in (
        cluster.get(f"/kadmin/operations/{cluster.history()[-1].operation_id}/steps/000001") or b""
    )
    if claim("loop_without_its_cause").seen[cluster.version_text] == "ends":
        assert healed.status == 0, healed.err
    else:
        assert healed.status == 8, healed.err
        assert "restart the brokers" in healed.err
        cluster.restart_brokers()
    cluster.controllers.wait()


def test_nothing_to_heal_changes_nothing(cluster: Cluster) -> None:
    cluster.create_topic({0: [1, 2]})
    before = fingerprint(cluster)
    answer = cluster.kadmin("heal", "-o", "json")
    assert answer.status == 0, answer.err
    assert json.loads(answer.out) == {"operation_id": None, "message": "nothing to heal"}
    assert fingerprint(cluster) == before


def fingerprint(cluster: Cluster) -> dict[str, tuple[int, int]]:
    """Everything but what brokers write by themselves when they have just started."""
    return {path: seen for path, seen in cluster.fingerprint().items() if "producer_id" not in path}


def test_a_deaf_controller_is_moved_and_the_plan_runs(cluster: Cluster, tmp_path: Path) -> None:
    """F35: beside an operation that is unfinished, and asked first."""
    topic = cluster.create_topic({0: [1, 2], 1: [1, 2]})
    targets = {0: [2, 3], 1: [2, 3]}
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, targets, waves={"max_partitions": 1})
    )
    if not can_be_deaf(cluster):
        cluster.controllers.create_and_delete_by_hand(0.5)
        assert cluster.kadmin("heal").out.strip() == "nothing to heal"
        return
    assert cluster.kadmin("apply", plan, "--yes", "--timeout", "0").status == 8
    wait_until(lambda: cluster.get(REASSIGN) is None)
    cluster.controllers.deafen()
    deaf = cluster.kadmin("resume", "--yes")
    assert deaf.status == 8
    assert "does not watch" in deaf.err
    before, unasked = fingerprint(cluster), cluster.kadmin("heal")
    assert unasked.status == 64, "nobody to ask"
    assert "move the controller" in unasked.err
    assert fingerprint(cluster) == before
    started = cluster.controllers.epoch()
    healed = heal(cluster)
    assert healed.status == 0, healed.err
    assert cluster.controllers.epoch() == started + 1
    assert [step.replaced for step in repairs(cluster)] == [None]
    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_a_good_node_that_a_deaf_controller_missed_stays_and_runs(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    entry = {"topic": topic, "partition": 0, "replicas": [2, 3]}
    if can_be_deaf(cluster):
        cluster.controllers.deafen()
        cluster.raw.create(
            f"/kafka{REASSIGN}", json.dumps({"version": 1, "partitions": [entry]}).encode()
        )
        healed = heal(cluster)
        assert healed.status == 0, healed.err
        assert f"the next one starts {topic}-0" in healed.err
        assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 3)
    reassigns(cluster, tmp_path)


def test_a_leftover_probe_is_cleared_by_the_next_controller(
    cluster: Cluster, tmp_path: Path
) -> None:
    """F40: never deleted by hand, which would deafen a controller that listens."""
    if can_be_deaf(cluster):
        cluster.controllers.deafen()
        cluster.raw.create(f"/kafka{REASSIGN}", probe_payload(Channel.REASSIGNMENT, 1))
        healed = heal(cluster)
        assert healed.status == 0, healed.err
        assert cluster.get(REASSIGN) is None
        assert [step.replaced for step in repairs(cluster)] == [None]
    reassigns(cluster, tmp_path)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (REASSIGN, b'{"version":1}'),
        pytest.param(REASSIGN, b"not json", marks=pytest.mark.executor),
        pytest.param(REASSIGN, b"null", marks=pytest.mark.executor),
        pytest.param(ELECTION, b"null", marks=pytest.mark.executor),
        pytest.param(ELECTION, b'{"version":1}', marks=pytest.mark.executor),
    ],
)
def test_a_node_that_no_controller_should_read_goes_with_the_controller(
    cluster: Cluster, tmp_path: Path, path: str, data: bytes
) -> None:
    """Deleted and the controller moved in one write: the next one never sees it. The bytes are
    saved in that write.
    """
    cluster.raw.create(f"/kafka{path}", data)
    threading.Event().wait(1)
    if cluster.get(path) is not None:  # 2.0 to 2.3 delete what is not JSON themselves
        before, healed = cluster.controllers.epoch(), heal(cluster)
        assert healed.status == 0, healed.err
        assert cluster.controllers.epoch() == before + 1
        (step,) = repairs(cluster)
        assert step.replaced is not None
        assert (step.replaced.path, step.replaced.data) == (path, data)
    reassigns(cluster, tmp_path)


@pytest.mark.parametrize("path", [REASSIGN, ELECTION])
def test_an_election_loop_ends(cluster: Cluster, tmp_path: Path, path: str) -> None:
    """No check on the controller, which flaps; where the survivor is deaf (1.1), it is moved once
    more.
    """
    cluster.raw.create(f"/kafka{path}", None)
    assert cluster.controllers.loops()
    heal_a_loop(cluster)
    assert cluster.get(path) is None
    reassigns(cluster, tmp_path)


@pytest.mark.parametrize("looping", [True, pytest.param(False, marks=pytest.mark.executor)])
def test_string_ids_become_the_original_again(
    cluster: Cluster, tmp_path: Path, *, looping: bool
) -> None:
    """From 2.0 on they reach the topic znode, and deleting the admin node cannot heal; 0.10.2 drops
    the entry.
    """
    topic = cluster.create_topic({0: [3, 1], 1: [2, 3]})
    written = cluster.produce(topic, per_partition=20)
    entry = {"topic": topic, "partition": 0, "replicas": ["1", "2"]}
    cluster.raw.create(
        f"/kafka{REASSIGN}", json.dumps({"version": 1, "partitions": [entry]}).encode()
    )
    threading.Event().wait(1)
    if looping and cluster.version >= (1, 1):
        assert cluster.controllers.loops()
        heal_a_loop(cluster)
    else:
        healed = heal(cluster)
        assert healed.status == 0, healed.err
    found = cluster.state(topic)
    assert found.topics[topic].replicas == {0: (3, 1), 1: (2, 3)}
    assert not found.topics[topic].adding_replicas
    cluster.controllers.wait()
    reassigns(cluster, tmp_path)
    assert cluster.read_back(topic) == written


def test_without_any_controller_brokers_are_made_to_elect_one(
    cluster: Cluster, tmp_path: Path
) -> None:
    if claim("controller_deleted_at_once").seen[cluster.version_text] == "elected every time":
        assert not cluster.controllers.loses_its_controller(seconds=10)
    else:
        assert cluster.controllers.loses_its_controller()
        healed = cluster.kadmin("heal", "--yes", "--timeout", "180")
        assert healed.status == 0, healed.err
        assert "create /controller" in healed.err
        assert json.loads(cluster.get("/controller") or b"{}")["brokerid"] > 0
    cluster.controllers.wait()
    reassigns(cluster, tmp_path)


def test_a_zombie_goes_with_the_controller(cluster: Cluster, tmp_path: Path) -> None:
    """What is left behind of a topic deleted in mid-move: it names nothing that is there, and
    blocks everybody.
    """
    if can_be_deaf(cluster):
        cluster.controllers.deafen()
        entry = {"topic": "gone", "partition": 0, "replicas": [1, 2]}
        cluster.raw.create(
            f"/kafka{REASSIGN}", json.dumps({"version": 1, "partitions": [entry]}).encode()
        )
        healed = heal(cluster)
        assert healed.status == 0, healed.err
        assert repairs(cluster)[0].replaced is not None
    reassigns(cluster, tmp_path)


def test_what_others_are_at_work_on_is_left_alone(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0) as foreign:
        before = cluster.fingerprint()
        refused = cluster.kadmin("heal", "--yes")
        assert refused.status == 8, refused.err
        assert "next:" in refused.err
        assert cluster.get(REASSIGN) == foreign
        assert cluster.fingerprint() == before


@pytest.mark.on("2.8.2")
def test_a_lost_reply_is_looked_for_and_nothing_is_done_twice(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.raw.create(f"/kafka{REASSIGN}", b"null")
    threading.Event().wait(1)

    def repairs_now(frame: Frame) -> bool:
        return frame.side is Side.REQUEST and frame.op == MULTI and b'"repair"' in frame.body

    before, (host, port) = cluster.controllers.epoch(), cluster.connect.split("/")[0].split(":")
    with FaultProxy((host, int(port))) as proxy:
        proxy.faults.append(Fault(Action.CUT_AFTER, repairs_now, then=proxy.refuse))
        unknown = cluster.kadmin("heal", "--yes", connect=f"{proxy.connect_string}/kafka")
    assert unknown.status == 7, unknown.err
    again = cluster.kadmin("heal", "--yes", "--lock-timeout", "30")
    assert again.status == 0, again.err
    assert cluster.controllers.epoch() == before + 1
    assert len(repairs(cluster)) == 1, "the unfinished heal was taken over"
    reassigns(cluster, tmp_path)


def test_an_empty_list_keeps_its_data_or_is_told_to_be_lost(cluster: Cluster) -> None:
    """The last test of this module: up to 2.6 the topic is lost."""
    topic = cluster.create_topic({0: [2, 1]})
    written = cluster.produce(topic, per_partition=20)
    entry = {"topic": topic, "partition": 0, "replicas": []}
    cluster.raw.create(
        f"/kafka{REASSIGN}", json.dumps({"version": 1, "partitions": [entry]}).encode()
    )
    wait_until(lambda: cluster.get(REASSIGN) is None)
    healed = heal(cluster)
    if cluster.version < (2, 7):
        assert healed.status == 8, healed.err
        assert "data" in healed.err
        return
    assert healed.status == 0, healed.err
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 1)
    assert cluster.read_back(topic) == written
