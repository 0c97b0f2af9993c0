"""A sample of a cluster's load, as text and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.snapshots import LastSample, SamplesAnswer
from kadmin.operations.reading.sampling import counts, partitions, replicas
from kadmin.plan.units import readable_size
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.reading.sampling import Sampled


def sampled_text(done: Sampled) -> str:
    """Show the number of samples written, the contents of the last, and the number of times missed."""
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
