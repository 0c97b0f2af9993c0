"""Phase of a cluster's migration to KRaft, by its znodes and its quorum (KIP-866)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import MigrationPhase
from kadmin.errors import NotZooKeeperModeError
from kadmin.next_step import command

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import ControllerNode
    from kadmin.worlds.zookeeper.znodes.controller import Migration

_WAYS = {
    MigrationPhase.DUAL_WRITE: (
        (
            "phase dual-write: a KRaft controller leads, which serves no admin znode, and brokers "
            "are in ZooKeeper mode"
        ),
        (
            "restart brokers in KRaft mode and name them in place of ZooKeeper: -b BROKERS; or "
            "roll the migration back"
        ),
    ),
    MigrationPhase.KRAFT_BROKERS: (
        (
            "phase kraft-brokers or finalized: no broker is registered in ZooKeeper, and nothing "
            "serves the admin znodes"
        ),
        "name its brokers in place of ZooKeeper: -b BROKERS",
    ),
}
"""The reason that nothing is written through ZooKeeper in a phase, and the next step."""


@dataclass(frozen=True, slots=True)
class MigrationNodes:
    """`/controller` and `/migration`, and the brokers that are registered in ZooKeeper."""

    controller: ControllerNode | None
    migration: Migration | None
    brokers: frozenset[int]

    @property
    def led_by_kraft(self) -> bool:
        """Whether a KRaft controller has taken over.

        False again on the way back, once a broker is the controller.
        """
        if self.controller is None:
            return self.migration is not None and self.migration.kraft_controller_id >= 0
        return self.controller.kraft_epoch is not None and self.controller.kraft_epoch >= 0

    def phase(self, quorum_epoch: int | None = None) -> MigrationPhase:
        """Return the phase.

        Without the epoch of the quorum, FINALIZED is returned as KRAFT_BROKERS. Every controller
        that is elected while ZooKeeper is written writes its epoch there.
        """
        if not self.led_by_kraft:
            return (
                MigrationPhase.ZOOKEEPER if self.migration is None else MigrationPhase.CONTROLLERS
            )
        if self.brokers:
            return MigrationPhase.DUAL_WRITE
        written = None if self.controller is None else self.controller.kraft_epoch
        if quorum_epoch is not None and written is not None and quorum_epoch > written:
            return MigrationPhase.FINALIZED
        return MigrationPhase.KRAFT_BROKERS


def led_by_kraft(connect: str, phase: MigrationPhase) -> NotZooKeeperModeError:
    """Build the error for a cluster that is not changed through ZooKeeper in a phase."""
    cause, way = _WAYS[phase]
    return NotZooKeeperModeError(
        f"The cluster at {connect} is migrating to KRaft, or has migrated.",
        cause=cause,
        next_step=f"{way}; to see both sides: "
        + command("doctor migration", "-z", connect, "-b", "BROKERS"),
    )
