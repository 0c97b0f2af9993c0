"""How much of an operation is done, for people to watch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import ElectionWork, ReassignmentWork, RecreationWork
from kadmin.plan.election import off_preferred
from kadmin.plan.progress import Progress, judge
from kadmin.plan.recreation import is_whole
from kadmin.plan.waves import moved_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.operations.decide.actions import DeletionWork, Memory, Observed, Work
    from kadmin.plan.model import PartitionTarget


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


def left_to_do(work: Work, observed: Observed, memory: Memory) -> tuple[str, ...]:
    """Name what is not done yet; waves before `memory.wave` were seen done."""
    if isinstance(work, ReassignmentWork):
        finished = set(_finished(work, observed, memory))
        return tuple(str(target.partition) for wave in work.waves for target in wave if target not in finished)
    if isinstance(work, ElectionWork):
        return tuple(map(str, off_preferred(work.targets, observed.state)))
    return _topics_left(work, observed)


def topics_of(work: Work) -> set[str]:
    """Return every topic that the work names."""
    if isinstance(work, ReassignmentWork):
        return {target.partition.topic for target in work.targets}
    if isinstance(work, ElectionWork):
        return {partition.topic for partition in work.targets}
    return set(work.plan.topics)


def _finished(work: ReassignmentWork, observed: Observed, memory: Memory) -> list[PartitionTarget]:
    finished = [target for wave in work.waves[: memory.wave] for target in wave]
    running = work.waves[memory.wave] if memory.wave < len(work.waves) else ()
    return finished + [target for target in running if judge(target, observed.state, published=True) is Progress.DONE]


def _tally_waves(work: ReassignmentWork, observed: Observed, memory: Memory) -> Tally:
    finished = _finished(work, observed, memory)
    every = [target for wave in work.waves for target in wave]
    return Tally(len(finished), len(every), _bytes(finished), _bytes(every))


def _tally_topics(work: DeletionWork | RecreationWork, observed: Observed) -> Tally:
    return Tally(len(work.plan.topics) - len(_topics_left(work, observed)), len(work.plan.topics))


def _topics_left(work: DeletionWork | RecreationWork, observed: Observed) -> tuple[str, ...]:
    state = observed.state
    if isinstance(work, RecreationWork):
        return tuple(recipe.topic for recipe in work.plan.recipes if not is_whole(recipe, state))
    return tuple(topic for topic in work.plan.topics if topic in state.topics or topic in state.admin.deletions)


def _bytes(targets: Iterable[PartitionTarget]) -> int | None:
    total = 0
    for target in targets:
        size = moved_bytes(target)
        if size is None:
            return None
        total += size
    return total
