from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.documents.strategies import (
    deletion_plans,
    election_plans,
    reassignment_plans,
    rebalance_requests,
    topics,
)

from kadmin.cli import run
from kadmin.cluster.model import TopicPartition
from kadmin.documents import dump_yaml, parse_document
from kadmin.documents.kafka_files import dump_kafka_file, losses, parse_kafka_file
from kadmin.errors import InvalidInputError
from kadmin.plan.model import (
    Elect,
    ElectionPlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
    WaveOrder,
)

if TYPE_CHECKING:
    from kadmin.plan.model import DeletionPlan

PRINTED = Path(__file__).parent / "printed"
"""What kafka-reassign-partitions printed on sandboxes of its version, stdout and stderr; the topics
payments and __audit were moved to brokers 2 and 4, and back.
"""
ids = st.integers(0, 2**31 - 1)
partition_keys = st.tuples(topics, ids)
replica_lists = st.lists(ids, min_size=1, max_size=5, unique=True)
entries = st.dictionaries(partition_keys, replica_lists, min_size=1, max_size=6)
GENERATED = """Current partition replica assignment
{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2],"log_dirs":["any","any"]},{"topic":"foo","partition":1,"replicas":[2,3],"log_dirs":["any","any"]}]}

Proposed partition reassignment configuration
{"version":1,"partitions":[{"topic":"foo","partition":1,"replicas":[4,1],"log_dirs":["any","any"]},{"topic":"foo","partition":0,"replicas":[3,4],"log_dirs":["any","any"]}]}
"""


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


def reassignment_file(
    wished: dict[tuple[str, int], list[int]], *, log_dirs: bool = False
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {"topic": topic, "partition": number, "replicas": replicas}
        for (topic, number), replicas in wished.items()
    ]
    for row in rows if log_dirs else ():
        row["log_dirs"] = ["any"] * len(row["replicas"])
    return {"version": 1, "partitions": rows}


def parse(value: object) -> ReassignmentPlan | ElectionPlan | RebalanceRequest:
    return parse_kafka_file(json.dumps(value).encode(), "moves.json").document


def refusal(data: str | bytes) -> str:
    with pytest.raises(InvalidInputError) as caught:
        parse_kafka_file(data.encode() if isinstance(data, str) else data, "moves.json")
    assert caught.value.exit_code == 3
    return "\n".join(caught.value.lines())


@given(entries)
def test_a_reassignment_file_comes_back_byte_for_byte(
    wished: dict[tuple[str, int], list[int]],
) -> None:
    """kafka(plan(y)) == y."""
    text = compact(reassignment_file(wished))
    plan = parse_kafka_file(text.encode(), "moves.json").document
    assert losses(plan, current=False) == ()
    assert dump_kafka_file(plan, current=False) == text


@given(entries)
def test_log_dirs_of_any_mean_nothing(wished: dict[tuple[str, int], list[int]]) -> None:
    assert parse(reassignment_file(wished, log_dirs=True)) == parse(reassignment_file(wished))


@given(st.lists(partition_keys, min_size=1, max_size=6, unique=True))
def test_an_election_file_comes_back_with_its_version_written_out(
    named: list[tuple[str, int]],
) -> None:
    """kafka(plan(y)) == y, where a missing version is 1."""
    value = {"partitions": [{"topic": topic, "partition": number} for topic, number in named]}
    plan = parse(value)
    assert losses(plan, current=False) == ()
    assert dump_kafka_file(plan, current=False) == compact({"version": 1, **value})


@given(reassignment_plans.filter(lambda plan: bool(plan.reassignments)))
def test_a_plan_comes_back_but_for_what_losses_names(plan: ReassignmentPlan) -> None:
    """plan(kafka(x)) == x where losses(x) is empty; otherwise x less the fields named."""
    file = dump_kafka_file(plan, current=False).encode()
    found = parse_kafka_file(file, "moves.json").document
    named = [
        each if each.directories else replace(each, log_dirs=None) for each in plan.reassignments
    ]
    bare = ReassignmentPlan(
        PlanHeader(),
        tuple(PartitionTarget(w.partition, w.replicas, log_dirs=w.log_dirs) for w in named),
    )
    assert found == bare
    kept = replace(plan, reassignments=tuple(named))
    assert (losses(plan, current=False) == ()) == (kept == bare)


@given(election_plans.filter(lambda plan: bool(plan.partitions)))
def test_an_election_comes_back_but_for_its_metadata(plan: ElectionPlan) -> None:
    """plan(kafka(x)) == x where x has no metadata."""
    found = parse_kafka_file(dump_kafka_file(plan, current=False).encode(), "moves.json").document
    assert found == ElectionPlan(PlanHeader(), partitions=plan.partitions)
    assert (losses(plan, current=False) == ()) == (plan == found)


@settings(deadline=None)  # the first example imports the YAML reader
@given(entries)
def test_what_is_converted_is_a_valid_plan(wished: dict[tuple[str, int], list[int]]) -> None:
    plan = parse(reassignment_file(wished))
    assert parse_document(dump_yaml(plan).encode(), "plan.yaml") == plan


@settings(deadline=None)  # the first example imports the YAML reader
@given(st.lists(topics, min_size=1, max_size=6, unique=True))
def test_topics_to_move_are_the_topics_of_a_request(names: list[str]) -> None:
    request = parse({"version": 1, "topics": [{"topic": name} for name in names]})
    assert request == RebalanceRequest(PlanHeader(), include_topics=tuple(names))
    assert parse_document(dump_yaml(request).encode(), "request.yaml") == request


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_document_or_one_error(data: bytes) -> None:
    try:
        parse_kafka_file(data, "moves.json")
    except InvalidInputError as error:
        place = (error.cause or "").startswith("moves.json:")
    else:
        place = True
    assert place


def test_log_directories_go_both_ways() -> None:
    text = compact(
        {
            "version": 1,
            "partitions": [
                {"topic": "foo", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "/b"]},
                {"topic": "foo", "partition": 1, "replicas": [1, 2]},
            ],
        }
    )
    plan = parse_kafka_file(text.encode(), "moves.json").document
    assert isinstance(plan, ReassignmentPlan)
    assert [each.log_dirs for each in plan.reassignments] == [("any", "/b"), None]
    assert dump_kafka_file(plan, current=False) == text
    assert losses(plan, current=False) == ()
    assert losses(plan, current=True) == ("spec.partitions[].log_dirs",)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "Warning: --zookeeper is deprecated, and will be removed.\n",
        "\n\r\n",
        "[root@n1 kafka]# bin/kafka-reassign-partitions.sh --generate {\n",
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_output_of_generate_fills_current(before: str, line_end: str) -> None:
    plan = parse_kafka_file((before + GENERATED).replace("\n", line_end).encode(), "-").document
    assert isinstance(plan, ReassignmentPlan)
    assert plan.reassignments == (
        PartitionTarget(TopicPartition("foo", 1), (4, 1), (2, 3)),
        PartitionTarget(TopicPartition("foo", 0), (3, 4), (1, 2)),
    )
    assert losses(plan, current=False) == ("spec.partitions[].current",)
    assert losses(plan, current=True) == ()
    assert json.loads(dump_kafka_file(plan, current=True)) == reassignment_file(
        {("foo", 1): [2, 3], ("foo", 0): [1, 2]}
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"replicas":[4,1]', '"replicas":[4,4]', "5:"),
        (
            '"partition":1,"replicas":[4,1]',
            '"partition":7,"replicas":[4,1]',
            "2:100: KA029 foo-1 is not under",
        ),
        ('"partition":1,"replicas":[2,3]', '"partition":1,"replicas":[2,3', "2:"),
        ("Proposed partition reassignment configuration\n", "", "1:1: KA005"),
        ("Current partition replica assignment\n", "", "KA005"),
        (
            "Current partition",
            "Proposed partition reassignment configuration\nCurrent",
            "1:1: KA005",
        ),
        ("configuration\n{", "configuration\nand no ", "5:1: KA002 not well-formed JSON"),
    ],
)
def test_a_damaged_output_of_generate_is_refused_at_its_place(
    old: str, new: str, said: str
) -> None:
    assert old in GENERATED
    assert said in refusal(GENERATED.replace(old, new, 1))


EXECUTED = """$ bin/kafka-reassign-partitions.sh --execute
Current partition replica assignment

{"version":1,"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}

Save this to use as the --reassignment-json-file option during rollback
Successfully started reassignment of partitions {"version":1,"partitions":[]}
$ exit
"""
ROLLBACK = "this is the output of --execute: the plan restores the replicas of before it"
WITHOUT_LOG_DIRS = "left out: log_dirs of the current replicas"


def test_the_output_of_execute_is_its_rollback() -> None:
    plan, notes = parse_kafka_file(EXECUTED.encode(), "-")
    assert isinstance(plan, ReassignmentPlan)
    assert plan.reassignments == (PartitionTarget(TopicPartition("foo", 0), (1, 2)),)
    assert notes == (ROLLBACK,)


def test_log_directories_of_now_are_left_out_of_a_proposal_and_kept_for_the_way_back() -> None:
    held = '"log_dirs":["/d1","/d2"]'
    text = GENERATED.replace('"log_dirs":["any","any"]', held, 1)
    plan, notes = parse_kafka_file(text.encode(), "-")
    assert (plan, notes) == (
        parse_kafka_file(GENERATED.encode(), "-").document,
        (WITHOUT_LOG_DIRS,),
    )
    text = EXECUTED.replace("[1,2]", "[1,2]," + held, 1)
    plan, notes = parse_kafka_file(text.encode(), "-")
    assert isinstance(plan, ReassignmentPlan)
    assert (plan.reassignments[0].log_dirs, notes) == (("/d1", "/d2"), (ROLLBACK,))


@pytest.mark.parametrize("before", ["", "$ generate\n" + GENERATED])
def test_text_of_no_single_run_is_refused(before: str) -> None:
    text = before + EXECUTED.replace("Save this", "Keep this" if not before else "Save this")
    assert "KA005 this is not the output of one kafka-reassign-partitions" in refusal(text)


def outputs(command: str) -> list[Path]:
    return sorted(PRINTED.glob(f"*-{command}.txt"))


@pytest.mark.parametrize("path", outputs("generate"), ids=lambda path: path.stem)
def test_what_each_version_generates_is_a_plan_with_current(path: Path) -> None:
    generated = parse_kafka_file(path.read_bytes(), path.name).document
    assert isinstance(generated, ReassignmentPlan)
    assert {each.partition.topic for each in generated.reassignments} == {"payments", "__audit"}
    assert all(each.current and {2, 4} >= {*each.replicas} for each in generated.reassignments)
    executed = path.with_name(path.name.replace("generate", "execute"))
    rollback, notes = parse_kafka_file(executed.read_bytes(), executed.name)
    assert isinstance(rollback, ReassignmentPlan)
    assert notes[0] == ROLLBACK
    assert {each.partition: each.replicas for each in rollback.reassignments} == {
        each.partition: each.current for each in generated.reassignments
    }
    throttled = path.with_name(path.name.replace("generate", "execute-throttle"))
    again = parse_kafka_file(throttled.read_bytes(), throttled.name).document
    assert isinstance(again, ReassignmentPlan)
    assert {each.partition: each.replicas for each in again.reassignments} == {
        each.partition: each.replicas for each in generated.reassignments
    }


def test_maps_of_kafka_utils_and_topicmappr_are_plans() -> None:
    """kafka-utils 4.1.0 writes with json.dump, kafka-kit 4.2.1 with Go's json.Marshal and a line
    end.
    """
    rows = [{"topic": "foo", "partition": 0, "replicas": [1, 2]}]
    utils = json.dumps({"version": 1, "partitions": rows})
    topicmappr = compact({"version": 1, "partitions": rows})
    for text in (utils, topicmappr):
        plan, notes = parse_kafka_file(text.encode(), "map.json")
        assert isinstance(plan, ReassignmentPlan)
        assert plan.reassignments == (PartitionTarget(TopicPartition("foo", 0), (1, 2)),)
        assert notes == ()


def test_generate_must_name_the_same_partitions_twice() -> None:
    first, second = (
        json.dumps(reassignment_file({("foo", n): [1] for n in numbers}))
        for numbers in ((0, 1), (0,))
    )
    text = (
        "Current partition replica assignment\n{}\n\nProposed partition reassignment "
        "configuration\n"
        "{}\n"
    )
    assert 'foo-1 is not under "Proposed' in refusal(text.format(first, second))
    assert 'foo-1 is not under "Current' in refusal(text.format(second, first))
    election = json.dumps({"partitions": [{"topic": "foo", "partition": 0}]})
    assert "KA010 a reassignment belongs under this heading" in refusal(
        text.format(first, election)
    )


ENTRY = '{"topic":"foo","partition":0,"replicas":[1,2]%s}'


def one(extra: str) -> str:
    return '{"version":1,\n "partitions":[\n  ' + ENTRY % extra + "\n]}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (one(',"log_dirs":["any"]'), "3:60: KA088 foo-0: log_dirs names 1 for 2 replicas"),
        (one(',"log_dirs":["any","data"]'), '3:67: KA014 "data" is not a valid log directory'),
        (one(',"log_dirs":["any",1]'), "3:67: KA013 1 is"),
        (one(',"log_dirs":"any"'), "3:60: KA013 "),
        (one(',"current":[1,2]'), '3:49: KA011 unknown field "current"'),
        (one(',"size_bytes":1'), '3:49: KA011 unknown field "size_bytes"'),
        (one(',"replica":[1]'), '3:49: KA011 unknown field "replica"'),
        (one(',"topic":"bar"'), '3:49: KA003 the key "topic" is repeated'),
        (one("").replace("1,2", "1,1"), "KA021"),
        (one("").replace("1,2", "-1"), "KA015"),
        (one("").replace("1,2", ""), "KA017"),
        (one("").replace("1,2", "1.0"), "KA013"),
        (one("").replace("foo", "f/o"), "3:12: KA014"),
        (one("").replace('"version":1', '"version":2'), "1:12: KA016 version is 2"),
        (one("").replace('"version":1', '"version":true'), "1:12: KA016 version is true"),
        (one("").replace('"version":1', '"version":1.0'), "KA016 version is 1.0"),
        (one("").replace('"version":1', '"versoin":1'), '1:2: KA011 unknown field "versoin"'),
        (
            one("").replace("\n]}", ",\n  " + ENTRY % "" + "]}"),
            "4:3: KA020 foo-0 is named 2 times; the first is on line 3",
        ),
        (one("").replace("\n]}", ",\n  7]}"), "4:3: KA013"),
        (one("").replace("\n]}", ',\n  {"topic":"foo","partition":1}]}'), "4:3: KA012"),
        ('{"version":1,"partitions":[]}', "KA017 partitions is empty"),
        ('{"partitions":[{"topic":"foo","partition":0},{"topic":"foo","partition":0}]}', "KA020"),
        ('{"partitions":[{"topic":"foo"}]}', "KA012"),
        (
            '{"partitions":[{"topic":"foo","partition":0,"replica":[1]}]}',
            '1:45: KA011 unknown field "replica"',
        ),
        ('{"partitions":[7]}', "1:16: KA013"),
        ('{"partitions":[{"topic":"foo","partition":0}],"version":0}', "KA016 version is 0"),
        ('{"topics":[]}', "KA017 topics is empty"),
        ('{"topics":{}}', "KA013"),
        ('{"topics":["foo"]}', 'KA013 "foo" is not a mapping'),
        ('{"topics":[{}]}', "KA012"),
        ('{"topics":[{"topic":"foo","partition":1}]}', '1:27: KA011 unknown field "partition"'),
        ('{"topics":[{"topic":"*"}]}', "1:21: KA014"),
        ('{"topics":[{"topic":5}]}', "1:21: KA013"),
        (
            '{"topics":[{"topic":"foo"},{"topic":"foo"}]}',
            "1:28: KA021 foo is named 2 times; the first is on line 1",
        ),
        ('{"topics":[{"topic":"foo"}],"partitions":[]}', 'KA011 unknown field "partitions"'),
        (
            '{"kind":"PartitionReassignment","spec":{"partitions":[]}}',
            "KA010 this is a document of kadmin already",
        ),
        ('{"version":1}', "KA010 this is no file of Kafka's tools (known are a reassignment {"),
        ('{"partitions":{}}', "KA010"),
        ("[]", "KA010"),
        ("null", "KA010"),
        ("", "KA002"),
        ("kind: PartitionReassignment", "KA002"),
    ],
)
def test_what_is_wrong_is_refused_at_its_place(text: str, said: str) -> None:
    found = refusal(text)
    assert said in found
    assert "moves.json" in found


def test_every_problem_is_listed_in_order_of_place() -> None:
    text = one(',"log_dirs":["a","b"]').replace('"version":1', '"version":2')
    listed = [line for line in refusal(text).splitlines() if "moves.json:" in line]
    assert [line.partition("moves.json:")[2].split(" ")[0] for line in listed] == [
        "1:12:",
        "3:61:",
        "3:65:",
    ]


def test_bytes_that_are_no_text_are_refused() -> None:
    assert "moves.json:1:1: KA001" in refusal(b"\xff\xfe{}")


def test_a_surrogate_pair_in_an_escape_is_a_character_and_no_topic() -> None:
    assert "KA014" in refusal('{"topics":[{"topic":"\\ud83d\\ude00"}]}')


def test_each_field_that_the_file_cannot_hold_is_named() -> None:
    target = PartitionTarget(TopicPartition("foo", 0), (1, 2), (2, 1), 5)
    plan = ReassignmentPlan(
        PlanHeader(name="x"),
        (target,),
        throttle=ThrottleSpec(ThrottleBy.RATE, 5),
        limits=WaveLimits(max_partitions=1),
        elect=Elect.AT_END,
        order=WaveOrder.PRIORITY,
        allow_fewer_racks=True,
        moves_per_disk=1,
    )
    fields = ("throttle", "waves", "order", "elect", "allow", "limits")
    named = ("metadata", *(f"spec.{field}" for field in fields))
    rows = ("spec.partitions[].current", "spec.partitions[].size_bytes")
    assert losses(plan, current=False) == (*named, *rows)
    assert losses(plan, current=True) == (*named, rows[1])


def test_the_way_back_needs_every_current_list() -> None:
    targets = (
        PartitionTarget(TopicPartition("foo", 0), (1, 2), (2, 3)),
        PartitionTarget(TopicPartition("foo", 1), (1, 2)),
    )
    with pytest.raises(InvalidInputError, match=r"no current replicas of foo-1\."):
        dump_kafka_file(ReassignmentPlan(PlanHeader(), targets), current=True)


@pytest.mark.parametrize(
    "plan",
    [
        ElectionPlan(PlanHeader(), topics=("foo",)),
        ElectionPlan(PlanHeader(), all_partitions=True),
        ElectionPlan(PlanHeader()),
        ReassignmentPlan(PlanHeader(), ()),
    ],
)
def test_what_needs_a_cluster_or_names_nothing_is_refused(
    plan: ElectionPlan | ReassignmentPlan,
) -> None:
    with pytest.raises(InvalidInputError):
        dump_kafka_file(plan, current=False)


def test_an_election_has_no_way_back() -> None:
    with pytest.raises(InvalidInputError, match="no current replicas"):
        dump_kafka_file(
            ElectionPlan(PlanHeader(), partitions=(TopicPartition("foo", 0),)), current=True
        )


@given(st.one_of(deletion_plans, rebalance_requests))
def test_other_kinds_are_refused(plan: DeletionPlan | RebalanceRequest) -> None:
    with pytest.raises(InvalidInputError, match="Only a PartitionReassignment"):
        dump_kafka_file(plan, current=False)


def test_the_command_line_there_and_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = compact(reassignment_file({("foo", 1): [3, 1], ("foo", 0): [2]}))
    kafka, plan, back = tmp_path / "moves.json", tmp_path / "plan.yaml", tmp_path / "back.json"
    kafka.write_text(text)
    assert run(["convert", str(kafka), "--to", "plan", "--out", str(plan)]) == 0
    assert run(["validate", str(plan)]) == 0
    assert run(["convert", str(plan), "--to", "kafka", "--out", str(back)]) == 0
    assert back.read_text() == text
    capsys.readouterr()

    assert run(["convert", str(kafka), "--to", "plan"]) == 0
    assert capsys.readouterr().out == plan.read_text()
    assert run(["convert", str(plan), "--to", "kafka"]) == 0
    assert capsys.readouterr().out == text
    assert run(["convert", str(kafka), "--to", "plan", "--out", str(tmp_path / "plan.json")]) == 0
    assert json.loads((tmp_path / "plan.json").read_text())["kind"] == "PartitionReassignment"


def test_the_command_line_refuses_a_loss_until_told_to_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generated, plan, out = (
        tmp_path / "generated.txt",
        tmp_path / "plan.yaml",
        tmp_path / "moves.json",
    )
    generated.write_text(GENERATED)
    assert run(["convert", str(generated), "--to", "plan", "--out", str(plan)]) == 0
    assert run(["convert", str(plan), "--to", "kafka", "--out", str(out)]) == 3
    assert "spec.partitions[].current" in capsys.readouterr().err
    assert not out.exists()
    assert run(["convert", str(plan), "--to", "kafka", "--out", str(out), "--lossy"]) == 0
    assert capsys.readouterr().err == "left out: spec.partitions[].current\n"
    assert json.loads(out.read_text()) == reassignment_file(
        {("foo", 1): [4, 1], ("foo", 0): [3, 4]}
    )
    assert run(["convert", str(plan), "--to", "kafka", "--out", str(out), "--current"]) == 0
    assert json.loads(out.read_text()) == reassignment_file(
        {("foo", 1): [2, 3], ("foo", 0): [1, 2]}
    )


@pytest.mark.parametrize("flag", ["--lossy", "--current"])
def test_flags_of_the_other_direction_are_wrong_usage(tmp_path: Path, flag: str) -> None:
    assert run(["convert", str(tmp_path / "moves.json"), "--to", "plan", flag]) == 64


def test_a_file_that_is_not_there_is_invalid_input(tmp_path: Path) -> None:
    assert run(["convert", str(tmp_path / "moves.json"), "--to", "plan"]) == 3
