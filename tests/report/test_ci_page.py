"""docs/ci.md: what is there to copy is parsed as its CI system would, and what it tells to run is
run.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from support.pages.snippets import put_on_path, shell, snippet

from kadmin.documents.check import KINDS
from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory

ROOT = Path(__file__).parents[2]
BAD_PLAN = "kind: TopicDeletion\nspec: {topics: [no-such-topic, no-such-topic]}\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with one plan, a snapshot and a policy, and a `kadmin` on its PATH."""
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "drain.yaml").write_text(
        "kind: PartitionReassignment\nspec:\n  throttle: {rate: 50MB/s}\n"
        "  partitions:\n    - {topic: orders, partition: 0, replicas: [2, 3]}\n"
    )
    (tmp_path / "policy.yaml").write_text("kind: Policy\nspec: {deletion: {max_topics: 1}}\n")
    brokers = tuple(BrokerRow(number, f"r{number}", alive=True) for number in (1, 2, 3))
    cluster = ClusterInventory(
        "docs", brokers, (PartitionRow("orders", 0, (1, 2), 1, (1, 2), 100),)
    )
    write_inventory(Inventory("2026-11-21T08:30:00Z", {"": cluster}), tmp_path / "inventory", "csv")
    put_on_path(tmp_path)
    return tmp_path


@pytest.mark.pages
def test_the_workflow_of_github_runs(checkout: Path) -> None:
    workflow = yaml.load(snippet("ci.md", "GitHub Actions", "yaml"), Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes only strings
    assert workflow["on"]["pull_request"]["paths"] == ["plans/**"]
    steps = workflow["jobs"]["validate"]["steps"]
    commands = [
        step["run"] for step in steps if "run" in step and not step["run"].startswith("pip install")
    ]
    summary = checkout / "summary.md"
    done = [shell(command, checkout, GITHUB_STEP_SUMMARY=str(summary)) for command in commands]
    assert [each.returncode for each in done] == [0, 0, 0], done
    log = json.loads((checkout / "plans.sarif").read_text())
    assert log["runs"][0]["results"] == []
    uploads = [
        step["with"]["sarif_file"] for step in steps if "upload-sarif" in step.get("uses", "")
    ]
    assert uploads == ["plans.sarif"]
    assert "kadmin validate: passed" in summary.read_text()
    assert "**1 partition** to reassign in 1 wave" in summary.read_text()
    (checkout / "plans" / "team").mkdir()
    (checkout / "plans" / "team" / "elect.json").write_text(
        '{"kind": "PreferredReplicaElection", "spec": {"all": true}}'
    )
    for name in ("policy", "rebalance"):
        (checkout / "plans" / f"{name}.yaml").write_bytes(
            (ROOT / "plans" / f"{name}.yaml").read_bytes()
        )
    summary.unlink()
    done = [
        shell(command, checkout, GITHUB_STEP_SUMMARY=str(summary))
        for command in (commands[0], commands[2])
    ]
    assert [each.returncode for each in done] == [0, 0]
    assert re.findall("### kadmin: `(.*)`", summary.read_text()) == [
        "plans/drain.yaml",
        "plans/team/elect.json",
    ]
    (checkout / "plans" / "bad.yaml").write_text(BAD_PLAN)
    failed = shell(commands[0], checkout, GITHUB_STEP_SUMMARY=str(summary))
    assert failed.returncode == 3
    assert "::error file=plans/bad.yaml,line=2,col=" in failed.stdout
    assert "| error KA021 |" in summary.read_text()


def test_the_job_of_gitlab_runs(checkout: Path) -> None:
    job: dict[str, Any] = yaml.safe_load(snippet("ci.md", "GitLab CI", "yaml"))["plans"]
    (checkout / "plans" / "bad.yaml").write_text(BAD_PLAN)
    (command,) = job["script"]
    done = shell(command, checkout)
    assert done.returncode == 3
    assert "plans/bad.yaml:2:" in done.stdout, "the log is for people"
    report = json.loads((checkout / job["artifacts"]["reports"]["codequality"]).read_text())
    assert [each["check_name"] for each in report] == ["KA021"]


def test_the_stage_of_jenkins_runs(checkout: Path) -> None:
    text = snippet("ci.md", "Jenkins and all others that read JUnit", "groovy")
    command = next(found for found in re.findall(r"sh '(.*)'", text) if found.startswith("kadmin"))
    (report,) = re.findall(r"junit '(.*)'", text)
    (checkout / "plans" / "bad.yaml").write_text(BAD_PLAN)
    assert shell(command, checkout).returncode == 3
    root = ET.fromstring((checkout / report).read_text())
    assert (root.get("tests"), root.get("failures")) == ("2", "1")


@pytest.mark.pages
def test_the_hook_of_pre_commit_runs(checkout: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (used,) = yaml.safe_load(snippet("ci.md", "pre-commit", "yaml"))["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    assert re.search(hook["files"], "plans/drain.yaml")
    assert hook["require_serial"], "files in batches would not be compared"
    command = f'{hook["entry"]} "$@"'
    assert shell(command, checkout, *used["args"], "plans/drain.yaml").returncode == 0
    (checkout / "plans" / "bad.yaml").write_text(BAD_PLAN)
    assert (
        shell(command, checkout, *used["args"], "plans/drain.yaml", "plans/bad.yaml").returncode
        == 3
    )


def test_the_schemas_are_where_the_first_line_of_each_plan_says(checkout: Path) -> None:
    exported = shell(
        snippet("ci.md", "Editors", "console").splitlines()[0].removeprefix("$ "), checkout
    )
    assert exported.returncode == 0
    assert all((checkout / "schemas" / f"{name}.schema.json").is_file() for name in KINDS.values())
