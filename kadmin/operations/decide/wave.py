"""Rules of one wave of a reassignment: its publish, its copies and its refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.actions import HEALTH_POLL_S, STALLED_S, AskHealth, PublishWave, Wait
from kadmin.operations.decide.common import before_publish
from kadmin.operations.decide.failures import dead_target, dead_targets, rejected
from kadmin.operations.decide.troubles import troubles, without_source
from kadmin.operations.record.steps import (
    Channel,
    WaveStep,
    log_dirs_of,
    refused_by_cluster,
    waves_of,
)
from kadmin.plan.progress import Progress, is_union
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.operations.decide.actions import Action, Finish, Memory, Observed
    from kadmin.plan.model import PartitionTarget

    Found = dict[Progress, list[PartitionTarget]]

COPYING = "copying"
"""The reason to wait where nothing is wrong."""


def published(observed: Observed, memory: Memory) -> bool:
    """Whether a step on record published the current wave."""
    return memory.wave in waves_of(observed.steps)


def asked_for(
    targets: Iterable[PartitionTarget], observed: Observed, memory: Memory
) -> list[PartitionTarget]:
    """Return the targets that a step on record asked for in the current wave.

    A request without an intent on record names the whole wave.
    """
    steps = [
        step for step in observed.steps if isinstance(step, WaveStep) and step.wave == memory.wave
    ]
    named = {
        partition for step in steps if step.intent is not None for partition in step.intent.targets
    }
    whole = any(step.intent is None for step in steps)
    return [target for target in targets if whole or target.partition in named]


def publish(targets: Sequence[PartitionTarget], observed: Observed, memory: Memory) -> Action:
    """Publish targets of the current wave, unless one of their brokers is dead."""
    dead = dead_targets(targets, observed.state)
    if dead:
        return dead_target(dead, targets, observed.state)
    blocked = before_publish(Channel.REASSIGNMENT, observed, memory)
    return blocked or PublishWave(memory.wave, tuple(targets))


def health_gate(
    to_come: tuple[tuple[PartitionTarget, ...], ...], observed: Observed, memory: Memory, now: float
) -> Action | None:
    """Ask for the cluster's health before the next publish, or wait while it has new trouble."""
    # Before the first wave the record was made from the state that it would be compared with.
    asked = log_dirs_of(observed.steps)
    if not waves_of(observed.steps) and all(step.wave == memory.wave for step in asked):
        return None
    seen = memory.health
    # What brokers are asked for before the wave is a part of it.
    begins = bool(asked) and asked[-1] is observed.steps[-1] and asked[-1].wave == memory.wave
    if (
        seen is None
        or seen.wave != memory.wave
        or (seen.at < memory.step_seen_at and not begins)
        or (seen.trouble and now - seen.at >= HEALTH_POLL_S)
    ):
        return AskHealth(to_come)
    return Wait(f"health gate: {'; '.join(seen.trouble)}") if seen.trouble else None


def copying(found: Found, observed: Observed, memory: Memory, now: float) -> Wait:
    """Wait for copies in progress; the reason names what keeps them from their end."""
    names, running = _open(found), found[Progress.RUNNING]
    dead, stuck = dead_targets(running, observed.state), without_source(running, observed.state)
    reason = COPYING
    if dead:
        reason = f"target brokers that are not alive: {name_some(dead)}"
    elif stuck:
        reason = f"no replica is alive and in sync: {name_some(stuck)}"
    elif memory.at_once is not None and memory.at_once.pauses:
        reason = memory.at_once.why
    elif minutes := stalled_min(memory, now):
        reason = stalled(running, names, observed, minutes)
    return Wait(reason, "; ".join(troubles(found, dead, stuck, observed.state)) or None)


def stalled_min(memory: Memory, now: float) -> int:
    """Return the whole minutes for which nothing has changed."""
    return int((now - memory.changed_at) // STALLED_S)


def stalled(
    targets: Iterable[PartitionTarget], names: Iterable[str], observed: Observed, minutes: int
) -> str:
    """Return the reason to wait for the copies of targets that have not grown for minutes.

    `names` are the partitions to be named.
    """
    what = "copy" if _measured(targets, observed) else "ISR"
    return f"stalled: no {what} has grown for {minutes} min: {name_some(names, most=3)}"


def _measured(targets: Iterable[PartitionTarget], observed: Observed) -> bool:
    """Whether brokers reported the bytes of every new replica."""
    return all(
        target.partition in observed.on_disk.get(broker, ())
        for target in targets
        for broker in target.added
    )


def out_of_sync() -> Wait:
    """Wait for the ISR of partitions that have their target's replicas."""
    return Wait("under-replicated at the target, waiting for the in-sync replicas")


def _open(found: Found) -> tuple[str, ...]:
    pending = (
        target.partition
        for progress in Progress
        if progress is not Progress.DONE
        for target in found[progress]
    )
    return tuple(map(str, sorted(pending)))


def left_behind(target: PartitionTarget, observed: Observed) -> bool:
    """Whether a controller up to 2.3 left the union of a move, which publishing again repairs."""
    if observed.capabilities.lagging_reads:  # the controller is still at work
        return False
    state = observed.state
    topic, number = state.topics[target.partition.topic], target.partition.partition
    moving = topic.is_moving(number)
    return not moving and is_union(target, topic.replicas[number])


def refused_by(
    waiting: Sequence[PartitionTarget], observed: Observed, memory: Memory
) -> Finish | None:
    """Finish where the cluster refused targets of the current wave."""
    reasons = refused_by_cluster(observed.steps)
    refused = [target for target in waiting if target.partition in reasons]
    if refused:
        return rejected(
            refused, "; ".join(dict.fromkeys(reasons[target.partition] for target in refused))
        )
    if waiting and not observed.capabilities.explains_refusals and published(observed, memory):
        return rejected(
            waiting, "rejected by the controller; see the log of the controller's broker"
        )
    return None
