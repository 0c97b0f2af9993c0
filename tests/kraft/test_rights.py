"""The ACLs that docs/kraft.md tells to grant are enough, and the commands that grant them are Kafka's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.live.kraft import KraftCluster, make_topic

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.java import cache_folder, find_java
from kadmin.sandbox import Sandbox, SandboxSpec, kraft_mode, settings
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.processes import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.live, pytest.mark.eras]

PAGE = Path(__file__).parents[2] / "docs" / "kraft.md"
VERSION = "3.9.2"
"""The last version whose jars have the tool; 4.0 and later keep it in a jar that brokers do not need."""
_TOOL_S = 120


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


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A cluster with ACLs: its servers are User:admin among themselves, and kadmin is User:ANONYMOUS."""
    node, place = kraft_mode._node, settings.broker_place
    protocols = {
        "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT"
    }

    def with_internal(rack: str, port: int, folder: Path) -> dict[str, str]:
        found, (internal,) = place(rack, port, folder), free_ports(1)
        both = f"{found['listeners']},INTERNAL://127.0.0.1:{internal}"
        return {**found, "listeners": both, "advertised.listeners": both, "inter.broker.listener.name": "INTERNAL"}

    monkeypatch.setattr(kraft_mode, "_node", lambda *of: {**node(*of), **protocols})
    monkeypatch.setattr(kraft_mode, "broker_place", with_internal)
    sandbox = Sandbox.up(SandboxSpec(tmp_path / "sandbox", version=VERSION, broker_config=GUARDED, mode="kraft"))
    yield sandbox
    sandbox.down()


def kafka_acls(sandbox: Sandbox, *arguments: str) -> None:
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    command = [str(java.executable), "-Xmx128m", "-cp", class_path(VERSION, java, cache), "kafka.admin.AclCommand"]
    command += ["--bootstrap-server", ",".join(sandbox.bootstrap), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def granted() -> list[list[str]]:
    """The arguments of every kafka-acls.sh on the page, for the principal of the sandbox."""
    lines = re.findall(
        r"^kafka-acls\.sh --bootstrap-server BROKERS (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    return [shlex.split(line.replace("User:kadmin", "User:ANONYMOUS")) for line in lines]


def test_the_rights_on_the_page_are_enough_and_a_missing_one_is_named(guarded: Sandbox, tmp_path: Path) -> None:
    with KafkaConnection(guarded.bootstrap) as connection:
        cluster = KraftCluster(guarded, connection)
        moved, retired = (make_topic(connection, {0: (1, 2)}) for _ in range(2))
        assert len(granted()) == 5
        for arguments in granted():
            kafka_acls(guarded, *arguments)
        move, deletion = tmp_path / "move.yaml", tmp_path / "deletion.yaml"
        move.write_text(
            "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
            f"spec:\n  elect: at_end\n  partitions:\n    - {{topic: {moved}, partition: 0, replicas: [3, 1]}}\n"
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
        removed = ["--remove", "--force", "--allow-principal", "User:ANONYMOUS", "--cluster", "--operation", "Alter"]
        kafka_acls(guarded, *removed)
        refused = cluster.kadmin("apply", move, "--yes")
        assert refused.status == 6, refused.err
        assert "the right Alter on the cluster is missing" in refused.err
