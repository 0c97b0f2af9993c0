"""docs/compatibility.md names the numbers that the code has."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

from kadmin.operations.record.codec import RECORD_VERSION

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")


def test_the_layout_of_the_record_is_the_one_that_is_read() -> None:
    assert re.findall(r"reads layouts up to (\d+)", PAGE) == [str(RECORD_VERSION)]


def test_every_schema_has_the_number_that_the_page_names() -> None:
    schemas = [
        json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "schemas").rglob("*.json")
    ]
    numbers = {schema["$id"].rpartition(":v")[2] for schema in schemas}
    assert numbers == set(re.findall(r"kadmin/v(\d+)` names the form", PAGE)) == {"1"}


def test_modules_export_the_names_that_the_page_calls_stable() -> None:
    listed = dict(re.findall(r"^\| `(kadmin\.\w+)` \| (.+?) \|", PAGE, re.MULTILINE))
    assert listed.keys() == {"kadmin.planner", "kadmin.documents", "kadmin.plan", "kadmin.errors"}
    for module, names in listed.items():
        found = importlib.import_module(module)
        stable = set(re.findall(r"`(\w+)`", names))
        assert all(hasattr(found, name) for name in stable)
        assert module == "kadmin.errors" or set(found.__all__) == stable
