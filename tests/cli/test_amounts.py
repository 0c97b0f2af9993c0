"""Rates and durations that are given as options."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli.in_process import command

PLAN = Path(__file__).parents[2] / "plans" / "drain-broker.yaml"


@pytest.mark.parametrize(
    ("arguments", "what", "cause"),
    [
        (["apply", str(PLAN), "--throttle", "5000000"], "rate", "'5000000' has no unit: 5MB/s?"),
        (["apply", str(PLAN), "--throttle", "5MB"], "rate", "'5MB' is not a rate; write 5MB/s"),
        (["throttle", "set", "--finish-in", "6"], "duration", "'6' has no unit: 6m or 6h?"),
    ],
)
def test_an_amount_that_cannot_be_read_is_told_before_any_connection(
    arguments: list[str], what: str, cause: str
) -> None:
    answer = command(*arguments, "-z", "127.0.0.1:1")
    assert (answer.status, answer.out) == (3, "")
    assert answer.err == f"error: The {what} cannot be read.\n  cause: {cause}\n"
