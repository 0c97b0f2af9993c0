"""The table of `inspect disks`: the log directories of brokers, and what is on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.disks import DiskState, file_systems
from kadmin.insight.tables.table import Table
from kadmin.schema.shapes import ABSENT, Absent, Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.disks import Disk, DiskReplica

COPIES = ("arriving", "arriving_bytes", "leaving")
"""The columns of copies between disks of a broker, which a snapshot does not have."""


@dataclass(frozen=True)
class DiskRow:
    """A log directory of a broker."""

    broker_id: Annotated[Count, "Broker."]
    path: Annotated[str, "Path of the log directory, as the broker names it."]
    state: Annotated[
        DiskState,
        "online; failed: the broker cannot read it; cordoned: it takes no new replicas.",
    ]
    fill_percent: Annotated[
        Count | None,
        "Percent of its file system that are used, rounded down; null where the broker does not "
        "report the size (Kafka before 3.3), and for a failed one.",
    ]
    replicas: Annotated[
        Count | None, "Replicas on it; null where they are unknown, as on a failed one."
    ]
    size_bytes: Annotated[
        Count | None, "Bytes of their log segments; null where any of them is unknown."
    ]
    total_bytes: Annotated[Count | None, "Size of its file system; null where it is unknown."]
    usable_bytes: Annotated[
        Count | None, "Bytes that can still be written there; null where they are unknown."
    ]
    shared_with: Annotated[
        tuple[str, ...],
        "Other log directories of the broker with the same total_bytes and, nearly, usable_bytes: "
        "they are taken to be on the same file system.",
    ]
    arriving: Annotated[
        Count | Absent | None,
        "Replicas that are copied to it from another log directory of the broker.",
    ] = ABSENT
    arriving_bytes: Annotated[
        Count | Absent | None, "Bytes of these copies that are there so far."
    ] = ABSENT
    leaving: Annotated[
        Count | Absent | None, "Replicas on it that are copied to another log directory."
    ] = ABSENT


def disk_table(
    disks: Mapping[int, Sequence[Disk]],
    replicas: Mapping[int, Sequence[DiskReplica]],
    *,
    with_copies: bool = True,
) -> Table:
    """Return every log directory, by broker and path."""
    rows = disk_rows(disks, replicas)
    return Table.of("disks", DiskRow, rows, without=() if with_copies else COPIES)


def disk_rows(
    disks: Mapping[int, Sequence[Disk]], replicas: Mapping[int, Sequence[DiskReplica]]
) -> tuple[DiskRow, ...]:
    """Return the rows of the table of disks; brokers without `replicas` did not list them."""
    return tuple(
        row for broker in sorted(disks) for row in _of_broker(disks[broker], replicas.get(broker))
    )


def _of_broker(disks: Sequence[Disk], replicas: Sequence[DiskReplica] | None) -> Iterator[DiskRow]:
    shared = {
        disk.path: tuple(each.path for each in group if each is not disk)
        for group in file_systems(disks)
        for disk in group
    }
    on: dict[tuple[str, bool], list[DiskReplica]] = {}
    for each in replicas or ():
        on.setdefault((each.path, each.is_future), []).append(each)
    copied = {each.partition for each in replicas or () if each.is_future}
    for disk in sorted(disks, key=lambda each: each.path):
        listed = replicas is not None and disk.state is not DiskState.FAILED
        held, coming = on.get((disk.path, False), []), on.get((disk.path, True), [])
        yield DiskRow(
            disk.broker_id,
            disk.path,
            disk.state,
            disk.fill_percent,
            len(held) if listed else None,
            _bytes(held) if listed else None,
            disk.total_bytes,
            disk.usable_bytes,
            shared[disk.path],
            len(coming) if listed else None,
            _bytes(coming) if listed else None,
            sum(each.partition in copied for each in held) if listed else None,
        )


def _bytes(replicas: Iterable[DiskReplica]) -> int | None:
    sizes = [each.size_bytes for each in replicas]
    return None if None in sizes else sum(size or 0 for size in sizes)
