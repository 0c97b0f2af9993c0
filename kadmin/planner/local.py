"""The local engine: plans in this process, with the same plan as Spark, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import UsageError
from kadmin.planner.cluster_plan import PlanningTask, plan_cluster
from kadmin.planner.inventory_tables import read_tables
from kadmin.planner.load.reading import read_history
from kadmin.planner.proposal import (
    Options,
    checked_header,
    checked_patterns,
    ignore_stages,
    proposals_of,
)
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kadmin.plan.model import Policy, RebalanceRequest
    from kadmin.planner.proposal import Proposal


def propose(
    request: RebalanceRequest,
    directory: Path,
    options: Options,
    on_stage: Callable[[str], None] = ignore_stages,
    policy: Policy | None = None,
) -> Mapping[str, Proposal]:
    """Propose a plan for each cluster of an inventory, by name.

    Calls `on_stage` with the name of each stage. Raises as `proposals_of`, and UsageError for
    Spark's options. Every engine has this signature.
    """
    if options != Options():
        raise UsageError(
            "--master, --remote and --conf are Spark's; --engine local does not use them."
        )
    header = checked_header(request, directory)
    on_stage(f"reading {directory}")
    tables = read_tables(directory, header)
    warnings = checked_patterns(request, (rows for _, rows in tables.values()), policy)
    history = read_history(request, header)
    task = PlanningTask.on(request, header)
    results = {}
    for number, name in enumerate(header.clusters, start=1):
        brokers, partitions = tables[name]
        counts = f"{count(len(partitions), 'partition')} on {count(len(brokers), 'broker')}"
        on_stage(
            f"planning cluster {name} ({number} of {len(header.clusters)}): {counts}"
            if name
            else f"planning {counts}"
        )
        results[name] = plan_cluster(name, task, brokers, partitions, history.pop(name, None))
    return proposals_of(request, directory, header, results, warnings)
