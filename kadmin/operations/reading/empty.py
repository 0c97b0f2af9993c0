"""Reads what brokers of a decommission still hold: lists of replicas, folders on disk, a vote."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import KadminError, UnreachableError
from kadmin.operations.decide.actions import STOP_POLL_S, EmptySeen
from kadmin.operations.reading.brokers import with_disks
from kadmin.operations.reading.snapshot import read_state
from kadmin.plan.diff import diff
from kadmin.plan.drain import drain
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.units import readable_size
from kadmin.waiting import next_at
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import AskEmpty
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.drain import Drain


def see_empty(context: Context, asked: AskEmpty) -> EmptySeen:
    """Look at the whole cluster, and at the disks of those of the brokers that are alive."""
    clock, began = context.clock, context.clock.now()
    state = read_state(context)
    found = drain(state, asked.plan.brokers)
    with closing(context.backend.brokers(state)) as brokers:
        alive = sorted(state.brokers.keys() & set(asked.plan.brokers))
        why_not = (*_held(found, state), *_on_disk(alive, state, brokers))
        facts = with_disks(ClusterFacts(), state, brokers) if found.targets else ClusterFacts()
    round_ = replace(asked.plan, reassignments=found.targets)
    change = diff(round_, state, context.backend.capabilities.publish, facts)
    landed = tuple(wave.reassignments for wave in change.waves)
    return EmptySeen(next_at(began, clock.now(), STOP_POLL_S), landed, why_not)


def _held(found: Drain, state: ClusterState) -> Iterator[str]:
    for partition, reason in found.impossible.items():
        yield f"{partition}: {reason}"
    voters = () if state.controller is None else state.controller.voters
    if voting := sorted({each.server_id for each in voters} & set(found.brokers)):
        yield f"{brokers_in_words(voting)} votes in the quorum of controllers"


def _on_disk(alive: list[int], state: ClusterState, brokers: LiveBrokers) -> Iterator[str]:
    """Name replicas on the disks of live brokers that no list names, and disks that are unknown.

    Where every topic is read, lists of replicas are proof enough of brokers that do not report
    their disks (before Kafka 1.1).
    """
    if not alive:
        return
    try:
        found = brokers.log_dirs(alive)
    except KadminError as unknown:
        if state.may_hide_topics or isinstance(unknown, UnreachableError):
            yield f"the disks of {brokers_in_words(alive)} are not known: {unknown.message}"
        return
    for broker, error in found.failed.items():
        yield f"the disks of broker {broker} are not known: {error.message}"
    for broker, errors in found.failed_dirs.items():
        yield from (f"a disk of broker {broker} is not known: {each.message}" for each in errors)
    for broker, sizes in found.sizes.items():
        if not sizes and broker not in found.empty and broker not in found.failed_dirs:
            yield f"broker {broker} copies a replica between two of its directories"
        stray = {each: size for each, size in sizes.items() if not _is_listed(each, broker, state)}
        if stray:
            held, total = count(len(stray), "replica"), readable_size(sum(stray.values()))
            yield f"broker {broker} has {held} on disk, {total}: {name_some(sorted(stray))}"


def _is_listed(partition: TopicPartition, broker: int, state: ClusterState) -> bool:
    return broker in (state.replicas(partition) or ())
