"""Recoveries on live brokers: the loss is known before, and the chosen copy leads.

The cluster is one of its own: its brokers die, and broker 4 stays alive with kadmin's record.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.live.lost_leaders import (
    DEAD,
    apply_once_the_leader_is_back,
    ends,
    kill,
    leader,
    leaderless,
    lists,
    lose_leaders,
    propose,
    split,
    waive,
)
from support.live.write_points import points_in

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.errands import Brokers


pytestmark = pytest.mark.live

COUNTS = {2: 200, 3: 350, DEAD: 500}


@pytest.fixture
def brokers(lone_brokers: Brokers) -> Brokers:
    return lone_brokers


@pytest.mark.eras
def test_the_longest_copy_leads_the_loss_is_told_and_the_lists_stay(
    brokers: Brokers, tmp_path: Path
) -> None:
    lost = tuple(brokers.topic({0: each})[0] for each in ((1, 2, 3), (1, 2), (1,)))
    y, x, z = lost
    before, plan = lists(brokers), tmp_path / "recovery.yaml"
    lose_leaders(brokers, lost, COUNTS)
    found = propose(brokers, plan, "--html", str(tmp_path / "recovery.html"))
    assert {"broker_id": DEAD, "partitions": 3} in found["starts"]
    rows = {each["topic"]: each for each in found["partitions"]}
    of_y, of_x, of_z = (rows[each.topic] for each in lost)
    assert {copy["broker_id"]: copy["end_offset"] for copy in of_y["copies"]} == {2: 200, 3: 350}
    assert (of_y["leader"], of_y["records_lost"]) == (3, None)
    assert (of_x["leader"], of_z["leader"]) == (2, None)
    assert of_z["impossible"] == "no replica is alive"
    assert "start broker 1" in brokers.kadmin("doctor").out
    early = brokers.kadmin("apply", str(plan), "--yes")
    assert early.status == 8, early.err
    assert "may be back soon" in early.err
    assert leaderless(brokers) >= set(lost)
    waive(plan, "impatient")
    applied = brokers.kadmin("apply", str(plan), "--yes")
    assert applied.status == 0, applied.err
    assert "2 partitions led by the chosen replica" in applied.out
    assert (leader(brokers, y), leader(brokers, x), leader(brokers, z)) == (3, 2, -1)
    assert lists(brokers) == before
    assert brokers.kadmin("rollback", "--yes").status != 0
    short = brokers.kadmin("verify", str(plan))
    assert short.status != 0
    assert "not in sync yet: broker 1" in short.out + short.err
    brokers.start()
    assert brokers.kadmin("verify", str(plan)).status == 0
    assert ends(brokers, y) == {1: 350, 2: 350, 3: 350}
    assert ends(brokers, z) == {1: 500}


@pytest.mark.matrix
def test_a_leader_that_comes_back_is_left_alone(brokers: Brokers, tmp_path: Path) -> None:
    apply_once_the_leader_is_back(brokers, COUNTS, tmp_path / "recovery.yaml")


@pytest.mark.matrix
def test_a_partition_whose_copies_are_all_lost_comes_back_empty(
    brokers: Brokers, tmp_path: Path
) -> None:
    (z,) = brokers.topic({0: (1,)})
    plan = tmp_path / "recovery.yaml"
    lose_leaders(brokers, [z], {DEAD: 50})
    propose(brokers, plan, "--empty")
    waive(plan, "impatient")
    applied = brokers.kadmin("apply", str(plan), "--yes")
    assert applied.status == 0, applied.err
    (new,) = lists(brokers)[z]
    assert new != DEAD
    assert leader(brokers, z) == new
    assert ends(brokers, z) == {new: 0}
    assert brokers.kadmin("verify", str(plan)).status == 0


@pytest.mark.matrix
def test_of_two_people_one_elects_and_the_other_is_told(brokers: Brokers, tmp_path: Path) -> None:
    (y,) = brokers.topic({0: (1, 2, 3)})
    plan = tmp_path / "recovery.yaml"
    lose_leaders(brokers, [y], COUNTS)
    propose(brokers, plan)
    waive(plan, "impatient")
    before = operations(brokers)
    people = [
        brokers.run("apply", str(plan), "--yes", state=tmp_path / name) for name in ("one", "two")
    ]
    first, second = (each.answer() for each in people)
    told = second if first.status == 0 else first
    assert 0 in {first.status, second.status}, (first, second)
    assert "nothing to do" in told.out or told.status in {5, 6}, told
    assert leader(brokers, y) == 3
    assert ends(brokers, y) == {2: 350, 3: 350}
    assert len(operations(brokers) - before) == 1


MANY = 1000


@pytest.mark.matrix
def test_a_third_of_three_thousand_partitions_comes_back_in_waves(
    brokers: Brokers, tmp_path: Path
) -> None:
    lost = brokers.topic(dict.fromkeys(range(MANY), (1, 2)))
    brokers.topic(dict.fromkeys(range(2 * MANY), (3, 4)))
    plan = tmp_path / "recovery.yaml"
    lose_leaders(brokers, lost, {2: 1, DEAD: 2})
    found = propose(brokers, plan)
    assert len(found["partitions"]) == MANY
    waive(plan, "impatient")
    applied = brokers.kadmin("apply", str(plan), "--yes")
    assert applied.status == 0, applied.err
    assert "1,000 partitions led by the chosen replica" in applied.out
    states = brokers.state().states
    assert {states[each].leader for each in lost} == {2}
    assert {brokers.state().assignment[each] for each in lost} == {(1, 2)}


KILLS = 5


@pytest.mark.matrix
@pytest.mark.parametrize("then", ["resumed", "cancelled"])
def test_a_killed_recovery_goes_on_or_restores_the_lists(
    brokers: Brokers, tmp_path: Path, then: str
) -> None:
    """Rule: each kill point has a topic of its own, and all lose their leaders at once."""
    topics = [brokers.topic({0: (1, 2, 3), 1: (1, 3, 2)}) for _ in range(KILLS + 1)]
    before = lists(brokers)
    lose_leaders(brokers, [each for topic in topics for each in topic], {2: 2, 3: 4, DEAD: 6})
    plans = split(brokers, tmp_path)
    with brokers.proxy() as proxy:
        first = brokers.run("apply", str(plans[topics[0][0].topic]), "--yes", through=proxy)
        assert first.answer().status == 0, first.answer().err
    points = points_in(proxy, brokers)
    chosen = points[len(points) // KILLS :: max(1, len(points) // KILLS)][:KILLS]
    for point, topic in zip(chosen, topics[1:], strict=False):
        plan = plans[topic[0].topic]
        kill(brokers, ("apply", str(plan), "--yes"), point)
        after = brokers.kadmin("resume" if then == "resumed" else "cancel", "--yes")
        assert json.loads(brokers.kadmin("status", "-o", "json").out)["operations"] == [], point
        if then == "resumed":
            again = brokers.kadmin("apply", str(plan), "--yes")
            assert again.status == 0, (point, after.err, again.err)
            assert {leader(brokers, each) for each in topic} == {3}, point
        assert {each: lists(brokers)[each] for each in topic} == {
            each: before[each] for each in topic
        }, (point, after.err)


def operations(brokers: Brokers) -> set[str]:
    """Return the ids of the operations on record."""
    history = json.loads(brokers.kadmin("history", "-o", "json").out)
    return {each["operation_id"] for each in history["operations"]}
