"""`spec.only_if`: a plan for load is written only if it gains enough."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.planner.load_histories import MONDAY, row, week, write
from support.planner.small_clusters import propose, request

from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory
from kadmin.plan.model import LeastGain, LoadSpec, OnlyIf, ProposalLimits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from support.cli.in_process import Answer

RATES = (8.0, 8.0, 2.0, 2.0)
CLUSTER = ClusterInventory(
    None,
    (BrokerRow(1), BrokerRow(2)),
    tuple(PartitionRow("a", at, (1 + at // 2,), size_bytes=100) for at in range(len(RATES))),
)
"""Broker 1 has both busy partitions, so that a swap brings network in from 1.6 to 1."""


def history(*weeks: Sequence[float]) -> list[dict[str, Any]]:
    """Return a row of each partition and week, by its rates in each week."""
    return [
        row("a", at, week(rate), start=MONDAY + timedelta(weeks=number))
        for number, rates in enumerate(weeks)
        for at, rate in enumerate(rates)
    ]


def judged(rows: list[dict[str, Any]], gain: float | LeastGain, **targets: Any) -> Any:  # noqa: ANN401 - JSON
    limits = ProposalLimits(load_moves=2)
    asked = request(load=LoadSpec("load"), only_if=OnlyIf(gain), limits=limits, **targets)
    proposed = propose(CLUSTER, asked, rows)
    assert proposed.error is None
    return proposed.figures["only_if"]


def test_a_plan_is_worth_its_moves_from_the_least_gain_on() -> None:
    """Rule: the gain is how much lower the worst hour becomes, down to the goal."""
    gain = round(1 - 1.05 / 1.6, 6)
    found = judged(history(RATES), gain)
    assert found == {"worth": True, "required": 0, "in": {"gain": gain, "least": gain}}
    assert judged(history(RATES), gain + 0.001)["worth"] is False


def test_what_is_within_its_goal_cannot_gain() -> None:
    found = judged(history((5.0, 5.0, 5.0, 5.0)), 0.0)
    assert (found["worth"], found["in"]["gain"]) == (False, 0.0)


def test_the_noise_of_the_history_is_the_change_of_the_worst_hour_from_week_to_week() -> None:
    """Rule: the mean of the changes, each as a part of the week before; without a plan."""
    steady = judged(history(RATES, RATES, RATES), LeastGain.NOISE)
    assert (steady["worth"], steady["in"]["least"]) == (True, 0.0)
    other = (2.0, 2.0, 8.0, 2.0)  # broker 2 has 10, and its share is the largest partition, 8
    noisy = judged(history(RATES, other, RATES), LeastGain.NOISE)
    changes = (1 - 1.25 / 1.6, 1.6 / 1.25 - 1)
    assert noisy["in"]["least"] == pytest.approx(sum(changes) / 2, abs=1e-5)


def test_a_history_without_weeks_of_its_own_shows_no_noise() -> None:
    (merged, *_) = rows = [{**each, "weeks": 4} for each in history(RATES)]
    assert merged["weeks"] == 4
    assert judged(rows, LeastGain.NOISE)["in"]["least"] == 0.05
    assert judged(history(RATES), LeastGain.NOISE)["in"]["least"] == 0.05


def test_entries_that_the_request_needs_are_worth_it_whatever_they_gain() -> None:
    found = judged(history(RATES), 0.9, replication_factor={"a": 2})
    assert (found["worth"], found["required"]) == (True, 4)


def run(folder: Path, spec: str, *arguments: str) -> Answer:
    (folder / "request.yaml").write_text(f"kind: RebalanceRequest\nspec: {{{spec}}}\n")
    given = (
        "request.yaml",
        "--inventory",
        "inv",
        "--out",
        "plan.yaml",
        "--engine",
        "local",
        *arguments,
    )
    return command("propose", "rebalance", *given, cwd=folder, environment={"COLUMNS": "80"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inventory(Inventory("2026-01-01T00:00:00Z", {"": CLUSTER}), tmp_path / "inv", "csv")
    write(tmp_path / "load", history(RATES))
    return tmp_path


@pytest.mark.parametrize(("options", "status"), [((), 0), (("--exit-code",), 8)])
def test_nothing_worth_moving_writes_no_plan(
    folder: Path, options: tuple[str, ...], status: int
) -> None:
    pages = ("--figures", "figures.json")
    done = run(
        folder,
        "load: {from: load}, limits: {load_moves: 2}, only_if: {gain: 40%}",
        *pages,
        *options,
    )
    assert (done.status, done.err) == (status, "")
    assert done.out.splitlines()[-1] == (
        "nothing worth moving, no plan is written: network in gains 34.38%, the least is 40.00%"
    )
    assert not (folder / "plan.yaml").exists()
    (told,) = figures(folder)
    assert told["only_if"]["worth"] is False


def test_a_plan_that_gains_enough_is_written(folder: Path) -> None:
    done = run(
        folder,
        "load: {from: load}, limits: {load_moves: 2}, only_if: {}",
        "--exit-code",
        "--figures",
        "figures.json",
    )
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[-1] == "2 reassignments -> plan.yaml"
    plain = (folder / "plan.yaml").read_bytes()
    assert run(folder, "load: {from: load}, limits: {load_moves: 2}").status == 0
    assert (folder / "plan.yaml").read_bytes() == plain
    (told,) = figures(folder)
    assert told["only_if"]["in"]["least"] == 0.05


def test_an_exit_code_goes_with_a_least_gain_and_that_with_load(folder: Path) -> None:
    assert run(folder, "load: {from: load}", "--exit-code").status == 64
    refused = run(folder, "only_if: {gain: 5%}")
    assert refused.status == 3
    assert "there is no spec.load" in refused.err


def figures(folder: Path) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = json.loads((folder / "figures.json").read_text())["clusters"]
    return found
