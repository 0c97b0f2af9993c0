"""Plans that name log directories, on live brokers with two disks each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.disks import HELD, plan_of
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.plan.throttle import DISK_RATE

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.disks import DiskBrokers

pytestmark = pytest.mark.live


@pytest.mark.eras
def test_replicas_are_moved_to_brokers_and_disks_in_one_plan_and_back(
    disk_brokers: DiskBrokers, tmp_path: Path
) -> None:
    cluster = disk_brokers
    inside, between, both = cluster.filled({0: (1, 2), 1: (2, 3), 2: (1, 3)})
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
    shown = cluster.kadmin("diff", str(file))
    assert "3 partitions to reassign" in shown.out
    assert str(cluster.other(inside, 1)) in shown.out
    assert cluster.kadmin("verify", str(file)).status == 8
    applied = cluster.kadmin("apply", str(file), "--yes")
    assert applied.status == 0, applied
    assert [
        cluster.places(inside, 1, 2),
        cluster.places(between, 2, 1),
        cluster.places(both, 2, 3),
    ] == wanted
    assert cluster.kadmin("verify", str(file)).status == 0
    assert "nothing to do" in cluster.kadmin("diff", str(file)).out
    wait_until(lambda: not cluster.throttles())
    back = cluster.kadmin("rollback", "--yes")
    assert back.status == 0, back
    assert [
        cluster.places(inside, 1, 2),
        cluster.places(between, 2, 3),
        cluster.places(both, 1, 3),
    ] == first
    assert "nothing to do" in cluster.kadmin("rollback", "--yes").out


@pytest.mark.executor
@pytest.mark.on("2.8.2", "3.9.2", "4.4.0")
def test_cancel_now_ends_moves_between_disks_and_the_throttle_goes(
    disk_brokers: DiskBrokers, tmp_path: Path
) -> None:
    cluster = disk_brokers
    (partition,) = cluster.filled({0: (1, 2)})
    first = cluster.places(partition, 1, 2)
    to_1, to_2 = cluster.other(partition, 1), cluster.other(partition, 2)
    file = tmp_path / "plan.yaml"
    file.write_text(plan_of((partition, (1, 2), [to_1, to_2]), spec=f"throttle: {{disks: {HELD}}}"))
    with RecordsFlowing(cluster.sandbox.bootstrap, [partition]) as flow:
        runner = cluster.run("apply", str(file), "--yes")
        for broker, to in ((1, to_1), (2, to_2)):
            moving = {first[broker]: False, to: True}
            wait_until(lambda: cluster.copies(partition, broker) == moving)  # noqa: B023
        held = {ConfigEntity.of_broker(broker): {DISK_RATE: "1"} for broker in (1, 2)}
        assert cluster.throttles() == held
        assert "0/1 done" in cluster.kadmin("status").out
        assert cluster.kadmin("verify", str(file)).status == 8
        ended = cluster.kadmin("cancel", "--now", "--yes")
        assert ended.status == 0, ended
        assert runner.answer().status == 8
    assert flow.lost() == []
    assert "2 moves between disks ended" in ended.out + ended.err, ended
    assert cluster.places(partition, 1, 2) == first
    wait_until(lambda: not cluster.throttles())
