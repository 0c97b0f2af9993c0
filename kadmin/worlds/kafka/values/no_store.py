"""`OperationStore` of a cluster whose lock and record are in ZooKeeper, while it is reached through its brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import MIGRATION_SETTING
from kadmin.errors import UsageError
from kadmin.operations.record.holder import lost_lock
from kadmin.worlds.kafka.values.keyed import KeyedOperations

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.operations.record.holder import Holder, Lease

ELSEWHERE = (
    "the origin of moves in flight and of throttles: operations on record are in ZooKeeper (kadmin doctor -z CONNECT)"
)
"""Facts that are unknown without the operations on record."""


class NoOperations(KeyedOperations):
    """Has no operations, and refuses every write with UsageError: two stores would permit two runners."""

    session_timeout_s = 0.0

    def __init__(self) -> None:
        super().__init__(lambda _: None)

    def holder(self) -> Holder | None:
        """Return None."""
        return None

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Raise UsageError."""
        del holder, wait_s, avoid
        raise in_zookeeper()

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Raise LostLockError."""
        del lease, holder
        raise lost_lock()

    def release(self, lease: Lease) -> None:
        """Do nothing."""

    def release_by_hand(self, operation_id: str) -> Holder:
        """Raise UsageError."""
        del operation_id
        raise in_zookeeper()

    def _get(self, key: str) -> bytes | None:
        del key
        return None

    def _names(self, parent: str) -> Sequence[str]:
        del parent
        return ()

    def _values(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        del parent, leaf
        return {}

    def _put(self, values: Mapping[str, bytes | None], lease: Lease) -> None:
        del values, lease
        raise in_zookeeper()

    def _leave(self, key: str, value: bytes) -> None:
        del key, value
        raise in_zookeeper()

    def _place(self, key: str) -> str:
        return key


def in_zookeeper(*, migrating: bool = False) -> UsageError:
    """Build the error for a command that needs lock or record, on a cluster in ZooKeeper mode."""
    if migrating:
        return UsageError(
            "This cluster migrates to KRaft, with brokers in ZooKeeper mode: kadmin changes nothing through them.",
            cause=f"its brokers have {MIGRATION_SETTING}=true",
            next_command="use -z CONNECT in phase controllers; in phase dual-write go on until brokers are in KRaft "
            "mode, or roll the migration back; which phase it is: kadmin doctor migration -z CONNECT -b BROKERS",
        )
    return UsageError(
        "This cluster keeps its metadata in ZooKeeper: through its brokers kadmin only reads it.",
        cause="the lock and the records of its operations are in ZooKeeper",
        next_command="name its ZooKeeper in place of its brokers: -z CONNECT",
    )
