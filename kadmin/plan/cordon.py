"""Cordons: log directories of a broker that get no new replicas (KIP-1066, Kafka 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.plan.throttle import is_throttle

if TYPE_CHECKING:
    from kadmin.plan.throttle import ConfigEdits

CORDON = "cordoned.log.dirs"
"""The config of a broker with the cordoned directories."""
ALL_DIRS = "*"
"""The value that cordons every directory: the broker itself."""


def require_written(values: ConfigEdits) -> None:
    """Raise NotCompletedError where keys to be written, by entity, are no throttle, no cordon."""
    for entity, keys in values.items():
        for key in keys:
            if not (is_throttle(entity, key) or (key == CORDON and entity.broker_id is not None)):
                raise NotCompletedError(
                    f"{one_line(key)} of {one_line(str(entity))} is no throttle and no cordon; no "
                    "config was written.",
                    cause=(
                        "kadmin writes rates and cordons of brokers and lists of throttled "
                        "replicas of topics, nothing else"
                    ),
                    next_step=command("history")
                    + ", which shows who wrote the operation on record",
                )
