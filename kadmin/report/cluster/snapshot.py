"""A snapshot, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.snapshots import SnapshotAnswer
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.reading.snapshot import Snapshot


def snapshot_text(taken: Snapshot, folder: Path) -> str:
    """Show the inventory's folder and counts, and the parts that could not be read."""
    counts = (count(taken.brokers, "broker"), count(taken.topics, "topic"), count(taken.partitions, "partition"))
    return "\n".join([f"{folder}: {', '.join(counts)}", *snapshot_notes(taken)])


def snapshot_notes(taken: Snapshot) -> list[str]:
    """Return a line for each part that could not be read."""
    lines = [] if taken.no_sizes is None else [f"without sizes: {taken.no_sizes}"]
    lines += taken.unavailable
    if taken.unsettled:
        lines.append(f"changed while they were read: {name_some(taken.unsettled)}")
    return lines


def snapshot_answer(taken: Snapshot, folder: Path) -> SnapshotAnswer:
    """Answer `snapshot`."""
    return SnapshotAnswer(
        str(folder),
        taken.brokers,
        taken.topics,
        taken.partitions,
        taken.unsettled,
        taken.no_sizes,
        taken.unavailable,
    )
