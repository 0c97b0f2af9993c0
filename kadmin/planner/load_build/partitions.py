"""Hourly rates of series to hourly rates of partitions, before brokers' own meters correct them.

A partition's bytes in are the growth of its end offset times the bytes of a record, which follow
from the size of its log (bytes_per_record). Without end offsets they are the growth of the log, in
hours in which no segment was deleted. Its bytes out are the growth of the committed offsets of all
groups times the bytes of a record. Sums are of whole thousandths: the order of rows does not change
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from kadmin.inventory.samples import Metric
from kadmin.planner.load_build.grouping import Known, RowGroups, grouped, integers, is_one_of, names
from kadmin.planner.load_build.hourly import HOUR_US, UNKNOWN_ID, keys_of
from kadmin.planner.load_build.rates import KNOWN_US, hourly_rates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.planner.load_build.grouping import Key, Numbers, Table

TOPIC_KEY = ("cluster", "topic")
PARTITION_KEY = (*TOPIC_KEY, "partition")
METERS = {Metric.BYTES_IN: "in", Metric.BYTES_OUT: "out", Metric.REQUESTS: "requests"}
"""The meters of clients, and the rate that each one is of. Bytes of replication are no client's."""

_METERED = {f"metered_{name}": metric for metric, name in METERS.items()}
_HELD = {
    "size": Metric.LOG_SIZE_BYTES,
    "start": Metric.LOG_START_OFFSET,
    "end": Metric.LOG_END_OFFSET,
}
_MOST_LEADERS = 2
_MORE_THAN_AN_HOUR_US = HOUR_US * 11 // 10
_IDS = 2**31


def partition_hours(roll_ups: Table) -> Table:
    """Return one row for each partition and hour, and for each topic, broker and hour of meters.

    Columns: PARTITION_KEY, `hour`, `records` (per second), `log` (bytes per second, where no
    segment was deleted), `consumed` (records per second, all groups), the `size` of the log and the
    records `held` in it where they are known, the rates of meters (`metered_in`, `metered_out`,
    `metered_requests`), and the leaders: `leader`, `other_leader` where leadership moved within the
    hour, and `leader_part`, the part of the first in the records. UNKNOWN_ID where unknown. Rows of
    a topic have the partition UNKNOWN_ID, and as `leader` the broker that reported. `roll_ups` are
    sorted by series and hour.
    """
    keys = keys_of(roll_ups, (*PARTITION_KEY, "hour", "broker_id"))
    brokers = grouped(tuple(keys.values()))
    figures = _of_brokers(roll_ups, brokers)
    return _by_hour({name: key.taken(brokers.first) for name, key in keys.items()}, figures)


def _of_brokers(roll_ups: Table, brokers: RowGroups) -> dict[str, Known]:
    """Return what the series of each partition say together, by broker and hour."""
    rates, metric = hourly_rates(roll_ups), names(roll_ups["metric"])

    def of(wanted: Metric) -> Numbers:
        return is_one_of(metric, [wanted])

    has_rate = ~np.isnan(rates.per_s)
    per_s = Known(rates.per_s, has_rate).thousandths().values
    offset = of(Metric.LOG_END_OFFSET) & has_rate
    log = of(Metric.LOG_SIZE_BYTES) & rates.steady & (rates.covered_us >= KNOWN_US)
    amount = Known(rates.amount, offset | log).thousandths().values
    sums = {
        "grown": Known(amount, offset),
        "grown_us": Known(rates.covered_us, offset),
        "log": Known(amount, log),
        "log_us": Known(rates.covered_us, log),
        "consumed": Known(per_s, of(Metric.GROUP_OFFSET) & has_rate),
        **{name: Known(per_s, of(meter) & has_rate) for name, meter in _METERED.items()},
    }
    last = np.asarray(roll_ups["last"]).astype(np.int64)
    held = {name: Known(last, of(each)) for name, each in _HELD.items()}
    return {
        **{name: each.over(brokers) for name, each in sums.items()},
        **{name: each.over(brokers, np.maximum) for name, each in held.items()},
    }


def _by_hour(keys: Mapping[str, Key], figures: Mapping[str, Known]) -> Table:
    """Bring the brokers of each partition together; those that report about a topic stay apart."""
    of_topic = np.asarray(keys["partition"].column) == UNKNOWN_ID
    broker = np.asarray(keys["broker_id"].column)
    reporter = integers(pa.array(np.where(of_topic, broker, UNKNOWN_ID)), UNKNOWN_ID)
    by = {name: keys[name] for name in (*PARTITION_KEY, "hour")}
    hours = grouped((*by.values(), reporter))
    grown_us = figures["grown_us"].over(hours)
    records = figures["grown"].over(hours).per(grown_us).where(grown_us.values >= KNOWN_US)
    both = figures["grown"].known & figures["log"].known
    own, every = (
        figures["log"].where(led).over(hours).per(figures["log_us"].where(led).over(hours))
        for led in (both, figures["log"].known)
    )
    log = own.or_else(every)
    per_s = {
        # Of thousandths and microseconds.
        "records": Known(records.values * 1e3, records.known),
        "log": Known(log.values * 1e3, log.known),
        **{
            name: Known(each.values / 1000, each.known)
            for name in ("consumed", *_METERED)
            for each in (figures[name].over(hours),)
        },
    }
    found = {name: each.column for name, each in (per_s | _held(figures, hours)).items()}
    return pa.table(
        {name: key.taken(hours.first).column for name, key in by.items()}
        | found
        | _leaders(
            figures, hours, broker, reporter.taken(hours.first).column, of_topic[hours.first]
        )
    )


def _held(figures: Mapping[str, Known], hours: RowGroups) -> dict[str, Known]:
    """Return the mean size of the partition's logs, and the records from its start to its end."""
    start, end = (figures[name].over(hours, np.maximum) for name in ("start", "end"))
    held = Known(end.values - start.values, start.known & end.known)
    some = held.known & (held.values > 0)
    one = Known(figures["size"].known.astype(np.int64), figures["size"].known)
    size = figures["size"].over(hours).per(one.over(hours))
    return {
        "size": Known(size.values.astype(np.int64), size.known & some),
        "held": held.where(some),
    }


def _leaders(
    figures: Mapping[str, Known],
    hours: RowGroups,
    broker: Numbers,
    reporter: Any,  # noqa: ANN401 - pyarrow ships no type information
    of_topic: Numbers,
) -> dict[str, Any]:
    """Return who led: the brokers that reported the end offset longest and shortest."""
    grown, grown_us = figures["grown"], figures["grown_us"]
    order = np.minimum(grown_us.values, _MORE_THAN_AN_HOUR_US) * _IDS + broker
    by_order = RowGroups(
        hours.number,
        np.lexsort((np.where(grown_us.known, order, np.iinfo(np.int64).min), hours.number)),
    )
    brokers = hours.reduced(np.add, grown_us.known.astype(np.int64))
    longest = by_order.last
    silent = by_order.ends - by_order.begins + 1 - brokers
    shortest = by_order.order[np.minimum(by_order.begins + silent, by_order.ends)]
    # More than an hour in an hour: every replica reported its end offset, and the leader among them
    # is unknown.
    led = (brokers > 0) & (brokers <= _MOST_LEADERS)
    led &= grown_us.over(hours).values <= _MORE_THAN_AN_HOUR_US
    moved = led & (longest != shortest)
    total = grown.over(hours)
    part = np.where(
        total.values > 0,
        grown.values[longest] / np.maximum(total.values, 1),
        grown_us.values[longest] / np.maximum(grown_us.over(hours).values, 1),
    )
    return {
        "leader": pa.array(np.where(led & ~of_topic, broker[longest], reporter), pa.int32()),
        "other_leader": Known(broker[shortest].astype(np.int32), moved).column,
        "leader_part": np.where(moved, part, 1.0),
    }
