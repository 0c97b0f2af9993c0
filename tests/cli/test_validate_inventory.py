"""`kadmin validate --inventory`: plans against one cluster and against a fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.cli.in_process import command
from support.cli.inventories import CLUSTER_ID, small_inventory

from kadmin.errors import InvalidInputError
from kadmin.inventory import read_inventory, write_inventory


def deletion_of(cluster_id: str) -> str:
    return (
        f"kind: TopicDeletion\nmetadata: {{cluster_id: {cluster_id}}}\nspec: {{topics: [orders]}}\n"
    )


AGAINST = """\
kind: PartitionReassignment
metadata: {{cluster_id: {0}}}
spec:
  partitions:
    - {{topic: orders, partition: 0, current: [1, 2], replicas: [1, 3]}}
    - {{topic: orders, partition: 1, current: [2, 1], replicas: [1, 3]}}
    - {{topic: orders, partition: 7, replicas: [1, 3]}}
    - {{topic: order, partition: 0, replicas: [1, 9]}}
    - {{topic: payments, partition: 0, replicas: [1]}}
"""


def test_against_an_inventory(tmp_path: Path) -> None:
    folder = small_inventory(tmp_path / "inventory")
    (tmp_path / "plan.yaml").write_text(AGAINST.format(CLUSTER_ID))
    done = command("validate", "plan.yaml", "--inventory", folder, "--format", "json", cwd=tmp_path)
    assert done.status == 3, done.err
    found = [
        (each["line"], each["column"], each["code"]) for each in json.loads(done.out)["problems"]
    ]
    assert found == [
        (5, 7, "KA071"),
        (5, 65, "KA047"),
        (6, 46, "KA043"),
        (7, 34, "KA041"),
        (8, 15, "KA040"),
        (8, 50, "KA042"),
        (9, 49, "KA023"),
        (9, 49, "KA044"),
    ]


@pytest.mark.parametrize("answer", ["human", "github"])
def test_a_plan_that_breaks_its_schema_is_said_not_to_be_compared(
    tmp_path: Path, answer: str
) -> None:
    folder = small_inventory(tmp_path / "inventory")
    (tmp_path / "plan.yaml").write_text(
        AGAINST.format(CLUSTER_ID).replace("replicas: [1, 9]", "replicas: [9, 9]")
    )
    done = command("validate", tmp_path / "plan.yaml", "--inventory", folder, "--format", answer)
    assert done.status == 3
    assert "KA021" in done.out
    skipped = "other rules and the inventory are checked when these errors are corrected"
    assert done.err == f"{skipped}: {tmp_path / 'plan.yaml'}\n"
    assert command("validate", tmp_path / "plan.yaml").err == "", "no inventory was asked for"


def test_against_another_cluster(tmp_path: Path) -> None:
    folder = small_inventory(tmp_path / "inventory")
    (tmp_path / "plan.yaml").write_text(deletion_of("other"))
    done = command("validate", "plan.yaml", "--inventory", folder, cwd=tmp_path)
    assert done.status == 3
    assert "plan.yaml:2:24: error KA045: the document is for cluster other" in done.out


def test_against_a_fleet(tmp_path: Path) -> None:
    folder = small_inventory(tmp_path / "inventory", east="eastern", west="western")
    (tmp_path / "good.yaml").write_text(deletion_of("western"))
    (tmp_path / "none.yaml").write_text("kind: TopicDeletion\nspec: {topics: [orders]}\n")
    (tmp_path / "request.yaml").write_text(
        "kind: RebalanceRequest\nspec: {brokers: {drain: [9]}}\n"
    )
    assert command("validate", "good.yaml", "--inventory", folder, cwd=tmp_path).status == 0
    none = command("validate", "none.yaml", "--inventory", folder, cwd=tmp_path)
    assert (none.status, none.err) == (3, "")
    said = (
        "none.yaml:1:1: error KA045: the inventory holds a fleet, and the document has no "
        "cluster_id"
    )
    assert said in none.out
    assert "name one of its clusters: eastern (east), western (west)" in none.out
    (tmp_path / "none.yaml").write_text(deletion_of("northern"))
    other = command("validate", "none.yaml", "--inventory", folder, cwd=tmp_path)
    assert (
        "none.yaml:2:24: error KA045: the inventory holds a fleet, and no cluster of it has"
        in other.out
    )
    (tmp_path / "policy.yaml").write_text('kind: Policy\nspec: {codes: {KA045: "off"}}\n')
    unchecked = command(
        "validate", "none.yaml", "--inventory", folder, "--policy", "policy.yaml", cwd=tmp_path
    )
    assert (unchecked.status, unchecked.out) == (3, other.out), (
        "what was not checked has not passed"
    )
    request = command("validate", "request.yaml", "--inventory", folder, cwd=tmp_path)
    assert request.status == 3
    assert "request.yaml:2:26: error KA042: the inventory has no broker 9" in request.out


def test_facts_of_a_fleet_are_those_of_the_document_s_cluster(tmp_path: Path) -> None:
    folder = Path(small_inventory(tmp_path / "inventory", east="eastern", west="western"))
    header = json.loads((folder / "inventory.json").read_text())
    header["kafka_by_cluster"] = {
        "west": {"consumers": {"orders": ["billing"]}, "delete_topic_enable": False}
    }
    (folder / "inventory.json").write_text(json.dumps(header))
    write_inventory(read_inventory(folder), folder, "csv")
    assert json.loads((folder / "inventory.json").read_text()) == header, (
        "what was read is written again"
    )
    for cluster_id, found in (("eastern", ["KA058"]), ("western", ["KA053", "KA051"])):
        (tmp_path / "plan.yaml").write_text(deletion_of(cluster_id))
        done = command(
            "validate", "plan.yaml", "--inventory", str(folder), "--format", "json", cwd=tmp_path
        )
        assert [problem["code"] for problem in json.loads(done.out)["problems"]] == found


def test_two_clusters_of_one_id_cannot_be_told_apart(tmp_path: Path) -> None:
    folder = small_inventory(tmp_path / "inventory", east="one", west="one")
    (tmp_path / "plan.yaml").write_text(deletion_of("one"))
    done = command("validate", "plan.yaml", "--inventory", folder, cwd=tmp_path)
    assert (done.status, done.err) == (3, "")
    assert (
        "error KA045: the inventory holds a fleet, and east, west have cluster_id one" in done.out
    )


def test_a_broken_inventory_hides_no_problem_of_a_document(tmp_path: Path) -> None:
    folder = Path(small_inventory(tmp_path / "inventory"))
    (folder / "partitions.csv").write_text("topic,partition,replicas\norders,-1,1\n")
    (tmp_path / "plan.yaml").write_text("kind: TopicDeletion\nspec: {topics: [orders, orders]}\n")
    done = command("validate", "plan.yaml", "--inventory", "inventory", cwd=tmp_path)
    assert (done.status, done.err) == (3, "")
    assert "plan.yaml:2:25: error KA021" in done.out
    said = "inventory:1:1: error KA001: this cannot be read: The inventory inventory has bad rows;"
    assert said in done.out
    (tmp_path / "policy.yaml").write_text(
        'kind: Policy\nspec: {codes: {KA001: "off", KA021: "off"}}\n'
    )
    done = command(
        "validate", "plan.yaml", "--inventory", "inventory", "--policy", "policy.yaml", cwd=tmp_path
    )
    assert (done.status, said in done.out, "KA021" in done.out) == (3, True, False)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"cluster_id": "c", "kafka_by_cluster": {"c": {}}},
            "is of one cluster and has kafka_by_cluster",
        ),
        ({"clusters": {"c": "c"}, "kafka": {}}, "is of a fleet and has kafka."),
        (
            {"clusters": {"c": "c"}, "kafka_by_cluster": {"d": {}}},
            "clusters that it does not name: d",
        ),
        ({"clusters": {"c": "c"}, "cluster_id": "c"}, "both cluster_id and clusters"),
    ],
)
def test_facts_stand_where_their_clusters_are_named(
    tmp_path: Path, fields: dict[str, object], said: str
) -> None:
    folder = Path(small_inventory(tmp_path / "inventory"))
    head = {"kind": "ClusterInventory", "taken_at": "2024-01-31T12:30:45Z"}
    (folder / "inventory.json").write_text(json.dumps(head | fields))
    with pytest.raises(InvalidInputError, match=said):
        read_inventory(folder)
