from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from time import process_time
from typing import TYPE_CHECKING

import pytest
from support.documents.bad_documents import BAD
from support.documents.invariants import check_document

from kadmin.cluster.model import TopicPartition
from kadmin.documents import events, json_text, parse_document
from kadmin.documents.check import examine
from kadmin.documents.events import EventKind
from kadmin.documents.json_text import json_events, plain_value
from kadmin.documents.kafka_files import parse_kafka_file
from kadmin.documents.parse import parse_inventory_header
from kadmin.documents.text import MOST_BYTES
from kadmin.documents.together import check_together
from kadmin.errors import InvalidInputError
from kadmin.next_step import text_of
from kadmin.plan import codes
from kadmin.plan.model import (
    CpuWeights,
    DeletionPlan,
    Elect,
    ElectionPlan,
    FreeBytes,
    HoursOfLoad,
    LoadSpec,
    Pin,
    ReassignmentPlan,
    RebalanceRequest,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
    WaveOrder,
)
from kadmin.report.problems.text import problems_text

if TYPE_CHECKING:
    from kadmin.diagnostics import Diagnostic

FULL = """\
apiVersion: kadmin/v1
kind: PartitionReassignment
metadata: {name: drain-broker-3, cluster_id: kHD57VOWjTBKdUaz6n7K6n}     \
# description, labels, cluster_id optional
spec:
  throttle: {rate: 50MB/s}
  waves: {max_partitions: 500, max_moves_per_broker: 100, max_bytes: 500GB, max_payload: 64KiB}
  elect: at_end
  order: priority
  allow: {replication_factor_change: true, fewer_racks: true}
  partitions:
    - {topic: orders, partition: 0, current: [1, 2, 3], replicas: [1, 2, 4], size_bytes: 1048576}
"""
REQUEST = """\
kind: RebalanceRequest
spec:
  brokers: {drain: [3], no_receive: [], never_lead: [], substitute: {5: 9}, weights: {4: 2.0}}
  topics: {include: ["*"], exclude: ["__*"]}               # globs
  replication_factor: {"orders-*": 3}
  broker_sets: {"pay-*": [1, 2, 3]}
  pins: [{topic: orders, partition: 0, replicas: [1, 2, 4]}]
  racks: strict            # strict | relaxed | ignore
  tolerance: {bytes: 2%}
  limits: {max_moves: 5000, max_bytes: 2TB, max_bytes_in_per_broker: 200GB, max_order_changes: 500}
  leaders_only: false
"""
LOAD = """\
kind: RebalanceRequest
spec:
  limits: {load_moves: 12, load_leader_changes: 150%}
  load: {from: ../load, in: 1.03, out: 1.2, cpu: {in: 0.5, requests: 20}, hours: weekday-weekend}
"""
FREE = "kind: RebalanceRequest\nspec: {free: {broker: 7, bytes: 500GB}}\n"
DELETION = """\
kind: TopicDeletion
spec: {topics: [old-events], layout: children, allow: {internal: false, protected: false, \
active_consumers: false, offline_replicas: false, deletion_disabled: false, more_than: 10}}
"""


TAB, ARROW = "\t", "\N{RIGHTWARDS ARROW}"
RATES = (
    "units are B/s, kB/s, MB/s, GB/s, TB/s (powers of 1000) and KiB/s, MiB/s, GiB/s, TiB/s "
    "(powers of 1024)"
)
NO_THROTTLE = '"{}" is not a valid throttle'
THROTTLES = (
    "{rate: 50MB/s}, {finish_in: 6h}, {link_budget: 100MB/s}, {disks: 50MB/s}, or none for copies "
    "that may use the whole network"
)
ELECT = "elect is one of at_end, after_each_wave, none"


def _codes(problems: tuple[Diagnostic, ...]) -> list[str]:
    return [problem.code for problem in problems]


def test_a_whole_reassignment() -> None:
    plan, problems = check_document(FULL.encode(), "plan.yaml")
    assert problems == ()
    assert isinstance(plan, ReassignmentPlan)
    assert (plan.header.name, plan.header.cluster_id) == (
        "drain-broker-3",
        "kHD57VOWjTBKdUaz6n7K6n",
    )
    assert plan.throttle == ThrottleSpec(ThrottleBy.RATE, 50_000_000)
    assert plan.limits == WaveLimits(500, 100, 500 * 10**9, 65536)
    assert plan.elect is Elect.AT_END
    assert plan.order is WaveOrder.PRIORITY
    assert plan.allow_replication_factor_change
    assert plan.allow_fewer_racks
    (target,) = plan.reassignments
    assert (target.partition, target.current, target.replicas) == (
        TopicPartition("orders", 0),
        (1, 2, 3),
        (1, 2, 4),
    )
    assert target.size_bytes == 2**20


def test_a_whole_request() -> None:
    request, problems = check_document(REQUEST.encode(), "request.yaml")
    assert problems == ()
    assert isinstance(request, RebalanceRequest)
    assert (request.drain, request.substitute, request.weights) == ((3,), {5: 9}, {4: 2.0})
    assert request.replication_factor == {"orders-*": 3}
    assert request.broker_sets == {"pay-*": (1, 2, 3)}
    assert request.pins == (Pin(TopicPartition("orders", 0), (1, 2, 4)),)
    assert request.bytes_tolerance == 0.02
    assert request.limits.max_bytes_in_per_broker == 200 * 10**9
    freeing, problems = check_document(FREE.encode(), "request.yaml")
    assert problems == ()
    assert isinstance(freeing, RebalanceRequest)
    assert freeing.free == FreeBytes(7, 500 * 10**9)


def test_a_request_for_load() -> None:
    request, problems = check_document(LOAD.encode(), "request.yaml")
    assert problems == ()
    assert isinstance(request, RebalanceRequest)
    cpu = CpuWeights(bytes_in=0.5, requests=20.0)
    assert request.load == LoadSpec("../load", 1.03, 1.2, cpu, HoursOfLoad.WEEKDAY_WEEKEND)
    assert (request.limits.load_moves, request.limits.load_leader_changes) == (12, 1.5)
    assert not request.limits.cut


@pytest.mark.parametrize(
    ("written", "field", "code"),
    [
        ("load: {in: 1.05}", ("spec", "load"), codes.MISSING_FIELD),
        ("load: {from: load, in: 0.9}", ("spec", "load", "in"), codes.OUT_OF_RANGE),
        ("load: {from: load, cpu: {}}", ("spec", "load", "cpu"), codes.EMPTY),
        ("load: {from: load, cpu: {in: 0}}", ("spec", "load", "cpu", "in"), codes.OUT_OF_RANGE),
        ("load: {from: load, hours: day}", ("spec", "load", "hours"), codes.NOT_ALLOWED),
        ("load: {from: 5}", ("spec", "load", "from"), codes.WRONG_TYPE),
        ("load: {from: load, zones: {}}", ("spec", "load", "zones"), codes.MISSING_FIELD),
        (
            "load: {from: load, zones: {price_per_gb: 1, consumers: {a: 0.6, b: 0.5}}}",
            ("spec", "load", "zones", "consumers"),
            codes.CONTRADICTION,
        ),
        ("load: {from: load}, limits: {load_moves: 2}", None, None),
        (
            "load: {from: load}, limits: {load_moves: 2.5}",
            ("spec", "limits", "load_moves"),
            codes.WRONG_TYPE,
        ),
        (
            "load: {from: load}, limits: {load_moves: half}",
            ("spec", "limits", "load_moves"),
            codes.MALFORMED,
        ),
        (
            "load: {from: load}, limits: {load_moves: -1}",
            ("spec", "limits", "load_moves"),
            codes.OUT_OF_RANGE,
        ),
        ("limits: {load_moves: 2%}", ("spec", "limits", "load_moves"), codes.CONTRADICTION),
    ],
)
def test_what_a_request_for_load_must_not_say(
    written: str, field: tuple[str, ...] | None, code: str | None
) -> None:
    text = f"kind: RebalanceRequest\nspec: {{{written}}}\n"
    _, problems = check_document(text.encode(), "request.yaml")
    assert [(each.field, each.code) for each in problems] == (
        [] if field is None else [(field, code)]
    )


def test_a_whole_deletion() -> None:
    plan, problems = check_document(DELETION.encode(), "plan.yaml")
    assert problems == ()
    assert isinstance(plan, DeletionPlan)
    assert (plan.topics, plan.allow_more_than) == (("old-events",), 10)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            "{partitions: [{topic: orders, partition: 0}]}",
            ((TopicPartition("orders", 0),), (), False),
        ),
        ("{topics: [orders]}", ((), ("orders",), False)),
        ("{all: true}", ((), (), True)),
        ("{partitions: []}", ((), (), False)),
    ],
)
def test_three_ways_to_name_an_election(spec: str, expected: tuple[object, ...]) -> None:
    plan, _ = check_document(
        f"kind: PreferredReplicaElection\nspec: {spec}\n".encode(), "plan.yaml"
    )
    assert isinstance(plan, ElectionPlan)
    assert (plan.partitions, plan.topics, plan.all_partitions) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            "{throttle: {rate: 5000000}, partitions: []}",
            (codes.NO_UNIT, "'5000000' has no unit: 5MB/s?", RATES),
        ),
        (
            "{throttle: 5MB/s, partitions: []}",
            (codes.MALFORMED, NO_THROTTLE.format("5MB/s"), "write {rate: 5MB/s}"),
        ),
        (
            "{throttle: 6h, partitions: []}",
            (codes.MALFORMED, NO_THROTTLE.format("6h"), "write {finish_in: 6h}"),
        ),
        (
            "{throttle: fast, partitions: []}",
            (codes.MALFORMED, NO_THROTTLE.format("fast"), THROTTLES),
        ),
        ("{elect: 3, partitions: []}", (codes.NOT_ALLOWED, f"{ELECT}, not 3", None)),
        (
            "{elect: atend, partitions: []}",
            (codes.NOT_ALLOWED, f'{ELECT}, not "atend"', "did you mean at_end?"),
        ),
    ],
)
def test_one_mistake_is_one_problem_with_what_to_write(
    spec: str, expected: tuple[str, str, str | None]
) -> None:
    _, problems = check_document(
        f"kind: PartitionReassignment\nspec: {spec}\n".encode(), "plan.yaml"
    )
    assert [(each.code, each.message, text_of(each.next_step)) for each in problems] == [expected]


def test_what_is_not_closed_is_named_with_the_line_on_which_it_starts() -> None:
    text = "kind: PartitionReassignment\nspec:\n  waves: {max_partitions: 2\n  partitions: []\n"
    _, (problem,) = check_document(text.encode(), "plan.yaml")
    assert (problem.location.line, problem.location.column) == (4, 13)
    assert (
        "while parsing a flow mapping that starts on line 3, column 10, did not find"
        in problem.message
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("spec:\n\tthrottle: 1\n", (2, 1)),
        ("spec:\n  a: é\n  \tb: 2\n", (3, 3)),
        ("spec:\n  -\ta: 1\n    b: 2\n", (2, 4)),
    ],
)
def test_a_tab_in_the_indentation_is_named_and_shown(text: str, place: tuple[int, int]) -> None:
    _, (problem,) = check_document(text.encode(), "plan.yaml")
    assert (problem.code, problem.location.line, problem.location.column) == (codes.SYNTAX, *place)
    assert (problem.message, problem.next_step) == (
        "not well-formed YAML: a tab in the indentation",
        "indent with spaces",
    )
    line = text.splitlines()[place[0] - 1]
    assert f"{place[0]} | {line.replace(TAB, ARROW)}\n" in problems_text(
        {"plan.yaml": text}, [problem], 80
    )


@pytest.mark.parametrize(
    ("text", "which"),
    [
        (
            '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1]}]}',
            "a reassignment",
        ),
        ('{"partitions":[{"topic":"a","partition":0}]}', "an election"),
        ('{"version":1,"topics":[{"topic":"a"}]}', "topics to move"),
    ],
)
def test_a_file_of_kafkas_tools_is_named_with_the_command_that_converts_it(
    text: str, which: str
) -> None:
    _, (problem,) = check_document(text.encode(), "my plans/moves.json")
    assert (problem.code, problem.location.line) == (codes.KIND, 1)
    assert (
        problem.message
        == f"this is a JSON file of Kafka's tools ({which}), not a document of kadmin"
    )
    assert (
        str(problem.next_step) == "kadmin convert 'my plans/moves.json' --to plan --out plan.yaml"
    )
    assert parse_kafka_file(text.encode(), "moves.json").document


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("kind: elect\nspec: {all: true}", "kadmin propose election --inventory DIR --out PLAN"),
        ("kind: ElectLeaders\nspec: {}", "kadmin propose election --inventory DIR --out PLAN"),
        (
            "kind: topics\nspec: {topics: [a]}",
            "kadmin propose rebalance REQUEST --inventory DIR --out PLAN",
        ),
        (
            "kind: unregister-broker\nspec: {id: 3}",
            "kafka-cluster unregister --bootstrap-server HOST:PORT --id ID",
        ),
        (
            "unregister: {broker: 3}",
            "kafka-cluster unregister --bootstrap-server HOST:PORT --id ID",
        ),
        (
            "kind: PartitionReassignment\nspec: {partitions: [], topics: [a]}",
            "kadmin propose rebalance REQUEST --inventory DIR --out PLAN",
        ),
        (
            "kind: TopicDeletion\nspec: {topics: [a], elect: true}",
            "kadmin propose election --inventory DIR --out PLAN",
        ),
        (
            "kind: RebalanceRequest\nspec: {brokers: {drain: [3], unregister: [3]}}",
            "kafka-cluster unregister --bootstrap-server HOST:PORT --id ID",
        ),
    ],
)
def test_a_word_of_other_tools_is_answered_with_the_command_that_does_it(
    text: str, command: str
) -> None:
    _, (problem,) = check_document(text.encode(), "plan.yaml")
    assert problem.code in {codes.KIND, codes.UNKNOWN_FIELD}
    assert str(problem.next_step).endswith(f": {command}")


def test_no_partitions_mean_nothing_to_do() -> None:
    plan, problems = check_document(
        b"kind: PartitionReassignment\nspec: {partitions: []}\n", "plan.yaml"
    )
    assert isinstance(plan, ReassignmentPlan)
    assert (plan.reassignments, problems) == ((), ())


def test_names_that_yaml_1_1_misreads() -> None:
    data = (
        b"kind: TopicDeletion\n"
        b"spec: {topics: [no, on, y, 2024-01-01, 'null', \"0123\", '1.0', \"1e3\"]}\n"
    )
    plan, problems = check_document(data, "plan.yaml")
    assert problems == ()
    assert isinstance(plan, DeletionPlan)
    assert plan.topics == ("no", "on", "y", "2024-01-01", "null", "0123", "1.0", "1e3")


@pytest.mark.parametrize(
    "change", [lambda data: b"\xef\xbb\xbf" + data, lambda data: data.replace(b"\n", b"\r\n")]
)
def test_bom_and_crlf_are_fine(change: object) -> None:
    assert callable(change)
    plain, _ = check_document(FULL.encode(), "plan.yaml")
    changed, problems = check_document(change(FULL.encode()), "plan.yaml")
    assert problems == ()
    assert changed == plain


def test_places_are_the_same_with_bom_and_crlf() -> None:
    data = FULL.replace("at_end", "atend").encode()
    (plain,) = check_document(data, "plan.yaml")[1]
    (changed,) = check_document(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"), "plan.yaml")[1]
    assert changed == plain
    assert (plain.location.line, plain.location.column, plain.path) == (7, 10, "$.spec.elect")


@pytest.mark.parametrize(
    ("source", "data"),
    [
        ("plan.json", b'{"kind": "TopicDeletion", "spec": {"topics": ["a"]}}'),
        ("-", b'\n  {"kind": "TopicDeletion", "spec": {"topics": ["a"]}}'),
        ("plan.yaml", b'{"kind": "TopicDeletion", "spec": {"topics": ["a"]}}'),
        ("PLAN.YML", b"{kind: TopicDeletion, spec: {topics: [a]}}"),
        ("-", b"kind: TopicDeletion\nspec: {topics: [a]}"),
    ],
)
def test_json_and_yaml_are_told_apart(source: str, data: bytes) -> None:
    plan, problems = check_document(data, source)
    assert problems == ()
    assert isinstance(plan, DeletionPlan)


@pytest.mark.parametrize("source", ["plan.yaml", "plan.json"])
def test_reading_ends_at_a_number_of_keys_values_and_ends(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (events, json_text):
        monkeypatch.setattr(module, "MOST_EVENTS", 100)

    def problems(names: int) -> list[tuple[str, str, str | None]]:
        topics = ", ".join(f'"t,{{{n}:"' for n in range(names))
        text = f'{{"kind": "TopicDeletion", "spec": {{"topics": [{topics}, "a/b"]}}}}'
        return [
            (found.code, found.message, text_of(found.next_step))
            for found in examine(text.encode(), source).problems
        ]

    assert [code for code, _, _ in problems(90)] == [codes.MALFORMED] * 91
    message = "more than 100 keys, values and ends of lists and mappings"
    assert problems(97) == [(codes.TOO_LARGE, message, "divide it into several files")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1.5, 1e2, -0.0]", [1.5, 100.0, 0.0]),
        (f"[{10**18}, -1]", [10**18, -1]),
        ('{"a": [{"b": ",:[{"}]}', {"a": [{"b": ",:[{"}]}),
        ("[1e999]", None),
        ("[-1e999]", None),
        ("[NaN]", None),
        ("[-0]", None),
        (f"[{10**19}]", None),
        ('{"a": 1, "a": 1}', None),
        ('["\\ud800"]', None),
        ("[" * 100 + "]" * 100, json.loads("[" * 100 + "]" * 100)),
        ("[" * 102 + "]" * 102, None),
    ],
)
def test_json_with_nothing_unusual_in_it_is_read_quickly(text: str, value: object) -> None:
    """The rest is read as events, which tell what is wrong and where."""
    assert plain_value(text) == (value is not None, value)


@pytest.mark.parametrize("number", ["1.5", "1e2", "1E2", "1e-2", "-12"])
def test_numbers_beside_an_odd_one_are_what_they_are(number: str) -> None:
    events = [event[:2] for event in json_events(f"[{number}, -0]")]
    assert events[1] == (EventKind.SCALAR, json.loads(number))
    assert [kind for kind, _ in events] == [
        EventKind.SEQUENCE,
        EventKind.SCALAR,
        EventKind.PLACEHOLDER,
        EventKind.SCALAR,
        EventKind.END,
    ]


@pytest.mark.parametrize(
    ("digits", "shown"), [(40, "7" * 40), (41, f"{'7' * 40}..."), (5_000, f"{'7' * 40}...")]
)
def test_a_long_number_is_shown_in_part(digits: int, shown: str) -> None:
    """Python itself refuses to read one of more than 4,300 digits."""
    (found,) = check_document(f'{{"kind": {"7" * digits}}}'.encode(), "plan.json")[1]
    assert (found.code, found.message) == (
        codes.ODD_NUMBER,
        f"{shown} is a number that readers understand differently",
    )


@pytest.mark.parametrize(("most", "quick"), [(11, False), (12, True)])
def test_json_is_read_quickly_up_to_a_number_of_events(
    most: int, quick: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"a": [1, 2], "b": {"c": 3}}'
    assert len(list(json_events(text))) == 12
    monkeypatch.setattr(json_text, "MOST_EVENTS", most)
    assert plain_value(text)[0] is quick


def test_a_file_too_large_is_not_parsed() -> None:
    data = b"#" * (MOST_BYTES + 1)
    started = process_time()
    assert _codes(check_document(data, "plan.yaml")[1]) == [codes.TOO_LARGE]
    assert process_time() - started < 5.0


def test_laughs_are_bounded() -> None:
    source, data = BAD["b02-laughs"]
    check_document(data, source)
    tracemalloc.start()
    started = process_time()
    _, problems = check_document(data, source)
    elapsed = process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert codes.FORBIDDEN_YAML in _codes(problems)
    assert elapsed < 10.0
    assert peak < 50 * 2**20


def test_endless_problems_end() -> None:
    data = b"kind: TopicDeletion\nspec: {topics: [" + b"*a, " * 5000 + b"]}"
    problems = check_document(data, "plan.yaml")[1]
    assert len(problems) == 1001
    (last,) = [problem for problem in problems if problem.code == codes.MORE_PROBLEMS]
    assert last.message == "1000 problems; nothing is read beyond here"
    assert last.location == problems[-1].location
    assert (last.location.line, last.location.column) == (2, 17 + 4 * 999)
    numbers = ", ".join("1" for _ in range(3000))
    problems = check_document(
        f'{{"kind": "TopicDeletion", "spec": {{"topics": [{numbers}]}}}}'.encode(), "-"
    )[1]
    assert len(problems) == 1001
    assert codes.MORE_PROBLEMS in _codes(problems)


def test_a_duplicate_key_does_not_hide_other_problems() -> None:
    data = b"kind: TopicDeletion\nspec:\n  topics: [1]\n  topics: [b]\n"
    assert _codes(check_document(data, "plan.yaml")[1]) == [codes.WRONG_TYPE, codes.DUPLICATE_KEY]


def without_file(found: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [replace(each, location=replace(each.location, file="")) for each in found]


def test_problems_of_one_document_are_the_same_as_json_and_yaml() -> None:
    entry: dict[str, object] = {"topic": None, "partition": -1, "replicas": []}
    value = {"kind": "PartitionReassignment", "spec": {"partitions": [entry], "x": 1}}
    text = json.dumps(value, indent=1).encode()
    by_yaml, by_json = (check_document(text, name)[1] for name in ("plan.yaml", "plan.json"))
    assert without_file(by_yaml) == without_file(by_json)
    assert len(by_json) == 4


def test_parse_lists_every_problem() -> None:
    with pytest.raises(InvalidInputError, match=r"plan\.yaml is not valid: 2 problems\.") as raised:
        parse_document(b"kind: TopicDeletion\nspec: {topics: [null], layuot: x}\n", "plan.yaml")
    assert raised.value.cause is not None
    assert ", \n" not in raised.value.cause
    assert "plan.yaml:2:17: KA013" in raised.value.cause
    assert "plan.yaml:2:24: KA011 unknown field layuot (did you mean layout?" in raised.value.cause
    assert raised.value.next_command == "kadmin validate plan.yaml"


def test_a_file_of_kafka_s_tools_leads_to_convert() -> None:
    with pytest.raises(InvalidInputError) as raised:
        parse_document(
            b'{"version": 1, "partitions": [{"topic": "a", "partition": 0, "replicas": [1]}]}',
            "a b.json",
        )
    assert raised.value.next_command == "kadmin convert 'a b.json' --to plan --out plan.yaml"
    assert "kadmin convert" not in (raised.value.cause or "")


def test_warnings_do_not_stop_a_plan() -> None:
    source, data = BAD["b11-collision"]
    assert isinstance(parse_document(data, source), DeletionPlan)


def test_inventory_headers() -> None:
    value = {
        "kind": "ClusterInventory",
        "taken_at": "2024-01-31T12:30:45Z",
        "clusters": {"east": "abc", "west": None},
    }
    header = json.dumps(value).encode()
    assert parse_inventory_header(header, "inventory.json")["clusters"] == {
        "east": "abc",
        "west": None,
    }
    assert check_document(header, "inventory.json") == (None, ())
    with pytest.raises(InvalidInputError, match="is an inventory's header"):
        parse_document(header, "inventory.json")
    with pytest.raises(InvalidInputError, match="not a ClusterInventory"):
        parse_inventory_header(DELETION.encode(), "plan.yaml")
    with pytest.raises(InvalidInputError, match="1 problem"):
        parse_inventory_header(
            b'{"kind": "ClusterInventory", "taken_at": "yesterday"}', "inventory.json"
        )


REASSIGN = """\
kind: PartitionReassignment
metadata: {{cluster_id: {0}}}
spec: {{partitions: [{{topic: {1}, partition: 0, replicas: [1]}}]}}
"""
DELETE = "kind: TopicDeletion\nspec: {topics: [orders]}\n"
ELECT = "kind: PreferredReplicaElection\nspec: {topics: [orders]}\n"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            REASSIGN.format("a", "orders"),
            REASSIGN.format("a", "orders"),
            [("b.yaml", 3, codes.PARTITION_IN_TWO_PLANS)],
        ),
        (REASSIGN.format("a", "orders"), REASSIGN.format("a", "other"), []),
        (REASSIGN.format("a", "orders"), REASSIGN.format("b", "orders"), []),
        (REASSIGN.format("a", "orders"), DELETE, [("b.yaml", 2, codes.DELETED_AND_USED)]),
        (DELETE, REASSIGN.format("a", "orders"), [("b.yaml", 3, codes.DELETED_AND_USED)]),
        (DELETE, ELECT, [("b.yaml", 2, codes.DELETED_AND_USED)]),
        (ELECT, REASSIGN.format("a", "orders"), [("b.yaml", 3, codes.ELECTED_WHILE_REASSIGNED)]),
        ("kind: nothing\n", DELETE, []),
    ],
)
def test_documents_together(first: str, second: str, expected: list[object]) -> None:
    found = check_together([examine(first.encode(), "a.yaml"), examine(second.encode(), "b.yaml")])
    assert [
        (problem.location.file, problem.location.line, problem.code) for problem in found
    ] == expected
    assert all("a.yaml" in problem.message for problem in found)
