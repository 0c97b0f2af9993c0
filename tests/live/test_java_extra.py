"""Python alone is enough: brokers of every version, and Spark, on the runtime of the `java`
extra.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import VERSIONS

from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def no_java_on_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "bash", "env", "dirname", "cat", "uname", "ps"):
        found = next(
            folder
            for folder in ("/bin", "/usr/bin")
            if os.path.exists(f"{folder}/{tool}")  # noqa: PTH110 - links count
        )
        (tools / tool).symlink_to(f"{found}/{tool}")
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.delenv("JAVA_HOME", raising=False)


@pytest.mark.eras
@pytest.mark.parametrize("version", VERSIONS)
def test_brokers_run(version: str, tmp_path: Path) -> None:
    sandbox = Sandbox.up(SandboxSpec(tmp_path / "sandbox", version, brokers=1))
    try:
        assert sandbox.brokers[1].alive
    finally:
        sandbox.down()


@pytest.mark.spark
def test_spark_runs(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    (inventory / "inventory.json").write_text(
        '{"kind": "ClusterInventory", "taken_at": "2026-01-01T00:00:00Z"}'
    )
    (inventory / "brokers.csv").write_text("broker_id,rack\n1,r1\n2,r2\n")
    (inventory / "partitions.csv").write_text("topic,partition,replicas\na,0,1\na,1,1\n")
    request, plan = tmp_path / "request.json", tmp_path / "plan.json"
    request.write_text('{"kind": "RebalanceRequest", "spec": {}}')
    arguments = [
        "propose",
        "rebalance",
        str(request),
        "--inventory",
        str(inventory),
        "--out",
        str(plan),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "kadmin", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(plan.read_text())["spec"]["partitions"]) == 1
