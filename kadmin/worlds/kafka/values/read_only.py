"""Values of a cluster in ZooKeeper mode that is reached through its brokers.

Their lock and record are in ZooKeeper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import MIGRATION_SETTING
from kadmin.errors import UsageError
from kadmin.next_step import command
from kadmin.operations.record.holder import lost_lock

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.operations.record.holder import Holder, Lease


class ReadOnlyValues:
    """Has no values, and refuses writes with UsageError: two stores would permit two runners."""

    session_timeout_s = 0.0

    def holder(self) -> Holder | None:
        """Return None."""
        return None

    def to_create(self) -> str:
        """Return nothing: no topic is created."""
        return ""

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

    def sync(self) -> None:
        """Do nothing."""

    def get(self, key: str) -> bytes | None:
        """Return None."""
        del key
        return None

    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return no values."""
        del parent, leaf
        return {}

    def put(self, values: Sequence[tuple[str, bytes | None]], lease: Lease) -> None:
        """Raise UsageError."""
        del values, lease
        raise in_zookeeper()

    def leave(self, key: str, value: bytes) -> None:
        """Raise UsageError."""
        del key, value
        raise in_zookeeper()

    def locate(self, key: str) -> str:
        """Return the key."""
        return key


def in_zookeeper(*, migrating: bool = False) -> UsageError:
    """Build the error for a command that needs lock or record, on a cluster in ZooKeeper mode."""
    if migrating:
        return UsageError(
            "This cluster migrates to KRaft, with brokers in ZooKeeper mode: kadmin changes "
            "nothing through them.",
            cause=f"its brokers have {MIGRATION_SETTING}=true",
            next_step=(
                "use -z CONNECT in phase controllers; in phase dual-write go on until brokers are "
                "in KRaft mode, or roll the migration back; to see the phase: "
            )
            + command("doctor migration", "-z", "CONNECT", "-b", "BROKERS"),
        )
    return UsageError(
        "This cluster keeps its metadata in ZooKeeper: through its brokers kadmin only reads it.",
        cause="the lock and the records of its operations are in ZooKeeper",
        next_step="name its ZooKeeper in place of its brokers: -z CONNECT",
    )
