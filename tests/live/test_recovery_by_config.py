"""Recoveries on live brokers that serve no unclean election: by the configs of their topics.

As tests/live/test_recovery.py otherwise; the operation is open until every replica is in sync.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.live.errands import OLD_VERSIONS, OldBrokers, cluster_of, modes
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
from support.live.waiting import wait_until
from support.live.write_points import MultiPoint, points_in

from kadmin.plan.unclean import UNCLEAN_ELECTION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.errands import Brokers

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

COUNTS = {2: 200, 3: 350, DEAD: 500}


@pytest.fixture(scope="module", params=modes(OLD_VERSIONS, "zookeeper"))
def lone_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    with cluster_of(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture
def brokers(lone_brokers: Brokers) -> OldBrokers:
    assert isinstance(lone_brokers, OldBrokers)
    return lone_brokers


def configs(brokers: OldBrokers) -> dict[str, str]:
    """Return the config of each topic that has it."""
    found = brokers.state().topic_configs
    return {
        topic: values[UNCLEAN_ELECTION]
        for topic, values in found.items()
        if UNCLEAN_ELECTION in values
    }


def waits_for(brokers: OldBrokers) -> str:
    (found,) = json.loads(brokers.kadmin("status", "-o", "json").out)["operations"]
    return str(found["waits_for"])


@pytest.mark.matrix
def test_the_longest_copy_leads_and_the_config_stays_until_all_are_in_sync(
    brokers: OldBrokers, tmp_path: Path
) -> None:
    lost = tuple(brokers.topic({0: each})[0] for each in ((1, 2, 3), (1, 2), (1,)))
    y, x, z = lost
    before, plan = lists(brokers), tmp_path / "recovery.yaml"
    brokers.configure(y.topic, UNCLEAN_ELECTION, "false")
    lose_leaders(brokers, lost, COUNTS)
    rows = {each["topic"]: each for each in propose(brokers, plan)["partitions"]}
    assert [rows[each.topic]["leader"] for each in lost] == [3, 2, None]
    early = brokers.kadmin("apply", str(plan), "--yes")
    assert early.status == 8, early.err
    assert "may be back soon" in early.err
    waive(plan, "impatient")
    foreseen = brokers.kadmin("diff", str(plan))
    assert "moves of the whole cluster's controller" in foreseen.out
    left = brokers.kadmin("apply", str(plan), "--yes", "--leave")
    assert left.status == 8, left.err
    assert [leader(brokers, each) for each in lost] == [3, 2, -1]
    wait_until(lambda: ends(brokers, y) == {2: 350, 3: 350})
    assert lists(brokers) == before | {y: (3, 1, 2), x: (2, 1)}
    assert configs(brokers) == {y.topic: "true", x.topic: "true"}
    assert f"start broker {DEAD}" in waits_for(brokers)
    assert brokers.kadmin("resume", "--due", "--yes").status == 0
    assert brokers.kadmin("rollback", "--yes").status != 0
    brokers.start()
    done = brokers.kadmin("resume", "--yes")
    assert done.status == 0, done.err
    assert "2 partitions led by the chosen replica" in done.out
    assert lists(brokers) == before
    assert configs(brokers) == {y.topic: "false"}
    assert brokers.kadmin("verify", str(plan)).status == 0
    assert ends(brokers, y) == {1: 350, 2: 350, 3: 350}
    assert ends(brokers, z) == {1: 500}
    assert leaderless(brokers) == set()


@pytest.mark.executor
def test_a_leader_that_comes_back_is_left_alone(brokers: OldBrokers, tmp_path: Path) -> None:
    apply_once_the_leader_is_back(brokers, COUNTS, tmp_path / "recovery.yaml")
    assert configs(brokers) == {}


@pytest.mark.executor
def test_lost_partitions_come_back_empty_and_all_of_a_topic_are_to_be_listed(
    brokers: OldBrokers, tmp_path: Path
) -> None:
    lost = brokers.topic({0: (1,), 1: (1, 2)})
    plan = tmp_path / "recovery.json"
    lose_leaders(brokers, lost, {2: 20, DEAD: 50})
    propose(brokers, plan, "--empty")
    whole = json.loads(plan.read_text())
    whole["spec"]["allow"] = {"impatient": True}
    short = tmp_path / "short.json"
    entries = whole["spec"]["partitions"][:1]
    short.write_text(json.dumps({**whole, "spec": {**whole["spec"], "partitions": entries}}))
    refused = brokers.kadmin("apply", str(short), "--yes")
    assert refused.status != 0
    assert "KA087" in refused.err
    assert str(lost[1]) in refused.err
    assert leaderless(brokers) >= set(lost)
    plan.write_text(json.dumps(whole))
    left = brokers.kadmin("apply", str(plan), "--yes", "--leave")
    assert left.status == 8, left.err
    (new,) = lists(brokers)[lost[0]]
    assert new != DEAD
    wait_until(lambda: ends(brokers, lost[0]) == {new: 0})
    assert ends(brokers, lost[1]) == {2: 20}
    brokers.start()
    assert brokers.kadmin("resume", "--yes").status == 0
    assert configs(brokers) == {}
    assert lists(brokers) == {lost[0]: (new,), lost[1]: (1, 2)}
    assert brokers.kadmin("verify", str(plan)).status == 0


MOST_POINTS = 16
"""Topics that suffice for every kill point of an apply."""


@pytest.mark.executor
@pytest.mark.parametrize("then", ["resumed", "cancelled"])
def test_a_recovery_killed_while_it_elects_goes_on_or_sets_the_config_back(
    brokers: OldBrokers, tmp_path: Path, then: str
) -> None:
    """Rule: each kill point has a topic of its own, and all lose their leaders at once."""
    topics = [brokers.topic({0: (1, 2, 3), 1: (1, 3, 2)}) for _ in range(MOST_POINTS + 1)]
    lose_leaders(brokers, [each for topic in topics for each in topic], {2: 2, 3: 4, DEAD: 6})
    plans = split(brokers, tmp_path)
    with brokers.proxy() as proxy:
        first = brokers.run(
            "apply", str(plans[topics[0][0].topic]), "--yes", "--leave", through=proxy
        )
        assert first.answer().status == 8, first.answer().err
    points = points_in(proxy, brokers)
    assert 0 < len(points) <= MOST_POINTS
    assert brokers.kadmin("cancel", "--yes").status == 0
    for point, topic in zip(points, topics[1:], strict=False):
        plan = str(plans[topic[0].topic])
        kill(brokers, ("apply", plan, "--yes", "--leave"), point)
        if then == "resumed":
            go_on = brokers.kadmin("resume", "--yes", "--leave")
            if go_on.status != 8 or "left at" not in go_on.err:
                # Nothing was recorded yet: then kadmin itself says to apply again.
                go_on = brokers.kadmin("apply", plan, "--yes", "--leave")
            assert go_on.status == 8, (point, go_on.err)
            assert {leader(brokers, each) for each in topic} == {3}, (point, go_on.err)
            assert configs(brokers) == {topic[0].topic: "true"}, point
        after = brokers.kadmin("cancel", "--yes")
        if then == "resumed":
            assert "ends itself until the config is true again" in after.out, point
        assert json.loads(brokers.kadmin("status", "-o", "json").out)["operations"] == [], point
        assert len({leader(brokers, each) for each in topic}) == 1, (point, after.err)
        assert configs(brokers) == {}, (point, after.err)
    # Broker 1 would end itself.
    for topic in topics:
        brokers.configure(topic[0].topic, UNCLEAN_ELECTION, "true")


@pytest.mark.executor
def test_a_recovery_killed_again_and_again_at_its_end_sets_everything_back(
    brokers: OldBrokers, tmp_path: Path
) -> None:
    lost = brokers.topic({0: (1, 2, 3), 1: (1, 3, 2)})
    before, plan = lists(brokers), tmp_path / "recovery.yaml"
    lose_leaders(brokers, lost, {2: 2, 3: 4, DEAD: 6})
    propose(brokers, plan)
    waive(plan, "impatient")
    assert brokers.kadmin("apply", str(plan), "--yes", "--leave").status == 8
    brokers.start()
    for point in (MultiPoint(number, after) for number in range(2, 20) for after in (False, True)):
        kill(brokers, ("resume", "--yes"), point)
        if not json.loads(brokers.kadmin("status", "-o", "json").out)["operations"]:
            break
    assert (lists(brokers), configs(brokers)) == (before, {})
    assert {leader(brokers, each) for each in lost} <= {1, 3}
    assert brokers.kadmin("verify", str(plan)).status == 0
