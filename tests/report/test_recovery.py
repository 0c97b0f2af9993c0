"""A proposed recovery in text, JSON and HTML: who is to be started first, unknown is never 0."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from support.cluster.states import cluster, tp

from kadmin.plan.recovery import KnownEnd, LogEvidence, propose_recovery
from kadmin.report.pages.recovery_page import recovery_page
from kadmin.report.recovery import copies_of, loss_of, recovery_answer, recovery_text
from kadmin.report.text import SHOWN_ROWS
from kadmin.schema import validate_value
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from kadmin.plan.recovery import RecoveryProposal

LISTS = {"y-0": (1, 2, 3), "z-0": (1,), "e-0": (1, 5), "ok-0": (2, 3)}
ALONE = {"y-0": (-1, (1,)), "z-0": (-1, (1,)), "e-0": (-1, (1,))}
STATE = cluster(LISTS, brokers={2: None, 3: None, 4: None}, states=ALONE)
KNOWN = LogEvidence(
    {2: 200, 3: 350},
    {3: 94_400},
    (KnownEnd(500, "committed by group g"),),
    KnownEnd(600, "sampled"),
)
PATH = Path("recovery.yaml")
UNKNOWN = ["the end of z-0 on broker 9"]


def proposed(known: LogEvidence = KNOWN, *, empty: bool = False) -> RecoveryProposal:
    return propose_recovery(STATE, {tp("y-0"): known}, "2026-01-01T00:00:00Z", empty=empty)


def test_text_names_the_broker_to_start_before_what_the_plan_loses() -> None:
    lines = recovery_text(proposed(), UNKNOWN, PATH).splitlines()
    assert lines[:3] == [
        "3 partitions without a leader",
        "start broker 1: it alone gives a leader back to 3 partitions, without a loss",
        "what the plan does instead, and loses:",
    ]
    row = next(line for line in lines if line.startswith("y-0"))
    assert "2: 200; 3: 350, 94.4 kB" in row
    assert row.endswith("250, if none was written after the sample")
    beyond = "y-0: offset 500 was committed by group g, beyond the new end"
    assert lines[-5:] == [
        "not in the plan: e-0: no replica is alive",
        "not in the plan: z-0: no replica is alive",
        f"{beyond}: reset it to 350 before producers write",
        "unknown: the end of z-0 on broker 9",
        "1 partition -> recovery.yaml",
    ]


def test_text_counts_the_rows_that_only_the_file_has_and_says_where_nothing_is_to_do() -> None:
    lists = {f"t-{number}": (1, 2) for number in range(SHOWN_ROWS + 7)}
    lost = dict.fromkeys(lists, (-1, (1,)))
    state = cluster(lists, brokers={2: None}, states=lost)
    many = propose_recovery(state, {}, "2026-01-01T00:00:00Z")
    assert "\n7 more in recovery.yaml\n" in recovery_text(many, (), PATH)
    healthy = propose_recovery(cluster({"ok-0": (2, 3)}), {}, "2026-01-01T00:00:00Z")
    assert recovery_text(healthy, (), PATH).splitlines() == [
        "0 partitions without a leader",
        "nothing to do -> recovery.yaml",
    ]


def test_the_loss_is_at_least_what_is_known_all_of_an_empty_one_and_else_unknown() -> None:
    unsampled, nothing = replace(KNOWN, sampled=None), LogEvidence()
    found = {
        loss_of(each)
        for known in (unsampled, nothing)
        for each in proposed(known, empty=True).offline
    }
    assert found == {"at least 150", "unknown", "all"}
    assert {loss_of(each) for each in proposed().offline if each.entry is None} == {""}
    assert copies_of(proposed(nothing).offline[1]) == "2: unknown; 3: unknown"


def test_json_keeps_its_schema_and_unknown_is_null() -> None:
    value = json.loads(to_json(recovery_answer(proposed(), UNKNOWN, PATH)))
    assert validate_value(value, "answers/propose-recovery") == []
    by_topic = {each["topic"]: each for each in value["partitions"]}
    assert by_topic["y"]["leader"] == 3
    assert (by_topic["y"]["records_lost"], by_topic["y"]["records_lost_at_most"]) == (250, 250)
    assert by_topic["y"]["sampled"] == {"offset": 600, "source": "sampled"}
    assert by_topic["z"]["leader"] is by_topic["z"]["sampled"] is None
    assert by_topic["z"]["impossible"] == "no replica is alive"


def test_the_page_shows_the_way_without_a_loss_and_what_each_partition_loses() -> None:
    html = recovery_page(proposed(), UNKNOWN, "recovery.yaml")
    start = html.index("Start broker 1: it alone gives a leader back to 3 partitions")
    assert start < html.index("The plan elects leaders that lack records.")
    assert "Unknown: the end of z-0 on broker 9." in html
    assert "250, if none was written after the sample" in html
    assert "500 committed by group g; 600 sampled" in html
    assert "unknown for 0 partitions" in html
