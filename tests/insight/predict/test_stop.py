"""The gate of every errand that stops brokers: cases by name, and a plain reading of its rule on
random clusters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.cluster.model import NO_LEADER, Controller, QuorumMember
from kadmin.insight.predict.losses import PlacedPartition
from kadmin.insight.predict.stop import StopEvidence, StopReason, judge_stop
from kadmin.insight.predict.whatif import predict_loss

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas
    from kadmin.insight.predict.stop import StopVerdict

ALIVE = frozenset({1, 2, 3, 4})


def placed(
    replicas: Replicas, isr: Replicas | None, min_isr: int = 1, leader: int | None = None
) -> PlacedPartition:
    first = isr[0] if isr else None
    return PlacedPartition(tp("a-0"), replicas, first if leader is None else leader, isr, min_isr)


def judged(placement: PlacedPartition, *stopped: int, margin: int = 0) -> StopVerdict:
    return judge_stop(StopEvidence((placement,), ALIVE), stopped, margin)


@pytest.mark.parametrize(
    ("placement", "stopped", "margin", "reason"),
    [
        (placed((1, 2, 3), (1, 2, 3), 2), (1,), 0, None),
        (placed((1, 2, 3), (1, 2, 3), 2), (1,), 1, StopReason.UNDER_MIN_ISR),
        (placed((1, 2, 3), (1, 2, 3), 2), (1, 2), 0, StopReason.UNDER_MIN_ISR),
        (placed((1, 2, 3), (1, 2), 2), (3,), 1, None),  # it takes nothing from the ISR
        (placed((1, 2, 3), (1, 2), 2), (4,), 1, None),  # it holds no replica
        (placed((1, 2), (1, 2)), (1,), 0, None),
        (placed((1, 2), (1,)), (1,), 0, StopReason.OFFLINE),
        (placed((1,), (1,)), (1,), 0, StopReason.OFFLINE),
        (placed((1, 9), (1, 9)), (1,), 0, StopReason.OFFLINE),  # 9 died, and is still in the ISR
        (placed((1, 2), None), (1,), 0, StopReason.UNKNOWN),
        (placed((1, 2), None), (3,), 0, None),
        (replace(placed((1, 2), (1,)), unclean=True), (1,), 0, StopReason.UNCLEAN),
        (replace(placed((1, 2), (1,), 2), elr=(2,)), (1,), 0, StopReason.UNDER_MIN_ISR),
        (placed((1, 2), (1,), leader=NO_LEADER), (1,), 0, None),
    ],
)
def test_a_partition(
    *, placement: PlacedPartition, stopped: Replicas, margin: int, reason: StopReason | None
) -> None:
    found = judged(placement, *stopped, margin=margin)
    assert [each.reason for each in found.obstacles] == ([] if reason is None else [reason])
    assert found.safe is (reason is None)


def test_what_is_broken_already_is_named_apart() -> None:
    offline, short = placed((1, 2), (1,), leader=NO_LEADER), placed((1, 2, 3), (1, 2), 3)
    assert judged(offline, 1).no_worse == (tp("a-0"),)
    assert judged(offline, 3).no_worse == ()
    assert judged(short, 3).no_worse == (tp("a-0"),)
    (obstacle,) = judged(short, 1).obstacles
    assert (obstacle.reason, obstacle.isr, obstacle.min_isr) == (StopReason.UNDER_MIN_ISR, (2,), 3)
    assert "already" in obstacle.because


def test_moves_and_topics_that_kept_changing_forbid_the_stop_of_their_brokers_alone() -> None:
    whole = placed((1, 2, 3), (1, 2, 3))
    moving = StopEvidence((whole,), ALIVE, frozenset({tp("a-0")}))
    unsettled = StopEvidence((whole,), ALIVE, unsettled=frozenset({"a"}))
    for evidence, reason in (
        (moving, StopReason.MOVE_IN_FLIGHT),
        (unsettled, StopReason.UNKNOWN),
    ):
        assert [each.reason for each in judge_stop(evidence, {3}).obstacles] == [reason]
        assert judge_stop(evidence, {4}).safe


def test_the_minimum_is_that_of_the_brokers_that_may_lead_afterwards() -> None:
    whole = placed((1, 2, 3), (1, 2, 3))
    evidence = StopEvidence((whole,), ALIVE, default_min_isr={1: 1, 2: 3, 3: 1})
    assert judge_stop(evidence, {2}).safe
    (obstacle,) = judge_stop(evidence, {3}).obstacles
    assert (obstacle.reason, obstacle.min_isr) == (StopReason.UNDER_MIN_ISR, 3)
    silent = replace(evidence, default_min_isr={1: 1, 2: 1})
    assert judge_stop(silent, {3}).safe
    (obstacle,) = judge_stop(silent, {2}).obstacles
    assert obstacle.reason is StopReason.UNKNOWN
    assert obstacle.because == "min.insync.replicas of broker 3 is unknown"
    assert judge_stop(replace(silent, own_min_isr=frozenset({"a"})), {2}).safe


def test_what_was_not_read_is_never_safe() -> None:
    doubtful = StopEvidence((), ALIVE, doubts=("a topic is hidden",))
    unlisted = StopEvidence((), ALIVE, unlisted={1: "broker 1 did not list its replicas"})
    assert [each.because for each in judge_stop(doubtful, {2}).obstacles] == ["a topic is hidden"]
    assert not judge_stop(unlisted, {1, 2}).safe
    assert judge_stop(unlisted, {2}).safe


@pytest.mark.parametrize(
    ("fetched_s_ago", "stopped", "safe"),
    [
        ((0, 0, 0), (1,), True),
        ((0, 0, 0), (1, 2), False),
        ((0, 0, 60), (1,), False),  # the third would be needed, and does not follow
        ((0, 0, 60), (3,), True),
        ((0, 0, None), (2,), False),
        ((0, 0, 60), (4,), True),  # a broker that is no controller
        ((0,), (1,), False),
    ],
)
def test_a_majority_of_the_controllers_that_follow_is_left(
    *, fetched_s_ago: tuple[float | None, ...], stopped: Replicas, safe: bool
) -> None:
    voters = tuple(QuorumMember(n, ago, ago) for n, ago in enumerate(fetched_s_ago, 1))
    found = judge_stop(StopEvidence((), ALIVE, controller=Controller(1, voters=voters)), stopped)
    assert [each.reason for each in found.obstacles] == ([] if safe else [StopReason.QUORUM])


@dataclass(frozen=True)
class Case:
    """A cluster of brokers 1 to 5, of which some died a moment ago, and a stop."""

    evidence: StopEvidence
    stopped: frozenset[int]
    margin: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    brokers = range(1, 6)
    found, own, moving = [], set(), set()
    for number in range(draw(st.integers(1, 6))):
        partition = tp(f"t{number}-0")
        replicas = tuple(draw(st.permutations(brokers))[: draw(st.integers(1, 4))])
        isr = tuple(draw(st.permutations(replicas))[: draw(st.integers(1, len(replicas)))])
        others = [each for each in replicas if each not in isr]
        found.append(
            PlacedPartition(
                partition,
                replicas,
                draw(st.sampled_from([*isr, NO_LEADER, None])),
                draw(st.sampled_from([isr, isr, isr, None])),
                draw(st.integers(1, 4)),
                unclean=draw(st.booleans()),
                elr=tuple(others[: draw(st.integers(0, 1))]),
            )
        )
        own |= {partition.topic} if draw(st.booleans()) else set()
        moving |= {partition} if draw(st.integers(0, 3)) == 0 else set()
    reported = draw(st.dictionaries(st.sampled_from(brokers), st.integers(1, 3), min_size=3))
    evidence = StopEvidence(
        tuple(found),
        frozenset(draw(st.sets(st.sampled_from(brokers), min_size=3))),
        frozenset(moving),
        default_min_isr=draw(st.sampled_from([None, reported])),
        own_min_isr=frozenset(own),
    )
    stopped = draw(st.frozensets(st.sampled_from(brokers), min_size=1))
    return Case(evidence, stopped, draw(st.integers(0, 2)))


def plainly(case: Case, placement: PlacedPartition) -> str:
    """Read the rule for one partition, the first line that holds: what the stop does to it."""
    evidence, isr = case.evidence, set(placement.isr or ())
    live = evidence.alive - case.stopped
    left = isr & live
    if evidence.default_min_isr is None or placement.partition.topic in evidence.own_min_isr:
        required: set[int | None] = {placement.min_isr}
    else:
        required = {evidence.default_min_isr.get(each) for each in left}
    most = None if None in required or not required else max(each or 0 for each in required)
    takes = bool(isr & case.stopped)
    leaderless = takes and not left and not set(placement.elr) & live
    unclean = placement.unclean and bool(set(placement.replicas) & live)
    lines = [
        (not set(placement.replicas) & case.stopped, "nothing"),
        (placement.leader == NO_LEADER, "no worse"),
        (placement.isr is None or placement.leader is None, "unknown"),
        (leaderless and unclean, "unclean"),
        (leaderless, "offline"),
        (takes and not left, "under-min-isr"),
        (takes and most is None, "unknown"),
        (takes and most is not None and len(left) < most + case.margin, "under-min-isr"),
        (placement.partition in evidence.moving, "move-in-flight"),
        (most is not None and len(left) < most, "no worse"),
    ]
    return next((word for holds, word in lines if holds), "nothing")


@given(cases())
def test_the_verdict_is_a_plain_reading_of_the_rule(case: Case) -> None:
    found = judge_stop(case.evidence, case.stopped, case.margin)
    plain = {each.partition: plainly(case, each) for each in case.evidence.placements}
    said = {each.partition: each.reason.value for each in found.obstacles}
    said |= dict.fromkeys(found.no_worse, "no worse")
    assert {each: what for each, what in plain.items() if what != "nothing"} == said
    assert found.safe is (set(plain.values()) <= {"nothing", "no worse"})


@given(cases())
def test_it_names_every_partition_that_whatif_predicts_to_suffer(case: Case) -> None:
    """One judgement: the gate forbids more than `whatif` predicts, and never less, where every
    broker of the ISR is alive.
    """
    evidence = replace(case.evidence, default_min_isr=None, moving=frozenset())
    lost = case.stopped & evidence.alive
    found = judge_stop(evidence, lost)
    predicted = predict_loss(evidence.placements, evidence.alive, lost)
    by_reason = {
        reason: {each.partition for each in found.obstacles if each.reason is reason}
        for reason in StopReason
    }
    whole = {
        each.partition
        for each in evidence.placements
        if each.leader in evidence.alive and each.isr and evidence.alive.issuperset(each.isr)
    }
    assert by_reason[StopReason.OFFLINE] & whole == set(predicted.offline) & whole
    lossy = {each.partition for each in predicted.changes if each.lossy}
    assert by_reason[StopReason.UNCLEAN] & whole == lossy & whole
    refusing = {each.partition for each in predicted.refusing} - lossy
    assert refusing & whole <= by_reason[StopReason.UNDER_MIN_ISR]
