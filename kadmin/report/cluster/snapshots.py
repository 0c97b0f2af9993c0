"""A snapshot, and a sample of a cluster's load, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.snapshots import LastSample, SamplesAnswer, SnapshotAnswer
from kadmin.operations.reading.sampling import counts, partitions, replicas
from kadmin.plan.units import readable_size
from kadmin.schema.shapes import ABSENT
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.reading.sampling import Sampled
    from kadmin.operations.reading.snapshot import Snapshot


def snapshot_text(taken: Snapshot, folder: Path) -> str:
    """Show the inventory's folder and counts, and its notes."""
    counts = (
        count(taken.brokers, "broker"),
        count(taken.topics, "topic"),
        count(taken.partitions, "partition"),
    )
    return "\n".join([f"{folder}: {', '.join(counts)}", *snapshot_notes(taken)])


def snapshot_notes(taken: Snapshot) -> list[str]:
    """Return a line for tiered partitions, and for each part that could not be read."""
    lines = [] if taken.tiered is None else [str(taken.tiered)]
    lines += [] if taken.no_sizes is None else [f"without sizes: {taken.no_sizes}"]
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
        taken.disks,
        taken.unsettled,
        taken.no_sizes,
        taken.unavailable,
        ABSENT if taken.tiered is None else taken.tiered,
    )


def sampled_text(done: Sampled) -> str:
    """Show the number of samples written, the contents of the last, and the number missed."""
    folder, size_bytes = done.file.parent, done.file.stat().st_size
    without = f"; {count(done.missed, 'time')} passed without a sample" if done.missed else ""
    last = f"{done.file.name}, {counts(done.sample)}, {readable_size(size_bytes)}"
    return f"{folder}: {count(done.samples, 'sample')}{without}\nlast: {last}"


def sampled_answer(done: Sampled) -> SamplesAnswer:
    """Answer `sample`."""
    last = LastSample(
        str(done.file),
        done.file.stat().st_size,
        partitions(done.sample),
        replicas(done.sample),
        len(done.sample.group_offsets),
        tuple(done.sample.unavailable),
    )
    return SamplesAnswer(str(done.file.parent), done.samples, done.missed, last)
