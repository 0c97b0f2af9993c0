"""Brokers that are the controllers, too: the gate of a stop counts their votes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.live.combined import combined
from support.live.doctor import examine
from support.live.kraft import KraftCluster, make_topic
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.sandbox import SandboxSpec
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.matrix]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KraftCluster]:
    """Three brokers that are the three controllers."""
    spec = SandboxSpec(tmp_path / "sandbox", "4.4.0", brokers=3, mode="kraft")
    with combined(spec) as sandbox, KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        yield KraftCluster(sandbox, connection, tmp_path / "records")


def check(cluster: KraftCluster, *brokers: int) -> tuple[int, list[Any]]:
    """Return the exit code of the gate, and what forbids the stop in the whole cluster."""
    answer = cluster.kadmin("broker", "check", *map(str, brokers), "--stop", "-o", "json")
    found = json.loads(answer.out)["obstacles"]
    return answer.status, [each for each in found if each["topic"] is None]


def test_a_stop_that_takes_the_majority_of_controllers_is_forbidden(cluster: KraftCluster) -> None:
    """No partition forbids it: each has its replicas on all brokers, and a minimum of one."""
    make_topic(cluster.connection, {0: (1, 2, 3)})
    assert check(cluster, 3) == (0, [])
    status, (obstacle,) = check(cluster, 1, 2)
    assert (status, obstacle["reason"]) == (8, "quorum")
    assert obstacle["because"] == "1 of 3 controllers would be left, and 2 are a majority"

    cluster.sandbox.stop_broker(3)
    wait_until(lambda: check(cluster, 1)[0] == 8)
    (obstacle,) = check(cluster, 1)[1]
    assert obstacle["because"].endswith("2 are a majority; not following: 3")
    cluster.sandbox.server("broker", 1).stop(kill=True)
    found = examine(cluster)["no-quorum"]
    assert found["stops_apply"], "what was forbidden stops every change"
