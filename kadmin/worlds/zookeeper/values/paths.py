"""Paths of kadmin's values in ZooKeeper, below its root (default `/kadmin`) in the chroot.

::

/kadmin/lock                         ephemeral; the runner that holds the lock
/kadmin/fence                        its version is the fencing token
/kadmin/operations/<id>              the status, the only part that changes
/kadmin/operations/<id>/request      pause or cancel, written without the lock
/kadmin/operations/<id>/throttle     a change of the throttle, written without the lock
/kadmin/operations/<id>/record/<k>   the record, compressed, cut in chunks, written once
/kadmin/operations/<id>/steps/<n>    one per publish, created in the same multi as the admin node,
                                     and one per change of the throttle
"""

from __future__ import annotations

from dataclasses import dataclass

from kadmin.operations.record.keys import OPERATIONS

DEFAULT_ROOT = "/kadmin"


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths of kadmin's znodes, relative to the cluster's chroot."""

    root: str = DEFAULT_ROOT

    @property
    def lock(self) -> str:
        """The ephemeral node of the holder."""
        return f"{self.root}/lock"

    @property
    def fence(self) -> str:
        """The node whose version is the fencing token."""
        return f"{self.root}/fence"

    @property
    def operations(self) -> str:
        """The parent of every operation."""
        return self.of(OPERATIONS)

    def of(self, key: str) -> str:
        """Return the node of a value, or the parent of a record's chunks.

        An operation's own node is its status.
        """
        return f"{self.root}/{key.removesuffix('/status')}"
