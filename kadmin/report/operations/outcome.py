"""Outcomes of operations, and results of verification, as text and JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.answers.operations import VerificationAnswer, VerifiedPartition
from kadmin.plan.progress import Progress
from kadmin.report.text import SHOWN_ROWS, shortened, table

if TYPE_CHECKING:
    from kadmin.operations.execute.apply import Outcome
    from kadmin.operations.reading.verify import Verification


def outcome_text(outcome: Outcome) -> str:
    """Show the result of an apply or resume."""
    return (
        outcome.message
        if outcome.operation_id is None
        else f"{outcome.message} (operation {outcome.operation_id})"
    )


def verification_text(verification: Verification) -> str:
    """Show what is not done yet, and the counts."""
    open_rows = [
        verdict for verdict in verification.verdicts if verdict.progress is not Progress.DONE
    ]
    counts = Counter(verdict.progress for verdict in verification.verdicts)
    summary = ", ".join(
        f"{counts[progress]} {progress.value}" for progress in Progress if counts[progress]
    )
    if not open_rows:
        return summary or "nothing to verify"
    rows = [
        [v.topic if v.partition is None else f"{v.topic}-{v.partition}", v.progress.value, v.detail]
        for v in open_rows[:SHOWN_ROWS]
    ]
    return shortened(table(["not done", "status", "seen"], rows), len(open_rows)) + f"\n{summary}"


def verification_answer(verification: Verification) -> VerificationAnswer:
    """Answer `verify`: one row per partition (of a deletion: per topic, `partition` null)."""
    rows = (
        VerifiedPartition(v.topic, v.partition, v.progress, v.detail) for v in verification.verdicts
    )
    return VerificationAnswer(verification.done, tuple(rows))
