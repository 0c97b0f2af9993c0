"""Paths of kadmin's operations in ZooKeeper, below its root (default `/kadmin`) in the cluster's own chroot.

::

/kadmin/lock                         ephemeral; the runner that holds the lock
/kadmin/fence                        its version is the fencing token
/kadmin/operations/<id>              the status, the only part that changes
/kadmin/operations/<id>/request      pause or cancel, written without the lock
/kadmin/operations/<id>/throttle     a change of the throttle, written without the lock
/kadmin/operations/<id>/record/<k>   the record, compressed, cut in chunks, written once
/kadmin/operations/<id>/steps/<n>    one per publish, created in the same multi as the admin node, and one
                                     per change of the throttle
"""

from __future__ import annotations

from dataclasses import dataclass

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
        return f"{self.root}/operations"

    def operation(self, operation_id: str) -> str:
        """Return the node that holds an operation's state."""
        return f"{self.operations}/{operation_id}"

    def request(self, operation_id: str) -> str:
        """Return the node that holds a request to pause or cancel."""
        return f"{self.operation(operation_id)}/request"

    def throttle_request(self, operation_id: str) -> str:
        """Return the node that holds a request to change the throttle."""
        return f"{self.operation(operation_id)}/throttle"

    def record(self, operation_id: str) -> str:
        """Return the parent of the record's chunks."""
        return f"{self.operation(operation_id)}/record"

    def steps(self, operation_id: str) -> str:
        """Return the parent of the step records."""
        return f"{self.operation(operation_id)}/steps"

    def step(self, operation_id: str, number: int) -> str:
        """Return one step record's path; repeating a publish that succeeded fails on it."""
        return f"{self.steps(operation_id)}/{number:06d}"
