"""Checks the series of a Prometheus export. Pure.

The checks find the brokers of meters, and names and topics without a mapping.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.inventory.samples import Metric
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Series:
    """A series without a label for the broker.

    It has its other labels, and the times of its first and last sample. `instance` is the target
    that was scraped; None without such a label. Times are only compared.
    """

    labels: Mapping[str, str]
    instance: str | None
    first_at: float
    last_at: float

    def meets(self, other: Series) -> bool:
        """Whether the times of both overlap."""
        return self.first_at <= other.last_at and other.first_at <= self.last_at


@dataclass(frozen=True, slots=True)
class Meter:
    """All series of one name about a topic, or about a partition of it where brokers meter that.

    `metric` is None where the name is unknown, `name` where a query dropped it. `of_partition`
    means that each partition has one value in the whole cluster, such as its end offset.
    `without_broker` are series that name no broker, of all others.
    """

    name: str | None
    metric: str | None
    topic: str
    of_partition: bool = False
    cluster: str | None = None
    without_broker: Sequence[Series] = ()


@dataclass(frozen=True, slots=True)
class ExportGaps:
    """Instances, series names and topics of an export without a mapping.

    `instances` report about topics, and are no known broker. `names` are those of series, each with
    the metric that it may be; "" is a series without a name. `topics` are those that only meters
    have, each with the topic that it may be.
    """

    instances: Sequence[str] = ()
    names: Mapping[str, str | None] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)


def find_gaps(meters: Iterable[Meter]) -> ExportGaps:
    """Return the gaps in the mapping.

    Raises InvalidInputError for meters without a label that is unique per broker.
    """
    listed = list(meters)
    for meter in listed:
        _require_told_apart(meter)
    instances = {series.instance for meter in listed for series in meter.without_broker}
    unknown = {meter.name or "" for meter in listed if meter.metric is None}
    return ExportGaps(
        sorted(instance for instance in instances if instance is not None),
        {name: likely_metric(name) for name in sorted(unknown)},
        _underscored_topics(listed),
    )


def likely_metric(name: str) -> str | None:
    """Return the metric that a series name contains; or None.

    An example is bytes_in for `..._bytesinpersec_total`.
    """
    letters = _letters(name)
    found = [metric for metric in Metric if _letters(metric) in letters]
    return max(found, key=len, default=None)


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _require_told_apart(meter: Meter) -> None:
    """Refuse series whose times overlap and that no label distinguishes.

    They are one counter twice, or two brokers'.
    """
    series = meter.without_broker
    if len(series) < 2:  # noqa: PLR2004 - one has no other
        return
    instances = [each.instance for each in series]
    by_label = {
        label: [each.labels.get(label) for each in series]
        for each in series
        for label in each.labels
    }
    if not any(
        _tells_apart(series, values)
        for values in ([instances] if any(instances) else by_label.values())
    ):
        differing = sorted(label for label, values in by_label.items() if len(set(values)) > 1)
        raise not_told_apart(
            meter, f"they differ by {name_some(differing)}: several brokers, or one counter twice"
        )


def not_told_apart(meter: Meter, why: str) -> InvalidInputError:
    """Return the error for series that may be of several brokers, or one counter twice."""
    return InvalidInputError(
        f"Series of {meter.name} about topic {meter.topic} cannot be distinguished.",
        cause=f"no label names the broker, and {why}",
        next_step="--names FILE, with spec.brokers or spec.labels.broker_id",
    )


def _tells_apart(series: Sequence[Series], values: Sequence[str | None]) -> bool:
    """Whether a label distinguishes series whose times overlap: each has a value of its own."""
    if None not in values and len(set(values)) == len(values):
        return True
    pairs = combinations(zip(series, values, strict=True), 2)
    return all(
        not one.meets(other) or (mine != its and None not in {mine, its})
        for (one, mine), (other, its) in pairs
    )


def _underscored_topics(meters: Iterable[Meter]) -> dict[str, str]:
    """Return topics that only meters have, by the topic with dots that only partitions have.

    `pay_in` is `pay.in`.
    """
    metered, partitioned = set[tuple[str | None, str]](), set[tuple[str | None, str]]()
    for meter in meters:
        if meter.metric is not None:
            (partitioned if meter.of_partition else metered).add((meter.cluster, meter.topic))
    dotted = {(cluster, topic.replace(".", "_")): topic for cluster, topic in partitioned - metered}
    return {
        topic: dotted[cluster, topic]
        for cluster, topic in sorted(metered - partitioned)
        if (cluster, topic) in dotted
    }
