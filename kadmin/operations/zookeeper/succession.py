"""When the controller may be moved to another broker by deleting `/controller`, and when never.

Watches on `/controller` are one-shot and armed again by each broker's own event thread. A second deletion in that gap
is unseen: a few of them in quick succession leave a cluster without any controller for good. And a new controller
reads every znode at its start, so what it cannot read makes it resign, and the next, without end.

========================================================  =============================================
seen                                                      may it be moved
========================================================  =============================================
no controller                                             not now
every live broker's session watches `/controller`         yes
some do not, and every server has told its watches        not now
some server does not tell its watches                     after STILL_S seconds without any change
a node that no new controller can read                    never, unless the same write takes it away
========================================================  =============================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import (
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    decode_election,
    decode_reassignment,
)
from kadmin.cluster.zookeeper.znodes.topics import decode_topic
from kadmin.cluster.zookeeper.znodes.values import MalformedZnodeError
from kadmin.errors import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.zookeeper.model import Znode

STILL_S = 60.0
"""How long epoch and brokers must stand still where ZooKeeper does not tell who watches."""


@dataclass(frozen=True, slots=True)
class Succession:
    """One look at the controller and at those who would succeed it.

    `controller_version` is None where there is no controller. `brokers` maps each registered broker to its session;
    `watching` are those whose session watches `/controller`; `complete` says whether every server has told.
    """

    controller_version: int | None
    epoch_version: int
    brokers: Mapping[int, int]
    watching: frozenset[int]
    complete: bool


def not_yet(seen: Succession, still_s: float) -> str | None:
    """Say why the controller must not be moved at this moment, None when it may; nothing changed for `still_s`."""
    if seen.controller_version is None or not seen.brokers:
        return "the cluster has no controller right now"
    missing = sorted(set(seen.brokers) - seen.watching)
    if not missing:
        return None
    if seen.complete:
        return f"not every broker watches /controller yet: {name_some(missing)}"
    if still_s >= STILL_S:
        return None
    return f"ZooKeeper does not tell who watches /controller, so it must stand still for {STILL_S:g} s"


def poisoned(nodes: Iterable[Znode]) -> tuple[str, ...]:
    """Return the paths, of admin nodes and topics, that a new controller could not read or act on.

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
    # From 2.7 on a partition all of whose replicas are being removed makes every new controller resign.
    return any(
        set(ids) >= set(topic.replicas.get(number, ())) and topic.replicas.get(number)
        for number, ids in topic.removing_replicas.items()
    )
