"""Throttles on live brokers: really taken up, really gone, and never off while copies run."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.eras.claims import claim
from support.live.cluster import UNREGISTERED
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

RATES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
LEADERS, FOLLOWERS = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
SLOW = {"rate": "1B/s"}
"""Holds a copy in flight for as long as it stands: one batch of records per quota window of 11
seconds."""
FAST = dict.fromkeys(RATES, "777000000")


def overrides(cluster: Cluster, *entities: str) -> list[list[str]]:
    """Return what brokers 1 and 4 say they took up for these entities; a broker's own configs only
    it takes up.
    """
    return [
        cluster.overrides(broker, entity)
        for entity in entities
        for broker in (1, 4)
        if entity == f"brokers/{broker}" or not entity.startswith("brokers/")
    ]


def test_a_throttle_is_on_during_the_copies_and_gone_at_the_end(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 1]})
    cluster.produce(topic, per_partition=20)
    plan = document(
        tmp_path / "plan.yaml",
        reassignment(topic, {0: [1, 3], 1: [1, 2]}, throttle={"rate": "37MB/s"}),
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "throttled at 37.0 MB/s on 3 brokers and 1 topic" in applied.err
    assert "the throttle is removed from 3 brokers and 1 topic" in applied.err
    assert cluster.throttles(topic) == {}


@pytest.mark.eras
@pytest.mark.on("0.10.2.2", "2.8.2", "3.9.2")
def test_f39_a_deadline_leaves_it_while_copies_run_and_resume_takes_it_off(
    cluster: Cluster, tmp_path: Path
) -> None:
    """F39: throttled copies run, so the throttle stays; an operator's edit meanwhile is kept and
    reported.
    """
    topic = cluster.create_topic({0: [1, 2]})
    # Brokers take a throttle up a moment after it is set: so much is not copied in a moment.
    cluster.produce_to(TopicPartition(topic, 0), [b"x" * 900_000] * 40)
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 4]}, throttle=SLOW))
    late = cluster.kadmin("apply", plan, "--yes", "--timeout", "10")
    assert late.status == 8, late.err
    operation = cluster.history()[-1].operation_id
    assert (
        f"the throttle remains: {topic}-0 in flight; remove it later with kadmin resume {operation}"
        in late.err
    )
    during = cluster.throttles(topic)
    assert during[f"topics/{topic}"] == {LEADERS: "0:1,0:2", FOLLOWERS: "0:4"}
    assert all(during[f"brokers/{broker}"] == dict.fromkeys(RATES, "1") for broker in (1, 2, 4))
    wait_until(
        lambda: all("rate" in told[-1] for told in overrides(cluster, "brokers/1", "brokers/4"))
    )
    wait_until(lambda: all("0:4" in told[-1] for told in overrides(cluster, f"topics/{topic}")))

    for broker in (1, 2, 4):
        cluster.configure(f"brokers/{broker}", FAST)
    resumed = cluster.kadmin("resume", "--yes", "--timeout", "60")
    assert resumed.status == 0, resumed.err
    assert "kept throttles that another client changed: " in resumed.err
    assert "brokers/1 follower.replication.throttled.rate = 777000000" in resumed.err
    assert cluster.state(topic).replicas(TopicPartition(topic, 0)) == (2, 4)
    after = cluster.throttles(topic)
    assert after == {f"brokers/{broker}": FAST for broker in (1, 2, 4)}, (
        "the edits are kept, and nothing else"
    )
    wait_until(lambda: all("0:4" not in told[-1] for told in overrides(cluster, f"topics/{topic}")))
    audited = json.loads(cluster.kadmin("throttle", "audit", "-o", "json").out)
    assert {finding["origin"] for finding in audited["findings"]} == {"not on record"}
    cleared = cluster.kadmin("throttle", "clear", "--yes")
    assert cleared.status == 0, cleared.err
    assert cluster.throttles(topic) == {}
    wait_until(
        lambda: all("rate" not in told[-1] for told in overrides(cluster, "brokers/1", "brokers/4"))
    )


def test_another_rate_reaches_every_broker_of_a_run_within_ten_seconds(
    cluster: Cluster, tmp_path: Path
) -> None:
    """The plan has no throttle: that of the command line is set, changed while copies run, and gone
    at the end.
    """
    topic = cluster.create_topic({0: [1, 2], 1: [2, 1]})
    for number in (0, 1):
        cluster.produce_to(TopicPartition(topic, number), [b"x" * 900_000] * 20)
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [3, 4], 1: [4, 3]}))
    command = [
        sys.executable,
        "-m",
        "kadmin",
        "apply",
        str(plan),
        "--throttle",
        "1B/s",
        "--yes",
        "-z",
        cluster.connect,
    ]
    brokers = [f"brokers/{broker}" for broker in (1, 2, 3, 4)]

    def have(rate: int) -> bool:
        """Whether each broker's own log says that it took the rate up, as sender and as
        receiver.
        """
        said = [cluster.overrides(broker, entity) for broker, entity in enumerate(brokers, start=1)]
        return all(
            lines and lines[-1].count(f"={rate}") + lines[-1].count(f" {rate}") == 2
            for lines in said
        )

    runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: have(1), 60)
        wait_until(lambda: cluster.get(REASSIGN) is not None, 60)
        changed = cluster.kadmin("throttle", "set", "--rate", "80MB/s", "--yes", "-o", "json")
        assert changed.status == 0, changed.err
        wait_until(lambda: have(80_000_000), 10)
        answer = json.loads(changed.out)
        assert validate_value(answer, "answers/throttle-set") == []
        assert {each["entity"] for each in answer["changes"]} == set(brokers)
        _, story = runner.communicate(timeout=120)
    finally:
        runner.kill()
        runner.wait()
    assert runner.returncode == 0, story.decode()
    assert b"asked to throttle at 80.0 MB/s by " in story
    assert b"throttled at 80.0 MB/s on 4 brokers and 1 topic" in story
    assert cluster.throttles(topic) == {}
    assert cluster.kadmin("verify", plan).status == 0, "the plan on record is the plan in the file"


def test_a_dry_run_shows_the_throttle_and_sets_none(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [1, 3]}, throttle={"finish_in": "6h"})
    )
    before = cluster.fingerprint()
    unsized = cluster.kadmin("apply", plan, "--dry-run")
    told = claim("sizes_by_request").seen[cluster.version_text] == "served"
    assert unsized.status == (0 if told else 3), "no size, no rate"
    assert f"{topic}-0" in unsized.err
    value = reassignment(topic, {0: [1, 3]}, throttle={"finish_in": "100s"})
    value["spec"]["partitions"][0]["size_bytes"] = 5000
    dry = cluster.kadmin("apply", document(tmp_path / "sized.yaml", value), "--dry-run")
    assert dry.status == 0, dry.err
    assert "throttle: 50 B/s" in dry.err
    assert cluster.fingerprint() == before


def test_a_new_order_copies_nothing_and_is_not_throttled(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [2, 1]}, throttle={"rate": "1MB/s"})
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "throttled" not in applied.err
    assert cluster.throttles(topic) == {}


def test_what_is_in_flight_is_throttled_by_hand_dead_brokers_included(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        shown = cluster.kadmin("throttle", "set", "--rate", "5MB/s", "--yes", "-o", "json")
        assert shown.status == 0, shown.err
        assert validate_value(json.loads(shown.out), "answers/throttle-set") == []
        during = {LEADERS: "0:1,0:2", FOLLOWERS: f"0:{UNREGISTERED}"}
        assert cluster.config(f"topics/{topic}") == during
        assert all(
            cluster.config(f"brokers/{each}") == dict.fromkeys(RATES, "5000000")
            for each in (1, 2, 99)
        )
        found = json.loads(cluster.kadmin("throttle", "show", "-o", "json").out)
        assert validate_value(found, "answers/throttle-show") == []
        assert {each["entity"]: each["present"] for each in found["throttles"]} == {
            f"topics/{topic}": True,
            "brokers/1": True,
            "brokers/2": True,
            f"brokers/{UNREGISTERED}": False,
        }
        busy = cluster.kadmin("throttle", "clear", "--yes")
        assert busy.status == 5, busy.err
        assert "--now" in busy.err
        assert cluster.kadmin("throttle", "clear", "--now").status == 64, (
            "it asks, and nobody is there"
        )
        cleared = cluster.kadmin("throttle", "clear", "--now", "--yes", "-o", "json")
        assert cleared.status == 0, cleared.err
        assert validate_value(json.loads(cleared.out), "answers/throttle-clear") == []
    assert cluster.kadmin("throttle", "show").out.strip() == "no throttles"
