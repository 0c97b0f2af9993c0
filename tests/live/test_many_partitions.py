"""F22: ten thousand partitions through a ZooKeeper with a heap of 256 MB, as every server of the sandbox has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cluster_under_test import Cluster, document, reassignment

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.executor]

PARTITIONS = 10_000
TOPICS = 20
EACH = PARTITIONS // TOPICS
PATIENT = {"zookeeper.session.timeout.ms": "16000", "log.index.size.max.bytes": "4096"}
"""Two busy cores must not make brokers lose their sessions; twenty thousand logs need small indexes."""


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Cluster]:
    sandbox = Sandbox.up(SandboxSpec(tmp_path / "sandbox", brokers=2, chroot="/kafka", broker_config=PATIENT))
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, sandbox.spec.version, sandbox)
    yield found
    found.close()
    sandbox.down()


def test_f22_ten_thousand_partitions_leave_zookeeper_alive(large: Cluster, tmp_path: Path) -> None:
    """A reorder copies nothing, so that what is measured are the writes of the controller."""
    topics = [large.create_topic({number: [1, 2] for number in range(EACH)}, prefix="many") for _ in range(TOPICS)]
    value = reassignment("", {})
    value["spec"]["partitions"] = [
        {"topic": topic, "partition": number, "replicas": [2, 1]} for topic in topics for number in range(EACH)
    ]
    applied = large.kadmin("apply", document(tmp_path / "plan.json", value), "--yes", "--timeout", "1200")
    assert applied.status == 0, applied.err
    assert large.get("/admin/reassign_partitions") is None
    assert all(set(large.state(topic).topics[topic].replicas.values()) == {(2, 1)} for topic in topics)
