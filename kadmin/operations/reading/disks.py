"""Reads the disks of brokers for `inspect disks`, and those that they had in a snapshot."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from kadmin.cluster.disks import by_broker
from kadmin.insight.diagnosis.disks import EarlierDisks
from kadmin.insight.predict.whatif import brokers_lost
from kadmin.insight.tables.disks import disk_table
from kadmin.insight.tables.inspection import Inspection
from kadmin.inventory import SINGLE_CLUSTER, read_inventory, replicas_of
from kadmin.operations.reading.brokers import not_described
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kadmin.operations.context import Context


def inspect_disks(context: Context, brokers: Collection[int]) -> Inspection:
    """Ask brokers for their log directories; all live ones where none is named.

    Raises StalePlanError for a named one that is not alive, and the error of the brokers where none
    of them describes its disks.
    """
    context.backend.check()
    state = context.backend.read(())
    asked = brokers_lost(state, brokers, ()) or sorted(state.brokers)
    with closing(context.backend.brokers(state)) as live:
        found = live.log_dirs(asked)
    unavailable = not_described(found)
    if not brokers and (fenced := sorted(state.fenced_brokers or ())):
        unavailable += (f"disks of {brokers_in_words(fenced)} are not known: not alive",)
    return Inspection(disk_table(found.disks, found.replicas), unavailable=unavailable)


def disks_of_snapshot(folder: Path, brokers: Collection[int]) -> Inspection:
    """Return the log directories of a snapshot; those of every broker where none is named."""
    cluster = read_inventory(folder).single()
    known = by_broker(cluster.disks)
    asked = sorted(brokers or {row.broker_id for row in cluster.brokers if row.alive is not False})
    unknown = [broker for broker in asked if broker not in known]
    disks = {broker: each for broker, each in known.items() if broker in asked}
    return Inspection(
        disk_table(disks, replicas_of(cluster), with_copies=False),
        unavailable=(f"the snapshot has no disks of {brokers_in_words(unknown)}",)
        if unknown
        else (),
    )


def earlier_disks(folder: Path, name: str | None) -> EarlierDisks:
    """Return the log directories of a snapshot.

    In the snapshot of a fleet, those of the cluster of this name. Raises InvalidInputError for one
    that cannot be read, and UsageError for a fleet without the name.
    """
    found = read_inventory(folder)
    cluster = found.clusters.get(name or SINGLE_CLUSTER) or found.single()
    source = f"snapshot {folder}, taken at {found.taken_at}"
    return EarlierDisks(source, cluster.cluster_id, by_broker(cluster.disks), replicas_of(cluster))
