"""Dynamic configs as a table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.insight.tables.table import Table
from kadmin.plan.progress import in_flight
from kadmin.plan.throttle import THROTTLE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState

CONFIGS = ("entity", "key", "value", "condition")
HIDDEN = "(hidden)"
SECRET = re.compile(r"(?i)scram-|password|secret|jaas|credential")
"""Finds names of values that are credentials."""


def config_table(configs: Mapping[str, Mapping[str, str]], state: ClusterState) -> Table:
    """Return the dynamic configs of every entity, by `topics/orders`; credentials are hidden, leftovers are marked."""
    quiet = not in_flight(state)

    def conditions(entity: str, key: str) -> Iterable[str]:
        kind, _, name = entity.partition("/")
        if kind == "topics" and name not in state.topics:
            yield "no-such-topic"
        if kind == "brokers" and name.isdigit() and int(name) not in state.brokers:
            yield "broker-not-alive"
        if key in THROTTLE_KEYS:
            yield "throttle"
            if quiet:
                yield "nothing-moving"

    rows = (
        (entity, key, HIDDEN if SECRET.search(key) else value, tuple(conditions(entity, key)))
        for entity, values in sorted(configs.items())
        for key, value in sorted(values.items())
    )
    return Table.of("configs", CONFIGS, rows)
