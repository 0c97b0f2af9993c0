"""The fill of each disk over the waves of a plan."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.plan.disk_forecast import forecast
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget

A, B = "/data/a", "/data/b"
TO_3 = PartitionTarget(tp("t-0"), (1, 3), (1, 2), 60)
ALSO_TO_3 = PartitionTarget(tp("t-1"), (1, 3), (1, 2), 50)
FROM_3 = PartitionTarget(tp("t-2"), (1, 2), (1, 3), 40)


def facts(*disks: Disk, replicas: tuple[DiskReplica, ...] = ()) -> ClusterFacts:
    return ClusterFacts(usable={3: 1}, disks={3: disks}, replicas={3: replicas})


def on_3(name: str, path: str, size_bytes: int, *, future: bool = False) -> DiskReplica:
    return DiskReplica(tp(name), 3, path, size_bytes, future)


def least(found: ClusterFacts, *waves: list[PartitionTarget]) -> dict[str, int]:
    return {path: disk.least_bytes for disk in forecast(waves, found).disks for path in disk.paths}


TWO = (Disk(3, A, 100, 99), Disk(3, B, 100, 98))


def test_a_replica_goes_to_the_disk_with_the_fewest_replicas_whatever_their_bytes() -> None:
    one_in_a = facts(*TWO, replicas=(on_3("x-0", A, 1),))
    assert least(one_in_a, [TO_3]) == {B: 38}
    assert least(one_in_a, [TO_3, ALSO_TO_3]) == {A: 49, B: 38}
    coming = facts(
        *TWO, replicas=(on_3("x-0", A, 1), on_3("y-0", A, 5), on_3("y-0", B, 2, future=True))
    )
    assert least(coming, [TO_3]) == {B: 98 - 3 - 60}, (
        "a future replica counts, and so does its rest"
    )


def test_a_replica_goes_to_the_disk_that_the_plan_names() -> None:
    named = replace(TO_3, log_dirs=("any", A))
    assert least(facts(*TWO, replicas=(on_3("x-0", A, 1),)), [named]) == {A: 39}


def test_cordoned_and_failed_disks_get_nothing() -> None:
    closed = (replace(TWO[0], state=DiskState.CORDONED), TWO[1])
    assert least(facts(*closed), [TO_3, ALSO_TO_3]) == {B: 98 - 110}
    failed = (Disk(3, A, state=DiskState.FAILED), TWO[1])
    assert least(facts(*failed), [TO_3, ALSO_TO_3]) == {B: 98 - 110}


def test_a_move_between_disks_takes_its_room_before_it_makes_any() -> None:
    inside = PartitionTarget(tp("t-2"), (1, 3), (1, 3), 40, ("any", B))
    held = facts(*TWO, replicas=(on_3("t-2", A, 7),))
    (disk,) = forecast([[inside], []], held).disks
    assert (disk.paths, disk.usable_bytes, disk.least_bytes, disk.wave) == ((B,), 98, 91, 1)
    later = replace(TO_3, log_dirs=("any", A))
    assert least(held, [inside], [later]) == {A: 99 + 7 - 60, B: 91}


def test_what_leaves_a_disk_makes_room_there_for_later_waves() -> None:
    held = facts(*TWO, replicas=(on_3("t-2", A, 40), on_3("x-0", B, 1)))
    assert least(held, [FROM_3, TO_3]) == {A: 39}
    assert least(held, [FROM_3], [TO_3]) == {A: 79}


def test_a_disk_without_room_is_named_with_its_partitions() -> None:
    named = [replace(each, log_dirs=("any", A)) for each in (TO_3, ALSO_TO_3)]
    (short,) = forecast([named], facts(*TWO)).shortages
    assert str(short) == (
        "/data/a of broker 3 has room for 99 B, 11 B less than the copies of t-0, t-1 need"
    )


def test_disks_of_one_file_system_share_its_room() -> None:
    shared = (Disk(3, A, 100, 99), Disk(3, B, 100, 99))
    (disk,) = forecast([[TO_3]], facts(*shared)).disks
    assert (disk.paths, disk.least_bytes, disk.has_others) == ((A, B), 39, False)
    (short,) = forecast([[TO_3, ALSO_TO_3]], facts(*shared)).shortages
    assert str(short).startswith("broker 3 has room for 99 B, 11 B less")


def test_without_the_replicas_on_disks_their_sum_counts() -> None:
    known = ClusterFacts(usable={3: 197}, disks={3: TWO})
    assert forecast([[TO_3, ALSO_TO_3]], known).shortages == ()
    assert forecast([[TO_3]], known).disks == ()
    (short,) = forecast([[TO_3]], replace(known, usable={3: 1})).shortages
    assert str(short).startswith("broker 3 has room for 1 B (sum of 2 disks), 59 B less")


def test_disks_of_unknown_room_are_not_predicted() -> None:
    unknown = facts(Disk(3, A), Disk(3, B))
    assert forecast([[TO_3]], replace(unknown, usable={3: None})) == forecast([], unknown)


@given(st.lists(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=5), max_size=4))
def test_every_byte_that_comes_is_on_one_disk(waves: list[list[tuple[int, bool]]]) -> None:
    """Room is only moved between disks, and never lost or made."""
    targets = [
        [
            PartitionTarget(tp(f"w{number}-{index}"), (3,), (1,), size, ((B if in_b else "any"),))
            for index, (size, in_b) in enumerate(wave)
        ]
        for number, wave in enumerate(waves)
    ]
    found = forecast(targets, facts(*TWO)).disks
    taken = sum(disk.usable_bytes - disk.final_bytes for disk in found)
    assert taken == sum(size for wave in waves for size, _ in wave)
