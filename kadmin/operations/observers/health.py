"""The health gate: what keeps the next wave from starting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.health import health_of, new_trouble
from kadmin.operations.reading.brokers import with_disks
from kadmin.plan.copying import sized
from kadmin.plan.disk_forecast import forecast
from kadmin.plan.facts import ClusterFacts
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.observers.other_tools import OtherTools
    from kadmin.operations.record.record import OperationRecord
    from kadmin.plan.model import PartitionTarget


class HealthGate:
    """Compares the cluster with its health on record.

    Finds other tools, and disks that the next waves would fill.
    """

    def __init__(self, context: Context, record: OperationRecord, others: OtherTools) -> None:
        self._context = context
        self._record = record
        self._others = others
        self._reports_space = True

    def look(
        self, waves: Sequence[Sequence[PartitionTarget]]
    ) -> tuple[tuple[str, ...], str | None]:
        """Return the troubles before the waves.

        Also return a note on what was unhealthy before the operation, if anything.
        """
        state = self._context.backend.read(with_configs=True)
        before, now = self._record.health, health_of(state)
        troubles = () if before is None else new_trouble(before, state, self._record.origin)
        if others := self._others.moving(state):
            troubles = (*troubles, f"another tool reassigns {name_some(others)}")
        unhealthy, note = sorted(now.offline | now.under_min_isr), None
        if unhealthy and not troubles:
            note = f"unhealthy before the operation, or part of it: {name_some(unhealthy)}"
        return (*troubles, *self._shortages(waves, state)), note

    def _shortages(
        self, waves: Sequence[Sequence[PartitionTarget]], state: ClusterState
    ) -> tuple[str, ...]:
        """Name the brokers and disks that lack space for the waves, by log dirs of live brokers.

        Unknown space is enough. Brokers are asked no more once none reports its space: that costs
        time at every wave.
        """
        copies = any(target.added or target.directories for wave in waves for target in wave)
        if not self._reports_space or not copies:
            return ()
        facts = with_disks(ClusterFacts(), state, self._context.backend.brokers(state))
        self._reports_space = any(usable is not None for usable in facts.usable.values())
        return tuple(str(each) for each in forecast(sized(waves, facts.sizes), facts).shortages)
