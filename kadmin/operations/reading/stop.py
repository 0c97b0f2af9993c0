"""Reads what a cluster shows of each stop of brokers: the ISRs, and what the brokers require."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.from_brokers import FromBrokers, why
from kadmin.errors import KadminError
from kadmin.insight.predict.stop import StopEvidence, judge_stop
from kadmin.insight.predict.whatif import placements_of
from kadmin.insight.tables.brokers import listed_brokers
from kadmin.insight.tables.inspection import Inspection
from kadmin.operations.decide.actions import STOP_POLL_S, StopSeen
from kadmin.operations.reading.brokers import held_by
from kadmin.operations.reading.snapshot import read_state
from kadmin.plan.cordon import CORDON
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.progress import in_flight
from kadmin.waiting import next_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import AskStop
    from kadmin.operations.port import LiveBrokers
    from kadmin.operations.reading.brokers import HeldBytes


@dataclass(frozen=True, slots=True)
class StopReading:
    """A cluster as it was read to judge stops.

    `size_bytes` and `cordoned` are of the brokers that reported them; `unavailable` says what
    brokers did not answer.
    """

    state: ClusterState
    evidence: StopEvidence
    size_bytes: Mapping[int, int]
    cordoned: Mapping[int, tuple[str, ...]]
    unavailable: tuple[str, ...]


def read_stops(context: Context, min_insync: int | None = None) -> StopReading:
    """Read a live cluster, and ask its brokers for their settings and disks.

    `min_insync` is min.insync.replicas of brokers that do not report theirs.
    """
    state = read_state(context)
    brokers = context.backend.brokers(state)
    settings = _settings(state, brokers)
    held = held_by(state, brokers)
    given = {
        broker: int(found[MIN_INSYNC_REPLICAS])
        for broker, found in settings.given.items()
        if MIN_INSYNC_REPLICAS in found
    }
    assumed = {} if min_insync is None else dict.fromkeys(state.brokers, min_insync)
    evidence = StopEvidence(
        placements_of(state),
        frozenset(state.brokers),
        frozenset(in_flight(state)),
        state.controller,
        {**assumed, **given},
        frozenset(name for name, own in state.topic_configs.items() if MIN_INSYNC_REPLICAS in own),
        state.unsettled,
        _unlisted(state, held),
        tuple(_doubts(state, held)),
    )
    cordoned = {
        broker: tuple(each for each in found[CORDON].split(",") if each)
        for broker, found in settings.given.items()
        if CORDON in found
    }
    unasked = tuple(
        f"settings of broker {broker} are not known: {why(error)}"
        for broker, error in settings.failed.items()
    )
    unavailable = (*unasked, *held.unavailable, *held.hidden_topics)
    return StopReading(state, evidence, held.by_broker, cordoned, unavailable)


def see_stop(context: Context, asked: AskStop) -> StopSeen:
    """Judge a stop that a maintenance asks for, on a new reading of the whole cluster."""
    clock, began = context.clock, context.clock.now()
    found = judge_stop(read_stops(context).evidence, asked.brokers, asked.margin)
    until = next_at(began, clock.now(), STOP_POLL_S)
    return StopSeen(asked.brokers, asked.alive, until, found.why_not, found.no_worse)


def list_brokers(reading: StopReading, *, with_details: bool) -> Inspection:
    """Return every broker with whether it alone may be stopped."""
    state = reading.state
    why_not = {broker: judge_stop(reading.evidence, {broker}).why_not for broker in state.brokers}
    table = listed_brokers(
        state, reading.size_bytes, reading.cordoned, why_not, with_details=with_details
    )
    return Inspection(table, unavailable=reading.unavailable)


def _settings(state: ClusterState, brokers: LiveBrokers) -> FromBrokers[Mapping[str, str]]:
    try:
        return brokers.settings(state.brokers, (MIN_INSYNC_REPLICAS, CORDON))
    except KadminError as error:
        return FromBrokers({}, dict.fromkeys(state.brokers, error))


def _doubts(state: ClusterState, held: HeldBytes) -> Iterator[str]:
    yield from held.hidden_topics
    if state.controller is None:
        yield "no controller is active"


def _unlisted(state: ClusterState, held: HeldBytes) -> dict[int, str]:
    """Return the brokers that may hold topics which this client may not describe."""
    if not state.may_hide_topics:
        return {}
    return {
        broker: f"broker {broker} did not list its replicas: topics may be hidden from this client"
        for broker in sorted(state.brokers.keys() - held.listed)
    }
