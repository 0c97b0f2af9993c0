"""Findings on the disks of brokers, whichever way they were asked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import CLUSTER_ID, cluster, tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.insight.diagnosis.copies import copy_troubles
from kadmin.insight.diagnosis.disks import EarlierDisks, disk_troubles, of_another_cluster
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.worlds.kafka.wire.log_dirs import DescribedDir, log_dirs_by

if TYPE_CHECKING:
    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.insight.diagnosis.finding import Finding

STATE = cluster({"a-0": (1, 2), "a-1": (1, 2), "alone-0": (1,), "a-2": (2, 3)})
GB = 10**9
STORAGE_ERROR = 56


def disks(*found: tuple[Disk, list[DiskReplica]]) -> LogDirs:
    """Return what brokers describe, as kadmin reads it."""
    brokers = {disk.broker_id for disk, _ in found}
    answers = {
        broker: [
            DescribedDir(disk, STORAGE_ERROR if disk.state is DiskState.FAILED else 0, replicas)
            for disk, replicas in found
            if disk.broker_id == broker
        ]
        for broker in brokers
    }
    return log_dirs_by(answers.__getitem__, answers)


def on(disk: Disk, *names: str, size: int = 5) -> tuple[Disk, list[DiskReplica]]:
    return disk, [DiskReplica(tp(name), disk.broker_id, disk.path, size) for name in names]


def of(broker: int, path: str, fill: float, state: DiskState = DiskState.ONLINE) -> Disk:
    return Disk(broker, path, 1000 * GB, round(1000 * GB * (1 - fill)), state)


def only(found: LogDirs, earlier: EarlierDisks | None = None) -> Finding:
    (finding,) = disk_troubles(STATE, found, earlier)
    assert (finding.severity, finding.stops_apply) == ("warning", False)
    return finding


FAILED = Disk(1, "/b", state=DiskState.FAILED)


def test_a_failed_disk_is_named_with_the_replicas_that_no_other_directory_lists() -> None:
    found = only(disks(on(of(1, "/a", 0.1), "a-0"), on(FAILED), on(of(2, "/a", 0.1), "a-0")))
    assert found.code is Trouble.FAILED_DISK
    assert found.message == "Broker 1 cannot read log directories of its own: /b."
    assert found.evidence == (
        "replicas in no directory that it can read (2): a-1, alone-0",
        "no other replica has the records of: alone-0",
    )


def test_a_broker_whose_disks_all_failed_is_named_too() -> None:
    all_failed = [on(FAILED), on(replace(FAILED, path="/c"))]
    found = only(disks(*all_failed, on(of(2, "/a", 0.1))))
    assert found.message == "Broker 1 cannot read log directories of its own: /b, /c."
    assert found.evidence[0].startswith("replicas in no directory that it can read (3): ")


def test_full_disks_are_those_that_a_plan_must_not_fill_further() -> None:
    """Rule: a disk counts as full from 90 % on; one of unknown size never does."""
    found = only(
        disks(
            on(of(1, "/a", 0.9)),
            on(of(1, "/b", 0.899)),
            on(of(2, "/a", 0.955), "a-0"),
            on(Disk(3, "/a"), "a-2", size=9000 * GB),
        )
    )
    assert found.code is Trouble.FULL_DISK
    assert found.message == "Disks are at least 90 % full: /a of broker 2, /a of broker 1."
    assert found.evidence == (
        "broker 2: /a 95 %, 45.0 GB left",
        "broker 1: /a 90 %, 100 GB left",
    )


def test_two_directories_of_one_file_system_are_one_full_disk() -> None:
    found = only(disks(on(of(1, "/a", 0.95)), on(of(1, "/b", 0.95))))
    assert found.evidence == ("broker 1: /a and /b 95 %, 50.0 GB left",)


@pytest.mark.parametrize(
    ("fills", "uneven"),
    [
        ((0.71, 0.5), True),
        ((0.69, 0.5), False),
        ((0.45, 0.1), False),  # there is room enough everywhere
        ((0.5, 0.1), True),
        ((0.8,), False),
        ((0.3, 0.6, 0.7), True),
    ],
)
def test_uneven_disks_are_compared_within_their_broker(
    fills: tuple[float, ...], *, uneven: bool
) -> None:
    found = disks(
        *(on(of(1, f"/{number}", fill)) for number, fill in enumerate(fills)), on(of(2, "/0", 0.0))
    )
    assert [each.code for each in disk_troubles(STATE, found)] == [Trouble.UNEVEN_DISKS] * uneven


def test_uneven_disks_leave_out_those_that_are_not_filled_any_more() -> None:
    cordoned = of(1, "/b", 0.1, DiskState.CORDONED)
    assert list(disk_troubles(STATE, disks(on(of(1, "/a", 0.7)), on(cordoned)))) == []
    found = only(disks(on(of(1, "/a", 0.7)), on(cordoned), on(of(1, "/c", 0.2))))
    assert found.message == "Disks of one broker are unevenly full: broker 1."
    assert found.evidence == ("broker 1: /a 70 %, 300 GB left, /c 20 %, 800 GB left",)


EARLIER = EarlierDisks(
    "snapshot old",
    CLUSTER_ID,
    {1: (Disk(1, "/a"), Disk(1, "/gone")), 9: (Disk(9, "/x"),)},
    {1: tuple(DiskReplica(tp(name), 1, "/gone", 5) for name in ("a-0", "alone-0", "deleted-0"))},
)


def test_a_directory_that_an_earlier_snapshot_has_was_taken_out() -> None:
    now = disks(on(of(1, "/a", 0.1), "a-0", "a-1", "alone-0"))
    found = only(now, EARLIER)
    assert found.code is Trouble.REMOVED_DISK
    assert found.message == "Broker 1 has no log directory /gone any more, which it had before."
    assert found.evidence == (
        "snapshot old: it had 3 replicas",
        "these had no other replica, and may be empty now without an error: alone-0",
    )


def test_a_directory_that_failed_is_not_taken_out() -> None:
    failed = replace(FAILED, path="/gone")
    assert only(disks(on(of(1, "/a", 0.1)), on(failed)), EARLIER).code is Trouble.FAILED_DISK


def test_the_snapshot_of_another_cluster_is_not_compared() -> None:
    other = replace(EARLIER, cluster_id="another")
    now = disks(on(of(1, "/a", 0.1), "a-0", "a-1", "alone-0"))
    assert list(disk_troubles(STATE, now, other)) == []
    assert of_another_cluster(STATE, other) == (
        "log directories that brokers had before: snapshot old is of another cluster",
    )
    assert of_another_cluster(STATE, EARLIER) == of_another_cluster(STATE, None) == ()


def test_copies_between_disks_are_named_and_so_are_those_that_copy_nothing() -> None:
    a, b = of(1, "/a", 0.1), of(1, "/b", 0.11)
    future = [
        DiskReplica(tp("a-0"), 1, "/b", 16_000_000, is_future=True, offset_lag=4328),
        DiskReplica(tp("a-2"), 1, "/b", 7, is_future=True, offset_lag=1),
    ]
    found = only(disks(on(a, "a-0", size=60_000_000), (b, future)))
    assert found.code is Trouble.FUTURE_REPLICAS
    assert found.message == "2 replicas copied between log directories of one broker: a-0, a-2."
    assert found.evidence == (
        "a-0 on broker 1: from /a to /b, 16.0 MB of 60.0 MB, 4,328 records behind",
        "a-2 on broker 1: left in /b, 7 B: the broker holds no replica to copy",
    )


def test_unused_copies_are_named_with_their_directory() -> None:
    found = disks(on(of(1, "/a", 0.1), "a-2"), on(of(1, "/b", 0.11), "old-0"))
    (finding,) = copy_troubles({1: {tp("a-2"): 5, tp("old-0"): 5}}, found)
    assert finding.evidence == ("broker 1, /a: a-2 (5 B)", "broker 1, /b: old-0 (5 B)")


def test_healthy_disks_have_no_finding() -> None:
    assert list(disk_troubles(STATE, disks(on(of(1, "/a", 0.1), "a-0"), on(Disk(2, "/a"))))) == []
