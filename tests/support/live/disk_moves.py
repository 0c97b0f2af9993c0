"""Kills or stops the process of a rebalance over brokers and disks at any of its writes, while
records flow, and checks what must hold.
"""

from __future__ import annotations

import re
import signal
import threading
from typing import TYPE_CHECKING

from support.live.disks import plan_of
from support.live.records import RecordsFlowing
from support.live.waiting import freeze, thaw, wait_until
from support.live.write_points import points_in
from support.network.frame_proxy import Action

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.kafka.processes import KadminProcess
    from support.live.disks import DiskBrokers
    from support.live.errands import Proxy
    from support.live.write_points import Point

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.throttle import ConfigValues

    Places = dict[TopicPartition, list[tuple[int, str]]]

OVER = {5, 6, 7}
"""How a process ends that was stopped while another one took over: the lock is not its own any
more, or no answer came in time."""
_OF_STEPS = re.compile(
    r"before commit of steps/\d+, time 1$|(before|after) (log directories|reassignments),"
    r"|before write "
)


class DiskRebalance:
    """A topic of its own: one partition moves between disks, one between brokers, one both ways."""

    def __init__(self, brokers: DiskBrokers, folder: Path, disks: str = "50MB/s") -> None:
        self.brokers = brokers
        self._folder = folder
        inside, between, both = self.partitions = brokers.topic({0: (1, 2), 1: (2, 3), 2: (1, 3)})
        self.before = self.seen()
        named = {
            inside: {1: brokers.other(inside, 1), 2: brokers.other(inside, 2)},
            between: {2: brokers.other(between, 2), 1: brokers.fuller(1)},
            both: {3: brokers.other(both, 3), 2: brokers.fuller(2)},
        }
        self.wanted: Places = {each: [*places.items()] for each, places in named.items()}
        entries = [(each, tuple(places), [*places.values()]) for each, places in named.items()]
        spec = f"waves: {{max_partitions: 2}}\n  throttle: {{rate: 50MB/s, disks: {disks}}}"
        self.plan = folder / "plan.yaml"
        self.plan.write_text(plan_of(*entries, spec=spec))

    def begin(self, through: Proxy | None = None) -> KadminProcess:
        """Apply the plan on a machine of its own."""
        state = self._folder / "machine"
        return self.brokers.run("apply", str(self.plan), "--yes", state=state, through=through)

    def elsewhere(self, *arguments: str) -> Answer:
        """Run a command on another machine, which has no copy of any record."""
        return self.brokers.run(*arguments, "--yes", state=self._folder / "elsewhere").answer()

    def seen(self) -> tuple[Places, ConfigValues]:
        """Return the broker and directory of each replica, in order, and the throttles."""
        lists = {each: self.brokers.state().assignment[each] for each in self.partitions}
        places = {
            each: [*self.brokers.places(each, *brokers).items()] for each, brokers in lists.items()
        }
        return places, self.brokers.throttles()


class DiskKills:
    """Each run has topics of its own, into which records flow.

    `killed` counts the runs that were killed: one whose moves are in other waves, as directories
    are chosen by brokers, may have no such point, and then ends by itself.
    """

    def __init__(self, brokers: DiskBrokers, folder: Path) -> None:
        self.killed = 0
        self._brokers = brokers
        self._folder = folder
        self._runs = 0

    def points(self) -> list[Point]:
        """The points of an undisturbed run at each step: before it is on record, and before and
        after its request. In ZooKeeper mode they are those before each write.
        """
        moves = self._rebalance()
        with self._brokers.proxy() as proxy:
            ended = moves.begin(proxy).answer()
        assert ended.status == 0, ended.err
        assert moves.seen() == (moves.wanted, moves.before[1])
        return [each for each in points_in(proxy, self._brokers) if _OF_STEPS.match(str(each))]

    def resumed(self, point: Point) -> list[str]:
        """Kill a run at a point, resume it elsewhere, roll it back, and say what is wrong."""
        moves, known = self._rebalance(), {*self._brokers.operations()}
        with RecordsFlowing(self._brokers.sandbox.bootstrap, moves.partitions) as flow:
            found = [*self._kill(moves, point), *_failed(moves.elsewhere("resume"))]
            if not self._brokers.operations().keys() - known:
                # Nothing was recorded yet: then kadmin itself says to apply again.
                found += _failed(
                    moves.elsewhere("apply", str(moves.plan), "--lock-timeout", "60"), "apply again"
                )
            if (seen := moves.seen()) != (moves.wanted, moves.before[1]):
                found.append(f"not as planned: {seen}")
            found += self._rolled_back(moves, known)
        return [f"killed {point}: {each}" for each in (*found, *self._left(flow))]

    def cancelled(self, point: Point) -> list[str]:
        """Kill a run at a point, cancel it elsewhere, roll it back, and say what is wrong."""
        moves, known = self._rebalance(), {*self._brokers.operations()}
        with RecordsFlowing(self._brokers.sandbox.bootstrap, moves.partitions) as flow:
            found = [*self._kill(moves, point), *_failed(moves.elsewhere("cancel", "--now"))]
            if (left := moves.seen()[1]) != moves.before[1]:
                found.append(f"throttles: {left}")
            found += self._rolled_back(moves, known)
        return [f"killed {point} and cancelled: {each}" for each in (*found, *self._left(flow))]

    def taken_over(self, point: Point) -> list[str]:
        """Stop a run at a point, resume it elsewhere, wake it, and say what is wrong."""
        moves, stopped = self._rebalance(), threading.Event()
        with (
            RecordsFlowing(self._brokers.sandbox.bootstrap, moves.partitions) as flow,
            self._brokers.proxy() as proxy,
        ):
            zombie = moves.begin(proxy)

            def stop() -> None:
                freeze(zombie.pid)
                stopped.set()

            proxy.faults.append(point.fault(Action.CALL, stop))
            try:
                wait_until(lambda: stopped.is_set() or zombie.ended)
                found = [*_failed(moves.elsewhere("resume"))]
                seen = moves.seen()
                thaw(zombie.pid)
                woken = zombie.answer()
            finally:
                zombie.end()
            if woken.status not in OVER:
                found.append(f"the old runner ended with {woken.status}: {woken.err}")
            if seen != (moves.wanted, moves.before[1]):
                found.append(f"not as planned: {seen}")
            if moves.seen() != seen:
                found.append(f"changed since the old runner woke: {seen} {moves.seen()}")
        return [f"stopped {point}: {each}" for each in (*found, *self._left(flow))]

    def _rebalance(self) -> DiskRebalance:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return DiskRebalance(self._brokers, folder)

    def _kill(self, moves: DiskRebalance, point: Point) -> Iterator[str]:
        with self._brokers.proxy() as proxy:
            runner = moves.begin(proxy)
            proxy.faults.append(point.fault(Action.CUT_BEFORE, runner.kill))
            ended = runner.answer()
        self.killed += ended.status == -signal.SIGKILL
        if ended.status not in (0, -signal.SIGKILL):
            yield f"not killed, it ended with {ended.status}: {ended.err}"

    def _rolled_back(self, moves: DiskRebalance, known: set[str]) -> Iterator[str]:
        """Roll back the operation of these moves, if there is one."""
        for operation in self._brokers.operations().keys() - known:
            # The lock of one that was killed at its last writes is free a session later.
            ended = moves.elsewhere("rollback", operation, "--lock-timeout", "60")
            yield from _failed(ended, "rollback")
        if (seen := moves.seen()) != moves.before:
            yield f"not as before: {seen}"

    def _left(self, flow: RecordsFlowing) -> Iterator[str]:
        if lost := flow.lost():
            yield f"not consumed: {lost}, and not in their topic: {flow.missing(lost)}"
        wait_until(lambda: self._brokers.kadmin("lock", "show").out.strip() == "the lock is free")
        if left := self._brokers.unfinished():
            yield f"unfinished: {left}"


def _failed(ended: Answer, what: str = "ended") -> Iterator[str]:
    # One with an incomplete record is discarded: then there is nothing to go on with.
    if ended.status and "has an incomplete record" not in ended.err:
        yield f"{what} with {ended.status}: {ended.err}"
