"""Recoveries on live brokers that serve no unclean election: by the configs of their topics.

As tests/live/test_recovery.py otherwise; the operation is open until every replica is in sync.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.live.lost_leaders import DEAD, ends, leaderless, lose_leaders, propose, waive

from kadmin.plan.unclean import UNCLEAN_ELECTION

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.errands import OldBrokers

    from kadmin.cluster.model import Replicas, TopicPartition

pytestmark = pytest.mark.live

COUNTS = {2: 200, 3: 350, DEAD: 500}


@pytest.fixture
def brokers(old_brokers: OldBrokers) -> OldBrokers:
    return old_brokers


def lists(brokers: OldBrokers) -> dict[TopicPartition, Replicas]:
    assignment = brokers.state().assignment
    return {each: assignment[each] for each in assignment if each.topic in brokers.topics}


def configs(brokers: OldBrokers) -> dict[str, str]:
    """Return the config of each topic that has it."""
    found = brokers.state().topic_configs
    return {
        topic: values[UNCLEAN_ELECTION]
        for topic, values in found.items()
        if UNCLEAN_ELECTION in values
    }


def leader(brokers: OldBrokers, partition: TopicPartition) -> int:
    return brokers.state().states[partition].leader


def waits_for(brokers: OldBrokers) -> str:
    (found,) = json.loads(brokers.kadmin("status", "-o", "json").out)["operations"]
    return str(found["waits_for"])


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
    assert ends(brokers, y) == {2: 350, 3: 350}
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
