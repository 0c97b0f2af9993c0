"""Clusters with TLS, SASL and ACLs, reached with Kafka's client.properties: what works, and what is
refused how.
"""

from __future__ import annotations

import json
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest
from kafka.admin import ScramMechanism, UserScramCredentialUpsertion
from kafka.protocol.metadata import MetadataRequest
from kafka.protocol.sasl import SaslHandshakeRequest
from support.cli.in_process import command, every_command
from support.documents.plans import document, reassignment
from support.kafka.acls import CLUSTER, TOPIC, allow
from support.kafka.admin import admin_client
from support.kafka.broker_proxy import ALTER_REASSIGNMENTS, BrokerProxy
from support.kafka.refusals import REFUSED
from support.kafka.secured import PASSWORD, jaas, own_certificate, password, scram, secured
from support.kafka.whole_way import Client, go_the_whole_way
from support.live.kraft import make_topic
from support.live.waiting import wait_until
from support.network.frame_proxy import Action, Fault, FrameProxy, reply_of
from support.network.token_endpoint import token_endpoint

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.client_properties import read_client_properties
from kadmin.worlds.kafka.wire.connection import KafkaConnection, uptime_s
from kadmin.worlds.kafka.wire.errors import TooLateError
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from support.kafka.refusals import Refused
    from support.kafka.secured import Secured

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.xdist_group("secured")]

TOKEN_S = 4
WAIT_S = 60
DESCRIBE, DESCRIBE_CONFIGS = 8, 10
"""AclOperation."""
STORE = "store"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    found = secured(tmp_path_factory.mktemp("secured"), "4.4.0")
    yield found
    found.sandbox.down()


def in_pkcs12(cluster: Secured) -> dict[str, str]:
    """The same certificate and the same authority, in stores of PKCS12."""
    folder, pem = cluster.authority.folder, own_certificate(cluster)["ssl_keystore_location"]
    own, trusted = (str(folder / name) for name in ("own.p12", "trusted.p12"))
    secret = ["-passout", f"pass:{STORE}"]
    subprocess.run(["openssl", "pkcs12", "-export", "-in", pem, "-out", own, *secret], check=True)
    trust = ["-nokeys", "-in", cluster.authority.ca, "-out", trusted]
    subprocess.run(["openssl", "pkcs12", "-export", *trust, *secret], check=True)
    return {
        "security_protocol": "SSL",
        "ssl_keystore_location": own,
        "ssl_keystore_password": STORE,
        "ssl_truststore_location": trusted,
        "ssl_truststore_password": STORE,
    }


WAYS: dict[str, tuple[str, Callable[[Secured], dict[str, str]]]] = {
    "PLAIN": ("SASLTLS", password),
    "SCRAM": ("SASLTLS", scram),
    "SCRAM without TLS": ("SASL", lambda at: {**scram(at), "security_protocol": "SASL_PLAINTEXT"}),
    "certificate in PEM": ("MUTUAL", own_certificate),
    "certificate in PKCS12": ("MUTUAL", in_pkcs12),
}
RARE = ("SCRAM", "SCRAM without TLS", "certificate in PEM", "certificate in PKCS12")


@pytest.mark.parametrize(
    "way",
    [
        "PLAIN",
        *(pytest.param(each, marks=pytest.mark.matrix) for each in RARE),
    ],
)
def test_the_whole_way(
    cluster: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    listener, write = WAYS[way]
    run = Client(cluster, listener, write(cluster), tmp_path)
    go_the_whole_way(cluster, run)
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in (PASSWORD, PASSWORD.replace('"', '\\"')):
        assert secret not in run.told
        assert secret.encode() not in kept


ARGUMENTS = {
    **dict.fromkeys(
        ("apply", "consumers disturbed", "diff", "recreate", "verify", "whatif plan"), "plan.yaml"
    ),
    **dict.fromkeys(("cancel", "history", "lock release", "pause", "resume", "rollback"), "op-1"),
    **dict.fromkeys(("broker cordon", "broker uncordon", "broker unregister"), "1"),
    "consumers coordinator": "readers",
    "consumers preview": "--group readers --members 2",
    "inspect znode": "/admin",
    "propose decommission": "--broker 1 --out decommission.yaml",
    "propose recovery": "--out recovery.yaml",
    "propose demotion": "--broker 1 --out demotion.yaml",
    "propose election": "--out election.yaml",
    "propose growth": "orders --partitions 9 --out growth.yaml",
    "propose maintenance": "--broker 1 --out maintenance.yaml",
    "report": "--out page.html",
    "sample": "--out samples --once",
    "snapshot": "--out snapshot",
    "throttle catch-up": "--broker 1 --rate 50MB/s",
    "throttle set": "--rate 50MB/s",
    "broker check": "1 --stop",
    "whatif lose": "--broker 1",
}
MOST = {"--output": "-o json", "--verbose": "-v", "--yes": "--yes", "--dry-run": "--dry-run"}


@pytest.mark.matrix
def test_no_command_shows_the_password(
    cluster: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command that connects, with all that makes it say more."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    document(tmp_path / "plan.yaml", reassignment("any", {0: [1, 2]}))
    given = (
        "-b",
        cluster.bootstrap("SASLTLS"),
        "--command-config",
        cluster.properties("all", **password(cluster)),
    )
    connecting = {
        name: options
        for name, each in every_command().items()
        if "--command-config"
        in (options := {option for parameter in each.params for option in parameter.opts})
    }
    assert set(ARGUMENTS) <= set(connecting)
    for name, options in connecting.items():
        most = " ".join(written for option, written in MOST.items() if option in options)
        answer = command(*f"{name} {ARGUMENTS.get(name, '')} {most}".split(), *given)
        told = answer.out + answer.err
        assert "Canary" not in told, name
        needs_zookeeper = (
            "which only ZooKeeper has" in told or "named by ZooKeeper and by its brokers" in told
        )
        assert answer.status in {0, 3, 4, 5, 8} or needs_zookeeper, (name, told)
    assert command("broker", "uncordon", "1", "--yes", *given).status == 0
    assert not [
        file for file in tmp_path.rglob("*") if file.is_file() and b"Canary" in file.read_bytes()
    ]


def with_tokens(url: str, secret: str) -> dict[str, str]:
    module = "oauthbearer.OAuthBearerLoginModule"
    return {
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_jaas_config": jaas(module, clientId="kadmin", clientSecret=secret, scope="admin"),
        "sasl_oauthbearer_token_endpoint_url": url,
    }


@pytest.mark.matrix
def test_tokens_are_had_at_their_endpoint_and_renewed_while_an_operation_runs(
    cluster: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Brokers close connections whose token has ended (connections.max.reauth.ms); a lifetime is
    four seconds here.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with token_endpoint("kadmin", PASSWORD, TOKEN_S) as endpoint:
        given = {**password(cluster), **with_tokens(endpoint.url, PASSWORD)}
        run = Client(cluster, "SASLTLS", given, tmp_path)
        go_the_whole_way(cluster, run)
        with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
            topic = make_topic(connection, {0: (1, 2)})
        produce(
            Servers(cluster.sandbox.bootstrap), {TopicPartition(topic, 0): [b"x" * 900_000] * 16}
        )
        plan = document(
            tmp_path / "long.yaml", reassignment(topic, {0: [1, 3]}, throttle={"rate": "1MB/s"})
        )
        before = len(endpoint.given)
        run("apply", plan, "--yes")
        assert len(endpoint.given) - before >= 3
        assert endpoint.scopes == [["admin"]] * len(endpoint.scopes)
        told = run.told.encode() + b"".join(
            file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()
        )
        assert not [token for token in endpoint.given if token.encode() in told]
    assert "does not answer" in run("status", status=6).err


@pytest.mark.matrix
def test_a_renewal_that_fails_ends_the_run_and_loses_nothing(
    cluster: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        topic = make_topic(connection, {0: (1, 2)})
    produce(Servers(cluster.sandbox.bootstrap), {TopicPartition(topic, 0): [b"x" * 900_000] * 40})
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [1, 3]}, throttle={"rate": "1MB/s"})
    )
    with token_endpoint("kadmin", PASSWORD, TOKEN_S) as endpoint:
        run = Client(
            cluster,
            "SASLTLS",
            {**password(cluster), **with_tokens(endpoint.url, PASSWORD)},
            tmp_path,
        )
        endpoint.most = 6
        ended = run("apply", plan, "--yes", status=6)
        assert "refused: 401 invalid_client" in ended.err
        assert "kadmin resume" in ended.err
        endpoint.most = None
        run("resume", "--yes")
        run("verify", plan)


class ListenerProxy(BrokerProxy):
    """Forwards to one listener of each broker."""

    def __init__(self, addresses: Iterable[str]) -> None:
        FrameProxy.__init__(
            self,
            ((host, int(port)) for host, _, port in (each.partition(":") for each in addresses)),
        )


def test_a_change_that_waits_for_a_new_authentication_does_not_leave_too_late(
    cluster: Secured,
) -> None:
    """The client keeps what is sent meanwhile, and sends it afterwards; the broker's answer stays
    here.
    """
    file = cluster.properties(
        "again", **{**password(cluster), "security_protocol": "SASL_PLAINTEXT"}
    )
    renewed = threading.Event()
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        partition = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    with ListenerProxy(cluster.addresses["SASL"]) as proxy:
        servers = Servers(proxy.bootstrap, read_client_properties(file).security)
        with KafkaConnection(servers) as connection:
            broker_id = connection.any_broker()
            connection.ask("list the brokers", MetadataRequest(topics=[]), broker_id=broker_id)
            proxy.faults.append(
                Fault(Action.HOLD, reply_of(SaslHandshakeRequest.API_KEY), then=renewed.set)
            )
            assert renewed.wait(WAIT_S)
            with pytest.raises(TooLateError):
                alter_reassignments(
                    connection, {partition: (2, 3)}, broker_id, send_by=uptime_s() + 1
                )
            assert proxy.requests(ALTER_REASSIGNMENTS) == []


@pytest.mark.parametrize("refused", REFUSED, ids=lambda each: each.fault)
def test_what_is_refused_says_why_and_what_to_do(
    cluster: Secured, tmp_path: Path, refused: Refused
) -> None:
    """Nothing is written: no connection is made, or no right is there."""
    plain = ",".join(cluster.sandbox.bootstrap)
    servers = plain if refused.listener == "PLAINTEXT" else cluster.bootstrap(refused.listener)
    file = cluster.properties("refused", **refused.write(cluster))
    plan = document(tmp_path / "plan.yaml", reassignment("any", {0: [1, 2]}))
    answer = command("apply", plan, "--yes", "-b", servers, "--command-config", file)
    assert answer.status == 6, answer.err
    _, cause, remedy = answer.err.strip().splitlines()[-3:]
    assert refused.cause in cause
    assert refused.remedy in remedy
    assert PASSWORD not in answer.err


def test_a_wrong_secret_at_the_token_endpoint(cluster: Secured, tmp_path: Path) -> None:
    with token_endpoint("kadmin", "other", TOKEN_S) as endpoint:
        run = Client(
            cluster,
            "SASLTLS",
            {**password(cluster), **with_tokens(endpoint.url, PASSWORD)},
            tmp_path,
        )
        answer = run("status", status=6)
    assert "refused: 401 invalid_client" in answer.err
    assert PASSWORD not in answer.err


def add_user(cluster: Secured, name: str) -> Path:
    """Add a user without rights, and return its client.properties."""
    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        user = UserScramCredentialUpsertion(name, ScramMechanism.SCRAM_SHA_512, PASSWORD)
        assert admin_client(connection).alter_user_scram_credentials([user]) == {name: None}
    return cluster.properties(name, **password(cluster, "SCRAM-SHA-512", username=name))


@pytest.mark.matrix
def test_no_stop_is_safe_while_topics_are_hidden(cluster: Secured, tmp_path: Path) -> None:
    file, user = add_user(cluster, "watcher"), "User:watcher"

    def doubts() -> list[str]:
        """Return what is unknown of the whole cluster, by a gate that answers."""
        answer = command(
            *("broker", "check", "1", "--stop", "-o", "json"),
            *("-b", cluster.bootstrap("SASLTLS"), "--command-config", file),
            *("--records", tmp_path / "records"),
        )
        if answer.status == 6:
            return [answer.err]
        found = [each for each in json.loads(answer.out)["obstacles"] if each["topic"] is None]
        assert answer.status == 8 or not found
        assert {each["reason"] for each in found} <= {"unknown"}
        return [each["because"] for each in found]

    with KafkaConnection(Servers(cluster.sandbox.bootstrap)) as connection:
        hidden = make_topic(connection, {0: (1, 2, 3)})
        allow(connection, CLUSTER, "kafka-cluster", user, DESCRIBE)
        allow(connection, CLUSTER, "kafka-cluster", user, DESCRIBE_CONFIGS)
        for topic in [*read_metadata(connection).topics, hidden]:
            allow(connection, TOPIC, topic, user, DESCRIBE_CONFIGS)
            if topic != hidden:
                allow(connection, TOPIC, topic, user, DESCRIBE)
        told = f"the right Describe is missing on 1 topic: {hidden}; not shown"
        wait_until(lambda: doubts() == [told], WAIT_S)
        allow(connection, TOPIC, hidden, user, DESCRIBE)
        wait_until(lambda: doubts() == [], WAIT_S)
