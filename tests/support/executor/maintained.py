"""Kills a maintenance at any of its requests, goes on or cancels, and checks what must hold.

A person stops and starts the brokers when the run asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from support.cluster.states import cluster
from support.controller.znodes import encode
from support.executor.kill_points import OLD_THROTTLE, RECOVERY_WAIT_S
from support.executor.runs import KillPoint, Practice, apply, resume, rollback, stop
from support.zookeeper.fault_proxy import MULTI

from kadmin.cluster.model import TopicPartition
from kadmin.operations import events
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import GoneStep, waves_of
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.demotion import propose_maintenance
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.model import MaintenancePlan, PlanHeader, ThrottleBy, ThrottleSpec
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.controller.eras import Era
    from support.executor.runs import Site

    from kadmin.cluster.model import Replicas

TOPIC = "orders"
BEFORE: dict[int, Replicas] = {0: (4, 2, 3), 1: (1, 2, 3), 2: (2, 1, 3), 3: (3, 4, 2)}
RACK = (1, 4)
"""The brokers of rack r1, which are stopped together."""
BROKERS = (1, 2, 3, 4)
THROTTLE = ThrottleSpec(ThrottleBy.RATE, 10_000_000)


class Attended(Practice):
    """A cluster with a person, who does what the last run asked for, one broker at a time."""

    def __init__(self, site: Site, era: Era) -> None:
        super().__init__(site, era, brokers=BROKERS)
        self.asked = ""

    def hear(self, event: events.Event) -> None:
        if isinstance(event, events.Progressed):
            self.asked = event.reason

    def work(self) -> float:
        alive, asked = self.model.live_brokers(), self.asked
        named = [each for each in RACK if str(each) in asked]
        if asked.startswith("stop broker"):
            for broker in [each for each in named if each in alive][:1]:
                self.model.kill_broker(broker)
        elif "stopped: start" in asked:
            for broker in [each for each in named if each not in alive][:1]:
                self.model.start_broker(broker)
        return super().work()

    def start_all(self) -> None:
        """The person starts what is stopped, and replicas catch up."""
        for broker in sorted({*BROKERS}.difference(self.model.live_brokers())):
            self.model.start_broker(broker)
        self.model.run()


@dataclass(frozen=True, slots=True)
class MaintenanceGround:
    """Where a maintenance of a rack is killed, with the controller of an era."""

    site: Site
    era: Era

    def practice(self) -> Attended:
        """Make a cluster of four brokers, with a throttle of somebody else on one of them."""
        made = Attended(self.site, self.era)
        made.model.create_topic(TOPIC, BEFORE)
        config = {"version": 1, "config": {MIN_INSYNC_REPLICAS: "2"}}
        made.model.znodes.put(f"/config/topics/{TOPIC}", encode(config))
        made.model.znodes.create("/config/brokers/1", OLD_THROTTLE)
        made.model.run()
        return made

    def plan(self) -> MaintenancePlan:
        """One round of two brokers."""
        state = cluster({f"{TOPIC}-{number}": replicas for number, replicas in BEFORE.items()})
        found = propose_maintenance(state, [RACK], THROTTLE, 0)
        return MaintenancePlan(PlanHeader("rack-r1"), found.rounds, found.throttle)

    def points(self) -> list[KillPoint]:
        """Every write of an undisturbed apply, before and after it is forwarded."""
        practice = self.practice()
        clean = practice.run(apply(self.plan()))
        assert clean.outcome is not None, clean.error
        assert list(self._judge(practice, OperationState.COMPLETED)) == []
        numbers = [number for number, op in enumerate(clean.requests, start=1) if op == MULTI]
        return [KillPoint(number, after) for number in numbers for after in (False, True)]

    def resumed(self, *kills: KillPoint) -> list[str]:
        """Kill an apply at the first point and each resume after it at the next, resume once more,
        and say what is wrong.
        """
        practice = self.practice()
        practice.run(apply(self.plan()), kills[0])
        for kill in kills[1:]:
            practice.run(resume(RECOVERY_WAIT_S), kill)
        practice.run(resume(RECOVERY_WAIT_S))
        states = [listing.status.state for listing in practice.journal.listings()]
        if OperationState.COMPLETED not in states:
            # Nothing was recorded yet: then kadmin itself says to apply again.
            again = practice.run(apply(self.plan(), RECOVERY_WAIT_S))
            if again.error is not None:
                return [f"killed {', then '.join(map(str, kills))}: apply again: {again.error}"]
        found = self._judge(practice, OperationState.COMPLETED)
        return [f"killed {', then '.join(map(str, kills))}: {each}" for each in found]

    def cancelled(self, kill: KillPoint) -> list[str]:
        """Kill an apply, cancel it from elsewhere, roll back what it left; say what is wrong."""
        practice = self.practice()
        practice.run(apply(self.plan()), kill)
        practice.asked = ""
        ended = practice.run(stop(Stop.CANCEL, lock_timeout_s=RECOVERY_WAIT_S))
        left = practice.journal.unfinished()
        found = [f"unfinished: {left}, {ended.error}"] if left else []
        practice.start_all()
        if self._lists(practice) != BEFORE:
            undone = practice.run(rollback())
            found += [f"rollback: {undone.error}"] if undone.error is not None else []
        found += self._judge(practice, None)
        return [f"killed {kill} and cancelled: {each}" for each in found]

    def _judge(self, practice: Attended, ended: OperationState | None) -> Iterator[str]:
        """Say what differs from before; with `ended`, one operation is to have ended so."""
        practice.bury()
        practice.model.run()
        if (lists := self._lists(practice)) != BEFORE:
            yield f"lists are {lists}"
        leaders = {
            number: practice.model.state(TopicPartition(TOPIC, number)).leader for number in BEFORE
        }
        if leaders != {number: replicas[0] for number, replicas in BEFORE.items()}:
            yield f"leaders are {leaders}"
        if practice.configs() != self.practice().configs():
            yield f"configs are {practice.configs()}"
        if practice.model.znodes.exists(Paths().lock):
            yield "the lock is not free"
        journal = practice.journal
        if journal.unfinished():
            yield f"unfinished: {journal.unfinished()}"
        if ended is None:
            return
        (listing,) = (each for each in journal.listings() if each.status.state is ended)
        steps = journal.steps(listing.operation_id)
        gone = [broker for each in steps if isinstance(each, GoneStep) for broker in each.brokers]
        if sorted(set(gone)) != sorted(RACK) or set(waves_of(steps)) != {0, 2}:
            yield f"steps on record: {steps}"

    def _lists(self, practice: Attended) -> dict[int, Replicas]:
        assigned = practice.model.assigned(TOPIC)
        return {partition.partition: found.replicas for partition, found in assigned.items()}
