"""F36 on real brokers: each trouble is made as it happens, named by `doctor` and `inspect admin`,
and taken away again.

Every test leaves a healthy cluster, but for the last: what an empty list leaves behind cannot be
made good everywhere.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from support.documents.plans import document, reassignment
from support.eras.claims import claim
from support.live.cluster import UNREGISTERED, Cluster
from support.live.controllers import REASSIGN
from support.live.doctor import examine
from support.live.waiting import wait_until

from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.executor]

NODE = f"/kafka{REASSIGN}"
CONTROLLER = "/kafka/controller"
EPOCH = "/kafka/controller_epoch"
STRICT = (2, 0)


@pytest.fixture(scope="module")
def ill(live: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of the same version for what nobody else should have to live with."""
    folder = tmp_path_factory.mktemp("ill") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, live.spec.version, brokers=3, chroot="/kafka"))
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, live.spec.version, sandbox)
    yield found
    found.close()
    sandbox.down()


@pytest.fixture(autouse=True)
def mended(ill: Cluster) -> Iterator[None]:
    """What a test that failed left behind spoils no other."""
    yield
    if ill.get(REASSIGN) is not None:
        ill.raw.delete(NODE)
        recover(ill)


def inspect(cluster: Cluster) -> dict[str, Any]:
    """Run `inspect admin`."""
    answer = cluster.kadmin("inspect", "admin", "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/inspect-admin") == []
    return value


def entry(topic: str, replicas: list[Any], **more: object) -> bytes:
    listed = [{"topic": topic, "partition": 0, "replicas": replicas, **more}]
    return json.dumps({"version": 1, "partitions": listed}).encode()


def stands_still(cluster: Cluster) -> bool:
    """Whether no controller was elected for a second, and there is one."""
    before, give_up = cluster.controllers.epoch(), time.monotonic() + 1
    while time.monotonic() < give_up:
        if cluster.controllers.epoch() != before:
            return False
    return cluster.get("/controller") is not None


def move(cluster: Cluster, *, without_node: bool = False) -> None:
    """Move the controller once, taking the node away in the same transaction where asked."""
    cluster.controllers.wait()
    transaction = cluster.raw.transaction()
    if without_node:
        transaction.delete(NODE)
    transaction.delete(CONTROLLER)
    assert not any(isinstance(result, Exception) for result in transaction.commit())
    wait_until(lambda: cluster.get("/controller") is not None)


def recover(cluster: Cluster) -> None:
    """Wait for one steady controller that hears; one that does not (1.1 after a loop) is moved once
    more.
    """
    wait_until(lambda: stands_still(cluster), 60)
    cluster.controllers.wait()
    if not cluster.controllers.hears_a_probe():
        cluster.controllers.move()
        wait_until(cluster.controllers.hears_a_probe, 60)


@contextmanager
def loop(cluster: Cluster) -> Iterator[None]:
    """Start an election loop by a failover onto what is there already; whoever uses it takes the
    cause away.
    """
    assert cluster.controllers.loops()
    yield
    if claim("loop_without_its_cause").seen[cluster.version_text] != "ends":
        found = examine(cluster)["election-loop"]
        assert found["remedy"] == "restart the brokers, one after the other"
        cluster.restart_brokers()
    recover(cluster)


def test_a_healthy_cluster_is_found_healthy_and_nothing_is_written(ill: Cluster) -> None:
    topic = ill.create_topic({0: [1, 2]})
    ill.controllers.wait()
    before = ill.fingerprint()
    human = ill.kadmin("doctor")
    assert human.status == 0, human.out
    assert human.out.startswith("nothing found: nothing would stop an apply\n")
    assert inspect(ill)["reassignment"] is None
    assert inspect(ill)["listening"] == {"reassignment": "listening", "election": "listening"}
    changed = {path for path, seen in ill.fingerprint().items() if before.get(path) != seen}
    assert changed <= {"/kafka/latest_producer_id_block"}, topic  # a broker's own, when it pleases


def test_f36_poison_and_the_election_loop_that_it_starts(ill: Cluster) -> None:
    ill.raw.create(NODE, None)
    found = examine(ill)
    assert set(found) == {"poison-node"}
    assert found["poison-node"]["version"] == 0
    assert "kadmin heal" in found["poison-node"]["remedy"]
    seen = inspect(ill)["reassignment"]
    assert (seen["effect"], [each["flaw"] for each in seen["flaws"]]) == ("poison", ["null-data"])
    with loop(ill):
        looping = examine(ill)
        assert {"election-loop", "poison-node"} <= set(looping)
        assert f"likely cause: poison-node at {REASSIGN}" in looping["election-loop"]["evidence"]
        assert inspect(ill)["reassignment"]["effect"] == "poison"
        ill.raw.delete(NODE)
    assert examine(ill) == {}


def test_f36_an_ignored_node(ill: Cluster) -> None:
    if claim("not_json").seen[ill.version_text] == "node deleted":
        pytest.skip("2.0 to 2.3 delete such a node at once")
    ill.raw.create(NODE, b"{nonsense \x1b[31m\xc2\x9b")
    human = ill.kadmin("doctor")
    assert human.status == 8
    assert human.out.startswith("1 finding: 1 would stop an apply\n")
    assert "\n\n1. ignored-node" in human.out
    assert inspect(ill)["reassignment"]["effect"] == "ignored"
    for shown in (human.out, ill.kadmin("inspect", "admin").out):
        assert "\x1b" not in shown
        assert "\x9b" not in shown
        assert max(len(line) for line in shown.splitlines() if "next:" not in line) <= 80
    move(ill, without_node=True)
    recover(ill)


def test_f35_f36_a_deaf_controller_and_the_zombie_that_it_leaves(ill: Cluster) -> None:
    if claim("node_deleted_by_hand").seen[ill.version_text] == "seen":
        pytest.skip("before 1.1 controllers watch for good")
    with ill.controllers.deaf():
        found = examine(ill)
        assert set(found) == {"deaf-controller"}
        assert found["deaf-controller"]["path"] == REASSIGN
        ill.raw.create(NODE, entry("gone", [1, 2]))
        zombie = examine(ill)
        assert set(zombie) == {"zombie-node"}
        assert "the controller does not watch it" in zombie["zombie-node"]["evidence"]
        assert [each["flaw"] for each in inspect(ill)["reassignment"]["entries"][0]["flaws"]] == [
            "unknown-topic"
        ]
    assert examine(ill) == {}


def test_f40_a_leftover_probe_and_a_good_node_that_nobody_hears(ill: Cluster) -> None:
    if claim("node_deleted_by_hand").seen[ill.version_text] == "seen":
        pytest.skip("before 1.1 controllers watch for good")
    topic = ill.create_topic({0: [1, 2]})
    with ill.controllers.deaf():
        ill.raw.create(NODE, entry("!probe", [1]))
        assert set(examine(ill)) == {"leftover-probe"}
        ill.raw.delete(NODE)
        ill.raw.create(NODE, entry(topic, [3, 1]))
        found = examine(ill)
        assert set(found) == {"deaf-controller"}
        assert any(topic in each for each in found["deaf-controller"]["evidence"])
        assert inspect(ill)["reassignment"]["entries"][0]["motion"] == "not started"
        assert inspect(ill)["listening"]["reassignment"] == "deaf"
    assert examine(ill) == {}


def test_somebody_elses_reassignment_and_a_dead_target(ill: Cluster, tmp_path: Path) -> None:
    topic = ill.create_topic({0: [1, 2]})
    with ill.stuck_reassignment(topic, 0):
        found = examine(ill)
        assert set(found) == {"foreign-node", "missing-brokers"}
        assert (
            f"{topic}-0: brokers that are not alive: {UNREGISTERED}"
            in found["foreign-node"]["evidence"]
        )
        flaws = inspect(ill)["reassignment"]["entries"][0]["flaws"]
        assert [each["flaw"] for each in flaws] == ["dead-broker"]
        plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3, 1]}))
        assert ill.kadmin("apply", plan, "--yes", "--timeout", "20").status == 5


def test_f36_string_ids_in_a_topic_znode(ill: Cluster, tmp_path: Path) -> None:
    """From 2.0 on controllers write them there themselves; before, only a person does."""
    topic = ill.create_topic({0: [1, 2]})
    path = f"/kafka/brokers/topics/{topic}"
    saved = json.loads(ill.raw.get(path)[0])
    if ill.version >= STRICT:
        ill.raw.create(NODE, entry(topic, ["1", "2"]))
        wait_until(lambda: b'"1"' in ill.raw.get(path)[0])
        wait_until(lambda: ill.get(REASSIGN) is None)
    else:
        ill.raw.set(path, json.dumps({**saved, "partitions": {"0": ["1", "2"]}}).encode())
    found = examine(ill)["string-ids"]
    assert (found["topic"], found["partitions"], found["path"]) == (
        topic,
        [0],
        f"/brokers/topics/{topic}",
    )
    assert found["version"] == ill.raw.exists(path).version
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    refused = ill.kadmin("apply", plan, "--yes", "--timeout", "20")
    assert refused.status == 8, refused.err
    assert "kadmin doctor" in refused.err

    def repair() -> None:
        value = json.loads(ill.raw.get(path)[0])
        moves: dict[str, Any] = {
            key: {} for key in ("adding_replicas", "removing_replicas") if key in value
        }
        ill.raw.set(
            path, json.dumps({**value, **moves, "partitions": saved["partitions"]}).encode()
        )

    if ill.version < STRICT:
        repair()
        return
    with loop(ill):
        assert {"election-loop", "string-ids"} <= set(examine(ill))
        repair()
    assert examine(ill) == {}


def test_f36_no_controller_at_all(ill: Cluster) -> None:
    """Quick deletions of /controller leave a cluster without any; an ephemeral dummy that goes
    again cures it.
    """
    if claim("controller_deleted_at_once").seen[ill.version_text] == "elected every time":
        assert not ill.controllers.loses_its_controller(seconds=10)
        recover(ill)
        return
    assert ill.controllers.loses_its_controller()
    found = examine(ill)
    assert set(found) == {"no-controller"}
    assert "1, 2, 3" in found["no-controller"]["evidence"][1]
    assert inspect(ill)["reassignment"] is None
    ill.raw.create(CONTROLLER, b'{"version":1,"brokerid":-1,"timestamp":"1"}', ephemeral=True)
    dummy_since = time.monotonic()
    wait_until(lambda: time.monotonic() > dummy_since + 1, 5)
    ill.raw.delete(CONTROLLER)
    wait_until(lambda: ill.get("/controller") is not None)
    recover(ill)
    assert examine(ill) == {}


def test_f36_an_empty_list_of_replicas(ill: Cluster) -> None:
    """Up to 2.6 the data is gone; from 2.7 on the next controller fails on what is left."""
    topic = ill.create_topic({0: [1, 2]})
    path = f"/kafka/brokers/topics/{topic}"
    saved = ill.raw.get(path)[0]
    ill.raw.create(NODE, entry(topic, []))
    wait_until(lambda: ill.raw.get(path)[0] != saved and ill.get(REASSIGN) is None)
    found = examine(ill)["empty-replicas"]
    assert (found["topic"], found["partitions"]) == (topic, [0])
    assert found["stops_apply"] is (ill.version >= (2, 7))
