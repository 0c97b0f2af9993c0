"""Arguments of `broker check` and `whatif lose --fail-on`, and its exit code on a snapshot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """Brokers 1 to 3; `a` has all in sync, `alone` one replica, and nothing is known of `dark`."""
    brokers = tuple(BrokerRow(number, f"r{number}", alive=True) for number in (1, 2, 3))
    rows = (
        PartitionRow("a", 0, (1, 2), leader=1, isr=(1, 2)),
        PartitionRow("alone", 0, (2,), leader=2, isr=(2,)),
        PartitionRow("dark", 0, (3, 1)),
    )
    inventory = {"": ClusterInventory("id", brokers, rows)}
    write_inventory(Inventory("2024-01-31T12:30:45+00:00", inventory), tmp_path / "s", "csv")
    return str(tmp_path / "s")


@pytest.mark.parametrize(
    ("broker", "options", "code", "named"),
    [
        ("1", [], 0, None),
        ("1", ["--fail-on", "offline"], 8, ["dark"]),  # unknown is never safe
        ("2", ["--fail-on", "offline,unclean"], 8, ["alone"]),
        ("2", ["--fail-on", "under-min-isr"], 0, []),
        ("2", ["--fail-on", "under-min-isr", "--margin", "1"], 8, ["a"]),
    ],
)
def test_whatif_fails_on_what_is_named(
    *, snapshot: str, broker: str, options: list[str], code: int, named: list[str] | None
) -> None:
    lose = ["whatif", "lose", "--broker", broker, "--inventory", snapshot, *options]
    found = command(*lose, "-o", "json")
    assert found.status == code, found.err
    value = json.loads(found.out)
    assert ("obstacles" in value) is (named is not None)
    assert [each["topic"] for each in value.get("obstacles", ())] == (named or [])
    text = command(*lose)
    assert text.status == code
    assert all(f"{each}-0" in text.out for each in named or ())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("broker check --stop -b localhost:1", "No broker or rack is named"),
        ("broker check 1 -b localhost:1", "Nothing to check is named"),
        ("broker check one --stop -b localhost:1", "'one' is not a broker id"),
        ("whatif lose --broker 1 --fail-on lost --inventory .", "'lost' is none of offline"),
        ("whatif lose --broker 1 --margin 1 --inventory .", "--margin goes with --fail-on"),
    ],
)
def test_wrong_usage(line: str, words: str) -> None:
    found = command(*line.split())
    assert (found.status, found.out) == (64, "")
    assert words in found.err
