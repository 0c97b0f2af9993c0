from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kadmin.documents import dump_json, parse_document
from kadmin.documents.check import KINDS, examine
from kadmin.plan import codes
from kadmin.plan.model import ReassignmentPlan, RecoveryPlan, WaveOrder
from kadmin.schema import schema_file_name

PLANS = Path(__file__).parents[2] / "plans"
FILES = sorted(PLANS.glob("*.yaml"))


def test_there_is_a_plan_of_every_kind() -> None:
    kinds = {examine(path.read_bytes(), path.name).value["kind"] for path in FILES}
    assert kinds == set(KINDS) - {"ClusterInventory", "PrometheusNames", "Contexts"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_plan_is_valid(path: Path) -> None:
    checked = examine(path.read_bytes(), str(path))
    # Every unclean election has a warning.
    warnings = [codes.LOSES_RECORDS] if isinstance(checked.document, RecoveryPlan) else []
    assert [each.code for each in checked.problems] == warnings
    assert checked.document is not None
    assert checked.document.header.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_plan_names_its_schema_for_editors(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    kind = examine(path.read_bytes(), path.name).value["kind"]
    assert first == f"# yaml-language-server: $schema=../schemas/{schema_file_name(KINDS[kind])}"
    assert (path.parent / first.partition("$schema=")[2]).is_file()


def test_a_plan_without_an_order_of_waves_keeps_the_digest_that_older_versions_gave_it() -> None:
    """Records name the digest: another one would be taken for a record that somebody edited."""
    plan = parse_document((PLANS / "drain-broker.yaml").read_bytes(), "drain-broker.yaml")
    assert isinstance(plan, ReassignmentPlan)
    assert "order" not in json.loads(dump_json(plan))["spec"]
    assert (
        json.loads(dump_json(replace(plan, order=WaveOrder.PRIORITY)))["spec"]["order"]
        == "priority"
    )
