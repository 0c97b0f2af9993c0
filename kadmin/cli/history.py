"""`kadmin history`."""

from __future__ import annotations

from kadmin.cli.options import READ_TIMEOUT_S, OutputFormat, OutputOption, ReadTimeoutOption, ZooKeeperOption


def history(
    zookeeper: ZooKeeperOption,
    *,
    timeout: ReadTimeoutOption = READ_TIMEOUT_S,
    output: OutputOption = OutputFormat.HUMAN,
) -> None:
    """List the operations on record, oldest first."""
    from kadmin.cli.context import open_context
    from kadmin.cli.output import answer
    from kadmin.operations.reading.verify import history as read
    from kadmin.report.operations.status import history_answer, history_text

    with open_context(zookeeper, timeout_s=timeout) as context:
        found = read(context)
    answer(output, lambda: history_text(found), lambda: history_answer(found))
