"""Builds report pages: of the largest plan, of names full of HTML, of an operation."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from family import Size
from family import cluster as generated
from support.cluster.capabilities import NODES
from support.cluster.states import CLUSTER_ID, cluster, tp

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.disks import Disk
from kadmin.documents import dump_json
from kadmin.documents.dump import plan_digest
from kadmin.insight.predict.forecast import forecast, retrospect
from kadmin.insight.tables.disks import disk_rows
from kadmin.inventory import facts_of, state_of
from kadmin.operations.decide.examine import examine
from kadmin.operations.reading.timeline import progress_of, timeline
from kadmin.operations.record.record import (
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
)
from kadmin.operations.record.steps import (
    Channel,
    ProbeStep,
    ThrottleChange,
    ThrottleStep,
    WaveStep,
)
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.signals import SignalValue
from kadmin.plan.throttle import LEADER_RATE, ConfigChange
from kadmin.planner.load.hours import LoadHours, ResourceHours
from kadmin.report.pages.html import render
from kadmin.report.pages.operation_page import operation_page
from kadmin.report.pages.plan_page import PlanFacts, plan_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import Plan

HTML = "<script>window.owned=1</script><img src=x onerror=window.owned=1>\"'&amp;"
RATE = ThrottleSpec(ThrottleBy.RATE, 1_000_000)
LARGE = Size(partitions=10_000, topics=1_000, brokers=100, new=10, racks=5)


def page_of(
    plan: Plan,
    state: ClusterState,
    facts: ClusterFacts | None = None,
    *,
    source: str = "plan.yaml",
    load_hours: LoadHours | None = None,
) -> str:
    """Return the page of a plan against a state."""
    known = facts or ClusterFacts()
    disks = disk_rows(known.disks, known.replicas)
    told = PlanFacts(plan, source, "a test", state.cluster_id, load_hours=load_hours, disks=disks)
    found = examine(plan, state, NODES.publish, known)
    return render(plan_page(told, found, forecast(plan, state, known.sizes, known.capacities)))


def large_page(
    load_hours: LoadHours | None = None, entries: int = LARGE.partitions, disks: int = 0
) -> str:
    """Return the page of a plan that changes 10,000 partitions, or some of them, on 100 brokers
    with so many disks each.
    """
    made = generated(LARGE, seed=1)
    state, facts = state_of(made), facts_of(made)
    targets = tuple(
        PartitionTarget(
            partition, (*replicas[1:], 100 - (partition.partition * 7 + at) % 10), replicas
        )
        for at, (partition, replicas) in enumerate(sorted(state.assignment.items())[:entries])
    )
    limits = WaveLimits(max_payload=30_000)
    plan = ReassignmentPlan(
        PlanHeader("large"), targets, ThrottleSpec(ThrottleBy.RATE, 50_000_000), limits
    )
    silent = tuple(
        f"bytes on disk of broker {broker} are not known: silence" for broker in range(1, 11)
    )
    known = replace(
        facts,
        capacities=dict.fromkeys(range(1, 101), 10**15),
        disks_unavailable=silent,
        disks={
            broker: tuple(
                Disk(broker, f"/var/lib/kafka/data-{at}", 4 * 10**12, 10**9 * broker * at)
                for at in range(1, disks + 1)
            )
            for broker in range(1, 101)
        },
    )
    return page_of(plan, state, known, load_hours=load_hours)


def load_hours(brokers: int = LARGE.brokers) -> LoadHours:
    """Return a week in which brokers are busy at different hours, and a plan that evens them
    out.
    """
    draw = random.Random(1)  # noqa: S311 - a picture, not a secret

    def rows(swing: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(
                round(
                    1 + swing * math.sin(2 * math.pi * (hour - broker) / 24) + draw.gauss(0, 0.02),
                    3,
                )
                for hour in range(168)
            )
            for broker in range(brokers)
        )

    total = tuple(float(1000 + 10 * (hour % 24)) for hour in range(168))
    found = ResourceHours(rows(0.7), rows(0.05), (1 / brokers,) * brokers, total, (1.0,) * 168)
    return LoadHours(
        "2026-03-02T00:00:00Z", tuple(range(1, brokers + 1)), {"in": found, "out": found}
    )


def load_page() -> str:
    """Return the large page with load over time."""
    return large_page(load_hours(), entries=2_000)


def hostile_page() -> str:
    """Return a page whose every foreign text is HTML: names, racks, labels, the file, and what is
    refused.
    """
    base = cluster(
        {"a-0": (1, 2), "a-1": (2, 3), "b-0": (3, 1)}, brokers={1: HTML, 2: "r2", 3: None, 4: HTML}
    )
    topics = {name + HTML: replace(topic, name=name + HTML) for name, topic in base.topics.items()}
    states = {replace(each, topic=each.topic + HTML): found for each, found in base.states.items()}
    state = replace(base, topics=topics, states=states)
    header = PlanHeader(HTML, description=HTML, labels={HTML: HTML})
    targets = (
        PartitionTarget(replace(tp("a-0"), topic="a" + HTML), (4, 2), (1, 2), 5_000),
        PartitionTarget(replace(tp("a-1"), topic="a" + HTML), (9, 3), (2, 3)),
    )
    facts = ClusterFacts(disks={1: (Disk(1, HTML, 100, 5),), 2: (Disk(2, HTML),)})
    return page_of(ReassignmentPlan(header, targets), state, facts, source=f"plans/{HTML}.yaml")


def operation_text(
    steps: Sequence[Step],
    state: OperationState,
    *,
    sizes: Mapping[TopicPartition, int],
    runner: Holder | None = None,
    throttle: ThrottleRecord | None = None,
    ended_at: str = "2026-01-01T00:02:00Z",
) -> str:
    """Return the page of an operation of two waves that had these steps; the cluster of now has
    done the first.
    """
    origin = {tp("orders-0"): (1, 2), tp("orders-1"): (2, 3)}
    targets = tuple(
        PartitionTarget(each, target, origin[each], sizes.get(each))
        for each, target in ((tp("orders-0"), (4, 2)), (tp("orders-1"), (4, 3)))
    )
    plan = ReassignmentPlan(PlanHeader("drain", CLUSTER_ID), targets)
    record = OperationRecord(
        "op-1",
        OperationKind.REASSIGNMENT,
        dump_json(plan),
        plan_digest(plan),
        CLUSTER_ID,
        "2026-01-01T00:00:00Z",
        Author(HTML, HTML, 7),
        origin,
        ((0,), (1,)),
        throttle=throttle,
    )
    status = OperationStatus(state, ended_at, HTML)
    listing = Listing(
        "op-1", record.kind, status, record.plan_digest, record.created_at, record.author
    )
    found = timeline(record, listing, steps, "2026-01-01T00:03:00Z")
    now = cluster({"orders-0": (4, 2), "orders-1": (2, 3), "other-0": (1, 3)})
    return render(
        operation_page(
            found, retrospect(origin, now, sizes, {}), progress_of(found, now), "now", runner
        )
    )


def paced_throttle() -> ThrottleRecord:
    """Return a throttle of two brokers with a range of rates, and with hours."""
    hours = HoursSpec((parse_window("00:05-00:20"),), "UTC", outside=1_000_000)
    first = {
        ConfigEntity.of_broker(broker): {LEADER_RATE: ConfigChange(None, str(RATE.amount))}
        for broker in (1, 2)
    }
    return ThrottleRecord(RATE.amount, first, replace(RATE, most=20_000_000), hours)


def paced_steps(changes: int = 30) -> list[Step]:
    """Return changes of the rates of two brokers, one a minute, with two signals at each."""
    steps: list[Step] = []
    draw = random.Random(1)  # noqa: S311 - a picture, not a secret
    for number in range(1, changes + 1):
        late = number % 7 == 0
        wait_s = draw.uniform(0.03, 0.09) if late else draw.uniform(0.004, 0.019)
        own = RATE.amount * 1.2 ** (number * 5 % 13)
        rates = {
            1: round(own),
            2: round(own if number < changes / 2 else max(RATE.amount, own / 2)),
        }
        changed = {
            ConfigEntity.of_broker(broker): {LEADER_RATE: ConfigChange(None, str(rate))}
            for broker, rate in rates.items()
        }
        signals = (
            SignalValue("commit_delay", "s", draw.uniform(0.018, 0.024), wait_s),
            SignalValue("produce_p99", "ms", 50.0, None if number == 9 else 500 * wait_s),
        )
        why = "clients do not wait"
        change = ThrottleChange(rates[1], changed, None, why, signals)
        steps.append(ThrottleStep(number, f"2026-01-01T00:{number:02}:00Z", change))
    return steps


def paced_html() -> str:
    """Return the page of an operation whose rate followed its clients, with hours."""
    return operation_text(
        paced_steps(),
        OperationState.COMPLETED,
        sizes={tp("orders-0"): 10**9},
        throttle=paced_throttle(),
        ended_at="2026-01-01T00:32:00Z",
    )


def operation_html() -> str:
    """Return the page of an operation that did the first of its waves, and failed."""
    steps: list[Step] = [
        ProbeStep(1, "2026-01-01T00:00:01Z", Channel.REASSIGNMENT),
        WaveStep(2, "2026-01-01T00:00:02Z", 0),
        WaveStep(3, "2026-01-01T00:01:30Z", 1),
    ]
    return operation_text(steps, OperationState.FAILED, sizes={tp("orders-0"): 10**9})
