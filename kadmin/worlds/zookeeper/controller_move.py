"""Moves the controller to another broker by deleting `/controller`, and decides when that is safe.

Watches on `/controller` are one-shot, and each broker sets its own again. A broker misses a second
deletion before that: a few in quick succession can leave a cluster without a controller for good. A
new controller reads every znode when it starts, and resigns over one that it cannot read.

=================================================  ========================================
seen                                               may the controller be moved
=================================================  ========================================
no controller                                      not now
every live broker's session watches `/controller`  yes
some do not, and every server listed its watches   not now
some server does not list its watches              after STILL_S seconds without any change
a node that no new controller can read             never, unless the same write removes it
=================================================  ========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
from kadmin.operations.port import Postponed
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.listening import in_hex, who_watches
from kadmin.worlds.zookeeper.model import Check, Delete
from kadmin.worlds.zookeeper.znodes.admin import (
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    decode_election,
    decode_reassignment,
)
from kadmin.worlds.zookeeper.znodes.brokers import BROKER_IDS
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER, CONTROLLER_EPOCH
from kadmin.worlds.zookeeper.znodes.topics import TOPICS, decode_topic
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.operations.context import Clock
    from kadmin.worlds.zookeeper.model import Op, Znode
    from kadmin.worlds.zookeeper.wire.store import Store

PATIENCE_S = 120.0
"""Seconds to wait for brokers that do not watch `/controller`; 27,000 partitions took 4 s."""


STILL_S = 60.0
"""Seconds that epoch and brokers must stay unchanged where ZooKeeper does not list its watches."""


@dataclass(frozen=True, slots=True)
class ControllerLook:
    """The controller and the brokers that can follow it, as read once.

    `controller_version` is None where there is no controller. `brokers` maps each registered broker
    to its session; `watching` are those whose session watches `/controller`; `complete`: every
    server listed its watches.
    """

    controller_version: int | None
    epoch_version: int
    brokers: Mapping[int, int]
    watching: frozenset[int]
    complete: bool


def not_yet(seen: ControllerLook, still_s: float) -> str | None:
    """Return the reason not to move the controller now, None where it may.

    Nothing changed for `still_s` seconds.
    """
    if seen.controller_version is None or not seen.brokers:
        return "the cluster has no controller right now"
    missing = sorted(set(seen.brokers) - seen.watching)
    if not missing:
        return None
    if seen.complete:
        return f"not every broker watches /controller yet: {name_some(missing)}"
    if still_s >= STILL_S:
        return None
    return (
        "ZooKeeper does not list the watches of /controller, so it must stay unchanged for "
        f"{STILL_S:g} s"
    )


def poisoned(nodes: Iterable[Znode]) -> tuple[str, ...]:
    """Return the paths of admin nodes and topics that a new controller could not read or act on.

    Judged as the strictest version does: a node that only some versions fail on counts.
    """
    return tuple(node.path for node in nodes if _poisons(node))


def _poisons(node: Znode) -> bool:
    try:
        if node.path == REASSIGN_PARTITIONS:
            return not all(decode_reassignment(node.data).values())
        if node.path == PREFERRED_REPLICA_ELECTION:
            decode_election(node.data)
            return False
        topic = decode_topic(node.path, node)
    except MalformedZnodeError:
        return True
    # From 2.7 on a partition all of whose replicas are being removed makes every new controller
    # resign.
    return any(
        set(ids) >= set(topic.replicas.get(number, ())) and topic.replicas.get(number)
        for number, ids in topic.removing_replicas.items()
    )


@dataclass(frozen=True, slots=True)
class ControllerMove:
    """An allowed move, valid for the controller that was read."""

    epoch_version: int
    controller_version: int

    def ops(self) -> tuple[Op, ...]:
        """Return the ops of the move: a check that the controller is the same, and the deletion."""
        return Check(CONTROLLER_EPOCH, self.epoch_version), Delete(
            CONTROLLER, self.controller_version
        )


class ControllerMover:
    """Allows a move of the controller, or returns the reason to wait."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._last: ControllerLook | None = None
        self._still_since = 0.0
        self._asked_since: float | None = None

    def ask(self, replaced: Collection[str] = ()) -> ControllerMove | Postponed:
        """Return the allowed move, or the reason to wait.

        `replaced` are the nodes that the same write removes. Raises NotCompletedError where a node
        would make every new controller resign, and after PATIENCE_S seconds.
        """
        now, seen = self._clock.now(), look(self._store)
        if self._last is None or _unchanging(seen) != _unchanging(self._last):
            self._last, self._still_since = seen, now
        self._asked_since = now if self._asked_since is None else self._asked_since
        reason = not_yet(seen, now - self._still_since)
        if reason is not None or seen.controller_version is None:
            if now - self._asked_since > PATIENCE_S:
                raise _not_allowed(reason)
            return Postponed(reason or "")
        self._asked_since = None
        if poison := sorted(set(_poison(self._store)) - set(replaced)):
            raise _unreadable_left(poison)
        return ControllerMove(seen.epoch_version, seen.controller_version)


def look(store: Store) -> ControllerLook:
    """Read the controller, the brokers and the watches on `/controller`."""
    controller, epoch = store.exists_many([CONTROLLER, CONTROLLER_EPOCH])
    ids = [name for name in store.children(BROKER_IDS) or () if name.isdigit()]
    nodes = store.exists_many([f"{BROKER_IDS}/{name}" for name in ids])
    brokers = {
        int(name): node.ephemeral_owner
        for name, node in zip(ids, nodes, strict=True)
        if node is not None
    }
    found = who_watches(store, CONTROLLER)
    return ControllerLook(
        None if controller is None else controller.version,
        -1 if epoch is None else epoch.version,
        brokers,
        frozenset(
            broker for broker, session in brokers.items() if in_hex(session) in found.sessions
        ),
        found.complete,
    )


def await_successor(store: Store, clock: Clock, before: int) -> None:
    """Wait for a controller with a later epoch than `before`, the zkVersion of `/controller_epoch`.

    Raises NotCompletedError when none is within 30 s or by the command's end, StoppedError on a
    signal.
    """
    for _ in clock.poll(PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S):
        controller, epoch = store.exists_many([CONTROLLER, CONTROLLER_EPOCH])
        if controller is not None and epoch is not None and epoch.version > before:
            return
        clock.stop_if_asked("the controller was already moved", command("doctor"))
    raise NotCompletedError(
        "The controller was moved, and no broker has taken over yet.", next_step=command("heal")
    )


def _unchanging(seen: ControllerLook) -> tuple[object, ...]:
    return seen.controller_version, seen.epoch_version, seen.brokers


def _poison(store: Store) -> tuple[str, ...]:
    topics = [f"{TOPICS}/{name}" for name in store.children(TOPICS) or ()]
    nodes = store.get_many([REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION, *topics])
    return poisoned(node for node in nodes if node is not None)


def _unreadable_left(paths: list[str]) -> NotCompletedError:
    return NotCompletedError(
        f"The controller must not be moved: the next one could not read {name_some(paths)}.",
        cause="every new controller would resign, and the elections would never end",
        next_step=command("heal"),
    )


def _not_allowed(reason: str | None) -> NotCompletedError:
    return NotCompletedError(
        f"The controller was not moved within {PATIENCE_S:g} s, and nothing was changed: {reason}.",
        cause=(
            "moved before every broker watches it, it could leave the cluster without any "
            "controller"
        ),
        next_step=command("doctor"),
    )
