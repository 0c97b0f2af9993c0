"""Does the controller watch an admin node? Asked before anything of value is written there.

From 1.1 on a node that was deleted or overwritten by hand leaves the controller deaf until it moves. `wchp` on every
server tells; where it cannot be had, a probe does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.listening import Listening, controller_listens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import Controller
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.clock import Clock

SECOND_LOOK_S = 2.5
"""After a node vanishes the controller watches again within 40 ms; one that reconnects is unknown, not deaf."""


def look(store: Store, path: str, controller: Controller, clock: Clock) -> Listening:
    """Look twice, seconds apart, before calling a controller deaf; nothing is written."""
    return look_at_each(store, (path,), controller, clock)[path]


def look_at_each(store: Store, paths: Sequence[str], controller: Controller, clock: Clock) -> dict[str, Listening]:
    """Look at several paths as `look` does, waiting once."""
    found = {path: controller_listens(store, path, controller) for path in paths}
    doubtful = [path for path, answer in found.items() if answer is Listening.DEAF]
    if doubtful:
        clock.wait(SECOND_LOOK_S)
    return found | {path: controller_listens(store, path, controller) for path in doubtful}
