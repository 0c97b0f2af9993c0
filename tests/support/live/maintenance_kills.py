"""Kills the process of a maintenance at any of its writes, goes on elsewhere or cancels, and checks
what must hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.live.maintained import MAINTAINED, STOP, STOPPED, LiveMaintenance
from support.live.waiting import wait_until
from support.live.write_points import points_in
from support.network.frame_proxy import Action

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.kafka.processes import KadminProcess
    from support.live.errands import Brokers
    from support.live.write_points import Point

DONE_S = 240


class MaintenanceKills:
    """Each run has topics of its own, and a person who does what it asks for."""

    def __init__(self, brokers: Brokers, folder: Path) -> None:
        self._brokers = brokers
        self._folder = folder
        self._runs = 0

    def points(self) -> list[Point]:
        """Every write of an undisturbed run, before and after it is forwarded."""
        maintenance = self._maintenance()
        with self._brokers.proxy() as proxy:
            runner = maintenance.begin(proxy)
            ended = self._attend(maintenance, runner)
        assert ended.status == 0, ended.err
        return points_in(proxy, self._brokers)

    def resumed(self, point: Point) -> list[str]:
        """Kill a run at a point, resume it elsewhere, and say what is wrong."""
        maintenance = self._killed(point)
        ended = self._attend(maintenance, maintenance.elsewhere("resume", "--yes"))
        if "stopped, started and in sync" not in ended.out:
            # Nothing was recorded yet: then kadmin itself says to apply again.
            line = ("apply", str(maintenance.plan), "--yes", "--lock-timeout", "60")
            again = maintenance.elsewhere(*line)
            ended = self._attend(maintenance, again)
        found = [f"ended with {ended.status}: {ended.err}"] if ended.status else []
        return [f"killed {point}: {each}" for each in (*found, *self._judge(maintenance))]

    def cancelled(self, point: Point) -> list[str]:
        """Kill a run at a point, cancel it elsewhere, and say what is wrong."""
        maintenance = self._killed(point)
        ended = maintenance.elsewhere("cancel", "--yes").answer(DONE_S)
        # One with an incomplete record is discarded: then there is nothing to cancel.
        discarded = "has an incomplete record" in ended.err
        found = (
            [f"ended with {ended.status}: {ended.err}"] if ended.status and not discarded else []
        )
        self._brokers.start()
        if "a rollback restores it" in ended.out:
            back = self._brokers.kadmin("rollback", "--yes")
            found += [f"rollback ended with {back.status}: {back.err}"] if back.status else []
        return [
            f"killed {point} and cancelled: {each}" for each in (*found, *self._judge(maintenance))
        ]

    def _maintenance(self) -> LiveMaintenance:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        folder.mkdir()
        return LiveMaintenance(self._brokers, folder, rate="50MB/s")

    def _killed(self, point: Point) -> LiveMaintenance:
        maintenance = self._maintenance()
        with self._brokers.proxy() as proxy:
            runner = maintenance.begin(proxy)
            proxy.faults.append(point.fault(Action.CUT_BEFORE, runner.kill))
            self._attend(maintenance, runner)
        return maintenance

    def _attend(self, maintenance: LiveMaintenance, runner: KadminProcess) -> Answer:
        """Stop and start the broker when the run asks for it, until it ends."""

        def ended() -> bool:
            said, sandbox = maintenance.status(), self._brokers.sandbox
            process = sandbox.brokers.get(MAINTAINED)
            alive = process is not None and process.alive
            if STOP in said and alive:
                sandbox.stop_broker(MAINTAINED)
            elif STOPPED in said and not alive:
                sandbox.start_broker(MAINTAINED)
            return runner.ended

        try:
            wait_until(ended, DONE_S)
        finally:
            runner.end()
        return runner.answer()

    def _judge(self, maintenance: LiveMaintenance) -> Iterator[str]:
        self._brokers.start()
        if (seen := maintenance.seen()) != maintenance.before:
            yield f"not as before: {seen}"
        wait_until(lambda: self._brokers.kadmin("lock", "show").out.strip() == "the lock is free")
        if left := self._brokers.unfinished():
            yield f"unfinished: {left}"
