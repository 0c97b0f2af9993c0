"""Values in znodes: one znode for each value, and for a record one for each chunk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kadmin.errors import BusyError
from kadmin.next_step import command
from kadmin.operations.record.holder import lost_lock
from kadmin.operations.record.keys import is_key
from kadmin.worlds.zookeeper.model import Create, Delete, Op, SetData
from kadmin.worlds.zookeeper.reader import require_kafka_cluster
from kadmin.worlds.zookeeper.transaction import write
from kadmin.worlds.zookeeper.values.lock import ZnodeLock, lease_checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.operations.context import Clock
    from kadmin.operations.record.holder import Lease
    from kadmin.worlds.zookeeper.model import MultiResult, Znode
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

CHUNK_BYTES = 60 * 1024
"""Bytes of a record in one znode: far below the packet limit of any ensemble."""
_WRITE_BYTES = 8 * CHUNK_BYTES


class ZnodeValues(ZnodeLock):
    """The lock and the values of one cluster.

    Every write under the lock carries the lease's checks.
    """

    def __init__(self, store: Store, paths: Paths, clock: Clock) -> None:
        super().__init__(store, paths, clock)
        self._steps: dict[str, Znode] = {}
        """Steps by path; a step is final, and is read once."""

    def sync(self) -> None:
        """Raise NotZooKeeperModeError unless this is a cluster in ZooKeeper mode.

        Later reads are up to date.
        """
        self._store.sync("/")
        require_kafka_cluster(self._store)

    def get(self, key: str) -> bytes | None:
        """Return a value; None for an empty znode."""
        path = self._paths.of(key)
        if _is_record(key):
            chunks = self._store.get_many(
                [f"{path}/{name}" for name in self._store.children(path) or ()]
            )
            return b"".join(chunk.data or b"" for chunk in chunks if chunk is not None) or None
        node = self._store.get(path)
        return None if node is None else node.data or None

    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name.

        They are in the order of the writes that created them.
        """
        names = self._store.children(self._paths.of(parent)) or ()
        paths = {
            name: self._paths.of(f"{parent}/{name}{leaf}")
            for name in names
            if is_key(f"{parent}/{name}{leaf}")
        }
        unread = [path for path in paths.values() if path not in self._steps]
        nodes = {node.path: node for node in self._store.get_many(unread) if node is not None}
        if not leaf:
            self._steps |= nodes
        nodes |= {path: self._steps[path] for path in paths.values() if path in self._steps}
        found = [
            (node.czxid, name, node.data)
            for name, path in paths.items()
            if (node := nodes.get(path))
        ]
        return {name: data for _, name, data in sorted(found) if data}

    def put(self, values: Sequence[tuple[str, bytes | None]], lease: Lease) -> None:
        """Write values in as few multis as their size allows."""
        nodes = [node for key, value in values for node in self._nodes_of(key, value)]
        paths = list(dict.fromkeys(path for path, _ in nodes))
        found = zip(paths, self._store.exists_many(paths), strict=True)
        versions = {path: node.version for path, node in found if node is not None}
        for path in paths:
            self._steps.pop(path, None)
        for group in _groups(op for path, data in nodes for op in self._op(path, data, versions)):
            what = _describe(group) or "check the lock"
            ops = [*lease_checks(lease, self._paths), *group]
            result = write(self._store, ops, partial(self._is_applied, group), what)
            if result is not None and not result.committed:
                raise _refused(result, self._paths)

    def leave(self, key: str, value: bytes) -> None:
        """Write a value without the lock.

        Raises BusyError where another client writes it at the same time.
        """
        path = self._paths.of(key)
        node = self._store.get(path)
        op = (
            Create(path, value, self._store.acl("/admin"))
            if node is None
            else SetData(path, value, node.version)
        )
        result = write(self._store, [op], lambda: self._is_applied([op]), _describe([op]))
        if result is not None and not result.committed:
            raise BusyError(
                "Another request was written at the same time.", next_step=command("status")
            )

    def locate(self, key: str) -> str:
        """Return the path of the znode."""
        return self._paths.of(key)

    def _nodes_of(self, key: str, value: bytes | None) -> list[tuple[str, bytes | None]]:
        """Return the znodes of a value, each with its data, in the order of their writes.

        None deletes a znode.
        """
        path = self._paths.of(key)
        if _is_record(key):
            body = value or b""
            parts = (body[start:][:CHUNK_BYTES] for start in range(0, len(body), CHUNK_BYTES))
            chunks = {f"{path}/{number:06d}": part for number, part in enumerate(parts)}
            before = (f"{path}/{name}" for name in self._store.children(path) or ())
            return [*((each, None) for each in before if each not in chunks), *chunks.items()]
        if key.endswith("/status") and value is None:
            return [(parent, None) for parent in (*_parents(path), path)]
        return [(path, value)]

    def _op(self, path: str, data: bytes | None, versions: dict[str, int]) -> Iterator[Op]:
        """Yield the writes after which a znode has `data`.

        `versions` are those of the znodes by path.
        """
        if path not in versions:
            if data is not None:
                versions[path] = -1
                yield Create(path, data, self._store.acl("/admin"))
                if path.rpartition("/")[0] == self._paths.operations:
                    yield from (
                        Create(parent, b"", self._store.acl("/admin")) for parent in _parents(path)
                    )
        elif data is None:
            yield Delete(path, versions.pop(path))
        else:
            yield SetData(path, data, versions[path])
            versions[path] = -1

    def _is_applied(self, ops: Sequence[Op]) -> bool:
        """Whether the last write of a multi shows in its znode."""
        if not ops:
            return False
        last = ops[-1]
        node = self._store.get(last.path)
        if isinstance(last, SetData):
            return node is not None and node.data == last.data
        return (node is None) == isinstance(last, Delete)


def _groups(ops: Iterable[Op]) -> Iterator[list[Op]]:
    """Cut writes into multis of about _WRITE_BYTES at most.

    Yields one empty multi for no writes.
    """
    group, left = list[Op](), _WRITE_BYTES
    for op in ops:
        size = len(op.path) + len(getattr(op, "data", None) or b"")
        if group and size > left:
            yield group
            group, left = [], _WRITE_BYTES
        group.append(op)
        left -= size
    yield group


def _parents(operation: str) -> tuple[str, ...]:
    """Return the parents of chunks and steps of an operation.

    They are created and removed with its status.
    """
    return f"{operation}/record", f"{operation}/steps"


def _is_record(key: str) -> bool:
    return key.endswith("/record")


def _refused(result: MultiResult, paths: Paths) -> BusyError:
    """Build the error for a refused write.

    A failed check of lock or fence means that the lock is lost.
    """
    path = getattr(result.failed, "path", "")
    if path in {paths.lock, paths.fence}:
        return lost_lock()
    return BusyError(
        f"A write to {path} was refused: {result.reason}.", next_step=command("status")
    )


def _describe(ops: Iterable[Op]) -> str:
    return ", ".join(f"{type(op).__name__.lower()} {op.path}" for op in ops)[:200]
