"""What stops a migration to KRaft, or is lost by it, each made on a live cluster and taken away
again.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.security import make_acl
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.live.cluster import Cluster

UNREGISTERED = 99


@dataclass(frozen=True, slots=True)
class Trap:
    """What is wrong, in words, the finding that names it, how it is made, and whether it stops the
    migration.
    """

    what: str
    code: str
    seed: Callable[[Cluster], AbstractContextManager[None]]
    stops: bool = True


@contextmanager
def _pending_reassignment(cluster: Cluster) -> Iterator[None]:
    topic = cluster.shared_topic()
    value = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [2, 3]}]}
    with cluster.controllers.deaf():
        cluster.raw.create(f"/kafka{REASSIGN}", json.dumps(value).encode())
        try:
            yield
        finally:
            cluster.raw.delete(f"/kafka{REASSIGN}")


@contextmanager
def _pending_deletion(cluster: Cluster) -> Iterator[None]:
    topic = cluster.create_topic({0: [1, 3]})
    with cluster.broker_down(3):
        cluster.raw.create(f"/kafka/admin/delete_topics/{topic}")
        yield
    wait_until(lambda: cluster.get(f"/brokers/topics/{topic}") is None)


@contextmanager
def _broker_down(cluster: Cluster) -> Iterator[None]:
    cluster.create_topic({0: [3, 1], 1: [3]})
    with cluster.broker_down(3):
        yield


@contextmanager
def _throttle(cluster: Cluster) -> Iterator[None]:
    topic = cluster.shared_topic()
    with cluster.held_back(topic):
        yield


@contextmanager
def _znode(cluster: Cluster, path: str, data: bytes) -> Iterator[None]:
    cluster.raw.create(path, data, makepath=True)
    try:
        yield
    finally:
        cluster.raw.delete(path, recursive=True)


def _topic(value: Any) -> Callable[[Cluster], AbstractContextManager[None]]:  # noqa: ANN401 - whatever may be written
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return lambda cluster: _znode(cluster, "/kafka/brokers/topics/trap", data)


@contextmanager
def _persistent_controller(cluster: Cluster) -> Iterator[None]:
    change = cluster.raw.transaction()
    change.delete("/kafka/controller")
    change.create(
        "/kafka/controller", b'{"version":2,"brokerid":1,"timestamp":"0","kraftControllerEpoch":-1}'
    )
    assert not any(isinstance(each, Exception) for each in change.commit())
    try:
        yield
    finally:
        cluster.raw.delete("/kafka/controller")
        cluster.controllers.wait()


@contextmanager
def _uneven_acls(cluster: Cluster) -> Iterator[None]:
    with ExitStack() as undone:
        for address in ("10.0.0.1", "10.0.0.2"):
            path = f"/kafka/brokers/topics/{cluster.create_topic({0: [1, 2]})}"
            theirs = [
                make_acl("ip", address, all=True),
                make_acl("world", "anyone", read=True, admin=True),
            ]
            cluster.raw.set_acls(path, theirs)
            undone.callback(cluster.raw.set_acls, path, [make_acl("world", "anyone", all=True)])
        yield


def _old_consumer(cluster: Cluster) -> AbstractContextManager[None]:
    return cluster.committed_offset("billing", cluster.shared_topic())


LEFT = {
    "version": 0,
    "kraft_controller_id": 101,
    "kraft_controller_epoch": 3,
    "kraft_metadata_offset": 77,
}

TRAPS = {
    "reassignment": Trap(
        "a reassignment is pending in its znode", "pending-request", _pending_reassignment
    ),
    "deletion": Trap("a deletion is pending in its znode", "pending-request", _pending_deletion),
    "missing": Trap("a broker that holds replicas is not alive", "missing-brokers", _broker_down),
    "offline": Trap("a partition has no leader", "offline-partitions", _broker_down),
    "behind": Trap("a replica is not in sync", "under-replicated", _broker_down),
    "throttle": Trap("a throttle is left over", "leftover-throttle", _throttle, stops=False),
    "no state": Trap(
        "a partition was never taken up by the controller",
        "no-state",
        _topic({"version": 1, "partitions": {"0": [UNREGISTERED]}}),
    ),
    "string ids": Trap(
        "a topic znode has broker ids as text",
        "string-ids",
        _topic({"version": 1, "partitions": {"0": ["1"]}}),
    ),
    "broken znode": Trap(
        "a topic znode has no list of replicas",
        "unreadable-znode",
        _topic({"version": 1, "partitions": {"0": "1"}}),
    ),
    "no JSON": Trap(
        "a topic znode is no JSON: brokers do not know the topic", "sides-differ", _topic(b"broken")
    ),
    "attempt": Trap(
        "`/migration` is left of an attempt before",
        "leftover-migration",
        lambda cluster: _znode(cluster, "/kafka/migration", json.dumps(LEFT).encode()),
    ),
    "controller": Trap(
        "`/controller` is persistent", "persistent-controller", _persistent_controller
    ),
    "ACLs": Trap("no single user may write all znodes", "uneven-acls", _uneven_acls),
    "old consumer": Trap(
        "a consumer group keeps its offsets in ZooKeeper",
        "old-consumers",
        _old_consumer,
        stops=False,
    ),
}

_WALK = "test_a_move_its_records_and_its_history_come_through"
_TOO_OLD = "test_brokers_that_are_too_old_are_found"
_OLDER = "test_an_older_cluster_goes_and_comes_back_and_what_goes_wrong_is_found"
WALKED = (
    ("an operation is not finished", "unfinished-operation", True, _WALK),
    ("partitions are being moved", "moves-in-flight", False, _WALK),
    (
        "a request stays in its znode when nobody serves it any more",
        "pending-request",
        False,
        _WALK,
    ),
    (
        "operations are on record in ZooKeeper alone, when brokers are in KRaft mode",
        "history-behind",
        False,
        _WALK,
    ),
    ("brokers are older than 3.4, or of two versions", "wrong-protocol", True, _TOO_OLD),
    ("some brokers are in KRaft mode, others are not", "half-restarted", False, _OLDER),
    ("ZooKeeper and the brokers have other replicas of a topic", "sides-differ", True, _OLDER),
    (
        "somebody runs kadmin with `-z` after a KRaft controller took over",
        "znode-writer",
        False,
        _OLDER,
    ),
)
"""What is found on the way: in words, the finding, whether it stops the migration, and the test
that makes it."""
