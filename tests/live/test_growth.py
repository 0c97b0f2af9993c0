"""Growths on live brokers: by the topic znode in ZooKeeper mode, by CreatePartitions in KRaft
mode.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from support.documents.plans import document
from support.kafka.group_members import commit
from support.live.errands import cluster_of
from support.live.growths import AFTER, Growths
from support.live.waiting import wait_until
from support.suites.versions import KRAFT_VERSIONS, VERSIONS

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import StalePlanError
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

MODES = [
    *(
        pytest.param((each, "zookeeper"), id=f"zookeeper-{each}", marks=pytest.mark.matrix)
        for each in VERSIONS
    ),
    *(pytest.param((each, "kraft"), id=f"kraft-{each}") for each in KRAFT_VERSIONS),
]
KILLS, PARTS = 4, 3


@pytest.fixture(scope="module", params=MODES)
def sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    with cluster_of(request.param, tmp_path_factory) as found:
        yield found


@pytest.fixture
def growths(sandbox: Sandbox, tmp_path: Path) -> Growths:
    return Growths(sandbox, tmp_path)


@pytest.mark.eras
def test_the_whole_way(growths: Growths, sandbox: Sandbox, tmp_path: Path) -> None:
    (topic,) = growths.topics()
    plan = tmp_path / "growth.yaml"
    proposed = growths.kadmin("propose", "growth", topic, "--partitions", "4", "--out", plan)
    assert proposed.status == 0, proposed.err
    assert "cannot be rolled back" in proposed.out
    found = yaml.safe_load(plan.read_text())["spec"]["topics"]
    wanted = {0: [1, 2], 1: [2, 3], **dict(enumerate(found[0]["new_partitions"], start=2))}
    shown = growths.kadmin("diff", plan)
    assert (shown.status, "This cannot be rolled back" in shown.out) == (0, True), shown.err
    assert "records with keys go to other partitions" in shown.out
    assert growths.lists(topic).keys() == {0, 1}
    applied = growths.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert "2 partitions added" in applied.out
    assert growths.lists(topic) == wanted
    assert growths.kadmin("verify", plan).status == 0
    again = growths.kadmin("apply", plan, "--yes")
    assert (again.status, again.out.strip()) == (0, "nothing to do")
    last = growths.operations()[-1]
    assert (last["kind"], last["state"]) == ("growth", "completed")
    refused = growths.kadmin("rollback", last["operation_id"], "--yes")
    assert (refused.status, "Kafka removes no partition" in refused.err) == (3, True), refused.err
    wait_until(lambda: takes_records(sandbox, topic))


def takes_records(sandbox: Sandbox, topic: str) -> bool:
    """Whether the new partitions take records; brokers hear of them some time later."""
    records = {TopicPartition(topic, number): [b"record"] for number in (2, 3)}
    try:
        produce(Servers(sandbox.bootstrap), records)
    except StalePlanError:
        return False
    return True


@pytest.mark.matrix
def test_what_is_refused(growths: Growths, tmp_path: Path) -> None:
    (topic,) = growths.topics()
    plan = growths.plan(topic, allow={"keys_move": True})
    grown = growths.kadmin("apply", plan, "--yes")
    assert grown.status == 0, grown.err
    entry = {"topic": topic, "current": 3, "new_partitions": [[1, 2]]}
    wrong = {
        "KA102": entry,
        "KA101": {**entry, "current": 4, "new_partitions": [[1, 2, 3]]},
        "KA042": {**entry, "current": 4, "new_partitions": [[1, 99]]},
        "KA040": {**entry, "topic": f"{topic}-not"},
        "KA100": {**entry, "topic": "__consumer_offsets"},
    }
    for code, each in wrong.items():
        value = {"kind": "PartitionGrowth", "spec": {"topics": [each]}}
        refused = growths.kadmin("apply", document(tmp_path / f"{code}.yaml", value), "--yes")
        assert refused.status in {3, 4}, (code, refused.err)
        if code != "KA100":  # brokers make that topic for the first group
            assert code in refused.err
    assert growths.lists(topic) == AFTER


@pytest.mark.matrix
def test_groups_that_read_it_are_listed(growths: Growths, sandbox: Sandbox) -> None:
    (topic,) = growths.topics()
    commit(sandbox.bootstrap, f"readers-of-{topic}", topic)
    plan = growths.plan(topic)
    shown = growths.kadmin("diff", plan)
    assert f"read by 1 group: readers-of-{topic}" in shown.out, shown.out + shown.err
    rows = json.loads(growths.kadmin("consumers", "disturbed", plan, "-o", "json").out)
    assert [
        (each["group"], each["partition"], each["leader"], each["new_leader"])
        for each in rows["disturbances"]
    ] == [(f"readers-of-{topic}", 2, None, 3), (f"readers-of-{topic}", 3, None, 4)]


@pytest.mark.matrix
@pytest.mark.parametrize("then", ["resumed", "cancelled"])
def test_a_growth_killed_at_some_writes(growths: Growths, then: str) -> None:
    points = growths.points()
    chosen = points[len(points) // (KILLS + 1) :: max(1, len(points) // (KILLS + 1))][:KILLS]
    assert [wrong for each in chosen for wrong in getattr(growths, then)(each)] == []


@pytest.mark.executor
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("then", ["resumed", "cancelled"])
def test_a_growth_killed_at_every_write(growths: Growths, then: str, part: int) -> None:
    points = growths.points()[part::PARTS]
    assert [wrong for each in points for wrong in getattr(growths, then)(each)] == []
