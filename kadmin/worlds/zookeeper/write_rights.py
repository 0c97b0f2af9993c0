"""Finds the rights that an operation lacks before it writes anything.

ACLs alone do not suffice: super users need none, and only the servers can resolve a digest or a
certificate. A right that an ACL does not show is therefore tried with a transaction that cannot
succeed: servers check rights first, then versions, and the version is one that no znode has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.errors import NotAuthorizedError
from kadmin.operations.decide.catch_up import CatchUpWork
from kadmin.operations.decide.deletion import DeletionWork
from kadmin.operations.decide.growth import GrowthWork
from kadmin.operations.decide.recovery_by_config import ConfigRecoveryWork
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.plan.model import DeletionLayout
from kadmin.worlds.zookeeper.model import Check, Create, Delete, SetData
from kadmin.worlds.zookeeper.rights import granting, is_granted
from kadmin.worlds.zookeeper.transaction import write
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.admin import ADMIN, DELETE_TOPICS
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES, config_path
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER
from kadmin.worlds.zookeeper.znodes.topics import TOPICS, topic_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.worlds.zookeeper.model import Op
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

_NO_VERSION = 2**31 - 2
_MOST = 10
"""Rights that are tried at most: each takes a transaction, and they are often all alike."""


@dataclass(frozen=True, slots=True)
class _Need:
    """A permission on a znode: `c` to create children, `w` to set its data, `d` to delete one.

    What is deleted is the controller.
    """

    path: str
    permission: str

    def __str__(self) -> str:
        return f"{self.permission} on {self.path}"


def denied_writes(
    store: Store, paths: Paths, work: OperationSpec, throttled: Collection[ConfigEntity]
) -> NotAuthorizedError | None:
    """Return the error that names every right that some work lacks.

    It has the commands that grant them; None if none. `throttled` are the entities whose configs
    the operation changes. Nothing is written.
    """
    allowed = work.unclean if isinstance(work, ConfigRecoveryWork) else ()
    configs = {*throttled, *map(ConfigEntity.of_topic, allowed)}
    needs = list(
        dict.fromkeys((*_of_record(store, paths), *_of_work(work), *_of_configs(store, configs)))
    )
    acls = ZnodeReader(store, tolerant=True).acl_many([each.path for each in needs])
    shown = [
        acl is not None and is_granted(acl, each.permission, store.authentication)
        for each, acl in zip(needs, acls, strict=True)
    ]
    suspects = [each for each, granted in zip(needs, shown, strict=True) if not granted]
    denied = [each for each in suspects[:_MOST] if _is_denied(store, each)]
    if not denied:
        return None
    return NotAuthorizedError(
        f"ACLs of ZooKeeper at {store.connect_string} do not grant {store.authentication} what "
        "this needs.",
        cause=f"missing: {', '.join(_named(denied))}; nothing was written",
        next_step=granting(store, [each.path for each in denied]),
    )


def _named(denied: Sequence[_Need]) -> Iterator[str]:
    for path in dict.fromkeys(each.path for each in denied):
        yield f"{''.join(each.permission for each in denied if each.path == path)} on {path}"


def _of_record(store: Store, paths: Paths) -> Iterator[_Need]:
    """Yield the needs of lock and record: their znodes get the ACL of /admin."""
    yield _Need(ADMIN, "w")
    if store.exists(paths.fence) is not None:
        yield _Need(paths.root, "c")
        yield _Need(paths.fence, "w")
        yield _Need(paths.operations, "c")
        return
    parent = paths.root
    while store.exists(parent) is None:
        parent = parent.rpartition("/")[0] or "/"
    yield _Need(parent, "c")


def _of_work(work: OperationSpec) -> Iterator[_Need]:
    if isinstance(work, DeletionWork):
        yield _Need(DELETE_TOPICS, "w" if work.plan.layout is DeletionLayout.DOCUMENT else "c")
    elif isinstance(work, RecreationWork):
        yield _Need(f"{CONFIG}/topics", "c")
        yield _Need(TOPICS, "c")
    elif isinstance(work, GrowthWork):
        yield from (_Need(topic_path(topic), "w") for topic in sorted(work.topics()))
    elif not isinstance(work, CatchUpWork):
        yield _Need(ADMIN, "c")
    if isinstance(work, ConfigRecoveryWork):
        yield _Need("/", "d")
        yield from (_Need(topic_path(topic), "w") for topic in work.unclean)


def _of_configs(store: Store, changed: Collection[ConfigEntity]) -> Iterator[_Need]:
    """Yield the needs of config changes: some entities have znodes only once they have configs."""
    entities = sorted(changed)
    if entities:
        yield _Need(CONFIG_CHANGES, "c")
    nodes = store.exists_many(list(map(config_path, entities)))
    for entity, node in zip(entities, nodes, strict=True):
        yield _Need(node.path, "w") if node else _Need(f"{CONFIG}/{entity.kind}", "c")


def _is_denied(store: Store, need: _Need) -> bool:
    """Try a write that cannot succeed."""
    never: Sequence[Op] = [SetData(need.path, b"", _NO_VERSION)]
    if need.permission == "c":
        never = [
            Create(f"{need.path.rstrip('/')}/kadmin-rights", b""),
            Check(need.path, _NO_VERSION),
        ]
    elif need.permission == "d":
        never = [Delete(CONTROLLER, _NO_VERSION)]
    try:
        write(store, never, lambda: False, f"try {need}")
    except NotAuthorizedError:
        return True
    return False
