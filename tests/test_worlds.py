"""The end of ZooKeeper is `git rm -r kadmin/worlds/zookeeper`: a copy without it imports, lints and
runs operations.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.kraft import make_topic, wait_assigned

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

ROOT = Path(__file__).parents[1]
OF_ZOOKEEPER = ("worlds/zookeeper", "sandbox/zookeeper_mode.py", "sandbox/migration.py")
IMPORT_ALL = """
import importlib, pkgutil, kadmin
for module in pkgutil.walk_packages(kadmin.__path__, "kadmin."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(kadmin.__file__)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package without what knows ZooKeeper, and its schemas beside it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(
        ROOT / "kadmin", folder / "kadmin", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copytree(ROOT / "schemas", folder / "schemas")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for each in OF_ZOOKEEPER:
        path = folder / "kadmin" / each
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return folder


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_zookeeper_every_module_is_imported(copy: Path) -> None:
    done = run(copy, "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(copy / "kadmin" / "__init__.py")


def test_without_zookeeper_it_lints(copy: Path) -> None:
    done = run(copy, "-m", "ruff", "check", "kadmin")
    assert done.returncode == 0, done.stdout


@pytest.mark.eras
@pytest.mark.live
def test_without_zookeeper_a_cluster_in_kraft_mode_is_operated(
    copy: Path, kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    topic = make_topic(connection, {0: (1, 2)})
    plan = str(document(tmp_path / "plan.json", reassignment(topic, {0: (3, 1)})))
    at = ("-b", ",".join(kraft.bootstrap))

    def kadmin(*arguments: str) -> str:
        done = run(copy, "-m", "kadmin", *arguments, *at)
        assert done.returncode == 0, done.stderr
        return done.stdout

    kadmin("apply", plan, "--yes")
    wait_assigned(connection, {TopicPartition(topic, 0): (3, 1)})
    kadmin("verify", plan)
    assert json.loads(kadmin("doctor", "-o", "json"))["stops_apply"] is False
    kadmin("inspect", "partitions")
    kadmin("snapshot", "--out", str(tmp_path / "inventory"))
    kadmin("rollback", "--yes")
    wait_assigned(connection, {TopicPartition(topic, 0): (1, 2)})
