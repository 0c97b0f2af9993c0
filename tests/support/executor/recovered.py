"""Kills a recovery by config at any of its writes, goes on or cancels, and checks what must hold.

A person starts the dead broker when the run asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.controller.znodes import encode
from support.executor.kill_points import RECOVERY_WAIT_S
from support.executor.runs import KillPoint, Practice, apply, resume, stop
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.operations import events
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import UncleanElectionStep
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ForcedLeader, PlanHeader, RecoveryPlan
from kadmin.plan.unclean import UNCLEAN_ELECTION
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.controller.eras import Era
    from support.executor.runs import Site

    from kadmin.cluster.model import Replicas

DEAD, CHOSEN = 1, 3
BROKERS = (1, 2, 3, 4)
BEFORE: dict[TopicPartition, Replicas] = {
    TopicPartition("events", 0): (1, 3),
    TopicPartition("orders", 0): (1, 2, 3),
    TopicPartition("orders", 1): (3, 1, 2),
}
FACTS = ClusterFacts(elects_by_config=True)


class Lost(Practice):
    """A cluster whose partitions lost their leader, with a person who starts it when asked."""

    def __init__(self, site: Site, era: Era) -> None:
        super().__init__(site, era, brokers=BROKERS)
        self.asked = ""
        for topic in ("events", "orders"):
            lists = {p.partition: ids for p, ids in BEFORE.items() if p.topic == topic}
            self.model.create_topic(topic, lists)
        config = {"version": 1, "config": {UNCLEAN_ELECTION: "false", "retention.ms": "1"}}
        self.model.znodes.put("/config/topics/orders", encode(config))
        self.model.run()
        others = {broker for ids in BEFORE.values() for broker in ids} - {DEAD}
        for broker in others:
            self.model.kill_broker(broker)
            self.model.run()
        self.model.copies_held = True
        for broker in others:
            self.model.start_broker(broker)
            self.model.run()
        self.model.kill_broker(DEAD)
        self.model.run()
        self.model.copies_held = False
        assert set(self.leaders().values()) == {NO_LEADER}

    def hear(self, event: events.Event) -> None:
        if isinstance(event, events.Progressed):
            self.asked = event.reason

    def work(self) -> float:
        if self.asked.startswith(f"start broker {DEAD}"):
            self.start_all()
        return super().work()

    def start_all(self) -> None:
        """The person starts what is stopped, and replicas catch up."""
        if DEAD not in self.model.live_brokers():
            self.model.start_broker(DEAD)

    def leaders(self) -> dict[TopicPartition, int]:
        """The leader of each partition."""
        return {each: self.model.state(each).leader for each in BEFORE}

    def lists(self) -> dict[TopicPartition, Replicas]:
        """The replicas of each partition."""
        found = {**self.model.assigned("events"), **self.model.assigned("orders")}
        return {each: assigned.replicas for each, assigned in found.items()}


@dataclass(frozen=True, slots=True)
class RecoveryGround:
    """Where a recovery is killed, with the controller of an era."""

    site: Site
    era: Era

    def plan(self) -> RecoveryPlan:
        """Every partition led by the same broker."""
        entries = tuple(ForcedLeader(each, CHOSEN, replicas) for each, replicas in BEFORE.items())
        return RecoveryPlan(PlanHeader("recovery"), entries, allow_impatient=True)

    def points(self) -> list[KillPoint]:
        """Every write of an undisturbed apply, before and after it is forwarded."""
        practice = Lost(self.site, self.era)
        before = practice.configs()
        clean = practice.run(apply(self.plan(), facts=FACTS))
        assert clean.outcome is not None, clean.error
        assert list(self._judge(practice, before)) == []
        numbers = [number for number, op in enumerate(clean.requests, start=1) if op == MULTI]
        return [KillPoint(number, after) for number in numbers for after in (False, True)]

    def resumed(self, *kills: KillPoint) -> list[str]:
        """Kill an apply at the first point and each resume after it at the next, resume once more,
        and say what is wrong.
        """
        practice = Lost(self.site, self.era)
        before = practice.configs()
        practice.run(apply(self.plan(), facts=FACTS), kills[0])
        for kill in kills[1:]:
            practice.run(resume(RECOVERY_WAIT_S), kill)
        practice.run(resume(RECOVERY_WAIT_S))
        states = [listing.status.state for listing in practice.journal.listings()]
        if OperationState.COMPLETED not in states:
            # Nothing was recorded yet: then kadmin itself says to apply again.
            again = practice.run(apply(self.plan(), RECOVERY_WAIT_S, FACTS))
            if again.error is not None:
                return [f"killed {', then '.join(map(str, kills))}: apply again: {again.error}"]
        found = self._judge(practice, before)
        return [f"killed {', then '.join(map(str, kills))}: {each}" for each in found]

    def cancelled(self, kill: KillPoint) -> list[str]:
        """Kill an apply, cancel it from elsewhere, and say what is wrong."""
        practice = Lost(self.site, self.era)
        before = practice.configs()
        practice.run(apply(self.plan(), facts=FACTS), kill)
        practice.asked = ""
        ended = practice.run(stop(Stop.CANCEL, lock_timeout_s=RECOVERY_WAIT_S))
        found = [*_left(practice, before)]
        elected = {each for each, leader in practice.leaders().items() if leader != NO_LEADER}
        asked = {
            each
            for listing in practice.journal.listings()
            for step in practice.journal.steps(listing.operation_id)
            if isinstance(step, UncleanElectionStep)
            for each in step.partitions
        }
        if elected != asked:
            found.append(f"elected are {elected}, on record {asked}")
        practice.start_all()
        practice.model.run()
        if any(set(lists) != set(BEFORE[each]) for each, lists in practice.lists().items()):
            found.append(f"lists are {practice.lists()}")
        return [f"killed {kill} and cancelled, {ended.error}: {each}" for each in found]

    def _judge(self, practice: Lost, before: object) -> Iterator[str]:
        """Say what differs from a recovery that was not killed."""
        practice.bury()
        practice.model.run()
        yield from _left(practice, before)
        if (lists := practice.lists()) != BEFORE:
            yield f"lists are {lists}"
        if set(practice.leaders().values()) != {CHOSEN}:
            yield f"leaders are {practice.leaders()}"
        completed = [
            listing
            for listing in practice.journal.listings()
            if listing.status.state is OperationState.COMPLETED
        ]
        steps = [each for one in completed for each in practice.journal.steps(one.operation_id)]
        asked = [
            each
            for step in steps
            if isinstance(step, UncleanElectionStep)
            for each in step.partitions
        ]
        if sorted(asked) != sorted(BEFORE):
            yield f"elections on record: {asked}"


def _left(practice: Lost, configs: object) -> Iterator[str]:
    """Say what is left behind: configs, the lock, an operation."""
    practice.bury()
    if practice.configs() != configs:
        yield f"configs are {practice.configs()}"
    if practice.model.znodes.exists(Paths().lock):
        yield "the lock is not free"
    if unfinished := practice.journal.unfinished():
        yield f"unfinished: {unfinished}"
