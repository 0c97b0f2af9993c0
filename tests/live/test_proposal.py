"""The planner on a live cluster: snapshot, proposal by Spark, apply, and nothing left to
propose.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import document
from support.eras.claims import claim
from support.live.cluster import Cluster

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.spark]


@pytest.fixture(scope="module")
def skewed(live: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of the same version, seeded: broker 4 is almost empty."""
    folder = tmp_path_factory.mktemp("skewed") / "sandbox"
    sandbox = Sandbox.up(SandboxSpec(folder, live.spec.version, brokers=4, chroot="/kafka"))
    seeded = command("sandbox", "seed", "--dir", folder)
    assert seeded.status == 0, seeded.err
    found = Cluster(sandbox.connect_string, sandbox.bootstrap, live.spec.version)
    yield found
    found.close()
    sandbox.down()


def test_a_plan_of_spark_is_applied_and_a_second_proposal_is_empty(
    skewed: Cluster, tmp_path: Path
) -> None:
    request = document(
        tmp_path / "request.json",
        {"kind": "RebalanceRequest", "spec": {"topics": {"include": ["*"]}}},
    )
    plan, figures = tmp_path / "plan.json", tmp_path / "figures.json"
    assert skewed.kadmin("snapshot", "--out", tmp_path / "before").status == 0
    proposed = skewed.kadmin(
        "propose",
        "rebalance",
        request,
        "--inventory",
        tmp_path / "before",
        "--out",
        plan,
        "--figures",
        figures,
    )
    assert proposed.status == 0, proposed.err
    document_of_plan = json.loads(plan.read_text())
    assert document_of_plan["spec"]["elect"] == "at_end"
    assert document_of_plan["metadata"]["cluster_id"]
    assert all(
        entry["current"] != entry["replicas"] for entry in document_of_plan["spec"]["partitions"]
    )
    sized = [entry.get("size_bytes", 0) > 0 for entry in document_of_plan["spec"]["partitions"]]
    assert set(sized) == {claim("sizes_by_request").seen[skewed.version_text] == "served"}

    assert skewed.kadmin("validate", plan, "--inventory", tmp_path / "before").status == 0
    records = skewed.read_back("orders")
    applied = skewed.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert skewed.kadmin("verify", plan).status == 0
    assert skewed.read_back("orders") == records

    assert skewed.kadmin("snapshot", "--out", tmp_path / "after", "--table", "csv").status == 0
    second = tmp_path / "second.json"
    for engine in ("spark", "local"):
        again = skewed.kadmin(
            "propose",
            "rebalance",
            request,
            "--inventory",
            tmp_path / "after",
            "--out",
            second,
            "--engine",
            engine,
        )
        assert again.status == 0, again.err
        assert json.loads(second.read_text())["spec"]["partitions"] == []


def test_a_plan_that_was_overtaken_is_stale(skewed: Cluster, tmp_path: Path) -> None:
    before, plan = tmp_path / "before", tmp_path / "plan.json"
    request = document(
        tmp_path / "request.json", {"kind": "RebalanceRequest", "spec": {"brokers": {"drain": [4]}}}
    )
    assert skewed.kadmin("snapshot", "--out", before, "--table", "jsonl").status == 0
    proposed = skewed.kadmin(
        "propose", "rebalance", request, "--inventory", before, "--out", plan, "--engine", "local"
    )
    assert proposed.status == 0, proposed.err
    first = json.loads(plan.read_text())["spec"]["partitions"][0]
    moved = [*first["current"][1:], first["current"][0]]
    other = document(
        tmp_path / "other.json",
        {
            "kind": "PartitionReassignment",
            "spec": {
                "partitions": [
                    {"topic": first["topic"], "partition": first["partition"], "replicas": moved}
                ]
            },
        },
    )
    assert skewed.kadmin("apply", other, "--yes").status == 0
    stale = skewed.kadmin("apply", plan, "--yes")
    assert stale.status == 4, stale.err
    assert f"{first['topic']}-{first['partition']}" in stale.err
