"""Finds copies of partitions on the brokers' disks that no partition uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.plan.units import readable_size
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.log_dirs import LogDirs
    from kadmin.cluster.model import TopicPartition


def copy_troubles(
    unused_copies: Mapping[int, Mapping[TopicPartition, int]],
    disks: LogDirs,
    *notes: str,
    znode: str = "",
) -> Iterator[Finding]:
    """Find the copies, given with their bytes by broker; `notes` are added to the evidence."""
    if not unused_copies:
        return
    unused: dict[str, list[str]] = {}
    for broker, sizes in sorted(unused_copies.items()):
        paths = {
            each.partition: each.path
            for each in disks.replicas.get(broker, ())
            if not each.is_future
        }
        for partition, size in sizes.items():
            where = f", {paths[partition]}" if partition in paths else ""
            unused.setdefault(f"broker {broker}{where}", []).append(
                f"{partition} ({readable_size(size)})"
            )
    total_bytes = sum(sum(sizes.values()) for sizes in unused_copies.values())
    copies = count(sum(map(len, unused.values())), "copy", "copies")
    yield Finding(
        Trouble.UNUSED_COPIES,
        f"{copies} on disk that no partition uses, {readable_size(total_bytes)}.",
        "stop one broker after the other, delete these folders in its log.dirs, and start it",
        severity="warning",
        znode=znode,
        evidence=(
            *(f"{broker}: {name_some(names, most=10)}" for broker, names in unused.items()),
            *notes,
        ),
    )
