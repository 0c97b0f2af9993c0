"""Plans of more partitions than the controller takes in one request (10,000), with lock and record
in the topic.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import document
from support.kafka.crowd import crowd, reorder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.executor

VERSION = "4.4.0"


@pytest.mark.parametrize("partitions", [10_001, 50_000])
def test_a_plan_of_very_many_partitions_is_applied(tmp_path: Path, partitions: int) -> None:
    plan = document(tmp_path / "plan.json", reorder(partitions))
    with crowd(tmp_path / "sandbox", VERSION, partitions) as bootstrap:
        applied = command("apply", plan, "--yes", "-b", ",".join(bootstrap))
        assert applied.status == 0, applied.err
        verified = command("verify", plan, "-b", ",".join(bootstrap), "-o", "json")
        assert verified.status == 0, verified.err
        found = json.loads(verified.out)
        assert (found["done"], len(found["partitions"])) == (True, partitions)
