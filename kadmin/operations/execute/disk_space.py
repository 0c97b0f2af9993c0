"""The health gate's check of disk space, between two waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.reading.brokers import with_disks
from kadmin.plan.copying import sized
from kadmin.plan.disk_space import shortages
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.waves import added

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.port import LiveBrokers
    from kadmin.plan.model import PartitionTarget


def too_little_room(
    waves: Sequence[Sequence[PartitionTarget]], state: ClusterState, brokers: LiveBrokers
) -> tuple[str, ...] | None:
    """Name the brokers that lack disk space for the waves, by the log dirs of live brokers; unknown space is enough.

    Returns None where no broker reports its disk space.
    """
    if not any(added(target) for wave in waves for target in wave):
        return ()
    facts = with_disks(ClusterFacts(), state, brokers)
    if all(usable is None for usable in facts.usable.values()):
        return None
    return tuple(str(each) for each in shortages(sized(waves, facts.sizes), facts.usable))
