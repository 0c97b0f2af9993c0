"""Writes dynamic configs: compare-and-set and notification in one multi.

Brokers read an entity again only on a notification below `/config/changes`, and delete
notifications after 15 minutes. Each costs every broker a read, so at most PER_MINUTE are made.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from kadmin.errors import BusyError
from kadmin.next_step import command
from kadmin.operations.record.holder import lost_lock
from kadmin.plan.written import require_written
from kadmin.worlds.zookeeper.model import Check, Create, SetData
from kadmin.worlds.zookeeper.reader import read_configs
from kadmin.worlds.zookeeper.transaction import ensure, write
from kadmin.worlds.zookeeper.values.lock import lease_checks
from kadmin.worlds.zookeeper.znodes.configs import (
    CONFIG,
    CONFIG_CHANGE_PREFIX,
    CONFIG_CHANGES,
    MANY_CONFIG_CHANGES,
    change_config,
    config_path,
    encode_config_change,
)
from kadmin.worlds.zookeeper.znodes.topics import topic_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.operations.context import Clock
    from kadmin.operations.port import EditConfigs
    from kadmin.operations.record.holder import Lease
    from kadmin.plan.throttle import ConfigEdits
    from kadmin.worlds.zookeeper.model import Acl, EntityConfig, Op, Znode
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

PER_MINUTE = 1_000
MINUTE_S = 60.0
BATCH = 50
BATCH_BYTES = 400_000
_ATTEMPTS = 5


def config_backlog(store: Store) -> BusyError | None:
    """Return an error where too many config changes wait for brokers."""
    waiting = len(store.children(CONFIG_CHANGES) or ())
    if waiting <= MANY_CONFIG_CHANGES:
        return None
    return BusyError(
        f"{CONFIG_CHANGES} holds {waiting} notifications, more than {MANY_CONFIG_CHANGES}; "
        "throttles were not changed.",
        cause="brokers delete them after 15 minutes; another tool creates many",
        next_step="run the same command again in 15 minutes",
    )


class ConfigWriter:
    """Changes the configs of topics and brokers under a lease, in small atomic groups."""

    def __init__(self, store: Store, paths: Paths, clock: Clock) -> None:
        self._store = store
        self._paths = paths
        self._clock = clock
        self._sent: deque[tuple[float, int]] = deque()

    def change(self, entities: Iterable[ConfigEntity], edit: EditConfigs, lease: Lease) -> bool:
        """Apply the edits that `edit` derives from the values found.

        Entities without one are not written. Returns False on a signal, or where the rate limit
        would pass the command's end. Raises LostLockError, and BusyError where notifications are
        too many or an entity keeps changing.
        """
        names = sorted(entities)
        groups = (names[start : start + BATCH] for start in range(0, len(names), BATCH))
        return all(self._bring(group, edit, lease) for group in groups)

    def _bring(self, entities: Sequence[ConfigEntity], edit: EditConfigs, lease: Lease) -> bool:
        refused = 0
        while True:
            found = read_configs(self._store, entities)
            wanted = edit({entity: config.values for entity, config in found.items()})
            if not wanted:
                return True
            require_written(wanted)
            if error := config_backlog(self._store):
                raise error
            group = _first_group(wanted, found)
            if not self.admits(len(group)):
                return False
            if self._send(group, found, lease):
                continue
            refused += 1
            if refused == _ATTEMPTS:
                raise BusyError(
                    f"The configs of {', '.join(map(str, group))} keep changing; not all of them "
                    "were written.",
                    cause="another client writes them at the same time",
                    next_step=command("throttle show"),
                )

    def _send(
        self,
        group: Mapping[ConfigEntity, bytes],
        found: Mapping[ConfigEntity, EntityConfig],
        lease: Lease,
    ) -> bool:
        """Write one group; returns False where an entity changed since it was read."""
        ops: list[Op] = [*lease_checks(lease, self._paths), *self.ops(group, found)]
        first, data = next(iter(group.items()))

        def happened() -> bool:
            # The multi is atomic, so one entity shows it. Where another client wrote after us, the
            # repeat is refused by its version.
            node = self._store.get(config_path(first))
            return node is not None and node.data == data

        result = write(self._store, ops, happened, f"config of {', '.join(map(str, group))}"[:200])
        if result is None or result.committed:
            return True
        if getattr(result.failed, "path", "") in {self._paths.lock, self._paths.fence}:
            raise lost_lock()
        return False

    def ops(
        self, group: Mapping[ConfigEntity, bytes], found: Mapping[ConfigEntity, EntityConfig]
    ) -> list[Op]:
        """Return the writes of entities' data and of their notifications."""
        ops: list[Op] = []
        changes_acl = self._acl_of(CONFIG_CHANGES) if group else ()
        for entity, data in group.items():
            ops += self._write(entity, data, found[entity].znode)
            ops.append(
                Create(
                    CONFIG_CHANGE_PREFIX, encode_config_change(entity), changes_acl, sequential=True
                )
            )
        return ops

    def _write(self, entity: ConfigEntity, data: bytes, node: Znode | None) -> list[Op]:
        if node is not None:
            return [SetData(node.path, data, node.version)]
        # Configs of a deleted topic would apply to the next topic of that name.
        checks = [Check(topic_path(entity.name))] if entity.is_topic else []
        return [*checks, Create(config_path(entity), data, self._acl_of(f"{CONFIG}/{entity.kind}"))]

    def _acl_of(self, parent: str) -> tuple[Acl, ...]:
        # The parent's ACL restricts who reads brokers' configs. On 0.10.2 the parent may be absent.
        ensure(self._store, (parent,), self._store.acl(CONFIG))
        return self._store.acl(parent)

    def admits(self, count: int) -> bool:
        """Wait until the rate limit allows that many notifications.

        Returns False where it cannot.
        """
        while True:
            now = self._clock.now()
            while self._sent and self._sent[0][0] <= now - MINUTE_S:
                self._sent.popleft()
            if sum(number for _, number in self._sent) + count <= PER_MINUTE:
                self._sent.append((now, count))
                return True
            room_at = self._sent[0][0] + MINUTE_S
            if self._clock.stop_signal is not None or room_at > self._clock.until:
                return False
            self._clock.wait(room_at - now)


def _first_group(
    wanted: ConfigEdits, found: Mapping[ConfigEntity, EntityConfig]
) -> dict[ConfigEntity, bytes]:
    """Return the new data of as many entities as fit into one multi."""
    group: dict[ConfigEntity, bytes] = {}
    size = 0
    for entity, values in wanted.items():
        data = change_config(found[entity].znode, values)
        if group and size + len(data) > BATCH_BYTES:
            break
        group[entity] = data
        size += len(data)
    return group
