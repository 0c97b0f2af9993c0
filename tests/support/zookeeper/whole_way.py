"""The whole way of an operator through a cluster whose ZooKeeper is secured, by kadmin's command
line and a context.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from support.cli.command_line import CommandLine
from support.documents.plans import deletion, document, election, reassignment
from support.kafka.secured import PASSWORD
from support.zookeeper.kerberos_refusals import with_key
from support.zookeeper.refusals import WRONG
from support.zookeeper.secured import BROKERS, CHROOT, TLS

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kazoo.client import KazooClient
    from support.zookeeper.refusals import RefusedClient
    from support.zookeeper.secured import SecuredZooKeeper


class Client(CommandLine):
    """A client with a context of its own, whose secrets are in the environment."""

    def __init__(self, folder: Path, zookeeper: Mapping[str, Any]) -> None:
        contexts = {
            "kind": "Contexts",
            "current": "it",
            "contexts": {"it": {"zookeeper": zookeeper}},
        }
        file = document(folder / "contexts.json", contexts)
        environment = {"KADMIN_CONFIG": str(file), "PASSWORD": PASSWORD, "WRONG": WRONG}
        super().__init__(folder, environment=environment)

    def election(self, topic: str) -> Path:
        return document(
            self.folder / "election.yaml", election(partitions=[{"topic": topic, "partition": 0}])
        )


def as_brokers(cluster: SecuredZooKeeper, folder: Path) -> Client:
    """Return a client whom ZooKeeper takes for a broker; its password is printed by a program, or
    kept in a file.
    """
    if cluster.way == TLS:
        return Client(folder, {"connect": cluster.encrypted, "tls": cluster.own(BROKERS)})
    if cluster.realm is not None:
        return Client(folder, {"connect": cluster.plain, "sasl": with_key(cluster.realm)})
    printed = {"command": [sys.executable, "-c", "import os; print(os.environ['PASSWORD'])"]}
    return Client(
        folder, {"connect": cluster.plain, "sasl": {"username": BROKERS, "password": printed}}
    )


def off_preferred(cluster: SecuredZooKeeper, run: Client) -> str:
    """Make a topic whose leader is not preferred."""
    topic = cluster.make_topic((1, 2))
    run("apply", document(run.folder / "swap.yaml", reassignment(topic, {0: [2, 1]})), "--yes")
    return topic


def go_the_whole_way(cluster: SecuredZooKeeper, tmp_path: Path) -> None:
    """A throttled reassignment that is stopped and resumed, an election, a deletion, and what shows
    them.
    """
    run = as_brokers(cluster, tmp_path)
    moved, retired = cluster.make_topic((1, 2), (1, 2)), cluster.make_topic((1, 2))
    led = off_preferred(cluster, run)
    produce(Servers(cluster.sandbox.bootstrap), {TopicPartition(moved, 0): [b"x" * 900_000] * 12})
    wanted = reassignment(
        moved, {0: [2, 3], 1: [2, 3]}, throttle={"rate": "300KB/s"}, elect="at_end"
    )
    plan = document(tmp_path / "plan.yaml", wanted)
    run.stop_and_resume(plan, "--log-format", "json", "-v")
    run("apply", run.election(led), "--yes", "-o", "json")
    run("apply", document(tmp_path / "deletion.yaml", deletion(retired)), "--yes")
    run("snapshot", "--out", tmp_path / "snapshot", "--table", "csv")
    run("history", "-o", "json")
    run("doctor")
    run("inspect", "tree", "-o", "json")
    assert f"as {cluster.principal.scheme}:{cluster.principal.id}" in run("context", "check").out
    with cluster.client(is_super=True) as client:
        own = found_below(client, f"{CHROOT}/kadmin")
        assert len(own) > 20
        assert all(client.get_acls(path)[0] == cluster.own_acl for path in own)
        everything = found_below(client, CHROOT)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()) + b"".join(
        everything.values()
    )
    for secret in (PASSWORD, PASSWORD.replace('"', '\\"')):
        assert secret not in run.told
        assert secret.encode() not in kept


def found_below(client: KazooClient, path: str) -> dict[str, bytes]:
    """Return the data of a znode and of everything below it, by path."""
    data, _ = client.get(path)
    found = {path: data or b""}
    for child in client.get_children(path):
        found |= found_below(client, f"{path}/{child}")
    return found


def be_refused(cluster: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient) -> None:
    run, topic = Client(tmp_path, refused.write(cluster)), cluster.make_topic((1, 2))
    before = cluster.fingerprint()
    answer = run(
        "apply",
        document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]})),
        "--yes",
        status=6,
    )
    _, cause, remedy = answer.err.strip().splitlines()[-3:]
    assert refused.cause in cause
    assert refused.remedy in remedy
    assert PASSWORD not in answer.err
    assert cluster.fingerprint() == before
