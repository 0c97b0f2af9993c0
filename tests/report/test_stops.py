"""The answer of `broker check` and of `whatif lose --fail-on` as text and JSON."""

from __future__ import annotations

import json

from support.cluster.states import tp

from kadmin.insight.predict.losses import PlacedPartition
from kadmin.insight.predict.stop import StopEvidence, judge_stop
from kadmin.report.stops import stop_answer, stop_rows, stop_text
from kadmin.schema import validate_value
from kadmin.schema.shapes import to_json

ALIVE = frozenset({1, 2, 3})


def placed(name: str, *isr: int, min_isr: int = 1) -> PlacedPartition:
    return PlacedPartition(tp(name), (1, 2, 3), isr[0], isr, min_isr)


def test_a_safe_stop_is_one_line_and_what_is_broken_already_another() -> None:
    whole, short = placed("a-0", 1, 2, 3), placed("b-0", 1, 2, min_isr=3)
    assert stop_text(judge_stop(StopEvidence((whole,), ALIVE), {1, 2})) == (
        "brokers 1, 2 may be stopped"
    )
    found = judge_stop(StopEvidence((whole, short), ALIVE), {3})
    assert stop_text(found) == (
        "broker 3 may be stopped\nno worse: 1 partition offline or refusing acks=all already: b-0"
    )
    assert stop_rows(found) == [("3", "yes", "-")]


def test_obstacles_are_listed_the_worst_first_and_internal_topics_named() -> None:
    alone = PlacedPartition(tp("z-0"), (1,), 1, (1,))
    placements = (placed("__consumer_offsets-3", 1, 2, min_isr=2), placed("a-0", 1, 2), alone)
    found = judge_stop(StopEvidence(placements, ALIVE, doubts=("1 topic is hidden",)), {1})
    assert stop_text(found).splitlines() == [
        "broker 1: not now: 1 offline, 1 under-min-isr, 1 unknown",
        "",
        "partition             stopping          in sync left  min ISR  because",
        "-                     unknown           -                   -  1 topic is hidden",
        "z-0                   makes it offline  0                   1  its only replica",
        (
            "__consumer_offsets-3  under min ISR     1 (2)               2  "
            "1 in sync would be left, too few"
        ),
        "",
        "internal topics among them: __consumer_offsets (1)",
    ]
    value = json.loads(to_json(stop_answer(found, 0, ())))
    assert validate_value(value, "answers/broker-check") == []
    assert [(each["topic"], each["reason"], each["isr"]) for each in value["obstacles"]] == [
        (None, "unknown", None),
        ("__consumer_offsets", "under-min-isr", [2]),
        ("z", "offline", []),
    ]


def test_many_obstacles_are_shortened() -> None:
    placements = tuple(placed(f"a-{number}", 1) for number in range(60))
    text = stop_text(judge_stop(StopEvidence(placements, ALIVE), {1}))
    assert text.endswith("... and 10 more (all of them with -o json)")
