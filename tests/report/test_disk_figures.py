from __future__ import annotations

from typing import Any

from kadmin.report.disk_figures import disk_lines, disk_rows


def disks(count: int, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of the figures
    disk = {"path": "/d", "shared_with": [], "before": 0, "part": 10**9}
    each = [{**disk, "broker_id": at, "after": at * 10**9} for at in range(count)]
    found = {
        "moves": 3,
        "moves_bound": 3,
        "proved_fewest": True,
        "moved_bytes": 5 * 10**9,
        "before": 1.5,
        "after": None,
        "outside": 0,
        "disks": each,
    }
    return {**found, **others}


def test_figures_without_disks_have_no_rows() -> None:
    assert not list(disk_rows({}))
    assert not list(disk_lines({}))


def test_the_rows_of_disks_have_a_bound_where_no_limit_cuts_the_moves() -> None:
    assert list(disk_rows(disks(0))) == [
        ("bytes on a disk, max / its part", "1.500", "-", ""),
        ("moves between disks", "", "3", "3"),
        ("bytes between disks", "", "5.00 GB", ""),
    ]
    assert list(disk_rows(disks(0, moves_bound=None)))[1][-1] == ""


def test_the_disks_that_change_most_are_shown() -> None:
    shown, more, proof = disk_lines(disks(13))
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [str(at) for at in range(12, 2, -1)]
    assert more == "2 more disks change; --figures FILE has them all"
    assert proof == "proved: no plan as even moves fewer replicas between disks"


def test_directories_of_one_file_system_are_shown_together() -> None:
    shared = [{**each, "shared_with": ["/e"]} for each in disks(2)["disks"]]
    table = next(disk_lines(disks(0, disks=shared)))
    assert "/d, /e" in table


def test_disks_outside_of_the_tolerance_are_counted() -> None:
    assert list(disk_lines(disks(0, outside=1, proved_fewest=False))) == [
        "1 disk differs from its part by more than the tolerance"
    ]
    assert list(disk_lines(disks(0, outside=2, moves=0))) == [
        "2 disks differ from their parts by more than the tolerance"
    ]
