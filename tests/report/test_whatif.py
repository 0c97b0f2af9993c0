"""`whatif` on a snapshot: its answers keep their schemas, and what cannot be is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.cluster.states import CLUSTER_ID, cluster, tp
from support.documents.plans import deletion, document, election, reassignment

from kadmin.insight.predict.whatif import SingleLoss
from kadmin.inventory import inventory_of, write_inventory
from kadmin.report.whatif import standing_out
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

STATE = cluster({"orders-0": (1, 2), "orders-1": (2, 1), "single-0": (4,), "single-1": (1,)})
SIZES = {tp("orders-0"): 1_000, tp("orders-1"): 2_000, tp("single-0"): 500, tp("single-1"): 7}


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "inventory"
    write_inventory(inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z"), folder, "csv")
    return folder


def asked(inventory: Path, *arguments: str | Path) -> dict[str, Any]:
    answer = command("whatif", *arguments, "--inventory", inventory, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, f"answers/whatif-{arguments[0]}") == [], answer.out
    return value


def test_a_loss_by_broker_and_by_rack(inventory: Path) -> None:
    found = asked(inventory, "lose", "--broker", "1", "--min-insync-replicas", "2")
    assert found["leader_changes"] == [
        {"topic": "orders", "partition": 0, "leader": 1, "new_leader": 2, "unclean": False},
        {"topic": "single", "partition": 1, "leader": 1, "new_leader": -1, "unclean": False},
    ]
    assert found["offline"] == [{"topic": "single", "partition": 1}]
    assert [(each["partition"], each["isr"]) for each in found["under_min_isr"]] == [(0, [2]), (1, [2])]
    second = {"replicas": 2, "leaders": 1, "size_bytes": 3_000, "leader_bytes": 2_000}
    after = {"replicas": 2, "leaders": 2, "size_bytes": 3_000, "leader_bytes": 3_000}
    assert found["brokers"][1] == {"broker_id": 2, "before": second, "after": after}
    by_rack = asked(inventory, "lose", "--rack", "r1")
    assert (
        by_rack
        == asked(inventory, "lose", "--broker", "1,4")
        == asked(inventory, "lose", "--broker", "4", "--broker", "1")
    )
    assert by_rack["lost"] == [1, 4]
    shown = command("whatif", "lose", "--rack", "r1", "--inventory", inventory).out
    assert shown.startswith("without brokers 1, 4: 2 partitions offline, 0 more refuse acks=all, 3 leader changes\n")
    assert "single-0   4       none" in shown


def test_unclean_elections_are_told(inventory: Path) -> None:
    late = cluster({"a-0": (1, 2)}, states={"a-0": (1, (1,))})
    write_inventory(inventory_of(late, {}, "2026-01-01T00:00:00Z"), inventory, "csv")
    assert asked(inventory, "lose", "--broker", "1")["leader_changes"][0]["new_leader"] == -1
    assert asked(inventory, "lose", "--broker", "1", "--unclean")["leader_changes"][0]["unclean"] is True
    shown = command("whatif", "lose", "--broker", "1", "--unclean", "--inventory", inventory).out
    assert "unclean: records are lost" in shown
    assert "2 (unclean)" in shown


def test_each_kind_of_plan_with_the_single_losses_before_and_after(inventory: Path, tmp_path: Path) -> None:
    value = reassignment("single", {0: [4, 3], 1: [3, 1]}, elect="at_end", allow={"replication_factor_change": True})
    plan = document(tmp_path / "plan.json", value)
    found = asked(inventory, "plan", plan)
    assert [(each["topic"], each["partition"], each["new_leader"]) for each in found["leader_changes"]] == [
        ("single", 1, 3)
    ]
    single = {each["broker_id"]: each for each in found["single_losses"]}
    assert [single[broker]["before"]["offline"] for broker in (1, 2, 3, 4)] == [1, 0, 0, 1]
    assert [single[broker]["after"]["offline"] for broker in (1, 2, 3, 4)] == [0, 0, 0, 0]
    assert found["worst_single_loss"] == {"before": 1, "after": 1}
    shown = command("whatif", "plan", plan, "--inventory", inventory).out
    assert "worst single failure: broker 1 before the plan, broker 1 after it" in shown
    assert asked(inventory, "plan", document(tmp_path / "elect.json", election(all=True)))["leader_changes"] == []
    gone = asked(inventory, "plan", document(tmp_path / "gone.json", deletion("single")))
    assert [each["after"]["replicas"] for each in gone["brokers"]] == [2, 2, 0, 0]


def test_equal_losses_stand_out_together_and_not_where_all_are_equal() -> None:
    small, large = SingleLoss(0, 0, 0, 0, 1), SingleLoss(0, 0, 0, 0, 2)
    assert standing_out({1: small, 2: large, 3: large}) == {2, 3}
    assert standing_out({1: large, 2: large}) == standing_out({}) == frozenset()


def test_a_plan_names_the_partitions_that_it_lets_refuse_acks_all(inventory: Path, tmp_path: Path) -> None:
    value = reassignment("orders", {0: [2]}, allow={"replication_factor_change": True})
    given = ("plan", document(tmp_path / "plan.json", value), "--min-insync-replicas", "2")
    found = asked(inventory, *given)
    assert found["offline"] == []
    assert found["under_min_isr"] == [{"topic": "orders", "partition": 0, "isr": [2], "min_isr": 2}]
    lines = command("whatif", *given, "--inventory", inventory).out.splitlines()
    assert lines[0] == "1 leader change, 0 partitions without a leader, 1 more refuses acks=all"
    assert ["orders-0", "1", "(2)", "2"] in [line.split() for line in lines]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["lose"], 64, "No broker or rack is named"),
        (["lose", "--broker", "x"], 64, "not a broker id"),
        (["lose", "--broker", "9"], 4, "alive are 1 (r1), 2 (r2), 3 (r3), 4 (r1)"),
        (["lose", "--rack", "r9"], 4, "No live broker is in rack r9"),
        (["plan", "OTHER"], 4, "the document is for cluster"),
        (["plan", "UNKNOWN"], 4, "orders-7"),
    ],
)
def test_what_cannot_be_is_refused(
    inventory: Path, tmp_path: Path, arguments: list[str], status: int, words: str
) -> None:
    plans = {
        "OTHER": document(tmp_path / "other.json", reassignment("orders", {0: [1, 3]}, cluster_id=CLUSTER_ID[::-1])),
        "UNKNOWN": document(tmp_path / "unknown.json", reassignment("orders", {7: [1, 3]})),
    }
    given = [plans.get(each, each) for each in arguments]
    answer = command("whatif", *given, "--inventory", inventory)
    assert answer.status == status
    assert words in answer.err


def test_where_nobody_is_alive_that_is_the_reason(inventory: Path) -> None:
    write_inventory(inventory_of(cluster({}, brokers={}), {}, "2026-01-01T00:00:00Z"), inventory, "csv")
    answer = command("whatif", "lose", "--broker", "1", "--inventory", inventory)
    assert (answer.status, "no broker is alive" in answer.err) == (4, True), answer.err


def test_somewhere_must_be_known() -> None:
    assert command("whatif", "lose", "--broker", "1").status == 64
