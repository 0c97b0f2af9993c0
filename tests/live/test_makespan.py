"""The makespan of a throttled reassignment on live brokers, against the bound that `diff`
prints.
"""

from __future__ import annotations

import json
from datetime import datetime
from random import Random
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.plan.wave_cases import busiest

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.steps import WaveStep, waves_of
from kadmin.plan.model import PartitionTarget

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.executor, pytest.mark.on("2.8.2")]

SEED, PARTITIONS, WAVE, RATE = 15, 40, 10, 5_000_000
RECORD = b"x" * 100_000
MOST = 1.2


def test_waves_of_a_throttled_reassignment_come_near_the_bound(
    cluster: Cluster, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Timed from the first publish to the end of the operation, barriers, pickups and the last
    check included.

    The throttle counts over 11 seconds: at first each broker may copy ten seconds' worth at once.
    """
    random = Random(SEED)  # noqa: S311 - the same sizes in every run
    lists = {number: random.sample((1, 2, 3, 4), 3) for number in range(PARTITIONS)}
    current = {number: ids[:2] for number, ids in lists.items()}
    target = {number: [ids[0], ids[2]] for number, ids in lists.items()}
    topic = cluster.create_topic(current)
    for number in lists:
        cluster.produce_to(TopicPartition(topic, number), [RECORD] * random.randint(20, 200))
    folders = {
        number: cluster.folder_on_disk(TopicPartition(topic, number), ids[0])
        for number, ids in lists.items()
    }
    sizes = {
        number: sum(log.stat().st_size for log in folder.glob("*.log"))
        for number, folder in folders.items()
    }
    value = reassignment(
        topic,
        target,
        current=current,
        throttle={"rate": f"{RATE}B/s"},
        waves={"max_partitions": WAVE},
        allow={"fewer_racks": True},
    )
    for entry in value["spec"]["partitions"]:
        entry["size_bytes"] = sizes[entry["partition"]]
    plan = document(tmp_path / "plan.json", value)
    bound_s = (
        busiest(
            PartitionTarget(TopicPartition(topic, n), tuple(target[n]), tuple(current[n]), sizes[n])
            for n in lists
        )
        / RATE
    )

    throttle = json.loads(cluster.kadmin("diff", plan, "-o", "json").out)["throttle"]
    assert throttle["makespan_bound_s"] == bound_s
    assert throttle["makespan_s"] <= 1.08 * bound_s

    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    listing = cluster.history()[-1]
    steps = [step for step in cluster.steps(listing.operation_id) if isinstance(step, WaveStep)]
    assert waves_of(steps) == list(range(PARTITIONS // WAVE))
    took = datetime.fromisoformat(listing.status.updated_at) - datetime.fromisoformat(steps[0].at)
    record_property("seed", SEED)
    record_property(
        "seconds",
        {"took": took.total_seconds(), "planned": throttle["makespan_s"], "bound": bound_s},
    )
    assert took.total_seconds() <= MOST * bound_s
