"""Whose meters the series of an export are, and which names and topics nothing maps."""

from __future__ import annotations

import pytest

from kadmin.errors import InvalidInputError
from kadmin.planner.load_build.export_series import Meter, Series, find_gaps, likely_metric

BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total"


def series(first_at: float = 0.0, last_at: float = 9.0, **labels: str) -> Series:
    return Series(labels, labels.get("instance"), first_at, last_at)


def meter(
    *without_broker: Series, topic: str = "t", metric: str | None = "bytes_in", name: str = BYTES_IN
) -> Meter:
    return Meter(name, metric, topic, without_broker=without_broker)


@pytest.mark.parametrize(
    "apart",
    [
        [
            series(instance="k1", zone="a"),
            series(instance="k2", zone="b"),
            series(instance="k3", zone="a"),
        ],
        [
            series(0, 4, instance="k1", image="3.8"),
            series(5, 9, instance="k1", image="3.9"),
            series(instance="k2"),
        ],
        [series(pod="kafka-0", zone="a"), series(pod="kafka-1", zone="a")],
        [series(instance="k1")],
        [series()],
    ],
    ids=["by instance", "one after the other", "by another label", "one", "one without labels"],
)
def test_series_of_several_brokers_are_told_apart_by_a_label_that_is_left(
    apart: list[Series],
) -> None:
    find_gaps([meter(*apart)])


@pytest.mark.parametrize(
    ("alike", "labels"),
    [
        (
            [series(instance=of, job=job) for of in ("k1", "k2") for job in ("pods", "service")],
            "instance, job",
        ),
        ([series(instance="k1", replica=each) for each in ("prom-0", "prom-1")], "replica"),
        (
            [series(0, 5, instance="k1", image="3.8"), series(5, 9, instance="k1", image="3.9")],
            "image",
        ),
        ([series(pod=pod, job=job) for pod in ("k1", "k2") for job in ("a", "b")], "job, pod"),
        ([series(instance="k1"), series(zone="a")], "instance, zone"),
        ([series(), series(zone="a")], "zone"),
    ],
    ids=[
        "scraped by two jobs",
        "two servers",
        "at the same time",
        "two labels",
        "a sum beside",
        "no label",
    ],
)
def test_series_that_may_be_one_counter_twice_are_refused(alike: list[Series], labels: str) -> None:
    with pytest.raises(
        InvalidInputError, match=f"Series of {BYTES_IN} about topic t cannot be distinguished"
    ) as refused:
        find_gaps([meter(*alike)])
    assert f"they differ by {labels}:" in str(refused.value.cause)


def test_instances_without_a_broker_are_named_once() -> None:
    both = [series(instance="k2"), series(instance="k1")]
    assert find_gaps([meter(*both), meter(*both, topic="u"), meter(topic="v")]).instances == [
        "k1",
        "k2",
    ]


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("kafka_server_brokertopicmetrics_bytesinpersec_total", "bytes_in"),
        ("kafka_server_BrokerTopicMetrics_ReplicationBytesIn", "replication_bytes_in"),
        ("kafka_log_Log_LogEndOffset_Value", "log_end_offset"),
        ("kafka_log_log_numlogsegments", None),
        ("", None),
    ],
)
def test_the_metric_that_a_name_speaks_of(name: str, metric: str | None) -> None:
    assert likely_metric(name) == metric


def test_names_that_are_unknown_are_named_with_what_they_may_be() -> None:
    unknown = [
        meter(metric=None, name="acme_bytes_in"),
        Meter(None, None, "t"),
        meter(metric=None, name="up"),
    ]
    assert find_gaps(unknown).names == {"": None, "acme_bytes_in": "bytes_in", "up": None}


def test_topics_with_underscores_for_dots_are_named() -> None:
    partitions = [
        Meter("offset", "log_end_offset", topic, of_partition=True)
        for topic in ("pay.in", "a.b", "c_d")
    ]
    meters = [meter(topic=topic) for topic in ("pay_in", "a.b", "a_b", "c_d", "e_f")]
    assert find_gaps([*partitions, *meters]).topics == {"pay_in": "pay.in"}
    elsewhere = Meter("offset", "log_end_offset", "pay.in", of_partition=True, cluster="west")
    assert find_gaps([elsewhere, meter(topic="pay_in")]).topics == {}
