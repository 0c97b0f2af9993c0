"""Claims of DISK_CLAIMS on replicas that come to disks and move between them, on live brokers of
every version under test.

Moves inside a broker are held back but for a first part, until a test lets them run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import DISK_CLAIMS
from support.eras.disks import BYTES, OLD_COPY_MS, RECORDS, code_of
from support.live.kraft import set_configs, wait_assigned
from support.live.waiting import stays, wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.disks import DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.plan.cordon import CORDON
from kadmin.worlds.kafka.wire.log_dirs import alter_log_dirs

if TYPE_CHECKING:
    from support.eras.disks import DiskCluster

pytestmark = [pytest.mark.live, pytest.mark.claims(DISK_CLAIMS)]


@pytest.mark.matrix
def test_placement(disks: DiskCluster) -> None:
    first, *others = disks.disks(1)
    disks.partition(1, at={1: first}, filled=True)
    while (counts := disks.counts(1))[first] >= min(counts[each] for each in others):
        disks.partition(1, at={1: min(others, key=counts.__getitem__)})
    for _ in range(4):
        counts = disks.counts(1)
        fewest = {each for each in counts if counts[each] == min(counts.values())}
        assert disks.disk_of(1, disks.partition(1)) in fewest
    assert disks.seen("placement") == "there, then where the fewest partitions are"


@pytest.mark.eras
def test_directory_before_the_replica(disks: DiskCluster) -> None:
    """In each directory of a broker: Kafka would choose one of them by itself."""
    for disk in disks.disks(2):
        new, partition = TopicPartition(f"new-{Path(disk).name}", 0), disks.partition(1)
        codes = disks.ask(2, disk, partition), disks.ask(2, disk, new)
        disks.make(new, (2,))
        disks.reassign(partition, 2)
        assert disks.disk_of(2, partition) == disks.disk_of(2, new) == disk
        assert (
            disks.seen("directory_before_the_replica") == f"{codes[0]}, {codes[1]}; it lands there"
        )


@pytest.mark.matrix
def test_directory_before_a_restart(disks: DiskCluster) -> None:
    """Another directory has fewer partitions than the one that is asked for."""
    first, second, _ = disks.disks(2)
    while (counts := disks.counts(2))[first] <= counts[second]:
        disks.partition(2, at={2: first})
    partition = disks.partition(1)
    disks.ask(2, first, partition)
    disks.restart(2)
    disks.reassign(partition, 2)
    assert disks.disk_of(2, partition) != first
    assert disks.seen("directory_before_a_restart") == "forgotten"


@pytest.mark.matrix
def test_directory_during_a_copy(disks: DiskCluster) -> None:
    connection, partition = disks.connection, disks.partition(1, filled=True)
    with disks.slow_reassignment(partition, 2):
        disk = disks.others(2, partition)[0]
        with disks.fast(2):
            code = disks.ask(2, disk, partition)
            disks.wait_moved(2, partition, disk)
        assert 0 < disks.size(2, partition) < BYTES
        assert disks.in_flight(partition)
    wait_assigned(connection, {partition: (2,)})
    assert disks.disk_of(2, partition) == disk
    assert disks.seen("directory_during_a_copy") == (
        f"{code}; what is copied moves there, and the reassignment goes on"
    )


@pytest.mark.matrix
def test_lag_during_a_copy(disks: DiskCluster) -> None:
    connection, partition = disks.connection, disks.partition(1, filled=True)
    with disks.slow_reassignment(partition, 2):
        (copy,) = disks.copies(2, partition).values()
        assert 0 < (copy.size_bytes or 0) < BYTES
        assert disks.seen("lag_during_a_copy") == str(copy.offset_lag)
    wait_assigned(connection, {partition: (2,)})


@pytest.mark.matrix
def test_good_and_bad_directories(disks: DiskCluster) -> None:
    good, unknown, slash = (disks.partition(1) for _ in range(3))
    disk, there = disks.others(1, good)[0], disks.disk_of(1, slash)
    asked = {disk: [good], "/no/directory": [unknown], f"{there}/": [slash]}
    found = alter_log_dirs(disks.connection, 1, asked)
    codes = ", ".join(str(code_of(found[each])) for each in (good, unknown, slash))
    disks.wait_moved(1, good, disk)
    assert disks.seen("good_and_bad_directories") == f"{codes}; the good one moves"


@pytest.mark.eras
def test_move_inside(disks: DiskCluster) -> None:
    partition = disks.partition(1, 2, filled=True)
    before, there = disks.shown(partition), disks.disk_of(1, partition)
    disk = disks.others(1, partition)[0]
    disks.begin_inside(1, partition, disk)
    copies = disks.copies(1, partition)
    assert {path: each.is_future for path, each in copies.items()} == {there: False, disk: True}
    assert copies[there].offset_lag == 0 < copies[disk].offset_lag < len(RECORDS)
    assert 0 < (copies[disk].size_bytes or 0) < BYTES < (copies[there].size_bytes or 0)
    with disks.fast(1):
        disks.wait_moved(1, partition, disk)
    assert disks.shown(partition) == before
    assert disks.seen("move_inside") == (
        "both copies, the new one with its lag; then the new one alone, the same leader, epoch and "
        "ISR"
    )


@pytest.mark.matrix
def test_old_copy(disks: DiskCluster) -> None:
    partition = disks.partition(1, filled=True)
    there, disk = Path(disks.disk_of(1, partition)), disks.others(1, partition)[0]

    def is_there() -> bool:
        return any(there.glob(f"{partition}.*-delete"))

    with disks.fast(1):
        assert disks.ask(1, disk, partition) == 0
        disks.wait_moved(1, partition, disk)
        assert stays(is_there, OLD_COPY_MS / 4000)
    wait_until(lambda: not is_there())
    assert disks.seen("old_copy") == (
        "in no answer, on disk until `log.segment.delete.delay.ms` is over"
    )


@pytest.mark.eras
def test_present_directory(disks: DiskCluster) -> None:
    partition = disks.partition(1, filled=True)
    there, disk = disks.disk_of(1, partition), disks.others(1, partition)[0]
    disks.begin_inside(1, partition, disk)
    cancelled = disks.ask(1, there, partition)
    assert disks.copies(1, partition).keys() == {there}
    again = disks.ask(1, there, partition)
    assert disks.copies(1, partition).keys() == {there}
    assert disks.seen("present_directory") == f"{cancelled}, the copy is gone at once; {again}"


@pytest.mark.matrix
def test_another_directory(disks: DiskCluster) -> None:
    """The second copy is empty at first: the first one has used up the rate."""
    partition = disks.partition(1, filled=True)
    there, (first, second) = disks.disk_of(1, partition), disks.others(1, partition)
    disks.begin_inside(1, partition, first)
    code = disks.ask(1, second, partition)
    copies = disks.copies(1, partition)
    assert copies.keys() == {there, second}
    assert copies[second].offset_lag == len(RECORDS)
    with disks.fast(1):
        disks.wait_moved(1, partition, second)
    assert disks.seen("another_directory") == f"{code}; copied anew from its first record"


@pytest.mark.matrix
def test_restart_in_mid_move(disks: DiskCluster) -> None:
    partition = disks.partition(1, filled=True)
    for kill in (False, True):
        disk = disks.others(1, partition)[0]
        disks.begin_inside(1, partition, disk)
        disks.restart(1, kill=kill)
        with disks.fast(1):
            disks.wait_moved(1, partition, disk)
    assert disks.seen("restart_in_mid_move") == "goes on by itself"


@pytest.mark.matrix
def test_deleted_in_mid_move(disks: DiskCluster) -> None:
    partition = disks.partition(1, filled=True)
    disks.begin_inside(1, partition, disks.others(1, partition)[0])
    disks.delete_topics()
    disks.make(partition, (1,))

    def is_one_and_empty() -> bool:
        copies = disks.copies(1, partition).values()
        return [(each.size_bytes, each.is_future) for each in copies] == [(0, False)]

    wait_until(is_one_and_empty)
    assert disks.seen("deleted_in_mid_move") == "one empty replica"


@pytest.mark.matrix
def test_reassigned_in_mid_move(disks: DiskCluster) -> None:
    partition = disks.partition(1, filled=True)
    disks.begin_inside(1, partition, disks.others(1, partition)[0])
    disks.reassign(partition, 2)
    wait_until(lambda: not disks.copies(1, partition))
    assert disks.seen("reassigned_in_mid_move") == "ends; both copies are gone"


@pytest.mark.matrix
def test_rate_inside_a_broker(disks: DiskCluster) -> None:
    """What one move copies leaves nothing of the rate for another one."""
    first, second = (disks.partition(1, filled=True) for _ in range(2))
    (to_first, *_), (to_second, *_) = (disks.others(1, each) for each in (first, second))
    disks.begin_inside(1, first, to_first)
    assert disks.ask(1, to_second, second) == 0

    def are_held() -> bool:
        copy = disks.copies(1, second)[to_second]
        return disks.is_copying(1, first, to_first) and copy.is_future and not copy.size_bytes

    assert stays(are_held)
    with disks.fast(1):
        disks.wait_moved(1, first, to_first)
        disks.wait_moved(1, second, to_second)
    assert disks.seen("rate_inside_a_broker") == (
        "both are in force without a restart, for all moves together"
    )


@pytest.mark.matrix
def test_bytes_of_a_directory(disks: DiskCluster) -> None:
    found = disks.log_dirs(1).disks[1]
    if disks.seen("bytes_of_a_directory") == "not reported":
        assert {(each.total_bytes, each.usable_bytes) for each in found} == {(None, None)}
        return
    for each in found:
        system = os.statvfs(each.path)
        assert each.total_bytes == system.f_blocks * system.f_frsize
        assert 0 < (each.usable_bytes or 0) <= (each.total_bytes or 0)


@pytest.mark.matrix
def test_cordoned_directory(disks: DiskCluster) -> None:
    out, other, absent = disks.partition(1), disks.partition(1), disks.partition(2)
    own, there = ConfigEntity.of_broker(1), disks.disk_of(1, out)
    if disks.seen("cordoned_directory") == "not known":
        assert DiskState.CORDONED not in {each.state for each in disks.log_dirs(1).disks[1]}
        return
    if disks.disk_of(1, other) == there:
        elsewhere = disks.others(1, other)[0]
        assert disks.ask(1, elsewhere, other) == 0
        disks.wait_moved(1, other, elsewhere)
    set_configs(disks.connection, own, [CORDON], there, 1)
    wait_until(lambda: DiskState.CORDONED in {each.state for each in disks.log_dirs(1).disks[1]})
    disk = disks.others(1, out)[0]
    left = disks.ask(1, disk, out)
    disks.wait_moved(1, out, disk)
    refused = disks.ask(1, there, other), disks.ask(1, there, absent)
    set_configs(disks.connection, own, [CORDON], None, 1)
    assert disks.seen("cordoned_directory") == (
        f"{left}; refused ({refused[0]}); refused ({refused[1]})"
    )
