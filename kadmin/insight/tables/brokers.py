"""The table of `broker list`: each broker, and whether it may be stopped."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from kadmin.insight.tables.partitions import FENCED, InspectedBroker, inspected_brokers
from kadmin.insight.tables.table import Table
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState

DETAILS = ("controller", "endpoints", "out_of_sync", "registration")
"""The columns that people find with `inspect brokers`."""


@dataclass(frozen=True)
class ListedBroker(InspectedBroker):
    """A broker that is registered or holds a replica, and whether it may be stopped."""

    in_sync: Annotated[Count, "Replicas on the broker that are in the ISR."] = field(kw_only=True)
    cordoned: Annotated[
        tuple[str, ...] | None,
        "Log directories that take no new replicas, * for all of them; null where the broker did "
        "not report it, and before Kafka 4.3.",
    ] = field(kw_only=True)
    safe_to_stop: Annotated[
        bool | None, "Whether the broker alone may be stopped; null when it is not alive."
    ] = field(kw_only=True)
    why_not: Annotated[
        str | None, "Numbers of obstacles by their reason; null when there are none."
    ] = field(kw_only=True)


def listed_brokers(
    state: ClusterState,
    size_bytes: Mapping[int, int],
    cordoned: Mapping[int, tuple[str, ...]],
    why_not: Mapping[int, str],
    *,
    with_details: bool,
) -> Table:
    """Return every broker that is registered or holds a replica.

    `why_not` are the obstacles of each live broker in a few words, '' where it may be stopped.
    """
    in_sync = Counter(chain.from_iterable(found.isr for found in state.states.values()))
    rows = [
        ListedBroker(
            **vars(broker),
            in_sync=in_sync[broker.broker_id],
            cordoned=cordoned.get(broker.broker_id),
            safe_to_stop=None if (why := why_not.get(broker.broker_id)) is None else not why,
            why_not=why or None,
        )
        for broker in inspected_brokers(state, size_bytes)
    ]
    without = () if with_details else DETAILS
    unknown = FENCED if state.fenced_brokers is None else ()
    return Table.of("brokers", ListedBroker, rows, without=(*without, *unknown))
