"""Lock and fence in ZooKeeper: one runner at a time, and no write after the lock was lost.

The lock is ephemeral. One multi creates it and writes the fence, whose version grows with every
holder. Each write of the holder checks that the lock exists and that the fence has its version,
because a lock that was created again has the version of the old one.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from kadmin.operations.context import POLL_S
from kadmin.operations.record.holder import (
    Holder,
    Lease,
    changed_lock,
    held_lock,
    lost_lock,
    require_held_for,
)
from kadmin.operations.record.loading import load_holder
from kadmin.operations.record.record import Author
from kadmin.worlds.zookeeper.model import Check, Create, Delete, SetData
from kadmin.worlds.zookeeper.transaction import ensure, write

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.operations.context import Clock
    from kadmin.worlds.zookeeper.model import Op
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store


def lease_checks(lease: Lease, paths: Paths) -> tuple[Op, ...]:
    """Return the checks of every write of the holder: fence first, then lock."""
    return Check(paths.fence, lease.token), Check(paths.lock)


class ZnodeLock:
    """The lock of one cluster."""

    def __init__(self, store: Store, paths: Paths, clock: Clock) -> None:
        self._store = store
        self._paths = paths
        self._clock = clock

    @property
    def session_timeout_s(self) -> float:
        """Seconds after which the lock of a dead holder expires, as the ensemble granted them."""
        return self._store.session_timeout_s

    def holder(self) -> Holder | None:
        """Return the holder of the lock, None where it is free."""
        node = self._store.get(self._paths.lock)
        if node is None:
            return None
        try:
            return load_holder({**json.loads(node.data or b""), "session_id": node.ephemeral_owner})
        except (ValueError, LookupError, TypeError, RecursionError):
            return Holder(
                Author("unknown", "unknown", 0), "unknown", "unknown", 0.0, node.ephemeral_owner
            )

    def to_create(self) -> str:
        """Return nothing: no topic is created."""
        return ""

    def take(self, holder: Holder, wait_s: float, avoid: Collection[int] = ()) -> Lease:
        """Take lock and fence, waiting at most `wait_s` for another's.

        Raises BusyError naming the holder.
        """
        del avoid
        store, paths, clock = self._store, self._paths, self._clock
        ensure(store, (*_ancestors(paths.root), paths.operations, paths.fence), store.acl("/admin"))
        give_up = min(clock.now() + wait_s, clock.until)
        while True:
            # Read before the holder, so that it is never the version of a later one.
            version = self._fence_version()
            other = self.holder()
            if other is None:
                if (lease := self._try_take(holder, version)) is not None:
                    return lease
            elif other.session_id == store.session_id:
                return Lease(version, other.session_id, holder.operation_id)
            elif clock.now() >= give_up:
                raise held_lock(other)
            else:
                clock.wait(POLL_S)
            clock.stop_if_asked("nothing was changed")

    def retake(self, lease: Lease, holder: Holder) -> Lease:
        """Take a lock again that expired with our session.

        Raises LostLockError where the fence has moved since: another process took the lock, and may
        have freed it again, or it was released by hand.
        """
        # kazoo opens a new session after an expiry. In the same session as before, the lock was
        # deleted by hand.
        expired = lease.session_id != self._store.session_id
        again = self._try_take(holder, lease.token) if expired else None
        if again is not None:
            return again
        other = self.holder()
        ours = other is None or other.session_id in {lease.session_id, self._store.session_id}
        raise lost_lock(None if ours else other)

    def release(self, lease: Lease) -> None:
        """Give the lock back; a lock that is no longer ours is left alone."""
        self._store.multi([Check(self._paths.fence, lease.token), Delete(self._paths.lock, -1)])

    def release_by_hand(self, operation_id: str) -> Holder:
        """Delete the lock, so that the next write of its holder fails on the fence.

        Returns the holder.
        """
        store, paths = self._store, self._paths
        holder = require_held_for(operation_id, self.holder())
        ops: list[Op] = [
            Delete(paths.lock, -1),
            SetData(paths.fence, b"released by hand", self._fence_version()),
        ]
        result = write(store, ops, lambda: store.exists(paths.lock) is None, "release the lock")
        if result is not None and not result.committed:
            raise changed_lock()
        return holder

    def _try_take(self, holder: Holder, version: int) -> Lease | None:
        """Take lock and fence where the lock is free and the fence has this version.

        Else return None.
        """
        data = asdict(holder)
        del data["session_id"]
        body = json.dumps(data, sort_keys=True).encode()
        ops: list[Op] = [
            Create(self._paths.lock, body, self._store.acl("/admin"), ephemeral=True),
            SetData(self._paths.fence, holder.operation_id.encode(), version),
        ]
        result = write(self._store, ops, self._is_ours, "take the lock")
        if result is not None and not result.committed:
            return None
        # Never read after the write: by then the fence may have the version of a successor.
        return Lease(version + 1, self._store.session_id, holder.operation_id)

    def _is_ours(self) -> bool:
        node = self._store.exists(self._paths.lock)
        return node is not None and node.ephemeral_owner == self._store.session_id

    def _fence_version(self) -> int:
        node = self._store.exists(self._paths.fence)
        return -1 if node is None else node.version


def _ancestors(root: str) -> tuple[str, ...]:
    parts = root.strip("/").split("/")
    return tuple("/" + "/".join(parts[: depth + 1]) for depth in range(len(parts)))
