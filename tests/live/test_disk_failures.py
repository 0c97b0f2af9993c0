"""Disks that fail, and disks that become full, in the middle of a plan that names log directories.

Records flow meanwhile, and none is lost. A test types the way out that kadmin names.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.live.disks import DISK_MODES, HELD, on_disks, plan_of
from support.live.errands import cluster_of
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.sandbox.disks import Disks, why_not

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.kafka.processes import KadminProcess
    from support.live.disks import DiskBrokers

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.executor,
    pytest.mark.on("2.8.2", "3.9.2", "4.4.0"),
]
SIZE_BYTES = 64_000_000
FREE = "200MB/s"


def flowing(brokers: DiskBrokers, *partitions: TopicPartition) -> RecordsFlowing:
    return RecordsFlowing(brokers.sandbox.bootstrap, partitions)


def plan_in(folder: Path, entry: tuple[TopicPartition, Replicas, list[str]], rate: str) -> Path:
    """Write a plan of one partition, whose copies have a rate between disks and between brokers."""
    plan = folder / "plan.yaml"
    plan.write_text(plan_of(entry, spec=f"throttle: {{rate: {rate}, disks: {rate}}}"))
    return plan


def wait_told(runner: KadminProcess, words: str) -> None:
    """Wait until a run says something, while it is at work."""
    try:
        wait_until(lambda: words in runner.told or runner.ended)
    except AssertionError:
        raise AssertionError(f"not {words}: {runner.told}") from None
    assert words in runner.told, runner.told


def cancel_now(brokers: DiskBrokers) -> None:
    """Cancel, and repeat it as kadmin says: its record may have a replica on the disk that failed,
    and until that leaves the ISR no write to it is acknowledged.
    """
    wait_until(lambda: brokers.kadmin("cancel", "--now", "--yes").status == 0)


def test_a_target_disk_that_fails_ends_the_operation_and_the_plan_is_applied_again(
    disk_brokers: DiskBrokers, tmp_path: Path
) -> None:
    cluster = disk_brokers
    (partition,) = cluster.filled({0: (3, 2)})
    first, target = cluster.places(partition, 3), cluster.other(partition, 3)
    entry = partition, (3, 2), [target, "any"]
    plan = plan_in(tmp_path, entry, HELD)
    with flowing(cluster, partition) as flow:
        runner = cluster.run("apply", str(plan), "--yes")
        wait_until(lambda: cluster.copies(partition, 3) == {first[3]: False, target: True})
        cluster.sandbox.fail_disk(3, Path(target))
        ended = runner.answer()
        assert ended.status == 8, ended
        assert f"log directory {target} of broker 3 failed" in ended.err, ended
        assert cluster.places(partition, 3) == first
        refused = cluster.kadmin("apply", str(plan), "--yes")
        assert (refused.status, "KA090" in refused.err) == (4, True), refused
        cluster.sandbox.repair_disk(3, Path(target))
        again = cluster.kadmin("apply", str(plan_in(tmp_path, entry, FREE)), "--yes")
        assert again.status == 0, again
        assert cluster.places(partition, 3) == {3: target}
    assert flow.lost() == []
    assert cluster.throttles() == {}


@pytest.mark.parametrize("way_out", ["repaired", "cancelled"])
def test_a_disk_that_fails_under_a_new_replica_is_repaired_or_the_operation_cancelled(
    disk_brokers: DiskBrokers, tmp_path: Path, way_out: str
) -> None:
    cluster = disk_brokers
    (partition,) = cluster.filled({0: (1, 2)})
    first, target = cluster.places(partition, 1, 2), cluster.disks(3)[0]
    plan = plan_in(tmp_path, (partition, (1, 3), ["any", target]), HELD)
    with flowing(cluster, partition) as flow:
        runner = cluster.run("apply", str(plan), "--yes")
        wait_until(lambda: target in cluster.copies(partition, 3))
        cluster.sandbox.fail_disk(3, Path(target))
        wait_told(runner, f"log directories failed: {target} of broker 3")
        assert "kadmin cancel --now" in runner.told
        if way_out == "cancelled":
            cancel_now(cluster)
            assert runner.answer().status == 8
            cluster.sandbox.repair_disk(3, Path(target))
            assert cluster.places(partition, 1, 2) == first
        else:
            cluster.sandbox.repair_disk(3, Path(target))
            freed = cluster.kadmin("throttle", "set", "--rate", "200MB/s", "--yes")
            assert freed.status == 0, freed
            ended = runner.answer()
            assert ended.status == 0, ended
            assert cluster.places(partition, 1, 3) == {1: first[1], 3: target}
    assert flow.lost() == []
    wait_until(lambda: cluster.throttles() == {})


def test_a_disk_that_fails_under_a_replica_that_is_moved_away_is_waited_for(
    disk_brokers: DiskBrokers, tmp_path: Path
) -> None:
    cluster = disk_brokers
    (partition,) = cluster.filled({0: (3, 2)})
    first, target = cluster.places(partition, 3)[3], cluster.other(partition, 3)
    entry = partition, (3, 2), [target, "any"]
    plan = plan_in(tmp_path, entry, HELD)
    with flowing(cluster, partition) as flow:
        runner = cluster.run("apply", str(plan), "--yes")
        wait_until(lambda: cluster.copies(partition, 3) == {first: False, target: True})
        cluster.sandbox.fail_disk(3, Path(first))
        wait_told(runner, f"log directories failed: {first} of broker 3")
        cancel_now(cluster)
        ended = runner.answer()
        assert ended.status == 8, ended
        assert "may go on after a repair" in ended.err, ended
        cluster.sandbox.repair_disk(3, Path(first))
        wait_until(lambda: cluster.copies(partition, 3) in ({first: False}, {target: False}))
    assert flow.lost() == []
    assert cluster.throttles() == {}


@pytest.fixture(scope="module", params=DISK_MODES)
def small_disks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    with cluster_of(request.param, tmp_path_factory, 3, disks=Disks(2, SIZE_BYTES)) as found:
        yield found


@pytest.mark.skipif(why_not() is not None, reason=f"sized disks: {why_not()}")
def test_a_target_disk_that_becomes_full_fails_and_loses_nothing(
    small_disks: Sandbox, tmp_path: Path
) -> None:
    with on_disks(small_disks) as cluster:
        (partition,) = cluster.filled({0: (3, 2)})
        first, target = cluster.places(partition, 3), cluster.other(partition, 3)
        entry = partition, (3, 2), [target, "any"]
        plan = plan_in(tmp_path, entry, HELD)
        others = Path(target) / "of-others"
        with flowing(cluster, partition) as flow:
            runner = cluster.run("apply", str(plan), "--yes")
            wait_until(lambda: cluster.copies(partition, 3) == {first[3]: False, target: True})
            fill(others)
            ended = runner.answer()
            assert ended.status == 8, ended
            assert f"log directory {target} of broker 3 failed" in ended.err, ended
            assert cluster.places(partition, 3) == first
            others.unlink()
            cluster.sandbox.repair_disk(3, Path(target))
            again = cluster.kadmin("apply", str(plan_in(tmp_path, entry, FREE)), "--yes")
            assert again.status == 0, again
            assert cluster.places(partition, 3) == {3: target}
        assert flow.lost() == []
        assert cluster.throttles() == {}


def fill(file: Path) -> None:
    """Write what the disk still holds, as other programs do."""
    block = b"x" * 65_536
    try:
        with file.open("wb", buffering=0) as written:
            while written.write(block):
                pass
    except OSError:
        return
