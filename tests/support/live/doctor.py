"""Runs the doctor on a live cluster, and stops brokers of one in KRaft mode."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.cli.in_process import command
from support.live.waiting import wait_until

from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.eras.disks import DiskCluster
    from support.live.cluster import Cluster
    from support.live.errands import Brokers
    from support.live.kraft import KraftCluster


def examine(
    cluster: Brokers | Cluster | DiskCluster | KraftCluster, *arguments: str
) -> dict[str, dict[str, Any]]:
    """Run the doctor; return its findings by trouble."""
    answer = cluster.kadmin("doctor", *arguments, "-o", "json")
    value = json.loads(answer.out)
    assert validate_value(value, "answers/doctor") == []
    assert value["service"] is None, "brokers of a sandbox are Apache Kafka's"
    assert answer.status == (8 if value["stops_apply"] else 0), answer.out
    return {found["trouble"]: found for found in value["findings"]}


def examine_migration(*address: str) -> dict[str, Any]:
    """Run `doctor migration` on both sides of a cluster; return its answer."""
    answer = command("doctor", "migration", *address, "-o", "json")
    assert answer.out, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/doctor-migration") == []
    stops = any(each["stops_migration"] for each in value["findings"])
    assert (answer.status, value["go"]) == ((8, False) if stops else (0, True))
    return value


@contextmanager
def stopped(cluster: KraftCluster, *broker_ids: int) -> Iterator[None]:
    """Stop brokers by force, wait until the controller has fenced them, and start them again."""
    try:
        for each in broker_ids:
            cluster.sandbox.stop_broker(each, kill=True)
        wait_until(
            lambda: not set(broker_ids) & read_cluster(cluster.connection, ()).brokers.keys(), 60
        )
        yield
    finally:
        for each in broker_ids:
            cluster.sandbox.start_broker(each)
