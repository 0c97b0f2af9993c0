"""Builds sections that pages share: brokers, racks, single losses, largest moves, full list."""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.plan.waves import moved_bytes
from kadmin.report.pages.even_share import amounts
from kadmin.report.pages.page import (
    Packed,
    PageCell,
    PageColumn,
    PageTable,
    Section,
    Tone,
    bound,
    number,
    size,
)
from kadmin.report.text import about, replicas
from kadmin.report.whatif import LOSS_FIGURES, counted, loss_figures, standing_out, worst
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.insight.predict.forecast import BrokerOutlook, Forecast, RackOutlook
    from kadmin.insight.predict.losses import SingleLoss
    from kadmin.plan.model import PartitionTarget
    from kadmin.report.pages.charts import RackColours
    from kadmin.report.pages.even_share import EvenShares

LARGEST = 50
LIST_BYTES = 139_000
"""Bytes for the list of all changes, in a page of less than 300 kB, of 100 brokers."""
_NO_RACK = "no rack known"

Limits = tuple[int, int]
"""The lowest possible maximum of replicas and of leaders on one broker."""


def brokers(
    found: Forecast,
    shares: EvenShares,
    times: tuple[str, str],
    racks: RackColours,
    limits: Limits | None = None,
) -> Section:
    """Return each broker's replicas, leaders, bytes, leader bytes at both times, and capacity."""
    capacities = any(each.capacity_bytes is not None for each in found.brokers)
    columns = [PageColumn("Broker"), PageColumn("Rack", numeric=False)]
    for group in ("Replicas", "Leaders", "Bytes", "Leader bytes"):
        columns += [PageColumn(time, group) for time in times]
        columns += [PageColumn("capacity", group)] if group == "Bytes" and capacities else []
    rows = tuple(_broker_row(each, shares, racks, capacities=capacities) for each in found.brokers)
    footer = [_share_row(shares, capacities=capacities)]
    if limits is not None:
        footer.append(_limit_row(limits, capacities=capacities))
    leaders = (
        "the current leaders"
        if found.by_election
        else "the preferred leaders, the first of each replica list"
    )
    lead = (
        "Colour compares a broker with the even share of the brokers that may hold replicas. "
        f"Leaders are {leaders}."
    )
    even = "even" if limits is None else "even, or at the lowest possible maximum"
    return Section(
        "brokers", "Brokers", lead, PageTable(tuple(columns), rows, tuple(footer)), even=even
    )


def racks(found: Forecast, times: tuple[str, str], colours: RackColours) -> Section:
    """Return the amounts of each rack and its brokers, and the partitions that its loss stops."""
    pairs = [(name, time) for name in ("Replicas", "Leaders", "Bytes") for time in times]
    asked = [each for each in found.racks if each.rack is not None]
    columns = [
        PageColumn("Rack", numeric=False),
        PageColumn("Brokers"),
        PageColumn("Replicas of each broker", numeric=False, sortable=False),
        *(PageColumn(time, group) for group, time in pairs),
        *([PageColumn(times[0], "Offline if lost")] if _both(asked) else []),
        PageColumn(times[1], "Offline if lost"),
    ]
    most = max(
        (max(each.before.replicas, each.after.replicas) for each in found.brokers), default=0
    )
    rows = tuple(
        _rack_row(each, found, most, colours.colours.get(each.rack), both=_both(asked))
        for each in found.racks
    )
    lead = (
        f"Each pair of bars is a broker: faint {times[0]}, strong {times[1]}. "
        "“Offline if lost” counts the partitions without a leader after the loss of the whole rack."
    )
    return Section("racks", "Racks", lead, PageTable(tuple(columns), rows))


def losses(found: Forecast, times: tuple[str, str]) -> Section:
    """Return the effects of losing each broker alone."""
    both = bool(found.losses_before)
    columns = [PageColumn("Lose broker")]
    for name in LOSS_FIGURES:
        columns += [PageColumn(time, name) for time in (times if both else times[1:])]
    heaviest = (standing_out(found.losses_before), standing_out(found.losses_after))
    rows = []
    for broker, after in sorted(found.losses_after.items()):
        before = found.losses_before.get(broker) if both else None
        badges = tuple(
            f"worst {time}" for time, which in zip(times, heaviest, strict=True) if broker in which
        )
        cells = [PageCell(str(broker), broker, badges=badges)]
        for was, now in zip(
            loss_figures(before) if before else [None] * len(LOSS_FIGURES),
            loss_figures(after),
            strict=True,
        ):
            cells += [*([bound(was)] if both else []), bound(now, strong=both and was != now)]
        rows.append(tuple(cells))
    lead = "The effects of losing one broker alone, predicted by the controller's own rule."
    if found.unknown:
        lead += (
            f" Of {count(found.unknown, 'partition')} the leader or the ISR is unknown: figures "
            "are bounds."
        )
    return Section(
        "losses", "What if a broker is lost", lead, PageTable(tuple(columns), tuple(rows))
    )


def largest_moves(targets: Sequence[PartitionTarget]) -> Section:
    """Return the entries that copy most bytes, those of unknown size first."""
    ordered = sorted(targets, key=_weight, reverse=True)
    columns = (
        PageColumn("Partition", numeric=False),
        *(
            PageColumn(name, numeric=False, sortable=False, whole=True)
            for name in ("Current", "Target", "Copied to")
        ),
        PageColumn("Bytes copied"),
    )
    rows = tuple(_move(target) for target in ordered[:LARGEST])
    copying = sum(bool(target.added) for target in targets)
    lead = f"Entries that copy data: {copying:,} of {len(targets):,}"
    lead += "." if copying == len(targets) else "; the others change the order only."
    if len(targets) > LARGEST:
        lead += f" These are the {LARGEST} largest."
    return Section("largest", "Largest moves", lead, PageTable(columns, rows))


def every_change(targets: Sequence[PartitionTarget], most_bytes: int = LIST_BYTES) -> Section:
    """Return every entry, or the first ones of at most so many compressed bytes in the page."""
    columns = (
        PageColumn("Topic", numeric=False),
        PageColumn("Partition"),
        PageColumn("Current", numeric=False),
        PageColumn("Target", numeric=False),
        PageColumn("Bytes copied"),
    )
    listed = targets
    while len(data := _packed(listed)) > most_bytes:
        listed = listed[: len(listed) * most_bytes // len(data) - 1]
    left_out = len(targets) - len(listed)
    lead = "In the order of the plan."
    if left_out:
        lead += f" The plan's file has {count(left_out, 'more entry', 'more entries')}."
    packed = Packed(columns, data, len(listed))
    return Section("changes", f"Every change ({len(targets):,})", lead, packed=packed)


def _packed(targets: Sequence[PartitionTarget]) -> str:
    # By column: a quarter less.
    lines = "\n".join(map("\t".join, zip(*map(_line, targets), strict=True)))
    return base64.b64encode(zlib.compress(lines.encode(), level=9)).decode()


def worst_text(losses: Mapping[int, SingleLoss]) -> str:
    """Return the effect of the worst single failure, `12 offline`."""
    broker = worst(losses)
    if broker is None:
        return "unknown"
    found = losses[broker].figures
    if found.refusing.most and not found.offline.most:
        return counted(found.refusing, "refuses acks=all", "refuse acks=all")
    return counted(found.offline, "offline", "offline")


def _line(target: PartitionTarget) -> tuple[str, ...]:
    size_bytes = moved_bytes(target)
    size_text = "" if size_bytes is None else f"{size_bytes:.2e}"  # as many digits as are shown
    topic, at = one_line(target.partition.topic), str(target.partition.partition)
    return topic, at, replicas(target.current), replicas(target.replicas), size_text


def _weight(target: PartitionTarget) -> float:
    size_bytes = moved_bytes(target)
    return math.inf if size_bytes is None else size_bytes


def _move(target: PartitionTarget) -> tuple[PageCell, ...]:
    copies = target.added
    return (
        PageCell(one_line(str(target.partition))),
        PageCell(replicas(target.current)),
        PageCell(replicas(target.replicas)),
        PageCell(replicas(copies) if copies else "none: order only"),
        size(moved_bytes(target)) if copies else PageCell("none", 0),
    )


_BYTES = (2, 3)
_CAPACITY_AFTER = 2


def _broker_row(
    each: BrokerOutlook, shares: EvenShares, racks: RackColours, *, capacities: bool
) -> tuple[PageCell, ...]:
    name = PageCell(
        str(each.broker_id), each.broker_id, badges=() if each.alive else ("not alive",)
    )
    rack = PageCell(_rack_name(each.rack, alive=each.alive), colour=racks.of(each.broker_id)[1])
    cells = [name, rack]
    for which, (before, after) in enumerate(
        zip(amounts(each.before), amounts(each.after), strict=True)
    ):
        shown = size if which in _BYTES else number
        cells.append(shown(before, heat=shares.before[which].heat(each.broker_id, before)))
        heat = shares.after[which].heat(each.broker_id, after)
        cells.append(shown(after, heat=heat, strong=before != after))
        if which == _CAPACITY_AFTER and capacities:
            cells.append(_capacity(each.capacity_bytes, after))
    return tuple(cells)


def _capacity(capacity: int | None, held: int | None) -> PageCell:
    if capacity is None or held is None or held <= capacity:
        return size(capacity)
    return PageCell(about(capacity), capacity, tone=Tone.BAD, badges=("over capacity",))


def _share_row(shares: EvenShares, *, capacities: bool) -> tuple[PageCell, ...]:
    cells = [PageCell("even share"), PageCell("")]
    for which, pair in enumerate(zip(shares.before, shares.after, strict=True)):
        for share in (each.amount for each in pair):
            rounded = None if share is None else round(share)
            cells.append(size(rounded) if which in _BYTES else _mean(share))
        cells += [PageCell("")] if which == _CAPACITY_AFTER and capacities else []
    return tuple(cells)


def _mean(share: float | None) -> PageCell:
    return number(None) if share is None else PageCell(f"{share:,.1f}", share)


def _limit_row(limits: Limits, *, capacities: bool) -> tuple[PageCell, ...]:
    empty, name = PageCell(""), PageCell("lowest possible maximum")
    return (
        name,
        empty,
        empty,
        number(limits[0]),
        empty,
        number(limits[1]),
        *[empty] * (4 + capacities),
    )


def _both(racks: Sequence[RackOutlook]) -> bool:
    return any(each.offline_before is not None for each in racks)


def _rack_row(
    rack: RackOutlook, found: Forecast, most: int, colour: int | None, *, both: bool
) -> tuple[PageCell, ...]:
    members = [each for each in found.brokers if each.broker_id in rack.brokers]
    bars = tuple(
        (_percent(each.before.replicas, most), _percent(each.after.replicas, most))
        for each in members
    )
    pairs = zip(amounts(rack.before)[:3], amounts(rack.after)[:3], strict=True)
    cells = [
        PageCell(_rack_name(rack.rack, alive=True), colour=colour),
        PageCell(_ids(rack.brokers), len(rack.brokers)),
        PageCell("", columns=bars, colour=colour),
    ]
    for which, (before, after) in enumerate(pairs):
        shown = size if which in _BYTES else number
        cells += [shown(before), shown(after, strong=before != after)]
    changed = both and rack.offline_before != rack.offline_after
    return (
        *cells,
        *([bound(rack.offline_before)] if both else []),
        bound(rack.offline_after, strong=changed),
    )


_MOST_IDS = 8


def _ids(brokers: Sequence[int]) -> str:
    return replicas(brokers) if len(brokers) <= _MOST_IDS else count(len(brokers), "broker")


def _rack_name(rack: str | None, *, alive: bool) -> str:
    if rack is None:
        return _NO_RACK if alive else "unknown"
    return one_line(rack)


def _percent(value: int, most: int) -> int:
    return round(100 * value / most) if most else 0
