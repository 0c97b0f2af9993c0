"""Lock and fence: one runner at a time, and no write of one who only believes to hold the lock.

The lock is ephemeral; a node made again at the same path has the same version, so the lock alone proves nothing.
Taking it is one multi with a write to the fence, whose version grows with every taker; each later write of the holder
checks the lock's existence and the fence's version. Whoever lost the lock, by an expired session or by somebody's
hand, cannot write any more.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import Check, Create, Delete, SetData
from kadmin.errors import BusyError, InvalidInputError
from kadmin.operations.record.record import Author
from kadmin.operations.zookeeper.transaction import ensure, write

if TYPE_CHECKING:
    from kadmin.cluster.model import Op
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.clock import Clock
    from kadmin.operations.record.record import Paths

POLL_S = 0.2
EXPIRY_GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the lock, for which operation, since when, and the session timeout that frees it if they die."""

    author: Author
    operation_id: str
    started_at: str
    session_timeout_s: float
    session_id: int = 0

    def __str__(self) -> str:
        return f"{self.author.user}@{self.author.host} (pid {self.author.pid}) since {self.started_at}"


@dataclass(frozen=True, slots=True)
class Lease:
    """A lock that was taken: the fence's version obtained with it, and the session that it lives in."""

    fence_version: int
    session_id: int

    def checks(self, paths: Paths) -> tuple[Op, ...]:
        """Return what every write of the holder carries: fence first, then lock."""
        return Check(paths.fence, self.fence_version), Check(paths.lock)


def read_holder(store: Store, paths: Paths) -> Holder | None:
    """Return who holds the lock, or None when nobody does."""
    node = store.get(paths.lock)
    if node is None:
        return None
    try:
        value = json.loads(node.data or b"")
        author = Author(**value.pop("author"))
        return Holder(author=author, **value, session_id=node.ephemeral_owner)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Holder(Author("unknown", "unknown", 0), "unknown", "unknown", 0.0, node.ephemeral_owner)


def take(store: Store, paths: Paths, holder: Holder, clock: Clock, wait_s: float) -> Lease:
    """Take lock and fence, waiting at most `wait_s` for somebody else's; raises BusyError naming the holder."""
    acl = store.acl("/admin")
    ensure(store, (*_ancestors(paths.root), paths.operations, paths.fence), acl)
    give_up = min(clock.now() + wait_s, clock.until)
    while True:
        other = read_holder(store, paths)
        if other is None:
            clock.careful = True
            lease = _try_take(store, paths, holder)
            if lease is not None:
                return lease
            clock.careful = False
        elif other.session_id == store.session_id:
            return _lease(store, paths)
        elif clock.now() >= give_up:
            raise BusyError(
                f"The lock is held by {other} for operation {other.operation_id}.",
                next_command="kadmin status; or wait with --lock-timeout SECONDS",
            )
        else:
            clock.wait(POLL_S)


def release(store: Store, paths: Paths, lease: Lease) -> None:
    """Give the lock back; a lock that is no longer ours is left alone."""
    store.multi([Check(paths.fence, lease.fence_version), Delete(paths.lock, -1)])


def release_by_hand(store: Store, paths: Paths, operation_id: str) -> Holder:
    """Take the lock away from whoever holds it for this operation; their next write fails on the fence."""
    holder = read_holder(store, paths)
    if holder is None:
        raise InvalidInputError("Nobody holds the lock.", next_command="kadmin lock show")
    if holder.operation_id != operation_id:
        raise BusyError(
            f"The lock is held for operation {holder.operation_id}, not {operation_id}.", cause=f"holder: {holder}"
        )
    ops: list[Op] = [Delete(paths.lock, -1), SetData(paths.fence, b"released by hand", _fence_version(store, paths))]
    result = write(store, ops, lambda: store.exists(paths.lock) is None, "release the lock")
    if result is not None and not result.committed:
        raise BusyError("The lock changed hands in this moment.", next_command="kadmin lock show")
    return holder


def _try_take(store: Store, paths: Paths, holder: Holder) -> Lease | None:
    version = _fence_version(store, paths)
    data = asdict(holder)
    del data["session_id"]
    body = json.dumps(data, sort_keys=True).encode()
    ops: list[Op] = [
        Create(paths.lock, body, store.acl("/admin"), ephemeral=True),
        SetData(paths.fence, holder.operation_id.encode(), version),
    ]
    result = write(store, ops, lambda: _is_ours(store, paths), "take the lock")
    if result is None:
        return _lease(store, paths)
    return Lease(version + 1, store.session_id) if result.committed else None


def _lease(store: Store, paths: Paths) -> Lease:
    return Lease(_fence_version(store, paths), store.session_id)


def _is_ours(store: Store, paths: Paths) -> bool:
    node = store.exists(paths.lock)
    return node is not None and node.ephemeral_owner == store.session_id


def _fence_version(store: Store, paths: Paths) -> int:
    node = store.exists(paths.fence)
    return -1 if node is None else node.version


def _ancestors(root: str) -> tuple[str, ...]:
    parts = root.strip("/").split("/")
    return tuple("/" + "/".join(parts[: depth + 1]) for depth in range(len(parts)))
