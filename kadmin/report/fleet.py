"""One answer for several clusters.

It is a table with the column `cluster`, and JSON with one entry for each of them.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kadmin.answers.fleet import ClusterAnswer, ClusterAnswers, FailureAnswer
from kadmin.cluster.names import escaped
from kadmin.report.text import table
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.errors import KadminError

_MOST = 2_000


def fleet_text(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    blocks: Mapping[str, str],
    failed: Mapping[str, KadminError],
) -> str:
    """Show a row for each cluster that answered, some text blocks, and the others' errors."""
    shown = [table(columns, rows)] if rows else []
    shown += [f"{name}:\n{textwrap.indent(block, '  ')}" for name, block in blocks.items()]
    return "\n\n".join([*shown, *failures_text(failed)])


def failures_text(failed: Mapping[str, KadminError]) -> list[str]:
    """Name the clusters that did not answer, with cause and next command."""
    if not failed:
        return []
    lines = [f"{count(len(failed), 'cluster')} did not answer:"]
    for name, error in failed.items():
        message, *others = failure_lines(error)
        lines += [f"  {name}: {message}", *(f"  {line}" for line in others)]
    return ["\n".join(lines)]


def failure_lines(error: KadminError) -> list[str]:
    """Return message, cause and next command of an error that does not end the command."""
    return [escaped(line.removeprefix(error.heading), _MOST) for line in error.lines()]


def fleet_answer(
    names: Sequence[str],
    answers: Mapping[str, tuple[int, object]],
    failed: Mapping[str, KadminError],
) -> ClusterAnswers:
    """Answer for each cluster with its exit code, and its answer or its error."""
    return ClusterAnswers(
        tuple(_entry(name, answers.get(name), failed.get(name)) for name in names)
    )


def failure_answer(error: KadminError) -> FailureAnswer:
    """Answer with an error."""
    details = (text and escaped(text, _MOST) for text in (error.cause, error.next_command))
    return FailureAnswer(escaped(error.message, _MOST), *details)


def _entry(name: str, found: tuple[int, object] | None, error: KadminError | None) -> ClusterAnswer:
    if error is not None:
        return ClusterAnswer(name, error.exit_code, None, failure_answer(error))
    exit_code, value = found or (0, {})
    return ClusterAnswer(name, exit_code, value, None)
