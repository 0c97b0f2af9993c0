"""Findings of `doctor`: troubles of a cluster, and flaws of its admin nodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kadmin.diagnostics import Diagnostic


class Trouble(StrEnum):
    """A problem that `doctor` reports; docs/troubles.md has a section for each."""

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
    EMPTIED_BROKER = "emptied-broker"
    UNUSED_COPIES = "unused-copies"
    FAILED_DISK = "failed-disk"
    REMOVED_DISK = "removed-disk"
    FULL_DISK = "full-disk"
    UNEVEN_DISKS = "uneven-disks"
    FUTURE_REPLICAS = "future-replicas"
    LEFTOVER_THROTTLE = "leftover-throttle"
    MANY_NOTIFICATIONS = "many-notifications"
    WRONG_ACL = "wrong-acl"
    UNREADABLE_ZNODE = "unreadable-znode"
    NO_QUORUM = "no-quorum"
    LAGGING_CONTROLLER = "lagging-controller"
    FENCED_BROKER = "fenced-broker"
    UNREGISTERED_BROKER = "unregistered-broker"
    UNUSED_REGISTRATION = "unused-registration"
    CORDONED_BROKER = "cordoned-broker"
    DRAINED_BROKER = "drained-broker"
    BLOCKED_UPGRADE = "blocked-upgrade"
    STALLED_MOVE = "stalled-move"
    FOREIGN_MOVE = "foreign-move"
    LATE_MOVE = "late-move"
    UNANSWERED_REQUEST = "unanswered-request"
    UNSAFE_RECORD_TOPIC = "unsafe-record-topic"
    HIDDEN_TOPICS = "hidden-topics"
    MISSING_RIGHT = "missing-right"


class Flaw(StrEnum):
    """A defect of an admin node or of one of its entries."""

    NULL_DATA = "null-data"
    EMPTY_DATA = "empty-data"
    JSON_NULL = "json-null"
    NOT_JSON = "not-json"
    NOT_AN_OBJECT = "not-an-object"
    TRAILING_TEXT = "trailing-text"
    NO_PARTITIONS = "no-partitions"
    NOT_A_LIST = "partitions-not-a-list"
    NO_ENTRIES = "no-entries"
    UNKNOWN_KEY = "unknown-key"
    NOT_AN_ENTRY = "not-an-entry"
    NO_TOPIC = "no-topic"
    ODD_PARTITION = "odd-partition"
    BAD_PARTITION = "bad-partition"
    NO_REPLICAS = "no-replicas"
    BAD_REPLICAS = "bad-replicas"
    BAD_BROKER_ID = "bad-broker-id"
    EMPTY_REPLICAS = "empty-replicas"
    DUPLICATE_BROKER = "duplicate-broker"
    NAMED_TWICE = "named-twice"
    PROBE = "probe"
    UNKNOWN_TOPIC = "unknown-topic"
    UNKNOWN_PARTITION = "unknown-partition"
    BEING_DELETED = "being-deleted"
    DEAD_BROKER = "dead-broker"
    NO_OP = "no-op"
    NOT_ELECTABLE = "not-electable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Diagnostic):
    """A trouble of a cluster; `apply` refuses to start on an error, not on a warning.

    `znode` is the path concerned, empty through brokers, and `version` its version where a repair
    would replace it. `partitions` are those of `topic` that are broken in a topic znode.
    `next_step` is a command or an instruction.
    """

    znode: str = ""
    evidence: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()
    version: int | None = None

    @property
    def stops_apply(self) -> bool:
        """Whether `apply` refuses to start."""
        return self.severity == "error"


class MigrationTrouble(StrEnum):
    """A problem that only the migration has; docs/migration.md has a row for each."""

    PENDING_REQUEST = "pending-request"
    MOVES_IN_FLIGHT = "moves-in-flight"
    WRONG_PROTOCOL = "wrong-protocol"
    UNDER_REPLICATED = "under-replicated"
    NO_STATE = "no-state"
    LEFTOVER_MIGRATION = "leftover-migration"
    PERSISTENT_CONTROLLER = "persistent-controller"
    UNEVEN_ACLS = "uneven-acls"
    OLD_CONSUMERS = "old-consumers"
    HALF_RESTARTED = "half-restarted"
    ZNODE_WRITER = "znode-writer"
    SIDES_DIFFER = "sides-differ"
    HISTORY_BEHIND = "history-behind"
