"""Starts two runners at the same moment on one cluster, with plans that contradict each other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.controller.eras import ERAS
from support.controller.znodes import REASSIGN, reassignment_payload
from support.executor.runs import Practice
from support.zookeeper.transaction_log import CREATE

from kadmin.cluster.model import TopicPartition
from kadmin.operations.execute import apply as service
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.executor.runs import Command, Run, Site

    from kadmin.cluster.model import Replicas
    from kadmin.operations.context import Context

ORIGIN = (1, 2)
TARGETS = ((2, 3), (1, 3))
PATIENCE_S = 30
RACES_PER_CLUSTER = 10


@dataclass(frozen=True, slots=True)
class Race:
    """How a race ended: how many publishes there were, and what was wrong with it."""

    published: int
    problem: str | None


def plan_of(topic: str, target: Replicas) -> ReassignmentPlan:
    """One partition."""
    return ReassignmentPlan(
        PlanHeader(), (PartitionTarget(TopicPartition(topic, 0), target, ORIGIN),)
    )


def races(site: Site, count: int) -> Iterator[Race]:
    """Run that many races, some on each cluster."""
    for number in range(count):
        if number % RACES_PER_CLUSTER == 0:
            practice = Practice(site, ERAS["2.8.2"], brokers=(1, 2, 3))
        yield race(practice, number)


def published(practice: Practice) -> list[bytes | None]:
    """Every reassignment node that was ever created, in order."""
    path = f"{practice.chroot}{REASSIGN}"
    return [write.data for write in practice.writes() if write.path == path and write.op == CREATE]


def race(practice: Practice, number: int) -> Race:
    """Let two runs go at the same moment, in turn before and after their first look; the winner
    waits for the loser.
    """
    topic, before = f"race-{number}", len(published(practice))
    practice.model.create_topic(topic, {0: ORIGIN})
    practice.model.run()
    start, one_ended = threading.Barrier(2, timeout=PATIENCE_S), threading.Event()

    def work() -> float:
        assert one_ended.wait(PATIENCE_S)
        return practice.work()

    def run(target: Replicas) -> Run:
        try:
            return practice.process(
                _at_once(plan_of(topic, target), start, late=number % 2 == 1), work
            ).run()
        finally:
            one_ended.set()

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, TARGETS))
    created = published(practice)[before:]
    return Race(len(created), _problem(runs, topic, created))


def _at_once(plan: ReassignmentPlan, start: threading.Barrier, *, late: bool) -> Command:
    def command(context: Context) -> service.Outcome:
        if not late:
            start.wait()
        try:
            preview = service.prepare(context, plan, ClusterFacts())
        finally:
            if late:
                start.wait()
        return preview.settled(dry_run=False) or service.apply(context, plan, ClusterFacts(), 0)

    return command


def _problem(runs: list[Run], topic: str, created: list[bytes | None]) -> str | None:
    winners = [target for target, run in zip(TARGETS, runs, strict=True) if run.outcome is not None]
    losers = [run for run in runs if run.outcome is None]
    if len(winners) != 1 or len(losers) != 1:
        return f"{len(winners)} of two succeeded: {[str(run.error) for run in runs]}"
    if created != [reassignment_payload({TopicPartition(topic, 0): winners[0]})]:
        return f"published: {created}"
    told = f"{losers[0].error} {getattr(losers[0].error, 'cause', '')}"
    if losers[0].exit_code != 5 or "@" not in told:
        return f"the loser was told: {told}"
    return None
