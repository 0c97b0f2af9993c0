"""Runs the doctor on a cluster in KRaft mode, and stops brokers for it to find."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.kraft import KraftCluster


def examine(cluster: KraftCluster) -> dict[str, dict[str, Any]]:
    """Run the doctor; return its findings by trouble."""
    answer = cluster.kadmin("doctor", "-o", "json")
    value = json.loads(answer.out)
    assert validate_value(value, "answers/doctor") == []
    assert answer.status == (8 if value["stops_apply"] else 0), answer.out
    return {found["trouble"]: found for found in value["findings"]}


@contextmanager
def stopped(cluster: KraftCluster, *broker_ids: int) -> Iterator[None]:
    """Stop brokers, and start them again."""
    try:
        for each in broker_ids:
            cluster.sandbox.stop_broker(each, kill=True)
        yield
    finally:
        for each in broker_ids:
            cluster.sandbox.start_broker(each)
