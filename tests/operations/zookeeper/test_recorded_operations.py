"""Operations that kadmin 1.0.0 put on record in ZooKeeper are read, resumed, cancelled and rolled
back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.controller.simple_controller import Manner, SimpleController
from support.zookeeper.recorded_znodes import KADMIN_1_0_0, load

from kadmin.worlds.zookeeper.wire.store import Store
from kadmin.worlds.zookeeper.znodes.controller import CLUSTER_ID

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

pytestmark = pytest.mark.zookeeper

COMPLETED, INTERRUPTED = "20261127T203631Z-ace368", "20261127T203655Z-c61786"


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot, brokers=3) as found:
        found.behave(Manner.HOLD)
        found.client.delete(CLUSTER_ID)
        yield found


def kadmin(cluster: SimpleController, *arguments: str | Path) -> Answer:
    return command(*arguments, environment={"KADMIN_ZOOKEEPER": cluster.connect})


def test_operations_of_1_0_0_are_read_resumed_and_rolled_back(cluster: SimpleController) -> None:
    """One was throttled anew, paused, resumed and completed; one was asked to pause, and killed in
    its first wave.
    """
    with Store.connect(cluster.connect) as store:
        load(store, KADMIN_1_0_0)
        assert (
            "runner: ann@host-a (pid 20994) since 2026-11-27T20:36:55Z"
            in kadmin(cluster, "status").out
        )
    status = kadmin(cluster, "status").out
    assert f"operation {INTERRUPTED} (reassignment, interrupted)\n" in status
    assert "  throttle: 50.0 kB/s\n" in status
    told = kadmin(cluster, "history").out
    assert (
        f"{COMPLETED}  reassignment  completed    -     ann@host-a  2 partitions at the target\n"
        in told
    )
    assert (
        f"{INTERRUPTED}  reassignment  interrupted  -     ann@host-a  asked to pause by ann@host-a"
        in told
    )
    events = kadmin(cluster, "history", COMPLETED).out
    for event in (
        (
            "2026-11-27T20:36:31Z  -                 -  -      started by ann@host-a; throttle "
            "100 kB/s\n"
        ),
        "2026-11-27T20:36:34Z  0:00              -  -      changed the throttle to 2.00 MB/s\n",
        "2026-11-27T20:36:44Z  -                 -  -      resumed by ann@host-a\n",
        "2026-11-27T20:36:47Z  0:04              1  -      published wave 2 of 2\n",
    ):
        assert event in events

    cluster.behave(Manner.OBEY)
    resumed = kadmin(cluster, "resume", "--yes")
    assert resumed.status == 0, resumed.err
    assert cluster.replicas("payments") == {0: [2, 3], 1: [2, 3]}
    assert f"{INTERRUPTED}  reassignment  completed  " in kadmin(cluster, "history").out
    rolled_back = kadmin(cluster, "rollback", COMPLETED, "--yes")
    assert rolled_back.status == 0, rolled_back.err
    assert cluster.replicas("orders") == {0: [1, 2], 1: [1, 2]}
    assert kadmin(cluster, "throttle", "show").out.startswith("no throttles")


def test_an_operation_of_1_0_0_is_cancelled(cluster: SimpleController) -> None:
    with Store.connect(cluster.connect) as store:
        load(store, KADMIN_1_0_0)
    cluster.behave(Manner.OBEY)
    cancelled = kadmin(cluster, "cancel", "--yes")
    assert cancelled.status == 0, cancelled.err
    assert cancelled.out.startswith(
        "cancelled: nothing is in flight, 1 of 2 partitions moved; asked to cancel by "
    )
    assert cluster.replicas("payments") == {0: [2, 3], 1: [1, 2]}
    assert kadmin(cluster, "throttle", "show").out.startswith("no throttles")
