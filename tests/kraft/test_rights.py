"""The ACLs that docs/kraft.md tells to grant are enough, and the commands that grant them are
Kafka's.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType
from kafka.protocol.admin import DescribeAclsRequest
from support.cli.in_process import command
from support.documents.plans import deletion, document, reassignment
from support.kafka.broker_proxy import BrokerProxy
from support.kafka.group_members import commit
from support.kafka.processes import KadminProcess
from support.kafka.writes import WritePoint
from support.live.kraft import KraftCluster, make_topic, wait_assigned
from support.live.waiting import wait_until
from support.network.frame_proxy import Action

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import RECORD_TOPIC
from kadmin.cluster.servers import Security, SecurityProtocol, Servers
from kadmin.java import cache_folder, find_java
from kadmin.plan.throttle import THROTTLE_KEYS
from kadmin.sandbox import Sandbox, SandboxSpec, kraft_mode, settings
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.processes import free_ports
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.groups import describe_groups
from kadmin.worlds.kafka.wire.mechanisms import Password

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.xdist_group("rights")]

PAGE = Path(__file__).parents[2] / "docs" / "kraft.md"
VERSION = "3.9.2"
"""The last version whose jars have the tool; 4.0 and later keep it in a jar that brokers do not
need."""
WAIT_S = 120
ANY = 1
RESOURCES = {
    "--topic": ResourceType.TOPIC,
    "--group": ResourceType.GROUP,
    "--cluster": ResourceType.CLUSTER,
    "--transactional-id": ResourceType.TRANSACTIONAL_ID,
}
ALTER = ("--cluster", "--operation", "Alter")
ADMIN = Security(SecurityProtocol.SASL_PLAINTEXT, sasl=Password("PLAIN", "admin", "admin"))
THROTTLE = {"rate": "10MB/s"}


_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_ADMIN = f'{_LOGIN} username="admin" password="admin" user_admin="admin";'
GUARDED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:admin",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.controller.plain.sasl.jaas.config": _ADMIN,
    "listener.name.internal.plain.sasl.jaas.config": _ADMIN,
}


@dataclass(frozen=True, slots=True)
class Guarded:
    """A cluster with ACLs: its servers are User:admin among themselves, and kadmin is
    User:ANONYMOUS.

    Tests give back what they take away.
    """

    sandbox: Sandbox
    internal: str
    """Where brokers take User:admin."""

    def kafka_acls(self, *arguments: str) -> None:
        """Run Kafka's tool as User:admin."""
        cache = cache_folder(os.environ)
        java = find_java(os.environ, cache)
        config = self.sandbox.spec.directory / "admin.properties"
        config.write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={_ADMIN}\n"
        )
        command = [
            str(java.executable),
            "-Xmx128m",
            "-cp",
            class_path(VERSION, java, cache),
            "kafka.admin.AclCommand",
        ]
        command += [
            "--bootstrap-server",
            self.internal,
            "--command-config",
            str(config),
            *arguments,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def grant(self) -> None:
        """Grant what the page tells to grant, and the lock to another user too: what has no ACL is
        for everybody.
        """
        self.kafka_acls(
            "--add",
            "--allow-principal",
            "User:other",
            "--transactional-id",
            RECORD_TOPIC,
            "--operation",
            "Write",
        )
        assert len(granted()) == 5
        for arguments in granted():
            self.kafka_acls(*arguments)

    def change(
        self, change: str, *right: str, permission: ACLPermissionType = ACLPermissionType.ALLOW
    ) -> None:
        """Have a rule for kadmin (`--add`), or no longer (`--remove`), at every broker; by default
        on ALTER.

        Kafka's tool, which does the same, would start a JVM each time.
        """
        kind, *name, _, operation = right or ALTER
        resource = ResourcePattern(RESOURCES[kind], name[0] if name else "kafka-cluster")
        (allows,) = (
            each for each in ACLOperation if each.name.replace("_", "") == operation.upper()
        )
        rule = ACL("User:ANONYMOUS", "*", allows, permission, resource)
        servers = Servers(self.internal.split(","), ADMIN)
        with closing(
            KafkaAdminClient(bootstrap_servers=list(servers.addresses), **ADMIN.settings())
        ) as admin:
            if change == "--add":
                assert admin.create_acls([rule])["failed"] == []
            else:
                assert [removed for _, removed, _ in admin.delete_acls([rule])] == [[rule]]
        with KafkaConnection(servers) as connection:
            at = self.sandbox.broker_ports
            wait_until(
                lambda: all(
                    (rule in rules(connection, each)) == (change == "--add") for each in at
                ),
                WAIT_S,
            )


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    internal: list[str] = []
    controllers, place = settings.controller_settings, settings.broker_place
    protocols = {
        "listener.security.protocol.map": (
            "CONTROLLER:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT"
        )
    }

    def with_internal(rack: str, address: str, folder: Path) -> dict[str, str]:
        found, (free,) = place(rack, address, folder), free_ports(1)
        internal.append(f"127.0.0.1:{free}")
        both = f"{found['listeners']},INTERNAL://{internal[-1]}"
        return {
            **found,
            "listeners": both,
            "advertised.listeners": both,
            "inter.broker.listener.name": "INTERNAL",
        }

    spec = SandboxSpec(
        tmp_path_factory.mktemp("guarded") / "sandbox",
        version=VERSION,
        broker_config=GUARDED,
        mode="kraft",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            kraft_mode, "controller_settings", lambda *of: {**controllers(*of), **protocols}
        )
        patch.setattr(kraft_mode, "broker_place", with_internal)
        sandbox = Sandbox.up(spec)
    found = Guarded(sandbox, ",".join(internal))
    found.grant()
    yield found
    sandbox.down()


def rules(connection: KafkaConnection, broker_id: int) -> set[ACL]:
    """What a broker knows of kadmin's rights."""
    everything = DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter="User:ANONYMOUS",
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    answer = connection.ask("describe ACLs", everything, broker_id=broker_id)
    return {
        ACL(
            each.principal,
            each.host,
            ACLOperation(each.operation),
            ACLPermissionType(each.permission_type),
            ResourcePattern(ResourceType(resource.resource_type), resource.resource_name),
        )
        for resource in answer.resources
        for each in resource.acls
    }


def granted() -> list[list[str]]:
    """The arguments of every kafka-acls.sh on the page, for the principal of the sandbox."""
    lines = re.findall(
        r"^kafka-acls\.sh --bootstrap-server BROKERS (.*)$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return [shlex.split(line.replace("User:kadmin", "User:ANONYMOUS")) for line in lines]


@pytest.mark.matrix
def test_the_rights_on_the_page_are_enough_and_a_missing_one_is_named(
    guarded: Guarded, tmp_path: Path
) -> None:
    with KafkaConnection(Servers(guarded.sandbox.bootstrap)) as connection:
        cluster = KraftCluster(guarded.sandbox, connection)
        moved, retired = (make_topic(connection, {0: (1, 2)}) for _ in range(2))
        move, deletion = tmp_path / "move.yaml", tmp_path / "deletion.yaml"
        move.write_text(
            "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
            f"spec:\n  elect: at_end\n  partitions:\n    - {{topic: {moved}, partition: 0, "
            "replicas: [3, 1]}\n"
        )
        deletion.write_text(
            "apiVersion: kadmin/v1\nkind: TopicDeletion\nmetadata: {name: retire}\n"
            f"spec:\n  topics:\n    - {retired}\n"
        )
        for command in (
            ["snapshot", "--out", tmp_path / "before", "--table", "csv"],
            ["apply", move, "--throttle", "5MB/s", "--yes"],
            ["verify", move],
            ["apply", deletion, "--yes"],
            ["history"],
            ["rollback", "--yes"],
        ):
            answer = cluster.kadmin(*command)
            assert answer.status == 0, (command, answer.err)
        guarded.change("--remove")
        refused = cluster.kadmin("apply", move, "--yes")
        assert refused.status == 6, refused.err
        assert "the right Alter on the cluster is missing" in refused.err
        guarded.change("--add")
        assert cluster.kadmin("resume", "--yes").status == 0


def test_k19_a_right_that_is_taken_away_in_mid_run_ends_it_and_resume_goes_on(
    guarded: Guarded, tmp_path: Path
) -> None:
    with (
        KafkaConnection(Servers(guarded.sandbox.bootstrap)) as connection,
        BrokerProxy(guarded.sandbox) as proxy,
    ):
        topic = make_topic(connection, dict.fromkeys(range(2), (1, 2)))
        wanted = reassignment(
            topic, dict.fromkeys(range(2), (3, 1)), waves={"max_partitions": 1}, throttle=THROTTLE
        )
        point = WritePoint("reassignments, time 2", forwarded=False)
        proxy.faults.append(point.fault(Action.CALL, lambda: guarded.change("--remove")))
        runner = KadminProcess(
            proxy.bootstrap, "apply", document(tmp_path / "plan.json", wanted), "--yes"
        )
        ended = runner.answer()
        assert ended.status == 6, ended.err
        assert "the right Alter on the cluster is missing" in ended.err
        guarded.change("--add")
        resumed = KadminProcess(guarded.sandbox.bootstrap, "resume", "--yes").answer()
        assert resumed.status == 0, resumed.err
        wait_assigned(connection, {TopicPartition(topic, number): (3, 1) for number in range(2)})
        assert not any(
            read_own_configs(
                connection, [ConfigEntity.of_topic(topic)], keys=THROTTLE_KEYS
            ).values()
        )


def checked(guarded: Guarded, tmp_path: Path) -> dict[str, Any]:
    """What `context check` answers, before anything is tried."""
    entry = {"kafka": {"bootstrap_servers": ",".join(guarded.sandbox.bootstrap)}}
    file = document(
        tmp_path / "contexts.json", {"kind": "Contexts", "contexts": {"guarded": entry}}
    )
    answer = command(
        "context", "check", "guarded", "-o", "json", environment={"KADMIN_CONFIG": str(file)}
    )
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/context-check") == []
    assert answer.status == (6 if value["missing"] else 0)
    assert all("kafka-acls" in each["remedy"] for each in value["missing"])
    return value


def test_the_doctor_names_each_right_that_is_missing_and_topics_that_are_hidden(
    guarded: Guarded,
) -> None:
    """With the rights on the page none is missing; each command that it names gives back what was
    taken away.
    """
    with KafkaConnection(Servers(guarded.sandbox.bootstrap)) as connection:
        cluster = KraftCluster(guarded.sandbox, connection)
        secret = make_topic(connection, {0: (1, 2)})

        def findings() -> dict[str, tuple[str, bool]]:
            told = json.loads(cluster.kadmin("doctor", "-o", "json").out)["findings"]
            assert {each["trouble"] for each in told} <= {"missing-right", "hidden-topics"}
            return {each["message"]: (each["remedy"], each["stops_apply"]) for each in told}

        assert findings() == {}
        for right, stops in (
            (("--cluster", "--operation", "Alter"), True),
            (("--topic", "*", "--operation", "Delete"), False),
        ):
            guarded.change("--remove", *right)
            ((message, (remedy, stopped)),) = findings().items()
            assert message.startswith(f"The right {right[-1]} on ")
            assert stopped is stops
            tool, *arguments = shlex.split(remedy.replace("User:NAME", "User:ANONYMOUS"))
            assert (tool, arguments[:2]) == (
                "kafka-acls.sh",
                ["--bootstrap-server", ",".join(guarded.sandbox.bootstrap)],
            )
            guarded.kafka_acls(*arguments[2:])
            wait_until(lambda: findings() == {}, WAIT_S)
        hidden = ("--topic", secret, "--operation", "Describe")
        guarded.change("--add", *hidden, permission=ACLPermissionType.DENY)
        wait_until(
            lambda: any(each.startswith("Topics are on the brokers' disks") for each in findings()),
            WAIT_S,
        )
        guarded.change("--remove", *hidden, permission=ACLPermissionType.DENY)
        wait_until(lambda: findings() == {}, WAIT_S)


MISSING = {
    "throttles": (
        ("--cluster", "--operation", "AlterConfigs"),
        6,
        "the right AlterConfigs on the cluster is missing",
    ),
    "deletions": (
        ("--topic", "*", "--operation", "Delete"),
        8,
        "the right Delete on topic {topic} is missing",
    ),
    "reading the record": (
        ("--topic", RECORD_TOPIC, "--operation", "Read"),
        6,
        f"the right Read on topic {RECORD_TOPIC} is missing",
    ),
    "the record": (
        ("--topic", RECORD_TOPIC, "--operation", "Write"),
        6,
        f"the right Write on topic {RECORD_TOPIC} is missing",
    ),
    "the lock": (
        ("--transactional-id", RECORD_TOPIC, "--operation", "Write"),
        6,
        f"the right Write on transactional id {RECORD_TOPIC} is missing",
    ),
}


@pytest.mark.matrix
@pytest.mark.parametrize("missing", MISSING)
def test_each_right_that_is_missing_is_named(
    guarded: Guarded, tmp_path: Path, missing: str
) -> None:
    """Nothing is changed, or what was is on record; with the right, the same command or `resume`
    completes it.
    """
    right, status, said = MISSING[missing]
    with KafkaConnection(Servers(guarded.sandbox.bootstrap)) as connection:
        cluster, topic = (
            KraftCluster(guarded.sandbox, connection),
            make_topic(connection, {0: (1, 2)}),
        )
        wanted = (
            deletion(topic)
            if missing == "deletions"
            else reassignment(topic, {0: [3, 1]}, throttle=THROTTLE)
        )
        plan = document(tmp_path / "plan.json", wanted)
        guarded.change("--remove", *right)
        refused = cluster.kadmin("apply", plan, "--yes")
        assert refused.status == status, refused.err
        assert said.format(topic=topic) in refused.err
        if missing != "the lock":  # brokers do not report rights on transactional ids
            assert right[-1] in {
                each["right"].split()[2] for each in checked(guarded, tmp_path)["missing"]
            }
        guarded.change("--add", *right)
        completed = cluster.kadmin("resume", "--yes")
        assert completed.status == 0, completed.err
        again = cluster.kadmin("apply", plan, "--yes")
        assert again.status == 0, again.err
        assert cluster.kadmin("verify", plan).status == 0


def test_a_group_that_may_not_be_described_costs_itself_alone(
    guarded: Guarded, tmp_path: Path
) -> None:
    """One such group made the consumers of every topic unknown, which was a warning."""
    with KafkaConnection(Servers(guarded.sandbox.bootstrap)) as connection:
        cluster = KraftCluster(guarded.sandbox, connection)
        used, free = (make_topic(connection, {0: (1, 2)}) for _ in range(2))
        seen, secret = f"seen-{used}", f"secret-{free}"
        commit(guarded.internal.split(","), seen, used, **ADMIN.settings())
        commit(guarded.internal.split(","), secret, free, **ADMIN.settings())
        hidden = ("--group", secret, "--operation", "Describe")
        guarded.change("--add", *hidden, permission=ACLPermissionType.DENY)
        unseen = (
            f"not every topic that these groups use was seen ({secret}): GROUP_AUTHORIZATION_FAILED"
        )
        plan = document(tmp_path / "free.json", deletion(free))
        wait_until(lambda: unseen in cluster.kadmin("apply", plan, "--yes").err, WAIT_S)
        refused = cluster.kadmin("apply", plan, "--yes")
        assert (refused.status, "KA073" in refused.err) == (6, True), refused.err
        waived = {"allow": {"unchecked_guards": True}}
        refused = cluster.kadmin(
            "apply", document(tmp_path / "used.json", deletion(used, **waived)), "--yes"
        )
        assert (refused.status, f"consumer groups use {used}: {seen}" in refused.err) == (
            5,
            True,
        ), refused.err
        listed = json.loads(cluster.kadmin("inspect", "consumers", "-o", "json").out)
        assert listed["unavailable"] == [unseen]
        done = cluster.kadmin(
            "apply", document(tmp_path / "waived.json", deletion(free, **waived)), "--yes"
        )
        assert (done.status, unseen in done.err) == (0, True), done.err

        blind = ("--cluster", "--operation", "Describe")
        guarded.change("--add", *blind, permission=ACLPermissionType.DENY)
        missing = (
            "groups that may not be described were not seen",
            "the right Describe on the cluster is missing",
        )
        servers, brokers = connection.servers, guarded.sandbox.broker_ports
        wait_until(lambda: describe_groups(servers, brokers).unseen == (missing,), WAIT_S)
        found = describe_groups(servers, brokers).topics
        assert (seen in found, secret in found) == (True, False), "left out without an error"
        for each in (blind, hidden):
            guarded.change("--remove", *each, permission=ACLPermissionType.DENY)
        wait_until(lambda: describe_groups(servers, brokers).unseen == (), WAIT_S)
