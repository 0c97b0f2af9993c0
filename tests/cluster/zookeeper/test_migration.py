"""The phase of a migration, by its znodes and the epoch of the quorum."""

from __future__ import annotations

import pytest

from kadmin.cluster.model import MigrationPhase
from kadmin.worlds.zookeeper.migration import MigrationNodes
from kadmin.worlds.zookeeper.model import ControllerNode
from kadmin.worlds.zookeeper.znodes.controller import Migration

BROKER = ControllerNode(broker_id=1, session_id=7, kraft_epoch=-1)
OLD_BROKER = ControllerNode(broker_id=1, session_id=7)
KRAFT = ControllerNode(broker_id=3000, session_id=0, kraft_epoch=4)
WAITING, BEGUN = Migration(-1, -1), Migration(3000, 77)
SOME: frozenset[int] = frozenset({1, 2})
NONE: frozenset[int] = frozenset()


@pytest.mark.parametrize(
    ("nodes", "quorum_epoch", "phase"),
    [
        (MigrationNodes(BROKER, None, SOME), None, MigrationPhase.ZOOKEEPER),
        (MigrationNodes(OLD_BROKER, None, SOME), None, MigrationPhase.ZOOKEEPER),
        (MigrationNodes(None, None, NONE), None, MigrationPhase.ZOOKEEPER),
        (MigrationNodes(BROKER, WAITING, SOME), None, MigrationPhase.CONTROLLERS),
        (MigrationNodes(None, WAITING, SOME), None, MigrationPhase.CONTROLLERS),
        (MigrationNodes(BROKER, BEGUN, SOME), None, MigrationPhase.CONTROLLERS),
        (MigrationNodes(KRAFT, BEGUN, SOME), None, MigrationPhase.DUAL_WRITE),
        (MigrationNodes(KRAFT, BEGUN, SOME), 9, MigrationPhase.DUAL_WRITE),
        (MigrationNodes(None, BEGUN, SOME), None, MigrationPhase.DUAL_WRITE),
        (MigrationNodes(KRAFT, BEGUN, NONE), None, MigrationPhase.KRAFT_BROKERS),
        (MigrationNodes(KRAFT, BEGUN, NONE), 4, MigrationPhase.KRAFT_BROKERS),
        (MigrationNodes(KRAFT, BEGUN, NONE), 5, MigrationPhase.FINALIZED),
        (MigrationNodes(None, BEGUN, NONE), 5, MigrationPhase.KRAFT_BROKERS),
    ],
)
def test_the_phase(nodes: MigrationNodes, quorum_epoch: int | None, phase: MigrationPhase) -> None:
    assert nodes.phase(quorum_epoch) is phase
