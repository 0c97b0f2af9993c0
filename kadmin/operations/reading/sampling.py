"""Takes and writes samples on a schedule, for `sample`; a failure skips one sample."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.inventory.samples import LoadSample, SampleExistsError
from kadmin.operations import events
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.inventory.samples import LoadSample
    from kadmin.operations.context import Clock
    from kadmin.operations.events import EventSink


@dataclass(frozen=True, slots=True)
class Sampled:
    """A sample that was written, how many were before it, and how many times passed without one."""

    sample: LoadSample
    file: Path
    samples: int = 1
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Schedule:
    """At every multiple of `every_s` since 1970, for `for_s` seconds.

    Five minutes make :00, :05 and so on.
    """

    every_s: int
    for_s: int

    def following(self, now_s: float) -> float:
        """Return the next time after `now_s`."""
        return (math.floor(now_s / self.every_s) + 1.0) * self.every_s

    def passed(self, due_s: float, now_s: float) -> int:
        """Return the number of scheduled times after `due_s`, up to `now_s`."""
        return max(0, math.floor(now_s / self.every_s) - math.floor(due_s / self.every_s))


def sample_once(
    take: Callable[[], LoadSample], write: Callable[[LoadSample], Path], tell: EventSink
) -> Sampled:
    """Take one sample, and note the questions that brokers did not answer.

    Raises as `take` and `write` do.
    """
    sample = take()
    done = Sampled(sample, write(sample))
    for line in sample.unavailable:
        tell(events.Note(line))
    return done


def sample_repeatedly(
    take: Callable[[], LoadSample],
    write: Callable[[LoadSample], Path],
    clock: Clock,
    tell: EventSink,
    schedule: Schedule,
) -> Sampled:
    """Take a sample now, and then at each time of the schedule.

    A time that passes meanwhile is skipped. An error before the first sample is written is raised;
    later that sample is skipped, with a note. A signal raises StoppedError between two samples.
    """
    with clock.deferring_signals():
        end, due_s = clock.now() + schedule.for_s, clock.utc().timestamp()
        done: Sampled | None = None
        missed = 0
        while True:
            begun = clock.timestamp()
            try:
                sample = take()
                done = Sampled(sample, write(sample), 1 if done is None else done.samples + 1)
                for line in (f"{done.file.name}: {counts(sample)}", *sample.unavailable):
                    tell(events.Note(line))
            except (UnreachableError, NotCompletedError) as error:
                # A run that is started again at once meets the last sample of the run before.
                if done is None and (
                    not isinstance(error, SampleExistsError) or clock.now() >= end
                ):
                    raise
                missed += 1
                tell(events.Note(f"no sample at {begun}: {error.message}"))
            now_s = clock.utc().timestamp()
            missed += schedule.passed(due_s, now_s)
            due_s = schedule.following(now_s)
            if done is not None and clock.now() + (due_s - now_s) >= end:
                return replace(done, missed=missed)
            _wait(clock, due_s, done)


def _wait(clock: Clock, due_s: float, done: Sampled | None) -> None:
    """Wait for a time of the wall clock.

    Raises StoppedError, or NotCompletedError at the command's end.
    """
    kept = "no sample was written"
    if done is not None:
        kept = f"{done.file.parent} has {count(done.samples, 'sample')} of this run"
    while (left_s := due_s - clock.utc().timestamp()) > 0 or clock.stop_signal is not None:
        clock.stop_if_asked(kept, "repeat the command: it goes on in the same folder")
        if clock.over:
            raise NotCompletedError(
                f"Not finished within --timeout; {kept}.",
                next_step="run it again with a longer --timeout",
            )
        clock.wait(left_s)


def counts(sample: LoadSample) -> str:
    """Count the partitions, replicas and groups of a sample, for people."""
    parts = count(partitions(sample), "partition"), count(replicas(sample), "replica")
    return f"{', '.join(parts)}, {count(len(sample.group_offsets), 'group')}"


def partitions(sample: LoadSample) -> int:
    """Return the number of partitions whose end offsets a sample has."""
    return sum(len(offsets) for offsets in sample.end_offsets.values())


def replicas(sample: LoadSample) -> int:
    """Return the number of replicas whose sizes a sample has."""
    return sum(len(sizes) for sizes in sample.log_sizes.values())
