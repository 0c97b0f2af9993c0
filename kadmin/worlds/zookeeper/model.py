"""Frozen values of ZooKeeper: znodes, their decoded values, and writes.

`version` is always the zkVersion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.model import Controller, PartitionState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Unreadable


@dataclass(frozen=True, slots=True)
class StateNode(PartitionState):
    """A partition's `state` znode.

    It was written at `written_ms` by the controller or leader of `controller_epoch`.
    """

    controller_epoch: int = 0
    written_ms: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class ControllerNode(Controller):
    """The `/controller` znode.

    `session_id` is its ephemeralOwner; `kraft_epoch` is -1 or None in ZooKeeper mode.
    """

    session_id: int
    kraft_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class ZooKeeperDetails:
    """State that only ZooKeeper has.

    `unreadable` are the znodes that a tolerant reading left out.
    """

    controller: ControllerNode | None
    controller_epoch_version: int
    unreadable: tuple[Unreadable, ...] = ()


def details_of(state: ClusterState) -> ZooKeeperDetails:
    """Return the details of a state; raises TypeError where it was not read from ZooKeeper."""
    if not isinstance(state.details, ZooKeeperDetails):
        raise TypeError("this state was not read from ZooKeeper")
    return state.details


@dataclass(frozen=True, slots=True)
class Znode:
    """One znode as read.

    `data` is None where ZooKeeper has null; `ephemeral_owner` is 0 unless ephemeral. `created_ms`
    and `modified_ms` are of the servers' clocks; 0: unknown.
    """

    path: str
    data: bytes | None
    version: int
    cversion: int = 0
    czxid: int = 0
    mzxid: int = 0
    ephemeral_owner: int = 0
    created_ms: int = 0
    modified_ms: int = 0


@dataclass(frozen=True, slots=True)
class EntityConfig:
    """The dynamic configs of a topic or broker, and their znode; None: no configs."""

    znode: Znode | None
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Acl:
    """One access control entry of ZooKeeper: permission bits and `scheme:credential`."""

    permissions: int
    scheme: str
    credential: str


@dataclass(frozen=True, slots=True)
class Create:
    """Create a znode; `acl` None means open to the world (chroot-relative paths throughout)."""

    path: str
    data: bytes | None = None
    acl: tuple[Acl, ...] | None = None
    ephemeral: bool = False
    sequential: bool = False


@dataclass(frozen=True, slots=True)
class Check:
    """The znode exists and, unless `version` is -1, has that version."""

    path: str
    version: int = -1


@dataclass(frozen=True, slots=True)
class SetData:
    """Overwrite a znode at `version` (-1: any)."""

    path: str
    data: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a znode at `version` (-1: any)."""

    path: str
    version: int


Op: TypeAlias = Create | Check | SetData | Delete


@dataclass(frozen=True, slots=True)
class MultiResult:
    """The outcome of one multi.

    Where it is not `committed`, `failed` is the op that ZooKeeper refused and `reason` the name of
    the error, such as `NodeExists`, `NoNode`, `BadVersion`, `NotEmpty` or `NoAuth`.
    """

    committed: bool
    failed: Op | None = None
    reason: str | None = None
