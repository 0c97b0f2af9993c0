"""Every JSON answer of a live command is what its published schema says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import deletion, document, election, reassignment

from kadmin.schema import validate_value

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live


def test_answers_keep_their_schemas(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]})
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    gone = document(tmp_path / "gone.json", reassignment("no-such-topic", {0: [2, 3]}))
    elect = document(tmp_path / "elect.json", election(topics=[topic]))
    delete = document(tmp_path / "delete.json", deletion(topic))
    asked: list[tuple[str, tuple[str | Path, ...]]] = [
        ("diff", ("diff", plan)),
        ("diff", ("diff", gone)),
        ("diff", ("diff", elect)),
        ("diff", ("diff", delete)),
        ("verify", ("verify", plan)),
        ("apply", ("apply", plan, "--dry-run")),
        ("apply", ("apply", plan, "--yes")),
        ("apply", ("apply", plan, "--yes")),
        ("verify", ("verify", elect)),
        ("verify", ("verify", delete)),
        ("status", ("status",)),
        ("history", ("history",)),
        ("lock-show", ("lock", "show")),
        ("apply", ("resume",)),
        ("snapshot", ("snapshot", "--out", tmp_path / "inventory", "--table", "csv")),
        ("propose-election", ("propose", "election", "--out", tmp_path / "election.yaml")),
        (
            "propose-demotion",
            ("propose", "demotion", "--broker", "1", "--out", tmp_path / "demotion.yaml"),
        ),
    ]
    for schema, arguments in asked:
        answer = cluster.kadmin(*arguments, "-o", "json")
        assert answer.status in {0, 8}, answer.err
        assert validate_value(json.loads(answer.out), f"answers/{schema}") == [], answer.out


def test_an_unfinished_operation_is_shown_with_its_progress(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    assert cluster.kadmin("apply", plan, "--yes", "--timeout", "0").status == 8
    shown = json.loads(cluster.kadmin("status", "-o", "json").out)
    assert validate_value(shown, "answers/status") == []
    assert [found["state"] for found in shown["operations"]] == ["running"]
    assert shown["operations"][0]["progress"]["total"] == 1
    assert "kadmin resume" in cluster.kadmin("status").out
    assert cluster.kadmin("resume", "--yes").status == 0
    assert cluster.kadmin("status").out.strip() == "no operation is unfinished"
