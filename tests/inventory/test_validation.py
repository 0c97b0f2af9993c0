"""Files validated against an inventory: which clusters a document is about, and what each of them
answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory
from kadmin.inventory.validation import validate_files
from kadmin.plan import codes
from kadmin.plan.model import Policy

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.diagnostics import Diagnostic


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Two clusters: brokers 1 and 2 in the east, 2 and 3 in the west, and a topic of its own in
    each.
    """

    def cluster(cluster_id: str, *brokers: int) -> ClusterInventory:
        rows = tuple(BrokerRow(broker, f"r{broker}") for broker in brokers)
        return ClusterInventory(cluster_id, rows, (PartitionRow(f"of-{cluster_id}", 0, brokers),))

    clusters = {"east": cluster("eastern", 1, 2), "west": cluster("western", 2, 3)}
    write_inventory(Inventory("2026-11-22T08:00:00Z", clusters), tmp_path / "fleet", "csv")
    return tmp_path / "fleet"


def found(text: str, directory: Path) -> list[Diagnostic]:
    return list(validate_files([("plan.yaml", text.encode())], Policy(), directory).diagnostics)


MOVES = (
    b"kind: PartitionReassignment\n"
    b"spec: {partitions: [{topic: of-eastern, partition: 0, replicas: [2, 1]}]}\n"
)


def test_applied_plans_are_not_compared_with_plans_and_clusters_of_now(fleet: Path) -> None:
    names = ["plans/applied/1.yaml", "plans/applied/2025/2.yaml", "plans/3.yaml"]
    applied = validate_files([(name, MOVES) for name in names], Policy())
    assert applied.diagnostics == ()
    both = validate_files([("plans/applied.yaml", MOVES), ("plans/3.yaml", MOVES)], Policy())
    assert [each.code for each in both.diagnostics] == [codes.PARTITION_IN_TWO_PLANS]
    stale = MOVES.replace(b"replicas", b"current: [7, 8], replicas")
    now = validate_files(
        [("plans/3.yaml", stale), ("plans/applied/3.yaml", stale)], Policy(), fleet
    )
    assert {each.location.file for each in now.diagnostics} == {"plans/3.yaml"}
    broken = validate_files([("plans/applied/3.yaml", b"kind: PartitionReassignment\n")], Policy())
    assert [each.code for each in broken.diagnostics] == [codes.MISSING_FIELD]


def request(spec: str, cluster_id: str | None = None) -> str:
    metadata = "" if cluster_id is None else f"metadata: {{cluster_id: {cluster_id}}}\n"
    return f"kind: RebalanceRequest\n{metadata}spec: {spec}\n"


def test_a_name_of_a_request_is_unknown_where_no_cluster_has_it(fleet: Path) -> None:
    assert found(request("{brokers: {drain: [1, 3]}}"), fleet) == []
    (unknown,) = found(request("{brokers: {drain: [1, 9]}}"), fleet)
    assert (unknown.code, unknown.broker, unknown.path) == (
        codes.UNKNOWN_BROKER,
        9,
        "$.spec.brokers.drain[1]",
    )
    pins = "{{pins: [{{topic: {}, partition: 0, replicas: [2, {}]}}]}}"
    assert found(request(pins.format("of-eastern", 1)), fleet) == []
    assert [each.code for each in found(request(pins.format("nowhere", 1)), fleet)] == [
        codes.UNKNOWN_PARTITION
    ]


def test_what_breaks_a_rule_in_one_cluster_is_reported(fleet: Path) -> None:
    """East has broker 1, which is to take no replicas."""
    told = found(request("{brokers: {substitute: {2: 1}, no_receive: [1]}}"), fleet)
    assert [each.code for each in told] == [codes.CANNOT_SUBSTITUTE]


def test_a_request_for_one_cluster_is_refused_for_the_others_of_a_fleet(fleet: Path) -> None:
    """As the planner does, which plans for every cluster of the inventory."""
    (other,) = found(request("{brokers: {drain: [1]}}", "eastern"), fleet)
    assert (other.code, other.message) == (
        codes.OTHER_CLUSTER,
        "the document is for cluster eastern, this is cluster western",
    )


def test_a_broker_that_only_the_second_entry_of_a_partition_names_is_found_there(
    fleet: Path,
) -> None:
    entry = "{{topic: of-eastern, partition: 0, replicas: [1, {}]}}"
    partitions = f"[{entry.format(2)}, {entry.format(9)}]"
    spec = f"{{throttle: none, partitions: {partitions}}}"
    text = f"kind: PartitionReassignment\nmetadata: {{cluster_id: eastern}}\nspec: {spec}\n"
    told = {each.code: each.path for each in found(text, fleet)}
    assert told == {
        codes.DUPLICATE_PARTITION: "$.spec.partitions[1]",
        codes.UNKNOWN_BROKER: "$.spec.partitions[1].replicas[1]",
    }
