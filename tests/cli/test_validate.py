"""`kadmin validate`: exit codes, formats, policies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cli.process import kadmin
from support.documents.plans import GOOD

from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

IMPORTS = """
import sys
from kadmin.cli import run
status = run(sys.argv[1:])
heavy = ("kazoo", "kafka", "pyspark", "pyarrow", "numpy", "pandas")
print([name for name in heavy if name in sys.modules])
sys.exit(status)
"""


def test_a_valid_file() -> None:
    done = command("validate", "plans/drain-broker.yaml")
    assert (done.status, done.out, done.err) == (0, "1 file: no problem\n", "")


def test_every_example_plan_is_valid() -> None:
    done = command("validate", "plans", "--format", "json")
    answer = json.loads(done.out)
    assert (done.status, answer["errors"]) == (0, 0)
    assert {problem["code"] for problem in answer["problems"]} == {"KA032", "KA082"}, (
        "side by side two of them meet; an unclean election always has a warning"
    )


def test_an_invalid_file(plans: Path) -> None:
    done = command("validate", "b07-partition-twice.yaml", cwd=plans)
    assert (done.status, done.err) == (3, "")
    assert done.out.startswith("b07-partition-twice.yaml:6:7: error KA020: a-0 is named 2 times")
    assert done.out.endswith("1 file: 1 error, 0 warnings\n")
    assert "\x1b" not in done.out


def test_standard_input() -> None:
    assert command("validate", "-", data=GOOD).status == 0
    done = command("validate", "-", data=b'{"kind": "TopicDeletion", "spec": {"topics": []}}')
    assert done.status == 3
    assert done.out.startswith("-:1:46: error KA017")


def test_the_json_answer_conforms_to_its_schema(plans: Path) -> None:
    done = command("validate", ".", "--format", "json", cwd=plans)
    answer = json.loads(done.out)
    assert done.status == 3
    assert validate_value(answer, "answers/validate") == []
    assert (answer["valid"], answer["errors"], answer["warnings"]) == (False, 1, 1)
    assert [problem["file"] for problem in answer["problems"]] == [
        "b07-partition-twice.yaml",
        "b11-collision.yaml",
    ]
    assert answer["problems"][0]["path"] == "$.spec.partitions[2]"


def test_warnings_alone_are_valid(plans: Path) -> None:
    done = command("validate", "b11-collision.yaml", cwd=plans)
    assert done.status == 0
    assert "warning KA024" in done.out


def test_documents_are_checked_together(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(GOOD)
    entry = "{topic: old-events, partition: 0, replicas: [1]}"
    (tmp_path / "b.yaml").write_text(
        f"kind: PartitionReassignment\nspec: {{partitions: [{entry}]}}\n"
    )
    done = command("validate", "a.yaml", "b.yaml", cwd=tmp_path)
    assert done.status == 3
    assert "b.yaml:2:29: error KA031: old-events is deleted by a.yaml" in done.out


@pytest.mark.parametrize("arguments", [("plans/rebalance.yaml",), ("plans", "--format", "json")])
def test_no_heavy_library_is_imported(arguments: tuple[str, ...]) -> None:
    done = kadmin("validate", *arguments, code=IMPORTS)
    assert done.returncode == 0
    assert done.stdout.endswith("[]\n")


def test_twenty_columns_and_a_dumb_terminal(plans: Path) -> None:
    done = command("validate", ".", cwd=plans, environment={"COLUMNS": "20", "TERM": "dumb"})
    assert done.status == 3
    assert all(
        len(line) <= 20
        for line in done.out.splitlines()
        if line.lstrip("0123456789 ").startswith("| ")
    )


def test_a_plain_ascii_locale(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        "kind: TopicDeletion\nspec: {topics: [é]}\n", encoding="utf-8"
    )
    done = kadmin("validate", "plan.yaml", cwd=tmp_path, LC_ALL="C", LANG="C")
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_report_goes_to_a_file_and_the_text_to_stdout(plans: Path) -> None:
    done = command("validate", ".", "--format", "sarif", "--out", "out.sarif", cwd=plans)
    assert done.status == 3
    assert done.out.startswith("b07-partition-twice.yaml:6:7: error KA020")
    assert len(json.loads((plans / "out.sarif").read_text())["runs"][0]["results"]) == 2
    refused = command("validate", ".", "--format", "junit", "--out", "none/out.xml", cwd=plans)
    assert (refused.status, "Cannot write none/out.xml" in refused.err) == (8, True)


@pytest.mark.parametrize("name", ["github", "sarif", "gitlab", "junit"])
def test_every_format_of_what_is_valid_ends_with_zero(plans: Path, name: str) -> None:
    assert command("validate", "good.yml", "--format", name, cwd=plans).status == 0


def test_a_summary_is_appended_where_github_asks_for_it(plans: Path) -> None:
    summary = plans / "summary.md"
    summary.write_text("before\n")
    command(
        "validate",
        ".",
        "--format",
        "github",
        cwd=plans,
        environment={"GITHUB_STEP_SUMMARY": str(summary)},
    )
    assert summary.read_text().startswith("before\n### kadmin validate: failed\n")
    command(
        "validate",
        ".",
        cwd=plans,
        environment={"GITHUB_STEP_SUMMARY": str(plans / "none" / "summary.md")},
    )
    refused = command(
        "validate",
        ".",
        "--format",
        "github",
        cwd=plans,
        environment={"GITHUB_STEP_SUMMARY": str(plans / "no" / "s.md")},
    )
    assert refused.status == 8


def test_a_policy_switches_codes_and_guards_names(plans: Path) -> None:
    (plans / "policy.yaml").write_text(
        'kind: Policy\nspec: {codes: {KA020: warning, KA024: "off"}, deletion: {deny: ["un*"], '
        "max_topics: 1}}\n"
    )
    done = command("validate", ".", "--policy", "policy.yaml", "--format", "json", cwd=plans)
    found = [
        (each["file"], each["severity"], each["code"]) for each in json.loads(done.out)["problems"]
    ]
    assert done.status == 3
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
    """An empty pattern most of all: it would match nothing where somebody meant to guard
    something.
    """
    (plans / "policy.yaml").write_text(text)
    refused = command("validate", "good.yml", "--policy", "policy.yaml", cwd=plans)
    assert (refused.status, refused.out) == (3, "")
    assert said in refused.err


def test_an_answer_goes_through_a_pipe_that_has_a_name(plans: Path) -> None:
    done = kadmin("validate", "good.yml", "-o", "json", "--out", "/dev/stdout", cwd=plans)
    assert (done.returncode, '"valid": true' in done.stdout) == (0, True), done.stderr
