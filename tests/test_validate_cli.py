from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.documents.bad_documents import BAD
from support.live.cluster import command

from kadmin.errors import InvalidInputError
from kadmin.inventory import (
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    read_inventory,
    write_inventory,
)
from kadmin.schema import schema_names, schema_text, validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import Replicas

ROOT = Path(__file__).parents[1]
GOOD = b"kind: TopicDeletion\nspec: {topics: [old-events]}\n"
CLUSTER_ID = "kHD57VOWjTBKdUaz6n7K6n"
RUN = "import sys; from kadmin.cli import main; main()"
IMPORTS = """
import sys
from kadmin.cli import run
status = run(sys.argv[1:])
print([name for name in ("kazoo", "kafka", "pyspark", "pyarrow", "numpy", "pandas") if name in sys.modules])
sys.exit(status)
"""


def kadmin(
    *arguments: str, data: bytes = b"", code: str = RUN, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=data,
        capture_output=True,
        cwd=cwd,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def plans(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    for name in ("b07-partition-twice", "b11-collision"):
        (folder / f"{name}.yaml").write_bytes(BAD[name][1])
    (folder / "good.yml").write_bytes(GOOD)
    (folder / "good.json").write_bytes(b'{"kind": "TopicDeletion", "spec": {"topics": ["unused"]}}')
    (folder / "notes.txt").write_bytes(b"nothing to read")
    return folder


def test_a_valid_file() -> None:
    done = kadmin("validate", "plans/drain-broker.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 file: no problem\n", "")


def test_every_example_plan_is_valid() -> None:
    done = kadmin("validate", "plans", "--format", "json")
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["errors"]) == (0, 0)
    assert {problem["code"] for problem in answer["problems"]} == {"KA032"}, "side by side two of them meet"


def test_an_invalid_file(plans: Path) -> None:
    done = kadmin("validate", "b07-partition-twice.yaml", cwd=plans)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("b07-partition-twice.yaml:6:7: error KA020: a-0 is named 2 times")
    assert done.stdout.endswith("1 file: 1 error, 0 warnings\n")
    assert "\x1b" not in done.stdout


def test_a_folder_and_a_glob_are_their_documents_sorted(plans: Path) -> None:
    by_folder = json.loads(kadmin("validate", ".", "--format", "json", cwd=plans).stdout)
    assert by_folder["files"] == ["b07-partition-twice.yaml", "b11-collision.yaml", "good.json", "good.yml"]
    by_glob = json.loads(kadmin("validate", "good.*", "good.yml", "--format", "json", cwd=plans).stdout)
    assert by_glob["files"] == ["good.json", "good.yml"]
    assert by_glob["valid"]


@pytest.mark.parametrize("name", ["missing.yaml", "none/*.yaml", "empty"])
def test_nothing_to_read_is_invalid_input(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    done = kadmin("validate", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert f"{name}:1:1: error KA001: this cannot be read: " in done.stdout


def test_standard_input() -> None:
    assert kadmin("validate", "-", data=GOOD).returncode == 0
    done = kadmin("validate", "-", data=b'{"kind": "TopicDeletion", "spec": {"topics": []}}')
    assert done.returncode == 3
    assert done.stdout.startswith("-:1:46: error KA017")


def test_the_json_answer_conforms_to_its_schema(plans: Path) -> None:
    done = kadmin("validate", ".", "--format", "json", cwd=plans)
    answer = json.loads(done.stdout)
    assert done.returncode == 3
    assert validate_value(answer, "answers/validate") == []
    assert (answer["valid"], answer["errors"], answer["warnings"]) == (False, 1, 1)
    assert [problem["file"] for problem in answer["problems"]] == ["b07-partition-twice.yaml", "b11-collision.yaml"]
    assert answer["problems"][0]["path"] == "$.spec.partitions[2]"


def test_warnings_alone_are_valid(plans: Path) -> None:
    done = kadmin("validate", "b11-collision.yaml", cwd=plans)
    assert done.returncode == 0
    assert "warning KA024" in done.stdout


def test_documents_are_checked_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(GOOD)
    entry = "{topic: old-events, partition: 0, replicas: [1]}"
    (tmp_path / "b.yaml").write_text(f"kind: PartitionReassignment\nspec: {{partitions: [{entry}]}}\n")
    done = kadmin("validate", "a.yaml", "b.yaml", cwd=tmp_path)
    assert done.returncode == 3
    assert "b.yaml:2:29: error KA031: old-events is deleted by a.yaml" in done.stdout


@pytest.mark.parametrize("arguments", [("plans/rebalance.yaml",), ("plans", "--format", "json")])
def test_no_heavy_library_is_imported(arguments: tuple[str, ...]) -> None:
    done = kadmin("validate", *arguments, code=IMPORTS)
    assert done.returncode == 0
    assert done.stdout.endswith("[]\n")


def test_twenty_columns_and_a_dumb_terminal(plans: Path) -> None:
    done = kadmin("validate", ".", cwd=plans, COLUMNS="20", TERM="dumb")
    assert done.returncode == 3
    assert all(len(line) <= 20 for line in done.stdout.splitlines() if line.lstrip("0123456789 ").startswith("| "))


def test_a_plain_ascii_locale(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text("kind: TopicDeletion\nspec: {topics: [é]}\n", encoding="utf-8")
    done = kadmin("validate", "plan.yaml", cwd=tmp_path, LC_ALL="C", LANG="C")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def _inventory(folder: Path, **clusters: str) -> str:
    def partitions(name: str, *lists: Replicas) -> list[PartitionRow]:
        return [PartitionRow(name, number, replicas) for number, replicas in enumerate(lists)]

    def cluster(cluster_id: str) -> ClusterInventory:
        brokers = tuple(BrokerRow(number, f"r{number}") for number in (1, 2, 3))
        rows = (*partitions("orders", (1, 2), (2, 3)), *partitions("payments", (3, 1)))
        return ClusterInventory(cluster_id, brokers, rows)

    named = clusters or {"": CLUSTER_ID}
    inventory = Inventory("2024-01-31T12:30:45+00:00", {name: cluster(each) for name, each in named.items()})
    write_inventory(inventory, folder, "csv")
    return str(folder)


def deletion_of(cluster_id: str) -> str:
    return f"kind: TopicDeletion\nmetadata: {{cluster_id: {cluster_id}}}\nspec: {{topics: [orders]}}\n"


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
    folder = _inventory(tmp_path / "inventory")
    (tmp_path / "plan.yaml").write_text(AGAINST.format(CLUSTER_ID))
    done = kadmin("validate", "plan.yaml", "--inventory", folder, "--format", "json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    found = [(each["line"], each["column"], each["code"]) for each in json.loads(done.stdout)["problems"]]
    assert found == [
        (5, 65, "KA047"),
        (6, 46, "KA043"),
        (7, 34, "KA041"),
        (8, 15, "KA040"),
        (8, 50, "KA042"),
        (9, 49, "KA023"),
        (9, 49, "KA044"),
    ]


def test_against_another_cluster(tmp_path: Path) -> None:
    folder = _inventory(tmp_path / "inventory")
    (tmp_path / "plan.yaml").write_text(deletion_of("other"))
    done = kadmin("validate", "plan.yaml", "--inventory", folder, cwd=tmp_path)
    assert done.returncode == 3
    assert "plan.yaml:2:24: error KA045: the document is for cluster other" in done.stdout


def test_against_a_fleet(tmp_path: Path) -> None:
    folder = _inventory(tmp_path / "inventory", east="eastern", west="western")
    (tmp_path / "good.yaml").write_text(deletion_of("western"))
    (tmp_path / "none.yaml").write_text("kind: TopicDeletion\nspec: {topics: [orders]}\n")
    (tmp_path / "request.yaml").write_text("kind: RebalanceRequest\nspec: {brokers: {drain: [9]}}\n")
    assert kadmin("validate", "good.yaml", "--inventory", folder, cwd=tmp_path).returncode == 0
    none = kadmin("validate", "none.yaml", "--inventory", folder, cwd=tmp_path)
    assert (none.returncode, none.stderr) == (3, "")
    said = "none.yaml:1:1: error KA045: the inventory holds a fleet, and the document has no cluster_id"
    assert said in none.stdout
    assert "name one of its clusters: eastern (east), western (west)" in none.stdout
    (tmp_path / "none.yaml").write_text(deletion_of("northern"))
    other = kadmin("validate", "none.yaml", "--inventory", folder, cwd=tmp_path)
    assert "none.yaml:2:24: error KA045: the inventory holds a fleet, and no cluster of it has" in other.stdout
    (tmp_path / "policy.yaml").write_text('kind: Policy\nspec: {codes: {KA045: "off"}}\n')
    unchecked = kadmin("validate", "none.yaml", "--inventory", folder, "--policy", "policy.yaml", cwd=tmp_path)
    assert (unchecked.returncode, unchecked.stdout) == (3, other.stdout), "what was not checked has not passed"
    request = kadmin("validate", "request.yaml", "--inventory", folder, cwd=tmp_path)
    assert request.returncode == 3
    assert "request.yaml:2:26: error KA042: the inventory has no broker 9" in request.stdout


def test_facts_of_a_fleet_are_those_of_the_document_s_cluster(tmp_path: Path) -> None:
    folder = Path(_inventory(tmp_path / "inventory", east="eastern", west="western"))
    header = json.loads((folder / "inventory.json").read_text())
    header["kafka_by_cluster"] = {"west": {"consumers": {"orders": ["billing"]}, "delete_topic_enable": False}}
    (folder / "inventory.json").write_text(json.dumps(header))
    write_inventory(read_inventory(folder), folder, "csv")
    assert json.loads((folder / "inventory.json").read_text()) == header, "what was read is written again"
    for cluster_id, found in (("eastern", ["KA058"]), ("western", ["KA053", "KA051"])):
        (tmp_path / "plan.yaml").write_text(deletion_of(cluster_id))
        done = kadmin("validate", "plan.yaml", "--inventory", str(folder), "--format", "json", cwd=tmp_path)
        assert [problem["code"] for problem in json.loads(done.stdout)["problems"]] == found


def test_two_clusters_of_one_id_cannot_be_told_apart(tmp_path: Path) -> None:
    folder = _inventory(tmp_path / "inventory", east="one", west="one")
    (tmp_path / "plan.yaml").write_text(deletion_of("one"))
    done = kadmin("validate", "plan.yaml", "--inventory", folder, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert "error KA045: the inventory holds a fleet, and east, west have cluster_id one" in done.stdout


def test_a_broken_inventory_hides_no_problem_of_a_document(tmp_path: Path) -> None:
    folder = Path(_inventory(tmp_path / "inventory"))
    (folder / "partitions.csv").write_text("topic,partition,replicas\norders,-1,1\n")
    (tmp_path / "plan.yaml").write_text("kind: TopicDeletion\nspec: {topics: [orders, orders]}\n")
    done = kadmin("validate", "plan.yaml", "--inventory", "inventory", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert "plan.yaml:2:25: error KA021" in done.stdout
    said = "inventory:1:1: error KA001: this cannot be read: The inventory inventory has bad rows."
    assert said in done.stdout
    (tmp_path / "policy.yaml").write_text('kind: Policy\nspec: {codes: {KA001: "off", KA021: "off"}}\n')
    done = kadmin("validate", "plan.yaml", "--inventory", "inventory", "--policy", "policy.yaml", cwd=tmp_path)
    assert (done.returncode, said in done.stdout, "KA021" in done.stdout) == (3, True, False)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cluster_id": "c", "kafka_by_cluster": {"c": {}}}, "is of one cluster and has kafka_by_cluster"),
        ({"clusters": {"c": "c"}, "kafka": {}}, "is of a fleet and has kafka."),
        ({"clusters": {"c": "c"}, "kafka_by_cluster": {"d": {}}}, "clusters that it does not name: d"),
        ({"clusters": {"c": "c"}, "cluster_id": "c"}, "both cluster_id and clusters"),
    ],
)
def test_facts_stand_where_their_clusters_are_named(tmp_path: Path, fields: dict[str, object], said: str) -> None:
    folder = Path(_inventory(tmp_path / "inventory"))
    head = {"kind": "ClusterInventory", "taken_at": "2024-01-31T12:30:45Z"}
    (folder / "inventory.json").write_text(json.dumps(head | fields))
    with pytest.raises(InvalidInputError, match=said):
        read_inventory(folder)


def test_schemas_of_ones_own_must_hold_too(tmp_path: Path) -> None:
    own = {"properties": {"metadata": {"required": ["description"]}}, "required": ["metadata"]}
    (tmp_path / "topic-deletion.schema.json").write_text(json.dumps(own))
    (tmp_path / "plan.yaml").write_bytes(GOOD)
    assert kadmin("validate", "plan.yaml", cwd=tmp_path).returncode == 0
    done = kadmin("validate", "plan.yaml", "--schema-dir", ".", cwd=tmp_path)
    assert done.returncode == 3
    assert "plan.yaml:1:1: error KA012: the field metadata is missing" in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        '{"$ref": "https://example.org/x.json"}',
        '{"type": 1}',
        "{",
        '{"$ref": "#"}',
        '{"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}',
        '{"not":' * 200 + "{}" + "}" * 200,
    ],
)
def test_bad_schemas_are_invalid_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "topic-deletion.schema.json").write_text(text)
    (tmp_path / "plan.yaml").write_bytes(GOOD)
    done = kadmin("validate", "plan.yaml", "--schema-dir", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "topic-deletion.schema.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_schema_of_no_kind_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "topic-deletions.schema.json").write_text('{"required": ["metadata"]}')
    (tmp_path / "plan.yaml").write_bytes(GOOD)
    done = command("validate", tmp_path / "plan.yaml", "--schema-dir", tmp_path)
    assert (done.status, done.out) == (3, "")
    assert "topic-deletions.schema.json is of no kind of document" in done.err
    assert "did you mean topic-deletion.schema.json?" in done.err


def test_schema_list_and_show() -> None:
    assert kadmin("schema", "list").stdout.split() == list(schema_names())
    assert kadmin("schema", "show", "topic-deletion").stdout == schema_text("topic-deletion")
    unknown = kadmin("schema", "show", "topic")
    assert unknown.returncode == 64
    assert "There is no schema topic." in unknown.stderr


def test_exported_schemas_are_a_schema_dir(tmp_path: Path) -> None:
    exported = kadmin("schema", "export", str(tmp_path / "out"))
    assert exported.returncode == 0
    assert len(list((tmp_path / "out").rglob("*.schema.json"))) == len(schema_names())
    assert kadmin("validate", "plans", "--schema-dir", str(tmp_path / "out")).returncode == 0


def test_an_export_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = kadmin("schema", "export", str(tmp_path / "file"))
    assert done.returncode == 8
    assert "Cannot write" in done.stderr


def test_a_report_goes_to_a_file_and_the_text_to_stdout(plans: Path) -> None:
    done = kadmin("validate", ".", "--format", "sarif", "--out", "out.sarif", cwd=plans)
    assert done.returncode == 3
    assert done.stdout.startswith("b07-partition-twice.yaml:6:7: error KA020")
    assert len(json.loads((plans / "out.sarif").read_text())["runs"][0]["results"]) == 2
    refused = kadmin("validate", ".", "--format", "junit", "--out", "none/out.xml", cwd=plans)
    assert (refused.returncode, "Cannot write none/out.xml" in refused.stderr) == (8, True)


@pytest.mark.parametrize("name", ["github", "sarif", "gitlab", "junit"])
def test_every_format_of_what_is_valid_ends_with_zero(plans: Path, name: str) -> None:
    assert kadmin("validate", "good.yml", "--format", name, cwd=plans).returncode == 0


def test_a_summary_is_appended_where_github_asks_for_it(plans: Path) -> None:
    summary = plans / "summary.md"
    summary.write_text("before\n")
    kadmin("validate", ".", "--format", "github", cwd=plans, GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().startswith("before\n### kadmin validate: failed\n")
    kadmin("validate", ".", cwd=plans, GITHUB_STEP_SUMMARY=str(plans / "none" / "summary.md"))
    refused = kadmin("validate", ".", "--format", "github", cwd=plans, GITHUB_STEP_SUMMARY=str(plans / "no" / "s.md"))
    assert refused.returncode == 8


def test_a_policy_switches_codes_and_guards_names(plans: Path) -> None:
    (plans / "policy.yaml").write_text(
        'kind: Policy\nspec: {codes: {KA020: warning, KA024: "off"}, deletion: {deny: ["un*"], max_topics: 1}}\n'
    )
    done = kadmin("validate", ".", "--policy", "policy.yaml", "--format", "json", cwd=plans)
    found = [(each["file"], each["severity"], each["code"]) for each in json.loads(done.stdout)["problems"]]
    assert done.returncode == 3
    assert found == [
        ("b07-partition-twice.yaml", "warning", "KA020"),
        ("b11-collision.yaml", "error", "KA027"),
        ("good.json", "error", "KA050"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('kind: Policy\nspec: {deletion: {deny: [""]}}\n', "KA014"),
        ("kind: Policy\nspec: {codes: {KA999: warning}}\n", "KA014"),
        ("kind: Policy\nspec: {codes: {KA020: ignore}}\n", "KA016"),
        ("kind: TopicDeletion\nspec: {topics: [a]}\n", "is not a Policy"),
    ],
)
def test_a_policy_that_says_nothing_sound_is_refused(plans: Path, text: str, said: str) -> None:
    """An empty pattern most of all: it would match nothing where somebody meant to guard something."""
    (plans / "policy.yaml").write_text(text)
    refused = kadmin("validate", "good.yml", "--policy", "policy.yaml", cwd=plans)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert said in refused.stderr


@pytest.mark.parametrize("output", ["human", "json", "github", "sarif", "gitlab", "junit"])
def test_odd_names_of_files_end_in_no_traceback(tmp_path: Path, output: str) -> None:
    for name in (b"b\xff.yaml", b"t\tab.yaml", "é [red].yaml".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes(BAD["b07-partition-twice"][1])
    done = kadmin("validate", ".", "--format", output, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")


def test_what_cannot_be_read_in_a_folder_is_told_and_not_passed_over(plans: Path) -> None:
    os.mkfifo(plans / "pipe.yaml")
    (plans / "folder.yaml").mkdir()
    for name in (".", "*.yaml"):
        assert json.loads(kadmin("validate", name, "--format", "json", cwd=plans).stdout)["errors"] == 1
    (plans / "loop.yaml").symlink_to("loop.yaml")
    looping = kadmin("validate", ".", cwd=plans)
    assert (
        looping.returncode,
        "loop.yaml:1:1: error KA001: this cannot be read: Too many levels" in looping.stdout,
    ) == (3, True)
    (plans / "loop.yaml").unlink()
    (plans / "gone.yaml").symlink_to("nowhere")
    gone = kadmin("validate", "*.yaml", cwd=plans)
    assert (gone.returncode, "gone.yaml:1:1: error KA001: this cannot be read: No such file" in gone.stdout) == (
        3,
        True,
    )
    nameless = kadmin("validate", "", cwd=plans)
    assert (nameless.returncode, "cannot be read" in nameless.stdout) == (3, True), "no name is not this folder"


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", forbidden)
    refused = command("validate", tmp_path)
    assert (refused.status, "this cannot be read: Permission denied" in refused.out) == (3, True)


def test_a_folder_is_everything_below_it(plans: Path) -> None:
    """What a check of `plans` does not look at would pass: folders in folders, endings in capitals, links back up."""
    (plans / "team" / "more").mkdir(parents=True)
    (plans / "team" / "up").symlink_to("..")
    (plans / ".venv").mkdir()
    for name in ("team/bad.yaml", "team/more/bad.yaml", "BAD.YML", "bad.Json", ".venv/bad.yaml"):
        (plans / name).write_bytes(b"{" + BAD["b07-partition-twice"][1])
    answer = json.loads(kadmin("validate", "plans", "--format", "json", cwd=plans.parent).stdout)
    found = [name for name in answer["files"] if "good" not in name and "b07" not in name and "b11" not in name]
    assert found == ["plans/BAD.YML", "plans/bad.Json", "plans/team/bad.yaml", "plans/team/more/bad.yaml"]
    assert {each["file"] for each in answer["problems"] if each["code"] == "KA002"} == set(found)


def test_a_file_named_as_standard_input_is(plans: Path) -> None:
    (plans / "-").write_bytes(BAD["b07-partition-twice"][1])
    for names in (("./-",), ("-", "./-"), ("?",)):
        done = kadmin("validate", *names, data=GOOD, cwd=plans)
        assert (done.returncode, "./-:6:7: error KA020" in done.stdout) == (3, True)
    assert kadmin("validate", "-", "-", data=GOOD, cwd=plans).stdout == "1 file: no problem\n"


def test_a_file_reached_twice_is_one_file(plans: Path) -> None:
    (plans / "self").symlink_to(".")
    (plans / "linked.yml").symlink_to("good.yml")
    answer = json.loads(kadmin("validate", "**/good.*", "linked.yml", "--format", "json", cwd=plans).stdout)
    assert answer["files"] == ["good.json", "good.yml"]


def test_a_file_without_end_is_read_no_further_than_to_see_it() -> None:
    done = kadmin("validate", "/dev/zero")
    assert (done.returncode, "error KA008: the file has more than" in done.stdout) == (3, True)


def test_standard_input_that_is_closed() -> None:
    closed = subprocess.run(
        ["bash", "-c", 'exec "$0" -m kadmin validate - <&-', sys.executable], capture_output=True, check=False, cwd=ROOT
    )
    assert (closed.returncode, closed.stdout.splitlines()[0]) == (
        3,
        b"-:1:1: error KA001: this cannot be read: it is closed",
    )


def test_an_answer_goes_through_a_pipe_that_has_a_name(plans: Path) -> None:
    done = kadmin("validate", "good.yml", "--format", "json", "--out", "/dev/stdout", cwd=plans)
    assert (done.returncode, '"valid": true' in done.stdout) == (0, True), done.stderr


def test_a_name_with_control_characters_is_told_escaped(tmp_path: Path) -> None:
    name = tmp_path / "\x1b]0;title\x07.yaml"
    done = command("validate", name)
    assert (done.status, "\x1b" in done.out, "\ufffd]0;title\ufffd.yaml:1:1: error KA001" in done.out) == (
        3,
        False,
        True,
    )
    done = command("validate", "plan.yaml", "--policy", name)
    assert (done.status, "\x1b" in done.err, "\\x1b]0;title\\x07" in done.err) == (3, False, True)


def test_an_answer_never_replaces_a_document(plans: Path) -> None:
    (plans / "link").symlink_to("good.yml")
    refused = command("validate", plans, "--format", "json", "--out", plans / "link")
    assert (refused.status, "was read for this answer" in refused.err) == (64, True)
    assert (plans / "good.yml").read_bytes() == GOOD
    (plans / "policy.yaml").write_text("kind: Policy\nspec: {}\n")
    policy = ("--policy", plans / "policy.yaml", "--out", plans / "policy.yaml")
    assert command("validate", plans / "good.yml", *policy).status == 64
    folder = Path(_inventory(plans.parent / "inventory"))
    for name, status in (("inventory.json", 64), ("partitions.csv", 64), ("answer.json", 3)):
        done = command("validate", plans / "good.yml", "--inventory", folder, "--out", folder / name)
        assert done.status == status, name


@pytest.mark.parametrize("output", ["human", "json", "github", "sarif", "gitlab", "junit"])
def test_what_cannot_be_read_hides_nothing(plans: Path, output: str) -> None:
    """No file, a folder without documents, a loop, a name too long and what is no text, before what is wrong."""
    (plans / "loop.yaml").symlink_to("loop.yaml")
    (plans / "empty").mkdir()
    (plans / "text.yaml").write_bytes(b"\xff")
    names = ("gone.yaml", "empty", "loop.yaml", "n" * 300, "text.yaml", "b07-partition-twice.yaml", "good.yml")
    done = command("validate", *(plans / name for name in names), "--format", output)
    assert (done.status, done.err) == (3, "")
    assert (done.out.count("KA001") >= 5, "KA020" in done.out) == (True, True), done.out
