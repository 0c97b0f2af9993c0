"""What `whatif lose` predicts is what live controllers do when the same broker is killed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.live.waiting import wait_until

from kadmin.cluster.model import NO_LEADER
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

LOST = 2


def asked(cluster: Cluster, *arguments: str) -> dict[str, Any]:
    answer = cluster.kadmin(*arguments, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, f"answers/{'-'.join(arguments[:2])}") == [], answer.out
    return value


def partitions(cluster: Cluster, topic: str) -> dict[int, dict[str, Any]]:
    found = asked(cluster, "inspect", "partitions", "--filter", f"topic={topic}")["partitions"]
    return {row["partition"]: row for row in found}


def lost(cluster: Cluster) -> dict[str, Any]:
    return asked(cluster, "whatif", "lose", "--broker", str(LOST))


def led(predicted: dict[str, Any]) -> list[int | None]:
    return [
        broker["after"]["leader_bytes"]
        for broker in predicted["brokers"]
        if broker["after"] is not None
    ]


@pytest.mark.matrix
def test_the_same_loss_makes_the_same_leaders(cluster: Cluster) -> None:
    lists = {
        0: [2, 3, 4],
        1: [2, 1, 3],
        2: [3, 2, 1],
        3: [4, 3, 1],
        4: [2],
        5: [1, 2],
        6: [2, 4],
        7: [2, 4, 1],
    }
    topic = cluster.create_topic(lists)
    cluster.configure(f"topics/{topic}", {"min.insync.replicas": "2"})

    sizes = [
        row["size_bytes"] for row in asked(cluster, "inspect", "brokers")["brokers"] if row["alive"]
    ]
    assert (None in sizes) is (cluster.version < (1, 1)), "older brokers tell no sizes"
    if cluster.version < (1, 1):
        assert None in led(lost(cluster)), "as inspect, whatif asks the brokers"
    else:
        # Controllers write full ISRs before brokers have made the logs: a size is unknown until
        # then.
        wait_until(lambda: None not in led(lost(cluster)))
    predicted = lost(cluster)
    ours = [each for each in predicted["leader_changes"] if each["topic"] == topic]
    leaders = {number: row["leader"] for number, row in partitions(cluster, topic).items()}
    assert [(each["partition"], each["leader"]) for each in ours] == [
        (n, LOST) for n in (0, 1, 4, 6, 7)
    ]
    leaders |= {each["partition"]: each["new_leader"] for each in ours}
    refusing = {each["partition"] for each in predicted["under_min_isr"] if each["topic"] == topic}
    assert leaders[4] == NO_LEADER
    assert leaders[7] == 4
    assert refusing == {5, 6}

    # A controller that dies leaves the state of a sole replica as it is, seen on 0.10.2 and 1.1:
    # nobody writes another.
    while cluster.controller() == LOST:
        cluster.controllers.move()
    with cluster.broker_down(LOST):
        wait_until(
            lambda: all(row["leader"] != LOST for row in partitions(cluster, topic).values()), 60
        )
        assert {
            number: row["leader"] for number, row in partitions(cluster, topic).items()
        } == leaders
        wait_until(
            lambda: all(
                LOST not in row["isr"] for n, row in partitions(cluster, topic).items() if n != 4
            ),
            60,
        )
        seen = partitions(cluster, topic)
        # One replica alone never met the minimum of two, whether or not it leads.
        assert {
            number for number, row in seen.items() if "under-min-isr" in row["condition"]
        } == refusing
        assert [number for number, row in seen.items() if "offline" in row["condition"]] == [4]
        dead = asked(cluster, "inspect", "brokers", "--filter", "alive=no")["brokers"]
        assert LOST in {row["broker_id"] for row in dead}, (
            "lists of other tests may name brokers that never were"
        )
