"""A growth killed at any of its writes, before or after it reaches ZooKeeper, adds every partition
once.

The runs are in this process, on a real ZooKeeper, with the model as the controller; what was
written is read from ZooKeeper's transaction log.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.controller.eras import ERAS
from support.executor.runs import KillPoint, Practice, apply, resume, stop
from support.zookeeper.fault_proxy import MULTI

from kadmin.operations.record.record import OperationState
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import GrowthPlan, PlanHeader, TopicGrowth
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.executor.runs import Site

pytestmark = pytest.mark.zookeeper

TOPICS = ("clicks", "orders")
BEFORE = {0: (1, 2)}
NEW = ((2, 3), (3, 1))
AFTER = {0: (1, 2), 1: (2, 3), 2: (3, 1)}
PLAN = GrowthPlan(PlanHeader("growth"), tuple(TopicGrowth(each, 1, NEW) for each in TOPICS))
WAIT_S = 60.0
SOME = 2


def practice(site: Site, version: str) -> Practice:
    made = Practice(site, ERAS[version], brokers=(1, 2, 3))
    for topic in TOPICS:
        made.model.create_topic(topic, BEFORE)
    made.model.run()
    return made


def points(site: Site, version: str) -> list[KillPoint]:
    """Every write of an undisturbed growth, before and after it is forwarded."""
    made = practice(site, version)
    clean = made.run(apply(PLAN))
    assert clean.outcome is not None, clean.error
    assert [*grown_by_us(made)] == list(TOPICS)
    numbers = [number for number, op in enumerate(clean.requests, start=1) if op == MULTI]
    return [KillPoint(number, after) for number in numbers for after in (False, True)]


def lists(made: Practice, topic: str) -> dict[int, tuple[int, ...]]:
    return {each.partition: it.replicas for each, it in made.model.assigned(topic).items()}


def grown_by_us(made: Practice) -> Iterator[str]:
    """The topic of each write of kadmin to a topic znode, in order."""
    model = made.model.znodes.client.client_id[0]
    for write in made.writes():
        topic = write.path.removeprefix(f"{made.chroot}/brokers/topics/")
        if topic in TOPICS and write.session_id != model:
            assert len(json.loads(write.data or b"")["partitions"]) == len(AFTER)
            yield topic


def resumed(site: Site, version: str, kill: KillPoint) -> Iterator[str]:
    """Kill a growth, resume it, and say what is wrong then."""
    made = practice(site, version)
    made.run(apply(PLAN), kill)
    resumption = made.run(resume(WAIT_S))
    states = [each.status.state for each in made.journal.listings()]
    if OperationState.COMPLETED not in states:  # nothing was recorded yet
        again = made.run(apply(PLAN, WAIT_S))
        if again.error is not None:
            yield f"killed {kill}: {resumption.error}, then {again.error}"
    made.bury()
    found = {topic: lists(made, topic) for topic in TOPICS}
    if found != dict.fromkeys(TOPICS, AFTER):
        yield f"killed {kill}: {found}"
    if [*grown_by_us(made)] != list(TOPICS):
        yield f"killed {kill}: written {[*grown_by_us(made)]}"
    if made.journal.unfinished() or made.model.znodes.exists(Paths().lock):
        yield f"killed {kill}: an operation or its lock is left"


def cancelled(site: Site, version: str, kill: KillPoint) -> Iterator[str]:
    """Kill a growth, cancel it, and say what is wrong then: a topic is whole or untouched."""
    made = practice(site, version)
    made.run(apply(PLAN), kill)
    made.run(stop(Stop.CANCEL, lock_timeout_s=WAIT_S))
    made.bury()
    first, second = (lists(made, topic) for topic in TOPICS)
    if (first, second) not in ((BEFORE, BEFORE), (AFTER, BEFORE), (AFTER, AFTER)):
        yield f"killed {kill} and cancelled: {first}, {second}"
    if made.journal.unfinished() or made.model.znodes.exists(Paths().lock):
        yield f"killed {kill} and cancelled: an operation or its lock is left"


def test_a_growth_killed_at_any_write_adds_each_partition_once(site: Site) -> None:
    found = [each for kill in points(site, "2.8.2") for each in resumed(site, "2.8.2", kill)]
    assert found == []


@pytest.mark.matrix
def test_a_growth_killed_at_any_write_and_cancelled_leaves_whole_topics(site: Site) -> None:
    found = [each for kill in points(site, "2.8.2") for each in cancelled(site, "2.8.2", kill)]
    assert found == []


@pytest.mark.matrix
@pytest.mark.parametrize("version", ERAS)
def test_controllers_of_every_era_make_what_a_killed_growth_left(site: Site, version: str) -> None:
    every = points(site, version)
    chosen = every[1 :: max(1, len(every) // SOME)]
    assert [each for kill in chosen for each in resumed(site, version, kill)] == []
