"""Plans that name log directories, on live brokers with two disks each."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from support.live.disks import HELD, DiskCluster, plan_of, running_on_disks
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.live

CLUSTERS = [
    *((each, "zookeeper") for each in os.environ.get("KADMIN_TEST_VERSIONS", "2.8.2").split(",")),
    *((each, "kraft") for each in os.environ.get("KADMIN_TEST_KRAFT", "4.4.0").split(",")),
]


@pytest.fixture(scope="module", params=CLUSTERS, ids=lambda each: f"{each[0]}-{each[1]}")
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DiskCluster]:
    version, mode = request.param
    with running_on_disks(version, mode, tmp_path_factory.mktemp("disks") / "sandbox") as found:
        yield found


def test_replicas_are_moved_to_brokers_and_disks_in_one_plan_and_back(
    cluster: DiskCluster, tmp_path: Path
) -> None:
    topic = cluster.topic({0: (1, 2), 1: (2, 3), 2: (1, 3)})
    inside, between, both = (TopicPartition(topic, number) for number in range(3))
    first = [
        cluster.places(inside, 1, 2),
        cluster.places(between, 2, 3),
        cluster.places(both, 1, 3),
    ]
    to_1, to_2 = cluster.disks(1)[1], cluster.disks(2)[0]
    cluster.make_fuller(1, to_1)
    cluster.make_fuller(2, to_2)
    file = tmp_path / "plan.yaml"
    file.write_text(
        plan_of(
            (inside, (1, 2), [cluster.other(inside, 1), "any"]),
            (between, (2, 1), [cluster.other(between, 2), to_1]),
            (both, (2, 3), [to_2, cluster.other(both, 3)]),
            spec="throttle: {rate: 50MB/s, disks: 50MB/s}",
        )
    )
    wanted = [
        {1: cluster.other(inside, 1), 2: first[0][2]},
        {2: cluster.other(between, 2), 1: to_1},
        {2: to_2, 3: cluster.other(both, 3)},
    ]
    shown = cluster.kadmin("diff", file)
    assert "3 partitions to reassign" in shown.out
    assert str(cluster.other(inside, 1)) in shown.out
    assert cluster.kadmin("verify", file).status == 8
    applied = cluster.kadmin("apply", file, "--yes")
    assert applied.status == 0, applied
    assert [
        cluster.places(inside, 1, 2),
        cluster.places(between, 2, 1),
        cluster.places(both, 2, 3),
    ] == wanted
    assert cluster.kadmin("verify", file).status == 0
    assert "nothing to do" in cluster.kadmin("diff", file).out
    wait_until(lambda: set(cluster.disk_rates().values()) == {None})
    back = cluster.kadmin("rollback", "--yes")
    assert back.status == 0, back
    assert [
        cluster.places(inside, 1, 2),
        cluster.places(between, 2, 3),
        cluster.places(both, 1, 3),
    ] == first
    assert "nothing to do" in cluster.kadmin("rollback", "--yes").out
