"""Kills a reassignment of three waves at any of its requests, resumes it, and checks what must
hold.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from support.controller.znodes import ELECTION, REASSIGN, reassignment_payload
from support.executor.runs import KillPoint, Practice, apply, resume, stop
from support.zookeeper.fault_proxy import MULTI
from support.zookeeper.transaction_log import CREATE

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import waves_of
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    DecommissionPlan,
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.throttle import LEADER_RATE
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.controller.eras import Era
    from support.executor.runs import Site
    from support.zookeeper.transaction_log import Write

TOPIC = "orders"
LEAVES = 1
ORIGIN = (LEAVES, 2)
TARGET = (2, 3)
WAVES = ((0, 1), (2, 3), (4,))
FOREIGN = b'{"version":1}'
"""An election node that no controller can read: it stays, and is nobody's business here."""
OLD_RATE = "7"
OLD_THROTTLE = json.dumps({"version": 1, "config": {LEADER_RATE: OLD_RATE}}).encode()
RECOVERY_WAIT_S = 60.0
BEGINS = datetime(2026, 6, 1, 12, tzinfo=UTC)
EVERY_OTHER_MINUTE = HoursSpec(
    tuple(parse_window(f"12:{minute:02}-12:{minute + 1:02}") for minute in range(1, 59, 2)), "UTC"
)


@dataclass(frozen=True, slots=True)
class Ground:
    """Where kill points are tried: one ZooKeeper, with four-letter words or without, and the era of
    the controller.

    With a `highest_rate` the rate is a range, and copies begin in every other minute only: then the
    wall clock is the test's. Where broker 1 `leaves`, it is dead, and the plan is its decommission.
    """

    site: Site
    era: Era
    throttle_rate: int | None = None
    highest_rate: int | None = None
    leaves: bool = False

    def practice(self) -> Practice:
        """Make a cluster of three brokers with the topic of the plan and a foreign node."""
        made = Practice(self.site, self.era, brokers=(2, 3) if self.leaves else (1, 2, 3))
        made.model.create_topic(TOPIC, dict.fromkeys(range(sum(map(len, WAVES))), ORIGIN))
        made.model.run()
        made.model.znodes.create(ELECTION, FOREIGN)
        made.model.znodes.create("/config/brokers/1", OLD_THROTTLE)
        made.model.run()
        made.at = None if self.highest_rate is None else BEGINS
        return made

    def plan(self) -> ReassignmentPlan:
        """Three waves."""
        partitions = [TopicPartition(TOPIC, number) for wave in WAVES for number in wave]
        targets = tuple(PartitionTarget(partition, TARGET, ORIGIN) for partition in partitions)
        limits = WaveLimits(max_partitions=max(map(len, WAVES)))
        pair, hours = (None, None) if self.highest_rate is None else (2, EVERY_OTHER_MINUTE)
        throttle = (
            None
            if self.throttle_rate is None
            else ThrottleSpec(ThrottleBy.RATE, self.throttle_rate, self.highest_rate, pair)
        )
        plan = ReassignmentPlan(
            PlanHeader("three-waves"), targets, throttle=throttle, limits=limits, hours=hours
        )
        if not self.leaves:
            return plan
        return DecommissionPlan(
            plan.header, targets, throttle, limits, hours=hours, brokers=(LEAVES,)
        )

    def points(self, *, only_writes: bool = False) -> list[KillPoint]:
        """Every request of an undisturbed apply, or every write of it, before and after it is
        forwarded.
        """
        clean = self.practice().run(apply(self.plan()))
        assert clean.outcome is not None, clean.error
        numbers = [
            n for n, op in enumerate(clean.requests, start=1) if op == MULTI or not only_writes
        ]
        return [KillPoint(number, after) for number in numbers for after in (False, True)]

    def violations(self, *kills: KillPoint) -> list[str]:
        """Kill an apply at the first point and each resume after it at the next, recover, and say
        what is wrong.
        """
        practice = self.practice()
        applied = practice.run(apply(self.plan()), kills[0])
        runs = [applied, *(practice.run(resume(RECOVERY_WAIT_S), kill) for kill in kills[1:])]
        errors = [run.error for run in runs if not run.killed]
        found = [
            f"unexpected: {error}"
            for error in errors
            if error is not None and not _discarded(error)
        ]
        found += _off_record(practice)
        found += self.recover_and_judge(practice)
        return [f"killed {', then '.join(map(str, kills))}: {each}" for each in found]

    def cancelled(self, kill: KillPoint) -> list[str]:
        """Kill an apply, cancel it from elsewhere, and say what is left of it."""
        practice = self.practice()
        before = practice.configs()
        practice.run(apply(self.plan()), kill)
        found = list(_off_record(practice))
        ended = practice.run(stop(Stop.CANCEL_NOW, lock_timeout_s=RECOVERY_WAIT_S))
        practice.bury()
        unfinished = practice.journal.unfinished()
        if unfinished:
            found.append(f"unfinished: {unfinished}, {ended.error}")
        if practice.configs() != before:
            found.append(f"configs are not what they were, {ended.error}")
        return [f"killed {kill} and cancelled: {each}" for each in found]

    def recover_and_judge(self, practice: Practice) -> list[str]:
        """Bring a killed apply to its end, and say what is wrong then."""
        found = [*self._recover(practice), *_judge(practice)]
        if practice.configs() != self.practice().configs():
            found.append("configs are not what they were")
        return found

    def _recover(self, practice: Practice) -> Iterator[str]:
        """Resume; where nothing had been recorded yet, apply again, as kadmin itself says."""
        resumed = practice.run(resume(RECOVERY_WAIT_S))
        if resumed.error is not None and not _discarded(resumed.error):
            yield f"resume: {resumed.error}"
        states = [listing.status.state for listing in practice.journal.listings()]
        if OperationState.COMPLETED not in states:
            again = practice.run(apply(self.plan(), RECOVERY_WAIT_S))
            if again.error is not None:
                yield f"apply again: {again.error}"


def _discarded(error: Exception) -> bool:
    return "has an incomplete record" in str(error)


def _off_record(practice: Practice) -> Iterator[str]:
    """Say which rates brokers have, and no operation on record has."""
    if wrong := practice.rates() - practice.rates_on_record() - {OLD_RATE}:
        yield f"rates that are not on record: {wrong}"


def _judge(practice: Practice) -> Iterator[str]:
    practice.bury()
    model = practice.model
    expected = [
        reassignment_payload({TopicPartition(TOPIC, n): TARGET for n in wave}) for wave in WAVES
    ]
    if published_waves(practice) != expected:
        yield f"waves published: {published_waves(practice)}"
    if model.znodes.get(ELECTION) != FOREIGN or _writes_to(practice, ELECTION):
        yield "the foreign node was touched"
    if model.znodes.exists(Paths().lock):
        yield "the lock is not free"
    for partition, assigned in model.assigned(TOPIC).items():
        if assigned.replicas != TARGET or assigned.moving:
            yield f"{partition} is at {assigned}"
    listings = practice.journal.listings()
    completed = [each for each in listings if each.status.state is OperationState.COMPLETED]
    if len(completed) != 1 or practice.journal.unfinished():
        yield f"operations: {[str(each.status.state) for each in listings]}"
    for listing in completed:
        if set(practice.journal.record(listing.operation_id).origin.values()) != {ORIGIN}:
            yield "the original assignment is lost"
        steps = waves_of(practice.journal.steps(listing.operation_id))
        if steps != list(range(len(WAVES))):
            yield f"step records of waves {steps}"


def published_waves(practice: Practice) -> list[bytes]:
    """Every reassignment that somebody else than the controller created, in order; probes do not
    count.
    """
    return [
        data
        for data in (
            write.data or b"" for write in _writes_to(practice, REASSIGN) if write.op == CREATE
        )
        if json.loads(data)["partitions"][0]["topic"] != "!probe"
    ]


def _writes_to(practice: Practice, path: str) -> list[Write]:
    model = practice.model.znodes.client.client_id[0]
    full = f"{practice.chroot}{path}"
    return [
        write for write in practice.writes() if write.path == full and write.session_id != model
    ]
