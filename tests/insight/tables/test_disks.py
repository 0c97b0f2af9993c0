"""The table of `inspect disks`."""

from __future__ import annotations

from support.cluster.states import tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.insight.tables.disks import COPIES, DiskRow, disk_rows, disk_table
from kadmin.insight.tables.table import columns_of

DISKS = {
    2: (Disk(2, "/b", 1000, 1), Disk(2, "/a", state=DiskState.FAILED)),
    1: (Disk(1, "/a", 1000, 400), Disk(1, "/b", 1000, 400), Disk(1, "/c", 1000, 999)),
    3: (Disk(3, "/a"),),
}
REPLICAS = {
    1: (
        DiskReplica(tp("t-0"), 1, "/a", 50),
        DiskReplica(tp("t-0"), 1, "/c", 20, is_future=True, offset_lag=3),
        DiskReplica(tp("t-1"), 1, "/a", 7),
        DiskReplica(tp("t-2"), 1, "/b", None),
    ),
    2: (DiskReplica(tp("t-0"), 2, "/b", 50),),
}


def test_a_disk_has_its_replicas_and_the_copies_that_come_and_go() -> None:
    online, failed = DiskState.ONLINE, DiskState.FAILED
    assert disk_rows(DISKS, REPLICAS) == (
        DiskRow(1, "/a", online, 60, 2, 57, 1000, 400, ("/b",), 0, 0, 1),
        DiskRow(1, "/b", online, 60, 1, None, 1000, 400, ("/a",), 0, 0, 0),
        DiskRow(1, "/c", online, 0, 0, 0, 1000, 999, (), 1, 20, 0),
        DiskRow(2, "/a", failed, None, None, None, None, None, (), None, None, None),
        DiskRow(2, "/b", online, 99, 1, 50, 1000, 1, (), 0, 0, 0),
        DiskRow(3, "/a", online, None, None, None, None, None, (), None, None, None),
    )


def test_a_snapshot_has_no_copies_in_flight() -> None:
    table = disk_table(DISKS, REPLICAS, with_copies=False)
    assert table.columns == columns_of(DiskRow, COPIES)
    assert table.sorted_by(["-fill_percent"]).rows[0][:4] == (2, "/b", "online", 99)
