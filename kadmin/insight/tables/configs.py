"""Dynamic configs as a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from kadmin.insight.tables.table import Table
from kadmin.plan.progress import in_flight
from kadmin.plan.throttle import THROTTLE_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState
    from kadmin.plan.throttle import ConfigValues

Condition: TypeAlias = Literal["no-such-topic", "broker-not-alive", "throttle", "nothing-moving"]
HIDDEN = "(hidden)"
SECRET = re.compile(r"(?i)scram-|password|secret|jaas|credential")
"""Finds names of values that are credentials."""


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """A dynamic config."""

    entity: Annotated[str, "Entity, as topics/orders, brokers/1, users/alice/clients/app."]
    key: Annotated[str, "Name of the config."]
    value: Annotated[str, "Value; (hidden) for credentials."]
    condition: Annotated[
        tuple[Condition, ...],
        "Conditions of the value; a throttle while nothing is moving is a leftover.",
    ]


def config_table(configs: ConfigValues, state: ClusterState) -> Table:
    """Return the dynamic configs of every entity; credentials are hidden, leftovers are marked."""
    quiet = not in_flight(state)

    def conditions(entity: ConfigEntity, key: str) -> Iterable[Condition]:
        if entity.is_topic and entity.name not in state.topics:
            yield "no-such-topic"
        if entity.broker_id is not None and entity.broker_id not in state.brokers:
            yield "broker-not-alive"
        if key in THROTTLE_KEYS:
            yield "throttle"
            if quiet:
                yield "nothing-moving"

    rows = (
        ConfigRow(
            str(entity),
            key,
            HIDDEN if SECRET.search(key) else value,
            tuple(conditions(entity, key)),
        )
        for entity, values in sorted(configs.items())
        for key, value in sorted(values.items())
    )
    return Table.of("configs", ConfigRow, rows)
