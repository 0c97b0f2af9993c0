"""Draws small random clusters and requests for the planner, and returns its results as plain
values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from support.planner import load_histories

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import PlanHeader, RackFloor, Racks, RebalanceRequest
from kadmin.planner.cluster_arrays import ClusterTables, disks_as_arrow, rows_as_arrow
from kadmin.planner.cluster_plan import REPORT, PlanningTask, plan_cluster
from kadmin.planner.load.reading import as_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import Replicas

Lists = dict[tuple[str, int], tuple[int, ...]]


@dataclass(frozen=True)
class Proposed:
    """The result for one cluster: entries in plan order with reasons, or the error's kind and
    message.
    """

    entries: Mapping[tuple[str, int], Replicas]
    figures: Mapping[str, Any]
    error: str | None
    reasons: Mapping[tuple[str, int], str] = field(default_factory=dict)
    next_command: str | None = None
    log_dirs: Mapping[tuple[str, int], Sequence[str] | None] = field(default_factory=dict)

    def target(self, cluster: ClusterInventory) -> Lists:
        return {**lists(cluster), **{key: tuple(row) for key, row in self.entries.items()}}


def tables_of(cluster: ClusterInventory) -> ClusterTables:
    return ClusterTables(*rows_as_arrow(cluster), *disks_as_arrow(cluster))


def lists(cluster: ClusterInventory) -> Lists:
    return {(row.topic, row.partition): row.replicas for row in cluster.partitions}


def propose(
    cluster: ClusterInventory,
    request: RebalanceRequest,
    history: Sequence[Mapping[str, Any]] | None = None,
) -> Proposed:
    """Plan one cluster; `history` are the rows of its load history."""
    task = PlanningTask(request, {"": cluster.facts.reassigning})
    load = None if history is None else as_rows(load_histories.table(history))
    rows = plan_cluster("", task, tables_of(cluster), load).to_pylist()
    report = json.loads(next(row["report"] for row in rows if row["ordinal"] == REPORT))
    if "error" in report:
        error = report["error"]
        said = f"{error['kind']}: {error['message']} {error['cause']}"
        return Proposed({}, {}, said, next_command=error["next_command"])
    entries = [row for row in rows if row["ordinal"] != REPORT]
    assert [row["ordinal"] for row in entries] == list(range(len(entries)))
    target = {(entry["topic"], entry["partition"]): tuple(entry["target"]) for entry in entries}
    why = {(entry["topic"], entry["partition"]): entry["reason"] for entry in entries}
    named = {(entry["topic"], entry["partition"]): entry["log_dirs"] for entry in entries}
    return Proposed(target, report["figures"], None, why, log_dirs=named)


def applied(cluster: ClusterInventory, proposed: Proposed) -> ClusterInventory:
    target = proposed.target(cluster)
    rows = tuple(
        replace(row, replicas=target[row.topic, row.partition]) for row in cluster.partitions
    )
    return replace(cluster, partitions=rows)


def request(**targets: Any) -> RebalanceRequest:  # noqa: ANN401 - the request's own fields
    return RebalanceRequest(PlanHeader(), **targets)


@st.composite
def clusters(draw: st.DrawFn, *, most_partitions: int = 14) -> ClusterInventory:
    """Draw a cluster of up to 8 brokers, each in some rack or none of them in any, some perhaps
    empty.
    """
    count = draw(st.integers(1, 8))
    racked = draw(st.booleans())
    racks = [f"r{draw(st.integers(0, 3))}" if racked else None for _ in range(count)]
    capacity = draw(st.sampled_from([None, None, None, 2000, 400]))
    brokers = tuple(
        BrokerRow(broker, rack, capacity_bytes=capacity)
        for broker, rack in enumerate(racks, start=1)
    )
    holders = draw(st.integers(1, count))
    rows = []
    for number in range(draw(st.integers(1, most_partitions))):
        factor = draw(st.integers(1, min(3, holders)))
        replicas = draw(st.permutations(range(1, holders + 1)))[:factor]
        size = draw(st.sampled_from([0, 1, 10, 100, 1000]))
        topic = draw(st.sampled_from(["a", "b", "pay-1"]))
        rows.append(PartitionRow(topic, number, tuple(replicas), size_bytes=size))
    return ClusterInventory("small", brokers, tuple(rows))


@st.composite
def requests(draw: st.DrawFn, brokers: int) -> RebalanceRequest:
    """Draw a request over brokers 1 to `brokers`, most of its fields empty most of the time."""
    ids = st.integers(1, brokers)
    some = st.one_of(st.just(()), st.lists(ids, unique=True, max_size=2).map(tuple))
    fields: dict[str, Any] = {
        "drain": draw(some),
        "no_receive": draw(some),
        "never_lead": draw(some),
        "weights": draw(st.sampled_from([{}, {}, {}, {1: 2.0}, {1: 0.5, brokers: 3.0}])),
        "racks": draw(st.sampled_from([*Racks, RackFloor(2)])),
        "replication_factor": draw(st.sampled_from([{}, {}, {"a": 1}, {"a": 2}, {"b": 3}])),
        "exclude_topics": draw(st.sampled_from([(), (), ("b",)])),
        "broker_sets": draw(
            st.one_of(
                st.just({}),
                st.lists(ids, unique=True, min_size=1).map(lambda chosen: {"pay-*": tuple(chosen)}),
            )
        ),
        "substitute": draw(
            st.one_of(
                st.just({}),
                st.tuples(ids, ids).filter(lambda p: p[0] != p[1]).map(lambda p: {p[0]: p[1]}),
            )
        ),
    }
    return request(**fields)
