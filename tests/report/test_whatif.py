"""`whatif` on a snapshot: its answers keep their schemas, and what cannot be is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.cluster.states import CLUSTER_ID, cluster, tp
from support.documents.plans import deletion, document, election, reassignment

from kadmin.insight.predict.losses import Bound, LossFigures, SingleLoss
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
    assert [(each["partition"], each["isr"]) for each in found["under_min_isr"]] == [
        (0, [2]),
        (1, [2]),
    ]
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
    assert shown.startswith(
        "without brokers 1, 4: 2 partitions offline, 0 more refuse acks=all, 3 leader changes\n"
    )
    assert "single-0   4       none" in shown


def test_what_is_offline_already_is_counted_and_named_beside_what_would_become_so(
    inventory: Path,
) -> None:
    state = cluster({"a-0": (1, 2), "a-1": (1,), "a-2": (3, 2)}, states={"a-0": (-1, (1,))})
    write_inventory(inventory_of(state, {}, "2026-01-01T00:00:00Z"), inventory, "csv")
    found = asked(inventory, "lose", "--broker", "1")
    named = [{"topic": "a", "partition": 1}], [{"topic": "a", "partition": 0}]
    assert (found["offline"], found["already_offline"]) == named
    shown = command("whatif", "lose", "--broker", "1", "--inventory", inventory).out.splitlines()
    assert shown[0].startswith("without broker 1: 1 partition offline and 1 offline already, ")
    assert shown[2] == "offline already: a-0"


def test_unclean_elections_are_told(inventory: Path) -> None:
    late = cluster({"a-0": (1, 2)}, states={"a-0": (1, (1,))})
    write_inventory(inventory_of(late, {}, "2026-01-01T00:00:00Z"), inventory, "csv")
    assert asked(inventory, "lose", "--broker", "1")["leader_changes"][0]["new_leader"] == -1
    assert (
        asked(inventory, "lose", "--broker", "1", "--unclean")["leader_changes"][0]["unclean"]
        is True
    )
    shown = command("whatif", "lose", "--broker", "1", "--unclean", "--inventory", inventory).out
    assert "unclean: records are lost" in shown
    assert "2 (unclean)" in shown


def test_each_kind_of_plan_with_the_single_losses_before_and_after(
    inventory: Path, tmp_path: Path
) -> None:
    value = reassignment(
        "single", {0: [4, 3], 1: [3, 1]}, elect="at_end", allow={"replication_factor_change": True}
    )
    plan = document(tmp_path / "plan.json", value)
    found = asked(inventory, "plan", plan)
    assert [
        (each["topic"], each["partition"], each["new_leader"]) for each in found["leader_changes"]
    ] == [("single", 1, 3)]
    single = {each["broker_id"]: each for each in found["single_losses"]}
    assert [single[broker]["before"]["offline"] for broker in (1, 2, 3, 4)] == [1, 0, 0, 1]
    assert [single[broker]["after"]["offline"] for broker in (1, 2, 3, 4)] == [0, 0, 0, 0]
    assert found["worst_single_loss"] == {"before": 1, "after": 1}
    shown = command("whatif", "plan", plan, "--inventory", inventory).out
    assert "worst single failure: broker 1 before the plan, broker 1 after it" in shown
    assert (
        asked(inventory, "plan", document(tmp_path / "elect.json", election(all=True)))[
            "leader_changes"
        ]
        == []
    )
    gone = asked(inventory, "plan", document(tmp_path / "gone.json", deletion("single")))
    assert [each["after"]["replicas"] for each in gone["brokers"]] == [2, 2, 0, 0]


def test_equal_losses_stand_out_together_and_not_where_all_are_equal() -> None:
    none = LossFigures(*[Bound(0, 0)] * 4)
    small, large = SingleLoss(none, 1), SingleLoss(none, 2)
    assert standing_out({1: small, 2: large, 3: large}) == {2, 3}
    assert standing_out({1: large, 2: large}) == standing_out({}) == frozenset()


def test_a_plan_names_the_partitions_that_it_lets_refuse_acks_all(
    inventory: Path, tmp_path: Path
) -> None:
    value = reassignment("orders", {0: [2]}, allow={"replication_factor_change": True})
    given = ("plan", document(tmp_path / "plan.json", value), "--min-insync-replicas", "2")
    found = asked(inventory, *given)
    assert found["offline"] == []
    assert found["under_min_isr"] == [{"topic": "orders", "partition": 0, "isr": [2], "min_isr": 2}]
    lines = command("whatif", *given, "--inventory", inventory).out.splitlines()
    assert lines[0] == "1 leader change, 0 partitions without a leader, 1 more refuses acks=all"
    assert ["orders-0", "1", "(2)", "2"] in [line.split() for line in lines]


@pytest.fixture
def without_leaders(tmp_path: Path) -> Path:
    """An inventory made by hand, with replicas alone: `pay` has them all on brokers 1 and 2, `log`
    on 1 and 3.
    """
    folder = tmp_path / "by-hand"
    folder.mkdir()
    header = {
        "apiVersion": "kadmin/v1",
        "kind": "ClusterInventory",
        "taken_at": "2026-01-01T00:00:00Z",
    }
    (folder / "inventory.json").write_text(json.dumps(header))
    (folder / "brokers.csv").write_text(
        "broker_id,rack,alive\n1,a,true\n2,b,true\n3,c,true\n4,a,true\n"
    )
    rows = [f"pay,{number},{'1;2' if number % 2 else '2;1'},100" for number in range(6)]
    (folder / "partitions.csv").write_text(
        "\n".join(["topic,partition,replicas,size_bytes", *rows, "log,0,1;3,7", ""])
    )
    return folder


def test_without_leaders_replicas_say_what_is_certain_and_the_rest_is_named(
    without_leaders: Path,
) -> None:
    every = asked(without_leaders, "lose", "--broker", "1,2")
    assert [(each["topic"], each["partition"]) for each in every["offline"]] == [
        ("pay", n) for n in range(6)
    ]
    assert every["at_most"] == {"leader_changes": 7, "offline": 7, "under_min_isr": 0, "unclean": 0}
    first = {"topic": "log", "partition": 0, "affected": True, "leader": True, "acks_all": False}
    assert every["unknown"] == [first]
    after = {each["broker_id"]: each["after"] for each in every["brokers"]}
    assert after[3] == {"replicas": 1, "leaders": None, "size_bytes": 7, "leader_bytes": None}
    assert after[4] == {"replicas": 0, "leaders": 0, "size_bytes": 0, "leader_bytes": 0}

    one = asked(without_leaders, "lose", "--broker", "2", "--min-insync-replicas", "2")
    assert (one["offline"], one["at_most"]["offline"], one["at_most"]["under_min_isr"]) == (
        [],
        6,
        6,
    )
    assert [each["affected"] for each in one["unknown"]] == [False, *[True] * 6]
    shown = command(
        "whatif", "lose", "--broker", "2", "--inventory", without_leaders
    ).out.splitlines()
    assert shown[0] == (
        "without broker 2: 0 to 6 partitions offline, 0 more refuse acks=all, 0 to 6 leader changes"
    )
    told = " ".join(shown[2:5])
    assert (
        "unknown: the leader of 6 partitions: pay-0, pay-1, pay-2, pay-3, pay-4 and 1 more" in told
    )
    assert "unknown, but unaffected: the leader of 1 more partition" in told
    assert ["1", "7", "unknown", "607", "B", "unknown"] in [line.split() for line in shown]


def test_without_leaders_single_losses_are_bounds(without_leaders: Path, tmp_path: Path) -> None:
    plan = document(tmp_path / "plan.json", reassignment("pay", {0: [3, 4]}, cluster_id=None))
    found = asked(without_leaders, "plan", plan)
    (second,) = [each for each in found["single_losses"] if each["broker_id"] == 2]
    assert (second["before"]["offline"], second["before"]["at_most"]["offline"]) == (0, 6)
    assert (second["after"]["at_most"]["offline"], second["after"]["most_leaders"]) == (5, None)
    assert [each["partition"] for each in found["unknown"] if each["affected"]] == [0]
    shown = command("whatif", "plan", plan, "--inventory", without_leaders).out.splitlines()
    (row,) = [line for line in shown if "0 to 6 -> 0 to 5" in line]
    assert " ".join(row.split()) == "2 0 to 6 -> 0 to 5 0 0 0 to 6 -> 0 to 5 unknown"


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
        "OTHER": document(
            tmp_path / "other.json",
            reassignment("orders", {0: [1, 3]}, cluster_id=CLUSTER_ID[::-1]),
        ),
        "UNKNOWN": document(tmp_path / "unknown.json", reassignment("orders", {7: [1, 3]})),
    }
    given = [plans.get(each, each) for each in arguments]
    answer = command("whatif", *given, "--inventory", inventory)
    assert answer.status == status
    assert words in answer.err


def test_where_nobody_is_alive_that_is_the_reason(inventory: Path) -> None:
    write_inventory(
        inventory_of(cluster({}, brokers={}), {}, "2026-01-01T00:00:00Z"), inventory, "csv"
    )
    answer = command("whatif", "lose", "--broker", "1", "--inventory", inventory)
    assert (answer.status, "no broker is alive" in answer.err) == (4, True), answer.err


def test_somewhere_must_be_known() -> None:
    assert command("whatif", "lose", "--broker", "1").status == 64
