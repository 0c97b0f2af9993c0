"""Reassigns very many partitions in waves of the default size, with the controller model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.controller.eras import ERAS
from support.executor.runs import Practice, apply

from kadmin.cluster.model import TopicPartition
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from support.executor.runs import Site

ORIGIN, TARGET = (1, 2), (2, 3)
PER_TOPIC = 50
WAVE = 500
STEPS = 5_000
"""What the model does while kadmin waits once."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of it: the error where there is one, the waves published, the partitions at their
    target.
    """

    error: Exception | None
    waves: int
    done: int


def reassign_many(site: Site, partitions: int) -> Ended:
    """Move `partitions` partitions, PER_TOPIC in each topic."""
    practice = Practice(site, ERAS["2.8.2"], brokers=(1, 2, 3))
    topics = [f"many-{number}" for number in range(partitions // PER_TOPIC)]
    for topic in topics:
        practice.model.create_topic(topic, dict.fromkeys(range(PER_TOPIC), ORIGIN))
        practice.model.run()
    targets = [
        PartitionTarget(TopicPartition(t, number), TARGET, ORIGIN)
        for t in topics
        for number in range(PER_TOPIC)
    ]

    def work() -> float:
        practice.model.run(STEPS)
        return 0.0

    run = practice.process(apply(ReassignmentPlan(PlanHeader(), tuple(targets))), work).run()
    steps = [
        practice.journal.steps(listing.operation_id) for listing in practice.journal.listings()
    ]
    at_target = [
        each
        for t in topics
        for each in practice.model.assigned(t).values()
        if each.replicas == TARGET
    ]
    return Ended(run.error, sum(map(len, steps)), len(at_target))
