"""Claims of DISK_CLAIMS on disks that fail, fill up and are taken out, on live brokers of every
version under test.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pytest
from support.eras.claims import DISK_CLAIMS
from support.eras.disks import DiskCluster
from support.live.waiting import stays, wait_until

from kadmin.cluster.disks import DiskState
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.sandbox.disks import META, repair, why_not
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.matrix, pytest.mark.claims(DISK_CLAIMS)]

ROOM_BYTES = 1_200_000
"""Room for the first record of a copy, and not for the second."""


def test_deleted_with_a_failed_directory(disks: DiskCluster) -> None:
    disk = Path(disks.disks(3)[0])
    partition = disks.partition(3, 1, at={3: str(disk)})
    assert disks.sandbox.fail_disk(3, disk)
    disks.ask_for_deletion()
    wait_until(lambda: not disks.is_there(partition))
    disks.sandbox.repair_disk(3, disk)
    wait_until(lambda: not (disk / str(partition)).exists())
    left = [each.name.rpartition("-")[2] for each in disk.glob(f"{partition}.*")]
    folder = "ends in `-stray`" if left == ["stray"] else "removed"
    assert disks.seen("deleted_with_a_failed_directory") == f"deleted at once; {folder}"


@dataclass(frozen=True, slots=True)
class Failed:
    """A disk of broker 3 that has failed, and partitions that were made before: two in it, [3, 1]
    and [3, 2], and [3] that moves to `target` from the other good one.
    """

    disk: str
    target: str
    pair: TopicPartition
    other_pair: TopicPartition
    moving: TopicPartition


@pytest.fixture(scope="module")
def failed(fact_disks_sandbox: Sandbox) -> Iterator[Failed]:
    with KafkaConnection(Servers(fact_disks_sandbox.bootstrap)) as connection:
        disks = DiskCluster(fact_disks_sandbox, connection)
        disk, source, target = disks.disks(3)
        pair, other_pair = (disks.partition(3, each, at={3: disk}) for each in (1, 2))
        moving = disks.partition(3, at={3: source}, filled=True)
        disks.begin_inside(3, moving, target)
        assert fact_disks_sandbox.fail_disk(3, Path(disk))
        yield Failed(disk, target, pair, other_pair, moving)
        fact_disks_sandbox.repair_disk(3, Path(disk))
        disks.delete_topics()


def test_move_when_another_directory_fails(disks: DiskCluster, failed: Failed) -> None:
    assert disks.is_copying(3, failed.moving, failed.target)
    with disks.fast(3):
        disks.wait_moved(3, failed.moving, failed.target)
    assert disks.shown(failed.moving).leader == 3
    assert disks.seen("move_when_another_directory_fails") == "goes on and ends"


def test_failed_directory(disks: DiskCluster, failed: Failed) -> None:
    found = disks.log_dirs(3)
    (disk,) = (each for each in found.disks[3] if each.path == failed.disk)
    assert (disk.state, disk.total_bytes, disk.usable_bytes) == (DiskState.FAILED, None, None)
    assert [each.cause for each in found.failed_dirs[3]] == ["KAFKA_STORAGE_ERROR"]
    assert failed.disk not in {each.path for each in found.replicas[3]}
    assert failed.moving in found.sizes[3]
    wait_until(lambda: disks.shown(failed.pair).isr == (1,))
    assert (disks.shown(failed.pair).leader, disks.shown(failed.pair).offline) == (1, (3,))
    assert disks.seen("failed_directory") == (
        "failed (56), without replicas and bytes; B leads, A is offline"
    )


def test_move_beside_a_failed_directory(disks: DiskCluster, failed: Failed) -> None:
    (good,) = set(disks.disks(3)) - {failed.disk, failed.target}
    code = disks.ask(3, good, failed.moving)
    assert disks.seen("move_beside_a_failed_directory") == f"refused ({code})"


@pytest.mark.usefixtures("failed")
def test_reassignment_beside_a_failed_directory(disks: DiskCluster) -> None:
    *_, good = disks.disks(3)
    named, other = disks.partition(1), disks.partition(1)
    disks.ask(3, good, named)
    for partition in (named, other):
        disks.reassign(partition, 3)
    assert (disks.disk_of(3, named), disks.disk_of(3, other) in disks.disks(3)) == (good, True)
    assert disks.seen("reassignment_beside_a_failed_directory") == (
        "end in good directories, the one that was asked for"
    )


def test_away_and_back_with_a_failed_directory(disks: DiskCluster, failed: Failed) -> None:
    partition = failed.other_pair
    disks.reassign(partition, 2, 1)
    disks.move(partition, (2, 3))
    assert stays(lambda: disks.in_flight(partition))
    offline = "offline" if disks.shown(partition).offline == (3,) else "not offline"
    disks.move(partition, None)
    wait_until(lambda: not disks.in_flight(partition))
    assert disks.seen("away_and_back_with_a_failed_directory") == (
        f"ends; in flight until null is sent, {offline} in Metadata"
    )


def test_repaired_directory(disks: DiskCluster, failed: Failed) -> None:
    """The last one: the directory is good afterwards."""
    repair(Path(failed.disk))
    assert stays(lambda: disks.failed(3) == [failed.disk])
    disks.restart(3)
    assert disks.failed(3) == []
    wait_until(lambda: set(disks.shown(failed.pair).isr) == {1, 3})
    assert disks.copies(3, failed.pair).keys() == {failed.disk}
    assert disks.seen("repaired_directory") == (
        "failed (56) until the restart; then its replicas are in sync again"
    )


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """Fill a file system up to ROOM_BYTES."""
    system, file = os.statvfs(disk), disk / "full"
    with file.open("wb") as filler:
        os.posix_fallocate(filler.fileno(), 0, system.f_bavail * system.f_frsize - ROOM_BYTES)
    try:
        yield
    finally:
        file.unlink()


@pytest.mark.skipif(why_not() is not None, reason=f"sized disks: {why_not()}")
def test_move_to_a_full_directory(disks: DiskCluster) -> None:
    disk, there, _ = disks.disks(2)
    other, partition = (
        disks.partition(2, 1, at={2: disk}),
        disks.partition(2, at={2: there}, filled=True),
    )
    with full(Path(disk)), disks.fast(2):
        code = disks.ask(2, disk, partition)
        wait_until(lambda: disks.failed(2) == [disk])
        assert disks.copies(2, partition).keys() == {there}
        wait_until(lambda: disks.shown(other).isr == (1,))
        assert disks.shown(partition).leader == 2
    assert disks.seen("move_to_a_full_directory") == (
        f"{code}; the directory fails with all its replicas, and the moved one stays"
    )
    disks.restart(2)
    wait_until(lambda: set(disks.shown(other).isr) == {1, 2})


@dataclass(frozen=True, slots=True)
class Lost:
    """A disk of broker 2 on which were [2] and [2, 1] with records."""

    alone: TopicPartition
    pair: TopicPartition

    @classmethod
    def on(cls, disks: DiskCluster, disk: str) -> Self:
        alone, pair = (disks.partition(*each, at={2: disk}, filled=True) for each in ((2,), (2, 1)))
        return cls(alone, pair)

    def outcome(self, disks: DiskCluster) -> str:
        """What is there when the broker has started without these replicas.

        In KRaft mode [2] leads or has no leader: that depends on which the controller hears first,
        the directory of the new replica or that the broker is alive.
        """
        wait_until(
            lambda: bool(disks.copies(2, self.alone)) and set(disks.shown(self.pair).isr) == {1, 2}
        )
        assert disks.failed(2) == []
        (again,), (copied,) = (disks.copies(2, each).values() for each in (self.alone, self.pair))
        assert (again.size_bytes, copied.size_bytes) == (0, disks.log_dirs(1).sizes[1][self.pair])
        return "[A]: empty; [A, B]: copied again"


def test_replaced_directory(disks: DiskCluster) -> None:
    """In KRaft mode the empty directory has to be formatted: its ids are written."""
    disk = Path(disks.disks(2)[0])
    lost, ids = Lost.on(disks, str(disk)), (disk / META).read_text(encoding="ascii")
    disks.sandbox.stop_broker(2)
    for each in disk.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    starts = "starts"
    if disks.sandbox.spec.kraft:
        with pytest.raises(NotCompletedError, match="ended before it was ready") as refused:
            disks.sandbox.start_broker(2)
        assert f"No `{META}` found in {disk}" in (refused.value.cause or "")
        new = "".join(each for each in ids.splitlines(keepends=True) if "directory.id" not in each)
        (disk / META).write_text(new, encoding="ascii")
        starts = "starts when it is formatted"
    disks.sandbox.start_broker(2)
    assert disks.seen("replaced_directory") == f"{starts}; {lost.outcome(disks)}"


@dataclass(frozen=True, slots=True)
class TakenOut:
    """A disk of broker 2 that is not in its `log.dirs`."""

    folder: Path
    lost: Lost


@pytest.fixture(scope="module")
def taken_out(fact_disks_sandbox: Sandbox) -> Iterator[TakenOut]:
    with KafkaConnection(Servers(fact_disks_sandbox.bootstrap)) as connection:
        disks = DiskCluster(fact_disks_sandbox, connection)
        lost = Lost.on(disks, disks.disks(2)[-1])
        with disks.without_last_disk(2) as folder:
            yield TakenOut(folder, lost)
        disks.delete_topics()


def test_directory_taken_out(disks: DiskCluster, taken_out: TakenOut) -> None:
    assert disks.seen("directory_taken_out") == taken_out.lost.outcome(disks)


def test_directory_put_back(disks: DiskCluster, taken_out: TakenOut) -> None:
    assert (taken_out.folder / str(taken_out.lost.pair)).is_dir()
    disks.sandbox.stop_broker(2)
    with pytest.raises(NotCompletedError, match="ended before it was ready") as refused:
        disks.sandbox.start_broker(2)
    assert "Duplicate log directories" in (refused.value.cause or "")
    assert disks.seen("directory_put_back") == "the broker does not start"
