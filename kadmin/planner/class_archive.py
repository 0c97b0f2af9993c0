"""Archives Spark's classes as Java has loaded them: a proposal on Spark then starts in two thirds of the time.

`python -m kadmin.planner.class_archive` once for each Java and each PySpark; `make setup` does so. Without an archive,
or with one that no longer fits, Spark starts as it would.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from kadmin.errors import KadminError, NotCompletedError
from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.java import cache_folder, find_java
from kadmin.plan.model import PlanHeader, RebalanceRequest
from kadmin.planner.proposal import Options
from kadmin.planner.spark import propose
from kadmin.planner.spark_session import class_archive, spark_session


def make_archive(cache: Path) -> Path:
    """Have Spark plan a small cluster, and keep the classes it loaded; returns the archive, 180 MB.

    Raises NotCompletedError where Spark does not start, this Java writes no archive, or the cache cannot be written.
    """
    archive = class_archive(find_java(os.environ, cache), cache)
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotCompletedError(
            f"Cannot write {archive.parent}.", cause=error.strerror, next_command="set KADMIN_CACHE to another folder"
        ) from error
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        fresh = Path(folder, archive.name)
        write_inventory(_small(), Path(folder, "inventory"))
        with spark_session(Options(), archived=fresh):
            propose(RebalanceRequest(PlanHeader()), Path(folder, "inventory"), Options())
        if not fresh.is_file():
            raise NotCompletedError("This Java wrote no archive of Spark's classes; Spark starts without one.")
        fresh.replace(archive)
    return archive


def _small() -> Inventory:
    brokers = tuple(BrokerRow(each, rack=None, alive=True) for each in (1, 2))
    partitions = tuple(PartitionRow("topic", each, (1,)) for each in range(4))
    return Inventory("2024-01-01T00:00:00Z", {SINGLE_CLUSTER: ClusterInventory(None, brokers, partitions)})


def _main() -> str | None:
    try:
        make_archive(cache_folder(os.environ))
    except KadminError as error:
        return "\n".join(error.lines())
    return None


if __name__ == "__main__":
    sys.exit(_main())
