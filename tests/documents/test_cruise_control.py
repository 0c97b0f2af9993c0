"""Cruise Control's proposals become plans."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.documents.strategies import topics

from kadmin.cli import run
from kadmin.cluster.model import TopicPartition
from kadmin.documents import dump_yaml, parse_document
from kadmin.documents.cruise_control import parse_proposals
from kadmin.errors import InvalidInputError
from kadmin.plan.model import Elect, PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from pathlib import Path

ids = st.integers(0, 2**31 - 1)
replica_lists = st.lists(ids, min_size=1, max_size=3, unique=True)


def proposal(
    topic: str, partition: int, old: list[int], new: list[int], **others: object
) -> dict[str, Any]:
    """Return a proposal as Gson writes it in Cruise Control 3.0.4: with the hash that Kafka's
    TopicPartition keeps in a field.
    """
    return {
        "topicPartition": {"hash": -1008769370, "partition": partition, "topic": topic},
        "oldLeader": old[0],
        "oldReplicas": old,
        "newReplicas": new,
        **others,
    }


def answer(*proposals: object) -> str:
    """Return an answer of `rebalance?json=true&verbose=true`, shortened, with numbers that Gson
    writes and JSON does not have.
    """
    others = '"summary":{"numReplicaMovements":1,"excludedTopics":["a \\"NaN"]},'
    load = '"loadBeforeOptimization":{"brokers":[{"DiskPct":NaN,"CpuPct":-Infinity}]},"version":1'
    return f'{{{others}"proposals":{json.dumps(proposals)},{load}}}'


def parse(text: str) -> tuple[ReassignmentPlan, tuple[str, ...]]:
    document, notes = parse_proposals(text.encode(), "cc.json")
    assert isinstance(document, ReassignmentPlan)
    return document, notes


def refusal(text: str) -> str:
    with pytest.raises(InvalidInputError) as caught:
        parse(text)
    assert caught.value.exit_code == 3
    return "\n".join(caught.value.lines())


def test_proposals_become_a_plan_with_current_that_elects() -> None:
    plan, notes = parse(
        answer(proposal("orders", 1, [1, 2], [3, 2]), proposal("orders", 0, [1, 2], [2, 1]))
    )
    assert notes == ()
    assert plan == ReassignmentPlan(
        PlanHeader(),
        (
            PartitionTarget(TopicPartition("orders", 1), (3, 2), (1, 2)),
            PartitionTarget(TopicPartition("orders", 0), (2, 1), (1, 2)),
        ),
        elect=Elect.AT_END,
    )


@given(
    st.dictionaries(
        st.tuples(topics, ids), st.tuples(replica_lists, replica_lists), min_size=1, max_size=4
    )
)
def test_each_proposal_that_moves_is_an_entry_of_a_valid_plan(
    wished: dict[tuple[str, int], tuple[list[int], list[int]]],
) -> None:
    listed = [proposal(*partition, *lists) for partition, lists in wished.items()]
    moving = {each: lists for each, lists in wished.items() if lists[0] != lists[1]}
    if not moving:
        assert "names no disk" in refusal(answer(*listed))
        return
    plan, notes = parse(answer(*listed))
    assert {
        (each.partition.topic, each.partition.partition): (
            list(each.current or ()),
            list(each.replicas),
        )
        for each in plan.reassignments
    } == moving
    assert bool(notes) == (len(moving) < len(wished))
    assert plan.allow_replication_factor_change == any(
        len(old) != len(new) for old, new in wished.values()
    )
    assert parse_document(dump_yaml(plan).encode(), "plan.yaml") == plan


def test_moves_between_disks_of_a_broker_are_left_out_and_said() -> None:
    plan, notes = parse(answer(proposal("a", 0, [1, 2], [1, 2]), proposal("a", 1, [1, 2], [3, 2])))
    assert [str(each.partition) for each in plan.reassignments] == ["a-1"]
    assert notes == ("left out: 1 proposal between the disks of a broker",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (answer(proposal("o", 0, [1], [2, 2])), "KA021"),
        (answer(proposal("o", 0, [1], [])), "KA017"),
        (answer(proposal("o", 0, [1], [2]) | {"oldReplicas": 1}), "KA013"),
        (answer(proposal("o", 0, [1], [2]) | {"topicPartition": {"topic": "o"}}), "KA012"),
        (answer(proposal("f/o", 0, [1], [2])), "KA014"),
        (answer(proposal("o", 0, [1], [2], logDirs=[])), 'KA011 unknown field "logDirs"'),
        (answer(proposal("o", 0, [1], [2]) | {"topicPartition": "o-0"}), "a proposal has"),
        (answer({"topicPartition": {}}), "a proposal has topicPartition, oldReplicas, newReplicas"),
        (answer(7), "KA013 a proposal has"),
        (
            answer(proposal("o", 0, [1], [2]), proposal("o", 0, [1], [3])),
            "KA020 o-0 is named 2 times; the first is on line 1",
        ),
        (answer(), "KA017 there are no proposals"),
        ('{"proposals":{}}', "KA013 proposals is not a list"),
        ('{"summary":{}}', "KA010 the answer has no proposals (ask Cruise Control with json=true&"),
        ('{"progress":[{"operation":"Rebalance"}],"version":1}', "KA010 this is the progress of"),
        ('{"errorMessage":"no windows","version":1}', 'answered with an error: "no windows"'),
        ("[]", "KA010 this is no answer of Cruise Control"),
        ("Optimization has 3 moves", "KA002"),
    ],
)
def test_what_is_wrong_is_refused_at_its_place(text: str, said: str) -> None:
    found = refusal(text)
    assert said in found
    assert "cc.json:1:" in found


def test_places_are_those_of_the_answer() -> None:
    text = answer(proposal("orders", 0, [1, 2], [3, 3])).replace('"newReplicas": ', "\n")
    text = text.replace("\n", '"newReplicas":\n ')
    assert "cc.json:2:6: KA021" in refusal(text)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, plan = tmp_path / "cc.json", tmp_path / "plan.yaml"
    proposals = [proposal("orders", 0, [1, 2], [3, 2]), proposal("a", 0, [1], [1])]
    file.write_text(json.dumps({"proposals": proposals}))
    assert run(["convert", str(file), "--to", "plan"]) == 3
    said = capsys.readouterr().err
    assert "this is an answer of Cruise Control" in said
    command = ["convert", str(file), "--from", "cruise-control", "--to", "plan", "--out"]
    assert f"kadmin {' '.join(command)} PLAN" in said
    assert run([*command, str(plan)]) == 0
    assert capsys.readouterr().err == "left out: 1 proposal between the disks of a broker\n"
    assert run(["validate", str(plan)]) == 0
    assert run(["convert", str(file), "--from", "cruise-control", "--to", "kafka"]) == 64
