"""Names of Prometheus' series and labels: documents of kind PrometheusNames, the built-in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeAlias

from kadmin.documents.parse import parse_prometheus_names
from kadmin.errors import InvalidInputError
from kadmin.inventory.samples import Metric, SampleKind
from kadmin.plan.model.field_types import NON_NEGATIVE
from kadmin.schema.documents import read
from kadmin.schema.shapes import Keywords, WrittenAs

BUILT_IN = Path(__file__).with_name("prometheus-names.yaml")

_GAUGES = (Metric.LOG_START_OFFSET, Metric.LOG_SIZE_BYTES)
_Labels: TypeAlias = Annotated[
    tuple[Annotated[str, Keywords(title="label"), "A label's name."], ...] | None,
    Keywords(uniqueItems=True),
]


@dataclass(frozen=True, slots=True)
class NamedSeries:
    """The metric of a series, and the kind of its values."""

    metric: Annotated[str, Keywords(enum=list(Metric)), "The metric of samples."]
    kind: Annotated[
        str | None,
        Keywords(title="kind of value", enum=list(SampleKind)),
        "counter: a total that grows; gauge: a value at one time. "
        "By default log_size_bytes is a gauge, and all others are counters.",
    ] = None

    @property
    def sample_kind(self) -> str:
        """The kind of the values, by default that of the metric."""
        return self.kind or (SampleKind.GAUGE if self.metric in _GAUGES else SampleKind.COUNTER)


@dataclass(frozen=True, slots=True)
class LabelFields:
    """Labels of series, by column of samples."""

    cluster: Annotated[_Labels, "Labels with the name of the cluster, for exports of several."] = (
        None
    )
    topic: Annotated[_Labels, "Labels with the topic."] = None
    partition: Annotated[_Labels, "Labels with the partition."] = None
    broker_id: Annotated[
        _Labels, Keywords(title="broker"), "Labels with the id of the broker that reports."
    ] = None
    group: Annotated[_Labels, "Labels with the consumer group."] = None
    instance: Annotated[_Labels, "Labels with the address that was scraped."] = None


@dataclass(frozen=True, slots=True)
class PrometheusNames:
    """Kind `PrometheusNames`: series by name, labels by column, in order; broker ids by instance.

    `topics` are the names of topics by the names that labels have for them.
    """

    metrics: Annotated[
        Mapping[str, Annotated[NamedSeries, Keywords(title="series"), "A series by its name."]],
        "What series are samples of, by their names. Meters of several names for the same topic "
        "and broker add up.",
    ] = field(default_factory=dict)
    labels: Annotated[
        Mapping[str, Sequence[str]],
        WrittenAs(LabelFields),
        "Labels that say what a series is of, the first that it has.",
    ] = field(default_factory=dict)
    brokers: Annotated[
        Mapping[
            str,
            Annotated[
                int,
                NON_NEGATIVE,
                Keywords(title="broker id"),
                "The id of the broker that is scraped there.",
            ],
        ],
        "Broker ids by instance, for series without a label of the broker.",
    ] = field(default_factory=dict)
    topics: Annotated[
        Mapping[str, Annotated[str, Keywords(title="topic"), "The topic's name in the cluster."]],
        "Topics by what labels call them, for exporters that write underscores for dots.",
    ] = field(default_factory=dict)


def prometheus_names(file: Path | None) -> PrometheusNames:
    """Return the built-in names with the changes of a file.

    Raises InvalidInputError where it is not valid.
    """
    names = _read(BUILT_IN)
    return names if file is None else _together(names, _read(file))


def _read(file: Path) -> PrometheusNames:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"Cannot read {file}.", cause=error.strerror) from error
    return read(PrometheusNames, parse_prometheus_names(data, str(file)))


def _together(one: PrometheusNames, other: PrometheusNames) -> PrometheusNames:
    return PrometheusNames(
        {**one.metrics, **other.metrics},
        {**one.labels, **other.labels},
        {**one.brokers, **other.brokers},
        {**one.topics, **other.topics},
    )
