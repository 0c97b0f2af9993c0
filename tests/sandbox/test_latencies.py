from __future__ import annotations

from kadmin.sandbox.latencies import Latencies


def test_each_second_has_percentiles_of_all_topics_and_of_each() -> None:
    found = Latencies()
    found.sent("a", 0.0, 100)
    for number in range(1, 101):
        found.acknowledged("a", 0.0, number / 1000)
    found.sent("b", 0.25, 1)
    found.consumed("b", [0.002, 0.004])
    line = found.take(1.0)
    whole = {"p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}
    assert line["producers"] == {"records": 100, **whole, "waiting": 1, "oldest_ms": 750.0}
    assert line["topics"]["a"]["producers"]["waiting"] == 0
    assert line["topics"]["b"]["producers"]["p99_ms"] is None
    assert line["consumers"] == {"records": 2, "p50_ms": 2.0, "p95_ms": 4.0, "p99_ms": 4.0}


def test_a_record_that_waits_is_told_each_second_and_its_latency_once() -> None:
    found = Latencies()
    found.sent("a", 0.0, 1)
    assert [found.take(now)["producers"]["oldest_ms"] for now in (1.0, 2.0)] == [1000.0, 2000.0]
    found.acknowledged("a", 0.0, 2.5)
    assert found.take(3.0)["producers"]["p50_ms"] == 2500.0
    assert found.take(4.0)["producers"]["records"] == 0
