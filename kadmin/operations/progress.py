"""How much of an operation is done, for people to watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.actions import ElectionWork, ReassignmentWork
from kadmin.plan.election import off_preferred
from kadmin.plan.progress import Progress, judge
from kadmin.plan.waves import moved_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.operations.actions import DeletionWork, Memory, Observed, Work
    from kadmin.plan.model import Reassignment


@dataclass(frozen=True, slots=True)
class Tally:
    """Partitions (of a deletion: topics) done of all; bytes None where a size is unknown."""

    done: int
    total: int
    done_bytes: int | None = None
    total_bytes: int | None = None


def tally(work: Work, observed: Observed, memory: Memory) -> Tally:
    """Count what is done; waves before `memory.wave` were seen done."""
    if isinstance(work, ReassignmentWork):
        return _tally_waves(work, observed, memory)
    if isinstance(work, ElectionWork):
        return Tally(len(work.targets) - len(off_preferred(work.targets, observed.state)), len(work.targets))
    return _tally_topics(work, observed)


def topics_of(work: Work) -> set[str]:
    """Return every topic that the work names."""
    if isinstance(work, ReassignmentWork):
        return {wish.partition.topic for wish in work.wishes}
    if isinstance(work, ElectionWork):
        return {partition.topic for partition in work.targets}
    return set(work.plan.topics)


def _tally_waves(work: ReassignmentWork, observed: Observed, memory: Memory) -> Tally:
    finished = [wish for wave in work.waves[: memory.wave] for wish in wave]
    running = work.waves[memory.wave] if memory.wave < len(work.waves) else ()
    finished += [wish for wish in running if judge(wish, observed.state, published=True) is Progress.DONE]
    every = [wish for wave in work.waves for wish in wave]
    return Tally(len(finished), len(every), _bytes(finished), _bytes(every))


def _tally_topics(work: DeletionWork, observed: Observed) -> Tally:
    left = [
        topic for topic in work.plan.topics if topic in observed.state.topics or topic in observed.state.admin.deletions
    ]
    return Tally(len(work.plan.topics) - len(left), len(work.plan.topics))


def _bytes(wishes: Iterable[Reassignment]) -> int | None:
    total = 0
    for wish in wishes:
        size = moved_bytes(wish)
        if size is None:
            return None
        total += size
    return total
