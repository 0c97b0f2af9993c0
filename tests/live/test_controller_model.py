"""The model of the controller against the live one: the same scenario, the same sequence of values
in each znode.

What is compared are the distinct values that the admin nodes and each partition's entry in the
topic znode took, one after the other, as ZooKeeper's transaction log has them; how long they lasted
is not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from support.controller.eras import ERAS
from support.controller.live_or_model import LiveSide, ModelSide, histories
from support.controller.scenarios import SCENARIOS, SHORT
from support.controller.znodes import ELECTION, REASSIGN
from support.live.waiting import wait_until
from support.zookeeper.transaction_log import TransactionLog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.cluster import Cluster

    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.executor]


@pytest.fixture
def client(live: Sandbox) -> Iterator[KazooClient]:
    """The model's session, on the ZooKeeper of the live brokers."""
    opened = KazooClient(live.connect_string.split("/", maxsplit=1)[0])
    opened.start()
    opened.create("/model", b"")
    yield opened
    opened.delete("/model", recursive=True)
    opened.stop()
    opened.close()


@pytest.fixture(autouse=True)
def attentive(cluster: Cluster) -> Iterator[None]:
    """Every scenario leaves a cluster without admin nodes and with a controller that listens."""
    yield
    left = [path for path in (REASSIGN, ELECTION) if cluster.get(path) is not None]
    for path in left:
        cluster.raw.delete(f"/kafka{path}")
    if left or not cluster.controllers.hears_a_probe():
        cluster.controllers.move()
    wait_until(cluster.controllers.hears_a_probe, 60)


@pytest.mark.parametrize(
    "name",
    [
        name if name in SHORT else pytest.param(name, marks=pytest.mark.executor)
        for name in SCENARIOS
    ],
)
def test_the_model_does_what_a_live_controller_does(
    cluster: Cluster, live: Sandbox, client: KazooClient, name: str
) -> None:
    log = TransactionLog(live.spec.directory)
    real = LiveSide(cluster, log)
    SCENARIOS[name](real)
    expected = histories(real.writes(), "/kafka", real.topic)
    assert len(expected) > 1
    model = ModelSide(client, "/model", ERAS[cluster.version_text], log, real.topic)
    SCENARIOS[name](model)
    found = histories(model.writes(), "/model", model.topic)
    assert json.dumps(found, indent=1) == json.dumps(expected, indent=1)
