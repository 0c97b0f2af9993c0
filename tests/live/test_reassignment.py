"""Reassignments through the command line, on live brokers of every version under test, in a
chroot.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.steps import waves_of

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

CHANGES = {
    "replica added": ([1, 2], [1, 2, 3]),
    "replica removed": ([1, 2, 3], [1, 2]),
    "leader removed": ([1, 2, 3], [3, 2]),
    "reordered": ([1, 2, 3], [3, 1, 2]),
    "replaced": ([1, 2], [3, 4]),
    "factor up to four": ([2], [2, 3, 4, 1]),
}


def test_every_change_is_applied_verified_and_no_record_is_lost(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic(
        {number: before for number, (before, _) in enumerate(CHANGES.values())}
    )
    written = cluster.produce(topic, per_partition=20)
    targets = {number: after for number, (_, after) in enumerate(CHANGES.values())}
    plan = document(
        tmp_path / "plan.yaml",
        reassignment(
            topic,
            targets,
            allow={"replication_factor_change": True, "fewer_racks": True},
            elect="at_end",
        ),
    )

    assert cluster.kadmin("verify", plan).status == 8
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert cluster.kadmin("verify", plan).status == 0

    for number, after in targets.items():
        partition = TopicPartition(topic, number)
        state = cluster.state(topic)
        assert list(state.replicas(partition) or ()) == after
        assert set(state.states[partition].isr) == set(after)
        assert state.states[partition].leader == after[0]
    assert cluster.read_back(topic) == written
    assert cluster.get("/admin/reassign_partitions") is None


def test_a_second_apply_has_nothing_to_do_and_leaves_no_operation(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    before = cluster.history()
    again = cluster.kadmin("apply", plan, "--yes")
    assert (again.status, again.out.strip()) == (0, "nothing to do")
    assert cluster.history() == before


def test_a_plan_of_several_waves_is_published_wave_by_wave_in_order(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({number: [1, 2] for number in range(5)})
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, {number: [2, 3] for number in range(5)}, waves={"max_partitions": 2}),
    )
    shown = json.loads(cluster.kadmin("diff", plan, "-o", "json").out)
    assert [wave["partitions"] for wave in shown["reassignment"]["waves"]] == [2, 2, 1]

    applied = cluster.kadmin("apply", plan, "--yes", "-o", "json")
    assert applied.status == 0, applied.err
    operation = json.loads(applied.out)["operation_id"]
    waves = waves_of(cluster.steps(operation))
    assert waves == [0, 1, 2]


def test_dry_run_changes_not_one_znode(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    before = cluster.fingerprint()
    dry = cluster.kadmin("apply", plan, "--dry-run")
    assert dry.status == 0, dry.err
    assert "nothing was changed" in dry.out
    assert cluster.kadmin("diff", plan, "--detailed-exitcode").status == 2
    assert cluster.fingerprint() == before


def test_without_a_terminal_and_without_yes_nothing_is_written(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [2, 3]}))
    before = cluster.fingerprint()
    refused = cluster.kadmin("apply", plan)
    assert refused.status == 64
    assert "--yes" in refused.err
    assert cluster.fingerprint() == before
