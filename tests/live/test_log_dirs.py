"""Plans that name log directories, on live brokers with two disks each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.live.disks import HELD, plan_of, running_on_disks
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.disks import DiskCluster

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


def test_cancel_now_ends_moves_between_disks_and_the_throttle_goes(
    cluster: DiskCluster, tmp_path: Path
) -> None:
    topic = cluster.topic({0: (1, 2)})
    partition = TopicPartition(topic, 0)
    first = cluster.places(partition, 1, 2)
    to_1, to_2 = cluster.other(partition, 1), cluster.other(partition, 2)
    file = tmp_path / "plan.yaml"
    file.write_text(plan_of((partition, (1, 2), [to_1, to_2]), spec=f"throttle: {{disks: {HELD}}}"))
    assert cluster.leave_in_flight(file, 2)
    assert cluster.copies(partition, 1) == {first[1]: False, to_1: True}
    assert {broker: rate for broker, rate in cluster.disk_rates().items() if rate} == {
        1: "1",
        2: "1",
    }
    shown = cluster.kadmin("status")
    assert "0 of 1" in shown.out, shown
    assert cluster.kadmin("verify", file).status == 8
    ended = cluster.kadmin("cancel", "--now", "--yes")
    assert ended.status == 0, ended
    assert "2 moves between disks ended" in ended.out + ended.err, ended
    assert cluster.places(partition, 1, 2) == first
    wait_until(lambda: set(cluster.disk_rates().values()) == {None})


def test_it_is_resumed_after_every_step(cluster: DiskCluster, tmp_path: Path) -> None:
    step = 0
    while True:
        step += 1
        topic = cluster.topic({0: (1, 2), 1: (2, 3)})
        inside, between = (TopicPartition(topic, number) for number in range(2))
        wanted = {1: cluster.other(inside, 1), 2: cluster.other(inside, 2)}
        to_1 = cluster.fuller(1)
        file = tmp_path / f"plan-{step}.yaml"
        file.write_text(
            plan_of(
                (inside, (1, 2), [wanted[1], wanted[2]]),
                (between, (1, 2), [to_1, "any"]),
                spec="throttle: {rate: 50MB/s, disks: 50MB/s}",
            )
        )
        left = cluster.leave_in_flight(file, step)
        if left:
            resumed = cluster.kadmin("resume")
            assert resumed.status == 0, (step, resumed)
        assert cluster.places(inside, 1, 2) == wanted, step
        assert cluster.places(between, 1)[1] == to_1, step
        assert cluster.kadmin("verify", file).status == 0
        if not left:
            break
    assert step > 3
    wait_until(lambda: set(cluster.disk_rates().values()) == {None})


@pytest.mark.matrix
def test_a_broker_that_is_killed_in_the_middle_goes_on(
    cluster: DiskCluster, tmp_path: Path
) -> None:
    """What it was asked for before a replica came is lost: the replica is moved afterwards."""
    topic = cluster.topic({0: (1, 2), 1: (2, 3)})
    inside, between = (TopicPartition(topic, number) for number in range(2))
    to_1, wanted = cluster.disks(1)[0], cluster.other(inside, 1)
    cluster.make_fuller(1, to_1)
    file = tmp_path / "plan.yaml"
    file.write_text(
        plan_of(
            (inside, (1, 2), [wanted, "any"]),
            (between, (2, 1), ["any", to_1]),
            spec="throttle: {rate: 50MB/s, disks: 1MB/s}",
        )
    )
    assert cluster.leave_in_flight(file, 1)
    assert cluster.kadmin("pause").status == 0
    cluster.sandbox.stop_broker(1, kill=True)
    cluster.sandbox.start_broker(1)
    resumed = cluster.kadmin("resume")
    assert resumed.status == 0, resumed
    assert cluster.places(inside, 1) == {1: wanted}
    assert cluster.places(between, 1) == {1: to_1}


@pytest.mark.matrix
def test_a_target_disk_that_fails_ends_the_operation_with_the_reason_and_loses_nothing(
    cluster: DiskCluster, tmp_path: Path
) -> None:
    topic = cluster.topic({0: (3, 2)})
    partition = TopicPartition(topic, 0)
    first, target = cluster.places(partition, 3), cluster.other(partition, 3)
    file = tmp_path / "plan.yaml"
    file.write_text(
        plan_of((partition, (3, 2), [target, "any"]), spec=f"throttle: {{disks: {HELD}}}")
    )
    assert cluster.leave_in_flight(file, 1)
    cluster.sandbox.fail_disk(3, Path(target))
    try:
        wait_until(lambda: not cluster.copies(partition, 3).get(target, False))
        ended = cluster.kadmin("resume")
        assert ended.status != 0, ended
        assert "KAFKA_STORAGE_ERROR" in ended.err, ended
        assert cluster.places(partition, 3) == first
        refused = cluster.kadmin("apply", file, "--yes")
        assert refused.status == 4, refused
        assert "KA090" in refused.err
    finally:
        cluster.sandbox.repair_disk(3, Path(target))
