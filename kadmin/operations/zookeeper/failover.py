"""Moves the controller to another broker: waits for the moment when it may be, and for the one who succeeds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.listening import in_hex, who_watches
from kadmin.cluster.zookeeper.model import Check, Delete
from kadmin.cluster.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.cluster.zookeeper.znodes.brokers import BROKER_IDS
from kadmin.cluster.zookeeper.znodes.controller import CONTROLLER, CONTROLLER_EPOCH
from kadmin.cluster.zookeeper.znodes.topics import TOPICS
from kadmin.errors import NotCompletedError, name_some
from kadmin.operations.context import POLL_S
from kadmin.operations.decide.actions import PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
from kadmin.operations.zookeeper.succession import Succession, not_yet, poisoned

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.zookeeper.model import Op
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.context import Clock

PATIENCE_S = 120.0
"""How long a broker that does not watch `/controller` is waited for; 4 s were seen with 27,000 partitions."""


@dataclass(frozen=True, slots=True)
class ControllerMove:
    """A move of the controller that is allowed, for the controller that was looked at and no other."""

    epoch_version: int
    controller_version: int

    def ops(self) -> tuple[Op, ...]:
        """Return the ops of the move: a check that the controller did not move since, and the deletion."""
        return Check(CONTROLLER_EPOCH, self.epoch_version), Delete(CONTROLLER, self.controller_version)


class Failover:
    """Asks whether the controller may be moved, remembering for how long nothing has changed."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._last: Succession | None = None
        self._still_since = 0.0
        self._asked_since: float | None = None

    def ask(self, replaced: Collection[str] = ()) -> ControllerMove | str:
        """Return the allowed move, or why it must wait; `replaced` are the nodes that the same write takes away.

        Raises NotCompletedError where a node would make every new controller resign, and after PATIENCE_S seconds.
        """
        now, seen = self._clock.now(), look(self._store)
        if self._last is None or _standing(seen) != _standing(self._last):
            self._last, self._still_since = seen, now
        self._asked_since = now if self._asked_since is None else self._asked_since
        reason = not_yet(seen, now - self._still_since)
        if reason is not None or seen.controller_version is None:
            if now - self._asked_since > PATIENCE_S:
                raise _impatient(reason)
            return reason or ""
        self._asked_since = None
        if poison := sorted(set(_poison(self._store)) - set(replaced)):
            raise _poison_left(poison)
        return ControllerMove(seen.epoch_version, seen.controller_version)


def look(store: Store) -> Succession:
    """Look once at the controller and at those who would succeed it."""
    controller, epoch = store.exists_many([CONTROLLER, CONTROLLER_EPOCH])
    ids = [name for name in store.children(BROKER_IDS) or () if name.isdigit()]
    nodes = store.exists_many([f"{BROKER_IDS}/{name}" for name in ids])
    brokers = {int(name): node.ephemeral_owner for name, node in zip(ids, nodes, strict=True) if node is not None}
    found = who_watches(store, CONTROLLER)
    return Succession(
        None if controller is None else controller.version,
        -1 if epoch is None else epoch.version,
        brokers,
        frozenset(broker for broker, session in brokers.items() if in_hex(session) in found.sessions),
        found.complete,
    )


def await_successor(store: Store, clock: Clock, before: int) -> None:
    """Wait until a controller of a later epoch than `before` (the zkVersion of its znode) is there.

    Raises NotCompletedError when none is within 30 s or by the command's end, StoppedError on a signal.
    """
    give_up = min(clock.now() + PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S, clock.until)
    while True:
        controller, epoch = store.exists_many([CONTROLLER, CONTROLLER_EPOCH])
        if controller is not None and epoch is not None and epoch.version > before:
            return
        clock.stop_if_asked("the controller was moved already", "kadmin doctor")
        if clock.now() >= give_up:
            raise NotCompletedError(
                "The controller was moved, and no broker has become the new one yet.", next_command="kadmin heal"
            )
        clock.wait(POLL_S)


def _standing(seen: Succession) -> tuple[object, ...]:
    return seen.controller_version, seen.epoch_version, seen.brokers


def _poison(store: Store) -> tuple[str, ...]:
    topics = [f"{TOPICS}/{name}" for name in store.children(TOPICS) or ()]
    nodes = store.get_many([REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION, *topics])
    return poisoned(node for node in nodes if node is not None)


def _poison_left(paths: list[str]) -> NotCompletedError:
    return NotCompletedError(
        f"The controller must not be moved: the next one could not read {name_some(paths)}.",
        cause="every new controller would resign, and the elections would never end",
        next_command="kadmin heal",
    )


def _impatient(reason: str | None) -> NotCompletedError:
    return NotCompletedError(
        f"The controller was not moved within {PATIENCE_S:g} s, and nothing was changed: {reason}.",
        cause="moved before every broker watches it, it could leave the cluster without any controller",
        next_command="kadmin doctor",
    )
