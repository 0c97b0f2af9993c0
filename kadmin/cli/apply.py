"""`kadmin apply`."""

from __future__ import annotations

from kadmin.cli.execution import answer_outcome, execute
from kadmin.cli.options import (
    DryRunOption,
    LockTimeoutOption,
    OutputFormat,
    OutputOption,
    PlanArgument,
    PolicyOption,
    SizesOption,
    TimeoutOption,
    YesOption,
    ZooKeeperOption,
)


def apply(
    file: PlanArgument,
    zookeeper: ZooKeeperOption,
    *,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    sizes: SizesOption = None,
    policy: PolicyOption = None,
    timeout: TimeoutOption = None,
    lock_timeout: LockTimeoutOption = 0,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Execute a plan on the live cluster, wave by wave, and verify it.

    The plan is checked and shown before kadmin asks. At --timeout, on ^C or when the connection is lost, copies in
    progress continue; `kadmin resume` follows the operation from any machine.
    """
    from kadmin.cli.context import open_context
    from kadmin.cli.inputs import read_plan, read_policy, read_sizes

    plan, known, rules = read_plan(file), read_sizes(sizes), read_policy(policy)
    with open_context(zookeeper, timeout_s=timeout, story=output) as context:
        outcome = execute(context, plan, known, lock_timeout, output, policy=rules, dry_run=dry_run, yes=yes)
    answer_outcome(output, outcome)
