"""`throttle set`: options that cannot be read are refused before any connection."""

from __future__ import annotations

import pytest
from support.cli.in_process import command


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--while", "p99"], 64, "--while p99 is no signal with its limit"),
        (["--while", "=50ms"], 64, "--while =50ms is no signal with its limit"),
        (["--while", "a=5", "--while", "a=6"], 64, "--while a=6 is no signal with its limit, or"),
        (["--while", "p99=fast"], 3, "The limit cannot be read."),
        (["--hours", "22-06"], 3, "The window cannot be read."),
        (["--hours", "none", "--hours", "sat"], 3, "The window cannot be read."),
        (["--outside", "5"], 3, "The rate cannot be read."),
        (["--hours", "none", "--zone", "UTC"], 64, "--zone and --outside go with hours."),
        ([], 64, "One of --rate, --finish-in and --link-budget is needed."),
        (
            ["--rate", "1MB/s", "--finish-in", "6h", "--hours", "none"],
            64,
            "One of --rate, --finish-in and --link-budget is needed.",
        ),
    ],
)
def test_an_option_that_cannot_be_read(arguments: list[str], status: int, message: str) -> None:
    answer = command("throttle", "set", *arguments, "-z", "127.0.0.1:1")
    assert (answer.status, answer.out) == (status, "")
    assert answer.err.startswith(f"error: {message}")
