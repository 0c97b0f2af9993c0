"""The executor's rules, with no clock and no I/O: decide(work, observed, memory, now) -> action.

One module for each kind of operation holds its work and its table of rules; `recall` begins the
memory of a run and `remember` adds one reading to it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import Memory
from kadmin.operations.decide.leaders import watched_leaders
from kadmin.operations.decide.stop_request import apply_stop_request
from kadmin.operations.record.steps import Channel, stages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.steps import ProbeStep, Step

__all__ = ["decide", "recall", "remember"]


def decide(work: OperationSpec, observed: Observed, memory: Memory, now: float) -> Action:
    """Return what to do next; `now` is on the clock of the memory's times (monotonic seconds)."""
    action = work.decide(observed, memory, now)
    return apply_stop_request(action, work, observed, memory, now)


def recall(steps: Iterable[Step], seen: ClusterState | None = None) -> Memory:
    """Return the memory of a run that resumes after these steps.

    The memory of a new run begins with the state just `seen`. A wave is published only when those
    before it were seen done. They are checked again after the last wave: an earlier wave may be out
    of sync now, while the request of the running one is pending.
    """
    wave = max(stages_of(steps), default=0)
    return Memory(wave=wave, states={} if seen is None else seen.states)


def remember(memory: Memory, observed: Observed, now: float) -> Memory:
    """Add one reading to the memory.

    A new step starts the pickup clock, a new epoch voids every proof of listening, a change in the
    topics or in the bytes of a copy restarts the clock of a stall.
    """
    epoch = observed.state.controller_epoch
    if memory.epoch != epoch:
        changed_at = None if memory.epoch is None else now
        memory = replace(memory, epoch=epoch, epoch_changed_at=changed_at, listening=frozenset())
    last_step = observed.steps[-1].number if observed.steps else 0
    if last_step != memory.last_step:
        memory = replace(memory, last_step=last_step, step_seen_at=now, attempts=0)
    if (fingerprint := _digest(observed)) != memory.fingerprint:
        without_source, led_again = watched_leaders(memory, observed.state)
        memory = replace(
            memory, without_source=without_source, led_again=led_again, states=observed.state.states
        )
        memory = replace(memory, fingerprint=fingerprint, changed_at=now)
    probe = memory.probe
    if probe is not None and not _pending(probe, observed):
        memory = replace(memory, listening=memory.listening | {probe.channel}, probe=None)
    return memory


def _digest(observed: Observed) -> int:
    state, pending = observed.state, observed.state.requests.reassignment
    topics = tuple((name, topic.fingerprint) for name, topic in sorted(state.topics.items()))
    states = tuple(
        (partition, found.fingerprint) for partition, found in sorted(state.states.items())
    )
    requests = (None if pending is None else pending.fingerprint, state.requests.deletions)
    return hash((topics, states, *requests, tuple(_copies(observed))))


def _copies(observed: Observed) -> Iterator[tuple[int, TopicPartition, int]]:
    # Replicas in the ISR grow with every record that is produced: only those outside it are copies
    # in progress.
    for broker, sizes in sorted(observed.on_disk.items()):
        for partition, size in sorted(sizes.items()):
            found = observed.state.states.get(partition)
            if found is not None and broker not in found.isr:
                yield broker, partition, size
    for broker, futures in sorted(observed.directories.futures.items()):
        for partition, future in sorted(futures.items()):
            yield broker, partition, future.size_bytes or 0


def _pending(probe: ProbeStep, observed: Observed) -> bool:
    requests = observed.state.requests
    return (
        requests.reassignment if probe.channel is Channel.REASSIGNMENT else requests.election
    ) is not None
