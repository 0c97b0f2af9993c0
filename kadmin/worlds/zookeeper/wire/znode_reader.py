"""Reads and decodes znodes.

It reads strictly, raising for the first that cannot be used, or tolerantly, leaving it out.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.model import Unreadable
from kadmin.errors import NotAuthorizedError, NotZooKeeperModeError
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.errors import KadminError
    from kadmin.worlds.zookeeper.model import Acl, Znode
    from kadmin.worlds.zookeeper.wire.store import Store

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class ZnodeReader:
    """Reads and decodes znodes.

    Where `tolerant`, those that cannot be used are in `unreadable`, once each.
    """

    def __init__(self, store: Store, *, tolerant: bool = False) -> None:
        self.store = store
        self._tolerant = tolerant
        self._unreadable: dict[str, Unreadable] = {}

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Znodes that could not be read and were left out, by path."""
        return tuple(self._unreadable[path] for path in sorted(self._unreadable))

    def get(self, path: str) -> Znode | None:
        """Read a znode, None where there is none."""
        return self.get_many([path])[0]

    def get_many(self, paths: Sequence[str]) -> list[Znode | None]:
        """Read many znodes in the order asked."""
        return self._in_halves(self.store.get_many, paths)

    def children(self, path: str) -> tuple[str, ...]:
        """List the children of a znode; one that does not exist has none."""
        try:
            return self.store.children(path) or ()
        except NotAuthorizedError as error:
            if not self._tolerant:
                raise
            self.leave_out(path, error)
            return ()

    def children_many(self, paths: Sequence[str]) -> list[tuple[str, ...] | None]:
        """List the children of many znodes in the order asked.

        None where there is no such znode.
        """
        return self._in_halves(self.store.children_many, paths)

    def _in_halves(
        self, read: Callable[[Sequence[str]], list[_Value | None]], paths: Sequence[str]
    ) -> list[_Value | None]:
        try:
            return read(paths)
        except NotAuthorizedError as error:
            if not self._tolerant:
                raise
            if len(paths) == 1:
                self.leave_out(paths[0], error)
                return [None]
        # One denied path fails the whole pipeline: bisection finds it.
        middle = len(paths) // 2
        return self._in_halves(read, paths[:middle]) + self._in_halves(read, paths[middle:])

    def acl(self, path: str) -> tuple[Acl, ...]:
        """Read the ACL of a znode; one that does not exist has none."""
        try:
            return self.store.acl(path)
        except NotZooKeeperModeError:
            return ()
        except NotAuthorizedError as error:
            if not self._tolerant:
                raise
            self.leave_out(path, error)
            return ()

    def acl_many(self, paths: Sequence[str]) -> list[tuple[Acl, ...] | None]:
        """Read the ACLs of many znodes in the order asked; None where there is no such znode."""
        return self._in_halves(self.store.acl_many, paths)

    def decode(self, decoder: Callable[[Znode], _Value], node: Znode | None) -> _Value | None:
        """Decode a znode; none at all is None."""
        if node is None:
            return None
        try:
            return decoder(node)
        except MalformedZnodeError as error:
            if not self._tolerant:
                raise
            self._unreadable[node.path] = Unreadable(
                node.path, error.reason, node.data, node.version
            )
            return None

    def decode_many(
        self, paths: Mapping[_Key, str], decoder: Callable[[_Key, Znode], _Value]
    ) -> dict[_Key, _Value]:
        """Read and decode many znodes by key.

        Those that do not exist or cannot be used are left out.
        """
        nodes = self.get_many(list(paths.values()))
        decoded = (
            (key, self.decode(partial(decoder, key), node))
            for key, node in zip(paths, nodes, strict=True)
        )
        return {key: value for key, value in decoded if value is not None}

    def leave_out(self, path: str, error: KadminError) -> None:
        """Add a znode that another reader could not read to `unreadable`."""
        denied = isinstance(error, NotAuthorizedError)
        self._unreadable[path] = Unreadable(path, error.cause or error.message, denied=denied)
