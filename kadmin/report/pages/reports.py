"""The HTML of a report: of a plan, of the planner's proposals, of an operation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kadmin.insight.predict.forecast import forecast, retrospect
from kadmin.insight.tables.disks import disk_rows
from kadmin.inventory import read_inventory
from kadmin.operations.reading.preview import preview_cluster
from kadmin.operations.reading.timeline import progress_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import Policy
from kadmin.report.pages.html import render
from kadmin.report.pages.operation_page import operation_page
from kadmin.report.pages.plan_page import PlanFacts, plan_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from kadmin.operations.execute.live import OperationReview
    from kadmin.operations.reading.preview import PlanPreview
    from kadmin.planner.load.hours import LoadHours
    from kadmin.planner.proposal import Proposal


def plan_report(
    source: str,
    preview: PlanPreview,
    figures: Mapping[str, Any] | None = None,
    load_hours: LoadHours | None = None,
) -> str:
    """Return the page of a plan from the file `source`.

    `figures` are one cluster's of answers/figures.
    """
    plan, state, known = preview.plan, preview.state, preview.facts
    facts = PlanFacts(
        plan,
        source,
        preview.read_from,
        state.cluster_id,
        figures,
        load_hours,
        disk_rows(known.disks, known.replicas),
    )
    return render(
        plan_page(facts, preview.examination, forecast(plan, state, known.sizes, known.capacities))
    )


def proposal_reports(
    proposals: Mapping[str, Proposal], folder: Path, sources: Mapping[str, Path]
) -> Iterator[tuple[str, str]]:
    """Yield each cluster's name with its plan's page, on the inventory that it was proposed for."""
    inventory, none = read_inventory(folder), ClusterFacts()
    read_from = f"snapshot {folder}, taken at {inventory.taken_at}"
    for name, proposal in proposals.items():
        preview = preview_cluster(
            proposal.plan, inventory.clusters[name], read_from, none, Policy()
        )
        found = preview.examination
        warned = replace(found, warnings=(*found.warnings, *proposal.warnings))
        yield (
            name,
            plan_report(
                str(sources[name]),
                replace(preview, examination=warned),
                proposal.figures,
                proposal.load_hours,
            ),
        )


def operation_report(review: OperationReview) -> str:
    """Return the page of an operation."""
    found, state = review.timeline, review.cluster.state
    facts = review.cluster.facts
    past = retrospect(found.record.origin, state, facts.sizes, {})
    disks = disk_rows(facts.disks, facts.replicas)
    return render(
        operation_page(found, past, progress_of(found, state), review.read_at, review.runner, disks)
    )
