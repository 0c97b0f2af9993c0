"""`kadmin apply`, `resume`, `pause`, `cancel` and `rollback`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kadmin.cli import options
from kadmin.cli.approval import parse_digest, unattended_command
from kadmin.cli.cluster import asking_brokers, changes_cluster
from kadmin.cli.completion import complete_operation
from kadmin.cli.context import open_context, open_reading
from kadmin.cli.execution import (
    answer_outcome,
    ask,
    ask_about_unfinished,
    ask_first,
    execute,
    plan_named,
    read_cluster_at,
    tell_outcome,
)
from kadmin.cli.inputs import read_facts, read_origin, read_policy
from kadmin.cli.output_options import UNASKED, OutputOptions, with_telling
from kadmin.cli.plan_defaults import read_plan_for, throttle_for, with_load
from kadmin.cli.protection import require_allowed
from kadmin.contexts.address import ClusterAddress
from kadmin.errors import UsageError
from kadmin.next_step import command
from kadmin.wording import count, name_some
from kadmin.worlds.open import require_cluster_id

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.execute.apply import Outcome
    from kadmin.operations.record.record import OperationKind
    from kadmin.plan.model import Plan

ForeignOption: TypeAlias = Annotated[
    bool,
    typer.Option("--foreign", help="Cancel reassignments that belong to no operation on record."),
]
OriginOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--origin",
        metavar="FILE",
        help=(
            "With --foreign: the replicas to return to, as a plan or as Kafka's reassignment JSON."
        ),
    ),
]


ApprovedOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--approved",
        metavar="SHA256",
        help="Apply the plan file only if this is its SHA-256 digest.",
    ),
]


LeaveOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--leave",
        help="Outside the plan's hours, end: copies wait, or go on at the rate outside.",
    ),
]
DueOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--due",
        help="Resume what --leave left, if its hours include now; leave it at their end. For cron.",
    ),
]


NowOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--now",
        help=("Also revert the current wave; with -z, by moving the controller to another broker."),
    ),
]
AllowForeignOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-foreign",
        help="With --now and -z: proceed even if this may start other tools' moves.",
    ),
]


@changes_cluster
@with_telling
def apply(
    file: options.PlanFile,
    cluster: ClusterAddress,
    *,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    inventory: options.GivenInventory = None,
    sizes: options.Sizes = None,
    throttle: options.Throttle = None,
    without_brokers: options.WithoutBrokers = False,
    policy: options.Policy = None,
    approved: ApprovedOption = None,
    leave: LeaveOption = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Execute a plan wave by wave, and verify it.

    Checks and shows the plan before it asks for confirmation. At --timeout, on ^C or when the
    connection is lost, copies in progress continue. `kadmin resume` continues the operation from
    any machine.
    """
    from kadmin.operations.execute.apply import RunOptions

    cluster = asking_brokers(cluster, without=without_brokers)
    plan = read_plan_for(cluster, file, None if approved is None else parse_digest(approved))
    _require_hours(plan, leave=leave)
    given, rules = with_load(read_facts(sizes, inventory), plan), read_policy(policy)
    pace = throttle_for(cluster, plan, throttle)
    require_allowed(cluster, type(plan))
    require_cluster_id(cluster, plan.header.cluster_id, "The plan")
    repeated = {
        "--inventory": inventory,
        "--sizes": sizes,
        "--throttle": throttle,
        "--policy": policy,
    }
    unattended = unattended_command(
        plan, cluster, {**repeated, "--without-brokers": without_brokers, "--leave": leave}
    )
    opened = (open_reading if dry_run else open_context)(
        cluster, timeout_s=timeout, output_options=output_options
    )
    with opened as context, plan_named(file):
        asked = RunOptions(pace, leaves=leave)
        run = partial(execute, policy=rules, run=asked, dry_run=dry_run, unattended=unattended)
        outcome = run(context, cluster, plan, given, lock_timeout, output_options, yes=yes)
    answer_outcome(output, outcome)


def _require_hours(plan: Plan, *, leave: bool) -> None:
    """Raise UsageError for --leave and a plan without hours."""
    from kadmin.plan.model import (
        DecommissionPlan,
        MaintenancePlan,
        ReassignmentPlan,
        RecoveryPlan,
    )

    has_hours = isinstance(plan, ReassignmentPlan) and plan.hours is not None
    waits = isinstance(plan, MaintenancePlan | DecommissionPlan | RecoveryPlan)
    if leave and not has_hours and not waits:
        raise UsageError(
            "--leave goes with a plan that has spec.hours, or that waits for a person.",
            next_step="leave --leave out",
        )


@changes_cluster
@with_telling
def resume(
    cluster: ClusterAddress,
    operation_id: options.OperationId = None,
    *,
    leave: LeaveOption = False,
    due: DueOption = False,
    without_brokers: options.WithoutBrokers = False,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Resume an unfinished operation, from any machine.

    Waits until the lock of a killed runner expires, which takes some seconds. With --due, the exit
    code is 0 where nothing is due, and where hours end.
    """
    from kadmin.operations.execute import takeover
    from kadmin.operations.execute.due import Due, find_due, resume_due

    cluster = asking_brokers(cluster, without=without_brokers)
    with open_context(cluster, timeout_s=timeout, output_options=output_options) as context:
        if due:
            found = find_due(context, operation_id)
        else:
            unfinished = takeover.find_resumable(context, operation_id)
            found = Due(() if unfinished is None else (unfinished,), "")
        for each in found.operation_ids:
            _require_kind_allowed(context, cluster, each)
            ask_about_unfinished(context, each, cluster, "Resume", yes=yes)
        outcome = (
            resume_due(context, found, lock_timeout)
            if due
            else takeover.resume(context, operation_id, lock_timeout, leaves=leave)
        )
        tell_outcome(context, outcome)
    answer_outcome(output, outcome)


def _require_kind_allowed(context: Context, cluster: ClusterAddress, operation_id: str) -> None:
    from kadmin.operations.decide.kinds import plan_type

    if (kind := _kind_of(context, operation_id)) is not None:
        require_allowed(cluster, plan_type(kind))


def _kind_of(context: Context, operation_id: str) -> OperationKind | None:
    """Return the kind of an unfinished operation, None where it ended meanwhile."""
    unfinished = context.operations.unfinished()
    return next((each.kind for each in unfinished if each.operation_id == operation_id), None)


@changes_cluster
def pause(
    cluster: ClusterAddress,
    operation_id: options.OperationId = None,
    *,
    timeout: options.ReadTimeout = options.READ_TIMEOUT_S,
    lock_timeout: options.LockTimeout = 0,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Pause an operation when its current wave is done.

    No further wave is published until `kadmin resume`.
    """
    from kadmin.operations.execute.takeover import stop
    from kadmin.operations.record.stop_request import Stop

    with open_context(
        cluster, timeout_s=timeout, output_options=OutputOptions(log_format=output)
    ) as context:
        ask(
            lambda: f"Pause the operation on {read_cluster_at(context, cluster)}?",
            cluster,
            yes=True,
        )
        outcome = tell_outcome(context, stop(context, operation_id, Stop.PAUSE, lock_timeout))
    answer_outcome(output, outcome)


@changes_cluster
@with_telling
def cancel(
    cluster: ClusterAddress,
    operation_id: options.OperationId = None,
    *,
    now: NowOption = False,
    allow_foreign: AllowForeignOption = False,
    foreign: ForeignOption = False,
    origin: OriginOption = None,
    yes: options.Yes = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Cancel an operation after its wave, or at once with --now.

    Partitions that are already reassigned keep their new replicas; `kadmin rollback` restores the
    old ones. --foreign cancels reassignments of other tools: their partitions return to their
    original replicas.
    """
    from kadmin.operations.execute.takeover import find_unfinished, stop
    from kadmin.operations.record.stop_request import Stop

    if foreign:
        if operation_id is not None or now or allow_foreign:
            raise UsageError(
                "--foreign takes no operation's id.", next_step=command("cancel", "--foreign")
            )
        answer_outcome(
            output, _cancel_foreign(cluster, origin, timeout, lock_timeout, output_options, yes=yes)
        )
        return
    if origin is not None:
        raise UsageError(
            "--origin goes with --foreign.", next_step="add --foreign, or leave --origin out"
        )
    if allow_foreign and not now:
        raise UsageError(
            "--allow-foreign goes with --now.", next_step="add --now, or leave --allow-foreign out"
        )
    kind = Stop.CANCEL_NOW if now else Stop.CANCEL
    with open_context(cluster, timeout_s=timeout, output_options=output_options) as context:
        found = find_unfinished(context, operation_id)
        if found is not None:
            how = ", and revert its current wave" if now else _how_cancelled(context, found)
            ask_about_unfinished(context, found, cluster, "Cancel", how, yes=yes)
        outcome = stop(context, operation_id, kind, lock_timeout, allow_foreign=allow_foreign)
        tell_outcome(context, outcome)
    answer_outcome(output, outcome)


def _how_cancelled(context: Context, operation_id: str) -> str:
    from kadmin.operations.record.record import OperationKind

    kind = _kind_of(context, operation_id)
    if kind is OperationKind.CATCH_UP:
        return ", and remove its throttle while replicas copy"
    if kind is OperationKind.RECOVERY and context.operations.record(operation_id).unclean:
        return (
            ", and set unclean.leader.election.enable back although replicas may not be in sync "
            "(docs/recovery.md)"
        )
    return ", when its current wave is done"


def _cancel_foreign(
    cluster: ClusterAddress,
    origin: Path | None,
    timeout: float | None,
    lock_timeout: float,
    output_options: OutputOptions,
    *,
    yes: bool,
) -> Outcome:
    from kadmin.operations.events import Note
    from kadmin.operations.execute.cancel_foreign import (
        NOTHING_FOREIGN,
        cancel_foreign,
        plan_cancellation,
    )

    given = {} if origin is None else read_origin(origin)
    with open_context(cluster, timeout_s=timeout, output_options=output_options) as context:
        outcome = NOTHING_FOREIGN
        if targets := plan_cancellation(context, given):
            for target in targets:
                back = (
                    f"{target.partition}: {list(target.current or ())} back to "
                    f"{list(target.replicas)}"
                )
                context.tell(Note(back))
            names = name_some((target.partition for target in targets), most=20)
            what = f"End {count(len(targets), 'reassignment')} of other tools"
            ask_first(
                context,
                lambda: f"{what} on {read_cluster_at(context, cluster)}: {names}?",
                cluster,
                yes=yes,
            )
            outcome = cancel_foreign(context, given, targets, lock_timeout)
        return tell_outcome(context, outcome)


@changes_cluster
@with_telling
def rollback(
    cluster: ClusterAddress,
    operation_id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            autocompletion=complete_operation,
            help="The operation's id. Default: the last that is not a rollback.",
        ),
    ] = None,
    *,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    inventory: options.GivenInventory = None,
    sizes: options.Sizes = None,
    throttle: options.Throttle = None,
    without_brokers: options.WithoutBrokers = False,
    timeout: options.Timeout = None,
    lock_timeout: options.LockTimeout = 0,
    output_options: OutputOptions = UNASKED,
    output: options.Output = options.OutputFormat.HUMAN,
) -> None:
    """Restore the replicas from before an operation.

    Copies at the rate of the operation's throttle, unless --throttle gives another.
    """
    from kadmin.operations.execute.apply import RunOptions
    from kadmin.operations.repair.rollback import plan_rollback, rollback_note

    cluster = asking_brokers(cluster, without=without_brokers)
    given = read_facts(sizes, inventory)
    with open_context(cluster, timeout_s=timeout, output_options=output_options) as context:
        plan = plan_rollback(context, operation_id)
        pace = throttle_for(cluster, plan, throttle)
        context.tell(rollback_note(plan, pace))
        run = partial(execute, run=RunOptions(pace), dry_run=dry_run, yes=yes)
        outcome = run(context, cluster, plan, given, lock_timeout, output_options)
    answer_outcome(output, outcome)
