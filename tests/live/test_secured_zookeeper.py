"""Clusters whose ZooKeeper has SASL, TLS and ACLs, reached with contexts: what works, and what is
refused how.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest
from kazoo.security import ACL, Id
from support.documents.plans import deletion, document, reassignment
from support.network.frame_proxy import Action, Fault, request_of
from support.zookeeper.fault_proxy import PUBLISH, FaultProxy
from support.zookeeper.refusals import MISSING, REFUSED
from support.zookeeper.secured import BROKERS, CHROOT, SASL, TLS, secured_zookeeper
from support.zookeeper.whole_way import (
    Client,
    as_brokers,
    be_refused,
    found_below,
    go_the_whole_way,
    off_preferred,
)

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.zookeeper.refusals import RefusedClient
    from support.zookeeper.secured import SecuredZooKeeper

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.xdist_group("secured-zookeeper")]

SASL_REQUEST = 102
READ, EVERYTHING = 1, 31
VERSIONS = ("2.8.2", "3.9.2")


@pytest.fixture(scope="module", params=VERSIONS)
def by_sasl(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecuredZooKeeper]:
    """A cluster whose brokers come to ZooKeeper by SASL, in plain text."""
    with secured_zookeeper(tmp_path_factory.mktemp("sasl"), request.param, SASL) as found:
        yield found


@pytest.fixture(scope="module", params=VERSIONS)
def by_tls(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecuredZooKeeper]:
    """A cluster whose brokers come to ZooKeeper with a certificate."""
    with secured_zookeeper(tmp_path_factory.mktemp("tls"), request.param, TLS) as found:
        yield found


@pytest.mark.matrix
def test_the_whole_way_by_sasl(by_sasl: SecuredZooKeeper, tmp_path: Path) -> None:
    go_the_whole_way(by_sasl, tmp_path)


def test_the_whole_way_with_a_certificate(by_tls: SecuredZooKeeper, tmp_path: Path) -> None:
    go_the_whole_way(by_tls, tmp_path)


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


@pytest.mark.parametrize(
    "refused", [each for each in REFUSED if each.way == SASL], ids=lambda each: each.fault
)
def test_a_user_who_is_refused_is_told_why(
    by_sasl: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient
) -> None:
    be_refused(by_sasl, tmp_path, refused)


@pytest.mark.parametrize(
    "refused", [each for each in REFUSED if each.way == TLS], ids=lambda each: each.fault
)
def test_a_client_that_tls_refuses_is_told_why(
    by_tls: SecuredZooKeeper, tmp_path: Path, refused: RefusedClient
) -> None:
    be_refused(by_tls, tmp_path, refused)


def shell(cluster: SecuredZooKeeper, line: str, folder: Path) -> None:
    """Run a line with Kafka's zookeeper-shell.sh as the brokers' principal."""
    tool, *arguments = shlex.split(line)
    assert tool == "zookeeper-shell.sh"
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    login = f"-Djava.security.auth.login.config={cluster.jaas}"
    main = [
        class_path(cluster.sandbox.spec.version, java, cache),
        "org.apache.zookeeper.ZooKeeperMain",
        "-server",
    ]
    done = subprocess.run(
        [str(java.executable), "-Xmx64m", login, "-cp", *main, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.matrix
def test_each_right_that_is_missing_is_named_with_the_command_that_grants_it(
    by_sasl: SecuredZooKeeper, tmp_path: Path
) -> None:
    (tmp_path / "brokers").mkdir()
    topic, retired = (
        off_preferred(by_sasl, as_brokers(by_sasl, tmp_path / "brokers")),
        by_sasl.make_topic((1, 2)),
    )
    run = Client(
        tmp_path,
        {"connect": by_sasl.plain, "sasl": {"username": "kadmin", "password": {"env": "PASSWORD"}}},
    )
    throttled = reassignment(topic, {0: [2, 3]}, throttle={"rate": "10MB/s"})
    plans = {
        "reassignment": document(tmp_path / "plan.yaml", throttled),
        "deletion": document(tmp_path / "deletion.yaml", deletion(retired)),
        "election": run.election(topic),
    }
    with by_sasl.client(is_super=True) as client:
        for path in found_below(client, CHROOT):
            client.set_acls(
                path, [*client.get_acls(path)[0], ACL(EVERYTHING, Id("sasl", "kadmin"))]
            )
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


@pytest.mark.matrix
def test_resume_names_a_missing_right_before_it_takes_the_lock(
    by_sasl: SecuredZooKeeper, tmp_path: Path
) -> None:
    run, topic = as_brokers(by_sasl, tmp_path), by_sasl.make_topic((1, 2))
    produce(Servers(by_sasl.sandbox.bootstrap), {TopicPartition(topic, 0): [b"x" * 900_000] * 8})
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}, throttle={"rate": "300KB/s"})
    )
    run("apply", plan, "--yes", "--timeout", "4", status=8)
    changed = f"{CHROOT}/config/topics/{topic}"
    with by_sasl.client(is_super=True) as client:
        granted, before = client.get_acls(changed)[0], client.get_children(f"{CHROOT}/kadmin")
        client.set_acls(changed, [ACL(READ, Id("world", "anyone"))])
        answer = run("resume", "--yes", status=6)
        assert f"missing: w on /config/topics/{topic}; nothing was written" in answer.err
        assert client.get_children(f"{CHROOT}/kadmin") == before
        client.set_acls(changed, granted)
    run("resume", "--yes")
    run("verify", plan)


def test_a_super_user_needs_no_right_in_acls(by_sasl: SecuredZooKeeper, tmp_path: Path) -> None:
    """The ACLs show no right of its own, and nothing is refused."""
    (tmp_path / "brokers").mkdir()
    topic = off_preferred(by_sasl, as_brokers(by_sasl, tmp_path / "brokers"))
    run = Client(
        tmp_path,
        {
            "connect": by_sasl.plain,
            "digest": {"username": "super", "password": {"env": "PASSWORD"}},
        },
    )
    run("apply", run.election(topic), "--yes")
    assert "not checked: /admin" in run("context", "check").out


def test_a_certificate_without_rights_and_sasl_within_tls(
    by_tls: SecuredZooKeeper, tmp_path: Path
) -> None:
    run, topic = (
        Client(tmp_path, {"connect": by_tls.encrypted, "tls": by_tls.own("guest")}),
        by_tls.make_topic((1, 2)),
    )
    before = by_tls.fingerprint()
    refused = run(
        "apply",
        document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]})),
        "--yes",
        status=6,
    )
    assert "do not grant x509:CN=guest what this needs" in refused.err
    assert "setAcl /admin x509:CN=kafka:rwcda,world:anyone:r,x509:CN=guest:cdrwa" in refused.err
    assert by_tls.fingerprint() == before
    sasl = {"username": "kadmin", "password": {"env": "PASSWORD"}}
    both = Client(
        tmp_path, {"connect": by_tls.encrypted, "tls": {"ca": by_tls.authority.ca}, "sasl": sasl}
    )
    assert "as sasl:kadmin" in both("context", "check", status=6).out
