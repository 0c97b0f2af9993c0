"""What can be wrong with a cluster, by name, and one such thing as found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Trouble(StrEnum):
    """Every trouble that the doctor knows; docs/troubles.md has a section for each."""

    DEAF_CONTROLLER = "deaf-controller"
    NO_CONTROLLER = "no-controller"
    ELECTION_LOOP = "election-loop"
    POISON_NODE = "poison-node"
    IGNORED_NODE = "ignored-node"
    ZOMBIE_NODE = "zombie-node"
    LEFTOVER_PROBE = "leftover-probe"
    STRING_IDS = "string-ids"
    EMPTY_REPLICAS = "empty-replicas"
    FOREIGN_NODE = "foreign-node"
    API_REASSIGNMENT = "api-reassignment"
    LOCK_HELD = "lock-held"
    UNFINISHED_OPERATION = "unfinished-operation"
    STUCK_DELETION = "stuck-deletion"
    OFFLINE_PARTITIONS = "offline-partitions"
    UNDER_MIN_ISR = "under-min-isr"
    MISSING_BROKERS = "missing-brokers"
    LEFTOVER_THROTTLE = "leftover-throttle"
    MANY_NOTIFICATIONS = "many-notifications"
    WRONG_ACL = "wrong-acl"
    UNREADABLE_ZNODE = "unreadable-znode"


@dataclass(frozen=True, slots=True)
class Finding:
    """One trouble at one place: what it is, what was seen, and the command to type.

    `path` is the znode where it sits, `version` its zkVersion where a cure would replace it. `topic` and `partitions`
    name what is broken of a topic znode.
    """

    trouble: Trouble
    path: str
    message: str
    evidence: tuple[str, ...]
    remedy: str
    stops_apply: bool
    topic: str | None = None
    partitions: tuple[int, ...] = ()
    version: int | None = None
