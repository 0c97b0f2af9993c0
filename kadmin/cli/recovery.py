"""`kadmin propose recovery`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.cluster import on_cluster
from kadmin.cli.context import open_reading
from kadmin.cli.inputs import write_plan, write_text
from kadmin.cli.output import answer
from kadmin.contexts.address import ClusterAddress

SamplesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--samples", metavar="DIR", help="Samples of kadmin sample, to bound the loss from above."
    ),
]
EmptyOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--empty",
        help="Bring partitions back empty, on live brokers, whose replicas are all lost for good.",
    ),
]
PageOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Also write an HTML page to this file."),
]


@on_cluster
def recovery(
    cluster: ClusterAddress,
    out: options.PlanOut,
    *,
    samples: SamplesOption = None,
    empty: EmptyOption = False,
    html: PageOption = None,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Propose leaders for partitions without one, with the loss.

    Names first who must be started to lose nothing. Nothing is elected before the plan is applied.
    """
    from kadmin.operations.reading.recovery import read_evidence
    from kadmin.operations.reading.snapshot import read_state
    from kadmin.plan.recovery import propose_recovery, without_leader

    if html is not None:
        from kadmin.report.pages.html import require_renderer

        require_renderer()
    with open_reading(cluster, timeout_s=timeout) as context:
        state = read_state(context)
        looked_at = context.clock.timestamp()
        sampled = {}
        if samples is not None:
            from kadmin.inventory.sample_files import last_end_offsets

            sampled = last_end_offsets(samples, state.cluster_id, without_leader(state))
        evidence, unknown = read_evidence(context, state, sampled)
    proposal = propose_recovery(state, evidence, looked_at, empty=empty)
    write_plan(out, proposal.plan)
    if html is not None:
        from kadmin.report.pages.recovery_page import recovery_page

        write_text(html, recovery_page(proposal, unknown, str(out)))
    from kadmin.report.recovery import recovery_answer, recovery_text

    answer(
        output,
        lambda: recovery_text(proposal, unknown, out),
        lambda: recovery_answer(proposal, unknown, out),
    )
