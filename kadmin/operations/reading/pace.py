"""The progress of a run: the part that is done, its rate, and the time left."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.failures import dead_targets
from kadmin.operations.decide.spec import Tally
from kadmin.operations.decide.troubles import without_source
from kadmin.operations.events import Progressed
from kadmin.operations.record.throttle_steps import current_hours
from kadmin.plan.copied import SAMPLE_S, Sample, eta_of, rate_of, with_sample
from kadmin.plan.ending import ending

if TYPE_CHECKING:
    from datetime import datetime

    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.record.record import ThrottleRecord
    from kadmin.plan.copied import OnDisk


class Pace:
    """Follows the progress of one run; copies of an earlier run do not count in its rate."""

    def __init__(self, work: OperationSpec) -> None:
        self._work = work
        self._seen: tuple[int, int] | None = None
        self._on_disk: OnDisk | None = None
        self._tally = Tally(0, 0)
        self._samples: tuple[Sample, ...] = ()
        self._waits_for_brokers = False

    def progress(
        self, observed: Observed, memory: Memory, now: float, throttle: int | None, reason: str
    ) -> Progressed:
        """Return the progress at `now`.

        A plan is counted again only where something changed: it may be large.
        """
        seen = (memory.fingerprint, memory.wave)
        fresh = bool(observed.on_disk) and observed.on_disk is not self._on_disk
        if fresh or seen != self._seen:
            self._tally = self._work.tally(observed, memory)
            if fresh or self._is_news(now):
                self._add_sample(observed, memory, now)
            self._waits_for_brokers = _waits_for_brokers(self._work, observed, memory)
            self._seen, self._on_disk = seen, observed.on_disk
        rate, eta_s = rate_of(self._samples), eta_of(self._samples, throttle)
        if self._waits_for_brokers:
            eta_s = None
        return Progressed(**asdict(self._tally), rate=rate, eta_s=eta_s, reason=reason)

    def reckoned(
        self, found: Progressed, throttle: ThrottleRecord | None, at: datetime
    ) -> Progressed:
        """Return the progress with its end by the hours of the operation, at a time in UTC.

        Inside them copies go on as fast as now. Outside, those to come have the rates of the
        throttle. Without hours nothing changes.
        """
        hours = current_hours(throttle)
        left = self._samples[-1].copied.left if self._samples else 0.0
        if throttle is None or hours is None or not left:
            return found
        rates: tuple[float, float] | None = None
        if not hours.includes(at):
            lowest = throttle.rate if throttle.spec is None else throttle.spec.amount
            highest = None if throttle.spec is None else throttle.spec.most
            rates = lowest, highest or lowest
        elif found.eta_s:
            rates = left / found.eta_s, left / found.eta_s
        end = None
        if rates is not None and not self._waits_for_brokers:
            end = ending(hours, left, rates, at)
        return replace(found, eta_s=None if end is None else end.seconds, ending=end)

    def _is_news(self, now: float) -> bool:
        """Whether a new sample is due: partitions were completed, the last sample is old enough."""
        found, samples = self._tally, self._samples
        if not samples or found.done == found.total:
            return True
        return found.done_bytes != samples[-1].copied.done and now - samples[-1].at >= SAMPLE_S

    def _add_sample(self, observed: Observed, memory: Memory, now: float) -> None:
        work = self._work
        found = work.copied(observed, memory) if isinstance(work, CopyingSpec) else None
        self._samples = () if found is None else with_sample(self._samples, Sample(now, found))


def _waits_for_brokers(work: OperationSpec, observed: Observed, memory: Memory) -> bool:
    """Whether the wave does not end before a broker returns, however fast its other copies are."""
    if not isinstance(work, CopyingSpec):
        return False
    wave = work.wave(memory)
    return bool(dead_targets(wave, observed.state) or without_source(wave, observed.state))
