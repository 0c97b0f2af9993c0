"""`kadmin status`."""

from __future__ import annotations

from kadmin.cli.options import READ_TIMEOUT_S, OutputFormat, OutputOption, ReadTimeoutOption, ZooKeeperOption


def status(
    zookeeper: ZooKeeperOption,
    *,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """Show unfinished operations, their progress, and who runs them."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import status as read
    from kadmin.report.operations.status import status_answer, status_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: status_text(found), lambda: status_answer(found))
