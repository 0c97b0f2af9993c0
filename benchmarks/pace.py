"""Measures clients beside a reassignment on brokers with limited links.

Usage: make bench-pace CASES="all one-25 adaptive" RUNS=3 (as root on Linux, nothing beside it).
Every second has its percentiles, of the same second for the pair that shares the copy's two brokers
and for the control, so that a slow machine is seen in both.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pace_lab import CONTROL, PAIR, PRODUCED, Case, measure, worst

from kadmin.plan.pace import LOOK_S, PairSeen, p90

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pace_lab import Seen

_SMALL = 131_072
_ADAPTIVE = Case(rate=0.02, most=10, pair=4, link_s=60)
CASES = {
    "all": Case(),
    "all-25": Case(rate=0.25),
    "all-50": Case(rate=0.5),
    "four": Case(pair=4),
    "four-25": Case(pair=4, rate=0.25),
    "two": Case(pair=2),
    "two-50": Case(pair=2, rate=0.5),
    "two-25": Case(pair=2, rate=0.25),
    "one": Case(pair=1),
    "one-5": Case(pair=1, rate=0.05, link_s=5),
    "one-10": Case(pair=1, rate=0.1, link_s=10),
    "one-25": Case(pair=1, rate=0.25),
    "one-35": Case(pair=1, rate=0.35),
    "one-50": Case(pair=1, rate=0.5),
    "one-large": Case(pair=1, rate=0.25, batch_bytes=900_000),
    "fetchers-2": Case(fetchers=2),
    "fetchers-4": Case(fetchers=4),
    "one-25-fetchers-4": Case(fetchers=4, pair=1, rate=0.25),
    "one-50-small": Case(fetch_bytes=_SMALL, pair=1, rate=0.5),
    "one-25-small": Case(fetch_bytes=_SMALL, pair=1, rate=0.25),
    "one-small": Case(fetch_bytes=_SMALL, pair=1),
    "adaptive-small": replace(_ADAPTIVE, fetch_bytes=_SMALL),
    "adaptive-small-more": replace(_ADAPTIVE, fetch_bytes=_SMALL, more=3),
    "adaptive-small-busy": replace(_ADAPTIVE, fetch_bytes=_SMALL, busy=4),
    "adaptive-small-signal": replace(_ADAPTIVE, fetch_bytes=_SMALL, signal=True),
    "three": Case(more_replicas=True),
    "one-25-three": Case(more_replicas=True, pair=1, rate=0.25),
    "adaptive": _ADAPTIVE,
    "adaptive-more": replace(_ADAPTIVE, more=3),
    "adaptive-busy": replace(_ADAPTIVE, busy=4),
}
_FIRST_S = 5
"""Seconds until the producers of the load have begun."""


def summary(seen: Seen, case: Case) -> Mapping[str, Any]:
    """Return the figures of a case; latencies are medians and maxima over its seconds, in ms."""
    begun, ended = seen.begun - seen.load, seen.ended - seen.load
    during = [(worst(seen, PAIR, s), worst(seen, CONTROL, s)) for s in span(begun + 1, ended)]
    base = [(worst(seen, PAIR, s), worst(seen, CONTROL, s)) for s in span(_FIRST_S, begun)]
    windows = rounds(seen, begun, ended)
    return {
        **asdict(case),
        "copy_s": round(ended - begun, 1),
        "mb_per_s": round(case.copied_bytes / 1e6 / (ended - begun), 2),
        "base": figures(base),
        "copying": figures(during),
        "more_after_30_s": None
        if seen.more is None
        else figures(
            [
                (worst(seen, PAIR, s), worst(seen, CONTROL, s))
                for s in span(seen.more - seen.load + 30, ended)
            ]
        ),
        "caught": [
            sum(each["suffers"] and each["seen"] for each in windows),
            sum(each["suffers"] for each in windows),
        ],
        "false": [
            sum(each["seen"] and not each["suffers"] for each in windows),
            sum(not each["suffers"] for each in windows),
        ],
        "windows": windows,
        "seconds": during,
        "changes": [each for each in seen.output.splitlines() if "pace:" in each],
    }


def span(begin: float, end: float) -> range:
    """Return the whole seconds between two times."""
    return range(int(begin), int(end))


def figures(seconds: list[tuple[float, float]]) -> Mapping[str, Any]:
    """Return medians and maxima of the p99 of the pair and of the control, and seconds kept."""
    if not seconds:
        return {}
    return {
        "pair_p99": round(statistics.median(pair for pair, _ in seconds), 1),
        "pair_max": max(pair for pair, _ in seconds),
        "control_p99": round(statistics.median(control for _, control in seconds), 1),
        "control_max": max(control for _, control in seconds),
        "kept": round(sum(pair <= 2 * control for pair, control in seconds) / len(seconds), 3),
    }


def rounds(seen: Seen, begun: float, ended: float) -> list[dict[str, Any]]:
    """Return the commit delays of each look, p90 in ms, beside the producers' p99.

    `suffers`: the median second of the pair has more than twice the p99 of the control's. `seen`:
    the rule says so.
    """
    found = []
    start = begun - LOOK_S
    while start < ended:
        delays = {topic: delays_of(seen, topic, start) for topic in PRODUCED}
        seconds = span(start, start + LOOK_S)
        pair = statistics.median(worst(seen, PAIR, second) for second in seconds)
        control = statistics.median(worst(seen, CONTROL, second) for second in seconds)
        look = PairSeen(delays[PAIR], delays[CONTROL], 1)
        found.append(
            {
                "at": round(start - begun),
                "pair_ms": in_ms(delays[PAIR]),
                "control_ms": in_ms(delays[CONTROL]),
                "samples": len(delays[PAIR]),
                "pair_p99": pair,
                "control_p99": control,
                "suffers": pair > 2 * control,
                "seen": look.suffers,
            }
        )
        start += LOOK_S
    return found


def delays_of(seen: Seen, topic: str, start: float) -> list[float]:
    """Return the commit delays of a topic that ended in a look; open ones once they are long."""
    return [
        delay.seconds
        for delay in seen.delays
        if delay.partition.topic == topic and start <= delay.at - seen.load < start + LOOK_S
    ]


def in_ms(delays: Iterable[float]) -> list[float]:
    """Return the percentiles 50, 75 and 90, and the longest, in ms."""
    found = sorted(delays)
    if not found:
        return []
    p50, p75 = (found[int(len(found) * share)] for share in (0.5, 0.75))
    return [round(each * 1000, 1) for each in (p50, p75, p90(found), found[-1])]


def main() -> None:
    """Print one line of JSON for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="*", default=("all", "one-25", "adaptive"))
    parser.add_argument("--version", default="4.4.0")
    parser.add_argument("--link", type=int, default=80, help="in Mbit/s")
    parser.add_argument("--link-s", type=float, default=None)
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # brokers and links end with this
    for name in [each for each in given.cases for _ in range(given.runs)]:
        case = replace(CASES[name], version=given.version, link_mbit=given.link)
        if given.link_s is not None:
            case = replace(case, link_s=given.link_s)
        with tempfile.TemporaryDirectory() as folder:
            seen = measure(case, Path(folder))
        load_average = round(os.getloadavg()[0], 1)
        print(json.dumps({"case": name, "load": load_average, **summary(seen, case)}), flush=True)


if __name__ == "__main__":
    main()
