"""Every command with -b, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.live.kraft import make_topic, wait_assigned

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

pytestmark = pytest.mark.live


def test_apply_moves_partitions_and_the_history_has_it(cluster: KraftCluster, tmp_path: Path) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: [3, 4]}}\n"
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert applied.out.startswith("1 partition at the target ")
    wait_assigned(cluster.connection, {TopicPartition(topic, 0): (3, 4)})
    (operation,) = json.loads(cluster.kadmin("history", "-o", "json").out)["operations"]
    assert operation["state"] == "completed"
    assert cluster.kadmin("verify", plan).status == 0
