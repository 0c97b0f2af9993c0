"""Corrects partitions' rates by the rates that brokers reported, and compares the two.

Brokers report bytes and requests of clients for each topic, not for each partition. The partitions
of a topic that a broker led in an hour are scaled, so that they add up to what it reported; where
leadership moved within the hour, by the records that came while each broker led. Where the leader
is unknown, they are scaled to what all brokers reported about the topic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from kadmin.planner.load_build.grouping import Known, grouped, integers
from kadmin.planner.load_build.hourly import UNKNOWN_ID, keys_of, times
from kadmin.planner.load_build.partitions import METERS, TOPIC_KEY
from kadmin.planner.load_build.record_sizes import bytes_per_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.planner.load_build.grouping import Key, Numbers, Table

RATES = ("in", "out", "requests")
"""What is computed of each partition and hour: bytes per second, and requests."""
_WAYS = ("in", "out")
BROKER_HOURS = tuple(f"{figure}_{way}" for way in _WAYS for figure in ("reported", "partitions"))


@dataclass(frozen=True, slots=True)
class _Weights:
    """What partitions weigh in the sums of their topic, in each hour.

    Bytes per second where `in_bytes`, else records per second, which only give parts of a sum; the
    same holds for `out` and `out_bytes`.
    """

    into: Known
    out: Known
    work: Known
    in_bytes: Numbers
    out_bytes: Numbers


@dataclass(frozen=True, slots=True)
class _Places:
    """Sums and reports by topic, hour and broker, in thousandths.

    `sums` and `reported` are by the names of RATES; the broker UNKNOWN_ID has those of all. `bytes`
    says where the sums are bytes. `led` and `led_then` are the places of the first and of the other
    leader of each partition and hour.
    """

    key: Mapping[str, Key]
    sums: Mapping[str, Known]
    reported: Mapping[str, Known]
    bytes: Mapping[str, Numbers]
    led: Numbers
    led_then: Numbers


def corrected_rates(hours: Table) -> tuple[dict[str, Known], Table]:
    """Return the rates of the rows of partition_hours, and brokers' hours, of whole topics.

    The rates are those of RATES, for the rows that are of partitions, in their order. Brokers'
    hours have `cluster`, `broker_id`, `hour` and BROKER_HOURS: what each broker reported, and the
    sums over the partitions that it led, before they are scaled, both in thousandths of bytes per
    second. A topic counts in both where both are known.
    """
    of_topic = np.asarray(hours["partition"]) == UNKNOWN_ID
    rows, reports = hours.filter(pa.array(~of_topic)), hours.filter(pa.array(of_topic))
    weights = _weighed(rows)
    places = _compared(rows, reports, weights)
    return _scaled(rows, weights, places), _broker_hours(places)


def _weighed(rows: Table) -> _Weights:
    records, size = Known.of(rows["records"]), bytes_per_record(rows)
    record = Known(np.where(size.known, size.values, 1.0), np.ones_like(size.known))
    into = records.times(record).or_else(Known.of(rows["log"]))
    out = Known.of(rows["consumed"]).times(record)
    return _Weights(
        into,
        out,
        Known(into.or_zero + out.or_zero, record.known),
        ~records.known | (records.values == 0) | size.known,
        size.known,
    )


def _compared(rows: Table, reports: Table, weights: _Weights) -> _Places:
    """Add up what partitions weigh and what brokers reported.

    There are three entries for each row of a partition (its leaders, and all brokers together) and
    two for each report.
    """
    key = _keys(rows, reports)
    places = grouped(tuple(key.values()))
    leader, other = np.asarray(rows["leader"]), Known.of(rows["other_leader"])
    part = np.asarray(rows["leader_part"])
    parts = (part, 1 - part)
    # Where nobody in particular led all the time, the entry of all brokers is that one.
    counted = (
        ~((leader == UNKNOWN_ID) & (parts[0] == 1)),
        other.known & ~((other.values == UNKNOWN_ID) & (parts[1] == 1)),
    )
    no_weight, no_report = (_nothing(2 * len(reports)), _nothing(3 * len(rows)))
    for_all = np.asarray(reports["leader"]) != UNKNOWN_ID

    def added(weight: Known) -> Known:
        led = (Known(weight.values * each, weight.known) for each in parts)
        first, then = (each.where(known) for each, known in zip(led, counted, strict=True))
        return _joined((first, then, weight, no_weight)).thousandths().over(places)

    def reported(name: str) -> Known:
        rate = Known.of(reports[f"metered_{name}"])
        return _joined((no_report, rate, rate.where(for_all))).thousandths().over(places)

    def everywhere(is_bytes: Numbers) -> Numbers:
        each = [*(~known | is_bytes for known in counted), is_bytes, ~no_weight.known]
        return places.reduced(np.logical_and, np.concatenate(each))

    return _Places(
        {name: each.taken(places.first) for name, each in key.items()},
        {"in": added(weights.into), "out": added(weights.out), "requests": added(weights.work)},
        {name: reported(name) for name in METERS.values()},
        {"in": everywhere(weights.in_bytes), "out": everywhere(weights.out_bytes)},
        places.of_row[: len(rows)],
        places.of_row[len(rows) : 2 * len(rows)],
    )


def _keys(rows: Table, reports: Table) -> dict[str, Key]:
    """Return topic, hour and broker of each entry; without another leader, the first is there."""
    entries = pa.concat_tables(
        [each.select([*TOPIC_KEY, "hour"]) for each in (rows, rows, rows, reports, reports)]
    )
    leader, other = np.asarray(rows["leader"]), Known.of(rows["other_leader"])
    all_of_rows, all_of_reports = (np.full(len(each), UNKNOWN_ID) for each in (rows, reports))
    led = (leader, np.where(other.known, other.values, leader), all_of_rows)
    broker = np.concatenate([*led, np.asarray(reports["leader"]), all_of_reports])
    return keys_of(entries, (*TOPIC_KEY, "hour")) | {
        "broker_id": integers(pa.array(broker), UNKNOWN_ID)
    }


def _nothing(count: int) -> Known:
    return Known(np.zeros(count), np.zeros(count, bool))


def _joined(parts: tuple[Known, ...]) -> Known:
    return Known(
        np.concatenate([each.values for each in parts]),
        np.concatenate([each.known for each in parts]),
    )


def _scaled(rows: Table, weights: _Weights, places: _Places) -> dict[str, Known]:
    factors = _factors(places)

    def scaled(weight: Known, name: str) -> Known:
        """Scale by the leaders' factors, each for its part; one that is unknown is the other's."""
        one, two = factors[name].at(places.led), factors[name].at(places.led_then)
        two = two.where(Known.of(rows["other_leader"]).known)
        part = np.asarray(rows["leader_part"])
        first, then = one.or_else(two), two.or_else(one)
        return weight.times(Known(part * first.values + (1 - part) * then.values, first.known))

    metered = {name: Known.of(rows[f"metered_{name}"]) for name in METERS.values()}
    return {
        "in": metered["in"]
        .or_else(scaled(weights.into, "in"))
        .or_else(weights.into.where(weights.in_bytes)),
        "out": metered["out"]
        .or_else(scaled(weights.out, "out"))
        .or_else(scaled(weights.into, "out_by_in"))
        .or_else(weights.out.where(weights.out_bytes)),
        "requests": metered["requests"].or_else(scaled(weights.work, "requests")),
    }


def _factors(places: _Places) -> dict[str, Known]:
    """Return the factors of weights.

    Unknown where a broker reported nothing, or nothing that can be shared.
    """
    found = {}
    for name in RATES:
        reported, total = places.reported[name], places.sums[name]
        found[name] = reported.per(total).where((reported.values > 0) & (total.values > 0))
    unread = places.sums["out"].or_zero == 0
    by_in = places.reported["out"].per(places.sums["in"])
    return {**found, "out_by_in": by_in.where(unread & (places.sums["in"].values > 0))}


def _broker_hours(places: _Places) -> Table:
    broker = np.asarray(places.key["broker_id"].column)
    named = np.flatnonzero(broker != UNKNOWN_ID)
    key = {name: places.key[name].taken(named) for name in ("cluster", "broker_id", "hour")}
    brokers = grouped(tuple(key.values()))
    figures = {}
    for way in _WAYS:
        reported, total = places.reported[way], places.sums[way]
        both = reported.known & total.known & places.bytes[way]
        for name, each in (("reported", reported), ("partitions", total)):
            figures[f"{name}_{way}"] = each.where(both).at(named).over(brokers).column
    return pa.table(
        {**{name: each.taken(brokers.first).column for name, each in key.items()}, **figures}
    )


def added_up(broker_hours: Table) -> Table:
    """Add brokers' hours of different topics up; returns them by time, in bytes per second."""
    key = keys_of(broker_hours, ("cluster", "broker_id", "hour"))
    brokers = grouped(tuple(key.values()))
    columns = {name: each.taken(brokers.first).column for name, each in key.items()}
    for name in BROKER_HOURS:
        total = Known.of(broker_hours[name]).over(brokers)
        columns[f"{name}_per_s"] = Known(total.values / 1000, total.known).column
    return pa.table(
        {**columns, "cluster": columns["cluster"].cast(pa.string()), "hour": times(columns["hour"])}
    )
