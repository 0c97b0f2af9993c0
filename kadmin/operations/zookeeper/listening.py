"""Checks whether the controller watches an admin node, before a plan is written there.

From 1.1 on the controller stops watching a node that was deleted or overwritten by hand, until it moves. `wchp` on
every server shows it; where `wchp` is not answered, a probe does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening
from kadmin.cluster.zookeeper.listening import controller_listens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.zookeeper.model import ControllerNode
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.context import Clock

SECOND_LOOK_S = 2.5
"""A controller sets its watch again within 40 ms after a node was deleted."""


def look(store: Store, paths: Sequence[str], controller: ControllerNode, clock: Clock) -> dict[str, Listening]:
    """Check twice, seconds apart, before reporting a controller as deaf; nothing is written."""
    found = {path: controller_listens(store, path, controller) for path in paths}
    doubtful = [path for path, answer in found.items() if answer is Listening.DEAF]
    if doubtful:
        clock.wait(SECOND_LOOK_S)
    return found | {path: controller_listens(store, path, controller) for path in doubtful}
