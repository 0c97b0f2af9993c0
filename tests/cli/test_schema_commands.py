"""`kadmin schema` and `kadmin validate --schema-dir`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import GOOD

from kadmin.schema import bundled

if TYPE_CHECKING:
    from pathlib import Path


def test_schemas_of_ones_own_must_hold_too(tmp_path: Path) -> None:
    own = {"properties": {"metadata": {"required": ["description"]}}, "required": ["metadata"]}
    (tmp_path / "topic-deletion.schema.json").write_text(json.dumps(own))
    (tmp_path / "plan.yaml").write_bytes(GOOD)
    assert command("validate", "plan.yaml", cwd=tmp_path).status == 0
    done = command("validate", "plan.yaml", "--schema-dir", ".", cwd=tmp_path)
    assert done.status == 3
    assert "plan.yaml:1:1: error KA012: the field metadata is missing" in done.out


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
    done = command("validate", "plan.yaml", "--schema-dir", ".", cwd=tmp_path)
    assert (done.status, done.out) == (3, "")
    assert "topic-deletion.schema.json" in done.err
    assert "Traceback" not in done.err


def test_a_schema_of_no_kind_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "topic-deletions.schema.json").write_text('{"required": ["metadata"]}')
    (tmp_path / "plan.yaml").write_bytes(GOOD)
    done = command("validate", tmp_path / "plan.yaml", "--schema-dir", tmp_path)
    assert (done.status, done.out) == (3, "")
    assert "topic-deletions.schema.json is of no kind of document" in done.err
    assert "did you mean topic-deletion.schema.json?" in done.err


def test_schema_list_and_show() -> None:
    assert command("schema", "list").out.split() == list(bundled().names())
    assert command("schema", "show", "topic-deletion").out == bundled().text("topic-deletion")
    unknown = command("schema", "show", "topic")
    assert unknown.status == 64
    assert "There is no schema topic." in unknown.err


def test_exported_schemas_are_a_schema_dir(tmp_path: Path) -> None:
    exported = command("schema", "export", str(tmp_path / "out"))
    assert exported.status == 0
    assert len(list((tmp_path / "out").rglob("*.schema.json"))) == len(bundled().names())
    assert command("validate", "plans", "--schema-dir", str(tmp_path / "out")).status == 0


def test_an_export_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = command("schema", "export", str(tmp_path / "file"))
    assert done.status == 8
    assert "Cannot write" in done.err
