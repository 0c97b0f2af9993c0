"""Credentials that brokers refuse end a change through ZooKeeper, which would go on without what
brokers know.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import deletion, document, reassignment
from support.kafka.secured import jaas
from support.live.cluster import Cluster
from support.live.listeners import up_with_listeners
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.sandbox import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.xdist_group("broker credentials")]

PASSWORD = "s3cret canary"  # noqa: S105 - the sandbox's own
WITHOUT = "--without-brokers"


class Guarded:
    """A cluster in ZooKeeper mode, and a context of it in which brokers are asked with a
    password.
    """

    def __init__(self, cluster: Cluster, brokers: str, folder: Path) -> None:
        self.cluster = cluster
        self._folder = folder
        self._brokers = brokers

    def context(self, password: str) -> dict[str, str]:
        """Return the environment of a contexts file with this password."""
        login = jaas("plain.PlainLoginModule", username="kadmin", password=password)
        (self._folder / "client.properties").write_text(
            f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
        )
        kafka = {"bootstrap_servers": self._brokers, "command_config": "client.properties"}
        entry = {"zookeeper": {"connect": self.cluster.connect}, "kafka": kafka}
        file = document(
            self._folder / "contexts.json",
            {"kind": "Contexts", "current": "it", "contexts": {"it": entry}},
        )
        return {"KADMIN_CONFIG": str(file)}

    def kadmin(self, *arguments: str | Path, password: str = "wrong") -> Answer:  # noqa: S107 - that it is
        return command(*arguments, environment=self.context(password))


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded")
    of = "listener.name.sasl"
    config = {
        f"{of}.sasl.enabled.mechanisms": "PLAIN",
        f"{of}.plain.sasl.jaas.config": jaas("plain.PlainLoginModule", user_kadmin=PASSWORD),
    }
    spec = SandboxSpec(
        folder / "sandbox", version="2.8.2", brokers=2, chroot="/kafka", broker_config=config
    )
    sandbox, addresses = up_with_listeners(spec, {"SASL": "SASL_PLAINTEXT"})
    cluster = Cluster(sandbox.connect_string, sandbox.bootstrap, "2.8.2", sandbox)
    yield Guarded(cluster, ",".join(addresses["SASL"]), folder)
    cluster.close()
    sandbox.down()


def test_a_wrong_password_ends_a_reassignment_before_anything_is_written(
    guarded: Guarded, tmp_path: Path
) -> None:
    """Bytes and room on disk were unknown, which was a warning."""
    topic = guarded.cluster.create_topic({0: [1]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2]}))
    before = guarded.cluster.fingerprint()
    for line in (("apply", plan, "--yes"), ("apply", plan, "--dry-run")):
        refused = guarded.kadmin(*line)
        assert refused.status == 6, refused.err
        assert "refuse the credentials" in refused.err
        assert f"client.properties; or {WITHOUT}" in refused.err
        assert PASSWORD not in refused.err
    shown = guarded.kadmin("diff", plan, "--detailed-exitcode")
    assert (shown.status, "refuse the credentials" in shown.out) == (6, True), shown.out
    assert guarded.cluster.fingerprint() == before
    previewed = guarded.kadmin("apply", plan, "--dry-run", WITHOUT)
    assert previewed.status == 0, previewed.err
    assert f" {WITHOUT} " in previewed.err, "the command that applies it repeats what was given"
    done = guarded.kadmin("apply", plan, "--yes", WITHOUT)
    assert done.status == 0, done.err
    assert (
        "bytes on disk are not known: brokers are not asked: --without-brokers is set" in done.err
    )
    assert guarded.cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2,)
    back = guarded.kadmin("rollback", "--yes")
    assert back.status == 6, back.err
    back = guarded.kadmin("rollback", "--yes", password=PASSWORD)
    assert back.status == 0, back.err


def test_a_deletion_without_brokers_still_has_guards_that_were_not_looked_at(
    guarded: Guarded, tmp_path: Path
) -> None:
    topic = guarded.cluster.create_topic({0: [1]})
    plan = document(tmp_path / "plan.yaml", deletion(topic))
    refused = guarded.kadmin("apply", plan, "--yes")
    assert (refused.status, "refuse the credentials" in refused.err) == (6, True), refused.err
    refused = guarded.kadmin("apply", plan, "--yes", WITHOUT)
    assert (refused.status, "KA073" in refused.err) == (6, True), refused.err
    done = guarded.kadmin("apply", plan, "--yes", password=PASSWORD)
    assert done.status == 0, done.err


@pytest.mark.matrix
def test_a_wrong_password_ends_a_resume_and_leaves_the_operation_as_it_is(
    guarded: Guarded, tmp_path: Path
) -> None:
    cluster = guarded.cluster
    topic = cluster.create_topic({0: [1]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2]}))
    line = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", cluster.connect]
    runner = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: cluster.get("/admin/reassign_partitions") is not None, 60)
    runner.kill()
    runner.wait()
    before = cluster.history()
    refused = guarded.kadmin("resume", "--yes")
    assert (refused.status, "refuse the credentials" in refused.err) == (6, True), refused.err
    assert cluster.history() == before
    resumed = guarded.kadmin("resume", "--yes", WITHOUT)
    assert resumed.status == 0, resumed.err
