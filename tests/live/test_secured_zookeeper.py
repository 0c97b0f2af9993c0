"""Clusters whose ZooKeeper has SASL, TLS and ACLs, reached with contexts: what works, and what is refused how."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.security import ACL, Id
from support.cli.in_process import command
from support.documents.plans import deletion, document, election, reassignment
from support.kafka.secured import PASSWORD
from support.network.frame_proxy import Action, Fault, request_of
from support.zookeeper.fault_proxy import PUBLISH, FaultProxy
from support.zookeeper.refusals import MISSING, REFUSED, WRONG
from support.zookeeper.secured import BROKERS, CHROOT, SASL, TLS, secured_zookeeper

from kadmin.cluster.kafka.records import produce
from kadmin.cluster.kafka.servers import Servers
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.zookeeper.addresses import parse_connect_string
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kazoo.client import KazooClient
    from support.cli.in_process import Answer
    from support.zookeeper.refusals import RefusedClient
    from support.zookeeper.secured import SecuredZooKeeper

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.xdist_group("secured-zookeeper")]

SASL_REQUEST = 102
EVERYTHING = 31
VERSIONS = ("2.8.2", "3.9.2")


@pytest.fixture(scope="module", params=VERSIONS)
def by_sasl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredZooKeeper]:
    """A cluster whose brokers come to ZooKeeper by SASL, in plain text."""
    with secured_zookeeper(tmp_path_factory.mktemp("sasl"), request.param, SASL) as found:
        yield found


@pytest.fixture(scope="module", params=VERSIONS)
def by_tls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredZooKeeper]:
    """A cluster whose brokers come to ZooKeeper with a certificate."""
    with secured_zookeeper(tmp_path_factory.mktemp("tls"), request.param, TLS) as found:
        yield found


class Client:
    """Runs kadmin in a context of its own, and keeps all that it told. Its secrets are in the environment."""

    def __init__(self, folder: Path, zookeeper: Mapping[str, Any]) -> None:
        self.folder = folder
        self.told = ""
        contexts = {"kind": "Contexts", "current": "it", "contexts": {"it": {"zookeeper": zookeeper}}}
        file = document(folder / "contexts.json", contexts)
        self._environment = {"KADMIN_CONFIG": str(file), "PASSWORD": PASSWORD, "WRONG": WRONG}

    def __call__(self, *arguments: str | Path, status: int = 0) -> Answer:
        answer = command(*arguments, environment=self._environment)
        assert answer.status == status, (arguments, answer.out + answer.err)
        self.told += answer.out + answer.err
        return answer

    def election(self, topic: str) -> Path:
        return document(self.folder / "election.yaml", election(partitions=[{"topic": topic, "partition": 0}]))


def as_brokers(cluster: SecuredZooKeeper, folder: Path) -> Client:
    """Return a client whom ZooKeeper takes for a broker; its password is printed by a program, or kept in a file."""
    if cluster.way == TLS:
        return Client(folder, {"connect": cluster.encrypted, "tls": cluster.own(BROKERS)})
    printed = {"command": [sys.executable, "-c", "import os; print(os.environ['PASSWORD'])"]}
    return Client(folder, {"connect": cluster.plain, "sasl": {"username": BROKERS, "password": printed}})


def off_preferred(cluster: SecuredZooKeeper, run: Client) -> str:
    """Make a topic whose leader is not preferred."""
    topic = cluster.make_topic((1, 2))
    run("apply", document(run.folder / "swap.yaml", reassignment(topic, {0: [2, 1]})), "--yes")
    return topic


def test_the_whole_way_by_sasl(by_sasl: SecuredZooKeeper, tmp_path: Path) -> None:
    go_the_whole_way(by_sasl, tmp_path)


def test_the_whole_way_with_a_certificate(by_tls: SecuredZooKeeper, tmp_path: Path) -> None:
    go_the_whole_way(by_tls, tmp_path)


def go_the_whole_way(cluster: SecuredZooKeeper, tmp_path: Path) -> None:
    """A throttled reassignment that is stopped and resumed, an election, a deletion, and what shows them."""
    run = as_brokers(cluster, tmp_path)
    moved, retired = cluster.make_topic((1, 2), (1, 2)), cluster.make_topic((1, 2))
    led = off_preferred(cluster, run)
    produce(Servers(cluster.sandbox.bootstrap), {TopicPartition(moved, 0): [b"x" * 900_000] * 12})
    wanted = reassignment(moved, {0: [2, 3], 1: [2, 3]}, throttle={"rate": "1MB/s"}, elect="at_end")
    plan = document(tmp_path / "plan.yaml", wanted)
    run("diff", plan)
    run("apply", plan, "--yes", "--timeout", "3", status=8)
    assert "resume" in run("status").out
    run("throttle", "set", "--rate", "20MB/s", "--yes")
    run("resume", "--yes", "--log-format", "json", "-v")
    run("verify", plan)
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
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()) + b"".join(everything.values())
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


def test_a_session_that_expires_authenticates_again_and_the_run_goes_on(
    by_sasl: SecuredZooKeeper, tmp_path: Path
) -> None:
    """The first connection of the new session is cut within the exchange, which is no refusal."""
    run = as_brokers(by_sasl, tmp_path)
    with FaultProxy(parse_connect_string(by_sasl.plain).servers[0]) as proxy:

        def expire() -> None:
            proxy.faults.append(Fault(Action.CUT_BEFORE, request_of(SASL_REQUEST)))
            proxy.expire()

        sasl = {"username": BROKERS, "password": {"env": "PASSWORD"}}
        through = Client(tmp_path, {"connect": f"{proxy.connect_string}{CHROOT}", "sasl": sasl})
        topic = off_preferred(by_sasl, run)
        before = len(proxy.requests(SASL_REQUEST))
        proxy.faults = [Fault(Action.CUT_BEFORE, PUBLISH, then=expire)]
        answer = through("apply", through.election(topic), "--yes")
        assert "the lock was taken again" in answer.err
        assert len(proxy.requests(SASL_REQUEST)) - before == 5


@pytest.mark.parametrize("refused", [each for each in REFUSED if each.way == SASL], ids=lambda each: each.fault)
def test_a_user_who_is_refused_is_told_why(by_sasl: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient) -> None:
    be_refused(by_sasl, tmp_path, refused)


@pytest.mark.parametrize("refused", [each for each in REFUSED if each.way == TLS], ids=lambda each: each.fault)
def test_a_client_that_tls_refuses_is_told_why(
    by_tls: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient
) -> None:
    be_refused(by_tls, tmp_path, refused)


def be_refused(cluster: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient) -> None:
    run, topic = Client(tmp_path, refused.write(cluster)), cluster.make_topic((1, 2))
    before = cluster.fingerprint()
    answer = run("apply", document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]})), "--yes", status=6)
    _, cause, remedy = answer.err.strip().splitlines()[-3:]
    assert refused.cause in cause
    assert refused.remedy in remedy
    assert PASSWORD not in answer.err
    assert cluster.fingerprint() == before


def shell(cluster: SecuredZooKeeper, line: str, folder: Path) -> None:
    """Run a line with Kafka's zookeeper-shell.sh as the brokers' principal."""
    tool, *arguments = shlex.split(line)
    assert tool == "zookeeper-shell.sh"
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    login = f"-Djava.security.auth.login.config={cluster.jaas}"
    main = [class_path(cluster.sandbox.spec.version, java, cache), "org.apache.zookeeper.ZooKeeperMain", "-server"]
    done = subprocess.run(
        [str(java.executable), "-Xmx64m", login, "-cp", *main, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_right_that_is_missing_is_named_with_the_command_that_grants_it(
    by_sasl: SecuredZooKeeper, tmp_path: Path
) -> None:
    (tmp_path / "brokers").mkdir()
    topic, retired = off_preferred(by_sasl, as_brokers(by_sasl, tmp_path / "brokers")), by_sasl.make_topic((1, 2))
    run = Client(tmp_path, {"connect": by_sasl.plain, "sasl": {"username": "kadmin", "password": {"env": "PASSWORD"}}})
    throttled = reassignment(topic, {0: [2, 3]}, throttle={"rate": "10MB/s"})
    plans = {
        "reassignment": document(tmp_path / "plan.yaml", throttled),
        "deletion": document(tmp_path / "deletion.yaml", deletion(retired)),
        "election": run.election(topic),
    }
    with by_sasl.client(is_super=True) as client:
        for path in found_below(client, CHROOT):
            client.set_acls(path, [*client.get_acls(path)[0], ACL(EVERYTHING, Id("sasl", "kadmin"))])
        assert run("apply", plans["election"], "--dry-run").status == 0
        for missing in MISSING:
            path, cause, wanted = (
                text.replace("TOPIC", topic).replace("ZOOKEEPER", by_sasl.plain)
                for text in (missing.path, missing.cause, missing.remedy)
            )
            granted = client.get_acls(CHROOT + path)[0]
            client.set_acls(CHROOT + path, by_sasl.own_acl)
            before = by_sasl.fingerprint()
            refused = run("apply", plans[missing.kind], "--yes", status=6)
            assert f"{cause};" in refused.err
            assert f"{wanted} " in refused.err
            assert by_sasl.fingerprint() == before
            if missing is MISSING[0]:
                shell(by_sasl, refused.err.strip().partition("brokers' principal: ")[2], tmp_path)
                assert client.get_acls(CHROOT + path)[0] == granted
            client.set_acls(CHROOT + path, granted)
    for plan in plans.values():
        run("apply", plan, "--yes")


def test_a_super_user_needs_no_right_in_acls(by_sasl: SecuredZooKeeper, tmp_path: Path) -> None:
    """The ACLs show no right of its own, and nothing is refused."""
    (tmp_path / "brokers").mkdir()
    topic = off_preferred(by_sasl, as_brokers(by_sasl, tmp_path / "brokers"))
    run = Client(tmp_path, {"connect": by_sasl.plain, "digest": {"username": "super", "password": {"env": "PASSWORD"}}})
    run("apply", run.election(topic), "--yes")
    assert "not checked: /admin" in run("context", "check").out


def test_a_certificate_without_rights_and_sasl_within_tls(by_tls: SecuredZooKeeper, tmp_path: Path) -> None:
    run, topic = Client(tmp_path, {"connect": by_tls.encrypted, "tls": by_tls.own("guest")}), by_tls.make_topic((1, 2))
    before = by_tls.fingerprint()
    refused = run("apply", document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]})), "--yes", status=6)
    assert "do not grant x509:CN=guest what this needs" in refused.err
    assert "setAcl /admin x509:CN=kafka:rwcda,world:anyone:r,x509:CN=guest:cdrwa" in refused.err
    assert by_tls.fingerprint() == before
    sasl = {"username": "kadmin", "password": {"env": "PASSWORD"}}
    both = Client(tmp_path, {"connect": by_tls.encrypted, "tls": {"ca": by_tls.authority.ca}, "sasl": sasl})
    assert "as sasl:kadmin" in both("context", "check", status=6).out
