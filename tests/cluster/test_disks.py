"""Disks of one broker: what they share, and what new replicas may fill."""

from __future__ import annotations

import pytest
from support.cluster.states import tp

from kadmin.cluster.disks import (
    MOST_WRITTEN_BYTES,
    Disk,
    DiskReplica,
    DiskState,
    by_broker,
    current_replicas,
    file_systems,
    usable_bytes,
)

A, B, C = (Disk(1, f"/{name}", 100, 60) for name in "abc")
SMALLER = Disk(1, "/d", 100, 59)
UNKNOWN = [Disk(1, f"/{name}") for name in "xy"]


def test_directories_with_the_same_two_numbers_are_one_file_system() -> None:
    assert file_systems([A, SMALLER, B]) == ((A, B), (SMALLER,))


@pytest.mark.parametrize(
    ("total", "difference", "shared"),
    [
        (4 * 10**12, MOST_WRITTEN_BYTES, True),
        (4 * 10**12, MOST_WRITTEN_BYTES + 1, False),
        (96_000_000, 96_000, True),
        (96_000_000, 96_001, False),
    ],
)
def test_what_is_written_between_two_looks_makes_no_second_file_system(
    total: int, difference: int, *, shared: bool
) -> None:
    """Rule: a broker looks at one directory after the other, while clients write."""
    one, other = (
        Disk(1, path, total, total // 2 + more) for path, more in (("/a", 0), ("/b", difference))
    )
    assert (len(file_systems([one, other])) == 1) is shared
    assert (len(file_systems([other, one])) == 1) is shared


def test_directories_of_unknown_size_share_nothing() -> None:
    assert file_systems(UNKNOWN) == tuple((disk,) for disk in UNKNOWN)


@pytest.mark.parametrize(
    ("disks", "room"),
    [
        ([A], 60),
        ([A, B, C], 60),
        ([A, SMALLER], 119),
        ([A, Disk(1, "/b", state=DiskState.FAILED)], 60),
        ([A, Disk(1, "/b", 100, 90, DiskState.CORDONED)], 60),
        ([A, Disk(1, "/b", 100, 60, DiskState.CORDONED)], 60),
        ([Disk(1, "/a", 100, 60, DiskState.CORDONED)], 0),
        ([A, *UNKNOWN], None),
    ],
)
def test_new_replicas_may_fill_every_file_system_once(disks: list[Disk], room: int | None) -> None:
    assert usable_bytes(disks) == room


def test_of_two_copies_on_a_broker_the_larger_is_its_replica_and_future_ones_are_none() -> None:
    old, new = (DiskReplica(tp("t-1"), 1, path, size) for path, size in (("/a", 5), ("/b", 7)))
    future = DiskReplica(tp("t-0"), 1, "/b", 3, is_future=True, offset_lag=2)
    first = DiskReplica(tp("t-0"), 1, "/a", None)
    other = DiskReplica(tp("t-0"), 2, "/a", 1)
    assert current_replicas([new, old, other, future, first]) == (first, other, new)


def test_values_are_grouped_by_their_broker_in_order() -> None:
    two = Disk(2, "/a")
    assert by_broker([two, A, B]) == {1: (A, B), 2: (two,)}
